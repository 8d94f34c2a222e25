#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For `make bench-kernel`: 64 threads write 4 KiB at a time, each followed by fdatasync(). Measure
# writes per second on a volume, with and without a persistent write buffer (PLP), and on other
# device-mapper targets. All use one drive emulated by null_blk: in memory, with a volatile cache,
# 20 us per request. (QEMU's NVMe drive stalls for a minute now and then and depends on this
# machine's disk.) In the lab, whose clock counts instructions, two rounds differ by little. Each
# device is filled once before. Prints alternating lines "# storm DEVICE WRITES PER_SECOND BELOW
# SECTORS FLUSHES"; the last three count the drive's write requests (pure flushes included), sectors
# and flushes. Targets that the kernel lacks are left out.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

rounds=${ROUNDS:-3}
sectors=131072 # size of the area written to
region=8
head=32768 # sectors for the metadata of other targets, in front of their data

null=/sys/kernel/config/nullb/nullb-storm

make_drive()
{
	modprobe null_blk nr_devices=0 || return
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	mkdir "$null" && echo 512 >"$null/size" && echo 1 >"$null/memory_backed" &&
		echo 256 >"$null/cache_size" && echo 2 >"$null/irqmode" &&
		echo 20000 >"$null/completion_nsec" && echo 1 >"$null/power" &&
		drive=$(find /dev -name "nullb*" -type b) && [ -n "$drive" ] &&
		dd if=/dev/zero of="$drive" bs=1M count=512 oflag=direct 2>"$scratch/said"
}

# Each make_NAME creates the device aftl-NAME.

make_volume()
{
	volume=$1
	shift
	wipe "$drive" && create "aftl-$volume" "$drive" timing off blocks 112 policy baseline "$@"
}

make_plain()
{
	make_volume plain
}

make_safe()
{
	make_volume safe buffer 1MiB buffer_safe on
}

make_linear()
{
	dmsetup create aftl-linear --table "0 $sectors linear $drive $head"
}

# A zeroed metadata device makes the thin pool format it.
make_thin()
{
	wipe "$drive" &&
		dmsetup create aftl-meta --table "0 $head linear $drive 0" &&
		dmsetup create aftl-part --table "0 $sectors linear $drive $head" &&
		dmsetup create aftl-pool --table "0 $sectors thin-pool /dev/mapper/aftl-meta \
/dev/mapper/aftl-part 128 0 1 skip_block_zeroing" &&
		dmsetup message aftl-pool 0 'create_thin 0' &&
		dmsetup create aftl-thin --table "0 $sectors thin /dev/mapper/aftl-pool 0"
}

# Every region is completely overwritten before it would have to be copied from the source.
make_clone()
{
	wipe "$drive" &&
		dmsetup create aftl-meta --table "0 $head linear $drive 0" &&
		dmsetup create aftl-part --table "0 $sectors linear $drive $head" &&
		dmsetup create aftl-source --table "0 $sectors zero" &&
		dmsetup create aftl-clone --table "0 $sectors clone /dev/mapper/aftl-meta \
/dev/mapper/aftl-part /dev/mapper/aftl-source $region 1 no_hydration"
}

# Remove devices from top to bottom.
take_apart()
{
	for part in "$1" pool meta part source; do
		[ ! -e "/dev/mapper/aftl-$part" ] || dmsetup remove --retry "aftl-$part" || return
	done
}

# below FIELD: print a field of the drive's statistics
below()
{
	awk -v "field=$1" '{ print $field }' "/sys/block/${drive#/dev/}/stat"
}

# storm NAME: fill the device once, then run the benchmark
storm()
{
	device=/dev/mapper/aftl-$1
	fio --name=fill --filename="$device" --size=$((sectors * 512)) --direct=1 --rw=write --bs=256k \
		--end_fsync=1 >"$scratch/said" || return
	writes=$(below 5) kept=$(below 7) flushes=$(below 16)
	fio --name=storm --filename="$device" --size=$((sectors * 512)) --direct=1 --rw=randwrite \
		--bs=4k --ioengine=psync --fdatasync=1 --numjobs=64 --thread --group_reporting --minimal \
		--time_based --runtime=1 --norandommap >"$scratch/storm" || return
	echo "# storm $1 $(awk -F ';' '{ print int($47 / 4), $49 }' "$scratch/storm")" \
		"$(($(below 5) - writes)) $(($(below 7) - kept)) $(($(below 16) - flushes))"
}

one()
{
	"make_$1" && storm "$1" && take_apart "$1"
}

names='plain safe linear'
for name in thin clone; do
	module=dm-$name
	[ $name != thin ] || module=dm-thin-pool
	! kernel_has "$module" || names="$names $name"
done
every_round()
{
	for round in $(seq "$rounds"); do
		for name in $names; do
			one "$name" || { echo "# round $round, $name"; sed 's/^/# /' "$scratch/said"; return 1; }
		done
	done
}

ktap_test_run 'create a drive with null_blk' make_drive
ktap_test_run 'measure 64 threads of fdatasync()' every_round
echo 0 >"$null/power" && rmdir "$null"
finished
