# SPDX-License-Identifier: GPL-2.0-only
"""Published measurements of real drives, and the simulator run that each is compared with.

A table is found by its file name, DRIVE-TABLE.csv, and read by its column names; it may have any
rows. A run depends on the columns that describe the load, never on measured results.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from approxftl_tools.drive_list import DRIVES, Drive
from approxftl_tools.drive_table_file import NUMBER, Row, read_measured_table
from approxftl_tools.refusal import Refusal

Json = dict[str, Any]
Value = Callable[[Json], float]

#: Tables that come with the package.
OWN_TABLES = Path(__file__).parent / "drive_tables"
GIB = 1 << 30
#: Share of the saturation rate below which latencies are compared; above it they do not repeat.
CALM = 0.85
#: Reads that a p99.9 needs.
ENOUGH = 20000
#: Bytes of each write that runs beside reads.
BESIDE = 128 << 10
#: The half of a table that the fit uses, and the half that it does not see.
FITTED, HELD = "fitted", "held"
OTHER = {FITTED: HELD, HELD: FITTED}
#: The half of rows that others are relative to; every fit includes them.
ANCHOR = "anchor"
#: Patterns of write-steady that the simulator has, besides those of zipf.
PATTERNS = ("uniform", "sequential", "sequential-4k", "two-zones", "read-only-part", "each-once")
#: Other names of patterns.
ALIASES = {"zones": "two-zones", "seqshuffle": "each-once", "each-page-once": "each-once"}
#: Parameter of a pattern of two zones: the size and the share of the writes of each.
ZONES = rf"s({NUMBER}) f({NUMBER})(?: uniform)? s({NUMBER}) f({NUMBER})(?: uniform)?"
#: Exponents that the simulator's workload zipf takes.
SKEWS = (0.01, 8.0)
#: Sizes and shares of two zones are rounded in tables; each pair adds up to 1 within this.
ROUNDED = 0.015
#: Key of a row's half, and the columns that identify a run regardless of the tested unit.
HALF = "half"
#: Key of "in order" if the pages of a pattern are not scattered.
PLACES = "places"
RUN = ("pattern", "parameter", "precondition", "filled_gib", "block_kib", "workload",
       "offered_write_iops", "offered_read_iops", "write_rate_mib", "read_queue_depth")


@dataclass(frozen=True)
class Load:
    """The simulator's options for a run, without the options of the device."""

    arguments: tuple[str, ...]

    def request_count(self) -> int:
        """Return the number of requests of a run, from which its duration is estimated."""
        found = (re.fullmatch(r"--(?:warmup|requests)=(\d+)", text) for text in self.arguments)
        return sum(int(match[1]) for match in found if match)


@dataclass(frozen=True)
class Point:
    """A measured value, and how its simulated value is computed from a run."""

    drive: Drive
    table: str
    row: int
    unit: str
    what: str
    measure: str
    measured: float
    #: Tolerance: a share of the measured value, or microseconds if `absolute`.
    band: float
    absolute: bool
    load: Load
    value: Value
    #: The figure's curve, and the position on it.
    curve: str
    x: float
    #: The run that both values are relative to, and its measured value.
    base: Load | None = None
    base_measured: float = 1.0
    #: The half of its table that the point is in.
    half: str = HELD

    def title_of_measured_point(self) -> str:
        return f"{self.table} {self.what} {self.measure}"

    def compute_simulated_value(self, results: dict[Load, Json]) -> float:
        value = self.value(results[self.load])
        return value / self.value(results[self.base]) if self.base else value

    def compute_measured_value(self) -> float:
        return self.measured / self.base_measured

    def compute_simulation_error(self, ours: float) -> float:
        """Return the error of a simulated value: relative, or in microseconds if `absolute`."""
        measured = self.compute_measured_value()
        return ours - measured if self.absolute else ours / measured - 1


@dataclass(frozen=True)
class Shape:
    """Size of the emulated device: units, bytes of a unit, and bytes of a superblock."""

    units: int
    unit_bytes: int
    superblock: int

    def request_count_for_capacity_share(self, share: float, size: int = 4096) -> int:
        """Return how many requests of a size write a given multiple of the drive's capacity."""
        return max(1, int(self.units * self.unit_bytes * share / size))


def host_throughput_mb_s(result: Json) -> float:
    counters = result["counters"]
    volume = float(counters["host_write_bytes"] + counters["host_read_bytes"])
    return volume * 1e3 / float(result["simulated_ns"])


def requests_per_s(result: Json, kind: str = "write") -> float:
    """Return the rate (1/s) of reads or of writes in a result."""
    count = float(result["counters"][f"host_{kind}_requests"])
    return count * 1e9 / float(result["simulated_ns"])


def response_time_us(name: str, what: str) -> Value:
    """Return a function that reads a response time in microseconds from a result."""
    return lambda result: float(result["timing"][f"{name}_response"][f"{what}_ns"]) / 1e3


def format_percent_option(part: float) -> str:
    """Return a share in the simulator's syntax."""
    return f"{min(part, 1.0) * 100:.2f}%"


def field_as_number(row: Row, column: str) -> float | None:
    """Return a field of a table as a number; None if the field is empty."""
    text = row.get(column) or ""
    return float(text) if text else None


def read_zipf_exponent(row: Row) -> float:
    """Return the exponent of a row with a Zipf distribution; refuse any other parameter."""
    found = re.fullmatch(rf"[A-Za-z =:]*({NUMBER}|\.\d+)", row["parameter"])
    skew = float(found[1]) if found else 0.0
    if not SKEWS[0] <= skew <= SKEWS[1]:
        raise ValueError(f'parameter "{row["parameter"]}" of pattern "{row["pattern"]}" is no '
                         f"exponent from {SKEWS[0]:g} to {SKEWS[1]:g}")
    return skew


def read_two_zones(row: Row) -> list[float]:
    """Return size and share of the first part, then of the second; refuse parts of no whole."""
    found = re.fullmatch(ZONES, row["parameter"])
    parts = list(map(float, found.groups())) if found else [0.0] * 4
    if any(abs(sum(pair) - 1) > ROUNDED for pair in (parts[::2], parts[1::2])) or \
            not all(parts[::2]):
        raise ValueError(f'parameter "{row["parameter"]}" does not name two parts whose sizes (s) '
                         "and shares of the writes (f) each add up to 1")
    return parts


def name_skewed_load(row: Row) -> str:
    return f"{row['pattern']}, {row['parameter']} {row[PLACES]}".rstrip()


class Table:
    """A table of a drive's measurements."""

    def __init__(self, drive: Drive, shape: Shape, name: str, rows: Sequence[Row],
                 others: dict[str, list[Row]]) -> None:
        self.drive, self.shape, self.name, self.rows, self.others = drive, shape, name, rows, others

    def list_points_of_drive_table(self) -> Iterator[Point]:
        reader = READERS[self.name]
        for index, row in enumerate(self.rows):
            if row:
                with refuse_malformed_table_row(self.drive, self.name, index):
                    found = list(reader(self, index, row))
                yield from (replace(point, half=row[HALF]) for point in found)

    def measured_points(self, index: int, row: Row, what: str, load: Load, curve: str, x: float,
                        measures: Sequence[tuple[str, str, float, Value]], **more: Any
                        ) -> Iterator[Point]:
        """Yield a measured point, with its tolerance band, for each value in a table row."""
        for title, column, band, value in measures:
            measured = field_as_number(row, column)
            if measured:
                yield Point(self.drive, self.name, index, row.get("unit", ""), what, title,
                            measured, band, title.endswith("us"), load, value, curve, x, **more)

    # ------------------------------------------------------------ writes

    def filled_capacity_fraction(self, row: Row) -> float:
        return min(1.0, float(row["filled_gib"]) * GIB / self.drive.capacity)

    def preconditioning_options(self, row: Row) -> list[str]:
        if row["precondition"] == "none":
            return ["--fill=none"]
        if row["precondition"] == "seqshuffle":
            return ["--fill=random",
                    f"--fill_valid={self.filled_capacity_fraction(row) * 100:.4g}%"]
        return ["--fill=sequential",
                f"--fill_valid={self.filled_capacity_fraction(row) * 100:.4g}%"]

    def make_write_load_of_table_row(self, row: Row, options: Sequence[str]) -> Load:
        """Return a run that writes the volume in a table row, and measures the last 30 % of it."""
        size = int(row["block_kib"]) << 10
        count = self.shape.request_count_for_capacity_share(self.filled_capacity_fraction(row)
                                                            * float(row["written_capacities"]),
                                                            size)
        return Load((*self.preconditioning_options(row), "--write-share=100%",
                     f"--footprint={format_percent_option(self.filled_capacity_fraction(row))}",
                     f"--size={size}", f"--depth={row['queue_depth']}",
                     f"--warmup={count * 7 // 10}", f"--requests={count - count * 7 // 10}",
                     *options))

    def make_write_rate_points(self, index: int, row: Row, what: str, load: Load, curve: str,
                               x: float) -> Iterator[Point]:
        """Yield the point of a row's write rate: in MB/s, or relative to that of uniform writes."""
        other = find_uniform_row_for_skewed_row(self.others, row)
        more: dict[str, Any] = {} if other is None else {
            "base": self.make_write_load_of_table_row(other, ()),
                                                         "base_measured": float(other["host_mbps"])}
        title = "rate, of uniform" if other else "rate, MB/s"
        yield from self.measured_points(index, row, what, load, curve, x,
                                        [(title, "host_mbps", 0.10, host_throughput_mb_s)], **more)
        if field_as_number(row, "wa_measured") and self.name == "write-zones":
            yield from self.measured_points(index, row, what, load, f"{curve}: amplification", x,
                                            [("write amplification", "wa_measured", 0.10,
                                              self.total_write_amplification)])

    def total_write_amplification(self, result: Json) -> float:
        """Return the run's write amplification, times that of the drive's sequential writes."""
        return float(result["write_amplification"]["total"]) * self.drive.own_writes

    def steady_write_points(self, index: int, row: Row) -> Iterator[Point]:
        """Yield measured points of 4 KiB writes at full speed."""
        pattern, full = row["pattern"], float(row["filled_gib"])
        if pattern == "sequential":
            # This is the fill itself: it starts empty and ends when the drive is full.
            load = self.make_write_load_of_table_row({**row, "precondition": "none",
                                                      "written_capacities": "0.9"},
                                 ["--workload=sequential"])
            yield from self.measured_points(index, row, f"sequential, {full:g} GiB", load,
                                            "sequential",
                                            full,
                                            [("rate, MB/s", "host_mbps", 0.05,
                                              host_throughput_mb_s)])
        elif pattern == "sequential-4k":
            load = self.make_write_load_of_table_row({**row, "written_capacities": "0.02"},
                                                     ["--workload=sequential"])
            yield from self.measured_points(index, row, "sequential 4 KiB, one at a time", load,
                                            "sequential", full,
                                            [("write p50, us", "write_p50_us", 1.0,
                                              response_time_us("write", "p50"))])
        elif pattern == "uniform":
            what = f"uniform, {full:g} GiB" + (" after erase" if row["precondition"] == "none"
                                               else f", {row['queue_depth']} in flight")
            yield from self.measured_points(index, row, what,
                                            self.make_write_load_of_table_row(row, ()), "uniform",
                                            full, [
                ("write amplification", "wa_measured", self.drive.band,
                 self.total_write_amplification),
                ("rate, MB/s", "host_mbps", 0.05, host_throughput_mb_s)])
        elif is_zipf_pattern(pattern):
            skew = read_zipf_exponent(row)
            order = ["--zipf-order=hashed"] if "fio" in pattern else \
                ["--zipf-order=sorted"] if row[PLACES] else []
            load = self.make_write_load_of_table_row(
                row, ["--workload=zipf", f"--zipf-skew={skew:g}", *order])
            yield from self.make_write_rate_points(index, row, name_skewed_load(row), load, pattern,
                                                   skew)
        elif pattern == "each-once":
            load = self.make_write_load_of_table_row(row, ["--workload=sequential", "--scatter"])
            yield from self.make_write_rate_points(index, row, f"{pattern}, {full:g} GiB", load,
                                                   pattern, full)
        else:
            parts = read_two_zones(row)
            # Each part has a size s and a share f; the simulator calls the first one hot.
            first, asked = (parts[2], parts[3]) if not parts[1] else (parts[0], parts[1])
            load = self.make_write_load_of_table_row(row, [
                *([] if row[PLACES] else ["--scatter"]),
                f"--hot-range={format_percent_option(first)}",
                f"--hot-share={format_percent_option(asked)}"])
            yield from self.make_write_rate_points(index, row, name_skewed_load(row), load, pattern,
                                                   1 - first if pattern == "read-only-part"
                                                   else parts[0])

    def zone_write_points(self, index: int, row: Row) -> Iterator[Point]:
        """Yield measured points of sequential writes to zones, scaled with the superblock size."""
        count, _, size, _ = row["parameter"].split()
        grain = int(row["block_kib"]) << 10
        scaled = float(size) * GIB / self.drive.superblock * self.shape.superblock
        load = self.make_write_load_of_table_row(row, ["--workload=zones", f"--open-zones={count}",
                                   f"--zone-size={max(1, round(scaled / grain)) * grain}"])
        yield from self.make_write_rate_points(index, row, f"zones {row['parameter']}", load,
                                               f"zones, {count} open", float(size))

    # ------------------------------------------------------------ latency under load

    def saturation_rate(self, unit: str) -> float:
        """Return the write rate (1/s) at which the drive saturates."""
        done = [float(row["done_write_iops"]) for row in filter(None, self.rows)
                if row["saturated"] == "yes" and row["unit"] == unit]
        steady = [float(row["host_mbps"]) * 1e6 / 4096
                  for row in filter(None, self.others.get("write-steady", []))
                  if row["pattern"] == "uniform" and row["unit"] == unit]
        return min(done or steady or [float("inf")])

    def latency_points(self, index: int, row: Row) -> Iterator[Point]:
        """Yield the points of a table row: its latencies or, for a saturated drive, its rate."""
        writes, reads = (float(row[f"{'done' if row['saturated'] == 'yes' else 'offered'}_{kind}"])
                         for kind in ("write_iops", "read_iops"))
        if row["saturated"] not in ("yes", "no"):
            raise ValueError(row["saturated"])
        mix = reads / (writes + reads)
        before = ["--fill=random", "--fill_overwrite=300",
                  f"--write-share={format_percent_option(1 - mix)}"]
        what = f"{float(row['offered_write_iops']):.0f} writes/s offered"
        if row["saturated"] == "yes":
            load = Load((*before, "--depth=448", "--warmup=200000", "--requests=600000"))
            yield from self.measured_points(index, row, what, load, "saturated", 0.0,
                                            [("writes/s", "done_write_iops", 0.05, requests_per_s)])
        elif writes < CALM * self.saturation_rate(row["unit"]):
            count = max(300000, int(ENOUGH / mix))
            load = Load((*before, f"--rate={round(writes + reads)}", "--warmup=100000",
                         f"--requests={count}"))
            yield from self.measured_points(index, row, what, load, "latency", writes / 1e3, [
                ("read mean", "read_mean_us", 0.07, response_time_us("read", "mean")),
                ("read p50", "read_p50_us", 0.07, response_time_us("read", "p50")),
                ("read p99", "read_p99_us", 0.12, response_time_us("read", "p99")),
                ("read p99.9", "read_p999_us", 0.25, response_time_us("read", "p99_9")),
                ("write p50, us", "write_p50_us", 1.0, response_time_us("write", "p50")),
                ("write p99", "write_p99_us", 0.12, response_time_us("write", "p99")),
                ("write p99.9", "write_p999_us", 0.25, response_time_us("write", "p99_9"))])

    # ------------------------------------------------------------ grids

    def make_read_points_of_table_row(self, index: int, row: Row) -> Iterator[Point]:
        """Yield measured points of reads with a table row's block size and queue depth."""
        depth, size = int(row["queue_depth"]) * int(row["streams"]), int(row["block_kib"])
        sequential = row["operation"] == "sequential-read"
        kind = " sequential" if sequential else ""
        load = Load(("--fill=sequential", "--write-share=0", f"--size={size << 10}",
                     f"--depth={depth}", *(["--workload=sequential"] if sequential else []),
                     "--requests=200000"))
        measures: list[tuple[str, str, float, Value]] = [
            ("reads/s", "iops", 0.04, lambda result: requests_per_s(result, "read")),
            ("read mean", "mean_us", 0.04, response_time_us("read", "mean")),
            ("read p99", "p99_us", 0.12, response_time_us("read", "p99"))]
        if sequential:
            measures.append(("read p50", "p50_us", 0.07, response_time_us("read", "p50")))
        yield from self.measured_points(
            index, row, f"{size} KiB{kind}, {row['queue_depth']} x {row['streams']}", load,
            f"{size} KiB{kind} reads", depth, measures)

    def mixed_read_points(self, index: int, row: Row) -> Iterator[Point]:
        """Yield measured points of random reads beside a stream of writes."""
        depth, wanted = int(row["read_queue_depth"]), float(row["write_rate_mib"])
        beside = [f"--beside-rate={wanted * (1 << 20) / BESIDE:.0f}"] if wanted else []
        load = Load(("--fill=sequential", "--write-share=0", f"--depth={depth}",
                     "--warmup=20000", "--requests=200000", *beside))
        yield from self.measured_points(
            index, row, f"{row['write_operation']} {wanted:g} MiB/s, {depth} reads in flight", load,
            f"reads beside {wanted:g} MiB/s", depth, [
                ("read mean", "read_mean_us", 0.12, response_time_us("read", "mean")),
                ("read p99", "read_p99_us", 0.25, response_time_us("read", "p99"))])

    def make_write_points_of_table_row(self, index: int, row: Row) -> Iterator[Point]:
        """Yield measured points of writes with a table row's block size and queue depth."""
        depth, size = int(row["queue_depth"]) * int(row["streams"]), int(row["block_kib"])
        count = self.shape.request_count_for_capacity_share(0.5, size << 10)
        order = [] if row["operation"] == "random-write" else ["--workload=sequential"]
        if row["operation"] == "append" and self.drive.zoned:
            order = [*self.drive.zoned, "--workload=zones", f"--open-zones={row['streams']}",
                     "--zone-append"]
        load = Load(("--fill=none", "--write-share=100%", f"--size={size << 10}",
                     f"--depth={depth}", *order, f"--warmup={count // 4}",
                     f"--requests={count - count // 4}"))
        measures: list[tuple[str, str, float, Value]] = [("rate, MB/s", "mbps", 0.05,
                                                          host_throughput_mb_s)]
        if depth == 1 and size == 4:
            measures.append(("write p50, us", "p50_us", 1.0, response_time_us("write", "p50")))
        yield from self.measured_points(
            index, row, f"{row['operation']}, {size} KiB, {row['queue_depth']} x {row['streams']}",
            load, f"{row['operation']}, {size} KiB", depth, measures)

    def fio_load_points(self, index: int, row: Row) -> Iterator[Point]:
        kind, size, _ = row["workload"].split()
        write = "write" in kind
        side = "write" if write else "read"
        options = ["--workload=sequential"] if "sequential" in kind else []
        fill = f"--fill={'none' if write else 'sequential'}"
        count = self.shape.request_count_for_capacity_share(0.5, int(size) << 10)
        load = Load((fill, *options, f"--write-share={format_percent_option(float(write))}",
                     f"--size={int(size) << 10}", f"--depth={row['queue_depth']}",
                     f"--requests={min(count, 200000)}"))
        yield from self.measured_points(index, row, row["workload"], load, row["workload"],
                                        float(row["queue_depth"]),
                                        [("thousand/s", "kiops", 0.05, lambda result:
                                          requests_per_s(result, side) / 1e3)])


READERS: dict[str, Callable[[Table, int, Row], Iterator[Point]]] = {
    "write-steady": Table.steady_write_points,
    "write-zones": Table.zone_write_points,
    "latency-load": Table.latency_points,
    "read-grid": Table.make_read_points_of_table_row,
    "read-under-write": Table.mixed_read_points,
    "write-grid": Table.make_write_points_of_table_row,
    "fio": Table.fio_load_points,
}


def is_zipf_pattern(pattern: str) -> bool:
    """Return whether a table's pattern name means addresses of a Zipf distribution."""
    return "zipf" in pattern


def name_pattern(row: Row) -> Row:
    """Return a row of write-steady with our name of its pattern, whatever SSD-iq's tool calls it.

    In that tool "-shuffle" and "-noshuffle" say whether a pattern's pages are scattered.
    """
    word = row["pattern"]
    base = word.removesuffix("-shuffle").removesuffix("-noshuffle")
    scattered = word.endswith("-shuffle")
    if base == "sequential" and scattered:
        base = "each-once"
    return {**row, "pattern": ALIASES.get(base, base),
            PLACES: "in order" if word.endswith("-noshuffle") else ""}


def is_emulated_load(name: str, row: Row) -> bool:
    if name != "write-steady":
        return True
    pattern = row["pattern"]
    if pattern in ("two-zones", "read-only-part"):
        return re.fullmatch(ZONES, row["parameter"]) is not None
    return pattern in PATTERNS or is_zipf_pattern(pattern)


def describe_unemulated_patterns(drive: Drive, folder: Path) -> Iterator[str]:
    """Yield a sentence for each pattern of a drive's tables that is not emulated."""
    path = folder / f"{drive.name}-write-steady.csv"
    rows = [*map(name_pattern, read_measured_table(path, "write-steady"))] if path.exists() else []
    patterns = Counter(row["pattern"] for row in rows if not is_emulated_load("write-steady", row))
    for pattern, count in patterns.items():
        yield (f'{path}: {count} {"row" if count == 1 else "rows"} of pattern "{pattern}" left '
               f"out; the simulator has {', '.join(PATTERNS)} and zipf")


def list_drives_without_profile(folder: Path) -> list[str]:
    """Return the names of drives that have tables, but no profile."""
    known = {drive.name for drive in DRIVES}
    found = {path.name[: -len(f"-{name}.csv")]
             for name in READERS for path in folder.glob(f"?*-{name}.csv")}
    return sorted(found - known)


def find_uniform_row_for_skewed_row(tables: Mapping[str, Sequence[Row]], row: Row) -> Row | None:
    """Return the row of the uniform load to which a skewed load's rate is compared, if any."""
    for other in tables.get("write-steady", []):
        if other and other["pattern"] == "uniform" and other["precondition"] == "seq" and \
                all(other[key] == row[key] for key in ("unit", "filled_gib")) and \
                (row["queue_depth"] == "1" or other["queue_depth"] == row["queue_depth"]):
            return other
    return None


def make_measurement_key_of_table_row(row: Row) -> tuple[str | int | None, ...]:
    """Return the key of a run; rows with equal keys are either all fitted or all held out."""
    depth = int(row.get("queue_depth") or 1) * int(row.get("streams") or 1)
    return (*map(row.get, RUN), depth, "random" in row.get("operation", ""))


def split_runs_into_fitted_and_held_out(tables: Mapping[str, Sequence[Row]]) -> None:
    """Assign the runs of each table alternately to the fitted and to the held-out half.

    Adjacent rows of a table are neighbours on a curve, so both halves cover each curve.
    """
    bases = [find_uniform_row_for_skewed_row(tables, row) for rows in tables.values()
             for row in rows
             if row.get("pattern") not in (None, "uniform", "sequential", "sequential-4k")]
    for rows in tables.values():
        halves: dict[tuple[str | int | None, ...], str] = {}
        for row in filter(None, rows):
            if row.get("saturated") == "yes" or any(row is base for base in bases):
                row[HALF] = ANCHOR
            else:
                row[HALF] = halves.setdefault(make_measurement_key_of_table_row(row),
                                              (FITTED, HELD)[len(halves) % 2])


def read_drive_tables(drive: Drive, folder: Path, half: str = "") -> dict[str, list[Row]]:
    """Return a drive's tables; a row whose load is not emulated, or not in `half`, becomes {}."""
    found = {name: folder / f"{drive.name}-{name}.csv" for name in READERS}
    tables: dict[str, list[Row]] = {}
    for name, path in found.items():
        if path.exists():
            rows = read_measured_table(path, name)
            named = map(name_pattern, rows) if name == "write-steady" else rows
            tables[name] = [row if is_emulated_load(name, row) else {} for row in named]
    with refuse_malformed_table_row(drive):
        split_runs_into_fitted_and_held_out(tables)
    return {name: [row if not half or row.get(HALF) != OTHER[half] else {} for row in rows]
            for name, rows in tables.items()}


@contextmanager
def refuse_malformed_table_row(drive: Drive, name: str = "TABLE",
                               index: int | None = None) -> Iterator[None]:
    """Turn errors about a table's contents into a Refusal that names table, line and cause."""
    at = f"{drive.name}-{name}.csv" + ("" if index is None else f", line {index + 2}")
    try:
        yield
    except KeyError as error:
        raise Refusal(f"{at}: there is no column {error}; approxftl-drives(1) tells which "
                      "tables have the columns") from error
    except (TypeError, ValueError, ZeroDivisionError, IndexError) as error:
        raise Refusal(f"{at}: a field cannot be read: {error}") from error


def list_measured_points_of_drive(drive: Drive, shape: Shape, folder: Path,
                                  half: str = "") -> list[Point]:
    """Return the measured points of a drive's tables, or of their fitted or held-out half."""
    tables = read_drive_tables(drive, folder, half)
    return [point for name, rows in tables.items()
            for point in Table(drive, shape, name, rows, tables).list_points_of_drive_table()]
