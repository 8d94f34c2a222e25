# SPDX-License-Identifier: GPL-2.0-only
"""Rows for designs that no paper describes, and measures used in claims of several systems."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selftests.claims.register import Measured, pack_results
from selftests.claims.runs import Json

from approxftl_tools.paper_measures import VALUES


@dataclass(frozen=True)
class Claim:
    """One statement about a design that none of the five papers has.

    `verdict` is "pass" or "fail"; "explained" for a deviation that docs/systems accounts for and
    that must stay as described; "report" for a row without a figure to compare with.
    """

    id: str
    what: str
    paper: str
    ours: str
    tolerance: str
    verdict: str


def make_claim_row(id_: str, what: str, paper: str, ours: str, tolerance: str,
                   holds: bool) -> Claim:
    """Return a row that passes if `holds` is true."""
    return Claim(id_, what, paper, ours, tolerance, "pass" if holds else "fail")


def make_deviation_row(id_: str, what: str, paper: str, ours: str, account: str,
                       stays: bool) -> Claim:
    """Return a row for a known deviation, which fails if it is not as docs/systems describes."""
    return Claim(id_, what, paper, ours, account, "explained" if stays else "fail")


def read_counter(run: Json, name: str) -> int:
    value: int = run["counters"][name]
    return value


def get_result_measure(run: Json, key: str) -> float:
    """Return a measure of a run by the name that studies use."""
    found = VALUES[key](run)
    assert found is not None, key
    return found


def host_program_us_per_page(run: Json) -> float:
    """Return the mean array time per page of host data in us."""
    return read_counter(run, "host_program_ns") / read_counter(run, "host_program_pages") / 1000


def mean_response_us(run: Json, kind: str) -> float:
    """Return the mean response time of a kind of request in us."""
    mean: float = run["timing"][f"{kind}_response"]["mean_ns"]
    return mean / 1000


def compute_percent_reduction(of: float, base: float) -> float:
    return 100 * (1 - of / base)


def format_numbers(values: Sequence[float], digits: int = 1) -> str:
    """Format numbers with blanks between them."""
    # Adding zero leaves no sign on a rounded zero.
    return " ".join(f"{round(value, digits) + 0:.{digits}f}" for value in values)


def lifetime_gain_percent(run: Json) -> float:
    """Return the lifetime gained by low-voltage erases in percent, from the wear of all blocks."""
    return 100 * (get_result_measure(run, "lifetime") - 1)


def compute_percent_reduction_or_nan(ours: float, base: float) -> float:
    """Return the reduction of a response time in percent; NaN if the trace has no such requests."""
    return compute_percent_reduction(ours, base) if base else math.nan


def list_mutants_that_disable_rules(*names: str) -> tuple[str, ...]:
    """Return the mutants (as core/NAME) that each disable a named rule of an FTL policy."""
    return tuple(f"core/{name}" for name in names)


def array_program_us_per_host_unit(run: Json) -> float:
    """Return the array time of all programs per unit written by the host in us."""
    return read_counter(run, "array_program_ns") / read_counter(run, "host_write_units") / 1000


def mean_program_us(run: Json) -> float:
    """Return the mean array time of a program in us."""
    return read_counter(run, "array_program_ns") / read_counter(run, "array_programs") / 1000


def list_mean_responses(run: Json) -> tuple[float, float]:
    return mean_response_us(run, "read"), mean_response_us(run, "write")


def arithmetic_mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def sensing_us_per_page(run: Json) -> float:
    """Return the mean array time per page sensed in us."""
    return get_result_measure(run, "sensing_mean_ns") / 1000


def pack_results_and_mean(values: Iterable[float], digits: int = 1) -> Measured:
    """Return values of several volumes or runs, and their mean, as one measured value."""
    listed = list(values)
    return pack_results(arithmetic_mean(listed), shown=f"{format_numbers(listed, digits)}, mean "
                        f"{arithmetic_mean(listed):.{digits}f}")
