#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nearly valid table lines, messages and ioctls must do no harm. AFTL_FUZZ_SECONDS=N sets how long
# each kind runs.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
needs_program "$approxftl"
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
place=$scratch/mounted
mkdir "$place"
chmod 755 "$scratch" && let_everybody_tag

fuzz()
{
	python3 selftests/kernel/fuzz.py "$@"
}

# control NUMBER [DEVICE]: send ioctls for files on ext4, and for a second device if given
control()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-place ram $small errors off && create aftl-raw ram $small &&
		mkfs.ext4 -q -F -m 0 /dev/mapper/aftl-place && mount /dev/mapper/aftl-place "$place" ||
		return
	fuzz control "$1" "$place" ${2:+"$2"}
	fuzzed=$?
	umount "$place" && dmsetup remove aftl-place && dmsetup remove aftl-raw && return "$fuzzed"
}

ktap_test_run 'table lines' fuzz lines "$(share 150)"
ktap_test_run 'messages' fuzz messages "$(share 200)"
ktap_test_run 'ioctls' control "$(share 900)"
ktap_test_run 'ioctls by root' control "$(share 900)" /dev/mapper/aftl-raw
finished
