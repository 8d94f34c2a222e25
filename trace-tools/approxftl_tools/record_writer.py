# SPDX-License-Identifier: GPL-2.0-only
"""Writing record files, aft(5), from arrays."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from approxftl_tools import aft
from approxftl_tools.command import Refusal, version, write_file

HEADER_BYTES, RECORD_BYTES = 4096, 32
VERSION = (1, 1)
CASTAGNOLI = 0x82F63B78
CLASSES = ("precise", "approximate")
PROVENANCE_BYTES = 2876
#: Name, offset and size of the fields, in the order of the table.
FIELDS = (("t_ns", 0, 8), ("off_sect", 8, 8), ("nsect", 16, 4), ("op", 20, 1), ("class", 21, 1),
          ("stream", 22, 2), ("lat_100ns", 24, 4), ("pid", 28, 4))
RECORD = np.dtype({"names": [name for name, _, _ in FIELDS],
                   "formats": [f"<u{size}" for _, _, size in FIELDS],
                   "offsets": [offset for _, offset, _ in FIELDS], "itemsize": RECORD_BYTES})


@cache
def crc_table() -> tuple[int, ...]:
    """Return the remainders of all bytes."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (CASTAGNOLI if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


def crc32c(data: bytes) -> int:
    """Return the checksum of a header."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ crc_table()[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def put_text(head: bytearray, at: int, size: int, text: str) -> None:
    """Put a text where it belongs, cut off where it must be."""
    head[at:at + size] = text.encode()[:size - 1].ljust(size, b"\0")


def header(records: int, device_bytes: int, source: str, provenance: Mapping[str, Any]) -> bytes:
    """Return the header of a file with that many records."""
    head = bytearray(HEADER_BYTES)
    aft.HEAD.pack_into(head, 0, aft.MAGIC, *VERSION, HEADER_BYTES, RECORD_BYTES, 1, aft.SECTOR,
                       len(FIELDS), records, device_bytes, len(CLASSES))
    for number, (name, offset, size) in enumerate(FIELDS):
        aft.FIELD.pack_into(head, aft.FIELDS_AT + number * 32, name.encode(), offset, size, 1)
    for number, name in enumerate(CLASSES):
        put_text(head, aft.CLASSES_AT + number * aft.CLASS_BYTES, aft.CLASS_BYTES, name)
    put_text(head, aft.NAMES_AT, 64, source)
    put_text(head, aft.NAMES_AT + 64, 64, f"approxftl {version()}")
    text = json.dumps(provenance)
    if len(text.encode()) >= PROVENANCE_BYTES:
        raise Refusal(f"{len(text)} bytes of provenance do not fit into a header")
    put_text(head, aft.PROVENANCE_AT, PROVENANCE_BYTES, text)
    struct.pack_into("<I", head, HEADER_BYTES - 4, crc32c(bytes(head[:-4])))
    return bytes(head)


def write(path: Path, columns: Mapping[str, NDArray[Any] | Sequence[int]], device_bytes: int,
          source: str, provenance: Mapping[str, Any]) -> None:
    """Write a record file; fields that are not given are 0."""
    count = len(columns["t_ns"])
    records = np.zeros(count, RECORD)
    for name, values in columns.items():
        records[name] = values
    write_file(path, header(count, device_bytes, source, provenance) + records.tobytes())
