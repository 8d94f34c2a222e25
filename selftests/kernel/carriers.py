#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Carriers: by which part of a bio the class of a write reaches the device.

carriers.py SCENARIO [ARGUMENT]...: runs a function below; exits with status 0 or prints the error.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import approx_control as approx
from approx_control import APPROXIMATE, NONE, PRECISE, Control, address_of, expect
from tagged_writes import UNIT, Uring, syscall

UNITS = 64
LENGTH = UNITS * UNIT
F_SET_RW_HINT = 1036
INODE, HINT, PRIORITY, STREAM = 1, 2, 4, 8
IOPRIO_SET = 251
NOBODY = 65534


def must(condition: object, text: str) -> None:
    """Fail with a message unless the condition holds."""
    if not condition:
        raise SystemExit(f"# {text}")


def set_hint(fd: int, life: int) -> None:
    """Set the life time of a file."""
    fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack("=Q", life))


def set_priority(priority: int) -> None:
    """Set the I/O priority of this thread; 0 for the default."""
    syscall(IOPRIO_SET, 1, 0, priority)


def kinds_of(fd: int) -> list[int]:
    """Return the class of each stored unit of a file."""
    return [unit.kind for unit in Control().stored(fd)]


def new_file(path: str, flags: int) -> int:
    """Create a file."""
    return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o600)


def memory() -> mmap.mmap:
    """Return anonymous memory with the data of a file."""
    data = mmap.mmap(-1, LENGTH)
    data[:] = b"c" * LENGTH
    return data


def buffered(fd: int) -> None:
    """Write through the page cache."""
    os.pwrite(fd, memory(), 0)
    os.fsync(fd)


def mapped(fd: int) -> None:
    """Write to a shared mapping."""
    os.truncate(fd, LENGTH)
    with mmap.mmap(fd, LENGTH) as view:
        view[:] = b"m" * LENGTH
        view.flush()
    os.fsync(fd)


def direct(fd: int) -> None:
    """Write past the page cache."""
    must(os.pwrite(fd, memory(), 0) == LENGTH, "a short write")
    os.fsync(fd)


def by_workers(fd: int) -> None:
    """Write past the page cache from a worker thread of io_uring."""
    data = memory()
    must(Uring(by_workers=True).write(fd, address_of(data), LENGTH, 0) == LENGTH, "a short write")
    os.fsync(fd)


WAYS: dict[str, tuple[int, Callable[[int], None]]] = {
    "buffered": (0, buffered),
    "mmap": (0, mapped),
    "direct": (os.O_DIRECT, direct),
    "io_uring-workers": (os.O_DIRECT, by_workers),
}


def percentage(kinds: list[int]) -> int:
    """Return the share of approximate units."""
    must(len(kinds) == UNITS, f"{len(kinds)} units are stored")
    return kinds.count(APPROXIMATE) * 100 // UNITS


def write_hinted(path: str, way: str, carrier: str) -> list[int]:
    """Write a new file that a carrier says is approximate; return its classes."""
    flags, write = WAYS[way]
    fd = new_file(path, flags)
    told = Control().tag_fd(fd, NONE)
    if carrier == "write_hint":
        set_hint(fd, approx.WRITE_HINT)
    else:
        must(told.io_priority or not told.honoured & PRIORITY, "no I/O priority is told")
        set_priority(told.io_priority)
    write(fd)
    set_priority(0)
    kinds = kinds_of(fd)
    os.close(fd)
    return kinds


def approximate_at(path: str) -> set[int]:
    """Return where on the device a file, or the device itself, has approximate units."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return {unit.device_offset for unit in Control().stored(fd) if unit.kind == APPROXIMATE}
    finally:
        os.close(fd)


def delivered(device: str, folder: str, carrier: str) -> None:
    """Print how much of a file is approximate, by way; nothing else on the device may be.

    Another file is written by the same way without a tag; it and all metadata are precise.
    """
    known: set[int] = set()
    for way, (flags, write) in WAYS.items():
        write(new_file(f"{folder}/plain-{way}", flags))
        kinds = write_hinted(f"{folder}/{way}", way, carrier)
        known |= approximate_at(f"{folder}/{way}")
        astray = approximate_at(device) - known
        must(not astray, f"{way}: {len(astray)} units of others are approximate")
        print(f"{carrier} {way} {percentage(kinds)}")


def whole_file(folder: str, honoured: str) -> None:
    """Check APPROXFTL_TAG_FD: what it sets and tells, and that untagging takes all of it back."""
    fd = new_file(f"{folder}/whole", 0)
    told = Control().tag_fd(fd, APPROXIMATE)
    must(told.honoured == int(honoured) & told.passed, f"honoured {told.honoured}")
    must(told.carriers == INODE | told.honoured & HINT, f"set {told.carriers}")
    buffered(fd)
    must(percentage(kinds_of(fd)) == 100, "a tagged file is not approximate")
    Control().tag_fd(fd, NONE)
    buffered(fd)
    must(percentage(kinds_of(fd)) == 0, "an untagged file is approximate")


def only_hint(folder: str, kernel_has_hints: str) -> None:
    """Without the carrier inode a tagged range is ignored, unless it is tagged precise."""
    fd = new_file(f"{folder}/only", 0)
    Control().tag(fd)
    buffered(fd)
    must(percentage(kinds_of(fd)) == 0, "the range of a file was honoured")
    Control().tag(fd, 0, UNIT, PRECISE)
    set_hint(fd, approx.WRITE_HINT)
    buffered(fd)
    kinds = kinds_of(fd)
    must(kinds[0] == PRECISE, "a precise range is approximate")
    must(kinds.count(APPROXIMATE) == (UNITS - 1 if int(kernel_has_hints) else 0), f"{kinds}")


def refusals(folder: str) -> None:
    """Check who may tag a whole file, and with which arguments."""
    control = Control()
    path = f"{folder}/owned"
    fd = new_file(path, 0)
    Path(path).chmod(0o666)
    expect(errno.EINVAL, 0, control.tag_fd, fd, APPROXIMATE, PRIORITY)
    expect(errno.EINVAL, 0, control.tag_fd, fd, 7)
    expect(errno.EBADF, 0, control.tag_fd, -1, APPROXIMATE)
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            other = os.open(path, os.O_RDWR)
            expect(errno.EPERM, approx.REASON_OWNER, Control().tag_fd, other, APPROXIMATE)
            status = 0
        except (OSError, SystemExit) as why:
            print(f"# {why}")
        finally:
            sys.stdout.flush()
            os._exit(status)
    must(not os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "another user may tag the file")


def image(path: str, device: str) -> None:
    """Give the image of a loop device the hint, and write through the loop device."""
    fd = os.open(path, os.O_RDWR)
    set_hint(fd, approx.WRITE_HINT)
    inner = os.open(device, os.O_RDWR)
    os.pwrite(inner, memory(), 0)
    os.fsync(inner)
    must(APPROXIMATE not in kinds_of(fd), "data behind a loop device are approximate")


def streams(device: str, number: str) -> None:
    """Check that the last write stream of a device carries a tag, and no other does."""
    fd = os.open(device, os.O_RDWR | os.O_DIRECT)
    told = Control().tag_fd(fd, NONE)
    must(told.write_stream == int(number), f"stream {told.write_stream}, not {number}")
    ring = Uring(by_workers=False)
    data = memory()
    for stream in (told.write_stream, told.write_stream - 1, 0):
        ring.stream = stream
        must(ring.write(fd, address_of(data), LENGTH, 0) == LENGTH, f"stream {stream} is refused")
        kinds = [unit.kind for unit in Control().stored(fd, 0, LENGTH)]
        expected = APPROXIMATE if stream == told.write_stream else PRECISE
        must(kinds == [expected] * UNITS, f"stream {stream}: {kinds}")


def main() -> None:
    """Run a scenario."""
    scenario = globals()[sys.argv[1].replace("-", "_")]
    scenario(*sys.argv[2:])


if __name__ == "__main__":
    main()
