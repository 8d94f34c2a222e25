#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Torture test: torture.py draws loads, stores and events from a seed, and approxftl torture
# verifies each block. A failure prints the command that repeats it. AFTL_TORTURE_SECONDS=N adds
# storms and draws further seeds for so long.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2
needs_program "${AFTL_BUILD:-build}/approxftl" "${AFTL_BUILD:-build}/approxftl-torture"
needs_module dm_delay
needs_module dm_flakey
! kernel_has nvme || sleep 1

# ended STATUS: after a hang (2) the device cannot be removed, so end the whole test
ended()
{
	[ "$1" -ne 2 ] || {
		ktap_test_fail "$ktap_name"
		trap - EXIT
		[ ! -e /run/share/command ] || echo o >/proc/sysrq-trigger
		ktap_finished
	}
	return "$1"
}

# press SEED [KEY=VALUE]...: run one torture test
press()
{
	python3 selftests/kernel/torture.py "$@"
	pressed=$?
	clear_log
	ended "$pressed"
}

# drawn_for SECONDS FIRST: run one seed after another, from FIRST on
drawn_for()
{
	until=$(($(cut -d . -f 1 /proc/uptime) + $1))
	drawn=$2
	while [ "$(cut -d . -f 1 /proc/uptime)" -lt "$until" ]; do
		ktap_test_run "seed $drawn" press "$drawn" "seconds=$((drawn % 20 + 3))"
		drawn=$((drawn + 1))
	done
}

chosen()
{
	in_turn 'reads slower than the flash' press 5996 media=slow 'delays=5 0 0' timing=real \
		shape=wide unit=4KiB buffer=0 events=pause depth=64 policy=baseline \
		tag_all=precise most=256KiB pace=0.4
	in_turn 'messages beside slow requests' press 2813 media=slow 'delays=5 5 20' timing=real \
		shape=wide unit=4KiB events=message,pause depth=128 \
		policy=baseline tag_all=precise most=64KiB pace=0.02
	in_turn 'power failure, units of 512 bytes' press 3 media=linear unit=512 buffer=256KiB \
		shape=small timing=real policy=approxftl tag_all=precise depth=64 most=64KiB \
		events=cut,kill pace=0.1
	in_turn 'power failure, slow medium' press 4 media=slow 'delays=1 5 50' unit=2KiB \
		shape=small timing=off buffer=8MiB policy=baseline depth=32 most=64KiB \
		events=cut,medium,reopen
	in_turn 'power failure, cached mapping table' press 12 media=linear unit=512 buffer=64KiB \
		shape=mapped timing=off depth=64 most=64KiB events=cut,reload,message pace=0.1
	in_turn 'all policies in turn' press 5 media=linear shape=tlc timing=off buffer=64KiB \
		events=policy,reload pace=0.05
	in_turn 'a medium with occasional errors' press 6 media=failing shape=small timing=real \
		events=medium,reopen,kill
	in_turn 'no memory for pages, all data in the write buffer' storm pages 4096
	in_turn 'no memory for pages, units of 512 bytes' storm pages 512
	in_turn 'unreadable sectors' press 7 media=bad shape=small timing=off \
		events=medium,message,pause
	in_turn 'two shards, four and one' press 13 media=ram shape=shared shards=2 timing=real depth=64 \
		most=256KiB events=reload,noflush,message buffer=256KiB pace=0.1
	in_turn 'four shards, killed, other policies next' press 14 media=ram shape=shared shards=4 timing=off \
		unit=4KiB depth=128 most=1MiB events=policy,kill,pause,message pace=0.1
	in_turn 'power failure, two shards' press 15 media=linear shape=shared shards=2 unit=4KiB \
		timing=real buffer=256KiB depth=64 most=256KiB events=cut,reload,message pace=0.1
	in_turn 'power failure, persistent write buffer' press 8 media=linear unit=4KiB \
		shape=safe timing=off buffer=256KiB depth=64 most=64KiB \
		events=cut,reload,message pace=0.1
}

# Storms

# in_cgroup COMMAND...: run it with 64 MiB of memory
in_cgroup()
{
	mkdir "$scratch/cgroup" && mount -t cgroup2 cgroup2 "$scratch/cgroup" &&
		echo +memory >"$scratch/cgroup/cgroup.subtree_control" &&
		mkdir "$scratch/cgroup/aftl" &&
		echo 64M >"$scratch/cgroup/aftl/memory.max" || return
	# shellcheck disable=SC2016 # the inner shell's words
	sh -c 'echo $$ >"$0" && exec "$@"' "$scratch/cgroup/aftl/cgroup.procs" "$@"
	narrow=$?
	rmdir "$scratch/cgroup/aftl" && umount "$scratch/cgroup" || return
	ended "$narrow"
}

# storm KIND: run a storm, see storm.py
storm()
{
	python3 selftests/kernel/storm.py "$@"
	stormed=$?
	clear_log
	ended "$stormed"
}

# Run storms, then random seeds.
long()
{
	ktap_test_run 'a load with 64 MiB' in_cgroup python3 selftests/kernel/torture.py 11 \
		media=slow shape=wide depth=128 most=256KiB events=pause
	ktap_test_run 'overwrites and flushes, a block and a die fail' storm threads
	ktap_test_run 'swap on the device' storm swap
	ktap_test_run 'on another approxftl device' press 8 media=ours shape=small \
		events=noflush,reload,cut
	ktap_test_run 'approximate' press 10 media=linear shape=small tag_all=approximate \
		events=message,reload,reopen policy=approxftl
	drawn_for "$AFTL_TORTURE_SECONDS" "${AFTL_TORTURE_SEED:-$(date +%s)}"
}

if [ -n "${AFTL_TORTURE_SECONDS:-}" ]; then
	long
else
	chosen
fi
finished
