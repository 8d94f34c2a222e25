#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Suspend, resume, reload and remove a device under I/O.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2

# load NAME: write and verify in the background until stop_load; success makes $scratch/loaded
load()
{
	rm -f "$scratch/loaded" "$scratch/enough"
	(
		while [ ! -e "$scratch/enough" ]; do
			verify "$1" --ioengine=libaio --iodepth=16 --bs=8k --size=8m || exit 1
		done
		touch "$scratch/loaded"
	) &
	until [ "$(status_word "$1" 5)" -gt 0 ] || [ "$(status_word "$1" 7)" -gt 0 ]; do
		sleep 0.1
	done
}

stop_load()
{
	touch "$scratch/enough"
	wait
	[ -e "$scratch/loaded" ]
}

# under_load ROUND...: call each function ROUND while I/O is in progress
under_load()
{
	dmsetup message aftl-cycle 0 reset
	load aftl-cycle
	for round; do
		"$round" || { stop_load; return 1; }
	done
	stop_load
}

pause()
{
	dmsetup suspend aftl-cycle && dmsetup resume aftl-cycle
}

pause_noflush()
{
	dmsetup suspend --noflush --nolockfs aftl-cycle && dmsetup resume aftl-cycle
}

# switch_to [KEY VALUE]...: load a table with these parameters and resume the device with it
switch_to()
{
	line ram "$(blockdev --getsz /dev/mapper/aftl-cycle)" "$@" | dmsetup reload aftl-cycle &&
		dmsetup resume aftl-cycle
}

same_table()
{
	dmsetup table aftl-cycle | dmsetup reload aftl-cycle && dmsetup resume aftl-cycle
}

to_baseline()
{
	switch_to $shape timing off policy baseline
}

to_real_time()
{
	switch_to $shape timing real policy baseline
}

to_approxftl()
{
	switch_to $shape buffer 1MiB timing real
}

# An SLC cache uses dynamic and static blocks, and GC frees blocks of both kinds.
with_a_cache()
{
	switch_to $shape bits 2 timing off slc_dynamic 30% || return 1
	cached=$(counter aftl-cycle cached_host_units)
	while [ "$(counter aftl-cycle cached_host_units)" -le "$cached" ]; do
		sleep 0.1
	done
	switch_to $shape bits 2 timing real slc_static 5% policy vth_b
}

without_a_cache()
{
	switch_to $shape bits 2 timing off
}

in_word()
{
	dd if=/dev/zero bs=4k count=64 2>"$scratch/said" | tr '\0' "$1"
}

keeps_state()
{
	in_word a | dd of=/dev/mapper/aftl-cycle bs=256k iflag=fullblock oflag=direct 2>"$scratch/said"
	before=$(digest)
	same_table && [ "$(digest)" = "$before" ] && [ "$(counter aftl-cycle host_write_units)" -ge 64 ]
}

digest()
{
	dmsetup suspend aftl-cycle && dmsetup message aftl-cycle 0 digest
	dmsetup resume aftl-cycle
}

grows()
{
	in_word b | dd of=/dev/mapper/aftl-cycle bs=256k iflag=fullblock oflag=direct 2>"$scratch/said"
	larger=$(capacity blocks 80 word_lines 8 op 30)
	line ram "$larger" blocks 80 word_lines 8 op 30 timing off | dmsetup reload aftl-cycle &&
		dmsetup resume aftl-cycle &&
		[ "$(blockdev --getsz /dev/mapper/aftl-cycle)" -eq "$larger" ] &&
		in_word b | cmp -n 262144 - /dev/mapper/aftl-cycle
}

# refuses SENTENCE LINE: loading the table LINE must fail with the message SENTENCE
refuses()
{
	! echo "$2" | dmsetup reload aftl-cycle 2>"$scratch/said" && dmesg | grep -qF "$1" &&
		dmsetup clear aftl-cycle
}

inactive_status()
{
	dmsetup table aftl-cycle | dmsetup reload aftl-cycle &&
		[ "$(dmsetup status --inactive aftl-cycle | cut -d ' ' -f 4)" = inactive ] &&
		dmsetup clear aftl-cycle
}

# Data that do not fit the new table stay in the old table; a failed resume loses no data.
keeps_data_that_do_not_fit()
{
	create aftl-cycle ram $small || return
	sectors=$(blockdev --getsz /dev/mapper/aftl-cycle)
	dd if=/dev/urandom of="$scratch/data" bs=1M count=32 2>"$scratch/said"
	dd if="$scratch/data" of=/dev/mapper/aftl-cycle bs=1M oflag=direct 2>"$scratch/said"
	line ram "$sectors" $small fill sequential endurance 1 | dmsetup reload aftl-cycle || return
	! dmsetup resume aftl-cycle 2>"$scratch/said" &&
		! dmsetup resume aftl-cycle 2>"$scratch/said" &&
		line ram "$sectors" $small | dmsetup reload aftl-cycle && dmsetup resume aftl-cycle &&
		cmp -n 33554432 "$scratch/data" /dev/mapper/aftl-cycle && dmsetup remove aftl-cycle
}

# with_idle SHARE: print a table of a small device with PLP and gc_idle_valid=SHARE
with_idle()
{
	line ram "$sectors" channels 1 chips 1 blocks 24 op 40 policy baseline timing scale:100 \
		buffer 256KiB buffer_safe on buffer_hold 1s gc_idle_valid "$1"
}

# A reload moves flushed data of a persistent write buffer to the new table.
# If all blocks failed, data stay in the PLP buffer, and only a table equal to the live one loads.
keeps_what_has_no_block()
{
	sectors=16384
	dd if=/dev/urandom of="$scratch/data" bs=4k count=1 2>"$scratch/said"
	with_idle 50 | dmsetup create aftl-cycle && put_one && with_idle 55 | other_table &&
		has_one && put_one || return
	for block in $(seq 0 23); do
		dmsetup message aftl-cycle 0 fault block "$block" || return
	done
	with_idle 60 >"$scratch/other"
	sync /dev/mapper/aftl-cycle && ! other_table <"$scratch/other" 2>"$scratch/said" &&
		dmesg | grep -q 'no block is left for what the write buffer holds' &&
		with_idle 55 | other_table && has_one && [ "$(status_word aftl-cycle 1)" = ro ] &&
		dmsetup remove aftl-cycle
}

put_one()
{
	dd if="$scratch/data" of=/dev/mapper/aftl-cycle oflag=direct bs=4k 2>"$scratch/said"
}

has_one()
{
	cmp -n 4096 "$scratch/data" /dev/mapper/aftl-cycle
}

other_table()
{
	dmsetup reload aftl-cycle && dmsetup resume aftl-cycle
}

# until_waiting: wait until a resume, which may still be in progress, has taken the inactive table
until_waiting()
{
	while dmsetup info aftl-cycle | grep -q INACTIVE; do
		sleep 0.1
	done
}

# loaded_meanwhile SENTENCE STORE SECTORS: load a second table during the resume of a first one
# The first resume lasts long, because device-mapper waits for I/O of an earlier dm-linear table.
# The resume of the second table must fail with SENTENCE; the first table keeps the data.
loaded_meanwhile()
{
	sectors=$(capacity $small) && create aftl-below none $small &&
		dmsetup create aftl-cycle --table "0 $sectors linear /dev/mapper/aftl-below 0" &&
		dmsetup suspend --nolockfs aftl-below || return
	in_word d | dd of=/dev/mapper/aftl-cycle bs=256k iflag=fullblock oflag=direct 2>"$scratch/said" &
	until [ "$(cut -c 9-17 "/sys/block/$(dmsetup info -c --noheadings -o blkdevname \
		aftl-cycle)/inflight" | tr -d ' ')" -gt 0 ]; do
		sleep 0.1
	done
	line ram "$sectors" $small >"$scratch/first" && dmsetup reload aftl-cycle <"$scratch/first"
	dmsetup resume aftl-cycle &
	resumed=$!
	until_waiting
	line "$2" "$3" $small | dmsetup reload aftl-cycle
	loaded=$?
	dmsetup resume aftl-below && wait "$resumed" && [ "$loaded" -eq 0 ] || return
	wait
	dd if=/dev/urandom of="$scratch/data" bs=1M count=8 2>"$scratch/said"
	dd if="$scratch/data" of=/dev/mapper/aftl-cycle bs=1M oflag=direct 2>"$scratch/said"
	! dmsetup resume aftl-cycle 2>"$scratch/said" && dmesg | grep -qF "$1" &&
		other_table <"$scratch/first" && cmp -n 8388608 "$scratch/data" /dev/mapper/aftl-cycle
	kept=$?
	dmsetup remove aftl-cycle && dmsetup remove aftl-below && return "$kept"
}

# read_failures: count unreadable units in the first 16 MiB; save the readable ones
read_failures()
{
	dmsetup message aftl-cycle 0 reset
	dd if=/dev/mapper/aftl-cycle of="$scratch/read" bs=4k count=4096 iflag=direct conv=noerror,sync \
		2>"$scratch/said"
	counter aftl-cycle read_lost_units
}

# lost_stays_lost [KEY VALUE]...: units stay lost after a reload with more flash or other shards
lost_stays_lost()
{
	dies='channels 2 chips 2 word_lines 8 op 40 timing off'
	create aftl-cycle ram blocks 48 $dies "$@" || return
	sectors=$(blockdev --getsz /dev/mapper/aftl-cycle)
	dd if=/dev/urandom of=/dev/mapper/aftl-cycle bs=1M count=16 oflag=direct 2>"$scratch/said"
	dmsetup message aftl-cycle 0 fault die 1 && failures=$(read_failures) &&
		[ "$failures" -gt 100 ] && cp "$scratch/read" "$scratch/data" || return
	for shape_after in 'blocks 64' 'blocks 96 shards 2'; do
		line ram "$sectors" $dies "$@" $shape_after | other_table &&
			[ "$(read_failures)" -eq "$failures" ] && cmp "$scratch/data" "$scratch/read" &&
			[ "$(status_word aftl-cycle 20)" -eq "$failures" ] || return
	done
	dd if=/dev/zero of=/dev/mapper/aftl-cycle bs=1M count=16 oflag=direct 2>"$scratch/said"
	[ "$(read_failures)" -eq 0 ] && dmsetup remove aftl-cycle
}

# counted_on: check that no counter of the device has fallen since $scratch/before was written
counted_on()
{
	dmsetup message aftl-cycle 0 stats >"$scratch/after" || return
	awk '/^(stream|device_ns|since_ns|late_p)/ { next }
		NR == FNR { before[$1] = $2; next }
		$1 in before { compared++ }
		$1 in before && $2 < before[$1] { print "# " $1 ": " before[$1] " and then " $2; lost++ }
		END { exit lost || compared < 50 }' "$scratch/before" "$scratch/after" || return
	cp "$scratch/after" "$scratch/before"
}

# goes_on_counting STORE TABLE...: each reload, with the parameters TABLE, keeps the counters
goes_on_counting()
{
	store=$1
	shift
	create aftl-cycle "$store" $small || return
	sectors=$(blockdev --getsz /dev/mapper/aftl-cycle)
	in_word e | dd of=/dev/mapper/aftl-cycle bs=256k iflag=fullblock oflag=direct 2>"$scratch/said"
	dd if=/dev/mapper/aftl-cycle bs=64k iflag=direct count=4 of="$scratch/read" 2>"$scratch/said"
	dmsetup message aftl-cycle 0 fault block 3 && collect aftl-cycle &&
		dmsetup message aftl-cycle 0 stats >"$scratch/before" || return
	grep -q '^retired_blocks [1-9]' "$scratch/before" && grep -q '^host_write_units [1-9]' "$scratch/before" &&
		grep -q '^host_read_units [1-9]' "$scratch/before" || return
	for changed; do
		line "$store" "$sectors" timing off $changed | other_table && counted_on || return
	done
	in_word f | dd of=/dev/mapper/aftl-cycle bs=256k iflag=fullblock oflag=direct 2>"$scratch/said"
	[ "$(counter aftl-cycle host_write_units)" -ge 128 ] && dmsetup remove aftl-cycle
}

volume_goes_on_counting()
{
	create aftl-below ram blocks 160 word_lines 8 op 30 timing off &&
		goes_on_counting /dev/mapper/aftl-below "$shape policy baseline" \
			"$shape policy baseline gc 8%" &&
		dmsetup remove aftl-below
}

# answers COMMAND...: COMMAND ends while a volume is opened, without 5 s of uninterruptible sleep
answers()
{
	"$@" >"$scratch/answer" &
	asked=$!
	sleeping=0
	while [ -e "/proc/$asked/exe" ] && [ "$sleeping" -lt 50 ]; do
		sleep 0.1
		grep -qs ' D ' "/proc/$asked/stat" && sleeping=$((sleeping + 1)) || sleeping=0
	done
	[ "$sleeping" -lt 50 ] && wait "$asked"
}

# A suspended backing device does not complete the reads by which the volume is opened.
tells_while_it_opens()
{
	sectors=$(capacity $small) && create aftl-below ram blocks 160 word_lines 8 op 30 timing off &&
		formatted /dev/mapper/aftl-below $small && dmsetup create aftl-cycle --notable &&
		line /dev/mapper/aftl-below "$sectors" $small | dmsetup reload aftl-cycle &&
		dmsetup suspend --nolockfs aftl-below || return
	dmsetup resume aftl-cycle &
	opener=$!
	until_waiting
	answers dmsetup status aftl-cycle && grep -q ' approxftl resuming' "$scratch/answer" &&
		answers dmsetup table aftl-cycle && grep -q ' approxftl 25[0-9]:' "$scratch/answer" &&
		! dmsetup message aftl-cycle 0 stats 2>"$scratch/said"
	told=$?
	dmsetup resume aftl-below && wait "$opener" && dmsetup status aftl-cycle | grep -q ' approxftl rw ' &&
		dmsetup remove aftl-cycle && dmsetup remove aftl-below && return "$told"
}

# until_inside FUNCTION PID...: wait until the processes are in a kernel function or have ended
until_inside()
{
	inside=$1
	shift
	for process; do
		until grep -q "$inside" "/proc/$process/stack" ||
			! grep -q '^State:.[^XZ]' "/proc/$process/status"; do
			sleep 0.01
		done 2>"$scratch/said"
	done
}

# A resume that waits for the messages to its device does not hold a lock that other devices need.
# A message that gets the device's mutex only after the resume is refused, so all audits must wait
# for the mutex before the resume does. They take some thirty times as long as the load of a table.
others_load_while_a_resume_waits()
{
	capacity $small >"$scratch/said"
	create aftl-cycle none blocks 8192 fill sequential timing off && dmsetup suspend aftl-cycle || return
	: >"$scratch/audits"
	audits=
	for _ in 1 2 3 4 5 6 7 8; do
		dmsetup message aftl-cycle 0 audit >>"$scratch/audits" &
		audits="$! $audits"
	done
	until_inside aftl_target_message $audits
	dmsetup resume aftl-cycle &
	until_inside dm_resume $!
	create aftl-other none $small
	ended=$(grep -c clean "$scratch/audits")
	wait
	all=$(grep -c clean "$scratch/audits")
	echo "# $ended of $all audits ended before the load of another device"
	dmsetup remove aftl-other && dmsetup remove aftl-cycle && [ "$ended" -lt "$all" ]
}

# held_memory: print the bytes of the module's vmalloc allocations
held_memory()
{
	awk '/dm_approxftl/ { held += $2 } END { print held + 0 }' /proc/vmallocinfo
}

# Loading an identical table must not allocate an FTL; loading another policy must.
same_table_needs_no_ftl()
{
	wide='channels 4 chips 4 blocks 600 timing off'
	create aftl-cycle none $wide && one=$(held_memory) && [ "$one" -gt 8000000 ] &&
		dmsetup table aftl-cycle | dmsetup reload aftl-cycle && same=$(held_memory) &&
		line none "$(blockdev --getsz /dev/mapper/aftl-cycle)" $wide policy baseline |
		dmsetup reload aftl-cycle && other=$(held_memory) || return
	echo "# $one bytes; with the same table loaded $same, with another one $other"
	[ "$same" -lt $((one + one / 4)) ] && [ "$other" -gt $((one + one / 2)) ] &&
		dmsetup remove aftl-cycle
}

# rescuers: count the rescuer threads of the target's workqueues
rescuers()
{
	cat /proc/[0-9]*/comm 2>"$scratch/said" |
		awk '/^(kworker\/R-)?aftl_(queue|salvage|fetch|background|submit)/ { count++ } END { print count + 0 }'
}

# Workqueues are created when a table is loaded, because a resume must not allocate memory.
workers_are_made_by_the_load()
{
	sectors=$(capacity $small) && create aftl-below ram blocks 160 word_lines 8 op 30 timing off &&
		formatted /dev/mapper/aftl-below $small && dmsetup create aftl-cycle --notable &&
		none=$(rescuers)
	line /dev/mapper/aftl-below "$sectors" $small | dmsetup reload aftl-cycle &&
		loaded=$(rescuers) && dmsetup resume aftl-cycle &&
		[ "$none" -eq 0 ] && [ "$loaded" -eq 5 ] && [ "$(rescuers)" -eq "$loaded" ] &&
		dmsetup remove aftl-cycle && [ "$(rescuers)" -eq 0 ]
	made=$?
	dmsetup remove aftl-below && return "$made"
}

create aftl-cycle ram $small || exit 1
ktap_test_run 'a reload keeps state and counters' keeps_state
ktap_test_run 'a longer table keeps the data' grows
ktap_test_run 'a reload with a shorter table is refused' refuses \
	'a reload cannot shrink it to 8192' \
	"$(line ram 8192)"
in_turn 'a reload with another store is refused' refuses \
	'the device keeps its data in store ram' \
	"$(line none "$(blockdev --getsz /dev/mapper/aftl-cycle)")"
in_turn 'a reload with another mapping unit is refused' refuses 'mapping units of 8 sectors' \
	"$(line ram "$(blockdev --getsz /dev/mapper/aftl-cycle)" unit 2KiB)"
ktap_test_run 'the status of an inactive table is one word' inactive_status
dmsetup remove aftl-cycle
create aftl-cycle ram $small || exit 1
ktap_test_run 'suspend and resume work under I/O' under_load pause pause pause_noflush pause
moving 'reloads work under I/O, with all policies and timings' \
	under_load same_table to_baseline \
	to_real_time same_table to_approxftl pause same_table
dmsetup remove aftl-cycle
create aftl-cycle ram $small bits 2 || exit 1
in_turn 'the SLC cache is toggled under I/O' under_load with_a_cache pause without_a_cache \
	with_a_cache same_table without_a_cache
dmsetup remove aftl-cycle
in_turn 'lost data stay lost after a reload with another geometry' lost_stays_lost
in_turn 'lost data stay lost after such a reload, with a write buffer' lost_stays_lost buffer 256KiB
in_turn 'a reload keeps the counters, in memory' goes_on_counting ram "$shape policy baseline" \
	"$shape policy baseline gc 8%" 'blocks 80 word_lines 8 op 30 policy baseline shards 1' \
	'blocks 96 word_lines 8 op 30 policy approxftl'
in_turn 'a reload keeps the counters, on a volume' volume_goes_on_counting
in_turn 'loading an identical table allocates no FTL' same_table_needs_no_ftl
in_turn 'the load of a volume makes its workqueues, not the resume' workers_are_made_by_the_load
moving 'status and table answer while a volume is opened' tells_while_it_opens
others_load='other devices load while a resume waits for an audit'
case $(uname -r) in
*-uml*) ktap_test_skip "$others_load" 'User Mode Linux does not preempt the audit' ;;
*) in_turn "$others_load" others_load_while_a_resume_waits ;;
esac
in_turn 'a volume loaded during the first resume does not free the data in memory' loaded_meanwhile \
	'the device keeps its data in store ram' /dev/mapper/aftl-below 8192
in_turn 'a shorter table loaded during the first resume does not cut the data' loaded_meanwhile \
	'a reload cannot shrink it to 8192' ram 8192
in_turn 'data that do not fit a new table stay in the old table' keeps_data_that_do_not_fit
in_turn 'a reload keeps buffered data without a free block' keeps_what_has_no_block
finished
