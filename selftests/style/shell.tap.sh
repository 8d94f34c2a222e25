#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check every shell script by shellcheck.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046 # style/text refuses file names with blanks
lint()
{
	shell_scripts | anew "$({ shellcheck --version && cat $(sources '*.sh'); } | sha256sum)" \
		shellcheck --external-sources --format gcc
}

ktap_test_needing shellcheck 'shellcheck' lint
ktap_finished
