# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# KTAP output for test scripts, with the function names of kselftest's ktap_helpers.sh.
# A script sources this file in the top directory of the tree and ends with `ktap_finished`.

echo 'KTAP version 1'
ktap_points=0
ktap_failures=0
ktap_skipped=0
ktap_wanted=0

ktap_point()
{
	ktap_points=$((ktap_points + 1))
	printf '%s %d - %s\n' "$1" "$ktap_points" "$2"
}

ktap_test_pass()
{
	ktap_point ok "$1"
}

ktap_test_fail()
{
	ktap_failures=$((ktap_failures + 1))
	ktap_point 'not ok' "$1"
}

# ktap_test_skip NAME REASON: print that a test point was skipped
ktap_test_skip()
{
	ktap_skipped=$((ktap_skipped + 1))
	ktap_point ok "$1 # SKIP $2"
}

# ktap_is_wanted NAME: return true if the name contains $KTAP_POINTS
ktap_is_wanted()
{
	case $1 in
	*"${KTAP_POINTS:-}"*) ;;
	*) return 1 ;;
	esac
	ktap_wanted=$((ktap_wanted + 1))
}

# ktap_test_run NAME COMMAND...: test point that passes if the command succeeds
ktap_test_run()
{
	ktap_is_wanted "$1" || return 0
	ktap_name=$1
	shift
	if "$@"; then
		ktap_test_pass "$ktap_name"
	else
		ktap_test_fail "$ktap_name"
	fi
}

# ktap_test_silent NAME COMMAND...: test point that passes if the command succeeds silently
# KTAP_POINTS only hides a test point: its command runs, as later points may depend on it.
ktap_test_silent()
{
	ktap_is_wanted "$1"
	ktap_name=$1
	shift
	if ktap_said=$("$@" 2>&1) && [ -z "$ktap_said" ]; then
		ktap_test_pass "$ktap_name"
	else
		[ -z "$ktap_said" ] || printf '%s\n' "$ktap_said" | sed 's/^/# /'
		ktap_test_fail "$ktap_name"
	fi
}

# nothing COMMAND...: return true if the command fails, such as a grep without matches
nothing()
{
	! "$@"
}

# ktap_test_needing TOOL NAME COMMAND...: call ktap_test_run, or skip if TOOL is not installed
ktap_test_needing()
{
	if ! command -v "$1" >/dev/null; then
		ktap_test_skip "$2" "$1 is not installed: make deps"
		return
	fi
	shift
	ktap_test_run "$@"
}

# ktap_test_judged_by VERSION TOOL NAME COMMAND...: ktap_test_run, but skip unless TOOL has VERSION
ktap_test_judged_by()
{
	version=$1
	tool=$2
	shift
	is=$("$tool" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
	case $is in
	'' | "$version" | "$version".*) ktap_test_needing "$@" ;;
	*) ktap_test_skip "$2" "$tool $is has other opinions than $version, which the tree follows" ;;
	esac
}

# Exit with a status of kselftest: 0, 1 for a failure, 4 if all test points were skipped.
ktap_finished()
{
	[ -z "${KTAP_POINTS:-}" ] || [ "$ktap_wanted" -gt 0 ] ||
		ktap_test_fail "no point has '$KTAP_POINTS' in its name"
	echo "1..$ktap_points"
	[ "$ktap_failures" -eq 0 ] || exit 1
	[ "$ktap_skipped" -eq 0 ] || [ "$ktap_skipped" -lt "$ktap_points" ] || exit 4
	exit 0
}
