#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the syntax and the effects of messages, and the status line.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/trace.sh

create aftl-talk ram $small tag_all approximate || exit 1
dd if=/dev/zero of=/dev/mapper/aftl-talk bs=64k count=16 oflag=direct 2>"$scratch/said"

# says PATTERN VERB [ARGUMENT]...: a line of the answer to message VERB matches PATTERN
says()
{
	pattern=$1
	shift
	dmsetup message aftl-talk 0 "$@" >"$scratch/answer" && grep -qE "$pattern" "$scratch/answer"
}

# complains SENTENCE [VERB [ARGUMENT]...]: the message VERB fails and logs SENTENCE
complains()
{
	sentence=$1
	shift
	! dmsetup message aftl-talk 0 "$@" 2>"$scratch/said" && dmesg | grep -qF ": $sentence"
}

status_matches()
{
	dmsetup status aftl-talk >"$scratch/answer"
	grep -qE '^0 [0-9]+ approxftl (rw|ro) [a-z_]+ [0-9]+/[0-9]+ [0-9]+/[0-9]+( [0-9]+){16}$' \
		"$scratch/answer"
}

every_counter()
{
	dmsetup message aftl-talk 0 stats >"$scratch/answer"
	cut -d ' ' -f 1 "$scratch/answer" >"$scratch/names"
	sed -n 's/^COUNTER(\([a-z_]*\),.*/\1/p' dm-approxftl/core/base/counter-table.h |
		grep -vxFf "$scratch/names"
	nothing grep -vE '^[a-z0-9_]+ [0-9]+$' "$scratch/answer"
}

resets()
{
	[ "$(counter aftl-talk host_write_units)" -eq 256 ] && dmsetup message aftl-talk 0 reset &&
		[ "$(counter aftl-talk host_write_units)" -eq 0 ] &&
		[ "$(status_word aftl-talk 7)" -eq 0 ]
}

# Refresh rewrites old approximate data as precise.
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

lun_lines()
{
	dmsetup message aftl-talk 0 luns >"$scratch/answer" && [ "$(wc -l <"$scratch/answer")" -eq 4 ] &&
		nothing grep -vE '^[0-3] good_blocks 64 free_blocks [0-9]+ valid_units [0-9]+ queued [0-9]+ busy_ns [0-9]+ cached_blocks [0-9]+$' \
			"$scratch/answer"
}

# Fetch the whole block table in pieces, as a tool would, and compare it with the status line.
block_lines()
{
	from=0
	while [ -n "$from" ]; do
		dmsetup message aftl-talk 0 blocks "$from" 100 >"$scratch/answer" || return 1
		from=$(sed -n 's/^next //p' "$scratch/answer")
		grep -v '^next ' "$scratch/answer"
	done >"$scratch/blocks"
	[ "$(wc -l <"$scratch/blocks")" -eq 256 ] &&
		nothing grep -vE '^[0-9]+ (free|open|closed|bad) [a-z0-9_-]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+$' \
			"$scratch/blocks" &&
		[ "$(awk '{ units += $6 } END { print units }' "$scratch/blocks")/$(
			status_word aftl-talk 3 | cut -d / -f 2)" = "$(status_word aftl-talk 3)" ]
}

# An answer too long for device-mapper's buffer is cut, and names the block to ask for next.
block_lines_fit()
{
	create aftl-many none blocks 4096 timing off || return 1
	dmsetup message aftl-many 0 blocks 0 16384 >"$scratch/answer"
	next=$(sed -n 's/^next //p' "$scratch/answer")
	[ "${next:-0}" -gt 100 ] && [ "$(wc -l <"$scratch/answer")" -eq $((next + 1)) ] &&
		[ "$(sed -n "${next}p" "$scratch/answer" | cut -d ' ' -f 1)" -eq $((next - 1)) ]
}

# After many overwrites, message gc of one LUN frees some blocks, and gc of all LUNs the rest.
collects()
{
	for round in 1 2 3 4; do
		dd if=/dev/zero of=/dev/mapper/aftl-talk bs=64k count=400 oflag=direct \
			2>"$scratch/said$round" || return 1
	done
	collect aftl-talk 1 && one=$(counter aftl-talk gc_blocks) && collect aftl-talk &&
		all=$(counter aftl-talk gc_blocks) && collect aftl-talk || return
	[ "$one" -gt 0 ] && [ "$all" -ge $((2 * one)) ] && [ "$(counter aftl-talk gc_blocks)" -eq "$all" ]
}

# GC on request must not enter the FTL of a suspended device before the device is resumed.
waits_for_the_end_of_rest()
{
	queued=$tracing/events/workqueue/workqueue_queue_work/enable
	echo 1 >"$queued" && forget_events && dmsetup suspend aftl-talk &&
		dmsetup message aftl-talk 0 gc || return
	! grep -q function=advance_untimed_gc_work "$tracing/trace"
	waited=$?
	dmsetup resume aftl-talk && grep -q function=advance_untimed_gc_work "$tracing/trace" &&
		echo 0 >"$queued" && return "$waited"
}

# `dmsetup table` shows parameters that messages changed, so that a reload keeps the changes.
changes_parameter()
{
	dmsetup message aftl-talk 0 policy hot_size 64KiB &&
		dmsetup table aftl-talk | grep -q ' hot_size 64KiB' &&
		dmsetup message aftl-talk 0 policy program 1ms &&
		dmsetup table aftl-talk | grep -q ' program 1ms'
}

# A fault of one logical page leaves its neighbours readable; a write of the page ends the fault.
unit_is_lost()
{
	unit=/dev/mapper/aftl-talk
	dd if=/dev/urandom of=$unit bs=4k count=8 oflag=direct conv=fsync 2>"$scratch/said" &&
		dmsetup message aftl-talk 0 fault unit 5 && says '^5 1$' lost 0 &&
		! dd if=$unit of="$scratch/data" bs=4k skip=5 count=1 iflag=direct \
			2>"$scratch/said" &&
		dd if=$unit of="$scratch/data" bs=4k count=5 iflag=direct 2>"$scratch/said" &&
		dd if=$unit of="$scratch/data" bs=4k skip=6 count=2 iflag=direct \
			2>"$scratch/said" &&
		dd if=/dev/zero of=$unit bs=4k seek=5 count=1 oflag=direct conv=fsync \
			2>"$scratch/said" && [ -z "$(dmsetup message aftl-talk 0 lost 0)" ] &&
		dd if=$unit of="$scratch/data" bs=4k count=8 iflag=direct 2>"$scratch/said"
}

# Faults happen once, directly after their triggers. The fault list survives suspend and reload.
armed_faults_happen()
{
	unit=/dev/mapper/aftl-talk
	dd if=/dev/urandom of=$unit bs=4k count=8 oflag=direct 2>"$scratch/said" &&
		dmsetup message aftl-talk 0 fault unit 5 after write 2 &&
		dmsetup message aftl-talk 0 fault unit 6 after program 6 &&
		dmsetup message aftl-talk 0 fault age 1h after read 9 &&
		dd if=/dev/zero of=$unit bs=4k count=1 oflag=direct 2>"$scratch/said" &&
		says '^unit 5 after write 2 pending$' faults &&
		dmsetup suspend aftl-talk && dmsetup resume aftl-talk &&
		dmsetup reload aftl-talk --table "$(dmsetup table aftl-talk)" &&
		dmsetup suspend aftl-talk && dmsetup resume aftl-talk &&
		dd if=/dev/zero of=$unit bs=4k seek=6 count=1 oflag=direct conv=fsync \
			2>"$scratch/said" && says '^5 2$' lost 0 &&
		says '^unit 5 after write 2 happened [0-9]*$' faults &&
		says '^unit 6 after program 6 happened [0-9]*$' faults &&
		says '^age [0-9]* after read 9 pending$' faults &&
		dd if=/dev/zero of=$unit bs=4k count=8 oflag=direct conv=fsync \
			2>"$scratch/said" && [ -z "$(dmsetup message aftl-talk 0 lost 0)" ] &&
		dmsetup message aftl-talk 0 fault clear &&
		[ -z "$(dmsetup message aftl-talk 0 faults)" ]
}

kept_die()
{
	dd if=/dev/mapper/aftl-kept bs=64k count=128 iflag=direct 2>"$scratch/said" |
		cmp - "$scratch/data"
}

# With RAIN the data of a dead die are reconstructed on read, rebuilt, and kept by a reload.
die_is_rebuilt()
{
	set -- policy baseline superblock 4 rain on
	head -c 8M /dev/urandom >"$scratch/data" &&
		create aftl-kept ram blocks 64 word_lines 8 op 66 "$@" || return 1
	dd if="$scratch/data" of=/dev/mapper/aftl-kept bs=64k oflag=direct 2>"$scratch/said" ||
		return 1
	kept_die &
	dmsetup message aftl-kept 0 fault die 2 && wait $! &&
		[ "$(status_word aftl-kept 18)" -eq 1 ] || return 1
	until [ "$(counter aftl-kept programmed_rebuild_units)" -ge 400 ]; do
		sleep 0.1
	done
	kept_die &&
		dmsetup table aftl-kept >"$scratch/kept" &&
		dmsetup load aftl-kept "$scratch/kept" && is_clean aftl-kept &&
		[ "$(status_word aftl-kept 18)" -eq 1 ] && kept_die
}

# With RAIN a reload with another policy is refused: the policy fixes which blocks share parity.
superblocks_stay()
{
	sed 's/policy baseline/policy separated/' "$scratch/kept" >"$scratch/other" &&
		dmsetup load aftl-kept "$scratch/other" && dmsetup suspend aftl-kept &&
		nothing dmsetup resume aftl-kept 2>"$scratch/said" &&
		grep_log -q 'goes on with the policy that it was saved with' &&
		dmsetup load aftl-kept "$scratch/kept" && dmsetup resume aftl-kept && kept_die
}

block_is_retired()
{
	dmsetup message aftl-talk 0 fault block 3 && collect aftl-talk &&
		says '^3 bad ' blocks 3 1
}

ktap_test_run 'the status line matches the documented words' status_matches
ktap_test_run 'message luns prints a line for each LUN' lun_lines
ktap_test_run 'message blocks prints a line for each block' block_lines
ktap_test_run 'a long answer to message blocks is complete' block_lines_fit
ktap_test_silent 'message stats prints each counter with its name' every_counter
ktap_test_run 'message reset sets counters to zero' resets
ktap_test_run 'message age ages the cells' ages
ktap_test_run 'message block prints the state of a block' says '^state (free|open|closed|bad)$' block 0
ktap_test_run 'verbs may be written in capitals' says '^erases [0-9]+$' BLOCK 1
ktap_test_run 'message gc collects garbage' collects
ktap_test_run 'gc of a suspended device waits for its resume' waits_for_the_end_of_rest
ktap_test_run 'message policy changes a parameter' changes_parameter
ktap_test_run 'fault block retires the block' block_is_retired
ktap_test_run 'fault die: data with parity are rebuilt' die_is_rebuilt
ktap_test_run 'fault die: superblocks keep their policy' superblocks_stay
ktap_test_run 'digest and audit work while suspended' at_rest
ktap_test_run 'message digest is refused under I/O' complains \
	'message digest needs the device at rest; suspend it first' digest
ktap_test_silent 'message lost prints nothing if no unit is lost' dmsetup message aftl-talk 0 lost 0
ktap_test_run 'an unknown verb is refused' complains \
	'unknown message "sing"; there are stats, reset, age, gc, policy, fault, faults, luns, blocks, block, lost, line, digest and audit' \
	sing
ktap_test_run 'too few arguments are refused' complains 'message age takes 1 arguments, not 0' age
ktap_test_run 'too many arguments are refused' \
	complains 'message reset takes 0 arguments, not 1' reset all
ktap_test_run 'an invalid duration is refused' \
	complains '"old" is not a duration such as 700us, 3.5ms or 7d' age old
ktap_test_run 'an unknown block is refused' \
	complains '"256" is not a block; there are 0 to 255' block 256
ktap_test_run 'an unknown LUN is refused' complains '"4" is not a LUN; there are 0 to 3' gc 4
ktap_test_run 'fault unit: reads of this logical page fail until it is written' unit_is_lost
last_unit=$(($(status_word aftl-talk 3 | cut -d / -f 2) - 1))
ktap_test_run 'fault unit refuses a logical page that is not on flash' \
	complains "unit $last_unit is not on flash: it has no data, or they are in the write buffer" \
	fault unit $last_unit
ktap_test_run 'fault unit refuses a number beyond the last logical page' \
	complains "\"$((last_unit + 1))\" is not a unit; there are 0 to $last_unit" \
	fault unit $((last_unit + 1))
ktap_test_run 'fault unit with a trigger: it happens once' armed_faults_happen
ktap_test_run 'a trigger in the past is refused' \
	complains 'write 0 does not come any more' fault unit 5 after write 0
ktap_test_run 'an unknown fault is refused' \
	complains '"disk" is not a fault: ' fault disk 0
ktap_test_run 'an unknown parameter is refused' \
	complains 'unknown parameter "colour"' policy colour red
ktap_test_run 'a value out of range is refused' \
	complains 'erase: 1h is out of range; it must be 1ns to 10s' \
	policy erase 1h
ktap_test_run 'message line refuses changes of geometry' complains \
	'the device was made with op 30, which cannot become 40' policy op 40
ktap_test_run 'messages leak no memory' complains 'depth stays 2048 as long as the device is loaded' \
	policy depth 4096
finished
