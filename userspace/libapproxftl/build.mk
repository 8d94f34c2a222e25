# SPDX-License-Identifier: GPL-2.0-only
#
# libapproxftl, shared and static, and its headers.

sees_userspace/libapproxftl := dm-approxftl/uapi
sees_selftests/library := userspace/libapproxftl dm-approxftl/uapi userspace/host selftests/core/lib

lib_sources := $(wildcard userspace/libapproxftl/*.c)
lib_shared := $(plain_dir)/libapproxftl.so.1
lib_static := $(plain_dir)/libapproxftl.a
lib_map := userspace/libapproxftl/libapproxftl.map

# Position-independent code that exports only the symbols of the header
pic_dir := $(plain_dir)/pic
pic_cc = $(CC)
# -g: the test of the binary interface compares types.
pic_flags = $(plain_flags) -g -fPIC -fvisibility=hidden
$(eval $(call variant,pic))

$(lib_shared): $(call objects,pic,$(lib_sources)) $(lib_map)
	$(call say,LINK,$@)
	$(Q)$(CC) $(plain_flags) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs \
		-Wl,--version-script=$(lib_map) -o $@ $(filter %.o,$^) -pthread
	$(Q)ln -sf $(@F) $(basename $@)

# Link one object in which all other symbols are local.
$(lib_static): $(call objects,pic,$(lib_sources))
	$(call say,AR,$@)
	$(Q)$(CC) -r -nostdlib -o $(plain_dir)/libapproxftl.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(plain_dir)/libapproxftl.o
	$(Q)rm -f $@
	$(Q)ar crs $@ $(plain_dir)/libapproxftl.o

$(O)/approxftl.pc: userspace/libapproxftl/approxftl.pc.in dm-approxftl/release.h
	@mkdir -p $(@D)
	$(Q)sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@LIBDIR@,$(LIBDIR),' \
		-e 's,@INCLUDEDIR@,$(INCLUDEDIR),' -e 's,@VERSION@,$(VERSION),' $< >$@

all: $(lib_shared) $(lib_static)
install: $(O)/approxftl.pc

INSTALLED += 644:$(lib_shared):$(LIBDIR)/libapproxftl.so.1 \
	644:$(lib_static):$(LIBDIR)/libapproxftl.a \
	644:userspace/libapproxftl/approxftl.h:$(INCLUDEDIR)/approxftl.h \
	644:dm-approxftl/uapi/linux/approxftl.h:$(INCLUDEDIR)/linux/approxftl.h \
	644:$(O)/approxftl.pc:$(PKGCONFIGDIR)/approxftl.pc
INSTALLED_LINKS += libapproxftl.so.1:$(LIBDIR)/libapproxftl.so

# "approxftl tag" uses the library.
$(PROGRAM): $(lib_static)

# The tests replace the control device by a simulated one.
tested_library := $(filter-out %/control-device.c,$(lib_sources))

# The example of the README, which selftests/kernel/library.sh runs in a virtual machine.
lib_example := $(plain_dir)/examples/annotated

$(lib_example): docs/examples/annotated.c $(lib_static) userspace/libapproxftl/approxftl.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -Wall -Wextra -I userspace/libapproxftl $(plain_flags) -o $@ $< $(lib_static) \
		-pthread

$(lib_example)-cpp: docs/examples/annotated.cpp $(lib_static) $(wildcard userspace/libapproxftl/*.h*)
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O2 -Wall -Wextra -I userspace/libapproxftl $(plain_flags) -o $@ $< \
		$(lib_static) -pthread

EXAMPLES += $(lib_example) $(if $(shell command -v $(CXX)),$(lib_example)-cpp,$(eval LEFT_OUT += \
	annotated-cpp: g++;))

# A shared library with selftests/library/lib/fake-control.c as control device, for test programs
lib_double := $(O)/selftests/library/double/libapproxftl.so.1

$(lib_double): $(call objects,pic,$(tested_library) selftests/library/lib/fake-control.c) \
		$(lib_map)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(plain_flags) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs \
		-Wl,--version-script=$(lib_map) -o $@ $(filter %.o,$^) -pthread
	$(Q)ln -sf $(@F) $(basename $@)

$(O)/selftests/library/test-library: | $(lib_double) $(lib_shared)

INSTALLED += 644:userspace/libapproxftl/approx.hpp:$(INCLUDEDIR)/approx.hpp \
	644:userspace/python/approxftl/py.typed:$(PYTHONDIR)/approxftl/py.typed \
	$(foreach f,$(wildcard userspace/python/approxftl/*.py userspace/python/approxftl/*/*.py),\
		644:$(f):$(PYTHONDIR)/$(patsubst userspace/python/%,%,$(f)))

# "approxftl tag" with the same control device
lib_double_program := $(O)/selftests/library/double/approxftl

$(lib_double_program): $(call objects,plain,$(CORE) $(HOST) $(LIB) $(SIM) $(CLI)) \
		$(call objects,pic,$(tested_library) selftests/library/lib/fake-control.c)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lblkid -ldevmapper

$(O)/selftests/library/test-library: | $(lib_double_program)

# Manual pages and the functions that they describe: PAGE=FUNCTION,...
lib_pages := open=close,active,caps,reason,explain,class_name tag=untag,protect,query \
	region_begin=region_end,label errors=stored,level_errors remember=recall,watch \
	arena_create=arena_destroy,arena_sync,arena_offset,arena_at,alloc,free

INSTALLED_LINKS += $(foreach p,$(lib_pages),$(foreach f,$(subst $(comma), ,$(lastword \
	$(subst =, ,$(p)))),approxftl_$(firstword $(subst =, ,$(p))).3:$(MANDIR)/man3/approxftl_$(f).3))
