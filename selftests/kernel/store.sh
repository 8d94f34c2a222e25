#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test memory, queue limits and cgroups of the durable store, and block devices that do not answer.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

shape='blocks 64 word_lines 4 op 30'
small="$shape timing off"
needs_program "$approxftl"

# on_sparse_file SIZE COMMAND...: set $loop to a zeroed loop device of SIZE, and run the command
on_sparse_file()
{
	modprobe loop 2>"$scratch/said"
	truncate -s "$1" "$scratch/file" && loop=$(losetup --find --show "$scratch/file") || return
	shift
	"$@"
	status=$?
	dmsetup remove aftl-one 2>"$scratch/said"
	losetup -d "$loop" && rm "$scratch/file" && return "$status"
}

# Memory

# ftl_bytes_with BYTES: print ftl_bytes of a new volume with a persistent write buffer of BYTES
ftl_bytes_with()
{
	wipe "$loop" && create aftl-one "$loop" $small buffer "$1" buffer_safe on || return
	status_word aftl-one 16
}

# mapped_bytes: print how many bytes of vmalloc memory the kernel uses
mapped_bytes()
{
	awk '$1 == "VmallocUsed:" { print 1024 * $2 }' /proc/meminfo
}

# A write buffer takes memory for its tables at once, for operations only while it holds data.
opens_with_large_buffers()
{
	little=$(ftl_bytes_with 1MiB) && dmsetup remove aftl-one && before=$(mapped_bytes) &&
		much=$(ftl_bytes_with 2GiB) && after=$(mapped_bytes) || return
	taken=$((after - before))
	echo "# ftl_bytes $little with 1 MiB, $much with 2 GiB, of which $taken are mapped"
	[ $((much - little)) -lt $((2147483648 / 16)) ] &&
		[ "$taken" -le "$much" ] && [ "$taken" -gt $((much / 2)) ] &&
		verify aftl-one --ioengine=libaio --iodepth=32 --bs=64k --size=8m &&
		[ "$(status_word aftl-one 16)" -ge "$much" ] && dmsetup remove aftl-one
}

# The durable store's operations reuse memory of completed operations: write 4096 units three times.
# A queued operation takes some 300 bytes; the largest number of queued operations varies.
forgets_operations()
{
	wipe /dev/ram0 && create aftl-one /dev/ram0 $small buffer 4MiB buffer_safe on || return
	for _ in 1 2 3; do
		verify aftl-one --ioengine=libaio --iodepth=32 --bs=256k --size=16m || return
		dmsetup suspend aftl-one && dmsetup resume aftl-one &&
			status_word aftl-one 16 || return
	done >"$scratch/bytes"
	echo "# ftl_bytes $(tr '\n' ' ' <"$scratch/bytes")"
	grown=$(($(sort -n "$scratch/bytes" | tail -n 1) - $(sort -n "$scratch/bytes" | head -n 1)))
	dmsetup remove aftl-one && [ "$grown" -lt $((4096 * 64)) ]
}

# Limits of the queue

number_of()
{
	dmsetup info --columns --noheadings --separator : -o major,minor "$1"
}

# of_queue NAME: print each queue attribute of a device and its value
of_queue()
{
	for attribute in "/sys/dev/block/$(number_of "$1")"/queue/*; do
		[ ! -f "$attribute" ] ||
			echo "$(basename "$attribute") $(cat "$attribute" 2>/dev/null)"
	done
}

# The queue attributes except $own_limits equal those of dm-linear on the same block device.
# The logical block is a mapping unit, the minimum I/O a page, the optimal I/O programs all LUNs.
own_limits='logical_block_size physical_block_size minimum_io_size optimal_io_size hw_sector_size
zone_write_granularity read_ahead_kb'
# The target splits bios, so the block device's limit of request sizes does not apply.
own_limits="$own_limits max_sectors_kb max_hw_sectors_kb"
# Discards and write-zeroes requests are handled by the FTL, not by the block device.
own_limits="$own_limits discard_granularity discard_max_bytes discard_max_hw_bytes
write_zeroes_max_bytes write_zeroes_unmap_max_bytes write_zeroes_unmap_max_hw_bytes
discard_zeroes_data max_discard_segments"
# Flash does not rotate, and the emulated write buffer is a cache, whatever the block device is.
own_limits="$own_limits rotational write_cache fua"
# The target copies the data of a write, so the block device below gets pages that do not change.
own_limits="$own_limits stable_writes"
# A device has the write streams of its policy, and its reads may wait, so no io_poll or nowait.
own_limits="$own_limits max_write_streams write_stream_granularity io_poll nowait"

# The segment limits of an approxftl device are those of its block device, also if unusual.
has_limits_below()
{
	dmsetup create aftl-line --table "0 524288 linear $1 0" || return
	of_queue aftl-line | sort >"$scratch/line"
	dmsetup remove aftl-line
	create aftl-one "$1" $small || return
	of_queue aftl-one | sort >"$scratch/ours"
	printf '%s \n' $own_limits >"$scratch/own"
	diff "$scratch/line" "$scratch/ours" | grep '^[<>]' >"$scratch/different"
	! grep -v -F -f "$scratch/own" "$scratch/different" | sed 's/^/# /' | grep . &&
		grep -q '^dma_alignment\|^max_segments' "$scratch/ours" && dmsetup remove aftl-one
}

# crypt_below SECTORS BYTES: create a dm-crypt on /dev/ram1 with sectors of this size
crypt_below()
{
	key=$(printf '%064d' 7)
	# On a busy machine the kernel may time out waiting for a cipher's self-test.
	for _ in 1 2 3; do
		dmsetup create aftl-crypt --table \
			"0 $1 crypt aes-xts-plain64 $key$key 0 /dev/ram1 0 1 sector_size:$2" \
			2>"$scratch/said" && break
	done
	[ -e /dev/mapper/aftl-crypt ] &&
		dd if=/dev/zero of=/dev/mapper/aftl-crypt bs=1M count=2 oflag=direct 2>"$scratch/said"
}

limits_of_null_blk()
{
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1 max_sectors=64 virt_boundary=1 \
		2>"$scratch/said" || modprobe null_blk nr_devices=1 gb=1 memory_backed=1 || return
	has_limits_below /dev/nullb0
	status=$?
	rmmod null_blk && return "$status"
}

limits_of_crypt()
{
	crypt_below 524288 4096 && has_limits_below /dev/mapper/aftl-crypt &&
		dmsetup remove aftl-crypt && wipe /dev/ram1
}

# A read that dm-crypt refuses must fail with EINVAL, not with a medium error.
# dm-crypt refuses a read whose memory is aligned to 512 bytes only.
reads_into_odd_memory()
{
	python3 - <<'END'
import ctypes, errno, mmap, os

disk = os.open("/dev/mapper/aftl-one", os.O_RDWR | os.O_DIRECT)
memory = mmap.mmap(-1, 3 * 4096)
at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
memory[:4096] = os.urandom(4096)
os.pwritev(disk, [memoryview(memory)[:4096]], 0)
os.fsync(disk)
pread = ctypes.CDLL(None, use_errno=True).pread
pread.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)
got = pread(disk, at + 4096 + 512, 4096, 0)
error = errno.errorcode.get(ctypes.get_errno()) if got < 0 else "no error"
print(f"# {got} bytes, {error}")
assert got == 4096 and memory[4608:8704] == memory[:4096] or got < 0 and error == "EINVAL"
END
}

aligned_as_below()
{
	crypt_below 524288 4096 || return
	create aftl-one /dev/mapper/aftl-crypt $small && reads_into_odd_memory &&
		[ "$(status_word aftl-one 20)" -eq 0 ] &&
		[ "$(counter aftl-one read_lost_units)" -eq 0 ] && dmsetup remove aftl-one &&
		dmsetup remove aftl-crypt && wipe /dev/ram1
}

# has_requests KEY VALUE...: check that the optimal I/O size is whole pages, and read-ahead is small
has_requests()
{
	create aftl-one none timing off "$@" || return
	queue=/sys/dev/block/$(number_of aftl-one)/queue
	best=$(cat "$queue/optimal_io_size") ahead=$(cat "$queue/read_ahead_kb")
	page=$(cat "$queue/minimum_io_size")
	dmsetup remove aftl-one
	echo "# $*: best requests of $best bytes, $ahead KiB are read ahead"
	[ "$best" -gt 0 ] && [ $((best % page)) -eq 0 ] && [ "$best" -le 4194304 ] &&
		[ "$ahead" -le 8192 ]
}

bounds_requests()
{
	has_requests channels 4 blocks 64 word_lines 4 op 30 &&
		has_requests policy baseline channels 64 chips 64 blocks 24 word_lines 1 layers 4 \
			page 16KiB unit 4KiB op 40
}

# Tests of a backing device that does not answer

# After a failed data read the target reads the volume header, to see if the device responds.
# With the volume header on a suspended device, only a failed data read may wait for the header.
delays_only_what_fails()
{
	dmsetup create aftl-head --table '0 2048 linear /dev/ram1 0' &&
		dmsetup create aftl-part --table "0 2048 linear /dev/mapper/aftl-head 0
2048 520192 linear /dev/ram1 2048" || return
	wipe /dev/ram1 && create aftl-one /dev/mapper/aftl-part $small &&
		dd if=/dev/urandom of=/dev/mapper/aftl-one bs=64k count=32 oflag=direct \
			2>"$scratch/said" && dmsetup suspend aftl-one && dmsetup resume aftl-one || return
	bad=$(sector_of_unit 0) && dmsetup suspend aftl-part &&
		dmsetup reload aftl-part --table "0 2048 linear /dev/mapper/aftl-head 0
2048 $((bad - 2048)) linear /dev/ram1 2048
$bad 8 error
$((bad + 8)) $((522240 - bad - 8)) linear /dev/ram1 $((bad + 8))" &&
		dmsetup resume aftl-part && dmsetup suspend aftl-head || return
	dd if=/dev/mapper/aftl-one of="$scratch/bad" bs=4k count=1 iflag=direct \
		2>"$scratch/said-bad" &
	reader=$!
	waits_for_header &&
		dd if=/dev/mapper/aftl-one of="$scratch/good" bs=4k count=64 skip=256 \
			iflag=direct 2>"$scratch/said" && kill -0 "$reader"
	status=$?
	dmsetup resume aftl-head
	! wait "$reader" && [ "$status" -eq 0 ] &&
		[ "$(counter aftl-one read_lost_units)" -eq 1 ] && dmsetup remove aftl-one &&
		dmsetup remove aftl-part && dmsetup remove aftl-head && wipe /dev/ram1
}

# sector_of_unit UNIT: find the unit's sector on the block device by its contents
sector_of_unit()
{
	dd if=/dev/mapper/aftl-one of="$scratch/unit" bs=4k count=1 skip="$1" iflag=direct \
		2>"$scratch/said" && python3 - "$scratch/unit" <<'END'
import sys

unit = open(sys.argv[1], "rb").read()
with open("/dev/ram1", "rb") as disk:
    print(next(sector for sector in iter(lambda: disk.tell() // 512, -1)
               if disk.read(4096) == unit))
END
}

# Wait until a data read has failed and the volume header's read has been in flight for a second.
waits_for_header()
{
	seen=0
	while [ "$seen" -lt 10 ] && kill -0 "$reader"; do
		read -r under_way _ <"/sys/dev/block/$(number_of aftl-part)/inflight" || return
		seen=$(((seen + 1) * (under_way > 0)))
		sleep 0.1
	done
	kill -0 "$reader"
}

# Cgroups

# with_cgroup COMMAND...: run the command with $cgroup, a cgroup v2 with the io controller
with_cgroup()
{
	cgroup=$scratch/cgroup/aftl
	mkdir "$scratch/cgroup" && mount -t cgroup2 cgroup2 "$scratch/cgroup" &&
		echo +io >"$scratch/cgroup/cgroup.subtree_control" && mkdir "$cgroup" || return
	"$@"
	status=$?
	[ ! -d "$cgroup" ] || rmdir "$cgroup"
	umount "$scratch/cgroup" && rmdir "$scratch/cgroup" && return "$status"
}

# in_cgroup COMMAND...: run the command in the background in $cgroup, as process $member
in_cgroup()
{
	# shellcheck disable=SC2016 # of the inner shell
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" "$@" 2>"$scratch/said-member" &
	member=$!
}

member_waits()
{
	kill -0 "$member" && return
	echo '# what is throttled has ended before what is not'
	sed 's/^/# /' "$scratch/said-member"
	return 1
}

# root_works: write, read and flush in the root cgroup; throttling of $cgroup must not delay this
root_works()
{
	dd if=/dev/urandom of=/dev/mapper/aftl-one bs=64k count=64 seek=128 oflag=direct \
		conv=fsync,notrunc 2>"$scratch/said" &&
		dd if=/dev/mapper/aftl-one of="$scratch/read" bs=4k count=64 skip=2048 \
			iflag=direct 2>"$scratch/said"
}

# A removed cgroup lives while memory is charged to it; its io controller's state must be freed.
none_is_dying()
{
	grep -q '^nr_dying_subsys_io 0$' "$scratch/cgroup/cgroup.stat"
}

# Overwrite data until blocks are erased, but keep the data that root_works() wrote.
root_overwrites()
{
	for _ in 1 2 3; do
		dd if=/dev/zero of=/dev/mapper/aftl-one bs=64k count=384 seek=256 \
			oflag=direct conv=fsync,notrunc 2>"$scratch/said" || return
	done
	[ "$(counter aftl-one array_erases)" -gt 0 ]
}

has_written()
{
	[ -s "$scratch/written" ] || ! kill -0 "$member"
}

# io.max throttles a cgroup that writes 256 KiB and then reads from flash, which would take hours:
# the clock of a guest runs ahead while the host is too busy to answer it. The root cgroup must not
# write these data meanwhile, because reads are not throttled while the data are in the buffer.
beside_a_limit()
{
	wipe /dev/ram1 && create aftl-one /dev/ram1 $small buffer 1MiB &&
		dd if=/dev/urandom of=/dev/mapper/aftl-one bs=64k count=4 seek=64 oflag=direct \
			conv=fsync,notrunc 2>"$scratch/said" && root_works || return
	echo "$(cat /sys/block/ram1/dev) wbps=16 rbps=16" >"$cgroup/io.max" || return
	# shellcheck disable=SC2016 # of the inner shell
	in_cgroup sh -c 'dd if=/dev/zero of=/dev/mapper/aftl-one bs=64k count=4 oflag=direct &&
		echo written >"$0" && dd if=/dev/mapper/aftl-one of=/dev/null bs=64k count=4 skip=64 iflag=direct' \
		"$scratch/written"
	until_true has_written || return
	root_works && root_overwrites && member_waits
	status=$?
	echo "$(cat /sys/block/ram1/dev) wbps=max rbps=max" >"$cgroup/io.max"
	wait "$member" && [ "$status" -eq 0 ] && dmsetup remove aftl-one
}

# The iocost controller makes the submitter sleep: here 16 s for each of 64 reads of 64 KiB.
# I/O of the root cgroup is not throttled. At the end a higher rate lets the throttled dd finish.
beside_a_cost_model()
{
	dev=$(cat "/sys/block/$(basename "$loop")/dev")
	wipe "$loop" && create aftl-one "$loop" $small buffer 1MiB && root_works &&
		echo "$dev enable=1 ctrl=user rpct=0 wpct=0 min=100.00 max=100.00" \
			>"$scratch/cgroup/io.cost.qos" &&
		echo "$dev ctrl=user model=linear rbps=4096 rseqiops=1 rrandiops=1 wbps=4096 wseqiops=1 wrandiops=1" \
			>"$scratch/cgroup/io.cost.model" || return
	in_cgroup dd if=/dev/mapper/aftl-one of=/dev/null bs=64k count=64 skip=128 iflag=direct
	root_works && root_works && member_waits
	status=$?
	echo "$dev enable=1 ctrl=user min=10000.00 max=10000.00" >"$scratch/cgroup/io.cost.qos"
	kill "$member"
	wait "$member"
	echo "$dev enable=0" >"$scratch/cgroup/io.cost.qos"
	[ "$status" -eq 0 ] && dmsetup remove aftl-one
}

# has_controllers: return true if the kernel throttles cgroups, which User Mode Linux does not
has_controllers()
{
	[ -e "$cgroup/io.max" ] && [ -e "$scratch/cgroup/io.cost.qos" ]
}

# tells_what_dies: return true if cgroup.stat counts removed cgroups that live on (since 6.12)
tells_what_dies()
{
	grep -q '^nr_dying_subsys_io ' "$scratch/cgroup/cgroup.stat"
}

# A unit in the write buffer must not keep the removed cgroup of its writer alive.
lets_a_cgroup_go()
{
	create aftl-one /dev/ram2 policy baseline blocks 24 page 16KiB unit 4KiB zoned 4MiB \
		buffer 4MiB buffer_safe on errors off || return
	in_cgroup dd if=/dev/zero of=/dev/mapper/aftl-one bs=4k count=1 oflag=direct
	wait "$member" && rmdir "$cgroup" || return
	until_true none_is_dying && dmsetup remove aftl-one && wipe /dev/ram2
}

# meta_exempt: return true on Linux 6.12 and later, where io.max does not delay metadata writes
meta_exempt()
{
	[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ]
}

ram_disks 3 262144 && needs_module dm_crypt || exit 1
# Each kernel runs all tests of queue limits and of cgroup I/O, because they depend on the kernel.
# in_turn lets the kernels divide the tests of memory and sizes, which depend on the target alone.
in_turn 'a persistent write buffer of 2 GiB takes memory only for its content' \
	on_sparse_file 4G opens_with_large_buffers
in_turn 'completed operations take no memory' at_once forgets_operations
ktap_test_run 'limits of segments are those of dm-crypt below' limits_of_crypt
ktap_test_run 'limits of segments are those of a drive below' limits_of_null_blk
in_turn 'a read into memory that dm-crypt cannot take is no medium error' aligned_as_below
in_turn 'requests and read-ahead are bounded however many LUNs there are' bounds_requests
in_turn 'a block device that does not answer delays only failed reads' delays_only_what_fails
slowed='a cgroup throttled by iocost delays only its own I/O'
if with_cgroup has_controllers; then
	in_turn "$slowed" with_cgroup on_sparse_file 1G beside_a_cost_model
elif next_turn "$slowed"; then
	ktap_test_skip "$slowed" 'the kernel does not have iocost'
fi
if ! with_cgroup has_controllers; then
	ktap_test_skip 'a cgroup throttled by io.max delays only its own I/O' \
		'the kernel does not have io.max'
elif meta_exempt; then
	on_newest 'a cgroup throttled by io.max delays only its own I/O' with_cgroup beside_a_limit
else
	ktap_test_skip 'a cgroup throttled by io.max delays only its own I/O' \
		'before Linux 6.12 io.max holds back writes for which others wait'
fi
if with_cgroup tells_what_dies; then
	on_newest 'buffered data do not keep a removed cgroup alive' with_cgroup lets_a_cgroup_go
else
	ktap_test_skip 'buffered data do not keep a removed cgroup alive' \
		'before Linux 6.12 nothing tells what of a cgroup is still there'
fi
finished
