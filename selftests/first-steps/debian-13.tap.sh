#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
exec selftests/first-steps/on-release trixie
