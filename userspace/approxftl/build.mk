# SPDX-License-Identifier: GPL-2.0-only
#
# Parts of the command line that are tested without a device.

tested_cli := userspace/approxftl/top-frame.c userspace/approxftl/file-extents.c
