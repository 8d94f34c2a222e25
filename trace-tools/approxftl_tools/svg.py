# SPDX-License-Identifier: GPL-2.0-only
"""Draw figures as SVG elements of an HTML page, with colours set by CSS classes.

Every mark has a title element that describes it; the figure has a title and a description.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from html import escape
from itertools import groupby, pairwise
from typing import Any

from approxftl_tools.figure import (
    LEVEL,
    Bars,
    Cell,
    Curves,
    Dots,
    Figure,
    Grid,
    Hue,
    Mark,
    Means,
    Panel,
    Panels,
    Spans,
    axis_tick_text,
    list_names_and_panels_of_plot,
    list_names_in_plot_legend,
    number_as_text,
    printed_axis_name,
    series_colour,
)
from approxftl_tools.statistics import Estimate

#: Width of a drawing: the column of a page, unless a figure has a size in inches.
WIDTH: ContextVar[int] = ContextVar("width", default=760)
#: Space for the labels of the vertical axis, and at the right.
LEFT, RIGHT = 76, 12
LETTER = 6.4
LINE = 18
PLOT_HEIGHT = 240
#: With more positions than this on an axis, not every one gets a tick.
TICKS = 12
#: Space beyond the first and last position, as a share of their distance.
MARGIN = 0.05
#: Distance between the marks of two series with the same x value, as a share of the axis, and the
#: largest distance between the first and the last series
APART, ALL_APART = 0.012, 0.06
#: Classes for the shades of a colour, of filled marks and of lines.
PALER, DASHED = ("", " pale", " faint"), ("", " dashed", " dotted")
#: First letter of the CSS classes of lines, for each palette.
LINES = {"s": "l", "m": "n"}
#: First letter of the CSS classes of edges around marks and lines, for each palette.
EDGES = {"s": "e", "m": "f"}
#: Steps of a colour scale.
SHADES = 9
#: Letter width of a value on a bar, and the space above the bar.
SMALL_LETTER, ABOVE = 5.6, 4
#: Ratios of largest to smallest value that ask for a log scale, and for one with decades only.
FAR, VERY_FAR = 2.5, 1000
#: Placeholder for a figure's name in element ids.
FIGURE = "@figure@"
#: Extra width of the edge beneath a narrow bar.
EDGE = 0.8
#: Half size of the mark of a published value.
HOLLOW = 4.5
#: Largest number of names below bars.
NAMES = 24
#: Above the first number of bars each series is one mark; above the second, panels use full width.
MARKS, ABREAST = 200, 40
#: Cells of at least this width or height are separated by lines.
LINED = 8


def format_px(value: float) -> str:
    """Return a coordinate as text of an SVG attribute."""
    return f"{value:.1f}".removesuffix(".0")


def svg_element(name: str, content: str = "", **attributes: str | float) -> str:
    """Return an SVG element; a "_" in attribute names becomes "-", a trailing "_" is dropped."""
    words = [f' {key.rstrip("_").replace("_", "-")}="'
             f'{escape(value) if isinstance(value, str) else format_px(value)}"'
             for key, value in attributes.items()]
    return f"<{name}{''.join(words)}>{content}</{name}>" if content else \
        f"<{name}{''.join(words)}/>"


def text_element(text: str, x: float, y: float, anchor: str = "middle", **more: str) -> str:
    return svg_element("text", escape(text), x=x, y=y, text_anchor=anchor, **more)


def title_element(text: str) -> str:
    """Return a title element, which describes a mark."""
    return svg_element("title", escape(text))


#: A box: left, top, width, height.
Box = tuple[float, float, float, float]


def boxes_as_path(text: str, boxes: Sequence[Box], klass: str, **more: float) -> str:
    """Return many boxes that have one meaning (colour and title) as one SVG path."""
    way = "".join(f"M{format_px(x)} {format_px(y)}h{format_px(wide)}v{format_px(tall)}"
                  f"h{format_px(-wide)}z" for x, y, wide, tall in boxes)
    return svg_element("path", title_element(text) if text else "", d=way, class_=klass, **more)


def choose_round_tick_values(low: float, high: float, about: int = 5) -> list[float]:
    """Return round values that enclose `low` and `high`."""
    span = high - low or abs(high)
    # A span below 1e-300 counts as zero; its logarithm would fail.
    raw = (span if span > 1e-300 else 1.0) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if raw <= power * factor * 1.0001)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return [i * step for i in range(first, last + 1)]


def powers_of_ten(low: float, high: float) -> list[float]:
    """Return powers of ten that enclose `low` and `high`."""
    return [10.0 ** i for i in range(math.floor(math.log10(low)),
                                     math.ceil(math.log10(high)) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return round values that enclose `low` and `high`, or powers of ten if they are far apart."""
    if high > VERY_FAR * low:
        return powers_of_ten(low, high)
    found = [factor * ten for ten in powers_of_ten(low, high) for factor in (1, 2, 5)]
    first = max(i for i, value in enumerate(found) if value <= low)
    last = min(i for i, value in enumerate(found) if value >= high)
    return found[first:last + 1]


def css_class_of_series(plot: Panel | Grid | Spans, index: int) -> str:
    own = series_colour(plot, index)
    return f"{own.palette}{own.index}{PALER[own.shade]}"


def draw_outlined_line(way: str, said: str, plot: Panel, index: int) -> str:
    """Return a curve as an SVG line drawn over a wider, darker line that looks like its edge."""
    own = series_colour(plot, index)
    edge, line = (f"{letters[own.palette]}{own.index}{DASHED[own.shade]}"
                  for letters in (EDGES, LINES))
    return (svg_element("path", d=way, class_=f"curve under {edge}")
            + svg_element("path", said, d=way, class_=f"curve {line}"))


def css_class_of_legend_entry(word: str, plot: Grid) -> str:
    """Return the CSS class of the colour of a legend's word; stale pages are grey."""
    if word == "erased":
        return "erased"
    if word.startswith("stale"):
        return "stale" if "precise" in word else "stale pale"
    return css_class_of_series(plot, plot.words.index(word))


def draw_legend(entries: Sequence[tuple[str, str]], top: float) -> tuple[str, float]:
    """Return the SVG of a legend, and the y coordinate of its lower end."""
    parts, x, y = [], float(LEFT), top
    for name, klass in entries:
        wide = 22 + LETTER * len(name) + 14
        if x > LEFT and x + wide > WIDTH.get() - RIGHT:
            x, y = float(LEFT), y + LINE
        parts.append(svg_element("rect", x=x, y=y, width=12, height=12, class_=klass))
        parts.append(text_element(name, x + 18, y + 10, "start"))
        x += wide
    return "".join(parts), y + LINE + 6


def tick_texts(scale: Sequence[float]) -> list[str]:
    """Return the texts of ticks, with enough digits to tell the ticks apart."""
    texts = [""]
    for digits in (4, 7, 10, 15):
        texts = [number_as_text(value, digits) for value in scale]
        if len({*texts}) == len(texts):
            break
    return texts


class Area:
    """The plotting area of a panel, which has the drawing's full width or one column of it."""

    def __init__(self, top: float, height: float = PLOT_HEIGHT, column: int = 0,
                 columns: int = 1) -> None:
        self.top, self.bottom = top, top + height
        begin, wide = WIDTH.get() * column / columns, WIDTH.get() / columns
        self.left, self.right = begin + LEFT, begin + wide - RIGHT

    def y_of_value(self, value: float, scale: Sequence[float]) -> float:
        part = (value - scale[0]) / (scale[-1] - scale[0] or 1)
        return self.bottom - part * (self.bottom - self.top)

    def x_of_value(self, value: float, low: float, high: float) -> float:
        return self.left + (value - low) / (high - low or 1) * (self.right - self.left)

    def horizontal_grid_lines(self, scale: Sequence[float], label: str,
                              log: bool = False) -> Iterator[str]:
        """Yield the grid lines of the vertical axis and its label."""
        places = [math.log10(value) for value in scale] if log else scale
        for text, at in zip(tick_texts(scale), places, strict=True):
            y = self.y_of_value(at, places)
            yield svg_element("line", x1=self.left, x2=self.right, y1=y, y2=y, class_="level")
            yield text_element(text, self.left - 6, y + 4, "end")
        middle = (self.top + self.bottom) / 2
        x = self.left - LEFT + 14
        yield text_element(label, x, middle, class_="label",
                           transform=f"rotate(-90 {x:.0f} {middle:.0f})")


# ---------------------------------------------------------------- bars


def bar_heights(plot: Bars) -> list[float]:
    """Return the heights of bars (SVG units); bars of negative values go down."""
    if not plot.stacked:
        return [value for _, values in plot.series for value in values if value is not None]
    return [sum(values[i] or 0 for _, values in plot.series) for i in range(len(plot.categories))]


def bar_element(plot: Bars, series: int, category: int, x: float, width: float, base: float,
                area: Area, scale: Sequence[float]) -> str:
    """Return the SVG rectangle of a bar from `base` to `base` plus the bar's value."""
    name, values = plot.series[series]
    value = values[category] or 0
    low, high = sorted((area.y_of_value(base, scale), area.y_of_value(base + value, scale)))
    value_text = number_as_text(values[category])
    said = title_element(f"{plot.categories[category]}, {name}: {value_text} {plot.unit}")
    return svg_element("rect", said, x=x, y=low, width=max(width, 0.5), height=high - low,
                       class_=css_class_of_series(plot, series))


def bar_positions(plot: Bars, area: Area) -> tuple[float, list[list[float]]]:
    """Return the width of bars, and their left ends by category and series."""
    slot = (area.right - area.left) / max(1, len(plot.categories))
    count = 1 if plot.stacked else len(plot.series)
    width = min(slot * 0.8 / count, 64)
    firsts = [area.left + slot * (i + 0.5) - width * count / 2
              for i in range(len(plot.categories))]
    return width, [[x if plot.stacked else x + j * width for j in range(len(plot.series))]
                   for x in firsts]


def bar_elements(plot: Bars, area: Area, scale: Sequence[float]) -> Iterator[str]:
    """Yield an SVG mark for each bar; if there are many bars, one for each series of bars."""
    width, places = bar_positions(plot, area)
    if len(plot.categories) * len(plot.series) > MARKS:
        yield from draw_bars_by_series(plot, area, scale)
        return
    for i, lefts in enumerate(places):
        base = 0.0
        for j, (_, values) in enumerate(plot.series):
            if values[i] is not None:
                yield bar_element(plot, j, i, lefts[j], width, base, area, scale)
                base += (values[i] or 0) if plot.stacked else 0


def draw_bars_as_strokes(said: str, way: str, width: float, own: Hue, place: str) -> str:
    """Return many bars as strokes of one SVG path, drawn twice: wider as edges, then as bars."""
    name, edge = f"{FIGURE}-{place}", f"{EDGES[own.palette]}{own.index}"
    return (svg_element("defs", svg_element("path", d=way, id=name))
            + svg_element("use", href=f"#{name}", stroke_width=width + EDGE, class_=f"bars {edge}")
            + svg_element("use", said, href=f"#{name}", stroke_width=width,
                          class_=f"bars {LINES[own.palette]}{own.index}{PALER[own.shade]}"))


def draw_bars_by_series(plot: Bars, area: Area, scale: Sequence[float]) -> Iterator[str]:
    """Yield an SVG mark for each series of bars: one path, of which each bar is a stroke."""
    width, places = bar_positions(plot, area)
    bases = [0.0] * len(plot.categories)
    for j, (name, values) in enumerate(plot.series):
        way = []
        for i, value in enumerate(values):
            if value is not None:
                low, high = (f"{area.y_of_value(end, scale):.0f}"
                             for end in (bases[i], bases[i] + value))
                if low != high:
                    way.append(f"M{format_px(places[i][j] + width / 2)} {low}V{high}")
                bases[i] += value if plot.stacked else 0
        yield draw_bars_as_strokes(title_element(name), "".join(way), max(width, 0.5),
                                   series_colour(plot, j), f"{j}-{area.left:.0f}-{area.top:.0f}")


def category_names(names: Sequence[str], area: Area) -> tuple[list[str], float]:
    """Return the names below bars, slanted if they are long, and their height."""
    slot = (area.right - area.left) / max(1, len(names))
    longest = max((len(name) for name in names), default=0)
    skip = max(1, math.ceil(12 / slot), math.ceil(len(names) / NAMES))
    flat = longest * LETTER < slot * skip
    result = []
    for i, name in enumerate(names):
        if i % skip == 0:
            x, y = area.left + slot * (i + 0.5), area.bottom + 16
            slant = {} if flat else {"transform": f"rotate(-30 {x:.0f} {y:.0f})"}
            result.append(text_element(name, x, y, "middle" if flat else "end", **slant))
    return result, 24 if flat else 20 + min(longest, 30) * LETTER * 0.52


def draw_bars(plot: Bars, area: Area, scale: Sequence[float]) -> tuple[list[str], float]:
    """Return the SVG of a bar plot, and the y coordinate of its lower end."""
    below, room = category_names(plot.categories, area)
    parts = [*area.horizontal_grid_lines(scale, plot.unit), *bar_elements(plot, area, scale),
             *below]
    if plot.mark is not None:
        y = area.y_of_value(plot.mark, scale)
        parts.append(svg_element("line", x1=area.left, x2=area.right, y1=y, y2=y, class_="mark"))
    width, places = bar_positions(plot, area)
    values = [(left, value) for i, lefts in enumerate(places)
              for left, (_, row) in zip(lefts, plot.series, strict=True)
              if not plot.stacked and (value := row[i]) is not None]
    for left, value in values:
        text, y = number_as_text(value, 3), area.y_of_value(value, scale)
        # The text stands beyond the end of its bar; a bar that is too narrow has none.
        if SMALL_LETTER * len(text) <= width:
            parts.append(text_element(text, left + width / 2,
                                      y - ABOVE if value >= 0 else y + 3 * ABOVE, class_="value"))
    return parts, area.bottom + room


# ---------------------------------------------------------------- dots


def format_estimate(one: Estimate) -> str:
    """Return a mean and its confidence interval as text."""
    ends = "" if one.low is None else f" ({number_as_text(one.low)} to {number_as_text(one.high)})"
    return number_as_text(one.mean) + ends


def scale_of_dot_axis(plots: Sequence[Dots]) -> tuple[list[float], bool]:
    """Return a scale that covers all intervals; it is logarithmic for ratios that are far apart."""
    found = [one for plot in plots for _, values in plot.series for one in values if one]
    ends = [end for one in found for end in (one.low, one.mean, one.high) if end is not None]
    ends += [plot.mark for plot in plots if plot.mark is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    if low <= 0 or high < FAR * low:
        return choose_round_tick_values(low, high), False
    return log_ticks(low, high), True


def x_coordinate(value: float, place: Area, scale: Sequence[float], log: bool) -> float:
    if log:
        return place.x_of_value(math.log(value), math.log(scale[0]), math.log(scale[-1]))
    return place.x_of_value(value, scale[0], scale[-1])


def dot_element(plot: Dots, index: int, about: str, one: Estimate, y: float,
                at: Callable[[float], float]) -> str:
    """Return the dot of a mean and the line of its interval."""
    low, x, high = (at(one.mean if value is None else value)
                    for value in (one.low, one.mean, one.high))
    said = title_element(f"{about}: {format_estimate(one)}")
    line = f"M{format_px(low)} {format_px(y)}H{format_px(high)}"
    return (draw_outlined_line(line, said, plot, index)
            + svg_element("circle", said, cx=x, cy=y, r=5, class_=css_class_of_series(plot, index)))


def draw_dots(plot: Dots, place: Area, scale: Sequence[float], log: bool) -> tuple[list[str],
                                                                                   float]:
    """Return the SVG of a dot plot, a row for each category, and the y coordinate of its end."""
    tall = LINE * (1 + len(plot.series))
    parts = [*horizontal_axis(scale, place, Curves(plot.unit, "", [], log_x=log))]
    if plot.mark is not None:
        x = x_coordinate(plot.mark, place, scale, log)
        parts.append(svg_element("line", x1=x, x2=x, y1=place.top, y2=place.bottom, class_="mark"))
    for i, category in enumerate(plot.categories):
        above = place.top + tall * i
        parts.append(text_element(category, place.left - LEFT + 4, above + 14, "start",
                                  class_="value"))
        parts += [dot_element(plot, j, f"{category}, {name}", one, above + LINE * (j + 1.2),
                              lambda value: x_coordinate(value, place, scale, log))
                  for j, (name, values) in enumerate(plot.series) if (one := values[i])]
    return parts, place.bottom + 42


# ---------------------------------------------------------------- curves


def point_coordinates(xs: Sequence[float], ys: Sequence[float], plot: Curves, place: Area,
                      x_scale: Sequence[float],
                      y_scale: Sequence[float]) -> list[tuple[float, float]]:
    low, high = x_scale[0], x_scale[-1]
    if plot.log_x:
        low, high = math.log10(low), math.log10(high)
        xs = [math.log10(max(x, x_scale[0])) for x in xs]
    if plot.log_y:
        ys = [math.log10(max(y, y_scale[0])) for y in ys]
        y_scale = [math.log10(value) for value in (y_scale[0], y_scale[-1])]
    return [(place.x_of_value(x, low, high), place.y_of_value(y, y_scale))
            for x, y in zip(xs, ys, strict=True)]


def svg_path_through_points(points: Sequence[tuple[float, float]], steps: bool) -> str:
    """Return the path through points, without steps that are too small to be seen."""
    places = [(format_px(x), format_px(y)) for x, y in points]
    way = [f"M{' '.join(places[0])}"]
    for (left, before), (x, y) in pairwise(places):
        if steps and y != before:
            way.append(f"H{x}V{y}")
        elif (x, y) != (left, before):
            way.append(f"H{x}" if y == before else f"L{x} {y}")
    return "".join(way)


def curve_element(index: int, name: str, points: Sequence[tuple[float, float]],
                  plot: Curves) -> str:
    if not points:
        return ""
    if not plot.points:
        return draw_outlined_line(svg_path_through_points(points, plot.steps), title_element(name),
                                  plot, index)
    _, xs, ys = plot.curves[index]
    return "".join(
        svg_element("circle", title_element(f"{name}: {number_as_text(xs[i])} {plot.x_label}, "
                                            f"{number_as_text(ys[i])} {plot.y_label}"),
                    cx=x, cy=y, r=4, class_=css_class_of_series(plot, index))
        for i, (x, y) in enumerate(points))


def horizontal_axis(scale: Sequence[float], place: Area, plot: Curves,
                    shown: Sequence[float] = ()) -> Iterator[str]:
    """Yield label and ticks of the x axis; ticks are the values `shown` or, if none, `scale`."""
    for value in shown or scale:
        ((x, _),) = point_coordinates([value], [1], plot, place, scale, [1, 10])
        yield svg_element("line", x1=x, x2=x, y1=place.top, y2=place.bottom, class_="level")
        yield text_element(axis_tick_text(value, plot.x_label), x, place.bottom + 16,
                           "end" if x > place.right + RIGHT - 3 * LETTER else "middle")
    yield text_element(printed_axis_name(plot.x_label), (place.left + place.right) / 2,
                       place.bottom + 34, class_="label")


def compute_scales_of_curve_plots(plots: Sequence[Curves]) -> tuple[list[float], list[float]]:
    """Return the scales of the x and the y axis."""
    every, first = [curve for plot in plots for curve in plot.curves], plots[0]
    xs = [x for _, values, _ in every for x in values]
    ys = [y for _, _, values in every for y in values]
    positive = [x for x in xs if x > 0] or [1.0]
    return (powers_of_ten(min(positive), max(positive)) if first.log_x else
            choose_round_tick_values(min(xs, default=0), max(xs, default=1)),
            powers_of_ten(min(ys), max(ys)) if first.log_y
            else choose_round_tick_values(min([0, *ys]), max([0, *ys])))


def draw_curves(plot: Curves, place: Area, x_scale: Sequence[float], y_scale: Sequence[float]
                ) -> tuple[list[str], float]:
    """Return the SVG of curves, and the y coordinate of its lower end."""
    parts = [*place.horizontal_grid_lines(y_scale, plot.y_label, plot.log_y),
             *horizontal_axis(x_scale, place, plot)]
    for i, (name, x_values, y_values) in enumerate(plot.curves):
        points = point_coordinates(x_values, y_values, plot, place, x_scale, y_scale)
        parts.append(curve_element(i, name, points, plot))
    return parts, place.bottom + 42


# ---------------------------------------------------------------- means of a study


def vertical_axis_values(plot: Means) -> list[float]:
    """Return the values that the vertical axis of a plot must cover."""
    marks = [mark for mark in plot.marks if mark.runs is None or plot.kind != "stack"]
    ends = [end for mark in marks for end in (mark.low, mark.y, mark.high) if end is not None]
    for x in plot.xs if plot.kind == "stack" else ():
        own = [mark for mark in plot.marks if mark.runs is not None and mark.x == x]
        ends.append(sum(mark.y for mark in own))
        ends += [ends[-1] + (own[-1].high or 0) - own[-1].y if own else 0.0]
    return [*ends, *([0.0] if plot.is_bar_chart and not plot.log_y else []),
            *([] if plot.line is None else [plot.line])]


def choose_round_axis_scale(values: Sequence[float], log: bool) -> list[float]:
    """Return a round scale of all values; a log scale ignores values that are not positive."""
    if not log:
        return choose_round_tick_values(min(values, default=0), max(values, default=1))
    positive = [value for value in values if value > 0] or [1.0]
    return log_ticks(min(positive), max(positive))


def choose_x_ticks_of_study_plots(plots: Sequence[Means]) -> list[float]:
    """Return ticks at the x values of a study's means; empty if their labels would overlap."""
    xs = sorted({x for plot in plots if plot.kind == "lines" for mark in plot.marks
                 if (x := plot.x_position_of_mark(mark)) is not None})
    if not xs or len(xs) > TICKS or (plots[0].log_x and xs[0] <= 0):
        return []
    at = [math.log(x) for x in xs] if plots[0].log_x else xs
    near = min((b - a for a, b in pairwise(at)), default=0.0)
    return [] if len(xs) > 1 and near * TICKS < at[-1] - at[0] else xs


def add_margins_to_axis_positions(xs: Sequence[float], log: bool) -> list[float]:
    """Return positions on an axis with margins at both ends, so that no mark is cut off."""
    if log:
        room = (xs[-1] / xs[0]) ** MARGIN if xs[-1] > xs[0] else 2.0
        return [xs[0] / room, *xs, xs[-1] * room]
    room = MARGIN * (xs[-1] - xs[0]) or abs(xs[0]) or 1.0
    return [xs[0] - room, *xs, xs[-1] + room]


def compute_shift_between_series(plot: Means, x_scale: Sequence[float], log: bool) -> float:
    """Return how far apart on the axis the marks of two series with the same x value are drawn.

    The shift is a difference, or a factor's logarithm on a logarithmic axis. It separates the
    intervals of the series, and is 0 without intervals.
    """
    if len(plot.series) < 2 or all(mark.low is None for mark in plot.marks):
        return 0.0
    share = min(APART, ALL_APART / len(plot.series))
    return share * (math.log(x_scale[-1] / x_scale[0]) if log else x_scale[-1] - x_scale[0])


def compute_study_plot_scales(plots: Sequence[Means]) -> tuple[list[float], list[float]]:
    """Return the scales of the x and the y axis."""
    xs = [x for plot in plots if plot.is_x_axis_numeric for mark in plot.marks
          if (x := plot.x_position_of_mark(mark)) is not None]
    few = choose_x_ticks_of_study_plots(plots)
    return (add_margins_to_axis_positions(few, plots[0].log_x) if few
            else choose_round_axis_scale(xs, plots[0].log_x),
            choose_round_axis_scale([value for plot in plots
                                     for value in vertical_axis_values(plot)],
                                    plots[0].log_y))


class Ground:
    """The coordinate system of a study's means."""

    def __init__(self, plot: Means, area: Area, x_scale: Sequence[float],
                 y_scale: Sequence[float]) -> None:
        """Divide the width of the plotting area into slots, one for each value of the axis."""
        self.plot, self.area, self.x_scale, self.y_scale = plot, area, x_scale, y_scale
        self.frame = Curves(plot.x_label, plot.y_label, [], plot.log_x, plot.log_y)
        few = choose_x_ticks_of_study_plots([plot])
        self.ticks = x_scale[1:-1] if few and set(few) <= set(x_scale[1:-1]) else ()
        self.shift = (compute_shift_between_series(plot, x_scale, plot.log_x) if self.ticks
                      else 0.0)
        self.slot = (area.right - area.left) / max(1, len(plot.xs))
        self.width = 0.8 * self.slot / (1 if plot.kind == "stack" else max(1, len(plot.series)))

    def y_of_value(self, value: float) -> float:
        return point_coordinates([self.x_scale[0]], [value], self.frame, self.area, self.x_scale,
                                 self.y_scale)[0][1]

    def x_of_data_mark(self, mark: Mark) -> float | None:
        """Return the x coordinate of a mark; None if the axis lacks its value."""
        at = self.plot.x_position_of_mark(mark)
        if at is None:
            return None
        index = self.plot.series.index(mark.series) - (len(self.plot.series) - 1) / 2
        if self.plot.is_x_axis_numeric:
            shift = index * self.shift if mark.runs is not None else 0.0
            at = at * math.exp(shift) if self.plot.log_x else at + shift
            return point_coordinates([at], [self.y_scale[-1]], self.frame, self.area, self.x_scale,
                                     self.y_scale)[0][0]
        shift = 0 if self.plot.kind == "stack" else index * self.width
        return self.area.left + self.slot * (at + 0.5) + shift

    def draw_horizontal_axis_below_plot(self) -> tuple[list[str], float]:
        """Return ticks and label of the horizontal axis, and their height."""
        if self.plot.is_x_axis_numeric:
            return list(horizontal_axis(self.x_scale, self.area, self.frame, self.ticks)), 42
        names, room = category_names([str(x) for x in self.plot.xs], self.area)
        label = text_element(self.plot.x_label, (self.area.left + self.area.right) / 2,
                             self.area.bottom + room + 8, class_="label")
        return [*names, label], room + LINE


def data_mark_title(mark: Mark, plot: Means) -> str:
    ends = "" if mark.low is None or mark.high is None else \
        f" ({number_as_text(mark.low)} to {number_as_text(mark.high)})"
    return title_element(", ".join(filter(None, (str(mark.x), mark.series)))
                         + f": {number_as_text(mark.y)}{ends} " f"{plot.y_label}, {mark.source}")


def draw_data_mark_error_bar(mark: Mark, x: float, lift: float, ground: Ground, index: int) -> str:
    """Return the error bar of a mark; empty without a confidence interval."""
    if mark.low is None or mark.high is None:
        return ""
    low, high = (format_px(ground.y_of_value(end + lift)) for end in (mark.low, mark.high))
    way = f"M{format_px(x)} {low}V{high}"
    if ground.plot.is_bar_chart and mark.runs is not None:
        return svg_element("path", data_mark_title(mark, ground.plot), d=way, class_="interval")
    return draw_outlined_line(way, data_mark_title(mark, ground.plot), ground.plot, index)


def draw_published_value(mark: Mark, ground: Ground, index: int) -> str:
    """Return a horizontal line for a published value without an x position."""
    area, said = ground.area, data_mark_title(mark, ground.plot)
    own, y = series_colour(ground.plot, index), format_px(ground.y_of_value(mark.y))
    line = svg_element("path", said, d=f"M{format_px(area.left)} {y}H{format_px(area.right)}",
                       class_=f"curve dashed {EDGES[own.palette]}{own.index}")
    if mark.low is None or mark.high is None:
        return line
    top, bottom = ground.y_of_value(mark.high), ground.y_of_value(mark.low)
    return svg_element("rect", said, x=area.left, y=top, width=area.right - area.left,
                       height=bottom - top,
                       class_=f"band {css_class_of_series(ground.plot, index)}") + line


def draw_data_mark(mark: Mark, x: float, lift: float, ground: Ground, index: int) -> str:
    """Return the mark of a mean, or the hollow mark of a published value."""
    plot, said = ground.plot, data_mark_title(mark, ground.plot)
    y = ground.y_of_value(mark.y + lift)
    if mark.runs is None:
        own = series_colour(plot, index)
        return svg_element("rect", said, x=x - HOLLOW, y=y - HOLLOW, width=2 * HOLLOW,
                           height=2 * HOLLOW, class_=f"hollow {EDGES[own.palette]}{own.index}")
    if not plot.is_bar_chart:
        return svg_element("circle", said, cx=x, cy=y, r=4, class_=css_class_of_series(plot, index))
    low, high = sorted((y, ground.y_of_value(lift or (ground.y_scale[0] if plot.log_y else 0.0))))
    return svg_element("rect", said, x=x - ground.width / 2, y=low, width=ground.width,
                       height=high - low, class_=css_class_of_series(plot, index))


def draw_line_through_means(plot: Means, index: int, places: Sequence[tuple[float, float]]) -> str:
    if len(places) < 2 or not plot.is_x_axis_numeric:
        return ""
    return draw_outlined_line(svg_path_through_points(places, plot.kind == "cdf"),
                              title_element(plot.series[index]), plot, index)


def draw_plot_of_means(plot: Means, area: Area, x_scale: Sequence[float], y_scale: Sequence[float]
                       ) -> tuple[list[str], float]:
    """Return the SVG of a study's means, and the y coordinate of its lower end."""
    ground = Ground(plot, area, x_scale, y_scale)
    below, room = ground.draw_horizontal_axis_below_plot()
    parts = [*area.horizontal_grid_lines(y_scale, plot.y_label, plot.log_y), *below]
    lifts: dict[float, float] = {}
    for index, name in enumerate(plot.series):
        marks = [mark for mark in plot.marks if mark.series == name]
        parts += [draw_published_value(mark, ground, index) for mark in marks
                  if mark.runs is None and mark.x == LEVEL]
        placed = [(x, mark) for mark in marks if (x := ground.x_of_data_mark(mark)) is not None]
        parts.append(draw_line_through_means(plot, index,
                                             [(x, ground.y_of_value(mark.y)) for x, mark in placed
                                              if mark.runs is not None]))
        for x, mark in placed if plot.kind != "cdf" else ():
            lift = lifts.get(x, 0.0) if plot.kind == "stack" and mark.runs is not None else 0.0
            parts += [draw_data_mark(mark, x, lift, ground, index),
                      draw_data_mark_error_bar(mark, x, lift, ground, index)]
            lifts[x] = lift + mark.y
    if plot.line is not None:
        y = ground.y_of_value(plot.line)
        parts.append(svg_element("line", x1=area.left, x2=area.right, y1=y, y2=y, class_="mark"))
    return parts, area.bottom + room


# ---------------------------------------------------------------- side by side


Drawing = Callable[[Any, Area], tuple[list[str], float]]


def make_panel_drawing_functions(plots: Sequence[Panel]) -> tuple[Drawing, Callable[[Any], float]]:
    """Return a function that draws a panel on common scales, and one that gives its height."""
    first = plots[0]
    if isinstance(first, Bars):
        values = [value for one in plots if isinstance(one, Bars)
                  for value in (*bar_heights(one), one.mark or 0)]
        scale = choose_round_tick_values(min([0, *values]), max([0, *values]))
        return lambda plot, area: draw_bars(plot, area, scale), lambda plot: PLOT_HEIGHT
    if isinstance(first, Dots):
        own, log = scale_of_dot_axis([one for one in plots if isinstance(one, Dots)])
        return (lambda plot, area: draw_dots(plot, area, own, log),
                lambda plot: LINE * (1 + len(plot.series)) * max(1, len(plot.categories)))
    if isinstance(first, Means):
        both = compute_study_plot_scales([one for one in plots if isinstance(one, Means)])
        return lambda plot, area: draw_plot_of_means(plot, area, *both), lambda plot: PLOT_HEIGHT
    axes = compute_scales_of_curve_plots([one for one in plots if isinstance(one, Curves)])
    return lambda plot, area: draw_curves(plot, area, *axes), lambda plot: PLOT_HEIGHT


def panels_per_row(panels: Sequence[tuple[str, Panel]]) -> int:
    """Return the number of panels in a row; many bars need the full width."""
    bars_ = [len(one.categories) * (1 if one.stacked else len(one.series))
             for _, one in panels if isinstance(one, Bars)]
    bars_ += [len(one.marks) for _, one in panels if isinstance(one, Means) and one.is_bar_chart]
    return 1 if max(bars_, default=0) > ABREAST or len(panels) == 1 else 2


def panel_legend(panels: Sequence[tuple[str, Panel]]) -> list[tuple[str, str]]:
    """Return the legend entries; those of published values have hollow marks."""
    entries = {name: css_class_of_series(one, i) for _, one in panels
               for i, name in enumerate(list_names_in_plot_legend(one)) if name}
    others = {mark.source: "hollow ink" for _, one in panels if isinstance(one, Means)
              for mark in one.marks if mark.runs is None}
    return [*(entries | others).items()]


def draw_panels(plot: Panel | Panels) -> tuple[str, float]:
    """Return the drawing of a plot, or of panels with one legend, and its height."""
    panels = list_names_and_panels_of_plot(plot)
    drawn, height_of = make_panel_drawing_functions([one for _, one in panels])
    entries = panel_legend(panels)
    # A single colour needs no legend; the title names it.
    alone = len(entries) < 2 and isinstance(panels[0][1], Bars)
    above, top = ("", float(ABOVE)) if alone else draw_legend(entries, 4)
    parts, columns = [above], panels_per_row(panels)
    for i in range(0, len(panels), columns):
        ends = []
        for column, (name, one) in enumerate(panels[i:i + columns]):
            area = Area(top + 3 * ABOVE + (LINE if name else 0), height_of(one), column, columns)
            if name:
                parts.append(text_element(name, area.left, top + LINE - 4, "start", class_="panel"))
            more, end = drawn(one, area)
            parts += more
            ends.append(end)
        top = max(ends)
    return "".join(parts), top


# ---------------------------------------------------------------- grids


def grid_legend(plot: Grid, low: float, high: float) -> tuple[str, float]:
    """Return the legend of the words in a map, or the scale of its numbers."""
    if plot.words:
        there = {value for row in plot.cells for value in row}
        return draw_legend([(word, css_class_of_legend_entry(word, plot)) for word in plot.words
                            if word in there], 4)
    parts = [text_element(number_as_text(low), LEFT, 14, "start")]
    x = LEFT + LETTER * len(number_as_text(low)) + 8
    for i in range(SHADES):
        parts.append(svg_element("rect", x=x + 16 * i, y=4, width=16, height=12, class_=f"h{i}"))
    parts.append(text_element(f"{number_as_text(high)} {plot.value_label}", x + 16 * SHADES + 8, 14,
                              "start"))
    return "".join(parts), 28.0


def css_class_of_grid_cell(value: Cell, plot: Grid, low: float, high: float) -> str:
    """Return the CSS class of the colour of a map's cell."""
    if plot.words:
        return css_class_of_legend_entry(str(value), plot) if value is not None else "erased"
    if not isinstance(value, int | float):
        return "erased"
    return f"h{min(SHADES - 1, int((value - low) / (high - low or 1) * SHADES))}"


def grid_row_and_column_labels(plot: Grid, top: float, wide: float, high: float) -> Iterator[str]:
    """Yield the names of a map's rows and columns; omit names for which there is no space."""
    bottom = top + high * len(plot.row_names)
    for i in range(0, len(plot.row_names), max(1, math.ceil(14 / high))):
        yield text_element(plot.row_names[i], LEFT - 6, top + high * (i + 0.5) + 4, "end")
    longest = max((len(name) for name in plot.column_names), default=1)
    least = max(1, math.ceil((longest + 2) * LETTER / wide))
    for i in range(0, len(plot.column_names), 1 << (least - 1).bit_length()):
        yield text_element(plot.column_names[i], LEFT + wide * (i + 0.5), bottom + 16)
    yield text_element(plot.column_label, LEFT + wide * len(plot.column_names) / 2, bottom + 34,
                       class_="label")
    middle = (top + bottom) / 2
    yield text_element(plot.row_label, 14, middle, class_="label",
                       transform=f"rotate(-90 14 {middle:.0f})")


def lines_between_grid_cells(plot: Grid, top: float, wide: float, tall: float) -> str:
    """Return the grid lines of a map, if the cells of the map are large enough."""
    right, bottom = WIDTH.get() - RIGHT, top + tall * len(plot.row_names)
    way = []
    if tall >= LINED:
        way += [f"M{LEFT} {format_px(top + tall * i)}H{right}"
                for i in range(1, len(plot.row_names))]
    if wide >= LINED:
        way += [f"M{format_px(LEFT + wide * i)} {format_px(top)}V{format_px(bottom)}"
                for i in range(1, len(plot.column_names))]
    return svg_element("path", d="".join(way), class_="cells") if way else ""


def draw_grid(plot: Grid) -> tuple[str, float]:
    """Return the drawing of a map and its height; all cells of one colour are one SVG path."""
    values = [value for row in plot.cells for value in row if isinstance(value, int | float)]
    low, high = min(values, default=0), max(values, default=0)
    named, top = grid_legend(plot, low, high)
    wide = (WIDTH.get() - LEFT - RIGHT) / max(1, len(plot.column_names))
    tall = max(4.0, min(24.0, 320 / max(1, len(plot.row_names))))
    cells: dict[str, list[Box]] = {}
    for i, row in enumerate(plot.cells):
        begin = 0
        for klass, run in groupby(css_class_of_grid_cell(v, plot, low, high) for v in row):
            count = len(list(run))
            cells.setdefault(klass, []).append(
                (LEFT + wide * begin, top + tall * i, wide * count, tall))
            begin += count
    # Edges are at most a quarter of a cell wide.
    area = svg_element("g", "".join(boxes_as_path("", boxes, klass, stroke_width=min(1.0, wide / 4))
                                    for klass, boxes in cells.items()),
                       class_="grid", data_rows=str(len(plot.row_names)),
                       data_columns=str(len(plot.column_names)))
    bottom = top + tall * len(plot.row_names)
    frame = svg_element("rect", x=LEFT, y=top, width=WIDTH.get() - LEFT - RIGHT,
                        height=bottom - top, class_="frame")
    return (named + area + lines_between_grid_cells(plot, top, wide, tall) + frame
            + "".join(grid_row_and_column_labels(plot, top, wide, tall)), bottom + 42)


# ---------------------------------------------------------------- spans


def draw_timeline_spans(plot: Spans) -> tuple[str, float]:
    there = {span.kind for span in plot.spans}
    named, top = draw_legend([(kind, css_class_of_series(plot, i))
                              for i, kind in enumerate(plot.kinds) if kind in there], 4)
    tall = max(8.0, min(26.0, 400 / max(1, len(plot.lanes))))
    place = Area(top + 4, tall * len(plot.lanes))
    scale = choose_round_tick_values(0, max((span.end for span in plot.spans), default=1))
    frame = Curves(f"time, {plot.x_label}", "", [])
    parts = [named, *horizontal_axis(scale, place, frame)]
    parts += [text_element(name, LEFT - 6, place.top + tall * (i + 0.5) + 4, "end")
              for i, name in enumerate(plot.lanes)]
    boxes: dict[str, list[Box]] = {}
    for span in plot.spans:
        x0, x1 = (place.x_of_value(t, scale[0], scale[-1]) for t in (span.begin, span.end))
        boxes.setdefault(span.kind, []).append(
            (x0, place.top + tall * span.lane + 1, max(x1 - x0, 0.3), tall - 2))
    parts += [boxes_as_path(kind, found,
                            f"brief {css_class_of_series(plot, plot.kinds.index(kind))}")
              for kind, found in boxes.items()]
    # The page's script finds the operation under the pointer in the figure's CSV.
    parts.append(svg_element("rect", x=place.left, y=place.top, width=place.right - place.left,
                             height=tall * len(plot.lanes), class_="lanes",
                             data_lanes="|".join(plot.lanes), data_end=f"{scale[-1]:g}"))
    return "".join(parts), place.bottom + 42


def figure_as_svg(figure: Figure) -> str:
    name, plot = figure.name, figure.plot
    body, height = (draw_grid(plot) if isinstance(plot, Grid)
                    else draw_timeline_spans(plot) if isinstance(plot, Spans)
                    else draw_panels(plot))
    said = (svg_element("title", escape(figure.title), id=f"{name}-title")
            + svg_element("desc", escape(figure.description), id=f"{name}-desc"))
    return svg_element("svg", said + body.replace(FIGURE, name), role="img",
                       viewBox=f"0 0 {WIDTH.get()} {math.ceil(height)}", id=f"figure-{name}",
                       aria_labelledby=f"{name}-title {name}-desc")
