#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# With the packaged udev rule, only members of its group may tag approximate data.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

program=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
needs_program "$program"
node=/dev/approxftl
rules=/run/udev/rules.d
udevd=/usr/lib/systemd/systemd-udevd
if [ ! -x "$udevd" ]; then
	ktap_test_skip 'udev and the control node' 'udev is not installed'
	ktap_finished
fi
if [ -e /run/udev/control ]; then
	ktap_test_skip 'udev and the control node' 'this machine has a udev, which is left alone'
	ktap_finished
fi
chmod 755 "$scratch"
mkdir "$scratch/mounted"

# Without the packaged udev rule only root may open the control node.
roots()
{
	[ "$(stat -c '%U %G %a' "$node")" = 'root root 600' ] && ! tags nogroup >"$scratch/refused"
}

# tags GROUP: tag a file as user nobody, who is a member of GROUP
tags()
{
	file=$scratch/mounted/$1
	rm -f "$file"
	touch "$file" && chown nobody "$file" || return
	setpriv --reuid nobody --regid nogroup --groups "$1" \
		"$program" tag add "$file" >"$scratch/said" 2>&1 && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

starts()
{
	systemd-sysusers "$PWD/packaging/approxftl.sysusers" 2>"$scratch/said" &&
		mkdir -p "$rules" && cp packaging/60-approxftl.rules "$rules" &&
		"$udevd" --daemon 2>"$scratch/said" &&
		udevadm trigger --action=add "/sys/class/misc/${node##*/}" && udevadm settle
}

groups()
{
	[ "$(stat -c '%U %G %a' "$node")" = 'root approxftl 660' ] && return
	stat -c '# %U %G %a' "$node"
	return 1
}

strangers_may_not()
{
	! tags nogroup >"$scratch/refused" &&
		grep -q "$node cannot be opened: Permission denied; its group may" \
			"$scratch/refused" && return
	cat "$scratch/refused"
	return 1
}

# Reloading the module creates the control node anew, and udev applies its rule without a trigger.
loads_again()
{
	rmmod dm_approxftl && [ ! -e "$node" ] && insmod "$MODULE" && udevadm settle && groups
}

# udev workers may hold the control node a little longer than `udevadm control --exit` takes.
leaves()
{
	until_true nothing grep -qsE '^(systemd-udevd|\(udev-worker\))$' /proc/[0-9]*/comm
}

stops()
{
	udevadm control --exit && leaves && rm "$rules/60-approxftl.rules" && rmmod dm_approxftl &&
		insmod "$MODULE" && [ "$(stat -c %a "$node")" = 600 ] && return
	stat -c '# %U %G %a' "$node"
	return 1
}

create aftl-node ram $small && mkfs.ext4 -q /dev/mapper/aftl-node &&
	mount /dev/mapper/aftl-node "$scratch/mounted" && chmod 777 "$scratch/mounted" || exit 1
ktap_test_run 'without the udev rule only root may tag' roots
ktap_test_run 'with the udev rule the node belongs to the group' eval 'starts && groups'
ktap_test_run 'members of the group may tag' tags approxftl
ktap_test_run 'other users are refused with a hint at the group' strangers_may_not
umount "$scratch/mounted"
dmsetup remove aftl-node
ktap_test_run 'the node keeps its group when the module is reloaded' loads_again
ktap_test_run 'without udev the node belongs to root again' stops
finished
