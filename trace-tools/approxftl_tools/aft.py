# SPDX-License-Identifier: GPL-2.0-only
"""Record files, aft(5), as arrays: the file's own table says where each field is."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from approxftl_tools.command import Refusal

MAGIC = b"\x89AFT\r\n\x1a\n"
HEAD = struct.Struct("<8sHHIIIIIQQI")
FIELD = struct.Struct("<16sHHI8x")
FIELDS_AT, CLASSES_AT, NAMES_AT, PROVENANCE_AT = 64, 576, 1088, 1216
CLASS_BYTES = 32
SECTOR = 512
OPERATIONS = ("read", "write", "flush", "discard", "write_zeroes")
#: Bit of the operation: it is forced to the medium.
FUA = 0x80
NEEDED = ("t_ns", "off_sect", "nsect", "op", "class", "lat_100ns")

Records = NDArray[np.void]


@dataclass(frozen=True)
class RecordFile:
    """A record file: what its header says, and its records, which stay on disk."""

    path: Path
    device_bytes: int
    classes: tuple[str, ...]
    source_format: str
    tool: str
    provenance: str
    records: Records

    def column(self, name: str) -> NDArray[Any]:
        """Return a field of all records."""
        return np.asarray(self.records[name])

    def operations(self) -> NDArray[Any]:
        """Return the operations without their flags."""
        return self.column("op") & np.uint8(~FUA & 0xFF)


def text(data: bytes) -> str:
    """Return what stands before the first zero."""
    return data.split(b"\0")[0].decode(errors="replace")


def layout(path: Path, head: bytes, fields: int, record_bytes: int) -> np.dtype[np.void]:
    """Return the type of a record, as the table in the header has it."""
    names, formats, offsets = [], [], []
    for i in range(min(fields, (CLASSES_AT - FIELDS_AT) // FIELD.size)):
        name, offset, size, _ = FIELD.unpack_from(head, FIELDS_AT + i * FIELD.size)
        if size not in (1, 2, 4, 8) or offset + size > record_bytes:
            raise Refusal(f'{path}: field "{text(name)}" does not fit into a record; '
                          "the file is damaged")
        names.append(text(name))
        formats.append(f"<u{size}")
        offsets.append(offset)
    lost = [name for name in NEEDED if name not in names]
    if lost:
        raise Refusal(f"{path}: records have no field {', '.join(lost)}; "
                      f"there are {', '.join(names) or 'none'}")
    return np.dtype({"names": names, "formats": formats, "offsets": offsets,
                     "itemsize": record_bytes})


def read(path: Path) -> RecordFile:
    """Open a record file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4096)
    if len(head) < 4096:
        raise Refusal(f"{path}: a record file of {size} bytes has no whole header; it is cut off")
    (_, major, _, header_bytes, record_bytes, tick, sector, fields, _, device_bytes,
     classes) = HEAD.unpack_from(head)
    if major != 1 or tick != 1 or sector != SECTOR:
        raise Refusal(f"{path}: a record file of version {major}, ticks of {tick} ns and sectors "
                      f"of {sector} bytes; version 1, 1 ns and {SECTOR} bytes are understood")
    if record_bytes == 0 or header_bytes > size or (size - header_bytes) % record_bytes:
        raise Refusal(f"{path}: {size} bytes are no whole number of records of {record_bytes}; "
                      "the file is cut off")
    kind = layout(path, head, fields, record_bytes)
    count = (size - header_bytes) // record_bytes
    records: Records = np.zeros(0, kind)
    if count:
        records = np.memmap(path, kind, "r", header_bytes, (count,))
    names = (head[CLASSES_AT + CLASS_BYTES * i:][:CLASS_BYTES] for i in range(min(classes, 16)))
    return RecordFile(path, device_bytes, tuple(map(text, names)), text(head[NAMES_AT:][:64]),
                      text(head[NAMES_AT + 64:][:64]), text(head[PROVENANCE_AT:4092]), records)
