#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A few mutants, other ones at each commit; `make mutants` tries all. And each patch still applies.
set -u
. selftests/lib/tap.sh

turn=0
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	turn=$(git rev-list --count HEAD)
fi

applies()
{
	patch -p1 --dry-run -F0 -s -i "$1" >/dev/null
}

# What a mutant's test says is a remark here.
sample_is_caught()
{
	selftests/mutants/run --sample 2 --turn "$turn" >"$said" 2>&1
	caught=$?
	sed 's/^/# /' "$said"
	return "$caught"
}

said=$(mktemp)
trap 'rm -f "$said"' EXIT
for patch in selftests/mutants/*/*.patch; do
	ktap_test_run "${patch#selftests/mutants/}: applies" applies "$patch"
done
ktap_test_run "a sample of mutants is caught, turn $turn" sample_is_caught
ktap_finished
