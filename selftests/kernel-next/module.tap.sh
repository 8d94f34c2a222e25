#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fetch the newest "next" kernel first, because this check is about today's version.
userspace/lab/get-kernel --update next >/dev/null
exec selftests/kernel-build/module.tap.sh next
