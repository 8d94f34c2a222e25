#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module comes and goes, and stays while it is needed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

load_and_unload()
{
	for round in 1 2 3 4 5 6 7 8 9 10; do
		rmmod dm_approxftl || { echo "# round $round"; return 1; }
		insmod "$MODULE" || { echo "# round $round"; return 1; }
		dmsetup create aftl-one --table '0 20480 approxftl ram 0' || return 1
		dmsetup remove aftl-one || return 1
	done
}

stays_while_in_use()
{
	# shellcheck disable=SC2086 # words
	create aftl-one ram $small && ! rmmod dm_approxftl 2>"$scratch/said"
}

if [ -z "${MODULE:-}" ]; then
	ktap_test_skip 'load and unload ten times' 'MODULE does not say where the module is'
else
	ktap_test_run 'load and unload ten times' load_and_unload
	ktap_test_run 'the module stays while a device needs it' stays_while_in_use
fi
finished
