# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Functions shared by the tests of the module; `finished` ends a test.
# Source this file from the top of the tree, in a kernel that has the module.

. selftests/lib/tap.sh
. userspace/lab/complaints.sh
. selftests/kernel/turns.sh

export DM_DISABLE_UDEV=1
approxftl=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
PATH=$PATH:/usr/sbin:/sbin
scratch=$(mktemp -d /dev/shm/aftl-XXXXXX)
trap clean_up EXIT

if ! dmsetup targets 2>/dev/null | grep -q '^approxftl '; then
	ktap_test_fail 'the module is loaded'
	ktap_finished
fi
dmesg -C
: >"$scratch/complaints"

# Skip a test that measures times or costs, unless it runs in the lab.
only_in_the_lab()
{
	[ -n "${AFTL_LAB:-}" ] && return
	ktap_test_skip "$(basename "$0" .sh)" 'only the clock of approxftl lab is steady'
	ktap_finished
}

# needs_program FILE...: fail and end the test if a file that `make all` builds is missing
needs_program()
{
	for needed; do
		[ -x "$needed" ] && continue
		ktap_test_fail "$needed is not built: make all"
		ktap_finished
	done
}

# kernel_has MODULE: return false if the kernel lacks the module; else load it, or print an error
kernel_has()
{
	modinfo "$1" >"$scratch/said" 2>&1 || return
	modprobe "$1" || echo "# $1 does not load"
}

# can_make NAME [MODULE]: return true if the kernel supports this file system, else report a skip
can_make()
{
	kernel_has "${2:-$1}" && return
	ktap_test_skip "$1" 'the kernel does not have it'
	return 1
}

# Check for CONFIG_MIGRATION, which the module needs to detect that ext4 journals data.
moves_pages()
{
	grep -q ' buffer_migrate_folio$' /proc/kallsyms
}

# Let every user open the control node until the test ends.
let_everybody_tag()
{
	node_mode=$(stat -c %a /dev/approxftl) && chmod 666 /dev/approxftl
}

clean_up()
{
	[ -z "${node_mode:-}" ] || chmod "$node_mode" /dev/approxftl
	for name in $(dmsetup ls | sed -n 's/^\(aftl-[a-z-]*\)\t.*/\1/p'); do
		dmsetup remove --force "$name" >"$scratch/removed" 2>&1
	done
	rm -rf "$scratch"
}

finished()
{
	ktap_test_silent 'every device can be removed' remove_all
	clear_log
	ktap_test_silent "the kernel's log is clean" cat "$scratch/complaints"
	ktap_finished
}

grep_log()
{
	dmesg | grep -E "$@"
}

# Clear the kernel log before a check of new messages; keep its warnings for `finished`.
clear_log()
{
	grep_log "$complaints" >>"$scratch/complaints"
	dmesg -C
}

remove_all()
{
	dmsetup ls | sed -n 's/^\(aftl-[a-z-]*\)\t.*/\1/p' | while read -r name; do
		dmsetup remove "$name"
	done
}

# Table parameters of a device with 128 MiB of flash; with $small, requests complete at once.
shape='blocks 64 word_lines 8 op 30'
# shellcheck disable=SC2034 # for the tests
small="$shape timing off"

# line none|ram|BLOCK-DEVICE SECTORS [KEY VALUE]...: print a table line
line()
{
	line_start="0 $2 approxftl $1"
	shift 2
	echo "$line_start $# $*"
}

# capacity [KEY VALUE]...: print the device's size in sectors, as found in an error message
# The printed capacity is cached for all tests in one kernel.
capacity()
{
	known="${AFTL_CAPACITIES:-$scratch}/capacity $*"
	if [ ! -s "$known" ]; then
		dmsetup create aftl-capacity --table "$(line none 8796093022208 "$@")" \
			2>"$scratch/said"
		dmesg | sed -n 's/.*but the device has \([0-9]*\);.*/\1/p' | tail -n 1 >"$known"
	fi
	read -r sectors <"$known" && echo "$sectors"
}

# formatted DEVICE [KEY VALUE]...: format the block device if it begins with zeroes
formatted()
{
	formatted=$1
	shift
	blockdev --flushbufs "$formatted" && cmp -s -n 4096 "$formatted" /dev/zero || return 0
	while [ $# -gt 0 ]; do
		case $1 in
		timing | tag_all | ioprio_hint | tag_carrier) ;;
		*) echo "$1=$2" ;;
		esac
		shift 2
	done >"$scratch/pairs"
	xargs "$approxftl" format --force --policy approxftl "$formatted" <"$scratch/pairs" \
		>"$scratch/said" 2>&1 &&
		return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# create NAME none|ram|BLOCK-DEVICE [KEY VALUE]...: create a device of the full capacity
create()
{
	create_name=$1
	create_store=$2
	shift 2
	case $create_store in
	/*) formatted "$create_store" "$@" || return ;;
	esac
	dmsetup create "$create_name" --table "$(line "$create_store" "$(capacity "$@")" "$@")"
}

# counter NAME COUNTER: print a counter's value
counter()
{
	dmsetup message "$1" 0 stats | sed -n "s/^$2 //p"
}

# status_word NAME POSITION: print a field of the status line, see print_status_info_line()
status_word()
{
	dmsetup status "$1" | cut -d ' ' -f $(($2 + 3))
}

# until_true COMMAND...: wait without a deadline, because a guest on a busy machine is slow
# A guest that hangs is ended by the test runner.
until_true()
{
	until "$@"; do
		sleep 0.1
	done
}

collects_nothing()
{
	[ "$(status_word "$1" 19)" -eq 0 ]
}

# collect NAME [LUN]: run garbage collection and wait until it ends
collect()
{
	collect_name=$1
	shift
	dmsetup message "$collect_name" 0 gc "$@" && until_true collects_nothing "$collect_name"
}

# is_clean NAME: suspend the device for an audit, which must find no inconsistency
is_clean()
{
	dmsetup suspend "$1" && audit=$(dmsetup message "$1" 0 audit)
	dmsetup resume "$1" && [ "$audit" = clean ] && return
	echo "# audit: $audit"
	return 1
}

# verify NAME [OPTION]...: write with fio, then read back and compare
verify()
{
	verify_name=$1
	shift
	fio --name=verify --filename="/dev/mapper/$verify_name" --direct=1 --verify=crc32c \
		--verify_fatal=1 --randrepeat=1 --group_reporting --eta=never --output="$scratch/fio" \
		--rw=randwrite "$@" || { sed 's/^/# /' "$scratch/fio"; return 1; }
}

# told COMMAND...: run the command; print its output if it fails
told()
{
	"$@" >"$scratch/said" 2>&1 || { sed 's/^/# /' "$scratch/said"; return 1; }
}

# examples_of PAGE: run the examples of a manual page; show the output if one fails
examples_of()
{
	programs=$(dirname "$(realpath "$approxftl")")
	mkdir -p "$scratch/examples" && python3 selftests/lib/manual_examples.py "$1" \
		>"$scratch/typed" && ( cd "$scratch/examples" &&
			PATH=$programs:$PATH told sh -e -x "$scratch/typed" )
}

# Functions that prepare block devices for the durable store

# needs_module NAME: skip the whole test if the kernel lacks this module
needs_module()
{
	kernel_has "$1" && return
	ktap_test_skip "$(basename "$0" .sh)" "the kernel does not have $1"
	ktap_finished
}

# ram_disks COUNT KIB: create zeroed /dev/ram0 and so on
ram_disks()
{
	! grep -q '^brd ' /proc/modules || rmmod brd || return
	modprobe brd rd_nr="$1" rd_size="$2"
}

# A volume with zones for fill_many_zones_in_part; each of its flash pages has 16 units.
# shellcheck disable=SC2034 # for the tests
many_zones='policy baseline blocks 96 page 8KiB unit 512 zoned 4MiB max_active_zones 40 buffer 4MiB buffer_safe on errors off timing off'

# fill_many_zones_in_part DEVICE FILE: write FILE, of 15 units, to each of 40 zones, and flush
# These are more units than the worker of a volume executes in one batch.
fill_many_zones_in_part()
{
	python3 -c 'import mmap, os, sys
device = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 15 * 512)
with open(sys.argv[2], "rb") as file:
    data.write(file.read())
for zone in range(40):
    assert os.pwritev(device, [data], zone << 22) == len(data)
os.fsync(device)' "$1" "$2"
}

# wipe DEVICE: zero the first 4 MiB, so that it counts as empty for `approxftl format`
wipe()
{
	blkdiscard -f -z -l 4194304 "$1" 2>"$scratch/said" && blockdev --flushbufs "$1"
}

# Print the superblock that mkzonefs would write to the first zone of a zonefs.
zonefs_superblock()
{
	python3 -c 'import struct, sys, zlib
block = bytearray(struct.pack("<4sI80sQ3I", b"SFOZ", 0, b"", 8, 0, 0, 0o640).ljust(4096, b"\0"))
block[4:8] = struct.pack("<I", zlib.crc32(block) ^ 0xFFFFFFFF)
sys.stdout.buffer.write(block)'
}
