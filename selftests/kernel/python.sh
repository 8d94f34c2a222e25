# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A Python that has started once, for the many small programs of a test. To be sourced after lib.sh.

# start_python DIRECTORY: for fifos; files 8 and 7 are to and from it, from here on
start_python()
{
	mkfifo "$1/programs" "$1/ends"
	python3 selftests/kernel/python-server.py <"$1/programs" >"$1/ends" &
	exec 8>"$1/programs" 7<"$1/ends"
}

# python PROGRAM|-c TEXT|- [ARGUMENT]...: as python3, but in the environment in which it was
# started, with no file but 0 to 2, and one after the other; ended after $python_limit seconds
python()
{
	{
		read -r own_pid _ </proc/self/stat &&
			printf '%s\0' "$own_pid" "${python_limit:-0}" $# "$@" >&8 || return
		# Somebody who has asked before may not have waited.
		while read -r who_asked python_ended <&7; do
			[ "$who_asked" -ne "$own_pid" ] || return "$python_ended"
		done
		return 1
	} 3<&0 4>&1 5>&2
}

# One for all tests of a guest, where there is one.
# shellcheck disable=SC2154 # of lib.sh
[ -n "${AFTL_PYTHON:-}" ] || start_python "$scratch"
