#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The demonstration's part in the lab: the same load on two emulated SSDs with different policies.
# The script writes the measurements to the directory $RESULTS.
#
#   Usage: in-guest.sh FIO-PROFILES (the directory with the fio jobs)
set -eu

profiles=$1
folder=/run/demo
mkdir -p "$folder"
cd "$LAB_SOURCES"

say()
{
	printf '\n== %s\n' "$*"
}

# Print a command as a user would type it, then run it.
run()
{
	printf '$ %s\n' "$*"
	"$@"
}

create() # NAME POLICY
{
	run approxftl create "$1" --profile tcad18 --size 256MiB blocks=64 op=30% --policy "$2"
}

file_system()
{
	say 'an ext4 file system on an emulated SSD'
	create ssd approxftl
	run mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/ssd
	run mount /dev/mapper/ssd "$folder"
	run cp -r dm-approxftl "$folder/"
	run umount "$folder"
	run e2fsck -fn /dev/mapper/ssd 2>&1
	run mount -o ro /dev/mapper/ssd "$folder"
	run diff -r dm-approxftl "$folder/dm-approxftl" && echo 'no difference'
	run umount "$folder"
	run approxftl health ssd
	run approxftl remove ssd
}

# Run fio-profiles/clients.fio on an SSD that collects garbage; half of its data are approximate.
loaded() # POLICY
{
	say "fio-profiles/clients.fio on an aged SSD under $1, half of the data approximate"
	run approxftl create "$1" --profile tcad18 channels=2 chips=2 word_lines=4 blocks=256 op=40% \
		fill=random fill_overwrite=200% fill_approx=50% --policy "$1"
	half=$(($(blockdev --getsize64 "/dev/mapper/$1") / 2))
	run approxftl tag add "/dev/mapper/$1" "0+$half"
	# Four runs give intervals. Each has just enough requests for a 99th percentile, as they
	# take most of the time. Equal seeds give both policies the same requests.
	for run in 1 2 3 4; do
		sed "s/^io_size=.*/io_size=1300k\nrandseed=$run/" "$profiles/clients.fio" \
			>/run/clients.fio
		TARGET=/dev/mapper/$1 SIZE=100% fio --eta=never --output-format=json \
			--output="$RESULTS/$1.run$run.fio.json" /run/clients.fio
	done
	approxftl stat "$1" --json >"$RESULTS/$1.stat.json"
	run approxftl health "$1"
	run approxftl remove "$1"
}

on_ext4() # NAME
{
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/mapper/$1"
	mount "/dev/mapper/$1" "$folder"
}

# Run a program that tags some of its data as approximate; read the data after a remount.
application() # POLICY
{
	ssd=$1-image
	say "an image under $1, pixels approximate, headers precise"
	create "$ssd" "$1"
	on_ext4 "$ssd"
	approxftl message "$ssd" reset
	run approxftl app --io direct --width 512 --height 512 --phase write --require \
		--json="$RESULTS/$1-written.app.json" img "$folder"
	umount "$folder"
	mount "/dev/mapper/$ssd" "$folder"
	run approxftl app --io direct --phase read --require --json="$RESULTS/$1.app.json" img "$folder"
	umount "$folder"
	approxftl stat "$ssd" --json >"$RESULTS/$ssd.stat.json"
	run approxftl remove "$ssd"
}

file_system
loaded baseline
loaded approxftl
application baseline
application approxftl
