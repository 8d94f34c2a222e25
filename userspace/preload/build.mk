# SPDX-License-Identifier: GPL-2.0-only
#
# approxrun, and what it puts into programs.

sees_userspace/preload := $(own) userspace/libapproxftl
PROGRAMS += $(plain_dir)/approxrun

run_preload := $(plain_dir)/libapproxftl-preload.so
run_map := userspace/preload/preload.map
run_preload_sources := userspace/preload/preload.c userspace/preload/rules.c

$(plain_dir)/approxrun: $(call objects,plain,userspace/preload/approxrun.c \
		userspace/preload/rules.c $(CORE) $(HOST) $(LIB)) \
		$(plain_dir)/libapproxftl.a | $(run_preload)
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -pthread

run_link_preload = $(CC) $(plain_flags) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs \
	-Wl,--version-script=$(run_map) -o $@ $(filter %.o %.a,$^) -ldl -pthread

$(run_preload): $(call objects,pic,$(run_preload_sources)) $(plain_dir)/libapproxftl.a $(run_map)
	$(call say,LINK,$@)
	$(Q)$(run_link_preload)

INSTALLED += 644:$(run_preload):$(PREFIX)/lib/approxftl/libapproxftl-preload.so

# For the tests: beside each other, over a control device without a kernel.
run_double := $(O)/selftests/library/double

$(run_double)/libapproxftl-preload.so: $(call objects,pic,$(run_preload_sources) \
		$(filter-out %/control-device.c,$(wildcard userspace/libapproxftl/*.c)) \
		selftests/library/lib/fake-control.c) $(run_map)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(run_link_preload)

$(run_double)/approxrun: $(plain_dir)/approxrun
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(O)/selftests/library/test-library: | $(run_double)/approxrun \
	$(run_double)/libapproxftl-preload.so
