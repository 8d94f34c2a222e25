#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run annotated programs on a mounted ext4. After unmounting and ageing, their approximate data have
# exactly the flipped bits that the device reports; all other data are intact.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

program=${AFTL_BUILD:-build}/approxftl-app
place=$scratch/mounted
mkdir "$place"
needs_program "$program"

judge()
{
	python selftests/kernel/applications.py "$@"
}

# on_ext4 [KEY VALUE]...: create a device, make an ext4 on it and mount it
on_ext4()
{
	# shellcheck disable=SC2086,SC2154 # words, of lib.sh
	create aftl-apps ram $shape "$@" &&
		mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 \
			/dev/mapper/aftl-apps >"$scratch/said" 2>&1 &&
		mount /dev/mapper/aftl-apps "$place"
}

again()
{
	umount "$place" && mount /dev/mapper/aftl-apps "$place"
}

gone()
{
	umount "$place" && e2fsck -fn /dev/mapper/aftl-apps >"$scratch/said" 2>&1 &&
		dmsetup remove aftl-apps
}

# app NAME REPORT [OPTION]...
app()
{
	app_name=$1
	app_report=$2
	shift 2
	"$program" "$app_name" "$place" --require --reference "$scratch" --json="$scratch/$app_report" \
		"$@" >"$scratch/said" 2>&1 || { sed 's/^/# /' "$scratch/said"; return 1; }
}

# read_again REPORT: remount, then compare the image with its reference
read_again()
{
	again && app img "$1" --phase read
}

constant_rate()
{
	on_ext4 timing off && app img write.json --phase write && read_again fresh.json &&
		judge image "$scratch/fresh.json" 7.2e-4 && gone
}

aged()
{
	on_ext4 timing off cell_model voltage cycles 2000 &&
		app img write.json --phase write --width 512 --height 512 &&
		read_again fresh.json && umount "$place" &&
		dmsetup message aftl-apps 0 age 1000h && mount /dev/mapper/aftl-apps "$place" &&
		app img aged.json --phase read && judge image "$scratch/aged.json" &&
		judge grown "$scratch/fresh.json" "$scratch/aged.json" && gone
}

# each_program: run every program; together the lines use all three ways to write
each_program()
{
	on_ext4 timing off || return
	while read -r name how options; do
		# shellcheck disable=SC2086 # words
		app "$name" write.json --phase write --io "$how" $options && again &&
			app "$name" read.json --phase compute --io "$how" &&
			judge predicted "$scratch/read.json" 7.2e-4 && find "$place" -type f -delete || return
	done <<END
fft direct --size 65536
smm buffered --size 4096
lu mmap --size 192
sor direct --size 128 --rounds 256
mc mmap --size 65536
vid direct --width 128 --height 128 --frames 16 --segment 4
img direct --width 512 --height 512 --scans 9
vid mmap --width 256 --height 192 --frames 16 --group 4
log buffered --size 262144
END
	gone
}

# under POLICY: run the same program and save the device's counters
under()
{
	on_ext4 policy "$1" timing real && sync && dmsetup message aftl-apps 0 reset &&
		app fft "$1.json" --size 32768 --io direct && sync &&
		dmsetup message aftl-apps 0 stats >"$scratch/$1.stats" && gone
}

side_by_side()
{
	under baseline && under approxftl &&
		judge side-by-side "$scratch/baseline" "$scratch/approxftl"
}

# network: write the weights by bit plane and read them back; check errors and predicted accuracy
network()
{
	set -- "$approxftl" app weights "$place" --require
	on_ext4 timing off && told "$@" --phase write --type int8 --planes 8 --hidden 64 && again &&
		told "$@" --phase read --draws 20 --json="$scratch/network.json" &&
		judge network "$scratch/network.json" 7.2e-4 && gone
}

# alone NAME COMMAND...: run one test point; remove its device if the command left it behind
alone()
{
	ktap_test_run "$@"
	if [ -e /dev/mapper/aftl-apps ]; then
		umount "$place" 2>"$scratch/said"
		dmsetup remove aftl-apps
	fi
}

alone 'an image has the reported errors and the predicted quality' constant_rate
alone 'an aged image has the reported errors and the predicted quality' aged
alone 'each program finds the reported flipped bits' each_program
alone 'one program runs under two policies' side_by_side
alone 'a network has the reported errors and the predicted accuracy' network
finished
