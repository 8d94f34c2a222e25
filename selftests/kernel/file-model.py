#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a file with a model: writes, truncation, holes, appending, reading, by page cache or map.

file-model.py FILE OPERATIONS: silent when they agree. The cache is emptied now and then, so that
what is compared comes from the device.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import sys

MOST = 4 << 20  # largest file
LONGEST = 96 << 10  # longest operation
PUNCH_HOLE = 0x03  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE

libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


class File:
    """A file beside what it should hold."""

    def __init__(self, path: str, seed: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.model = bytearray()
        self.draw = random.Random(seed)

    def place(self, most: int) -> tuple[int, int]:
        """Return an offset and a length below @most."""
        at = self.draw.randrange(most)
        return at, self.draw.randint(1, min(LONGEST, most - at))

    def change(self, at: int, content: bytes) -> None:
        """Let the model have @content at @at, after zeroes if that is beyond its end."""
        self.model.extend(bytes(max(0, at + len(content) - len(self.model))))
        self.model[at : at + len(content)] = content

    def write(self) -> None:
        """Write anywhere, also beyond the end."""
        at, size = self.place(MOST)
        content = self.draw.randbytes(size)
        os.pwrite(self.fd, content, at)
        self.change(at, content)

    def write_mapped(self) -> None:
        """Write through a memory map."""
        if not self.model:
            return
        at, size = self.place(len(self.model))
        content = self.draw.randbytes(size)
        with mmap.mmap(self.fd, len(self.model)) as mapped:
            mapped[at : at + size] = content
            mapped.flush()
        self.change(at, content)

    def truncate(self) -> None:
        """Make it shorter or longer."""
        size = self.draw.randrange(MOST)
        os.ftruncate(self.fd, size)
        del self.model[size:]
        self.model.extend(bytes(size - len(self.model)))

    def punch(self) -> None:
        """Make a hole."""
        if not self.model:
            return
        at, size = self.place(len(self.model))
        if libc.fallocate(self.fd, PUNCH_HOLE, at, size):
            raise OSError(ctypes.get_errno(), "fallocate")
        self.change(at, bytes(size))

    def forget(self) -> None:
        """Write back and drop what is cached."""
        os.fsync(self.fd)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def read(self) -> None:
        """Read and compare."""
        at, size = self.place(MOST)
        if os.pread(self.fd, size, at) != self.model[at : at + size]:
            raise SystemExit(f"# {size} bytes from {at} on differ from the model")

    def read_all(self) -> None:
        """Compare everything, and the size."""
        self.forget()
        if os.pread(self.fd, MOST + 1, 0) != self.model:
            raise SystemExit("# the file differs from the model")


def main(path: str, operations: int) -> None:
    """Do as many operations, then look at everything."""
    file = File(path, f"{operations} {os.environ.get('AFTL_TURN', '')}")
    choices = (file.write, file.write_mapped, file.truncate, file.punch, file.forget, file.read)
    for _ in range(operations):
        file.draw.choices(choices, (10, 4, 1, 3, 1, 8))[0]()
    file.read_all()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
