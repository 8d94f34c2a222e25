# SPDX-License-Identifier: GPL-2.0-only
"""Figures of what LUNs and devices did when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from approxftl_tools.figure import Bars, Curves, Figure, Span, Spans
from approxftl_tools.figure_runs import Lacking, sources
from approxftl_tools.inputs import Inputs, Timeline

Json = dict[str, Any]

#: Operations that a timeline shows.
TIMELINE_SPANS = 1200


def lun_name(number: int | str) -> str:
    """Return what a LUN is called."""
    return f"LUN {number}"


def luns_of_runs(inputs: Inputs) -> list[Figure]:
    """Show how busy each LUN was."""
    counts = {len(run.data["luns"]["utilisation"]) for run in inputs.runs}
    if len(counts) != 1:
        return []
    series = [(run.label, [100 * share for share in run.data["luns"]["utilisation"]])
              for run in inputs.runs]
    return [Figure("luns", "LUNs at work", "How long each LUN was busy, as a share of the run.",
                   Bars([lun_name(i) for i in range(counts.pop())], series, "% of the time"),
                   sources(inputs.runs))]


def luns(inputs: Inputs) -> list[Figure]:
    """Work of each LUN."""
    found = luns_of_runs(inputs)
    for message in inputs.messages:
        if message.kind == "luns":
            busy = [int(row[row.index("busy_ns") + 1]) / 1e9 for row in message.rows]
            found.append(Figure("luns", f"LUNs at work, {message.label}",
                                "How long each LUN has been busy.",
                                Bars([lun_name(row[0]) for row in message.rows], [("busy", busy)],
                                     "s"),
                                (str(message.path),)))
    if not found:
        raise Lacking('approxftl sim --json FILE has it; a device answers approxftl message NAME '
                      '"luns"; runs must have the same number of LUNs')
    return found


def span_kind(event: Json) -> str:
    """Return what an operation is, for its colour."""
    operation = str(event["name"]).split()[0]
    return operation if event["cat"] == "host" else f"{operation} ({event['cat']})"


def span_order(events: Iterable[Json]) -> list[str]:
    """Return the kinds that occur, the same for all devices: the host's before others."""
    kinds_ = {span_kind(event) for event in events}
    operations = ("program", "read", "erase")
    return sorted(kinds_, key=lambda kind: ("(" in kind, kind.split("(")[-1],
                                            operations.index(kind.split()[0])))


def span_of(event: Json, begin: float, names: dict[int, int]) -> Span:
    """Return an operation on its lane."""
    where = event["args"]
    text = (f"{event['name']}, {event['cat']}, block {where['block']}, page {where['page']}"
            f"{', resumed' if where.get('resumed') else ''}")
    start = event["ts"] - begin
    return Span(names[event["tid"]], start, start + event["dur"], span_kind(event), text)


def named_events(timeline: Timeline, name: str) -> dict[tuple[int, int], str]:
    """Return names of processes or threads."""
    return {(event["pid"], event["tid"]): event["args"]["name"]
            for event in timeline.document["traceEvents"] if event.get("name") == name}


def window_us(lanes: Iterable[list[Json]]) -> float:
    """Return a time in which no device does more than can be drawn."""
    lengths = [events[min(TIMELINE_SPANS, len(events)) - 1]["ts"] - events[0]["ts"]
               for events in lanes]
    return float(min(lengths))


def left_out(timeline: Timeline, names: dict[tuple[int, int], str],
             devices: dict[int, list[Json]]) -> str:
    """Return what a timeline had no room for, which is of the last devices, not of each."""
    omitted = timeline.document.get("omitted_events", 0)
    end = " The run was interrupted." if timeline.document.get("interrupted") else ""
    if not omitted:
        return end
    lost = [name for (pid, _), name in names.items() if pid not in devices]
    cut = names.get((max(devices), 0), f"device {max(devices)}")
    return (f" {omitted} operations of {', '.join([cut, *lost])} were not recorded: the timeline "
            f"was full.{end}")


def timeline_figures(timeline: Timeline) -> list[Figure]:
    """One figure for each device."""
    devices: dict[int, list[Json]] = {}
    for event in timeline.document["traceEvents"]:
        if event.get("ph") == "X":
            devices.setdefault(event["pid"], []).append(event)
    for events in devices.values():
        events.sort(key=lambda event: event["ts"])
    window = window_us(devices.values()) if devices else 0
    order = span_order(event for events in devices.values() for event in events)
    policies_ = named_events(timeline, "process_name")
    threads = named_events(timeline, "thread_name")
    result = []
    for pid, events in devices.items():
        begin = events[0]["ts"]
        tids = sorted({tid for process, tid in threads if process == pid}
                      | {event["tid"] for event in events})
        lanes = {tid: i for i, tid in enumerate(tids)}
        spans = [span_of(event, begin, lanes) for event in events
                 if event["ts"] - begin <= window]
        name = policies_.get((pid, 0), f"device {pid}")
        rest = len(events) - len(spans)
        result.append(Figure(
            "timeline", f"What each LUN does, {name}",
            f"{len(spans)} operations from the begin of the timeline, a row for each LUN; colours "
            f"are operation and cause. {rest} later ones are in {timeline.path.name}, which "
            "ui.perfetto.dev opens." + left_out(timeline, policies_, devices),
            Spans("us", [threads.get((pid, tid), f"LUN {tid}") for tid in tids], order, spans),
            (str(timeline.path),)))
    return result


def timeline(inputs: Inputs) -> list[Figure]:
    """Operations of LUNs over time."""
    found = [figure for one in inputs.timelines for figure in timeline_figures(one)]
    if not found:
        raise Lacking("approxftl sim --timeline FILE records it")
    return found


def samples_figure(name: str, samples: Sequence[Json], source: str) -> list[Figure]:
    """Rates of a device from interval to interval."""
    at = list(accumulate(sample["interval_ns"] / 1e9 for sample in samples))

    def rate(key: str) -> list[float]:
        return [sample["block_layer"][key] / 2**20 / (sample["interval_ns"] / 1e9)
                for sample in samples]

    throughput = Figure(
        "device-throughput", f"Throughput over time, {name}",
        "What the block layer has read and written in each interval.",
        Curves("s", "MiB/s", [("read", at, rate("read_bytes")), ("write", at, rate("write_bytes"))],
               steps=True), (source,))
    written = [(t, sample["write_amplification"]) for t, sample in zip(at, samples, strict=True)
               if sample["counters"].get("host_write_units")]
    if not written:
        return [throughput]
    times, values = zip(*written, strict=True)
    return [throughput, Figure(
        "device-amplification", f"Write amplification over time, {name}",
        "Units programmed for each unit written, in each interval.",
        Curves("s", "write amplification", [("write amplification", times, values)], steps=True),
        (source,))]


def samples(inputs: Inputs) -> list[Figure]:
    """Devices from interval to interval."""
    found = [figure for device in inputs.devices if device.data.get("samples")
             for figure in samples_figure(device.label, device.data["samples"], str(device.path))]
    if not found:
        raise Lacking("approxftl stat NAME -i 1s -j records it")
    return found
