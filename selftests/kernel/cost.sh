#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the lab: what a request costs the processor with `timing off`, beside what it costs on other
# devices in memory. REQUESTS=N measures with more of them; `make bench-kernel` does.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
only_in_the_lab

requests=${REQUESTS:-1000}
# Times the cost of dm-linear over the kernel's RAM disk, in percent
limit=150
# Times the cost of a write where nothing is tagged, in percent
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

# So many blocks that none is collected.
set_up_ours()
{
	for policy in baseline approxftl; do
		create "aftl-$policy" ram timing off blocks 2048 policy "$policy" || return
	done
	create aftl-elsewhere ram timing off blocks 2048 policy baseline
}

# Those without a limit are measured for the benchmark alone.
measure()
{
	cp "$(command -v fio)" "$scratch" &&
		python3 selftests/kernel/cost.py "$scratch/fio" "$requests" \
			${REQUESTS:+brd=/dev/ram0 "null_blk=$null_device"} \
			linear=/dev/mapper/aftl-linear baseline=/dev/mapper/aftl-baseline \
			approxftl=/dev/mapper/aftl-approxftl >"$scratch/costs"
}

# measure_writes NAME: to one device, under this name. The middle one of three counts: their limit
# is so close that what the kernel does of its own in one of them would decide.
measure_writes()
{
	for _ in 1 2 3; do
		python3 selftests/kernel/cost.py "$scratch/fio" "$requests" \
			"$1=/dev/mapper/aftl-elsewhere:randwrite" || return
	done >"$scratch/three"
	sed 's/^/# of three: /' "$scratch/three"
	sort -k 3,3 -k 4n "$scratch/three" | awk 'NR % 3 == 2' >>"$scratch/costs"
}

# The same while a file that is not on the device and another process are approximate
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

# cost DEVICE OPERATION DEPTH
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

ktap_test_run 'other devices in memory are there' set_up_others
ktap_test_run 'ours are there' set_up_ours
ktap_test_run 'all of them are measured' measure
ktap_test_run 'writes while nothing is tagged' measure_writes untagged
ktap_test_run 'and with tags elsewhere' measure_elsewhere
sed 's/^/# cost /' "$scratch/costs"
for policy in baseline approxftl; do
	for operation in randwrite randread; do
		for depth in 1 32; do
			ktap_test_run "$policy, $operation, depth $depth: at most one and a half times dm-linear" \
				within_limit $policy $operation $depth
		done
	done
	ktap_test_run "$policy: nothing was collected" [ "$(counter aftl-$policy gc_blocks)" -eq 0 ]
done
for depth in 1 32; do
	ktap_test_run "untagged write, depth $depth: at most a twentieth more with tags elsewhere" \
		tag_elsewhere_is_cheap $depth
done
echo 0 >"$null/power" && rmdir "$null"
finished
