# SPDX-License-Identifier: GPL-2.0-only
"""Select the runs that figures show."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from approxftl_tools.figure import Figure, Panel, Panels
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import compute_ratio_to_base_value, compute_result_measures
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_plan import Value
from approxftl_tools.study_table import Group


class Lacking(Exception):  # noqa: N818
    """The input files lack a figure's data; the exception's text says how to record the data."""


def require_nonempty_figures(figures: list[Figure], lacking: str) -> list[Figure]:
    """Return the figures of a kind; raise Lacking if there are none."""
    if not figures:
        raise Lacking(lacking)
    return figures


def source_files_of_runs(runs: Iterable[Run]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(run.path) for run in runs))


def require_runs(inputs: Inputs) -> list[Run]:
    """Return the runs among the input files; raise Lacking if there are none."""
    if not inputs.runs:
        raise Lacking("a result of approxftl sim --json=FILE has it")
    return inputs.runs


def collect_seed_results_of_run(run: Run, varied: dict[str, Value] | None = None) -> Group:
    """Return the results of a run, one for each seed, as a group whose means can be computed."""
    unit_bytes = run.geometry.get("unit_bytes")
    bits = {"unit_bits": 8 * unit_bytes if unit_bytes else None}
    runs = run.seeds or {run.data.get("seed", 0): run.data}
    return Group(varied or {}, {seed: {**data, **bits} for seed, data in runs.items()})


def estimate_ratio_of_two_runs(run: Run, yardstick: Run, key: str) -> Estimate | None:
    """Return the ratio of a measure between two runs, by seed if both have the same seeds."""
    one, base = collect_seed_results_of_run(run), collect_seed_results_of_run(yardstick)
    if set(one.runs) == set(base.runs):
        return one.estimate_ratio_to_group(base, key)
    found = compute_ratio_to_base_value(mean_of_measure(run, key), mean_of_measure(yardstick, key))
    return None if found is None else Estimate(found, None, 1)


def mean_of_measure(run: Run, key: str) -> float | None:
    """Return a measure of a run, or its mean over seeds."""
    if not run.seeds:
        return compute_result_measures(run.data, run.geometry.get("unit_bytes"))[key]
    found = collect_seed_results_of_run(run).estimate_mean_over_seeds(key)
    return found.mean if found else None


def list_policies_in_run_order(runs: Sequence[Run]) -> list[str]:
    """Return the policies in the order of their first appearance."""
    return list(dict.fromkeys(run.policy for run in runs))


def first_run_of_policy(runs: Iterable[Run], policy: str) -> Run | None:
    return next((run for run in runs if run.policy == policy), None)


def list_group_names_of_runs(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.group for run in runs))


def merge_histogram_bins(all_bins: Sequence[Sequence[Sequence[float]]]) -> list[list[float]]:
    counts: Counter[float] = Counter()
    for bins in all_bins:
        for top, count in bins:
            counts[top] += count  # type: ignore[assignment]
    return [[top, counts[top]] for top in sorted(counts)]


#: With more inputs than this, figures do not have a panel for each.
PANELS = 12


def count_workloads_beyond_panel_limit(inputs: Inputs) -> int:
    """Return the number of workloads if they are too many to draw a panel for each; else 0."""
    count = len(inputs.list_run_groups())
    return count if count > PANELS and do_inputs_compare_policies(inputs) else 0


def make_panel_plot(inputs: Inputs, plot_of: Callable[[Sequence[Run], Sequence[str]], Panel]
                        ) -> Panel | Panels:
    """Return a plot of runs with a panel per workload or, with many workloads, per policy."""
    runs = require_runs(inputs)
    if not do_inputs_compare_policies(inputs):
        return plot_of(runs, [run.label for run in runs])
    many = count_workloads_beyond_panel_limit(inputs)
    panels: dict[str, list[Run]] = {}
    for run in runs:
        panels.setdefault(run.policy if many else run.group, []).append(run)
    return Panels([(name, plot_of(found, [one.group if many else one.policy for one in found]))
                   for name, found in panels.items()])


def do_inputs_compare_policies(inputs: Inputs) -> bool:
    """Tell whether the inputs are workloads, each simulated with the same policies."""
    groups = [inputs.list_runs_in_group(name) for name in inputs.list_run_groups()]
    return len(groups) > 1 and any(len(group) > 1 for group in groups)
