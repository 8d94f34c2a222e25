# SPDX-License-Identifier: GPL-2.0-only
"""Write figures as files for papers: self-contained SVG, and PDF or PNG through vl-convert."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from approxftl_tools.command import USAGE, Refusal, write_file
from approxftl_tools.figure import Figure
from approxftl_tools.page import HERE
from approxftl_tools.study_plan import load_toml_file, refuse_unknown_words
from approxftl_tools.svg import WIDTH, figure_as_svg

FORMATS = ("svg", "pdf", "png")
#: Width in inches of one column of a page, and of both.
WIDTHS = {"single": 3.5, "double": 7.16}
#: Resolution of a PNG.
DOTS_PER_INCH = 300
#: Letter size in drawing units, and points in an inch.
LETTER_UNITS, POINTS_PER_INCH = 12, 72
STYLE_KEYS = ("width", "font", "font_size", "palette")


VARIABLE = re.compile(r"var\(--(\w+)\)")


@cache
def read_report_page_style() -> tuple[dict[str, str], str]:
    """Return the light-mode colours, and the CSS rules for figures, of report pages."""
    text = (HERE / "page.css").read_text(encoding="utf-8")
    light = text[:text.index("@media")] + "--soft: #ffffff;"
    text = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)
    drawn = r"svg \.[^{},]+|\.(?:[a-z]\d|hollow\S*|stale|erased)"
    rules = "\n".join(re.findall(rf"(?:{drawn}) \{{[^}}]*\}}", text))
    # Use a single font: vl-convert writes the objects of several fonts in random order.
    return (dict(re.findall(r"--(\w+): ([^;]+);", light)),
            re.sub(r"font-(style|weight): \w+;", "", rules))


@dataclass(frozen=True)
class Style:
    """The style of figures: width in inches, font size in points, colours of policies."""

    width: float = 6.4
    font: str = "DejaVu Sans"
    font_size: float = 8
    palette: tuple[str, ...] = ()

    def drawing_width(self) -> int:
        """Return the drawing's width (SVG units), at which letters have the style's font size."""
        return round(self.width * POINTS_PER_INCH * LETTER_UNITS / self.font_size)

    def make_css_rules_of_figure_style(self) -> str:
        """Return the CSS rules for figures with all CSS variables replaced by values."""
        known, rules = read_report_page_style()
        own = {f"{kind}{i}": self.palette[i % len(self.palette)]
               for i in range(8 if self.palette else 0) for kind in "ce"}

        def replace_css_variable(found: re.Match[str]) -> str:
            return VARIABLE.sub(replace_css_variable, (known | own)[found[1]])

        return VARIABLE.sub(replace_css_variable,
                            f"text {{ fill: var(--ink); font-family: '{self.font}', "
                                   f"sans-serif; font-size: {LETTER_UNITS}px; }}\n{rules}")


USUAL = Style()
#: The default style of a figure of a study.
COLUMN = Style(WIDTHS["single"])


def parse_width_in_inches(path: Path, value: object) -> float:
    """Return a style's width; refuse a value that is not a number from 1 to 50 (inches)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 50:
        raise Refusal(f"{path}: width is from 1 to 50 inches, or one of {', '.join(WIDTHS)}", USAGE)
    return float(value)


def read_figure_style(path: Path | None, width: str, own: Style = COLUMN) -> Style:
    """Read a style file; the width of the command line takes precedence."""
    table = load_toml_file(path) if path else {}
    where = path or Path("--width")
    refuse_unknown_words(where, "key", table, STYLE_KEYS)
    wide = width or table.get("width", own.width)
    palette = table.get("palette", [])
    if "palette" in table and not (isinstance(palette, list) and palette and all(
            isinstance(one, str) and re.fullmatch("#[0-9a-fA-F]{6}", one) for one in palette)):
        raise Refusal(f'{where}: palette is a list of colours such as "#0072b2"', USAGE)
    size = table.get("font_size", own.font_size)
    if isinstance(size, bool) or not isinstance(size, int | float) or not 3 <= size <= 72:
        raise Refusal(f"{where}: font_size is from 3 to 72 points", USAGE)
    return Style(WIDTHS.get(str(wide)) or parse_width_in_inches(where, wide),
                 str(table.get("font", own.font)), float(size), tuple(palette))


def render_figure(figure: Figure, kind: str, style: Style = USUAL) -> bytes:
    """Return a figure as a file of the given format; equal figures give equal bytes."""
    before = WIDTH.set(style.drawing_width())
    try:
        head, body = figure_as_svg(figure).split(">", 1)
    finally:
        WIDTH.reset(before)
    wide, tall = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', head)[0])
    text = (f'{head} xmlns="http://www.w3.org/2000/svg" width="{style.width:g}in" '
            f'height="{style.width * tall / wide:.4g}in">\n'
            f"<style>\n{style.make_css_rules_of_figure_style()}\n</style>\n"
            f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>\n{body}\n')
    return text.encode() if kind == "svg" else convert_svg(text, kind)


def convert_svg(drawn: str, kind: str) -> bytes:
    """Return an SVG drawing converted to another format."""
    try:
        library: Any = import_module("vl_convert")
    except ImportError as error:
        raise Refusal(f"{kind} needs vl-convert: pip install vl-convert-python; or draw svg, and "
                      f"convert that, by rsvg-convert or Inkscape") from error
    # A CSS pixel is 1/96 inch.
    if kind == "png":
        made: bytes = library.svg_to_png(drawn, scale=DOTS_PER_INCH / 96)
        return made
    # Sort the dictionary entries, which vl-convert writes one per line in random order.
    return re.sub(rb"(?:\n +/\w+ \d+ 0 R){2,}",
                  lambda found: b"\n".join(sorted(found[0].split(b"\n"))),
                  library.svg_to_pdf(drawn))


def save_figure(figure: Figure, kind: str, path: Path, style: Style) -> None:
    write_file(path, render_figure(figure, kind, style))
