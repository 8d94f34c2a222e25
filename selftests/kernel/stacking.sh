#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Stack other devices on approxftl devices.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2

below_linear()
{
	create aftl-below ram $small &&
		dmsetup create aftl-above --table '0 65536 linear /dev/mapper/aftl-below 1024' &&
		verify aftl-above --ioengine=libaio --iodepth=16 --bs=16k --size=16m &&
		blkdiscard /dev/mapper/aftl-above &&
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

# until_it_waits PID: wait until PID has slept uninterruptibly for 1 s; fail if it ends
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

# Creating an approxftl device on a suspended device waits, and the lower device can be resumed.
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

ktap_test_run 'a device below dm-linear keeps its data' below_linear
in_turn 'a device below dm-crypt keeps its data, in sectors of 4 KiB' below_crypt sector_size:4096
ktap_test_run 'a device below another approxftl device is resumed in any order' on_one_of_ours
finished
