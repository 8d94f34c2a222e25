#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a device with a model under random writes, discards, zeroes and reads by direct I/O.

shadow.py DEVICE OPERATIONS: prints nothing when device and model agree.
"""

import fcntl
import mmap
import os
import random
import struct
import sys

from blocks import BLKDISCARD, BLKZEROOUT

UNIT = 4096
UNITS = 2048  # size of the part that is used
MOST = 32  # most units of an operation


class Device:
    """A block device and a model of its content."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
        self.buffer = mmap.mmap(-1, MOST * UNIT)  # direct I/O needs an aligned buffer
        self.model = bytearray(UNITS * UNIT)
        self.clear_device_range(BLKDISCARD, 0, UNITS * UNIT)

    def write_device_range(self, at: int, content: bytes) -> None:
        """Write the same content to the device and the model."""
        self.buffer[: len(content)] = content
        os.pwritev(self.fd, [memoryview(self.buffer)[: len(content)]], at)
        self.model[at : at + len(content)] = content

    def clear_device_range(self, request: int, at: int, size: int) -> None:
        """Discard or zero a range, which reads as zeroes afterwards."""
        fcntl.ioctl(self.fd, request, struct.pack("QQ", at, size))
        self.model[at : at + size] = bytes(size)

    def compare_device_range(self, at: int, size: int) -> None:
        """Compare a range of the device with the model."""
        os.preadv(self.fd, [memoryview(self.buffer)[:size]], at)
        if self.buffer[:size] != self.model[at : at + size]:
            raise SystemExit(f"# {size} bytes from {at} on differ from the model")


def main(path: str, operations: int) -> None:
    """Apply random operations to device and model, then compare their whole content."""
    draw = random.Random(f"{operations} {os.environ.get('AFTL_TURN', '')}")
    device = Device(path)
    for number in range(operations):
        first = draw.randrange(UNITS)
        at, size = first * UNIT, UNIT * draw.randint(1, min(MOST, UNITS - first))
        kind = draw.choices(("write", "discard", "zero", "read"), (5, 2, 1, 4))[0]
        if kind == "write":
            device.write_device_range(at, struct.pack("QQ", number, at) * (size // 16))
        elif kind == "read":
            device.compare_device_range(at, size)
        else:
            device.clear_device_range(BLKDISCARD if kind == "discard" else BLKZEROOUT, at, size)
    for at in range(0, UNITS * UNIT, MOST * UNIT):
        device.compare_device_range(at, MOST * UNIT)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
