#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cppcheck must be silent about the core, userspace and the trace tools; sparse's __bitwise, of which
# it understands nothing, would be half of its time.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046,SC2086 # file names without blanks, by another check
check()
{
	cppcheck --quiet --std=c11 -U__CHECKER__ --enable=warning,performance,portability,style \
		--inline-suppr --error-exitcode=1 --suppressions-list=selftests/style/cppcheck.txt \
		--template='{file}:{line}: {severity}: {message} [{id}]' \
		$(printf -- '-I %s ' $include_folders) $files
}

name='cppcheck of core, userspace and trace-tools'
files=$(sources_to_check 'dm-approxftl/core/*.c' 'userspace/*.c' 'trace-tools/*.c')
if [ -n "$files" ]; then
	ktap_test_judged_by 2.10 cppcheck "$name" check
else
	ktap_test_skip "$name" 'none differs from the last commit; make check has all'
fi
ktap_finished
