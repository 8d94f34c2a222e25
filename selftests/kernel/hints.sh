#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Hints of a program about its data reach the policy: lifetimes since Linux 6.9, write streams since
# 6.16, if the device offers them.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh
. selftests/kernel/trace.sh

kernel=$(uname -r | awk -F'[.-]' '{ print $1 * 100 + $2 }')

# since RELEASE NUMBER: print the number, or 0 on a kernel before that release
since()
{
	[ "$kernel" -ge "$1" ] && echo "$2" || echo 0
}

# hinted life|stream NUMBER: write with this hint
hinted()
{
	forget_events
	dmsetup message aftl-hints 0 reset
	python selftests/kernel/hints.py "$1" /dev/mapper/aftl-hints "$2"
}

# submitted LIFE STREAM: every write request carried these hints
submitted()
{
	events aftl_submit | grep ' op=1 ' >"$scratch/writes"
	[ -s "$scratch/writes" ] && nothing grep -vE " life=$1 stream=$2 shard=0\$" "$scratch/writes"
}

# counted stream|handle NAME: this one counted 16 host units and all others none
counted()
{
	dmsetup message aftl-hints 0 stats | grep -E "^$1_.*_host_units [^0]" >"$scratch/counted"
	[ "$(cat "$scratch/counted")" = "$1_$2_host_units 16" ] && return
	sed 's/^/# /' "$scratch/counted"
	return 1
}

# Where a device offers streams, the kernel maps a lifetime to a stream.
lives()
{
	for life in 0 2 3 4 5; do
		heard=$(since 609 "$life")
		hinted life "$life" && submitted "$heard" "$(since 616 "$life")" || return
		[ "$heard" -eq 0 ] && stream=unhinted || stream=id_$heard
		counted stream "$stream" || return
	done
}

streams()
{
	for id in 1 7; do
		hinted stream "$id" && submitted 0 "$id" && counted stream "id_$id" || return
	done
	! hinted stream 8
}

limit()
{
	cat "/sys/block/$(dmsetup info -c --noheadings -o blkdevname aftl-hints)/queue/$1"
}

offered()
{
	[ "$(limit max_write_streams)" -eq 7 ] && [ "$(limit write_stream_granularity)" -gt 0 ]
}

other_policy()
{
	dmsetup suspend aftl-hints &&
		dmsetup load aftl-hints --table "$(dmsetup table aftl-hints |
			sed 's/policy streams/policy baseline/')" && dmsetup resume aftl-hints
}

none_offered()
{
	[ "$(limit max_write_streams)" -eq 0 ] && ! hinted stream 1 && hinted life 2 &&
		submitted 2 0
}

# There are three handles; longer lifetimes go to the default handle.
handles()
{
	for life in 0 2 3 4; do
		heard=$(since 609 "$life")
		[ "$heard" -le 3 ] && handle=$heard || handle=0
		hinted life "$life" && counted handle "$handle" || return
	done
}

handle_streams()
{
	[ "$(limit max_write_streams)" -eq 3 ] && hinted stream 3 && counted handle 3 && ! hinted stream 4
}

# shellcheck disable=SC2086,SC2154 # words, of lib.sh
create aftl-hints ram $small policy streams || exit 1
record_events aftl_submit
ktap_test_run 'lifetime hints reach the policy' lives
if [ "$kernel" -ge 616 ]; then
	ktap_test_run 'the device offers the streams of its policy' offered
	ktap_test_run 'write streams reach the policy' streams
	other_policy
	ktap_test_run 'a policy without streams offers no write streams' none_offered
fi
dmsetup remove aftl-hints
# shellcheck disable=SC2086
create aftl-hints ram $small policy baseline placement_handles 3 || exit 1
ktap_test_run 'lifetime hints select placement handles' handles
[ "$kernel" -lt 616 ] || ktap_test_run 'write streams have placement handles' handle_streams
finished
