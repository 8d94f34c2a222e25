# SPDX-License-Identifier: GPL-2.0-only
"""Read a table of measurements, and refuse, by name, what a comparison would misread."""

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from approxftl_tools.refusal import NOT_FOUND, Refusal, convert_read_errors_to_refusal

Row = dict[str, str]

GIB = 1 << 30
#: Number of bytes in each unit that a drive's capacity may have.
CAPACITY_UNITS = {"byte": 1, "GB": 10**9, "TB": 10**12, "GiB": GIB, "TiB": 1 << 40}
NUMBER = r"\d+(?:\.\d+)?"
#: Columns that tell apart rows of one load, where a table has them.
REPEATS = ("unit", "campaigns", "runs", "server", "run", "sweeps")


@dataclass(frozen=True)
class Layout:
    """The columns of a table that the comparison reads."""

    #: Columns with words, and the regular expression of the words that are known; "" for any.
    words: dict[str, str]
    #: Columns with numbers that describe the load.
    numbers: tuple[str, ...]
    #: Columns with measured numbers, of which a table has at least one; a field may be empty.
    results: tuple[str, ...]


WRITES = ("filled_gib", "block_kib", "queue_depth", "written_capacities")
GRID = ("block_kib", "queue_depth", "streams")
LAYOUTS = {
    "write-steady": Layout(
        {"unit": "", "pattern": "", "parameter": "", "precondition": "seq|none|seqshuffle"},
        WRITES, ("host_mbps", "wa_measured", "write_p50_us")),
    "write-zones": Layout(
        {"unit": "", "parameter": rf"\d+ x {NUMBER} GiB", "precondition": "seq|none|seqshuffle"},
        WRITES, ("host_mbps", "wa_measured")),
    "latency-load": Layout(
        {"unit": "", "saturated": "yes|no"}, ("offered_write_iops", "offered_read_iops"),
        ("done_write_iops", "done_read_iops", "read_mean_us", "read_p50_us", "read_p99_us",
         "read_p999_us", "write_p50_us", "write_p99_us", "write_p999_us")),
    "read-grid": Layout({"operation": "random-read|sequential-read"}, GRID,
                        ("iops", "mean_us", "p50_us", "p99_us")),
    "read-under-write": Layout({"write_operation": ""}, ("write_rate_mib", "read_queue_depth"),
                               ("read_mean_us", "read_p99_us")),
    "write-grid": Layout({"operation": "append|write|random-write|sequential-write"}, GRID,
                         ("mbps", "p50_us")),
    "fio": Layout({"workload": r"(?:random|sequential)-(?:read|write) \d+ KiB"}, ("queue_depth",),
                  ("kiops",)),
}
#: Load numbers that may be zero: a table without reads, or without a writer beside them.
MAY_BE_ZERO = ("offered_read_iops", "offered_write_iops", "write_rate_mib")


def read_table_rows(path: Path) -> list[Row]:
    try:
        with convert_read_errors_to_refusal(path), path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = list(reader)
            header = list(reader.fieldnames or ())
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refusal(f"{path}: not a table of comma-separated values: {error}") from error
    for name in header:
        if header.count(name) > 1:
            raise Refusal(f'{path}: there are two columns "{name}"')
    for index, row in enumerate(rows):
        if None in row or None in row.values():
            raise Refusal(f"{path}, line {index + 2}: there are not as many fields as columns")
    return rows


def check_number(at: str, column: str, text: str, *, positive: bool) -> None:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (positive and not value) or "_" in text:
        kind = "a positive number" if positive else "a number"
        raise Refusal(f'{at}, column {column}: a field cannot be read: "{text}" is not {kind}')


def check_table_row(at: str, layout: Layout, row: Row) -> None:
    """Refuse a row with an unknown word, or with text in a column of numbers."""
    for column, known in layout.words.items():
        if known and not re.fullmatch(known, row[column]):
            raise Refusal(f'{at}, column {column}: a field cannot be read: "{row[column]}" is not '
                          f"one of {known.replace('|', ', ')}" if "\\" not in known else
                          f'{at}, column {column}: a field cannot be read: "{row[column]}" does '
                          "not name a load; approxftl-drives(1) has an example")
    for column in layout.numbers:
        check_number(at, column, row[column], positive=column not in MAY_BE_ZERO)
    for column in layout.results:
        if row.get(column):
            check_number(at, column, row[column], positive=False)


def read_measured_table(path: Path, name: str) -> list[Row]:
    """Return the rows of a table of measurements; refuse what a comparison would misread."""
    rows, layout = read_table_rows(path), LAYOUTS[name]
    seen: dict[tuple[str | None, ...], int] = {}
    for index, row in enumerate(rows):
        for column in (*layout.words, *layout.numbers):
            if column not in row:
                raise Refusal(f"{path}: there is no column '{column}'; approxftl-drives(1) tells "
                              "which tables have the columns")
        if not any(column in row for column in layout.results):
            raise Refusal(f"{path}: there is no column of results, such as {layout.results[0]}")
        check_table_row(f"{path}, line {index + 2}", layout, row)
        key = tuple(map(row.get, (*layout.words, *layout.numbers, *REPEATS)))
        if seen.setdefault(key, index) != index:
            raise Refusal(f"{path}: line {index + 2} has the load of line {seen[key] + 2}; leave "
                          "one of them out, or give them different values of "
                          f"{', '.join(column for column in REPEATS if column in row) or 'unit'}")
    return rows


def read_drive_capacity(name: str, folder: Path) -> int:
    """Return a drive's capacity from its specification, or from the largest fill in its tables."""
    path = folder / f"{name}-datasheet.csv"
    known = {row.get("key"): row for row in read_table_rows(path)} if path.exists() else {}
    for key in ("capacity_exact", "capacity"):
        if key in known:
            value, unit = known[key].get("value", ""), known[key].get("unit", "")
            if unit not in CAPACITY_UNITS or not re.fullmatch(NUMBER, value) or not float(value):
                raise Refusal(f'{path}: {key} "{value} {unit}" is no capacity; the units are '
                              f"{', '.join(CAPACITY_UNITS)}")
            return int(float(value) * CAPACITY_UNITS[unit])
    tables: Sequence[Path] = [folder / f"{name}-{table}.csv"
                              for table in ("write-steady", "write-zones")]
    fills = [float(row["filled_gib"]) for table in tables if table.exists()
             for row in read_table_rows(table)
             if re.fullmatch(NUMBER, row.get("filled_gib", ""))]
    if not any(fills):
        raise Refusal(f"{folder}: the capacity of {name} is not known; write {path.name} with the "
                      'columns key, value and unit, and the row "capacity_exact,BYTES,byte"',
                      NOT_FOUND)
    return int(max(fills) * GIB)
