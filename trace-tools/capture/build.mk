# SPDX-License-Identifier: GPL-2.0-only
#
# "approxftl trace record", a part of approxftl-trace.

sees_trace-tools/capture := $(own) userspace/approxftl trace-tools/reader
trace_sources += $(wildcard trace-tools/capture/*.c) userspace/approxftl/dm-device.c \
	userspace/approxftl/kernel-log.c
trace_libs += -ldevmapper
