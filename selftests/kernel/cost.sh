#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the lab: measure the CPU cost of a request with `timing off`, and compare it with other devices
# in memory. REQUESTS=N sets the number of requests; `make bench-kernel` does.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

requests=${REQUESTS:-1000}
# Highest cost, in percent of dm-linear over the kernel's RAM disk
limit=150
# Highest cost with tags elsewhere, in percent of a write without any tag
tagged_limit=105

set_up_others()
{
	modprobe brd rd_nr=1 rd_size=65536 &&
		dmsetup create aftl-linear --table '0 131072 linear /dev/ram0 0' || return
	modprobe null_blk nr_devices=0 || return
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	null=/sys/kernel/config/nullb/nullb-aftl
	mkdir "$null" && echo 64 >"$null/size" && echo 4096 >"$null/blocksize" &&
		echo 1 >"$null/memory_backed" && echo 0 >"$null/irqmode" && echo 1 >"$null/power" &&
		null_device=$(find /dev -name "nullb*" -type b) && [ -n "$null_device" ]
}

# Use so many blocks that garbage collection never runs.
set_up_ours()
{
	for policy in baseline approxftl; do
		create "aftl-$policy" ram timing off blocks 2048 policy "$policy" || return
	done
	create aftl-elsewhere ram timing off blocks 2048 policy baseline
}

# brd and null_blk have no limit; measure them only for the benchmark.
measure()
{
	cp "$(command -v fio)" "$scratch" &&
		python3 selftests/kernel/cost.py "$scratch/fio" "$requests" \
			${REQUESTS:+brd=/dev/ram0 "null_blk=$null_device"} \
			linear=/dev/mapper/aftl-linear baseline=/dev/mapper/aftl-baseline \
			approxftl=/dev/mapper/aftl-approxftl >"$scratch/costs"
}

# measure_writes NAME: measure writes to one device, recorded under this name. Take the median of
# three: the limit is so tight that kernel background work in one run would decide.
measure_writes()
{
	for _ in 1 2 3; do
		python3 selftests/kernel/cost.py "$scratch/fio" "$requests" \
			"$1=/dev/mapper/aftl-elsewhere:randwrite" || return
	done >"$scratch/three"
	sed 's/^/# of three: /' "$scratch/three"
	sort -k 3,3 -k 4n "$scratch/three" | awk 'NR % 3 == 2' >>"$scratch/costs"
}

# Measure writes while a file on another device and another process are tagged approximate.
measure_elsewhere()
{
	python3 selftests/kernel/tags.py elsewhere "$scratch/tagged" &
	elsewhere=$!
	until [ -s "$scratch/tagged" ]; do
		sleep 0.1
	done
	measure_writes elsewhere
	measured=$?
	kill "$elsewhere"
	return "$measured"
}

# cost DEVICE OPERATION DEPTH: print the measured cost
cost()
{
	sed -n "s/^$* //p" "$scratch/costs"
}

within_limit()
{
	[ $(($(cost "$@") * 100)) -le $(($(cost linear "$2" "$3") * limit)) ]
}

tag_elsewhere_is_cheap()
{
	[ $(($(cost elsewhere randwrite "$1") * 100)) -le \
		$(($(cost untagged randwrite "$1") * tagged_limit)) ]
}

ktap_test_run 'create reference devices in memory' set_up_others
ktap_test_run 'create approxftl devices' set_up_ours
ktap_test_run 'measure all devices' measure
ktap_test_run 'measure writes without tags' measure_writes untagged
ktap_test_run 'measure writes with tags on other files' measure_elsewhere
sed 's/^/# cost /' "$scratch/costs"
for policy in baseline approxftl; do
	for operation in randwrite randread; do
		for depth in 1 32; do
			ktap_test_run "$policy, $operation, depth $depth: at most one and a half times dm-linear" \
				within_limit $policy $operation $depth
		done
	done
	ktap_test_run "$policy: no GC ran" [ "$(counter aftl-$policy gc_blocks)" -eq 0 ]
done
for depth in 1 32; do
	ktap_test_run "untagged write, depth $depth: at most a twentieth more with tags elsewhere" \
		tag_elsewhere_is_cheap $depth
done
echo 0 >"$null/power" && rmdir "$null"
finished
