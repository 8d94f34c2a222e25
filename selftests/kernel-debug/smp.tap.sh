#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
exec selftests/kernel/run-tests debug-smp
