# SPDX-License-Identifier: GPL-2.0-only
"""Classify the pages of a stream as read-only, write-only or neither, and test AGCR's rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from approxftl_tools import aft

PAGE = 8192
PAGE_SECTORS = PAGE // aft.SECTOR
READ, WRITE = (aft.OPERATIONS.index(name) for name in ("read", "write"))


class Access(NamedTuple):
    """One request of a stream, measured in pages of the device."""

    t_ns: int
    page: int
    pages: int
    write: bool


def read_accesses_from_record_file(path: Path) -> list[Access]:
    file = aft.open_record_file(path)
    first = file.get_record_column("off_sect").astype(np.int64)
    begin = first // PAGE_SECTORS
    pages = -(-(first + file.get_record_column("nsect")) // PAGE_SECTORS) - begin
    rows = zip(file.get_record_column("t_ns").tolist(), begin.tolist(), pages.tolist(),
               file.get_operation_codes_of_records().tolist(), strict=True)
    return [Access(t_ns, page, count, op == WRITE) for t_ns, page, count, op in rows
            if op in (READ, WRITE)]


def iterate_page_accesses(accesses: Iterable[Access]) -> Iterator[tuple[int, bool]]:
    for one in accesses:
        for page in range(one.page, one.page + one.pages):
            yield page, one.write


@dataclass(frozen=True)
class Census:
    """The page classes of a stream, and how many accesses each class has."""

    kinds: dict[int, str]
    read_only_share: float
    write_only_share: float
    pages: int


def classify_pages(accesses: Sequence[Access]) -> Census:
    counts: Counter[tuple[int, bool]] = Counter(iterate_page_accesses(accesses))
    kinds = {}
    for page in {page for page, _ in counts}:
        reads, writes = counts[page, False], counts[page, True]
        kinds[page] = ("R" if reads > 0.95 * (reads + writes) else
                       "W" if writes > 0.95 * (reads + writes) else "-")
    totals = [sum(n for (_, way), n in counts.items() if way is write) for write in (False, True)]
    right = [sum(n for (page, way), n in counts.items() if way is write and kinds[page] == kind)
             for write, kind in ((False, "R"), (True, "W"))]
    return Census(kinds, right[0] / max(1, totals[0]), right[1] / max(1, totals[1]), len(kinds))


def apply_agcr_rule(accesses: Sequence[Access], window: int) -> tuple[float, int]:
    """Apply AGCR's rule to the last `window` accesses of each page and the present one.

    Return the share of accesses whose page is classified correctly, and the number of writes that
    are classified as write-only.
    """
    kinds = classify_pages(accesses).kinds
    history: dict[int, str] = {}
    right = total = low = 0
    for page, write in iterate_page_accesses(accesses):
        seen = history.get(page, "") + ("W" if write else "R")
        verdict = seen[0] if len(set(seen)) == 1 else "-"
        right += verdict == kinds[page]
        low += verdict == "W"
        total += 1
        history[page] = seen[-window:] if window else ""
    return right / max(1, total), low
