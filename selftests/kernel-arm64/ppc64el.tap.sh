#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
exec selftests/kernel-arm64/run-on-architecture ppc64el "$@"
