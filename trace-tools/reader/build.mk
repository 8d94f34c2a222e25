# SPDX-License-Identifier: GPL-2.0-only
#
# Readers and writers of traces: needs zlib1g-dev, libzstd-dev, liblzma-dev and
# libbz2-dev.

sees_trace-tools/reader := $(own)

trace_reader_sources := $(wildcard trace-tools/reader/*.c)
trace_reader_libs := -lz -lzstd -llzma -lbz2
trace_reader_headers := zlib.h=zlib1g-dev zstd.h=libzstd-dev lzma.h=liblzma-dev bzlib.h=libbz2-dev

tested_fuzz += $(trace_reader_sources)
$(O)/selftests/fuzz/%: LDLIBS += $(trace_reader_libs)
