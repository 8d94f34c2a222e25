# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The files of the tree, committed or not, without what git ignores. To be sourced.

# sources PATTERN...: git's pathspecs, with no pattern everything
sources()
{
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
			[ ! -f "$file" ] || printf '%s\n' "$file"
		done
	else
		unpacked_sources "$@"
	fi
}

# sources_to_check PATTERN...: those; in the inner loop only what differs from the last commit
sources_to_check()
{
	if [ -z "${AFTL_FAST:-}" ] || ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		sources "$@"
	else
		git diff --name-only --diff-filter=d HEAD -- "$@"
		git ls-files --others --exclude-standard -- "$@"
	fi
}

# A tarball has no index: every file, less what a build makes.
unpacked_sources()
{
	find . -type f ! -path './build/*' ! -path './.git/*' ! -name '*.pyc' | sed 's,^\./,,' |
		while read -r file; do
			[ $# -gt 0 ] || printf '%s\n' "$file"
			for pattern; do
				# shellcheck disable=SC2254 # a pattern is meant
				case $file in
				$pattern | $pattern/*)
					printf '%s\n' "$file"
					break
					;;
				esac
			done
		done
}

# Scripts are known by their first line, for some have no suffix.
shell_scripts()
{
	sources | while read -r file; do
		case $file in
		*.sh)
			printf '%s\n' "$file"
			;;
		*)
			! head -n 1 "$file" | grep -aqE '^#!.*[ /](ba)?sh$' || printf '%s\n' "$file"
			;;
		esac
	done
}

python_scripts()
{
	sources | while read -r file; do
		case $file in
		*.py)
			printf '%s\n' "$file"
			;;
		*)
			! head -n 1 "$file" | grep -aq '^#!.*python' || printf '%s\n' "$file"
			;;
		esac
	done
}
