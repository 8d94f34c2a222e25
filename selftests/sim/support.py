# SPDX-License-Identifier: GPL-2.0-only
"""Helpers of the simulator's tests: run it, and read and write record files."""

from __future__ import annotations

import json
import struct
import subprocess
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from selftests.lib.programs import PROGRAM as BINARY
from selftests.lib.programs import TOP, Done, run_program

HEADER_BYTES = 4096
RECORD_BYTES = 32
READ, WRITE, FLUSH, DISCARD, WRITE_ZEROES = range(5)
FUA = 0x80
#: Bit offset of the lifetime in a record's operation.
LIFE = 4

Json = dict[str, Any]


def run_approxftl(*arguments: str | Path, stdin: bytes = b"") -> Done:
    return run_program(BINARY, *arguments, stdin=stdin)


def run_sim(*arguments: str | Path, stdin: bytes = b"") -> Json:
    """Run the simulator, which must succeed, and return its JSON."""
    done = run_approxftl("sim", *arguments, "--json", stdin=stdin)
    assert done.code == 0, done.err
    result: Json = json.loads(done.out)
    return result


def compile_policy(place: Path, text: str, name: str = "mine") -> Path:
    """Compile a policy as docs/policy-in-an-hour.md does; no warning may appear."""
    source = place / f"{name}.c"
    source.write_text(text)
    made = source.with_suffix(".so")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror",
                    "-I", TOP / "dm-approxftl", "-I", TOP / "userspace/host", "-o", made, source],
                   check=True)
    return made


def get_only_run(result: Json) -> Json:
    runs = result["runs"]
    assert len(runs) == 1
    first: Json = runs[0]
    return first


def crc32c(data: bytes | bytearray) -> int:
    """Return the CRC-32C, computed bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@dataclass
class Record:
    """One record of a file; the fields have the names of the format's description."""

    t_ns: int
    off_sect: int
    nsect: int
    op: int
    klass: int = 0
    stream: int = 0
    lat_100ns: int = 0
    pid: int = 0

    def pack_record(self) -> bytes:
        """Return the 32 bytes of one record of a record file."""
        return struct.pack("<QQIBBHII", *astuple(self))

    @classmethod
    def unpack_record(cls, data: bytes) -> Record:
        return cls(*struct.unpack("<QQIBBHII", data))


FIELDS = (
    ("t_ns", 0, 8),
    ("off_sect", 8, 8),
    ("nsect", 16, 4),
    ("op", 20, 1),
    ("class", 21, 1),
    ("stream", 22, 2),
    ("lat_100ns", 24, 4),
    ("pid", 28, 4),
)


@dataclass
class Header:
    """The header of a record file, each field of which can be set to an invalid value."""

    magic: bytes = b"\x89AFT\r\n\x1a\n"
    major: int = 1
    minor: int = 0
    header_bytes: int = HEADER_BYTES
    record_bytes: int = RECORD_BYTES
    tick: int = 1
    sector: int = 512
    fields: int = 8
    records: int = 0
    device_bytes: int = 0
    classes: tuple[str, ...] = ("precise", "approximate")
    class_count: int | None = None
    source: bytes = b""
    tool: bytes = b"tests"
    provenance: bytes = b""
    spoil: dict[int, int] = field(default_factory=dict)
    break_checksum: bool = False

    def pack_header(self) -> bytes:
        """Return the 4096 bytes of a record file's header."""
        data = bytearray(HEADER_BYTES)
        count = len(self.classes) if self.class_count is None else self.class_count
        struct.pack_into(
            "<8sHHIIIIIQQI",
            data,
            0,
            self.magic,
            self.major,
            self.minor,
            self.header_bytes,
            self.record_bytes,
            self.tick,
            self.sector,
            self.fields,
            self.records,
            self.device_bytes,
            count,
        )
        for number, (name, offset, size) in enumerate(FIELDS):
            struct.pack_into("<16sHHI", data, 64 + 32 * number, name.encode(), offset, size, 1)
        for number, name in enumerate(self.classes):
            struct.pack_into("<32s", data, 576 + 32 * number, name.encode())
        struct.pack_into("<64s64s", data, 1088, self.source, self.tool)
        struct.pack_into("<2876s", data, 1216, self.provenance)
        for offset, byte in self.spoil.items():
            data[offset] = byte
        struct.pack_into("<I", data, 4092, crc32c(bytes(data[:4092])) ^ int(self.break_checksum))
        return bytes(data)


def write_trace(path: Path, records: list[Record], header: Header | None = None) -> Path:
    packed = (header or Header()).pack_header() + b"".join(record.pack_record()
                                                           for record in records)
    path.write_bytes(packed)
    return path


def read_trace(path: Path) -> list[Record]:
    """Read the records of a file that approxftl wrote."""
    data = path.read_bytes()
    return [
        Record.unpack_record(data[offset : offset + RECORD_BYTES])
        for offset in range(HEADER_BYTES, len(data), RECORD_BYTES)
    ]
