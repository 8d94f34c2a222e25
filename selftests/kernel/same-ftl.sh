#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator ends in the same state as a kernel device whose requests a tracepoint recorded.
# Mapping, wear and counters of simulator and kernel device are equal, bit by bit.
# The tests send no messages that change a device, because the tracepoint does not record them.
# Faults are armed from the same list in the simulator and the kernel device.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2
. selftests/kernel/trace.sh

program=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
needs_program "$program"
mkdir "$scratch/mnt"

# Use ext4, which sends discards, writes of all sizes, flushes, FUA writes and reads.
use_ext4()
{
	mkfs.ext4 -q -F /dev/mapper/aftl-same >"$scratch/said" 2>&1 &&
		mount -o discard /dev/mapper/aftl-same "$scratch/mnt" || return 1
	for round in 1 2 3; do
		cp -r dm-approxftl "$scratch/mnt/$round" && sync -f "$scratch/mnt"
	done
	fio --name=file --directory="$scratch/mnt" --ioengine=libaio --direct=1 --iodepth=8 \
		--rw=randrw --bsrange=4k-64k --size=6m --fsync=16 --randrepeat=1 \
		--eta=never --output="$scratch/fio" && rm -r "$scratch/mnt/1" && sync -f "$scratch/mnt"
	umount "$scratch/mnt" && events aftl_submit | grep -q ' fua=1'
}

# use_raw BYTES: fill the device, then read and write until garbage is collected
use_raw()
{
	fio --filename=/dev/mapper/aftl-same --ioengine=libaio --direct=1 --randrepeat=1 \
		--eta=never --output="$scratch/fio" --bs=16k --iodepth=16 \
		--name=fill --rw=write --name=mix --stonewall --rw=randrw --rwmixread=30 \
		--bsrange=4k-128k --io_size="$1"
}

# Run three fio jobs with deep queues; I/O priorities assign the last two jobs to host queue 1.
use_queues()
{
	fio --filename=/dev/mapper/aftl-same --ioengine=libaio --direct=1 --randrepeat=1 \
		--eta=never --output="$scratch/fio" --bs=16k --iodepth=48 --rw=randrw --io_size=4m \
		--name=first --prioclass=2 --prio=0 --name=second --prioclass=2 --prio=7 \
		--name=third --prioclass=3 || return 1
	[ "$(events aftl_submit | grep -c ' queue=0 ')" -gt 200 ] &&
		[ "$(events aftl_submit | grep -c ' queue=1 ')" -gt 400 ]
}

faults='unit 9 after write 20
unit 3 after program 3
block 5 after write 300
age 1d after read 40
wear 2000 after read 60'

# These faults wear out blocks, so that erases fail and the device becomes read-only.
last_faults='unit 7 after write 30
wear 2999 after write 200
block 9 after write 250
life end after write 700'

no_fault_waits()
{
	dmsetup message aftl-same 0 faults >"$scratch/list" &&
		nothing grep -Eq ' (pending|due)$' "$scratch/list"
}

# Arm the faults $faults, then read and write the device; this I/O may fail.
use_armed()
{
	echo "$faults" | while read -r fault; do
		dmsetup message aftl-same 0 fault $fault || return
	done || return
	fio --filename=/dev/mapper/aftl-same --ioengine=libaio --direct=1 --randrepeat=1 \
		--eta=never --output="$scratch/fio" --bs=16k --iodepth=16 --continue_on_error=all \
		--name=mix --rw=randrw --rwmixread=30 --size=16m --io_size=24m
	no_fault_waits
}

write_more()
{
	dd if=/dev/zero of=/dev/mapper/aftl-same bs=4k count=16 seek=$((place += 16)) oflag=direct \
		2>"$scratch/said"
}

# Write the faults of the device as a fault script, with the time at which each fault happened.
# The kernel's trigger times count from the arming of a fault, the simulator's from its start.
write_script()
{
	while read -r action number _ trigger at _ when; do
		case $action in age) number="\"${number}ns\"" ;; life) number="\"$number\"" ;; esac
		case $trigger in time) at="\"${when}ns\"" ;; esac
		printf '[[fault]]\n%s = %s\nafter_%s = %s\n' "$action" "$number" "$trigger" "$at"
	done <"$scratch/list" >"$scratch/script.toml"
}

# As the last fault a die fails after one second of device time, during host writes.
use_with_faults()
{
	use_armed && dmsetup message aftl-same 0 fault die 2 after time 1s || return
	place=0
	until no_fault_waits; do
		write_more || return
	done
	for _ in 1 2 3 4 5; do
		write_more || :
	done
	write_script
}

# Worn blocks are retired during GC, until the device is read-only.
use_until_end_of_life()
{
	faults=$last_faults
	use_armed && write_script &&
		dmsetup message aftl-same 0 stats | grep -Eq '^retired_blocks ([2-9]|[0-9]{2})' &&
		dmsetup status aftl-same | grep -q ' ro '
}

# Only with the device's list of faults the simulator ends in the state of the device.
faults_replayed()
{
	use=$1
	shift
	used "$use" baseline 'timing real' "$@" || return
	! simulated 0 --profile demo --policy baseline $(words "$@") >"$scratch/answer" &&
		simulated 0 --profile demo --policy baseline $(words "$@") \
			--fault-script "$scratch/script.toml"
}

put_zone()
{
	dd if="$scratch/data" of=/dev/mapper/aftl-same bs=32k seek=$(($1 * 128)) oflag=direct \
		conv=notrunc,fsync 2>"$scratch/said$1"
}

# Write two zones at once, each in order, but reset none: a record has no zone resets.
use_zones()
{
	head -c 3m /dev/urandom >"$scratch/data"
	put_zone 0 &
	first=$!
	put_zone 1 && wait "$first" || return
	dd if=/dev/mapper/aftl-same bs=64k skip=64 iflag=direct count=48 2>"$scratch/said" |
		cmp - "$scratch/data"
}

# words KEY VALUE...: print the simulator's options for these parameters
words()
{
	while [ $# -gt 1 ]; do
		printf ' --set %s=%s' "$1" "$2"
		shift 2
	done
}

# looked_at: save digest, counters and table line of each shard, to compare them with the simulator
looked_at()
{
	dmsetup message aftl-same 0 digest >"$scratch/digests" || return
	shards=0
	while read -r digest; do
		dmsetup message aftl-same 0 stats "$shards" >"$scratch/stats$shards" &&
			dmsetup message aftl-same 0 line "$shards" >"$scratch/line$shards" || return
		echo "$digest" >"$scratch/digest$shards"
		shards=$((shards + 1))
	done <"$scratch/digests"
}

# used FUNCTION POLICY "TARGET KEYS" KEY VALUE...: create a device, run FUNCTION, suspend it
# Background work stays pending, because the device is compared as it was when it was suspended.
used()
{
	use=$1
	policy=$2
	target=$3
	shift 3
	forget_events
	create aftl-same ram policy "$policy" $target "$@" || return 1
	$use || { dmsetup remove --force aftl-same; return 1; }
	dmsetup suspend aftl-same && looked_at && dmsetup resume aftl-same &&
		dmsetup remove aftl-same && events aftl_submit >"$scratch/trace"
}

# simulated SHARD OPTION...: simulate a shard; devices start empty unless an option fills them
simulated()
{
	stats=$scratch/stats$1
	digest=$(cat "$scratch/digest$1")
	grep " shard=$1\$" "$scratch/trace" >"$scratch/trace$1"
	trace=$scratch/trace$1
	shift
	python3 selftests/kernel/replay.py --trace "$trace" --stats "$stats" --digest "$digest" \
		--record "$scratch/stream.aft" -- "$program" sim --fill none "$@"
}

# replayed FUNCTION POLICY "TARGET KEYS" KEY VALUE...: run FUNCTION, simulate the same requests
replayed()
{
	used "$@" || return
	shift 3
	simulated 0 --profile demo --policy "$policy" $(words "$@")
}

# shards_replayed FUNCTION POLICY "TARGET KEYS" KEY VALUE...: simulate each shard as a device
shards_replayed()
{
	used "$@" || return
	for shard in $(seq 0 $((shards - 1))); do
		# Skip store, number of words, and the pairs profile, policy and timing.
		read -r _ _ _ _ _ _ _ _ own <"$scratch/line$shard"
		simulated "$shard" --profile demo --policy "$policy" $(words $own) || return
	done
	[ "$shards" -gt 1 ]
}

# differs KEY VALUE...: a simulated device with these parameters ends with another digest
differs()
{
	! python3 selftests/kernel/replay.py --trace "$trace" --stats "$stats" \
		--digest "$digest" --record "$scratch/stream.aft" -- "$program" sim \
		--fill none --profile demo --policy baseline $(words "$@") >"$scratch/answer" &&
		grep -q '^# digest: ' "$scratch/answer"
}

# two_queues KEY VALUE...: test two host queues on flash so slow that requests wait
# Without waiting requests one host queue and two host queues give the same result.
two_queues()
{
	set -- "$@" read 5ms program 20ms
	replayed use_queues baseline 'timing real' "$@" queue_weights 3:1 depth 16 &&
		differs "$@" depth 16
}

set -- $shape
record_events aftl_submit
in_turn 'ext4, real time' replayed use_ext4 approxftl 'timing real' "$@"
in_turn 'ext4, real time, write buffer' replayed use_ext4 approxftl 'timing real' "$@" \
	buffer 512KiB
in_turn 'ext4, timing off' replayed use_ext4 cubeftl 'timing off' "$@" \
	one_shot on buffer 512KiB
in_turn 'approximate data, GC' replayed 'use_raw 48m' approxftl \
	'timing off tag_all approximate' "$@"
in_turn 'approximate data, GC, real time, suspended operations' \
	replayed 'use_raw 48m' approxftl 'timing real tag_all approximate' "$@" \
	suspend both cell_model voltage buffer 1MiB
in_turn 'a policy with idle-time tasks' replayed 'use_raw 8m' agcr 'timing real' "$@"
in_turn 'a worn, filled device' replayed 'use_raw 16m' vth_b 'timing real' "$@" \
	fill random fill_overwrite 50 cycles 1000 age 90d wear_gap 4 endurance 1010
in_turn 'an SLC cache, folded in idle time and under pressure' replayed 'use_raw 48m' vth_b \
	'timing real tag_all approximate' "$@" bits 2 slc_static 4% slc_dynamic 30%
in_turn 'read cache and read-ahead' replayed 'use_raw 24m' vth_b \
	'timing real tag_all approximate' "$@" read_cache 1MiB read_ahead 256KiB read_hit 5us
in_turn 'a cached mapping table, suspended operations' replayed 'use_raw 24m' vth_b \
	'timing real tag_all approximate' "$@" map_cache 64KiB suspend both buffer 256KiB
in_turn 'wide planes whose reads are merged' replayed 'use_raw 24m' vth_b 'timing real' "$@" \
	planes 2 plane_mode wide multi_plane_read any_page suspend both cache_commands both buffer 256KiB \
	suspend_reads 2 controller_vary 2us housekeeping 3ms housekeeping_every 7ms
in_turn 'superblocks with parity and a cached mapping table' replayed 'use_raw 24m' baseline \
	'timing real' "$@" superblock 2 rain on map_cache 64KiB buffer 256KiB
in_turn 'superblocks with an SLC cache and handles' replayed 'use_raw 24m' baseline \
	'timing real' "$@" superblock 2 bits 2 slc_static 4% placement_handles 2
in_turn 'policy density, GC' replayed 'use_raw 48m' density \
	'timing real' "$@" bits 2 density_approx on fill sequential
in_turn 'policy lending, GC' replayed 'use_raw 48m' lending 'timing real' "$@" \
	fill random fill_approx 50 cell_model voltage cycles 3000
in_turn 'policy ips, with host writes, GC and idle time' replayed 'use_raw 48m' ips \
	'timing real' "$@" bits 3 one_shot on fill sequential ips_idle 100%
in_turn 'two queues, by I/O priority; one ends differently' two_queues "$@"
in_turn 'another policy ends differently' differs
in_turn 'faults of each action' faults_replayed use_with_faults "$@" buffer 256KiB
in_turn 'worn blocks, and the end of life' faults_replayed use_until_end_of_life "$@" \
	buffer 256KiB endurance 3000
in_turn 'zones' replayed use_zones baseline 'timing real' blocks 96 zoned 4MiB buffer 4MiB \
	buffer_safe on errors off
in_turn 'two shards, ext4, real time, write buffer' shards_replayed use_ext4 approxftl \
	'timing real' "$@" shards 2 buffer 512KiB
in_turn 'four shards, GC' shards_replayed 'use_raw 96m' vth_b 'timing off' channels 4 "$@" \
	shards 4
finished
