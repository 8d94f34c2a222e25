#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A device with several shards behaves as one device: data, flushes, life cycle and reporting.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

fast="channels 4 $small shards 4"
# Device time of a device with the parameters $slow nearly stops, so that only flushes program data.
slow="channels 4 $shape shards 4 policy baseline timing scale:60 buffer 4MiB buffer_hold 1s"

# of_shard NAME SHARD COUNTER: print a counter of one shard
of_shard()
{
	dmsetup message "$1" 0 stats "$2" | sed -n "s/^$3 //p"
}

# each_shard NAME COUNTER: print a counter of each shard on one line
each_shard()
{
	for shard in 0 1 2 3; do
		of_shard "$1" "$shard" "$2"
	done | paste -s -d ' '
}

# put OFFSET BYTES: write BYTES bytes "x" to the device aftl-slow
put()
{
	tr '\0' x </dev/zero | dd of=/dev/mapper/aftl-slow bs="$2" count=1 iflag=fullblock \
		oflag=direct,seek_bytes seek="$1" 2>"$scratch/said"
}

# Shards alternate every 64 KiB; each shard gets only the data of its own runs of 64 KiB.
runs_are_shared_out()
{
	dmsetup message aftl-slow 0 reset && put 0 65536 && put 131072 131072 && put 458752 65536 &&
		[ "$(each_shard aftl-slow host_write_units)" = '16 0 16 32' ] &&
		[ "$(counter aftl-slow host_write_units)" -eq 64 ] &&
		[ "$(status_word aftl-slow 7)" -eq 64 ]
}

# Each shard buffers less than a flash page, so that only a flush programs the data.
flush_reaches_each()
{
	for run in 0 1 2 3; do
		put $((run * 65536)) 4096 || return
	done
	[ "$(each_shard aftl-slow array_programs)" = '0 0 0 0' ] && sync /dev/mapper/aftl-slow &&
		[ "$(each_shard aftl-slow host_flush_requests)" = '1 1 1 1' ] &&
		! each_shard aftl-slow array_programs | grep -qw 0
}

# Discard from the middle of a run of 64 KiB to the middle of another, across two whole runs.
discards_share()
{
	put 0 1048576 && sync /dev/mapper/aftl-slow && blkdiscard -o 32768 -l 196608 /dev/mapper/aftl-slow &&
		[ "$(each_shard aftl-slow host_discard_units)" = '8 16 16 8' ] &&
		{
			tr '\0' x </dev/zero | head -c 32768
			head -c 196608 /dev/zero
			tr '\0' x </dev/zero | head -c 819200
		} | cmp -n 1048576 - /dev/mapper/aftl-slow
}

# model NAME OPERATIONS: compare the device with a model while OPERATIONS requests are sent
model()
{
	python3 selftests/kernel/shadow.py "/dev/mapper/$1" "$(share "$2")"
}

# LUNs and blocks are numbered across shards; each shard has 2 LUNs of 64 blocks.
counts_through()
{
	units=$(($(blockdev --getsz /dev/mapper/aftl-fast) / 8))
	dmsetup message aftl-fast 0 luns | cut -d ' ' -f 1 | paste -s -d ' ' >"$scratch/luns"
	[ "$(cat "$scratch/luns")" = '0 1 2 3 4 5 6 7' ] &&
		[ "$(status_word aftl-fast 4 | cut -d / -f 2)" -eq 512 ] &&
		[ "$(dmsetup message aftl-fast 0 blocks 127 2 | cut -d ' ' -f 1 | paste -s -d ' ')" = \
			'127 128 next' ] &&
		[ "$(status_word aftl-fast 3)" = "$(dmsetup message aftl-fast 0 luns |
			awk '{ sum += $7 } END { print sum }')/$units" ]
}

collects_where_it_is_said()
{
	for round in 1 2 3; do
		dd if=/dev/zero of=/dev/mapper/aftl-fast bs=1M count=24 oflag=direct \
			2>"$scratch/said$round" || return
	done
	dmsetup message aftl-fast 0 reset && collect aftl-fast 5 &&
		each_shard aftl-fast gc_blocks | grep -qx '0 0 [1-9][0-9]* 0' &&
		collect aftl-fast && ! each_shard aftl-fast gc_blocks | grep -qw 0
}

parameters_reach_each()
{
	dmsetup message aftl-fast 0 policy program 1ms &&
		dmsetup table aftl-fast | grep -q ' shards 4 .* program 1ms' &&
		for shard in 0 3; do
			dmsetup message aftl-fast 0 line "$shard" >"$scratch/line" &&
				grep -q ' channels 1 .* program 1ms' "$scratch/line" &&
				grep -q ' seed ' "$scratch/line" && ! grep -q shards "$scratch/line" || return
		done
	[ "$(dmsetup message aftl-fast 0 line 0)" != "$(cat "$scratch/line")" ]
}

# Suspending stops the clock of each shard.
time_stands_still()
{
	dmsetup suspend aftl-slow && stopped=$(each_shard aftl-slow device_ns) && sleep 0.1 &&
		still=$(each_shard aftl-slow device_ns) && dmsetup resume aftl-slow &&
		[ "$still" = "$stopped" ] || return
	for shard in 0 1 2 3; do
		[ "$(of_shard aftl-slow "$shard" device_ns)" -gt "${stopped%% *}" ] || return
		stopped=${stopped#* }
	done
}

# Fail LUNs 4 and 5 of the third shard: only data in this shard's runs of 64 KiB are lost.
loses_its_part()
{
	tr '\0' x </dev/zero | dd of=/dev/mapper/aftl-fast bs=1M count=1 iflag=fullblock oflag=direct \
		2>"$scratch/said" && dmsetup message aftl-fast 0 fault die 4 &&
		dmsetup message aftl-fast 0 fault die 5 && [ "$(status_word aftl-fast 18)" -eq 2 ] &&
		[ "$(status_word aftl-fast 1)" = ro ] &&
		for run in 0 1 3 4; do
			dd if=/dev/mapper/aftl-fast bs=64k skip="$run" count=1 iflag=direct \
				2>"$scratch/said" | tr -d x | cmp -s - /dev/null || return
		done
	! dd if=/dev/mapper/aftl-fast of="$scratch/data" bs=64k skip=2 count=1 iflag=direct \
		2>"$scratch/said"
}

# switch_to [KEY VALUE]...: load a table with these parameters and resume the device with it
switch_to()
{
	line ram "$sectors" "$@" | dmsetup reload aftl-data && dmsetup resume aftl-data
}

has_data()
{
	cmp -n 16777216 "$scratch/data" /dev/mapper/aftl-data
}

# Create and fill a device of two shards, small enough for all tables that the tests load later.
with_data()
{
	sectors=$(capacity channels 2 $small shards 2)
	line ram "$sectors" channels 4 $small shards 2 | dmsetup create aftl-data || return
	[ -s "$scratch/data" ] || dd if=/dev/urandom of="$scratch/data" bs=1M count=16 2>"$scratch/said"
	for part in 1 2 3 0; do
		dd if="$scratch/data" of=/dev/mapper/aftl-data bs=1M oflag=direct \
			seek=$((part * 16)) 2>"$scratch/said$part" || return
	done
}

# Data survive reloads with other policies, write buffers and numbers of shards, and back again.
reloads()
{
	with_data || return
	dmsetup suspend aftl-data && digests=$(dmsetup message aftl-data 0 digest) &&
		dmsetup table aftl-data | dmsetup load aftl-data && dmsetup resume aftl-data &&
		dmsetup suspend aftl-data && [ "$(dmsetup message aftl-data 0 digest)" = "$digests" ] &&
		dmsetup resume aftl-data && has_data || return
	dmsetup message aftl-data 0 fault block 300 &&
		switch_to channels 4 $small shards 2 policy baseline buffer 1MiB && has_data &&
		block_is bad 300 && block_is free 44 && switch_to channels 4 $small shards 4 &&
		has_data && block_is free 300 && switch_to channels 2 $small shards 2 && has_data &&
		switch_to channels 4 $small && has_data && switch_to channels 4 $small shards 2 &&
		has_data && dmsetup remove aftl-data
}

# block_is STATE NUMBER: check that block NUMBER is in STATE
block_is()
{
	dmsetup message aftl-data 0 blocks "$2" 1 | grep -q "^$2 $1 "
}

# wrote FIRST SECOND: run two writers at once, in the 64 KiB runs at offsets FIRST and SECOND
wrote()
{
	dmsetup message aftl-fast 0 reset && fio --filename=/dev/mapper/aftl-fast --direct=1 \
		--rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 --norandommap --size=64k \
		--io_size=48m --eta=never --output="$scratch/fio" --name=first --offset="$1" \
		--name=second --offset="$2" && [ "$(counter aftl-fast host_write_units)" -eq 24576 ]
}

# waited: print how often and how long processors waited for the device's locks
waited()
{
	echo "$(counter aftl-fast lock_waits) $(counter aftl-fast lock_wait_ns)"
}

# Writers of different shards never wait for a lock; two writers of one shard may.
nobody_waits()
{
	wrote 0 64k && apart=$(waited) && wrote 0 256k && together=$(waited) &&
		echo "# $apart; where both write to one shard $together: waits, nanoseconds" &&
		[ "$apart" = '0 0' ] || return
	case $together in
	'0 0') ;;
	'0 '* | *' 0') return 1 ;;
	esac
}

# On a block device each shard has a volume, one after the other.
create_kept()
{
	create aftl-kept /dev/ram0 $fast "$@"
}

sum_of()
{
	dd if=/dev/mapper/aftl-kept bs=1M count=16 iflag=direct 2>"$scratch/said" | md5sum
}

lives_on_a_block_device()
{
	ram_disks 1 524288 && create_kept && model aftl-kept 300 &&
		at_once verify aftl-kept --ioengine=libaio --iodepth=16 --bsrange=4k-256k \
			--numjobs=2 --offset_increment=8m --size=8m &&
		dd if=/dev/urandom of=/dev/mapper/aftl-kept bs=1M count=16 oflag=direct conv=fsync \
			2>"$scratch/said" &&
		! each_shard aftl-kept host_write_units | grep -qw 0 && is_clean aftl-kept &&
		sum=$(sum_of) && dmsetup remove aftl-kept &&
		"$approxftl" check /dev/ram0 >"$scratch/said" &&
		grep -q 'is sound; it was closed in order' "$scratch/said" && create_kept &&
		[ "$(sum_of)" = "$sum" ] && is_clean aftl-kept
}

# Reload with another policy and parameters; every shard's volume stores them.
goes_on_with_others()
{
	line /dev/ram0 "$(capacity $fast)" $fast policy baseline buffer 1MiB program 1ms |
		dmsetup reload aftl-kept && dmsetup resume aftl-kept && [ "$(sum_of)" = "$sum" ] &&
		dmsetup remove aftl-kept || return
	for shard in 0 3; do
		"$approxftl" dump /dev/ram0 --shard "$shard" >"$scratch/said" &&
			grep -q 'policy baseline' "$scratch/said" && grep -q 'shards=4' "$scratch/said" &&
			grep -q 'buffer=1.0 MiB\|buffer=1MiB' "$scratch/said" || return
	done
	create_kept && [ "$(sum_of)" = "$sum" ] &&
		! line /dev/ram0 20480 channels 4 "$small" shards 2 | dmsetup reload aftl-kept \
			2>"$scratch/said"
}

# Distance in MiB between the beginnings of two shards' volumes on a block device
stride_mib()
{
	"$approxftl" dump /dev/ram0 --json |
		sed -n 's/^    "bytes": \([0-9]*\),$/\1/p' | awk '{ print int(($1 + 1048575) / 1048576) }'
}

# fails_with SENTENCE: creating the device fails with the message SENTENCE
fails_with()
{
	! create_kept 2>"$scratch/said" && dmesg | tail -n 3 | grep -qF "$1"
}

# A shard's volume records its device and shard number; in place of another volume it is refused.
shards_are_told_apart()
{
	dmsetup remove aftl-kept && stride=$(stride_mib) && [ "$stride" -gt 0 ] &&
		dd if=/dev/ram0 of="$scratch/second" bs=1M skip="$stride" count=1 2>"$scratch/said" &&
		dd if="$scratch/second" of=/dev/ram0 bs=1M seek=$((2 * stride)) conv=notrunc,fsync \
			2>"$scratch/said" &&
		fails_with "shard 2: the volume belongs to another shard or device" &&
		blkdiscard -f -z -o $((2 * stride))MiB -l 1MiB /dev/ram0 &&
		blockdev --flushbufs /dev/ram0 && fails_with 'shard 2: there is no volume' || return
	wipe /dev/ram0 && create_kept && dmsetup remove aftl-kept &&
		dd if="$scratch/second" of=/dev/ram0 bs=1M seek="$stride" conv=notrunc,fsync \
			2>"$scratch/said" && blockdev --flushbufs /dev/ram0 &&
		fails_with "shard 1: the volume belongs to another shard or device" && rm "$scratch/second"
}

# part_is TARGET [WORD]...: map aftl-part by TARGET from the start of the third shard's volume
part_is()
{
	of=$1
	shift
	dmsetup load aftl-part --table "0 $third linear /dev/ram0 0
$third $((all - third)) $of /dev/ram0 $third $*" && dmsetup resume aftl-part
}

# A resume fails while the volume of the third shard cannot be opened, and succeeds afterwards.
begins_with_all()
{
	dd if=/dev/urandom of=/dev/mapper/aftl-kept bs=1M count=16 oflag=direct conv=fsync \
		2>"$scratch/said" && sum=$(sum_of) && dmsetup remove aftl-kept &&
		third=$((2 * $(stride_mib) * 2048)) && all=$(blockdev --getsz /dev/ram0) &&
		dmsetup create aftl-part --notable && part_is flakey 0 3600 1 error_writes &&
		dmsetup create aftl-kept --notable &&
		line /dev/mapper/aftl-part "$(capacity $fast)" $fast | dmsetup load aftl-kept &&
		clear_log || return
	! dmsetup resume aftl-kept 2>"$scratch/said" &&
		dmesg | grep -qF 'shard 2: the volume cannot be written' &&
		part_is linear && dmsetup resume aftl-kept &&
		[ "$(sum_of)" = "$sum" ] && is_clean aftl-kept && dmsetup remove aftl-kept &&
		dmsetup remove aftl-part && "$approxftl" check /dev/ram0 >"$scratch/said" && create_kept
}

# Status is "fail" if one shard's volume cannot be written, even if a later shard is read-only.
worst_mode_is_reported()
{
	dmsetup remove aftl-kept && wipe /dev/ram0 && create_kept && dmsetup remove aftl-kept &&
		first=$(($(stride_mib) * 2048)) && all=$(blockdev --getsz /dev/ram0) &&
		dmsetup create aftl-part --table "0 $all linear /dev/ram0 0" &&
		create aftl-kept /dev/mapper/aftl-part $fast || return
	blocks=$(status_word aftl-kept 4) && blocks=${blocks#*/}
	for block in $(seq $((blocks * 3 / 4)) $((blocks - 1))); do
		dmsetup message aftl-kept 0 fault block "$block" || return
	done
	[ "$(status_word aftl-kept 1)" = ro ] &&
		dmsetup load aftl-part --table "0 $first flakey /dev/ram0 0 0 3600 1 error_writes
$first $((all - first)) linear /dev/ram0 $first" && dmsetup resume aftl-part &&
		! dd if=/dev/zero of=/dev/mapper/aftl-kept bs=64k count=1 oflag=direct conv=fsync \
			2>"$scratch/said" && [ "$(status_word aftl-kept 1)" = fail ] &&
		dmsetup remove aftl-kept && dmsetup remove aftl-part && wipe /dev/ram0 && create_kept
}

# Print the number of reads of the block device and the time it was busy, in ms.
reads_below()
{
	awk '{ print $4, $10 }' \
		"/sys/block/dm-$(dmsetup info -c --noheadings -o minor aftl-part)/stat"
}

# Shards read at the same time: reads of 0.4 s each add up to more than the elapsed time.
# A task that waits for shards to open must not trigger the hung-task warning.
opens_at_once()
{
	stuck=/proc/sys/kernel/hung_task_timeout_secs
	[ -e "$stuck" ] || stuck=$scratch/stuck
	usual=$(cat "$stuck" 2>"$scratch/said")
	echo 1 >"$stuck"
	dmsetup remove aftl-kept && all=$(blockdev --getsz /dev/ram0) &&
		dmsetup create aftl-part --table "0 $all delay /dev/ram0 0 400 /dev/ram0 0 0" || return
	before=$(reads_below) && create aftl-kept /dev/mapper/aftl-part $fast &&
		after=$(reads_below) && echo "$usual" >"$stuck" && [ "$(sum_of)" = "$sum" ] &&
		dmsetup remove aftl-kept && dmsetup remove aftl-part && create_kept || return
	set -- $before $after
	echo "# reads took $(($3 - $1)) ms, in $(($4 - $2)) ms"
	[ $((($4 - $2) * 4)) -lt $((($3 - $1) * 3)) ]
}

# refused SENTENCE STORE WORD...: creating a device with these arguments fails with SENTENCE
refused()
{
	sentence=$1
	shift
	! line "$1" 20480 $2 | dmsetup create aftl-line 2>"$scratch/said" &&
		dmesg | tail -n 3 | grep -qF "$sentence"
}

refuses()
{
	refused 'shards: 2 channels cannot be shared out among 4' ram 'shards 4' &&
		! dmsetup message aftl-fast 0 policy shards 2 2>"$scratch/said" &&
		dmesg | grep -qF 'the device was made with shards 4, which cannot become 2' &&
		! dmsetup message aftl-fast 0 stats 4 2>"$scratch/said" &&
		dmesg | grep -qF '"4" is not a shard; there are 0 to 3'
}

create aftl-fast ram $fast && create aftl-slow ram $slow || exit 1
ktap_test_run 'a flush reaches each shard' flush_reaches_each
ktap_test_run 'runs of addresses are distributed over the shards' runs_are_shared_out
ktap_test_run 'a discard reaches the shards of its range' discards_share
ktap_test_run 'random writes, discards and zeroes are read as the model says' model aftl-fast 900
in_turn 'LUNs and blocks are numbered across shards' counts_through
in_turn 'message gc collects in every shard' collects_where_it_is_said
in_turn 'messages policy and line work with shards' parameters_reach_each
in_turn 'time stands still while a shard is blocked' time_stands_still
in_turn 'reloads keep data, with other numbers of shards, too' reloads
alone='writers of two shards do not wait for each other'
if [ "$(nproc --all)" -gt 1 ]; then
	in_turn "$alone" at_once nobody_waits
elif next_turn "$alone"; then
	ktap_test_skip "$alone" 'there is one processor'
fi
in_turn 'die failures in one shard leave the other shards alone' loses_its_part
in_turn 'invalid numbers of shards are refused' refuses
if next_turn 'shards keep their data in volumes on a block device'; then
	ktap_test_run 'shards keep their data in volumes on a block device' lives_on_a_block_device
	ktap_test_run 'shards on a block device open with another policy and buffer' goes_on_with_others
	if kernel_has dm_flakey; then
		ktap_test_run 'if one shard on a block device cannot open, no shard opens' \
			begins_with_all
	fi
	[ -e /proc/sys/kernel/hung_task_timeout_secs ] ||
		ktap_test_skip 'no task that waits for shards on a block device is reported as hung' \
			'the kernel does not look for hung tasks'
	if kernel_has dm_delay; then
		ktap_test_run 'shards on a block device open their volumes in parallel' opens_at_once
	else
		ktap_test_skip 'shards on a block device open their volumes in parallel' \
			'the kernel does not have dm_delay'
	fi
	if kernel_has dm_flakey; then
		ktap_test_run 'the worst mode of all shards on a block device is reported' \
			worst_mode_is_reported
	fi
	ktap_test_run 'volumes of shards on a block device are told apart' shards_are_told_apart
fi
finished
