#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write to a block device with a write lifetime hint or a write stream.

hints.py life DEVICE LIFE    write 64 KiB at offset 0 by pwrite()
hints.py stream DEVICE ID    the same by io_uring
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import sys

from approx_control import address_of
from tagged_writes import Uring

F_SET_RW_HINT = 1036
LENGTH = 65536


def main() -> None:
    """Write; exit with status 1 if the write fails."""
    way, path, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    memory = mmap.mmap(-1, LENGTH)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    # The inode keeps the hint for later openers, so "stream" clears it.
    fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack("=Q", number if way == "life" else 0))
    if way == "life":
        written = os.pwrite(fd, memory, 0)
    else:
        ring = Uring(by_workers=False)
        ring.stream = number
        written = ring.write(fd, address_of(memory), LENGTH, 0)
    if written != LENGTH:
        sys.exit(f"# {written} of {LENGTH} bytes")


if __name__ == "__main__":
    main()
