#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write data of each quality level, and check the data that are read back.

    write FILE     write the regions, each with its level
    stored FILE    check the classes and levels that the device reports
    older FILE     check data of a program built before levels existed: level 1 or precise
    judge FILE     compare flipped bits by level
    refused FILE   check that invalid levels are refused
"""

from __future__ import annotations

import os
import random
import sys
from errno import EINVAL
from pathlib import Path

import approx_control
from applications import expect
from approx_control import (
    APPROXIMATE,
    LEVEL_2,
    LEVEL_3,
    NONE,
    PRECISE,
    STATS,
    STATS_FORMAT_OLD,
    Control,
)

#: Bits of struct approxftl_unit.flags.
LEVEL_BITS = {0: 0, 1: 0, 2: 0x4, 3: 0x8}
REGION = 1 << 20
#: Regions of the file: the class of their tag (None: untagged) and the expected level.
REGIONS: tuple[tuple[int | None, int], ...] = (
    (None, 0), (APPROXIMATE, 1), (LEVEL_2, 2), (LEVEL_3, 3), (PRECISE, 0))
#: Index of the last region, which APPROXFTL_PWRITEV writes.
WRITTEN = len(REGIONS)


def content(region: int) -> bytearray:
    """Return the content of a region."""
    return bytearray(random.Random(region).randbytes(REGION))


def write(path: str) -> None:
    """Write all regions, the last one by APPROXFTL_PWRITEV."""
    control = Control()
    before = control.stats()
    with Path(path).open("w+b") as file:
        for region, (said, _level) in enumerate(REGIONS):
            if said is not None:
                control.tag(file.fileno(), region * REGION, REGION, said)
            file.write(content(region))
        file.flush()
        control.pwritev(file.fileno(), content(WRITTEN), WRITTEN * REGION, LEVEL_3)
        os.fsync(file.fileno())
    grown = {name: count - before[name] for name, count in control.stats().items()}
    units = REGION // 4096
    expect(grown["level_2"] == units, f"{grown['level_2']} units of level 2")
    expect(grown["level_3"] == 2 * units, f"{grown['level_3']} units of level 3")
    old = control.call(STATS, STATS_FORMAT_OLD, *[0] * 16)
    expect(old[6] >= 4 * units, f"{old[6]} units by file, says who knows no levels")


def older(path: str) -> None:
    """Check the data of old-caller.c: two approximate regions, then a precise one."""
    with Path(path).open("rb") as file:
        units = list(Control().stored(file.fileno()))
    expect(len(units) == 3 * REGION // 4096, f"{len(units)} units")
    for unit in units:
        wanted = PRECISE if unit.offset >= 2 * REGION else APPROXIMATE
        expect((unit.kind, unit.flags) == (wanted, 0), f"{unit}")


def levels() -> list[int]:
    """Return the expected level of each region."""
    return [level for _said, level in REGIONS] + [3]


def stored(path: str) -> None:
    """Check the class and level of each unit, and that a query returns classes without levels."""
    with Path(path).open("rb") as file:
        for unit in Control().stored(file.fileno()):
            level = levels()[unit.offset // REGION]
            expect(unit.kind == (APPROXIMATE if level else PRECISE), f"{unit} of level {level}")
            expect(unit.flags == LEVEL_BITS[level], f"{unit} of level {level}")
        said = Control().query(file.fileno())
    expect({extent.kind for extent in said} <= {PRECISE, APPROXIMATE}, f"said: {said}")


def flipped(path: str) -> list[int]:
    """Count the flipped bits of each region."""
    data = Path(path).read_bytes()
    return [(int.from_bytes(data[at * REGION:(at + 1) * REGION], "little")
             ^ int.from_bytes(content(at), "little")).bit_count() for at in range(WRITTEN + 1)]


def judge(path: str) -> None:
    """Compare the flipped bits with the device's report, and the levels with each other."""
    found = flipped(path)
    with Path(path).open("rb") as file:
        said = [sum(unit.flips for unit in Control().stored(file.fileno(), at * REGION, REGION))
                for at in range(WRITTEN + 1)]
    print(f"# flipped bits by region: {found}")
    expect(found == said, f"the device says {said}")
    expect(found[0] == found[4] == 0, "precise data have lost bits")
    expect(found[1] * 100 < found[2] < found[3] * 3 // 4, "levels do not differ")
    expect(found[3] * 2 // 3 < found[5] < found[3] * 3 // 2, "level 3 is not level 3")


def refused(path: str) -> None:
    """Check that invalid levels are refused."""
    control = Control()
    with Path(path).open("r+b") as file:
        fd, data = file.fileno(), bytearray(4096)
        for kind in (5, 6, 0x100, 2**32 - 1):
            approx_control.expect(EINVAL, 0, control.tag, fd, 0, 4096, kind)
            approx_control.expect(EINVAL, 0, control.scope, approx_control.THREAD, kind)
            approx_control.expect(EINVAL, 0, control.pwritev, fd, data, 0, kind)
        approx_control.expect(EINVAL, 0, control.pwritev, fd, data, 0, NONE)


if __name__ == "__main__":
    {"write": write, "stored": stored, "older": older, "judge": judge,
     "refused": refused}[sys.argv[1]](sys.argv[2])
