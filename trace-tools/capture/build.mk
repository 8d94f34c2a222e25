# SPDX-License-Identifier: GPL-2.0-only
#
# "approxftl trace record", which approxftl-trace is linked with.

INCLUDES += -I trace-tools/capture -I userspace/approxftl
capture_sources := $(wildcard trace-tools/capture/*.c) userspace/approxftl/dm-device.c
capture_libs := -ldevmapper
