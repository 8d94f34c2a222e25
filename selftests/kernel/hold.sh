#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the lab: nobody holds a lock of a device for long, for soft interrupts wait for it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

# A tenth of a millisecond. Counted time has a nanosecond for each instruction; processors of today
# do two and more in it.
longest_us=200
tracing=/sys/kernel/tracing
mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" || exit 1
locks='_raw_spin_lock_bh _raw_spin_trylock_bh _raw_spin_unlock_bh'

watch_locks()
{
	echo 65536 >"$tracing/buffer_size_kb" && echo "$locks" >"$tracing/set_ftrace_filter" &&
		echo sym-offset >"$tracing/trace_options" && echo function >"$tracing/current_tracer" && echo >"$tracing/trace" &&
		echo 1 >"$tracing/tracing_on"
}

# Its first words: how often somebody of the module held a lock, the longest in us, who took it.
# There is one processor, and who holds such a lock is not put off it: what nests, nests well, and
# who tries to take one does.
holds()
{
	echo 0 >"$tracing/tracing_on"
	awk '
	!/\[dm_approxftl\]/ { next }
	{
		for (i = 1; i <= NF && $i !~ /^[0-9]+\.[0-9]+:$/; i++);
		us = $i * 1000000
	}
	$(i + 1) ~ /_(try)?lock_bh/ { taken[++depth] = us; by[depth] = $(i + 2); next }
	depth > 0 {
		times++
		held = us - taken[depth]
		if (held >= longest) { longest = held; who = by[depth] }
		depth--
	}
	END { printf "%d %d %s\n", times, longest, substr(who, 3) }' "$tracing/trace"
}

# A trace that has lost its beginning says nothing.
is_whole()
{
	awk -F '[:/ ]+' '/entries-in-buffer/ { whole = $4 == $5 } END { exit !whole }' "$tracing/trace"
}

# briefly AT-LEAST COMMAND...: holds locks so often, none for long
briefly()
{
	at_least=$1
	shift
	watch_locks || return
	"$@" >"$scratch/said" 2>&1 || { sed 's/^/# /' "$scratch/said"; return 1; }
	held=$(holds)
	# shellcheck disable=SC2086 # words
	set -- "$at_least" $held
	echo "# held $2 times, for $3 us at most, by ${4:-nobody}"
	is_whole && [ "$2" -ge "$1" ] && [ "$3" -le "$longest_us" ]
}

load()
{
	fio --name=load --filename=/dev/mapper/aftl-hold --direct=1 --ioengine=libaio --randrepeat=1 \
		--eta=never "$@"
}

# messages NAME...: each of them
messages()
{
	for message; do
		# shellcheck disable=SC2086 # words
		dmsetup message aftl-hold 0 $message || return
	done
}

pause()
{
	dmsetup suspend aftl-hold && dmsetup resume aftl-hold
}

# requests NAME
requests()
{
	ktap_test_run "$1: writes of all sizes, deep" briefly 500 \
		load --rw=randwrite --bssplit=4k/60:64k/30:1m/10 --iodepth=64 --size=256m --io_size=32m
	ktap_test_run "$1: reads of all sizes, deep" briefly 100 \
		load --rw=randread --bssplit=4k/60:64k/30:1m/10 --iodepth=64 --size=256m --io_size=32m
	ktap_test_run "$1: flushes" briefly 100 load --rw=randwrite --bs=4k --fsync=4 --io_size=1m
	ktap_test_run "$1: a discard" briefly 10 blkdiscard --length 1GiB /dev/mapper/aftl-hold
	ktap_test_run "$1: zeroes" briefly 10 fallocate --punch-hole --length 64MiB /dev/mapper/aftl-hold
	ktap_test_run "$1: overwrites, with collection" briefly 500 \
		load --rw=randwrite --bs=64k --iodepth=32 --io_size=32m
}

large='blocks 4096 op 20 fill sequential'
# shellcheck disable=SC2086 # words
create aftl-hold ram $large timing off || exit 1
requests 'no time'
ktap_test_run 'messages that ask' briefly 5 messages stats luns 'blocks 0 100' 'block 1' 'lost 0'
for message in reset 'age 30d' 'policy gc 12' 'policy refresh 1d' 'fault block 3'; do
	ktap_test_run "message $message" briefly 1 messages "$message"
done
# All its blocks go at once, at a tenth of a microsecond each.
longest_us=600
ktap_test_run 'message fault die 1' briefly 1 messages 'fault die 1'
longest_us=200
ktap_test_run 'suspend and resume' briefly 1 pause
ktap_test_run 'status' briefly 1 dmsetup status aftl-hold
dmsetup remove aftl-hold
# shellcheck disable=SC2086 # words
create aftl-hold ram $large || exit 1
requests 'real time'
dmsetup remove aftl-hold

# Writes that are complete wait in the buffer, for device time passes while there are requests.
create aftl-hold ram blocks 256 buffer 64MiB buffer_hold 1s timing off || exit 1
ktap_test_run 'a flush of a large buffer' briefly 500 load --rw=write --bs=256k --size=48m --end_fsync=1
dmsetup remove aftl-hold
finished
