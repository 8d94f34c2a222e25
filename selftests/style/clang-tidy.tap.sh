#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run clang's static analyser and its `bugprone` checks on the core, userspace and the trace tools.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# Enabled are the checks clang-analyzer-* and bugprone-*, except:
#   easily-swappable-parameters     a matter of taste, not a bug
#   narrowing-conversions           flash arithmetic is unsigned with 32 bits on purpose
#   reserved-identifier             names of the kernel, such as __bitwise and __ffs
#   assignment-in-if-condition      checked by checkpatch already
#   macro-parentheses               arguments of table macros cannot be in parentheses
#   DeprecatedOrUnsafeBufferHandling  recommends Annex K, which no libc has
checks='-*,clang-analyzer-*,bugprone-*'
checks=$checks,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions
checks=$checks,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition
checks=$checks,-bugprone-macro-parentheses
checks=$checks,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling

# Largest number of program states that clang's analyser explores in each function
# AFTL_ANALYSER_NODES=225000, clang's default, takes ten times as long; few functions need it.
nodes=${AFTL_ANALYSER_NODES:-7000}

# Each process checks one file, because clang's analyser confuses the va_lists of several files.
# shellcheck disable=SC2046,SC2086 # folders without blanks
tidy()
{
	printf '%s\n' "$@" |
		xargs -n 1 -P 2 clang-tidy --quiet "--checks=$checks" '--warnings-as-errors=*' \
			--extra-arg=-Xclang --extra-arg=-analyzer-config \
			--extra-arg=-Xclang "--extra-arg=max-nodes=$nodes" \
			--extra-arg=-std=gnu11 $(printf -- '--extra-arg=-I%s ' $include_folders) 2>/dev/null
}

# shellcheck disable=SC2046 # style/text refuses file names with blanks
check()
{
	sources_in_turn "$@" |
		anew "$({ clang-tidy --version && echo "$nodes" && cat "$0" $(sources '*.h'); } | sha256sum)" tidy
}

name='clang-tidy of core, userspace and trace-tools'
if [ -n "${AFTL_FAST:-}" ]; then
	ktap_test_skip "$name" 'too slow for the inner loop'
else
	set -- 'dm-approxftl/core/*.c' 'userspace/*.c' 'trace-tools/*.c'
	ktap_test_judged_by 14 clang-tidy "$name" check "$@"
	skip_the_rest "$name" "$(sources_in_turn "$@" | wc -l)" "$(sources "$@" | wc -l)"
fi
ktap_finished
