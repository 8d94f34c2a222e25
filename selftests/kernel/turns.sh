# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What does not depend on the kernel is shared between the machines with Debian's two kernels:
# AFTL_TURN is odd in one of them and even in the other. Where it is empty, all is done. To be
# sourced.

# its_turn NUMBER: of a thing that is to be done, counted from 1 on
its_turn()
{
	case ${AFTL_TURN:-} in
	odd) [ $(($1 % 2)) -eq 1 ] ;;
	even) [ $(($1 % 2)) -eq 0 ] ;;
	esac
}

# next_turn WHAT: is it the turn of the next thing? Else says so.
turns=0
next_turn()
{
	turns=$((turns + 1))
	its_turn "$turns" && return
	echo "# $1: left to the other kernel"
	return 1
}

# in_turn NAME COMMAND...: a point that does not depend on the kernel
in_turn()
{
	! next_turn "$1" || ktap_test_run "$@"
}

# every_other: the lines of standard input whose turn it is
every_other()
{
	line_number=0
	while read -r one_line; do
		line_number=$((line_number + 1))
		! its_turn "$line_number" || echo "$one_line"
	done
}

# share NUMBER: as many samples, or half as many where the other kernel draws the others
share()
{
	if [ -n "${AFTL_TURN:-}" ]; then
		echo $((($1 + 1) / 2))
	else
		echo "$1"
	fi
}

# processors NUMBER: where kernels take turns. Two emulated ones wait for each other most of the
# time when the machine below them has no more to give, so that one alone is several times as fast.
# A test has one, but for what it does at_once, unless it says otherwise at its head.
processors()
{
	[ -z "${AFTL_TURN:-}" ] || echo $(($1 - 1)) >/sys/devices/system/cpu/cpu1/online
}

# at_once COMMAND...: on two processors
at_once()
{
	processors 2
	"$@"
	done_at_once=$?
	processors 1
	return "$done_at_once"
}
