#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a device with a model: random writes, discards, zeroes and reads, all direct.

shadow.py DEVICE OPERATIONS: silent when they agree.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import random
import struct
import sys

UNIT = 4096
UNITS = 2048  # part of the device that is used
MOST = 32  # units of one operation
BLKDISCARD = 0x1277
BLKZEROOUT = 0x127F


class Device:
    """A block device beside what it should hold."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
        self.buffer = mmap.mmap(-1, MOST * UNIT)  # aligned, as direct access wants it
        self.model = bytearray(UNITS * UNIT)
        self.clear(BLKDISCARD, 0, UNITS * UNIT)

    def write(self, at: int, content: bytes) -> None:
        """Write to both."""
        self.buffer[: len(content)] = content
        os.pwritev(self.fd, [memoryview(self.buffer)[: len(content)]], at)
        self.model[at : at + len(content)] = content

    def clear(self, request: int, at: int, size: int) -> None:
        """Discard or zero, which both make zeroes."""
        fcntl.ioctl(self.fd, request, struct.pack("QQ", at, size))
        self.model[at : at + size] = bytes(size)

    def check(self, at: int, size: int) -> None:
        """Read and compare."""
        os.preadv(self.fd, [memoryview(self.buffer)[:size]], at)
        if self.buffer[:size] != self.model[at : at + size]:
            raise SystemExit(f"# {size} bytes from {at} on differ from the model")


def main(path: str, operations: int) -> None:
    """Do as many operations, then look at everything."""
    draw = random.Random(f"{operations} {os.environ.get('AFTL_TURN', '')}")
    device = Device(path)
    for number in range(operations):
        first = draw.randrange(UNITS)
        at, size = first * UNIT, UNIT * draw.randint(1, min(MOST, UNITS - first))
        kind = draw.choices(("write", "discard", "zero", "read"), (5, 2, 1, 4))[0]
        if kind == "write":
            device.write(at, struct.pack("QQ", number, at) * (size // 16))
        elif kind == "read":
            device.check(at, size)
        else:
            device.clear(BLKDISCARD if kind == "discard" else BLKZEROOUT, at, size)
    for at in range(0, UNITS * UNIT, MOST * UNIT):
        device.check(at, MOST * UNIT)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
