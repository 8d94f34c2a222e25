#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Load a device's table repeatedly, each time with one failing memory allocation.

fail-nth.py LINE

LINE is a table line without start, length and target. /proc/thread-self/fail-nth makes the n-th
allocation of a thread fail. This fails each of the first 100 allocations and about 200 of the
later ones, because opening a volume makes many. A failure must be reported as ENOMEM, and the
next attempt, without a failure, must succeed. Prints how many attempts failed. The device is
created in advance with the target "error", to exclude device-mapper's own errors when it fails
to add or to name a disk.
"""

import errno
import os
import sys

from mapper import CREATE, REMOVE, Mapper

NTH = "/proc/thread-self/fail-nth"
NEVER = 1 << 30
EACH, SAMPLES = 100, 200


def load_and_resume_device(mapper: Mapper, line: bytes) -> None:
    mapper.load_table(line)
    mapper.suspend_or_resume(suspended=False)


def fail_one_allocation(mapper: Mapper, line: bytes, nth: int, number: int) -> tuple[int, bool]:
    """Fail allocation NUMBER of a table load; return fail-nth's countdown and the load's result."""
    failed = False
    os.pwrite(nth, b"%d" % number, 0)
    try:
        load_and_resume_device(mapper, line)
    except OSError as error:
        failed = True
        if error.errno != errno.ENOMEM:
            raise SystemExit(f"# allocation {number}: {error}") from None
    finally:
        left = int(os.pread(nth, 16, 0))
        os.pwrite(nth, b"0", 0)
    return left, failed


def replace_table_by_error_target(mapper: Mapper) -> None:
    """Replace the table by one of target "error", which destroys the approxftl target."""
    mapper.load_table(b"", b"error")
    mapper.suspend_or_resume(suspended=False)


def fail_one_allocation_per_table_load(mapper: Mapper, line: bytes) -> tuple[int, int, int]:
    """Fail one allocation in each load of a table; count failed loads, loads and allocations."""
    nth = os.open(NTH, os.O_RDWR)
    replace_table_by_error_target(mapper)
    allocations = NEVER - fail_one_allocation(mapper, line, nth, NEVER)[0]
    step = max(1, (allocations - EACH) // SAMPLES)
    chosen = [*range(1, min(EACH, allocations) + 1), *range(EACH + step, allocations + 1, step)]
    failures = 0
    for number in chosen:
        replace_table_by_error_target(mapper)
        _, failed = fail_one_allocation(mapper, line, nth, number)
        if failed:
            load_and_resume_device(mapper, line)
        failures += failed
    return failures, len(chosen), allocations


def main(line: bytes) -> None:
    """Fail allocations of the table line that the command line gives, and report the counts."""
    mapper = Mapper()
    mapper.issue_dm_ioctl(CREATE)
    try:
        failures, tried, allocations = fail_one_allocation_per_table_load(mapper, line)
    finally:
        mapper.issue_dm_ioctl(REMOVE)
    print(f"# {failures} of {tried} made it fail, of {allocations} allocations")
    if not failures:
        raise SystemExit("# no allocation did")


if __name__ == "__main__":
    main(sys.argv[1].encode())
