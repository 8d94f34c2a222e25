# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-torture: needs liburing-dev.

sees_userspace/torture := $(own) trace-tools/replay
sees_selftests/torture := dm-approxftl userspace/host userspace/torture selftests/core/lib
PROGRAMS += $(call needing,liburing.h=liburing-dev,$(plain_dir)/approxftl-torture)

torture_parts := $(filter-out %/torture.c,$(wildcard userspace/torture/*.c)) \
	trace-tools/replay/replay-target.c userspace/approxftl/device-holders.c

$(plain_dir)/approxftl-torture: $(call objects,plain,userspace/torture/torture.c $(torture_parts) \
		$(CORE) $(HOST) $(LIB))
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -luring

# Its tests are linked with the core anyway.
tested_torture := userspace/torture/ledger.c userspace/torture/block-content.c
