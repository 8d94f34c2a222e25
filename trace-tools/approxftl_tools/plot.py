# SPDX-License-Identifier: GPL-2.0-only
"""Figures for papers: SVG and PDF by matplotlib, always in the same style."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from approxftl_tools.command import Refusal, write_file
from approxftl_tools.figure import (
    Bars,
    Curves,
    Dots,
    Figure,
    Grid,
    Panel,
    Panels,
    Plot,
    Spans,
    axis_name,
    axis_number,
    hue,
    number,
)

#: Okabe and Ito: told apart by almost everybody, and in print.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#c8b900", "#5c5c5c")
#: Of what runs are made of: Tol's muted colours and a grey.
PARTS = ("#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255",
         "#aa4499", "#8c8c8c")
SHADES = (1.0, 0.6, 0.32)
HATCHES = ("", "//", "..", "xx")
DASHES = ("-", "--", ":", "-.")
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 9, "figure.dpi": 100,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": False,
    "legend.frameon": False, "svg.fonttype": "none", "svg.hashsalt": "approxftl",
    "pdf.fonttype": 42, "axes.axisbelow": True, "axes.prop_cycle": f"cycler('color', {COLOURS})",
}
#: Of a PNG.
DOTS_PER_INCH = 300
#: Of a name in a legend.
LEGEND_INCHES = 1.6
#: How much each further row of panels adds to the height.
HEIGHTENED = 0.7
#: More bars than that have no room for their values.
VALUES = 16
BEHIND_VALUE = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
#: Cells of a map are set apart by lines if there are at most so many in a row.
LINED = 32
ERASED = "#f2f2f2"
STALE = {"stale precise": "#9a9fa6", "stale approximate": "#cdd0d4"}

Axes = Any


@dataclass(frozen=True)
class Style:
    """How figures look: inches, points, and the colours of policies."""

    width: float = 6.4
    height: float = 3.2
    font: str = "DejaVu Sans"
    font_size: float = 8
    palette: tuple[str, ...] = COLOURS

    def settings(self) -> dict[str, Any]:
        """Return it as matplotlib has it."""
        return {"font.family": self.font, "font.size": self.font_size,
                "axes.titlesize": self.font_size, "legend.fontsize": self.font_size,
                "axes.prop_cycle": f"cycler('color', {self.palette})"}


USUAL = Style()


def library() -> Any:
    """Return matplotlib, drawing to files, in our style."""
    try:
        mpl: Any = import_module("matplotlib")
    except ImportError as error:
        raise Refusal("figures need matplotlib; install it (python3-matplotlib), or use "
                      "approxftl report, which does without") from error
    mpl.use("Agg")
    mpl.rcParams.update(STYLE)
    return mpl


def colour(plot: Panel | Grid | Spans, index: int) -> str:
    """Return the colour of a series, mixed with white for a shade."""
    own = hue(plot, index)
    palette = PARTS if own.palette == "m" else \
        import_module("matplotlib").rcParams["axes.prop_cycle"].by_key()["color"]
    full = palette[own.index % len(palette)]
    parts = [int(full[i:i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - (255 - value) * SHADES[own.shade]):02x}" for value in parts)


def bars(axes: Axes, plot: Bars) -> None:
    """Draw bars."""
    count = 1 if plot.stacked else max(1, len(plot.series))
    width = 0.8 / count
    below = [0.0] * len(plot.categories)
    for i, (name, values) in enumerate(plot.series):
        heights = [value or 0.0 for value in values]
        shift = 0.0 if plot.stacked else (i - (count - 1) / 2) * width
        places = [j + shift for j in range(len(heights))]
        drawn = axes.bar(places, heights, width, below if plot.stacked else None, label=name,
                         color=colour(plot, i), hatch=HATCHES[hue(plot, i).shade],
                         edgecolor="white", linewidth=0.4)
        if not plot.stacked and count * len(heights) <= VALUES:
            axes.bar_label(drawn, ["" if value is None else number(value, 3) for value in values],
                           fontsize=6, padding=1.5, zorder=3, bbox=BEHIND_VALUE)
        below = [a + b for a, b in zip(below, heights, strict=True)]
    slanted = sum(len(name) for name in plot.categories) > 80
    axes.set_xticks(range(len(plot.categories)), plot.categories, rotation=25 if slanted else 0,
                    ha="right" if slanted else "center")
    axes.set_ylabel(plot.unit)
    axes.grid(axis="y", linewidth=0.4, color="#d8dce1")
    if plot.mark is not None:
        axes.axhline(plot.mark, color="black", linewidth=0.8, linestyle="--")


def dots(axes: Axes, plot: Dots) -> None:
    """Draw means with their intervals, a row for each category."""
    step = 0.6 / max(1, len(plot.series))
    for i, (name, values) in enumerate(plot.series):
        there = [(j, one) for j, one in enumerate(values) if one]
        shift = (i - (len(plot.series) - 1) / 2) * step
        axes.errorbar([one.mean for _, one in there], [j + shift for j, _ in there],
                      xerr=[one.half or 0 for _, one in there], label=name, color=colour(plot, i),
                      fmt="o", markersize=4, capsize=2)
    axes.set_yticks(range(len(plot.categories)), plot.categories)
    axes.invert_yaxis()
    axes.set_xlabel(plot.unit)
    axes.grid(axis="x", linewidth=0.4, color="#d8dce1")
    if plot.mark is not None:
        axes.axvline(plot.mark, color="black", linewidth=0.8, linestyle="--")


def curves(axes: Axes, plot: Curves) -> None:
    """Draw lines."""
    for i, (name, xs, ys) in enumerate(plot.curves):
        axes.plot(xs, ys, label=name, color=colour(plot, i), linewidth=1.3,
                  linestyle="" if plot.points else DASHES[i % len(DASHES)],
                  marker="o" if plot.points else None, markersize=4,
                  drawstyle="steps-post" if plot.steps else "default")
    if plot.log_x:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: axis_number(value, plot.x_label))
    axes.set_xlabel(axis_name(plot.x_label))
    axes.set_ylabel(plot.y_label)
    if plot.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min([0.0, *(y for _, _, ys in plot.curves for y in ys)]))
    axes.grid(linewidth=0.4, color="#d8dce1")


def word_colours(plot: Grid) -> list[str]:
    """Return the colours of words; what is gone is grey."""
    return [ERASED if word == "erased" else STALE.get(word, colour(plot, i))
            for i, word in enumerate(plot.words)]


def some(names: Sequence[str], most: int) -> tuple[list[int], list[str]]:
    """Return the places and names of some of them."""
    step = 1 << (-(-len(names) // most) - 1).bit_length()
    return list(range(0, len(names), step)), list(names[::step])


def grid(axes: Axes, plot: Grid, mpl: Any) -> None:
    """Draw cells."""
    if plot.words:
        numbers = [[plot.words.index(str(v)) if v is not None else -1 for v in row]
                   for row in plot.cells]
        shades = mpl.colors.ListedColormap(word_colours(plot))
        axes.imshow(numbers, cmap=shades, aspect="auto", vmin=-0.5, vmax=len(plot.words) - 0.5,
                    interpolation="nearest")
        there = {value for row in plot.cells for value in row}
        for word, shade in zip(plot.words, word_colours(plot), strict=True):
            if word in there:
                axes.plot([], [], "s", color=shade, label=word)
    else:
        numbers_ = [[float("nan") if v is None else float(v) for v in row] for row in plot.cells]
        image = axes.imshow(numbers_, cmap="cividis", aspect="auto", interpolation="nearest")
        axes.figure.colorbar(image, ax=axes, label=plot.value_label)
    axes.set_xticks(*some(plot.column_names, 16))
    axes.set_yticks(*some(plot.row_names, 16))
    for axis, count in ((axes.xaxis, len(plot.column_names)), (axes.yaxis, len(plot.row_names))):
        if count <= LINED:
            axis.set_minor_locator(mpl.ticker.FixedLocator([i + 0.5 for i in range(count - 1)]))
            axis.grid(which="minor", color="white", linewidth=0.6)
            axis.set_tick_params(which="minor", length=0)
    axes.set_xlabel(plot.column_label)
    axes.set_ylabel(plot.row_label)


def spans(axes: Axes, plot: Spans) -> None:
    """Draw what happens on lanes."""
    there = {span.kind for span in plot.spans}
    for i, kind in enumerate(plot.kinds):
        for lane in range(len(plot.lanes)):
            here = [(s.begin, s.end - s.begin) for s in plot.spans
                    if s.lane == lane and s.kind == kind]
            # Its edge lets be seen what is shorter than a point of the paper.
            axes.broken_barh(here, (lane - 0.4, 0.8), color=colour(plot, i), linewidth=0.25,
                             label=kind if lane == 0 and kind in there else None)
    axes.set_yticks(range(len(plot.lanes)), plot.lanes)
    axes.invert_yaxis()
    label = f"time, {plot.x_label}"
    axes.xaxis.set_major_formatter(lambda value, _: axis_number(value, label))
    axes.set_xlabel(axis_name(label))


def one(axes: Axes, plot: Panel | Grid | Spans, mpl: Any) -> None:
    """Draw a plot."""
    if isinstance(plot, Bars):
        bars(axes, plot)
    elif isinstance(plot, Dots):
        dots(axes, plot)
    elif isinstance(plot, Curves):
        curves(axes, plot)
    elif isinstance(plot, Grid):
        grid(axes, plot, mpl)
    elif isinstance(plot, Spans):
        spans(axes, plot)


def render(figure: Figure, kind: str, style: Style = USUAL) -> bytes:
    """Return a figure as a file of this kind; the same figure gives the same bytes."""
    mpl = library()
    with mpl.rc_context(style.settings()):
        return as_file(drawn(figure.plot, style, mpl), kind, figure.title)


def as_file(canvas: Any, kind: str, title: str) -> bytes:
    """Return what was drawn as a file."""
    out = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    canvas.savefig(out, format=kind, dpi=DOTS_PER_INCH, metadata={"Title": title, **dated})
    return out.getvalue()


def drawn(plot: Plot, style: Style, mpl: Any) -> Any:
    """Return a figure of matplotlib."""
    from matplotlib.figure import Figure as Canvas

    panels = plot.panels if isinstance(plot, Panels) else [("", plot)]
    kinds = {type(plot_) for _, plot_ in panels}
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    canvas = Canvas(figsize=(style.width, style.height * (1 + HEIGHTENED * (rows - 1))),
                    layout="constrained")
    places = canvas.subplots(rows, columns, squeeze=False, sharex=kinds != {Bars},
                             sharey=kinds != {Dots}).flat
    named: dict[str, Any] = {}
    for axes, (name, plot_) in zip(places, panels, strict=False):
        one(axes, plot_, mpl)
        axes.set_title(name)
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    for axes in list(places)[len(panels):]:
        axes.set_axis_off()
    if len(named) > (kinds == {Bars}):
        canvas.legend(named.values(), named, loc="outside upper center",
                      ncols=max(1, int(style.width / LEGEND_INCHES)))
    return canvas


def save(figure: Figure, kind: str, path: Path, style: Style) -> None:
    """Write a figure."""
    write_file(path, render(figure, kind, style))
