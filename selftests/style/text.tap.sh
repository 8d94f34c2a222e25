#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Rules for all files of the tree, whatever their language
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046 # this test refuses file names with blanks
search()
{
	grep -nI "$@" $(sources | grep -v '^LICENSES/')
}

spelling()
{
	sources | grep -vE '^LICENSES/|/(corpus|data)/' |
		xargs codespell
}

unusual_names()
{
	sources | grep -E '[^A-Za-z0-9._/+-]|/[^/]*[A-Z_][^/]*\.[ch]$'
}

# Two names may recur: each host has an aftl-host.h; the library and linux/ have an approxftl.h.
headers_of_one_name()
{
	sources | sed -n 's,.*/\([^/]*\.h\)$,\1,p' | grep -vx 'aftl-host\.h\|approxftl\.h' |
		sort | uniq -d | grep .
}

# REUSE checks a copy of the sources: outside a git repository it would also check build output.
licences()
{
	copy=$(mktemp -d)
	sources | tar -cT - | tar -xC "$copy"
	reuse --root "$copy" lint --lines
	set -- $?
	rm -rf "$copy"
	return "$1"
}

ktap_test_silent 'no trailing blanks' nothing search -E '[[:blank:]]+$'
ktap_test_silent 'no file mentions unfinished work' nothing search -wE '(TO[D]O|FIX[M]E|X[X]X)'
ktap_test_silent 'no file has a path of one particular machine' \
	nothing search -E '(^|[^A-Za-z0-9_.])/(root|work|home)/[a-z]'
ktap_test_silent 'no file names the host of a package registry' \
	nothing search -E '(deb|security)\.debian\.org|pypi\.org|pythonhoste[d]|crates\.io|npmj[s]'
ktap_test_silent 'file names in kebab-case' nothing unusual_names
ktap_test_silent 'no two headers have the same name' nothing headers_of_one_name
ktap_test_needing codespell 'spelling' spelling
ktap_test_needing reuse 'every file has a licence' licences
ktap_finished
