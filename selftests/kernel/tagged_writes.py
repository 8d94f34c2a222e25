# SPDX-License-Identifier: GPL-2.0-only
"""All ways in which a program can write tagged data, and the classes of stored data."""

import ctypes
import mmap
import os
import struct
from collections.abc import Callable
from pathlib import Path

from approx_control import (
    APPROXIMATE,
    NONE,
    PRECISE,
    PROCESS,
    PWRITEV,
    PWRITEV_FORMAT,
    THREAD,
    Control,
    buffer_address,
)

UNIT = 4096
UNITS = 256
CHUNK = 16  # units per write, of both classes
PIECE = 64  # units per read
MAGIC = {APPROXIMATE: b"APPROXAP", PRECISE: b"PRECISEP"}

# Distinguishes units of this run from those that earlier runs have left on the device.
run = 0

libc = ctypes.CDLL(None, use_errno=True)


def list_pattern_classes() -> list[int]:
    """Return the class of each unit of a test file, which alternates after 1, 3, 9, ... units."""
    found: list[int] = []
    kind, run = PRECISE, 1
    while len(found) < UNITS:
        found += [kind] * run
        kind, run = APPROXIMATE - kind, run * 3 % 17
    return found[:UNITS]


def make_pattern_content() -> bytes:
    """Return a test file's content: each unit holds its class, index and a run number."""
    return b"".join((MAGIC[kind] + struct.pack("=II", i, run)) * (UNIT // 16)
                    for i, kind in enumerate(list_pattern_classes()))


def tag_ranges_of_pattern(control: Control, fd: int) -> None:
    """Tag the approximate units of a file or memfd."""
    for i, kind in enumerate(list_pattern_classes()):
        if kind == APPROXIMATE:
            control.tag_range(fd, i * UNIT, UNIT)


def issue_syscall(number: int, *arguments: object) -> int:
    """Issue an x86-64 system call."""
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Aio:
    """A way to write files: Linux AIO by io_submit(2)."""

    def __init__(self) -> None:
        self.context = ctypes.c_ulong(0)
        issue_syscall(206, 8, ctypes.byref(self.context))

    def submit_and_await_write(self, fd: int, address: int, length: int, offset: int) -> int:
        """Write memory to a file at an offset, and wait for the completion."""
        block = bytearray(struct.pack("=QIIHhIQQqQII", 0, 0, 0, 1, 0, fd, address, length, offset,
                                      0, 0, 0))
        pointer = ctypes.c_void_p(buffer_address(block))
        event = bytearray(32)
        issue_syscall(209, self.context, 1, ctypes.byref(pointer))
        issue_syscall(208, self.context, 1, 1, ctypes.c_void_p(buffer_address(event)), None)
        return int(struct.unpack("=QQqq", event)[2])


class Uring:
    """A way to write files: io_uring with one request in flight."""

    opcode = 23  # IORING_OP_WRITE
    stream = 0  # write stream; needs Linux 6.16
    io_priority = 0  # of the request; 0 for that of the thread

    def __init__(self, *, by_workers: bool) -> None:
        self.flags = 1 << 4 if by_workers else 0  # IOSQE_ASYNC
        params = bytearray(120)
        self.fd = issue_syscall(425, 4, ctypes.c_void_p(buffer_address(params)))
        fields = struct.unpack("=30I", params)
        self.sq_off, self.cq_off = fields[10:20], fields[20:30]
        self.ring = mmap.mmap(self.fd, self.sq_off[6] + fields[0] * 4, offset=0)
        self.completions = mmap.mmap(self.fd, self.cq_off[5] + fields[1] * 16, offset=0x8000000)
        self.entries = mmap.mmap(self.fd, fields[0] * 64, offset=0x10000000)

    def submit_and_await_write(self, fd: int, address: int, length: int, offset: int) -> int:
        """Write memory to a file at an offset, and wait for the completion."""
        tail = struct.unpack_from("=I", self.ring, self.sq_off[1])[0]
        mask = struct.unpack_from("=I", self.ring, self.sq_off[2])[0]
        struct.pack_into("=BBHiQQIIQ4xB19x", self.entries, (tail & mask) * 64, self.opcode,
                         self.flags, self.io_priority, fd, offset, address, length, 0, tail,
                         self.stream)
        struct.pack_into("=I", self.ring, self.sq_off[6] + (tail & mask) * 4, tail & mask)
        struct.pack_into("=I", self.ring, self.sq_off[1], tail + 1)
        issue_syscall(426, self.fd, 1, 1, 1, None, 0)
        head = struct.unpack_from("=I", self.completions, self.cq_off[0])[0]
        mask = struct.unpack_from("=I", self.completions, self.cq_off[2])[0]
        at = self.cq_off[5] + (head & mask) * 16
        result = struct.unpack_from("=QiI", self.completions, at)[1]
        struct.pack_into("=I", self.completions, self.cq_off[0], head + 1)
        return int(result)


class FixedFileUring(Uring):
    """A way to write files: io_uring with a registered file."""

    def submit_and_await_write(self, fd: int, address: int, length: int, offset: int) -> int:
        """Register the file, write to it by its index, wait, and unregister it."""
        issue_syscall(427, self.fd, 2, ctypes.byref(ctypes.c_int(fd)), 1)  # IORING_REGISTER_FILES
        self.flags |= 1  # IOSQE_FIXED_FILE
        written = super().submit_and_await_write(0, address, length, offset)
        issue_syscall(427, self.fd, 3, None, 0)
        return written


class FixedUring(Uring):
    """A way to write files: io_uring with a registered buffer."""

    opcode = 5  # IORING_OP_WRITE_FIXED with buffer index 0

    def __init__(self) -> None:
        super().__init__(by_workers=False)

    def submit_and_await_write(self, fd: int, address: int, length: int, offset: int) -> int:
        """Register the memory as a buffer, write it to the file, wait, and unregister it."""
        vector = bytearray(struct.pack("=QQ", address, length))
        issue_syscall(427, self.fd, 0, ctypes.c_void_p(buffer_address(vector)), 1)
        written = super().submit_and_await_write(fd, address, length, offset)
        issue_syscall(427, self.fd, 1, None, 0)
        return written


class Pwrite:
    def submit_and_await_write(self, fd: int, address: int, length: int, offset: int) -> int:
        """Write memory to a file at an offset, and wait for the completion."""
        written = int(libc.pwrite(fd, ctypes.c_void_p(address), ctypes.c_size_t(length),
                                  ctypes.c_long(offset)))
        return written if written >= 0 else -ctypes.get_errno()


Engine = Pwrite | Aio | Uring


def write_page_cache(control: Control, path: str) -> None:
    """Tag a file, write() into the page cache, fsync()."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    tag_ranges_of_pattern(control, fd)
    os.write(fd, make_pattern_content())
    os.fsync(fd)


def write_shared_mapping(control: Control, path: str) -> None:
    """Write to a shared mapping of a file, tag the file, msync()."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.truncate(fd, UNITS * UNIT)
    with mmap.mmap(fd, UNITS * UNIT) as memory:
        memory[:] = make_pattern_content()
        tag_ranges_of_pattern(control, fd)
        memory.flush()


def write_from_memfd(control: Control, path: str, engine: Engine, flags: int = 0) -> None:
    """Write a file with O_DIRECT from memory of a memfd whose approximate units are tagged."""
    memfd = os.memfd_create("arena", flags)
    length = max(UNITS * UNIT, 2 << 20) if flags else UNITS * UNIT
    os.truncate(memfd, length)
    memory = mmap.mmap(memfd, length)
    memory[: UNITS * UNIT] = make_pattern_content()
    tag_ranges_of_pattern(control, memfd)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    units = CHUNK
    for first in range(0, UNITS, units):
        written = engine.submit_and_await_write(fd, address + first * UNIT, units * UNIT,
                                                first * UNIT)
        if written != units * UNIT:
            raise SystemExit(f"# wrote {written} of {units * UNIT} bytes")
    os.fsync(fd)


def write_in_tagged_scope(control: Control, path: str, whose: int, engine: Engine) -> None:
    """Write units by O_DIRECT; the thread or process tags its writes of approximate units."""
    memory = mmap.mmap(-1, UNITS * UNIT)
    memory[:] = make_pattern_content()
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    for i, kind in enumerate(list_pattern_classes()):
        control.set_class_scope(whose, APPROXIMATE if kind == APPROXIMATE else NONE)
        written = engine.submit_and_await_write(fd, address + i * UNIT, UNIT, i * UNIT)
        if written != UNIT:
            raise SystemExit(f"# wrote {written} of {UNIT} bytes")
    control.set_class_scope(whose, NONE)
    os.fsync(fd)


def write_by_ioctl(control: Control, path: str, flags: int) -> None:
    """Write a file unit by unit with the ioctl APPROXFTL_PWRITEV."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o600)
    data = mmap.mmap(-1, UNIT)
    page = (ctypes.c_char * UNIT).from_buffer(data)
    all_of_it = make_pattern_content()
    for i, kind in enumerate(list_pattern_classes()):
        data[:] = all_of_it[i * UNIT : (i + 1) * UNIT]
        vector = bytearray(struct.pack("=QQ", ctypes.addressof(page), UNIT))
        control.call_ioctl(PWRITEV, PWRITEV_FORMAT, fd, kind, 0, i * UNIT, buffer_address(vector),
                           1, 0, 0)
    os.fsync(fd)


WAYS: dict[str, Callable[[Control, str], None]] = {
    "buffered": write_page_cache,
    "mmap": write_shared_mapping,
    "direct": lambda control, path: write_from_memfd(control, path, Pwrite()),
    "direct-huge": lambda control, path: write_from_memfd(control, path, Pwrite(), os.MFD_HUGETLB),
    "fixed-huge": lambda control,
                                                   path: write_from_memfd(control, path,
                                                                          FixedUring(),
                                                                          os.MFD_HUGETLB),
    "libaio": lambda control, path: write_from_memfd(control, path, Aio()),
    "io_uring": lambda control, path: write_from_memfd(control, path, Uring(by_workers=False)),
    "io_uring-workers": lambda control,
                                                   path: write_from_memfd(control, path,
                                                                          Uring(by_workers=True)),
    "io_uring-fixed": lambda control, path: write_from_memfd(control, path, FixedUring()),
    "thread": lambda control, path: write_in_tagged_scope(control, path, THREAD, Pwrite()),
    "process": lambda control, path: write_in_tagged_scope(control, path, PROCESS,
                                                           Uring(by_workers=True)),
    "pwritev": lambda control, path: write_by_ioctl(control, path, 0),
    "pwritev-sync": lambda control, path: write_by_ioctl(control, path, os.O_DSYNC),
    "pwritev-direct": lambda control, path: write_by_ioctl(control, path, os.O_DIRECT),
}


def map_stored_classes(control: Control, device: str | Path) -> dict[int, int]:
    fd = os.open(device, os.O_RDONLY)
    found = {unit[1]: unit[2] for unit in control.iterate_stored_units(fd) if unit[2] != NONE}
    os.close(fd)
    return found


def read_first_bytes_of_units(device: str | Path, offsets: list[int]) -> dict[int, bytes]:
    """Return the first 16 bytes of each unit at these device offsets."""
    found = {}
    page = mmap.mmap(-1, PIECE * UNIT)
    fd = os.open(device, os.O_RDONLY | os.O_DIRECT)
    wanted = sorted(offsets)
    at = 0
    while at < len(wanted):
        first = wanted[at]
        os.preadv(fd, [page], first)
        while at < len(wanted) and wanted[at] < first + PIECE * UNIT:
            found[wanted[at]] = page[wanted[at] - first : wanted[at] - first + 16]
            at += 1
    os.close(fd)
    return found
