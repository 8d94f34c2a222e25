#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Under memory pressure, swap, loop devices and file systems complete with intact data.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

place=$scratch/mounted
inner=$scratch/inner
cgroup=$scratch/cgroup
mkdir "$place" "$inner" "$cgroup"
# Enable the io controller too, so that Linux begins writeback before the cgroup's memory is full.
mount -t cgroup2 cgroup2 "$cgroup" && echo '+memory +io' >"$cgroup/cgroup.subtree_control" &&
	mkdir "$cgroup/aftl" && echo 32M >"$cgroup/aftl/memory.max" || exit 1
trap 'rmdir "$cgroup/aftl"; umount "$cgroup"; clean_up' EXIT

# in_cgroup COMMAND...: run the command with 32 MiB of memory; repeat it after an OOM kill
# On a slow device the OOM killer may end a program, which is not a fault of the target.
in_cgroup()
{
	for try in 1 2 3 4; do
		# shellcheck disable=SC2016 # the inner shell's
		sh -c 'echo $$ >"$0" && exec "$@"' "$cgroup/aftl/cgroup.procs" "$@"
		ended_so=$?
		[ "$ended_so" -eq 137 ] || return "$ended_so"
		echo "# killed for want of memory, attempt $try"
	done
	return 1
}

# Write 48 MiB of memory, then check each page.
touch_memory()
{
	in_cgroup python3 -c '
pages = range(0, 48 << 20, 4096)
memory = bytearray(48 << 20)
for page in pages:
    memory[page : page + 8] = page.to_bytes(8, "little")
assert all(memory[page : page + 8] == page.to_bytes(8, "little") for page in pages)'
}

# write_file FILE: write 40 MiB in pieces of mixed sizes twice, then read them from the device
# Programs sync often: with much dirty data on a slow device the OOM killer would end them.
write_file()
{
	in_cgroup python3 -c '
import os, random, sys
size = 40 << 20
for seed in 1, 2:
    draw = random.Random(seed)
    synced = 0
    with open(sys.argv[1], "r+b" if seed == 2 else "wb") as file:
        while file.tell() < size:
            file.write(draw.randbytes(draw.choice((512, 4096, 1 << 20))))
            if file.tell() >> 23 != synced:
                synced = file.tell() >> 23
                os.fsync(file.fileno())
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
with open(sys.argv[1], "rb") as file:
    draw = random.Random(2)
    while file.tell() < size:
        piece = draw.randbytes(draw.choice((512, 4096, 1 << 20)))
        assert file.read(len(piece)) == piece, file.tell()' "$1"
}

on_swap()
{
	mkswap "$1" >"$scratch/said" && swapon "$1" || return
	touch_memory
	touched=$?
	out=$(counter aftl-press host_write_units)
	swapoff "$1" && [ "$touched" -eq 0 ] && [ "$out" -ge 4096 ]
}

# on_ext4 DEVICE FOLDER COMMAND...: make an ext4 on DEVICE, mount it on FOLDER, run the command
on_ext4()
{
	mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$1" >"$scratch/said" 2>&1 &&
		mount "$1" "$2" || return
	mounted=$2
	shift 2
	"$@"
	done_there=$?
	umount "$mounted" && return "$done_there"
}

on_file_system()
{
	on_ext4 "$1" "$place" write_file "$place/file"
}

# Write to a file system on a loop device whose file is on another file system.
in_loop()
{
	truncate -s 60M "$place/disk" && loop=$(losetup -f --show "$place/disk") || return
	# Do not call on_ext4 here: the outer call still uses its variables.
	mkfs.ext4 -q -F -m 0 "$loop" >"$scratch/said" 2>&1 && mount "$loop" "$inner" &&
		write_file "$inner/file" && umount "$inner"
	looped=$?
	losetup -d "$loop" && return "$looped"
}

on_loop()
{
	modprobe loop && on_ext4 "$1" "$place" in_loop
}

# cell swap|loop|file_system STORE BUFFER TIMING: test a device in this use when memory is short
cell()
{
	[ "$2" = ram ] || wipe "$2" || return
	create aftl-press "$2" $shape timing "$4" buffer "$3" || return
	"on_$1" /dev/mapper/aftl-press
	ended=$?
	is_clean aftl-press && dmsetup remove aftl-press && return "$ended"
}

ram_disks 1 262144 || exit 1
in_turn 'swap on a volume works in 32 MiB, in real time' cell swap /dev/ram0 64KiB real
in_turn 'swap on a device in memory works in 32 MiB' cell swap ram 0 off
in_turn 'a loop device on a large write buffer works in 32 MiB' cell loop /dev/ram0 8MiB off
in_turn 'a slow file system in memory works in 32 MiB' cell file_system ram 0 scale:3
finished
