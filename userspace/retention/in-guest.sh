#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Retention study of neural networks, in a virtual machine: copy networks to ext4 on worn flash.
# The networks are tagged and read back after months of emulated retention, after a remount.
# The emulated device has the parameters of the study weights-shelf.toml.
#
#   in-guest.sh PREPARED      PREPARED has directories CYCLES/TYPE-PLANES-SEED with the file "weights"
# The files read back, and the device's reports on them, go to directories below $RESULTS/MONTHS.
set -eu

approxftl=${APPROXFTL:-build/approxftl}
PATH=$PATH:/usr/sbin:/sbin
prepared=$1
place=$(mktemp -d)

store() # NAME
{
	low=${1#*-}
	cp "$prepared/$cycles/$1/weights" "$place/$1"
	sync "$place/$1"
	"$approxftl" tag model "$place/$1" --planes "${low%-*}" --rewrite >/dev/null
}

fetch() # NAME
{
	found=$RESULTS/$months/$cycles/$1
	mkdir -p "$found"
	"$approxftl" tag query "$place/$1" --json >"$found/before.json"
	cp "$place/$1" "$found/weights"
	"$approxftl" tag query "$place/$1" --json >"$found/after.json"
}

each() # COMMAND
{
	for one in "$prepared/$cycles"/*; do
		"$1" "${one##*/}"
	done
}

measure_retention()
{
	"$approxftl" create retention --profile tcad18 --policy approxftl --timing off channels=2 chips=1 \
		blocks=256 word_lines=16 op=25 cell_model=voltage refresh=0 "cycles=$cycles"
	mkfs.ext4 -q /dev/mapper/retention
	mount /dev/mapper/retention "$place"
	each store
	days=0
	for stop in 1:30 3:91 6:182 12:365 36:1095; do
		months=${stop%:*}
		umount "$place"
		"$approxftl" message retention age "$((${stop#*:} - days))d"
		mount /dev/mapper/retention "$place"
		days=${stop#*:}
		each fetch
	done
	umount "$place"
	"$approxftl" remove retention
}

for cycles in "$prepared"/*; do
	cycles=${cycles##*/}
	measure_retention
done
