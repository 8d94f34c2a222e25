#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Discard, write zeroes and flush reach the FTL and have their specified effect.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

create aftl-disk ram $small || exit 1
device=/dev/mapper/aftl-disk

fill()
{
	tr '\0' x </dev/zero | dd of="$device" bs=1M count=8 iflag=fullblock oflag=direct 2>"$scratch/said"
}

held()
{
	status_word aftl-disk 17
}

zeroes()
{
	dd if="$device" bs=1M count=8 iflag=direct 2>"$scratch/said" | cmp -n 8388608 - /dev/zero
}

writes_take_memory()
{
	fill && [ "$(held)" -eq 8388608 ]
}

part_is_discarded()
{
	blkdiscard -o 4096 -l 8192 "$device" && [ "$(held)" -eq $((8388608 - 8192)) ] &&
		[ "$(dd if="$device" bs=4096 skip=1 count=2 iflag=direct 2>"$scratch/said" |
			tr -d '\0' | wc -c)" -eq 0 ] &&
		[ "$(dd if="$device" bs=4096 skip=3 count=1 iflag=direct 2>"$scratch/said" |
			tr -d x | wc -c)" -eq 0 ]
}

all_is_discarded()
{
	blkdiscard "$device" && [ "$(held)" -eq 0 ] && zeroes && [ "$(status_word aftl-disk 3 |
		cut -d / -f 1)" -eq 0 ]
}

# Without REQ_NOUNMAP, write zeroes unmaps the logical pages.
zeroed_and_freed()
{
	fill && fallocate --punch-hole --length 8388608 "$device" && [ "$(held)" -eq 0 ] && zeroes
}

# With REQ_NOUNMAP, zeroes are written as data.
zeroed_and_allocated()
{
	fill && programmed=$(counter aftl-disk host_write_units) &&
		discarded=$(counter aftl-disk host_discard_requests) &&
		blkdiscard -z -l 8388608 "$device" && [ "$(held)" -eq 8388608 ] && zeroes &&
		[ "$(counter aftl-disk host_write_units)" -eq $((programmed + 2048)) ] &&
		[ "$(counter aftl-disk host_discard_requests)" -eq "$discarded" ]
}

# counts COUNTER COMMAND...: the command makes the counter grow
counts()
{
	before=$(counter aftl-disk "$1")
	counted=$1
	shift
	"$@" 2>"$scratch/said" && [ "$(counter aftl-disk "$counted")" -gt "$before" ]
}

limits()
{
	folder=/sys/block/$(dmsetup info -c --noheadings -o blkdevname aftl-disk)/queue
	for limit in logical_block_size=4096 physical_block_size=4096 discard_granularity=4096 \
		discard_max_bytes=1048576 write_zeroes_max_bytes=1048576 rotational=0 fua=1 \
		'write_cache=write back' minimum_io_size=8192 optimal_io_size=32768; do
		[ "$(cat "$folder/${limit%%=*}")" = "${limit#*=}" ] || echo "not $limit"
	done
	# The attribute exists since 6.17.
	unmapping=$folder/write_zeroes_unmap_max_bytes
	[ ! -e "$unmapping" ] || [ "$(cat "$unmapping")" -eq 1048576 ] || echo 'zeroes do not unmap'
}

synchronous_is_on_flash()
{
	# The buffer holds data for one minute, longer than a slow kernel takes for the write and
	# the check.
	create aftl-buffered ram $shape buffer 1MiB buffer_hold 1s timing scale:60 || return
	dd if=/dev/zero of=/dev/mapper/aftl-buffered bs=4k count=1 oflag=direct 2>"$scratch/said"
	unsafe=$(counter aftl-buffered array_programs)
	dd if=/dev/zero of=/dev/mapper/aftl-buffered bs=4k count=1 oflag=direct,dsync \
		2>"$scratch/said"
	[ "$unsafe" -eq 0 ] && [ "$(counter aftl-buffered array_programs)" -ge 1 ]
}

# A resume without a new table keeps what the user has changed in sysfs, as dm-linear does.
keeps_changed_limits()
{
	folder=/sys/block/$(dmsetup info -c --noheadings -o blkdevname aftl-disk)/queue
	echo 524288 >"$folder/discard_max_bytes" && echo 1000 >"$folder/read_ahead_kb" &&
		dmsetup suspend aftl-disk && dmsetup resume aftl-disk &&
		[ "$(cat "$folder/discard_max_bytes")" -eq 524288 ] &&
		[ "$(cat "$folder/read_ahead_kb")" -eq 1000 ]
}

ktap_test_silent 'queue limits are those of the emulated device' limits
ktap_test_run 'a write takes memory of the host' writes_take_memory
ktap_test_run 'a discard frees exactly its range' part_is_discarded
ktap_test_run 'a discard of everything frees everything' all_is_discarded
ktap_test_run 'write zeroes with unmap zeroes its range and frees its memory' zeroed_and_freed
ktap_test_run 'write zeroes without unmap zeroes its range and takes memory' zeroed_and_allocated
ktap_test_run 'fsync causes a flush' counts host_flush_requests \
	dd if=/dev/zero of="$device" bs=4k count=1 conv=fsync
ktap_test_run 'a discard is counted as a host request' counts host_discard_requests \
	blkdiscard "$device"
ktap_test_run 'a synchronous write is programmed when it returns' synchronous_is_on_flash
ktap_test_run 'a resume keeps limits that were changed in sysfs' keeps_changed_limits
finished
