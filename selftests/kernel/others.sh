#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run tests of another project on two approxftl or dm-linear devices in a virtual machine.
# When a test ends, print "# TEST pass|fail|skip OUTPUT", a line that `run-others` reads.
#
#   others.sh SUITE KIND-OF-DEVICE SUITE-DIRECTORY TEST-OR-OPTION...
#
# SUITE is the test suite of the other project: xfstests, blktests or dmtest.
# KIND-OF-DEVICE is the data store and the timing of the two test devices, for example ram-off.
# The data store is ram, durable (on a disk) or zoned (zones in memory); the timing is off or real.
# linear-off: dm-linear devices over RAM disks; linear-zoned: over null_blk devices with zones.
# SUITE-DIRECTORY has the built test suite; variable FSTYP is the file system that xfstests uses.
# TEST-OR-OPTION is a test, such as generic/001, or an option of dmtest (`--rx thin/creation`).
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
unset DM_DISABLE_UDEV

suite=$1
store=${2%-*}
timing=${2#*-}
directory=$3
shift 3
first=/dev/mapper/aftl-first
second=/dev/mapper/aftl-second
pair='channels 2 chips 1 blocks 384 word_lines 32 op 20'
zones='policy baseline blocks 384 zoned 4MiB buffer 4MiB buffer_safe on errors off'
kept=${RESULTS:-$scratch}
mkdir "$scratch/first" "$scratch/second"
chmod a+rx "$scratch" # for the tests that run as another user

make_one() # NAME DISK
{
	case $store in
	linear) dmsetup create "$1" --table "0 $(blockdev --getsz "$2") linear $2 0" ;;
	ram) create "$1" ram $pair timing "$timing" ;;
	zoned) create "$1" ram $zones timing "$timing" ;;
	durable) create "$1" "$2" $pair timing "$timing" ;;
	esac
}

# Create the devices on two of three disks; xfstests logs writes on the third.
# Wait for udev, which may still probe newly created disks.
make_pair()
{
	disk=/dev/ram
	case $store-$timing in
	linear-zoned)
		disk=/dev/nullb
		modprobe null_blk nr_devices=2 gb=1 zoned=1 zone_size=4 memory_backed=1
		;;
	linear-*) modprobe brd rd_nr=3 rd_size=$(($(capacity $pair) / 2)) ;;
	*) modprobe brd rd_nr=3 rd_size=1638400 ;;
	esac && udevadm settle && make_one aftl-first ${disk}0 && make_one aftl-second ${disk}1
}

remove_pair()
{
	udevadm settle
	dmsetup remove aftl-first && dmsetup remove aftl-second
}

# Add the users that xfstests needs.
add_people()
{
	for person in fsgqa fsgqa2 123456-fsgqa; do
		grep -q "^$person:" /etc/passwd || useradd --badname --create-home "$person" || return
	done
}

# tell_verdicts: read the output of a suite's check program, and print a line for each test
# A line of xfstests about a file system that a test left inconsistent is a failure of this test.
# Ignore the line that blktests prints when a test begins.
tell_verdicts()
{
	ended=
	while read -r word words; do
		case $word:$words in
		_check_*:*) [ -z "$ended" ] || echo "# $ended fail $word $words" ;;
		[a-z]*/[0-9][0-9][0-9]:*)
			ended=$word
			case $words in
			*'[not run]'* | *'[expunged]'*) echo "# $word skip $words" ;;
			*'[passed]' | [0-9]*s) echo "# $word pass $words" ;;
			*'[failed'* | '- '*) echo "# $word fail $words" ;;
			'('*')' | '=> '*')') ;;
			*) echo "# $word fail $words" ;;
			esac
			;;
		esac
	done
}

run_xfstests()
{
	{
		add_people
		mkfs."${FSTYP:=ext4}" "$first"
		(cd "$directory" && env FSTYP="$FSTYP" TEST_DEV="$first" TEST_DIR="$scratch/first" \
			SCRATCH_DEV="$second" SCRATCH_MNT="$scratch/second" LOGWRITES_DEV="${disk}2" \
			RESULT_BASE="$kept" ./check "$@")
		umount "$first" "$second"
	} 2>&1 | tee -a "$kept/said" | tell_verdicts
}

# Export the first device by NVMe, and print its drive; an NVMe test ends each export that it finds.
export_first()
{
	"$approxftl" nvme aftl-first --remove --force >"$scratch/said" 2>&1
	"$approxftl" nvme aftl-first | sed -n 's,^\(/dev/nvme[0-9]*n1\): .*,\1,p'
}

run_blktests()
{
	# NVMe tests read the kernel's configuration; those of passthrough want no multipath drive.
	case $1 in nvme/*) mount --bind "$BOOT" /boot && modprobe nvme_core multipath=N ;; esac
	for test; do
		drive=$first
		[ "${test#nvme/}" = "$test" ] || drive=$(export_first)
		[ -b "$drive" ] || { echo "$test no NVMe drive [not run]" && continue; }
		(cd "$directory" && env TEST_DEVS="$drive" OUTPUT="$kept" ./check "$test")
	done 2>&1 | tee -a "$kept/said" | tell_verdicts
	"$approxftl" nvme aftl-first --remove --force >"$scratch/said" 2>&1
}

# dmtest reads its device names from a file and needs a writable directory.
run_dmtest()
{
	printf "metadata_dev = '%s'\ndata_dev = '%s'\n" "$first" "$second" >"$kept/config.toml"
	cp "$directory/test_dependencies.toml" "$kept" && (cd "$kept" && PYTHONPATH=$directory/src \
		python3 -m dmtest run --result-set ours "$@") >"$kept/said" 2>&1
	python3 - "$kept" <<-'END'
		import glob, sqlite3, sys
		words = {"PASS": "pass", "FAIL": "fail", "MISSING_DEP": "skip"}
		for base in glob.glob(sys.argv[1] + "/*.db"):
		    for name, said in sqlite3.connect(base).execute(
		        "select test_name, pass_fail from test_results natural join test_names"):
		        print("#", name, words[said])
	END
}

if make_pair; then
	"run_$suite" "$@"
	ktap_test_run 'the devices can be removed' remove_pair
else
	ktap_test_fail 'the devices cannot be made'
fi
finished
