# SPDX-License-Identifier: GPL-2.0-only
"""Request streams in place of traces that cannot be handed on, and what is counted in either.

A stand-in has the published characteristics of a volume (share of writes, mean sizes) and of all
of them (most reads go to data that is only read, most writes to data that is only written). All
else is assumed: how often data is used again, how bursts look, how mixed data is accessed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from approxftl_tools import aft, record_writer

PAGE = 8192
PAGE_SECTORS = PAGE // aft.SECTOR
READ, WRITE = (aft.OPERATIONS.index(name) for name in ("read", "write"))


class Access(NamedTuple):
    """One request, in pages of the device."""

    t_ns: int
    page: int
    pages: int
    write: bool


@dataclass(frozen=True)
class Volume:
    """What is published of a volume; sizes are means in KB, `update` the share of overwrites."""

    name: str
    write_share: float
    read_kb: float
    write_kb: float
    update: float
    arrival_ms: float


#: Three of the volumes of MSR Cambridge, from much to little writing.
VOLUMES = (
    Volume("HM_0", 0.751, 11.6, 11.2, 0.905, 195.2),
    Volume("PRN_1", 0.308, 18.3, 13.8, 0.591, 22.1),
    Volume("PROJ_1", 0.093, 43.4, 22.2, 0.216, 13.6),
)

#: Shares of reads on read-only and of writes on write-only data; the talk says above 85 and 91 %.
READ_ONLY, WRITE_ONLY = 0.88, 0.93
#: Mean number of accesses of an object that is read; assumed. That of write-only data follows
#: from the share of overwrites.
USES = 200
#: Skew of their popularity; assumed.
SKEW = 0.8
#: Half of the requests come in bursts, so many times as fast as the mean; assumed.
BURST = 100
BURST_REQUESTS = 100


class Objects:
    """Runs of pages that are accessed as a whole, with a skewed popularity."""

    def __init__(self, draw: random.Random, first: int, count: int, kb: float) -> None:
        """Lay them out from page `first` on."""
        mean = max(1.0, kb * 1024 / PAGE)
        low = int(mean)
        self.pages = [low + (draw.random() < mean - low) for _ in range(count)]
        self.first = list(accumulate(self.pages, initial=first))
        self.order = draw.sample(range(count), count)
        self.weights = list(accumulate((rank + 1) ** -SKEW for rank in range(count)))

    def pick(self, draw: random.Random) -> tuple[int, int]:
        """Return first page and length of one of them."""
        (rank,) = draw.choices(range(len(self.order)), cum_weights=self.weights)
        chosen = self.order[rank]
        return self.first[chosen], self.pages[chosen]

    @property
    def end(self) -> int:
        """Return the page after the last."""
        return self.first[-1]


def arrivals(draw: random.Random, mean_ns: float) -> Iterator[int]:
    """Times with bursts: as many requests in them as outside."""
    now = 0.0
    number = 0
    while True:
        fast = number // BURST_REQUESTS % 2
        now += draw.expovariate(1.0) * mean_ns * (1 / BURST if fast else 2 - 1 / BURST)
        number += 1
        yield int(now)


def stand_in(volume: Volume, requests: int, seed: int) -> list[Access]:
    """Return the requests of a volume like `volume`."""
    draw = random.Random(f"{volume.name} {seed}")
    read_share, write_share = 1 - volume.write_share, volume.write_share
    rest = (read_share * (1 - READ_ONLY), write_share * (1 - WRITE_ONLY))
    shares = (read_share * READ_ONLY, write_share * WRITE_ONLY, sum(rest))
    writes = (0.0, 1.0, rest[1] / sum(rest))
    uses = (USES, 1 / (1 - volume.update), USES)
    kinds: list[Objects] = []
    for share, mean_uses, kb in zip(shares, uses, (volume.read_kb, *2 * [volume.write_kb]),
                                    strict=True):
        first = kinds[-1].end if kinds else 0
        kinds.append(Objects(draw, first, max(1, round(requests * share / mean_uses)), kb))
    result = []
    for t_ns in islice(arrivals(draw, volume.arrival_ms * 1e6), requests):
        (kind,) = draw.choices(range(3), weights=shares)
        result.append(Access(t_ns, *kinds[kind].pick(draw), draw.random() < writes[kind]))
    return result


def as_csv(accesses: Sequence[Access]) -> str:
    """Return requests as "approxftl trace convert" reads them."""
    columns = {"t_ns": [one.t_ns for one in accesses],
               "off_sect": [one.page * PAGE_SECTORS for one in accesses],
               "nsect": [one.pages * PAGE_SECTORS for one in accesses],
               "op": [WRITE if one.write else READ for one in accesses],
               "class": [0] * len(accesses)}
    return "\n".join(record_writer.lines(columns)) + "\n"


def read_records(path: Path) -> list[Access]:
    """Return the reads and writes of a record file."""
    file = aft.read(path)
    first = file.column("off_sect").astype(np.int64)
    begin = first // PAGE_SECTORS
    pages = -(-(first + file.column("nsect")) // PAGE_SECTORS) - begin
    rows = zip(file.column("t_ns").tolist(), begin.tolist(), pages.tolist(),
               file.operations().tolist(), strict=True)
    return [Access(t_ns, page, count, op == WRITE) for t_ns, page, count, op in rows
            if op in (READ, WRITE)]


def page_accesses(accesses: Iterable[Access]) -> Iterator[tuple[int, bool]]:
    """Return page and direction of every access of a page."""
    for one in accesses:
        for page in range(one.page, one.page + one.pages):
            yield page, one.write


@dataclass(frozen=True)
class Census:
    """What a stream is made of: its pages are read-only, write-only or neither."""

    kinds: dict[int, str]
    read_only_share: float
    write_only_share: float
    pages: int


def census(accesses: Sequence[Access]) -> Census:
    """Classify pages by all their accesses, and accesses by their page."""
    counts: Counter[tuple[int, bool]] = Counter(page_accesses(accesses))
    kinds = {}
    for page in {page for page, _ in counts}:
        reads, writes = counts[page, False], counts[page, True]
        kinds[page] = ("R" if reads > 0.95 * (reads + writes) else
                       "W" if writes > 0.95 * (reads + writes) else "-")
    totals = [sum(n for (_, way), n in counts.items() if way is write) for write in (False, True)]
    right = [sum(n for (page, way), n in counts.items() if way is write and kinds[page] == kind)
             for write, kind in ((False, "R"), (True, "W"))]
    return Census(kinds, right[0] / max(1, totals[0]), right[1] / max(1, totals[1]), len(kinds))


def identification(accesses: Sequence[Access], window: int) -> tuple[float, int]:
    """Apply AGCR's rule with the last `window` accesses of each page beside the present one.

    Return the share of accesses whose page is called what it is, and the writes called write-only.
    """
    kinds = census(accesses).kinds
    history: dict[int, str] = {}
    right = total = low = 0
    for page, write in page_accesses(accesses):
        seen = history.get(page, "") + ("W" if write else "R")
        verdict = seen[0] if len(set(seen)) == 1 else "-"
        right += verdict == kinds[page]
        low += verdict == "W"
        total += 1
        history[page] = seen[-window:] if window else ""
    return right / max(1, total), low
