#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the lab: how long a soft interrupt of the device lasts, and a message holds its lock. Others
# wait that long, I/O of other devices included.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

# A gibibyte for each 256 of them; a search of all blocks in one go takes 300 us for one
blocks=${BLOCKS:-1024}
limit_us=100
tracing=/sys/kernel/tracing

# watched FUNCTION...: from now on, each of their calls is timed
watched()
{
	mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" || return
	: >"$tracing/set_ftrace_filter"
	for function; do
		echo "$function:mod:dm_approxftl" >>"$tracing/set_ftrace_filter" || return
	done
	echo function_graph >"$tracing/current_tracer" && echo >"$tracing/trace"
}

# Sets calls and longest, in whole microseconds, of what has been watched.
ends_watching()
{
	sed -n 's/.*[^0-9.]\([0-9]*\)\.[0-9]* us .*/\1/p' "$tracing/trace" >"$scratch/times"
	echo nop >"$tracing/current_tracer"
	: >"$tracing/set_ftrace_filter"
	calls=$(wc -l <"$scratch/times")
	longest=$(sort -n "$scratch/times" | tail -n 1)
	echo "# $calls calls, the longest took ${longest:-?} us"
}

# A day passes: all blocks are searched for old data, which there is none of.
search_is_short()
{
	create aftl-old none blocks "$blocks" fill sequential policy baseline || return
	watched timer_fired aftl_age && dmsetup message aftl-old 0 age 1d && sleep 2
	ends_watching
	[ "$calls" -gt "$blocks" ] && [ "$longest" -lt "$limit_us" ]
}

discard_is_short()
{
	watched aftl_submit && blkdiscard -l 67108864 /dev/mapper/aftl-old
	ends_watching
	[ "$calls" -ge 64 ] && [ "$longest" -lt "$limit_us" ]
}

ktap_test_run 'the search for old data lets others run' search_is_short
ktap_test_run 'so does a discard' discard_is_short
finished
