#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Approximate data have exactly as many bit errors as the counter says, and two reads agree.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

# shellcheck disable=SC2086 # words
create aftl-flip ram $small tag_all approximate || exit 1
dd if=/dev/urandom of="$scratch/written" bs=1M count=8 2>"$scratch/said"
dd if="$scratch/written" of=/dev/mapper/aftl-flip bs=1M oflag=direct 2>"$scratch/said"

read_back()
{
	dmsetup message aftl-flip 0 reset
	dd if=/dev/mapper/aftl-flip of="$1" bs=256k count=32 iflag=direct 2>"$scratch/said"
	told=$(counter aftl-flip read_flipped_bits)
}

differing_bits()
{
	python3 -c 'import sys
a, b = (int.from_bytes(open(name, "rb").read(), "little") for name in sys.argv[1:])
print(bin(a ^ b).count("1"))' "$@"
}

# 8 MiB at a bit error rate of 7.2e-4 have 48318 errors on average; allow four standard deviations.
counter_is_right()
{
	read_back "$scratch/first"
	[ "$told" -gt 47400 ] && [ "$told" -lt 49200 ] &&
		[ "$(differing_bits "$scratch/written" "$scratch/first")" -eq "$told" ] && return
	echo "# told $told, found $(differing_bits "$scratch/written" "$scratch/first")"
	return 1
}

reads_agree()
{
	read_back "$scratch/second"
	cmp "$scratch/first" "$scratch/second"
}

precise_is_exact()
{
	# shellcheck disable=SC2086 # words
	create aftl-exact ram $small &&
		dd if="$scratch/written" of=/dev/mapper/aftl-exact bs=1M oflag=direct 2>"$scratch/said" &&
		dd if=/dev/mapper/aftl-exact bs=1M count=8 iflag=direct 2>"$scratch/said" |
		cmp - "$scratch/written"
}

ktap_test_run 'wrong bits match the counter' counter_is_right
ktap_test_run 'two reads return the same data' reads_agree
ktap_test_run 'precise data have no errors' precise_is_exact
finished
