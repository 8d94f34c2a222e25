# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What no test may make a kernel say, however content it is itself. Races in the rest of the kernel
# are its own. To be sourced.

# shellcheck disable=SC2034 # for who sources it
complaints='BUG: ([^K]|K[^C]|KCSAN:.*\[dm_approxftl\])|WARNING:|UBSAN:|Oops|general protection fault|KFENCE|hung task|blocked for more than|soft lockup|rcu.*stall|refcount_t|list_(add|del) corruption|ODEBUG:|guest: memory leaks'
