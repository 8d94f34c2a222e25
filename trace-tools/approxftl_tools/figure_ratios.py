# SPDX-License-Identifier: GPL-2.0-only
"""The figure that says which policy is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from approxftl_tools.figure import Dots, Figure
from approxftl_tools.figure_runs import Lacking, ratio_of, runs_of, several_policies, sources
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import BY_KEY

#: Of which less is better; tails beside means.
COMPARED = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
            "write_response_p99_ns", "write_amplification", "energy_total_pj", "erases")


def ratios_of_group(runs: Sequence[Run], where: str) -> list[Figure]:
    """Return the ratios of runs to the first, a row for each measure."""
    base, others = runs[0], runs[1:]
    columns = [(run.label, [ratio_of(run, base, key) for key in COMPARED]) for run in others]
    there = [i for i in range(len(COMPARED)) if any(column[i] for _, column in columns)]
    seeds = max(len(run.seeds) for run in runs)
    return [Figure(
        "ratios", f"Ratios to {base.label}{where}",
        f"How many times that of {base.label} a measure is: the mean of {seeds} seeds, each "
        "beside the same seed of the other, and its interval of 95 %. Left of the line is better; "
        "what reaches across it may be chance.",
        Dots([BY_KEY[COMPARED[i]].title for i in there],
             [(name, [column[i] for i in there]) for name, column in columns],
             f"times that of {base.label}", mark=1.0), sources(runs))] if there else []


def ratios(inputs: Inputs) -> list[Figure]:
    """Ratios with intervals, a figure for each input."""
    runs = runs_of(inputs)
    groups = [(inputs.group(name), f", {name}") for name in inputs.groups()] \
        if several_policies(inputs) else [(runs, "")]
    found = [figure for group, where in groups if any(run.seeds for run in group)
             for figure in ratios_of_group(group, where)]
    if not found:
        raise Lacking("several policies with several seeds each, approxftl sim --policy "
                      "baseline,approxftl --seed 1..8 --json FILE, have them")
    return found
