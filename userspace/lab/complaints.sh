# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel messages that fail a test, even if the test itself passes. To be sourced.
# A report of KCSAN fails a test only if the report names our module.

# shellcheck disable=SC2034 # the sourcing script uses the variable
complaints='BUG: ([^K]|K[^C]|KCSAN:.*\[dm_approxftl\])|WARNING:|UBSAN:|Oops|general protection fault|KFENCE|hung task|blocked for more than|soft lockup|rcu.*stall|refcount_t|list_(add|del) corruption|ODEBUG:|guest: memory leaks'
