# SPDX-License-Identifier: GPL-2.0-only
"""Render self-contained HTML pages from data and templates/."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from approxftl_tools.figure import Dots, Figure, number_as_text
from approxftl_tools.refusal import Refusal
from approxftl_tools.svg import WIDTH, figure_as_svg

Json = dict[str, Any]

HERE = Path(__file__).parent
#: Rows of a figure's numbers shown in the page; the CSV that it offers has them all.
ROWS = 30
#: Significant digits of the numbers in a page, more than a plot can show.
DIGITS = 7
#: Width of a drawing of dots, which a phone shows without scrolling.
NARROW = 420
#: Characters that need no escape in a data URL.
PLAIN = " !$()*+,-./:;<=>?@[]^_`{|}~"
#: Matches a value followed by its ratio: 0.9x, or a ratio with its interval.
RELATIVE = re.compile(r"(.*) (\S+x|\S+ \[.*\])")


def split_table_cell_into_value_and_ratio(cell: str) -> tuple[str, str]:
    """Split a table cell such as "12.5 0.594x" into value and ratio; "" without a ratio."""
    found = RELATIVE.fullmatch(cell)
    return (found[1], found[2]) if found else (cell, "")


@cache
def template_environment() -> Any:
    """Return Jinja's environment with the page templates; it escapes all data."""
    try:
        library: Any = import_module("jinja2")
    except ImportError as error:
        raise Refusal("pages need Jinja2; install it (python3-jinja2)") from error
    found = library.Environment(
        loader=library.FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=library.StrictUndefined)
    # A line of a table's cell does not break between a number and its "%".
    found.filters |= {"cell": lambda value: number_as_text(value, 6).replace(" %", "\u00a0%"),
                      "apart": split_table_cell_into_value_and_ratio,
                      "address": lambda text: quote(text, safe=PLAIN)}
    return found


def draw_figure_on_report_page(figure: Figure) -> str:
    """Return a figure's SVG drawing; a dot plot is narrow and has the CSS class "narrow"."""
    if not isinstance(figure.plot, Dots):
        return figure_as_svg(figure)
    before = WIDTH.set(NARROW)
    try:
        return figure_as_svg(figure).replace("<svg ", '<svg class="narrow" ', 1)
    finally:
        WIDTH.reset(before)


def figure_template_data(figure: Figure, spec: str = "") -> Json:
    """Return what the page template needs of a figure; `spec`: its Vega-Lite specification."""
    rows = figure.plot.csv_rows()
    return {"name": figure.name, "title": figure.title, "description": figure.description,
            "sources": figure.sources, "svg": draw_figure_on_report_page(figure),
            "head": figure.plot.list_csv_column_names(), "rows": rows[:ROWS], "count": len(rows),
            "csv": figure.figure_as_csv(DIGITS), "spec": spec}


def render_html_page(template: str, heading: str, bundle: Json | None = None, **data: Any) -> str:
    """Return a whole HTML document; its script bundle draws Vega-Lite specifications."""
    text: str = template_environment().get_template(template).render(
        heading=heading, bundle=bundle,
        style=(HERE / "page.css").read_text("utf-8"), script=(HERE / "page.js").read_text("utf-8"),
        **data)
    return text + "\n"
