#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Read back all data written by several I/O engines, with several sizes and depths, trim and GC.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2

create aftl-data ram $small || exit 1
create aftl-real ram $shape buffer 1MiB read_cache 1MiB read_ahead 256KiB || exit 1

verified()
{
	in_turn "fio verify: $*" verify "$@"
}

verified aftl-data --ioengine=psync --bs=4k --size=2m
verified aftl-data --ioengine=psync --bs=64k --size=8m
verified aftl-data --ioengine=libaio --iodepth=32 --bs=4k --size=4m
verified aftl-data --ioengine=libaio --iodepth=32 --bs=64k --size=8m
verified aftl-data --ioengine=io_uring --iodepth=32 --bs=4k --size=4m
verified aftl-data --ioengine=io_uring --iodepth=32 --bs=64k --size=8m
verified aftl-data --ioengine=libaio --iodepth=8 --bssplit=4k/40:12k/30:256k/20:1m/10 --size=8m
ktap_test_run 'random writes, discards and zeroes are read as the model says' \
	python3 selftests/kernel/shadow.py /dev/mapper/aftl-data "$(share 1500)"
moving 'reads equal the model in real time, with a write buffer' \
	python3 selftests/kernel/shadow.py /dev/mapper/aftl-real "$(share 500)"
for overwritten in data real; do
	moving "a read beside an overwrite returns old or new data, aftl-$overwritten" \
		python3 selftests/kernel/overwritten.py /dev/mapper/aftl-$overwritten "$(share 3000)"
done
verified aftl-real --ioengine=libaio --iodepth=32 --bs=4k --size=4m
ktap_test_run 'two processes write to two devices' verify aftl-data:/dev/mapper/aftl-real \
	--ioengine=libaio --iodepth=16 --bs=16k --size=8m

garbage_is_collected()
{
	verify aftl-data --ioengine=libaio --iodepth=32 --bs=16k --rw=write --size=100% --loops=2 &&
		[ "$(counter aftl-data gc_blocks)" -gt 0 ]
}

in_turn 'a full device, written twice, keeps its data' garbage_is_collected

ktap_test_run 'the audit of the FTL finds no fault' is_clean aftl-data
ktap_test_run 'the audit of the FTL finds no fault in real time' is_clean aftl-real
finished
