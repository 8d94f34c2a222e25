#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a file with a model under random writes, truncation, holes, reads and memory maps.

file-model.py FILE OPERATIONS: prints nothing when file and model agree. It drops the page cache
at random, so that reads reach the device.
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
    """An open file and a model of its content."""

    def __init__(self, path: str, seed: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.model = bytearray()
        self.draw = random.Random(seed)

    def place(self, most: int) -> tuple[int, int]:
        """Return a random offset and length that end at or below @most."""
        at = self.draw.randrange(most)
        return at, self.draw.randint(1, min(LONGEST, most - at))

    def change(self, at: int, content: bytes) -> None:
        """Update the model; a write beyond its end fills the gap with zeroes."""
        self.model.extend(bytes(max(0, at + len(content) - len(self.model))))
        self.model[at : at + len(content)] = content

    def write(self) -> None:
        """Write at a random offset, possibly beyond the end."""
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
        """Truncate or extend the file."""
        size = self.draw.randrange(MOST)
        os.ftruncate(self.fd, size)
        del self.model[size:]
        self.model.extend(bytes(size - len(self.model)))

    def punch(self) -> None:
        """Punch a hole."""
        if not self.model:
            return
        at, size = self.place(len(self.model))
        if libc.fallocate(self.fd, PUNCH_HOLE, at, size):
            raise OSError(ctypes.get_errno(), "fallocate")
        self.change(at, bytes(size))

    def forget(self) -> None:
        """Write the file back and drop it from the page cache."""
        os.fsync(self.fd)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def read(self) -> None:
        """Compare a random range with the model."""
        at, size = self.place(MOST)
        if os.pread(self.fd, size, at) != self.model[at : at + size]:
            raise SystemExit(f"# {size} bytes from {at} on differ from the model")

    def read_all(self) -> None:
        """Compare the whole file, including its size, with the model."""
        self.forget()
        if os.pread(self.fd, MOST + 1, 0) != self.model:
            raise SystemExit("# the file differs from the model")


def main(path: str, operations: int) -> None:
    """Apply random operations, then compare the whole file."""
    file = File(path, f"{operations} {os.environ.get('AFTL_TURN', '')}")
    choices = (file.write, file.write_mapped, file.truncate, file.punch, file.forget, file.read)
    for _ in range(operations):
        file.draw.choices(choices, (10, 4, 1, 3, 1, 8))[0]()
    file.read_all()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
