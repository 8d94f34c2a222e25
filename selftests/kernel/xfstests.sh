#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run fsx and fsstress of xfstests while the policy changes below. They are taken from PATH, from an
# installed xfstests, or from the directory AFTL_XFSTESTS; Debian has no package of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2

PATH=${AFTL_XFSTESTS:+$AFTL_XFSTESTS:}$PATH:/var/lib/xfstests/ltp:/usr/lib/xfstests/ltp
place=$scratch/mounted
mkdir "$place"

if ! command -v fsx >"$scratch/said" || ! command -v fsstress >"$scratch/said"; then
	ktap_test_skip 'fsx and fsstress' \
		'not installed; AFTL_XFSTESTS=DIRECTORY names where a build of xfstests has them'
	ktap_finished
fi

# policies_change: switch the policy below the mounted file system until "$scratch/enough" exists
policies_change()
{
	while [ ! -e "$scratch/enough" ]; do
		for policy in baseline cubeftl approxftl; do
			# shellcheck disable=SC2154,SC2086 # words, of lib.sh
			line ram "$(blockdev --getsz /dev/mapper/aftl-stress)" $small \
				policy "$policy" | dmsetup reload aftl-stress &&
				dmsetup resume aftl-stress || return 1
			sleep 1
		done
	done
}

stressed()
{
	rm -f "$scratch/enough"
	policies_change &
	changes=$!
	fsstress -d "$place/stress" -p 4 -n "${AFTL_STRESS:-250}" -s 7 >"$scratch/said" 2>&1 &&
		fsx -q -N "${AFTL_FSX:-1500}" -S 7 -l 4194304 "$place/x" >>"$scratch/said" 2>&1
	result=$?
	touch "$scratch/enough"
	wait "$changes" || { echo 'a table could not be changed'; result=1; }
	[ "$result" -eq 0 ] || tail -n 20 "$scratch/said"
	return "$result"
}

unmounts_clean()
{
	umount "$place" || return
	"$@" >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
}

# on NAME CHECK MAKE...: test one file system
on()
{
	name=$1
	check=$2
	shift 2
	# shellcheck disable=SC2086 # words
	create aftl-stress ram $small || return
	"$@" /dev/mapper/aftl-stress && mount -t "$name" /dev/mapper/aftl-stress "$place" &&
		mkdir "$place/stress" || return
	ktap_test_silent "$name: fsstress, then fsx, while policies change" stressed
	# shellcheck disable=SC2086 # words
	ktap_test_silent "$name: unmount and check" unmounts_clean $check /dev/mapper/aftl-stress
	dmsetup remove aftl-stress
}

on ext4 'e2fsck -fn' mkfs.ext4 -q -F
on xfs 'xfs_repair -n' env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f
finished
