# SPDX-License-Identifier: GPL-2.0-only
"""Pages that need nothing but themselves: no network, no scripts to be readable."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from approxftl_tools.figure import Cell, Figure, number
from approxftl_tools.svg import svg

HERE = Path(__file__).parent
#: Rows of a figure's numbers in the page; all of them are in the file that it offers.
ROWS = 30
#: Files that a figure names; the end of the page has all.
SOURCES = 8
#: Digits of the numbers in a page: more than can be seen.
DIGITS = 7
#: What stands for itself in the address of a file that is in the page.
PLAIN = " !$()*+,-./:;<=>?@[]^_`{|}~"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str = "") -> str:
    """Return a table whose first column names the rows."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(number(row[0], 6))}</th>'
        + "".join(f"<td>{escape(number(cell, 6))}</td>" for cell in row[1:]) + "</tr>\n"
        for row in rows)
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (f'<div class="wide"><table>{said}<thead><tr>{top}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>")


def download(name: str, text: str) -> str:
    """Return a link to a table that is in the page."""
    return (f'<a download="{escape(name)}" class="csv" href="data:text/csv;charset=utf-8,'
            f'{escape(quote(text, safe=PLAIN))}">{escape(name)}</a>')


def numbers(figure: Figure) -> str:
    """Return the numbers of a figure: to look at, and as a file."""
    rows = figure.plot.rows()
    link = download(f"{figure.name}.csv", figure.csv(DIGITS))
    count = f"{len(rows)} rows" if len(rows) <= ROWS else f"the first {ROWS} of {len(rows)} rows"
    return (f"<details><summary>Numbers ({count})</summary>\n"
            f"{table(figure.plot.head(), rows[:ROWS])}</details><p>All numbers: {link}</p>")


def figure_block(figure: Figure, more: str = "") -> str:
    """Return a figure with its words, its numbers, and what else there is to say."""
    origin = ", ".join(f"<code>{escape(source)}</code>" for source in figure.sources[:SOURCES])
    if len(figure.sources) > SOURCES:
        origin += f" and {len(figure.sources) - SOURCES} others"
    said = f"{escape(figure.description)}{' From ' + origin + '.' if origin else ''}"
    return (f'<figure id="{escape(figure.name)}"><h3>{escape(figure.title)}</h3>\n{svg(figure)}\n'
            f"<figcaption>{said}</figcaption>\n"
            f"{numbers(figure)}{more}</figure>\n")


def page(heading: str, body: str, refresh_s: int = 0, ending: str = "") -> str:
    """Return a whole document; one that is not final is loaded again after so many seconds.

    `ending`: scripts besides those of every page.
    """
    again = f'<meta http-equiv="refresh" content="{refresh_s}">\n' if refresh_s else ""
    style = (HERE / "page.css").read_text("utf-8")
    script = (HERE / "page.js").read_text("utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"{again}<title>{escape(heading)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{escape(heading)}</h1>\n{body}</main>\n<script>\n{script}</script>\n"
        f"{ending}</body>\n</html>\n")
