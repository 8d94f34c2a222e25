#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test every command line verb on devices of the running kernel.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh
. selftests/kernel/python.sh

program=${APPROXFTL:-${AFTL_BUILD:-build}/approxftl}
needs_program "$program"

# ends STATUS VERB...: expect this exit status; the output is in $scratch/out and $scratch/err
ends()
{
	wanted=$1
	shift
	"$program" "$@" >"$scratch/out" 2>"$scratch/err"
	got=$?
	[ "$got" -eq "$wanted" ] && return
	echo "# approxftl $*: exit status $got"
	sed 's/^/# /' "$scratch/out" "$scratch/err"
	return 1
}

# refuses STATUS SENTENCE VERB...: expect one line on standard error, nothing on standard output
refuses()
{
	sentence=$2
	verb=$3
	status=$1
	shift 2
	ends "$status" "$@" || return 1
	[ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] &&
		grep -qF "approxftl $verb: $sentence" "$scratch/err" && return
	sed 's/^/# /' "$scratch/out" "$scratch/err"
	return 1
}

# json EXPRESSION VERB...: the Python expression holds for the verb's JSON document, d
json()
{
	expression=$1
	shift
	ends 0 "$@" --json && check_json "$expression"
}

check_json()
{
	python selftests/lib/json_schema.py userspace/approxftl/verbs-output.fields \
		"$scratch/out" >"$scratch/python" 2>&1 && python -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), d' "$scratch/out" "$1" 2>"$scratch/python" && return
	sed 's/^/# /' "$scratch/python"
	return 1
}

says()
{
	grep -qE "$1" "$scratch/out" && return
	sed 's/^/# /' "$scratch/out"
	return 1
}

is_gone()
{
	! dmsetup info "$1" >"$scratch/info" 2>&1 && [ ! -e "/dev/mapper/$1" ]
}

# The kernel's table must equal the line that --dry-run prints.
same_line()
{
	ends 0 create aftl-line "$@" --dry-run || return 1
	planned=$(sed "s/.*--table '\(.*\)'$/\1/" "$scratch/out")
	ends 0 create aftl-line "$@" || return 1
	table=$(dmsetup table aftl-line)
	ends 0 remove aftl-line || return 1
	[ "$table" = "$planned" ] && return
	printf '# %s\n' "planned $planned" "table $table"
	return 1
}

node_at_once()
{
	ends 0 create aftl-cli blocks=64 word_lines=8 op=30 timing=off && [ -b /dev/mapper/aftl-cli ] &&
		says '^/dev/mapper/aftl-cli: 89.60 MiB, profile demo, policy approxftl, store ram, starts empty$'
}

without_udev()
{
	(
		unset DM_DISABLE_UDEV
		ends 0 create aftl-bare --store none --size 64MiB &&
			[ -b /dev/mapper/aftl-bare ] && ends 0 remove aftl-bare && is_gone aftl-bare
	)
}

has_size()
{
	ends 0 create aftl-size --size "$1" || return 1
	size=$(blockdev --getsize64 /dev/mapper/aftl-size)
	ends 0 remove aftl-size && [ "$size" -eq "$2" ]
}

# The core refuses these parameters before any device-mapper call; the kernel logs nothing.
before_the_kernel()
{
	clear_log
	refuses 2 "$@" && ! grep_log device-mapper
}

without_module()
{
	rmmod dm_approxftl || return 1
	refuses 1 'the kernel has no target approxftl; try: modprobe dm-approxftl' create aftl-none
	refused=$?
	insmod "$MODULE" && return "$refused"
}

not_root()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$program" "$@" >"$scratch/out" \
		2>"$scratch/err"
	[ $? -eq 1 ] && grep -qF 'you may not use device-mapper; be root' "$scratch/err"
}

write_some()
{
	dd if=/dev/urandom of=/dev/mapper/aftl-cli bs=64k count=64 oflag=direct 2>"$scratch/said"
}

# The JSON document must hold every field of the status line with the same value. Fields from
# device_ns on may change between the two calls.
status_agrees()
{
	json 'd["devices"][0]["name"] == "aftl-cli"' status aftl-cli || return 1
	dmsetup status aftl-cli | cut -d ' ' -f 4- | tr / ' ' >"$scratch/words"
	python -c '
import json, sys
status = json.load(open(sys.argv[1]))["devices"][0]["status"]
words = open(sys.argv[2]).read().split()
given = [str(value) for value in status.values()]
moving = list(status).index("device_ns")
assert len(given) == len(words) and given[:moving] == words[:moving], (given, words)' \
		"$scratch/out" "$scratch/words"
}

interrupted()
{
	"$program" stat aftl-cli --interval 100ms --json >"$scratch/out" 2>"$scratch/err" &
	child=$!
	# Wait until the program has installed its handler of SIGINT (signal 2).
	until grep -q '^SigCgt:.*[2367abef]$' "/proc/$child/status"; do
		sleep 0.1
	done
	sleep 1
	kill -INT "$child"
	wait "$child"
	[ $? -eq 130 ] && check_json 'd["interrupted"] and d["devices"][0]["samples"]'
}

# while_written COMMAND...: write to the device in the background while the command runs
while_written()
{
	touch "$scratch/looks"
	while [ -e "$scratch/looks" ]; do
		write_some || exit 1
		sleep 0.2
	done &
	writer=$!
	"$@"
	saw=$?
	rm "$scratch/looks"
	wait "$writer" && return "$saw"
}

sees_writes()
{
	while_written json 'sum(s["counters"]["host_write_units"] for s in d["devices"][0]["samples"]) > 0 and sum(s["block_layer"]["write_bytes"] for s in d["devices"][0]["samples"]) > 0' \
		stat aftl-cli --interval 0.5 --count 4
}

units_written()
{
	dmsetup message aftl-cli 0 stats | sed -n 's/^host_write_units //p'
}

# metric WANTED NAME LABELS WORD...: expect this value in the output of "stat WORD... --prometheus"
metric()
{
	number=$1
	name=$2
	labels=$3
	shift 3
	ends 0 stat "$@" --prometheus || return 1
	value=$(python selftests/kernel/metrics.py "$scratch/out" "$name" "$labels" \
		2>"$scratch/python") && [ "$value" = "$number" ] && return
	echo "# $name{$labels} is $value, not $number"
	sed 's/^/# /' "$scratch/python"
	return 1
}

# With several devices, the parser requires that all lines of one metric are adjacent.
metrics_of_all()
{
	ends 0 create aftl-y --store none || return 1
	metric "$(units_written)" approxftl_host_write_units_total 'device="aftl-cli"' &&
		metric 0 approxftl_host_write_units_total 'device="aftl-y"' &&
		metric 256 approxftl_status_blocks 'device="aftl-cli"'
	result=$?
	ends 0 remove aftl-y || return 1
	return "$result"
}

# on_terminal KEYS ENDED VERB...: type the keys; expect this exit and a restored terminal
on_terminal()
{
	keys=$1
	wanted=$2
	shift 2
	python selftests/kernel/terminal.py "$keys" "$program" "$@" >"$scratch/out" 2>&1 &&
		says "^ended $wanted, the terminal as it was$"
}

# The demo profile has four dies, so that the last is number 3; requests are under way meanwhile.
top_sees_writes()
{
	while_written ends 0 top aftl-cli --interval 0.5 --count 4 && says '^writes +[1-9][0-9.]*/s' &&
		says '^written +[1-9][0-9.]* programmed for each unit: host 1' && says ' 3 \|'
}

# Without a device name, top shows all devices.
top_of_all()
{
	ends 0 top --interval 0.2 --count 2 && says '^aftl-cli: approxftl on demo'
}

lines_of_rates()
{
	ends 0 stat aftl-cli --interval 0.1 --count 3 && [ "$(wc -l <"$scratch/out")" -eq 4 ] &&
		says '^ +r/s +w/s '
}

# With "timing off" relocation only advances with other work, so write first.
degrades()
{
	ends 0 message aftl-cli fault block 3 && write_some && ends 1 health aftl-cli &&
		says '^verdict: needs attention$' && says 'blocks went bad in use'
}

fails()
{
	for block in $(seq 0 200); do
		dmsetup message aftl-cli 0 fault block "$block" || return 1
	done
	ends 4 health aftl-cli && says '^verdict: failed$' && says 'read-only' &&
		ends 4 health aftl-cli --json && check_json 'd["devices"][0]["verdict"] == "failed"'
}

another_target()
{
	dmsetup create aftl-other --table '0 8192 zero' || return 1
	refuses 3 'aftl-other is a device of another target, not approxftl' remove aftl-other
	other=$?
	dmsetup remove aftl-other && return "$other"
}

while_mounted()
{
	mkdir -p "$scratch/mnt"
	mkfs.ext4 -q /dev/mapper/aftl-cli && mount /dev/mapper/aftl-cli "$scratch/mnt" || return 1
	refuses 1 "aftl-cli is in use: mounted on $scratch/mnt; umount $scratch/mnt first" \
		remove aftl-cli
	busy=$?
	umount "$scratch/mnt" && return "$busy"
}

while_open()
{
	exec 9</dev/mapper/aftl-cli
	refuses 1 "aftl-cli is in use: held open by process $$ " remove aftl-cli
	busy=$?
	exec 9<&-
	return "$busy"
}

while_below()
{
	dmsetup create aftl-top --table '0 8192 linear /dev/mapper/aftl-cli 0' || return 1
	refuses 1 'aftl-cli is in use: below block device dm-' remove aftl-cli
	busy=$?
	dmsetup remove aftl-top && return "$busy"
}

while_swap()
{
	mkswap /dev/mapper/aftl-cli >"$scratch/said" 2>&1 && swapon /dev/mapper/aftl-cli || return 1
	refuses 1 'aftl-cli is in use: used as swap; swapoff ' remove aftl-cli
	busy=$?
	swapoff /dev/mapper/aftl-cli && return "$busy"
}

deferred()
{
	ends 0 create aftl-later --store none --size 64MiB || return 1
	exec 9</dev/mapper/aftl-later
	json 'd["deferred"] and not d["removed"]' remove aftl-later --deferred &&
		json '[x["deferred_remove"] for x in d["devices"] if x["name"] == "aftl-later"] == [True]' list
	later=$?
	exec 9<&-
	[ "$later" -eq 0 ] && is_gone aftl-later
}

forced()
{
	ends 0 create aftl-forced --size 64MiB || return 1
	exec 9</dev/mapper/aftl-forced
	ends 0 remove aftl-forced --force && says 'goes as soon as nobody uses it' &&
		! dd bs=4k count=1 iflag=direct <&9 >"$scratch/data" 2>"$scratch/said"
	refused=$?
	exec 9<&-
	[ "$refused" -eq 0 ] && is_gone aftl-forced
}

json_list()
{
	json '[x["name"] for x in d["devices"]] == ["aftl-cli"] and d["devices"][0]["open_count"] == 0' \
		list
}

ktap_test_run 'create: the device node exists at once' node_at_once
ktap_test_run 'create and remove work silently without udev' without_udev
ktap_test_run 'create --size' has_size 100MiB 104857600
for profile in demo tcad18 micro19 ics14; do
	ktap_test_run "the line of --dry-run is the kernel's: $profile" same_line --store none \
		--profile "$profile"
done
ktap_test_run "the line of --dry-run is the kernel's: every key" same_line --store none \
	--profile micro19 --policy cubeftl --timing scale:20 --tag-all approximate --size 1GiB \
	op=20.50 read=50000ns errors=off seed=7
ktap_test_run "the line of --dry-run is the kernel's: timing off" same_line --timing off \
	policy=baseline --size 64MiB
ktap_test_run 'refused: unknown policy' before_the_kernel \
	'unknown policy "best"; there are baseline' create aftl-x --policy best
ktap_test_run 'refused: too small for the policy' before_the_kernel 'policy approxftl keeps' \
	create aftl-x blocks=16
ktap_test_run 'refused: no block device' refuses 1 'store /dev/null is not a block device' \
	create aftl-x --store /dev/null
ktap_test_run 'refused: name taken' refuses 1 'there is a device aftl-cli already' create aftl-cli
ktap_test_run 'refused: not root' not_root create aftl-x
ktap_test_run 'refused: not root, to list' not_root list
ktap_test_run 'list' ends 0 list
ktap_test_run 'list prints a device' says '^aftl-cli +89.60 MiB +ram +demo +approxftl +off +rw +0.0% +0$'
ktap_test_run 'list as JSON' json_list
ktap_test_run 'list --show' json \
	'[list(x) for x in d["rows"]][0] == ["name", "late_p99_ns", "used_percent"]' \
	list -o name,late99,used -S -used
ktap_test_run 'stat --show' json \
	'[list(x) for x in d["rows"]] == 2 * [["write_amplification", "host_read_requests_per_second"]]' \
	stat aftl-cli -i 0.1 -c 2 -o waf,r/s
ktap_test_run 'write data' write_some
ktap_test_run 'status' ends 0 status aftl-cli
ktap_test_run 'status prints the written units' says '^written +1024 units$'
ktap_test_run 'status --json equals the status line' status_agrees
ktap_test_run 'status of a device path' ends 0 status /dev/mapper/aftl-cli
ktap_test_run 'stat' ends 0 stat aftl-cli
ktap_test_run 'stat prints the counters' says '^host_write_units +1024$'
ktap_test_run 'stat as JSON' json 'd["devices"][0]["counters"]["host_write_units"] == 1024' \
	stat aftl-cli
ktap_test_run 'stat at intervals' lines_of_rates
ktap_test_run 'stat at intervals shows writes' sees_writes
ktap_test_run 'stat ends cleanly on SIGINT' interrupted
ktap_test_run 'stat --json contains the LUNs' json \
	'len(d["devices"][0]["luns"]) == 4 and sum(l["busy_ns"] for l in d["devices"][0]["luns"]) > 0' \
	stat aftl-cli
ktap_test_run 'stat --prometheus' metric "$(units_written)" approxftl_host_write_units_total \
	'device="aftl-cli"' aftl-cli
ktap_test_run 'stat --prometheus: metrics of a LUN' metric 64 approxftl_lun_good_blocks \
	'device="aftl-cli",lun="3"' aftl-cli
ktap_test_run 'stat --prometheus of all devices' metrics_of_all
ktap_test_run 'top shows writes' top_sees_writes
ktap_test_run 'top of all devices' top_of_all
ktap_test_run 'top on a terminal: resize, stop and continue, quit with q' \
	on_terminal 'size ^Z x q' 0 top aftl-cli -i 0.2
ktap_test_run 'top on a terminal: quit with Ctrl-C' on_terminal '^C' 130 top aftl-cli -i 0.2
ktap_test_run 'refused: top of an unknown device' refuses 3 'there is no device aftl-x;' top aftl-x
ktap_test_run 'health' ends 0 health aftl-cli
ktap_test_run 'health of a good device' says '^verdict: good$'
ktap_test_run 'health as JSON' json \
	'd["devices"][0]["blocks"]["total"] == 256 and d["devices"][0]["reasons"] == []' \
	health aftl-cli
ktap_test_run 'message' ends 0 message aftl-cli block 0
ktap_test_run 'message prints the answer' says '^state (free|open|closed)$'
ktap_test_run 'message as JSON' json 'd["answer"][0].startswith("state ")' message aftl-cli block 0
ktap_test_run "refused: message with the target's reason" refuses 1 \
	'unknown message "sing"; there are stats, reset' message aftl-cli sing
ktap_test_run 'refused: unknown device' refuses 3 'there is no device aftl-x;' status aftl-x
ktap_test_run 'refused: device of another target' another_target
ktap_test_run 'refused: mounted' while_mounted
ktap_test_run 'refused: open' while_open
ktap_test_run 'refused: below another device' while_below
ktap_test_run 'refused: swap' while_swap
ktap_test_run 'health reports a bad block' degrades
ktap_test_run 'health reports a read-only device' fails
ktap_test_run 'remove' ends 0 remove aftl-cli
ktap_test_run 'a removed device is gone' is_gone aftl-cli
ktap_test_run 'remove --deferred' deferred
ktap_test_run 'remove --force' forced
ktap_test_run 'list without devices' json 'd["devices"] == []' list
ktap_test_run 'doctor' json 'd["usable"]["native"]' doctor
if [ -n "${MODULE:-}" ]; then
	ktap_test_run 'refused: no module' without_module
else
	ktap_test_skip 'refused: no module' 'MODULE does not say where the module is'
fi
finished
