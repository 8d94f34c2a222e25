# SPDX-License-Identifier: GPL-2.0-only
"""Figures of studies, drawn by matplotlib in the style that a file asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approxftl_tools import plot
from approxftl_tools.command import USAGE, Refusal
from approxftl_tools.figure import LEVEL, Figure, Mark, Means, as_number
from approxftl_tools.plot import Style
from approxftl_tools.study_plan import check_known, load

Axes = Any

FORMATS = ("svg", "pdf", "png")
#: Inches: a column of a page, and both.
WIDTHS = {"single": 3.5, "double": 7.16}
#: What a figure of a study is, if nothing is said.
COLUMN = Style(WIDTHS["single"], 2.4)
STYLE_KEYS = ("width", "height", "font", "font_size", "palette")
MARKERS = "osD^vPX*"
#: In sizes of the font: how wide a letter is, and how high a row of the legend.
LETTER, ROW = 0.55, 1.6
#: Letters that fit where the mark of a name is in the legend.
MARK_LETTERS = 6
#: Rows of a legend that a figure has room for.
FEW_ROWS = 3
#: Places of an axis that are named, all of them.
MOST_NAMED = 8
#: Of an axis, in a row.
MOST_LETTERS = 60


def inches(path: Path, key: str, value: object) -> float:
    """Return a length."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 50:
        raise Refusal(f"{path}: {key} is from 1 to 50 inches"
                      + (f", or one of {', '.join(WIDTHS)}" if key == "width" else ""), USAGE)
    return float(value)


def read_style(path: Path | None, width: str, own: Style = COLUMN) -> Style:
    """Read a style; the width of the command line comes before the file's."""
    table = load(path) if path else {}
    where = path or Path("--width")
    check_known(where, "key", table, STYLE_KEYS)
    wide = width or table.get("width", own.width)
    palette = table.get("palette", list(own.palette))
    if not isinstance(palette, list) or not palette or not all(
            isinstance(one, str) and re.fullmatch("#[0-9a-fA-F]{6}", one) for one in palette):
        raise Refusal(f'{where}: palette is a list of colours such as "#0072b2"', USAGE)
    size = table.get("font_size", own.font_size)
    if isinstance(size, bool) or not isinstance(size, int | float) or not 3 <= size <= 72:
        raise Refusal(f"{where}: font_size is from 3 to 72 points", USAGE)
    return Style(WIDTHS.get(str(wide)) or inches(where, "width", wide),
                 inches(where, "height", table.get("height", own.height)),
                 str(table.get("font", own.font)), float(size), tuple(palette))


def errors(marks: Sequence[Mark]) -> Any:
    """Return how far error bars reach, down and up; None without any."""
    if all(mark.low is None or mark.high is None for mark in marks):
        return None
    return [[mark.y - (mark.y if mark.low is None else mark.low) for mark in marks],
            [(mark.y if mark.high is None else mark.high) - mark.y for mark in marks]]


@dataclass(frozen=True)
class Series:
    """Where a series stands, and how it looks."""

    index: int
    shift: float
    width: float
    style: Style

    @property
    def colour(self) -> str:
        """Return its colour."""
        return self.style.palette[self.index % len(self.style.palette)]


def draw_bars(axes: Axes, stacked: bool, placed: Sequence[tuple[float, Mark]], look: Series,
              below: dict[float, float]) -> None:
    """Draw bars side by side, or upon what is there."""
    here = [mark for _, mark in placed]
    axes.bar([x for x, _ in placed], [mark.y for mark in here], 0.8 if stacked else look.width,
             bottom=[below.get(x, 0.0) for x, _ in placed] if stacked else None,
             yerr=errors(here), label=here[0].series, color=look.colour, capsize=2,
             error_kw={"elinewidth": 0.8}, edgecolor="white", linewidth=0.3,
             hatch=plot.HATCHES[look.index % len(plot.HATCHES)])
    for x, mark in placed:
        below[x] = below.get(x, 0.0) + mark.y


def name_of(mark: Mark) -> str:
    """Return what the legend says."""
    return " ".join(filter(None, (mark.series, "" if mark.runs is not None
                                  else f"({mark.source})")))


def draw_levels(axes: Axes, levels: Sequence[Mark], look: Series) -> None:
    """Draw what is not of one place."""
    for mark in levels:
        axes.axhline(mark.y, label=name_of(mark), color=look.colour, linewidth=1,
                     linestyle=(0, (5, 2)))
        if mark.low is not None and mark.high is not None:
            axes.axhspan(mark.low, mark.high, color=look.colour, alpha=0.12, linewidth=0)


def draw(axes: Axes, chart: Means, marks: Sequence[Mark], look: Series, below: dict[float, float]
         ) -> None:
    """Draw our means of a series, or others' points."""
    draw_levels(axes, [mark for mark in marks if mark.runs is None and mark.x == LEVEL], look)
    shift = 0.0 if chart.numeric else look.shift
    placed = [(x + shift, mark) for mark in marks if (x := chart.place(mark)) is not None]
    if not placed:
        return
    here = [mark for _, mark in placed]
    own, index = here[0].runs is not None, look.index
    if own and chart.filled:
        draw_bars(axes, chart.kind == "stack", placed, look, below)
        return
    if own and chart.kind == "cdf":
        axes.step([x for x, _ in placed], [mark.y for mark in here], where="post", linewidth=1,
                  label=here[0].series, color=look.colour,
                  linestyle=plot.DASHES[index % len(plot.DASHES)])
        return
    hollow = {} if own else {"markerfacecolor": "none", "alpha": 0.9}
    axes.errorbar([x for x, _ in placed], [mark.y for mark in here], yerr=errors(here),
                  label=name_of(here[0]),
                  color=look.colour, marker=MARKERS[index % len(MARKERS)] if own else "d",
                  markersize=3.5 if own else 5.5, linewidth=1, capsize=2, elinewidth=0.8,
                  linestyle=plot.DASHES[index % len(plot.DASHES)]
                  if own and chart.kind == "lines" else "", **hollow)


def name_places(axes: Axes, chart: Means) -> None:
    """Say what stands where: all of it if there is room."""
    names = [str(x) for x in chart.xs]
    if not chart.numeric:
        long = max(map(len, names)) * len(names) > MOST_LETTERS
        axes.set_xticks(range(len(names)), names, rotation=30 if long else 0,
                        ha="right" if long else "center")
        axes.set_xlim(-0.5, len(names) - 0.5)
        return
    axes.set_xscale("log" if chart.log_x else "linear")
    if len(names) <= MOST_NAMED:
        axes.set_xticks([as_number(x) for x in chart.xs], names)
        axes.minorticks_off()


def panel(axes: Axes, chart: Means, facet: str, style: Style) -> None:
    """Draw a panel."""
    sources = dict.fromkeys(mark.source for mark in chart.marks)
    step = (0.8 if chart.kind == "bars" else 0.6) / max(1, len(chart.series))
    below: dict[float, float] = {}
    for index, name in enumerate(chart.series):
        shift = 0.0 if chart.kind == "stack" else (index - (len(chart.series) - 1) / 2) * step
        for source in sources:
            draw(axes, chart, [mark for mark in chart.marks if mark.series == name
                               and mark.source == source and mark.facet == facet],
                 Series(index, shift, step, style), below)
    if chart.line is not None:
        axes.axhline(chart.line, color="black", linewidth=0.6, linestyle=":")
    name_places(axes, chart)
    if chart.log_y:
        axes.set_yscale("log")
    axes.set_title(facet)
    axes.set_xlabel(chart.x_label)
    axes.grid(axis="y", linewidth=0.4, color="#d8dce1")


def columns_of(names: Sequence[str], style: Style) -> int:
    """Return how many columns of a legend fit."""
    letters = max(map(len, names)) + MARK_LETTERS
    return max(1, int(style.width / max(1.7, letters * LETTER * style.font_size / 72)))


def render(figure: Figure, kind: str, style: Style) -> bytes:
    """Return a figure as a file of this kind; the same figure gives the same bytes."""
    mpl, chart = plot.library(), figure.plot
    assert isinstance(chart, Means)
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(style.settings()):
        canvas = Canvas(figsize=(style.width, style.height), layout="constrained")
        panels = canvas.subplots(1, len(chart.facets), sharex=True, sharey=True, squeeze=False)[0]
        for axes, facet in zip(panels, chart.facets, strict=True):
            panel(axes, chart, facet, style)
        panels[0].set_ylabel(chart.y_label)
        handles, names = panels[0].get_legend_handles_labels()
        if names:
            columns = columns_of(names, style)
            more = max(0, -(-len(names) // columns) - FEW_ROWS) * ROW * style.font_size / 72
            canvas.set_size_inches(style.width, style.height + more)
            canvas.legend(handles, names, loc="outside upper center", ncols=columns)
        return plot.as_file(canvas, kind, figure.title)
