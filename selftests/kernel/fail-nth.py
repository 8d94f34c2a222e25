#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a device again and again, and let one allocation fail each time.

fail-nth.py LINE [DEVICE]

LINE is a table line from its store on; DEVICE is a block device whose first bytes are zeroed each
time. The kernel lets the n-th allocation of a thread fail when
/proc/thread-self/fail-nth says so; n grows until there are fewer. A failure must be told as such,
and the next attempt, with all memory there is, must succeed. Prints how many failed.
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


def main(line: bytes, device: str | None) -> None:
    """Entry point."""
    mapper = Mapper()
    nth = os.open(NTH, os.O_RDWR)
    failures = 0
    for number in range(1, MOST):
        if device:
            wipe(device)
        mapper.call(CREATE)
        reached, failed = attempt(mapper, line, nth, number)
        if failed:
            start(mapper, line)
        mapper.call(REMOVE)
        failures += failed
        if not reached:
            break
    print(f"# {failures} of {number} allocations made it fail")
    if not failures or reached:
        raise SystemExit("# allocations did not fail, or without end")


if __name__ == "__main__":
    main(sys.argv[1].encode(), sys.argv[2] if len(sys.argv) > 2 else None)
