#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stress tests of a durable device with many threads or scarce memory.

storm.py threads [THREADS]    each thread overwrites and flushes its unit; a block and a die fail
storm.py swap                 swap to a device with a large write buffer
storm.py pages UNIT           write while no page can be allocated: the write buffer holds all

Prints nothing on success. Exits with status 1 and a message for an error, with status 2 for a
hang, like torture.py.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from torture import (
    APPROXFTL,
    NAME,
    PATIENCE,
    RAM,
    HangError,
    WrongError,
    capacity,
    run,
    show_stacks,
)

DEVICE = f"/dev/mapper/{NAME}"
THREADS = 9000
ROUNDS = 2
# Three of the four dies have enough space for the data of all threads and for GC.
STORM_SHAPE = "channels 1 chips 4 blocks 160 word_lines 2 op 45"
UNIT = 4096
LARGE = 64 * UNIT
MIB = 1 << 20
SPARE = 100 * MIB  # memory left to other processes
STANDSTILL = 4  # seconds; below the 5 s after which a waiting mempool_alloc() retries


def make(kib: int, parameters: str, keys: str) -> None:
    """Make a device on a RAM disk with all pages allocated."""
    run("modprobe", "brd", "rd_nr=1", f"rd_size={kib}")
    run("dd", "if=/dev/zero", f"of={RAM}", "bs=1M", f"count={kib // 1024}", "oflag=direct")
    words = parameters.split()
    run(APPROXFTL, "format", "--force", "--policy", "baseline", RAM,
        *map("=".join, zip(words[::2], words[1::2], strict=True)))
    keys = f"{parameters} policy baseline {keys}"
    run("dmsetup", "create", NAME, "--table",
        f"0 {capacity(keys)} approxftl {RAM} {len(keys.split())} {keys}")


def remove() -> None:
    """Remove the device and the RAM disk."""
    run("dmsetup", "remove", "--retry", NAME)
    run("rmmod", "brd")


class Storm:
    """Threads that overwrite and flush."""

    def __init__(self, threads: int) -> None:
        self.fd = os.open(DEVICE, os.O_RDWR | os.O_DIRECT)
        self.data = mmap.mmap(-1, threads * UNIT)
        self.gate = threading.Event()
        self.mistakes: list[str] = []
        threading.stack_size(1 << 16)
        self.threads = [threading.Thread(target=self.work, args=(number,), daemon=True)
                        for number in range(threads)]

    def work(self, number: int) -> None:
        """Overwrite and flush one unit ROUNDS times."""
        at = number * UNIT
        page = memoryview(self.data)[at : at + UNIT]
        self.gate.wait()
        try:
            for turn in range(ROUNDS):
                page[:] = b"%8d%8d" % (number, turn) * (UNIT // 16)
                os.pwrite(self.fd, page, at)
                os.fdatasync(self.fd)
        except OSError as error:
            self.mistakes.append(f"thread {number}: {error}")

    def rage(self) -> None:
        """Start all threads at once; inject a block and a die failure while they run."""
        for thread in self.threads:
            thread.start()
        self.gate.set()
        time.sleep(0.5)
        for words in (("block", "5"), ("die", "1")):
            run("dmsetup", "message", NAME, "0", "fault", *words)
        until = time.monotonic() + 4 * PATIENCE
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                raise HangError(f"{sum(t.is_alive() for t in self.threads)} threads do not end")
        if self.mistakes:
            raise WrongError(f"{len(self.mistakes)} threads: {self.mistakes[0]}")

    def check(self) -> None:
        """Check that each unit holds its last write or was lost with the failed die."""
        page = mmap.mmap(-1, UNIT)
        lost = 0
        for number in range(len(self.threads)):
            try:
                os.preadv(self.fd, [page], number * UNIT)
            except OSError:
                lost += 1
                continue
            if page[:16] != b"%8d%8d" % (number, ROUNDS - 1) or page[:16] != page[-16:]:
                raise WrongError(f"unit {number} holds {page[:16]!r}")
        print(f"# {len(self.threads)} threads, {lost} units lost")
        os.close(self.fd)


def threads(count: int) -> None:
    """Run thousands of flushes at once, with failures of flash."""
    make(131072, STORM_SHAPE, "timing real buffer 4MiB")
    if (units := capacity(STORM_SHAPE) * 512 // UNIT) < count:
        raise WrongError(f"{count} threads, and {units} units for them")
    storm = Storm(count)
    storm.rage()
    storm.check()
    run("dmsetup", "suspend", NAME)
    if (books := run("dmsetup", "message", NAME, "0", "audit").strip()) != "clean":
        raise WrongError(f"audit: {books}")
    run("dmsetup", "resume", NAME)
    remove()


def available() -> int:
    """Return the available memory in bytes."""
    words = Path("/proc/meminfo").read_text().split()
    return int(words[words.index("MemAvailable:") + 1]) * 1024


HOLD = """
import ctypes, sys, time
memory = bytearray(int(sys.argv[1]))
for page in range(0, len(memory), 4096): memory[page] = 1
assert not ctypes.CDLL(None, use_errno=True).mlockall(1), "mlockall"
open("/proc/self/oom_score_adj", "w").write("-1000")
print("held", flush=True)
time.sleep(100000)
"""
TOUCH = """
import sys
size = int(sys.argv[1])
memory = bytearray(size)
for turn in 1, 2:
    for page in range(0, size, 4096):
        memory[page : page + 16] = b"%8d%8d" % (turn, page // 4096)
for page in range(0, size, 4096):
    assert memory[page : page + 16] == b"%8d%8d" % (2, page // 4096), page // 4096
"""


def swap() -> None:
    """Use more memory than the machine has."""
    make(262144, "channels 1 chips 4 blocks 192 word_lines 2 op 25", "timing off buffer 8MiB")
    run("mkswap", DEVICE)
    run("swapon", DEVICE)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(available() - SPARE)],
                              stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    if holder.stdout.readline() != "held\n":
        raise WrongError("memory cannot be held")
    try:
        run(sys.executable, "-c", TOUCH, str(available() + 30 * MIB))
    finally:
        holder.kill()
    holder.wait(PATIENCE)
    run("swapoff", DEVICE)
    told = run("dmsetup", "message", NAME, "0", "stats").split()
    written = int(told[told.index("host_write_units") + 1])
    print(f"# {written} units swapped out")
    if written < 4096:
        raise WrongError(f"only {written} units were swapped out")
    remove()


class Scarcity:
    """A shortage: min_free_kbytes reserves all memory, and processes that the OOM killer might
    choose are stopped.
    """

    def __init__(self) -> None:
        if ctypes.CDLL(None, use_errno=True).mlockall(3):
            raise WrongError("memory cannot be locked")
        Path("/proc/self/oom_score_adj").write_text("-1000")
        # Kernel threads ignore the signals.
        self.others = {int(place.name) for place in Path("/proc").glob("[0-9]*")}
        self.others -= {1, os.getpid()}
        self.knob = os.open("/proc/sys/vm/min_free_kbytes", os.O_RDWR)
        self.usual = os.read(self.knob, 16)
        self.all = str(os.sysconf("SC_PAGE_SIZE") // 1024 * os.sysconf("SC_PHYS_PAGES")).encode()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all other processes."""
        for pid in self.others:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def begin(self) -> None:
        """Begin the shortage."""
        self.signal(signal.SIGSTOP)
        os.pwrite(self.knob, self.all, 0)

    def end(self) -> None:
        """End the shortage."""
        os.pwrite(self.knob, self.usual, 0)
        self.signal(signal.SIGCONT)


class Writer(threading.Thread):
    """Writes all of DATA once the gate opens: a unit and then 64 units at each offset."""

    def __init__(self, fd: int, data: mmap.mmap) -> None:
        super().__init__(daemon=True)
        self.fd = fd
        self.data = memoryview(data)
        self.gate = threading.Event()
        self.written = 0

    def write(self) -> None:
        """Write all data."""
        for at in range(0, len(self.data), LARGE):
            for size in (UNIT, LARGE):
                os.pwrite(self.fd, self.data[at : at + size], at)
                self.written += size

    def run(self) -> None:
        """Wait for the gate, then write."""
        self.gate.wait()
        self.write()

    def goes_on(self) -> bool:
        """Start, and wait for the end; return False after STANDSTILL s without progress."""
        self.gate.set()
        before = -1
        while self.is_alive() and before != self.written:
            before = self.written
            self.join(STANDSTILL)
        return not self.is_alive()


def pages(unit: int) -> None:
    """Check that a writer waiting for a page makes the write buffer release its pages."""
    make(262144, f"channels 1 chips 4 blocks 192 word_lines 2 op 25 unit {unit}",
         "timing off buffer 8MiB")
    data = mmap.mmap(-1, 4 * MIB)
    fd = os.open(DEVICE, os.O_RDWR | os.O_DIRECT)
    writer = Writer(fd, data)
    writer.write()  # allocates all that further writes reuse
    for at in range(0, len(data), unit):
        data[at : at + 16] = b"%16d" % at
    writer.start()
    scarcity = Scarcity()
    scarcity.begin()
    goes_on = writer.goes_on()
    scarcity.end()
    writer.join(PATIENCE)
    if writer.is_alive():
        raise HangError("writes do not end")
    if not goes_on:
        raise WrongError("writes wait for pages that are in the write buffer")
    back = mmap.mmap(-1, len(data))
    os.preadv(fd, [back], 0)
    os.close(fd)
    if back[:] != data[:]:
        raise WrongError("something else was written")
    remove()


def main(words: list[str]) -> int:
    """Run a test; return its exit status."""
    try:
        if words[0] == "threads":
            threads(int(words[1]) if len(words) > 1 else THREADS)
        elif words[0] == "pages":
            pages(int(words[1]))
        else:
            swap()
    except WrongError as wrong:
        print(f"# {wrong}")
        return 1
    except HangError as hang:
        print(f"# {hang}")
        show_stacks()
        return 2
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # skips waiting for threads that hang
