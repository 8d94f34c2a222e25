# SPDX-License-Identifier: GPL-2.0-only
"""Average runs that differ only in their seeds, and keep the samples for confidence intervals."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from approxftl_tools.figure_runs import (
    collect_seed_results_of_run,
    do_inputs_compare_policies,
    merge_histogram_bins,
)
from approxftl_tools.inputs import (
    Inputs,
    Run,
    add_interruption_to_run_label,
    make_labels_unique,
    make_run_group_names_unique,
)
from approxftl_tools.measures import is_number
from approxftl_tools.study_table import Group

Json = dict[str, Any]


def mean_of_json_objects(parts: Sequence[Json]) -> Json:
    """Return a JSON object with the means of several runs' results; missing numbers become 0."""
    # Leave out times without requests.
    counted = [part for part in parts if part.get("count", 1)] or parts[:1]
    first: Json = {key: value for part in reversed(counted) for key, value in part.items()}
    return {key: merge_histogram_bins([part[key] for part in counted
                                       if key in part]) if key == "bins" else
            mean_of_values([part.get(key, 0 if is_number(value) else type(value)())
                            for part in counted])
            for key, value in first.items()}


def mean_of_values(values: Sequence[Any]) -> Any:
    """Return the mean of a value over several runs; the first run's value if it has no mean."""
    first = values[0]
    if len(values) == 1:
        return first
    if isinstance(first, bool):
        return any(values)
    if all(map(is_number, values)):
        return sum(values) / len(values)
    if isinstance(first, dict):
        return mean_of_json_objects(values)
    if (isinstance(first, list) and all(map(is_number, first))
            and {len(value) for value in values} == {len(first)}):
        return [sum(column) / len(values) for column in zip(*values, strict=True)]
    return first


def average_runs_over_seeds(inputs: Inputs) -> Inputs:
    """Replace runs that differ only in their seeds by their mean.

    Interrupted runs are not averaged with complete ones.
    """
    def make_run_key_without_seed(run: Run) -> tuple[str, bool, str]:
        return str(run.path), bool(run.data.get("interrupted")), run.policy

    keys = dict.fromkeys(map(make_run_key_without_seed, inputs.runs))
    order = {key: i for i, key in enumerate(keys)}
    runs = []
    for _, found in groupby(sorted(inputs.runs,
                                   key=lambda run: order[make_run_key_without_seed(run)]),
                            key=make_run_key_without_seed):
        same = list(found)
        first = same[0]
        if "seed" not in first.data:
            runs += same
            continue
        data = {**mean_of_values([run.data for run in same]), "seed": first.data["seed"]}
        runs.append(replace(first, label=add_interruption_to_run_label(first.policy, data),
                            group=first.path.stem, data=data,
                            seeds={run.data["seed"]: run.data for run in same}))
    if any(run.seeds for run in runs):
        make_run_group_names_unique(runs)
        make_labels_unique(runs)
    return replace(inputs, runs=runs)


def group_results_by_policy(inputs: Inputs) -> list[Group]:
    """Return a group for each policy (and input file), with the results of all its seeds."""
    several = do_inputs_compare_policies(inputs)
    return [collect_seed_results_of_run(run, {"input": run.group, "policy": run.policy}
                                        if several else
                                        {"policy": run.label}) for run in inputs.runs]
