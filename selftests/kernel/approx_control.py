# SPDX-License-Identifier: GPL-2.0-only
"""A Python binding of uapi/linux/approxftl.h and /dev/approxftl for tests, without libapproxftl."""

import ctypes
import errno
import mmap
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

PATH = "/dev/approxftl"
PRECISE, APPROXIMATE, NONE, LEVEL_2, LEVEL_3 = range(5)
THREAD, PROCESS = range(2)
TO_END = 2**64 - 1
WRITE_HINT = 3
SYNC_FIRST = 1
(REASON_NONE, REASON_KIND, REASON_READ_ONLY, REASON_OWNER, REASON_SWAP, REASON_ENCRYPTED,
 REASON_VERITY, REASON_CHECKSUM, REASON_FILES, REASON_RANGES, REASON_DEVICE,
 REASON_IN_USE) = range(12)

(CAPS, TAG, UNTAG, QUERY, SCOPE, PWRITEV, DEVICE_TAG, DEVICE_QUERY, STORED, WATCH, NOTE,
 STATS, TAG_FD) = range(0xF740, 0xF74D)

CAPS_FORMAT = struct.Struct("=IIQQQQII")
RANGE_FORMAT = struct.Struct("=IiIIQQII")
EXTENT_FORMAT = struct.Struct("=QQII")
QUERY_FORMAT = struct.Struct("=IiQQII")
SCOPE_FORMAT = struct.Struct("=IIIIQII")
PWRITEV_FORMAT = struct.Struct("=IiIIQQIIQ")
STORED_FORMAT = struct.Struct("=IiQQQIIII")
UNIT_FORMAT = struct.Struct("=QQIIII")
WATCH_FORMAT = struct.Struct("=IiII")
NOTE_FORMAT = struct.Struct("=IIQ")
STATS_FORMAT = struct.Struct("=IIIIIIQQQQQQQQQQQQQQQ")
TAG_FD_FORMAT = struct.Struct("=IiIIIIIIII")
#: The structure as programs use it that were built before quality levels existed.
STATS_FORMAT_OLD = struct.Struct("=IIIIIIQQQQQQQQQQQ")
IOVEC_FORMAT = struct.Struct("=QQ")
STATS_NAMES = ("size", "files", "ranges", "scopes", "watches", "reserved", "by_file", "by_buffer",
               "by_thread", "by_process", "by_priority", "by_device", "by_table",
               "explicit_precise", "mixed", "vetoed", "splits", "level_2", "level_3", "by_hint",
               "by_stream")
FORMATS = {CAPS: CAPS_FORMAT, TAG: RANGE_FORMAT, UNTAG: RANGE_FORMAT, QUERY: QUERY_FORMAT,
           SCOPE: SCOPE_FORMAT, PWRITEV: PWRITEV_FORMAT, DEVICE_TAG: RANGE_FORMAT,
           DEVICE_QUERY: QUERY_FORMAT, STORED: STORED_FORMAT, WATCH: WATCH_FORMAT,
           NOTE: NOTE_FORMAT, STATS: STATS_FORMAT, TAG_FD: TAG_FD_FORMAT}


class RefusedError(OSError):
    """A failed ioctl, with the reason that the module gave."""

    def __init__(self, number: int, reason: int) -> None:
        super().__init__(number, f"{os.strerror(number)}, reason {reason}")
        self.reason = reason


class Unit(NamedTuple):
    """A mapping unit of a file on flash, as struct approxftl_unit describes it."""

    offset: int
    device_offset: int
    kind: int
    flags: int
    flips: int
    raw: int


class Carriers(NamedTuple):
    """Carriers of a file's tag (inode, write hint ...), as struct approxftl_tag_fd returns them."""

    carriers: int
    passed: int
    honoured: int
    io_priority: int
    write_stream: int


class Extent(NamedTuple):
    """A tagged range, as struct approxftl_extent describes it."""

    offset: int
    length: int
    kind: int


def buffer_address(data: bytearray | mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(data))


#: fcntl.ioctl() of Python 3.14 discards the output of a call that fails, so call libc's.
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ioctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)


def issue_ioctl(fd: int, number: int, data: bytearray) -> None:
    """Issue an ioctl on structure `data`; the kernel changes `data` even when the ioctl fails."""
    if LIBC.ioctl(fd, number, buffer_address(data)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Control:
    """An open control device, /dev/approxftl, with a method for each ioctl."""

    def __init__(self) -> None:
        self.fd = os.open(PATH, os.O_RDWR | os.O_CLOEXEC)

    def close_control(self) -> None:
        """Close the control device, which ends all classes of writes set by this descriptor."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    __del__ = close_control

    def call_ioctl(self, number: int, form: struct.Struct, *values: int, reason: int | None = None,
                   ) -> tuple[int, ...]:
        """Issue an ioctl; return its members, of which @reason is the index of the error reason."""
        data = bytearray(form.pack(form.size, *values))
        try:
            issue_ioctl(self.fd, number, data)
        except OSError as error:
            why = form.unpack(data)[reason] if reason is not None else 0
            raise RefusedError(error.errno or 0, int(why)) from error
        return form.unpack(data)

    def tag_range(self, fd: int, offset: int = 0, length: int = TO_END, kind: int = APPROXIMATE,
                  flags: int = 0) -> None:
        """Tag a range of a file with a class."""
        self.call_ioctl(TAG, RANGE_FORMAT, fd, kind, flags, offset, length, 0, 0, reason=6)

    def tag_whole_file(self, fd: int, kind: int, carriers: int = 0) -> Carriers:
        """Tag a whole file by carriers such as its inode; 0 means all that the device honours."""
        values = self.call_ioctl(TAG_FD, TAG_FD_FORMAT, fd, kind, carriers, 0, 0, 0, 0, 0, 0,
                                 reason=8)
        return Carriers(*values[3:8])

    def untag_range(self, fd: int, offset: int = 0, length: int = TO_END) -> None:
        """Remove the tags of a range of a file."""
        self.call_ioctl(UNTAG, RANGE_FORMAT, fd, 0, 0, offset, length, 0, 0, reason=6)

    def tag_device_range(self, fd: int, offset: int = 0, length: int = TO_END,
                         kind: int = APPROXIMATE) -> None:
        """Tag a range of a device with a class; the class NONE removes the range's tag."""
        self.call_ioctl(DEVICE_TAG, RANGE_FORMAT, fd, kind, 0, offset, length, 0, 0, reason=6)

    def query_tags(self, fd: int, number: int = QUERY, room: int = 100) -> list[Extent]:
        """Return the tagged extents of a file or a device."""
        answer = bytearray(EXTENT_FORMAT.size * room)
        extents: list[Extent] = []
        cursor = 0
        while cursor != TO_END:
            _, _, cursor, _, _, count = self.call_ioctl(number, QUERY_FORMAT, fd, cursor,
                                                        buffer_address(answer), room, 0)
            for i in range(count):
                offset, length, kind, _ = EXTENT_FORMAT.unpack_from(answer, i * EXTENT_FORMAT.size)
                extents.append(Extent(offset, length, kind))
        return extents

    def set_class_scope(self, whose: int, kind: int, label: bytes = b"") -> int:
        """Set the class of a thread's or process's writes; return the previous class."""
        text = bytearray(label)
        address = buffer_address(text) if label else 0
        return self.call_ioctl(SCOPE, SCOPE_FORMAT, whose, kind, 0, address, len(label), 0)[3]

    def write_with_class(self, fd: int, data: bytearray, offset: int, kind: int) -> int:
        """Write data with a class; return the number of bytes written."""
        vector = bytearray(IOVEC_FORMAT.pack(buffer_address(data), len(data)))
        return self.call_ioctl(PWRITEV, PWRITEV_FORMAT, fd, kind, 0, offset, buffer_address(vector),
                               1, 0, 0, reason=7)[8]

    def iterate_stored_units(self, fd: int, cursor: int = 0, length: int = TO_END, room: int = 2048,
                             ) -> Iterator[tuple[int, ...]]:
        """Yield the members of struct approxftl_unit for each stored unit of a file or a device."""
        answer = bytearray(UNIT_FORMAT.size * room)
        end = min(cursor + length, TO_END)
        while cursor != TO_END:
            left = end - cursor if end != TO_END else TO_END
            values = self.call_ioctl(STORED, STORED_FORMAT, fd, cursor, left,
                                     buffer_address(answer), room, 0, 0, 0, reason=8)
            cursor = values[2]
            yield from UNIT_FORMAT.iter_unpack(answer[: values[6] * UNIT_FORMAT.size])

    def list_stored_units(self, fd: int, cursor: int = 0, length: int = TO_END) -> list[Unit]:
        """Return the stored units of a file or a device."""
        return [Unit(*members) for members in self.iterate_stored_units(fd, cursor, length)]

    def watch_file_system(self, fd: int, *, on: bool) -> None:
        """Switch tagging by extended attributes on or off for the file system of a file."""
        self.call_ioctl(WATCH, WATCH_FORMAT, fd, int(on), 0, reason=3)

    def write_trace_note(self, label: bytes) -> None:
        """Put a label into the block trace."""
        text = bytearray(label)
        self.call_ioctl(NOTE, NOTE_FORMAT, len(label), buffer_address(text))

    def read_counters(self) -> dict[str, int]:
        return dict(zip(STATS_NAMES, self.call_ioctl(STATS, STATS_FORMAT, *[0] * 20), strict=True))


def expect_refused_ioctl(error: int, reason: int, call: object, *arguments: object,
                         **options: object) -> None:
    """Fail unless the control device refuses a call with this errno and this reason."""
    assert callable(call)
    try:
        call(*arguments, **options)
    except OSError as refusal:
        why = getattr(refusal, "reason", 0)
        if (refusal.errno, why) != (error, reason):
            raise SystemExit(f"# {arguments}: {refusal}, not {errno.errorcode[error]},"
                             f" reason {reason}") from None
        return
    raise SystemExit(f"# {arguments}: was not refused with {errno.errorcode[error]}")
