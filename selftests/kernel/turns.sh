# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Points that do not depend on the kernel are shared out among the machines with different kernels:
# AFTL_TURN is 1/3 in the first of three, 2/3 and 3/3 in the others. Of these points each commit has
# a part: AFTL_PHASE is 1/3 for one commit, 2/3 for the next. Where both are empty, all is done.
# To be sourced.

turn=${AFTL_TURN:-1/1}
in_all=${turn#*/}
turn=${turn%/*}
phase=${AFTL_PHASE:-1/1}
phases=${phase#*/}
phase=${phase%/*}

# its_turn NUMBER: of a thing that is to be done, counted from 1 on
its_turn()
{
	[ $((($1 - turn) % in_all)) -eq 0 ]
}

# next_turn WHAT: is it the turn of the next thing? Else says so.
turns=0
next_turn()
{
	turns=$((turns + 1))
	if [ $(((turns - 1) / in_all % phases)) -ne $((phase - 1)) ]; then
		echo "# $1: left to another commit"
	elif its_turn "$turns"; then
		return
	else
		echo "# $1: left to another kernel"
	fi
	return 1
}

# in_turn NAME COMMAND...: a point that does not depend on the kernel
in_turn()
{
	! next_turn "$1" || ktap_test_run "$@"
}

# in_turn_silent NAME COMMAND...: the same, that prints nothing
in_turn_silent()
{
	! next_turn "$1" || ktap_test_silent "$@"
}

# on_newest NAME COMMAND...: a point that old kernels lack something for
on_newest()
{
	if [ "$turn" -eq "$in_all" ]; then
		ktap_test_run "$@"
	else
		echo "# $1: left to the newest kernel"
	fi
}

# those_in_turn: the lines of standard input whose turn it is
those_in_turn()
{
	line_number=0
	while read -r one_line; do
		line_number=$((line_number + 1))
		! its_turn "$line_number" || echo "$one_line"
	done
}

# share NUMBER: as many samples, or fewer where other kernels draw the others
share()
{
	echo $((($1 + in_all - 1) / in_all))
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
