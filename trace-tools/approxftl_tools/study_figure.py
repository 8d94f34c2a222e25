# SPDX-License-Identifier: GPL-2.0-only
"""A [[figure]] of a study: which means stand where. Nothing is drawn here."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from approxftl_tools.command import USAGE, Refusal
from approxftl_tools.measures import BY_KEY, SCALES
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_plan import Plan, Value, check_known, is_plain
from approxftl_tools.study_table import Group, yardstick_of

KEYS = ("name", "title", "x", "y", "series", "facets", "relative_to", "error", "kind", "scale",
        "x_scale", "x_label", "y_label", "points", "points_label")
POINT_KEYS = ("x", "y", "low", "high", "series", "facet")
CHOICES = {"error": ("interval", "range", "none"), "kind": ("lines", "dots"),
           "scale": ("linear", "log"), "x_scale": ("linear", "log")}


@dataclass(frozen=True)
class Mark:
    """A mean, and where it stands."""

    facet: str
    series: str
    x: Value
    y: float
    low: float | None
    high: float | None
    runs: int | None
    source: str


@dataclass(frozen=True)
class Chart:
    """A figure before it is drawn."""

    name: str
    title: str
    kind: str
    x_label: str
    y_label: str
    facets: tuple[str, ...]
    series: tuple[str, ...]
    xs: tuple[Value, ...]
    marks: tuple[Mark, ...]
    #: Where the yardstick is, if there is one.
    line: float | None
    log_x: bool
    log_y: bool

    def csv(self) -> str:
        """Return the numbers."""
        out = io.StringIO()
        writer = csv.DictWriter(out, [one.name for one in fields(Mark)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(mark) for mark in self.marks)
        return out.getvalue()


@dataclass(frozen=True)
class Spec:
    """What a [[figure]] says, checked."""

    table: dict[str, Any]
    name: str
    x: str
    y: str
    series: str
    facets: str
    relative_to: str

    def choice(self, key: str) -> str:
        """Return one of a few words."""
        return str(self.table.get(key, CHOICES[key][0]))


def check_figure(plan: Plan, table: dict[str, Any], axes: Sequence[str]) -> None:
    """Refuse what is not understood."""
    path = plan.path
    check_known(path, "key of [[figure]]", table, KEYS)
    for key in ("x", "y"):
        if key not in table:
            raise Refusal(f"{path}: each [[figure]] has {key}", USAGE)
    check_known(path, "measure in [[figure]]", [str(table["y"])], list(VALUES))
    for key in ("x", "series", "facets"):
        if key in table:
            check_known(path, f"axis in {key} of [[figure]]", [str(table[key])], axes)
    for key, known in CHOICES.items():
        if key in table:
            check_known(path, f"{key} of [[figure]]", [str(table[key])], known)
    points = table.get("points", [])
    if not isinstance(points, list) or not all(isinstance(one, dict) for one in points):
        raise Refusal(f"{path}: points of [[figure]] is a list such as [{{ x = 7, y = 0.9 }}]",
                      USAGE)
    for point in points:
        check_known(path, "key of a point in [[figure]]", point, POINT_KEYS)
        if not is_number(point.get("y")) or not is_plain(point.get("x")):
            raise Refusal(f"{path}: each point of [[figure]] has x, and a number y", USAGE)


def is_number(value: object) -> bool:
    """Tell whether it is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def specs_of(plan: Plan) -> list[Spec]:
    """Return the figures of a study, or refuse them."""
    axes = [*(key for key in plan.keys if key != "seed"),
            *(("policy",) if "policy" not in plan.keys else ())]
    result: list[Spec] = []
    for number, table in enumerate(plan.figures, 1):
        check_figure(plan, table, axes)
        x, facets = str(table["x"]), str(table.get("facets", ""))
        rest = [axis for axis in ("policy", *axes) if axis in axes and axis not in (x, facets)]
        series = str(table.get("series", rest[0] if rest else x))
        if len({x, facets, series}) < 3 and series != x:
            raise Refusal(f"{plan.path}: x, series and facets of [[figure]] are different axes",
                          USAGE)
        name = str(table.get("name", f"figure-{number}"))
        if any(spec.name == name for spec in result) or "/" in name or name.startswith("."):
            raise Refusal(f'{plan.path}: [[figure]] "{name}" is no name of its own for a file',
                          USAGE)
        result.append(Spec(table, name, x, str(table["y"]), series, facets,
                           yardstick(plan, table, series)))
    return result


def yardstick(plan: Plan, table: dict[str, Any], series: str) -> str:
    """Return what means are related to: of policies the study's yardstick, if nothing is said."""
    return str(table.get("relative_to", plan.rules.relative_to if series == "policy" else ""))


def check_marks(plan: Plan, spec: Spec, marks: Sequence[Mark]) -> None:
    """Refuse a figure whose marks lie upon each other, for an axis is not in it."""
    seen = set()
    for mark in marks:
        place = mark.facet, mark.series, mark.x
        if place in seen:
            raise Refusal(f"{plan.path}: [[figure]] {spec.name}: several means of {mark.series} at "
                          f"{mark.x}; x, series and facets leave an axis out", USAGE)
        seen.add(place)


def extent(spec: Spec, group: Group, found: Estimate, scale: float
           ) -> tuple[float | None, float | None]:
    """Return the ends of an error bar."""
    if spec.choice("error") == "none" or found.half is None:
        return None, None
    if spec.choice("error") == "range" and not spec.relative_to:
        values = group.values(spec.y).values()
        return min(values) * scale, max(values) * scale
    return (found.mean - found.half) * scale, (found.mean + found.half) * scale


def unit_of(measure: str, marks: Sequence[float]) -> tuple[float, str]:
    """Return the scale and the name of the largest unit that all values have some of."""
    least = min((abs(value) for value in marks if value), default=0)
    unit = BY_KEY[measure].unit if measure in BY_KEY else measure.rpartition("_")[2]
    for size, name in SCALES.get(unit, ()):
        if least >= size:
            return 1 / size, name
    return 1.0, unit


def estimates(spec: Spec, groups: Sequence[Group]) -> Iterator[tuple[Group, Estimate]]:
    """Return the means of a figure; a yardstick is a line, not a mean."""
    for group in groups:
        if spec.relative_to:
            base = yardstick_of(group, groups, spec.series, spec.relative_to)
            found = group.ratio(base, spec.y) if base and base is not group else None
        else:
            found = group.estimate(spec.y)
        if found:
            yield group, found


def papers_points(spec: Spec) -> Iterator[Mark]:
    """Return what others have measured."""
    label = str(spec.table.get("points_label", "the paper"))
    for point in spec.table.get("points", []):
        low, high = (float(point[key]) if is_number(point.get(key)) else None
                     for key in ("low", "high"))
        facet = f"{spec.facets} {point['facet']}" if "facet" in point else ""
        yield Mark(facet, str(point.get("series", "")), point["x"],
                   float(point["y"]), low, high, None, label)


def own_marks(spec: Spec, found: Sequence[tuple[Group, Estimate]], scale: float) -> Iterator[Mark]:
    """Return our means."""
    for group, one in found:
        low, high = extent(spec, group, one, scale)
        facet = f"{spec.facets} {group.varied[spec.facets]}" if spec.facets else ""
        yield Mark(facet, str(group.varied[spec.series]), group.varied[spec.x], one.mean * scale,
                   low, high, one.count, "approxftl")


def words_of(spec: Spec, unit: str) -> tuple[str, str, str]:
    """Return the title and the names of the axes."""
    measure = BY_KEY[spec.y].title if spec.y in BY_KEY else spec.y.replace("_", " ")
    said = f"{measure}, {spec.relative_to} = 1" if spec.relative_to else measure
    y_label = said if spec.relative_to or not unit else f"{said}, {unit}"
    table = spec.table
    return (str(table.get("title", said)), str(table.get("x_label", spec.x)),
            str(table.get("y_label", y_label)))


def chart_of(plan: Plan, spec: Spec, groups: Sequence[Group]) -> Chart:
    """Return a figure from what is done."""
    found = list(estimates(spec, groups))
    if not found:
        raise Refusal(f"{plan.path}: [[figure]] {spec.name}: nothing is done that it shows")
    scale, unit = (1.0, "") if spec.relative_to else unit_of(spec.y, [one.mean for _, one in found])
    marks = list(own_marks(spec, found, scale))
    check_marks(plan, spec, marks)
    title, x_label, y_label = words_of(spec, unit)
    xs = tuple(dict.fromkeys(mark.x for mark in marks))
    numeric = all(as_number(x) is not None for x in xs)
    kind = str(spec.table.get("kind", "lines" if numeric and len(xs) > 1 else "dots"))
    return Chart(spec.name, title, kind, x_label, y_label,
                 tuple(dict.fromkeys(mark.facet for mark in marks)),
                 tuple(dict.fromkeys(mark.series for mark in marks)), xs,
                 (*marks, *papers_points(spec)), 1.0 if spec.relative_to else None,
                 spec.choice("x_scale") == "log", spec.choice("scale") == "log")


def as_number(x: Value) -> float | None:
    """Return the quantity of an axis' value such as 7, 0.5 or 7%."""
    try:
        return float(str(x).removesuffix("%"))
    except ValueError:
        return None
