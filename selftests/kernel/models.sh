#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Machine-learning models on mounted file systems. After a remount, their tagged parts have exactly
# the flipped bits that the device reports; headers and excluded bits are intact.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

place=$scratch/mounted
mkdir "$place"
model=$scratch/model

judge()
{
	python selftests/kernel/models.py "$@"
}

# answer NAME VERB...: save the JSON output of a verb in $scratch/NAME
answer()
{
	answer_name=$1
	shift
	"$approxftl" "$@" --json >"$scratch/$answer_name" 2>"$scratch/said" ||
		{ sed 's/^/# /' "$scratch/said"; return 1; }
}

again()
{
	umount "$place" && mount /dev/mapper/aftl-models "$place"
}

by_plane()
{
	answer made tag model "$model" --to-planes "$place/planes" && again &&
		answer stored tag query "$place/planes" &&
		answer found tag model "$place/planes" --from-planes "$scratch/back" &&
		judge planes "$scratch/made" "$scratch/stored" "$scratch/found" "$model" \
			"$scratch/back"
}

as_it_is()
{
	cp "$model" "$place/model" && sync "$place/model" &&
		answer made tag model "$place/model" --rewrite && again &&
		answer stored tag query "$place/model" &&
		judge plain "$scratch/made" "$scratch/stored" "$model" "$place/model"
}

leveled()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-models ram $small cell_model voltage policy levels refresh 0 &&
		told mkfs.ext4 -q -F -m 0 /dev/mapper/aftl-models &&
		mount /dev/mapper/aftl-models "$place" && cp "$model" "$place/model" &&
		sync "$place/model" &&
		answer made tag model "$place/model" --type bf16,i8 --level 3 --level '1:*codes' \
			--rewrite &&
		dmsetup message aftl-models 0 age 2000h && again &&
		answer stored tag query "$place/model" &&
		judge levels "$scratch/made" "$scratch/stored" "$model" "$place/model"
	leveled=$?
	umount "$place"
	told e2fsck -fn /dev/mapper/aftl-models || leveled=1
	dmsetup remove aftl-models
	return "$leveled"
}

# file_system NAME CHECK MAKE...: test models on one file system
file_system()
{
	[ "$1" = ext4 ] || next_turn "$1" || return
	can_make "$1" || return
	name=$1
	check=$2
	shift 2
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-models ram $small && told "$@" /dev/mapper/aftl-models &&
		mount /dev/mapper/aftl-models "$place" || return
	ktap_test_run "$name: a model by bit plane has the reported errors in its low bits" by_plane
	ktap_test_run "$name: a model in its own format is rewritten" as_it_is
	umount "$place"
	# shellcheck disable=SC2086 # words
	ktap_test_silent "$name: the file system check passes" told $check /dev/mapper/aftl-models
	dmsetup remove aftl-models
}

ktap_test_run 'make a model' judge make "$model"
ktap_test_run 'make a model with a quality level for each tensor' leveled
file_system ext4 'e2fsck -fn' mkfs.ext4 -q -F -m 0
# The three variables make mkfs.xfs accept less than 300 MB; its own tests set them.
file_system xfs 'xfs_repair -n' env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f
file_system f2fs 'fsck.f2fs --dry-run' mkfs.f2fs -q -f
finished
