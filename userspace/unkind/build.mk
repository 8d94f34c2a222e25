# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-unkind: needs liburing-dev.

sees_userspace/unkind := $(own) trace-tools/replay
sees_selftests/unkind := dm-approxftl userspace/host userspace/unkind selftests/core/lib
PROGRAMS += $(call needing,liburing.h=liburing-dev,$(plain_dir)/approxftl-unkind)

unkind_parts := $(filter-out %/unkind.c,$(wildcard userspace/unkind/*.c)) \
	trace-tools/replay/replay-target.c userspace/approxftl/device-holders.c

$(plain_dir)/approxftl-unkind: $(call objects,plain,userspace/unkind/unkind.c $(unkind_parts) \
		$(CORE) $(HOST) $(LIB))
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -luring

# Its tests are linked with the core anyway.
tested_unkind := userspace/unkind/ledger.c userspace/unkind/block-content.c
