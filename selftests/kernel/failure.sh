#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A lack of memory or good blocks, or an unreadable page, fails only the affected request or call.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

events()
{
	dmsetup info -c --noheadings -o events aftl-worn
}

writes()
{
	dd if=/dev/zero of=/dev/mapper/aftl-worn bs=64k count=32 oflag=direct 2>"$scratch/said"
}

wears_out()
{
	create aftl-worn ram timing off policy baseline channels 1 chips 1 blocks 24 op 40 &&
		writes || return 1
	before=$(events)
	for block in $(seq 0 23); do
		dmsetup message aftl-worn 0 fault block "$block" || return 1
	done
	nothing writes && grep -q 'No space left on device' "$scratch/said" &&
		[ "$(status_word aftl-worn 1)" = ro ] || return 1
	dmsetup wait aftl-worn "$before"
	[ "$(events)" -gt "$before" ]
}

still_reads()
{
	dd if=/dev/mapper/aftl-worn of="$scratch/data" bs=64k count=32 iflag=direct 2>"$scratch/said" &&
		cmp -n 2097152 "$scratch/data" /dev/zero
}

loses_data()
{
	create aftl-lost ram $small rber 1e-2 ecc_bits 1 ecc_levels 0 &&
		dd if=/dev/zero of=/dev/mapper/aftl-lost bs=64k count=4 oflag=direct 2>"$scratch/said" &&
		nothing dd if=/dev/mapper/aftl-lost of="$scratch/data" bs=4k count=1 iflag=direct \
			2>"$scratch/said" &&
		[ "$(counter aftl-lost read_lost_units)" -gt 0 ] &&
		[ "$(counter aftl-lost host_failed_requests)" -gt 0 ]
}

ktap_test_run 'without good blocks writes fail and an event is sent' wears_out
ktap_test_run 'without good blocks earlier data can be read' still_reads
ktap_test_run 'reads of uncorrectable precise data fail' loses_data
finished
