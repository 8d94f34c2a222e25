#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write self-describing blocks, and check them before and after a power failure.

blocks.py load DEVICE JOURNAL OPERATIONS SEED [LOG [FLUSHES [safe]]]
blocks.py check DEVICE JOURNAL [MARK|-]
blocks.py race DEVICE ROUNDS

Each block holds its address and the number of the operation that wrote it.

"load" fills the device, and then writes, discards, zeroes and flushes it in several threads
with direct I/O. JOURNAL records each operation before it begins and, after each completed flush
or FUA write, a numbered mark with the operations that are durable. The mark is also sent to LOG,
a dm-log-writes device. Weights choose an operation: 84 for all others together, FLUSHES
(default: 3) for a flush, and as many for a FUA write. "safe" sends no flush and no FUA, because
on a device with power-loss protection a completed write must survive.

"check" compares a device with the journal up to MARK or to its end: each block must hold the
durable operation or one that began later. With "-", it reads marks from standard input and
answers each with one line: "sound" or the faults.

"race" fills the device ROUNDS times while others read: each block must be its own, of any age.
"""

import fcntl
import mmap
import os
import random
import struct
import subprocess
import sys
import threading
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 4096
HEAD = struct.Struct("<QQQQ")  # seed, block, operation, their sum
STRIPE = 8  # most blocks that one operation covers
THREADS = 4
RACERS = 24
CHUNK = 64  # blocks per request when filling and checking
# On PowerPC a bit of an ioctl's number says that it has no argument type.
NO_TYPE = 1 << 29 if os.uname().machine.startswith("ppc") else 0
BLKDISCARD = NO_TYPE | 0x1277
BLKZEROOUT = NO_TYPE | 0x127F


def make_block_content(seed: int, block: int, operation: int) -> bytes:
    """Return a block's content after a write operation."""
    head = HEAD.pack(seed, block, operation, seed + block + operation)
    return head * (BLOCK // HEAD.size)


class Journal:
    """Journal of block writes and durability marks, whose last line may be incomplete."""

    def __init__(self, path: str, log: str | None) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        self.log = log
        self.lock = threading.Lock()
        self.operations = 0
        self.marks = 0

    def append_journal_line(self, line: str) -> None:
        """Append a line to the journal of block writes."""
        os.write(self.fd, line.encode() + b"\n")

    def record_operation(self, kind: str, first: int, count: int) -> int:
        """Record an operation in the journal before it begins; return the operation's number."""
        with self.lock:
            self.operations += 1
            self.append_journal_line(f"{kind} {self.operations} {first} {count}")
            return self.operations

    def record_durable_operations(self, about: str) -> None:
        with self.lock:
            self.marks += 1
            if self.log:
                command = ["dmsetup", "message", self.log, "0", "mark", str(self.marks)]
                subprocess.run(command, check=True)
            self.append_journal_line(f"mark {self.marks} {about}")


class Load:
    """The load: threads that write to, discard, zero and flush the device."""

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

    def write_blocks(self, fd: int, buffer: mmap.mmap, first: int, count: int) -> int:
        """Record a write in the journal, and write its blocks; return the operation's number."""
        number = self.journal.record_operation("write", first, count)
        for index in range(count):
            at = index * BLOCK
            buffer[at : at + BLOCK] = make_block_content(self.seed, first + index, number)
        view = memoryview(buffer)
        os.pwritev(fd, [view[: count * BLOCK]], first * BLOCK)
        view.release()
        return number

    def discard_or_zero_blocks(self, request: int, first: int, count: int) -> int:
        """Discard or zero blocks; return the operation's number."""
        number = self.journal.record_operation("clear", first, count)
        fcntl.ioctl(self.fd, request, struct.pack("QQ", first * BLOCK, count * BLOCK))
        return number

    def flush_device(self) -> None:
        """Flush the device and record the operations that each thread had completed."""
        covered = " ".join(map(str, self.completed))
        if not self.safe:
            os.fsync(self.fd)
        self.journal.record_durable_operations(f"flush {covered}")

    def fill_device(self) -> None:
        """Write each block of the device once."""
        buffer = mmap.mmap(-1, CHUNK * BLOCK)
        for first in range(0, self.blocks, CHUNK):
            number = self.write_blocks(self.fd, buffer, first, min(CHUNK, self.blocks - first))
            self.completed = [number] * THREADS
        self.flush_device()

    def issue_random_operation(self, thread: int, buffer: mmap.mmap, draw: random.Random) -> None:
        """Let a thread issue one random operation on blocks that no other thread writes."""
        first = (draw.randrange(self.blocks // STRIPE // THREADS) * THREADS + thread) * STRIPE
        offset = draw.randrange(STRIPE)
        first += offset
        count = draw.randint(1, STRIPE - offset)
        kinds = ("write", "discard", "zero", "forced", "flush")
        kind = draw.choices(kinds, (70, 8, 6, self.flushes, self.flushes))[0]
        if kind == "flush":
            self.flush_device()
        elif kind == "forced":
            number = self.write_blocks(self.forced, buffer, first, count)
            self.journal.record_durable_operations(f"forced {number}")
            self.completed[thread] = number
        elif kind == "write":
            self.completed[thread] = self.write_blocks(self.fd, buffer, first, count)
        else:
            request = BLKDISCARD if kind == "discard" else BLKZEROOUT
            self.completed[thread] = self.discard_or_zero_blocks(request, first, count)

    def run_operations(self, operations: int) -> None:
        """Run a number of operations, divided among all threads."""
        failures: list[BaseException] = []

        def run_load_thread(thread: int) -> None:
            draw = random.Random(f"{self.seed} {thread}")
            buffer = mmap.mmap(-1, STRIPE * BLOCK)
            try:
                for _ in range(operations // THREADS):
                    self.issue_random_operation(thread, buffer, draw)
            except OSError as failure:
                failures.append(failure)

        threads = [threading.Thread(target=run_load_thread, args=(thread,))
                   for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]


@dataclass
class Expected:
    """The data that each block may hold, by the journal of operations."""

    begun: dict[int, list[int]] = field(default_factory=dict)
    cleared: set[int] = field(default_factory=set)
    runs: dict[int, range] = field(default_factory=dict)
    covered: dict[int, int] = field(default_factory=dict)
    seed: int = 0

    def add_journalled_operation(self, kind: str, number: int, first: int, count: int) -> None:
        self.runs[number] = range(first, first + count)
        if kind == "clear":
            self.cleared.add(number)
        for block in self.runs[number]:
            self.begun.setdefault(block, []).append(number)

    def mark_operation_as_durable_in_block(self, block: int, number: int) -> None:
        """Require data of the block's last operation not numbered above `number`, or newer data."""
        begun = self.begun[block]
        newest = bisect_right(begun, number)
        if newest:
            self.covered[block] = max(self.covered.get(block, 0), begun[newest - 1])

    def mark_fua_write_as_durable(self, number: int) -> None:
        """Require from now on the data of a FUA write that has completed."""
        for block in self.runs[number]:
            self.mark_operation_as_durable_in_block(block, number)

    def mark_flushed_operations_as_durable(self, numbers: list[int]) -> None:
        """Require all operations of thread i up to numbers[i]: a flush made them durable."""
        for block in self.begun:
            self.mark_operation_as_durable_in_block(block, numbers[block // STRIPE % THREADS])

    def may_block_hold_operation_data(self, block: int, number: int) -> bool:
        """Return whether @block may hold the data of operation @number."""
        return number in self.begun.get(block, ()) and number >= self.covered.get(block, 0)

    def may_block_read_as_zeroes(self, block: int) -> bool:
        """Return whether @block may read as zeroes."""
        if not self.covered.get(block):
            return True
        return any(n in self.cleared and self.may_block_hold_operation_data(block, n)
                   for n in self.begun[block])

    def find_block_fault(self, block: int, found: bytes) -> str:
        """Describe the fault of a block with content `found`; empty if the content is allowed."""
        if not any(found):
            return "" if self.may_block_read_as_zeroes(block) else "is zero"
        seed, place, number, total = HEAD.unpack_from(found)
        if found != make_block_content(seed, place, number) or total != seed + place + number:
            return "is torn"
        if (seed, place) != (self.seed, block):
            return f"holds block {place} of seed {seed}"
        if number in self.cleared or not self.may_block_hold_operation_data(block, number):
            return f"is of operation {number}, covered was {self.covered.get(block, 0)}"
        return ""


def read_journal(path: str, last_mark: int) -> Expected:
    """Read the journal up to a durability mark; later writes may have reached the device."""
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
            expected.add_journalled_operation(words[0], int(words[1]), int(words[2]), int(words[3]))
        elif int(words[1]) > last_mark:
            continue
        elif words[2] == "forced":
            forced.append(int(words[3]))
        else:
            # Marks of two threads may be recorded in another order than their flushes completed.
            flushed = [max(pair) for pair in zip(flushed, map(int, words[3:]), strict=True)]
    for number in forced:
        expected.mark_fua_write_as_durable(number)
    expected.mark_flushed_operations_as_durable(flushed)
    if not expected.covered:
        raise SystemExit("the journal covers nothing")
    return expected


def compare_with_journal(path: str, journal: str, last_mark: int) -> list[str]:
    """Compare the device with the journal; return the number of faults and the first five."""
    expected = read_journal(journal, last_mark)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    blocks = os.lseek(fd, 0, os.SEEK_END) // BLOCK
    buffer = mmap.mmap(-1, CHUNK * BLOCK)
    faults = []
    for first in range(0, blocks, CHUNK):
        size = os.preadv(fd, [buffer], first * BLOCK)
        for at in range(0, size, BLOCK):
            block = first + at // BLOCK
            fault = expected.find_block_fault(block, buffer[at : at + BLOCK])
            if fault:
                faults.append(f"block {block} {fault}")
    os.close(fd)
    return [f"{len(faults)} blocks are wrong", *faults[:5]] if faults else []


def compare_blocks_up_to_durability_marks(path: str, journal: str) -> None:
    """Compare the device with the journal up to each durability mark given on stdin."""
    for line in sys.stdin:
        print("; ".join(compare_with_journal(path, journal, int(line))) or "sound", flush=True)


def find_fault_in_content(block: int, found: bytes) -> str:
    """Return a message if a block is torn or has another block's data, otherwise ""."""
    seed, place, number, _ = HEAD.unpack_from(found)
    if not any(found) or (place == block and found == make_block_content(seed, place, number)):
        return ""
    return f"block {block} is block {place}"


def read_blocks_until_stopped(end: threading.Event, path: str, strangers: list[str],
                              draw: random.Random) -> None:
    """Read 1 to 32 blocks at random places until told to end; collect misplaced and torn blocks."""
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
            strangers += filter(None, [find_fault_in_content(first + index, found)])


def overwrite_device_while_threads_read(path: str, rounds: int) -> None:
    """Overwrite the device repeatedly while 24 threads read it."""
    load = Load(path, Journal(os.devnull, None), 1)
    strangers: list[str] = []
    end = threading.Event()
    readers = [
        threading.Thread(target=read_blocks_until_stopped,
                         args=(end, path, strangers, random.Random(number)))
        for number in range(RACERS)
    ]
    for reader in readers:
        reader.start()
    for _ in range(rounds):
        load.fill_device()
    end.set()
    for reader in readers:
        reader.join()
    if strangers:
        raise SystemExit("\n".join([f"{len(strangers)} blocks are wrong", *strangers[:5]]))


def main(arguments: list[str]) -> None:
    if arguments[0] == "race":
        overwrite_device_while_threads_read(arguments[1], int(arguments[2]))
        return
    if arguments[0] == "check" and arguments[3:] == ["-"]:
        compare_blocks_up_to_durability_marks(arguments[1], arguments[2])
        return
    if arguments[0] == "check":
        mark = int(arguments[3]) if len(arguments) > 3 else sys.maxsize
        faults = compare_with_journal(arguments[1], arguments[2], mark)
        if faults:
            raise SystemExit("\n".join(faults))
        return
    device, path, operations, seed = arguments[1:5]
    journal = Journal(path, arguments[5] if len(arguments) > 5 else None)
    journal.append_journal_line(f"seed {seed}")
    flushes = float(arguments[6]) if len(arguments) > 6 else 3
    load = Load(device, journal, int(seed), flushes, safe=arguments[7:] == ["safe"])
    load.fill_device()
    load.run_operations(int(operations))


if __name__ == "__main__":
    main(sys.argv[1:])
