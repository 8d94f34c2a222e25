#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A network on a mounted file system, written and read back after remounts: the bits that have
# flipped are those that the device reports, in low planes only, and as many digits are told right as
# their rate predicts; on worn flash, at several ages, with few and with many planes approximate.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

place=$scratch/mounted
mkdir "$place"
needs_program "${AFTL_BUILD:-build}/approxftl-app"

judge()
{
	python selftests/kernel/weights.py "$@"
}

# weights REPORT [OPTION]...
weights()
{
	report=$1
	shift
	"$approxftl" app weights "$place" --require --json="$scratch/$report" "$@" \
		>"$scratch/said" 2>&1 && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# on_ext4 [KEY VALUE]...: a device with a file system, mounted
on_ext4()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-weights ram $shape "$@" &&
		mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 \
			/dev/mapper/aftl-weights >"$scratch/said" 2>&1 &&
		mount /dev/mapper/aftl-weights "$place"
}

gone()
{
	umount "$place" && e2fsck -fn /dev/mapper/aftl-weights >"$scratch/said" 2>&1 &&
		dmsetup remove aftl-weights
}

constant_rate()
{
	on_ext4 timing off && weights written.json --phase write --type int8 --planes 8 --hidden 64 &&
		umount "$place" && mount /dev/mapper/aftl-weights "$place" &&
		weights read.json --phase read --draws 20 && judge rate "$scratch/read.json" 7.2e-4 && gone
}

bought()
{
	on_ext4 timing off policy approxftl &&
		weights written.json --phase write --hidden 64 &&
		judge bought "$scratch/written.json" && gone
}

by_level()
{
	on_ext4 timing off policy levels cell_model voltage refresh 0 &&
		weights written.json --phase write --planes 8 --level 2:6 --level 3:3 --hidden 64 &&
		umount "$place" && dmsetup message aftl-weights 0 age 2000h &&
		mount /dev/mapper/aftl-weights "$place" &&
		weights read.json --phase read --draws 20 && judge levels "$scratch/read.json" && gone
}

# alone NAME COMMAND...: which makes and removes its device, or should have
alone()
{
	ktap_test_run "$@"
	if [ -e /dev/mapper/aftl-weights ]; then
		umount "$place" 2>"$scratch/said"
		dmsetup remove aftl-weights
	fi
}

# older CYCLES HOURS: read again, remounted after so much time on a shelf
older()
{
	umount "$place" && dmsetup message aftl-weights 0 age "$2h" &&
		mount /dev/mapper/aftl-weights "$place" &&
		weights "$1-$2.json" --phase read --draws 20
}

# worn CYCLES TYPE PLANES CHECK MAKE...: on flash of so many cycles, a month old and a year. Old data
# would be written again, and precisely, when there is power.
worn()
{
	cycles=$1
	kind=$2
	planes=$3
	check=$4
	shift 4
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-weights ram $small policy approxftl cell_model voltage refresh 0 cycles "$cycles" &&
		"$@" /dev/mapper/aftl-weights >"$scratch/said" 2>&1 &&
		mount /dev/mapper/aftl-weights "$place" &&
		weights written.json --phase write --type "$kind" --planes "$planes" --hidden 32 &&
		older "$cycles" 720 && older "$cycles" 8040 &&
		judge older "$scratch/$cycles-720.json" "$scratch/$cycles-8040.json" &&
		umount "$place" && $check /dev/mapper/aftl-weights >"$scratch/said" 2>&1 &&
		dmsetup remove aftl-weights
}

shelf()
{
	worn 500 "$@" && worn 3000 "$@" &&
		judge more "$scratch/500-720.json" "$scratch/3000-720.json" &&
		judge more "$scratch/500-8040.json" "$scratch/3000-8040.json"
}

# on_shelf NAME TYPE PLANES CHECK MAKE...: in its turn
on_shelf()
{
	next_turn "$1" || return
	can_make "$1" || return
	name=$1
	shift
	alone "$name: $2 planes of $1, on flash worn less and more, a month and a year old" shelf "$@"
}

alone 'as many bits of weights flip as the rate says, and the device' constant_rate
alone 'writing them costs less than writing them precisely' bought
alone 'planes of each quality level lose what the device says, and their rates predict' by_level
on_shelf ext4 bfloat16 8 'e2fsck -fn' mkfs.ext4 -q -F -m 0
# The three variables lift the lower limit of 300 MB, for tests such as this.
on_shelf xfs int8 4 'xfs_repair -n' env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f
on_shelf f2fs bfloat16 7 'fsck.f2fs --dry-run' mkfs.f2fs -q -f
finished
