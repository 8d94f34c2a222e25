# SPDX-License-Identifier: GPL-2.0-only
"""The results of a sweep as a table: what varied, and the measures asked for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from approxftl_tools import measures
from approxftl_tools.command import USAGE, Refusal, understanding
from approxftl_tools.sweep_plan import Plan, Point
from approxftl_tools.sweep_store import DONE, Store

DEFAULT = ("write_response_mean_ns", "write_response_p99_ns", "read_response_mean_ns",
           "write_amplification", "energy_total_pj", "erases")

Row = dict[str, Any]


def chosen(text: str | None) -> tuple[str, ...]:
    """Return the keys of measures from a list with commas."""
    keys = tuple(text.split(",")) if text else DEFAULT
    wrong = [key for key in keys if key not in measures.BY_KEY]
    if wrong:
        raise Refusal(f'no measure "{wrong[0]}"; there are {", ".join(measures.BY_KEY)}', USAGE)
    return keys


def rows_of(point: Point, where: Path, document: dict[str, Any],
            keys: Sequence[str]) -> Iterable[Row]:
    """Return a row for each policy that a point ran."""
    unit = document.get("geometry", {}).get("unit_bytes")
    for run in document["runs"]:
        with understanding([where]):
            found = measures.measured(run, unit)
        yield {**dict(point.varied), "policy": run["policy"], **{key: found[key] for key in keys}}


def table(plan: Plan, store: Store, keys: Sequence[str]) -> list[Row]:
    """Return the rows of all points that are done."""
    return [row for point in plan.points if store.state(point) == DONE
            for row in rows_of(point, store.place(point), store.result(point), keys)]


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows for a spreadsheet."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def cell(key: str, value: Any) -> str:
    """Return a cell for a person."""
    measure = measures.BY_KEY.get(key)
    return measures.human(measure, value) if measure else str(value)


def as_text(rows: Sequence[Row]) -> str:
    """Return rows for a terminal."""
    if not rows:
        return "no point is done\n"
    heads = [measures.BY_KEY[key].title if key in measures.BY_KEY else key for key in rows[0]]
    cells = [heads, *([cell(key, value) for key, value in row.items()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
             for line in cells)
    return "\n".join(line.rstrip() for line in lines) + "\n"
