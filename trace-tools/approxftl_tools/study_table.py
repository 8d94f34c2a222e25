# SPDX-License-Identifier: GPL-2.0-only
"""Evaluate a study: means over seeds, intervals and ratios."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

from approxftl_tools.command import USAGE, Refusal, refuse_malformed_documents
from approxftl_tools.measures import BY_KEY, value_as_text
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.row_list import Column, align_columns
from approxftl_tools.statistics import Estimate, estimate_mean, estimate_paired_ratio
from approxftl_tools.study_plan import (
    DEFAULT,
    Plan,
    Value,
    Yardstick,
    suggest_or_list_known_words,
    values_as_strings,
)
from approxftl_tools.study_store import DONE, Store, read_result_file

#: Other names of measures. TAIL below matches measures with skewed distributions.
ALIASES = {"waf": "write_amplification"}
TAIL = re.compile(r"_(p\d+(_\d+)?|max)_ns$")

#: Width of a printed table.
WIDTH = 100
#: Intervals narrower than this share of the mean are rounding errors: all runs are the same.
SAME = 1e-9

Row = dict[str, Any]
Key = tuple[tuple[str, Value], ...]


@dataclass
class Group:
    """The runs of a study that differ only in their seeds."""

    varied: dict[str, Value]
    #: Results by seed; there is one if the file names no seed.
    runs: dict[Value, Row] = field(default_factory=dict)

    def count_drifting_runs(self) -> int:
        """Return how many runs did not reach a steady state, judged by batches of requests."""
        found = [run.get("settling") for run in self.runs.values()]
        return sum(1 for one in found
                   if one and one["batch_requests"] > 1 and not one["settled"])

    def read_measure_for_each_seed(self, measure: str) -> dict[Value, float]:
        found = {seed: VALUES[measure](run) for seed, run in self.runs.items()}
        return {seed: float(value) for seed, value in found.items() if value is not None}

    def sum_measures_for_each_seed(self, measures: Sequence[str]) -> dict[Value, float]:
        found = [self.read_measure_for_each_seed(measure) for measure in measures]
        return {seed: sum(values[seed] for values in found) for seed in self.runs
                if all(seed in values for values in found)}

    def estimate_mean_over_seeds(self, measure: str) -> Estimate | None:
        """Return the mean of a measure over the seeds; None if a run lacks the measure."""
        values = self.read_measure_for_each_seed(measure)
        if not values or len(values) < len(self.runs):
            return None
        return estimate_mean(list(values.values()), bool(TAIL.search(measure)))

    def estimate_ratio_to_group(self, yardstick: Group, measure: str) -> Estimate | None:
        """Return the mean ratio of a measure to that of other runs, paired by seed."""
        ours = self.read_measure_for_each_seed(measure)
        theirs = yardstick.read_measure_for_each_seed(measure)
        seeds = [seed for seed in ours if seed in theirs]
        if not seeds or len(seeds) < len(self.runs):
            return None
        return estimate_paired_ratio([ours[seed] for seed in seeds],
                                     [theirs[seed] for seed in seeds], bool(TAIL.search(measure)))


def list_runs_of_result(where: Path, document: dict[str, Any]) -> Iterable[tuple[str, Row]]:
    """Yield the policy and the measures of each run in a simulator's result."""
    with refuse_malformed_documents([where]):
        bits = 8 * int(document["geometry"]["unit_bytes"])
        shared = {key: document[key] for key in ("geometry", "parameters")}
        for run in document["runs"]:
            yield str(run["policy"]), {**shared, **run, "unit_bits": bits}


def group_runs_ignoring_seed(found: dict[Key, Group], point_varied: dict[str, Value], where: Path,
                             document: dict[str, Any]) -> None:
    varied = {key: value for key, value in point_varied.items() if key != "seed"}
    for policy, run in list_runs_of_result(where, document):
        name = varied | {"policy": varied.get("policy", policy)}
        group = found.setdefault(tuple(name.items()), Group(name))
        group.runs[point_varied.get("seed", 0)] = run


def group_points_ignoring_seed(plan: Plan, store: Store) -> list[Group]:
    """Return the results of finished points; points that differ only in seed form a group."""
    found: dict[Key, Group] = {}
    for point in plan.points:
        if store.state_of_point(point) == DONE:
            group_runs_ignoring_seed(found, dict(point.varied), store.point_directory(point),
                                     store.read_point_result(point))
    return list(found.values())


def group_folder_results_ignoring_seed(root: Path) -> dict[str, list[Group]]:
    """Return the seed groups of all results below a folder, by the fixed options of the points."""
    found: dict[str, dict[Key, Group]] = {}
    for path in sorted(root.glob("*/point.json")):
        with refuse_malformed_documents([path]):
            known = json.loads(path.read_text("utf-8"))
            own = {f"--{key}={value}" for key, value in known["varied"].items()}
            rest = shlex.join(word for word in shlex.split(known["command"]) if word not in own)
            groups = found.setdefault(rest, {})
        result = path.with_name("result.json")
        if result.exists():
            group_runs_ignoring_seed(groups, known["varied"], result, read_result_file(result))
    return {rest: sorted(groups.values(), key=lambda one: [str(v) for v in one.varied.values()])
            for rest, groups in found.items() if groups}


def find_group_with_reference_value(group: Group, groups: Sequence[Group],
                                    yardstick: Yardstick) -> Group | None:
    """Return the runs that differ from `group` only by having the reference value, or None."""
    wanted = {key: str(one) for key, one in group.varied.items()} | {
        yardstick.axis: yardstick.value}
    for one in groups:
        if {key: str(value) for key, value in one.varied.items()} == wanted:
            return one
    return None


def list_measures_as_text() -> str:
    """Return a text that lists all measures; queue_N stands for the measures of each queue."""
    groups: dict[str, list[str]] = {}
    for key in VALUES:
        of_queue = re.match(r"queue_(\d)_", key)
        if of_queue and of_queue[1] != "0":
            continue
        group = "queues of the host, N from 0 to 7" if of_queue else \
            BY_KEY[key].group if key in BY_KEY else "of papers"
        groups.setdefault(group, []).append(key.replace("queue_0_", "queue_N_"))
    return "".join(
        f"{group}\n{''.join(f'  {key}{list_alias_names_of_measure(key)}{chr(10)}' for key in keys)}"
        for group, keys in groups.items())


def list_alias_names_of_measure(key: str) -> str:
    names = [name for name, meant_key in ALIASES.items() if meant_key == key]
    return f" ({', '.join(names)})" if names else ""


def choose_measures(text: str | None, plan: Plan) -> tuple[str, ...]:
    """Return the measures of a comma-separated list; "help" prints them and exits."""
    if text == "help":
        sys.stdout.write(list_measures_as_text())
        sys.exit(0)
    keys = tuple(ALIASES.get(key, key) for key in text.split(",")) if text else plan.rules.measures
    for key in keys:
        if key not in VALUES:
            raise Refusal(f'no measure "{key}"{suggest_or_list_known_words(key, VALUES)}', USAGE)
    return keys


def mean_and_interval_columns(name: str, found: Estimate | None) -> Row:
    """Return the table columns of a mean and of both ends of its confidence interval."""
    return {name: found.mean if found else None, f"{name}_low": found.low if found else None,
            f"{name}_high": found.high if found else None}


def make_rows_of_means_and_ratios(groups: Sequence[Group], yardstick: Yardstick,
                                  keys: Sequence[str]) -> list[Row]:
    rows = []
    for group in groups:
        row: Row = {**group.varied, "runs": len(group.runs),
                    "drifting_runs": group.count_drifting_runs()}
        base = find_group_with_reference_value(group, groups, yardstick)
        for key in keys:
            row |= mean_and_interval_columns(key, group.estimate_mean_over_seeds(key))
            if yardstick.value:
                row |= mean_and_interval_columns(f"{key}_ratio",
                                                 group.estimate_ratio_to_group(base, key)
                                                 if base and base is not group else None)
        rows.append(row)
    return rows


def table_rows_as_csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def format_value_and_interval(row: Mapping[str, Any], key: str) -> str:
    value, low = row[key], row.get(f"{key}_low")
    measure = BY_KEY.get(key)
    if value is None or isinstance(value, str | int):
        return "\u2013" if value is None else str(value)
    if key.endswith("_ratio"):
        width = "" if low is None or value - low < SAME else \
            f" [{low:.3f}, {row[f'{key}_high']:.3f}]"
        return f"{value:.3f}{width}"
    said = value_as_text(measure, value) if measure else f"{value:.4g}"
    half = abs((value - low) / value) if low is not None and value else 0.0
    if half < SAME:
        return said
    return f"{said} \u00b1{100 * half:.2g} %" if half < 1 else f"{said} \u00b1over 100 %"


#: Axis titles for options of the simulator.
AXES = {"op": "spare space", "approx_share": "approximate share", "write_share": "share of writes",
        "utilisation": "die utilisation", "size": "request size", "depth": "queue depth",
        "gc": "collection threshold", "buffer": "write buffer", "victim": "victim selection",
        "age": "retention age", "cycles": "erase cycles before"}


def axis_title(key: str) -> str:
    return AXES.get(key.replace("-", "_")) or measure_title(key.replace("-", "_"))


def measure_title(key: str) -> str:
    if key.endswith("_ratio"):
        return "ratio"
    return BY_KEY[key].title if key in BY_KEY else key.replace("_", " ")


def list_measures_shown_in_figures(plan: Plan) -> tuple[str, ...]:
    """Return the measures that the figures of a study show, or all measures of its table."""
    found = [ALIASES.get(key, key) for one in plan.figures
             for key in values_as_strings(one.get("y", []))]
    if plan.rules.measures != DEFAULT:
        return plan.rules.measures
    return tuple(dict.fromkeys(key for key in found if key in VALUES)) or plan.rules.measures


def format_tables_of_measures(rows: Sequence[Row], keys: Sequence[str]) -> str:
    """Return text tables of the points' given measures, each table no wider than a page."""
    if not rows:
        return "no point is done\n"

    def format_list_of_measure_columns(columns: Sequence[str]) -> str:
        return align_columns([list(map(measure_title, columns)),
                              *([format_value_and_interval(row, key) for key in columns]
                                for row in rows)],
                             [True] * len(columns))

    names = list(rows[0])
    axes = names[:names.index("drifting_runs")]
    if any(row["drifting_runs"] for row in rows):
        axes.append("drifting_runs")
    # Measures that no run has, such as read responses of writes, have no column.
    there = [name for name in names if any(row[name] is not None for row in rows)]
    tables = [axes]
    for key in keys:
        columns = [name for name in (key, f"{key}_ratio") if name in there]
        wider = [*tables[-1], *columns]
        width = max(map(len, format_list_of_measure_columns(wider).splitlines()))
        if tables[-1] == axes or width <= WIDTH:
            tables[-1] = wider
        else:
            tables.append([*axes, *columns])
    more = [key for key in VALUES if key in there and key not in keys]
    return "\n".join([*map(format_list_of_measure_columns, tables), *([
        fill(f"More with --measures, or --csv: {', '.join(more)}", WIDTH) + "\n"] if more else [])])


def make_columns_of_measure(key: str, what: str) -> tuple[Column, ...]:
    """Return the table columns of a mean or of a ratio."""
    return (Column(key, what, f"{what}, with its interval",
                   said=lambda row: format_value_and_interval(row, key)),
            Column(f"{key}_low", f"{what}, low", "lower end of its interval of 95 %", more=True),
            Column(f"{key}_high", f"{what}, high", "upper end", more=True))


def table_columns(plan: Plan, keys: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns that a study's table can show."""
    varied = dict.fromkeys([*(key for key, _ in plan.points[0].varied if key != "seed"), "policy"])
    found = [Column(key, measure_title(key), "what is varied") for key in varied]
    found += [Column("runs", "runs", "that differ in their seeds"),
              Column("drifting_runs", "drifting runs", "whose means are not worth much")]
    for key in keys:
        found += make_columns_of_measure(key, measure_title(key))
        if plan.rules.yardstick.value:
            found += make_columns_of_measure(f"{key}_ratio", f"{measure_title(key)}, ratio")
    return tuple(found)
