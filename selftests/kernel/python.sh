# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the many small Python programs of a test in one interpreter that starts once. Source this file
# after lib.sh.

# shellcheck disable=SC2154 # of lib.sh
mkfifo "$scratch/programs" "$scratch/ends"
python3 selftests/kernel/python-server.py <"$scratch/programs" >"$scratch/ends" &
exec 8>"$scratch/programs" 7<"$scratch/ends"

# python PROGRAM|-c TEXT|- [ARGUMENT]...: like python3, but with the environment of the time when
# this file was sourced, only file descriptors 0 to 2, and one program at a time
python()
{
	{
		read -r own_pid _ </proc/self/stat &&
			printf '%s\0' "$own_pid" $# "$@" >&8 &&
			read -r python_ended <&7 && return "$python_ended"
	} 3<&0 4>&1 5>&2
}
