#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Lint of every shell script.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046 # file names without blanks, by another check
lint()
{
	shellcheck --external-sources --format gcc $(shell_scripts)
}

ktap_test_needing shellcheck 'shellcheck' lint
ktap_finished
