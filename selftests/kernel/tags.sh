#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tags: what a program calls approximate is stored so, and nothing else is, through every file
# system and every way to write; who may say so; and how long it holds.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

place=$scratch/mounted
mkdir "$place"
# For those without privileges
chmod 755 "$scratch"
export TAGS_RUN=0

driver()
{
	python3 selftests/kernel/tags.py "$@"
}

# prepare TOP MAKE...: a file system on the device TOP, which is ours or on ours
prepare()
{
	top=$1
	shift
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-tags ram $small errors off || return
	if [ "$top" != aftl-tags ]; then
		table_of "$top" | dmsetup create "$top" || return
	fi
	"$@" "/dev/mapper/$top" >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
	# shellcheck disable=SC2086 # options
	mount $mount_options "/dev/mapper/$top" "$place"
}

table_of()
{
	sectors=$(blockdev --getsz /dev/mapper/aftl-tags)
	key=$(printf '%064d' 7)
	case $1 in
	*linear) echo "0 $((sectors - 2048)) linear /dev/mapper/aftl-tags 1024" ;;
	*crypt) echo "0 $sectors crypt aes-xts-plain64 $key$key 0 /dev/mapper/aftl-tags 0 1 sector_size:4096" ;;
	esac
}

dismantle()
{
	umount "$place" || return
	[ "$1" = aftl-tags ] || dmsetup remove "$1" || return
	dmsetup remove aftl-tags
}

# stored_as WAY EXPECTED: the file is written, and then the device is looked at
stored_as()
{
	driver write "$1" "$place/$1" && sync && driver stored /dev/mapper/aftl-tags "$2" "$place/$1" &&
		rm "$place/$1"
}

# file_system NAME TOP EXPECTED DIRECT MAKE...: DIRECT is what O_DIRECT leads to
file_system()
{
	if ! modprobe "${1%%-*}" 2>"$scratch/said"; then
		ktap_test_skip "$1" 'the kernel does not have it'
		return
	fi
	name=$1
	top=$2
	expected=$3
	direct=$4
	shift 4
	if ! prepare "$top" "$@"; then
		ktap_test_fail "$name: make and mount"
		dmsetup remove "$top" 2>"$scratch/said"
		dmsetup remove aftl-tags 2>"$scratch/said"
		return
	fi
	for way in $ways; do
		TAGS_RUN=$((TAGS_RUN + 1))
		case $way in
		buffered | mmap | pwritev) ktap_test_silent "$name, $way: $expected" stored_as "$way" "$expected" ;;
		*) ktap_test_silent "$name, $way: $direct" stored_as "$way" "$direct" ;;
		esac
	done
	ktap_test_silent "$name: unmount" dismantle "$top"
	ktap_test_silent "$name: no tag survives it" driver none-tagged
}

matrix()
{
	echo 8 >/proc/sys/vm/nr_hugepages
	mount_options=
	xfs='env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f'
	ways='buffered mmap direct libaio io_uring io_uring-workers direct-huge thread process'
	ways="$ways pwritev pwritev-direct"
	file_system ext4 aftl-tags all all mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0
	ways='buffered mmap direct libaio io_uring io_uring-workers'
	# shellcheck disable=SC2086 # words
	file_system xfs aftl-tags all all $xfs
	mount_options='-o nodiscard'
	file_system f2fs aftl-tags all all mkfs.f2fs -q -f
	mount_options='-o nodatacow'
	file_system btrfs aftl-tags all all mkfs.btrfs -q -f --mixed
	mount_options=
	ways='buffered direct io_uring-workers'
	file_system ext4-on-linear aftl-linear all all mkfs.ext4 -q -F -m 0
	file_system ext4-on-crypt aftl-crypt none none mkfs.ext4 -q -F -m 0
	mount_options='-o data=journal'
	# Here O_DIRECT goes through the page cache, and the journal has what buffers held.
	file_system ext4-data=journal aftl-tags some some mkfs.ext4 -q -F -m 0
}

# A file system of ours, mounted
a_folder()
{
	mount_options=
	prepare aftl-tags mkfs.ext4 -q -F -m 0 -O encrypt
}

refuses_swap()
{
	dd if=/dev/zero of="$place/swap" bs=1M count=4 2>"$scratch/said" && chmod 600 "$place/swap" &&
		mkswap "$place/swap" >"$scratch/said" && swapon "$place/swap" || return
	driver refused-file "$place/swap" ETXTBSY 4
	refused=$?
	swapoff "$place/swap" && rm "$place/swap" && return "$refused"
}

refuses_encrypted()
{
	mkdir "$place/secret" && driver encrypt "$place/secret"
}

refuses_checksums()
{
	mount_options=
	modprobe btrfs && prepare aftl-tags mkfs.btrfs -q -f --mixed && echo data >"$place/file" &&
		driver refused-file "$place/file" EOPNOTSUPP 7 &&
		touch "$place/nocow" && chattr +C "$place/nocow" && echo data >"$place/nocow" &&
		python3 -c "import sys
sys.path.insert(0, 'selftests/kernel')
import os, approx_control
approx_control.Control().tag(os.open('$place/nocow', os.O_RDWR))"
	refused=$?
	dismantle aftl-tags && return "$refused"
}

# Its attribute has the tags again after unmounting.
is_watched()
{
	# shellcheck disable=SC2086 # words
	create aftl-tags ram $small errors off && mkfs.ext4 -q -F -m 0 /dev/mapper/aftl-tags \
		>"$scratch/said" 2>&1 && mount /dev/mapper/aftl-tags "$place" &&
		driver watched "$place" && touch "$place/again" &&
		driver attribute-of-pattern "$place/again" &&
		umount "$place" && mount /dev/mapper/aftl-tags "$place" &&
		driver watch "$place" again "$place/again" && sync &&
		driver stored /dev/mapper/aftl-tags all "$place/again" && dismantle aftl-tags
}

raw_device()
{
	# shellcheck disable=SC2086 # words
	create aftl-tags ram $small && driver device-ranges /dev/mapper/aftl-tags &&
		dmsetup remove aftl-tags && create aftl-tags ram $small &&
		driver untouched /dev/mapper/aftl-tags &&
		driver precedence /dev/mapper/aftl-tags && driver programs /dev/mapper/aftl-tags &&
		driver first-units /dev/mapper/aftl-tags 0 &&
		table_of aftl-linear | dmsetup create aftl-linear &&
		driver device-refusals /dev/mapper/aftl-linear && dmsetup remove aftl-linear &&
		dmsetup remove aftl-tags
}

hints()
{
	# shellcheck disable=SC2086 # words
	create aftl-tags ram $small ioprio_hint 341 && driver priorities /dev/mapper/aftl-tags 341 &&
		dmsetup table aftl-tags | grep -q 'ioprio_hint 341' && dmsetup remove aftl-tags
}

pairs_with_blktrace()
{
	grep -q debugfs /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug
	mount_options=
	prepare aftl-tags mkfs.ext4 -q -F -m 0 || return
	blktrace -d /dev/mapper/aftl-tags -o - >"$scratch/capture" 2>"$scratch/said" &
	tracer=$!
	until [ -e /sys/kernel/debug/block/dm-0/trace0 ]; do
		sleep 0.1
	done
	driver write buffered "$place/buffered" && driver write direct "$place/direct" &&
		driver label && sync
	written=$?
	kill -INT "$tracer"
	wait "$tracer"
	driver traced "$scratch/capture" /dev/mapper/aftl-tags && dismantle aftl-tags &&
		return "$written"
}

# Unloaded while files elsewhere are tagged; nothing of it may be called afterwards.
unloads()
{
	mkdir "$scratch/left" && driver leave-tagged "$scratch/left" && rmmod dm_approxftl &&
		rm -r "$scratch/left" && insmod "$MODULE" && driver none-tagged
}

# alone NAME COMMAND...: which makes and removes its devices, or should have
alone()
{
	ktap_test_silent "$@"
	if [ -e /dev/mapper/aftl-tags ]; then
		umount "$place" 2>"$scratch/said"
		dmsetup remove aftl-linear 2>"$scratch/said"
		dmsetup remove aftl-tags
	fi
}

ktap_test_silent 'the ABI' driver abi
a_folder || exit 1
ktap_test_silent 'ranges at their ends' driver edges "$place"
ktap_test_silent 'ranges that overlap' driver model "$place"
ktap_test_run 'a hundred thousand ranges' driver many "$place" 100000
ktap_test_silent 'what is refused, and to whom' driver refusals "$place" /dev/mapper/aftl-tags
ktap_test_silent 'limits for each user' driver limits "$place"
ktap_test_silent 'swap files are refused' refuses_swap
ktap_test_silent 'encrypted files are refused' refuses_encrypted
ktap_test_run 'ioctls at random' driver fuzz "$place" 20000
ktap_test_run 'ioctls at random by root' driver fuzz "$place" 20000 /dev/mapper/aftl-tags
ktap_test_run 'everything at once' driver churn "$place" 10
ktap_test_run 'a tag is the file, whatever its name' driver life "$place"
ktap_test_silent 'unmount' dismantle aftl-tags
ktap_test_silent 'no tag survives that' driver none-tagged
alone 'btrfs with checksums is refused, without is not' refuses_checksums
alone 'raw devices, scopes, precedence' raw_device
alone 'hints in I/O priorities' hints
alone 'files of watched file systems' is_watched
alone 'a block trace has what is stored' pairs_with_blktrace
matrix
# shellcheck disable=SC2086 # words
create aftl-tags ram $small && mkfs.ext4 -q -F -m 0 /dev/mapper/aftl-tags >"$scratch/said" 2>&1 &&
	mount /dev/mapper/aftl-tags "$place"
ktap_test_run 'its owner is told which bits have flipped' driver report "$place/report"
ktap_test_silent 'unmount' dismantle aftl-tags
ktap_test_silent 'the module is unloaded while files are tagged' unloads
finished
