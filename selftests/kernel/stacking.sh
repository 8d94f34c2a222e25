#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Stack other devices on ours.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2

deep='--ioengine=libaio --iodepth=16 --bs=16k --size=16m'

below_linear()
{
	create aftl-below ram $small &&
		dmsetup create aftl-above --table '0 65536 linear /dev/mapper/aftl-below 1024' &&
		verify aftl-above $deep && blkdiscard /dev/mapper/aftl-above &&
		[ "$(status_word aftl-below 17)" -eq 0 ] &&
		dmsetup remove aftl-above && dmsetup remove aftl-below
}

# crypt_table OPTION...: print a dm-crypt table with a fixed test key
crypt_table()
{
	key=$(printf '%064d' 7)
	echo "0 65536 crypt aes-xts-plain64 $key$key 0 /dev/mapper/aftl-below 0 $# $*"
}

below_crypt()
{
	create aftl-below ram $small && dmsetup create aftl-above --table "$(crypt_table "$@")" &&
		verify aftl-above --ioengine=libaio --iodepth=16 --bs=16k --size=4m || return
	printf 'plain text %04085d' 0 |
		dd of=/dev/mapper/aftl-above bs=4k oflag=direct 2>"$scratch/said"
	above=$(dd if=/dev/mapper/aftl-above bs=4k count=1 iflag=direct 2>"$scratch/said" |
		grep -c 'plain text')
	below=$(dd if=/dev/mapper/aftl-below bs=4k count=1 iflag=direct 2>"$scratch/said" |
		grep -c 'plain text')
	dmsetup remove aftl-above && dmsetup remove aftl-below && [ "$above" -eq 1 ] &&
		[ "$below" -eq 0 ]
}

# until_it_waits PID: wait until it has slept uninterruptibly for 1 s; fail if it ends
until_it_waits()
{
	waited=0
	while [ "$waited" -lt 10 ]; do
		case $(cut -d ' ' -f 3 "/proc/$1/stat") in
		D) waited=$((waited + 1)) ;;
		# A zombie, or already reaped by the shell.
		Z | '') return 1 ;;
		*) waited=0 ;;
		esac
		sleep 0.1
	done
}

# Create one of our devices on a suspended one: it waits, and does not prevent the lower device's
# resume.
on_one_of_ours()
{
	create aftl-below ram $small && create aftl-above /dev/mapper/aftl-below channels 1 chips 2 \
		blocks 64 word_lines 2 op 35 timing off && verify aftl-above --ioengine=libaio \
		--iodepth=16 --bs=16k --size=4m && table=$(dmsetup table aftl-above) &&
		dmsetup remove aftl-above && dmsetup suspend aftl-below || return
	dmsetup create aftl-above --table "$table" &
	until_it_waits $! && dmsetup resume aftl-below && wait $! &&
		dmsetup remove aftl-above && dmsetup remove aftl-below
}

md()
{
	mdadm "$@" >"$scratch/said" 2>&1 || { sed 's/^/# /' "$scratch/said"; return 1; }
}

md_at_rest()
{
	until grep -q idle /sys/block/md5/md/sync_action; do
		sleep 0.2
	done
}

# Fail a member and add it again, empty.
replaces_a_member()
{
	md /dev/md5 --fail /dev/mapper/aftl-two && md /dev/md5 --remove /dev/mapper/aftl-two &&
		cmp -n 4194304 "$scratch/written" /dev/md5 &&
		blkdiscard -f /dev/mapper/aftl-two 2>"$scratch/said" && md /dev/md5 --add /dev/mapper/aftl-two &&
		mdadm --wait /dev/md5 2>"$scratch/said"
	md_at_rest
	echo check >/sys/block/md5/md/sync_action
	md_at_rest
	[ "$(cat /sys/block/md5/md/mismatch_cnt)" -eq 0 ] &&
		[ "$(cat /sys/block/md5/md/degraded)" -eq 0 ] &&
		cmp -n 4194304 "$scratch/written" /dev/md5
}

below_raid()
{
	for member in one two three; do
		create "aftl-$member" ram $small || return
	done
	md --create /dev/md5 --level=5 --raid-devices=3 --metadata=1.2 --size=20480 --chunk=64 \
		--bitmap=none --run /dev/mapper/aftl-one /dev/mapper/aftl-two \
		/dev/mapper/aftl-three && md_at_rest || return
	fio --name=raid --filename=/dev/md5 --direct=1 --verify=crc32c --verify_fatal=1 \
		--rw=randwrite --ioengine=libaio --iodepth=16 --bs=16k --size=16m \
		--output="$scratch/fio" && dd if=/dev/urandom of="$scratch/written" bs=1M count=4 \
		2>"$scratch/said" && dd if="$scratch/written" of=/dev/md5 bs=1M oflag=direct \
		2>"$scratch/said" && replaces_a_member
	kept=$?
	md --stop /dev/md5 || return
	for member in one two three; do
		dmsetup remove "aftl-$member" || return
	done
	return "$kept"
}

ktap_test_run 'below dm-linear' below_linear
in_turn 'below dm-crypt, in sectors of 4 KiB' below_crypt sector_size:4096
ktap_test_run 'below another approxftl device, resumed in any order' on_one_of_ours
in_turn 'three devices below RAID-5, one fails and is re-added' below_raid
finished
