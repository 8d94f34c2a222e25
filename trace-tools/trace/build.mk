# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl-trace. Other parts may add sources and libraries of subcommands of theirs.

sees_trace-tools/trace := $(own) trace-tools/reader trace-tools/capture
PROGRAMS += $(call needing,$(trace_reader_headers),$(plain_dir)/approxftl-trace)

trace_sources += $(wildcard trace-tools/trace/*.c) $(trace_reader_sources) $(CORE) $(HOST) $(LIB)

$(plain_dir)/approxftl-trace: $(call objects,plain,$(trace_sources))
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(trace_reader_libs) \
		$(trace_libs)
