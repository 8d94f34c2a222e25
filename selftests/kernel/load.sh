#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module can be loaded and unloaded repeatedly, but not unloaded while in use.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

load_and_unload()
{
	for round in $(seq "$(share 10)"); do
		rmmod dm_approxftl || { echo "# round $round"; return 1; }
		insmod "$MODULE" || { echo "# round $round"; return 1; }
		dmsetup create aftl-one --table '0 20480 approxftl ram 0' || return 1
		dmsetup remove aftl-one || return 1
	done
}

# List possible remains of an unloaded module: slab caches, timers, threads, references to dm_mod.
# An idle worker "kworker/u8:1-aftl_queue" belongs to the kernel and bears its last queue's name.
traces()
{
	cut -d ' ' -f 1 /proc/slabinfo | sort
	grep -c approxftl /proc/timer_list
	cat /proc/[0-9]*/comm 2>"$scratch/said" | grep aftl | grep -v '^kworker/u*[0-9]*:[0-9]*-'
	awk '$1 == "dm_mod" { print $3 }' /proc/modules
	find /sys/module /sys/kernel/debug /dev -maxdepth 2 -name '*approxftl*' 2>"$scratch/said"
}

# Removing busy devices and unloading the module leaves no cache, timer, thread or reference.
leaves_nothing_behind()
{
	ram_disks 1 262144 && rmmod dm_approxftl && traces >"$scratch/before" && insmod "$MODULE" ||
		return
	create aftl-one ram $shape buffer 4MiB timing scale:1000 && create aftl-two ram $small &&
		wipe /dev/ram0 && create aftl-three /dev/ram0 $small || return
	for device in one two three; do
		dd if=/dev/zero of="/dev/mapper/aftl-$device" bs=64k count=16 oflag=direct \
			2>"$scratch/said"
	done
	grep -q approxftl /proc/timer_list || { echo '# no timer was armed'; return 1; }
	dmsetup remove aftl-one aftl-two aftl-three && rmmod dm_approxftl &&
		traces >"$scratch/after" && insmod "$MODULE" &&
		diff "$scratch/before" "$scratch/after"
}

stays_while_in_use()
{
	create aftl-one ram $small && ! rmmod dm_approxftl 2>"$scratch/said"
}

if [ -z "${MODULE:-}" ]; then
	ktap_test_skip 'the module can be loaded and unloaded again and again' \
		'MODULE does not say where the module is'
else
	ktap_test_run 'the module can be loaded and unloaded again and again' load_and_unload
	ktap_test_run 'the unloaded module leaves nothing behind' leaves_nothing_behind
	ktap_test_run 'the module cannot be unloaded while in use' stays_while_in_use
fi
finished
