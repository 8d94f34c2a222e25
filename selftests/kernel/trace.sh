# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Recording tracepoints of the module, in a buffer of our own. To be sourced after lib.sh.

tracing=/sys/kernel/tracing
[ -d $tracing/instances ] || mount -t tracefs tracefs $tracing || exit 1
tracing=$tracing/instances/aftl
mkdir -p $tracing
trap 'clean_up; forget_recording' EXIT

# record_events NAME...
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

# events [NAME]: as lines of text
events()
{
	grep -F " ${1:-aftl_}" $tracing/trace
}

forget_recording()
{
	rmdir $tracing
}
