#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cppcheck must be silent about the core and about userspace.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046 # file names without blanks, by another check
check()
{
	cppcheck --quiet --std=c11 --enable=warning,performance,portability,style \
		--inline-suppr --error-exitcode=1 --suppressions-list=selftests/style/cppcheck.txt \
		--template='{file}:{line}: {severity}: {message} [{id}]' \
		-I userspace/libapproxftl -I dm-approxftl/uapi -I dm-approxftl -I dm-approxftl/core -I userspace/host -I userspace/lib -I userspace/sim \
		$(sources 'dm-approxftl/core/*.c' 'userspace/*.c')
}

ktap_test_needing cppcheck 'cppcheck of core and userspace' check
ktap_finished
