#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The block device below the durable store fails, drops writes, or is slow.
# Only affected requests fail, nothing hangs, and durable data are found once the device works.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

volume='channels 1 chips 2 blocks 64 word_lines 2 op 35'
size=1310720 # sectors of the backing device
loader=      # process id of the load, if one runs

# becomes TABLE: replace the table of the device below the durable store
becomes()
{
	echo "$1" | dmsetup reload aftl-medium && dmsetup suspend --noflush --nolockfs aftl-medium &&
		dmsetup resume aftl-medium
}

works()
{
	becomes "0 $size linear /dev/ram0 0"
}

# fails FEATURE: put a dm-flakey with FEATURE, always "down", below the durable store
fails()
{
	becomes "0 $size flakey /dev/ram0 0 0 3600 1 $1"
}

# frame BYTE: print the number of a 4 KiB metadata frame, stored at BYTE of the volume header
frame()
{
	od -A n -t u8 -j "$1" -N 8 /dev/ram0 | tr -d ' '
}

# hole FRAME COUNT: fail reads and writes of COUNT 4 KiB frames of the backing device from FRAME on
hole()
{
	first=$(($1 * 8))
	end=$((first + $2 * 8))
	becomes "0 $first linear /dev/ram0 0
$first $((end - first)) error
$end $((size - end)) linear /dev/ram0 $end"
}

is_dead()
{
	becomes "0 $size error"
}

# new_device [KEY VALUE]...: create a device on a working backing device
new_device()
{
	# Remove the load and the device of an earlier test point.
	[ -z "$loader" ] || end_load 2>"$scratch/said"
	! dmsetup info aftl-fault >"$scratch/said" 2>&1 || removed || return
	wipe /dev/ram0 && works || return
	create aftl-fault /dev/mapper/aftl-medium $volume "$@"
}

open_again()
{
	create aftl-fault /dev/mapper/aftl-medium $volume timing off
}

removed()
{
	dmsetup remove aftl-fault
}

# Put back the backing device's contents from before the removal, as after a power failure.
crashed()
{
	dd if=/dev/ram0 of="$scratch/image" bs=1M count=20 iflag=direct 2>"$scratch/said" &&
		removed && dd if="$scratch/image" of=/dev/ram0 bs=1M oflag=direct \
		2>"$scratch/said" && rm "$scratch/image"
}

blocks()
{
	python3 selftests/kernel/blocks.py "$@" >"$scratch/blocks" 2>&1
}

# comes_back [MARK]: open the device again, and check all data flushed before the journal mark
comes_back()
{
	works && open_again &&
		{ blocks check /dev/mapper/aftl-fault "$scratch/journal" "$@" ||
			{ sed 's/^/# /' "$scratch/blocks"; return 1; }; } &&
		is_clean aftl-fault
}

has_kept()
{
	comes_back "$@" && removed
}

last_mark()
{
	sed -n 's/^mark \([0-9]*\) .*/\1/p' "$scratch/journal" | tail -n 1
}

# until_mark NUMBER: wait until the load has written this mark into its journal
until_mark()
{
	until [ "$(last_mark 2>"$scratch/said")" -ge "$1" ] 2>"$scratch/said"; do
		kill -0 "$loader" || return
		sleep 0.1
	done
}

# Start the load of blocks.py; return once it has filled the device and then flushed.
begin_load()
{
	rm -f "$scratch/journal"
	python3 selftests/kernel/blocks.py load /dev/mapper/aftl-fault \
		"$scratch/journal" 1000000 7 >"$scratch/blocks" 2>&1 &
	loader=$!
	until_mark 6
}

end_load()
{
	kill "$loader" && ! load_ends 2>"$scratch/said"
}

# load_ends: wait for the load to end by itself
load_ends()
{
	wait "$loader"
	ended=$?
	loader=
	return "$ended"
}

events()
{
	dmsetup info -c --noheadings -o events aftl-fault
}

# notices EVENTS: the load, status, log and a dm event numbered above EVENTS report failed writes
notices()
{
	load_ends
	told=$(grep_log -c 'writes fail from now on')
	[ "$told" -eq 1 ] || { echo "# the log says it $told times"; return 1; }
	grep -q 'Input/output error' "$scratch/blocks" ||
		{ sed 's/^/# /' "$scratch/blocks"; return 1; }
	dmsetup wait aftl-fault "$1"
	[ "$(events)" -gt "$1" ] || { echo '# no event'; return 1; }
	nothing dd if=/dev/zero of=/dev/mapper/aftl-fault bs=4k count=1 oflag=direct \
		2>"$scratch/said" && grep -q 'Input/output error' "$scratch/said" &&
		[ "$(status_word aftl-fault 1)" = fail ] && return
	echo '# no error'
	return 1
}

# survives COMMAND...: all flushed data survive COMMAND, which breaks the backing device under load
survives()
{
	new_device timing off && clear_log && begin_load && before=$(events) && "$@" &&
		notices "$before" && removed && has_kept
}

# on_file COMMAND...: run the command on a loop device whose writes fail when its file is flushed
on_file()
{
	place=$scratch/mounted
	mkdir -p "$place" && wipe /dev/ram0 && works &&
		mkfs.ext4 -q -O ^has_journal /dev/mapper/aftl-medium &&
		mount /dev/mapper/aftl-medium "$place" || return
	head -c 128M /dev/zero >"$place/volume" && sync &&
		loop=$(losetup --find --show "$place/volume") && "$@"
	well=$?
	[ "$well" -eq 0 ] || { end_load; removed; }
	losetup --detach "$loop"
	works && umount "$place" || return
	# The kernel keeps the error of failed writeback for the next fsync; consume it.
	sync /dev/mapper/aftl-medium 2>"$scratch/said"
	return "$well"
}

flushes_fail()
{
	create aftl-fault "$loop" $volume timing off && clear_log && begin_load &&
		before=$(events) && fails error_writes && notices "$before" && removed
}

# Data of flushes that completed before writes were dropped must survive.
survives_lies()
{
	new_device timing off && begin_load && mark=$(last_mark) && fails drop_writes || return
	sleep 2
	end_load && removed && has_kept "$mark"
}

# A failed read of the backing device returns an error but has no lasting effect.
read_errors()
{
	new_device timing off && dd if=/dev/urandom of="$scratch/data" bs=64k count=16 \
		2>"$scratch/said" && dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=64k \
		oflag=direct conv=fsync 2>"$scratch/said" && fails error_reads &&
		nothing dd if=/dev/mapper/aftl-fault of="$scratch/back" bs=64k count=1 iflag=direct \
			2>"$scratch/said" && grep -q 'Input/output error' "$scratch/said" &&
		works && dd if=/dev/mapper/aftl-fault of="$scratch/back" bs=64k count=16 \
		iflag=direct 2>"$scratch/said" && cmp "$scratch/data" "$scratch/back" &&
		dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=64k oflag=direct conv=fsync \
			2>"$scratch/said" && removed
}

# reads_all FILE: read every unit; list unreadable units in FILE, compare the data of readable ones
reads_all()
{
	python3 - "$scratch/data" <<'END' >"$1"
import errno
import mmap
import os
import sys

data = open(sys.argv[1], "rb").read()
fd = os.open("/dev/mapper/aftl-fault", os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
for unit in range(len(data) // 4096):
    try:
        os.preadv(fd, [page], unit * 4096)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise SystemExit(f"# unit {unit}: {error}")
        print(unit)
        continue
    if page[:4096] != data[unit * 4096 : unit * 4096 + 4096]:
        raise SystemExit(f"# unit {unit} is something else")
END
}

# errors COUNT: check that exactly COUNT units cannot be read
errors()
{
	reads_all "$scratch/lost" && [ "$(wc -l <"$scratch/lost")" -eq "$1" ] && return
	sed 's/^/# /' "$scratch/lost"
	return 1
}

# loses COUNT: check that COUNT units are lost, and that the target reports as many
loses()
{
	errors "$1" || return
	first_lost=$(head -n 1 "$scratch/lost")
	told=$(dmsetup message aftl-fault 0 lost 0 | awk '{ sum += $2 } END { print sum + 0 }')
	[ "$(status_word aftl-fault 20)" -eq "$1" ] && [ "$told" -eq "$1" ] && return
	echo "# status says $(status_word aftl-fault 20), $told are listed"
	return 1
}

# lists_lost: `approxftl health` warns of the lost units and names them
lists_lost()
{
	"$approxftl" health aftl-fault >"$scratch/said" && return 1
	grep -q "units from unit $first_lost on" "$scratch/said" && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# New data can be read back, even in blocks that held lost units.
rewrites_the_rest()
{
	for _ in 1 2 3; do
		dd if=/dev/urandom of=/dev/mapper/aftl-fault bs=64k count=100 seek=64 \
			oflag=direct conv=fsync 2>"$scratch/said" || return
		dd if=/dev/mapper/aftl-fault of="$scratch/back" bs=64k count=100 skip=64 \
			iflag=direct 2>"$scratch/said" || return
	done
}

# Four unreadable units of a block are relocated by GC as errors, and listed.
# Lost units stay unreadable after close and crash, until rewritten; all other units are intact.
costs_what_was_there()
{
	new_device timing off && dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=64k \
		oflag=direct conv=fsync 2>"$scratch/said" && hole $(($(frame 112) + 41)) 4 &&
		nothing dd if=/dev/mapper/aftl-fault of="$scratch/back" bs=1M count=1 iflag=direct \
			2>"$scratch/said" && [ "$(counter aftl-fault read_lost_units)" -eq 4 ] &&
		errors 4 && [ "$(status_word aftl-fault 20)" -eq 0 ] &&
		dmsetup message aftl-fault 0 fault block 1 && rewrites_the_rest && loses 4 &&
		[ "$(status_word aftl-fault 1)" = rw ] && lists_lost && removed && works &&
		"$approxftl" check /dev/mapper/aftl-medium >"$scratch/said" &&
		grep -q '^4 units are lost' "$scratch/said" && open_again && loses 4 &&
		crashed && open_again && loses 4 &&
		dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=4k skip="$first_lost" \
			seek="$first_lost" count=1 oflag=direct conv=fsync 2>"$scratch/said" &&
		loses 3 && is_clean aftl-fault && removed
}

# worn BLOCK...: make one sector of each flash block on the backing device unwritable
worn()
{
	at=0
	table=
	for block; do
		bad=$((($(frame 112) + block * 32 + 5) * 8))
		table="$table$at $((bad - at)) linear /dev/ram0 $at
$bad 8 flakey /dev/ram0 $bad 0 3600 1 error_writes
"
		at=$((bad + 8))
	done
	becomes "$table$at $((size - at)) linear /dev/ram0 $at"
}

# until_bad BLOCK...: wait until the load has made the target retire all these flash blocks
until_bad()
{
	for block; do
		until dmsetup message aftl-fault 0 block "$block" >"$scratch/said" &&
			grep -qx 'state bad' "$scratch/said"; do
			kill -0 "$loader" || { sed "s/^/# block $block: /" "$scratch/said"; return 1; }
			sleep 0.1
		done
	done
}

# Worn blocks are retired, which only the log reports; flushed data then survive a crash.
retires_worn_blocks()
{
	new_device timing off && begin_load && clear_log && worn 3 20 70 100 &&
		until_bad 3 20 70 100 && [ "$(status_word aftl-fault 1)" = rw ] &&
		grep_log -q 'block 20 is retired' && worn 30 40 80 90 &&
		until_mark $(($(last_mark) + 1)) && end_load && crashed && comes_back && removed &&
		has_kept
}

# no_place: fail writes to the volume's data, but not to its metadata or its remapped sectors
no_place()
{
	first=$(($(frame 112) * 8))
	becomes "0 $first linear /dev/ram0 0
$first $((size - first)) flakey /dev/ram0 $first 0 3600 1 error_writes"
}

# Without room for remapped sectors writes fail (status "fail"), or all blocks are retired ("ro").
runs_out_of_places()
{
	new_device timing off && clear_log && begin_load && before=$(events) && no_place || return
	load_ends
	dmsetup wait aftl-fault "$before"
	ran_out=$(status_word aftl-fault 1)
	echo "# $ran_out"
	case $ran_out in
	fail) grep_log -q 'writes fail from now on' ;;
	ro) grep -q 'No space left on device' "$scratch/blocks" ;;
	*) false ;;
	esac && grep_log -q 'block [0-9]* is retired' &&
		nothing dd if=/dev/zero of=/dev/mapper/aftl-fault bs=4k count=1 oflag=direct \
			2>"$scratch/said" && removed && has_kept
}

suspends()
{
	new_device timing real buffer 256KiB && begin_load && "$@" || return
	dmsetup suspend aftl-fault && dmsetup resume aftl-fault || return
	load_ends
	grep -q 'Input/output error' "$scratch/blocks" && removed && has_kept
}

# Tests of faults of the simulated flash

# Fail blocks until the device becomes read-only; the device stays read-only after reopening.
blocks_run_out()
{
	new_device timing off && begin_load && before=$(events) || return
	for block in $(seq 0 23); do
		kill -0 "$loader" 2>"$scratch/said" || break
		dmsetup message aftl-fault 0 fault block "$block" || return
		sleep 0.2
	done
	echo "# $block blocks"
	load_ends
	dmsetup wait aftl-fault "$before"
	grep -q 'No space left on device' "$scratch/blocks" &&
		[ "$(status_word aftl-fault 1)" = ro ] && removed && comes_back &&
		[ "$(status_word aftl-fault 1)" = ro ] && removed
}

# flushed: return true if the device reports that all data are durable
flushed()
{
	python3 -c 'import os; os.fsync(os.open("/dev/mapper/aftl-fault", os.O_RDWR))' \
		2>"$scratch/said"
}

# Once all blocks failed, buffered data cannot be programmed: flushes fail, even after a reload.
# A newly opened device has lost the data of its write buffer, so its flushes succeed.
buffer_is_lost()
{
	new_device timing scale:100 buffer_hold 1s gc_idle_valid 50 && flushed &&
		dd if=/dev/urandom of=/dev/mapper/aftl-fault bs=4k count=1 oflag=direct \
			2>"$scratch/said" || return
	for block in $(seq 0 23); do
		dmsetup message aftl-fault 0 fault block "$block" || return
	done
	nothing flushed && grep -q 'Input/output error' "$scratch/said" && nothing flushed &&
		dmsetup table aftl-fault | sed 's/gc_idle_valid 50/gc_idle_valid 60/' |
		dmsetup reload aftl-fault && dmsetup suspend aftl-fault &&
		dmsetup resume aftl-fault && dmsetup table aftl-fault | grep -q 'gc_idle_valid 60' &&
		nothing flushed && removed && open_again && flushed && removed
}

# The data of a failed die are lost, the load continues, and new data go to the other die.
die_dies()
{
	new_device timing off && begin_load && dmsetup message aftl-fault 0 fault die 1 &&
		until_mark $(($(last_mark) + 6)) && end_load &&
		[ "$(status_word aftl-fault 18)" -eq 1 ] &&
		blocks load /dev/mapper/aftl-fault "$scratch/journal" 300 8 && removed &&
		comes_back && [ "$(status_word aftl-fault 18)" -eq 1 ] && removed
}

# orphans DIE: count the units of a failed die that still await rebuilding
orphans()
{
	dmsetup message aftl-fault 0 luns | sed -n "s/^$1 .* valid_units \([0-9]*\) .*/\1/p"
}

# Wait until the rebuild of a die, which runs in real time, has ended.
is_rebuilt()
{
	create aftl-fault /dev/mapper/aftl-medium $volume || return
	until [ "$(orphans 1)" -eq 0 ]; do
		sleep 0.1
	done
	rebuilt=$((rebuilt + $(counter aftl-fault programmed_rebuild_units)))
	[ "$rebuilt" -gt 0 ] && removed
}

# RAIN loses no data of a failed die, and a rebuild that the power failure interrupted is completed.
die_is_outlived()
{
	new_device timing off && begin_load && dmsetup message aftl-fault 0 fault die 1 &&
		until_mark $(($(last_mark) + 6)) && end_load &&
		rebuilt=$(counter aftl-fault programmed_rebuild_units) && crashed && comes_back &&
		[ "$(status_word aftl-fault 18)" -eq 1 ] && removed && is_rebuilt &&
		comes_back && [ "$(status_word aftl-fault 18)" -eq 1 ] && removed
}

# shaped SHAPE COMMAND...: run the command with the volume geometry SHAPE
shaped()
{
	usual=$volume
	volume=$1
	shift
	"$@"
	shaped=$?
	volume=$usual
	return "$shaped"
}

# Tests of volumes that lose writes

flushes()
{
	dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=4k count=1 oflag=direct conv=fsync \
		2>"$scratch/said"
}

# load_with KEY VALUE...: load a table with these parameters, but do not resume
load_with()
{
	line /dev/mapper/aftl-medium "$(capacity $volume)" $volume timing off "$@" |
		dmsetup load aftl-fault
}

# A failed reload closes the volume: the next reload reads an older image that the test put back.
reads_what_a_copy_restores()
{
	new_device timing off && dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=64k \
		oflag=direct conv=fsync 2>"$scratch/said" && dmsetup suspend aftl-fault &&
		dd if=/dev/ram0 of="$scratch/image" bs=1M count=20 iflag=direct 2>"$scratch/said" &&
		dmsetup resume aftl-fault &&
		dd if=/dev/zero of=/dev/mapper/aftl-fault bs=64k count=16 oflag=direct conv=fsync \
			2>"$scratch/said" && fails error_writes &&
		load_with program 1ms && dmsetup suspend aftl-fault || return
	! dmsetup resume aftl-fault 2>"$scratch/said" &&
		dd if="$scratch/image" of=/dev/ram0 bs=1M oflag=direct 2>"$scratch/said" && works &&
		dmsetup resume aftl-fault && rm "$scratch/image" &&
		cmp -n 1048576 "$scratch/data" /dev/mapper/aftl-fault && removed
}

# If a completed write is lost before a flush, the next flush must fail.
# After a lost write a flush must fail, even if a table was loaded that could not be resumed.
reload_tells_what_is_lost()
{
	new_device timing off && flushes && fails error_writes &&
		dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=4k count=1 oflag=direct \
			2>"$scratch/said" || return
	load_with program 1ms && dmsetup suspend aftl-fault &&
		! dmsetup resume aftl-fault 2>"$scratch/said" && works &&
		load_with program 2ms && dmsetup resume aftl-fault && ! flushes && ! flushes &&
		removed && open_again && flushes && is_clean aftl-fault && removed
}

# Load a table while the backing device rejects writes; resume works once it accepts them.
begins_when_it_is_mended()
{
	new_device timing off && dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=64k \
		oflag=direct conv=fsync 2>"$scratch/said" && removed && fails error_writes || return
	dmsetup create aftl-fault --notable &&
		line /dev/mapper/aftl-medium "$(capacity $volume)" $volume timing off |
		dmsetup load aftl-fault && clear_log
	! dmsetup resume aftl-fault 2>"$scratch/said" &&
		! dmsetup resume aftl-fault 2>"$scratch/said" &&
		grep_log -q 'the volume cannot be written' && works && dmsetup resume aftl-fault &&
		cmp -n 1048576 "$scratch/data" /dev/mapper/aftl-fault &&
		dd if="$scratch/data" of=/dev/mapper/aftl-fault bs=64k seek=16 oflag=direct \
			conv=fsync 2>"$scratch/said" && is_clean aftl-fault && removed &&
		"$approxftl" check /dev/mapper/aftl-medium >"$scratch/said"
}

# Tests of slow backing devices and of missing memory

available()
{
	sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo
}

# If the backing device completes nothing, device time stops once the durable store's queue is full.
# The queue of the durable store takes less than 1 KiB of memory for each sector.
is_slow()
{
	wipe /dev/ram0 && works && create aftl-fault /dev/mapper/aftl-medium $shape &&
		becomes "0 $size delay /dev/ram0 0 0 /dev/ram0 0 2000" || return
	before=$(available)
	least=$before
	verify aftl-fault --ioengine=libaio --iodepth=32 --bs=256k --size=28m --rw=write &
	fio=$!
	while kill -0 "$fio" 2>"$scratch/said"; do
		now=$(available)
		[ "$now" -ge "$least" ] || least=$now
		sleep 0.5
	done
	late=$(status_word aftl-fault 15)
	echo "# $(((before - least) / 1024)) MiB of memory, $((late / 1000000)) ms late"
	wait "$fio" && [ $((before - least)) -lt "$(blockdev --getsz /dev/mapper/aftl-fault)" ] && [ "$late" -gt 100000000 ] &&
		works && removed && create aftl-fault /dev/mapper/aftl-medium $small &&
		verify aftl-fault --ioengine=libaio --iodepth=32 --bs=256k --size=28m --rw=write \
			--verify_only && removed
}

# A slow read never returns older data or another unit's data, even if GC reuses the block.
reads_while_erased()
{
	new_device timing off && blocks load /dev/mapper/aftl-fault "$scratch/journal" 0 7 &&
		blocks load /dev/mapper/aftl-fault "$scratch/journal" 0 8 &&
		dmsetup message aftl-fault 0 reset && begin=$(($(frame 112) * 8)) &&
		becomes "0 $begin linear /dev/ram0 0
$begin $((size - begin)) delay /dev/ram0 $begin 500 /dev/ram0 $begin 0" &&
		{ blocks race /dev/mapper/aftl-fault 1 || { sed 's/^/# /' "$scratch/blocks"; return 1; }; } ||
		return
	erased=$(counter aftl-fault array_erases)
	echo "# $erased blocks erased"
	[ "$erased" -gt 5 ] && works && removed
}

# collects_slowly READ WRITE: delay reads and writes (ms) while GC relocates more than 4096 units
# Relocated data must not be written before the durable store has read them.
collects_slowly()
{
	new_device timing off &&
		verify aftl-fault --ioengine=libaio --iodepth=16 --bs=4k --size=100% &&
		becomes "0 $size delay /dev/ram0 0 $1 /dev/ram0 0 $2" || return
	clear_log
	collect aftl-fault && is_clean aftl-fault && works || return
	echo "# $(counter aftl-fault gc_valid_units) units moved"
	[ "$(counter aftl-fault gc_valid_units)" -gt 5000 ] &&
		verify aftl-fault --ioengine=libaio --iodepth=16 --bs=4k --size=100% --verify_only &&
		removed
}

# A die that fails may have more blocks than the durable store's queue can hold.
large_die_dies()
{
	new_device timing off && dmsetup message aftl-fault 0 fault die 1 &&
		dd if=/dev/urandom of=/dev/mapper/aftl-fault bs=64k count=16 oflag=direct conv=fsync \
			2>"$scratch/said" && removed && open_again &&
		[ "$(dmsetup message aftl-fault 0 luns | sed -n '/^1 /s/.*good_blocks \([0-9]*\) .*/\1/p')" -eq 0 ] &&
		removed
}

# A constructor of the target that fails frees its memory at once.
no_memory()
{
	before=$(available)
	held=$(grep -c dm_approxftl /proc/vmallocinfo)
	clear_log
	! dmsetup create aftl-fault --table "0 4096 approxftl none 12 channels 16 chips 8 blocks 4000 \
page 64KiB policy baseline errors off" 2>"$scratch/said" &&
		grep_log -q 'not enough memory' || return
	echo "# $(((before - $(available)) / 1024)) MiB less"
	# The request exceeded all memory, so a leak would be large; kernel caches cause small
	# changes.
	[ $((before - $(available))) -lt $((before / 4)) ] &&
		[ "$(grep -c dm_approxftl /proc/vmallocinfo)" -eq "$held" ]
}

# fails_cleanly LINE: load the table LINE many times, each time with another failing allocation
fails_cleanly()
{
	grep -q debugfs /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug || return
	for kind in failslab fail_page_alloc; do
		echo N >"/sys/kernel/debug/$kind/ignore-gfp-wait" &&
			echo 0 >"/sys/kernel/debug/$kind/verbose" || return
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
	clear_log
	python3 selftests/kernel/fail-nth.py "$@"
}

needs_module dm_flakey
needs_module dm_delay
needs_module loop
ram_disks 1 $((size / 2)) && dmsetup create aftl-medium --table "0 $size linear /dev/ram0 0" ||
	exit 1
head -c 1M /dev/urandom >"$scratch/data"
in_turn 'unreadable sectors cost only the units in them' costs_what_was_there
in_turn 'blocks that cannot be written are retired' at_once \
	shaped 'channels 1 chips 2 blocks 64 word_lines 2 op 60' retires_worn_blocks
in_turn 'a volume that cannot remap fails or becomes read-only' at_once runs_out_of_places
in_turn 'a block device that fails writes loses no flushed data' at_once survives fails error_writes
in_turn 'a block device that fails all requests loses no flushed data' at_once survives is_dead
in_turn 'failing flushes of the block device are reported' at_once on_file flushes_fail
in_turn 'data that were flushed before writes are dropped survive' survives_lies
if becomes "0 $size flakey /dev/ram0 0 0 3600 1 error_reads" 2>"$scratch/said"; then
	ktap_test_run 'reads fail while the block device does, and work again' read_errors
	ktap_test_run 'if reads fail during relocation, no flushed data are lost' survives fails error_reads
else
	dmsetup clear aftl-medium
	ktap_test_skip 'reads fail' 'flakey of this kernel has no error_reads'
fi
in_turn 'a suspend ends while all requests fail' suspends is_dead
in_turn 'blocks fail until the device is read-only' \
	shaped 'channels 1 chips 1 blocks 24 op 40 policy baseline' blocks_run_out
in_turn 'flushes fail without a good block for buffered data' \
	shaped 'channels 1 chips 1 blocks 24 op 40 policy baseline buffer 256KiB' buffer_is_lost
in_turn 'a die failure under load loses only data of the die' at_once \
	shaped 'channels 1 chips 2 blocks 64 word_lines 2 op 70' die_dies
in_turn 'a slow block device delays requests, in bounded memory' is_slow
in_turn 'slow reads return no data of a reused block' at_once reads_while_erased
collected='channels 1 chips 2 blocks 120 word_lines 4 op 60 gc_idle_valid 90'
in_turn 'GC on a block device with slow writes loses no data' shaped "$collected" collects_slowly 0 500
in_turn 'GC on a block device with slow reads loses no data' shaped "$collected" collects_slowly 20 0
in_turn 'with RAIN a die failure under load loses no data' at_once \
	shaped 'channels 2 chips 2 blocks 64 word_lines 2 op 70 superblock 4 rain on' \
	die_is_outlived
in_turn 'a die with more blocks than the operation queue fails' shaped \
	'channels 1 chips 2 blocks 16384 word_lines 1 layers 4 page 4KiB op 60 policy baseline' \
	large_die_dies
in_turn 'create fails without memory for a large device' no_memory
in_turn 'a volume is opened once its block device accepts writes' begins_when_it_is_mended
in_turn 'the flush after a reload reports lost writes' reload_tells_what_is_lost
in_turn 'a failed reload closes the volume' reads_what_a_copy_restores
dmsetup remove aftl-medium
if [ -e /proc/self/fail-nth ]; then
	# Fill the RAM disk first, so that no allocation of brd fails instead of the target's.
	dd if=/dev/zero of=/dev/ram0 bs=1M count=$((size / 2048)) oflag=direct 2>"$scratch/said"
	ktap_test_run 'each allocation fails: a device in memory' \
		fails_cleanly 'ram 2 timing off'
	ktap_test_run 'each allocation fails: a device with shards' \
		fails_cleanly 'ram 4 timing off shards 2'
	wipe /dev/ram0
	formatted /dev/ram0 channels 1 chips 1 blocks 64 word_lines 4 op 30
	ktap_test_run 'each allocation fails: a volume' fails_cleanly \
		'/dev/ram0 12 timing off channels 1 chips 1 blocks 64 word_lines 4 op 30'
else
	ktap_test_skip 'each allocation fails' 'this kernel cannot let one fail; the debug kernel can'
fi
finished
