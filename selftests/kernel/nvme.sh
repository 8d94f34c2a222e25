#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test approxftl nvme, which exports a device through the kernel's NVMe target.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

# exported [OPTION]...: export the device, and set $drive to the NVMe drive that appears
exported()
{
	"$approxftl" nvme aftl-nvme "$@" >"$scratch/exported" 2>&1 ||
		{ sed 's/^/# /' "$scratch/exported"; return 1; }
	drive=$(sed -n 's,^\(/dev/nvme[0-9]*n1\): aftl-nvme\, subsystem approxftl-aftl-nvme$,\1,p' \
		"$scratch/exported")
	[ -b "$drive" ] || { sed 's/^/# no drive: /' "$scratch/exported"; return 1; }
}

# refuses STATUS TEXT ARGUMENT...: approxftl nvme exits with STATUS and prints TEXT
refuses()
{
	refused=$1
	text=$2
	shift 2
	"$approxftl" "$@" >"$scratch/said" 2>&1
	[ $? -eq "$refused" ] && grep -qF -- "$text" "$scratch/said" && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# grows COUNTER COMMAND...: the command succeeds, and the device's counter COUNTER grows
grows()
{
	grown=$1
	shift
	before=$(counter aftl-nvme "$grown")
	told "$@" || return
	[ "$(counter aftl-nvme "$grown")" -gt "$before" ] || { echo "# $grown: $before"; return 1; }
}

# read_16k SKIP COUNT: read COUNT pieces of 16 KiB from the drive by direct I/O, after SKIP pieces
read_16k()
{
	dd if="$drive" bs=16k skip="$1" count="$2" iflag=direct 2>"$scratch/said"
}

identifies_itself()
{
	exported && nvme id-ctrl "$drive" >"$scratch/identity" &&
		grep -q '^mn *: dm-approxftl *$' "$scratch/identity" &&
		nvme list-subsys | grep -qF approxftl-aftl-nvme || return
	[ "$(blockdev --getsize64 "$drive")" -eq "$(blockdev --getsize64 /dev/mapper/aftl-nvme)" ]
}

commands_arrive()
{
	of_16k=$((16384 / $(blockdev --getss "$drive")))
	dd if=/dev/urandom of="$scratch/data" bs=64k count=1 2>"$scratch/said"
	grows host_write_units dd if="$scratch/data" of="$drive" bs=64k oflag=direct &&
		cmp -n 65536 "$scratch/data" /dev/mapper/aftl-nvme &&
		grows host_flush_requests nvme flush "$drive" -n 1 &&
		grows host_discard_units nvme dsm "$drive" -n 1 --ad --slbs=0 \
			--blocks=$((2 * of_16k)) || return
	told nvme write-zeroes "$drive" -n 1 --start-block=$((2 * of_16k)) \
		--block-count=$((of_16k - 1)) || return
	# 32 KiB are discarded, 16 KiB zeroed, and 16 KiB unchanged.
	read_16k 0 3 | cmp -n 49152 - /dev/zero && tail -c 16384 "$scratch/data" >"$scratch/last" &&
		read_16k 3 1 | cmp - "$scratch/last"
}

data_come_back()
{
	told fio --name=verify --filename="$drive" --direct=1 --ioengine=libaio --iodepth=16 \
		--rw=randwrite --bs=4k-64k --size=16m --verify=crc32c --verify_fatal=1 \
		--randrepeat=1
}

stays_while_in_use()
{
	refuses 1 "exported as NVMe; approxftl nvme aftl-nvme --remove first" remove aftl-nvme &&
		refuses 1 'is exported already' nvme aftl-nvme || return
	exec 9<"$drive"
	refuses 1 "$drive is in use: held open by process" nvme aftl-nvme --remove || return
	exec 9<&-
	mkdir -p "$scratch/mounted" && told mkfs.ext4 -q "$drive" &&
		mount "$drive" "$scratch/mounted" && echo kept >"$scratch/mounted/file" &&
		sync -f "$scratch/mounted/file" || return
	refuses 1 "$drive is in use: mounted on $scratch/mounted" nvme aftl-nvme --remove &&
		told "$approxftl" nvme aftl-nvme --remove --force || return
	umount "$scratch/mounted"
	# Linux logs errors of the removed drive, as it should; the file is still on the dm device.
	clear_log_of_lost_drive
	mount /dev/mapper/aftl-nvme "$scratch/mounted" &&
		[ "$(cat "$scratch/mounted/file")" = kept ] && umount "$scratch/mounted"
}

clear_log_of_lost_drive()
{
	grep_log "$complaints" | grep -vE 'nvme[0-9]|EXT4-fs' >>"$scratch/complaints"
	dmesg -C
}

leaves_nothing()
{
	nvmet=/sys/kernel/config/nvmet
	[ -z "$(find $nvmet/subsystems $nvmet/ports -mindepth 1)" ] && [ ! -b "$drive" ] &&
		refuses 3 'is not exported' nvme aftl-nvme --remove && is_clean aftl-nvme &&
		dmsetup remove aftl-nvme
}

refuses_what_it_cannot_do()
{
	refuses 3 'aftl-absent' nvme aftl-absent && refuses 2 'which device?' nvme &&
		refuses 2 '--force is for --remove' nvme aftl-nvme --force
}

over_tcp()
{
	kernel_has nvmet-tcp && kernel_has nvme-tcp && ip link set lo up || return
	create aftl-nvme ram $small &&
		refuses 1 'cannot be set' nvme aftl-nvme --tcp "$(printf '%0300d' 1)" &&
		[ -z "$(find /sys/kernel/config/nvmet/ports -mindepth 1)" ] &&
		told "$approxftl" nvme aftl-nvme --tcp 127.0.0.1:4421 || return
	# The printed command connects.
	told sh -c "$(sed -n 's/.*: \(nvme connect .*\)/\1/p' "$scratch/said")" || return
	drive=
	until drive=$(find_drive) && [ -b "$drive" ]; do
		sleep 0.1
	done
	data_come_back && told "$approxftl" nvme aftl-nvme --remove && leaves_nothing
}

# Print the drive by which this machine is connected to the export, whatever its transport.
find_drive()
{
	for block in /sys/block/nvme*n1; do
		! grep -qsx approxftl-aftl-nvme "$block/device/subsysnqn" || echo "/dev/${block##*/}"
	done | grep -v 'c[0-9]*n1$'
}

# Use blkzone instead of "nvme zns report-zones": Linux 7.3 refuses the command of nvme-cli 2.3.
zones_pass_through()
{
	create aftl-nvme ram policy baseline blocks 96 zoned 4MiB buffer 4MiB buffer_safe on \
		errors off && exported || return
	zones=$(blkzone report /dev/mapper/aftl-nvme | wc -l)
	[ "$(blkzone report "$drive" | wc -l)" -eq "$zones" ] && [ "$zones" -gt 1 ] || return
	told dd if=/dev/urandom of="$drive" bs=64k count=1 oflag=direct &&
		blkzone report -c 1 "$drive" >"$scratch/above" &&
		blkzone report -c 1 /dev/mapper/aftl-nvme >"$scratch/below" &&
		diff "$scratch/above" "$scratch/below" && grep -q 'wptr 0x000080' "$scratch/above" &&
		told nvme zns id-ns "$drive" &&
		told blkzone reset -c 1 "$drive" &&
		blkzone report -c 1 /dev/mapper/aftl-nvme | grep -q 'wptr 0x000000' || return
	told "$approxftl" nvme aftl-nvme --remove && leaves_nothing
}

command -v nvme >"$scratch/said" || {
	ktap_test_skip nvme 'nvme-cli is not installed: make deps'
	finished
}
needs_module nvme-loop
create aftl-nvme ram $small
ktap_test_run 'an exported device identifies itself' identifies_itself
ktap_test_run 'NVMe commands arrive at the device' commands_arrive
ktap_test_run 'data written to the exported drive are read back' data_come_back
ktap_test_run 'the export of a drive in use is removed only by force' stays_while_in_use
ktap_test_run 'an ended export leaves nothing' leaves_nothing
ktap_test_run 'errors name cause and remedy' refuses_what_it_cannot_do
ktap_test_run 'an exported zoned device reports its zones over NVMe' zones_pass_through
ktap_test_run 'a device is exported over TCP' over_tcp
ktap_test_run 'examples of approxftl-nvme(8)' examples_of userspace/nvme/approxftl-nvme.8.rst
finished
