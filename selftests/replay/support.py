# SPDX-License-Identifier: GPL-2.0-only
"""Helpers of the replay tests: run approxftl-replay, and read its logs."""

import json
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftests.lib.json_schema import make_schema_checker
from selftests.lib.processes import await_true
from selftests.lib.programs import PROGRAM as BINARY
from selftests.lib.programs import Done, run_program
from selftests.sim.support import Record, crc32c

REPLAY = BINARY.with_name("approxftl-replay")
SCHEMA = make_schema_checker("trace-tools/replay/replay-output.fields")
HEADER_BYTES = 4096
ENTRY = struct.Struct("<QQQQIBBHQHHHHIIII")
MIB = 1 << 20
UNIT = 4096
UNIT_SECTORS = UNIT // 512
MS = 1_000_000

Json = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    due_ns: int
    submit_ns: int
    complete_ns: int
    off_sect: int
    nsect: int
    op: int
    klass: int
    zero: int
    sequence: int
    error: int
    lost: int
    misplaced: int
    stale: int
    precise_units: int
    precise_flips: int
    approx_units: int
    approx_flips: int

    @property
    def entry_fields_without_times(self) -> tuple[int, int, int, int, int]:
        """The request and the error number of a log entry, without times."""
        return self.off_sect, self.nsect, self.op, self.klass, self.error


@dataclass(frozen=True)
class Log:
    """A log of approxftl-replay: its header and its entries."""

    count: int
    planned: int
    depth: int
    about: Json
    entries: list[Entry]

    @property
    def sorted_log_entries(self) -> list[Entry]:
        """Return the entries of a replay's log in the order of the request stream."""
        return sorted(self.entries, key=lambda entry: entry.sequence)


def read_log(path: Path) -> Log:
    """Read a log of approxftl-replay, and check the invariants of every log."""
    data = path.read_bytes()
    assert data[:8] == b"\x89AFL\r\n\x1a\n"
    assert struct.unpack_from("<I", data, 4092)[0] == crc32c(data[:4092])
    count, planned, _, depth = struct.unpack_from("<QQII", data, 32)
    about = json.loads(data[1216:4092].rstrip(b"\0"))
    whole = (len(data) - HEADER_BYTES) // ENTRY.size * ENTRY.size
    body = data[HEADER_BYTES : HEADER_BYTES + whole]
    return Log(count, planned, depth, about, [Entry(*e) for e in ENTRY.iter_unpack(body)])


def run_replay(*arguments: str | Path) -> Done:
    """Run approxftl-replay."""
    return run_program(REPLAY, *arguments)


def run_replay_for_json(*arguments: str | Path, code: int = 0) -> Json:
    """Run approxftl-replay, check its JSON against the schema, and return it."""
    done = run_replay(*arguments, "--json")
    assert done.code == code, done.err
    document: Json = json.loads(done.out)
    assert not SCHEMA.find_errors(document)
    return document


def start_replay(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start approxftl-replay in the background."""
    return subprocess.Popen(
        [REPLAY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_log_entries(log: Path, count: int) -> None:
    """Wait until the log has at least `count` entries."""
    await_true(lambda: log.exists() and log.stat().st_size >= HEADER_BYTES + count * ENTRY.size)


def make_request_of_whole_units(t_ms: float, number: int, op: int, klass: int = 0,
                                units: int = 1) -> Record:
    return Record(int(t_ms * MS), number * UNIT_SECTORS, units * UNIT_SECTORS, op, klass)


def sum_logged_field(entries: Sequence[Entry], field: str) -> int:
    """Return the sum of a field over the entries of a log."""
    return sum(getattr(entry, field) for entry in entries)
