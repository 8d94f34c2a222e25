# SPDX-License-Identifier: GPL-2.0-only
"""Claims about TVR."""

from __future__ import annotations

from collections.abc import Callable

from selftests.claims.real_traces import trace_directory
from selftests.claims.register import Measured, measured
from selftests.claims.rows import (
    array_program_us,
    averaged,
    counter,
    measure,
    row,
    saving,
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results


def tvr_cut(runs: dict[str, Json]) -> float:
    """Return TVR's reduction of the mean response of all requests in percent."""
    return saving(*(measure(runs[policy], "response_mean_ns") for policy in ("tvr", "baseline")))


def tv5() -> list[Measured]:
    """Measure the response time of mixed streams, by their share of writes."""
    if trace_directory():
        cuts = [*map(tvr_cut, results("tvr-traces", "trace", "policy").values())]
        return [averaged(cuts)] * 2
    found = results("tvr-mixed", "times", "write-share", "policy")
    return [measured(*map(tvr_cut, runs.values())) for runs in found.values()]


def tv6() -> list[Measured]:
    """Vary the number of packages, at the same load for each and at the same load for all."""
    same = [[tvr_cut(runs[packages]) for packages in ("2", "4", "8")]
            for runs in results("tvr-packages", "utilisation", "packages", "policy").values()]
    shared = [*map(tvr_cut, results("tvr-one-load", "packages", "policy").values())]
    cuts = [*same, shared]
    every = [cut for one in cuts for cut in one]
    return [*(measured(one[-1] - one[0], shown=row(one)) for one in cuts),
            measured(*every, shown=f"{min(every):.1f} to {max(every):.1f}")]


def tv8() -> list[Measured]:
    """Measure the program times of the slow and of the fast page of a word line."""
    us = [array_program_us(run) for run in results("tvr-pages", "pages").values()]
    slow = 2 * us[1] - us[0]
    return [measured(slow / us[0], digits=2), measured(us[0], digits=0), measured(slow, digits=0)]


def tv_a() -> list[Measured]:
    """Ablate TVR: time of a program, wear of an erase."""
    with falsely(mutants=without_rules("tvr-wears-fully")):
        steps = results("tvr-worn-out", "scheme", scheme="device")["device"]
    base, whole, block = results("tvr-worn-out", "scheme").values()
    runs = (base, steps, whole, block)
    us = [array_program_us(run) for run in runs]
    wear = [counter(run, "wear_sum") / counter(run, "array_erases") / 10000 for run in runs]
    return [
        measured(us[0], us[1], digits=0, holds=us[1] < 0.6 * us[0]),
        measured(wear[1], wear[2], digits=3, holds=wear[2] < wear[1] == 1),
        measured(shown=f"{us[3]:.0f} {wear[3]:.3f}",
                 holds=us[2] < us[3] < us[0] and wear[2] < wear[3] < 1),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "TV-5": tv5,
    "TV-6": tv6,
    "TV-8": tv8,
    "TV-A": tv_a,
}
