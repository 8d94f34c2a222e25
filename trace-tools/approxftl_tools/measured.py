# SPDX-License-Identifier: GPL-2.0-only
"""Tables of measurements from outside the simulator: fio, devices, annotated programs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approxftl_tools.figure import Cell, number_as_text
from approxftl_tools.inputs import Device, Inputs, Run
from approxftl_tools.measures import (
    BY_KEY,
    compute_ratio_to_base_value,
    compute_result_measures,
    compute_scaled_quotient,
    get_json_value_at_key_path,
    scale_time_to_unit,
    value_as_text,
)
from approxftl_tools.statistics import Estimate, estimate_mean

Json = dict[str, Any]

#: Requests that a p99 needs, so that ten of them lie beyond it.
LEAST_FOR_P99 = 1000
#: The end of the names of files that repeat one measurement: NAME.run1, NAME.run2, ...
REPEATED = re.compile(r"\.run\d+$")
#: Measures of a device that tables show.
OF_DEVICE = ("write_amplification", "total_energy_pj", "array_erases", "read_flipped_bits",
             "read_lost_units")
#: Titles for the keys of annotated programs' reports.
OF_PROGRAM = {
    "write_ns": "time to write", "compute_ns": "time to read and compute",
    "inputs.total_bytes": "data", "inputs.approximate_bytes": "approximate data",
    "inputs.flipped_bits": "flipped bits in the data",
    "inputs.damaged_precise_bits": "flipped bits in headers and indices",
    "quality.psnr_db": "PSNR, dB", "quality.ssim": "SSIM", "check.passed": "check passed",
}


@dataclass(frozen=True)
class Line:
    """A line of a table: a measured quantity, with a value and its text for each column."""

    title: str
    values: Sequence[float | None]
    said: Sequence[str]
    #: For each column the values of repeated runs, by run, if the quantity was measured repeatedly.
    repeated: Sequence[Mapping[str, float]] = ()

    def estimate_ratio_to_first_column(self, at: int) -> Estimate | None:
        """Return a column's ratio to the first; with an interval if both were repeated alike."""
        if self.repeated and self.repeated[at].keys() == self.repeated[0].keys():
            found = [compute_ratio_to_base_value(value, self.repeated[0][run])
                     for run, value in self.repeated[at].items()]
            known = [one for one in found if one is not None]
            if len(known) == len(found):
                return estimate_mean(known, tail="p99" in self.title)
        ratio = compute_ratio_to_base_value(self.values[at], self.values[0])
        return None if ratio is None else Estimate(ratio, None, 1)

    def format_value_and_ratio(self, at: int) -> str:
        """Return a column's value as text, with its ratio to the first column."""
        ratio = self.estimate_ratio_to_first_column(at) if at else None
        if not ratio:
            return self.said[at]
        width = "" if ratio.half is None else f" [{ratio.low:.3f}, {ratio.high:.3f}]"
        return f"{self.said[at]} {ratio.mean:.3f}x{width}"


@dataclass(frozen=True)
class Table:
    """Measured quantities of several files; the values are compared with the first file's."""

    title: str
    labels: Sequence[str]
    lines: Sequence[Line]
    sources: Sequence[str]

    def format_values_and_ratios(self) -> list[list[str]]:
        """Return the table as text; later columns also have the ratio to the first column."""
        return [[self.title, *self.labels],
                *([line.title, *map(line.format_value_and_ratio, range(len(line.said)))]
                  for line in self.lines)]

    def count_repeated_runs(self) -> int:
        """Return how often the quantities were measured: 1, or the number of repeated runs."""
        return max((len(runs) for line in self.lines for runs in line.repeated), default=1)


def convert_to_number_or_none(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def value_with_unit(unit: str, value: Cell) -> str:
    """Return a value as text in a readable unit."""
    found = convert_to_number_or_none(value)
    scaled = scale_time_to_unit(unit, found) if found is not None else None
    return scaled or number_as_text(value, 6)


# ---------------------------------------------------------------- fio


def fio_latencies(output: Json) -> dict[str, float]:
    """Return mean and p99 of the completion latencies in fio's output."""
    found = {}
    for job in output["jobs"]:
        for op in ("read", "write", "trim"):
            times = get_json_value_at_key_path(job, op, "clat_ns") or {}
            name = op if job["jobname"] == op else f"{job['jobname']}, {op}"
            if times.get("N"):
                found[f"{name} latency, mean"] = float(times["mean"])
            p99 = get_json_value_at_key_path(times, "percentile", "99.000000")
            if p99 is not None and times.get("N", 0) >= LEAST_FOR_P99:
                found[f"{name} latency, p99"] = float(p99)
    return found


def fio_latency_table(outputs: Sequence[Run]) -> Table:
    """Return a table of the latencies of several fio outputs; a column has repeated runs."""
    columns: dict[str, dict[str, dict[str, float]]] = {}
    for one in outputs:
        name = REPEATED.sub("", one.label)
        columns.setdefault(name, {})[one.label.removeprefix(name)] = fio_latencies(one.data)
    titles = dict.fromkeys(title for column in columns.values() for found in column.values()
                           for title in found)
    lines = []
    for title in titles:
        repeated = [{run: found[title] for run, found in column.items() if title in found}
                    for column in columns.values()]
        values = [sum(runs.values()) / len(runs) if runs else None for runs in repeated]
        lines.append(Line(title, values, [value_with_unit("ns", value) for value in values],
                          repeated if max(map(len, repeated)) > 1 else ()))
    return Table("Latencies by fio", list(columns), lines, [str(one.path) for one in outputs])


# ---------------------------------------------------------------- devices


def strip_policy_from_device_name(device: Device) -> str:
    """Return a device's name without the name of its policy."""
    return device.label.removeprefix(str(device.data.get("policy", "")))


def group_devices_that_differ_in_policy(devices: Sequence[Device]) -> list[list[Device]]:
    """Return lists of devices to compare: devices of a list differ in their policies' names."""
    groups: dict[str, list[Device]] = {}
    for device in devices:
        if "counters" in device.data:
            groups.setdefault(strip_policy_from_device_name(device), []).append(device)
    return list(groups.values())


def is_device_in_policy_comparison(inputs: Inputs, device: Device) -> bool:
    return any(len(group) > 1 and device in group
               for group in group_devices_that_differ_in_policy(inputs.devices))


def device_counters_table(devices: Sequence[Device]) -> Table:
    found = [compute_result_measures(device.data) for device in devices]
    times = [compute_scaled_quotient(get_json_value_at_key_path(device.data, "counters",
                                                                "array_program_ns"),
                                     get_json_value_at_key_path(device.data, "counters",
                                                                "array_programs"))
             for device in devices]
    lines = [Line("program time, mean", times, [value_with_unit("ns", value) for value in times])]
    for key in OF_DEVICE:
        values = [one[key] for one in found]
        lines.append(Line(BY_KEY[key].title, values,
                          [value_as_text(BY_KEY[key], value) for value in values]))
    suffix = strip_policy_from_device_name(devices[0]).strip("-_ ")
    return Table(f"Device counters, {suffix}" if suffix else "Device counters",
                 [one.label for one in devices],
                 [line for line in lines if any(value is not None for value in line.values)],
                 [str(one.path) for one in devices])


# ---------------------------------------------------------------- annotated programs

#: Prefix of a program's own measures; of the other keys only those with a title are shown.
QUALITY = "quality."


def flatten_document(node: Any, name: str = "") -> list[tuple[str, Cell]]:
    """Return a JSON document's scalars, each under its dotted path."""
    if isinstance(node, dict):
        return [pair for key, value in node.items()
                for pair in flatten_document(value, f"{name}.{key}" if name else str(key))]
    if isinstance(node, list):
        return [pair for item in node if isinstance(item, dict) and "op" in item
                for pair in flatten_document({key: value for key, value in item.items()
                                              if key not in ("op", "class")},
                                             f"{item['op']} {item.get('class', '')}".strip())]
    return [(name, int(node) if isinstance(node, bool) else node)]


def split_key_into_title_and_unit(key: str) -> tuple[str, str]:
    name, unit = key, ""
    for one in ("ns", "bytes"):
        if key.endswith((f"_{one}", f".{one}")):
            # Keep "bytes", as in "read bytes"; drop "ns", which the value's unit repeats.
            name, unit = key if one == "bytes" else key.removesuffix("_ns"), one
    name = name.removeprefix(QUALITY).replace(".", ", ")
    return OF_PROGRAM.get(key) or name.replace("p99_9", "p99.9").replace("_", " "), unit


def column_value_text(column: dict[str, Cell], key: str) -> str:
    """Return a value as text; null stands for an infinite signal-to-noise ratio."""
    if key in column and column[key] is None:
        return "infinite"
    if key == "check.passed":
        return "yes" if column.get(key) else "no"
    return value_with_unit(split_key_into_title_and_unit(key)[1], column.get(key))


def make_table_of_annotated_program(programs: Sequence[Run]) -> Table:
    """Return a table of a program's runs; one column has both phases (store, read) of a run."""
    columns: dict[str, dict[str, Cell]] = {}
    for program in programs:
        columns.setdefault(program.label.removesuffix("-written"), {}).update(
            (key, value) for key, value in flatten_document(program.data)
            if key in OF_PROGRAM or (key.startswith(QUALITY) and "expected" not in key))
    there = {key for column in columns.values() for key in column}
    keys = [*(key for key in OF_PROGRAM if key in there),
            *dict.fromkeys(key for column in columns.values() for key in column
                           if key not in OF_PROGRAM)]
    return Table(f"Program {programs[0].group}", list(columns),
                 [Line(split_key_into_title_and_unit(key)[0],
                       [None if key == "check.passed"
                        else convert_to_number_or_none(column.get(key))
                                                    for column in columns.values()],
                       [column_value_text(column, key) for column in columns.values()])
                  for key in keys],
                 [str(one.path) for one in programs])


# ---------------------------------------------------------------- all


def make_measurement_tables(inputs: Inputs) -> list[Table]:
    """Return all tables of measurements: of fio, then of devices, then of annotated programs."""
    return [*([fio_latency_table(inputs.fio)] if inputs.fio else []),
            *(device_counters_table(group)
              for group in group_devices_that_differ_in_policy(inputs.devices)
              if len(group) > 1),
            *(make_table_of_annotated_program([one for one in inputs.programs if one.group == app])
              for app in dict.fromkeys(program.group for program in inputs.programs))]
