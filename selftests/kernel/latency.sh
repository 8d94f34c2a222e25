#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the lab: completions come when the model says, never earlier and at most 5 us later.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

latest_ns=5000
# What fio, its system call and the block layer take around a request, at most.
around_ns=20000

# shellcheck disable=SC2086,SC2154 # words, of lib.sh
create aftl-real ram $shape policy baseline || exit 1
# shellcheck disable=SC2086 # words
create aftl-fast ram $shape tag_all approximate || exit 1
cp "$(command -v fio)" "$scratch"

job()
{
	device=$1
	shift
	"$scratch/fio" --name=qd1 --filename="/dev/mapper/$device" --direct=1 --bs=4k --size=32m \
		--randrepeat=1 --ioengine=psync --output-format=json --output="$scratch/said" "$@"
}

# The shortest and the mean latency of reads or writes that fio has seen, in ns
seen()
{
	python3 -c 'import json, sys
seen = json.load(open(sys.argv[1]))["jobs"][0][sys.argv[2]]["lat_ns"]
print(round(seen["min"]), round(seen["mean"]))' "$scratch/said" "$1"
}

# measure DEVICE read|write: sets shortest_ns, mean_ns, late_ns
measure()
{
	dmsetup message "$1" 0 reset
	job "$1" --number_ios=500 --rw="rand$2" || return 1
	seen "$2" >"$scratch/seen"
	read -r shortest_ns mean_ns <"$scratch/seen"
	late_ns=$(counter "$1" late_p99_ns)
	echo "# $1, $2: fio's shortest $shortest_ns ns, mean $mean_ns ns; lateness" \
		"p50 $(counter "$1" late_p50_ns) ns, p99 $late_ns ns, max $(counter "$1" late_max_ns) ns"
}

punctual()
{
	[ "$(counter "$1" late_count)" -eq 500 ] && [ "$late_ns" -gt 0 ] &&
		[ "$late_ns" -le "$latest_ns" ]
}

# as_modelled DEVICE read|write MODEL-NS: each request takes that long
as_modelled()
{
	measure "$1" "$2" && punctual "$1" && [ "$shortest_ns" -ge "$3" ] &&
		[ "$mean_ns" -le $(($3 + around_ns)) ]
}

# A completion of which the lateness is nothing would be early, or a wonder.
never_early()
{
	[ -z "$(counter "$1" late_le_0)" ]
}

# Two-phase placement: programs of several lengths, whose mean the counters tell.
mean_as_counted()
{
	measure aftl-fast write && punctual aftl-fast && never_early aftl-fast || return 1
	counted_ns=$((($(counter aftl-fast array_program_ns) + $(counter aftl-fast bus_ns)) / 500))
	echo "# mean by the counters: $counted_ns ns"
	[ "$counted_ns" -lt 700000 ] && [ "$mean_ns" -ge "$counted_ns" ] &&
		[ "$mean_ns" -le $((counted_ns + around_ns)) ]
}

job aftl-real --rw=write --bs=64k
sleep 1
# A channel moves 4 KiB of a read in 10240 ns, the 8 KiB page of a program in 20480 ns.
ktap_test_run 'reads of 45 us' as_modelled aftl-real read 55240
ktap_test_run 'no read is early' never_early aftl-real
ktap_test_run 'programs of 700 us' as_modelled aftl-real write 720480
ktap_test_run 'no write is early' never_early aftl-real
ktap_test_run 'programs of two phases' mean_as_counted
finished
