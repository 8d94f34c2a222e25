#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Quality levels on mounted file systems. After a remount and ageing, data of each level have
# exactly the flipped bits that the device reports, more at higher levels, and precise data have
# none. Levels survive a change of policy, a block trace and its replay. Programs that do not know
# levels see two classes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

build=${AFTL_BUILD:-build}
needs_program "$approxftl" "$build/libapproxftl.so" "$approxftl-replay" "$approxftl-trace"
grep -q debugfs /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug
place=$scratch/mounted
mkdir "$place"
policy='cell_model voltage policy'

levels()
{
	python selftests/kernel/levels.py "$@" "$place/data"
}

again()
{
	umount "$place" && mount /dev/mapper/aftl-levels "$place"
}

written()
{
	levels write && again && levels stored
}

# old_caller write|look FILE [WORDS]: run a program built before levels existed; expect this output
old_caller()
{
	LD_LIBRARY_PATH=$build "$scratch/old-caller" "$1" "$2" >"$scratch/old" &&
		{ [ $# -lt 3 ] || [ "$(cat "$scratch/old")" = "$3" ]; } && return
	sed "s/^/# $1: /" "$scratch/old"
	return 1
}

# The old program sees 4 MiB of the file with levels as approximate, and 2 MiB of its own file.
by_old_caller()
{
	[ -e "$scratch/old-caller" ] ||
		told cc -o "$scratch/old-caller" selftests/kernel/old-caller.c -L"$build" \
			-lapproxftl || return
	levels write && old_caller look "$place/data" '4194304 of 4194304' &&
		old_caller write "$place/old" && old_caller look "$place/old" '2097152 of 2097152' &&
		again && old_caller look "$place/data" '4194304 of 0' &&
		python selftests/kernel/levels.py older "$place/old"
}

aged()
{
	dmsetup message aftl-levels 0 age 2000h && again && levels judge
}

# Stored levels survive a switch to another policy and back.
changed()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	for changed_to in vth_b levels; do
		dmsetup reload aftl-levels --table \
			"$(line ram "$(blockdev --getsz /dev/mapper/aftl-levels)" $small \
				$policy "$changed_to")" &&
			dmsetup resume aftl-levels && levels stored || return
	done
}

# file_system NAME CHECK MAKE...: test levels on one file system
file_system()
{
	[ "$1" = ext4 ] || next_turn "$1" || return
	can_make "$1" || return
	name=$1
	check=$2
	shift 2
	# shellcheck disable=SC2086 # words
	create aftl-levels ram $small $policy levels && told "$@" /dev/mapper/aftl-levels &&
		mount /dev/mapper/aftl-levels "$place" || return
	ktap_test_run "$name: each level is stored" written
	ktap_test_run "$name: a program built before levels sees two classes" by_old_caller
	ktap_test_run "$name: levels survive a change of policy" changed
	ktap_test_run "$name: flipped bits match the report and grow with the level" aged
	ktap_test_run "$name: invalid levels are refused" levels refused
	umount "$place"
	# shellcheck disable=SC2086 # words
	ktap_test_silent "$name: the file system check passes" told $check /dev/mapper/aftl-levels
	dmsetup remove aftl-levels
}

# written_units DEVICE: print the device's count of written units of each level
written_units()
{
	for level in 1 2 3; do
		counter "$1" "host_write_level_${level}_units"
	done
}

# same_units WHO: the counts on standard input equal those of the traced device
same_units()
{
	[ "$(cat)" = "$(written_units aftl-levels)" ] && return
	echo "# $1 has others"
	return 1
}

simulated_units()
{
	"$approxftl" sim --quiet --fill none --json --trace "$scratch/levels.aft" --policy levels |
		sed -n 's/^ *"host_write_level_[123]_units": \([0-9]*\),$/\1/p'
}

recorded()
{
	told "$approxftl" trace record -O "$scratch/recorded" "$place" -- \
		python3 selftests/kernel/levels.py write "$place/data" &&
		told "$approxftl" trace convert --quiet "$scratch/recorded" "$scratch/levels.aft"
}

# Notes in the trace carry the levels to the replay device and to the simulator.
played()
{
	recorded && written_units aftl-levels | grep -q '^512$' &&
		told "$approxftl" replay --quiet --overwrite "$scratch/levels.aft" \
			/dev/mapper/aftl-played &&
		written_units aftl-played | same_units 'the other device' &&
		simulated_units | same_units 'the simulator'
}

traced()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-played ram $small $policy levels && create aftl-levels ram $small $policy levels &&
		told mkfs.ext4 -q -F -m 0 /dev/mapper/aftl-levels &&
		mount /dev/mapper/aftl-levels "$place" && played
	traced=$?
	umount "$place"
	dmsetup remove aftl-played
	dmsetup remove aftl-levels
	return "$traced"
}

file_system ext4 'e2fsck -fn' mkfs.ext4 -q -F -m 0
# The three variables make mkfs.xfs accept less than 300 MB; its own tests set them.
file_system xfs 'xfs_repair -n' env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f
file_system f2fs 'fsck.f2fs --dry-run' mkfs.f2fs -q -f
in_turn 'levels survive trace and replay' traced
finished
