# SPDX-License-Identifier: GPL-2.0-only
"""Figures that answer, for who has scripts: Vega-Lite beside the SVG that is in the page anyway.

A specification says how a figure is drawn; its rows are those of the CSV file that the figure
offers. A word that begins with @ is a colour of the page's style, and how strong it is.
"""

from __future__ import annotations

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
    Panel,
    Panels,
    Plot,
    Spans,
    axis_name,
    hues_of,
    names_of,
)
from approxftl_tools.output import write_file
from approxftl_tools.page import HERE
from approxftl_tools.refusal import Refusal
from approxftl_tools.svg import LINE, PLOT_HEIGHT, columns_of, dots_scale

Json = dict[str, Any]

#: What the bundle is made of, which says so nowhere itself.
NOTICE = ("Vega, Vega-Lite and Vega-Embed: Copyright University of Washington Interactive Data Lab "
          "and contributors, BSD-3-Clause; D3: Copyright Mike Bostock, ISC")
#: How strong shades are, and lines of each.
SHADES = (1.0, 0.6, 0.32)
DASHES: tuple[list[int], ...] = ([], [6, 3], [2, 2])
#: A tick of times, which are in us.
TIMES = ("datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' s' : datum.value >= 1e3 ? "
         "format(datum.value / 1e3, '~g') + ' ms' : format(datum.value, '~g') + ' us'")
#: Layers with colours of their own: an edge is not in the legend.
APART = {"scale": {"color": "independent"}}
#: With the shift key, so that a wheel goes on scrolling the page.
ZOOM = {"name": "zoom", "select": {"type": "interval", "encodings": ["x"],
                                   "zoom": "wheel![event.shiftKey]"}, "bind": "scales"}


def style_colour(own: Hue) -> str:
    """Return a colour of the page's style."""
    return f"@--{'c' if own.palette == 's' else own.palette}{own.index} {SHADES[own.shade]}"


def edge_colour(name: str, own: Hue) -> str:
    """Return what stands out at the edge of a colour."""
    if word_colour(name, own).startswith("@--gone"):
        return "@--gone 1"
    return f"@--{'e' if own.palette == 's' else 'f'}{own.index} 1"


def word_colour(name: str, own: Hue) -> str:
    """Return the colour of a name; what is gone is grey."""
    if name == "erased":
        return "@--paper 1"
    if name.startswith("stale"):
        return f"@--gone {1 if 'precise' in name else 0.5}"
    return style_colour(own)


def coloured_by(plot: Plot, field: str) -> Json:
    """Return the channel of colours."""
    names = hues_of(plot)
    return {"field": field, "type": "nominal", "title": None,
            "scale": {"domain": [*names],
                      "range": [word_colour(name, own) for name, own in names.items()]},
            "legend": {"orient": "top", "columns": {"signal": "width < 500 ? 2 : 5"}}
            if len(names) > 1 else None}


def edged_by(plot: Plot, field: str) -> Json:
    """Return the channel of edges."""
    found, names = coloured_by(plot, field), hues_of(plot)
    return {**found, "scale": {"domain": [*names], "range": [
        edge_colour(name, own) for name, own in names.items()]}}


def bare(channel: Json) -> Json:
    """Return the channel without a legend."""
    return {**channel, "legend": None}


def filled_by(plot: Plot, field: str) -> Json:
    """Return the channels of what is filled, and has an edge."""
    return {"color": coloured_by(plot, field), "stroke": edged_by(plot, field)}


def tooltip(*fields: tuple[str, str]) -> list[Json]:
    """Return what is said of a mark: exact values, by field and title."""
    return [{"field": field, "title": title or "what"} for field, title in fields]


def axis(field: str, title: str, log: bool = False, **more: Any) -> Json:
    """Return a channel of numbers."""
    times = {"labelExpr": TIMES} if title.endswith(IN_US) else {}
    return {"field": field, "type": "quantitative", "title": axis_name(title),
            "axis": {"labelOverlap": True, **times},
            "scale": {"type": "log", "nice": False} if log else {"type": "linear", **more}}


def line_at(channel: str, mark: float | None) -> list[Json]:
    """Return a layer for a line across, if there is to be one."""
    return [] if mark is None else [
        {"mark": {"type": "rule", "strokeDash": [5, 4], "color": "@--ink 1"},
         "encoding": {channel: {"datum": mark}}}]


@singledispatch
def drawn(plot: Plot) -> Json:
    """Return marks and channels of a plot, and the fields that names are in."""
    raise NotImplementedError


@drawn.register
def bars(plot: Bars) -> Json:
    """Return bars side by side, or on each other."""
    names = names_of(plot)
    apart: Json = {} if plot.stacked or len(names) < 2 else {
        "xOffset": {"field": "series", "type": "nominal", "sort": names}}
    encoding = {
        "x": {"field": "c0", "type": "nominal", "sort": None, "title": None,
              "axis": {"labelAngle": -30, "labelOverlap": True}},
        "y": {**axis("value", plot.unit), "stack": "zero" if plot.stacked else None},
        "order": {"field": "rank"}, **apart, **filled_by(plot, "series"),
        "tooltip": tooltip(("c0", ""), ("series", "of"), ("value", plot.unit))}
    return {"height": PLOT_HEIGHT, "layer": [{"mark": "bar", "encoding": encoding},
                                             *line_at("y", plot.mark)],
            "usermeta": {"melted": True, "words": ["c0", "series"]}}


@drawn.register
def dots(plot: Dots) -> Json:
    """Return means with their intervals."""
    scale, log = dots_scale([plot])
    encoding = {
        "y": {"field": "c0", "type": "nominal", "sort": None, "title": None,
              "axis": {"labelLimit": 130}},
        "yOffset": {"field": "c1", "type": "nominal", "sort": names_of(plot)},
        "tooltip": tooltip(("c0", ""), ("c1", "of"), ("c2", plot.unit), ("c3", "low"),
                           ("c4", "high"), ("c5", "runs"))}
    x = axis("c2", plot.unit, log)
    x["scale"] |= {"domain": [scale[0], scale[-1]], "nice": False}
    intervals: list[Json] = [
        {"transform": [{"filter": "isValid(datum.c3)"}],
         "mark": {"type": "rule", "strokeWidth": wide},
         "encoding": {**encoding, "x": {**x, "field": "c3"}, "x2": {"field": "c4"},
                      "color": bare(colour)}}
        for wide, colour in ((4, edged_by(plot, "c1")), (2, coloured_by(plot, "c1")))]
    return {"height": LINE * (1 + len(plot.series)) * max(1, len(plot.categories)),
            "layer": [*intervals,
                      {"mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                       "encoding": {**encoding, "x": x, **filled_by(plot, "c1")}},
                      *line_at("x", plot.mark)],
            "resolve": APART, "usermeta": {"words": ["c0", "c1"]}}


@drawn.register
def curves(plot: Curves) -> Json:
    """Return lines, or points."""
    encoding: Json = {"x": axis("c1", plot.x_label, plot.log_x, zero=False),
                "y": axis("c2", plot.y_label, plot.log_y),
                "tooltip": tooltip(("c0", ""), ("c1", plot.x_label), ("c2", plot.y_label))}
    names = hues_of(plot)
    colour, edge = coloured_by(plot, "c0"), edged_by(plot, "c0")
    dashes: Json = {**colour, "scale": {
        "domain": [*names], "range": [DASHES[own.shade] for own in names.values()]}}
    steps = "step-after" if plot.steps else "linear"
    # The edge is a wider line beneath.
    under, line = ({"mark": {"type": "line", "clip": True, "interpolate": steps,
                             "strokeWidth": wide},
                    "encoding": {"strokeDash": dashes, "color": of}}
                   for wide, of in ((4, bare(edge)), (2, colour)))
    point: Json = {"mark": {"type": "point", "filled": True, "clip": True, "size": 50,
                            "opacity": 1 if plot.points else 0},
                   "encoding": filled_by(plot, "c0") if plot.points else {"color": bare(colour)}}
    return {"height": PLOT_HEIGHT, "encoding": encoding,
            "resolve": APART,
            "layer": [{**point, "params": [ZOOM]}] if plot.points else [
                under, {**line, "params": [ZOOM]}, point],
            "usermeta": {"words": ["c0"]}}


@drawn.register
def grid(plot: Grid) -> Json:
    """Return cells."""
    def place(field: str, title: str) -> Json:
        return {"field": field, "type": "ordinal", "sort": None, "title": title,
                "axis": {"labelOverlap": True, "labelAngle": 0},
                "scale": {"paddingInner": 0}}

    shade = filled_by(plot, "c2") if plot.words else {"color": {
        "field": "c2", "type": "quantitative", "title": plot.value_label,
        "scale": {"scheme": "cividis"}, "legend": {"orient": "top"}}}
    return {"height": max(60, min(320, 24 * len(plot.row_names))),
            "mark": {"type": "rect", **({} if plot.words else {"stroke": "@--soft 1"}),
                     "strokeWidth": 1 if plot.words else 0.5},
            "encoding": {"x": place("c1", plot.column_label), "y": place("c0", plot.row_label),
                         **shade,
                         "tooltip": tooltip(("c0", plot.row_label), ("c1", plot.column_label),
                                            ("c2", plot.value_label))},
            "usermeta": {"words": ["c2"]}}


@drawn.register
def spans(plot: Spans) -> Json:
    """Return what lasts, on lanes; dragging moves, the wheel with shift zooms."""
    return {"height": max(60, min(400, 26 * len(plot.lanes))), "params": [ZOOM],
            "mark": {"type": "bar", "clip": True, "strokeWidth": 1},
            "encoding": {"x": axis("c1", f"time, {plot.x_label}", nice=False),
                         "x2": {"field": "c2"},
                         "y": {"field": "c0", "type": "nominal", "sort": plot.lanes, "title": None},
                         **filled_by(plot, "c3"),
                         "tooltip": tooltip(("c4", ""), ("c1", f"begin, {plot.x_label}"),
                                            ("c2", f"end, {plot.x_label}"))},
            "usermeta": {"words": ["c0", "c3", "c4"]}}


@drawn.register
def panels(plot: Panels) -> Json:
    """Return panels of what is drawn of all in one; the page says how wide each is."""
    plots = [one for _, one in plot.panels]
    hues = hues_of(plot)
    first = plots[0]
    if isinstance(first, Curves):
        whole: Panel = replace(first, curves=[(name, [], []) for name in hues])
    elif isinstance(first, Bars):
        whole = replace(first, series=[(name, []) for name in hues])
    else:
        whole = replace(first, series=[(name, [None] * len(first.categories)) for name in hues])
    found = drawn(replace(whole, hues=[*hues.values()]))
    height, meta = found.pop("height"), found.pop("usermeta")
    if isinstance(first, Dots):
        scale, _ = dots_scale([one for one in plots if isinstance(one, Dots)])
        for layer in found["layer"][:3]:
            layer["encoding"]["x"]["scale"]["domain"] = [scale[0], scale[-1]]
    return {"facet": {"field": "panel", "type": "nominal", "title": None,
                      "sort": [name for name, _ in plot.panels]},
            "columns": columns_of(plot.panels), "spec": {**found, "height": 0.7 * height},
            "usermeta": {**meta, "panels": True, "words": [*meta["words"], "panel"]}}


def kept(words: Sequence[str]) -> str:
    """Return the test of a row: nothing of it is hidden, and what is wanted is in it."""
    shown = " && ".join(f"indexof(hidden, datum.{word}) < 0" for word in words)
    said = ", ".join(f"datum.{word}" for word in words)
    return f"{shown} && indexof(lower(join([{said}], ' ')), wanted) >= 0"


def specification(figure: Figure) -> Json:
    """Return what Vega-Lite draws; the rows come from the page."""
    found = drawn(figure.plot)
    hues = hues_of(figure.plot)
    wide = {} if "facet" in found else {"width": "container"}
    return {**found, **wide, "description": figure.description,
            "params": [*found.get("params", []), {"name": "hidden", "value": []},
                       {"name": "wanted", "value": ""}],
            "transform": [{"filter": kept(found["usermeta"]["words"])}],
            "usermeta": {**found["usermeta"], "of": figure.of,
                         "policies": {name: own.index for name, own in hues.items()
                                      if own.palette == "s"}}}


def script(figure: Figure) -> str:
    """Return the specification as it can stand in a page."""
    return json.dumps(specification(figure), separators=(",", ":")).replace("<", "\\u003c")


# ---------------------------------------------------------------- the bundle


def cached(name: str) -> Path:
    """Return where something is kept that takes seconds to make."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "approxftl" / name


def bundle() -> str | None:
    """Return Vega, Vega-Lite and Vega-Embed as one script; None where vl-convert is not there."""
    try:
        library: Any = import_module("vl_convert")
    except ImportError:
        return None
    place = cached(f"vega-{library.get_vega_version()}-by-{library.__version__}.js")
    if place.exists():
        return place.read_text("utf-8")
    made: str = library.javascript_bundle()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, made)
    except (OSError, Refusal):
        pass  # It is made again the next time.
    return made


def ending(code: str) -> Json:
    """Return what makes figures of the specifications; the bundle is unpacked when one is seen."""
    return {"notice": NOTICE, "script": (HERE / "live.js").read_text("utf-8"),
            "packed": base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()}
