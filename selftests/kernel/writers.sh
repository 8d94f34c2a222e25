#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For `make bench-kernel`: requests a second of one writer and of two on two processors, with
# `timing off`, on one FTL and on two shards, of which each writer has one. Prints
# "# writers DEVICE NUMBER REQUESTS WAITS", alternating, so that a machine that slows down slows all;
# WAITS is how often a processor has waited for the other one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

rounds=${ROUNDS:-5}

# A writer stays in every second run of 64 KiB, the second writer in the others.
writers()
{
	dmsetup message "aftl-$1" 0 reset || return
	iops=$(fio --name=writers --filename="/dev/mapper/aftl-$1" --direct=1 --rw=randwrite --bs=4k \
		--ioengine=libaio --iodepth=32 --size=64m --norandommap --zonemode=strided \
		--zonesize=64k --zonerange=64k --zoneskip=64k --offset_increment=64k \
		--time_based --runtime=3 --thread --group_reporting --minimal --gtod_reduce=1 \
		--cpus_allowed=0-1 --cpus_allowed_policy=split --numjobs="$2" | cut -d ';' -f 49)
	echo "# writers $1 $2 $iops $(counter "aftl-$1" lock_waits)"
	[ "${iops%.*}" -gt 0 ]
}

every_round()
{
	for round in $(seq "$rounds"); do
		if ! writers one 1 || ! writers one 2 || ! writers shards 1 || ! writers shards 2; then
			echo "# round $round"
			return 1
		fi
	done
}

create aftl-one ram timing off blocks 2048 policy baseline &&
	create aftl-shards ram timing off blocks 2048 policy baseline shards 2 || exit 1
ktap_test_run 'one writer and two' every_round
finished
