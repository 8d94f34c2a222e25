#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The subcommands of approxftl on devices of the running kernel."""

import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import ioctl
from functools import partial
from pathlib import Path
from typing import Any

from ktap import (
    APPROXFTL,
    EXT4,
    Mount,
    drop_privileges,
    finish_test,
    opened_file,
    read_counters,
    require,
    run_check,
    run_command,
    run_dmsetup,
    run_function_in_child,
    send_dm_message,
    skip_test_point,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from selftests.lib.json_schema import make_schema_checker

NAME = "aftl-cli"
DEVICE = Path("/dev/mapper", NAME)
MODULE = os.environ.get("MODULE", "")


def call_verb(code: int, *words: str, program: str = APPROXFTL) -> tuple[str, str]:
    """Run a verb, which must end with this exit status; return standard output and errors."""
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    require(done.returncode == code, f"{' '.join(words)}: {done}")
    return done.stdout, done.stderr


def check_printed_line(pattern: str, *words: str, code: int = 0) -> None:
    """Check that a line of the verb's output matches a pattern."""
    out, _ = call_verb(code, *words)
    require(re.search(pattern, out, re.M), f"{' '.join(words)}: {out}")


def run_verb_as_json(*words: str, code: int = 0) -> Any:
    """Return the JSON of a verb, checked against its schema."""
    document = json.loads(call_verb(code, *words, "--json")[0])
    errors = make_schema_checker("userspace/approxftl/verbs-output.fields").find_errors(document)
    require(not errors, f"{' '.join(words)}: {errors}")
    return document


def check_verb_fails(code: int, sentence: str, *words: str) -> None:
    """Check that a verb of approxftl fails and prints only one line, on standard error."""
    out, err = call_verb(code, *words)
    require(not out and err.count("\n") == 1 and f"approxftl {words[0]}: {sentence}" in err,
            f"{' '.join(words)}: {out}{err}")


def check_device_is_removed(name: str) -> None:
    """Check that the device and its node are removed."""
    done = subprocess.run(["dmsetup", "info", name], capture_output=True, check=False)
    require(done.returncode and not Path("/dev/mapper", name).exists(), f"{name} is there")


# Create


def check_device_node_after_create() -> None:
    """Check that the device node exists as soon as create returns."""
    check_printed_line("^/dev/mapper/aftl-cli: 89.60 MiB, profile demo, policy baseline, "
                       "store ram, starts empty$", "create", NAME,
                       "blocks=64", "word_lines=8", "op=30", "timing=off")
    require(DEVICE.is_block_device(), "there is no node")


def check_create_without_udev() -> None:
    """Create and remove print no warning if libdevmapper expects udev, which does not run."""
    del os.environ["DM_DISABLE_UDEV"]
    _, said = call_verb(0, "create", "aftl-bare", "--store", "none", "--size", "100MiB")
    require(not said, said)
    size = run_command("blockdev", "--getsize64", "/dev/mapper/aftl-bare")
    call_verb(0, "remove", "aftl-bare")
    os.environ["DM_DISABLE_UDEV"] = "1"
    check_device_is_removed("aftl-bare")
    require(size == "104857600\n", f"{size} bytes")


def check_table_equals_create_dry_run(*words: str) -> None:
    """The kernel's table equals the table line that `create --dry-run` prints."""
    out, _ = call_verb(0, "create", "aftl-line", *words, "--dry-run")
    call_verb(0, "create", "aftl-line", *words)
    table = run_dmsetup("table", "aftl-line").strip()
    call_verb(0, "remove", "aftl-line")
    require(f"--table '{table}'\n" in out, f"planned {out}, made {table}")


def check_wrong_devices_refused() -> None:
    """The verbs refuse devices of other targets, names of existing devices, unprivileged users."""
    check_verb_fails(1, "there is a device aftl-cli already", "create", NAME)
    check_verb_fails(1, "store /dev/null is not a block device", "create", "aftl-x", "--store",
                     "/dev/null")
    check_verb_fails(3, "there is no device aftl-x;", "status", "aftl-x")
    check_verb_fails(3, "there is no device aftl-x;", "top", "aftl-x")
    check_verb_fails(1, 'unknown message "sing"; there are stats, reset', "message", NAME, "sing")
    run_dmsetup("create", "aftl-other", "--table", "0 8192 zero")
    check_verb_fails(3, "aftl-other is a device of another target, not approxftl", "remove",
                     "aftl-other")
    run_dmsetup("remove", "aftl-other")
    # The tree may be private.
    readable = str(shutil.copy(APPROXFTL, "/dev/shm/approxftl"))
    run_function_in_child(check_user_nobody_is_refused, readable)
    Path(readable).unlink()


def check_user_nobody_is_refused(program: str) -> None:
    """Check that the verbs tell user nobody that only root may use device-mapper."""
    drop_privileges()
    for words in (("create", "aftl-x"), ("list",)):
        _, said = call_verb(1, *words, program=program)
        require("you may not use device-mapper; be root" in said, said)


# Reports


def write_data_to_device() -> None:
    run_command("dd", "if=/dev/urandom", f"of={DEVICE}", "bs=64k", "count=64", "oflag=direct")


@contextmanager
def run_process_that_writes_to_device() -> Iterator[None]:
    """Context manager: another process writes to the device inside the context."""
    over = threading.Event()

    def write_until_terminated() -> None:
        while not over.is_set():
            write_data_to_device()
            time.sleep(0.2)

    writer = threading.Thread(target=write_until_terminated)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def check_device_list() -> None:
    """`approxftl list` prints a table, JSON or chosen columns."""
    check_printed_line("^aftl-cli +89.60 MiB +ram +demo +baseline +off +rw +0.0% +0$", "list")
    devices = run_verb_as_json("list")["devices"]
    require([(one["name"], one["open_count"]) for one in devices] == [(NAME, 0)], f"{devices}")
    rows = run_verb_as_json("list", "-o", "name,late99,used", "-S", "-used")["rows"]
    require([*rows[0]] == ["name", "late_p99_ns", "used_percent"], f"{rows}")


def check_status_output() -> None:
    """`status --json` has the fields of `dmsetup status`; values from device_ns on may differ."""
    check_printed_line("^written +1024 units$", "status", str(DEVICE))
    document = run_verb_as_json("status", NAME)["devices"][0]
    fields = run_dmsetup("status", NAME).partition(" approxftl ")[2].replace("/", " ").split()
    given = [str(value) for value in document["status"].values()]
    moving = [*document["status"]].index("device_ns")
    require(document["name"] == NAME and len(given) == len(fields)
            and given[:moving] == fields[:moving], f"{given}, not {fields}")


def check_counter_output() -> None:
    """Print counters of the device and of its LUNs, and rates at intervals."""
    check_printed_line("^host_write_units +1024$", "stat", NAME)
    told = run_verb_as_json("stat", NAME)["devices"][0]
    require(told["counters"]["host_write_units"] == 1024 and len(told["luns"]) == 4
            and sum(lun["busy_ns"] for lun in told["luns"]) > 0, f"{told}")
    out, _ = call_verb(0, "stat", NAME, "--interval", "0.1", "--count", "3")
    require(len(out.splitlines()) == 4 and re.search("^ +r/s +w/s ", out, re.M), out)
    rows = run_verb_as_json("stat", NAME, "-i", "0.1", "-c", "2", "-o", "waf,r/s")["rows"]
    require([[*row] for row in rows]
            == 2 * [["write_amplification", "host_read_requests_per_second"]], f"{rows}")
    with run_process_that_writes_to_device():
        samples = run_verb_as_json("stat", NAME, "-i", "0.5", "-c", "4")["devices"][0]["samples"]
    for part, counter in (("counters", "host_write_units"), ("block_layer", "write_bytes")):
        require(sum(sample[part][counter] for sample in samples) > 0, f"{samples}")


def count_voluntary_context_switches(status: Path) -> int:
    """Return how often a process has slept; `approxftl stat` sleeps once for each interval."""
    switches = re.search(r"^voluntary_ctxt_switches:\t(\d+)$", status.read_text(), re.M)
    return int(switches[1]) if switches else 0


def check_stat_verb_after_sigint() -> None:
    """SIGINT ends `approxftl stat --json` with a complete JSON document."""
    child = subprocess.Popen([APPROXFTL, "stat", NAME, "--interval", "100ms", "--json"],
                             stdout=subprocess.PIPE, text=True)
    status = Path(f"/proc/{child.pid}/status")
    # Wait until the program has installed its handler of SIGINT (signal 2).
    while not re.search("^SigCgt:.*[2367abef]$", status.read_text(), re.M):
        require(child.poll() is None, f"approxftl stat ended with status {child.returncode}")
        time.sleep(0.1)
    first = count_voluntary_context_switches(status)
    while count_voluntary_context_switches(status) < first + 3:
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    told = json.loads(child.communicate()[0])
    require(child.returncode == 130 and told["interrupted"] and told["devices"][0]["samples"],
            f"{child.returncode}: {told}")


METRIC = re.compile(r'([a-z0-9_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\}) ([0-9.]+)\Z')


def parse_metrics() -> dict[str, float]:
    """Parse metrics as strictly as Prometheus does, and return them: each metric has a type, its
    lines are adjacent, no sample occurs twice, and buckets of a histogram are cumulative.
    """
    types: dict[str, str] = {}
    found: dict[str, float] = {}
    order: list[str] = []
    buckets = 0.0
    for line in call_verb(0, "stat", "--prometheus")[0].splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            require(name not in types and kind in ("counter", "gauge", "histogram"), line)
            require(kind != "counter" or name.endswith("_total"), line)
            types[name] = kind
        elif not line.startswith("# HELP "):
            require(match := METRIC.match(line), line)
            assert match
            family = re.sub("_(bucket|sum|count)$", "", match[1])
            family = family if types.get(family) == "histogram" else match[1]
            require(family in types and family not in order[:-1], f"{line}: not beside its type")
            order += [family] if order[-1:] != [family] else []
            require(match[1] + match[2] not in found, f"{line}: twice")
            found[match[1] + match[2]] = value = float(match[3])
            if "_bucket{" in line:
                require(value >= buckets, f"{line}: falls")
                buckets = 0 if 'le="+Inf"' in line else value
    return found


def check_metrics_output() -> None:
    """`approxftl stat` prints valid Prometheus metrics of two devices and of their LUNs."""
    call_verb(0, "create", "aftl-y", "--store", "none")
    found = parse_metrics()
    call_verb(0, "remove", "aftl-y")
    written = read_counters(NAME)["host_write_units"]
    for name, value in (('approxftl_host_write_units_total{device="aftl-cli"}', written),
                        ('approxftl_host_write_units_total{device="aftl-y"}', 0),
                        ('approxftl_status_blocks{device="aftl-cli"}', 256),
                        ('approxftl_lun_good_blocks{device="aftl-cli",lun="3"}', 64)):
        require(found[name] == value, f"{name} is {found[name]}, not {value}")


def check_top_output() -> None:
    """`approxftl top` shows one busy device of four dies, or all devices."""
    with run_process_that_writes_to_device():
        out, _ = call_verb(0, "top", NAME, "--interval", "0.5", "--count", "4")
    for pattern in ("^writes +[1-9][0-9.]*/s", r" 3 \|",
                    "^written +[1-9][0-9.]* programmed for each unit: host 1"):
        require(re.search(pattern, out, re.M), out)
    check_printed_line("^aftl-cli: baseline on demo", "top", "--interval", "0.2", "--count", "2")


def resize_terminal(terminal: int, rows: int, columns: int) -> None:
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def press_key(key: str, child: int, terminal: int) -> None:
    """Send a key to `approxftl top`, or resize its window."""
    if key == "size":
        resize_terminal(terminal, 12, 40)
    elif key == "^Z":
        os.write(terminal, b"\032")
        require(os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]), "Ctrl-Z has not stopped it")
        time.sleep(0.2)
        os.kill(child, signal.SIGCONT)
    else:
        os.write(terminal, b"\003" if key == "^C" else key.encode())


def check_top_on_terminal(keys: str, code: int) -> None:
    """`approxftl top` restores the terminal when it ends; each key is sent after two refreshes."""
    begin, end = os.pipe()
    child, terminal = pty.fork()
    if not child:
        os.close(end)
        os.read(begin, 1)  # `top` changes the settings, so wait until they have been read
        os.execv(APPROXFTL, [APPROXFTL, "top", NAME, "-i", "0.2"])
    resize_terminal(terminal, 30, 100)
    before = termios.tcgetattr(terminal)
    os.close(begin)
    os.close(end)
    shown = b""
    for key in keys.split():
        pictures = shown.count(b"\033[H") + 2
        while shown.count(b"\033[H") < pictures:
            shown += os.read(terminal, 65536)
        press_key(key, child, terminal)
    after = before
    try:
        while os.read(terminal, 65536):
            after = termios.tcgetattr(terminal)
    except OSError:  # the end of a terminal
        pass
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    require((ended, after) == (code, before), f"exit status {ended}; {after}, not {before}")


def check_health_reports() -> None:
    """`approxftl health` reports a good device, a bad block, and a read-only device."""
    check_printed_line("^verdict: good$", "health", NAME)
    told = run_verb_as_json("health", NAME)["devices"][0]
    require((told["blocks"]["total"], told["reasons"]) == (256, []), f"{told}")
    # With "timing off" relocation only advances with other work, so write first.
    call_verb(0, "message", NAME, "fault", "block", "3")
    write_data_to_device()
    check_printed_line("^verdict: needs attention$", "health", NAME, code=1)
    for block in range(201):
        send_dm_message(NAME, "fault", "block", str(block))
    check_printed_line("^verdict: failed$", "health", NAME, code=4)
    require(run_verb_as_json("health", NAME, code=4)["devices"][0]["verdict"] == "failed",
            "JSON differs")


def check_message_verb_prints_answers() -> None:
    check_printed_line("^state (free|open|closed)$", "message", NAME, "block", "0")
    require(run_verb_as_json("message", NAME, "block", "0")["answer"][0].startswith("state "),
            "no state")


# Remove


def check_removal_in_use_refused() -> None:
    """`approxftl remove` refuses a device in use, and names the process or mount that uses it."""
    busy = partial(check_verb_fails, 1)
    with Mount(DEVICE, EXT4) as place:
        busy(f"aftl-cli is in use: mounted on {place}; umount {place} first", "remove", NAME)
    with opened_file(DEVICE):
        busy(f"aftl-cli is in use: held open by process {os.getpid()} ", "remove", NAME)
    run_dmsetup("create", "aftl-top", "--table", f"0 8192 linear {DEVICE} 0")
    busy("aftl-cli is in use: below block device dm-", "remove", NAME)
    run_dmsetup("remove", "aftl-top")
    run_command("mkswap", DEVICE)
    run_command("swapon", DEVICE)
    busy("aftl-cli is in use: used as swap; swapoff ", "remove", NAME)
    run_command("swapoff", DEVICE)


def check_deferred_and_forced_removal() -> None:
    """A device in use is removed when it is closed; with --force its I/O fails at once."""
    call_verb(0, "create", "aftl-later", "--store", "none", "--size", "64MiB")
    with opened_file("/dev/mapper/aftl-later", os.O_RDONLY):
        told = run_verb_as_json("remove", "aftl-later", "--deferred")
        require(told["deferred"] and not told["removed"], f"{told}")
        later = [one["deferred_remove"] for one in run_verb_as_json("list")["devices"]
                 if one["name"] == "aftl-later"]
        require(later == [True], f"{later}")
    check_device_is_removed("aftl-later")
    call_verb(0, "create", "aftl-forced", "--size", "64MiB")
    with opened_file("/dev/mapper/aftl-forced", os.O_RDONLY) as fd:
        check_printed_line("goes as soon as nobody uses it", "remove", "aftl-forced", "--force")
        try:
            os.pread(fd, 4096, 0)
        except OSError:
            pass
        else:
            require(False, "it can be read")
    check_device_is_removed("aftl-forced")


def check_last_device_removed() -> None:
    call_verb(0, "remove", NAME)
    check_device_is_removed(NAME)
    require(run_verb_as_json("list")["devices"] == [], "a device is listed")
    require(run_verb_as_json("doctor")["usable"]["native"], "doctor finds no module")


def check_create_without_module() -> None:
    """Without the module, `approxftl create` fails and names the command that loads the module."""
    run_command("rmmod", "dm_approxftl")
    try:
        check_verb_fails(1, "the kernel has no target approxftl; try: modprobe dm-approxftl",
                         "create", "x")
    finally:
        run_command("insmod", MODULE)


POINTS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("create: the device node exists at once", check_device_node_after_create),
    ("create --size and remove work silently without udev", check_create_without_udev),
    ("the line of --dry-run is the kernel's: every key", partial(
        check_table_equals_create_dry_run, "--store", "none", "--profile", "micro19", "--policy",
        "cubeftl",
        "--timing",
"scale:20", "--tag-all", "approximate", "--size", "1GiB", "op=20.50", "read=50000ns",
"errors=off", "seed=7")),
    ("list prints a device, as JSON and by column", check_device_list),
    ("other devices, names and users are refused", check_wrong_devices_refused),
    ("data are written", write_data_to_device),
    ("status agrees with the status line", check_status_output),
    ("stat prints counters, and rates at intervals", check_counter_output),
    ("stat ends cleanly on SIGINT", check_stat_verb_after_sigint),
    ("stat --prometheus prints metrics that a scraper accepts", check_metrics_output),
    ("top shows writes", check_top_output),
    ("top on a terminal: resize, stop and continue, quit with q", partial(
        check_top_on_terminal, "size ^Z x q", 0)),
    ("top on a terminal: quit with Ctrl-C", partial(check_top_on_terminal, "^C", 130)),
    ("message prints the answer", check_message_verb_prints_answers),
    ("a device in use is not removed", check_removal_in_use_refused),
    ("health reports bad blocks and a read-only device", check_health_reports),
    ("remove --deferred and --force", check_deferred_and_forced_removal),
    ("remove", check_last_device_removed),
)


def main() -> None:
    """Run all test points."""
    for name, action in POINTS:
        run_check(name, action)
    if MODULE:
        run_check("a missing module is reported", check_create_without_module)
    else:
        skip_test_point("a missing module is reported", "MODULE does not say where the module is")
    finish_test()


if __name__ == "__main__":
    main()
