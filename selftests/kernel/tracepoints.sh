#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The tracepoints report each event exactly once: their sums equal the counters.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2
. selftests/kernel/trace.sh

record_events aftl_submit aftl_complete aftl_array
create aftl-trace ram $shape suspend both tag_all approximate buffer 256KiB timing scale:10 ||
	exit 1
# The emulated flash is so slow that reads collide with programs; only written data are read.
fio --filename=/dev/mapper/aftl-trace --ioengine=libaio --direct=1 --randrepeat=1 --eta=never \
	--size=8m --output="$scratch/fio" --name=fill --rw=write --bs=64k --iodepth=4 \
	--name=mix --stonewall --rw=randrw --bsrange=4k-64k --iodepth=16 --fsync=32
blkdiscard --length 1048576 /dev/mapper/aftl-trace
blkdiscard --zeroout --offset 1048576 --length 1048576 /dev/mapper/aftl-trace

collect aftl-trace

# Wait until the device is idle, because flash operations are counted when they end.
until [ "${free:-}" = "$(status_word aftl-trace 4)" ] && [ "$(status_word aftl-trace 5)" -eq 0 ]; do
	free=$(status_word aftl-trace 4)
	sleep 1
done
dmsetup message aftl-trace 0 stats >"$scratch/stats"
events >"$scratch/events"
echo "# $(wc -l <"$scratch/events") events"

# sum FIELD EVENT [KEY=VALUE]...: add up FIELD of matching events; FIELD "count" counts events
sum()
{
	awk -v field="$1" -v event=" $2: " -v wanted="$*" '
	BEGIN { keys = split(wanted, key, " ") }
	!index($0, event) { next }
	{
		for (i = 3; i <= keys; i++)
			if (!index($0 " ", " " key[i] " "))
				next
		if (field == "count")
			total++
		for (i = 1; i <= NF; i++)
			if (index($i, field "=") == 1)
				total += substr($i, length(field) + 2)
	}
	END { printf "%.0f\n", total }' "$scratch/events"
}

# adds_up COUNTER FIELD EVENT [KEY=VALUE]...: the sum of FIELD over these events equals COUNTER
adds_up()
{
	counted=$(sed -n "s/^$1 //p" "$scratch/stats")
	shift
	told=$(sum "$@")
	[ "$counted" -gt 0 ] && [ "$told" -eq "$counted" ] && return
	echo "# $told told, $counted counted"
	return 1
}

# Check that the sequence numbers of traced requests start at 0 and have no gap.
no_gap()
{
	sed -n 's/.* aftl_submit:.* seq=\([0-9]*\) .*/\1/p' "$scratch/events" | sort -n >"$scratch/seq"
	[ -s "$scratch/seq" ] && awk '$1 != NR - 1 { exit 1 }' "$scratch/seq"
}

names_the_device()
{
	dev=$(dmsetup info -c --noheadings --separator , -o major,minor aftl-trace)
	nothing grep -vE "aftl_[a-z]+: dev=$dev " "$scratch/events"
}

ktap_test_run 'traced reads equal the counter' adds_up host_read_requests count aftl_submit op=0
ktap_test_run 'traced units read equal the counter' adds_up host_read_units units aftl_complete op=0
ktap_test_run 'traced writes equal the counter' adds_up host_write_requests count aftl_submit op=1
ktap_test_run 'traced units written equal the counter' \
	adds_up host_write_units units aftl_complete op=1
ktap_test_run 'traced approximate units equal the counter' \
	adds_up host_write_approx_units units aftl_submit op=1 class=1
ktap_test_run 'traced flushes equal the counter' \
	adds_up host_flush_requests count aftl_complete op=2
ktap_test_run 'traced discards and zeroes equal the counter' [ \
	"$(counter aftl-trace host_discard_requests)" -eq \
	"$(($(sum count aftl_submit op=3) + $(sum count aftl_complete op=4)))" ]
ktap_test_run 'each request has its events' no_gap
ktap_test_run 'late completions match the counter' adds_up late_sum_ns late_ns aftl_complete
ktap_test_run 'traced page reads equal the counter' adds_up array_reads count aftl_array op=0
ktap_test_run 'the traced time of reads equals the counter' \
	adds_up array_read_ns array_ns aftl_array op=0
ktap_test_run 'traced programs equal the counter' adds_up array_programs count aftl_array op=1
ktap_test_run 'the traced time of programs equals the counter' \
	adds_up array_program_ns array_ns aftl_array op=1
ktap_test_run 'traced pages programmed for the host equal the counter' \
	adds_up host_program_pages pages aftl_array op=1 cause=0
ktap_test_run 'traced erases equal the counter' adds_up array_erases count aftl_array op=2
ktap_test_run 'the traced time of erases equals the counter' \
	adds_up array_erase_ns array_ns aftl_array op=2
ktap_test_run 'traced suspended operations equal the counter' \
	adds_up array_suspends count aftl_array op=3
ktap_test_run 'each suspended operation is resumed' adds_up array_suspends count aftl_array op=4
ktap_test_run 'every event names the device' names_the_device
finished
