# SPDX-License-Identifier: GPL-2.0-only
"""Claims about TVR."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from selftests.claims.real_traces import trace_directory
from selftests.claims.rows import (
    Claim,
    array_program_us,
    claim,
    counter,
    identity,
    known_miss,
    measure,
    row,
    saving,
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results, volumes


def tvr_cut(runs: dict[str, Json]) -> float:
    """Return TVR's reduction of the mean response of all requests in percent."""
    return saving(*(measure(runs[policy], "response_mean_ns") for policy in ("tvr", "baseline")))


def tv5() -> list[Claim]:
    """Compare the response time of mixed streams, by their share of writes."""
    if trace_directory():
        return [
            claim("TV-5", f"{name}: mean response cut in %", "11..35 on its own six",
                  f"{less:.1f}", "0..50: programs take half", 0 < less <= 50)
            for name, less in zip(volumes(), map(tvr_cut, results(
                "tvr-traces", "trace", "policy").values()), strict=True)
        ]
    found = results("tvr-mixed", "times", "write-share", "policy")
    cuts, measured = ([*map(tvr_cut, runs.values())] for runs in found.values())
    what = "synthetic, 18 50 77 % writes, times"
    return [
        claim("TV-5", f"{what} of the paper's simulator: cut in %", "11..35, rising", row(cuts),
              "11..35, order", cuts == sorted(set(cuts)) and cuts[0] > 11 and cuts[-1] <= 35),
        known_miss("TV-5", f"{what} that the paper measured: cut in %", "11..35, rising",
                   row(measured), "30..50, order: programs take half, and are most of the time",
                   measured == sorted(set(measured)) and measured[0] > 30 and measured[-1] <= 50),
    ]


def tv6() -> list[Claim]:
    """Vary the number of packages at the same load per package."""
    result = []
    for use, runs in results("tvr-packages", "utilisation", "packages", "policy").items():
        cuts = [tvr_cut(runs[packages]) for packages in ("2", "4", "8")]
        # Packages share nothing; the remaining difference is chance.
        steady = all(b >= a - 1 for a, b in pairwise(cuts))
        result.append(identity("TV-6", f"cut in % with 2 4 8 packages, each {use[:-1]} % busy",
                               "does not fall", row(cuts), "-1", steady))
    return result


def tv_a() -> list[Claim]:
    """Ablate TVR: time of a program, wear of an erase."""
    with falsely(mutants=without_rules("tvr-wears-fully")):
        steps = results("tvr-worn-out", "scheme", scheme="device")["device"]
    base, whole, block = results("tvr-worn-out", "scheme").values()
    runs = (base, steps, whole, block)
    us = [array_program_us(run) for run in runs]
    wear = [counter(run, "wear_sum") / counter(run, "array_erases") / 10000 for run in runs]
    cells = [f"{a:.0f} {b:.3f}" for a, b in zip(us, wear, strict=True)]
    return [
        Claim("TV-A", "baseline (us of a program, wear of an erase)", "-", cells[0], "-", "report"),
        claim("TV-A", "+ fewer steps", "-", cells[1], "order", us[1] < 0.6 * us[0]),
        claim("TV-A", "+ less wear", "-", cells[2], "order", wear[2] < wear[1] == 1),
        claim("TV-A", "only for what is written again in time: between both", "-", cells[3],
              "order", us[2] < us[3] < us[0] and wear[2] < wear[3] < 1),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "TV-5": tv5,
    "TV-6": tv6,
    "TV-A": tv_a,
}
