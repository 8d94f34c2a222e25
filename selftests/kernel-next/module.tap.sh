#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fetch the newest "next" kernel first, because the test is for today's version of it.
userspace/lab/get-kernel --update next >/dev/null
exec selftests/kernel-build/module.tap.sh next
