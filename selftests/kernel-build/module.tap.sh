#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test that the module builds for all kernels without warnings of gcc (W=1), sparse and modpost.
# To prove that gcc, sparse and modpost ran, each of them must report a planted mistake, in `make
# check` for one kernel, and for another one in the next commit.
# If the module does not build for a kernel, print the names that this kernel has changed.
#
#   module.tap.sh [SERIES]...   default: all kernel series of userspace/lab/kernels
set -u
. selftests/lib/tap.sh
. userspace/lab/kernels

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build KERNEL DIRECTORY: build the modules in DIRECTORY for KERNEL, with output in DIRECTORY/log
build()
{
	userspace/lab/kbuild "$1" "$2" W=1 C=2 -k modules >"$2/log" 2>&1
	built=$?
	# The locale chooses the quotation marks.
	sed -i "s/[‘’]/'/g" "$2/log"
	return "$built"
}

# complaints DIRECTORY: print warnings and errors about the module from the build log in DIRECTORY
# The paths of the module's files begin with ../ instead of / if ccache compiles them.
complaints()
{
	grep -E "^(([^ ]*/)?(dm-approxftl[/.]|selftests/)|/build/|/dev/null)[^ ]*: (warning|error|fatal error)|^(WARNING|ERROR): modpost|^[^ ]*: (undefined|multiple)" \
		"$1/log"
	grep -E ' dm-approxftl/[^ ]*:[0-9]+:[0-9]+: (warning|error)' "$1/log"
}

# changes DIRECTORY: print names of the kernel API that the build log reports as missing or changed
changes()
{
	{
		grep -E ': error: |from incompatible pointer type' "$1/log" | grep -oE "'[^']+'"
		sed -n '/error: .* incomplete type$/ { n; p }' "$1/log" | grep -oE 'struct [a-z_]+'
		sed -nE "s/.*note: expected ('[^']*') but argument is of type ('[^']*')/\1\n\2/p" "$1/log"
		sed -nE 's/^ERROR: modpost: "([^"]*)".* undefined!$/'"'\1'/p" "$1/log"
	} | sort -u
}

# build_module KERNEL DIRECTORY: build the module by build-module, with the output in DIRECTORY/log
build_module()
{
	mkdir "$2"
	module=$(AFTL_STRICT=yes userspace/lab/build-module "$1" "$PWD" "$AFTL_BUILD" 2>"$2/why")
	built=$?
	folder=$AFTL_BUILD/lab/$(basename "$1")-strict
	sed "s/[‘’]/'/g; s|$folder/|$2/|g" "$folder/log" >"$2/log"
	return "$built"
}

builds_silently()
{
	if ! build_module "$1" "$2"; then
		echo "$(basename "$1") may have changed, for dm-approxftl/compat.h:" "$(changes "$2" | xargs)"
		grep -vE '^ +(CC|CHECK)' "$2/log" | tail -n 40
		return 1
	fi
	[ -e "$module" ] || echo 'there is no module'
	[ "$(grep -c ' CC .*dm-approxftl/.*\.o$' "$2/log")" -eq "$(find dm-approxftl -name '*.c' | wc -l)" ] ||
		echo 'its log is not of all files'
	complaints "$2" | sort -u
}

# large_frames DIRECTORY: print functions with frames of 1 KiB or more that run in soft interrupts
# A soft interrupt has the rest of a stack of 16 KiB, and KASAN enlarges each frame. Tasks set
# parameters: their copy of all parameters may be on the stack.
large_frames()
{
	find "$1/dm-approxftl" -name '*.o' | grep -E '/(core/(ftl|hif|nand|policy|sched)|bio|store|tags)/' |
		xargs -n 1 objdump -d |
		sed -nE 's/^[0-9a-f]+ <(.*)>:$/\1/; t name
			/[[:space:]]sub +[$]0x([4-9a-f][0-9a-f]{2}|[0-9a-f]{4,8}),%rsp/ {
				x; /^aftl_(check|set)_param$/!p; x
			}
			b
			: name
			h'
}

# mistakes DIRECTORY: create modules with a mistake each that sparse, gcc or modpost must report
mistakes()
{
	mkdir "$1"
	cat >"$1/for-sparse.c" <<'MISTAKE'
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
	cat >"$1/for-gcc.c" <<'MISTAKE'
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
	cat >"$1/for-modpost.c" <<'MISTAKE'
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
	echo 'obj-m := for-sparse.o for-gcc.o for-modpost.o' >"$1/Kbuild"
}

# reports DIRECTORY PROGRAM TEXT: check that PROGRAM has reported its planted mistake with TEXT
reports()
{
	grep -F "$3" "$1/log" | grep -q "for-$2"
}

# sparse_runs DIRECTORY: return false if kbuild skipped sparse because sparse is too old
sparse_runs()
{
	! grep -q 'sparse is not available or not up to date' "$1/log"
}

# shellcheck disable=SC2086 # a list of names
[ $# -gt 0 ] || set -- $every_series
number=0
for series; do
	number=$((number + 1))
	kernel=$(userspace/lab/get-kernel "$series" 2>"$work/why")
	case $? in
	0) ;;
	4)
		ktap_test_skip "module on $series" "$(tail -n 1 "$work/why")"
		continue
		;;
	*)
		ktap_test_fail "module on $series: $(tail -n 1 "$work/why")"
		continue
		;;
	esac
	release=$(basename "$kernel")
	# Not named after the kernel: its `+` would be special in the expressions of complaints().
	place=$(mktemp -d "$work/XXXXXX")
	ktap_test_silent "the module builds silently on $release" builds_silently "$kernel" "$place/module"
	ktap_test_silent "no stack frame of the module is large in soft interrupts on $release" \
		large_frames "$AFTL_BUILD/lab/$release-strict"
	if [ -n "${AFTL_PHASE:-}" ] && [ $(((number - ${AFTL_PHASE%/*}) % $#)) -ne 0 ]; then
		ktap_test_skip "planted mistakes on $release" 'left to another commit'
		continue
	fi
	mistakes "$place/mistakes"
	build "$kernel" "$place/mistakes"
	if sparse_runs "$place/module"; then
		ktap_test_run "sparse reports a planted mistake on $release" \
			reports "$place/mistakes" sparse 'incorrect type in initializer'
	else
		ktap_test_skip "sparse on $release" 'it is not installed, or does not know the headers'
	fi
	ktap_test_run "gcc W=1 reports a planted mistake on $release" \
		reports "$place/mistakes" gcc 'set but not used'
	ktap_test_run "modpost reports a planted mistake on $release" \
		reports "$place/mistakes" modpost 'undefined!'
done
ktap_finished
