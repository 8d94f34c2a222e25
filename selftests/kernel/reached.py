# SPDX-License-Identifier: GPL-2.0-only
"""Measure an input's coverage of the module.

Where the kernel has KCOV (userspace/lab/debug.config enables it, Kbuild instruments the module),
coverage is the set of code addresses. Elsewhere it is the set of error messages in the kernel
log, without the values that they quote. fuzz.py also counts new answers of the module.
"""

import ctypes
import fcntl
import mmap
import os
import re

KCOV = "/sys/kernel/debug/kcov"
# linux/kcov.h
INIT_TRACE, ENABLE, TRACE_PC = 0x80086301, 0x6364, 0
PLACES = 1 << 16


def map_kcov_buffer(fd: int) -> memoryview:
    """Map KCOV's buffer by libc: Python's mmap refuses it, as debugfs reports a file size of 0."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long)
    address = libc.mmap(None, PLACES * 8, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), KCOV)
    return memoryview((ctypes.c_uint64 * PLACES).from_address(address)).cast("B").cast("Q")


class Reached:
    """Coverage of the module's code by the calling thread since this object was made."""

    def __init__(self) -> None:
        self.cover: memoryview | None = None
        self.log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.log, 0, os.SEEK_END)
        self.seen = set[object]()
        if os.path.exists(KCOV):  # noqa: PTH110 - Path raises where one may not look
            fd = os.open(KCOV, os.O_RDWR)
            fcntl.ioctl(fd, INIT_TRACE, PLACES)
            self.cover = map_kcov_buffer(fd)
            fcntl.ioctl(fd, ENABLE, TRACE_PC)

    def fetch_newly_covered_addresses(self) -> set[object]:
        """Return the code addresses covered since the last call, and reset KCOV."""
        if not self.cover:
            return set()
        count = self.cover[0]
        reached = set[object](self.cover[1 : count + 1])
        self.cover[0] = 0
        return reached

    def fetch_new_log_messages(self) -> set[object]:
        """Return the module's log messages since the last call."""
        said = set[object]()
        while True:
            try:
                record = os.read(self.log, 8192).decode(errors="replace")
            except BrokenPipeError:  # the log has overwritten records
                continue
            except BlockingIOError:
                return said
            if "approxftl" in record:
                said.add(re.sub(r'"[^"]*"|\d+', "_", record.partition(";")[2].partition("\n")[0]))

    def count_newly_covered_items(self, answers: list[str]) -> int:
        """Return how many code addresses or messages are new since the last call."""
        found = {*self.fetch_newly_covered_addresses(), *self.fetch_new_log_messages(),
                 *answers} - self.seen
        self.seen |= found
        return len(found)

    def __str__(self) -> str:
        places = sum(isinstance(one, int) for one in self.seen)
        kind = "places by KCOV" if self.cover else "sentences and answers"
        return f"{places or len(self.seen)} {kind}"
