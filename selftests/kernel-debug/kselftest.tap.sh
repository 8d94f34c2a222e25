#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the module's tests in a virtual machine as a directory of a kernel's tools/testing/selftests.
# The tests use lib.mk and the runner of the kernel's tools/testing/selftests.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

if ! kernel=$(userspace/lab/get-kernel uml-debug); then
	ktap_test_fail 'the source of a kernel is there'
	ktap_finished
fi
mkdir -p "${AFTL_BUILD:-build}/tests"
tree=$(mktemp -d "$(realpath "${AFTL_BUILD:-build}")/tests/kselftest-XXXXXX")
trap 'rm -rf "$tree"' EXIT
cp -r "${kernel%/approxftl/*}/tools/testing/selftests/lib.mk" \
	"${kernel%/approxftl/*}/tools/testing/selftests/kselftest" "$tree/"
make -s -C selftests install INSTALL_PATH="$tree/dm-approxftl"

# run_there VARIABLE=VALUE: run three tests by the kernel's selftests runner with this variable set
run_there()
{
	tests='selftests/kernel/discard-flush.sh selftests/kernel/carriers.py selftests/kernel/latency.sh'
	userspace/lab/approxftl-lab --real-time --kernel uml-debug --cmd \
		"$1 make -s -C $tree/dm-approxftl run_tests TEST_PROGS='$tests'" >"$tree/said" 2>&1
	sed 's/^/# /' "$tree/said"
}

tests_pass_or_are_skipped()
{
	grep -q '^ok 1 selftests: dm-approxftl: discard-flush.sh$' "$tree/said" &&
		grep -q '^ok 2 selftests: dm-approxftl: carriers.py$' "$tree/said" &&
		grep -q '^ok 3 selftests: dm-approxftl: latency.sh # SKIP' "$tree/said"
}

failures_are_reported()
{
	grep -q '^not ok 1 selftests: dm-approxftl: discard-flush.sh' "$tree/said" &&
		grep -q '^not ok 2 selftests: dm-approxftl: carriers.py' "$tree/said"
}

all_tests_are_listed()
{
	# shellcheck disable=SC2016 # make expands it
	make -s -C "$tree/dm-approxftl" --eval 'list: ; @echo $(TEST_PROGS)' list 2>/dev/null |
		tr ' ' '\n' | cmp - "$tree/list"
}

selftests/kernel/run-in-kernel --list >"$tree/list"
ktap_test_run 'kselftest knows every test of the module' all_tests_are_listed
run_there 'KTAP_POINTS='
ktap_test_run 'the tests pass, and those for the lab are skipped' tests_pass_or_are_skipped
run_there "KTAP_POINTS='no such point'"
ktap_test_run 'kselftest reports a failed test of the module' failures_are_reported
ktap_finished
