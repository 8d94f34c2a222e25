#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Give a device its table again and again, and let one allocation fail each time.

fail-nth.py LINE [DEVICE]

LINE is a table line from its store on; DEVICE is a block device whose first bytes are zeroed each
time. The kernel lets the n-th allocation of a thread fail when
/proc/thread-self/fail-nth says so; n grows until there are fewer. A failure must be told as such,
and the next attempt, with all memory there is, must succeed. Prints how many failed. The device is
there before and has another target then: it is not ours what device-mapper makes of it when it
cannot add a disk, or give it a name.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from fuzz import CREATE, REMOVE, Mapper

NTH = "/proc/thread-self/fail-nth"
MOST = 5000


def start(mapper: Mapper, line: bytes) -> None:
    """Load the table and resume."""
    mapper.load(line)
    mapper.suspend(suspended=False)


def attempt(mapper: Mapper, line: bytes, nth: int, number: int) -> tuple[bool, bool]:
    """Let one allocation fail; returns whether there were as many, and whether all failed."""
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
    return left == 0, failed


def wipe(device: str) -> None:
    """Make it new."""
    with Path(device).open("r+b") as disk:
        disk.write(bytes(1 << 20))


def take_back(mapper: Mapper) -> None:
    """Let the device be nobody's."""
    mapper.load(b"", b"error")
    mapper.suspend(suspended=False)


def fail_each(mapper: Mapper, line: bytes, device: str | None) -> tuple[int, int]:
    """Let one after the other fail; returns how many made an attempt fail, and of how many."""
    nth = os.open(NTH, os.O_RDWR)
    failures = 0
    for number in range(1, MOST):
        take_back(mapper)
        if device:
            wipe(device)
        reached, failed = attempt(mapper, line, nth, number)
        if failed:
            start(mapper, line)
        failures += failed
        if not reached:
            return failures, number - 1
    raise SystemExit("# there is no end of allocations")


def main(line: bytes, device: str | None) -> None:
    """Entry point."""
    mapper = Mapper()
    mapper.call(CREATE)
    try:
        failures, allocations = fail_each(mapper, line, device)
    finally:
        mapper.call(REMOVE)
    print(f"# {failures} of {allocations} allocations made it fail")
    if not failures:
        raise SystemExit("# no allocation did")


if __name__ == "__main__":
    main(sys.argv[1].encode(), sys.argv[2] if len(sys.argv) > 2 else None)
