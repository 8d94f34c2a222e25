#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write to a block device and say how long the data will live, or where they belong.

hints.py life DEVICE LIFE    64 KiB at the begin of the device, by pwrite()
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
    """Do it; a write that fails ends with exit status 1."""
    way, path, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    memory = mmap.mmap(-1, LENGTH)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    # The node keeps it for those who open it next.
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
