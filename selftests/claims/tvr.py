# SPDX-License-Identifier: GPL-2.0-only
"""Claims of the paper about TVR, computed or simulated."""

from collections.abc import Callable

from selftests.claims.real_traces import trace_directory
from selftests.claims.register import Measured, make_measured
from selftests.claims.rows import (
    average_figures,
    compute_saving,
    find_measure,
    format_numbers,
    list_rule_mutants,
    mean_program_us,
    read_counter,
)
from selftests.claims.runs import Json, falsified_settings
from selftests.claims.studies import results_of_study


def compute_tvr_cut(runs: dict[str, Json]) -> float:
    """Return TVR's reduction of the mean response of all requests in percent."""
    return compute_saving(*(find_measure(runs[policy], "response_mean_ns")
                            for policy in ("tvr", "baseline")))


def measure_tv5_mixed_streams() -> list[Measured]:
    """Measure the response time of mixed streams, by their share of writes."""
    if trace_directory():
        cuts = [*map(compute_tvr_cut,
                     results_of_study("tvr-traces", "trace", "policy").values())]
        return [*[average_figures(cuts)] * 2, *map(make_measured, (max(cuts), min(cuts)))]
    found = results_of_study("tvr-mixed", "times", "write-share", "policy")
    own = found["the paper's simulator"]
    ends = own.pop("100%"), own["18%"]
    return [*(make_measured(*map(compute_tvr_cut, runs.values())) for runs in found.values()),
            *(make_measured(compute_tvr_cut(runs)) for runs in ends)]


def measure_tv6_packages() -> list[Measured]:
    """Vary the number of flash packages, with constant load per package and constant total load."""
    same = [[compute_tvr_cut(runs[packages]) for packages in ("2", "4", "8")]
            for runs in results_of_study("tvr-packages", "utilisation", "packages",
                                         "policy").values()]
    shared = [*map(compute_tvr_cut,
                   results_of_study("tvr-one-load", "packages", "policy").values())]
    cuts = [*same, shared]
    every = [cut for one in cuts for cut in one]
    volumes = [[*map(compute_tvr_cut, by_packages.values())] for by_packages in
               results_of_study("tvr-volumes", "trace", "packages", "policy").values()]
    return [*(make_measured(one[-1] - one[0], shown=format_numbers(one)) for one in cuts),
            make_measured(*every, shown=f"{min(every):.1f} to {max(every):.1f}"),
            make_measured(*(one[-1] - one[0] for one in volumes[:2]),
                          holds=all(one == sorted(one) for one in volumes[:2]),
                          shown="; ".join(map(format_numbers, volumes)))]


def measure_tv8_page_times() -> list[Measured]:
    """Measure the program times of the slow and of the fast page of a word line."""
    us = [mean_program_us(run) for run in results_of_study("tvr-pages", "pages").values()]
    slow = 2 * us[1] - us[0]
    return [make_measured(slow / us[0], digits=2), make_measured(us[0], digits=0),
            make_measured(slow, digits=0)]


def ablate_tvr() -> list[Measured]:
    """Ablate TVR: time of a program, and wear of an erase, with and without each part."""
    with falsified_settings(mutants=list_rule_mutants("tvr-wears-fully")):
        steps = results_of_study("tvr-worn-out", "scheme", scheme="device")["device"]
    base, whole, block = results_of_study("tvr-worn-out", "scheme").values()
    runs = (base, steps, whole, block)
    us = [mean_program_us(run) for run in runs]
    wear = [read_counter(run, "wear_sum") / read_counter(run, "array_erases") / 10000
            for run in runs]
    return [
        make_measured(us[0], us[1], digits=0, holds=us[1] < 0.6 * us[0]),
        make_measured(wear[1], wear[2], digits=3, holds=wear[2] < wear[1] == 1),
        make_measured(shown=f"{us[3]:.0f} {wear[3]:.3f}",
                      holds=us[2] < us[3] < us[0] and wear[2] < wear[3] < 1),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "TV-5": measure_tv5_mixed_streams,
    "TV-6": measure_tv6_packages,
    "TV-8": measure_tv8_page_times,
    "TV-A": ablate_tvr,
}
