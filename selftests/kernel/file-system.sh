#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every file of a nearly full file system survives GC and changes of policy below it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

place=$scratch/mounted
mkdir "$place"
# Compare files with a copy of the source tree, because somebody may edit the tree meanwhile.
tree=$scratch/tree
mkdir "$tree" && cp -r dm-approxftl docs "$tree"

# Rewrite most of the free space at least three times, and until garbage has been collected.
churn()
{
	free_kib=$(df -k --output=avail "$place" | tail -n 1)
	for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
		dd if=/dev/zero of="$place/churn" bs=64k count=$((free_kib * 3 / 4 / 64)) \
			2>"$scratch/said" && sync "$place/churn" || return 1
		[ "$round" -lt 3 ] || [ "$(counter aftl-fs gc_blocks)" -eq 0 ] || break
	done
}

mounts()
{
	mount $mount_options /dev/mapper/aftl-fs "$place" || { grep_log . | tail -n 3; return 1; }
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

# switch_to [KEY VALUE]...: reload the table below the mounted file system
switch_to()
{
	line ram "$(blockdev --getsz /dev/mapper/aftl-fs)" "$@" | dmsetup reload aftl-fs &&
		dmsetup resume aftl-fs
}

# Switch from approxftl to baseline with more blocks, to cubeftl, and back under writes.
changes_policy()
{
	rm "$place/churn"
	(
		while [ ! -e "$scratch/enough" ]; do
			cp -r "$tree/dm-approxftl" "$place/again" && sync -f "$place" &&
				diff -r "$tree/dm-approxftl" "$place/again" && rm -r "$place/again" ||
				exit 1
		done
		touch "$scratch/written"
	) &
	switch_to timing off blocks 80 word_lines 8 op 44 policy baseline &&
		switch_to $small policy cubeftl && switch_to $small policy approxftl
	switched=$?
	touch "$scratch/enough"
	wait
	[ "$switched" -eq 0 ] && [ -e "$scratch/written" ]
	switched=$?
	rm -f "$scratch/enough" "$scratch/written"
	return "$switched"
}

is_as_it_was()
{
	mounts && diff -r "$tree" "$place/tree"
}

trims()
{
	before=$(status_word aftl-fs 17)
	rm -rf "$place/churn" "$place/tree" && sync && fstrim "$place" &&
		[ "$(status_word aftl-fs 17)" -lt "$before" ]
}

# file_system NAME CHECK MAKE...: test file system NAME, made by MAKE and checked by CHECK
file_system()
{
	[ "$1" = ext4 ] || next_turn "$1" || return
	can_make "$1" || return
	name=$1
	check=$2
	shift 2
	create aftl-fs ram $small || return
	ktap_test_silent "$name: make, fill, compare" make_and_fill "$@"
	ktap_test_run "$name: garbage was collected" collected
	ktap_test_silent "$name: policy changes under writes" at_once changes_policy
	ktap_test_silent "$name: unmount and check" unmounts_clean $check /dev/mapper/aftl-fs
	ktap_test_silent "$name: every file is unchanged" is_as_it_was
	ktap_test_run "$name: fstrim frees memory" trims
	ktap_test_silent "$name: unmount and check again" unmounts_clean $check /dev/mapper/aftl-fs
	dmsetup remove aftl-fs
}

turns=1 # so that each kernel tests here the file systems that it does not test in tags.py
mount_options=
file_system ext4 'e2fsck -fn' mkfs.ext4 -q -F -m 0
# mkfs.xfs accepts less than 300 MB if three environment variables of xfstests are set.
file_system xfs 'xfs_repair -n' env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f
# Mount f2fs with nodiscard: with option discard f2fs delays the discards that fstrim requests.
mount_options='-o nodiscard'
file_system f2fs 'fsck.f2fs --dry-run' mkfs.f2fs -q -f
mount_options=
file_system btrfs 'btrfs check' mkfs.btrfs -q -f --mixed
finished
