#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Where processors have memory of their own: that of a shard, tables and bytes, is on one node. The
# lab's guest has two, by numa=fake=2.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

nodes=/sys/devices/system/node

# frees: MiB that are free on the first and on the second node. What is cached, and may be anywhere,
# goes first.
frees()
{
	sync && echo 3 >/proc/sys/vm/drop_caches
	sed -n 's/.*MemFree: *\([0-9]*\) kB/\1/p' "$nodes/node0/meminfo" "$nodes/node1/meminfo" |
		awk '{ printf "%d ", $1 / 1024 }'
}

# took: how much less that is than $before, which has two words
took()
{
	echo "$before $(frees)" | awk '{ print $1 - $3, $2 - $4 }'
}

# between LEAST MOST NUMBER
between()
{
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ] && return
	echo "# $3 MiB, not $1 to $2"
	return 1
}

# Two million units: 24 bytes each with their pages' places
tables_are_shared_out()
{
	# shellcheck disable=SC2046,SC2086 # words
	large="channels 2 blocks 512 layers 64 word_lines 16 timing off" &&
		capacity $large shards 2 >"$scratch/said" && before=$(frees) &&
		create aftl-nodes ram $large shards 2 && set -- $(took) && echo "# $*: tables" &&
		between 30 200 "$1" && between $(($1 - 8)) $(($1 + 8)) "$2"
}

# pages: that the second node has given to those who wanted them there, so far
pages()
{
	sed -n 's/^numa_hit //p' "$nodes/node1/numastat"
}

# Runs of 64 KiB go round: the second shard has every other one.
bytes_are_where_their_shard_is()
{
	given=$(pages) && fio --name=w --filename=/dev/mapper/aftl-nodes --direct=1 --rw=write:64k \
		--bs=64k --offset=64k --size=128m --io_size=64m --output="$scratch/fio" &&
		given=$(($(pages) - given)) && [ "$(dmsetup message aftl-nodes 0 stats 1 |
			sed -n 's/^host_write_units //p')" -eq 16384 ] &&
		echo "# $given pages of the second node" && [ "$given" -ge 16384 ] &&
		[ "$given" -lt 20000 ]
}

if [ ! -e $nodes/node1 ]; then
	ktap_test_skip nodes 'there is one: numa=fake=2'
	ktap_finished
fi
ktap_test_run 'each node has the tables of one shard' tables_are_shared_out
ktap_test_run 'what is written is on the node of its shard' bytes_are_where_their_shard_is
finished
