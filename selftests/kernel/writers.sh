#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For `make bench-kernel`: requests a second of one writer and of two on two processors, with
# `timing off`. Prints "# writers NUMBER REQUESTS", alternating, so that a machine that slows down
# slows both.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

rounds=${ROUNDS:-5}

writers()
{
	iops=$(fio --name=writers --filename=/dev/mapper/aftl-shared --direct=1 --rw=randwrite --bs=4k \
		--ioengine=libaio --iodepth=32 --size=64m --offset_increment=64m --norandommap \
		--time_based --runtime=3 --thread --group_reporting --minimal --gtod_reduce=1 \
		--cpus_allowed=0-1 --cpus_allowed_policy=split --numjobs="$1" | cut -d ';' -f 49)
	echo "# writers $1 $iops"
	[ "${iops%.*}" -gt 0 ]
}

every_round()
{
	for round in $(seq "$rounds"); do
		if ! writers 1 || ! writers 2; then
			echo "# round $round"
			return 1
		fi
	done
}

create aftl-shared ram timing off blocks 2048 policy baseline || exit 1
ktap_test_run 'one writer and two' every_round
finished
