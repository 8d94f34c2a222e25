# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A Python that has started once, for the many small programs of a test. To be sourced after lib.sh.

# shellcheck disable=SC2154 # of lib.sh
mkfifo "$scratch/programs" "$scratch/ends"
python3 selftests/kernel/python-server.py <"$scratch/programs" >"$scratch/ends" &
exec 8>"$scratch/programs" 7<"$scratch/ends"

# python PROGRAM|-c TEXT|- [ARGUMENT]...: as python3, but in the environment in which this file was
# sourced, with no file but 0 to 2, and one after the other
python()
{
	{
		read -r own_pid _ </proc/self/stat &&
			printf '%s\0' "$own_pid" $# "$@" >&8 &&
			read -r python_ended <&7 && return "$python_ended"
	} 3<&0 4>&1 5>&2
}
