# SPDX-License-Identifier: GPL-2.0-only
"""Interactive figures with Vega-Lite, for browsers with scripts; the page has SVG for browsers
without scripts.

A Vega-Lite specification says how a figure is drawn; its data rows are the rows of the CSV file
that the page offers for the figure. In a specification a word that begins with @ stands for a
colour of the page's style and its opacity.
"""

import base64
import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from importlib import import_module
from pathlib import Path
from typing import Any

from approxftl_tools.figure import (
    IN_US,
    Bars,
    Curves,
    Dots,
    Figure,
    Grid,
    Hue,
    Means,
    Panel,
    Panels,
    Plot,
    Spans,
    choose_colours_of_plot_names,
    list_names_and_panels_of_plot,
    list_names_in_plot_legend,
    printed_axis_name,
)
from approxftl_tools.output import write_file
from approxftl_tools.page import HERE
from approxftl_tools.refusal import Refusal
from approxftl_tools.svg import (
    LINE,
    PLOT_HEIGHT,
    choose_x_ticks_of_study_plots,
    compute_shift_between_series,
    compute_study_plot_scales,
    panels_per_row,
    scale_of_dot_axis,
)

Json = dict[str, Any]

#: Letters that fit side by side below a figure.
LETTERS = 70
#: Licences of the bundle's parts, which the bundle itself does not name.
NOTICE = ("Vega, Vega-Lite and Vega-Embed: Copyright University of Washington Interactive Data Lab "
          "and contributors, BSD-3-Clause; D3: Copyright Mike Bostock, ISC")
#: Opacity and line dashes of the shades.
SHADES = (1.0, 0.6, 0.32)
DASHES: tuple[list[int], ...] = ([], [6, 3], [2, 2])
#: Expression for the label of a time axis, whose values are in us.
TIMES = ("datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' s' : datum.value >= 1e3 ? "
         "format(datum.value / 1e3, '~g') + ' ms' : format(datum.value, '~g') + ' us'")
#: Number of ticks of a horizontal axis: Vega's default, one for 40 pixels, leaves labels no space.
TICK_COUNT = "max(4, ceil(width / 90))"
#: Zoom only with the shift key, so that the wheel alone still scrolls the page.
ZOOM = {"name": "zoom", "select": {"type": "interval", "encodings": ["x"],
                                   "zoom": "wheel![event.shiftKey]"}, "bind": "scales"}


def choose_edge_colour_of_series(name: str, own: Hue) -> str:
    if choose_fill_colour_of_series(name, own).startswith("@--gone"):
        return "@--gone 1"
    return f"@--{'e' if own.palette == 's' else 'f'}{own.index} 1"


def choose_fill_colour_of_series(name: str, own: Hue) -> str:
    """Return the fill colour of the marks of a series; the marks of stale pages are grey."""
    if name == "erased":
        return "@--paper 1"
    if name.startswith("stale"):
        return f"@--gone {1 if 'precise' in name else 0.5}"
    return f"@--{'c' if own.palette == 's' else own.palette}{own.index} {SHADES[own.shade]}"


def make_vega_colour_channel(plot: Plot, field: str) -> Json:
    names = choose_colours_of_plot_names(plot)
    return {"field": field, "type": "nominal", "title": None,
            "scale": {"domain": [*names],
                      "range": [choose_fill_colour_of_series(name, own)
                                for name, own in names.items()]},
            "legend": {"orient": "top", "columns": {"signal": "width < 500 ? 2 : 5"},
                       **({"values": [name for name in names if name]} if "" in names else {})}
            if len(names) > 1 else None}


def make_vega_stroke_channel(plot: Plot, field: str) -> Json:
    found, names = make_vega_colour_channel(plot, field), choose_colours_of_plot_names(plot)
    return {**found, "scale": {"domain": [*names], "range": [
        choose_edge_colour_of_series(name, own) for name, own in names.items()]}}


def make_vega_fill_and_stroke_channels(plot: Plot, field: str) -> Json:
    """Return the Vega-Lite channels for fill colour and outline of a plot's marks."""
    return {"color": make_vega_colour_channel(plot, field),
            "stroke": make_vega_stroke_channel(plot, field)}


def make_vega_channels_of_layered_marks(plot: Plot, field: str) -> Json:
    """Return the fill and stroke channels of layered marks; the stroke has no legend."""
    edges = make_vega_stroke_channel(plot, field)
    # With equal domains Vega-Lite would merge the legends of colours and edges.
    scale = {"domain": [*edges["scale"]["domain"], "\0"],
             "range": [*edges["scale"]["range"], "@--ink 1"]}
    return {"color": make_vega_colour_channel(plot, field),
            "stroke": {**edges, "scale": scale, "legend": None}}


def make_vega_channels_of_lines(plot: Plot, field: str) -> list[tuple[int, Json]]:
    """Return the Vega channels of a line and of the wider edge line drawn below it."""
    both = make_vega_channels_of_layered_marks(plot, field)
    return [(4, {"stroke": both["stroke"]}), (2, {"color": both["color"]})]


def tooltip_channel(*fields: tuple[str, str]) -> list[Json]:
    """Return a mark's tooltip: exact values by field and title."""
    return [{"field": field, "title": title or "what"} for field, title in fields]


def quantitative_channel(field: str, title: str, log: bool = False, **more: Any) -> Json:
    times = {"labelExpr": TIMES} if title.endswith(IN_US) else {}
    return {"field": field, "type": "quantitative", "title": printed_axis_name(title),
            "axis": {"labelOverlap": True, **times},
            "scale": {"type": "log", "nice": False} if log else {"type": "linear", **more}}


def make_vega_ticks(values: Sequence[float]) -> Json:
    """Return the properties of an axis with ticks at the given values."""
    return {"values": [round(value, 12) for value in values],
            "labelExpr": "format(datum.value, '~g')"}


def make_vega_axis_labelled_with_names(names: Sequence[str]) -> Json:
    """Return an axis whose ticks are names: horizontal labels if they fit, else slanted ones."""
    longest = max((len(line) for name in names for line in name.split(", ")), default=0)
    if longest * len(names) > LETTERS:
        return {"labelAngle": -30, "labelOverlap": True}
    return {"labelAngle": 0, "labelExpr": "split(datum.label, ', ')"}


def reference_line_layer(channel: str, mark: float | None) -> list[Json]:
    """Return a chart layer with a reference line; an empty list if there is none."""
    return [] if mark is None else [
        {"mark": {"type": "rule", "strokeDash": [5, 4], "color": "@--ink 1"},
         "encoding": {channel: {"datum": mark}}}]


@singledispatch
def list_vega_layers_of_plot(plot: Plot) -> Json:
    """Return the marks and channels of a plot, and the data fields that hold series names."""
    raise NotImplementedError


@list_vega_layers_of_plot.register
def make_layers_of_bar_chart(plot: Bars) -> Json:
    """Return the chart layers of grouped or stacked bars."""
    names = list_names_in_plot_legend(plot)
    apart: Json = {} if plot.stacked or len(names) < 2 else {
        "xOffset": {"field": "series", "type": "nominal", "sort": names}}
    encoding = {
        "x": {"field": "c0", "type": "nominal", "sort": None, "title": None,
              "axis": make_vega_axis_labelled_with_names(plot.categories)},
        "y": {**quantitative_channel("value",
                                     plot.unit), "stack": "zero" if plot.stacked else None},
        "order": {"field": "rank"}, **apart, **make_vega_fill_and_stroke_channels(plot, "series"),
        "tooltip": tooltip_channel(("c0", ""), ("series", "of"), ("value", plot.unit))}
    return {"height": PLOT_HEIGHT, "layer": [{"mark": "bar", "encoding": encoding},
                                             *reference_line_layer("y", plot.mark)],
            "usermeta": {"melted": True, "words": ["c0", "series"]}}


@list_vega_layers_of_plot.register
def make_layers_of_dot_chart(plot: Dots) -> Json:
    """Return the chart layers of means with their intervals."""
    scale, log = scale_of_dot_axis([plot])
    encoding = {
        "y": {"field": "c0", "type": "nominal", "sort": None, "title": None,
              "axis": {"labelLimit": 180}},
        "yOffset": {"field": "c1", "type": "nominal",
                    "sort": list_names_in_plot_legend(plot)},
        "tooltip": tooltip_channel(("c0", ""), ("c1", "of"), ("c2", plot.unit), ("c3", "low"),
                                   ("c4", "high"), ("c5", "runs"))}
    x = quantitative_channel("c2", plot.unit, log)
    x["scale"] |= {"domain": [scale[0], scale[-1]], "nice": False}
    x["axis"] |= {} if log else make_vega_ticks(scale)
    intervals: list[Json] = [
        {"transform": [{"filter": "isValid(datum.c3)"}],
         "mark": {"type": "rule", "strokeWidth": wide},
         "encoding": {**encoding, "x": {**x, "field": "c3"}, "x2": {"field": "c4"}, **colour}}
        for wide, colour in make_vega_channels_of_lines(plot, "c1")]
    return {"height": LINE * (1 + len(plot.series)) * max(1, len(plot.categories)),
            "layer": [*intervals,
                      {"mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                       "encoding": {**encoding, "x": x,
                                    **make_vega_channels_of_layered_marks(plot, "c1")}},
                      *reference_line_layer("x", plot.mark)],
            "usermeta": {"words": ["c0", "c1"]}}


@list_vega_layers_of_plot.register
def make_layers_of_curve_chart(plot: Curves) -> Json:
    """Return the chart layers of lines or points."""
    encoding: Json = {"x": quantitative_channel("c1", plot.x_label, plot.log_x, zero=False),
                "y": quantitative_channel("c2", plot.y_label, plot.log_y),
                "tooltip": tooltip_channel(("c0", ""), ("c1", plot.x_label), ("c2", plot.y_label))}
    names = choose_colours_of_plot_names(plot)
    encoding["x"]["axis"]["tickCount"] = {"signal": TICK_COUNT}
    dashes: Json = {**make_vega_colour_channel(plot, "c0"), "scale": {
        "domain": [*names], "range": [DASHES[own.shade] for own in names.values()]}}
    steps = "step-after" if plot.steps else "linear"
    under, line = ({"mark": {"type": "line", "clip": True, "interpolate": steps,
                             "strokeWidth": wide}, "encoding": {"strokeDash": dashes, **of}}
                   for wide, of in make_vega_channels_of_lines(plot, "c0"))
    point: Json = {"mark": {"type": "point", "filled": True, "clip": True, "size": 50,
                            "opacity": 1 if plot.points else 0},
                   "encoding": make_vega_channels_of_layered_marks(plot, "c0") if plot.points else
                   {"color": make_vega_colour_channel(plot, "c0")}}
    return {"height": PLOT_HEIGHT, "encoding": encoding,
            "layer": [{**point, "params": [ZOOM]}] if plot.points else [
                under, {**line, "params": [ZOOM]}, point],
            "usermeta": {"words": ["c0"]}}


OWN = "isValid(datum.c6)"


def prepend_transforms_to_layers(first: list[Json], layers: list[Json]) -> list[Json]:
    return [{**one, "transform": [*first, *one.get("transform", [])]} for one in layers]


def make_vega_filter_of_published_values(plot: Means) -> str:
    """Return a Vega expression that selects the published values whose x lies on the axis."""
    place = "isValid(datum.at)" if plot.is_x_axis_numeric else \
        f"indexof({json.dumps([str(x) for x in plot.xs])}, datum.c2) >= 0"
    return f"!{OWN} && {place}"


def vega_mark_encoding(plot: Means) -> tuple[Json, Json]:
    """Return Vega's encoding of position and height for the marks of a study."""
    plots = [one for _, one in list_names_and_panels_of_plot(plot) if isinstance(one, Means)]
    x_scale, y_scale = compute_study_plot_scales(plots)
    y = quantitative_channel("c3", plot.y_label, plot.log_y)
    y["scale"] |= {"domain": [y_scale[0], y_scale[-1]], "nice": False}
    if plot.is_x_axis_numeric:
        x = quantitative_channel("at", plot.x_label, plot.log_x)
        x["scale"] |= {"domain": [x_scale[0], x_scale[-1]], "nice": False}
        if few := choose_x_ticks_of_study_plots(plots):
            x["axis"] |= make_vega_ticks(few)
        return {"x": x}, y
    names = [str(x) for x in plot.xs]
    x = {"field": "c2", "type": "nominal", "sort": names, "title": plot.x_label,
         "scale": {"domain": names}, "axis": make_vega_axis_labelled_with_names(names)}
    apart = {} if plot.kind == "stack" or len(plot.series) < 2 else {
        "xOffset": {"field": "c1", "type": "nominal", "sort": list(plot.series),
                    "scale": {"domain": list(plot.series)}}}
    return {"x": x, **apart}, y


def make_vega_expression_of_x_value(plot: Means) -> str:
    """Return a Vega expression for the x value of a mark; measured series stand a little apart."""
    number = "toNumber(replace(datum.c2, '%', ''))"
    plots = [one for _, one in list_names_and_panels_of_plot(plot) if isinstance(one, Means)]
    x_scale, _ = compute_study_plot_scales(plots)
    shift = (compute_shift_between_series(plot, x_scale, plot.log_x)
             if choose_x_ticks_of_study_plots(plots) else 0.0)
    if not shift:
        return number
    middle = (len(plot.series) - 1) / 2
    by = f"{shift:.6g} * (indexof({json.dumps(list(plot.series))}, datum.c1) - {middle:g})"
    moved = f"{number} * exp({by})" if plot.log_x else f"{number} + {by}"
    return f"{OWN} ? {moved} : {number}"


def make_vega_layers_of_mean_values(plot: Means, place: Json, y: Json) -> list[Json]:
    """Return the chart layers (marks) of the means that the study measured."""
    if plot.is_bar_chart:
        ends = {"y": {**y, "field": "below"}, "y2": {"field": "top"}}
        return [{"mark": "bar",
                 "encoding": {**place, **ends, **make_vega_channels_of_layered_marks(plot, "c1")}}]
    steps = "step-after" if plot.kind == "cdf" else "linear"
    lines: list[Json] = [
        {"mark": {"type": "line", "clip": True, "interpolate": steps, "strokeWidth": wide},
         "encoding": {**place, "y": y, **of}}
        for wide, of in make_vega_channels_of_lines(plot, "c1")] if plot.is_x_axis_numeric else []
    return [*lines, {"mark": {"type": "point", "filled": True, "clip": True, "size": 55,
                              "opacity": 0 if plot.kind == "cdf" else 1},
                     "encoding": {**place, "y": y,
                                  **make_vega_channels_of_layered_marks(plot, "c1")}}]


def make_vega_transforms_of_bar_ends(plot: Means) -> list[Json]:
    """Return the Vega-Lite transforms that compute the ends of bars and of confidence intervals."""
    names = json.dumps(list(plot.series))
    way: list[Json] = [{"calculate": f"indexof({names}, datum.c1)", "as": "rank"},
                       {"stack": "c3", "groupby": ["c0", "c2"], "sort": [{"field": "rank"}],
                        "as": ["below", "top"]}] if plot.kind == "stack" else [
        {"calculate": f"{compute_study_plot_scales([plot])[1][0] if plot.log_y else 0}",
         "as": "below"},
        {"calculate": "datum.c3", "as": "top"}]
    return [*way, *(
        {"calculate": f"isValid(datum.{end}) ? datum.top + datum.{end} - datum.c3 : null",
         "as": name} for end, name in (("c4", "from"), ("c5", "to")))]


def make_layers_of_interval_chart(plot: Means, place: Json, y: Json, low: str, high: str,
                                  plain: bool) -> list[Json]:
    ends = {**place, "y": {**y, "field": low}, "y2": {"field": high}}
    both = make_vega_channels_of_lines(plot, "c1")
    return [{"transform": [{"filter": f"isValid(datum.{low})"}],
             "mark": {"type": "rule", "clip": True, "strokeWidth": wide,
                      **({"color": "@--ink 1"} if plain else {})},
             "encoding": {**ends, **({} if plain else of)}}
            for wide, of in (both[1:] if plain else both)]


def make_layers_of_published_value_chart(plot: Means, place: Json, y: Json) -> list[Json]:
    """Return the chart layers of published values: hollow marks, and lines for values without x."""
    sources = list(dict.fromkeys(mark.source for mark in plot.marks if mark.runs is None))
    if not sources:
        return []
    edge = make_vega_channels_of_layered_marks(plot, "c1")["stroke"]
    shape = {"field": "c7", "type": "nominal", "title": None, "legend": {"orient": "top"},
             "scale": {"domain": sources, "range": ["square", "diamond", "triangle-up"]}}
    point = {"mark": {"type": "point", "filled": False, "size": 90, "strokeWidth": 2,
                      "opacity": 1},
             "encoding": {**place, "y": y, "stroke": edge, "shape": shape}}
    level = {"mark": {"type": "rule", "strokeDash": [5, 2], "strokeWidth": 2},
             "encoding": {"y": y, "stroke": edge}}
    band = {"transform": [{"filter": "isValid(datum.c4)"}],
            "mark": {"type": "rect", "fillOpacity": 0.12},
            "encoding": {"y": {**y, "field": "c4"}, "y2": {"field": "c5"},
                         **make_vega_channels_of_layered_marks(plot, "c1")}}
    intervals = make_layers_of_interval_chart(plot, place, y, "c4", "c5", plain=False)
    return [*prepend_transforms_to_layers([{"filter": make_vega_filter_of_published_values(plot)}],
                                          [*intervals, point]),
            *prepend_transforms_to_layers([{"filter": f"!{OWN} && datum.c2 === ''"}],
                                          [band, level])]


@list_vega_layers_of_plot.register
def list_vega_layers_of_study_plot(plot: Means) -> Json:
    """Return the chart layers of a study's means beside published values."""
    place, y = vega_mark_encoding(plot)
    ends = ("from", "to") if plot.is_bar_chart else ("c4", "c5")
    own: list[Json] = [*make_vega_layers_of_mean_values(plot, place, y),
                       *make_layers_of_interval_chart(plot, place, y, *ends,
                                                      plain=plot.is_bar_chart)]
    if plot.is_x_axis_numeric:
        own[0]["params"] = [ZOOM]
    ways = make_vega_transforms_of_bar_ends(plot) if plot.is_bar_chart else []
    layers = [*prepend_transforms_to_layers([{"filter": OWN}, *ways], own),
              *make_layers_of_published_value_chart(plot, place, y),
              *reference_line_layer("y", plot.line)]
    panel = [("c0", "in")] if len(plot.facets) > 1 else []
    said = tooltip_channel(("c1", "of"), *panel, ("c2", plot.x_label), ("c3", plot.y_label),
                           ("c4", "low"), ("c5", "high"), ("c6", "runs"), ("c7", "from"))
    number_ = [{"calculate": make_vega_expression_of_x_value(plot), "as": "at"}]
    found: Json = {"height": PLOT_HEIGHT, "layer": layers, "encoding": {"tooltip": said}}
    panels_ = list_names_and_panels_of_plot(plot)
    if len(panels_) > 1:
        found = {"facet": {"field": "c0", "type": "nominal", "title": None,
                           "sort": list(plot.facets)},
                 "columns": panels_per_row(panels_), "spec": {**found, "height": 0.7 * PLOT_HEIGHT}}
    return {**found, "transform": number_ if plot.is_x_axis_numeric else [],
            "usermeta": {"words": ["c0", "c1", "c2"], "texts": ["c0", "c1", "c2", "c7"]}}


@list_vega_layers_of_plot.register
def make_layers_of_grid_chart(plot: Grid) -> Json:
    """Return the chart layers that draw the cells of a map."""
    def make_ordinal_axis_channel(field: str, title: str) -> Json:
        return {"field": field, "type": "ordinal", "sort": None, "title": title,
                "axis": {"labelOverlap": True, "labelAngle": 0},
                "scale": {"paddingInner": 0}}

    shade = make_vega_fill_and_stroke_channels(plot, "c2") if plot.words else {"color": {
        "field": "c2", "type": "quantitative", "title": plot.value_label,
        "scale": {"scheme": "cividis"}, "legend": {"orient": "top"}}}
    return {"height": max(60, min(320, 24 * len(plot.row_names))),
            "view": {"stroke": "@--gone 1"},
            "mark": {"type": "rect", **({} if plot.words else {"stroke": "@--soft 1"}),
                     "strokeWidth": 1 if plot.words else 0.5},
            "encoding": {"x": make_ordinal_axis_channel("c1", plot.column_label),
                         "y": make_ordinal_axis_channel("c0", plot.row_label), **shade,
                         "tooltip": tooltip_channel(("c0", plot.row_label),
                                                    ("c1", plot.column_label),
                                                    ("c2", plot.value_label))},
            "usermeta": {"words": ["c2"]}}


@list_vega_layers_of_plot.register
def make_layers_of_span_chart(plot: Spans) -> Json:
    """Return the chart of time spans; dragging pans, the mouse wheel with Shift zooms."""
    x = quantitative_channel("c1", f"time, {plot.x_label}", nice=False)
    x["axis"]["tickCount"] = {"signal": TICK_COUNT}
    return {"height": max(60, min(400, 26 * len(plot.lanes))), "params": [ZOOM],
            "mark": {"type": "bar", "clip": True, "strokeWidth": 1},
            "encoding": {"x": x, "x2": {"field": "c2"},
                         "y": {"field": "c0", "type": "nominal", "sort": plot.lanes, "title": None},
                         **make_vega_fill_and_stroke_channels(plot, "c3"),
                         "tooltip": tooltip_channel(("c4", ""), ("c1", f"begin, {plot.x_label}"),
                                                    ("c2", f"end, {plot.x_label}"))},
            "usermeta": {"words": ["c0", "c3", "c4"]}}


@list_vega_layers_of_plot.register
def make_layers_of_panel_chart(plot: Panels) -> Json:
    """Return the chart layers of panels that share their scales; the page sets a panel's width."""
    plots = [one for _, one in plot.panels]
    hues = choose_colours_of_plot_names(plot)
    first = plots[0]
    if isinstance(first, Curves):
        whole: Panel = replace(first, curves=[(name, [], []) for name in hues])
    elif isinstance(first, Bars):
        whole = replace(first, series=[(name, []) for name in hues])
    elif isinstance(first, Dots):
        whole = replace(first, series=[(name, [None] * len(first.categories)) for name in hues])
    else:
        raise NotImplementedError
    found = list_vega_layers_of_plot(replace(whole, hues=[*hues.values()]))
    height, meta = found.pop("height"), found.pop("usermeta")
    if isinstance(first, Dots):
        scale, _ = scale_of_dot_axis([one for one in plots if isinstance(one, Dots)])
        for layer in found["layer"][:3]:
            layer["encoding"]["x"]["scale"]["domain"] = [scale[0], scale[-1]]
            if "values" in layer["encoding"]["x"]["axis"]:
                layer["encoding"]["x"]["axis"] |= make_vega_ticks(scale)
    return {"facet": {"field": "panel", "type": "nominal", "title": None,
                      "sort": [name for name, _ in plot.panels]},
            "columns": panels_per_row(plot.panels), "spec": {**found, "height": 0.7 * height},
            "usermeta": {**meta, "panels": True, "words": [*meta["words"], "panel"]}}


def row_filter_expression(words: Sequence[str]) -> str:
    """Return a filter: a table row must match the search text and belong to no hidden series."""
    shown = " && ".join(f"indexof(hidden, datum.{word}) < 0" for word in words)
    said = ", ".join(f"datum.{word}" for word in words)
    return f"{shown} && indexof(lower(join([{said}], ' ')), wanted) >= 0"


def list_series_that_can_be_hidden(plot: Plot) -> list[str]:
    """Return the series that can be hidden in a single figure: parts of a run, not policies."""
    names = [name for name, own in choose_colours_of_plot_names(plot).items()
             if name and own.palette == "m"]
    return names if isinstance(plot, Means) and len(names) > 1 else []


def vega_specification(figure: Figure) -> Json:
    """Return a figure's Vega-Lite specification without its data rows, which the page adds."""
    found = list_vega_layers_of_plot(figure.plot)
    hues = choose_colours_of_plot_names(figure.plot)
    wide = {} if "facet" in found else {"width": "container"}
    return {**found, **wide, "description": figure.description,
            "params": [*found.get("params", []), {"name": "hidden", "value": []},
                       {"name": "wanted", "value": ""}],
            "transform": [{"filter": row_filter_expression(found["usermeta"]["words"])},
                          *found.get("transform", [])],
            "usermeta": {**found["usermeta"], "of": figure.of,
                         "policies": {name: own.index for name, own in hues.items()
                                      if own.palette == "s"},
                         "series": list_series_that_can_be_hidden(figure.plot)}}


def specification_as_json(figure: Figure) -> str:
    """Return the specification as JSON that is safe inside HTML."""
    return json.dumps(vega_specification(figure), separators=(",", ":")).replace("<", "\\u003c")


# ---------------------------------------------------------------- the bundle


def build_script_bundle() -> str | None:
    """Return Vega, Vega-Lite and Vega-Embed as one script; None if vl-convert is not installed."""
    try:
        library: Any = import_module("vl_convert")
    except ImportError:
        return None
    name = f"vega-{library.get_vega_version()}-by-{library.__version__}.js"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(home) / "approxftl" / name
    if place.exists():
        return place.read_text("utf-8")
    made: str = library.javascript_bundle()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, made)
    except (OSError, Refusal):
        pass  # The cache is optional; the bundle is made again next time.
    return made


def make_scripts_of_figure_page(code: str) -> Json:
    """Return the scripts of a page with figures: live.js, and Vega's `code` compressed."""
    return {"notice": NOTICE, "script": (HERE / "live.js").read_text("utf-8"),
            "packed": base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()}
