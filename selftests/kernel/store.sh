#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The durable store and the block device below: memory, limits of its queue, cgroups, and devices
# that do not answer.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh
. selftests/kernel/medium.sh

shape='blocks 64 word_lines 4 op 30'
small="$shape timing off"
needs_program "$approxftl"

# on_sparse_file SIZE COMMAND...: with $loop, a block device of zeroes
on_sparse_file()
{
	modprobe loop 2>"$scratch/said"
	truncate -s "$1" "$scratch/file" && loop=$(losetup --find --show "$scratch/file") || return
	shift
	"$@"
	status=$?
	dmsetup remove aftl-one 2>"$scratch/said"
	losetup -d "$loop" && rm "$scratch/file" && return "$status"
}

# Memory

# ftl_bytes_with BYTES: of a volume with a write buffer of so many that survives, just opened
ftl_bytes_with()
{
	# shellcheck disable=SC2086 # words
	wipe "$loop" && create aftl-one "$loop" $small buffer "$1" buffer_safe on || return
	status_word aftl-one 16
}

# mapped_bytes: what the kernel has allocated that is larger than a few pages
mapped_bytes()
{
	awk '$1 == "VmallocUsed:" { print 1024 * $2 }' /proc/meminfo
}

# A buffer takes tables of the FTL and of the volume, but operations only for what is in it.
opens_with_large_buffers()
{
	little=$(ftl_bytes_with 1MiB) && dmsetup remove aftl-one && before=$(mapped_bytes) &&
		much=$(ftl_bytes_with 2GiB) && after=$(mapped_bytes) || return
	taken=$((after - before))
	echo "# ftl_bytes $little with 1 MiB, $much with 2 GiB, of which $taken are mapped"
	[ $((much - little)) -lt $((2147483648 / 16)) ] &&
		[ "$taken" -le "$much" ] && [ "$taken" -gt $((much / 2)) ] &&
		verify aftl-one --ioengine=libaio --iodepth=32 --bs=64k --size=8m &&
		[ "$(status_word aftl-one 16)" -ge "$much" ] && dmsetup remove aftl-one
}

# Units that come and go all the time take the memory of those before: the queue does not grow.
forgets_operations()
{
	# shellcheck disable=SC2086 # words
	wipe /dev/ram0 && create aftl-one /dev/ram0 $small buffer 4MiB buffer_safe on || return
	for _ in 1 2 3; do
		verify aftl-one --ioengine=libaio --iodepth=32 --bs=256k --size=16m || return
		dmsetup suspend aftl-one && dmsetup resume aftl-one &&
			status_word aftl-one 16 || return
	done >"$scratch/bytes"
	echo "# ftl_bytes $(tr '\n' ' ' <"$scratch/bytes")"
	[ "$(sort -u "$scratch/bytes" | wc -l)" -eq 1 ] && dmsetup remove aftl-one
}

ram_disks 3 262144 || exit 1
ktap_test_run 'a write buffer of 2 GiB that survives takes memory for what is in it' \
	on_sparse_file 4G opens_with_large_buffers
ktap_test_run 'operations of the past take no memory' at_once forgets_operations
finished
