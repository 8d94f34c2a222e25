# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Functions that list the files of the tree, committed or not, except what git ignores.

# Directories with headers of all parts, for tools that check all sources at once
# shellcheck disable=SC2034 # used by sourcing scripts
include_folders='userspace/libapproxftl dm-approxftl/uapi dm-approxftl userspace/host userspace/lib
userspace/sim userspace/approxftl trace-tools/reader trace-tools/trace trace-tools/capture
trace-tools/replay'

# sources [PATTERN...]: print the files that match git pathspecs; all without a pattern
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

# sources_to_check PATTERN...: call `sources`; with AFTL_FAST, keep files changed since HEAD
sources_to_check()
{
	if [ -z "${AFTL_FAST:-}" ] || ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		sources "$@"
	else
		git diff --name-only --diff-filter=d HEAD -- "$@"
		git ls-files --others --exclude-standard -- "$@"
	fi
}

# sources_in_turn PATTERN...: call `sources_to_check`; if AFTL_PHASE divides the checks among commits,
# keep the files that differ from the parent of HEAD, and this commit's share of the others
sources_in_turn()
{
	share=${AFTL_PHASE:-1/1}
	changed=$(git diff --name-only HEAD~1 -- "$@" 2>/dev/null
		git ls-files --others --exclude-standard -- "$@" 2>/dev/null) || :
	sources_to_check "$@" |
		awk -v "share=${share%/*}" -v "shares=${share#*/}" -v "changed=$changed" '
			BEGIN { for (i = split(changed, names, "\n"); i > 0; i--) differs[names[i]] }
			$0 in differs || NR % shares == share - 1'
}

# skip_the_rest NAME CHECKED ALL: report how many files of ALL other commits check
skip_the_rest()
{
	[ "$2" -eq "$3" ] || ktap_test_skip "$1: $(($3 - $2)) files" 'left to another commit'
}

# List the sources in an unpacked tarball, which has no git index: all files except build output
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

# scripts PATTERN1 PATTERN2: print files whose name matches PATTERN1, or first line PATTERN2
# The prefix ./ keeps awk from taking a name with an equals sign for an assignment.
scripts()
{
	# shellcheck disable=SC2016 # for awk
	sources | sed 's,^,./,' | xargs awk -v suffix="$1" -v first="$2" '
		FILENAME ~ suffix || $0 ~ first { print substr(FILENAME, 3) }
		{ nextfile }'
}

shell_scripts()
{
	scripts '[.]sh$' '^#!.*[ /](ba)?sh$'
}

python_scripts()
{
	scripts '[.]py$' '^#!.*python'
}

# Directory with an empty file for each source file and each checker that the file has passed
silences()
{
	echo "${XDG_CACHE_HOME:-${HOME:?}/.cache}/approxftl/silent"
}

# anew VERSION CHECKER...: run CHECKER on the files of standard input that have not passed it yet
# VERSION is a text that changes when the checker, its version or its settings change.
anew()
{
	identity=$1
	shift
	silences=$(silences)
	mkdir -p "$silences"
	find "$silences" -type f -mtime +60 -delete
	unheard=$(while read -r file; do
		seal=$silences/$({ echo "$identity $* $file" && cat "$file"; } | sha256sum | cut -c 1-40)
		[ -e "$seal" ] || echo "$file $seal"
	done)
	[ -n "$unheard" ] || return 0
	# shellcheck disable=SC2046 # style/text refuses file names with blanks
	if ! said=$("$@" $(echo "$unheard" | cut -d ' ' -f 1)) || [ -n "$said" ]; then
		printf '%s\n' "$said"
		return 1
	fi
	echo "$unheard" | cut -d ' ' -f 2 | xargs touch
}
