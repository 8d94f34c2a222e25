#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Carriers of tags: the write hint of a file, the I/O priority and the write stream of a request say
# that its data are approximate, where the table line names them; nothing else becomes approximate.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

kernel=$(uname -r | awk -F'[.-]' '{ print $1 * 100 + $2 }')
place=$scratch/mounted
mkdir "$place"
chmod 755 "$scratch" && let_everybody_tag

# Linux passes hints to bios since 6.9, and streams since 6.16.
[ "$kernel" -ge 609 ] && hints=1 || hints=0
# mkfs.xfs makes file systems this small only for tests.
xfs='env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f'
all=inode,write_hint,ioprio,write_stream

driver()
{
	python selftests/kernel/carriers.py "$@"
}

# mounted CARRIERS MAKE...: a device with these carriers, and words that follow them, and a new file
# system on it
mounted()
{
	carriers=$1
	shift
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-carried ram $small errors off tag_carrier $carriers &&
		"$@" /dev/mapper/aftl-carried >"$scratch/said" 2>&1 &&
		mount /dev/mapper/aftl-carried "$place"
}

dismantle()
{
	umount "$place" && dmsetup remove aftl-carried
}

# expected FILE_SYSTEM CARRIER WAY: percentage of a file that is approximate on this kernel
expected()
{
	case $hints,$* in
	?,*' ioprio direct' | ?,*' ioprio io_uring-workers') echo 100 ;;
	1,xfs' write_hint '*) echo 100 ;;
	1,ext4' write_hint direct' | 1,ext4' write_hint io_uring-workers') echo 100 ;;
	1,ext4' write_hint '*) [ "$kernel" -lt 700 ] && echo 0 || echo 100 ;;
	*) echo 0 ;;
	esac
}

# carried FILE_SYSTEM MAKE...: test each carrier of tags with each way to write
carried()
{
	name=$1
	shift
	for carrier in write_hint ioprio; do
		mounted "$carrier" "$@" || return
		driver delivered /dev/mapper/aftl-carried "$place" "$carrier" >"$scratch/share" ||
			{ cat "$scratch/share"; return 1; }
		sed "s/^/# $name: /" "$scratch/share"
		while read -r by way share; do
			[ "$share" -eq "$(expected "$name" "$by" "$way")" ] || return
		done <"$scratch/share"
		dismantle || return
	done
}

whole_files()
{
	mounted "$all shards 2" mkfs.ext4 -q -F -m 0 && driver whole-file "$place" 15 &&
		driver refusals "$place" && dismantle &&
		mounted inode mkfs.ext4 -q -F -m 0 && driver whole-file "$place" 1 && dismantle
}

precise_wins()
{
	# shellcheck disable=SC2086 # words
	mounted write_hint $xfs && driver only-hint "$place" "$hints" && dismantle
}

# On XFS, which passes the hint with the write-back of the image.
images()
{
	# shellcheck disable=SC2086 # words
	kernel_has loop && mounted write_hint $xfs && truncate -s 16M "$place/image" &&
		loop=$(losetup --find --show "$place/image") && driver image "$place/image" "$loop" &&
		losetup -d "$loop" && dismantle
}

# The stream that carries a tag is above those that stand for a life time or a placement handle.
has_stream()
{
	# shellcheck disable=SC2086 # words
	create aftl-carried ram $small tag_carrier write_stream &&
		driver streams /dev/mapper/aftl-carried 6 && dmsetup remove aftl-carried &&
		create aftl-carried ram $small policy vth_b placement_handles 6 tag_carrier write_stream &&
		driver streams /dev/mapper/aftl-carried 7 && dmsetup remove aftl-carried
}

# A file has the hint, and the table line names another carrier.
unnamed()
{
	# shellcheck disable=SC2086 # words
	mounted ioprio $xfs &&
		driver delivered /dev/mapper/aftl-carried "$place" write_hint >"$scratch/share" &&
		nothing grep -v ' 0$' "$scratch/share" && dismantle
}

# The line that the device prints makes the same device.
comes_back()
{
	# shellcheck disable=SC2086 # words
	create aftl-carried ram $small tag_carrier "$all" &&
		dmsetup table aftl-carried >"$scratch/line" &&
		grep -q "ioprio_hint 341 tag_carrier $all" "$scratch/line" &&
		dmsetup reload aftl-carried <"$scratch/line" && dmsetup suspend aftl-carried &&
		dmsetup resume aftl-carried && dmsetup table aftl-carried | cmp - "$scratch/line" &&
		dmsetup remove aftl-carried
}

# alone NAME COMMAND...: run one test point; remove what it left behind
alone()
{
	ktap_test_run "$@"
	[ ! -e /dev/mapper/aftl-carried ] || dismantle 2>"$scratch/said" ||
		dmsetup remove aftl-carried
}

alone 'ext4: carriers reach the device' carried ext4 mkfs.ext4 -q -F -m 0
# shellcheck disable=SC2086 # words
! can_make xfs || alone 'xfs: carriers reach the device' carried xfs $xfs
! can_make f2fs || alone 'f2fs: carriers reach the device' carried f2fs mkfs.f2fs -q -f
alone 'a whole file is tagged by what its device honours' whole_files
alone 'a precise range of a hinted file stays precise' precise_wins
alone 'a hint on the image of a loop device is ignored' images
alone 'a carrier that the table line does not name is ignored' unnamed
alone 'the table line comes back' comes_back
if [ "$kernel" -ge 616 ]; then
	alone 'the last write stream carries a tag' has_stream
fi
finished
