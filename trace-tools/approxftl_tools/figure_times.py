# SPDX-License-Identifier: GPL-2.0-only
"""Figures of response times, and of how well a replay kept to its schedule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from approxftl_tools import aft
from approxftl_tools.arrays import np
from approxftl_tools.figure import TIME_LABEL, Bars, Curves, Figure, Panels
from approxftl_tools.figure_runs import (
    Lacking,
    groups_of,
    many_inputs,
    of_policy,
    policies,
    pooled,
    ratio_of,
    runs_of,
    several_policies,
    sources,
    value_of,
)
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import BY_KEY, look

#: Intervals of a replay, of each of which the latest request counts.
INTERVALS = 120
#: Points of the distribution of a record file's latencies.
QUANTILES = 400

RESPONSES = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
             "write_response_p99_ns")


#: The same of writes by the class of their data.
CLASS_RESPONSES = ("write_precise_response_mean_ns", "write_precise_response_p99_ns",
                   "write_approx_response_mean_ns", "write_approx_response_p99_ns")


def mean_ratio(run: Run, yardstick: Run, key: str) -> float | None:
    """Return how many times that of another a measure is."""
    found = ratio_of(run, yardstick, key)
    return found.mean if found else None


def normalised(runs: Sequence[Run], key: str) -> list[tuple[str, float | None]]:
    """Return a measure relative to the first run."""
    return [(run.label, mean_ratio(run, runs[0], key)) for run in runs]


def response_title(key: str) -> str:
    """Return what a time is called; where all are of writes, that is not said each time."""
    title = BY_KEY[key].title
    return title.removeprefix("write response, ") if key in CLASS_RESPONSES else title


def responses_of_group(runs: Sequence[Run], name: str, title: str,
                       responses: Sequence[str]) -> list[Figure]:
    """Bars by kind of time, one series for each run."""
    keys = [key for key in responses if any(value_of(run, key) is not None for run in runs)]
    columns = {key: [value for _, value in normalised(runs, key)] for key in keys}
    series = [(run.label, [columns[key][i] for key in keys]) for i, run in enumerate(runs)]
    return [Figure(
        name, f"{title} relative to {runs[0].label}, {', '.join(groups_of(runs))}",
        f"Response times of requests relative to {runs[0].label}. Shorter is better; "
        "the line is at 1.",
        Bars([response_title(key) for key in keys], series, f"times that of {runs[0].label}",
             mark=1.0),
        sources(runs))] if keys else []


def responses_of_groups(inputs: Inputs, name: str, title: str, responses: Sequence[str]
                        ) -> list[Figure]:
    """A panel for each kind of time, bars by workload, as papers have them."""
    names = inputs.groups()
    panels = []
    for key in responses:
        series = []
        for policy in policies(inputs.runs):
            values = []
            for group in map(inputs.group, names):
                run = of_policy(group, policy)
                values.append(mean_ratio(run, group[0], key) if run else None)
            series.append((policy, values))
        if any(value is not None for _, values in series for value in values):
            panels.append((response_title(key),
                           Bars(names, series, "times that of the first", mark=1.0)))
    return [Figure(name, f"{title}, by input",
                   "Each group of bars is one input, relative to its first policy. Shorter is "
                   "better; the line is at 1.", Panels(panels), sources(inputs.runs))] \
        if panels else []


def responses(inputs: Inputs, name: str, title: str, keys: Sequence[str], lacking: str
              ) -> list[Figure]:
    """Normalised response times."""
    runs = runs_of(inputs)
    found = responses_of_groups(inputs, name, title, keys) if several_policies(inputs) else \
        responses_of_group(runs, name, title, keys)
    if not found:
        raise Lacking(lacking)
    return found


def response(inputs: Inputs) -> list[Figure]:
    """Normalised response times."""
    return responses(inputs, "response", "Response times", RESPONSES,
                     "no run has completed a read or a write")


def class_response(inputs: Inputs) -> list[Figure]:
    """Normalised response times of writes by the class of their data."""
    lacking = "no approximate data were written; --approx-share above 0 does it"
    if all(value_of(run, CLASS_RESPONSES[-1]) is None for run in runs_of(inputs)):
        raise Lacking(lacking)
    return responses(inputs, "class-response", "Response times of writes by class",
                     CLASS_RESPONSES, lacking)


def cumulative(bins: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Return times in us and the percentage of requests that took no longer, from 0 on."""
    total = sum(count for _, count in bins)
    below = list(accumulate(count for _, count in bins))
    times = [top / 1000 for top, _ in bins]
    return [times[0], *times], [0.0, *(100 * count / total for count in below)]


def records_with_latency(inputs: Inputs) -> list[aft.RecordFile]:
    """Return the record files whose requests have been timed."""
    return [file for file in inputs.records if len(file.records) and file.column("lat_100ns").any()]


def quantile_curve(times_us: Any) -> tuple[list[float], list[float]]:
    """Return times and percentages, at evenly spread quantiles."""
    shares = np.linspace(0, 100, QUANTILES + 1)
    return list(np.percentile(times_us, shares)), list(shares)


def no_zero(curves: Iterable[tuple[str, Sequence[float], Sequence[float]]]) -> bool:
    """Tell whether there can be a logarithm; what a buffer takes may need no time at all."""
    return all(x > 0 for _, xs, _ in curves for x in xs)


def slower(times_us: Sequence[float], shares: Sequence[float]
           ) -> tuple[list[float], list[float]]:
    """Return times and the percentage of requests that took longer; the slowest ends the curve."""
    left = [100 - share for share in shares]
    return list(times_us), [*left[:-1], left[-2]]


Curve = tuple[str, Sequence[float], Sequence[float]]


def thinned(times_us: list[float], shares: list[float]) -> tuple[list[float], list[float]]:
    """Return a curve of no more points than can be seen apart, its ends among them."""
    if len(shares) <= QUANTILES:
        return times_us, shares
    # The tail is drawn as wide as the rest.
    heights = np.log10(np.maximum(shares, 1e-12))
    lengths = np.concatenate([[0], np.cumsum(np.abs(np.diff(heights)))])
    by_height = np.searchsorted(lengths, np.linspace(0, lengths[-1], QUANTILES // 2))
    by_place = np.linspace(0, len(shares) - 1, QUANTILES // 2).astype(int)
    kept = np.unique(np.concatenate([by_height, by_place]))
    return [times_us[i] for i in kept], [shares[i] for i in kept]


def curves_of_runs(inputs: Inputs, kind: str, drawn: list[Path]) -> dict[str, list[Curve]]:
    """Return distributions of runs by the panel that they are in; of many inputs those of all."""
    several, many = several_policies(inputs), many_inputs(inputs)
    bins: dict[tuple[str, str], list[Sequence[Sequence[float]]]] = {}
    for run in inputs.runs:
        found = look(run.data, "timing", f"{kind}_response", "bins")
        if found:
            place = ("" if many else run.group, run.policy) if several else ("", run.label)
            bins.setdefault(place, []).append(found)
            drawn.append(run.path)
    panels: dict[str, list[Curve]] = {}
    for (panel, name), parts in bins.items():
        panels.setdefault(panel, []).append((name, *thinned(*slower(*cumulative(pooled(parts))))))
    return panels


def cdf_of(inputs: Inputs, kind: str) -> Figure | None:
    """Distribution of the response times of reads or of writes."""
    drawn: list[Path] = []
    many = many_inputs(inputs)
    panels = curves_of_runs(inputs, kind, drawn)
    curves: list[Curve] = []
    number = aft.OPERATIONS.index(kind)
    for file in records_with_latency(inputs):
        chosen = file.column("lat_100ns")[file.operations() == number]
        if len(chosen):
            curves.append((file.path.stem, *slower(*quantile_curve(chosen / 10))))
            drawn.append(file.path)
    for log in inputs.logs:
        chosen = log.latencies_ns()[(log.operations() == number) & (log.column("error") == 0)]
        if len(chosen):
            curves.append((log.path.stem, *slower(*quantile_curve(chosen / 1000))))
            drawn.append(log.path)
    if curves:
        panels.setdefault("records" if "" not in panels and panels else "", []).extend(curves)
    every = [curve for found in panels.values() for curve in found]
    if not every:
        return None
    plots = [(name, Curves(TIME_LABEL, f"% of {kind}s that took longer", found,
                           log_x=no_zero(every), log_y=True, steps=True))
             for name, found in panels.items()]
    return Figure(f"cdf-{kind}", f"Response times of {kind}s, distribution",
                  f"How many of the {kind}s took longer, by powers of ten, so that the tail is "
                  "seen; a curve ends at its slowest. One further to the left is better." + (
                      f" All {many} inputs are taken together." if many else ""),
                  plots[0][1] if "" in panels else Panels(plots),
                  tuple(map(str, dict.fromkeys(drawn))))


REPLAYED = ("mean", "p50", "p99", "max")


def replay(inputs: Inputs) -> list[Figure]:
    """Latencies that a replay has measured, by operation and class."""
    found = []
    for one in inputs.replays:
        rows = [row for row in one.data.get("latency", ()) if row.get("requests")]
        names = [f"{row['op']} {row.get('class', '')}".strip() for row in rows]
        series = [(what, [row.get(f"{what}_ns", 0) / 1000 for row in rows]) for what in REPLAYED]
        if rows:
            found.append(Figure(
                "replay", f"Latencies of the replay, {one.label}",
                "How long replayed requests took, by operation and class of their data.",
                Bars(names, series, "us"), (str(one.path),)))
    if not found:
        raise Lacking("approxftl replay --json=FILE records it")
    return found


def lag_figure(log: aft.ReplayLog) -> Figure:
    """Show how late the requests of a replay began."""
    due, lags = log.column("due_ns"), log.lags_ns()
    edges = np.linspace(0, max(int(due.max()), 1), INTERVALS + 1)
    places = np.clip(np.digitize(due, edges) - 1, 0, INTERVALS - 1)
    worst = np.zeros(INTERVALS)
    np.maximum.at(worst, places, lags / 1000)
    used = np.bincount(places, minlength=INTERVALS) > 0
    return Figure("replay-lag", f"How late requests began, {log.label}",
                  "The latest request of each interval, behind its place in the schedule. "
                  "Lateness is the machine's, not the device's.",
                  Curves("s", "us late", [("latest", list(edges[:-1][used] / 1e9),
                                           list(worst[used]))], points=True), (str(log.path),))


def lag(inputs: Inputs) -> list[Figure]:
    """Show how well replays kept to their schedules."""
    found = [lag_figure(log) for log in inputs.logs if len(log.entries)]
    if not found:
        raise Lacking("approxftl replay --record LOG records it")
    return found


def cdf(inputs: Inputs) -> list[Figure]:
    """Distributions of response times."""
    found = [figure for kind in ("read", "write") if (figure := cdf_of(inputs, kind))]
    if not found:
        raise Lacking("approxftl sim --json=FILE --histogram records it, and so do a record file "
                      "of a capture and the log of a replay")
    return found
