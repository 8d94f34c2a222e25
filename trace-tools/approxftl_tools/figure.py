# SPDX-License-Identifier: GPL-2.0-only
"""The data of a figure, independent of how it is drawn.

Every renderer, SVG in a report or a file for a paper, draws the numbers that `csv_rows()` returns.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from approxftl_tools.statistics import Estimate

#: A number, a word, or None for an empty cell.
Cell = float | int | str | None


@dataclass(frozen=True)
class Hue:
    """A colour of a figure: an index and a shade in palette "s" (policies) or "m" (run parts)."""

    palette: str
    index: int
    shade: int = 0


@dataclass(frozen=True)
class Bars:
    """Bar plot: a bar for each category and series, or one bar of stacked series per category."""

    categories: Sequence[str]
    series: Sequence[tuple[str, Sequence[float | None]]]
    unit: str
    stacked: bool = False
    #: A horizontal reference line, such as the yardstick's value.
    mark: float | None = None
    hues: Sequence[Hue] = ()

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return ["", *(name for name, _ in self.series)]

    def csv_rows(self) -> list[list[Cell]]:
        return [[category, *(values[i] for _, values in self.series)]
                for i, category in enumerate(self.categories)]


@dataclass(frozen=True)
class Dots:
    """Dot plot: a mean with its confidence interval for each category and series."""

    categories: Sequence[str]
    series: Sequence[tuple[str, Sequence[Estimate | None]]]
    unit: str
    #: A reference line, such as the yardstick's value.
    mark: float | None = None
    hues: Sequence[Hue] = ()

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return ["", "of", self.unit, "low", "high", "runs"]

    def csv_rows(self) -> list[list[Cell]]:
        return [[category, name, one.mean, one.low, one.high, one.count]
                for i, category in enumerate(self.categories)
                for name, values in self.series if (one := values[i])]


@dataclass(frozen=True)
class Curves:
    """Line plot: curves with a common x axis; each curve has its own points."""

    x_label: str
    y_label: str
    curves: Sequence[tuple[str, Sequence[float], Sequence[float]]]
    log_x: bool = False
    log_y: bool = False
    #: True if a value holds until the next point.
    steps: bool = False
    #: True if points are drawn as single measurements, not as a line.
    points: bool = False
    hues: Sequence[Hue] = ()

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return ["curve", self.x_label, self.y_label]

    def csv_rows(self) -> list[list[Cell]]:
        """Return a CSV row for each point of a curve."""
        return [[name, x, y] for name, xs, ys in self.curves
                for x, y in zip(xs, ys, strict=True)]


@dataclass(frozen=True)
class Grid:
    """A map of values or words by row and column; None marks an empty cell."""

    row_label: str
    column_label: str
    row_names: Sequence[str]
    column_names: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    value_label: str
    #: The words in the order of the legend; empty if cells are numbers.
    words: Sequence[str] = ()
    hues: Sequence[Hue] = ()

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return [self.row_label, self.column_label, self.value_label]

    def csv_rows(self) -> list[list[Cell]]:
        """Return a CSV row for each cell of the map: row name, column name, value."""
        return [[row, column, value]
                for row, values in zip(self.row_names, self.cells, strict=True)
                for column, value in zip(self.column_names, values, strict=True)]


@dataclass(frozen=True)
class Span:
    """A time span in one row of a timeline."""

    lane: int
    begin: float
    end: float
    kind: str
    text: str


@dataclass(frozen=True)
class Spans:
    """Time spans in rows of a timeline, such as operations of LUNs."""

    x_label: str
    lanes: Sequence[str]
    kinds: Sequence[str]
    spans: Sequence[Span]
    hues: Sequence[Hue] = ()

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return ["lane", f"begin, {self.x_label}", f"end, {self.x_label}", "what", "details"]

    def csv_rows(self) -> list[list[Cell]]:
        """Return a CSV row for each time span of an operation."""
        return [[self.lanes[s.lane], s.begin, s.end, s.kind, s.text] for s in self.spans]


@dataclass(frozen=True)
class Mark:
    """A mean that a study measured, or a published value, with its position in the figure."""

    facet: str
    series: str
    x: float | int | str
    y: float
    low: float | None
    high: float | None
    #: Number of runs; None for values published by others.
    runs: int | None
    source: str


#: The x of a mark that applies everywhere, drawn as a level.
LEVEL = ""


@dataclass(frozen=True)
class Means:
    """Means of a study with their intervals, beside values published by others."""

    #: One of lines, dots, bars, stack and cdf.
    kind: str
    x_label: str
    y_label: str
    facets: Sequence[str]
    #: The study's own series come first.
    series: Sequence[str]
    xs: Sequence[float | int | str]
    marks: Sequence[Mark]
    #: The yardstick's value, if there is one.
    line: float | None = None
    log_x: bool = False
    log_y: bool = False
    hues: Sequence[Hue] = ()

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return [one.name for one in fields(Mark)]

    def csv_rows(self) -> list[list[Cell]]:
        return [[*vars(mark).values()] for mark in self.marks]

    @property
    def is_x_axis_numeric(self) -> bool:
        return self.kind in ("lines", "cdf")

    @property
    def is_bar_chart(self) -> bool:
        """Tell whether the study's means are drawn as bars from zero."""
        return self.kind in ("bars", "stack")

    def x_position_of_mark(self, mark: Mark) -> float | None:
        """Return a mark's x value, or its index on an axis of names; None if the axis lacks it."""
        if self.is_x_axis_numeric:
            return axis_value_as_number(mark.x)
        names = [str(x) for x in self.xs]
        return names.index(str(mark.x)) if str(mark.x) in names else None


def axis_value_as_number(x: float | int | str) -> float | None:
    """Return an axis value such as 7, 0.5 or 7% as a number; None for any other value."""
    try:
        return float(str(x).removesuffix("%"))
    except ValueError:
        return None


#: The plots that can stand side by side.
Panel = Bars | Dots | Curves | Means


@dataclass(frozen=True)
class Panels:
    """Several plots of one kind, drawn side by side on the same scales."""

    panels: Sequence[tuple[str, Panel]]

    def list_csv_column_names(self) -> list[str]:
        """Return the column names of the CSV table."""
        return [*self.panels[0][1].list_csv_column_names(), "panel"]

    def csv_rows(self) -> list[list[Cell]]:
        return [[*row, name] for name, plot in self.panels for row in plot.csv_rows()]


Plot = Panel | Grid | Spans | Panels


def series_colour(plot: Panel | Grid | Spans, index: int) -> Hue:
    """Return the colour of the plot's series or legend word with this index."""
    return plot.hues[index] if plot.hues else Hue("s", index % 8, index // 8 % 3)


def list_names_in_plot_legend(plot: Plot) -> list[str]:
    """Return the names in a plot (series, curves or words) that have a colour in the legend."""
    if isinstance(plot, Bars | Dots):
        return [name for name, _ in plot.series]
    if isinstance(plot, Curves):
        return [name for name, _, _ in plot.curves]
    if isinstance(plot, Means):
        return list(plot.series)
    if isinstance(plot, Panels):
        return list(dict.fromkeys(name for _, one in plot.panels
                                  for name in list_names_in_plot_legend(one)))
    return list(plot.words if isinstance(plot, Grid) else plot.kinds)


def choose_colours_of_plot_names(plot: Plot) -> dict[str, Hue]:
    if isinstance(plot, Panels):
        return {name: own for _, one in plot.panels
                for name, own in choose_colours_of_plot_names(one).items()}
    return {name: series_colour(plot, i)
            for i, name in enumerate(list_names_in_plot_legend(plot))}


def list_names_and_panels_of_plot(plot: Panel | Panels) -> Sequence[tuple[str, Panel]]:
    """Return the panels with their names; the panel of a single plot has an empty name."""
    if isinstance(plot, Means):
        return [(facet, replace(plot, facets=[facet], marks=[
            mark for mark in plot.marks if mark.facet == facet])) for facet in plot.facets]
    return plot.panels if isinstance(plot, Panels) else [("", plot)]


@dataclass(frozen=True)
class Figure:
    """A figure: a plot with a title and a description."""

    name: str
    title: str
    #: Says what the plot shows and how to read it, also for readers who cannot see it.
    description: str
    plot: Plot
    #: Files that the numbers come from.
    sources: Sequence[str] = field(default_factory=tuple)
    #: The run that the whole figure is about; empty if there are several.
    of: str = ""

    def figure_as_csv(self, digits: int = 0) -> str:
        """Return the figure's numbers as CSV, rounded to a number of digits (0: not rounded)."""
        def csv_value_text(cell: Cell) -> Cell:
            return f"{cell:.{digits}g}" if digits and isinstance(cell, float) else cell

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.plot.list_csv_column_names())
        writer.writerows([[csv_value_text(cell) for cell in row] for row in self.plot.csv_rows()])
        return out.getvalue()


def number_as_text(value: Cell, digits: int = 4) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value)}" if abs(value) < 1e15 else f"{value:.{digits}g}"
    return f"{value:.{digits}g}"


#: Suffix of the label of an axis in microseconds.
IN_US = ", us"
TIME_LABEL = f"response time{IN_US}"


def printed_axis_name(label: str) -> str:
    """Return an axis label without "us", because the ticks of a time axis print their units."""
    return label.removesuffix(IN_US)


def axis_tick_text(value: float, label: str) -> str:
    if not label.endswith(IN_US) or not value:
        return number_as_text(value)
    for unit, size in (("s", 1e6), ("ms", 1e3), ("us", 1.0)):
        if value >= size:
            return f"{number_as_text(round(value / size, 6))} {unit}"
    return f"{number_as_text(round(value * 1e3, 6))} ns"
