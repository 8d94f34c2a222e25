# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-app: programs that tag some of their data as approximate.

sees_userspace/apps := $(own) userspace/libapproxftl
sees_selftests/apps := $(own) userspace/apps userspace/libapproxftl selftests/core/lib
PROGRAMS += $(plain_dir)/approxftl-app

apps_parts := $(filter-out %/main.c,$(wildcard userspace/apps/*.c))

# The tests are linked with the core and userspace/lib by default.
tested_apps := $(apps_parts) $(wildcard userspace/libapproxftl/*.c)
tested_fuzz += $(tested_apps)

$(plain_dir)/approxftl-app: $(call objects,plain,userspace/apps/main.c $(apps_parts) \
		$(CORE) $(HOST) $(LIB)) $(plain_dir)/libapproxftl.a
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lpthread
