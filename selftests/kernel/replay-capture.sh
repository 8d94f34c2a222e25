#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Capture a program's requests to a mounted device with their tags, and convert the capture.
# Replays on a new device, other drivers and the simulator write the same units as the same class.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
processors 2

program=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
needs_program "$program" "$program-replay" "$program-trace"
grep -q debugfs /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug
mkdir "$scratch/mnt"
capture=$scratch/copy.aftrec
record=$scratch/copy.aft

# ends CODE "TEXT" COMMAND...: expect exit status CODE and output TEXT, a basic regular expression
ends()
{
	code=$1
	text=$2
	shift 2
	"$@" >"$scratch/said" 2>&1
	got=$?
	[ "$got" -eq "$code" ] && grep -q "$text" "$scratch/said" && return
	echo "# $*: exit status $got"
	sed 's/^/# /' "$scratch/said"
	return 1
}

a_device()
{
	create aftl-source ram $small && told mkfs.ext4 -q -F -b 4096 -m 0 -E lazy_itable_init=0 \
		/dev/mapper/aftl-source && mount /dev/mapper/aftl-source "$scratch/mnt"
}

# Write precise and approximate data, buffered and direct; exit with status 7.
cat >"$scratch/application" <<'END'
dd if=/dev/urandom of="$1/precise" bs=64k count=24 conv=fsync
: >"$1/approximate" && "$2" tag add "$1/approximate" 0+ &&
	dd if=/dev/urandom of="$1/approximate" bs=64k count=40 conv=fsync,notrunc
dd if=/dev/urandom of="$1/direct" bs=32k count=10 oflag=direct
rm "$1/precise"
exit 7
END

captured()
{
	ends 7 'copy.aftrec: [0-9]* events' "$program" trace record -O "$capture" "$scratch/mnt" -- \
		sh "$scratch/application" "$scratch/mnt" "$program" && cp "$scratch/said" "$scratch/captured" &&
		told grep -q '"dropped_events": 0' "$capture/device.json" &&
		told grep -q '"seed": 1$' "$capture/device.json" &&
		told grep -q '"exit_status": 7$' "$capture/program.json" &&
		told python3 selftests/lib/json_schema.py trace-tools/capture/record-output.fields \
			"$capture/device.json" "$capture/program.json"
}

# units [CLASS]...: count the 4 KiB units that writes of these classes have in the record file
units()
{
	python3 - "$record" "$@" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
names = [data[576 + 32 * i : 608 + 32 * i].rstrip(b"\0").decode() for i in range(16)]
records = struct.iter_unpack("<QQIBBHII", data[4096:])
print(sum(r[2] for r in records if r[3] & 0x7F == 1 and names[r[4]] in (sys.argv[2:] or names)) // 8)
END
}

# grown COUNTER: print by how much a counter of the device grew during the capture
grown()
{
	sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$capture/device.json" |
		{ read -r before && read -r after && echo $((after - before)); }
}

# same NAME A B: print "NAME: A", and require that the numbers A and B are equal
same()
{
	echo "# $1: $2"
	[ "$2" -eq "$3" ] && return
	echo "# $1: $2, but $3"
	return 1
}

# hidden DIRECTORY: print how many written sectors the capture in DIRECTORY reports as missing
hidden()
{
	sed -n 's/^ *"hidden_write_sectors": \([0-9]*\),*$/\1/p' "$1/device.json"
}

# ext4 writes each transaction's last block with FUA, which blktrace shows since Linux 7.3.
fua_is_traced()
{
	blkparse -q -i "$capture/trace" -f '%d\n' 2>/dev/null | grep -q 'W.*F'
}

# The capture reports the writes that blktrace does not show, and fails with --strict.
hidden_is_told()
{
	if fua_is_traced; then
		[ "$(hidden "$capture")" -eq 0 ] && ! grep -q 'does not tell' "$scratch/captured" &&
			expected=0 text=' events$'
	else
		grep -q " $(hidden "$capture") sectors were written of which" "$scratch/captured" &&
			expected=1 text='does not tell; Linux 7.3'
	fi && ends "$expected" "$text" "$program" trace record --strict -O "$scratch/forced.aftrec" \
		"$scratch/mnt" -- dd if=/dev/zero of="$scratch/mnt/forced" bs=4k count=1 conv=fsync
}

# Check that the converted record file has as many units of each class as the device counted.
converted()
{
	told "$program" trace convert --quiet "$capture" "$record" &&
		same 'units written' $(($(units) + $(hidden "$capture") / 8)) \
			"$(grown host_write_units)" &&
		same 'approximate units' "$(units approximate)" "$(grown host_write_approx_units)" &&
		[ "$(units approximate)" -eq 640 ]
}

# replay CODE [OPTION...] TARGET: replay the record; expect exit status CODE
replay()
{
	code=$1
	shift
	ends "$code" '' "$program" replay --quiet --json="$scratch/report" "$record" "$@"
}

# value KEY: print the number that the replay's JSON report has for KEY
value()
{
	sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$scratch/report" | head -n 1
}

flips()
{
	sed -n '/"approximate": {/,/}/s/^ *"flipped_bits": \([0-9]*\).*/\1/p' "$scratch/report"
}

# A replay on a new device reads back as many flipped bits as the device counted.
replayed_on_fresh_device()
{
	create aftl-copy ram $small &&
		replay 0 --tags require --read-back --record "$scratch/log" /dev/mapper/aftl-copy || return
	grep -e behind -e rate -e 'read back' "$scratch/said" | sed 's/^/# /'
	same 'units written' "$(units)" "$(counter aftl-copy host_write_units)" &&
		same 'approximate units' "$(units approximate)" \
			"$(counter aftl-copy host_write_approx_units)" &&
		same 'flipped bits' "$(flips)" "$(counter aftl-copy read_flipped_bits)" &&
		[ "$(flips)" -gt 1000 ] && same 'wrong units' 0 \
			$(($(value lost_units) + $(value misplaced_units) + $(value stale_units)))
}

# The replay engine "threads" tags the memory of its requests, too.
replayed_by_threads()
{
	dmsetup remove aftl-copy && create aftl-copy ram $small &&
		replay 0 --engine threads --overwrite --tags require /dev/mapper/aftl-copy &&
		same 'approximate units' "$(units approximate)" \
			"$(counter aftl-copy host_write_approx_units)"
}

untagged_is_precise()
{
	dmsetup message aftl-copy 0 reset
	replay 0 --tags off --overwrite --no-stall /dev/mapper/aftl-copy &&
		same 'approximate units' 0 "$(counter aftl-copy host_write_approx_units)" &&
		same 'units written' "$(units)" "$(counter aftl-copy host_write_units)"
}

simulated()
{
	told "$program" replay --simulate --json="$scratch/simulated" "$record" -- \
		--policy approxftl --blocks 64 --word_lines 8 --op 30% &&
		same 'approximate units' "$(units approximate)" "$(sed -n \
			's/^ *"host_write_approx_units": \([0-9]*\),$/\1/p' "$scratch/simulated")"
}

on_other_driver()
{
	ram_disks 1 131072 && replay 0 --read-back --overwrite /dev/ram0 &&
		same 'wrong units' 0 $(($(value lost_units) + $(value misplaced_units)))
}

mounted_is_refused()
{
	ends 1 "is mounted on $scratch/mnt" \
		"$program" replay "$record" /dev/mapper/aftl-source &&
		ends 1 "is mounted on $scratch/mnt" \
			"$program" replay --overwrite "$record" /dev/mapper/aftl-source
}

content_is_refused()
{
	umount "$scratch/mnt" &&
		ends 1 'has content.*--overwrite' "$program" replay "$record" /dev/mapper/aftl-source &&
		told fsck.ext4 -f -n /dev/mapper/aftl-source
}

# The captured program sends SIGINT to its own session, so the capture runs when the signal comes.
interrupted_is_complete()
{
	ends 130 'stop.aftrec: [0-9]* events' setsid --wait "$program" trace record \
		-O "$scratch/stop.aftrec" /dev/mapper/aftl-copy -- sh -c 'kill -INT 0; sleep 60' &&
		told python3 selftests/lib/json_schema.py trace-tools/capture/record-output.fields \
			"$scratch/stop.aftrec/device.json" "$scratch/stop.aftrec/program.json" &&
		[ ! -e /sys/kernel/debug/block/dm-1/trace0 ]
}

# A capture that is refused because the device is traced already must not stop that trace.
traced_is_refused()
{
	blktrace -d /dev/mapper/aftl-copy -o - >"$scratch/other" 2>"$scratch/other-said" &
	tracer=$!
	until [ -e /sys/kernel/debug/block/dm-1/trace0 ]; do
		sleep 0.1
	done
	ends 1 'is being traced already' "$program" trace record -O "$scratch/second.aftrec" \
		/dev/mapper/aftl-copy -- true
	refused=$?
	[ -e /sys/kernel/debug/block/dm-1/trace0 ] && [ ! -e "$scratch/second.aftrec" ]
	goes_on=$?
	kill -INT "$tracer"
	wait "$tracer"
	[ "$refused" -eq 0 ] && [ "$goes_on" -eq 0 ]
}

place_on_device_is_refused()
{
	ends 1 'would be on the device that is traced' "$program" trace record \
		-O "$scratch/mnt/here.aftrec" "$scratch/mnt" -- true && [ ! -e "$scratch/mnt/here.aftrec" ]
}

mounted_ssd()
{
	told "$program" create ssd --profile demo --policy approxftl --size 256MiB &&
		told mkfs.ext4 -q /dev/mapper/ssd && mount /dev/mapper/ssd /mnt
}

no_ssd()
{
	umount /mnt && told "$program" remove ssd
}

examples_of_devices()
{
	examples_of userspace/approxftl/approxftl-device.8.rst
}

examples_of_tags()
{
	mounted_ssd && dd if=/dev/urandom of=/mnt/picture bs=64k count=1 conv=fsync \
		2>"$scratch/said" && examples_of userspace/approxftl/approxftl-tag.8.rst
}

examples_of_captures()
{
	mkdir "$scratch/examples/photos" &&
		dd if=/dev/urandom of="$scratch/examples/photos/1" bs=64k count=8 2>"$scratch/said" &&
		examples_of trace-tools/capture/approxftl-trace-record.1.rst
}

examples_of_replays()
{
	told "$program" create ssd --profile demo --policy approxftl &&
		examples_of trace-tools/replay/approxftl-replay.1.rst &&
		examples_of userspace/torture/approxftl-torture.1.rst &&
		told "$program" remove ssd
}

examples_of_applications()
{
	examples_of userspace/apps/approxftl-app.1.rst
}

ktap_test_run 'make a file system' a_device
ktap_test_run 'a program is captured and its exit status returned' captured
ktap_test_run 'the record agrees with the counters of units and classes' converted
ktap_test_run 'tags and write zeroes are recovered from the trace' hidden_is_told
ktap_test_run 'a capture on the traced device is refused' place_on_device_is_refused
ktap_test_run 'a mounted device is refused' mounted_is_refused
ktap_test_run 'a device with content is refused' content_is_refused
ktap_test_run 'replay on a new device: units, classes, flipped bits' replayed_on_fresh_device
ktap_test_run 'a replay by threads writes the recorded approximate units' replayed_by_threads
ktap_test_run 'a replay without tags writes precise data' untagged_is_precise
ktap_test_run 'the simulator writes the recorded approximate units' simulated
ktap_test_run 'a replay on a RAM disk reads back what it wrote' on_other_driver
ktap_test_run 'an interrupted capture is complete' interrupted_is_complete
ktap_test_run 'a traced device is refused, and its trace continues' traced_is_refused
ktap_test_run 'examples of approxftl-device(8)' examples_of_devices
ktap_test_run 'examples of approxftl-tag(8)' examples_of_tags
ktap_test_run 'examples of approxftl-trace-record(1)' examples_of_captures
ktap_test_run 'remove the device of these examples' no_ssd
ktap_test_run 'examples of approxftl-replay(1) and approxftl-torture(1)' examples_of_replays
ktap_test_run 'examples of approxftl-app(1)' examples_of_applications
ktap_test_run 'remove the device of that example' no_ssd
rmmod brd
finished
