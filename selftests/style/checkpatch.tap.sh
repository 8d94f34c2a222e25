#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# checkpatch --strict must be silent about every C file. It takes a second of a processor for 1,200
# lines: a machine that has heard nothing of any yet looks at a third of those outside the kernel's
# part, other ones at each commit, and AFTL_ALL=1 at all.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/include"
ln -s "$PWD/dm-approxftl" "$PWD/userspace" "$PWD/selftests" "$PWD/trace-tools" "$work"
checkpatch=$(selftests/install-packages --checkpatch)

# In the kernel's part and the core:
ignored=FILE_PATH_CHANGES # about MAINTAINERS, of which an external tree has none
# A table of X() rows hands each reader all columns, and a reader may declare one field a row.
ignored=$ignored,MACRO_ARG_UNUSED,TRAILING_SEMICOLON,MULTISTATEMENT_MACRO_USE_DO_WHILE
ignored=$ignored,MACRO_ARG_PRECEDENCE # of the name of a member, around which nothing can stand
ignored=$ignored,MINMAX # a cast inside min() says what is meant; min_t() casts both sides unseen

# Outside the kernel, moreover:
userspace=$ignored
userspace=$userspace,PREFER_KERNEL_TYPES # <stdint.h> is what libc speaks
userspace=$userspace,NAKED_SSCANF        # there is no kstrto*() here
userspace=$userspace,SSCANF_TO_KSTRTO    # nor here

# In the trace tools, besides:
tools=$userspace,CAMELCASE            # of zlib and zstd
tools=$tools,BIT_MACRO                # there is none here
tools=$tools,EMBEDDED_FUNCTION_NAME   # an option is called as its function
tools=$tools,VOLATILE                 # a flag that a signal sets

# In the header that defines, for userspace, what checkpatch asks to be used:
host=$userspace
host=$host,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE # these are their definitions
host=$host,MACRO_ARG_REUSE                          # min() and max() of plain integers
host=$host,UNSPECIFIED_INT                          # unsigned __int128 is complete

# A row of a *-table.h stands at the margin, where neither tabs nor blanks can align its rest.
tables=$userspace,PARENTHESIS_ALIGNMENT

# A list of PARAM() rows is a macro, for those who read it in two ways; a loop names its variable
# more than once.
lists=$ignored,COMPLEX_MACRO,MACRO_ARG_REUSE

# In compat.h, whose only purpose it is to ask for the version:
compat=$ignored,LINUX_VERSION_CODE,CONSTANT_COMPARISON

# In the header that is what checkpatch asks to be used:
locks=$ignored,USE_LOCKDEP,MACRO_ARG_REUSE

# Where two libraries are called that speak camel case:
codec=$userspace,CAMELCASE

# TRACE_EVENT() is laid out like a structure, in all of the kernel:
trace=$ignored,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT

# In a place of its own, without a repository: it keeps notes where it runs.
speak()
(
	types=$1
	shift
	cd "$work" && GIT_DIR=/nonexistent perl "$checkpatch" --no-tree --root . --strict \
		--max-line-length=100 --terse --show-types --no-summary --ignore "$types" -f "$@" 2>&1
)

# check TYPES FILE...
check()
{
	types=$1
	shift
	printf '%s\n' "$@" |
		anew "$(cat "$0" "${checkpatch%/*}"/* | sha256sum)" speak "$types"
}

turn=$(git rev-list --count HEAD 2>/dev/null) || turn=0
begun=$(silences)/checkpatch-has-begun
# In the inner loop there are only those that somebody is working on.
[ -z "${AFTL_ALL:-}${AFTL_FAST:-}" ] && [ ! -e "$begun" ] && share=3 || share=1

# in_turn FOLDER: of the files on standard input
in_turn()
{
	awk -v "turn=$turn" -v "share=$([ "$1" = dm-approxftl ] && echo 1 || echo "$share")" \
		'NR % share == turn % share'
}

# check_folder TYPES FOLDER
check_folder()
{
	[ "$2" = dm-approxftl ] || [ "$share" -eq 1 ] ||
		echo "# checkpatch of $2: one file in $share, in turn $turn"
	# shellcheck disable=SC2046 # file names without blanks, by another check
	check_files "checkpatch of $2" "$1" \
		$(sources_to_check "$2/*.[ch]" | grep -vx userspace/host/aftl-host.h | grep -v -e '-table\.h$' -e /compat.h -e /held-locks.h -e -codec.c -e dm-approxftl/store/trace.h |
			grep -vxF "$with_lists" | in_turn "$2")
}

# check_files NAME TYPES FILE...
check_files()
{
	name=$1
	shift
	[ $# -gt 1 ] || return 0
	if [ -e "$checkpatch" ]; then
		ktap_test_silent "$name" check "$@"
	else
		ktap_test_skip "$name" 'checkpatch.pl is not there: make deps'
	fi
}

with_lists=$(grep -rlE 'define (PARAMS\(|AFTL_PARAM_TABLE|aftl_each_)' dm-approxftl --include='*.[ch]')
[ -z "${AFTL_FAST:-}" ] ||
	ktap_test_skip 'checkpatch of what is as in the last commit' 'too slow for the inner loop'
check_folder "$ignored" dm-approxftl
check_folder "$userspace" userspace
check_folder "$userspace" selftests
check_folder "$tools" trace-tools
# shellcheck disable=SC2046 # file names without blanks, by another check
check_files 'checkpatch of lists of parameters and of loops' "$lists" \
	$(sources_to_check 'dm-approxftl/*.[ch]' | grep -xF "$with_lists")
check_files 'checkpatch of compat.h' "$compat" dm-approxftl/compat.h
check_files 'checkpatch of held-locks.h' "$locks" selftests/kernel/held-locks.h
check_files 'checkpatch of what calls zlib and zstd' "$codec" \
	trace-tools/reader/trace-codec.c selftests/fuzz/fuzz-codec.c
check_files 'checkpatch of trace.h' "$trace" dm-approxftl/store/trace.h
# shellcheck disable=SC2046 # file names without blanks, by another check
check_files 'checkpatch of tables of macro rows' "$tables" $(sources_to_check '*-table.h')
[ ! -e "$checkpatch" ] ||
	ktap_test_silent 'checkpatch of the host header' check "$host" userspace/host/aftl-host.h
# What was left comes the next time.
[ -n "${AFTL_FAST:-}" ] || [ ! -d "${begun%/*}" ] || touch "$begun"
ktap_finished
