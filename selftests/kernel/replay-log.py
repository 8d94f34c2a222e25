#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put a device into states in which a power failure could have left it.

replay-log.py LOG DEVICE MARK STATES SEED [PART/PARTS]

LOG was written by dm-log-writes, see Documentation/admin-guide/device-mapper/log-writes.rst
in the kernel's sources; the device that it is about was zero before. A state holds everything
up to a flush or a write that was forced to the medium. Most also hold a part of what was written
between that flush and the next one: a disk with a volatile cache may keep any of it, sector by
sector. As many moments as asked for are drawn by SEED from those after the first mark of that name,
and the flush before each is taken; 0 stands for two states of every flush, "each" for two of every
mark: when it was set, where what no flush had covered is lost, and some time after that. Of these
states, in order of time, a part is taken.

Each state is written to DEVICE, and a line says its number, the last mark in it, and what it
is. Then a line from standard input is waited for.
"""

from __future__ import annotations

import mmap
import os
import random
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

SECTOR = 512
MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
END = "dm-log-writes-end"  # its own mark, when it is removed
ENTRY = struct.Struct("<QQQQ")  # sector, sectors, flags, bytes of a mark
CHUNK = 1 << 20


@dataclass
class Entry:
    """What happened to the device, or a mark."""

    at: int
    flags: int
    data: bytes
    name: str = ""


def parse(log: mmap.mmap) -> Iterator[Entry]:
    """The entries of a log."""
    magic, version, entries, sector = struct.unpack_from("<QQQL", log)
    if (magic, version) != (MAGIC, 1):
        raise SystemExit("this is not a log of dm-log-writes")
    at = sector
    for _ in range(entries):
        first, sectors, flags, length = ENTRY.unpack_from(log, at)
        inside = at + ENTRY.size
        at += sector
        if flags & MARK:
            name = log[inside : inside + length].rstrip(b"\0").decode()
            yield Entry(0, flags, b"", "" if name == END else name)
        elif flags & DISCARD:
            yield Entry(first * sector, flags, bytes(sectors * sector))
        else:
            yield Entry(first * sector, flags, log[at : at + sectors * sector])
            at += sectors * sector


def load(path: str) -> list[Entry]:
    """Read a log from the device that it is on."""
    fd = os.open(path, os.O_RDONLY)
    size = os.lseek(fd, 0, os.SEEK_END)
    with mmap.mmap(fd, size, prot=mmap.PROT_READ) as log:
        return list(parse(log))


@dataclass(frozen=True)
class Moment:
    """When power fails: after the flush @point, or before @after, where parts are lost."""

    point: int
    after: int
    loose: bool


class Medium:
    """The device as it is replayed."""

    def __init__(self, path: str, size: int) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.image = mmap.mmap(-1, size)  # aligned, as direct access wants it

    def apply(self, entry: Entry) -> None:
        """Let an entry happen."""
        self.image[entry.at : entry.at + len(entry.data)] = entry.data

    def tear(self, entry: Entry, draw: random.Random) -> None:
        """Let some of its sectors happen."""
        for offset in range(0, len(entry.data), SECTOR):
            if draw.random() < 0.5:
                at = entry.at + offset
                self.image[at : at + SECTOR] = entry.data[offset : offset + SECTOR]

    def put(self) -> None:
        """Write it all to the device."""
        view = memoryview(self.image)
        for at in range(0, len(self.image), CHUNK):
            os.pwritev(self.fd, [view[at : at + CHUNK]], at)
        view.release()


class Replay:
    """A log on its way to a device."""

    def __init__(self, entries: list[Entry], medium: Medium, draw: random.Random) -> None:
        self.entries = entries
        self.medium = medium
        self.draw = draw
        self.next = 0
        self.mark = ""
        self.states = 0

    def advance(self, last: int) -> None:
        """Let everything happen up to and with entry @last."""
        for entry in self.entries[self.next : last + 1]:
            self.mark = entry.name or self.mark
            self.medium.apply(entry)
        self.next = last + 1

    def loosen(self, last: int) -> tuple[str, str]:
        """Let parts happen up to entry @last; returns the last mark and what survived."""
        mark = self.mark
        share = self.draw.choice((0.1, 0.5, 0.9))
        kept = 0
        unflushed = self.entries[self.next : last + 1]
        for entry in unflushed:
            mark = entry.name or mark
            if entry.flags & FUA or self.draw.random() < share:
                self.medium.apply(entry)
                kept += 1
            elif self.draw.random() < 0.1:
                self.medium.tear(entry, self.draw)
        return mark, f"{kept} of {len(unflushed)} after it"

    def show(self, mark: str, about: str) -> None:
        """Offer a state, and wait until it has been looked at."""
        self.medium.put()
        self.states += 1
        print(
            f"{self.states} {mark} entry {self.next - 1} of {len(self.entries)}, {about}",
            flush=True,
        )
        if not sys.stdin.readline():
            raise SystemExit(0)

    def visit(self, moment: Moment) -> None:
        """A state at a flush, which may hold some of what came after that."""
        self.advance(moment.point)
        if not moment.loose:
            self.show(self.mark, "nothing after it")
            return
        before = self.medium.image[:]
        mark, about = self.loosen(moment.after - 1)
        self.show(mark, about)
        self.medium.image[:] = before


def by_mark(entries: list[Entry], points: list[int]) -> list[list[int]]:
    """The places in @points, those after the same mark together."""
    found: dict[str, list[int]] = {}
    mark = ""
    wanted = set(points)
    for index, entry in enumerate(entries):
        mark = entry.name or mark
        if index in wanted:
            found.setdefault(mark, []).append(index)
    return list(found.values())


def next_flush(entries: list[Entry], point: int) -> int:
    """Where what was written after @point becomes durable."""
    for index in range(point + 1, len(entries)):
        if entries[index].flags & FLUSH:
            return index
    return len(entries)


def at_marks(entries: list[Entry], begin: int) -> list[Moment]:
    """When marks were set, from entry @begin on: nothing but flushes has made anything durable."""
    moments = []
    flush = 0
    for index, entry in enumerate(entries):
        if entry.flags & FLUSH:
            flush = index
        if entry.name and index >= begin:
            moments.append(Moment(flush, index + 1, loose=True))
    return moments


def choose(entries: list[Entry], mark: str, states: str, draw: random.Random) -> list[Moment]:
    """Return when power fails, in this order."""
    begin = next(index for index, entry in enumerate(entries) if entry.name == mark)
    points = [i for i, entry in enumerate(entries) if entry.flags & (FLUSH | FUA) and i > begin]
    moments = []
    if states == "each":
        drawn = [draw.choice(places) for places in by_mark(entries, points)]
        moments = at_marks(entries, begin)
    elif states == "0":
        drawn = sorted(points + points)
    else:
        times = (draw.uniform(points[0], len(entries)) for _ in range(int(states)))
        drawn = sorted(points[bisect_right(points, time) - 1] for time in times)
    every = 2 if states == "0" else 3
    moments += [Moment(point, next_flush(entries, point), number % every > 0)
                for number, point in enumerate(drawn)]
    return sorted(moments, key=lambda moment: moment.point)


def main(log: str, device: str, mark: str, states: str, seed: int, part: str = "1/1") -> None:
    """Offer states."""
    entries = load(log)
    size = max(entry.at + len(entry.data) for entry in entries)
    size += -size % CHUNK
    draw = random.Random(seed)
    replay = Replay(entries, Medium(device, size), draw)
    moments = choose(entries, mark, states, draw)
    last, parts = map(int, part.split("/"))
    for moment in moments[len(moments) * (last - 1) // parts : len(moments) * last // parts]:
        replay.visit(moment)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), *sys.argv[6:])
