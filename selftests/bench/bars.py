# SPDX-License-Identifier: GPL-2.0-only
"""Performance limits that benchmarks check, and tables of results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bar:
    """A measured value of a benchmark, and the limit that it must reach or not exceed."""

    what: str
    ours: float
    limit: float
    unit: str
    least: bool = True

    @property
    def is_limit_met(self) -> bool:
        """Tell whether the measured value meets its limit."""
        return self.ours >= self.limit if self.least else self.ours <= self.limit

    def convert_limit_to_json(self) -> dict[str, Any]:
        """Return the limit as the members of a JSON object."""
        return {
            "what": self.what, "ours": self.ours, "limit": self.limit,
            "at_least": self.least, "unit": self.unit, "met": self.is_limit_met,
        }


def print_table_in_columns(lines: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print the rows of a table in columns, of which the first ones are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [f"{cell:{'<' if i < left else '>'}{width}}"
                 for i, (cell, width) in enumerate(zip(line, widths, strict=True))]
        print("  ".join(cells).rstrip())


def print_limits(bars: Sequence[Bar]) -> None:
    """Print each limit, and whether the measured value meets it."""
    print_table_in_columns([("bar", "ours", "limit", "unit", "")] + [
        (b.what, f"{b.ours:.2f}", f"{'>=' if b.least else '<='} {b.limit:g}", b.unit,
         "met" if b.is_limit_met else "missed") for b in bars
    ])
