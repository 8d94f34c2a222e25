#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module compiles for both kernels, without a word from gcc (W=1), sparse (C=2)
# or modpost; and each of the three would have had its word.
set -u
unset MAKEFLAGS # a variable of ours, such as O, is none of the kernel's
. selftests/lib/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

newest()
{
	find /lib/modules -mindepth 2 -maxdepth 2 -name build 2>/dev/null | cut -d / -f 4 |
		grep -E "$1" | sort -V | tail -n 1
}

# lay_out DIRECTORY: a copy of what the module is built from
lay_out()
{
	mkdir "$1"
	cp -r Kbuild dm-approxftl "$1"
}

# build KERNEL DIRECTORY: everything that was said is in DIRECTORY/log
build()
{
	make -C "/lib/modules/$1/build" "M=$2" W=1 C=2 modules -k -j "$(nproc)" >"$2/log" 2>&1
}

# Other people's headers have warnings of their own under W=1 and C=2.
complaints()
{
	grep -E "^($1/|dm-approxftl|/dev/null)[^ ]*: (warning|error|fatal error)|^(WARNING|ERROR): modpost|^[^ ]*: (undefined|multiple)" \
		"$1/log"
	grep -E '(^| )dm-approxftl/[^ ]*:[0-9]+:[0-9]+: (warning|error)' "$1/log"
}

builds_silently()
{
	lay_out "$2"
	if ! build "$1" "$2"; then
		grep -vE '^ +(CC|CHECK)' "$2/log" | tail -n 40
		return 1
	fi
	[ -e "$2/dm-approxftl.ko" ] || echo 'there is no module'
	complaints "$2" | sort -u
}

# reports KERNEL DIRECTORY TEXT: the mistake on standard input is spoken of
reports()
{
	mkdir "$2"
	cat >"$2/mistake.c"
	echo 'obj-m := mistake.o' >"$2/Kbuild"
	build "$1" "$2"
	grep -F "$3" "$2/log" | grep -q mistake
}

sparse_reports()
{
	reports "$@" 'incorrect type in initializer' <<'MISTAKE'
#include <linux/module.h>
typedef u32 __bitwise unit_t;
typedef u32 __bitwise slot_t;
u32 mixed(unit_t unit);
u32 mixed(unit_t unit)
{
	slot_t slot = unit;

	return (__force u32)slot;
}
MODULE_DESCRIPTION("two kinds of address, mixed");
MODULE_LICENSE("GPL");
MISTAKE
}

gcc_reports()
{
	reports "$@" 'set but not used' <<'MISTAKE'
#include <linux/module.h>
int idle(void);
int idle(void)
{
	int unused;

	unused = 1;
	return 0;
}
MODULE_DESCRIPTION("a variable that nobody reads");
MODULE_LICENSE("GPL");
MISTAKE
}

modpost_reports()
{
	reports "$@" 'undefined!' <<'MISTAKE'
#include <linux/module.h>
void *malloc(unsigned long size);
void *take(void);
void *take(void)
{
	return malloc(1);
}
MODULE_DESCRIPTION("a call that only libc answers");
MODULE_LICENSE("GPL");
MISTAKE
}

for series in '^6\.1\.0-[0-9]+-amd64$' '^6\.12\.[0-9]+\+deb12-amd64$'; do
	kernel=$(newest "$series")
	if [ -z "$kernel" ]; then
		ktap_test_skip "module on $series" 'its headers are not installed: make deps'
		continue
	fi
	if ! command -v sparse >/dev/null; then
		ktap_test_skip "module on $kernel" 'sparse is not installed: make deps'
		continue
	fi
	# Not named after the kernel: its `+` would mean something in complaints().
	place=$(mktemp -d "$work/XXXXXX")
	ktap_test_silent "the module builds silently on $kernel" builds_silently "$kernel" "$place/module"
	ktap_test_run "sparse is alive on $kernel" sparse_reports "$kernel" "$place/sparse"
	ktap_test_run "gcc's W=1 is alive on $kernel" gcc_reports "$kernel" "$place/gcc"
	ktap_test_run "modpost is alive on $kernel" modpost_reports "$kernel" "$place/modpost"
done
ktap_finished
