# SPDX-License-Identifier: GPL-2.0-only
"""Select and scale the means that a [[figure]] of a study shows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from approxftl_tools.command import USAGE, Refusal
from approxftl_tools.figure import LEVEL, Figure, Mark, Means, axis_value_as_number
from approxftl_tools.figure_times import cumulative_percentages
from approxftl_tools.measures import BY_KEY, SCALES, get_json_value_at_key_path, is_number
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.statistics import Estimate, estimate_mean
from approxftl_tools.study_plan import (
    Plan,
    Value,
    Yardstick,
    check_string_values,
    is_valid_option_value,
    join_text_to_one_line,
    list_policies_of_point,
    option_values_as_list,
    refuse_unknown_words,
    values_as_strings,
    values_of_study_axes,
)
from approxftl_tools.study_table import (
    Group,
    axis_title,
    find_group_with_reference_value,
    measure_title,
)

KEYS = ("name", "title", "x", "y", "series", "facets", "relative_to", "error", "kind", "scale",
        "x_scale", "x_label", "y_label", "points", "points_label", "text", "show", "change",
        "shares", "networks")
POINT_KEYS = ("x", "y", "low", "high", "series", "facet")
TEXTS = ("name", "title", "series", "facets", "x_label", "y_label", "points_label", "text",
         "error", "kind", "change", "scale", "x_scale")
CHOICES = {"error": ("interval", "range", "none"),
           "kind": ("lines", "dots", "bars", "stack", "cdf"), "change": ("ratio", "cut", "gain"),
           "scale": ("linear", "log"), "x_scale": ("linear", "log")}
#: Pseudo axis that distinguishes several measures.
MEASURE = "measure"
#: Response times that a cdf can show.
DISTRIBUTIONS = ("read_response", "write_response")


@dataclass(frozen=True)
class Spec:
    table: dict[str, Any]
    name: str
    kind: str
    #: Axes whose values together give the x position.
    x: tuple[str, ...]
    y: tuple[str, ...]
    series: str
    facets: str
    relative_to: str
    #: The axis of the yardstick.
    across: str

    @property
    def reference_value_of_figure(self) -> Yardstick:
        return Yardstick(self.relative_to, self.across)

    def get_value_or_default_of_figure_key(self, key: str) -> str:
        """Return the value of a [[figure]]'s key with fixed choices, or the key's default."""
        return str(self.table.get(key, CHOICES[key][0]))

    def figure_spec_as_text(self) -> str:
        """Return one line of text that describes the figure."""
        return join_text_to_one_line(self.table.get("text", ""))


def check_keys_and_names_of_figure(plan: Plan, table: dict[str, Any], axes: Sequence[str]) -> None:
    """Refuse a [[figure]] with unknown keys, measures or axes."""
    path = plan.path
    refuse_unknown_words(path, "key of [[figure]]", table, KEYS)
    for key in ("x", "y"):
        if key not in table and (key, table.get("kind")) != ("x", "cdf"):
            raise Refusal(f"{path}: each [[figure]] has {key}", USAGE)
    measures = DISTRIBUTIONS if table.get("kind") == "cdf" else list(VALUES)
    refuse_unknown_words(path, "measure in [[figure]]", values_as_strings(table["y"]), measures)
    for key in ("x", "series", "facets"):
        if key in table:
            named = values_as_strings(table[key]) if key == "x" else [str(table[key])]
            refuse_unknown_words(path, f"axis in {key} of [[figure]]", named, axes)
    for key, known in CHOICES.items():
        if key in table:
            refuse_unknown_words(path, f"{key} of [[figure]]", [str(table[key])], known)


def check_value_types_of_figure_spec(path: Path, table: dict[str, Any]) -> None:
    """Refuse a [[figure]] with values of the wrong type."""
    where = " of [[figure]]"
    check_string_values(path, table, TEXTS, where)
    for key in ("x", "y"):
        value = table.get(key, "")
        if value == []:
            raise Refusal(f"{path}: {key}{where} is a word, or a list of them", USAGE)
        for one in option_values_as_list(value):
            check_string_values(path, {key: one}, [key], where)
    if not all(map(is_valid_option_value, option_values_as_list(table.get("show", [])))) or \
            not is_valid_option_value(table.get("relative_to", "")):
        raise Refusal(f"{path}: show and relative_to{where} are values of an axis", USAGE)
    if not isinstance(table.get("shares", False), bool):
        raise Refusal(f"{path}: shares{where} is true or false", USAGE)


def check_figure_spec(plan: Plan, table: dict[str, Any], axes: Sequence[str]) -> None:
    """Refuse an invalid [[figure]] of a study."""
    check_value_types_of_figure_spec(plan.path, table)
    several = isinstance(table.get("y"), list)
    check_keys_and_names_of_figure(plan, table, [*axes, MEASURE] if several else axes)
    for key in ("points", "networks"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise Refusal(f"{plan.path}: {key} of [[figure]] is a list such as "
                          "[{ x = 7, y = 0.9 }]", USAGE)
    for point in table.get("points", []):
        refuse_unknown_words(plan.path, "key of a point in [[figure]]", point, POINT_KEYS)
        if not is_number(point.get("y")) or not is_valid_option_value(point.get("x", "")):
            raise Refusal(f"{plan.path}: each point of [[figure]] has a number y, and an x unless "
                          "it is a level", USAGE)
        if not all(is_number(point.get(key, 0)) for key in ("low", "high")) or \
                not all(is_valid_option_value(point.get(key, "")) for key in ("series", "facet")):
            raise Refusal(f"{plan.path}: low and high of a point in [[figure]] are numbers, series "
                          "and facet are values of an axis", USAGE)
    for one in table.get("networks", []):
        known = [*NETWORK_KEYS, NETWORK_LAYER, *axes]
        refuse_unknown_words(plan.path, "key of a network in [[figure]]", one, known)
        if not set(NETWORK_KEYS) <= one.keys():
            raise Refusal(f"{plan.path}: each network of [[figure]] has {', '.join(NETWORK_KEYS)}",
                          USAGE)
        types = import_module("approxftl_tools.lossy").KINDS
        refuse_unknown_words(plan.path, "type of a network in [[figure]]", [str(one["type"])],
                             list(types))
        if one["planes"] not in range(65):
            raise Refusal(f"{plan.path}: planes of a network in [[figure]] are from 0 to 64", USAGE)
        if one.get(NETWORK_LAYER, 0) not in range(3):
            raise Refusal(f"{plan.path}: layers of a network in [[figure]] are from 0 to 2", USAGE)


def figure_specs(plan: Plan) -> list[Spec]:
    axes = [*(key for key in plan.keys if key != "seed"),
            *(("policy",) if "policy" not in plan.keys else ())]
    result: list[Spec] = []
    for number, table in enumerate(plan.figures, 1):
        check_figure_spec(plan, table, axes)
        name = str(table.get("name", f"{plan.name}-{number}"))
        spec = parse_study_figure(plan, table, name, axes)
        if any(one.name == spec.name for one in result) or "/" in spec.name or \
                spec.name.startswith("."):
            raise Refusal(f'{plan.path}: [[figure]] "{spec.name}" is no name of its own for a '
                          "file", USAGE)
        refuse_mean_marks_at_one_position(plan, spec)
        result.append(spec)
    return result


def refuse_mean_marks_at_one_position(plan: Plan, spec: Spec) -> None:
    """Refuse a figure, before any run, that would draw two means of the study at one position."""
    if "networks" in spec.table:
        return
    shown = values_as_strings(spec.table.get("show", []))
    named = (*spec.x, spec.series, spec.facets)
    omitted = [MEASURE] if len(spec.y) > 1 and MEASURE not in named else []
    points: dict[tuple[object, ...], dict[str, Value]] = {}
    for point, policy in ((one, each) for one in plan.points
                          for each in list_policies_of_point(one)):
        varied = {key: value for key, value in point.varied if key != "seed"} | {"policy": policy}
        is_reference = spec.kind != "stack" and spec.relative_to and \
            str(varied[spec.across]) == spec.relative_to
        if not is_reference and (not shown or str(varied.get(spec.series)) in shown):
            other = points.setdefault(tuple(map(varied.get, named)), varied)
            omitted = omitted or [key for key in varied if varied[key] != other[key]]
    if omitted:
        raise Refusal(f"{plan.path}: [[figure]] {spec.name} leaves out the axis "
                      f"{' and '.join(omitted)}; name it as x, series or facets", USAGE)


def parse_study_figure(plan: Plan, table: dict[str, Any], name: str, axes: Sequence[str]) -> Spec:
    x, facets = tuple(values_as_strings(table.get("x", []))), str(table.get("facets", ""))
    y = tuple(values_as_strings(table["y"]))
    first = ("policy",) if len(values_of_study_axes(plan.points)["policy"]) > 1 else ()
    rest = [axis for axis in (*first, *axes) if axis not in (*x, facets)]
    several = [MEASURE] if len(y) > 1 and MEASURE not in (*x, facets) else []
    series = str(table.get("series", [*several, *rest, *x][0]))
    if len({*x, facets, series}) < len(x) + 2 and (series,) != x:
        raise Refusal(f"{plan.path}: x, series and facets of [[figure]] are different axes",
                      USAGE)
    relative_to = find_reference_mean(plan, table, series)
    known = {str(value) for point in plan.points for key, value in point.varied if key == series}
    across = series if series == "policy" or relative_to in known else "policy"
    return Spec(table, name, str(table.get("kind", "")), x, y, series, facets, relative_to, across)


def find_reference_mean(plan: Plan, table: dict[str, Any], series: str) -> str:
    """Return the axis value, such as a policy, to whose means the ratios of a figure refer."""
    if table.get("kind") == "cdf" or table.get("shares") or "networks" in table:
        return ""
    usual = plan.rules.yardstick
    return str(table.get("relative_to", usual.value if series == usual.axis else ""))


# ---------------------------------------------------------------- means


@dataclass(frozen=True)
class Found:
    """A mean in a figure, and the values of the study's axes for which it was measured."""

    where: dict[str, Value]
    one: Estimate
    #: The samples of the mean.
    values: Sequence[float] = ()

    def value_on_figure_axis(self, axes: Sequence[str]) -> Value:
        """Return the mean's x value: of one axis, or the joined values of several axes."""
        return self.where[axes[0]] if len(axes) == 1 else " ".join(
            str(self.where[axis]) for axis in axes)


def unit_shared_by_marks(measure: str, marks: Sequence[float]) -> tuple[float, str]:
    """Return scale and name of the largest unit in which every value is at least 1."""
    least = min((abs(value) for value in marks if value), default=0)
    unit = BY_KEY[measure].unit_at_end_of_key if measure in BY_KEY else measure.rpartition("_")[2]
    for size, name in SCALES.get(unit, ()):
        if least >= size:
            return 1 / size, name
    return 1.0, unit


def groups_in_figure(spec: Spec, groups: Sequence[Group]) -> list[Group]:
    wanted = values_as_strings(spec.table.get("show", []))
    return [group for group in groups
            if not wanted or str(group.varied.get(spec.series)) in wanted]


def compute_figure_means(spec: Spec, groups: Sequence[Group]) -> Iterator[Found]:
    """Yield the means of a figure; omit the means of the reference, which become a line."""
    for group in groups_in_figure(spec, groups):
        base = find_group_with_reference_value(group, groups, spec.reference_value_of_figure)
        for measure in spec.y:
            if not spec.relative_to:
                one = group.estimate_mean_over_seeds(measure)
            else:
                one = group.estimate_ratio_to_group(base, measure) \
                    if base and base is not group else None
            if one:
                yield Found(group.varied | {MEASURE: measure_title(measure)}, one,
                            list(group.read_measure_for_each_seed(measure).values()))


def list_parts_of_stacked_bars(spec: Spec, groups: Sequence[Group]) -> Iterator[Found]:
    """Yield the parts of stacked bars: values, shares of their bar, or ratios to a reference."""
    for group in groups_in_figure(spec, groups):
        base = group if spec.table.get("shares") else find_group_with_reference_value(
            group, groups, spec.reference_value_of_figure)
        wholes = base.sum_measures_for_each_seed(spec.y) if base else dict.fromkeys(group.runs, 1.0)
        scale = 100 if spec.table.get("shares") else 1
        for measure in spec.y:
            values = [scale * value / wholes[seed]
                      for seed, value in group.read_measure_for_each_seed(measure).items()
                      if wholes.get(seed)]
            if values:
                yield Found(group.varied | {MEASURE: measure_title(measure)}, estimate_mean(values),
                            values)


def format_figure_ratio(spec: Spec, one: Estimate) -> Estimate:
    """Return a ratio in the figure's notation."""
    sign = {"ratio": 0, "cut": -100, "gain": 100}[spec.get_value_or_default_of_figure_key("change")]
    if not sign or not spec.relative_to:
        return one
    return replace(one, mean=sign * (one.mean - 1),
                   half=None if one.half is None else 100 * one.half)


def ends_of_error_bar(spec: Spec, found: Found, one: Estimate, scale: float
                      ) -> tuple[float | None, float | None]:
    if spec.get_value_or_default_of_figure_key("error") == "none" or one.half is None:
        return None, None
    if spec.get_value_or_default_of_figure_key("error") == "range" and not spec.relative_to:
        return min(found.values) * scale, max(found.values) * scale
    return (one.mean - one.half) * scale, (one.mean + one.half) * scale


def panel_heading_of_mean(spec: Spec, where: dict[str, Value]) -> str:
    return panel_heading(spec, where[spec.facets]) if spec.facets else ""


def panel_heading(spec: Spec, value: object) -> str:
    return str(value) if spec.facets == MEASURE else f"{axis_title(spec.facets)}: {value}"


def make_marks_of_study_means(spec: Spec, every: Sequence[Found], scale: float) -> Iterator[Mark]:
    """Yield the marks of a figure that show the study's means."""
    for found in every:
        one = format_figure_ratio(spec, found.one)
        low, high = ends_of_error_bar(spec, found, one, scale)
        yield Mark(panel_heading_of_mean(spec, found.where), str(found.where[spec.series]),
                   found.value_on_figure_axis(spec.x), one.mean * scale, low, high, one.count,
                   "approxftl")


def make_marks_of_published_values(spec: Spec) -> Iterator[Mark]:
    """Yield marks of published values; a value without x, such as an overall mean, is a line."""
    label = str(spec.table.get("points_label", "the paper"))
    for point in spec.table.get("points", []):
        low, high = (float(point[key]) if is_number(point.get(key)) else None
                     for key in ("low", "high"))
        facet = panel_heading(spec, point["facet"]) if "facet" in point else ""
        yield Mark(facet, str(point.get("series", "")), point.get("x", LEVEL),
                   float(point["y"]), low, high, None, label)


# ---------------------------------------------------------------- distributions, networks


def response_distributions(spec: Spec, groups: Sequence[Group]) -> list[Mark]:
    """Return the cumulative percentage of requests over response time, pooled over seeds."""
    marks: list[Mark] = []
    for group in groups_in_figure(spec, groups):
        bins: Counter[float] = Counter()
        for run in group.runs.values():
            bins.update(dict(get_json_value_at_key_path(run, "timing", spec.y[0], "bins") or ()))
        facet, series = panel_heading_of_mean(spec, group.varied), str(group.varied[spec.series])
        if bins:
            marks += [Mark(facet, series, time, share, None, None, len(group.runs), "approxftl")
                      for time,
                      share in zip(*cumulative_percentages(sorted(bins.items())), strict=True)]
    return marks


#: Keys that describe a network; its other keys select bit error rates by axis value.
NETWORK_KEYS = ("name", "type", "planes")
#: Index of the only layer that loses bits; absent if all do.
NETWORK_LAYER = "layer"


def select_axis_values_of_network_runs(one: dict[str, Any]) -> dict[str, str]:
    """Return axis values of the runs whose bit error rate is applied to a figure's network."""
    return {key: str(value) for key, value in one.items()
            if key not in (*NETWORK_KEYS, NETWORK_LAYER)}


def network_accuracies(spec: Spec, groups: Sequence[Group]) -> Iterator[Mark]:
    """Yield the accuracy of networks at the simulated bit error rates."""
    told = import_module("approxftl_tools.digit_recognition").mean_accuracy
    for one in spec.table["networks"]:
        own = select_axis_values_of_network_runs(one)
        for group in groups:
            rate = group.estimate_mean_over_seeds(spec.y[0])
            if rate and all(str(group.varied[key]) == value for key, value in own.items()):
                found = told(one["type"], one["planes"], rate.mean, one.get(NETWORK_LAYER))
                yield Mark("", one["name"], group.varied[spec.x[0]], found.mean, found.low,
                           found.high, found.count, "approxftl")


def accuracy_in_report(report: dict[str, Any], one: dict[str, Any]) -> float | None:
    """Return a network's accuracy (%) in a report of approxftl app weights; None if it has none."""
    setup, labels = report["parameters"], report["labels"]
    hidden = import_module("approxftl_tools.digit_recognition").HIDDEN
    if "share" not in report or set(setup["levels"]) - {1} or (
            setup["type"], setup["planes"], setup.get("hidden")) != (
            one["type"], one["planes"], hidden) or not (
            select_axis_values_of_network_runs(one).items() <= labels.items()):
        return None
    if NETWORK_LAYER not in one:
        return 100 * float(report["share"]["stored"])
    name = f"layer.{one[NETWORK_LAYER]}.weight"
    return next(100 * float(array["share"]) for array in report["arrays"] if array["name"] == name)


def list_stored_network_accuracies(spec: Spec, reports: Sequence[dict[str, Any]]) -> Iterator[Mark]:
    """Yield the accuracy of networks whose weights were stored on real devices."""
    for one in spec.table.get("networks", []):
        found: dict[str, list[float]] = {}
        for report in reports:
            share = accuracy_in_report(report, one)
            if share is not None and spec.x[0] in report["labels"]:
                found.setdefault(report["labels"][spec.x[0]], []).append(share)
        for x, shares in found.items():
            mean = estimate_mean(shares)
            yield Mark("", one["name"], x, mean.mean, mean.low, mean.high, None,
                       f"mounted, {mean.count} seeds")


# ---------------------------------------------------------------- charts


def x_axis_title(spec: Spec, plan: Plan) -> str:
    """Return the title of the x axis, with its unit if all values share one."""
    values = [str(value) for point in plan.points for key, value in point.varied
              if key == spec.x[0]]
    percent = spec.kind in ("", "lines") and values and all(one.endswith("%") for one in values)
    return ", ".join(map(axis_title, spec.x)) + (", %" if percent else "")


def figure_labels(plan: Plan, spec: Spec, unit: str) -> tuple[str, str, str]:
    """Return the titles and labels of the x and the y axis."""
    measures = ", ".join(map(measure_title, spec.y))
    yardstick_is = f"{spec.relative_to} = 1" if spec.relative_to else ""
    said = ", ".join(filter(None, (measures, yardstick_is)))
    # Several measures are labelled at their marks.
    y_label = ", ".join(filter(None, ("" if len(spec.y) > 1 else measures, yardstick_is or unit)))
    x_label = "response time, us" if spec.kind == "cdf" else x_axis_title(spec, plan)
    table = spec.table
    return (str(table.get("title", said)), str(table.get("x_label", x_label)),
            str(table.get("y_label", y_label)))


def make_marks_and_unit(plan: Plan, spec: Spec, groups: Sequence[Group]) -> tuple[list[Mark], str]:
    """Return the marks of a study's figure and the unit of their values."""
    if spec.kind == "cdf":
        return response_distributions(spec, groups), "% of requests"
    if "networks" in spec.table:
        return list(network_accuracies(spec, groups)), "%"
    means = list_parts_of_stacked_bars if spec.kind == "stack" else compute_figure_means
    found = list(means(spec, groups))
    units = {measure.rpartition("_")[2] for measure in spec.y}
    scaled = found and len(units) == 1 and not spec.relative_to and not spec.table.get("shares")
    scale, unit = unit_shared_by_marks(spec.y[0],
                                       [each.one.mean for each in found]) if scaled else (1.0, "")
    return list(make_marks_of_study_means(spec, found, scale)), unit


def repeat_published_marks_in_panels(facets: Sequence[str],
                                     others: Sequence[Mark]) -> Iterator[Mark]:
    """Yield the published marks; a mark that names no facet (panel) occurs in each facet."""
    for mark in others:
        for facet in (mark.facet,) if mark.facet else facets:
            yield replace(mark, facet=facet)


def draw_figure_of_study(plan: Plan, spec: Spec, groups: Sequence[Group],
                         reports: Sequence[dict[str, Any]] = (), said: str = "") -> Figure:
    """Return a figure of finished points, published values and reports of devices."""
    marks, unit = make_marks_and_unit(plan, spec, groups)
    if not marks:
        raise Refusal(f"{plan.path}: [[figure]] {spec.name}: nothing is done that it shows")
    heading, x_label, y_label = figure_labels(plan, spec, unit)
    xs = tuple(dict.fromkeys(mark.x for mark in marks))
    numeric = all(axis_value_as_number(x) is not None for x in xs)
    kind = spec.kind or ("lines" if numeric and len(xs) > 1 else "dots")
    facets = tuple(dict.fromkeys(mark.facet for mark in marks))
    every = (*marks,
             *repeat_published_marks_in_panels(facets,
                                               [*make_marks_of_published_values(spec),
                                                *list_stored_network_accuracies(spec, reports)]))
    # Ratios are compared with a line at the mean of the reference.
    change = spec.get_value_or_default_of_figure_key("change")
    level = 1.0 if spec.relative_to and change == "ratio" else None
    return Figure(spec.name, heading, said or spec.figure_spec_as_text(), Means(
        kind, x_label, y_label, facets, tuple(dict.fromkeys(mark.series for mark in every)), xs,
        every, level, spec.get_value_or_default_of_figure_key("x_scale")
                                                                                == "log",
        spec.get_value_or_default_of_figure_key("scale") == "log"))
