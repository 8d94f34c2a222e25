#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Power failures at every moment: data covered by a flush must be found again.
#
# dm-log-writes records the durable store's writes to its block device.
# Replay contents of the block device that a power failure could leave; check and open the volume.
# AFTL_CRASH_STATES is the number of crash states for each log; 0 means two for each flush.
# AFTL_CRASH_PART=1/4 tries a quarter of the crash states. AFTL_CRASH_SEED draws other states.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

states=${AFTL_CRASH_STATES:-$(share 24)}
seed=${AFTL_CRASH_SEED:-$((turn + in_all * (phase - 1)))}
part=1/1
[ "$states" != 0 ] || part=${AFTL_CRASH_PART:-$part}
needs_program "$approxftl"
place=$scratch/mounted
mkdir "$place" "$scratch/files"

logged=131072
ram_kib=524288

# f2fs has a second, conventional device in the sectors before the volume; power fails for both.
# The conventional device is a loop device: f2fs wants its sectors as large as the zones' sectors.
conventional=0
beside=/dev/loop0

# carve DEVICE: set $below to the part of DEVICE that holds the volume
carve()
{
	below=$1
	[ "$conventional" -ne 0 ] || return 0
	below=/dev/mapper/aftl-below
	dmsetup create aftl-beside --table "0 $conventional linear $1 0" &&
		losetup --sector-size 4096 --direct-io=on "$beside" /dev/mapper/aftl-beside &&
		dmsetup create aftl-below \
			--table "0 $((logged - conventional)) linear $1 $conventional"
}

remove_parts()
{
	[ "$conventional" -eq 0 ] ||
		{ losetup --detach "$beside" && dmsetup remove aftl-below aftl-beside; }
}

# log_on [KEY VALUE]...: create a volume with these table parameters on dm-log-writes
log_on()
{
	ram_disks 3 "$ram_kib" &&
		dmsetup create aftl-log --table "0 $logged log-writes /dev/ram0 /dev/ram1" &&
		carve /dev/mapper/aftl-log && create aftl-crash "$below" "$@" &&
		sectors=$(blockdev --getsz /dev/mapper/aftl-crash)
}

# must_change names the counter that the load has to increment, or the test point fails.
must_change=gc_blocks

log_off()
{
	changed=$(counter aftl-crash "$must_change")
	echo "# $must_change $changed"
	dmsetup remove aftl-crash && remove_parts && dmsetup remove aftl-log && [ "$changed" -gt 0 ]
}

# policy_at MARK: print the table arguments of the policy that was in use at this log mark
policy_at()
{
	[ ! -e "$scratch/policies" ] || echo "policy $(sed -n "$1p" "$scratch/policies")"
}

# asked WORD...: send the WORDs as a line to open-volume.py, and set $answer to its answer
asked()
{
	echo "$*" >&4
	read -r answer <&3
}

# Check that the volume passes the offline check, opens, and has a clean audit.
opens()
{
	"$approxftl" check "$below" >"$scratch/said" 2>&1 ||
		{ sed 's/^/# /' "$scratch/said" && return 1; }
	asked "$below" $# "$@" && [ "$answer" = clean ] && return
	echo "# ${answer:-it does not answer}"
	dmesg | tail -n 8 | sed 's/^/# /'
	return 1
}

# stands FUNCTION MARK [KEY VALUE]...: open a crashed volume; FUNCTION checks data before MARK
stands()
{
	check=$1
	mark=$2
	shift 2
	opens "$@" $(policy_at "$mark") && "$check" "$mark"
	stood=$?
	asked && [ "$answer" = closed ] && return "$stood"
}

# replay FUNCTION [KEY VALUE]...: call FUNCTION for all crash states after the first log mark
replay()
{
	check_state=$1
	shift
	carve /dev/ram2 || return
	mkfifo "$scratch/shown" "$scratch/seen" "$scratch/lines" "$scratch/answers"
	python3 selftests/kernel/open-volume.py aftl-crash "$sectors" \
		<"$scratch/lines" >"$scratch/answers" &
	exec 4>"$scratch/lines" 3<"$scratch/answers"
	python3 selftests/kernel/replay-log.py /dev/ram1 /dev/ram2 1 "$states" "$seed" "$part" \
		<"$scratch/seen" >"$scratch/shown" &
	replayer=$!
	visited=0
	failed=
	exec 8>"$scratch/seen" 7<"$scratch/shown"
	while read -r number mark about <&7; do
		visited=$number
		[ $((visited % 100)) -ne 0 ] || echo "# $visited states so far"
		stands "$check_state" "$mark" "$@" ||
			{ failed="state $number, seed $seed: $about, mark $mark"; break; }
		echo next >&8
	done
	exec 7<&- 8>&- 3<&- 4>&-
	wait "$replayer"
	replayed=$?
	rm "$scratch/shown" "$scratch/seen" "$scratch/lines" "$scratch/answers"
	remove_parts
	echo "# $visited states${failed:+, $failed}"
	[ -z "$failed" ] && [ "$replayed" -eq 0 ] && [ "$visited" -gt 0 ] &&
		{ [ "$states" = each ] || [ "$visited" -ge "$states" ]; }
}

# Use one checker process for all crash states: to read the journal of blocks.py takes long.
checker_on()
{
	mkfifo "$scratch/marks" "$scratch/verdicts"
	python3 selftests/kernel/blocks.py check /dev/mapper/aftl-crash "$scratch/journal" - \
		<"$scratch/marks" >"$scratch/verdicts" &
	exec 6>"$scratch/marks" 5<"$scratch/verdicts"
}

checker_off()
{
	exec 6>&- 5<&-
	rm "$scratch/marks" "$scratch/verdicts"
}

check_blocks()
{
	echo "$1" >&6
	read -r verdict <&5 && [ "$verdict" = sound ] && return
	echo "# $verdict"
	return 1
}

# blocks_survive OPERATIONS FLUSHES [KEY VALUE]...: check crash states of a `blocks.py load`
blocks_survive()
{
	operations=$1
	flushes=$2
	shift 2
	log_on "$@" && at_once python3 selftests/kernel/blocks.py load /dev/mapper/aftl-crash \
		"$scratch/journal" "$operations" "$seed" aftl-log $flushes && log_off || return
	checker_on
	replay check_blocks "$@"
	survived=$?
	checker_off
	return "$survived"
}

# Files before a mark in dm-log-writes' log are durable, and the test does not modify them later.
write_file()
{
	head -c "$(($1 * 7919 % 150 + 1))k" /dev/urandom >"$scratch/files/$1" &&
		dd if="$scratch/files/$1" of="$place/$1" bs=64k conv=fsync 2>"$scratch/said" &&
		dmsetup message aftl-log 0 mark "$1"
}

write_files()
{
	for file in $(seq 1 20); do
		write_file "$file" && head -c 900k /dev/urandom >"$place/churn" || return
	done
}

check_files()
{
	mount "/dev/mapper/aftl-crash" "$place" || return
	(cd "$place" && head -n "$1" "$scratch/sums" | md5sum --check --quiet) >"$scratch/said" 2>&1
	kept=$?
	umount "$place" && [ "$kept" -eq 0 ] &&
		e2fsck -fn /dev/mapper/aftl-crash >"$scratch/said" 2>&1 && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# files_survive MODE FUNCTION [KEY VALUE]...: check files that FUNCTION wrote on ext4 data=MODE
files_survive()
{
	mode=$1
	writer=$2
	shift 2
	log_on "$@" && mkfs.ext4 -q -O ^resize_inode -J size=4 -m 0 /dev/mapper/aftl-crash &&
		mount -o "data=$mode" /dev/mapper/aftl-crash "$place" && at_once "$writer" "$@" &&
		umount "$place" && log_off &&
		(cd "$scratch/files" && seq 1 "$file" | xargs md5sum) >"$scratch/sums" &&
		replay check_files "$@"
}

# turn_to POLICY [KEY VALUE]...: reload with this policy and parameters during file writes
turn_to()
{
	dd if=/dev/urandom of="$place/churn" bs=64k count=16 oflag=direct 2>"$scratch/said" &
	busy=$!
	turned=$1
	shift
	line /dev/mapper/aftl-log "$sectors" "$@" policy "$turned" | dmsetup reload aftl-crash &&
		dmsetup resume aftl-crash && wait "$busy" &&
		[ "$(status_word aftl-crash 2)" = "$turned" ]
}

# Write one file under each policy of $scratch/policies, then overwrite data to cause GC.
write_under_each()
{
	file=0
	while read -r policy; do
		file=$((file + 1))
		turn_to "$policy" "$@" && write_file "$file" || return
		for round in 1 2 3 4; do
			dd if=/dev/urandom of="$place/churn-$round" bs=64k count=16 conv=fsync \
				2>"$scratch/said" || return
		done
	done <"$scratch/policies"
}

# policies_survive [KEY VALUE]...: two power failures under each policy that this run selects
policies_survive()
{
	"$approxftl" policies | cut -d ' ' -f 1 | those_in_turn >"$scratch/policies" &&
		[ -s "$scratch/policies" ] || return
	states=each part=1/1
	files_survive ordered write_under_each "$@" && [ "$visited" -eq $((2 * file)) ]
	survived=$?
	sed 's/^/# /' "$scratch/policies" | paste -s -d ' '
	rm "$scratch/policies"
	return "$survived"
}

# Zones

zones='policy baseline blocks 48 page 16KiB unit 4KiB zoned 4MiB buffer 4MiB buffer_safe on errors off timing off'
crashed=/dev/mapper/aftl-crash

# btrfs works after a power failure within a tree node, but "btrfs check" refuses such nodes.
# Power cannot fail within a tree node that is as large as a mapping unit, here 4 KiB.
make_btrfs()
{
	mkfs.btrfs -f -n 4k -O zoned -d single -m single "$crashed" >"$scratch/said" 2>&1 &&
		mount -t btrfs "$crashed" "$place"
}

# f2fs keeps its metadata on the conventional device beside the zones.
make_f2fs()
{
	mkfs.f2fs -f -m -c "$crashed" "$beside" >"$scratch/said" 2>&1 &&
		mount -t f2fs "$beside" "$place"
}

# same_files MARK: the files synced before this log mark are intact
same_files()
{
	(cd "$place" && head -n "$1" "$scratch/sums" | md5sum --check --quiet) >"$scratch/said" 2>&1
	kept=$?
	umount "$place" && return "$kept"
}

# On Linux 6.1 mount btrfs read-only, which replays the log but does not start the cleaner.
# In Linux 6.1 the cleaner warns of unwritten metadata when btrfs removes a zone that it finished.
# The warning of btrfs_remove_block_group() also follows `btrfs balance start -m` on null_blk.
# Linux 306180142046 "btrfs: zoned: do not remove unwritten non-data block group" fixes btrfs.
# 306180142046 needs c1c3c2bc2917 ("btrfs: zoned: update meta write pointer on zone finish", 6.6).
case $(uname -r) in
6.1.*) btrfs_mount=ro ;;
*) btrfs_mount=rw ;;
esac

check_btrfs()
{
	mount -t btrfs -o "$btrfs_mount" "$crashed" "$place" && same_files "$1" && btrfs check "$crashed" >"$scratch/said" 2>&1
}

check_f2fs()
{
	mount -t f2fs "$beside" "$place" && same_files "$1" &&
		fsck.f2fs --dry-run "$beside" >"$scratch/said" 2>&1
}

# explained COMMAND...: print the last output and the kernel log if the command fails
explained()
{
	"$@" && return
	tail -n 40 "$scratch/said" | sed 's/^/# /'
	dmesg | tail -n 8 | sed 's/^/# /'
	return 1
}

check_system()
{
	explained "check_$system" "$1"
}

# zones_survive FILE-SYSTEM FUNCTION: check files that FUNCTION wrote after each simulated crash
zones_survive()
{
	system=$1
	log_on $zones || return
	explained "make_$system" || return
	at_once explained "$2"
	wrote=$?
	umount "$place" && log_off && [ "$wrote" -eq 0 ] &&
		(cd "$scratch/files" && seq 1 "$file" | xargs md5sum) >"$scratch/sums" || return
	replay check_system $zones
}

needs_module dm_log_writes
tight='channels 1 chips 1 blocks 64 word_lines 2 op 35'
larger='channels 1 chips 2 blocks 64 word_lines 2 op 35'
three='channels 1 chips 1 bits 3 one_shot on blocks 80 word_lines 2 op 45' # fits all policies
small='channels 1 chips 1 bits 3 one_shot on blocks 30 word_lines 2 op 45' # collected soon
{
	in_turn 'blocks, without a write buffer' \
		blocks_survive 500 3 $tight timing off
	# With few flushes, data become durable only with the commits that precede block erases.
	in_turn 'blocks, hardly ever flushed' \
		blocks_survive 500 0.2 $tight timing off
	must_change=reprogrammed_pages
	in_turn 'blocks, hardly ever flushed, in pages that are programmed again' \
		blocks_survive 500 0.2 $three timing off policy ressd
	must_change=gc_blocks
	in_turn 'blocks, with a write buffer and another policy' \
		blocks_survive 500 3 $tight timing off buffer 256KiB policy baseline
	in_turn 'blocks, in real time' \
		blocks_survive 300 3 $tight timing real buffer 256KiB policy cubeftl
	states=$(((states + 1) / 2))
	in_turn 'files of ext4, data=ordered' \
		files_survive ordered write_files $larger timing off
	in_turn 'files of ext4, data=journal' \
		files_survive journal write_files $larger timing off
	states_of_files=$states
	states=$(((states + 1) / 2))
	must_change=zone_opens
	ram_kib=1048576
	logged=2097152
	in_turn 'zones below btrfs' zones_survive btrfs write_files
	must_change=gc_blocks
	ram_kib=524288
	logged=131072
	ktap_test_run 'files of ext4 survive crashes and changes of the policy' \
		policies_survive $three timing off
	states=$states_of_files
	must_change=programmed_map_units
	in_turn 'files of ext4, the map on flash' files_survive ordered write_files \
		channels 1 chips 2 blocks 256 word_lines 2 op 35 page 4KiB unit 1KiB map_cache 32KiB timing off
	must_change=gc_blocks
	in_turn 'blocks, never flushed, in a write buffer that survives' \
		blocks_survive 500 '3 safe' $small timing off buffer 256KiB buffer_safe on policy ressd
	in_turn 'blocks, never flushed, in a write buffer that survives, of baseline' \
		blocks_survive 500 '3 safe' $tight timing off buffer 256KiB buffer_safe on policy baseline
	must_change=zone_opens
	ram_kib=1048576
	logged=2097152
	conventional=49152 # room for the metadata of f2fs, so that files are in zones
	states=$(((states + 1) / 2))
	kernel_has loop
	in_turn 'zones below f2fs' zones_survive f2fs write_files
	conventional=0
	must_change=gc_blocks
	ram_kib=524288
	logged=131072
	states=$states_of_files
	in_turn 'blocks, in two shards' blocks_survive 500 3 channels 2 chips 1 blocks 64 word_lines 2 \
		op 35 shards 2 timing off
}
finished
