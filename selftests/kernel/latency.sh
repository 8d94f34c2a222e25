#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test in the lab that requests complete at the modelled time, never earlier and at most 5 us later.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

latest_ns=5000
# Largest time that fio, the system call and the block layer may add to a request's latency
around_ns=20000

create aftl-real ram $shape policy baseline || exit 1
create aftl-fast ram $shape tag_all approximate || exit 1
cp "$(command -v fio)" "$scratch"

job()
{
	device=$1
	shift
	"$scratch/fio" --name=qd1 --filename="/dev/mapper/$device" --direct=1 --bs=4k --size=32m \
		--randrepeat=1 --ioengine=psync --output-format=json --output="$scratch/said" "$@"
}

# seen read|write: print the shortest and the mean latency of reads or writes that fio saw, in ns
seen()
{
	python3 -c 'import json, sys
seen = json.load(open(sys.argv[1]))["jobs"][0][sys.argv[2]]["lat_ns"]
print(round(seen["min"]), round(seen["mean"]))' "$scratch/said" "$1"
}

# measure DEVICE read|write: set $shortest_ns and $mean_ns by fio, $late_ns to p99 lateness
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

# modelled DEVICE OPERATION [MODEL-NS]: set model_ns to MODEL-NS, or to the counters' mean latency
modelled()
{
	model_ns=${3:-$((($(counter "$1" array_program_ns) + $(counter "$1" bus_ns)) / 500))}
	[ -n "${3:-}" ] || echo "# mean by the counters: $model_ns ns"
}

# not_early DEVICE OPERATION [MODEL-NS]: no measured request took less than the modelled time
# A completion with a lateness of 0 ns counts as early, because completing a request takes time.
not_early()
{
	[ -z "$(counter "$1" late_le_0)" ] && [ "$mean_ns" -ge "$model_ns" ] &&
		[ "$shortest_ns" -ge "${3:-0}" ]
}

# as_modelled DEVICE read|write [MODEL-NS]: each request takes the modelled time
# Late requests are measured once more, because the kernel may be busy; early ones fail at once.
as_modelled()
{
	for _ in 1 2; do
		measure "$1" "$2" && modelled "$@" && not_early "$@" || return 1
		punctual "$1" && [ "$mean_ns" -le $((model_ns + around_ns)) ] && return
	done
	return 1
}

two_phases_as_modelled()
{
	as_modelled aftl-fast write && [ "$model_ns" -lt 700000 ]
}

job aftl-real --rw=write --bs=64k
sleep 1
# A channel moves 4 KiB of a read in 10240 ns, the 8 KiB page of a program in 20480 ns.
ktap_test_run 'no read completes before its 45 us' as_modelled aftl-real read 55240
ktap_test_run 'no program completes before its 700 us' as_modelled aftl-real write 720480
ktap_test_run 'no two-pass program completes early' two_phases_as_modelled
finished
