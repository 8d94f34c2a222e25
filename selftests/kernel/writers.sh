#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure requests per second with `timing off`, of one writer and of one writer per processor.
# The writers share one FTL, have a shard each, or a device each (for `make bench-kernel`).
# The kinds of devices alternate, so that a slowdown of the machine affects all kinds.
# Results are lines "# writers DEVICE WRITERS REQUESTS-PER-SECOND WAITS WAITED".
# WAITS counts lock waits; WAITED is their share of the writers' time, in millionths.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

rounds=${ROUNDS:-5}
processors=${PROCESSORS:-2}
runtime_ms=${RUNTIME_MS:-3000}
run_kib=64

# device KIND NUMBER: print the device of writer NUMBER; with KIND "apart" each has its own
device()
{
	[ "$1" = apart ] && echo "aftl-apart-$2" || echo "aftl-$1"
}

# fio_words KIND WRITERS: print fio jobs of WRITERS writers, each bound to a processor and a shard
fio_words()
{
	for writer in $(seq 0 $(($2 - 1))); do
		echo "--name=writer$writer --filename=/dev/mapper/$(device "$1" "$writer")" \
			"--cpus_allowed=$writer --offset=$((writer * run_kib))k"
	done
}

# sum KIND COUNTER: add up a counter over all devices of this kind
sum()
{
	for number in $(seq 0 $((processors - 1))); do
		counter "$(device "$1" "$number")" "$2"
		[ "$1" = apart ] || break
	done | awk '{ sum += $1 } END { printf "%.0f", sum }'
}

# as_new KIND: discard all data of the devices of this kind, so that no GC runs
as_new()
{
	for number in $(seq 0 $((processors - 1))); do
		blkdiscard "/dev/mapper/$(device "$1" "$number")" &&
			dmsetup message "$(device "$1" "$number")" 0 reset || return
		[ "$1" = apart ] || break
	done
}

# writers KIND NUMBER: measure NUMBER writers on devices of this kind
writers()
{
	as_new "$1" || return
	iops=$(fio --direct=1 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=32 --norandommap \
		--size=$((processors * 16))m --zonemode=strided --zonesize=${run_kib}k \
		--zonerange=${run_kib}k --zoneskip=$(((processors - 1) * run_kib))k \
		--time_based --runtime="${runtime_ms}ms" --thread --group_reporting --minimal \
		--gtod_reduce=1 $(fio_words "$1" "$2") | cut -d ';' -f 49)
	echo "# writers $1 $2 $iops $(sum "$1" lock_waits)" \
		"$(($(sum "$1" lock_wait_ns) / (runtime_ms * $2)))"
	[ "${iops%.*}" -gt 0 ] && [ "$(sum "$1" programmed_gc_units)" -eq 0 ]
}

every_round()
{
	for round in $(seq "$rounds"); do
		for kind in one shards apart; do
			if ! writers "$kind" 1 || ! writers "$kind" "$processors"; then
				echo "# round $round"
				return 1
			fi
		done
	done
}

set_up()
{
	set -- timing off policy baseline page 4KiB channels "$processors" \
		blocks $((32768 / processors))
	create aftl-one ram "$@" && create aftl-shards ram "$@" shards "$processors" || return
	for number in $(seq 0 $((processors - 1))); do
		create "aftl-apart-$number" ram "$@" || return
	done
}

ktap_test_run 'create the devices' set_up
ktap_test_run 'throughput with one writer and with several, without GC' every_round
finished
