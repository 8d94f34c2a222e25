# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-replay: needs liburing-dev and the packages of trace-tools/reader.

sees_trace-tools/replay := $(own) trace-tools/reader userspace/approxftl
sees_selftests/replay := dm-approxftl userspace/host userspace/lib trace-tools/replay selftests/core/lib
PROGRAMS += $(call needing,liburing.h=liburing-dev $(trace_reader_headers),\
	$(plain_dir)/approxftl-replay)

replay_parts := $(filter-out %/replay.c,$(wildcard trace-tools/replay/*.c)) \
	userspace/approxftl/device-holders.c $(trace_reader_sources)
replay_sources := trace-tools/replay/replay.c $(replay_parts) $(CORE) $(HOST) $(LIB)

# The tests are linked with the simulator and the core by default.
tested_replay := $(replay_parts)
$(O)/selftests/replay/%: LDLIBS += -luring $(trace_reader_libs)

$(plain_dir)/approxftl-replay: $(call objects,plain,$(replay_sources))
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(trace_reader_libs) -luring -lpthread
