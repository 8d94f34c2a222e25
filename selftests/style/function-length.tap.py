#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Functions stay short: median <= 12 lines, nine of ten <= 45, none > 120."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MEDIAN, NINE_OF_TEN, LONGEST = 12, 45, 120
FOLDERS = ("dm-approxftl", "userspace", "trace-tools")


@dataclass(frozen=True, order=True)
class Function:
    """A function's lines between its braces, and where it is."""

    lines: int
    place: str


def functions(path: Path) -> Iterator[Function]:
    """Kernel style: a body is between a `{` and a `}` that stand alone in the first column."""
    begin: int | None = None
    previous = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line == "{" and not previous.endswith(("=", "=\\")):
            begin = number
        elif line == "}" and begin is not None:
            yield Function(number - begin - 1, f"{path}:{begin}")
            begin = None
        previous = line.rstrip()


def quantile(ordered: list[Function], percent: int) -> int:
    """Return the smallest length that so many percent do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1].lines


def report(number: int, folder: str, found: list[Function]) -> bool:
    """Print one TAP point with the figures; return whether they are good."""
    median, nine, longest = quantile(found, 50), quantile(found, 90), found[-1]
    good = median <= MEDIAN and nine <= NINE_OF_TEN and longest.lines <= LONGEST
    figures = f"{len(found)} functions, median {median}, p90 {nine}, longest {longest.lines}"
    print(f"{'ok' if good else 'not ok'} {number} - {folder}: {figures} ({longest.place})")
    if not good:
        for function in reversed([f for f in found if f.lines > NINE_OF_TEN]):
            print(f"# {function.place}: {function.lines} lines")
    return good


def main() -> int:
    """Measure each folder that has C files."""
    verdicts: list[bool] = []
    for folder in FOLDERS:
        files = sorted(Path(folder).rglob("*.c"))
        found = sorted(function for path in files for function in functions(path))
        if found:
            verdicts.append(report(len(verdicts) + 1, folder, found))
    print(f"1..{len(verdicts)}")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
