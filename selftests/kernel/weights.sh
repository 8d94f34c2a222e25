#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A network on a mounted ext4, written and read back after a remount: the bits that have flipped are
# those that the device reports, in low planes only, and as many digits are told right as their rate
# predicts.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

place=$scratch/mounted
mkdir "$place"
needs_program "${AFTL_BUILD:-build}/approxftl-app"

judge()
{
	python3 selftests/kernel/weights.py "$@"
}

# weights REPORT [OPTION]...
weights()
{
	report=$1
	shift
	"$approxftl" app weights "$place" --require --json "$scratch/$report" "$@" \
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
	on_ext4 timing off && weights written.json --phase write --type int8 --planes 8 --hidden 128 &&
		umount "$place" && mount /dev/mapper/aftl-weights "$place" &&
		weights read.json --phase read --draws 20 && judge rate "$scratch/read.json" 7.2e-4 && gone
}

bought()
{
	on_ext4 timing off policy approxftl &&
		weights written.json --phase write --hidden 128 &&
		judge bought "$scratch/written.json" && gone
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

alone 'as many bits of weights flip as the rate says, and the device' constant_rate
alone 'writing them costs less than writing them precisely' bought
finished
