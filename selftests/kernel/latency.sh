#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the lab: completions come when the model says, not earlier and at most 5 us later.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

if [ -z "${AFTL_LAB:-}" ]; then
	ktap_test_skip 'latency' 'only the clock of selftests/vm/run --lab is steady enough'
	echo '1..1'
	exit 4
fi

latest_ns=5000
# What fio, its system call and the block layer take around a request, at most.
around_ns=16000

create aftl-real ram blocks 64 word_lines 8 op 30 policy baseline || exit 1
cp "$(command -v fio)" "$scratch"
job="$scratch/fio --name=qd1 --filename=/dev/mapper/aftl-real --direct=1 --bs=4k --size=32m --randrepeat=1 --ioengine=psync"

# Field 16 of fio's terse output is the mean read latency in us, 57 that of writes.
measure()
{
	dmsetup message aftl-real 0 reset
	# shellcheck disable=SC2086 # words
	mean_ns=$($job --number_ios=500 --minimal --rw="$1" | cut -d ';' -f "$2" |
		awk '{ printf "%.0f", $1 * 1000 }')
}

# as_modelled KIND FIELD MODEL-NS
as_modelled()
{
	measure "$1" "$2"
	late_ns=$(counter aftl-real late_p99_ns)
	echo "# $1: model $3 ns, fio's mean $mean_ns ns, lateness p99 $late_ns ns"
	[ "$late_ns" -gt 0 ] && [ "$late_ns" -le "$latest_ns" ] && [ "$mean_ns" -ge "$3" ] &&
		[ "$mean_ns" -le $(($3 + around_ns)) ]
}

$job --rw=write --bs=64k --output="$scratch/said"
sleep 1
# 4 KiB take 10240 ns on a 400 MB/s channel, before a program and after a read.
ktap_test_run 'reads of 45 us' as_modelled randread 40 55240
ktap_test_run 'programs of 700 us' as_modelled randwrite 81 710240
finished
