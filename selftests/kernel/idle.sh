#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test in the lab that a device without requests uses no CPU time, because its clock stops.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

interval_s=60
# An idle minute takes 7 to 10 ms of CPU time, sometimes more: compare the least of three minutes.
minutes=3
# Tolerance for the least CPU times, which differ by up to 2 ms between idle minutes.
# A thread that only wakes up takes 6 us, so twelve wakeups per second are detected.
tolerance_ns=4000000
tracing=/sys/kernel/tracing

# Count high-resolution timers that fired in soft interrupt context, as a device's timers do.
fired()
{
	awk '$1 == "HRTIMER:" { print $2 }' /proc/softirqs
}

# Print the nanoseconds in which the processor ran tasks, kernel threads included.
ran_ns()
{
	awk '$1 == "cpu0" { print $8 }' /proc/schedstat
}

# Set $timers and $busy_ns to the timers fired and the CPU time used in an idle minute.
watch_a_minute()
{
	timers=$(fired)
	busy_ns=$(ran_ns)
	sleep "$interval_s"
	timers=$(($(fired) - timers))
	busy_ns=$(($(ran_ns) - busy_ns))
}

# Set $least_timers and $least_ns to the fewest timers and the least CPU time of an idle minute.
watch()
{
	watch_a_minute
	least_timers=$timers
	least_ns=$busy_ns
	for _ in $(seq 2 "$minutes"); do
		watch_a_minute
		[ "$timers" -ge "$least_timers" ] || least_timers=$timers
		[ "$busy_ns" -ge "$least_ns" ] || least_ns=$busy_ns
	done
}

# Trace each call of a function of the module from now on.
watch_the_module()
{
	mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" || return
	echo ':mod:dm_approxftl' >"$tracing/set_ftrace_filter" &&
		echo function >"$tracing/current_tracer" && echo >"$tracing/trace"
}

# Print the number of traced calls of the module's functions.
calls()
{
	grep -vc '^#' "$tracing/trace"
}

write()
{
	dd if=/dev/zero of=/dev/mapper/aftl-idle bs=4k count=64 oflag=direct 2>"$scratch/said"
}

no_more_than_without()
{
	watch
	echo "# without a device $usual_timers timers, $usual_ns ns;" \
		"with it $least_timers timers, $least_ns ns"
	[ "$least_timers" -le "$usual_timers" ] && [ "$least_ns" -le $((usual_ns + tolerance_ns)) ]
}

nothing_runs()
{
	watch_the_module && sleep "$interval_s" && [ "$(calls)" -eq 0 ]
}

calls_are_seen()
{
	write && [ "$(calls)" -gt 64 ]
	seen=$?
	echo nop >"$tracing/current_tracer"
	echo >"$tracing/set_ftrace_filter"
	return "$seen"
}

timers_are_seen()
{
	timers=$(fired)
	write
	[ "$(($(fired) - timers))" -ge 64 ]
}

sleep 5
watch
usual_timers=$least_timers
usual_ns=$least_ns
create aftl-idle ram $shape buffer 1MiB idle 1ms || exit 1
write && sleep 2
ktap_test_run 'an idle device runs no function of the module' nothing_runs
ktap_test_run 'this test detects functions of a busy device' calls_are_seen
sleep 2
ktap_test_run 'an idle device uses no timer and no processor time' no_more_than_without
dmsetup remove aftl-idle
create aftl-idle ram $shape || exit 1
ktap_test_run 'this test detects timers of a busy device' timers_are_seen
finished
