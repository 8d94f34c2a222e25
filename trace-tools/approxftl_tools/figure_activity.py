# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the activity of LUNs and devices over time."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from approxftl_tools.figure import (
    TIME_LABEL,
    Bars,
    Curves,
    Figure,
    Grid,
    Span,
    Spans,
    number_as_text,
)
from approxftl_tools.figure_runs import (
    count_workloads_beyond_panel_limit,
    list_policies_in_run_order,
    make_panel_plot,
    require_nonempty_figures,
    source_files_of_runs,
)
from approxftl_tools.inputs import Inputs, Run, Timeline

Json = dict[str, Any]

#: The number of operations that a timeline shows.
TIMELINE_SPANS = 1200


def name_of_lun(number: int | str) -> str:
    return f"LUN {number}"


def utilisation_of_runs(inputs: Inputs) -> list[Figure]:
    counts = {len(run.data["luns"]["utilisation"]) for run in inputs.runs}
    if len(counts) != 1:
        return []
    names = [name_of_lun(i) for i in range(counts.pop())]

    def lun_utilisation(runs: Sequence[Run]) -> list[float]:
        every = zip(*(run.data["luns"]["utilisation"] for run in runs), strict=True)
        return [100 * sum(values) / len(runs) for values in every]

    def utilisation_bars(found: Sequence[tuple[str, Sequence[Run]]]) -> Bars:
        return Bars(names, [(name, lun_utilisation(runs)) for name, runs in found], "% of the time")

    many = count_workloads_beyond_panel_limit(inputs)
    plot = utilisation_bars([(policy, [run for run in inputs.runs if run.policy == policy])
                             for policy in list_policies_in_run_order(inputs.runs)]) if many else \
        make_panel_plot(inputs, lambda runs, labels: utilisation_bars(
            [(label, [run]) for label, run in zip(labels, runs, strict=True)]))
    of = f", the mean of {many} inputs" if many else ""
    return [Figure("luns", "LUNs at work",
                   f"How long each LUN was busy, as a share of the run{of}.", plot,
                   source_files_of_runs(inputs.runs))]


def lun_figures(inputs: Inputs) -> list[Figure]:
    """Return figures of LUN utilisation in simulated runs and in devices' answers to "luns"."""
    found = utilisation_of_runs(inputs)
    for message in inputs.messages:
        if message.kind == "luns":
            busy = [int(row[row.index("busy_ns") + 1]) / 1e9 for row in message.rows]
            found.append(Figure("luns", f"LUNs at work, {message.label}",
                                "How long each LUN has been busy.",
                                Bars([name_of_lun(row[0]) for row in message.rows],
                                     [("busy", busy)], "s"),
                                (str(message.path),)))
    return require_nonempty_figures(found,
                                    'approxftl sim --json=FILE has it; a device answers approxftl '
                                    'message NAME "luns"; runs must have the same number of LUNs')


def operation_kind(event: Json) -> str:
    """Return the kind of an operation, which sets its colour."""
    operation = str(event["name"]).split()[0]
    return operation if event["cat"] == "host" else f"{operation} ({event['cat']})"


def sort_operations_host_first(events: Iterable[Json]) -> list[str]:
    """Return the kinds of operations that occur, in a fixed order, those of the host first."""
    kinds_ = {operation_kind(event) for event in events}
    operations = ("program", "read", "erase")
    return sorted(kinds_, key=lambda kind: ("(" in kind, kind.split("(")[-1],
                                            operations.index(kind.split()[0])))


def map_process_and_thread_ids_to_names(timeline: Timeline, name: str) -> dict[tuple[int, int],
                                                                               str]:
    """Return the names of processes or threads by (pid, tid)."""
    return {(event["pid"], event["tid"]): event["args"]["name"]
            for event in timeline.document["traceEvents"] if event.get("name") == name}


def first_shown_operation(events: Sequence[Json]) -> int:
    """Return the index of the operation that begins the garbage collection with most operations.

    The timeline is shown from there. A LUN's collection ends with its erase or with the timeline.
    """
    under_way: dict[int, list[int]] = {}
    largest: list[int] = []
    for i, event in enumerate(events):
        if event["cat"] == "gc":
            own = under_way.setdefault(event["tid"], [])
            own.append(i)
            if event["name"].startswith("erase"):
                del under_way[event["tid"]]
                largest = max(largest, own, key=len)
    largest = max(largest, *under_way.values(), [], key=len)
    return min(largest[0] if largest else 0, max(0, len(events) - TIMELINE_SPANS))


def describe_omitted_operations(timeline: Timeline, names: dict[tuple[int, int], str],
                                devices: dict[int, list[Json]]) -> str:
    """Return a sentence about operations that were not recorded because the timeline was full."""
    omitted = timeline.document.get("omitted_events", 0)
    end = " The run was interrupted." if timeline.document.get("interrupted") else ""
    if not omitted:
        return end
    lost = [name for (pid, _), name in names.items() if pid not in devices]
    cut = names.get((max(devices), 0), f"device {max(devices)}")
    return (f" {omitted} operations of {', '.join([cut, *lost])} were not recorded: the timeline "
            f"was full.{end}")


def timeline_figures(timeline: Timeline) -> list[Figure]:
    devices: dict[int, list[Json]] = {}
    for event in timeline.document["traceEvents"]:
        if event.get("ph") == "X":
            devices.setdefault(event["pid"], []).append(event)
    for events in devices.values():
        events.sort(key=lambda event: event["ts"])
    first = {pid: first_shown_operation(events) for pid, events in devices.items()}
    shown = [events[first[pid]:] for pid, events in devices.items()]
    # The length (us) in which each device's operations can be drawn.
    window = min((one[min(TIMELINE_SPANS, len(one)) - 1]["ts"] - one[0]["ts"] for one in shown),
                 default=0)
    order = sort_operations_host_first(event for events in devices.values() for event in events)
    policies_ = map_process_and_thread_ids_to_names(timeline, "process_name")
    threads = map_process_and_thread_ids_to_names(timeline, "thread_name")
    result = []
    for pid, events in devices.items():
        begin = events[first[pid]]["ts"]
        tids = sorted({tid for process, tid in threads if process == pid}
                      | {event["tid"] for event in events})
        lanes = {tid: i for i, tid in enumerate(tids)}
        spans = []
        for event in events[first[pid]:]:
            start, where = event["ts"] - begin, event["args"]
            if start <= window:
                spans.append(Span(
                    lanes[event["tid"]], start, start + event["dur"], operation_kind(event),
                    f"{event['name']}, {event['cat']}, block {where['block']}, page "
                    f"{where['page']}{', resumed' if where.get('resumed') else ''}"))
        name = policies_.get((pid, 0), f"device {pid}")
        rest = len(events) - len(spans)
        result.append(Figure(
            "timeline", f"What each LUN does, {name}",
            f"{len(spans)} operations from where the largest collection begins, or from the begin "
            f"if there is none, a row for each LUN; 0 is {(begin - events[0]['ts']) / 1000:.3f} ms "
            f"after the begin; colours are operation and cause. {rest} more are in "
            f"{timeline.path.name}, which ui.perfetto.dev opens."
            + describe_omitted_operations(timeline, policies_, devices),
            Spans("us", [threads.get((pid, tid), f"LUN {tid}") for tid in tids], order, spans),
            (str(timeline.path),), name))
    return result


def timeline_of_luns(inputs: Inputs) -> list[Figure]:
    """Return figures of the operations of LUNs over time."""
    found = [figure for one in inputs.timelines for figure in timeline_figures(one)]
    return require_nonempty_figures(found, "approxftl sim --timeline FILE records it")


def device_rate_figures(name: str, samples: Sequence[Json], source: str) -> list[Figure]:
    """Return figures of a device's throughput and write amplification in each interval."""
    at = list(accumulate(sample["interval_ns"] / 1e9 for sample in samples))

    def rates_by_interval(key: str) -> list[float]:
        return [sample["block_layer"][key] / 2**20 / (sample["interval_ns"] / 1e9)
                for sample in samples]

    throughput = Figure(
        "device-throughput", f"Throughput over time, {name}",
        "What the block layer has read and written in each interval.",
        Curves("s", "MiB/s",
               [("read", at, rates_by_interval("read_bytes")),
                ("write", at, rates_by_interval("write_bytes"))],
               steps=True), (source,))
    written = make_curve_without_missing_values("write amplification", at,
                                                [sample["write_amplification"]
                                                 if sample["counters"].get("host_write_units")
                                                 else None for sample in samples])
    amplification = Figure(
        "device-amplification", f"Write amplification over time, {name}",
        "Units programmed for each unit written, in each interval.",
        Curves("s", "write amplification", written, steps=True), (source,))
    found = [throughput, *([amplification] if written else []),
             *make_response_figures_by_interval(name, at, samples, source)]
    if samples and all(sample.get("luns") for sample in samples):
        found.append(lun_utilisation_by_interval(name, at, samples, source))
    return found


Curve = tuple[str, Sequence[float], Sequence[float]]


def make_curve_without_missing_values(name: str, at: Sequence[float],
                                      values: Sequence[float | None]) -> list[Curve]:
    """Return a list with the curve of the known values; an empty list if all values are None."""
    there = [(t, value) for t, value in zip(at, values, strict=True) if value is not None]
    return [(name, [t for t, _ in there], [value for _, value in there])] if there else []


def make_response_figures_by_interval(name: str, at: Sequence[float], samples: Sequence[Json],
                                      source: str) -> list[Figure]:
    """Return figures of response times and lateness in each interval."""
    def response_times_by_interval(kind: str) -> list[float | None]:
        layers = [sample["block_layer"] for sample in samples]
        return [1e3 * layer[f"{kind}_response_ms"] / layer[f"{kind}_requests"]
                if layer.get(f"{kind}_requests") else None for layer in layers]

    late = [sample["late"]["p99_ns"] / 1e3 if sample.get("late", {}).get("count") else None
            for sample in samples]
    curves = [*make_curve_without_missing_values("read, mean", at,
                                                 response_times_by_interval("read")),
              *make_curve_without_missing_values("write, mean", at,
                                                 response_times_by_interval("write")),
              *make_curve_without_missing_values("late, p99", at, late)]
    return [Figure(
        "device-response", f"Response times over time, {name}",
        "Mean response times as the block layer counts them, and how much later than the model's "
        "time requests were handed back: a machine is too slow for a device whose lateness is not "
        "small beside its response times.",
        Curves("s", TIME_LABEL, curves, steps=True), (source,))] if curves else []


def lun_utilisation_by_interval(name: str, at: Sequence[float], samples: Sequence[Json],
                                source: str) -> Figure:
    count = min(len(sample["luns"]) for sample in samples)
    cells = [[min(100.0, 100 * sample["luns"][i]["busy_ns"] / sample["device_interval_ns"])
              if sample["device_interval_ns"] else 0.0 for sample in samples]
             for i in range(count)]
    return Figure(
        "device-luns", f"LUNs at work over time, {name}",
        "How long each LUN was busy, as a share of the device's time.",
        Grid("", "s", [name_of_lun(i) for i in range(count)], [number_as_text(t, 6) for t in at],
             cells, "% of the time"), (source,))


def make_device_rate_figures_by_interval(inputs: Inputs) -> list[Figure]:
    found = [figure for device in inputs.devices if device.data.get("samples")
             for figure in device_rate_figures(device.label, device.data["samples"],
                                               str(device.path))]
    return require_nonempty_figures(found, "approxftl stat NAME -i 1s -j records it")
