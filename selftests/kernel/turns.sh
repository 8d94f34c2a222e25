# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernels share the test points that do not depend on the kernel. Source this file.
# AFTL_TURN is 1/3 on the first of three kernels, then 2/3 and 3/3.
# AFTL_PHASE is 1/6 for one commit, 2/6 for the next. Without the two variables all points run.

turn=${AFTL_TURN:-1/1}
in_all=${turn#*/}
turn=${turn%/*}
phase=${AFTL_PHASE:-1/1}
phases=${phase#*/}
phase=${phase%/*}

# its_turn NUMBER: return true if this kernel runs the test point NUMBER, counted from 1
its_turn()
{
	[ $((($1 - turn) % in_all)) -eq 0 ]
}

# next_turn NAME: count a test point; return true if it runs here, else print that it runs elsewhere
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

# in_turn NAME COMMAND...: run a kernel-independent test point if AFTL_TURN and AFTL_PHASE select it
in_turn()
{
	! next_turn "$1" || ktap_test_run "$@"
}

# moving NAME COMMAND...: run a test point on one kernel, and on another kernel in the next commit
moves=0
moving()
{
	moves=$((moves + 1))
	if [ "$phases" -eq 1 ] || its_turn $((moves + phase)); then
		ktap_test_run "$@"
	else
		echo "# $1: left to another kernel"
	fi
}

# on_newest NAME COMMAND...: run a test point only on the newest kernel, whose features it needs
on_newest()
{
	if [ "$turn" -eq "$in_all" ]; then
		ktap_test_run "$@"
	else
		echo "# $1: left to the newest kernel"
	fi
}

# those_in_turn: print the lines of standard input that are this kernel's share
those_in_turn()
{
	line_number=0
	while read -r one_line; do
		line_number=$((line_number + 1))
		! its_turn "$line_number" || echo "$one_line"
	done
}

# share NUMBER: print how many of NUMBER random test cases this kernel runs; half of its share if the
# commits divide the test points, too
share()
{
	echo $((($1 + in_all - 1) / in_all / (phases > 1 ? 2 : 1)))
}

# processors NUMBER: give the guest 1 or 2 processors, if several kernels share the test points
# On a loaded host one processor is faster than two, which mostly wait for each other.
# A test runs on one processor, unless it calls `processors`; a command of `at_once` has two.
# User Mode Linux has no second processor.
processors()
{
	second=/sys/devices/system/cpu/cpu1/online
	[ -z "${AFTL_TURN:-}" ] || [ ! -e "$second" ] || echo $(($1 - 1)) >"$second"
}

# at_once COMMAND...: run the command on two processors
at_once()
{
	processors 2
	"$@"
	done_at_once=$?
	processors 1
	return "$done_at_once"
}
