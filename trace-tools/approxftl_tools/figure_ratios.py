# SPDX-License-Identifier: GPL-2.0-only
"""The figure that compares policies, with confidence intervals."""

from collections.abc import Sequence

from approxftl_tools.figure import Dots, Figure, Panels
from approxftl_tools.figure_runs import (
    PANELS,
    Lacking,
    do_inputs_compare_policies,
    estimate_ratio_of_two_runs,
    require_runs,
    source_files_of_runs,
)
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measured import Table, make_measurement_tables
from approxftl_tools.measures import BY_KEY

#: Measures of which less is better: means and tails.
COMPARED = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
            "write_response_p99_ns", "write_amplification", "total_energy_pj", "array_erases")


def make_dot_plot_of_ratios_to_first_run(runs: Sequence[Run], names: Sequence[str]) -> Dots:
    """Return a dot plot of the runs' measures relative to the first run, a row for each measure."""
    columns = [(name, [estimate_ratio_of_two_runs(run, runs[0], key) for key in COMPARED])
               for run, name in zip(runs[1:], names[1:], strict=True)]
    there = [i for i in range(len(COMPARED)) if any(column[i] for _, column in columns)]
    return Dots([BY_KEY[COMPARED[i]].title for i in there],
                [(name, [column[i] for i in there]) for name, column in columns],
                f"times that of {names[0]}", mark=1.0)


def make_dot_plot_of_measured_ratios(table: Table) -> Dots:
    """Return a dot plot of a table's measured values, as ratios to the table's first column."""
    lines = [line for line in table.lines if line.values[0] and any(line.values[1:])]
    return Dots([line.title for line in lines],
                [(label, [line.estimate_ratio_to_first_column(at) for line in lines])
                 for at, label in enumerate(table.labels) if at],
                f"times that of {table.labels[0]}", mark=1.0)


def describe_certainty_of_table(table: Table) -> str:
    """Return the end of a sentence about ratios: where their intervals come from."""
    runs = table.count_repeated_runs()
    return (f": the mean of {runs} runs, each beside the same run of the other, and its interval "
            "of 95 %." if runs > 1 else ". One run each gives no interval.")


def make_figures_of_measured_ratios(inputs: Inputs) -> list[Figure]:
    """Return for each table of fio, devices or programs a figure of ratios to its first column."""
    found = [(table, make_dot_plot_of_measured_ratios(table))
             for table in make_measurement_tables(inputs)
             if len(table.labels) > 1]
    return [Figure("ratios", f"{table.title}: ratios to {table.labels[0]}",
                   f"How many times that of {table.labels[0]} a measure is"
                   f"{describe_certainty_of_table(table)} Left of the line is less.", dots,
                   table.sources)
            for table, dots in found if dots.categories]


def make_figures_of_policy_ratios(inputs: Inputs) -> list[Figure]:
    """Return figures of policies' measures relative to the first policy; a panel per workload."""
    if not inputs.runs and (measured := make_figures_of_measured_ratios(inputs)):
        return measured
    runs = require_runs(inputs)
    several = do_inputs_compare_policies(inputs)
    groups = [inputs.list_runs_in_group(name)
              for name in inputs.list_run_groups()] if several else [runs]
    dots = [(group[0].group,
             make_dot_plot_of_ratios_to_first_run(group, [run.policy if several else run.label
                                                          for run in group])) for group in groups]
    found = [one for one in dots if one[1].categories]
    if not found:
        raise Lacking("several policies, approxftl sim --policy baseline,approxftl --json=FILE, "
                      "have them; with --seed 1..8 they have intervals")
    base = runs[0].policy if several else runs[0].label
    more = f" These are {PANELS} of {len(found)} inputs." if len(found) > PANELS else ""
    seeds = max(len(run.seeds) for run in runs)
    sure = (f"the mean of {seeds} seeds, each beside the same seed of the other, and its interval "
            "of 95 %. Left of the line is better; an interval that reaches across it may be chance"
            if seeds else "one seed, which gives no interval. Left of the line is better")
    return [Figure(
        "ratios", f"Ratios to {base}{', by input' if several else ''}",
        f"How many times that of {base} a measure is: {sure}.{more}",
        Panels(found[:PANELS]) if several else found[0][1], source_files_of_runs(runs))]
