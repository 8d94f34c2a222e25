# SPDX-License-Identifier: GPL-2.0-only
"""The summary of a report: the best policy, and the simulated device and load."""

from collections.abc import Sequence
from pathlib import PurePath
from statistics import geometric_mean
from typing import Any

from approxftl_tools.compare import compute_measures_of_run, drop_empty_measures
from approxftl_tools.figure_runs import (
    collect_seed_results_of_run,
    do_inputs_compare_policies,
    estimate_ratio_of_two_runs,
    mean_of_measure,
)
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measured import Table, make_measurement_tables
from approxftl_tools.measures import BY_KEY, scale_time_to_unit, value_as_text
from approxftl_tools.seeds import group_results_by_policy
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_plan import Yardstick
from approxftl_tools.study_report import comparison_sentences, warning_about_unsteady_runs
from approxftl_tools.study_table import format_value_and_interval, mean_and_interval_columns

Json = dict[str, Any]
#: Measures that decide the verdict, each mean with its tail; writes come first.
JUDGED = (("write_response_mean_ns", "write_response_p99_ns"),
          ("read_response_mean_ns", "read_response_p99_ns"))


def describe_starting_state(document: Json) -> list[str]:
    """Return whether a simulated device starts empty, filled or as saved; [] if it is unknown."""
    state, given = document.get("starting_state"), document.get("parameters", {})
    if state not in ("random", "sequential"):
        fill = ", then the host fills it" if "host_fill_depth" in document.get("stream", {}) else ""
        return [f"starts {state}{fill}"] if state else []
    valid = given.get("fill_valid_percent", 100)
    over = given.get("fill_overwrite_percent", 0)
    return [f"starts filled {'at random' if state == 'random' else 'in sequence'}"
            + (f", {valid:g} % valid" if valid != 100 else "")
            + (f", then {over:g} % overwritten" if over else "")]


def describe_device(document: Json) -> str:
    """Return a description of the simulated device and its starting state."""
    shape = document["geometry"]
    sizes = [scale_time_to_unit("bytes", shape[key]) for key in ("capacity_bytes", "physical_bytes")
             if key in shape]
    return ", ".join([str(document.get("profile") or "a device of its own"),
                      *([" of ".join(map(str, sizes))] if sizes else []),
                      *([f"{shape['luns']} LUNs"] if "luns" in shape else []),
                      *describe_starting_state(document)])


def describe_requests(document: Json) -> str:
    """Return a description of the simulated requests."""
    stream = document.get("stream") or {}
    if stream.get("source") == "trace":
        return f"requests of {PurePath(stream['trace']).name}"
    if "workload" not in stream:
        return "requests"
    sizes = " and ".join(str(scale_time_to_unit("bytes", one["bytes"])) for one in stream["sizes"])
    busy = stream.get("utilisation_percent")
    load = f", dies {busy:g} % busy" if busy else ""
    writes = f"{stream['write_share_percent']:g} % writes"
    return (f"{stream['workload']} requests of {sizes}, {writes}, "
            f"{stream['approx_share_percent']:g} % of them approximate{load}")


def get_text_or_count_if_texts_differ(found: Sequence[str], what: str) -> str:
    """Return the text if all texts of `found` are equal, else how many different ones there are."""
    different = list(dict.fromkeys(found))
    return different[0] if len(different) == 1 else f"{len(different)} {what}"


def describe_simulation(inputs: Inputs) -> str:
    """Return a description of device, requests and policies of all runs."""
    documents = [run.document for run in inputs.runs]
    policies = ", ".join(dict.fromkeys(run.policy for run in inputs.runs))
    seeds = [f"{len(run.seeds)} seeds" for run in inputs.runs if len(run.seeds) > 1]
    return ("Simulated: "
            + get_text_or_count_if_texts_differ([describe_device(one) for one in documents],
                                                "devices") + "; "
            + get_text_or_count_if_texts_differ([describe_requests(one) for one in documents],
                                                "streams of requests")
            + f"; {policies}"
            + (f"; {get_text_or_count_if_texts_differ(seeds, 'numbers of seeds')} each" if seeds
               else "") + ".")


def describe_policy_comparison(inputs: Inputs) -> list[str]:
    """Return sentences that compare each policy with the first, with confidence intervals."""
    groups = group_results_by_policy(inputs)
    yardstick = Yardstick(str(groups[0].varied["policy"]))
    for keys in JUDGED:
        found = [one for key in keys for one in comparison_sentences(groups, yardstick, key)]
        if found:
            return found
    return []


def ratio_as_text(one: Estimate) -> str:
    if one.low is None or one.high is None or one.are_samples_equal_up_to_rounding:
        return f"{one.mean:.3f}"
    return f"{one.mean:.3f} ({one.low:.3f} to {one.high:.3f}, 95 %)"


def name_best_run(runs: Sequence[Run], keys: tuple[str, str]) -> str:
    """Return a sentence that names the run with the best mean, and its tail response time."""
    base, what = runs[0].label, BY_KEY[keys[0]].title.partition(",")[0]
    found = [(one, run) for run in runs[1:]
             if (one := estimate_ratio_of_two_runs(run, runs[0], keys[0]))]
    if not found:
        return ""
    ratio, run = min(found, key=lambda pair: pair[0].mean)
    tail = estimate_ratio_of_two_runs(run, runs[0], keys[1])
    beyond = f"; its 99th percentile is {ratio_as_text(tail)} of {base}'s" if tail else ""
    sure = "" if run.seeds else " One seed gives no interval."
    if ratio.mean < 1:
        return (f"{run.label} has the shortest mean {what}: {ratio_as_text(ratio)} of {base}'s"
                f"{beyond}.{sure}")
    return (f"No policy has a shorter mean {what} than {base}; that of {run.label} is "
            f"{ratio_as_text(ratio)} times as long{beyond}.{sure}")


def name_best_policy(groups: Sequence[Sequence[Run]], keys: tuple[str, str]) -> str:
    """Return a sentence that names the policy with the best mean over several inputs."""
    ratios: dict[str, list[float]] = {}
    for runs in groups:
        for run in runs[1:]:
            if one := estimate_ratio_of_two_runs(run, runs[0], keys[0]):
                ratios.setdefault(run.policy, []).append(one.mean)
    means = {policy: geometric_mean(found) for policy, found in ratios.items() if all(found)}
    if not means:
        return ""
    best = min(means, key=lambda policy: means[policy])
    found = ratios[best]
    return (f"{best} has the shortest mean {BY_KEY[keys[0]].title.partition(',')[0]} over "
            f"{len(found)} inputs: {means[best]:.3f} of {groups[0][0].policy}'s (geometric mean; "
            f"{min(found):.3f} to {max(found):.3f}).")


def sentence_about_runs(inputs: Inputs) -> str:
    """Return the result of simulated runs as one sentence."""
    several = do_inputs_compare_policies(inputs)
    groups = [inputs.list_runs_in_group(name)
              for name in inputs.list_run_groups()] if several else [inputs.runs]
    # The keys of mean and tail that runs are judged by; None without requests.
    runs = groups[0]
    keys = next((keys for keys in JUDGED if mean_of_measure(runs[0], keys[0])), None)
    if not keys:
        return ""
    if len(groups) > 1:
        return name_best_policy(groups, keys)
    if len(groups[0]) > 1:
        return name_best_run(groups[0], keys)
    run = groups[0][0]
    mean, tail = (value_as_text(BY_KEY[key], mean_of_measure(run, key)) for key in keys)
    return (f"{run.label}: {BY_KEY[keys[0]].title.partition(',')[0]} of {mean} on average, "
            f"{tail} at the 99th percentile.")


def describe_first_nonempty_table(tables: Sequence[Table]) -> str:
    """Compare the first two columns of the first table that has values in both columns."""
    for table in tables:
        said = [f"{ratio_as_text(ratio)} of its {line.title}"
                for line in table.lines
                if len(line.values) > 1 and (ratio := line.estimate_ratio_to_first_column(1))]
        if said:
            return (f"{table.labels[1]} beside {table.labels[0]}: {'; '.join(said[:3])}."
                    + ("" if table.count_repeated_runs() > 1 else
                       " One run each gives no interval."))
    return ""


def make_first_sentence_of_report(inputs: Inputs) -> str:
    if not inputs.runs:
        return describe_first_nonempty_table(make_measurement_tables(inputs))
    results = [one for run in inputs.runs for one in (run.seeds.values() or [run.data])]
    said = sentence_about_runs(inputs)
    return said and said + warning_about_unsteady_runs(results)


def confidence_interval_rows(runs: Sequence[Run], every: bool) -> list[list[str]]:
    """Return a table of means over seeds with intervals, header first."""
    groups = [collect_seed_results_of_run(run) for run in runs]
    lines = [["", *(run.label for run in runs)]]
    for measure in drop_empty_measures([compute_measures_of_run(run) for run in runs], every):
        row = [measure.title]
        for group in groups:
            ratio = None if group is groups[0] else group.estimate_ratio_to_group(groups[0],
                                                                                  measure.key)
            found = (mean_and_interval_columns(measure.key,
                                               group.estimate_mean_over_seeds(measure.key))
                     | mean_and_interval_columns(f"{measure.key}_ratio", ratio))
            row.append(format_value_and_interval(found, measure.key)
                       + (f" {format_value_and_interval(found, measure.key + '_ratio')}"
                          if ratio else ""))
        lines.append(row)
    return lines
