#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test libapproxftl and its front ends on file systems of a device of the running kernel.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

build=${AFTL_BUILD:-build}
program=${APPROXFTL:-$build/approxftl}
place=$scratch/mounted
mkdir "$place"
if ! moves_pages; then
	ktap_test_skip library 'where this kernel does not tell whether ext4 journals data'
	ktap_finished
fi
chmod 755 "$scratch" && let_everybody_tag
needs_program "$program" "$build/approxrun" "$build/examples/annotated" \
	"$build/examples/annotated-cpp"

# Copy files to a directory that user nobody may read; the source tree may be private.
readable=$scratch/readable
mkdir "$readable" && cp -P "$build"/libapproxftl*.so* "$build/approxrun" "$readable" &&
	cp -r userspace/python docs/examples/annotated.py "$readable" || exit 1

# mounted DEVICE: mount DEVICE, writable for every user
mounted()
{
	mount "/dev/mapper/$1" "$place" && chmod 777 "$place"
}

# a_device COMMAND...: create a device, make a file system on it by COMMAND, and mount it
a_device()
{
	create aftl-library ram $small && "$@" /dev/mapper/aftl-library >"$scratch/said" 2>&1 &&
		mounted aftl-library && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# Run fsck and remount the file system, so that data are read from flash.
remounted()
{
	umount "$place" && fsck.ext4 -f -n /dev/mapper/aftl-library >"$scratch/said" 2>&1 &&
		mounted aftl-library && return
	sed 's/^/# /' "$scratch/said"
	return 1
}

# says TEXT COMMAND...: require that a line of output matches the basic regular expression TEXT
says()
{
	text=$1
	shift
	"$@" >"$scratch/out" 2>"$scratch/err" && grep -q "^$text\$" "$scratch/out" && return
	echo "# $*: exit status $?"
	sed 's/^/# /' "$scratch/out" "$scratch/err"
	return 1
}

writes_and_ages()
{
	as_nobody "$build/examples/annotated" "$place/picture" &&
		"$program" message aftl-library age 30d >"$scratch/said" && remounted
}

# as_nobody COMMAND...: run the command as user nobody
as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# shows_its_flips COMMAND...: the command counts as many flipped bits as libapproxftl, at least ten
shows_its_flips()
{
	says '[1-9][0-9][0-9]* bits have flipped, the library says [0-9]*; the header is intact' \
		"$@" || return
	sed 's/^/# /' "$scratch/out"
	sed 's/\([0-9]*\) .* says \([0-9]*\);.*/\1 \2/' "$scratch/out" | {
		read -r counted said && [ "$counted" -eq "$said" ]
	}
}

in_python()
{
	as_nobody env LD_LIBRARY_PATH="$readable" PYTHONPATH="$readable/python" \
		PYTHONDONTWRITEBYTECODE=1 python3 "$readable/annotated.py" "$@"
}

# Write data by a C++ program, a Python program and approxrun, then age the device.
others_write()
{
	as_nobody "$build/examples/annotated-cpp" "$place/cpp" && in_python "$place/python" &&
		echo '*/copied precise=4KiB remember' >"$scratch/rules" &&
		as_nobody "$readable/approxrun" -r "$scratch/rules" -R -- \
			dd if="$scratch/original" of="$place/copied" bs=64K conv=fsync 2>"$scratch/said" &&
		"$program" message aftl-library age 30d >"$scratch/said" && remounted
}

# A copy by dd under approxrun differs from the original by the flips that the device reports.
copy_has_its_flips()
{
	says '[1-9][0-9]* bits are flipped in [1-9][0-9]* of 257 units' \
		as_nobody "$program" tag query "$place/copied" || return
	told=$(sed -n 's/ bits are flipped.*//p' "$scratch/out")
	python3 -c 'import sys
a, b = (open(name, "rb").read() for name in sys.argv[1:3])
found = (int.from_bytes(a) ^ int.from_bytes(b)).bit_count()
print(f"# {found} bits of the copy differ")
sys.exit(a[:4096] != b[:4096] or found != int(sys.argv[3]))' \
		"$scratch/original" "$place/copied" "$told"
}

# Check every verb of "approxftl tag" by its JSON output, as the owner of the file.
verbs_agree()
{
	as_nobody touch "$place/verbs" &&
		as_nobody "$program" tag add "$place/verbs" 4KiB+8KiB 32768+ &&
		as_nobody "$program" tag add --precise "$place/verbs" 0+100 &&
		as_nobody "$program" tag del "$place/verbs" 8KiB+4KiB &&
		dd if="$scratch/original" of="$place/verbs" bs=64K count=1 conv=notrunc 2>"$scratch/said" &&
		"$program" tag list "$place/verbs" >"$scratch/out" && sync &&
		as_nobody "$program" tag query --json "$place/verbs" >"$scratch/json" || return
	awk 'NR > 1 { print $2, $3 }' "$scratch/out" | tr '\n' ';' |
		grep -qx '0+100 precise;4096+4096 approximate;32768+ approximate;' || return
	python3 selftests/lib/json_schema.py userspace/approxftl/verbs-output.fields \
		"$scratch/json" || return
	python3 -c 'import json, sys
answer = json.load(sys.stdin)
stored = [unit["offset_bytes"] for unit in answer["units"] if unit["class"] == "approximate"]
wanted = [4096, *range(32768, 65536, 4096)]
sys.exit(f"# stored approximate: {stored}" if stored != wanted else 0)' <"$scratch/json"
}

# Tags end at an unmount; `approxftl tag scan` and `watch` restore them from extended attributes.
persists()
{
	as_nobody "$program" tag add --remember "$place/verbs" && remounted &&
		tagged_ranges 0 && says '2 of [0-9]* files tagged, in 3 ranges' \
		"$program" tag scan "$place" && tagged_ranges 1 && remounted && tagged_ranges 0 &&
		"$program" tag watch "$place" on && cat "$place/verbs" >"$scratch/said" &&
		tagged_ranges 1 && "$program" tag watch "$place" off && remounted &&
		cat "$place/verbs" >"$scratch/said" && tagged_ranges 0
}

# tagged_ranges COUNT: check that `approxftl tag list` lists COUNT ranges of file "verbs"
tagged_ranges()
{
	"$program" tag list "$place/verbs" >"$scratch/out" &&
		[ "$(wc -l <"$scratch/out")" -eq $(($1 + 1)) ] && return
	sed 's/^/# /' "$scratch/out"
	return 1
}

# refuses SENTENCE COMMAND...: the command exits with status 1 and prints SENTENCE as an error
refuses()
{
	sentence=$1
	shift
	"$@" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 1 ] && grep -qF "$sentence" "$scratch/err" && return
	echo "# $*:"
	sed 's/^/# /' "$scratch/out" "$scratch/err"
	return 1
}

refuses_others()
{
	touch "$place/roots" && chmod 666 "$place/roots" &&
		refuses 'let its owner tag it' as_nobody "$program" tag add "$place/roots" &&
		refuses 'do it as root' as_nobody "$program" tag watch "$place" on &&
		refuses 'unmount it, or tag the files on it' \
			"$program" tag add /dev/mapper/aftl-library 0+4096
}

# On devices other than approxftl, tagging has no effect, which libapproxftl reports.
knows_its_place()
{
	"$program" tag add "$scratch/original" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 3 ] && grep -q 'not on a device of dm-approxftl' "$scratch/err" &&
		"$build/examples/annotated" "$scratch/plain" &&
		says '0 bits have flipped, the library says 0; the header is intact' \
			"$build/examples/annotated" "$scratch/plain"
}

# approximate_units FILE: print how many units of FILE are approximate, and how many without a tag
approximate_units()
{
	"$program" tag query --json "$1" | python3 -c 'import json, sys
answer = json.load(sys.stdin)
print(answer["errors"]["approximate_units"], answer["untagged_approximate_units"])'
}

# A clone of a file shares the file's approximate data until the data are rewritten.
is_cloned()
{
	touch "$place/source" && "$program" tag add "$place/source" &&
		dd if="$scratch/original" of="$place/source" bs=64K seek=16 2>"$scratch/said" &&
		sync && cp --reflink=always "$place/source" "$clone" &&
		[ "$(approximate_units "$place/source")" = '257 0' ] &&
		[ "$(approximate_units "$clone")" = '257 257' ] &&
		says '257 units are approximate, but no tag says so;.*' "$program" tag query "$clone"
}

# A query of a cloned file is refused without privileges, as XFS reports its extents only to root.
is_hidden()
{
	chown nobody "$clone" && refuses 'has or had clones' as_nobody "$program" tag query "$clone"
	hidden=$?
	chown root "$clone" && return "$hidden"
}

# `approxftl tag del --rewrite` keeps holes and concurrent writes, and may be interrupted.
is_rewritten()
{
	blocks=$(stat -c %b "$clone")
	for _ in 1 2 3; do
		timeout -s INT 0.2 "$program" tag del --rewrite "$clone" >"$scratch/said" 2>&1
	done
	python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for i in range(4000):
    os.pwrite(fd, i.to_bytes(8, "little"), (1 << 20) + 8 * (i % 512))' "$clone" &
	"$program" tag del --rewrite "$clone" >"$scratch/said" && wait $! &&
		sync && [ "$(approximate_units "$clone")" = '0 0' ] &&
		[ "$(approximate_units "$place/source")" = '257 0' ] &&
		[ "$(stat -c %b "$clone")" -le "$blocks" ] && python3 -c 'import sys
clone, source = (open(name, "rb").read() for name in sys.argv[1:3])
first = 1 << 20
wanted = b"".join(max(range(i, 4000, 512)).to_bytes(8, "little") for i in range(512))
sys.exit(clone[:first] != source[:first] or clone[first + 4096 :] != source[first + 4096 :]
         or clone[first : first + 4096] != wanted)' "$clone" "$place/source"
}

clones()
{
	clone=$place/clone
	create aftl-library ram $small errors off &&
		env TEST_DIR=- TEST_DEV=- QA_CHECK_FS=- mkfs.xfs -q -f /dev/mapper/aftl-library &&
		mounted aftl-library || return
	ktap_test_run 'a clone of a file has its approximate data' is_cloned
	ktap_test_run 'without permission for the device the reason is reported' is_hidden
	ktap_test_run 'data that are rewritten as precise are unchanged' is_rewritten
	umount "$place" && dmsetup remove aftl-library
}

# Files of btrfs without checksums have flipped bits, which only a query of the device reports.
btrfs()
{
	can_make btrfs || return
	ktap_test_run 'make a btrfs' a_device mkfs.btrfs -q -f --mixed
	touch "$place/bare"
	chattr +C "$place/bare"
	ktap_test_run 'without checksums btrfs accepts tags' "$program" tag add "$place/bare"
	ktap_test_run 'a query of a file of btrfs is refused' refuses 'ask the device itself' \
		"$program" tag query "$place/bare"
	umount "$place"
	dmsetup remove aftl-library
}

ktap_test_run 'make a file system' a_device mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0
ktap_test_run 'the annotated program runs unprivileged' writes_and_ages
ktap_test_run 'the annotated program reports its flipped bits after a remount' shows_its_flips \
	as_nobody "$build/examples/annotated" "$place/picture"
python3 -c 'import random, sys
sys.stdout.buffer.write(random.Random(6).randbytes(4096 * 257))' >"$scratch/original"
chmod 644 "$scratch/original"
ktap_test_run 'C++, Python and approxrun write approximate data' others_write
ktap_test_run 'the C++ program reports its flips' shows_its_flips \
	as_nobody "$build/examples/annotated-cpp" "$place/cpp"
ktap_test_run 'the Python program reports its flips' shows_its_flips in_python "$place/python"
ktap_test_run 'approxrun tags data of an unmodified program' copy_has_its_flips
ktap_test_run 'the verbs of approxftl tag report the stored data' verbs_agree
ktap_test_run 'approxftl tag scan and watch restore tags after an unmount' persists
ktap_test_run 'tags on files of other users are refused' refuses_others
ktap_test_run 'tagging files of other devices has no effect' knows_its_place
ktap_test_run 'unmount' umount "$place"
dmsetup remove aftl-library
clones
btrfs
finished
