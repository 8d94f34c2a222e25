#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest is killed while it writes to a volume; a guest with another kernel finds flushed data.
# The disk is an emulated NVMe drive of QEMU that keeps every completed write.
# No unflushed writes are lost here; kernel/crash.sh tests their loss.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh

work=$(mktemp -d)
guest=
trap '[ -z "$guest" ] || kill "$guest" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
truncate -s 64M "$work/disk"

# in_guest KERNEL STEP...: run steps of power-cut-guest.sh; results go to $work/KERNEL
in_guest()
{
	kernel=$1
	shift
	userspace/lab/approxftl-lab --real-time --kernel "$kernel" --disk "$work/disk" \
		--results "$work/$kernel" --cmd "sh selftests/kernel/power-cut-guest.sh $*" \
		>"$work/said" 2>"$work/complaints" &
	guest=$!
	wait $guest
	status=$?
	guest=
	sed 's/^/# /' "$work/said" "$work/complaints"
}

# Check that the guest has died under load, after enough flushes.
died()
{
	[ "$status" -eq 98 ] && [ "$(grep -c '^mark' "$work/6.1/journal")" -ge 20 ]
}

found_all()
{
	grep -q '^everything is there' "$work/said"
}

for kernel in 6.1 6.12; do
	userspace/lab/get-kernel "$kernel" >"$work/said" 2>"$work/why"
	[ $? -eq 4 ] || continue
	ktap_test_skip 'power cuts' "$(tail -n 1 "$work/why")"
	ktap_finished
done
in_guest 6.1 write
ktap_test_run 'Linux 6.1 loses power while it writes' died
in_guest 6.12 check "$work/6.1/journal" verify
ktap_test_run 'Linux 6.12 recovers all flushed data' found_all
ktap_test_run 'fio verifies new data' grep -q '^verified' "$work/said"
ktap_test_run 'the guest ends without complaints' [ "$status" -eq 0 ]
ktap_finished
