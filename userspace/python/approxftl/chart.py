# SPDX-License-Identifier: GPL-2.0-only
"""Figures of sweeps, drawn like figures of studies."""

import os
from collections.abc import Iterable
from pathlib import Path

from approxftl_tools.figure import Figure, Mark, Means, axis_value_as_number
from approxftl_tools.figure_file import render_figure
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_figure import unit_shared_by_marks
from approxftl_tools.study_table import axis_title, measure_title


class Chart:
    """A drawing of the results of a sweep, which a Jupyter notebook displays."""

    FORMATS = ("svg", "pdf", "png", "csv")

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def _repr_svg_(self) -> str:
        return render_figure(self.figure, "svg").decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure as svg, pdf or png, or its numbers as csv, by the file's suffix."""
        kind = Path(path).suffix.removeprefix(".")
        if kind not in Chart.FORMATS:
            raise ValueError(f"{path}: the name does not end in ."
                             f"{', .'.join(Chart.FORMATS[:-1])} or .{Chart.FORMATS[-1]}")
        Path(path).write_bytes(self.figure.figure_as_csv().encode() if kind == "csv" else
                               render_figure(self.figure, kind))


def make_chart_of_means(measure: str, x: str, relative_to: object,
                        found: Iterable[tuple[object, str, Estimate]]) -> Chart:
    """Return a Chart of means; `found` has the x value, series and mean of each point."""
    every = list(found)
    scale, unit = (1.0, f"{relative_to} = 1") if relative_to is not None else \
        unit_shared_by_marks(measure, [one.mean for _, _, one in every])
    marks = [Mark("", series, at if isinstance(at, (int, float)) else str(at), one.mean * scale,
                  None if one.low is None else one.low * scale,
                  None if one.high is None else one.high * scale, one.count, "simulated")
             for at, series, one in every]
    places = list(dict.fromkeys(mark.x for mark in marks))
    lines = len(places) > 1 and all(axis_value_as_number(at) is not None for at in places)
    title, x_title = measure_title(measure), axis_title(x)
    if lines and all(str(at).endswith("%") for at in places):
        x_title += ", %"
    plot = Means("lines" if lines else "dots", x_title, f"{title}, {unit}" if unit else title, [""],
                 list(dict.fromkeys(mark.series for mark in marks)), places, marks,
                 None if relative_to is None else 1.0)
    return Chart(Figure(measure, title, f"{title}: means with 95 % intervals", plot))
