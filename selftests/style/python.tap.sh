#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the style and the types of every Python file, by ruff and mypy.
set -u
. selftests/lib/tap.sh
. selftests/lib/sources.sh

scripts=$(python_scripts)

# shellcheck disable=SC2086 # style/text refuses file names with blanks
lint()
{
	ruff check --quiet --output-format concise $scripts
}

# mypy takes scripts outside packages for one module, so each script gets a run of mypy.
types_of() # FILE...
{
	printf '%s\n' "$@" | grep -v '\.tap\.py$' | grep '\.py$' |
		xargs mypy --no-error-summary || return 1
	printf '%s\n' "$@" | grep -E '\.tap\.py$|/[^.]*$' | while read -r script; do
		mypy --no-error-summary --scripts-are-modules "$script" || exit 1
	done
}

# A change of any Python file can break types elsewhere, so the cache key of mypy covers all files.
# shellcheck disable=SC2086 # style/text refuses file names with blanks
types()
{
	echo "$scripts" | anew "$(cat pyproject.toml selftests/requirements.txt $scripts | sha256sum)" \
		types_of
}

ktap_test_needing ruff 'ruff' lint
ktap_test_needing mypy 'mypy --strict' types
ktap_finished
