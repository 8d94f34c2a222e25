#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a step of power-cut.tap.sh in the guest, on an NVMe drive.
#
#   power-cut-guest.sh [check JOURNAL] [write | verify]
#
# "check" compares the device with the journal of a machine that died before.
# "write" logs and writes data until power fails. "verify" runs fio's check with a deep queue.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

drive=/dev/nvme0n1
modprobe nvme
for _ in $(seq 100); do
	[ ! -b $drive ] || break
	sleep 0.1
done
create aftl-cut $drive channels 1 chips 2 blocks 64 word_lines 2 op 35 \
	buffer 256KiB timing off || exit 1
if [ "${1:-}" = check ]; then
	python3 selftests/kernel/blocks.py check /dev/mapper/aftl-cut "$2" || exit 1
	is_clean aftl-cut && echo 'everything is there' || exit 1
	shift 2
fi
if [ "${1:-}" = verify ]; then
	verify aftl-cut --ioengine=libaio --iodepth=32 --bssplit=4k/40:16k/40:64k/20 --size=8m &&
		echo 'verified' || exit 1
fi
[ "${1:-}" = write ] || exit 0
: >"$RESULTS/journal"
python3 selftests/kernel/blocks.py load /dev/mapper/aftl-cut "$RESULTS/journal" 1000000 \
	"$(date +%s)" &
for _ in $(seq 600); do
	[ "$(grep -c '^mark' "$RESULTS/journal")" -lt 20 ] || break
	sleep 0.3
done
sleep 0.7
echo b >/proc/sysrq-trigger
