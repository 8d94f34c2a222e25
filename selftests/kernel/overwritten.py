#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read blocks during overwrites: no block may be torn, of another address, or too old.

overwritten.py DEVICE READS: prints nothing if all blocks are right.
"""

import mmap
import os
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

UNIT = 4096
BLOCKS = 4
READERS = 2
STAMP = struct.Struct("QQ")  # number of the write, address


class Blocks:
    """A few blocks of a device, each with the number of its last completed write."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
        self.written = [0] * BLOCKS
        self.over = threading.Event()

    def overwrite_blocks(self) -> None:
        """Overwrite the blocks in turn until the end is requested, each block at least once."""
        buffer = mmap.mmap(-1, UNIT)  # direct I/O needs an aligned buffer
        number = 0
        while number < BLOCKS or not self.over.is_set():
            block = number % BLOCKS
            buffer[:] = STAMP.pack(number, block * UNIT) * (UNIT // STAMP.size)
            os.pwritev(self.fd, [buffer], block * UNIT)
            self.written[block] = number
            number += 1

    def check_block_version(self, content: bytes, at: int, least: int) -> None:
        """Check a block that was read; its number of writes must be at least LEAST."""
        number, address = STAMP.unpack_from(content)
        if content != content[: STAMP.size] * (UNIT // STAMP.size):
            raise SystemExit(f"# the block at {at} is of several writes")
        if address != at or number < least:
            raise SystemExit(f"# at {at}: write {number} of {address}; {least} was there")

    def read_blocks(self, reads: int) -> None:
        """Read all blocks in one request, then single blocks, while another thread overwrites."""
        buffer = mmap.mmap(-1, BLOCKS * UNIT)
        for number in range(reads):
            first, count = (0, BLOCKS) if number % 2 else (number // 2 % BLOCKS, 1)
            least = self.written[first : first + count]
            os.preadv(self.fd, [memoryview(buffer)[: count * UNIT]], first * UNIT)
            for i in range(count):
                self.check_block_version(buffer[i * UNIT : (i + 1) * UNIT], (first + i) * UNIT,
                                         least[i])


def main(path: str, reads: int) -> None:
    """Write each block once, then read the blocks while another thread overwrites them."""
    blocks = Blocks(path)
    blocks.over.set()
    blocks.overwrite_blocks()
    blocks.over.clear()
    with ThreadPoolExecutor(READERS + 1) as threads:
        writer = threads.submit(blocks.overwrite_blocks)
        readers = [threads.submit(blocks.read_blocks, reads) for _ in range(READERS)]
        try:
            for reader in readers:
                reader.result()
        finally:
            blocks.over.set()
        writer.result()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
