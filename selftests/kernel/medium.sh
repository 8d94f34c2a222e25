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
