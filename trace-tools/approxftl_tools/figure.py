# SPDX-License-Identifier: GPL-2.0-only
"""What a figure shows, before anything is drawn.

A figure knows its numbers: whoever draws it, as SVG in a report or for a paper, draws what
`rows()` returns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from approxftl_tools.statistics import Estimate

#: A number, a word, or nothing.
Cell = float | int | str | None


@dataclass(frozen=True)
class Hue:
    """A colour: of policies (s) or of what runs are made of (m), which, and in which shade."""

    palette: str
    index: int
    shade: int = 0


@dataclass(frozen=True)
class Bars:
    """Values by category and series; stacked, they are parts of one bar per category."""

    categories: Sequence[str]
    series: Sequence[tuple[str, Sequence[float | None]]]
    unit: str
    stacked: bool = False
    #: A line across, such as where the yardstick is.
    mark: float | None = None
    hues: Sequence[Hue] = ()

    def head(self) -> list[str]:
        """Return the columns."""
        return ["", *(name for name, _ in self.series)]

    def rows(self) -> list[list[Cell]]:
        """Return a row for each category."""
        return [[category, *(values[i] for _, values in self.series)]
                for i, category in enumerate(self.categories)]


@dataclass(frozen=True)
class Dots:
    """Means with their intervals, by category and series."""

    categories: Sequence[str]
    series: Sequence[tuple[str, Sequence[Estimate | None]]]
    unit: str
    #: A line across, such as where the yardstick is.
    mark: float | None = None
    hues: Sequence[Hue] = ()

    def head(self) -> list[str]:
        """Return the columns."""
        return ["", "of", self.unit, "low", "high", "runs"]

    def rows(self) -> list[list[Cell]]:
        """Return a row for each mean."""
        return [[category, name, one.mean, one.low, one.high, one.count]
                for i, category in enumerate(self.categories)
                for name, values in self.series if (one := values[i])]


@dataclass(frozen=True)
class Curves:
    """Lines over a common axis, each with its own points."""

    x_label: str
    y_label: str
    curves: Sequence[tuple[str, Sequence[float], Sequence[float]]]
    log_x: bool = False
    log_y: bool = False
    #: Values hold until the next point.
    steps: bool = False
    #: Points are measurements, not a line.
    points: bool = False
    hues: Sequence[Hue] = ()

    def head(self) -> list[str]:
        """Return the columns."""
        return ["curve", self.x_label, self.y_label]

    def rows(self) -> list[list[Cell]]:
        """Return a row for each point."""
        return [[name, x, y] for name, xs, ys in self.curves
                for x, y in zip(xs, ys, strict=True)]


@dataclass(frozen=True)
class Grid:
    """A value or a word for each cell of rows and columns; None where there is nothing."""

    row_label: str
    column_label: str
    row_names: Sequence[str]
    column_names: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    value_label: str
    #: The words, in the order of their legend; empty if cells are numbers.
    words: Sequence[str] = ()
    hues: Sequence[Hue] = ()

    def head(self) -> list[str]:
        """Return the columns."""
        return [self.row_label, self.column_label, self.value_label]

    def rows(self) -> list[list[Cell]]:
        """Return a row for each cell."""
        return [[row, column, value]
                for row, values in zip(self.row_names, self.cells, strict=True)
                for column, value in zip(self.column_names, values, strict=True)]


@dataclass(frozen=True)
class Span:
    """Something that lasts, on a lane."""

    lane: int
    begin: float
    end: float
    kind: str
    text: str


@dataclass(frozen=True)
class Spans:
    """What happens on lanes over time."""

    x_label: str
    lanes: Sequence[str]
    kinds: Sequence[str]
    spans: Sequence[Span]
    hues: Sequence[Hue] = ()

    def head(self) -> list[str]:
        """Return the columns."""
        return ["lane", f"begin, {self.x_label}", f"end, {self.x_label}", "what", "details"]

    def rows(self) -> list[list[Cell]]:
        """Return a row for each span."""
        return [[self.lanes[s.lane], s.begin, s.end, s.kind, s.text] for s in self.spans]


@dataclass(frozen=True)
class Mark:
    """A mean of a study or a value of others, and where it stands."""

    facet: str
    series: str
    x: float | int | str
    y: float
    low: float | None
    high: float | None
    #: Of others it has none.
    runs: int | None
    source: str


#: In place of a place: everywhere.
LEVEL = ""


@dataclass(frozen=True)
class Means:
    """Means of a study with their intervals, and what others have measured beside them."""

    #: lines, dots, bars, stack or cdf.
    kind: str
    x_label: str
    y_label: str
    facets: Sequence[str]
    #: Our own first.
    series: Sequence[str]
    xs: Sequence[float | int | str]
    marks: Sequence[Mark]
    #: Where the yardstick is, if there is one.
    line: float | None = None
    log_x: bool = False
    log_y: bool = False
    hues: Sequence[Hue] = ()

    def head(self) -> list[str]:
        """Return the columns."""
        return [one.name for one in fields(Mark)]

    def rows(self) -> list[list[Cell]]:
        """Return a row for each mark."""
        return [[*vars(mark).values()] for mark in self.marks]

    @property
    def numeric(self) -> bool:
        """Tell whether places are quantities."""
        return self.kind in ("lines", "cdf")

    @property
    def filled(self) -> bool:
        """Tell whether our means stand on zero."""
        return self.kind in ("bars", "stack")

    def place(self, mark: Mark) -> float | None:
        """Return the place of a mark, or its number; None if the axis has none such."""
        if self.numeric:
            return as_number(mark.x)
        names = [str(x) for x in self.xs]
        return names.index(str(mark.x)) if str(mark.x) in names else None


def as_number(x: float | int | str) -> float | None:
    """Return the quantity of an axis' value such as 7, 0.5 or 7%."""
    try:
        return float(str(x).removesuffix("%"))
    except ValueError:
        return None


#: What can stand side by side.
Panel = Bars | Dots | Curves | Means


@dataclass(frozen=True)
class Panels:
    """Plots of one kind side by side, by what they are of, on the same scales."""

    panels: Sequence[tuple[str, Panel]]

    def head(self) -> list[str]:
        """Return the columns."""
        return [*self.panels[0][1].head(), "panel"]

    def rows(self) -> list[list[Cell]]:
        """Return the rows of each."""
        return [[*row, name] for name, plot in self.panels for row in plot.rows()]


Plot = Panel | Grid | Spans | Panels


def hue(plot: Panel | Grid | Spans, index: int) -> Hue:
    """Return the colour of a series, a curve, a word or a kind; by its place if it has none."""
    return plot.hues[index] if plot.hues else Hue("s", index % 8, index // 8 % 3)


def names_of(plot: Plot) -> list[str]:
    """Return what has colours, and a place in a legend."""
    if isinstance(plot, Bars | Dots):
        return [name for name, _ in plot.series]
    if isinstance(plot, Curves):
        return [name for name, _, _ in plot.curves]
    if isinstance(plot, Means):
        return list(plot.series)
    if isinstance(plot, Panels):
        return list(dict.fromkeys(name for _, one in plot.panels for name in names_of(one)))
    return list(plot.words if isinstance(plot, Grid) else plot.kinds)


def hues_of(plot: Plot) -> dict[str, Hue]:
    """Return the colour of each name."""
    if isinstance(plot, Panels):
        return {name: own for _, one in plot.panels for name, own in hues_of(one).items()}
    return {name: hue(plot, i) for i, name in enumerate(names_of(plot))}


def panels_of(plot: Panel | Panels) -> Sequence[tuple[str, Panel]]:
    """Return what stands side by side; a plot alone has no name."""
    if isinstance(plot, Means):
        return [(facet, replace(plot, facets=[facet], marks=[
            mark for mark in plot.marks if mark.facet == facet])) for facet in plot.facets]
    return plot.panels if isinstance(plot, Panels) else [("", plot)]


@dataclass(frozen=True)
class Figure:
    """A picture with its words."""

    name: str
    title: str
    #: What it shows and how to read it, for who cannot see it, too.
    description: str
    plot: Plot
    #: Where its numbers come from.
    sources: Sequence[str] = field(default_factory=tuple)
    #: The run that all of it is of.
    of: str = ""

    def csv(self, digits: int = 0) -> str:
        """Return the numbers behind it, all of them or so many digits."""
        def written(cell: Cell) -> Cell:
            return f"{cell:.{digits}g}" if digits and isinstance(cell, float) else cell

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.plot.head())
        writer.writerows([[written(cell) for cell in row] for row in self.plot.rows()])
        return out.getvalue()


def number(value: Cell, digits: int = 4) -> str:
    """Return a number as a person would write it."""
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value)}" if abs(value) < 1e15 else f"{value:.{digits}g}"
    return f"{value:.{digits}g}"


#: An axis whose name ends so has times.
IN_US = ", us"
TIME_LABEL = f"response time{IN_US}"


def axis_name(label: str) -> str:
    """Return the name of an axis; the ticks of times have their units."""
    return label.removesuffix(IN_US)


def axis_number(value: float, label: str) -> str:
    """Return a tick of an axis."""
    if not label.endswith(IN_US) or not value:
        return number(value)
    for unit, size in (("s", 1e6), ("ms", 1e3), ("us", 1.0)):
        if value >= size:
            return f"{number(round(value / size, 6))} {unit}"
    return f"{number(round(value * 1e3, 6))} ns"
