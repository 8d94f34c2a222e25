#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that a tagged file's pages become approximate in that file only, on any storage stack.

tags_beneath.py SCENARIO [ARGUMENT]...: as tags.py. A file is tagged, mapped and under writeback
while its pages are written into other, untagged files. Each unit on the device holds the file's
magic and the generation of its data. Copies in other files are of earlier generations than the
tagged file's final data.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable

import tags
from approx_control import APPROXIMATE, Control
from tagged_writes import UNIT, FixedUring, Uring, libc, syscall
from tags import must

UNITS = 64
SIZE = UNITS * UNIT
MAGIC = b"BENEATHS"
SYNC_FILE_RANGE_WRITE = 2
F_SETPIPE_SZ = 1031
FICLONE = 0x40049409


def content(generation: int) -> bytes:
    """Return units that hold their number and generation."""
    return b"".join((MAGIC + struct.pack("=II", i, generation)) * (UNIT // 16)
                    for i in range(UNITS))


class Tagged:
    """A tagged and mapped file."""

    def __init__(self, control: Control, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.write(self.fd, content(0))
        os.fsync(self.fd)
        control.tag(self.fd)
        self.memory = mmap.mmap(self.fd, SIZE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.generation = 0

    def change(self) -> None:
        """Overwrite all of the mapping with the next generation."""
        self.generation += 1
        self.memory[:] = content(self.generation)

    def begin_writeback(self) -> None:
        """Start writeback without waiting for it."""
        syscall(277, self.fd, ctypes.c_long(0), ctypes.c_long(SIZE), SYNC_FILE_RANGE_WRITE)


def a_pipe() -> tuple[int, int]:
    """Return a pipe with the capacity of a whole file."""
    ends = os.pipe()
    fcntl.fcntl(ends[1], F_SETPIPE_SZ, SIZE)
    return ends


def drain(pipe: int, target: int) -> None:
    """Splice the pipe's content into the target."""
    left = SIZE
    while left:
        moved = os.splice(pipe, target, left)
        must(moved, "a pipe is empty")
        left -= moved


def by_direct(own: Tagged, target: int) -> None:
    """Write with O_DIRECT from the file's mapping."""
    written = libc.pwrite(target, ctypes.c_void_p(own.address), ctypes.c_size_t(SIZE),
                          ctypes.c_long(0))
    must(written == SIZE, f"wrote {written}: {os.strerror(ctypes.get_errno())}")


def by_io_uring(own: Tagged, target: int) -> None:
    """Write with O_DIRECT from the mapping, by an io_uring worker."""
    ring = Uring(by_workers=True)
    must(ring.write(target, own.address, SIZE, 0) == SIZE, "io_uring wrote less")


def by_fixed_buffer(own: Tagged, target: int) -> None:
    """Write from a registered, pinned buffer; by O_DIRECT where a mapping is refused."""
    try:
        must(FixedUring().write(target, own.address, SIZE, 0) == SIZE, "io_uring wrote less")
    except OSError as why:
        must(why.errno in (errno.EOPNOTSUPP, errno.EFAULT, errno.EINVAL), f"{why}")
        by_direct(own, target)


def by_splice(own: Tagged, target: int) -> None:
    """Splice from the page cache through a pipe."""
    reader, writer = a_pipe()
    position = 0
    while position < SIZE:
        moved = os.splice(own.fd, writer, SIZE - position, offset_src=position)
        must(moved, "splice ends early")
        position += moved
    drain(reader, target)


def by_vmsplice(own: Tagged, target: int) -> None:
    """Splice from the mapping through a pipe with vmsplice()."""
    reader, writer = a_pipe()
    vector = struct.pack("=QQ", own.address, SIZE)
    buffer = ctypes.create_string_buffer(vector)
    moved = libc.vmsplice(writer, ctypes.c_void_p(ctypes.addressof(buffer)), ctypes.c_ulong(1),
                          ctypes.c_uint(0))
    must(moved == SIZE, f"vmsplice moved {moved}")
    drain(reader, target)


def by_sendfile(own: Tagged, target: int) -> None:
    """Copy with sendfile()."""
    position = 0
    while position < SIZE:
        position += os.sendfile(target, own.fd, position, SIZE - position)


def by_copy(own: Tagged, target: int) -> None:
    """Copy with copy_file_range(); rewrite a clone, which shares approximate blocks."""
    try:
        fcntl.ioctl(target, FICLONE, own.fd)
    except OSError as why:
        must(why.errno == errno.EOPNOTSUPP, f"{why}")
    else:
        os.pwrite(target, content(own.generation), 0)
        return
    position = 0
    while position < SIZE:
        position += os.copy_file_range(own.fd, target, SIZE - position, position, position)


WAYS: tuple[Callable[[Tagged, int], None], ...] = (
    by_direct, by_io_uring, by_fixed_buffer, by_splice, by_vmsplice, by_sendfile, by_copy)


def open_target(path: str, way: Callable[[Tagged, int], None]) -> int:
    """Return an open file with allocated blocks."""
    plain = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.pwrite(plain, bytes(SIZE), 0)
    os.fsync(plain)
    if way is by_copy:
        return plain
    os.close(plain)
    return os.open(path, os.O_RDWR | os.O_DIRECT)


def look(legs: list[str], last: int) -> dict[str, set[int]]:
    """Return the approximate units on each leg; fail if one is not the tagged file's."""
    control = Control()
    found: dict[str, set[int]] = {}
    for leg in legs:
        units = [at for at, kind in tags.on_flash(control, leg).items() if kind == APPROXIMATE]
        found[leg] = set()
        wrong: dict[str, int] = {}
        for told in tags.marks(leg, units).values():
            index, generation = struct.unpack("=II", told[8:])
            if told[:8] == MAGIC and generation == last and index not in found[leg]:
                found[leg].add(index)
                continue
            whose = f"of generation {generation}" if told[:8] == MAGIC else "of others"
            wrong[whose] = wrong.get(whose, 0) + 1
        must(not wrong, f"{leg}: approximate, though nobody spoke of them: {wrong}, of {last}")
    return found


def write_last(own: Tagged, way: str) -> None:
    """Write the whole file again and wait until it is on the device."""
    if way == "write":
        own.memory.close()
        own.generation += 1
        os.pwrite(own.fd, content(own.generation), 0)
    else:
        own.change()
    os.fsync(own.fd)
    os.sync()


def beneath(folder: str, least: str, *legs: str) -> None:
    """Write a tagged file's pages to other files; require shares of its own units as approximate.

    LEAST is the minimum of both shares in %, for data written by write() and by a mapping, such as
    80,50; or "none" if no unit may be approximate.
    """
    control = Control()
    own = Tagged(control, f"{folder}/tagged")
    rounds = int(os.environ.get("AFTL_ROUNDS", "1"))
    draw = random.Random(8)
    for _ in range(rounds):
        for way in draw.sample(WAYS, len(WAYS)):
            target = open_target(f"{folder}/{way.__name__}", way)
            own.change()
            own.begin_writeback()
            way(own, target)
            os.fsync(target)
            os.close(target)
    shares = []
    for way_last in ("mmap", "write"):
        write_last(own, way_last)
        found = look(list(legs), own.generation)
        must(least != "none" or not any(found.values()), f"{way_last}: something is approximate")
        shares.append(100 * len(set().union(*found.values())) // UNITS)
    print(f"# {shares[1]} % of what was written, {shares[0]} % of what was mapped")
    if least != "none":
        wanted = [int(word) for word in least.split(",")]
        must(shares[1] >= wanted[0] and shares[0] >= wanted[1], f"too little of {least} %")


def none(*legs: str) -> None:
    """Check that no unit is approximate."""
    look(list(legs), -1)


def moved(folder: str, *words: str) -> None:
    """Let a program move files: the untagged one must stay precise, the other may change."""
    *program, leg = words
    control = Control()
    own = Tagged(control, f"{folder}/tagged")
    other = os.open(f"{folder}/other", os.O_RDWR | os.O_CREAT, 0o600)
    own.change()
    # Write in pieces, so that the file is fragmented.
    data = content(own.generation + 1)
    for unit in reversed(range(UNITS)):
        os.pwrite(other, data[unit * UNIT : (unit + 1) * UNIT], unit * UNIT)
        os.fsync(other)
        os.pwrite(own.fd, own.memory[unit * UNIT : (unit + 1) * UNIT], unit * UNIT)
        os.fsync(own.fd)
    own.memory.close()
    for name in ("other", "tagged"):
        done = subprocess.run([*program, f"{folder}/{name}"], capture_output=True, text=True,
                              check=False)
        must(done.returncode == 0, f"{program}: {done.stdout} {done.stderr}")
    os.sync()
    look([leg], own.generation)


def main(words: list[str]) -> None:
    """Run a scenario."""
    name, *arguments = words
    scenarios: dict[str, Callable[..., None]] = {"beneath": beneath, "moved": moved, "none": none}
    scenarios[name](*arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
