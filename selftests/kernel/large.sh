#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test a volume of 3.5 TiB on a sparse file in a guest, where its tables take 9 GiB of memory.
# Format the volume, write at both ends and in the middle, crash, recover and check.
# The tables of each shard exceed the kernel's largest single allocation.
#
# In this guest a volume of 16 TiB is refused, because its tables would take 43 GiB of memory.
# The guest of kernel-huge has 48 GiB, and its AFTL_LARGE selects a volume of 16 TiB.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

# Each channel of the device has one die, with blocks of 128 MiB.
shape='chips 1 dies 1 planes 1 layers 128 word_lines 16 bits 4 page 16KiB unit 4KiB errors off timing off'
large="${AFTL_LARGE:-channels 2 shards 2 blocks 16800} $shape"
huge="channels 8 shards 8 blocks 19400 $shape"

now()
{
	cut -d . -f 1 /proc/uptime
}

available()
{
	awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo
}

# timed WHAT COMMAND...: run the command, and print WHAT, its run time and the available memory
timed()
{
	timed=$1
	begun=$(now)
	shift
	"$@"
	timed_status=$?
	echo "# $timed: $(($(now) - begun)) s, $(available) MiB left"
	return "$timed_status"
}

attach()
{
	loop=$(losetup --find --show "$1")
}

make_it()
{
	modprobe loop 2>"$scratch/said"
	head -c 4194304 /dev/urandom >"$scratch/few"
	truncate -s 22T "$scratch/file" && attach "$scratch/file" &&
		timed format formatted "$loop" $large
}

load_it()
{
	[ -n "${units:-}" ] || units=$(echo "$large" | xargs -n 2 | grep -v timing |
		sed 's/^/--set /; s/ \([^ ]*\)$/=\1/' | xargs "$approxftl" sim --fill none --requests 0 --json |
		sed -n 's/^ *"units": \([0-9]*\),/\1/p' | head -n 1)
	dmsetup create aftl-large --table "$(line "$loop" $((units * 8)) $large)"
}

places()
{
	echo 0 $((units / 2048)) $((units / 1024 - 1))
}

write_it()
{
	for place in $(places); do
		dd if="$scratch/few" of=/dev/mapper/aftl-large bs=4M seek="$place" oflag=direct \
			conv=fsync 2>"$scratch/said" || return
	done
}

has_it()
{
	for place in $(places); do
		dd if=/dev/mapper/aftl-large bs=4M skip="$place" count=1 iflag=direct \
			2>"$scratch/said" | cmp - "$scratch/few" || return
	done
}

# A copy of the volume that is taken while the volume is in use is a crash image.
crash_it()
{
	cp --sparse=always "$scratch/file" "$scratch/copy" && dmsetup remove aftl-large &&
		losetup -d "$loop" && rm "$scratch/file" && attach "$scratch/copy"
}

check_it()
{
	dmsetup remove aftl-large && "$approxftl" check "$loop" >"$scratch/said" 2>&1 &&
		grep -q sound "$scratch/said"
}

refuses_what_there_is_no_memory_for()
{
	modprobe loop 2>"$scratch/said"
	truncate -s 22T "$scratch/huge" && attach "$scratch/huge" || return
	timed 'format of 16 TiB' formatted "$loop" $huge &&
		! timed 'refusal of 16 TiB' dmsetup create aftl-huge \
			--table "$(line "$loop" 34359738368 $huge)" 2>"$scratch/said" &&
		dmesg | tail -n 3 | grep -q 'the tables of 8 shards take'
	refused=$?
	losetup -d "$loop" && rm "$scratch/huge" && return "$refused"
}

[ -n "${AFTL_LARGE:-}" ] ||
	ktap_test_run 'a device larger than memory is refused' refuses_what_there_is_no_memory_for
ktap_test_run 'format the volume' make_it
ktap_test_run 'create the device' timed load load_it
ktap_test_run 'write to the device' timed writes write_it
ktap_test_run 'power failure' timed crash crash_it
ktap_test_run 'recover the volume' timed recovery load_it
ktap_test_run 'written data are intact' has_it
ktap_test_run 'approxftl check passes' timed check check_it
losetup -d "$loop"
finished
