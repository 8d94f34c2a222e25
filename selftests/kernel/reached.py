# SPDX-License-Identifier: GPL-2.0-only
"""Which places of the module an input has reached.

KCOV's, where the kernel has it: Kbuild asks for it, userspace/lab/debug.config has it. Elsewhere
the sentences by which the module refuses something, without what they quote; and what the caller
has seen of the answers.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import re

KCOV = "/sys/kernel/debug/kcov"
# linux/kcov.h
INIT_TRACE, ENABLE, TRACE_PC = 0x80086301, 0x6364, 0
PLACES = 1 << 16


def shared(fd: int) -> memoryview:
    """Return KCOV's memory. The module mmap would not: debugfs calls it a file without bytes."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long)
    address = libc.mmap(None, PLACES * 8, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), KCOV)
    return memoryview((ctypes.c_uint64 * PLACES).from_address(address)).cast("B").cast("Q")


class Reached:
    """What this thread reaches from now on."""

    def __init__(self) -> None:
        self.cover: memoryview | None = None
        self.log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.log, 0, os.SEEK_END)
        self.seen = set[object]()
        if os.path.exists(KCOV):  # noqa: PTH110 - Path raises where one may not look
            self.start(os.open(KCOV, os.O_RDWR))

    def start(self, fd: int) -> None:
        """Have the kernel note each place, of system calls of this thread."""
        fcntl.ioctl(fd, INIT_TRACE, PLACES)
        self.cover = shared(fd)
        fcntl.ioctl(fd, ENABLE, TRACE_PC)

    def places(self) -> set[object]:
        """Return the places since the last time, as KCOV has them."""
        if not self.cover:
            return set()
        count = self.cover[0]
        reached = set[object](self.cover[1 : count + 1])
        self.cover[0] = 0
        return reached

    def sentences(self) -> set[object]:
        """Return what the module has said since the last time."""
        said = set[object]()
        while True:
            try:
                record = os.read(self.log, 8192).decode(errors="replace")
            except BrokenPipeError:  # overtaken
                continue
            except BlockingIOError:
                return said
            if "approxftl" in record:
                said.add(re.sub(r'"[^"]*"|\d+', "_", record.partition(";")[2].partition("\n")[0]))

    def news(self, answers: list[str]) -> int:
        """Return how much of what was reached since the last time is new."""
        found = {*self.places(), *self.sentences(), *answers} - self.seen
        self.seen |= found
        return len(found)

    def __str__(self) -> str:
        places = sum(isinstance(one, int) for one in self.seen)
        kind = "places by KCOV" if self.cover else "sentences and answers"
        return f"{places or len(self.seen)} {kind}"
