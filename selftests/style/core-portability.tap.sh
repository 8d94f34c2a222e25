#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The core includes only "aftl-host.h" and its own headers, and uses no floating point.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046 # style/text refuses file names with blanks
core()
{
	set -- "$@" $(sources 'dm-approxftl/core/*.c' 'dm-approxftl/core/*.h')
	"$@"
}

foreign_includes()
{
	core grep -nE '^[[:space:]]*#[[:space:]]*include' |
		sed -nE 's/^([^:]*:[0-9]+):.*include[[:space:]]*(.*)$/\1 \2/p' |
		while read -r place header _; do
			case $header in
			'"aftl-host.h"') ;;
			'"core/'*)
				name=${header#\"}
				[ -e "dm-approxftl/${name%\"}" ] || echo "$place includes $header"
				;;
			*)
				echo "$place includes $header"
				;;
			esac
		done
}

# Each directory of the core may include headers only from itself and from the layers below it.
includes_of_later_rooms()
{
	later='base nand policy ftl sched hif persist'
	for directory in dm-approxftl/core/*/; do
		room=$(basename "$directory")
		case " $later " in
		*" $room "*) ;;
		*) echo "the directory $room has no place in the order of layers" ;;
		esac
	done
	while [ -n "$later" ]; do
		room=${later%% *}
		case $later in
		*' '*) later=${later#* } ;;
		*) later= ;;
		esac
		for other in $later; do
			grep -rn "^#include \"core/$other/" "dm-approxftl/core/$room"
		done
	done
}

# Search for floating point in the preprocessed code, without comments, strings and quoted includes.
floating_point()
{
	core cat | gcc -fpreprocessed -dD -E -P -x c - 2>/dev/null | sed 's/"[^"]*"//g' |
		grep -nwE 'float|double|_Float(16|32|64|128)|__float128|[0-9]+\.[0-9]+[fFlL]?'
}

# Link the core into one object, to inspect its undefined symbols and its variables.
link_core()
{
	for source in $(sources 'dm-approxftl/core/*.c'); do
		gcc -std=gnu11 -O1 -fno-pic -fno-stack-protector -w -I dm-approxftl \
			-I userspace/host -c -o "$work/$(echo "$source" | tr / -).o" "$source" || return 1
	done
	ld -r -o "$work/core" "$work"/*.o
}

# Allowed symbols: string functions, which each host has, and vsnprintf, which the host header uses.
# Compilers add __popcountdi2 to count bits, and __cpu_model to look up processor features.
symbols_from_outside()
{
	nm -u "$work/core" | awk '{ print $2 }' |
		grep -vxE 'mem(chr|cmp|cpy|move|set)|str(chr|cmp|len|ncmp|nlen|rchr|spn|cspn)|vsnprintf|__cpu_model|__popcountdi2'
}

variables()
{
	nm "$work/core" | grep -E ' [bBcCdD] '
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "$(sources 'dm-approxftl/core/*.c')" ]; then
	echo 'Bail out! no core to look at'
	exit 1
fi
ktap_test_silent 'the core includes nothing but its host header and itself' foreign_includes
ktap_test_silent 'no directory of the core includes headers of a later one' includes_of_later_rooms
ktap_test_silent 'the core has no floating point' nothing floating_point
ktap_test_run 'the core compiles and links by itself' link_core
if [ -e "$work/core" ]; then
	ktap_test_silent 'the core calls no allocator, clock, printer or random source' \
		nothing symbols_from_outside
	ktap_test_silent 'the core has no variables outside its structures' nothing variables
fi
ktap_finished
