#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# checkpatch --strict must not complain about any C file. checkpatch takes a second for 1,200 lines,
# so one `make check` has the files that the commit changed and a sixth of the others.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/include"
ln -s "$PWD/dm-approxftl" "$PWD/userspace" "$PWD/selftests" "$PWD/trace-tools" "$work"
checkpatch=$(selftests/install-packages --checkpatch)

# $ignored: checkpatch messages to ignore in the kernel target and the core, with the reasons
ignored=FILE_PATH_CHANGES # about MAINTAINERS, of which an external tree has none
# Macros for rows of an X() table have a parameter for each column, and need not use each one.
ignored=$ignored,MACRO_ARG_UNUSED,TRAILING_SEMICOLON,MULTISTATEMENT_MACRO_USE_DO_WHILE
ignored=$ignored,MACRO_ARG_PRECEDENCE # a member's name cannot be in parentheses
ignored=$ignored,MINMAX # a cast of one argument is safer than min_t(), which casts both

# $userspace: further checkpatch messages to ignore outside the kernel
userspace=$ignored
userspace=$userspace,PREFER_KERNEL_TYPES # libc uses the types of <stdint.h>
userspace=$userspace,NAKED_SSCANF        # there is no kstrto*() in user space
userspace=$userspace,SSCANF_TO_KSTRTO    # the same

# $tests: further checkpatch messages to ignore in tests. TAP_TEST() repeats its argument.
# Parameters of a tested device are one long string, which nobody needs to find by grep.
tests=$userspace,MACRO_ARG_REUSE,SPLIT_STRING

# $tools: further checkpatch messages to ignore in the trace tools
tools=$userspace,CAMELCASE            # names of zlib and zstd
tools=$tools,BIT_MACRO                # there is no BIT() in user space
tools=$tools,EMBEDDED_FUNCTION_NAME   # an option has the name of its function
tools=$tools,VOLATILE                 # a flag that a signal sets

# $host: messages to ignore in the header that defines the kernel's macros for user space
host=$userspace
host=$host,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE # these are their definitions
host=$host,MACRO_ARG_REUSE                          # min() and max() of plain integers
host=$host,UNSPECIFIED_INT                          # unsigned __int128 is complete

# Rows of a *-table.h start in the first column, so their continuation lines cannot be aligned.
tables=$userspace,PARENTHESIS_ALIGNMENT

# A list of PARAM() rows is a macro because it is expanded in two ways.
lists=$ignored,COMPLEX_MACRO,MACRO_ARG_REUSE

# $peers: messages to ignore in the harness of other emulators, which defines their functions
peers=$tests,CAMELCASE,NEW_TYPEDEFS,AVOID_EXTERNS # names of FEMU and QEMU, and of the linker
peers=$peers,AVOID_BUG,PRINTK_WITHOUT_KERN_LEVEL  # the definitions of BUG_ON() and printk()
peers=$peers,COMPLEX_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO # OFF() declares an alias

# $compat: messages to ignore in compat.h, which checks the kernel version by design
compat=$ignored,LINUX_VERSION_CODE,CONSTANT_COMPARISON

# $locks: messages to ignore in the header that replaces lockdep outside the kernel
locks=$ignored,USE_LOCKDEP,MACRO_ARG_REUSE

# $codec: messages to ignore in callers of libraries with names in camel case
codec=$userspace,CAMELCASE

# $trace: messages to ignore in trace headers, whose TRACE_EVENT() is indented like a structure
trace=$ignored,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT

# Run checkpatch in a temporary directory, because checkpatch writes files.
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

# check_folder TYPES FOLDER: run checkpatch on a folder's C files, ignoring messages of these TYPES
check_folder()
{
	# shellcheck disable=SC2046 # style/text refuses file names with blanks
	check_files "checkpatch of $2" "$1" \
		$(sources_in_turn "$2/*.[ch]" | grep -vx userspace/host/aftl-host.h | grep -v -e ^selftests/peers/ -e '-table\.h$' -e /compat.h -e /held-locks.h -e -codec.c -e dm-approxftl/store/trace.h |
			grep -vxF "$with_lists")
	skip_the_rest "checkpatch of $2" "$(sources_in_turn "$2/*.[ch]" | wc -l)" \
		"$(sources_to_check "$2/*.[ch]" | wc -l)"
}

# check_files NAME TYPES FILE...: run checkpatch on the files, ignoring messages of these TYPES
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
	ktap_test_skip 'checkpatch accepts the committed files' 'too slow for the inner loop'
check_folder "$ignored" dm-approxftl
check_folder "$userspace" userspace
check_folder "$tests" selftests
check_folder "$tools" trace-tools
# shellcheck disable=SC2046 # style/text refuses file names with blanks
check_files 'checkpatch of lists of parameters and of loops' "$lists" \
	$(sources_in_turn 'dm-approxftl/*.[ch]' | grep -xF "$with_lists")
check_files 'checkpatch of compat.h' "$compat" dm-approxftl/compat.h
check_files 'checkpatch of held-locks.h' "$locks" selftests/kernel/held-locks.h
check_files 'checkpatch of what calls zlib and zstd' "$codec" \
	trace-tools/reader/trace-codec.c selftests/fuzz/fuzz-codec.c
# shellcheck disable=SC2046 # style/text refuses file names with blanks
check_files 'checkpatch of the harness of other emulators' "$peers" \
	$(sources_in_turn 'selftests/peers/*.[ch]')
check_files 'checkpatch of trace.h' "$trace" dm-approxftl/store/trace.h
# shellcheck disable=SC2046 # style/text refuses file names with blanks
check_files 'checkpatch of tables of macro rows' "$tables" $(sources_in_turn '*-table.h')
[ ! -e "$checkpatch" ] ||
	ktap_test_silent 'checkpatch accepts the host header' \
		check "$host" userspace/host/aftl-host.h
ktap_finished
