#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test a zoned device with blkzone, zonefs, btrfs, and f2fs with its metadata on another device.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

zoned=/dev/mapper/aftl-zones
place=$scratch/mounted
mkdir "$place"
# The device has 81 zones of 4 MiB; a zone has blocks on each of the four dies.
zones='policy baseline blocks 96 zoned 4MiB buffer 4MiB buffer_safe on errors off'
# Compare files with a copy of the source tree, because somebody may edit the tree meanwhile.
tree=$scratch/tree
mkdir "$tree" && cp -r docs "$tree"

# report ZONE: print "CONDITION WRITE-POINTER" of a zone, in sectors
report()
{
	blkzone report -o $(($1 * 8192)) -c 1 "$zoned" |
		sed -n 's/.*wptr \(0x[0-9a-f]*\).*(\([a-z]*\)).*/\2 \1/p'
}

# is ZONE STATE: check that `report` prints STATE for the zone
is()
{
	[ "$(report "$1")" = "$2" ] && return
	echo "# zone $1: $(report "$1"), not $2"
	return 1
}

# on VERB ZONE: run `blkzone VERB` on one zone
on()
{
	blkzone "$1" -o $(($2 * 8192)) -l 8192 "$zoned" 2>"$scratch/said"
}

# put KIB SEEK: write KIB KiB at offset SEEK in KiB, which need not be the write pointer
put()
{
	dd if=/dev/urandom of="$zoned" bs=4k count=$(($1 / 4)) seek=$(($2 / 4)) oflag=direct \
		conv=notrunc 2>"$scratch/said"
}

# in_two KEY VALUE...: print the table parameters of a device, changed to two shards
in_two()
{
	echo "$*" | sed 's/buffer 4MiB/channels 2 shards 2 buffer 8MiB/'
}

# Flash pages hold four units, so a flush finds a partly written page in the write buffer.
waiting='policy baseline blocks 24 page 16KiB unit 4KiB zoned 4MiB buffer 4MiB buffer_safe on errors off'

# survives_a_restart KEY VALUE...: a reopened volume has all synced data, and its zones are closed
survives_a_restart()
{
	ram_disks 1 524288 && create aftl-zones /dev/ram0 "$@" timing off || return
	head -c 72k /dev/urandom >"$scratch/data"
	dd if="$scratch/data" of="$zoned" bs=4k oflag=direct conv=notrunc,fsync 2>"$scratch/said" &&
		is 0 'oi 0x000090' && on finish 2 && put 4 12288 && on reset 3 && sync "$zoned" && restart && is 0 'cl 0x000090' &&
		is 2 'fu 0x002000' && is 3 'em 0x000000' &&
		dd if="$zoned" bs=72k count=1 iflag=direct 2>/dev/null | cmp - "$scratch/data" &&
		put 4 72 && ! put 4 72 && blkzone reset "$zoned" && restart &&
		blkzone report "$zoned" | grep -q '(em)' && ! blkzone report "$zoned" | grep -v '(em)' &&
		dmsetup remove aftl-zones
}

restart()
{
	restarted=$(dmsetup table aftl-zones) && dmsetup remove aftl-zones &&
		checks "$approxftl" check /dev/ram0 &&
		dmsetup create aftl-zones --table "$restarted"
}

# After a power failure, data are found that a flush has persisted from many flash pages.
flush_of_many_zones_is_durable()
{
	ram_disks 2 524288 && create aftl-zones /dev/ram0 $many_zones || return
	head -c 7680 /dev/urandom >"$scratch/data"
	fill_many_zones_in_part "$zoned" "$scratch/data" || return
	# Copy the backing device now: the copy is what a power failure would leave.
	dd if=/dev/ram0 of=/dev/ram1 bs=64k iflag=direct oflag=direct conv=sparse 2>"$scratch/said"
	dmsetup remove aftl-zones && create aftl-zones /dev/ram1 $many_zones || return
	for zone in $(seq 0 39); do
		is "$zone" 'cl 0x00000f' && dd if="$zoned" bs=512 count=15 skip=$((zone * 8192)) \
			2>"$scratch/said" | cmp - "$scratch/data" || return
	done
	dmsetup remove aftl-zones
}

is_zoned()
{
	queue=/sys/block/$(dmsetup info -c --noheadings -o blkdevname aftl-zones)/queue
	[ "$(cat "$queue/zoned")" = host-managed ] && [ "$(cat "$queue/nr_zones")" -eq 81 ] &&
		[ "$(cat "$queue/max_active_zones")" -eq 14 ] &&
		[ "$(cat "$queue/max_open_zones")" -eq 8 ] &&
		[ "$(cat "$queue/zone_append_max_bytes")" -gt 0 ] &&
		[ "$(cat "$queue/discard_max_bytes")" -eq 0 ] &&
		[ "$(blkzone report "$zoned" | grep -c 'cap 0x002000.*(em)')" -eq 81 ]
}

states()
{
	put 64 0 && is 0 'oi 0x000080' && ! put 4 0 && ! put 4 128 && put 4 64 && is 0 'oi 0x000088' &&
		on open 0 && is 0 'oe 0x000088' && on close 0 && is 0 'cl 0x000088' &&
		on finish 0 && is 0 'fu 0x002000' && ! put 4 68 && on reset 0 && is 0 'em 0x000000'
}

# Written data are read back, unwritten sectors are zero, and a reset zone is zero.
data()
{
	head -c 1M /dev/urandom >"$scratch/data"
	dd if="$scratch/data" of="$zoned" bs=64k oflag=direct conv=notrunc 2>"$scratch/said" || return
	truncate -s 2M "$scratch/data"
	dd if="$zoned" bs=64k count=32 iflag=direct 2>/dev/null | cmp - "$scratch/data" || return
	blkzone reset "$zoned" || return
	dd if="$zoned" bs=64k count=32 iflag=direct 2>/dev/null | cmp -n 2097152 - /dev/zero
}

# of_shard SHARD COUNTER: print a counter of one shard
of_shard()
{
	dmsetup message aftl-zones 0 stats "$1" | sed -n "s/^$2 //p"
}

# Zones alternate between the shards and have the positions that the device reports.
go_round()
{
	blkzone report "$zoned" | awk '{ printf "0x%09x\n", (NR - 1) * 8192 }' >"$scratch/starts" &&
		blkzone report "$zoned" | sed 's/.*start: \(0x[0-9a-f]*\),.*/\1/' |
		cmp - "$scratch/starts" || return
	head -c 6M /dev/urandom >"$scratch/data"
	dd if="$scratch/data" of="$zoned" bs=64k oflag=direct conv=notrunc 2>"$scratch/said" &&
		put 64 12288 && is 0 'fu 0x002000' && is 1 'oi 0x001000' && is 2 'em 0x000000' &&
		is 3 'oi 0x000080' && [ "$(of_shard 0 host_write_units)" -eq 1024 ] &&
		[ "$(of_shard 1 host_write_units)" -eq 528 ] &&
		cmp -n 6291456 "$scratch/data" "$zoned" && on reset 0 && is 0 'em 0x000000' &&
		is 1 'oi 0x001000' && dd if="$zoned" bs=1M skip=4 count=2 iflag=direct 2>"$scratch/said" |
		cmp -i 0:4194304 - "$scratch/data" && cmp -n 4194304 "$zoned" /dev/zero &&
		blkzone reset "$zoned" && ! blkzone report "$zoned" | grep -v '(em)'
}

limits()
{
	for zone in 1 2 3 4 5 6 7 8; do
		on open "$zone" || return
	done
	! on open 9 && ! put 4 $((9 * 4096)) && on close 1 && on open 9 && blkzone reset "$zoned" &&
		[ "$(blkzone report "$zoned" | grep -c '(em)')" -eq 81 ]
}

keeps_its_parameters()
{
	dmsetup table aftl-zones | sed 's/4MiB buffer_safe/8MiB buffer_safe/; s/$/ /' >"$scratch/table"
	! dmsetup load aftl-zones "$scratch/table" 2>/dev/null
	[ -n "$(grep_log 'a reload cannot change its parameters')" ] || grep_log 'reload' | tail -n 1
	put 64 0 && dmsetup table aftl-zones | dmsetup load aftl-zones && dmsetup suspend aftl-zones &&
		dmsetup resume aftl-zones && is 0 'oi 0x000080' && put 4 64 && blkzone reset "$zoned"
}

# checks COMMAND...: run the command; print its output if it fails
checks()
{
	"$@" >"$scratch/said" 2>&1 && return
	echo "# exit status $?"
	tail -n 60 "$scratch/said" | sed 's/^/# /'
	return 1
}

# works FILE-SYSTEM MIB: a source tree and MIB MiB of zeroes survive a remount
works()
{
	mount -t "$1" "$mounted" "$place" || { grep_log . | tail -n 3; return 1; }
	head -c "$2M" /dev/zero >"$place/more" && cp -r "$tree" "$place/tree" && sync &&
		rm -rf "$place/tree" && cp -r "$tree" "$place/tree" || return
	umount "$place" && mount -t "$1" "$mounted" "$place" &&
		diff -r "$tree" "$place/tree" && cmp -n $(($2 << 20)) "$place/more" /dev/zero &&
		umount "$place"
}

# zonefs has a file for each zone: writes append, truncation resets.
uses_zonefs()
{
	zonefs_superblock >"$scratch/super" && dd if="$scratch/super" of="$zoned" bs=4k oflag=direct \
		conv=notrunc 2>"$scratch/said" && on finish 0 && checks mount -t zonefs "$zoned" "$place" ||
		return
	head -c 1M /dev/urandom >"$scratch/data"
	dd if="$scratch/data" of="$place/seq/5" bs=64k oflag=direct conv=notrunc 2>"$scratch/said" &&
		cmp "$scratch/data" "$place/seq/5" && [ "$(stat -c %s "$place/seq/5")" -eq 1048576 ] &&
		umount "$place" && is 6 'oi 0x000800' && mount -t zonefs "$zoned" "$place" &&
		cmp "$scratch/data" "$place/seq/5" && truncate -s 0 "$place/seq/5" &&
		is 6 'em 0x000000' && umount "$place" && blkzone reset "$zoned"
}

uses_f2fs()
{
	mounted=/dev/mapper/aftl-meta
	checks mkfs.f2fs -f -m -c "$zoned" "$mounted" || return
	works f2fs 96 && checks fsck.f2fs --dry-run "$mounted" &&
		[ "$(counter aftl-zones zone_opens)" -gt 0 ]
}

# btrfs appends data to zones; until Linux 6.14 its direct writes do so from the program's memory.
appends_tagged_in_part()
{
	mount -t btrfs "$zoned" "$place" || return
	appended=$(counter aftl-zones zone_append_requests)
	written_whole python3 selftests/kernel/tags.py "$place/striped" &&
		[ "$(counter aftl-zones zone_append_requests)" -gt "$appended" ] && umount "$place"
}

uses_btrfs()
{
	mounted=$zoned
	checks mkfs.btrfs -f -O zoned -d single -m single "$zoned" || return
	appends_tagged_in_part && works btrfs 4 && checks btrfs check "$zoned" &&
		[ "$(counter aftl-zones zone_append_requests)" -gt 0 ]
}

splits()
{
	PYTHONPATH=selftests/kernel python3 -c '
from approx_control import Control
print(Control().read_counters()["splits"])'
}

# written_whole COMMAND...: check that no bio of the command's zone writes is split by its tags
written_whole()
{
	before=$(splits) && checks "$@" && [ "$(splits)" -eq "$before" ]
}

# Write 8 KiB from memory with tagged and untagged units to a range whose first half is tagged.
# The target must not split writes to zones by their tags.
tagged_in_part()
{
	"$approxftl" tag add "$zoned" 0+4096 >"$scratch/said" && blkzone reset "$zoned" &&
		written_whole dd if=/dev/zero of="$zoned" bs=8k count=1 oflag=direct conv=notrunc &&
		is 0 'oi 0x000010' && blkzone reset "$zoned" && "$approxftl" tag del "$zoned" &&
		written_whole python3 selftests/kernel/tags.py "$zoned" &&
		[ "$(counter aftl-zones host_write_approx_units)" -eq 0 ] && blkzone reset "$zoned"
}

a_worker_waits()
{
	pgrep --runstates D kworker >"$scratch/said"
}

# flush_waits: begin a flush, and wait until its task sleeps
flush_waits()
{
	sync "$zoned" &
	until_true grep -q '^State:.D' "/proc/$!/status"
}

buffers_nothing()
{
	[ "$(status_word aftl-zones 17)" -eq 0 ]
}

# A flush ends even if its data are programmed before the volume's worker could persist them. The
# worker waits for the commit of the first flush, as the backing device is suspended.
flushes_of_programmed_data_end()
{
	ram_disks 1 524288 && dmsetup create aftl-below --table '0 1048576 linear /dev/ram0 0' &&
		create aftl-zones /dev/mapper/aftl-below $waiting buffer_high 0 && put 4 0 &&
		dmsetup suspend --nolockfs aftl-below || return
	flush_waits
	until_true a_worker_waits
	put 4 4 && flush_waits && put 8 8 && until_true buffers_nothing && flush_waits
	dmsetup resume aftl-below && wait && dmsetup remove aftl-zones &&
		dmsetup remove aftl-below && checks "$approxftl" check /dev/ram0
}

# flush_ns BUFFER: print the least time of a flush of a zoned volume with this write buffer
flush_ns()
{
	ram_disks 1 1048576 && create aftl-zones /dev/ram0 policy baseline blocks 192 page 2KiB \
		unit 512 zoned 4MiB buffer "$1" buffer_safe on timing off || return
	python3 -c 'import os, sys, time
device = os.open(sys.argv[1], os.O_RDWR)
times = [time.monotonic_ns()]
for _ in range(300):
    os.fsync(device)
    times.append(time.monotonic_ns())
print(min(b - a for a, b in zip(times, times[1:])))' "$zoned"
	dmsetup remove aftl-zones
}

# A flush visits only the pages that it persists, not each page that the write buffer can hold.
# Flush times vary sixfold with the state of the processor, so up to three trials are made.
flush_of_an_empty_buffer()
{
	for _ in 1 2 3; do
		small_ns=$(flush_ns 1MiB) && large_ns=$(flush_ns 256MiB) || return
		echo "# a flush takes $small_ns ns, with the larger buffer $large_ns ns"
		[ "$large_ns" -ge $((10 * small_ns)) ] || return 0
	done
	return 1
}

# with_own_devices COMMAND...: run the command; if it fails, remove its devices for later points
with_own_devices()
{
	"$@" && return
	dmsetup resume aftl-below 2>"$scratch/said"
	wait
	for name in aftl-zones aftl-below; do
		dmsetup remove "$name" 2>"$scratch/said"
	done
	return 1
}

create aftl-zones ram $zones max_open_zones 8 || exit 1
ktap_test_run 'the kernel reports its zones' is_zoned
ktap_test_run 'zone states change as specified' states
ktap_test_run 'data of zones are read where they were written' data
ktap_test_run 'limits on active and open zones are enforced' limits
in_turn 'a write that is tagged in part is not split' tagged_in_part
ktap_test_run 'a reload keeps zones and parameters' keeps_its_parameters
dmsetup remove aftl-zones
ktap_test_run 'a volume keeps its zones over a restart' with_own_devices survives_a_restart $waiting
in_turn 'a volume with two shards keeps zones' with_own_devices survives_a_restart $(in_two "$waiting")
in_turn 'a flush of many zones persists all partial flash pages' with_own_devices flush_of_many_zones_is_durable
moving 'flushes end whose data are programmed meanwhile' with_own_devices flushes_of_programmed_data_end
ktap_test_run 'a flush costs the same with a larger buffer' with_own_devices flush_of_an_empty_buffer
create aftl-zones ram $(in_two "$zones") || exit 1
in_turn 'zones alternate between two shards' go_round
# The file systems are on two shards in every second kernel and commit, else on one FTL.
if [ $(((turn + phase) % 2)) -eq 0 ]; then
	dmsetup remove aftl-zones && create aftl-zones ram $zones || exit 1
fi
create aftl-meta ram $small || exit 1
case $(uname -r) in
6.1.*) echo "# zonefs of this kernel refuses its own writes, on null_blk, too" ;;
*) on_newest 'zonefs works on zones' uses_zonefs ;;
esac
in_turn 'f2fs works on zones' uses_f2fs
blkzone reset "$zoned"
in_turn 'btrfs works on zones' uses_btrfs
finished
