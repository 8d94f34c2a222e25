# SPDX-License-Identifier: GPL-2.0-only
"""Helpers of the trace tests: running the program, and constructing blktrace files."""

import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftests.lib.json_schema import make_schema_checker
from selftests.lib.programs import BUILD, Done, run_program

BINARY = BUILD / "approxftl-trace"
SCHEMA = make_schema_checker("trace-tools/trace/trace-output.fields")

# Directory of real traces outside this tree; without it their tests are skipped.
SAMPLES = os.environ.get("AFTL_TRACE_SAMPLES")

Json = dict[str, Any]

READ, WRITE, FLUSH, DISCARD = "read", "write", "flush", "discard"

QUEUE, ISSUE, COMPLETE, PLUG, SPLIT, REMAP = 1, 7, 8, 9, 13, 15
NOTE_PROCESS, NOTE_CLOCK, NOTE_MESSAGE = 0, 1, 2
CGROUP = 0x100

# Category bits of an event's action, from bit 16 on.
IS_READ, IS_WRITE, IS_FLUSH, IS_SYNC, IS_QUEUE = 1, 2, 4, 8, 16
IS_ISSUE, IS_COMPLETE, IS_FS, IS_NOTE, IS_DISCARD, IS_FUA = 64, 128, 256, 1024, 8192, 32768
IS_WRITE_ZEROES = 1 << 22

KINDS = {READ: IS_READ, WRITE: IS_WRITE, FLUSH: IS_WRITE | IS_FLUSH, DISCARD: IS_WRITE | IS_DISCARD}
ACTS = {QUEUE: IS_QUEUE, ISSUE: IS_ISSUE, COMPLETE: IS_COMPLETE, SPLIT: 0, REMAP: IS_QUEUE}

DEVICE = 253 << 20


def run_trace_tool(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run approxftl-trace."""
    return run_program(BINARY, *arguments, stdin=stdin)


def run_trace_tool_ok(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run approxftl-trace and check that it succeeds."""
    done = run_trace_tool(*arguments, stdin=stdin)
    assert done.code == 0, done.err
    return done


def run_trace_tool_json(verb: str, *arguments: str | Path, stdin: bytes = b"") -> Json:
    """Run a verb of approxftl-trace, check its JSON against the schema, and return the JSON."""
    result: Json = json.loads(run_trace_tool_ok(verb, *arguments, "--json", stdin=stdin).out)
    assert SCHEMA.find_errors(result) == []
    assert result["tool"]["argv"][:3] == ["approxftl", "trace", verb]
    return result


@dataclass(frozen=True)
class Event:
    """An event of a block trace."""

    t_ns: int
    action: int
    sector: int = 0
    size: int = 0
    pid: int = 0
    cpu: int = 0
    sequence: int = 0
    device: int = DEVICE
    error: int = 0
    extra: bytes = b""

    def pack_trace_event(self, version: int = 7, order: str = "<") -> bytes:
        """Return the event in the kernel's binary format."""
        magic = 0x65617400 | version
        head = struct.pack(
            order + "IIQQI", magic, self.sequence, self.t_ns, self.sector, self.size)
        if version == 7:
            tail = struct.pack(
                order + "IIIIHH", self.action, self.pid, self.device, self.cpu, self.error,
                len(self.extra))
        else:
            tail = struct.pack(
                order + "IQIIHH12x", self.pid, self.action, self.device, self.cpu, self.error,
                len(self.extra))
        return head + tail + self.extra


def make_request_event(
    t_ns: int, what: int, op: str, sector: int, size: int, *, flags: int = 0, **rest: Any
) -> Event:
    kind = (KINDS[op] | ACTS[what] | IS_FS | flags) << 16
    return Event(t_ns, what | kind, sector, size, **rest)


def make_trace_note(t_ns: int, what: int, extra: bytes, *, group: bool = False,
                    **rest: Any) -> Event:
    """Return a blktrace note; a note with a control group begins with the group's number."""
    action = what | IS_NOTE << 16 | (CGROUP if group else 0)
    return Event(t_ns, action, extra=(bytes(8) if group else b"") + extra, **rest)


def make_write_class_note(t_ns: int, sector: int, size: int, name: str, by: str = "file",
                          **rest: Any) -> Event:
    text = f"approxftl write {sector} {size // 512} {name} {by}"
    return make_trace_note(t_ns, NOTE_MESSAGE, text.encode(), **rest)


def pack_events(events: Iterable[Event], version: int = 7, order: str = "<") -> bytes:
    return b"".join(event.pack_trace_event(version, order) for event in events)


@dataclass(frozen=True)
class Seen:
    """An event of a trace, as the tests' own parser read it."""

    t_ns: int
    action: int
    sector: int
    size: int
    pid: int
    device: int
    cpu: int
    error: int
    extra: bytes


def parse_blktrace_events_of_version_7(data: bytes) -> Iterator[Seen]:
    """Parse a blktrace file of version 7 by a simple algorithm."""
    at = 0
    while at + 48 <= len(data):
        magic, _, t_ns, sector, size, action, pid, device, cpu, error, extra = struct.unpack_from(
            "<IIQQIIIIIHH", data, at)
        assert magic == 0x65617407
        yield Seen(t_ns, action, sector, size, pid, device, cpu, error,
                   data[at + 48:at + 48 + extra])
        at += 48 + extra


@dataclass(frozen=True)
class Row:
    """A request, as `approxftl-trace pair --requests` prints it."""

    t_ns: int
    op: str
    offset: int
    size: int
    latency_ns: int
    pid: int
    process: str
    stream: int
    name: str
    by: str
    fua: bool
    preflush: bool


def read_trace_rows(*arguments: str | Path, stdin: bytes = b"") -> list[Row]:
    done = run_trace_tool_ok("pair", "-q", "--requests", "-", *arguments, stdin=stdin)
    lines = done.out.splitlines()
    assert lines[0].startswith("t_ns,op,offset_bytes,bytes,latency_ns,pid,process,stream,class")
    result = []
    for line in lines[1:]:
        cell = line.split(",")
        result.append(Row(
            int(cell[0]), cell[1], int(cell[2]), int(cell[3]), int(cell[4]), int(cell[5]),
            cell[6], int(cell[7]), cell[8], cell[9], cell[10] == "1", cell[11] == "1"))
    return result


def write_test_file(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def read_aft_records(path: Path) -> list[tuple[int, ...]]:
    """Return the records of a record file: t, sector, sectors, op, class, stream, latency, pid."""
    data = path.read_bytes()
    assert data[:8] == b"\x89AFT\r\n\x1a\n"
    return [struct.unpack_from("<QQIBBHII", data, at) for at in range(4096, len(data), 32)]


def sort_events(items: Sequence[Event]) -> list[Event]:
    """Return the events in order of time, as a kernel writes them for one processor."""
    return sorted(items, key=lambda event: event.t_ns)
