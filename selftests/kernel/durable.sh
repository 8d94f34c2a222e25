#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the durable store: data persist on any block device, and an unusable device is refused.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/trace.sh

# The device under test has 64 MiB of flash, half as much as the device of kernel/lib.sh.
shape='blocks 64 word_lines 4 op 30'
small="$shape timing off"
needs_program "$approxftl"
# The device's geometry as KEY=VALUE words of `approxftl create`
pairs='blocks=64 word_lines=4 op=30'
disk_bytes=268435456
deep='--ioengine=libaio --iodepth=16 --bs=16k'

# Data

engines()
{
	verify aftl-data --ioengine=psync --bs=4k --size=1m &&
		verify aftl-data --ioengine=libaio --iodepth=32 --bs=64k --size=8m &&
		verify aftl-data --ioengine=io_uring --iodepth=32 --bs=4k --size=1m &&
		verify aftl-data --ioengine=libaio --iodepth=8 --bssplit=4k/40:12k/30:256k/20:1m/10 \
			--size=8m
}

twice_with_collection()
{
	verify aftl-data --ioengine=libaio --iodepth=32 --bs=64k --rw=write --size=100% --loops=2 &&
		[ "$(counter aftl-data gc_blocks)" -gt 0 ] && is_clean aftl-data
}

agrees_with_model()
{
	python3 selftests/kernel/shadow.py "/dev/mapper/$1" "$2"
}

# Trace the priority of each bio that reaches a block device; bi_ioprio is at offset 22 of a bio.
record_priorities()
{
	probes=$tracing/../../kprobe_events
	# shellcheck disable=SC2016 # the kernel's
	echo 'p:aftl submit_bio_noacct priority=+22($arg1):u16' >"$probes" &&
		forget_events && echo 1 >"$tracing/events/kprobes/aftl/enable"
}

# Count bios that a worker submitted with the priority of the original submitter.
priorities_below()
{
	grep -c 'kworker.*priority=16390$' "$tracing/trace"
	echo 0 >"$tracing/events/kprobes/aftl/enable" && echo >"$probes"
}

# writes_in_turn CGROUP DEVICE: write 64 mapping units, each second one from inside the cgroup
# All writes have an I/O priority; a flash page holds units written inside and outside the cgroup.
writes_in_turn()
{
	python3 - "$@" <<'END'
import ctypes, mmap, os, sys

cgroups = [f"{sys.argv[1]}/aftl/cgroup.procs", f"{sys.argv[1]}/cgroup.procs"]
fd = os.open(sys.argv[2], os.O_RDWR | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
assert not ctypes.CDLL(None).syscall(251, 1, 0, 2 << 13 | 6)
for unit in range(64):
    with open(cgroups[unit % 2], "w") as file:
        file.write(str(os.getpid()))
    os.pwritev(fd, [page], unit * 4096)
os.fsync(fd)
END
}

in_cgroup()
{
	create aftl-one /dev/ram1 $small buffer 256KiB && record_priorities || return
	writes_in_turn "$scratch/cgroup" /dev/mapper/aftl-one && dmsetup remove aftl-one
	written=$?
	put_down=$(sed -n "s/^$(cat /sys/block/ram1/dev) .*wbytes=\([0-9]*\).*/\1/p" \
		"$scratch/cgroup/aftl/io.stat")
	below=$(priorities_below)
	echo "# $put_down bytes put down to the cgroup, $below bios of its priority"
	[ "$written" -eq 0 ] && [ "$put_down" -eq 131072 ] && [ "$below" -ge 32 ]
}

whose_writes()
{
	mkdir "$scratch/cgroup" && mount -t cgroup2 cgroup2 "$scratch/cgroup" || return
	echo +io >"$scratch/cgroup/cgroup.subtree_control" && mkdir "$scratch/cgroup/aftl" && in_cgroup
	put_down=$?
	rmdir "$scratch/cgroup/aftl"
	umount "$scratch/cgroup" && wipe /dev/ram1 && return "$put_down"
}

# in_real_time [KEY VALUE]...: compare a device with shadow.py's model, and run fio, in real time
in_real_time()
{
	create aftl-real /dev/ram1 $shape "$@" || return
	agrees_with_model aftl-real "$(share 100)" && verify aftl-real $deep --size=2m &&
		is_clean aftl-real && dmsetup remove aftl-real && wipe /dev/ram1
}

# 32 threads flush eight times each. A flush of the drive takes 50 ms, so flushes share commits.
one_commit_for_all()
{
	slow=$(dmsetup info -c --noheadings --separator , -o major,minor aftl-slow)
	create aftl-one /dev/mapper/aftl-slow $small || return
	echo 1 >"$tracing/events/block/block_bio_queue/enable" && forget_events &&
		fio --name=sync --filename=/dev/mapper/aftl-one --thread --numjobs=32 --direct=1 \
			--ioengine=psync --rw=randwrite --bs=4k --size=1m --number_ios=8 --fdatasync=1 \
			--output="$scratch/fio" || return
	echo 0 >"$tracing/events/block/block_bio_queue/enable"
	asked=$(counter aftl-one host_flush_requests)
	passed=$(grep -c " block_bio_queue: $slow F" "$tracing/trace")
	echo "# $asked flushes of the device, $passed of the drive"
	[ "$asked" -ge 200 ] && [ "$passed" -ge 8 ] && [ "$passed" -le $((asked / 2)) ] &&
		dmsetup remove aftl-one
}

# Retirement of blocks and GC wait for the backing device, so other work must not wait for them. A
# resume queues both.
background_work_is_on_its_own_workqueue()
{
	queue=$tracing/events/workqueue/workqueue_queue_work
	forget_events && echo 1 >"$queue/enable" && dmsetup suspend aftl-data &&
		dmsetup resume aftl-data && echo 0 >"$queue/enable" || return
	sed -n 's/.*function=\(retire_worn_blocks\|advance_untimed_gc\)_work.* workqueue=\([^ ]*\).*/\1 \2/p' \
		"$tracing/trace" | sort -u >"$scratch/queued"
	sed 's/^/# /' "$scratch/queued"
	[ "$(cut -d ' ' -f 2 "$scratch/queued")" = "$(printf 'aftl_background\naftl_background')" ]
}

# on_slow_drive COMMAND...: run the command on a drive with a volatile cache and slow flushes
on_slow_drive()
{
	modprobe loop 2>"$scratch/said"
	truncate -s 256M "$scratch/file" && loop=$(losetup --find --show "$scratch/file") &&
		dmsetup create aftl-slow \
			--table "0 524288 delay $loop 0 0 $loop 0 0 $loop 0 50" || return
	"$@"
	status=$?
	dmsetup remove aftl-slow && losetup -d "$loop" && rm "$scratch/file" && return "$status"
}

# Print the FTL's digest and the state of five blocks, which tests compare before and after a step.
state_of()
{
	dmsetup suspend "$1" && dmsetup message "$1" 0 digest
	for block in 0 1 2 40 77; do
		dmsetup message "$1" 0 block "$block"
	done
	dmsetup resume "$1"
}

# Suspend and resume until the device does not change any more: background GC has then finished.
settles()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		state_of "$1" >"$scratch/first" && state_of "$1" >"$scratch/second" || return
		! cmp -s "$scratch/first" "$scratch/second" || return 0
	done
	echo "# $1 does not come to rest"
	return 1
}

comes_back()
{
	settles aftl-data && md5sum </dev/mapper/aftl-data >"$scratch/sum-before" &&
		state_of aftl-data >"$scratch/before" && table=$(dmsetup table aftl-data) &&
		dmsetup remove aftl-data && dmsetup create aftl-data --table "$table" &&
		state_of aftl-data >"$scratch/after" && diff "$scratch/before" "$scratch/after" &&
		md5sum </dev/mapper/aftl-data | diff "$scratch/sum-before" - &&
		is_clean aftl-data
}

# A device that was suspended must run background GC without further requests.
collects_after_a_pause()
{
	for _ in 1 2; do
		dd if=/dev/zero of=/dev/mapper/aftl-data bs=1M count=8 oflag=direct \
			2>"$scratch/said" || return
	done
	dmsetup suspend aftl-data && dmsetup resume aftl-data && collect aftl-data || return
	[ "$(counter aftl-data gc_blocks)" -gt 0 ]
}

table_round_trips()
{
	table=$(dmsetup table aftl-data)
	case $table in
	"0 $(blockdev --getsz /dev/mapper/aftl-data) approxftl 1:0 "*) ;;
	*) echo "# $table"; return 1 ;;
	esac
	echo "$table" | dmsetup reload aftl-data && dmsetup resume aftl-data &&
		[ "$(dmsetup table aftl-data)" = "$table" ]
}

checked()
{
	"$approxftl" check "$1" >"$scratch/said" 2>&1 && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

is_sound()
{
	dmsetup remove aftl-data && checked /dev/ram0
}

# Refusals

# refuses SENTENCE DEVICE [KEY VALUE]...: creating a device fails with SENTENCE in the kernel log
refuses()
{
	sentence=$1
	refused=$2
	shift 2
	sectors=$(capacity "$@")
	clear_log
	! dmsetup create aftl-refused --table "$(line "$refused" "$sectors" "$@")" \
		2>"$scratch/said" && dmesg | grep -qF "$sentence" && return
	dmesg | tail -n 3 | sed 's/^/# /'
	return 1
}

# Make a new volume on /dev/ram1.
new_volume()
{
	wipe /dev/ram1 && create aftl-new /dev/ram1 $small && dmsetup remove aftl-new
}

refuses_a_file_system()
{
	wipe /dev/ram1 && mkfs.ext4 -q -F /dev/ram1 &&
		refuses 'this is not a volume of approxftl' /dev/ram1 $small && mount /dev/ram1 "$scratch/m" && refuses 'is in use, e.g. by a file system' /dev/ram1 $small &&
		umount "$scratch/m" && e2fsck -fn /dev/ram1 >"$scratch/said" 2>&1
}

# The kernel never formats a volume; its message names the command that does.
refuses_zeroes()
{
	zeroed /dev/ram1 && refuses 'header is zero; to make a volume: approxftl format /dev/ram1' \
		/dev/ram1 $small && cmp -n "$disk_bytes" /dev/ram1 /dev/zero
}

refuses_what_is_too_small()
{
	zeroed /dev/ram1 && dmsetup create aftl-part --table '0 8192 linear /dev/ram1 0' &&
		says 1 'bytes, /dev/mapper/aftl-part has 4194304' /dev/mapper/aftl-part &&
		cmp -n 4194304 /dev/mapper/aftl-part /dev/zero && dmsetup remove aftl-part &&
		new_volume && dmsetup create aftl-part --table '0 131072 linear /dev/ram1 0' &&
		refuses 'bytes, the device has 67108864' /dev/mapper/aftl-part $small &&
		dmsetup remove aftl-part
}

refuses_a_second_user()
{
	new_volume && create aftl-new /dev/ram1 $small &&
		refuses 'block device 1:1 is used by' /dev/ram1 $small && dmsetup remove aftl-new
}

# A backing device whose sectors are larger than the mapping unit is refused.
refuses_large_sectors()
{
	folder=/sys/kernel/config/nullb/aftl
	modprobe null_blk nr_devices=0 && { mountpoint -q /sys/kernel/config ||
		mount -t configfs configfs /sys/kernel/config; } && mkdir "$folder" &&
		echo 256 >"$folder/size" && echo 4096 >"$folder/blocksize" &&
		echo 1 >"$folder/memory_backed" && echo 1 >"$folder/power" || return
	null=$(find /dev -maxdepth 1 '(' -name 'nullb*' -o -name aftl ')')
	refuses 'has sectors of 4096 bytes, more than the mapping unit of 2048' "$null" \
		$small unit 2KiB && cmp -n 1048576 "$null" /dev/zero &&
		create aftl-new "$null" $small && verify aftl-new $deep --size=4m &&
		dmsetup remove aftl-new
	status=$?
	echo 0 >"$folder/power"
	rmdir "$folder"
	rmmod null_blk && return "$status"
}

# "approxftl create" formats an empty device only and never overwrites other data.

# Zero the whole block device.
zeroed()
{
	blkdiscard -f -z "$1" && blockdev --flushbufs "$1"
}

# says STATUS SENTENCE DEVICE: "approxftl create" on DEVICE exits with STATUS and prints SENTENCE
says()
{
	"$approxftl" create aftl-new --store "$3" --timing off $pairs >"$scratch/out" 2>&1
	[ $? -eq "$1" ] && grep -qF "$2" "$scratch/out" && return
	sed 's/^/# /' "$scratch/out"
	return 1
}

sum()
{
	blockdev --flushbufs "$1" && md5sum <"$1"
}

# keeps SENTENCE: "approxftl create" and the kernel refuse a device and leave it unchanged
keeps()
{
	before=$(sum /dev/ram1)
	says 1 "$1" /dev/ram1 && refuses 'to make a volume: approxftl format' /dev/ram1 $small &&
		[ "$(sum /dev/ram1)" = "$before" ]
}

makes_a_volume()
{
	zeroed /dev/ram1 && says 0 '/dev/ram1 was empty and is volume' /dev/ram1 &&
		verify aftl-new $deep --size=4m && says 1 'there is a device aftl-new already' /dev/ram1 &&
		dmsetup remove aftl-new && says 0 'store /dev/ram1' /dev/ram1 &&
		! grep -q empty "$scratch/out" &&
		verify aftl-new $deep --size=4m --verify_only && dmsetup remove aftl-new
}

# keeps_md METADATA: a member of an md array is refused, whether the array runs or not
keeps_md()
{
	zeroed /dev/ram1 && mdadm --create /dev/md7 --level=1 --raid-devices=2 --metadata="$1" \
		--assume-clean --run /dev/ram1 missing >"$scratch/said" 2>&1 &&
		says 1 '/dev/ram1 is in use' /dev/ram1 && mdadm --stop /dev/md7 2>"$scratch/said" &&
		keeps 'holds linux_raid_member (raid)'
}

keeps_what_is_held()
{
	zeroed /dev/ram1 && mkfs.ext4 -q -F /dev/ram1 && mount /dev/ram1 "$scratch/m" &&
		says 1 '/dev/ram1 is in use' /dev/ram1 && umount "$scratch/m" &&
		keeps 'holds ext4 (filesystem)' && zeroed /dev/ram1 && blockdev --setro /dev/ram1 &&
		says 1 '/dev/ram1 is read-only' /dev/ram1
	kept=$?
	blockdev --setrw /dev/ram1 && return "$kept"
}

# "approxftl create" refuses a device with unreadable sectors in the last 16 MiB; it writes nothing.
keeps_what_is_unreadable()
{
	zeroed /dev/ram1 && dmsetup create aftl-part --table "0 500000 linear /dev/ram1 0
500000 8 error
500008 24280 linear /dev/ram1 500008" &&
		says 1 '/dev/mapper/aftl-part cannot be read: Input/output error' \
			/dev/mapper/aftl-part && dmsetup remove aftl-part &&
		cmp -n "$disk_bytes" /dev/ram1 /dev/zero
}

# Interrupt "approxftl format" while it checks that a device is empty: a thousand reads of 50 ms.
is_interrupted()
{
	zeroed /dev/ram1 && dmsetup create aftl-part --table '0 524288 delay /dev/ram1 0 50' || return
	python3 - "$approxftl" >"$scratch/said" 2>&1 <<'END'
import os, pty, signal, sys

program, told = sys.argv[1], b""
child, terminal = pty.fork()
if not child:
    os.execv(program, [program, "format", "/dev/mapper/aftl-part"])
while b"bytes looked at:" not in told:
    told += os.read(terminal, 4096)
os.kill(child, signal.SIGINT)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, told)
assert status == 130
END
	interrupted=$?
	sed 's/^/# /' "$scratch/said"
	dmsetup remove aftl-part && [ "$interrupted" -eq 0 ] &&
		cmp -n "$disk_bytes" /dev/ram1 /dev/zero
}

# Above and below

# lasts_on DEVICE: data of a volume on DEVICE are intact after the volume is closed and reopened
lasts_on()
{
	create aftl-new "$1" $small && verify aftl-new $deep --size=4m &&
		head -c 4m /dev/urandom >"$scratch/few" &&
		dd if="$scratch/few" of=/dev/mapper/aftl-new bs=1M oflag=direct 2>"$scratch/said" &&
		dmsetup remove aftl-new && create aftl-new "$1" $small &&
		cmp -n 4194304 "$scratch/few" /dev/mapper/aftl-new &&
		is_clean aftl-new && dmsetup remove aftl-new && checked "$1"
}

# on_a_sparse_file SIZE BLOCKS [KEY VALUE]...: recover a copy of a file that holds a volume in use
# A volume on a sparse file has tables of 270 MiB, which must stay almost unwritten.
on_a_sparse_file()
{
	large="blocks $2 layers 128 word_lines 16 page 4096 timing off"
	size=$1
	shift 2
	large="$large $*"
	modprobe loop 2>"$scratch/said"
	head -c 4194304 /dev/urandom >"$scratch/few"
	truncate -s "$size" "$scratch/file" && loop=$(losetup --find --show "$scratch/file") &&
		create aftl-new "$loop" $large &&
		dd if="$scratch/few" of=/dev/mapper/aftl-new bs=1M oflag=direct conv=fsync \
			2>"$scratch/said" &&
		cp --sparse=always "$scratch/file" "$scratch/copy" &&
		dmsetup remove aftl-new && losetup -d "$loop" && rm "$scratch/file" &&
		[ "$(du -m "$scratch/copy" | cut -f 1)" -lt 32 ] &&
		loop=$(losetup --find --show "$scratch/copy") && create aftl-new "$loop" $large &&
		cmp -n 4194304 "$scratch/few" /dev/mapper/aftl-new &&
		dmsetup remove aftl-new && checked "$loop"
	status=$?
	losetup -d "$loop" && rm "$scratch/copy" "$scratch/few" && return "$status"
}

# reads_overlap MS: open the volume with the table in $slow on a drive that takes MS for a read
# Return true if more than one read is in flight on average.
reads_overlap()
{
	dmsetup create aftl-part --table "0 524288 delay /dev/ram1 0 $1 /dev/ram1 0 0" &&
		dmsetup create aftl-new --table "$slow" || return
	part=$(dmsetup info --columns --noheadings --separator : -o major,minor aftl-part) &&
		read -r reads _ _ all _ _ _ _ _ busy _ <"/sys/dev/block/$part/stat" || return
	echo "# $reads reads of $1 ms took $all ms, in $busy"
	cmp -n 1048576 "$scratch/few" /dev/mapper/aftl-new && dmsetup remove aftl-new &&
		dmsetup remove aftl-part && [ "$reads" -gt 15 ] && [ "$((5 * all))" -gt "$((6 * busy))" ]
}

# The volume has tables of 6 MiB and a snapshot. On a busy machine a read may end before the next
# one begins, so repeat the test with slower reads: without read-ahead they never overlap.
reads_ahead()
{
	wipe /dev/ram1 && create aftl-new /dev/ram1 channels 2 chips 1 planes 1 blocks 800 layers 8 \
		word_lines 8 unit 512 page 512 op 60 timing off || return
	head -c 1m /dev/urandom >"$scratch/few"
	dd if="$scratch/few" of=/dev/mapper/aftl-new bs=64k oflag=direct 2>"$scratch/said" &&
		slow=$(dmsetup table aftl-new | sed 's, 1:1 , /dev/mapper/aftl-part ,') &&
		dmsetup remove aftl-new || return
	reads_overlap 100 || reads_overlap 500 || reads_overlap 2500 && checked /dev/ram1
}

# Small mapping units make more operations than the durable store's queue holds.
# A suspend must execute the operations of the durable store's full queue, though no bio arrives.
suspends_with_a_full_queue()
{
	wipe /dev/ram1 && create aftl-full /dev/ram1 blocks 64 word_lines 4 op 40 unit 512 \
		buffer 8MiB timing off || return
	full=/dev/mapper/aftl-full
	head -c 7m /dev/urandom >"$scratch/data"
	for _ in 1 2 3; do
		dd if="$scratch/data" of="$full" bs=256k oflag=direct 2>"$scratch/said" &&
			dmsetup suspend aftl-full && dmsetup resume aftl-full || return
	done
	dd if="$scratch/data" of="$full" bs=256k oflag=direct 2>"$scratch/said" &&
		full=$(dmsetup table aftl-full) && dmsetup remove aftl-full &&
		dmsetup create aftl-full --table "$full" &&
		cmp -n 7340032 "$scratch/data" /dev/mapper/aftl-full && dmsetup remove aftl-full &&
		wipe /dev/ram1
}

ram_disks 3 262144 && mkdir "$scratch/m" || exit 1
needs_module dm_delay
create aftl-data /dev/ram0 $small || exit 1
in_turn 'fio verify on a new volume' at_once engines
in_turn 'a full device, written twice, keeps its data' at_once twice_with_collection
ktap_test_run 'random writes, discards and zeroes are read as the model says' \
	agrees_with_model aftl-data "$(share 800)"
ktap_test_run 'a volume is unchanged after remove and create' comes_back
whose='writes to the block device have cgroup and priority of the submitter'
if [ -e "$tracing/../../kprobe_events" ]; then
	in_turn "$whose" whose_writes
elif next_turn "$whose"; then
	ktap_test_skip "$whose" 'the kernel has no kprobes'
fi
in_turn 'a device collects garbage after suspend and resume' collects_after_a_pause
ktap_test_run 'blocks are retired and GC runs on a workqueue of the volume' \
	background_work_is_on_its_own_workqueue
ktap_test_run 'a volume is suspended while its queue is full' suspends_with_a_full_queue
ktap_test_run 'the table names the block device by number and can be loaded' table_round_trips
in_turn 'a volume with real timing equals its model' in_real_time
in_turn 'a volume with real timing and a write buffer equals its model' in_real_time buffer 1MiB
in_turn 'a volume with real timing and a read cache equals its model' in_real_time buffer 256KiB read_cache 1MiB \
	read_ahead 256KiB
ktap_test_run 'approxftl check passes' is_sound
ktap_test_run 'one commit serves all flushes that wait' on_slow_drive one_commit_for_all
[ ! -e /dev/mapper/aftl-data ] || dmsetup remove aftl-data
wipe /dev/ram0

in_turn 'a file system is refused, mounted or not' refuses_a_file_system
in_turn 'zeroes are refused by the kernel' refuses_zeroes
in_turn 'create formats an empty device, once' makes_a_volume
in_turn 'create refuses a member of a RAID' keeps_md 1.2
in_turn 'create refuses a held or read-only device' keeps_what_is_held
in_turn 'create refuses an unreadable device' keeps_what_is_unreadable
in_turn 'Ctrl-C ends the examination of a device' is_interrupted
in_turn 'a device that is or became too small is refused' refuses_what_is_too_small
in_turn 'a block device in use is refused' refuses_a_second_user
in_turn 'sectors larger than the mapping unit are refused' refuses_large_sectors

in_turn 'the tables of a volume are read by several reads at once' reads_ahead
in_turn 'a volume on a sparse file of 24 GiB recovers after a crash' on_a_sparse_file 24G 600
in_turn 'two shards on a sparse file of 40 GiB recover after a crash' on_a_sparse_file 40G 1200 channels 2 shards 2
finished
