#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Give a device its table again and again, and let one allocation fail each time.

fail-nth.py LINE

LINE is a table line from its store on. The kernel lets the n-th allocation of a thread fail when
/proc/thread-self/fail-nth says so. Each of the first 100 is it, and some 200 of those that follow:
a volume is opened by many. A failure must be told as such, and the next attempt, with all memory
there is, must succeed. Prints how many failed. The device is there before and has another target
then: it is not ours what device-mapper makes of it when it cannot add a disk, or give it a name.
"""

from __future__ import annotations

import errno
import os
import sys

from mapper import CREATE, REMOVE, Mapper

NTH = "/proc/thread-self/fail-nth"
NEVER = 1 << 30
EACH, SAMPLES = 100, 200


def start(mapper: Mapper, line: bytes) -> None:
    """Load the table and resume."""
    mapper.load(line)
    mapper.suspend(suspended=False)


def attempt(mapper: Mapper, line: bytes, nth: int, number: int) -> tuple[int, bool]:
    """Let one allocation fail; returns how many it was short of that, and whether all failed."""
    failed = False
    os.pwrite(nth, b"%d" % number, 0)
    try:
        start(mapper, line)
    except OSError as error:
        failed = True
        if error.errno != errno.ENOMEM:
            raise SystemExit(f"# allocation {number}: {error}") from None
    finally:
        left = int(os.pread(nth, 16, 0))
        os.pwrite(nth, b"0", 0)
    return left, failed


def take_back(mapper: Mapper) -> None:
    """Let the device be nobody's."""
    mapper.load(b"", b"error")
    mapper.suspend(suspended=False)


def choose(allocations: int) -> list[int]:
    """Return which of them are to fail."""
    step = max(1, (allocations - EACH) // SAMPLES)
    return [*range(1, min(EACH, allocations) + 1), *range(EACH + step, allocations + 1, step)]


def fail_each(mapper: Mapper, line: bytes) -> tuple[int, int, int]:
    """Let one after the other fail; returns how many made it fail, were tried, and there are."""
    nth = os.open(NTH, os.O_RDWR)
    take_back(mapper)
    allocations = NEVER - attempt(mapper, line, nth, NEVER)[0]
    chosen = choose(allocations)
    failures = 0
    for number in chosen:
        take_back(mapper)
        _, failed = attempt(mapper, line, nth, number)
        if failed:
            start(mapper, line)
        failures += failed
    return failures, len(chosen), allocations


def main(line: bytes) -> None:
    """Entry point."""
    mapper = Mapper()
    mapper.call(CREATE)
    try:
        failures, tried, allocations = fail_each(mapper, line)
    finally:
        mapper.call(REMOVE)
    print(f"# {failures} of {tried} made it fail, of {allocations} allocations")
    if not failures:
        raise SystemExit("# no allocation did")


if __name__ == "__main__":
    main(sys.argv[1].encode())
