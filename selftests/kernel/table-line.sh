#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The table that dmsetup prints creates an equal device; every refused table gets a reason.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

# prints EXPECTED WORD...: `dmsetup table` of a device made with these arguments prints EXPECTED
prints()
{
	expected="0 20480 approxftl $1"
	shift
	dmsetup create aftl-line --table "0 20480 approxftl $*" || return 1
	printed=$(dmsetup table aftl-line)
	echo "$printed" | dmsetup reload aftl-line && again=$(dmsetup table --inactive aftl-line)
	dmsetup remove aftl-line
	[ "$printed" = "$expected" ] && [ "$again" = "$expected" ] && return
	printf '# %s\n' "wanted $expected" "first $printed" "loaded $again"
	return 1
}

# round_trip PRINTED WORD...: check as a test point that a table of WORDs is printed as PRINTED
round_trip()
{
	wanted=$1
	shift
	in_turn "round trip: $*" prints "$wanted" "$@"
}

# refused SENTENCE "STORE ARGUMENT..." [SECTORS]: loading this table fails and logs SENTENCE
refused()
{
	if dmsetup create aftl-line --table "0 ${3:-20480} approxftl $2" 2>"$scratch/said"; then
		echo '# it was accepted'
		dmsetup remove aftl-line
		return 1
	fi
	dmesg | tail -n 3 >"$scratch/log"
	grep -qF "approxftl: $1 (-" "$scratch/log" && return
	sed 's/^/# /' "$scratch/log"
	return 1
}

refusal()
{
	in_turn "refused \"$2\": $1" refused "$@"
}

plain='profile demo policy approxftl timing real'
round_trip "none 6 $plain" none 0
round_trip 'none 10 profile demo policy delta_b timing scale:20 tag_all approximate op 20.5' \
	none 8 op 20.50 tag_all approximate timing scale:20 policy delta_b
round_trip "ram 18 $plain channels 4 blocks 200 read 50us errors off rber 2.5e-8 seed 7" \
	ram 16 seed 7 errors off rber 2.50e-8 read 50000ns blocks 200 channels 4 timing real op 15.0
round_trip "none 32 $plain plane_mode independent page 4KiB unit 2KiB suspend both idle 2ms buffer 1MiB gc 12 wear_gap 50 refresh 0 cell_model voltage fill sequential fill_valid 50 age 90d" \
	none 26 plane_mode independent age 90d fill_valid 50 fill sequential cell_model voltage refresh 0 wear_gap 50 \
	gc 12 buffer 1024KiB idle 2ms suspend both unit 2KiB page 4096

# `dmsetup table` leaves out values that equal those of the table's profile.
round_trip "none 6 $plain" none 6 victim greedy allocate rotate stripe cwdp

refusal 'a store (none, ram or a block device) and the number of words that follow are missing' ''
refusal '"disk" is not a store; there are none, ram, and block devices by path' 'disk 0'
refusal 'the number of words that follow the store is "x"; it must be a whole number' 'ram x'
refusal 'the table line announces 2 option words, but 1 follow' 'ram 2 op'
refusal 'the table line announces 0 option words, but 2 follow' 'ram 0 op 7'
refusal 'option op has no value' 'ram 1 op'
refusal 'option op is given twice' 'ram 4 op 7 op 7'
refusal 'unknown option "colour"; there are profile, policy, timing, tag_all, ioprio_hint, tag_carrier and what "approxftl params" lists' \
	'ram 2 colour red'
refusal 'timing: "fast" is not one of real, off or scale:N with N from 1 to 1000000' 'ram 2 timing fast'
refusal 'a mapping unit of 8192 bytes cannot be a sector of the kernel; say unit 4KiB' \
	'ram 2 unit 0'
refusal 'the table asks for 20480000 sectors, but the device has 891288; lower the former or raise blocks' \
	'ram 0' 20480000
refusal '20481 sectors are not a multiple of the mapping unit of 8 sectors' 'ram 0' 20481
finished
