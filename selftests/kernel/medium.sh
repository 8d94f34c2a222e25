# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Block devices for the durable store. To be sourced after lib.sh.

# needs_module NAME: ends a test that the kernel has nothing for
needs_module()
{
	kernel_has "$1" && return
	ktap_test_skip "$(basename "$0" .sh)" "the kernel does not have $1"
	ktap_finished
}

# ram_disks COUNT KIB: /dev/ram0 and so on, zeroed
ram_disks()
{
	! grep -q '^brd ' /proc/modules || rmmod brd || return
	modprobe brd rd_nr="$1" rd_size="$2"
}

# wipe DEVICE: as new, to a volume; zeroes at its beginning will do
wipe()
{
	# shellcheck disable=SC2154 # of lib.sh
	blkdiscard -f -z -l 4194304 "$1" 2>"$scratch/said" && blockdev --flushbufs "$1"
}

# The superblock that mkzonefs would write: its zone is full and no file.
zonefs_superblock()
{
	python3 -c 'import struct, sys, zlib
block = bytearray(struct.pack("<4sI80sQ3I", b"SFOZ", 0, b"", 8, 0, 0, 0o640).ljust(4096, b"\0"))
block[4:8] = struct.pack("<I", zlib.crc32(block) ^ 0xFFFFFFFF)
sys.stdout.buffer.write(block)'
}
