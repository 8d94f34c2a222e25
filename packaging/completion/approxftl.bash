# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of approxftl for bash. The program itself lists verbs, options and names.

# Verbs of the program (argument: help), or of a verb that has verbs of its own (tag --help)
_approxftl_verbs()
{
	approxftl "$@" 2>/dev/null | awk '/^  [a-z]/ { print $1 }'
}

_approxftl_options()
{
	approxftl "$@" --help 2>/dev/null | grep -oE '(^|[ ,[|])--?[A-Za-z][a-z-]*' | tr -d ' ,[|'
}

_approxftl_devices()
{
	dmsetup ls --target approxftl 2>/dev/null | awk '$1 != "No" { print $1 }'
}

_approxftl_names()
{
	# shellcheck disable=SC2086 # words
	approxftl $1 2>/dev/null | awk '{ print $1 }'
}

# Possible next words. $1: verb; $2: previous word; $3: verb, with the second verb if it has one
_approxftl_values()
{
	case $2 in
	--policy)
		_approxftl_names policies
		[ "$1" != sim ] || echo all
		;;
	--profile) _approxftl_names profiles ;;
	--file | --script) ;;
	--kernel) _approxftl_names 'lab --list' ;;
	-o | --show | -S | --sort) _approxftl_names "$3 -o help" ;;
	*)
		case $1 in
		list | status | stat | top | health | message | remove) _approxftl_devices ;;
		fault)
			_approxftl_devices
			echo unit block die age uncorrectable after write read time program
			;;
		help) _approxftl_verbs help ;;
		esac
		;;
	esac
}

_approxftl()
{
	local word=${COMP_WORDS[COMP_CWORD]} words verb

	verb=("${COMP_WORDS[1]:-}")
	case ${verb[0]} in
	tag | trace) verb+=("${COMP_WORDS[2]:-}") ;;
	esac
	if ((COMP_CWORD == 1)); then
		words=$(_approxftl_verbs help)
	elif ((COMP_CWORD == 2 && ${#verb[@]} == 2)); then
		words=$(_approxftl_verbs "${verb[0]}" --help)
	elif [[ $word == -* ]]; then
		words=$(_approxftl_options "${verb[@]}")
	else
		words=$(_approxftl_values "${verb[0]}" "${COMP_WORDS[COMP_CWORD - 1]}" "${verb[*]}")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _approxftl approxftl
