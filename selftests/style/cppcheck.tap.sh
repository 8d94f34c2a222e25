#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cppcheck must not complain about the core, userspace and the trace tools.
# Use -U__CHECKER__: sparse's __bitwise, which cppcheck does not know, would double its time.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# check OPTION... FILE...: run cppcheck with these options on these files
# shellcheck disable=SC2046,SC2086 # folders without blanks
check()
{
	cppcheck --quiet --std=c11 -U__CHECKER__ --enable=warning,performance,portability,style \
		--inline-suppr --error-exitcode=1 --suppressions-list=selftests/style/cppcheck.txt \
		--template='{file}:{line}: {severity}: {message} [{id}]' \
		$(printf -- '-I %s ' $include_folders) "$@"
}

# cppcheck would check each file with and without __x86_64__, because a common header tests it.
# Without __x86_64__ check only the files that test it themselves.
# shellcheck disable=SC2046,SC2086 # style/text refuses file names with blanks
check_all()
{
	check --force -D__x86_64__ $files || return
	set -- $(grep -l __x86_64__ $files)
	[ $# -eq 0 ] || check --force -U__x86_64__ "$@"
}

name='cppcheck of core, userspace and trace-tools'
set -- 'dm-approxftl/core/*.c' 'userspace/*.c' 'trace-tools/*.c'
files=$(sources_in_turn "$@")
if [ -n "$files" ]; then
	ktap_test_judged_by 2.10 cppcheck "$name" check_all
	# shellcheck disable=SC2086 # a list
	skip_the_rest "$name" "$(printf '%s\n' $files | wc -l)" "$(sources_to_check "$@" | wc -l)"
else
	ktap_test_skip "$name" 'none differs from the last commit; make check has all'
fi
ktap_finished
