# SPDX-License-Identifier: GPL-2.0-only
"""Claims of the paper about TVR, computed or simulated."""

from collections.abc import Callable

from selftests.claims.real_traces import real_trace_directory
from selftests.claims.register import Measured, pack_results
from selftests.claims.rows import (
    compute_percent_reduction,
    format_numbers,
    get_result_measure,
    list_mutants_that_disable_rules,
    mean_program_us,
    pack_results_and_mean,
    read_counter,
)
from selftests.claims.runs import Json, falsified_settings
from selftests.claims.studies import results_of_study


def compute_tvr_response_reduction(runs: dict[str, Json]) -> float:
    """Return TVR's reduction of the mean response of all requests in percent."""
    return compute_percent_reduction(*(get_result_measure(runs[policy], "response_mean_ns")
                                       for policy in ("tvr", "baseline")))


def measure_tv5_mixed_streams() -> list[Measured]:
    """Measure the response time of mixed streams, by their share of writes."""
    if real_trace_directory():
        cuts = [*map(compute_tvr_response_reduction,
                     results_of_study("tvr-traces", "trace", "policy").values())]
        return [*[pack_results_and_mean(cuts)] * 2, *map(pack_results, (max(cuts), min(cuts)))]
    found = results_of_study("tvr-mixed", "times", "write-share", "policy")
    own = found["the paper's simulator"]
    ends = own.pop("100%"), own["18%"]
    return [*(pack_results(*map(compute_tvr_response_reduction, runs.values()))
              for runs in found.values()),
            *(pack_results(compute_tvr_response_reduction(runs)) for runs in ends)]


def measure_tv6_package_counts() -> list[Measured]:
    """Vary the number of flash packages, with constant load per package and constant total load."""
    same = [[compute_tvr_response_reduction(runs[packages]) for packages in ("2", "4", "8")]
            for runs in results_of_study("tvr-packages", "utilisation", "packages",
                                         "policy").values()]
    shared = [*map(compute_tvr_response_reduction,
                   results_of_study("tvr-one-load", "packages", "policy").values())]
    cuts = [*same, shared]
    every = [cut for one in cuts for cut in one]
    volumes = [[*map(compute_tvr_response_reduction, by_packages.values())] for by_packages in
               results_of_study("tvr-volumes", "trace", "packages", "policy").values()]
    return [*(pack_results(one[-1] - one[0], shown=format_numbers(one)) for one in cuts),
            pack_results(*every, shown=f"{min(every):.1f} to {max(every):.1f}"),
            pack_results(*(one[-1] - one[0] for one in volumes[:2]),
                         holds=all(one == sorted(one) for one in volumes[:2]),
                         shown="; ".join(map(format_numbers, volumes)))]


def measure_tv8_page_times() -> list[Measured]:
    """Measure the program times of the slow and of the fast page of a word line."""
    us = [mean_program_us(run) for run in results_of_study("tvr-pages", "pages").values()]
    slow = 2 * us[1] - us[0]
    return [pack_results(slow / us[0], digits=2), pack_results(us[0], digits=0),
            pack_results(slow, digits=0)]


def ablate_tvr() -> list[Measured]:
    """Ablate TVR: time of a program, and wear of an erase, with and without each part."""
    with falsified_settings(mutants=list_mutants_that_disable_rules("tvr-wears-fully")):
        steps = results_of_study("tvr-worn-out", "scheme", scheme="device")["device"]
    base, whole, block = results_of_study("tvr-worn-out", "scheme").values()
    runs = (base, steps, whole, block)
    us = [mean_program_us(run) for run in runs]
    wear = [read_counter(run, "wear_sum") / read_counter(run, "array_erases") / 10000
            for run in runs]
    return [
        pack_results(us[0], us[1], digits=0, holds=us[1] < 0.6 * us[0]),
        pack_results(wear[1], wear[2], digits=3, holds=wear[2] < wear[1] == 1),
        pack_results(shown=f"{us[3]:.0f} {wear[3]:.3f}",
                     holds=us[2] < us[3] < us[0] and wear[2] < wear[3] < 1),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "TV-5": measure_tv5_mixed_streams,
    "TV-6": measure_tv6_package_counts,
    "TV-8": measure_tv8_page_times,
    "TV-A": ablate_tvr,
}
