# SPDX-License-Identifier: GPL-2.0-only
"""Figures of response times, and of the lateness of replays."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from approxftl_tools import aft
from approxftl_tools.arrays import np
from approxftl_tools.figure import TIME_LABEL, Bars, Curves, Figure, Panels
from approxftl_tools.figure_runs import (
    Lacking,
    count_workloads_beyond_panel_limit,
    do_inputs_compare_policies,
    estimate_ratio_of_two_runs,
    first_run_of_policy,
    list_group_names_of_runs,
    list_policies_in_run_order,
    mean_of_measure,
    merge_histogram_bins,
    require_nonempty_figures,
    require_runs,
    source_files_of_runs,
)
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import BY_KEY, get_json_value_at_key_path

#: Time intervals of a replay; each shows its latest request.
INTERVALS = 120
#: Points of the latency distribution of a record file.
QUANTILES = 400

RESPONSES = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
             "write_response_p99_ns")


#: Response times of writes by the class of their data.
CLASS_RESPONSES = ("write_precise_response_mean_ns", "write_precise_response_p99_ns",
                   "write_approx_response_mean_ns", "write_approx_response_p99_ns")


def mean_ratio_of_two_runs(run: Run, yardstick: Run, key: str) -> float | None:
    found = estimate_ratio_of_two_runs(run, yardstick, key)
    return found.mean if found else None


def choose_title_of_response_time(key: str) -> str:
    """Return the title of a response time, without "write response" if it is of a data class."""
    title = BY_KEY[key].title
    return title.removeprefix("write response, ") if key in CLASS_RESPONSES else title


def make_response_bars_per_run(runs: Sequence[Run], name: str, title: str,
                               responses: Sequence[str]) -> list[Figure]:
    """Return a bar plot of response times: a category for each measure, a series for each run."""
    keys = [key for key in responses if any(mean_of_measure(run, key) is not None for run in runs)]
    columns = {key: [mean_ratio_of_two_runs(run, runs[0], key) for run in runs] for key in keys}
    series = [(run.label, [columns[key][i] for key in keys]) for i, run in enumerate(runs)]
    labels = {run.label for run in runs}
    inputs = [one for one in list_group_names_of_runs(runs) if one not in labels]
    return [Figure(
        name, ", ".join([f"{title} relative to {runs[0].label}", *inputs]),
        f"Response times of requests relative to {runs[0].label}. Shorter is better; "
        "the line is at 1.",
        Bars([choose_title_of_response_time(key) for key in keys], series,
             f"times that of {runs[0].label}",
             mark=1.0),
        source_files_of_runs(runs))] if keys else []


def make_response_bars_per_workload(inputs: Inputs, name: str, title: str, responses: Sequence[str]
                                    ) -> list[Figure]:
    """Return a bar plot with a panel for each measure of response time, and bars by workload."""
    names = inputs.list_run_groups()
    panels = []
    for key in responses:
        series = []
        for policy in list_policies_in_run_order(inputs.runs):
            values = []
            for group in map(inputs.list_runs_in_group, names):
                run = first_run_of_policy(group, policy)
                values.append(mean_ratio_of_two_runs(run, group[0], key) if run else None)
            series.append((policy, values))
        if any(value is not None for _, values in series for value in values):
            panels.append((choose_title_of_response_time(key),
                           Bars(names, series, "times that of the first", mark=1.0)))
    return [Figure(name, f"{title}, by input",
                   "Each group of bars is one input, relative to its first policy. Shorter is "
                   "better; the line is at 1.", Panels(panels),
                   source_files_of_runs(inputs.runs))] \
        if panels else []


def make_response_ratio_figures(inputs: Inputs, name: str, title: str, keys: Sequence[str],
                                lacking: str) -> list[Figure]:
    """Return figures of response times relative to the first run."""
    runs = require_runs(inputs)
    found = (make_response_bars_per_workload(inputs, name, title, keys)
             if do_inputs_compare_policies(inputs)
             else make_response_bars_per_run(runs, name, title, keys))
    return require_nonempty_figures(found, lacking)


def make_response_figures_of_all_requests(inputs: Inputs) -> list[Figure]:
    return make_response_ratio_figures(inputs, "response", "Response times", RESPONSES,
                                       "no run has completed a read or a write")


def response_times_by_class(inputs: Inputs) -> list[Figure]:
    """Return figures of relative response times of writes by the class of their data."""
    lacking = "no approximate data were written; --approx-share above 0 does it"
    if all(mean_of_measure(run, CLASS_RESPONSES[-1]) is None for run in require_runs(inputs)):
        raise Lacking(lacking)
    return make_response_ratio_figures(inputs, "class-response",
                                       "Response times of writes by class",
                                       CLASS_RESPONSES, lacking)


def cumulative_percentages(bins: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Return response times (us) and the cumulative percentage of requests, starting at 0."""
    total = sum(count for _, count in bins)
    below = list(accumulate(count for _, count in bins))
    times = [top / 1000 for top, _ in bins]
    return [times[0], *times], [0.0, *(100 * count / total for count in below)]


def select_records_with_latency(inputs: Inputs) -> list[aft.RecordFile]:
    return [file for file in inputs.records if len(file.records)
            and file.get_record_column("lat_100ns").any()]


def quantile_curve(times_us: Any) -> tuple[list[float], list[float]]:
    """Return response times and percentages of requests at evenly spaced quantiles."""
    shares = np.linspace(0, 100, QUANTILES + 1)
    return list(np.percentile(times_us, shares)), list(shares)


def compute_percentages_of_slower_requests(times_us: Sequence[float], shares: Sequence[float]
                                           ) -> tuple[list[float], list[float]]:
    """Return response times and the percentages of slower requests, up to the slowest request."""
    left = [100 - share for share in shares]
    return list(times_us), [*left[:-1], left[-2]]


Curve = tuple[str, Sequence[float], Sequence[float]]


def simplify_curve(times_us: list[float], shares: list[float]) -> tuple[list[float], list[float]]:
    """Return a distribution's curve with fewer points, if it has more than a drawing can show."""
    if len(shares) <= QUANTILES:
        return times_us, shares
    # Half of the points are spaced evenly by height on the log scale, so that the tail is smooth.
    heights = np.log10(np.maximum(shares, 1e-12))
    lengths = np.concatenate([[0], np.cumsum(np.abs(np.diff(heights)))])
    by_height = np.searchsorted(lengths, np.linspace(0, lengths[-1], QUANTILES // 2))
    by_place = np.linspace(0, len(shares) - 1, QUANTILES // 2).astype(int)
    kept = np.unique(np.concatenate([by_height, by_place]))
    return [times_us[i] for i in kept], [shares[i] for i in kept]


def make_response_curves_by_panel(inputs: Inputs, kind: str,
                                  drawn: list[Path]) -> dict[str, list[Curve]]:
    """Return response time curves by panel; with many workloads, one curve for each policy."""
    several, many = do_inputs_compare_policies(inputs), count_workloads_beyond_panel_limit(inputs)
    bins: dict[tuple[str, str], list[Sequence[Sequence[float]]]] = {}
    for run in inputs.runs:
        found = get_json_value_at_key_path(run.data, "timing", f"{kind}_response", "bins")
        if found:
            place = ("" if many else run.group, run.policy) if several else ("", run.label)
            bins.setdefault(place, []).append(found)
            drawn.append(run.path)
    panels: dict[str, list[Curve]] = {}
    for (panel, name), parts in bins.items():
        percentages = cumulative_percentages(merge_histogram_bins(parts))
        shares = compute_percentages_of_slower_requests(*percentages)
        panels.setdefault(panel, []).append((name, *simplify_curve(*shares)))
    return panels


def make_response_distribution_figure(inputs: Inputs, kind: str) -> Figure | None:
    drawn: list[Path] = []
    many = count_workloads_beyond_panel_limit(inputs)
    panels = make_response_curves_by_panel(inputs, kind, drawn)
    curves: list[Curve] = []
    number = aft.OPERATIONS.index(kind)
    for file in select_records_with_latency(inputs):
        chosen = file.get_record_column("lat_100ns")[file.get_operation_codes_of_records()
                                                     == number]
        if len(chosen):
            curves.append((file.path.stem,
                           *compute_percentages_of_slower_requests(*quantile_curve(chosen / 10))))
            drawn.append(file.path)
    for log in inputs.logs:
        chosen = log.compute_request_latencies_ns()[(log.get_operation_codes_of_records() == number)
                                                    & (log.get_log_column("error") == 0)]
        if len(chosen):
            curves.append((log.path.stem,
                           *compute_percentages_of_slower_requests(*quantile_curve(chosen
                                                                                   / 1000))))
            drawn.append(log.path)
    if curves:
        panels.setdefault("records" if "" not in panels and panels else "", []).extend(curves)
    every = [curve for found in panels.values() for curve in found]
    if not every:
        return None
    # A logarithmic axis has no place for a time of 0, which buffered requests may take.
    log_x = all(x > 0 for _, xs, _ in every for x in xs)
    plots = [(name, Curves(TIME_LABEL, f"% of {kind}s that took longer", found, log_x=log_x,
                           log_y=True, steps=True))
             for name, found in panels.items()]
    return Figure(f"cdf-{kind}", f"Response times of {kind}s, distribution",
                  f"How many of the {kind}s took longer, by powers of ten, so that the tail is "
                  "seen; a curve ends at its slowest. One further to the left is better." + (
                      f" All {many} inputs are taken together." if many else ""),
                  plots[0][1] if "" in panels else Panels(plots),
                  tuple(map(str, dict.fromkeys(drawn))))


REPLAYED = ("mean", "p50", "p99", "max")


def make_replay_latency_figures(inputs: Inputs) -> list[Figure]:
    """Return figures of the latencies that a replay measured, by operation and class."""
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
    return require_nonempty_figures(found, "approxftl replay --json=FILE records it")


def make_replay_lag_figure(log: aft.ReplayLog) -> Figure:
    """Return a figure of the lateness of a replay's requests."""
    due, lags = log.get_log_column("due_ns"), log.compute_submission_lags_ns()
    edges = np.linspace(0, max(int(due.max()), 1), INTERVALS + 1)
    places = np.clip(np.digitize(due, edges) - 1, 0, INTERVALS - 1)
    worst = np.zeros(INTERVALS)
    np.maximum.at(worst, places, lags / 1000)
    used = np.bincount(places, minlength=INTERVALS) > 0
    return Figure("replay-lag", f"How late requests began, {log.file_label}",
                  "The latest request of each interval, behind its place in the schedule. "
                  "Lateness is the machine's, not the device's.",
                  Curves("s", "us late", [("latest", list(edges[:-1][used] / 1e9),
                                           list(worst[used]))], points=True), (str(log.path),))


def make_figures_of_replay_lateness(inputs: Inputs) -> list[Figure]:
    found = [make_replay_lag_figure(log) for log in inputs.logs if len(log.entries)]
    return require_nonempty_figures(found, "approxftl replay --record LOG records it")


def make_response_distribution_figures(inputs: Inputs) -> list[Figure]:
    """Return figures of response time distributions."""
    found = [figure for kind in ("read", "write")
             if (figure := make_response_distribution_figure(inputs, kind))]
    return require_nonempty_figures(found,
                                    "approxftl sim --json=FILE --histogram records it, and so do a "
                                    "record file of a capture and the log of a replay")
