# SPDX-License-Identifier: GPL-2.0-only
"""The guest's part of approxftl worn: run one cell of the matrix, and write its record.

    python3 -m approxftl_tools.worn_guest STACK/LIFE SEED plain|emulated NUMBERS RECORD EVENT...

NUMBERS are the transactions to write, such as 1-90, RECORD is a file, and an EVENT "WHEN WHAT".
"""

import errno
import fcntl
import json
import mmap
import os
import random
import re
import select
import shlex
import signal
import string
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from approxftl_tools import worn_judge, worn_table, worn_work
from approxftl_tools.worn_judge import SECTOR, Answer, Finding, Ledger, Outcome, Refused
from approxftl_tools.worn_table import (
    BLOCKS,
    LIVES,
    MIDDLE,
    SHAPE,
    STACKS,
    TRANSACTIONS,
    Event,
    Life,
    Stack,
)

Json = dict[str, Any]

PLACE = Path("/run/worn")
#: Size of a plain drive, 320 MiB
PLAIN_SECTORS = 655360
DM_IOCTL_SIZE = 312
DM_TARGET_MSG = 3 << 30 | DM_IOCTL_SIZE << 16 | 0xFD << 8 | 14
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
#: Bytes that a search of the drive reads at once; a mapping unit
CHUNK, PAGE = 1 << 20, 4096
#: Size of a node of btrfs
NODE = 16384
#: Owner of the nodes with the names of files
FS_TREE = 5
#: Objects whose pages a life makes uncorrectable
SPOILED = 3
#: Idle seconds of the guest's processors without progress after which a process hangs; longer than
#: the timers of file systems (30 s) and databases.
IDLE_SECONDS = 90
#: Reads of the surroundings of a page after which the page itself is read
PAGE_CHECK = 64
#: Failed requests that a record keeps
REQUESTS = 12
TRACEFS = Path("/sys/kernel/tracing")
FAILED_REQUEST = re.compile(r"aftl_complete: dev=(\d+),(\d+) at_ns=\d+ op=(\d+) unit=(\d+) "
                            r"units=(\d+) class=\d+ status=-(\d+)")
OPERATIONS = ("read", "write", "flush", "discard", "write of zeroes")
#: Kernel messages that show that the stack has noticed an error
NOTICED = re.compile(r"I/O error|[Mm]edium error|csum (failed|mismatch)|"
                     r"(bad|wrong|invalid) (csum|checksum)|[Cc]hecksum (error|failed|mismatch)|"
                     r"[Cc]orrupt|read error|write error|[Rr]emounting|Shutting down|"
                     r"EXT4-fs (error|warning)|Aborting journal|lost (async )?page write|"
                     r"Disk failure|redirecting sector|errno=-|fixed up|Metadata .*error")
#: Kernel messages that a defect of the kernel causes
DEFECTS = re.compile(r"WARNING:|BUG:|Oops|general protection|refcount_t|list_(add|del) corruption")


def send_dm_message(device: str, text: str) -> None:
    """Send a message to the device mapper's target without starting dmsetup."""
    head = struct.pack("<3I2IIiIIIQ128s136s", 4, 0, 0, 4096, DM_IOCTL_SIZE, 0, 0, 0, 0, 0, 0,
                       device.encode(), b"")
    request = bytearray((head + bytes(8) + text.encode()).ljust(4096, b"\0"))
    with Path("/dev/mapper/control").open("rb") as control:
        fcntl.ioctl(control, DM_TARGET_MSG, request)


def flush_file_system(place: Path) -> None:
    """Let a file system write all data to their final blocks, also those only in its journal."""
    os.sync()
    fd = os.open(place, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.ioctl(fd, FIFREEZE, 0)
            fcntl.ioctl(fd, FITHAW, 0)
    finally:
        os.close(fd)


def get_btrfs_node_age(data: bytes, node: int) -> int:
    """Return a number by which tree nodes of btrfs sort from old to new; 0 for its log tree.

    A transaction may write a node several times, mostly at increasing addresses.
    """
    address, = struct.unpack_from("<Q", data, node + 48)
    generation, owner = struct.unpack_from("<QQ", data, node + 80)
    return int(generation << 40 | address >> 12) if owner == FS_TREE else 0


def kill_processes_below_directory(place: Path) -> None:
    """End all processes that work below a directory, also a server of a database."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.readlink().is_relative_to(place):
                os.kill(int(link.parent.name), signal.SIGKILL)


def read_drive_range_despite_errors(fd: int, start: int, length: int) -> bytes:
    """Read a range of a drive, with zeroes in place of pages that cannot be read.

    A pread() that meets an unreadable page returns the data before the page, or an error.
    """
    with suppress(OSError):
        data = os.pread(fd, length, start)
        if len(data) == length:
            return data
    if length == PAGE:
        return bytes(PAGE)
    return b"".join(read_drive_range_despite_errors(fd, at, PAGE)
                    for at in range(start, start + length, PAGE))


def trace_failed_requests() -> None:
    """Let the kernel record each request that fails on an emulated drive."""
    if not (TRACEFS / "trace").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], check=True)
    event = TRACEFS / "events/approxftl/aftl_complete"
    if event.exists():
        (event / "filter").write_text("status != 0")
        (event / "enable").write_text("1")


def switch_request_trace(is_on: bool) -> None:
    """Switch the kernel's record of failed requests on or off."""
    (TRACEFS / "tracing_on").write_text(f"{is_on:d}")


class HungError(Exception):
    """Raised when a process makes no progress."""


def idle_processor_seconds() -> float:
    """Return the seconds that the guest's processors were idle."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(words[4]) + int(words[5])) / os.sysconf("SC_CLK_TCK")


def read_disk_statistics() -> list[str]:
    """Return the numbers of requests that the drives completed, and that are in flight."""
    return [Path(path, "stat").read_text() for path in sorted(Path("/sys/block").iterdir())]


class Watch:
    """Tells whether a process hangs: idle processors, no requests, and no CPU time of its own."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.last = self.progress_counters()
        self.since = idle_processor_seconds()

    def progress_counters(self) -> object:
        """Return counters that change while the process makes progress."""
        with suppress(OSError):
            words = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
            return words[11:13], read_disk_statistics()
        return None

    def raise_if_process_hung(self, step: str) -> None:
        """Raise HungError if the process has made no progress for long."""
        now = self.progress_counters()
        if now != self.last:
            self.last, self.since = now, idle_processor_seconds()
        elif idle_processor_seconds() - self.since > IDLE_SECONDS:
            Path("/proc/sysrq-trigger").write_text("w")
            raise HungError(f"{step}: no progress in {IDLE_SECONDS} idle seconds")


class Child:
    """A workload's process, whose lines are read while its progress is watched."""

    def __init__(self, *words: str) -> None:
        self.errors = PLACE.with_name("worn-stderr").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "approxftl_tools.worn_work", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.watch = Watch(self.process.pid)
        self.step = " ".join(words[:2])
        self.rest = b""

    def read_line_words_of_workload(self) -> list[str]:
        """Return the words of the process's next line; an empty list if the process has ended."""
        assert self.process.stdout
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], 1)[0]:
                self.watch.raise_if_process_hung(self.step)
                continue
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                return []
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode().split(" ")

    def end_workload_process(self) -> str:
        """Close the process's pipe, wait for its exit, and return how it failed, or nothing."""
        assert self.process.stdin
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        while True:
            with suppress(subprocess.TimeoutExpired):
                status = self.process.wait(1)
                break
            self.watch.raise_if_process_hung(self.step)
        self.errors.seek(0)
        last = self.errors.read().decode(errors="replace").strip().splitlines()[-1:] or [""]
        if status < 0:
            return f"killed by {signal.Signals(-status).name}"
        return f"exited with {status}: {last[0]}" if status else ""


class Cell:
    """One storage stack and one fault scenario of its drive, run in this guest."""

    def __init__(self, stack: Stack, life: Life, seed: int, plain: bool,
                 numbers: Sequence[int], events: Sequence[Event]) -> None:
        self.stack, self.life, self.seed, self.plain = stack, life, seed, plain
        self.numbers = numbers
        self.pending = [Event("loaded", one.what) if stack.seal and one.when == MIDDLE else one
                        for one in events]
        self.is_durable = plain or life.durable
        self.kind = stack.work + ("-approximate" if life.approximate else "")
        sample = worn_work.KINDS[self.kind]
        kind: Any = sample if isinstance(sample, type) else \
            worn_work.Files if "files" in self.kind else worn_work.Rows
        self.ledger = Ledger(kind.sectors, kind.atomic,
                             worn_work.APPROXIMATE if life.approximate else frozenset())
        self.names = {"place": str(PLACE)}
        self.record: Json = {"events": [], "passes": [], "notes": [], "commands": {}}
        self.findings: list[Finding] = []
        self.is_cut = False
        self.spoiled: set[int] = set()

    # ------------------------------------------------------------ commands

    def run_watched_command(self, text: str, check: bool = True) -> str:
        """Run a command of a storage stack while its progress is watched; return its error."""
        line = string.Template(text).substitute(self.names)
        process = subprocess.Popen(shlex.split(line), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        watch = Watch(process.pid)
        while True:
            with suppress(subprocess.TimeoutExpired):
                said = process.communicate(timeout=1)[0].decode(errors="replace")
                break
            watch.raise_if_process_hung(line)
        if process.returncode and check:
            raise RuntimeError(f"{line}: exited with {process.returncode}: {said.strip()[-300:]}")
        self.record["commands"][line] = said[-2000:]
        return f"{line}: {said.strip()[-300:]}" if process.returncode else ""

    def add_note_to_record(self, text: str) -> None:
        """Store a sentence in the record of this stack with this fault scenario."""
        self.record["notes"].append(text)

    # ------------------------------------------------------------ drives

    def table_options_of_drive(self, number: int) -> str:
        """Return the table-line options of a drive; only drive 0 has options of the faults."""
        words = f"{SHAPE} {self.life.options if number == 0 or self.is_durable else ''}"
        keys = dict(zip(words.split()[::2], words.split()[1::2], strict=True))
        return " ".join(f"{key}={value}" for key, value in keys.items() if key != "timing")

    def make_drives(self) -> None:
        """Create the drives, on a RAM disk if the power will fail; with --plain dm-dust drives."""
        if self.is_durable:
            self.run_watched_command(f"modprobe brd rd_nr={self.stack.drives} rd_size=786432",
                                     check=False)
        for number in range(self.stack.drives):
            store = "ram"
            if self.is_durable:
                sectors = int(Path(f"/sys/block/ram{number}/size").read_text())
                self.run_watched_command(f"dmsetup create below{number} --table "
                                         f"'0 {sectors} linear /dev/ram{number} 0'")
                store = f"/dev/mapper/below{number}"
            if self.plain:
                self.run_watched_command(f"dmsetup create drive{number} --table "
                                         f"'0 {PLAIN_SECTORS} dust {store} 0 {PAGE}'")
                self.run_watched_command(f"dmsetup message drive{number} 0 enable")
            else:
                self.run_watched_command(f"approxftl create drive{number} --policy approxftl "
                                         f"--store {store} --timing off "
                                         f"{self.table_options_of_drive(number)}")
            self.names[f"dev{number}"] = f"/dev/mapper/drive{number}"

    def replace_dm_targets_below_drives(self, target: str) -> None:
        """Switch all devices below the drives to another dm target at once, without a flush."""
        for number in range(self.stack.drives):
            self.run_watched_command(f"dmsetup suspend --noflush --nolockfs below{number}")
        for number in range(self.stack.drives):
            size = int(Path(f"/sys/block/ram{number}/size").read_text())
            rest = f"linear /dev/ram{number} 0" if target == "linear" else target
            self.run_watched_command(f"dmsetup load below{number} --table '0 {size} {rest}'")
        for number in range(self.stack.drives):
            self.run_watched_command(f"dmsetup resume below{number}")

    def cut_power(self) -> None:
        """Cut the power: from now on all requests to the devices below the drives fail."""
        self.replace_dm_targets_below_drives("error")
        self.is_cut = True

    def restore_power(self) -> None:
        """Remove the drives without saving their last state, and open the volumes again."""
        tables = [subprocess.run(["dmsetup", "table", f"drive{number}"], check=True, text=True,
                                 capture_output=True).stdout for number in range(self.stack.drives)]
        for number in range(self.stack.drives):
            self.run_watched_command(f"dmsetup remove --retry drive{number}")
        self.replace_dm_targets_below_drives("linear")
        for number, table in enumerate(tables):
            self.run_watched_command(f"dmsetup create drive{number} --table '{table.strip()}'")
            if self.plain:
                self.run_watched_command(f"dmsetup message drive{number} 0 enable")

    def make_blocks_bad(self, text: str) -> list[str]:
        """Let the listed flash blocks, or "all" blocks, fail; return an event for each of them."""
        parts = []
        for block in range(BLOCKS) if text == "all" else map(int, text.split()):
            with suppress(OSError):
                send_dm_message("drive0", f"fault block {block}")
                parts.append(f"fault-blocks {block}")
        return parts

    def find_pages_of_objects(self, needles: Mapping[str, Sequence[bytes]]
                              ) -> dict[str, list[int]]:
        """Search the first drive for byte patterns of each object; return pages, the newest first.

        Metadata of btrfs are written to new places, so get_btrfs_node_age() sorts the pages. The
        requests of the search are not traced.
        """
        switch_request_trace(False)
        if PLACE.is_mount():
            flush_file_system(PLACE)
        Path("/proc/sys/vm/drop_caches").write_text("3")
        every = [one for some in needles.values() for one in some]
        found: dict[str, list[tuple[int, int]]] = {key: [] for key in needles}
        with Path(self.names["dev0"]).open("rb", buffering=0) as drive:
            size = drive.seek(0, os.SEEK_END)
            for start in range(0, size, CHUNK):
                data = read_drive_range_despite_errors(drive.fileno(), start,
                                                       min(CHUNK, size - start))
                for at in range(0, len(data), PAGE) if any(map(data.__contains__, every)) else ():
                    node, page = at - at % NODE, data[at:at + PAGE]
                    age = get_btrfs_node_age(data,
                                             node) if self.stack.name.startswith("btrfs") else 0
                    for key, some in needles.items():
                        if any(map(page.__contains__, some)):
                            found[key].append((-age, (start + at) // PAGE))
        Path("/proc/sys/vm/drop_caches").write_text("3")
        switch_request_trace(True)
        return {key: [page for _, page in sorted(pages)] for key, pages in found.items()}

    def make_search_patterns_of_object(self, key: str) -> list[bytes]:
        """Return byte patterns by which an acknowledged object is found: its sectors' headers."""
        sectors = self.ledger.sectors
        value = worn_judge.make_object_value(key, self.ledger.find_acknowledged_version(key) or 0,
                                             sectors)
        return [value[at * SECTOR:][:worn_judge.HEADER.size] for at in range(sectors)]

    def make_pages_uncorrectable(self, what: str, only: str) -> tuple[list[str], list[str]]:
        """Make pages of objects uncorrectable; return a description, and an event for each object.

        "data" selects, for objects drawn at random, the first page with the acknowledged version;
        "copies" all pages with this version; "newest" all pages of the last acknowledged
        transaction; "names" the newest page with a file's name and no data. `only` selects one
        object instead.
        """
        ledger, draw = self.ledger, random.Random(self.seed)
        durable = [key for key in ledger.object_names() if ledger.find_acknowledged_version(key)]
        chosen = draw.sample(durable, min(SPOILED, len(durable)))
        if what == "newest":
            chosen = list(next((one.versions for one in reversed(ledger.transactions)
                                if one.status == "durable"), []))
        keys = ["name"] if what == "names" else [only] if only else chosen
        told = []
        for key, pages in self.find_pages_of_objects(
                {key: [b"worn-f1", b"worn."] if key == "name"
                 else self.make_search_patterns_of_object(key)
                 for key in keys}).items():
            for page in pages if what in ("copies", "newest") else pages[:1]:
                if page not in self.spoiled:
                    fault = "addbadblock" if self.plain else "fault unit"
                    self.run_watched_command(f"dmsetup message drive0 0 {fault} {page}")
                    self.spoiled.add(page)
                told.append(f"page {page}: {key}")
            if not pages:
                told.append(f"{key} is not on the drive")
        return told, [] if what == "names" or only else [f"spoil {what} {key}" for key in chosen]

    def cause_read_disturb_failure_of_object(self, limit: str, only: str) -> tuple[str, list[str]]:
        """Read pages near an object until read disturb makes its page fail.

        Return a description, and the event that repeats this. The reads are not traced.
        """
        key = only or next((key for key in self.ledger.object_names()
                            if self.ledger.find_acknowledged_version(key)), "")
        if not key:
            return "; no object is durable", []
        found = self.find_pages_of_objects({key: self.make_search_patterns_of_object(key)})
        page = next(iter(found[key]), 0)
        buffer, count = mmap.mmap(-1, CHUNK), 0
        fd = os.open(self.names["dev0"], os.O_RDONLY | os.O_DIRECT)
        switch_request_trace(False)
        try:
            while count < int(limit):
                count += 1
                with suppress(OSError):
                    os.preadv(fd, [buffer], page * PAGE // CHUNK * CHUNK)
                if count % PAGE_CHECK == 0:
                    os.preadv(fd, [memoryview(buffer)[:PAGE]], page * PAGE)
        except OSError:
            pass
        finally:
            os.close(fd)
            switch_request_trace(True)
        return f"; {count} reads of the MiB around page {page}: {key}", [
            f"read-often {limit} {key}"]

    def make_function_that_detects_lost_pages(self) -> Callable[[int], bool]:
        """Return a function that tells whether the first drive has lost the data of a page."""
        runs, start = [], "0"
        while start:
            said = subprocess.run(["dmsetup", "message", "drive0", "0", "lost", start], text=True,
                                  capture_output=True, check=False).stdout
            runs += [range(int(first), int(first) + int(count))
                     for first, count in re.findall(r"^(\d+) (\d+)$", said, re.M)]
            start = "".join(re.findall(r"^next (\d+)$", said, re.M))
        return lambda page: any(page in run for run in runs)

    def list_failed_requests(self) -> list[str]:
        """Return the drives' failed requests, and the injected fault that each failed read met."""
        numbers = {}
        for number in range(self.stack.drives):
            with suppress(OSError):
                numbers[os.minor(Path(f"/dev/mapper/drive{number}").stat().st_rdev)] = number
        is_lost = self.make_function_that_detects_lost_pages()
        trace = TRACEFS / "trace"
        seen = Counter(tuple(map(int, found.groups()[1:])) for found in FAILED_REQUEST.finditer(
            trace.read_text() if trace.exists() else ""))
        told = []
        for (minor, op, first, count, error), times in seen.items():
            pages = range(first, first + count)
            text = (f"drive {numbers.get(minor, -1)}: {OPERATIONS[op]} of pages {first}"
                    f"{f' to {pages[-1]}' if count > 1 else ''}: {errno.errorcode[error]}")
            if op == 0 and numbers.get(minor) == 0:
                bad = [page for page in pages if page in self.spoiled or is_lost(page)]
                fault = "made uncorrectable" if self.spoiled.intersection(bad) else "lost"
                text += f", {fault}: {bad[0]}" if bad else \
                    ", on a failed die, or with more bit errors than ECC corrects"
            told.append(text + (f" ({times} times)" if times > 1 else ""))
        return told

    # ------------------------------------------------------------ events

    def execute_due_fault_events(self, when: int | str, cut: bool = False) -> None:
        """Carry out the due events: power cuts if `cut`, else all events but power cuts."""
        for event in list(self.pending):
            due = event.when < when if isinstance(event.when, int) and isinstance(when, int) \
                else event.when == when
            if not due or (event.what == "cut") != cut:
                continue
            self.pending.remove(event)
            verb, _, rest = event.what.partition(" ")
            told, parts = "", []
            if verb == "message":
                self.run_watched_command(f"dmsetup message drive0 0 {rest}")
            elif verb == "fault-blocks":
                parts = self.make_blocks_bad(rest)
            elif verb == "cut":
                self.cut_power()
            elif verb == "spoil":
                pages, parts = self.make_pages_uncorrectable(*f"{rest} ".split(" ")[:2])
                told = "; " + ", ".join(pages)
            elif verb == "read-often":
                told, parts = self.cause_read_disturb_failure_of_object(*[*rest.split(" "), ""][:2])
            else:
                raise RuntimeError(f'there is no event "{event.what}"')
            self.record["events"].append({"when": event.when, "what": event.what + told,
                                          "parts": parts or [event.what]})

    # ------------------------------------------------------------ the workload

    def write_transactions(self) -> None:
        """Run the writer; events happen between transactions, a power cut during a transaction."""
        writer = Child("write", self.kind, str(PLACE), str(self.seed),
                       worn_table.format_number_ranges(self.numbers))
        numbers = iter([*self.numbers, TRANSACTIONS + 1])
        while not self.is_cut:
            self.execute_due_fault_events(next(numbers))
            assert writer.process.stdin
            with suppress(BrokenPipeError):
                writer.process.stdin.write(b"\n")
                writer.process.stdin.flush()
            line = writer.read_line_words_of_workload()
            if not line or line[0] != "begin":
                break
            number = int(line[1])
            self.ledger.begin_transaction(number, dict.fromkeys(line[2:], number))
            self.execute_due_fault_events(number, cut=True)
            line = writer.read_line_words_of_workload()
            if not line:
                break
            if line[0] == "done":
                self.ledger.acknowledge_transaction(number)
            else:
                self.ledger.note_failed_transaction(number, " ".join(line[2:]))
        if self.is_cut:
            writer.process.kill()
            kill_processes_below_directory(PLACE)
            # Writes that fail after the power failure say nothing about the stack.
            self.ledger.refused_writes.clear()
        why = writer.end_workload_process()
        if line and line[0] == "closed":
            error = " ".join(line[1:])
            if not self.ledger.transactions:
                raise RuntimeError(f"the workload cannot be started: {error}")
            self.ledger.refused_writes.append(error)
        if why and not self.is_cut:
            self.findings.append(Finding("writer", Outcome.CRASHED, f"the writer {why}"))

    def read_objects_and_restart_dead_reader(self) -> Iterator[tuple[str, Answer | Finding]]:
        """Read all objects; if the reader dies at an object, continue with the next one."""
        keys = self.ledger.object_names()
        while keys:
            reader = Child("read", self.kind, str(PLACE), *keys)
            while line := reader.read_line_words_of_workload():
                if line[0] == "closed":
                    yield from ((key, Refused(" ".join(line[1:]))) for key in keys)
                    keys = []
                    break
                keys.remove(line[1])
                if line[0] == "value":
                    yield line[1], bytes.fromhex("".join(line[2:]))
                elif line[0] == "crashed":
                    yield line[1], Finding(line[1], Outcome.CRASHED, " ".join(line[2:]))
                else:
                    yield line[1], None if line[0] == "absent" else Refused(" ".join(line[2:]))
            why = reader.end_workload_process()
            if keys:
                key = keys.pop(0)
                yield key, Finding(key, Outcome.CRASHED, f"the reader {why or 'stopped'}")

    def read_all_objects(self, name: str) -> None:
        """Read all objects from the drive and judge them."""
        Path("/proc/sys/vm/drop_caches").write_text("3")
        answers: dict[str, Answer] = {}
        found: list[Finding] = []
        for key, answer in self.read_objects_and_restart_dead_reader():
            if isinstance(answer, Finding):
                found.append(answer)
                answers[key] = Refused(answer.detail)
            else:
                answers[key] = answer
        found += self.ledger.judge_all_reads(answers)
        self.count_outcomes_of_object_reads(name, found)

    def count_outcomes_of_object_reads(self, name: str, found: Sequence[Finding]) -> None:
        """Count the findings of one read of all objects, and keep a few of each outcome."""
        counts = Counter(one.outcome.value for one in found)
        shown = [one for outcome in Outcome
                 for one in [each for each in found if each.outcome == outcome and each.detail][:5]]
        self.record["passes"].append({"name": name, "counts": dict(counts), "findings": [
            {"key": one.key, "outcome": one.outcome.value, "detail": one.detail}
            for one in shown]})
        self.findings += found

    # ------------------------------------------------------------ the cell

    def unmount_stack(self) -> None:
        """Unmount the file system, and stop all devices between it and the drives."""
        # A server's process may end a little after its file says so.
        for _ in range(20):
            why = self.run_watched_command("umount $place", check=False)
            if "busy" not in why:
                break
            time.sleep(0.2)
        if why and "not mounted" not in why:
            self.add_note_to_record(why)
            self.run_watched_command("umount --lazy $place", check=False)
        for line in self.stack.release:
            if why := self.run_watched_command(line, check=False):
                self.add_note_to_record(why)

    def mount_stack(self) -> str:
        """Assemble the stack's array and mount its file system; return the first error."""
        for line in self.stack.assemble:
            if why := self.run_watched_command(line, check=False):
                return why
        return self.run_watched_command(self.stack.mount, check=False)

    def repair_stack(self) -> None:
        """Run the storage stack's repair program, mount, and read the objects that it has left."""
        if not self.stack.repair:
            return
        why = self.run_watched_command(self.stack.repair, check=False)
        self.add_note_to_record(f"repair: {why[-200:] or 'succeeded'}")
        if why := self.run_watched_command(self.stack.mount, check=False):
            self.add_note_to_record(f"after the repair: {why}")
            return
        kept = list(self.findings)
        self.read_all_objects("repaired")
        wrong = [one for one in self.findings[len(kept):] if one.outcome == Outcome.WRONG]
        self.findings = kept + wrong
        self.unmount_stack()

    def run_matrix_cell_in_guest(self) -> None:
        """Test the stack: write, inject the faults, read, unmount, mount and read again."""
        subprocess.run(["dmesg", "--clear"], check=True)
        trace_failed_requests()
        for module in self.stack.modules:
            self.run_watched_command(f"modprobe -q {module}", check=False)
        self.make_drives()
        PLACE.mkdir(exist_ok=True)
        for line in self.stack.make:
            self.run_watched_command(line)
        if not self.stack.seal:
            self.run_watched_command(self.stack.mount)
        if self.stack.work.startswith("postgres"):
            PLACE.chmod(0o755)
        self.write_transactions()
        for line in self.stack.seal:
            self.run_watched_command(line)
        if not self.is_cut:
            Path("/proc/sys/vm/drop_caches").write_text("3")
            self.execute_due_fault_events("loaded")
            self.read_all_objects("mounted")
            for line in self.stack.status:
                self.run_watched_command(line, check=False)
        self.unmount_stack()
        if self.is_cut:
            self.restore_power()
            subprocess.run(["dmesg", "--clear"], check=True)
            with suppress(OSError):
                (TRACEFS / "trace").write_text("")
        self.execute_due_fault_events("unmounted")
        if why := self.mount_stack():
            self.count_outcomes_of_object_reads(
                "mounted again", [Finding(key, Outcome.REFUSED, why)
                                  for key in self.ledger.object_names()])
            self.unmount_stack()
            self.repair_stack()
            return
        self.read_all_objects("mounted again")
        for line in self.stack.status:
            self.run_watched_command(line, check=False)
        self.unmount_stack()

    def make_matrix_cell_record(self) -> Json:
        """Return the record of the test: its outcome, findings, kernel messages and counters."""
        log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout
        lines = log.splitlines()
        noticed = [line for line in lines if NOTICED.search(line)]
        defects = [line for line in lines if DEFECTS.search(line)]
        refused, failed = self.ledger.refused_writes, self.list_failed_requests()
        outcome = worn_judge.judge_matrix_cell(self.findings, len(refused), bool(noticed))
        stats = subprocess.run(["dmsetup", "message", "drive0", "0", "stats"], text=True,
                               capture_output=True, check=False).stdout
        counters = {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", stats, re.M)}
        return {**self.record, "outcome": outcome.value, "seed": self.seed,
                "transactions": len(self.ledger.transactions),
                "durable": self.ledger.count_acknowledged_transactions(),
                "objects": len(self.ledger.object_names()),
                "refused_writes": refused[:5], "refused_count": len(refused),
                "requests": failed[:REQUESTS], "requests_count": len(failed),
                "noticed": noticed[:12], "noticed_count": len(noticed), "defects": defects[:8],
                "log": lines[-400:], "counters": {key: value for key, value in counters.items()
                                                  if re.search(r"lost|recover|retire|flip|fail|"
                                                               r"host_(read|write)_units", key)},
                "kernel": os.uname().release}


def find_stack_or_scenario_by_name(table: Sequence[Any], name: str) -> Any:
    """Return the entry (a stack or a fault scenario) with this name from a table of worn_table."""
    return next(one for one in table if one.name == name)


def main() -> None:
    """Test a stack with a fault scenario and write the record, also if the test hangs."""
    name, seed, drive, numbers, record, *events = sys.argv[1:]
    stack, _, life = name.partition("/")
    cell = Cell(find_stack_or_scenario_by_name(STACKS, stack),
                find_stack_or_scenario_by_name(LIVES, life), int(seed),
                drive == "plain", worn_table.parse_number_ranges(numbers),
                [Event(int(when) if when.isdecimal() else when, what)
                 for when, _, what in (text.partition(" ") for text in events)])
    begun = time.monotonic()
    error = ""
    try:
        cell.run_matrix_cell_in_guest()
    except HungError as hung:
        cell.findings.append(Finding("", Outcome.HUNG, str(hung)))
        cell.add_note_to_record(str(hung))
    except (RuntimeError, OSError) as failed:
        error = str(failed)
    result = {"cell": name, **cell.make_matrix_cell_record(), "error": error,
              "seconds": round(time.monotonic() - begun, 1)}
    Path(record).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
