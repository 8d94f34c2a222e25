# SPDX-License-Identifier: GPL-2.0-only
"""Read record files, aft(5), and replay logs as arrays; their headers say where each field is."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from approxftl_tools.arrays import np
from approxftl_tools.refusal import Refusal, convert_read_errors_to_refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"\x89AFT\r\n\x1a\n"
HEAD = struct.Struct("<8sHHIIIIIQQI")
FIELD = struct.Struct("<16sHHI8x")
FIELDS_AT, CLASSES_AT, NAMES_AT, PROVENANCE_AT = 64, 576, 1088, 1216
CLASS_BYTES = 32
SECTOR = 512
OPERATIONS = ("read", "write", "flush", "discard", "write_zeroes")
#: Mask of the operation in the field "op"; the other bits are FUA and the lifetime of the data.
OPERATION = 0x0F
NEEDED = ("t_ns", "off_sect", "nsect", "op", "class", "lat_100ns")
#: The log of a replay has the same header layout; only the fields below differ.
LOG_MAGIC = b"\x89AFL\r\n\x1a\n"
LOG_PLANNED, LOG_CLASSES = struct.Struct("<Q"), struct.Struct("<I")
LOG_PLANNED_AT, LOG_CLASSES_AT = 40, 48
LOG_NEEDED = ("due_ns", "submit_ns", "complete_ns", "nsect", "op", "class", "error",
              "approx_units", "approx_flips", "precise_units", "precise_flips")

Records: TypeAlias = "NDArray[np.void]"


@dataclass(frozen=True)
class RecordFile:
    """A record file: its parsed header, and its memory-mapped records."""

    path: Path
    device_bytes: int
    classes: tuple[str, ...]
    source_format: str
    tool: str
    provenance: str
    records: Records

    @property
    def file_label(self) -> str:
        """Return the record file's name, with a mark if its recording was interrupted."""
        try:
            marked = json.loads(self.provenance)["interrupted"] is True
        except (ValueError, KeyError, TypeError, RecursionError):
            marked = False
        return f"{self.path.name} (interrupted)" if marked else self.path.name

    def get_record_column(self, name: str) -> NDArray[Any]:
        return np.asarray(self.records[name])

    def get_operation_codes_of_records(self) -> NDArray[Any]:
        return self.get_record_column("op") & np.uint8(OPERATION)


@dataclass(frozen=True)
class ReplayLog:
    """The log of a replay: its header, and the outcome of each request."""

    path: Path
    planned: int
    classes: tuple[str, ...]
    engine: str
    tool: str
    about: str
    entries: Records

    @property
    def file_label(self) -> str:
        """Return the log's file name, with a mark if the log lacks requests."""
        done = len(self.entries)
        return (f"{self.path.name} (interrupted after {done} of {self.planned} requests)"
                if done < self.planned else self.path.name)

    def get_log_column(self, name: str) -> NDArray[Any]:
        return np.asarray(self.entries[name])

    def get_operation_codes_of_records(self) -> NDArray[Any]:
        return self.get_log_column("op") & np.uint8(OPERATION)

    def compute_request_latencies_ns(self) -> NDArray[Any]:
        return np.asarray(self.get_log_column("complete_ns") - self.get_log_column("submit_ns"))

    def compute_submission_lags_ns(self) -> NDArray[Any]:
        """Return the delay (ns) of each request behind its due time; never negative."""
        begin = self.get_log_column("submit_ns")
        return np.asarray(begin - np.minimum(self.get_log_column("due_ns"), begin))


def decode_c_string(data: bytes) -> str:
    return data.split(b"\0")[0].decode(errors="replace")


def record_dtype(path: Path, head: bytes, fields: int, record_bytes: int,
                 needed: tuple[str, ...]) -> np.dtype[np.void]:
    """Return numpy's data type of a record, built from the field table of the header."""
    names, formats, offsets = [], [], []
    for i in range(min(fields, (CLASSES_AT - FIELDS_AT) // FIELD.size)):
        name, offset, size, _ = FIELD.unpack_from(head, FIELDS_AT + i * FIELD.size)
        if size not in (1, 2, 4, 8) or offset + size > record_bytes:
            raise Refusal(f'{path}: field "{decode_c_string(name)}" does not fit into a record; '
                          "the file is damaged")
        names.append(decode_c_string(name))
        formats.append(f"<u{size}")
        offsets.append(offset)
    lost = [name for name in needed if name not in names]
    if lost:
        raise Refusal(f"{path}: records have no field {', '.join(lost)}; "
                      f"there are {', '.join(names) or 'none'}")
    return np.dtype({"names": names, "formats": formats, "offsets": offsets,
                     "itemsize": record_bytes})


@dataclass(frozen=True)
class Shape:
    """The part of the header that record files and replay logs have in common."""

    head: bytes
    header_bytes: int
    record_bytes: int
    fields: int
    device_bytes: int
    classes: int


def read_header(path: Path) -> Shape:
    """Read and check a header; raise Refusal if it is damaged or of another version."""
    with convert_read_errors_to_refusal(path), path.open("rb") as file:
        head = file.read(4096)
    if len(head) < 4096:
        raise Refusal(f"{path}: a record file of {len(head)} bytes has no whole header; "
                      "it is cut off")
    (_, major, _, header_bytes, record_bytes, tick, sector, fields, _, device_bytes,
     classes) = HEAD.unpack_from(head)
    if major != 1 or tick != 1 or sector != SECTOR:
        raise Refusal(f"{path}: a record file of version {major}, ticks of {tick} ns and sectors "
                      f"of {sector} bytes; version 1, 1 ns and {SECTOR} bytes are understood")
    if record_bytes == 0 or header_bytes < 4096:
        raise Refusal(f"{path}: records of {record_bytes} bytes after a header of {header_bytes}; "
                      "the file is damaged")
    return Shape(head, header_bytes, record_bytes, fields, device_bytes, classes)


def read_class_names(head: bytes, count: int) -> tuple[str, ...]:
    """Return the names of the tag classes that a header lists."""
    return tuple(decode_c_string(head[CLASSES_AT + CLASS_BYTES * i:][:CLASS_BYTES])
                 for i in range(min(count, 16)))


def map_record_array(path: Path, shape: Shape, needed: tuple[str, ...], count: int) -> Records:
    """Return the records of a file as a memory-mapped array."""
    kind = record_dtype(path, shape.head, shape.fields, shape.record_bytes, needed)
    if not count:
        return np.zeros(0, kind)
    return np.memmap(path, kind, "r", shape.header_bytes, (count,))


def open_record_file(path: Path) -> RecordFile:
    shape = read_header(path)
    size = path.stat().st_size - shape.header_bytes
    if size < 0 or size % shape.record_bytes:
        raise Refusal(f"{path}: {size} bytes are no whole number of records of "
                      f"{shape.record_bytes}; the file is cut off")
    head = shape.head
    return RecordFile(path, shape.device_bytes, read_class_names(head, shape.classes),
                      decode_c_string(head[NAMES_AT:][:64]),
                      decode_c_string(head[NAMES_AT + 64:][:64]),
                      decode_c_string(head[PROVENANCE_AT:4092]),
                      map_record_array(path, shape, NEEDED, size // shape.record_bytes))


def open_replay_log(path: Path) -> ReplayLog:
    """Open the log of a replay; ignore a partial last entry, which a killed replay leaves."""
    shape = read_header(path)
    head = shape.head
    (planned,) = LOG_PLANNED.unpack_from(head, LOG_PLANNED_AT)
    (classes,) = LOG_CLASSES.unpack_from(head, LOG_CLASSES_AT)
    count = (path.stat().st_size - shape.header_bytes) // shape.record_bytes
    return ReplayLog(path, planned, read_class_names(head, classes),
                     decode_c_string(head[NAMES_AT:][:64]),
                     decode_c_string(head[NAMES_AT + 64:][:64]),
                     decode_c_string(head[PROVENANCE_AT:4092]),
                     map_record_array(path, shape, LOG_NEEDED, max(0, count)))
