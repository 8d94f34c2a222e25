#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put a device into states in which a power failure could have left it.

replay-log.py LOG DEVICE MARK STATES SEED [PART/PARTS]

LOG was written by dm-log-writes (Documentation/admin-guide/device-mapper/log-writes.rst of the
kernel); the logged device was zero at first. A state holds all entries up to a flush or a FUA
write. Most states also hold some of the writes between that flush and the next, because a disk
with a volatile cache may keep any of them, sector by sector.

STATES is a number: SEED draws as many times after the first mark named MARK, and each state is
taken at the flush before such a time. 0 means two states for each flush, "each" two for each
mark: one when the mark was set, where unflushed writes may be lost, and one at a flush after it.
The states are sorted by time; PART/PARTS selects a part of them.

Writes each state to DEVICE, prints a line with its number, the last mark in it and a
description, and then waits for a line of standard input.
"""

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
END = "dm-log-writes-end"  # the mark that dm-log-writes sets at its removal
ENTRY = struct.Struct("<QQQQ")  # sector, sectors, flags, length of the mark
CHUNK = 1 << 20


@dataclass
class Entry:
    """A write, discard, flush or mark of the log."""

    at: int
    flags: int
    data: bytes
    name: str = ""


def parse_log_entries(log: mmap.mmap) -> Iterator[Entry]:
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


def read_log_of_writes(path: str) -> list[Entry]:
    fd = os.open(path, os.O_RDONLY)
    size = os.lseek(fd, 0, os.SEEK_END)
    with mmap.mmap(fd, size, prot=mmap.PROT_READ) as log:
        return list(parse_log_entries(log))


@dataclass(frozen=True)
class Moment:
    """A power failure after log entry @point; if @loose, writes before entry @after may survive."""

    point: int
    after: int
    loose: bool


class Medium:
    """The device to which a log is applied, and a copy of its content in memory."""

    def __init__(self, path: str, size: int) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.image = mmap.mmap(-1, size)  # direct I/O needs an aligned buffer

    def apply_log_entry(self, entry: Entry) -> None:
        self.image[entry.at : entry.at + len(entry.data)] = entry.data

    def apply_torn_log_entry(self, entry: Entry, draw: random.Random) -> None:
        """Apply a random half of the sectors of a logged write to the device, as if torn."""
        for offset in range(0, len(entry.data), SECTOR):
            if draw.random() < 0.5:
                at = entry.at + offset
                self.image[at : at + SECTOR] = entry.data[offset : offset + SECTOR]

    def write_medium_image(self) -> None:
        view = memoryview(self.image)
        for at in range(0, len(self.image), CHUNK):
            os.pwritev(self.fd, [view[at : at + CHUNK]], at)
        view.release()


class Replay:
    """The replay of a log of dm-log-writes onto a device, step by step."""

    def __init__(self, entries: list[Entry], medium: Medium, draw: random.Random) -> None:
        self.entries = entries
        self.medium = medium
        self.draw = draw
        self.next = 0
        self.mark = ""
        self.states = 0

    def apply_random_log_entries(self, last: int) -> tuple[str, str]:
        """Apply random entries up to number @last; return the log's last mark and a description."""
        mark = self.mark
        share = self.draw.choice((0.1, 0.5, 0.9))
        kept = 0
        unflushed = self.entries[self.next : last + 1]
        for entry in unflushed:
            mark = entry.name or mark
            if entry.flags & FUA or self.draw.random() < share:
                self.medium.apply_log_entry(entry)
                kept += 1
            elif self.draw.random() < 0.1:
                self.medium.apply_torn_log_entry(entry, self.draw)
        return mark, f"{kept} of {len(unflushed)} after it"

    def write_crash_state_and_wait_for_check(self, mark: str, about: str) -> None:
        """Write a crash state to the device, print its name, and wait for a line of input."""
        self.medium.write_medium_image()
        self.states += 1
        print(
            f"{self.states} {mark} entry {self.next - 1} of {len(self.entries)}, {about}",
            flush=True,
        )
        if not sys.stdin.readline():
            raise SystemExit(0)

    def write_crash_states_of_power_failure(self, moment: Moment) -> None:
        """Write the crash state at a flush, plus random later writes if moment.loose is set."""
        for entry in self.entries[self.next : moment.point + 1]:
            self.mark = entry.name or self.mark
            self.medium.apply_log_entry(entry)
        self.next = moment.point + 1
        if not moment.loose:
            self.write_crash_state_and_wait_for_check(self.mark, "nothing after it")
            return
        before = self.medium.image[:]
        mark, about = self.apply_random_log_entries(moment.after - 1)
        self.write_crash_state_and_wait_for_check(mark, about)
        self.medium.image[:] = before


def group_log_entries_by_log_mark(entries: list[Entry], points: list[int]) -> list[list[int]]:
    """Group numbers of log entries by the last mark that the log has before each entry."""
    found: dict[str, list[int]] = {}
    mark = ""
    wanted = set(points)
    for index, entry in enumerate(entries):
        mark = entry.name or mark
        if index in wanted:
            found.setdefault(mark, []).append(index)
    return list(found.values())


def find_next_flush_number(entries: list[Entry], point: int) -> int:
    """Return the entry number of the next flush after entry @point, or of the log's end."""
    for index in range(point + 1, len(entries)):
        if entries[index].flags & FLUSH:
            return index
    return len(entries)


def list_power_failures_at_log_marks(entries: list[Entry], begin: int) -> list[Moment]:
    """Return a power failure at each log mark after @begin, where unflushed writes may survive."""
    moments = []
    flush = 0
    for index, entry in enumerate(entries):
        if entry.flags & FLUSH:
            flush = index
        if entry.name and index >= begin:
            moments.append(Moment(flush, index + 1, loose=True))
    return moments


def choose_power_failures(entries: list[Entry], mark: str, states: str,
                          draw: random.Random) -> list[Moment]:
    """Choose power failures at random; return them in the order of the log."""
    begin = next(index for index, entry in enumerate(entries) if entry.name == mark)
    points = [i for i, entry in enumerate(entries) if entry.flags & (FLUSH | FUA) and i > begin]
    moments = []
    if states == "each":
        drawn = [draw.choice(places) for places in group_log_entries_by_log_mark(entries, points)]
        moments = list_power_failures_at_log_marks(entries, begin)
    elif states == "0":
        drawn = sorted(points + points)
    else:
        times = (draw.uniform(points[0], len(entries)) for _ in range(int(states)))
        drawn = sorted(points[bisect_right(points, time) - 1] for time in times)
    every = 2 if states == "0" else 3
    moments += [Moment(point, find_next_flush_number(entries, point), number % every > 0)
                for number, point in enumerate(drawn)]
    return sorted(moments, key=lambda moment: moment.point)


def main(log: str, device: str, mark: str, states: str, seed: int, part: str = "1/1") -> None:
    """Write the crash states that the arguments request; each line of stdin requests the next."""
    entries = read_log_of_writes(log)
    size = max(entry.at + len(entry.data) for entry in entries)
    size += -size % CHUNK
    draw = random.Random(seed)
    replay = Replay(entries, Medium(device, size), draw)
    moments = choose_power_failures(entries, mark, states, draw)
    last, parts = map(int, part.split("/"))
    for moment in moments[len(moments) * (last - 1) // parts : len(moments) * last // parts]:
        replay.write_crash_states_of_power_failure(moment)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), *sys.argv[6:])
