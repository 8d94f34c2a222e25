#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Grammar of status line and messages.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

# shellcheck disable=SC2086 # words
create aftl-talk ram $small tag_all approximate || exit 1
dd if=/dev/zero of=/dev/mapper/aftl-talk bs=64k count=16 oflag=direct 2>"$scratch/said"

# says PATTERN VERB [ARGUMENT]...
says()
{
	pattern=$1
	shift
	dmsetup message aftl-talk 0 "$@" >"$scratch/answer" && grep -qE "$pattern" "$scratch/answer"
}

# complains SENTENCE [VERB [ARGUMENT]...]
complains()
{
	sentence=$1
	shift
	! dmsetup message aftl-talk 0 "$@" 2>"$scratch/said" && dmesg | grep -qF ": $sentence"
}

status_matches()
{
	dmsetup status aftl-talk >"$scratch/answer"
	grep -qE '^0 [0-9]+ approxftl (rw|ro) [a-z_]+ [0-9]+/[0-9]+ [0-9]+/[0-9]+( [0-9]+){13}$' \
		"$scratch/answer"
}

every_counter()
{
	dmsetup message aftl-talk 0 stats >"$scratch/answer"
	cut -d ' ' -f 1 "$scratch/answer" >"$scratch/names"
	sed -n 's/^COUNTER(\([a-z_]*\),.*/\1/p' dm-approxftl/core/counter-table.h |
		grep -vxFf "$scratch/names"
	nothing grep -vE '^[a-z0-9_]+ [0-9]+$' "$scratch/answer"
}

resets()
{
	[ "$(counter aftl-talk host_write_units)" -eq 256 ] && dmsetup message aftl-talk 0 reset &&
		[ "$(counter aftl-talk host_write_units)" -eq 0 ] &&
		[ "$(status_word aftl-talk 7)" -eq 0 ]
}

# Approximate data is rewritten as precise when it is old.
ages()
{
	dmsetup message aftl-talk 0 age 400d && dd if=/dev/mapper/aftl-talk of="$scratch/data" \
		bs=64k count=16 iflag=direct 2>"$scratch/said" &&
		[ "$(counter aftl-talk programmed_refresh_units)" -gt 0 ]
}

at_rest()
{
	dmsetup suspend aftl-talk
	says '^[0-9a-f]{16}$' digest && says '^clean$' audit
	answered=$?
	dmsetup resume aftl-talk
	return "$answered"
}

ktap_test_run 'status line' status_matches
ktap_test_silent 'stats has every counter, a name and a number a line' every_counter
ktap_test_run 'reset' resets
ktap_test_run 'age' ages
ktap_test_run 'block' says '^state (free|open|closed|bad)$' block 0
ktap_test_run 'verbs in capitals' says '^erases [0-9]+$' BLOCK 1
ktap_test_run 'digest and audit at rest' at_rest
ktap_test_run 'no digest with I/O' complains \
	'message digest needs the device at rest; suspend it first' digest
ktap_test_run 'unknown verb' complains \
	'unknown message "sing"; there are stats, reset, age, block, fail, digest and audit' sing
ktap_test_run 'too few arguments' complains 'message age takes 1 arguments, not 0' age
ktap_test_run 'too many arguments' complains 'message reset takes 0 arguments, not 1' reset all
ktap_test_run 'no duration' complains '"old" is not a duration such as 700us, 3.5ms or 7d' age old
ktap_test_run 'no such block' complains '"256" is not a block; there are 0 to 255' block 256
finished
