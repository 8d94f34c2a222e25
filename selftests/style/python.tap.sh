#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Lint and types of every Python file.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

# shellcheck disable=SC2046 # file names without blanks, by another check
lint()
{
	ruff check --quiet --output-format concise $(python_scripts)
}

# mypy takes two scripts without a package for one module of one name: one run for each.
types()
{
	python_scripts | grep -v '\.tap\.py$' | grep '\.py$' | xargs mypy --no-error-summary || return 1
	python_scripts | grep -E '\.tap\.py$|/[^.]*$' | while read -r script; do
		mypy --no-error-summary --scripts-are-modules "$script" || exit 1
	done
}

ktap_test_needing ruff 'ruff' lint
ktap_test_needing mypy 'mypy --strict' types
ktap_finished
