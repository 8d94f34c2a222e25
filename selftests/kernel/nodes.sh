#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# On NUMA machines all memory of a shard, for FTL tables and for data, is on one node.
# The lab's guest has two NUMA nodes by numa=fake=2.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

nodes=/sys/devices/system/node

# tables: print how many pages of the FTL's tables are on the first and on the second NUMA node
tables()
{
	awk '/\[dm_approxftl\]/ {
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^N[01]=/)
				pages[substr($i, 2, 1)] += substr($i, 4)
		}
	}
	END { print pages[0] + 0, pages[1] + 0 }' /proc/vmallocinfo
}

# A device of two million logical pages has its FTL tables on both nodes, 50 % on each within 1 %.
# Both nodes together have 90 % of the reported ftl_bytes; small allocations are not traced.
tables_are_shared_out()
{
	[ "$(tables)" = '0 0' ] || return
	create aftl-nodes ram channels 2 blocks 512 layers 64 word_lines 16 timing off shards 2 || return
	counted=$(status_word aftl-nodes 16)
	set -- $(tables)
	echo "# $1 and $2 pages of tables; the device counts $counted bytes"
	[ $((($1 + $2) * 4096 * 10)) -ge $((counted * 9)) ] &&
		[ $((($1 - $2) * 100)) -le "$1" ] && [ $((($2 - $1) * 100)) -le "$1" ]
}

# pages: print the numa_hit counter of the second node: allocations that got memory of that node
pages()
{
	sed -n 's/^numa_hit //p' "$nodes/node1/numastat"
}

# Shards alternate every 64 KiB: the second shard has every second run of 64 KiB.
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
ktap_test_run 'written data are on the NUMA node of their shard' bytes_are_where_their_shard_is
finished
