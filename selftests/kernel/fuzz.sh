#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Table lines and messages that are nearly right do no harm.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

ktap_test_run 'table lines' python3 selftests/kernel/fuzz.py lines "$(share 150)"
ktap_test_run 'messages' python3 selftests/kernel/fuzz.py messages "$(share 2000)"
finished
