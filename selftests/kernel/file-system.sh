#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A file system on a nearly full device, with garbage collection and a change of policy.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

tree=dm-approxftl
place=$scratch/mounted
mkdir "$place"

# Rewrites most of the free space a few times.
churn()
{
	# shellcheck disable=SC2034 # a counter
	for round in 1 2; do
		dd if=/dev/zero bs=64k count=900 2>"$scratch/said" | tr '\0' "$round" >"$place/churn"
		sync "$place/churn" || return 1
	done
}

mounts()
{
	mount "/dev/mapper/aftl-fs" "$place" || { grep_log . | tail -n 3; return 1; }
}

make_and_fill()
{
	"$@" "/dev/mapper/aftl-fs" >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
	mounts && cp -r "$tree" "$place/tree" && churn && diff -r "$tree" "$place/tree"
}

collected()
{
	[ "$(counter aftl-fs gc_blocks)" -gt 0 ] && return
	dmsetup status aftl-fs | sed 's/^/# /'
	return 1
}

unmounts_clean()
{
	umount "$place" || return
	"$@" >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
}

survives_reload()
{
	sectors=$(blockdev --getsz /dev/mapper/aftl-fs)
	# shellcheck disable=SC2086 # words
	line ram "$sectors" $small policy baseline | dmsetup reload aftl-fs &&
		dmsetup resume aftl-fs && mounts && diff -r "$tree" "$place/tree"
}

trims()
{
	before=$(status_word aftl-fs 17)
	rm "$place/churn" && sync && fstrim "$place" && [ "$(status_word aftl-fs 17)" -lt "$before" ]
}

# file_system NAME CHECK MAKE...
file_system()
{
	if ! modprobe "$1" 2>"$scratch/said"; then
		ktap_test_skip "$1" 'the kernel does not have it'
		return
	fi
	name=$1
	check=$2
	shift 2
	# shellcheck disable=SC2086 # words
	create aftl-fs ram $small || return
	ktap_test_silent "$name: make, fill, compare" make_and_fill "$@"
	ktap_test_run "$name: garbage was collected" collected
	# shellcheck disable=SC2086 # words
	ktap_test_silent "$name: unmount and check" unmounts_clean $check /dev/mapper/aftl-fs
	ktap_test_silent "$name: another policy, the same data" survives_reload
	ktap_test_run "$name: fstrim frees memory" trims
	# shellcheck disable=SC2086 # words
	ktap_test_silent "$name: unmount and check again" unmounts_clean $check /dev/mapper/aftl-fs
	dmsetup remove aftl-fs
}

file_system ext4 'e2fsck -fn' mkfs.ext4 -q -F -m 0
finished
