#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Blocks that say which they are and how new, before and after a power failure.

blocks.py load DEVICE JOURNAL OPERATIONS SEED [LOG [FLUSHES [safe]]]
blocks.py check DEVICE JOURNAL [MARK|-]
blocks.py race DEVICE ROUNDS
blocks.py read DEVICE SECONDS

"load" fills the device, and then writes, discards, zeroes and flushes in several threads, all
direct. JOURNAL says what was begun and, after each flush or forced write that has returned,
which operations it covers. Such a moment is a mark, by number; it is also put into LOG, a
device of dm-log-writes. To 84 other operations there are FLUSHES flushes, 3 if it is not given,
and as many forced writes; with "safe" nothing is flushed or forced, for what is complete is to
survive. "check" compares a device with the journal up to MARK or its end: each block must hold what
was covered, or something that was begun later. With "-" it does so for each line of standard input
that is a mark, and answers "sound" or what is wrong, in one line. "race" fills the device so many
times while others read: a block is itself, however old. "read" only reads, what "load" has left.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import random
import struct
import subprocess
import sys
import threading
import time
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 4096
HEAD = struct.Struct("<QQQQ")  # seed, block, operation, their sum
STRIPE = 8  # blocks that one operation can cover
THREADS = 4
RACERS = 24
CHUNK = 64  # blocks that are filled or read at once
BLKDISCARD = 0x1277
BLKZEROOUT = 0x127F


def content(seed: int, block: int, operation: int) -> bytes:
    """What a block holds after an operation that writes."""
    head = HEAD.pack(seed, block, operation, seed + block + operation)
    return head * (BLOCK // HEAD.size)


def thread_of(block: int) -> int:
    """Who alone writes a block."""
    return block // STRIPE % THREADS


class Journal:
    """What will have to be remembered, in lines that are whole or count as absent."""

    def __init__(self, path: str, log: str | None) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        self.log = log
        self.lock = threading.Lock()
        self.operations = 0
        self.marks = 0

    def say(self, line: str) -> None:
        """Append a line."""
        os.write(self.fd, line.encode() + b"\n")

    def begin(self, kind: str, first: int, count: int) -> int:
        """Note an operation before it happens; returns its number."""
        with self.lock:
            self.operations += 1
            self.say(f"{kind} {self.operations} {first} {count}")
            return self.operations

    def mark(self, about: str) -> None:
        """Note that something is durable now."""
        with self.lock:
            self.marks += 1
            if self.log:
                command = ["dmsetup", "message", self.log, "0", "mark", str(self.marks)]
                subprocess.run(command, check=True)
            self.say(f"mark {self.marks} {about}")


class Load:
    """The device under load."""

    def __init__(
        self, path: str, journal: Journal, seed: int, flushes: float = 3, *, safe: bool = False
    ) -> None:
        self.safe = safe
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.forced = os.open(path, os.O_RDWR | os.O_DIRECT | (0 if safe else os.O_DSYNC))
        self.blocks = os.lseek(self.fd, 0, os.SEEK_END) // BLOCK
        self.journal = journal
        self.seed = seed
        self.flushes = flushes
        self.completed = [0] * THREADS

    def write(self, fd: int, buffer: mmap.mmap, first: int, count: int) -> int:
        """Write blocks; returns the operation's number."""
        number = self.journal.begin("write", first, count)
        for index in range(count):
            at = index * BLOCK
            buffer[at : at + BLOCK] = content(self.seed, first + index, number)
        view = memoryview(buffer)
        os.pwritev(fd, [view[: count * BLOCK]], first * BLOCK)
        view.release()
        return number

    def clear(self, request: int, first: int, count: int) -> int:
        """Discard or zero blocks."""
        number = self.journal.begin("clear", first, count)
        fcntl.ioctl(self.fd, request, struct.pack("QQ", first * BLOCK, count * BLOCK))
        return number

    def flush(self) -> None:
        """Make durable what is complete."""
        covered = " ".join(map(str, self.completed))
        if not self.safe:
            os.fsync(self.fd)
        self.journal.mark(f"flush {covered}")

    def fill(self) -> None:
        """Write everything once."""
        buffer = mmap.mmap(-1, CHUNK * BLOCK)
        for first in range(0, self.blocks, CHUNK):
            number = self.write(self.fd, buffer, first, min(CHUNK, self.blocks - first))
            self.completed = [number] * THREADS
        self.flush()

    def step(self, thread: int, buffer: mmap.mmap, draw: random.Random) -> None:
        """One operation of a thread."""
        first = (draw.randrange(self.blocks // STRIPE // THREADS) * THREADS + thread) * STRIPE
        offset = draw.randrange(STRIPE)
        first += offset
        count = draw.randint(1, STRIPE - offset)
        kinds = ("write", "discard", "zero", "forced", "flush")
        kind = draw.choices(kinds, (70, 8, 6, self.flushes, self.flushes))[0]
        if kind == "flush":
            self.flush()
        elif kind == "forced":
            number = self.write(self.forced, buffer, first, count)
            self.journal.mark(f"forced {number}")
            self.completed[thread] = number
        elif kind == "write":
            self.completed[thread] = self.write(self.fd, buffer, first, count)
        else:
            request = BLKDISCARD if kind == "discard" else BLKZEROOUT
            self.completed[thread] = self.clear(request, first, count)

    def run(self, operations: int) -> None:
        """All threads, so many operations together."""
        failures: list[BaseException] = []

        def work(thread: int) -> None:
            draw = random.Random(f"{self.seed} {thread}")
            buffer = mmap.mmap(-1, STRIPE * BLOCK)
            try:
                for _ in range(operations // THREADS):
                    self.step(thread, buffer, draw)
            except OSError as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]


@dataclass
class Expected:
    """What the journal says of a device."""

    begun: dict[int, list[int]] = field(default_factory=dict)
    cleared: set[int] = field(default_factory=set)
    runs: dict[int, range] = field(default_factory=dict)
    covered: dict[int, int] = field(default_factory=dict)
    seed: int = 0

    def begin(self, kind: str, number: int, first: int, count: int) -> None:
        """An operation."""
        self.runs[number] = range(first, first + count)
        if kind == "clear":
            self.cleared.add(number)
        for block in self.runs[number]:
            self.begun.setdefault(block, []).append(number)

    def cover(self, block: int, number: int) -> None:
        """What @block holds is no older than its last operation up to @number."""
        begun = self.begun[block]
        newest = bisect_right(begun, number)
        if newest:
            self.covered[block] = max(self.covered.get(block, 0), begun[newest - 1])

    def forced(self, number: int) -> None:
        """A forced write has returned."""
        for block in self.runs[number]:
            self.cover(block, number)

    def flushed(self, numbers: list[int]) -> None:
        """Flushes cover what the threads had completed by these operations."""
        for block in self.begun:
            self.cover(block, numbers[thread_of(block)])

    def allows(self, block: int, number: int) -> bool:
        """May @block hold what operation @number wrote?"""
        return number in self.begun.get(block, ()) and number >= self.covered.get(block, 0)

    def allows_zero(self, block: int) -> bool:
        """May it be empty?"""
        if not self.covered.get(block):
            return True
        return any(n in self.cleared and self.allows(block, n) for n in self.begun[block])

    def fault(self, block: int, found: bytes) -> str:
        """What is wrong with it, if anything."""
        if not any(found):
            return "" if self.allows_zero(block) else "is zero"
        seed, place, number, total = HEAD.unpack_from(found)
        if found != content(seed, place, number) or total != seed + place + number:
            return "is torn"
        if (seed, place) != (self.seed, block):
            return f"holds block {place} of seed {seed}"
        if number in self.cleared or not self.allows(block, number):
            return f"is of operation {number}, covered was {self.covered.get(block, 0)}"
        return ""


def read_journal(path: str, last_mark: int) -> Expected:
    """The journal; operations begun after the mark may have happened as well."""
    expected = Expected()
    forced: list[int] = []
    flushed = [0] * THREADS
    for line in Path(path).read_text("ascii").splitlines(keepends=True):
        words = line.split()
        if not line.endswith("\n"):
            break
        if words[0] == "seed":
            expected.seed = int(words[1])
        elif words[0] != "mark":
            expected.begin(words[0], int(words[1]), int(words[2]), int(words[3]))
        elif int(words[1]) > last_mark:
            continue
        elif words[2] == "forced":
            forced.append(int(words[3]))
        else:
            # Marks of two threads may be in another order than their flushes.
            flushed = [max(pair) for pair in zip(flushed, map(int, words[3:]), strict=True)]
    for number in forced:
        expected.forced(number)
    expected.flushed(flushed)
    if not expected.covered:
        raise SystemExit("the journal covers nothing")
    return expected


def check(path: str, journal: str, last_mark: int) -> list[str]:
    """Compare; returns what is wrong, the first few blocks."""
    expected = read_journal(journal, last_mark)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    blocks = os.lseek(fd, 0, os.SEEK_END) // BLOCK
    buffer = mmap.mmap(-1, CHUNK * BLOCK)
    faults = []
    for first in range(0, blocks, CHUNK):
        size = os.preadv(fd, [buffer], first * BLOCK)
        for at in range(0, size, BLOCK):
            block = first + at // BLOCK
            fault = expected.fault(block, buffer[at : at + BLOCK])
            if fault:
                faults.append(f"block {block} {fault}")
    os.close(fd)
    return [f"{len(faults)} blocks are wrong", *faults[:5]] if faults else []


def check_often(path: str, journal: str) -> None:
    """Compare whenever a mark comes in."""
    for line in sys.stdin:
        print("; ".join(check(path, journal, int(line))) or "sound", flush=True)


def check_once(path: str, journal: str, last_mark: int) -> None:
    """Compare, and complain."""
    faults = check(path, journal, last_mark)
    if faults:
        raise SystemExit("\n".join(faults))


def fault_of(block: int, found: bytes) -> str:
    """Whose content it is, if it is another block's or nobody's."""
    seed, place, number, _ = HEAD.unpack_from(found)
    if not any(found) or (place == block and found == content(seed, place, number)):
        return ""
    return f"block {block} is block {place}"


def read_until(end: threading.Event, path: str, strangers: list[str], draw: random.Random) -> None:
    """Read 1 to 32 blocks at random places, and note those that are not what they should be."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    blocks = os.lseek(fd, 0, os.SEEK_END) // BLOCK
    buffer = mmap.mmap(-1, CHUNK * BLOCK)
    while not end.is_set():
        count = 1 << draw.choice((0, 0, 0, 0, 1, 2, 3, 4, 5))
        first = draw.randrange(blocks - count)
        view = memoryview(buffer)
        os.preadv(fd, [view[: count * BLOCK]], first * BLOCK)
        view.release()
        for index in range(count):
            found = buffer[index * BLOCK : (index + 1) * BLOCK]
            strangers += filter(None, [fault_of(first + index, found)])


def complain(strangers: list[str]) -> None:
    """End with what has been found, if anything."""
    if strangers:
        raise SystemExit("\n".join([f"{len(strangers)} blocks are wrong", *strangers[:5]]))


def with_readers(path: str, action: Callable[[], None]) -> None:
    """Do something while many read."""
    strangers: list[str] = []
    end = threading.Event()
    readers = [
        threading.Thread(target=read_until, args=(end, path, strangers, random.Random(number)))
        for number in range(RACERS)
    ]
    for reader in readers:
        reader.start()
    action()
    end.set()
    for reader in readers:
        reader.join()
    complain(strangers)


def race(path: str, rounds: int) -> None:
    """Write and read the same blocks."""
    load = Load(path, Journal(os.devnull, None), 1)

    def fill() -> None:
        for _ in range(rounds):
            load.fill()

    with_readers(path, fill)


def main(arguments: list[str]) -> None:
    """Do what the first argument says."""
    if arguments[0] == "race":
        race(arguments[1], int(arguments[2]))
        return
    if arguments[0] == "read":
        with_readers(arguments[1], lambda: time.sleep(float(arguments[2])))
        return
    if arguments[0] == "check" and arguments[3:] == ["-"]:
        check_often(arguments[1], arguments[2])
        return
    if arguments[0] == "check":
        mark = int(arguments[3]) if len(arguments) > 3 else sys.maxsize
        check_once(arguments[1], arguments[2], mark)
        return
    device, path, operations, seed = arguments[1:5]
    journal = Journal(path, arguments[5] if len(arguments) > 5 else None)
    journal.say(f"seed {seed}")
    flushes = float(arguments[6]) if len(arguments) > 6 else 3
    load = Load(device, journal, int(seed), flushes, safe=arguments[7:] == ["safe"])
    load.fill()
    load.run(int(operations))


if __name__ == "__main__":
    main(sys.argv[1:])
