# SPDX-License-Identifier: GPL-2.0-only
"""The figure that says which policy is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from approxftl_tools.figure import Dots, Figure, Panels
from approxftl_tools.figure_runs import (
    PANELS,
    Lacking,
    ratio_of,
    runs_of,
    several_policies,
    sources,
)
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import BY_KEY

#: Of which less is better; tails beside means.
COMPARED = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
            "write_response_p99_ns", "write_amplification", "total_energy_pj", "array_erases")


def dots_of(runs: Sequence[Run], names: Sequence[str]) -> Dots:
    """Return the ratios of runs to the first, a row for each measure."""
    columns = [(name, [ratio_of(run, runs[0], key) for key in COMPARED])
               for run, name in zip(runs[1:], names[1:], strict=True)]
    there = [i for i in range(len(COMPARED)) if any(column[i] for _, column in columns)]
    return Dots([BY_KEY[COMPARED[i]].title for i in there],
                [(name, [column[i] for i in there]) for name, column in columns],
                f"times that of {names[0]}", mark=1.0)


def ratios(inputs: Inputs) -> list[Figure]:
    """Ratios with intervals; where inputs are workloads, of each of them."""
    runs = runs_of(inputs)
    several = several_policies(inputs)
    groups = [inputs.group(name) for name in inputs.groups()] if several else [runs]
    dots = [(group[0].group, dots_of(group, [run.policy if several else run.label
                                             for run in group]))
            for group in groups if any(run.seeds for run in group)]
    found = [one for one in dots if one[1].categories]
    if not found:
        raise Lacking("several policies with several seeds each, approxftl sim --policy "
                      "baseline,approxftl --seed 1..8 --json=FILE, have them")
    base = runs[0].policy if several else runs[0].label
    more = f" These are {PANELS} of {len(found)} inputs." if len(found) > PANELS else ""
    return [Figure(
        "ratios", f"Ratios to {base}{', by input' if several else ''}",
        f"How many times that of {base} a measure is: the mean of "
        f"{max(len(run.seeds) for run in runs)} seeds, each beside the same seed of the other, and "
        "its interval of 95 %. Left of the line is better; what reaches across it may be chance."
        + more, Panels(found[:PANELS]) if several else found[0][1], sources(runs))]
