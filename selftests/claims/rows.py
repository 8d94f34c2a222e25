# SPDX-License-Identifier: GPL-2.0-only
"""A row of the table, and what rows of several systems count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selftests.claims.runs import Json

from approxftl_tools.paper_measures import VALUES


@dataclass(frozen=True)
class Claim:
    """One comparison.

    `verdict` is "pass" or "fail"; "explained" for what is not as in the paper, which docs/systems
    accounts for, and stays as it is there; "identity" for what holds because both sides come from
    one constant, and counts as nothing; "report" for what no figure can be compared with. `band`
    says where the tolerance comes from.
    """

    id: str
    what: str
    paper: str
    ours: str
    tolerance: str
    verdict: str
    band: str = ""


def claim(id_: str, what: str, paper: str, ours: str, tolerance: str, holds: bool) -> Claim:
    """Return a row of the table."""
    return Claim(id_, what, paper, ours, tolerance, "pass" if holds else "fail")


def identity(id_: str, what: str, paper: str, ours: str, tolerance: str, holds: bool) -> Claim:
    """Return a row that cannot but hold; it counts as nothing."""
    return Claim(id_, what, paper, ours, tolerance, "identity" if holds else "fail")


def known_miss(id_: str, what: str, paper: str, ours: str, account: str, stays: bool) -> Claim:
    """Return a row about what is not reproduced; a failure if it is not as accounted for."""
    return Claim(id_, what, paper, ours, account, "explained" if stays else "fail")


def counter(run: Json, name: str) -> int:
    """Return a counter."""
    value: int = run["counters"][name]
    return value


def measure(run: Json, key: str) -> float:
    """Return a measure by the name that studies have for it."""
    found = VALUES[key](run)
    assert found is not None, key
    return found


def program_us(run: Json) -> float:
    """Mean array time of a page of host data."""
    return counter(run, "host_program_ns") / counter(run, "host_program_pages") / 1000


def response_us(run: Json, kind: str) -> float:
    """Mean response time."""
    mean: float = run["timing"][f"{kind}_response"]["mean_ns"]
    return mean / 1000


def saving(of: float, base: float) -> float:
    """How much less, in percent."""
    return 100 * (1 - of / base)


def near(ours: Sequence[float], paper: Sequence[float], tolerance: float) -> bool:
    """Whether all pairs agree."""
    pairs = zip(ours, paper, strict=True)
    return all(abs(a - b) <= tolerance for a, b in pairs)


def row(values: Sequence[float], digits: int = 1) -> str:
    """Return numbers with blanks between them."""
    return " ".join(f"{value:.{digits}f}" for value in values)


def lifetime(run: Json) -> float:
    """Lifetime gained by low-voltage erases, in percent, from the wear of all blocks."""
    return 100 * (measure(run, "lifetime") - 1)


def cut(ours: float, base: float) -> float:
    """Return how much less in percent; a trace may lack what is compared."""
    return saving(ours, base) if base else math.nan


def without_rules(*names: str) -> tuple[str, ...]:
    """Return the mutants that switch them off."""
    return tuple(f"core/{name}" for name in names)


def all_program_us(run: Json) -> float:
    """Array time of all programs for each unit that the host wrote."""
    return counter(run, "array_program_ns") / counter(run, "host_write_units") / 1000


def array_program_us(run: Json) -> float:
    """Mean time of a program."""
    return counter(run, "array_program_ns") / counter(run, "array_programs") / 1000


def means_of(run: Json) -> tuple[float, float]:
    """Mean response of reads and of writes."""
    return response_us(run, "read"), response_us(run, "write")


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean."""
    listed = list(values)
    return sum(listed) / len(listed)


def read_us(run: Json) -> float:
    """Mean array time of the pages sensed."""
    return measure(run, "sensing_mean_ns") / 1000
