#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run other projects' test suites on a pair of our devices and on a pair of dm-linear devices in the
# same boot. Only tests that fail on ours alone count as failures.
#
#   others.sh xfstests|blktests|dmtest DIRECTORY [WORD]...
#
# DIRECTORY is a built checkout of the suite. Each WORD is passed to its runner: `generic/001` or
# `-g quick` to xfstests' check, `block` to blktests', `--rx thin/creation` to dmtest. FSTYP is the
# file system for xfstests; AFTL_ON selects from "ram-off" and so on. udev runs.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
unset DM_DISABLE_UDEV

suite=$1
directory=$2
shift 2
first=/dev/mapper/aftl-first
second=/dev/mapper/aftl-second
pair='channels 2 chips 1 blocks 384 word_lines 32 op 20'
sectors=$(capacity $pair)
mkdir "$scratch/first" "$scratch/second" "$scratch/verdicts"
needs_module brd

# make_one NAME RAM_DISK STORE TIMING: create a device; STORE may be "linear"
make_one()
{
	case $3 in
	linear) dmsetup create "$1" --table "0 $sectors linear $2 0" ;;
	ram) create "$1" ram $pair timing "$4" ;;
	durable) create "$1" "$2" $pair timing "$4" ;;
	esac
}

# udev may still probe newly created RAM disks.
make_pair() # STORE TIMING
{
	udevadm settle
	ram_disks 2 1638400 && make_one aftl-first /dev/ram0 "$@" && make_one aftl-second /dev/ram1 "$@"
}

remove_pair()
{
	udevadm settle
	dmsetup remove aftl-first && dmsetup remove aftl-second
}

# Each run_SUITE saves the suite's output in $kept and prints "TEST pass|fail|skip" per test.

# Add the users that xfstests needs.
add_people()
{
	for person in fsgqa fsgqa2 123456-fsgqa; do
		grep -q "^$person:" /etc/passwd || useradd --badname --create-home "$person" || return
	done
}

# Report each test of xfstests as it ends, because tests take long on emulated processors.
tell_each()
{
	tee "$kept/said" | sed -u -n 's/^\([a-z0-9]*\/[0-9]*\) /# \1 /p' >&2
}

run_xfstests()
{
	{
		add_people
		mkfs."${FSTYP:=ext4}" "$first"
		(cd "$directory" && env FSTYP="$FSTYP" TEST_DEV="$first" TEST_DIR="$scratch/first" \
			SCRATCH_DEV="$second" SCRATCH_MNT="$scratch/second" RESULT_BASE="$kept" ./check "$@")
		umount "$first" "$second"
	} 2>&1 | tell_each
	awk '{ sub(/^Ran:/, "pass"); sub(/^Not run:/, "skip"); sub(/^Failures:/, "fail") }
		/^(pass|skip|fail) / { for (i = 2; i <= NF; i++) verdict[$i] = $1 }
		END { for (test in verdict) print test, verdict[test] }' "$kept/check.log"
}

run_blktests()
{
	(cd "$directory" && env TEST_DEVS="$first" DEVICE_ONLY=1 OUTPUT="$kept" ./check "$@") \
		>"$kept/said" 2>&1
	grep -r '^status	' "$kept" |
		sed -n 's,.*/\([^/]*/[^/:]*\):status	\(pass\|fail\|not run\)$,\1 \2,p' | sed 's/not run/skip/'
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
		        print(name, words[said])
	END
}

# run_on STORE TIMING [WORD]...: run the suite on such devices; set verdicts to the result file
run_on()
{
	kept=${RESULTS:-$scratch}/$1-$2
	verdicts=$scratch/verdicts/$1-$2
	make_pair "$1" "$2" && mkdir -p "$kept" || return
	shift 2
	"run_$suite" "$@" | sort -u >"$verdicts"
	remove_pair && [ -s "$verdicts" ] && return
	tail -n 20 "$kept/said" | sed 's/^/# /'
	return 1
}

# compare WHERE: compare each test's result with the one on dm-linear
compare()
{
	join -a 1 -a 2 -e - -o 0,1.2,2.2 "$scratch/verdicts/linear-off" "$verdicts" |
		while read -r test theirs ours; do
			echo "$ours:$theirs $test"
		done >"$scratch/compared"
	while read -r both test; do
		case $both in
		pass:*) ktap_test_pass "$1: $test" ;;
		fail:fail) ktap_test_skip "$1: $test" 'fails on dm-linear, too' ;;
		skip:skip) ktap_test_skip "$1: $test" 'not for dm-linear, either' ;;
		skip:*) ktap_test_skip "$1: $test" "not run here; on dm-linear: ${both#*:}" ;;
		*) ktap_test_fail "$1: $test is ${both%:*}, on dm-linear ${both#*:}" ;;
		esac
	done <"$scratch/compared"
	cut -d ' ' -f 1 "$scratch/compared" | sort | uniq -c |
		sed "s/^ */# $1, here:on dm-linear: /"
}

ktap_test_run 'on dm-linear' run_on linear off "$@"
for where in ${AFTL_ON:-ram-off ram-real durable-off durable-real}; do
	ktap_test_run "on $where" run_on "${where%-*}" "${where#*-}" "$@" && compare "$where"
done
finished
