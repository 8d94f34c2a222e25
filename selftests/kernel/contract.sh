#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test what device-mapper and the block layer expect of a target: no call blocks for long.
# Impossible tables are refused, and the queue limits are those of the emulated device.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

half='blocks 64 word_lines 4 op 30'
small="$half timing off"
collecting=19 # field of the status line

# refused SENTENCE COMMAND...: the command fails, and the kernel's log contains SENTENCE
refused()
{
	sentence=$1
	shift
	clear_log
	! "$@" 2>"$scratch/said" && dmesg | grep -qF "$sentence" && return
	dmesg | tail -n 3 | sed 's/^/# /'
	return 1
}

# Nothing sleeps

much_garbage()
{
	for round in 1 2 3; do
		dd if=/dev/zero of="/dev/mapper/$1" bs=64k count=160 oflag=direct \
			2>"$scratch/said$round" || return
	done
}

# The message gc and a suspension return at once, although GC takes minutes with timing scale:1000.
collection_is_only_begun()
{
	create aftl-slow ram $half timing off && much_garbage aftl-slow &&
		dmsetup table aftl-slow | sed 's/timing off/timing scale:1000/' |
		dmsetup reload aftl-slow && dmsetup resume aftl-slow || return
	dmsetup message aftl-slow 0 gc && [ "$(status_word aftl-slow "$collecting")" -gt 0 ] &&
		dmsetup suspend aftl-slow && dmsetup resume aftl-slow &&
		[ "$(status_word aftl-slow "$collecting")" -gt 0 ] && dmsetup remove aftl-slow
}

# With "timing off" simulated time advances only with requests, yet GC must end without any request.
collection_ends()
{
	create aftl-fast ram $small && much_garbage aftl-fast && collect aftl-fast &&
		[ "$(counter aftl-fast gc_blocks)" -gt 0 ]
}

# has_filled SHARDS: return true once the initial fill has used CPU time for a second
has_filled()
{
	if [ "$1" -gt 1 ]; then
		grep -qs '+aftl_shards' /proc/[0-9]*/comm
	else
		[ "$(cut -d ' ' -f 15 "/proc/$filler/stat")" -ge 100 ]
	fi
}

# filling_is_killed SHARDS: SIGKILL interrupts a constructor that would take minutes
# A killed constructor leaves a device without a table, which dmsetup had created before.
filling_is_killed()
{
	dmsetup create aftl-big --table "$(line none 8388608 blocks 1024 word_lines 64 op 30 \
		timing off fill random fill_overwrite 1000 shards "$1")" 2>"$scratch/said" &
	filler=$!
	until has_filled "$1"; do
		kill -0 "$filler" || return
		sleep 0.1
	done
	kill -KILL "$filler" || return
	wait "$filler"
	[ $? -eq 137 ] && [ -z "$(dmsetup table aftl-big)" ] && dmsetup remove aftl-big &&
		dmesg | grep -qF 'interrupted while the device was filled'
}

# Suspending


sectors_below()
{
	awk '{ print $7 }' "/sys/block/$(dmsetup info -c --noheadings -o blkdevname aftl-below)/stat"
}

# Removing a device writes its snapshot; a suspension or a reload must not write one.
pauses_write_little()
{
	wipe /dev/ram0 || return
	create aftl-kept /dev/mapper/aftl-below $small || return
	dd if=/dev/urandom of="$scratch/data" bs=1M count=32 2>"$scratch/said"
	dd if="$scratch/data" of=/dev/mapper/aftl-kept bs=256k oflag=direct,dsync 2>"$scratch/said"
	dmsetup suspend aftl-kept && dmsetup resume aftl-kept || return
	before=$(sectors_below)
	for _ in 1 2 3 4 5; do
		dmsetup suspend aftl-kept && dmsetup resume aftl-kept || return
	done
	paused=$(($(sectors_below) - before))
	dmsetup table aftl-kept | dmsetup reload aftl-kept && before=$(sectors_below) &&
		dmsetup resume aftl-kept || return
	reloaded=$(($(sectors_below) - before))
	before=$(sectors_below)
	dmsetup remove aftl-kept || return
	removed=$(($(sectors_below) - before))
	echo "# sectors: five pauses $paused, a reload $reloaded, removal $removed"
	[ "$paused" -le 400 ] && [ "$reloaded" -le 100 ] && [ "$removed" -gt 200 ]
}

# After a power failure that follows a suspension, all data written before the suspension are found.
a_pause_is_durable()
{
	create aftl-kept /dev/mapper/aftl-below $small buffer 256KiB buffer_hold 1s &&
		dd if="$scratch/data" of=/dev/mapper/aftl-kept bs=64k seek=3 count=30 oflag=direct \
			2>"$scratch/said" && dmsetup suspend aftl-kept || return
	# Copy the backing device now: the copy is what a power failure would leave.
	dd if=/dev/mapper/aftl-below of=/dev/ram1 bs=1M oflag=direct 2>"$scratch/said"
	dmsetup resume aftl-kept && dmsetup remove aftl-kept || return
	create aftl-kept /dev/ram1 $small && dmesg | grep -q 'recovered [1-9][0-9]* units' &&
		dd if=/dev/mapper/aftl-kept bs=64k skip=3 count=30 iflag=direct 2>"$scratch/said" |
		cmp -n 1966080 - "$scratch/data" && is_clean aftl-kept &&
		dmsetup remove aftl-kept
}

# dmsetup remove must not return before the volume is closed, or the next create would fail.
create_after_remove()
{
	for _ in 1 2 3 4 5; do
		create aftl-kept /dev/mapper/aftl-below $small || return
		dmsetup remove aftl-kept || return
	done
	clear_log && create aftl-kept /dev/mapper/aftl-below $small &&
		nothing grep_log 'recovered|could not be used' && dmsetup remove aftl-kept
}

# Tables

read_only_table()
{
	sectors=$(capacity $small)
	dmsetup create aftl-kept --readonly \
		--table "$(line /dev/mapper/aftl-below "$sectors" $small)"
}

read_only_below()
{
	blockdev --setro /dev/ram1
	refused 'is read-only' create aftl-kept /dev/ram1 $small
	verdict=$?
	blockdev --setrw /dev/ram1
	return "$verdict"
}

read_only_in_memory()
{
	dmsetup create aftl-ro --readonly --table "$(line ram "$(capacity $small)" $small)" &&
		[ "$(blockdev --getro /dev/mapper/aftl-ro)" -eq 1 ] &&
		nothing dd if=/dev/zero of=/dev/mapper/aftl-ro bs=4k count=1 oflag=direct \
			2>"$scratch/said" && dmsetup remove aftl-ro
}

# Omit io_poll from compared queue limits: Linux 6.1 allows polling without a lower device.
# Omit segment limits from the comparison: a volume inherits them from its block device.
limits_of()
{
	(cd "/sys/block/$(dmsetup info -c --noheadings -o blkdevname "$1")/queue" &&
		grep -s . ./*_* ./rotational ./fua ./zoned |
			grep -v 'write_zeroes\|scheduler\|throttl\|io_poll\|segment\|dma_align')
}

# Queue limits do not depend on the backing device, even if its size is odd.
limits_are_ours()
{
	dmsetup create aftl-odd --table '0 524281 linear /dev/ram0 0' || return
	wipe /dev/ram0 && create aftl-memory ram $small && create aftl-kept /dev/mapper/aftl-odd $small &&
		limits_of aftl-memory >"$scratch/memory" && limits_of aftl-kept >"$scratch/kept" &&
		[ -s "$scratch/memory" ] && diff "$scratch/memory" "$scratch/kept" &&
		dmsetup remove aftl-kept && dmsetup remove aftl-odd
}

# Device-mapper keeps the live limits when a table without a block device is loaded.
limits_follow_the_table()
{
	size=$(capacity $small shards 2)
	create aftl-fresh ram $small && limits_of aftl-fresh >"$scratch/memory" || return
	for old in "0 $size zero" "$(line ram "$size" $small shards 2)"; do
		dmsetup create aftl-old --table "$old" &&
			dmsetup reload aftl-old --table "$(line ram "$size" $small)" &&
			dmsetup resume aftl-old && limits_of aftl-old >"$scratch/loaded" &&
			diff "$scratch/memory" "$scratch/loaded" &&
			dd if=/dev/zero of=/dev/mapper/aftl-old bs=4k count=8 oflag=direct \
				2>"$scratch/said" && dmsetup remove aftl-old || return
	done
	dmsetup remove aftl-fresh
}

xfs_is_content()
{
	create aftl-large ram timing off blocks 1024 || return
	mkfs.xfs -f /dev/mapper/aftl-large >"$scratch/layout" 2>"$scratch/complaint"
	made=$?
	sed 's/^/# /' "$scratch/complaint"
	[ "$made" -eq 0 ] && [ ! -s "$scratch/complaint" ] &&
		grep -q 'sectsz=4096' "$scratch/layout" && dmsetup remove aftl-large
}

# measured: IMA records the table with the target's name, version and parameters
measured()
{
	log=/sys/kernel/security/ima/ascii_runtime_measurements
	mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
	echo 'measure func=CRITICAL_DATA label=device-mapper' >/sys/kernel/security/ima/policy || return
	create aftl-measured ram $small && dmsetup remove aftl-measured || return
	awk '/dm_table_load/ { print $NF }' "$log" | xxd -r -p | tr ';' '\n' >"$scratch/record"
	grep -aq 'target_name=approxftl,target_version=.*,store=ram,profile=demo,policy=approxftl,timing=off,' \
		"$scratch/record" && grep -aq ',word_lines=4' "$scratch/record"
}

ram_disks 2 262144 && dmsetup create aftl-below --table '0 524288 linear /dev/ram0 0' || exit 1
ktap_test_run 'the message gc only begins collection, a suspend does not wait for it' \
	collection_is_only_begun
in_turn 'collection ends without requests, with timing off' collection_ends
case $(uname -r) in
*-uml*)
	# Without a lock to release, the fill yields only by cond_resched(), which does nothing in a
	# preemptible kernel. User Mode Linux does not preempt a task in an interrupt either.
	no_preemption='User Mode Linux does not preempt the fill'
	ktap_test_skip 'SIGKILL ends filling' "$no_preemption"
	! next_turn 'SIGKILL ends filling of shards' ||
		ktap_test_skip 'SIGKILL ends filling of shards' "$no_preemption"
	;;
*)
	moving 'SIGKILL ends filling' filling_is_killed 1
	in_turn 'SIGKILL ends filling of shards' filling_is_killed 2
	;;
esac
ktap_test_run 'a suspend commits, a removal saves the state' pauses_write_little
ktap_test_run 'data that a suspend committed survive a power failure' a_pause_is_durable
ktap_test_run 'remove closes the volume before it returns' create_after_remove
ktap_test_run 'a read-only table of a volume is refused' refused \
	'a read-only table would write the volume' read_only_table
ktap_test_run 'a read-only block device is refused' read_only_below
moving 'a read-only table in memory refuses writes' read_only_in_memory
dmsetup remove aftl-below
ktap_test_silent 'queue limits do not depend on the block device' limits_are_ours
ktap_test_silent 'a loaded table sets its queue limits' limits_follow_the_table
moving 'mkfs.xfs prints no warning' xfs_is_content
if [ -e /sys/kernel/security ] && grep -q CONFIG_IMA=y "/boot/config-$(uname -r)" 2>"$scratch/said"; then
	in_turn 'IMA measures the table' measured
fi
finished
