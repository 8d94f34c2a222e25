# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record tracepoints of the module in a trace instance of its own. Source this file after lib.sh.

tracing=/sys/kernel/tracing
[ -d $tracing/instances ] || mount -t tracefs tracefs $tracing || exit 1
tracing=$tracing/instances/aftl
mkdir -p $tracing
trap 'clean_up; forget_recording' EXIT

# record_events NAME...: enable these tracepoints
record_events()
{
	echo 16384 >$tracing/buffer_size_kb
	for event; do
		echo 1 >"$tracing/events/approxftl/$event/enable"
	done
}

forget_events()
{
	: >$tracing/trace
}

# events [NAME]: print the recorded events as text
events()
{
	grep -F " ${1:-aftl_}" $tracing/trace
}

forget_recording()
{
	rmdir $tracing
}
