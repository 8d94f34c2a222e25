#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test in the lab that no task holds a device's lock for long, because soft interrupts wait for it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

# The clock of the lab's virtual machine counts a nanosecond for each instruction.
# 200 us in the lab are at most 100 us on a real CPU, which executes 2 or more instructions in a ns.
longest_us=200
tracing=/sys/kernel/tracing
mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" || exit 1
locks='_raw_spin_lock_bh _raw_spin_trylock_bh _raw_spin_unlock_bh'
tag_locks='_raw_spin_lock _raw_spin_unlock'
# Regular expression of the functions that take the locks; by default all functions of the module
taker=.

watch_locks()
{
	echo 65536 >"$tracing/buffer_size_kb" && echo "$locks" >"$tracing/set_ftrace_filter" &&
		echo sym-offset >"$tracing/trace_options" && echo function >"$tracing/current_tracer" && echo >"$tracing/trace" &&
		echo 1 >"$tracing/tracing_on"
}

# Print how often $taker held a lock, the longest hold in us, and the function that took it.
# Lock and unlock events nest and no trylock fails, as the only processor is not preempted.
holds()
{
	echo 0 >"$tracing/tracing_on"
	awk -v taker="$taker" '
	!/\[dm_approxftl\]/ { next }
	{
		for (i = 1; i <= NF && $i !~ /^[0-9]+\.[0-9]+:$/; i++);
		us = $i * 1000000
	}
	$(i + 1) ~ /_(try)?lock(_bh|_irqsave)?([+]|$)/ {
		if ($(i + 2) ~ taker) { taken[++depth] = us; by[depth] = $(i + 2) }
		next
	}
	depth > 0 {
		times++
		held = us - taken[depth]
		if (held >= longest) { longest = held; who = by[depth] }
		depth--
	}
	END { printf "%d %d %s\n", times, longest, substr(who, 3) }' "$tracing/trace"
}

is_whole()
{
	awk -F '[:/ ]+' '/entries-in-buffer/ { whole = $4 == $5 } END { exit !whole }' "$tracing/trace"
}

# briefly AT-LEAST COMMAND...: the module takes AT-LEAST locks or more, and holds none for long
briefly()
{
	at_least=$1
	shift
	watch_locks || return
	"$@" >"$scratch/said" 2>&1 || { sed 's/^/# /' "$scratch/said"; return 1; }
	held=$(holds)
	set -- "$at_least" $held
	echo "# held $2 times, for $3 us at most, by ${4:-nobody}"
	is_whole && [ "$2" -ge "$1" ] && [ "$3" -le "$longest_us" ]
}

load()
{
	fio --name=load --filename=/dev/mapper/aftl-hold --direct=1 --ioengine=libaio --randrepeat=1 \
		--eta=never "$@"
}

# messages NAME...: send each of these messages to the device
messages()
{
	for message; do
		dmsetup message aftl-hold 0 $message || return
	done
}

pause()
{
	dmsetup suspend aftl-hold && dmsetup resume aftl-hold
}

# requests NAME: check how long the module holds locks under each kind of request
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
create aftl-hold ram $large timing off || exit 1
requests 'no time'
ktap_test_run 'messages that query hold the lock for a short time' \
	briefly 5 messages stats luns 'blocks 0 100' 'block 1' 'lost 0'
for message in reset 'age 30d' 'policy gc 12' 'policy refresh 1d' 'fault block 3' 'fault wear 9' \
	'fault die 1'; do
	ktap_test_run "message $message holds the lock for a short time" \
		briefly 1 messages "$message"
done
ktap_test_run 'suspend and resume hold the lock for a short time' briefly 1 pause
ktap_test_run 'status holds the lock for a short time' briefly 1 dmsetup status aftl-hold
dmsetup remove aftl-hold
create aftl-hold ram $large || exit 1
requests 'real time'
dmsetup remove aftl-hold

# Tag every other byte of a file (tag), or write over them with class precise (write).
tags() # tag|write
{
	python3 - "$1" "$scratch/tagged" <<-'END'
		import os, sys
		sys.path.insert(0, "selftests/kernel")
		from approx_control import PRECISE, Control
		control, fd = Control(), os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
		for at in range(0, 40000, 2) if sys.argv[1] == "tag" else ():
		    control.tag_range(fd, at, 1)
		if sys.argv[1] == "write":
		    control.write_with_class(fd, bytearray(40000), 0, PRECISE)
	END
}

# Writes of a file wait for the lock of the tree of its tags, which a precise write reads and saves.
tags tag || exit 1
locks=$tag_locks
ktap_test_run 'a precise write over 20000 tags holds their lock for a short time' \
	briefly 100 tags write
locks='_raw_spin_lock_bh _raw_spin_trylock_bh _raw_spin_unlock_bh'

# With "timing off" device time only passes with requests, so completed writes stay in the buffer.
create aftl-hold ram blocks 256 buffer 64MiB buffer_hold 1s timing off || exit 1
ktap_test_run 'a flush of a large buffer holds the lock for a short time' \
	briefly 500 load --rw=write --bs=256k --size=48m --end_fsync=1
dmsetup remove aftl-hold

ram_disks 1 524288 && create aftl-hold /dev/ram0 $many_zones &&
	head -c 7680 /dev/zero >"$scratch/data" || exit 1
# All 600 units under one hold of the lock would take less than 200 us.
longest_us=60
ktap_test_run 'a flush of zones that are written in part holds the lock for a short time' \
	briefly 50 fill_many_zones_in_part /dev/mapper/aftl-hold "$scratch/data"
dmsetup remove aftl-hold

# Operations of a volume end in any order, but their room in its queue is freed in the order of the
# queue, with interrupts off: here that of 12000 operations when a slow write ends. Functions that
# end with a call of the unlock function are left out: the trace names their callers instead.
locks='_raw_spin_lock_irqsave _raw_spin_unlock_irqrestore'
taker=complete_queue_op
longest_us=100
wide='policy baseline channels 16 chips 12 planes 4 plane_mode wide blocks 16 layers 1 word_lines 4
	page 8KiB unit 512 op 50 buffer 16MiB timing off'

# sector_of_text TEXT: print the sector of /dev/ram0 that begins with the text
sector_of_text()
{
	blockdev --flushbufs /dev/ram0 && python3 -c 'import sys
text = sys.argv[1].encode()
with open("/dev/ram0", "rb") as disk:
    print(next(disk.tell() // 512 - 1 for sector in iter(lambda: disk.read(512), b"")
               if sector.startswith(text)))' "$1"
}

# Make aftl-below, on which one sector is slow, and a volume on it whose first write goes there.
behind_slow_write()
{
	text='the first sector'
	kernel_has dm_delay && ram_disks 1 524288 && create aftl-hold /dev/ram0 $wide || return
	echo "$text" | dd of=/dev/mapper/aftl-hold bs=512 conv=sync,fsync 2>"$scratch/said"
	dmsetup remove aftl-hold && slow=$(sector_of_text "$text") && wipe /dev/ram0 || return
	dmsetup create aftl-below --table "0 $slow linear /dev/ram0 0
$slow 1 delay /dev/ram0 $slow 2000
$((slow + 1)) $((1048575 - slow)) linear /dev/ram0 $((slow + 1))" &&
		create aftl-hold /dev/mapper/aftl-below $wide || return
	begin=$(date +%s)
	briefly 10000 load --rw=write --bs=256k --iodepth=16 --size=10m --end_fsync=1 &&
		[ $(($(date +%s) - begin)) -ge 2 ] && dmsetup remove aftl-hold &&
		dmsetup remove aftl-below
}

ktap_test_run 'the end of a slow write holds the lock of a queue for a short time' behind_slow_write
finished
