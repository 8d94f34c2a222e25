#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The durable store: data and state stay on a block device, whatever it is, and what cannot be
# used is refused.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/medium.sh

deep='--ioengine=libaio --iodepth=16 --bs=16k'

audited()
{
	dmsetup suspend "$1" && dmsetup message "$1" 0 audit
	dmsetup resume "$1"
}

# Data

engines()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-data /dev/ram0 $small && verify aftl-data --ioengine=psync --bs=4k --size=1m &&
		verify aftl-data --ioengine=libaio --iodepth=32 --bs=64k --size=8m &&
		verify aftl-data --ioengine=io_uring --iodepth=32 --bs=4k --size=1m &&
		verify aftl-data --ioengine=libaio --iodepth=8 --bssplit=4k/40:12k/30:256k/20:1m/10 \
			--size=8m
}

through_the_page_cache()
{
	verify aftl-data --direct=0 --ioengine=psync --bs=4k --size=1m --end_fsync=1 &&
		echo 1 >/proc/sys/vm/drop_caches &&
		verify aftl-data --direct=0 --ioengine=psync --bs=4k --size=1m --verify_only
}

twice_with_collection()
{
	verify aftl-data --ioengine=libaio --iodepth=32 --bs=16k --rw=write --size=100% --loops=2 &&
		[ "$(counter aftl-data gc_blocks)" -gt 0 ] && [ "$(audited aftl-data)" = clean ]
}

agrees_with_model()
{
	python3 selftests/kernel/shadow.py "/dev/mapper/$1" "$2"
}

# in_real_time [KEY VALUE]...
in_real_time()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-real /dev/ram1 $shape "$@" || return
	# shellcheck disable=SC2086 # words
	agrees_with_model aftl-real 100 && verify aftl-real $deep --size=2m &&
		[ "$(audited aftl-real)" = clean ] && dmsetup remove aftl-real && wipe /dev/ram1
}

two_at_once()
{
	# shellcheck disable=SC2086 # words
	create aftl-real /dev/ram1 $shape buffer 1MiB &&
		verify aftl-data:/dev/mapper/aftl-real $deep --size=4m &&
		dmsetup remove aftl-real && wipe /dev/ram1
}

# What it knows of itself, at rest.
state_of()
{
	dmsetup suspend "$1" && dmsetup message "$1" 0 digest
	for block in 0 1 2 40 77; do
		dmsetup message "$1" 0 block "$block"
	done
	dmsetup resume "$1"
}

comes_back()
{
	md5sum </dev/mapper/aftl-data >"$scratch/sum-before" &&
		state_of aftl-data >"$scratch/before" && table=$(dmsetup table aftl-data) &&
		dmsetup remove aftl-data && dmsetup create aftl-data --table "$table" &&
		state_of aftl-data >"$scratch/after" && diff "$scratch/before" "$scratch/after" &&
		md5sum </dev/mapper/aftl-data | diff "$scratch/sum-before" - &&
		[ "$(audited aftl-data)" = clean ]
}

table_round_trips()
{
	table=$(dmsetup table aftl-data)
	case $table in
	"0 $(blockdev --getsz /dev/mapper/aftl-data) approxftl 1:0 "*) ;;
	*) echo "# $table"; return 1 ;;
	esac
	echo "$table" | dmsetup reload aftl-data && dmsetup resume aftl-data &&
		[ "$(dmsetup table aftl-data)" = "$table" ]
}

checked()
{
	program=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
	"$program" check "$1" >"$scratch/said" 2>&1 && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

is_sound()
{
	dmsetup remove aftl-data && checked /dev/ram0
}

# Reloads

# switch_to NAME [KEY VALUE]...: load a table and make it live
switch_to()
{
	switched=$1
	shift
	line "$(dmsetup table "$switched" | cut -d ' ' -f 4)" \
		"$(blockdev --getsz "/dev/mapper/$switched")" "$@" |
		dmsetup reload "$switched" && dmsetup resume "$switched"
}

through_policies()
{
	# shellcheck disable=SC2086 # words
	create aftl-data /dev/ram0 $small &&
		dd if=/dev/urandom of="$scratch/data" bs=1M count=8 2>"$scratch/said" &&
		dd if="$scratch/data" of=/dev/mapper/aftl-data bs=64k oflag=direct \
			2>"$scratch/said" || return
	for policy in baseline vth_b approxftl; do
		# shellcheck disable=SC2086 # words
		switch_to aftl-data $small policy "$policy" &&
			[ "$(status_word aftl-data 2)" = "$policy" ] || return
		cmp -n 8388608 "$scratch/data" /dev/mapper/aftl-data || return
	done
	[ "$(audited aftl-data)" = clean ] && dmsetup remove aftl-data && wipe /dev/ram0
}

# While the old table still works, which a failed resume would destroy.
refuses_what_does_not_fit()
{
	tight='blocks 64 word_lines 8 op 7 timing off'
	# shellcheck disable=SC2086 # words
	create aftl-data /dev/ram0 $tight policy baseline || return
	# shellcheck disable=SC2086 # words
	! switch_to aftl-data $tight policy approxftl 2>"$scratch/said" &&
		dmesg | grep -q 'approxftl keeps 16 of the 64 blocks' && dmsetup clear aftl-data &&
		[ "$(audited aftl-data)" = clean ] && dmsetup remove aftl-data && wipe /dev/ram0
}

keeps_a_file_system()
{
	mkdir -p "$scratch/mounted"
	# shellcheck disable=SC2086 # words
	create aftl-data /dev/ram0 $small && mkfs.ext4 -q /dev/mapper/aftl-data &&
		mount /dev/mapper/aftl-data "$scratch/mounted" &&
		cp -r dm-approxftl "$scratch/mounted/" && umount "$scratch/mounted" &&
		table=$(dmsetup table aftl-data) && dmsetup remove aftl-data &&
		dmsetup create aftl-data --table "$table" &&
		e2fsck -fn /dev/mapper/aftl-data >"$scratch/said" 2>&1 &&
		mount /dev/mapper/aftl-data "$scratch/mounted" &&
		diff -r dm-approxftl "$scratch/mounted/dm-approxftl"
	kept=$?
	umount "$scratch/mounted"
	dmsetup remove aftl-data
	return "$kept"
}

# Refusals

# refuses SENTENCE BLOCK_DEVICE [KEY VALUE]...
refuses()
{
	sentence=$1
	device=$2
	shift 2
	dmesg -C
	# shellcheck disable=SC2086 # words
	nothing create aftl-none "$device" $small "$@" 2>"$scratch/said" && dmesg >"$scratch/said" &&
		grep -qF "$sentence" "$scratch/said" && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

refuses_a_file_system()
{
	mkfs.ext4 -q /dev/ram1 &&
		refuses 'this is not a volume of approxftl' /dev/ram1
	refused=$?
	dmsetup remove aftl-none 2>"$scratch/said"
	wipe /dev/ram1
	return "$refused"
}

refuses_a_second_user()
{
	# shellcheck disable=SC2086 # words
	create aftl-data /dev/ram0 $small &&
		refuses 'block device 1:0 is used by' /dev/ram0 &&
		dmsetup remove aftl-data
}

needs_module brd
ram_disks 2 262144
ktap_test_run 'fio verify on zeroes that become a volume' engines
ktap_test_run 'the same through the page cache' through_the_page_cache
ktap_test_run 'a full device, written twice, keeps its data' twice_with_collection
ktap_test_run 'a model: random writes, discards, zeroes and reads' agrees_with_model aftl-data 800
ktap_test_run 'removed and created again, it is what it was' comes_back
ktap_test_run 'the table names the block device by number and can be loaded' table_round_trips
ktap_test_run 'two at once, one in real time with a write buffer' two_at_once
ktap_test_run 'in real time' in_real_time
ktap_test_run 'in real time, with a write buffer' in_real_time buffer 1MiB
ktap_test_run 'the offline check finds it sound' is_sound
wipe /dev/ram0
ktap_test_run 'data stay through policies' through_policies
ktap_test_run 'a policy that does not fit is refused' refuses_what_does_not_fit
ktap_test_run 'a file system is there when the device comes back' keeps_a_file_system
ktap_test_run 'what is no volume is refused' refuses_a_file_system
ktap_test_run 'a block device in use is refused' refuses_a_second_user
ktap_test_run 'buffer_safe is refused' refuses 'cannot survive it' /dev/ram1 buffer 1MiB buffer_safe on
ktap_test_run 'fill is refused' refuses 'fill: a block device holds real data' /dev/ram1 fill sequential
finished
