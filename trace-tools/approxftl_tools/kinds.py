# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of figure: from what was read to what is shown.

Each kind looks at the inputs and returns its figures, or says what would have to be recorded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from approxftl_tools import aft
from approxftl_tools.figure import TIME_LABEL, Bars, Cell, Curves, Figure, Grid, Span, Spans
from approxftl_tools.inputs import Inputs, Message, Run, Timeline
from approxftl_tools.measures import BY_KEY, error_rate, factor, look, measured

Json = dict[str, Any]

#: Columns of a map; more blocks than that share one.
MAP_COLUMNS = 128
#: Operations that a timeline shows.
TIMELINE_SPANS = 1200
#: Intervals in which the requests of a record file are counted.
INTERVALS = 120
#: Rows of addresses in the map of a record file.
ADDRESS_ROWS = 32
#: Points of the distribution of a record file's latencies.
QUANTILES = 400


class Lacking(Exception):  # noqa: N818
    """There is nothing to draw; the text says what would record it."""


@dataclass(frozen=True)
class Kind:
    """A kind of figure."""

    name: str
    title: str
    draw: Callable[[Inputs], list[Figure]]


def sources(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return the files that runs are from."""
    return tuple(dict.fromkeys(str(run.path) for run in runs))


def runs_of(inputs: Inputs) -> list[Run]:
    """Return the runs, of which there must be one."""
    if not inputs.runs:
        raise Lacking("a result of approxftl sim --json FILE has it")
    return inputs.runs


def value_of(run: Run, key: str) -> float | None:
    """Return a measure of a run."""
    return measured(run.data, run.geometry.get("unit_bytes"))[key]


# ---------------------------------------------------------------- response times

RESPONSES = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
             "write_response_p99_ns")


#: The same of writes by the class of their data.
CLASS_RESPONSES = ("write_precise_response_mean_ns", "write_precise_response_p99_ns",
                   "write_approx_response_mean_ns", "write_approx_response_p99_ns")


def policies(runs: Sequence[Run]) -> list[str]:
    """Return the policies in the order of their first appearance."""
    return list(dict.fromkeys(run.policy for run in runs))


def of_policy(runs: Iterable[Run], policy: str) -> Run | None:
    """Return the first run of a policy."""
    return next((run for run in runs if run.policy == policy), None)


def normalised(runs: Sequence[Run], key: str) -> list[tuple[str, float | None]]:
    """Return a measure relative to the first run."""
    base = value_of(runs[0], key)
    return [(run.label, factor(value_of(run, key), base)) for run in runs]


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


def groups_of(runs: Sequence[Run]) -> list[str]:
    """Return the inputs of runs."""
    return list(dict.fromkeys(run.group for run in runs))


def responses_of_groups(inputs: Inputs) -> list[Figure]:
    """One figure for each kind of time, bars by workload, as papers have them."""
    result = []
    names = inputs.groups()
    for key in RESPONSES:
        series = []
        for policy in policies(inputs.runs):
            values = []
            for name in names:
                group = inputs.group(name)
                run = of_policy(group, policy)
                base = value_of(group[0], key)
                values.append(factor(value_of(run, key), base) if run else None)
            series.append((policy, values))
        if any(value is not None for _, values in series for value in values):
            result.append(Figure(
                f"response-{key.removesuffix('_ns').replace('_', '-')}",
                f"{BY_KEY[key].title.capitalize()}, by input",
                "Each group of bars is one input, relative to its first policy. Shorter is "
                "better; the line is at 1.",
                Bars(names, series, "times that of the first", mark=1.0), sources(inputs.runs)))
    return result


def several_policies(inputs: Inputs) -> bool:
    """Tell whether inputs are workloads that several policies ran."""
    groups = [inputs.group(name) for name in inputs.groups()]
    return len(groups) > 1 and any(len(group) > 1 for group in groups)


def response(inputs: Inputs) -> list[Figure]:
    """Normalised response times."""
    runs = runs_of(inputs)
    if several_policies(inputs):
        return responses_of_groups(inputs)
    found = responses_of_group(runs, "response", "Response times", RESPONSES)
    if not found:
        raise Lacking("no run has completed a read or a write")
    return found


def class_response(inputs: Inputs) -> list[Figure]:
    """Normalised response times of writes by the class of their data, a figure for each input."""
    runs = runs_of(inputs)
    groups = [inputs.group(name) for name in inputs.groups()] if several_policies(inputs) else \
        [runs]
    found = [figure for group in groups
             if any(value_of(run, CLASS_RESPONSES[-1]) is not None for run in group)
             for figure in responses_of_group(group, "class-response",
                                              "Response times of writes by class",
                                              CLASS_RESPONSES)]
    if not found:
        raise Lacking("no approximate data were written; --approx-share above 0 does it")
    return found


def cumulative(bins: Sequence[Sequence[int]]) -> tuple[list[float], list[float]]:
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


def cdf_of(inputs: Inputs, kind: str) -> Figure | None:
    """Distribution of the response times of reads or of writes."""
    curves, drawn = [], []
    for run in inputs.runs:
        bins = look(run.data, "timing", f"{kind}_response", "bins")
        if bins:
            curves.append((run.label, *cumulative(bins)))
            drawn.append(run.path)
    number = aft.OPERATIONS.index(kind)
    for file in records_with_latency(inputs):
        chosen = file.column("lat_100ns")[file.operations() == number]
        if len(chosen):
            curves.append((file.path.stem, *quantile_curve(chosen / 10)))
            drawn.append(file.path)
    for log in inputs.logs:
        chosen = log.latencies_ns()[(log.operations() == number) & (log.column("error") == 0)]
        if len(chosen):
            curves.append((log.path.stem, *quantile_curve(chosen / 1000)))
            drawn.append(log.path)
    if not curves:
        return None
    return Figure(f"cdf-{kind}", f"Response times of {kind}s, distribution",
                  f"How many of the {kind}s took at most so long. A curve further to the left "
                  "is better.",
                  Curves(TIME_LABEL, f"% of {kind}s", curves, log_x=no_zero(curves), steps=True),
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
        raise Lacking("approxftl replay --json FILE records it")
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
        raise Lacking("approxftl sim --json FILE --histogram records it, and so do a record file "
                      "of a capture and the log of a replay")
    return found


# ---------------------------------------------------------------- shares and sums


def stacked(runs: Sequence[Run], parts: Callable[[Run], dict[str, float]], name: str, title: str,
            description: str, unit: str, shares: bool) -> list[Figure]:
    """One bar for each run, made of parts."""
    tables = [parts(run) for run in runs]
    keys = list(dict.fromkeys(key for table in tables for key in table))
    keys = [key for key in keys if any(table.get(key) for table in tables)]
    if not keys:
        return []
    series = []
    for key in keys:
        values = []
        for table in tables:
            total = sum(table.values()) if shares else 1
            values.append((100 if shares else 1) * table.get(key, 0) / total if total else None)
        series.append((key.replace("_", " "), values))
    return [Figure(name, title, description, Bars([run.label for run in runs], series, unit,
                                                  stacked=True), sources(runs))]


def kinds(inputs: Inputs) -> list[Figure]:
    """Shares of block kinds."""
    found = stacked(
        runs_of(inputs),
        lambda run: {name: count["pages"] for name, count in run.data["block_kinds"].items()},
        "block-kinds", "Kinds of blocks",
        "What the filled blocks of each run were, as shares of their pages.", "% of pages", True)
    if not found:
        raise Lacking("no block has been filled; more --requests fill some")
    return found


def modes(inputs: Inputs) -> list[Figure]:
    """Shares of program modes."""
    found = stacked(runs_of(inputs), lambda run: run.data["mode_pages"], "modes",
                    "Program modes",
                    "How pages were programmed, as shares of all programmed pages.",
                    "% of pages", True)
    if not found:
        raise Lacking("no page has been programmed; more writes do it")
    return found


def energy(inputs: Inputs) -> list[Figure]:
    """Energy by operation, relative to the first run."""
    runs = runs_of(inputs)
    base = value_of(runs[0], "energy_total_pj")
    if not base:
        raise Lacking("the first run has used no energy")
    return stacked(
        runs,
        lambda run: {what: run.data["energy"][f"{what}_pj"] / base
                     for what in ("program", "erase", "read")},
        "energy", "Energy",
        f"Energy of the flash by operation, relative to all of {runs[0].label}. "
        "Less is better.", f"times that of {runs[0].label}", False)


CAUSES = ("host", "gc", "wear", "refresh", "promotion", "rewrite", "retire", "fold",
          "padding")


def waf(inputs: Inputs) -> list[Figure]:
    """Write amplification by cause."""
    found = stacked(
        runs_of(inputs),
        lambda run: {cause: run.data["write_amplification"].get(cause, 0) for cause in CAUSES},
        "write-amplification", "Write amplification",
        "Units programmed for each unit that the host wrote, by cause. Less is better.",
        "units programmed per unit written", False)
    if not found:
        raise Lacking("nothing was written")
    return found


def quality(inputs: Inputs) -> list[Figure]:
    """Bit error rates of approximate data."""
    runs = runs_of(inputs)
    rates = []
    for run in runs:
        unit_bytes = run.geometry.get("unit_bytes")
        rates.append(error_rate({**run.data, "unit_bits": 8 * unit_bytes if unit_bytes else None}))
    if all(rate is None for rate in rates):
        raise Lacking("no approximate data was read; --approx-share above 0 with reads does it")
    return [Figure("quality", "Bit error rate of approximate data",
                   "Bits that came back wrong, of all bits of approximate data that were read.",
                   Bars([run.label for run in runs], [("bit error rate", rates)], "bits per bit"),
                   sources(runs))]


# ---------------------------------------------------------------- wear


def lifetime(inputs: Inputs) -> list[Figure]:
    """Wear of a block."""
    runs = runs_of(inputs)
    kinds_ = ("min", "mean", "max")
    series = [(what, [run.data["blocks"]["wear"][what] for run in runs]) for what in kinds_]
    if not any(value for _, values in series for value in values):
        raise Lacking("no block has been erased; --fill random, or more writes, does it")
    return [Figure("wear", "Wear of blocks",
                   "Least, mean and most wear of a block, in full erases. Less, and less spread, "
                   "is better.",
                   Bars([run.label for run in runs], series, "full erases"), sources(runs))]


def binned(values: Sequence[float], columns: int) -> list[float]:
    """Return means of equal stretches."""
    ends = [len(values) * i // columns for i in range(columns + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]


def lun_grid(values: Sequence[float], per_lun: int, value_label: str) -> Grid:
    """Return a row for each LUN."""
    columns = min(per_lun, MAP_COLUMNS)
    firsts = [per_lun * i // columns for i in range(columns)]
    rows = [binned(values[i:i + per_lun], columns) for i in range(0, len(values), per_lun)]
    label = "block of the LUN" if columns == per_lun else "first of the blocks of the LUN"
    return Grid("LUN", label, [str(i) for i in range(len(rows))], [str(i) for i in firsts], rows,
                value_label)


def wear_of_runs(inputs: Inputs) -> list[Figure]:
    """Wear maps of what the simulator has run."""
    result = []
    for run in inputs.runs:
        table = run.data.get("block_table")
        if table:
            grid = lun_grid(table["wear"], run.geometry["blocks_per_lun"], "full erases")
            result.append(Figure(
                "wear-map", f"Wear of each block, {run.label}",
                "Wear in full erases, a row for each LUN, blocks from left to right. Even "
                "colour is even wear.", grid, (str(run.path),)))
    return result


def answer(inputs: Inputs, kind: str) -> Message | None:
    """Return the first answer to a message."""
    return next((message for message in inputs.messages if message.kind == kind), None)


def wear_of_devices(inputs: Inputs) -> list[Figure]:
    """Wear maps of devices; the answer to luns says how long the rows are."""
    result = []
    luns = answer(inputs, "luns")
    for message in inputs.messages:
        if message.kind == "blocks":
            wear = [int(row[4]) / 10000 for row in message.rows if row[0] != "next"]
            even = luns is not None and len(wear) % len(luns.rows) == 0
            per_lun = len(wear) // len(luns.rows) if luns and even else len(wear)
            result.append(Figure(
                "wear-map", f"Wear of each block, {message.label}",
                "Wear in full erases, a row for each LUN, blocks from left to right. Even "
                "colour is even wear." + ("" if even else
                                          " Without the answer to luns there is one row."),
                lun_grid(wear, per_lun, "full erases"), (str(message.path),)))
    return result


def wear_map(inputs: Inputs) -> list[Figure]:
    """Wear of each block."""
    found = wear_of_runs(inputs) + wear_of_devices(inputs)
    if not found:
        raise Lacking("approxftl sim --json FILE --block-table records it; a device answers "
                      'approxftl message NAME "blocks FIRST COUNT"')
    return found


# ---------------------------------------------------------------- the inside of a block


def page_word(class_: str | None, mode: str | None, valid: int) -> str:
    """Return what a page is."""
    if class_ is None:
        return "erased"
    return f"{class_}, {mode}" if valid else f"stale {class_}"


def words_of(page_map: Json) -> list[str]:
    """Return what the pages of a block are."""
    return [page_word(*triple) for triple in zip(page_map["class"], page_map["mode"],
                                                 page_map["valid_units"], strict=True)]


def word_order(page_maps: Iterable[Json]) -> list[str]:
    """Return the words that occur, the same for all blocks: current ones, stale ones, erased."""
    words = {word for page_map in page_maps for word in words_of(page_map)}
    return sorted(words, key=lambda w: (w == "erased", w.startswith("stale"), w))


def shaped(values: Sequence[Cell], row: int) -> list[list[Cell]]:
    """Return rows of so many cells, the last layer on top as in a drawing of a block."""
    return [list(values[i:i + row]) for i in range(0, len(values), row)][::-1]


def layer_grid(values: Sequence[Cell], row: int, value_label: str,
               words: Sequence[str] = ()) -> Grid:
    """Return a row for each layer."""
    layers = -(-len(values) // row)
    padded = [*values, *[None] * (layers * row - len(values))]
    return Grid("layer", "page of the layer", [str(i) for i in range(layers)][::-1],
                [str(i) for i in range(row)], shaped(padded, row), value_label, words)


def age_sentence(ages: set[int]) -> str:
    """Return what there is to say of ages when a figure would be of one colour."""
    return f" All were programmed {ages.pop()} hours ago." if len(ages) == 1 else ""


def page_figures(name: str, page_map: Json, row: int, order: Sequence[str],
                 source: str) -> list[Figure]:
    """Show class and mode of each page, and their ages if they differ."""
    ages = page_map.get("age_hours") or []
    different = {age for age in ages if age is not None}
    what = f"block {page_map['block']}".strip()
    what += f" ({page_map['kind']})" if page_map["kind"] else ""
    title = f"{what[0].upper()}{what[1:]}, {name}"
    result = [Figure(
        "page-map", f"{title}: pages",
        "Class and program mode of each page, a row for each layer, the last layer on top. "
        f"Stale pages have been overwritten elsewhere.{age_sentence(set(different))}",
        layer_grid(words_of(page_map), row, "page", order), (source,))]
    if len(different) > 1:
        result.append(Figure(
            "page-age", f"{title}: age",
            "Hours since each page was programmed, a row for each layer, the last layer on top.",
            layer_grid(ages, row, "hours"), (source,)))
    return result


def layer_pages(geometry: Json) -> int:
    """Return the pages of a layer."""
    return int(geometry["word_lines_per_layer"] * geometry["pages_per_word_line"])


MODES = ("normal", "reduced", "between", "after", "coarse", "fine", "follower", "mlc", "slc",
         "tlc", "foggy")
CLASSES = ("precise", "approximate")


def answered_pages(message: Message, pages: int) -> Json:
    """Return the answer to the message block as the simulator has it."""
    number = re.search(r"\d+", message.label)
    result: Json = {"block": number[0] if number else "", "kind": "", "class": [None] * pages,
                    "mode": [None] * pages, "valid_units": [0] * pages}
    for row in message.rows:
        if row[0] == "kind":
            result["kind"] = row[1]
        elif row[0] == "page":
            page = int(row[1])
            result["class"][page] = CLASSES[int(row[3])]
            result["mode"][page] = MODES[int(row[5])]
            result["valid_units"][page] = int(row[7])
    return result


def maps_of_devices(inputs: Inputs) -> list[Figure]:
    """Page maps from answers of devices; a simulated twin says how large a layer is."""
    result = []
    for message in inputs.messages:
        numbers = [int(row[1]) for row in message.rows if row[0] == "page"]
        if message.kind == "block" and numbers:
            shape = inputs.runs[0].geometry if inputs.runs else None
            row = layer_pages(shape) if shape else 16
            pages = max(numbers[-1] + 1, shape["pages_per_block"] if shape else 0)
            pages_ = answered_pages(message, pages)
            result += page_figures(message.path.name, pages_, row, word_order([pages_]),
                                   str(message.path))
    return result


def page_map(inputs: Inputs) -> list[Figure]:
    """Show the inside of blocks."""
    found: list[Figure] = []
    order = word_order(one for run in inputs.runs for one in run.data.get("page_maps", ()))
    for run in inputs.runs:
        for one in run.data.get("page_maps", ()):
            found += page_figures(run.label, one, layer_pages(run.geometry), order,
                                  str(run.path))
    found += maps_of_devices(inputs)
    if not found:
        raise Lacking("approxftl sim --json FILE --page-map auto records it; a device answers "
                      'approxftl message NAME "block 0"')
    return found


# ---------------------------------------------------------------- LUNs and time


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


# ---------------------------------------------------------------- devices over time


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


# ---------------------------------------------------------------- record files


def rate_figure(file: aft.RecordFile) -> Figure:
    """Requests over time."""
    t_ns, operations = file.column("t_ns"), file.operations()
    end = max(int(t_ns.max()), 1)
    edges = np.linspace(0, end, INTERVALS + 1)
    seconds = (edges[1:] - edges[:-1]) / 1e9
    curves = []
    for number, name in enumerate(aft.OPERATIONS):
        counts, _ = np.histogram(t_ns[operations == number], edges)
        if counts.any():
            curves.append((name.replace("_", " "), list(edges[:-1] / 1e9), list(counts / seconds)))
    return Figure("record-rate", f"Requests over time, {file.label}",
                  "Requests in a second, by operation.",
                  Curves("s", "requests/s", curves, steps=True), (str(file.path),))


def address_figure(file: aft.RecordFile) -> Figure:
    """Where requests go, and when."""
    t_ns, sectors = file.column("t_ns"), file.column("off_sect")
    moves = np.isin(file.operations(), (0, 1))
    top = max(int(sectors[moves].max()) + 1, file.device_bytes // aft.SECTOR)
    end = max(int(t_ns[moves].max()), 1)
    counts, rows, columns = np.histogram2d(
        sectors[moves].astype(float), t_ns[moves].astype(float),
        (ADDRESS_ROWS, INTERVALS), ((0, top), (0, end)))
    cells: list[list[Cell]] = [[int(value) for value in row] for row in counts[::-1]]
    names = [f"{row * aft.SECTOR / 2**20:.4g}" for row in rows[:-1]][::-1]
    return Figure("record-map", f"Addresses over time, {file.label}",
                  "How many reads and writes go where, from left to right in time, from the begin "
                  "of the device below to its end above.",
                  Grid("MiB", "s", names, [f"{column / 1e9:.4g}" for column in columns[:-1]],
                       cells, "requests"), (str(file.path),))


def size_figure(file: aft.RecordFile) -> Figure:
    """Lengths of requests."""
    operations, sizes = file.operations(), file.column("nsect")
    moves = np.isin(operations, (0, 1))
    lengths = sorted(set(sizes[moves].tolist()), key=int)
    powers = sorted({int(size - 1).bit_length() if size else 0 for size in lengths})
    series = []
    for number, name in enumerate(aft.OPERATIONS[:2]):
        counts = Counter(int(size - 1).bit_length() if size else 0
                         for size in sizes[operations == number].tolist())
        series.append((name, [float(counts[power]) for power in powers]))
    names = [f"{2**power * aft.SECTOR / 1024:g}" for power in powers]
    return Figure("record-sizes", f"Lengths of requests, {file.label}",
                  "Requests by length; each category is up to so many KiB.",
                  Bars(names, series, "requests"), (str(file.path),))


def record_kinds(inputs: Inputs) -> list[Figure]:
    """What record files are made of."""
    found: list[Figure] = []
    for file in inputs.records:
        if len(file.records):
            found.append(rate_figure(file))
            if np.isin(file.operations(), (0, 1)).any():
                found += [address_figure(file), size_figure(file)]
    if not found:
        raise Lacking("approxftl trace convert and approxftl trace record write record files, "
                      "and so does approxftl sim --record FILE")
    return found


KINDS: tuple[Kind, ...] = (
    Kind("response", "response times relative to the first run", response),
    Kind("class-response", "the same of writes by the class of their data", class_response),
    Kind("cdf", "distributions of response times", cdf),
    Kind("block-kinds", "what blocks were used for", kinds),
    Kind("modes", "how pages were programmed", modes),
    Kind("energy", "energy by operation", energy),
    Kind("write-amplification", "write amplification by cause", waf),
    Kind("wear", "wear of blocks", lifetime),
    Kind("quality", "bit errors of approximate data", quality),
    Kind("wear-map", "wear of each block", wear_map),
    Kind("page-map", "class, mode and age of the pages of a block", page_map),
    Kind("luns", "how busy each LUN was", luns),
    Kind("timeline", "what each LUN did when", timeline),
    Kind("device", "a device from interval to interval", samples),
    Kind("replay", "latencies that a replay has measured", replay),
    Kind("replay-lag", "how late a replay was", lag),
    Kind("records", "what record files are made of", record_kinds),
)


def draw(kind: Kind, inputs: Inputs) -> list[Figure]:
    """Return the figures of a kind, their names made different from each other."""
    figures = kind.draw(inputs)
    counts: Counter[str] = Counter(figure.name for figure in figures)
    seen: Counter[str] = Counter()
    result = []
    for figure in figures:
        name = figure.name
        if counts[name] > 1:
            seen[name] += 1
            name = f"{name}-{seen[name]}"
        result.append(Figure(name, figure.title, figure.description, figure.plot, figure.sources))
    return result


