#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a device's capture as blkparse and btt read it with "approxftl trace pair".

    same-events.py APPROXFTL CAPTURE

Each request must begin at the time and sector of blkparse's Q event and end at that of its C
event, and no event may be left over. A request that device-mapper has split ends with the C of
its last part. btt matches Q and C by sector and size, so it omits some or all split requests, as
Debian 13's does. So btt's mean Q2C must be the mean over all other requests and some set of as
many split ones as btt counts.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

#: A bio-based device has Q and C events only; a flush has no sectors.
SPEC = r"%a %T %t %S %n\n"


@dataclass(frozen=True)
class Event:
    """An event on a range of sectors, with a time relative to the first event."""

    t_ns: int
    first: int
    behind: int


@dataclass(frozen=True)
class Request:
    """A pair of Q and C events."""

    begin: Event
    end: Event


def said(*command: str | Path, place: Path | None = None) -> str:
    """Run a command and return its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=place).stdout


def events_of_blkparse(capture: Path, merged: Path) -> dict[str, list[Event]]:
    """Return the Q and the C events; write all events into one file for btt."""
    lines = said("blkparse", "-q", "-i", capture, "-d", merged, "-f", SPEC).splitlines()
    found: dict[str, list[Event]] = {"Q": [], "C": []}
    for line in lines:
        if line[:2] in ("Q ", "C "):
            action, s, ns, sector, sectors = line.split()
            if int(sectors):
                found[action].append(Event(int(s) * 10**9 + int(ns), int(sector),
                                           int(sector) + int(sectors)))
    return found


def requests_of_ours(program: str, capture: Path) -> list[Request]:
    """Return the requests that "approxftl trace pair" finds."""
    rows = csv.DictReader(said(program, "trace", "pair", "-q", "--requests", "-",
                               capture).splitlines())
    found = []
    for row in rows:
        begin, first = int(row["t_ns"]), int(row["offset_bytes"]) // 512
        behind = first + int(row["bytes"]) // 512
        if behind > first:
            found.append(Request(Event(begin, first, behind),
                                 Event(begin + int(row["latency_ns"]), first, behind)))
    return found


def moved(event: Event, by_ns: int) -> Event:
    """Return an event with an earlier time."""
    return Event(event.t_ns - by_ns, event.first, event.behind)


def told_by_btt(merged: Path) -> tuple[float, int]:
    """Return btt's mean Q2C in ns, and the number of its requests."""
    text = said("btt", "-i", merged, place=merged.parent)  # writes files to the directory
    found = re.search(r"^Q2C\S*\s+\S+\s+(\S+)\s+\S+\s+(\d+)", text, re.M)
    if not found:
        sys.exit(f"btt tells no Q2C:\n{text}")
    return float(found[1]) * 1e9, int(found[2])


def ends_of(events: Iterable[Event]) -> Counter[Event]:
    """Return times and end sectors of C events; a split request's first sector is missing."""
    return Counter(Event(event.t_ns, 0, event.behind) for event in events)


def same(name: str, theirs: Counter[Event], ours: Counter[Event]) -> bool:
    """Compare the events of one action; print the differences."""
    if theirs != ours:
        print(f"# {name}: only blkparse {theirs - ours}, only ours {ours - theirs}")
    return theirs == ours


def rebased(events: Iterable[Event], zero_ns: int) -> list[Event]:
    """Return events with times relative to zero_ns."""
    return [moved(event, zero_ns) for event in events]


def main() -> int:
    """Entry point."""
    program, capture = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as directory:
        fixed, merged = Path(directory) / "fixed", Path(directory) / "merged"
        said(program, "trace", "fix", "-q", capture, fixed)
        theirs = events_of_blkparse(fixed, merged)
        mean_ns, count = told_by_btt(merged)
    ours = requests_of_ours(program, capture)
    zero, our_zero = (min(event.t_ns for event in events)
                      for events in (theirs["Q"], [one.begin for one in ours]))
    queued, done = (rebased(theirs[action], zero) for action in ("Q", "C"))
    begun, ended = (rebased((getattr(one, what) for one in ours), our_zero)
                    for what in ("begin", "end"))
    whole, split = ([end.t_ns - begin.t_ns for begin, end in zip(begun, ended, strict=True)
                     if (end in set(done)) == wanted] for wanted in (True, False))
    print(f"# {len(ours)} requests, {len(split)} of them split, which took {split} ns, the others "
          f"{sum(whole) / max(1, len(whole)):.0f}; btt says {mean_ns:.0f} ns of {count}")
    agreed = (same("Q", Counter(queued), Counter(begun))
              and same("C", ends_of(done), ends_of(ended)))
    return not (agreed and len(whole) <= count <= len(ours) and any(
        abs((sum(whole) + sum(some)) / count - mean_ns) <= 1
        for some in combinations(split, count - len(whole))))


if __name__ == "__main__":
    sys.exit(main())
