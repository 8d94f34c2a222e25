#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run md's RAID-5 in the virtual machine, from the top of the tree, over TLC and ReSSD devices.
# The counters of the members are written to $RESULTS.
#
#   in-guest.sh PREPARED MEMBERS (results of "compare.py prepare"; number of devices)
set -eu

approxftl=${APPROXFTL:-build/approxftl}
PATH=$PATH:/usr/sbin:/sbin
prepared=$1
members=$2

of_members() # COMMAND...: run it for each member, whose name replaces @
{
	number=0
	while [ "$number" -lt "$members" ]; do
		number=$((number + 1))
		sh -c "$(echo "$*" | sed "s,@,member-$number,g")"
	done
}

devices()
{
	number=0
	while [ "$number" -lt "$members" ]; do
		number=$((number + 1))
		echo "/dev/mapper/member-$number"
	done
}

play() # LOG REPORT
{
	fio --name=play --read_iolog="$prepared/$1" --replay_no_stall=0 --ioengine=libaio \
		--iodepth=32 --direct=1 --eta=never --output-format=json --output="$2"
}

array() # POLICY
{
	of_members "'$approxftl' create @ --policy $1 $(cat "$prepared/member-options")"
	# shellcheck disable=SC2046 # one word each
	mdadm --create /dev/md5 --level=5 --raid-devices="$members" --metadata=1.2 --chunk=64 \
		--size="$(cat "$prepared/member-kib")" --bitmap=none --assume-clean --run \
		$(devices) 2>/dev/null
	cat "$prepared/stripes" >/sys/block/md5/md/stripe_cache_size
	play warm.log "$RESULTS/$1.warm.json"
	sync
	of_members "dmsetup message @ 0 reset"
	play measured.log "$RESULTS/$1.fio.json"
	sync
	of_members "'$approxftl' stat @ --json >'$RESULTS/$1.@.json'"
	mdadm --stop /dev/md5 2>/dev/null
	of_members "'$approxftl' remove @"
}

modprobe raid456
array tlc
array ressd
