# SPDX-License-Identifier: GPL-2.0-only
#
# Readers and writers of traces: needs zlib1g-dev and libzstd-dev.

sees_trace-tools/reader := $(own)

trace_reader_sources := $(wildcard trace-tools/reader/*.c)
trace_reader_libs := -lz -lzstd

tested_fuzz += $(trace_reader_sources)
$(O)/selftests/fuzz/%: LDLIBS += $(trace_reader_libs)
