#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A change that makes the tree grow says so in the change log.
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo '1..0 # SKIP no git tree'; exit 0; }
exec selftests/lines --tap
