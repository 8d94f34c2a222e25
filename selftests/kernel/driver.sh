# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A Python program of scenarios that has started once. To be sourced after lib.sh.

# driver_starts PROGRAM: one that can serve, see tags.py
driver_starts()
{
	# shellcheck disable=SC2154 # of lib.sh
	mkfifo "$scratch/scenarios" "$scratch/answers"
	python3 "$1" serve <"$scratch/scenarios" >"$scratch/answers" &
	exec 8>"$scratch/scenarios" 7<"$scratch/answers"
}

# driver SCENARIO [ARGUMENT]...: it writes to 3 and 4: to speak to it, 1 is taken
driver()
{
	{
		read -r own_pid _ </proc/self/stat && echo "$own_pid $*" >&8 &&
			read -r driven <&7 && return "$driven"
	} 3>&1 4>&2
}
