#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tags beneath other devices: untagged data are precise, by physical address, and tags still work
# where they reach the device.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

place=$scratch/mounted
mkdir "$place"

# driver SCENARIO [ARGUMENT]...: run a scenario of tags_beneath.py
driver()
{
	python selftests/kernel/tags_beneath.py "$@"
}

# Each on_NAME builds $top from the devices $leg and $leg2; $slow is a disk with slow writes, so
# that writeback takes long.

sectors_of()
{
	blockdev --getsz "$1"
}

mapped()
{
	dmsetup create "aftl-$1" --table "$2" && top=/dev/mapper/aftl-$1
}

# No other device: use ours alone, slowed down.
on_nothing()
{
	# shellcheck disable=SC2086 # words
	dmsetup remove aftl-one && create aftl-one ram $shape errors off timing scale:20 &&
		top=$leg
}

# delayed MS: print the table of the slow disk
delayed()
{
	echo "0 $slow_sectors delay /dev/ram0 0 0 /dev/ram0 0 $1"
}

# Btrfs is its own RAID; the slow disk delays its threads.
on_all()
{
	top=$leg
	delayed 1000 | dmsetup reload "$slow" && dmsetup suspend "$slow" && dmsetup resume "$slow"
}

on_linear()
{
	mapped top "0 $((sectors - 2048)) linear $leg 1024"
}

on_delay()
{
	mapped top "0 $sectors delay $leg 0 0 $leg 0 30"
}

on_stripes()
{
	mapped top "0 $(((sectors - sectors % 128) * 2)) striped 2 128 $leg 0 $leg2 0"
}

on_mirror()
{
	mapped top "0 $slow_sectors mirror core 2 1024 nosync 2 $leg 0 $slow 0"
}

# Use dm-raid as LVM does.
on_raid()
{
	mapped top "0 $slow_sectors raid raid1 3 0 region_size 1024 2 - $leg - $slow"
}

# md LEVEL OPTION... DEVICE...: create an array
md()
{
	level=$1
	shift
	mdadm --create /dev/md8 --level="$level" --metadata=1.0 --run --assume-clean "$@" \
		>"$scratch/said" 2>&1 && top=/dev/md8 && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

on_md0()
{
	md 0 --chunk=64 --raid-devices=2 "$leg" "$leg2"
}

on_md1()
{
	md 1 --bitmap=none --raid-devices=2 "$leg" "$slow"
}

on_md10()
{
	md 10 --bitmap=none --chunk=64 --raid-devices=2 "$leg" "$slow"
}

# With skip_copy, RAID-5 writes directly from the file system's pages.
on_md5()
{
	md 5 --bitmap=none --chunk=64 --raid-devices=3 "$leg" "$leg2" "$slow" &&
		echo 1 >/sys/block/md8/md/skip_copy
}

on_thin()
{
	dmsetup create aftl-pool --table "0 $((sectors - 8192)) thin-pool $slow $leg 128 0" &&
		dmsetup message /dev/mapper/aftl-pool 0 'create_thin 0' &&
		mapped top "0 $((sectors - 16384)) thin /dev/mapper/aftl-pool 0"
}

on_crypt()
{
	key=$(printf '%064d' 7)
	mapped top "0 $sectors crypt aes-xts-plain64 $key$key 0 $leg 0"
}

on_cache()
{
	mapped top "0 $sectors cache $slow $leg2 $leg 128 1 writeback default 0"
}

on_writecache()
{
	mapped top "0 $sectors writecache s $leg $leg2 4096 0"
}

# apart: unmount and remove the stacked devices
apart()
{
	umount "$place" || return
	case $top in
	/dev/md8) mdadm --stop /dev/md8 >"$scratch/said" 2>&1 || return ;;
	/dev/mapper/aftl-top) dmsetup remove aftl-top || return ;;
	esac
	[ ! -e /dev/mapper/aftl-pool ] || dmsetup remove aftl-pool
}

legs_are_new()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-one ram $small errors off && create aftl-two ram $small errors off &&
		leg=/dev/mapper/aftl-one leg2=/dev/mapper/aftl-two &&
		sectors=$(sectors_of "$leg") && dd if=/dev/zero of=/dev/ram0 bs=1M count=8 \
		2>"$scratch/said" &&
		slow_sectors=$(sectors_of /dev/ram0) && [ "$slow_sectors" -le "$sectors" ] &&
		delayed 30 | dmsetup create aftl-slow && slow=/dev/mapper/aftl-slow
}

legs_are_gone()
{
	for below in slow two one; do
		dmsetup remove "aftl-$below" || return
	done
}

# a_file_system NAME: make it on $top, or btrfs-PROFILE on all devices, and mount it
a_file_system()
{
	case $1 in
	ext4) mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0 "$top" ;;
	xfs) env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f "$top" ;;
	btrfs) mkfs.btrfs -q -f --mixed "$top" && mount_options='-o nodatacow,discard=sync' ;;
	btrfs-*)
		mkfs.btrfs -q -f --mixed -d "${1#*-}" -m "${1#*-}" "$leg" "$leg2" "$slow" &&
			mount_options="-o nodatacow,discard=sync,device=$leg2,device=$slow"
		;;
	esac >"$scratch/said" 2>&1 || sed 's/^/# /' "$scratch/said"
	# shellcheck disable=SC2086 # options
	mount $mount_options "$top" "$place"
}

# stack MAKE FILE-SYSTEM LEAST: test one stack; LEAST is described in tags_beneath.py
stack()
{
	legs_are_new || return
	if ! "$1"; then
		legs_are_gone
		return 1
	fi
	a_file_system "$2" && driver beneath "$place" "$3" "$leg" "$leg2"
	held=$?
	mount_options=
	apart && legs_are_gone && return "$held"
}

# plain MAKE...: make a file system directly on our device
plain()
{
	# shellcheck disable=SC2086 # words
	create aftl-one ram $small errors off && leg=/dev/mapper/aftl-one top= &&
		"$@" "$leg" >"$scratch/said" 2>&1 && mount "$leg" "$place"
}

plain_is_gone()
{
	umount "$place" && dmsetup remove aftl-one
}

# inside OPTION...: use a file system in a tagged image on a loop device
inside()
{
	truncate -s 24M "$place/image" && "$program" tag add "$place/image" &&
		loop=$(losetup --show -f "$@" "$place/image") &&
		mkfs.ext4 -q -F -m 0 "$loop" && mkdir -p "$scratch/inside" &&
		mount "$loop" "$scratch/inside" &&
		dd if=/dev/urandom of="$scratch/inside/data" bs=1M count=4 2>"$scratch/said" &&
		umount "$scratch/inside" &&
		dd if=/dev/urandom of="$loop" bs=4k count=1 conv=notrunc 2>"$scratch/said" &&
		losetup -d "$loop" && sync && driver none "$leg"
}

# through OPTION...: write to an image through a loop device, then detach it
through()
{
	loop=$(losetup --show -f "$place/outlived") &&
		dd if=/dev/urandom of="$loop" bs=64k count=4 "$@" 2>"$scratch/said" &&
		losetup -d "$loop"
}

# Some of the data are written back after the loop device is detached.
outlived()
{
	truncate -s 1M "$place/outlived" && "$program" tag add "$place/outlived" &&
		through conv=notrunc,fsync && through conv=notrunc seek=4 && sync && driver none "$leg"
}

# All data are written back after that; only kernel 6.1 reports such writes.
unflushed()
{
	case $(uname -r) in
	6.1.*) ;;
	*) return 0 ;;
	esac
	rm "$place/outlived" && truncate -s 1M "$place/outlived" &&
		"$program" tag add "$place/outlived" && through conv=notrunc && sync &&
		driver none "$leg"
}

# Test loop devices on images, and on our device while a part of it is tagged.
loops()
{
	modprobe loop && plain mkfs.ext4 -q -F -m 0 || return
	inside && rm "$place/image" && inside --direct-io=on && outlived && unflushed
	kept=$?
	plain_is_gone && [ "$kept" -eq 0 ] || return
	# shellcheck disable=SC2086 # words
	create aftl-one ram $small errors off && "$program" tag add "$leg" 0+ &&
		loop=$(losetup --show -f "$leg") &&
		dd if=/dev/urandom of="$loop" bs=1M count=2 2>"$scratch/said" && sync "$loop" &&
		driver none "$leg"
	kept=$?
	losetup -d "$loop" && dmsetup remove aftl-one && return "$kept"
}

defragments()
{
	plain mkfs.ext4 -q -F -m 0 && driver moved "$place" e4defrag "$leg"
	kept=$?
	plain_is_gone && return "$kept"
}

reorganizes()
{
	plain env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f &&
		driver moved "$place" xfs_fsr -v "$leg"
	kept=$?
	plain_is_gone && return "$kept"
}

# Test a data journal on a stack that loses the flags of bios.
journals()
{
	mount_options='-o data=journal'
	stack on_mirror ext4 none
}

mount_options=
program=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
needs_program "$program"
ram_disks 1 81920 || exit 1
# Run only the named points: MAKE:FILE-SYSTEM:LEAST or the name of a function.
for point; do
	case $point in
	*:*)
		words=${point#*:}
		ktap_test_run "$point" stack "on_${point%%:*}" "${words%:*}" "${words#*:}"
		;;
	*) ktap_test_run "$point" "$point" ;;
	esac
done
[ $# -eq 0 ] || finished

# Reclaim or writeback may hold 31 of 64 pages; since 6.16 with ext4 it may hold all.
case $(uname -r) in
6.[0-9].* | 6.1[0-5].*) some=40,30 ;;
*) some=0,0 ;;
esac
many=60,30
# Without page migration the module cannot tell whether ext4 journals data, so nothing may be
# approximate.
if ! moves_pages; then
	some=none
	many=none
fi

ktap_test_run 'RAID-1 of md' stack on_md1 ext4 "$some"
ktap_test_run 'dm-mirror' stack on_mirror ext4 "$some"
ktap_test_run 'no other device' stack on_nothing ext4 100,100
in_turn 'moved by e4defrag' defragments
in_turn 'moved by xfs_fsr' reorganizes
in_turn 'dm-mirror, data=journal' journals
in_turn 'RAID-5 of btrfs' stack on_all btrfs-raid5 0,0
in_turn 'RAID-1 of btrfs' stack on_all btrfs-raid1 100,100
in_turn 'no other device, btrfs' stack on_nothing btrfs 100,100
in_turn 'RAID-10 of md' stack on_md10 ext4 "$some"
in_turn 'RAID-5 of md that does not copy' stack on_md5 ext4 0,0
in_turn 'dm-raid' stack on_raid ext4 "$some"
in_turn 'RAID-0 of md' stack on_md0 ext4 "$many"
in_turn 'dm-linear' stack on_linear ext4 "$many"
in_turn 'dm-thin' stack on_thin ext4 "$some"
in_turn 'dm-crypt' stack on_crypt ext4 none
if [ -z "${AFTL_TURN:-}" ]; then
	ktap_test_run 'loop devices on a tagged image and on a tagged device' loops
	ktap_test_run 'no other device, XFS' stack on_nothing xfs 100,100
	ktap_test_run 'dm-stripe' stack on_stripes ext4 "$many"
	ktap_test_run 'dm-delay' stack on_delay xfs 0,0
	ktap_test_run 'dm-cache' stack on_cache ext4 "$some"
	ktap_test_run 'dm-writecache' stack on_writecache ext4 "$some"
fi
finished
