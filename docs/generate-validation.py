#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write docs/validation.md: theory, peers and drives on one page, and the cause of each miss.

The parts on theory and peers are taken from docs/theory.md and docs/peers.md, whose tables
`make theory` and `make peers` print. The points of real drives come from a certificate,
`approxftl drives --certificate NAME`; without one the part on drives is kept as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
Json = dict[str, Any]
#: A difference to a peer that has to be explained, in percent.
LARGE = 5.0


def fill(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 100, break_long_words=False,
                         break_on_hyphens=False)


def read_markdown_rows(text: str) -> list[list[str]]:
    """Return the cells of the rows of all tables in a text, without the rules below the heads."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if not set("".join(row)) <= set("-: ")]


def table(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]],
          right: int) -> str:
    """Return a table, whose last @right columns are aligned to the right."""
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


# ---------------------------------------------------------------- theory


def summarise_theory(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return a row for each formula of docs/theory.md, and the rows whose bar is not met."""
    parts = re.split(r"^The formula \*\*(.+?)\*\*", text, flags=re.M)[1:]
    rows, missed = [], []
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        found = [row for row in read_markdown_rows(part) if row[0] != "load"]
        missed += [[name, *row] for row in found if row[-1] != "yes"]
        worst = max((row[4] for row in found), key=lambda cell: abs(float(cell)))
        rows.append([name, str(len(found)), str(sum(row[-1] == "yes" for row in found)), worst,
                     "/".join(sorted({row[5] for row in found}))])
    return rows, missed


def theory_part() -> str:
    rows, missed = summarise_theory((DOCS / "theory.md").read_text("utf-8"))
    total, met = (sum(int(row[column]) for row in rows) for column in (1, 2))
    lines = [fill(f"{met} of {total} comparisons with published formulas are within their bars. "
                  "[Beside the theory](theory.md) has each of them with the formula and its "
                  "source."), ""]
    lines.append(table(("formula", "comparisons", "within", "largest error, %", "bar, %"), rows, 4))
    for row in missed:
        lines.append(fill(f"Missed: {row[0]}, {row[1]}: {row[5]} %; docs/theory.md has the cause."))
    return "\n".join(lines)


# ---------------------------------------------------------------- peers


def summarise_peers(text: str) -> list[list[str]]:
    """Return a row for each figure: the peer's and ours as configured, and after all changes."""
    found: dict[tuple[str, str], list[list[str]]] = {}
    for load, change, figure, theirs, ours, difference in (
            row for row in read_markdown_rows(text) if len(row) == 6 and row[0] != "load"):
        found.setdefault((load, figure), []).append([change, theirs, ours, difference])
    rows = []
    for (load, figure), steps in found.items():
        first, last = steps[0], steps[-1]
        explained = abs(float(first[3])) <= LARGE or abs(float(last[3])) <= LARGE
        causes = "; ".join(step[0] for step in steps[1:]) if abs(float(first[3])) > LARGE else ""
        rows.append([load, figure, first[1], first[2], first[3], causes or "\u2013",
                     last[3] if causes else first[3], "yes" if explained else "no"])
    return rows


def peers_part() -> str:
    rows = summarise_peers((DOCS / "peers.md").read_text("utf-8"))
    lost = sum(row[-1] == "no" for row in rows)
    return fill(f"Of {len(rows)} figures {sum(abs(float(row[4])) > LARGE for row in rows)} differ "
                f"by more than {LARGE:g} % from the peer as configured; {lost or 'none'} of the "
                "differences remains unexplained. A difference is explained if the results agree "
                "after the named differences of the models have been taken away; [beside the "
                "peers](peers.md) has the steps.") + "\n\n" + \
        table(("load", "figure", "peer", "here", "difference, %", "taken away", "then, %",
               "explained"), rows, 1)


# ---------------------------------------------------------------- drives


def read_causes() -> list[Json]:
    causes: list[Json] = tomllib.loads((DOCS / "misses.toml").read_text("utf-8"))["cause"]
    return causes


def find_cause(point: Json, causes: Sequence[Json]) -> Json:
    """Return the first cause that matches a missed point."""
    for cause in causes:
        for rule in cause["match"]:
            if all(re.match(pattern, point[key]) for key, pattern in rule.items()):
                return cause
    raise SystemExit(f"docs/misses.toml has no cause of {point['drive']} {point['table']} "
                     f"{point['load']} {point['measure']}")


def describe_missed_points(points: Sequence[Json]) -> list[list[str]]:
    """Return a row for each load, with its missed measures as "measured -> simulated"."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for point in points:
        rows.setdefault((point["drive"], point["unit"], point["load"],
                         "fitted" if point["fitted"] else "held"), []).append(
            f"{point['measure']} {point['measured']:.4g} \u2192 {point['ours']:.4g}")
    return [[f"`{drive}` {unit}".strip(), load, use, "; ".join(cells)]
            for (drive, unit, load, use), cells in rows.items()]


def count_points(points: Sequence[Json]) -> Iterator[list[str]]:
    for name in (*dict.fromkeys(point["drive"] for point in points), "all"):
        mine = [point for point in points if name in ("all", point["drive"])]
        cells = []
        for fitted in (True, False):
            half = [point for point in mine if point["fitted"] is fitted]
            cells.append(f"{sum(point['within'] for point in half)} of {len(half)}"
                         if half else "\u2013")
        yield [f"`{name}`" if name != "all" else name, *cells]


def drives_part(certificate: Json) -> str:
    points, causes = certificate["points"], read_causes()
    missed = [point for point in points if not point["within"]]
    groups: dict[str, list[Json]] = {cause["id"]: [] for cause in causes}
    for point in missed:
        groups[find_cause(point, causes)["id"]].append(point)
    within = len(points) - len(missed)
    lines = [fill(f"{within} of {len(points)} measured points ({within / len(points) * 100:.1f} %) "
                  "are within their tolerance bands."), "",
             table(("drive", "fitting half", "held-out half"), [*count_points(points)], 2),
             fill(f"The {len(missed)} points that are missed have {len(causes)} causes. In each "
                  "table a row is one load, with the measured and the simulated value of what is "
                  "missed; times are in microseconds unless a measure names its unit."), ""]
    for cause in causes:
        mine = groups[cause["id"]]
        if not mine:
            raise SystemExit(f"docs/misses.toml: the cause {cause['id']} has no point")
        lines += [f"### {cause['title']} ({len(mine)})", "", fill(cause["text"]), "",
                  fill(f"**Tested.** {cause['tested']}"), "",
                  table(("drive", "load", "half", "missed"), describe_missed_points(mine), 0)]
    return "\n".join(lines)


# ---------------------------------------------------------------- the bars


def describe_theory_bars(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield a row for the formulas of each bar: the largest error among them."""
    bars = dict.fromkeys(row[4] for row in rows)
    for bar in sorted(bars, key=float):
        mine = [row for row in rows if row[4] == bar]
        worst = max((row[3] for row in mine), key=lambda cell: abs(float(cell)))
        yield [f"error to theory: {'; '.join(row[0] for row in mine)}", f"at most {bar} %",
               f"{worst} %", "yes" if all(row[1] == row[2] for row in mine) else "no", ""]


def describe_drive_bar(bar: Json, points: Sequence[Json], causes: Sequence[Json]) -> list[str]:
    """Return the row of a class of held-out points, with the causes of those that are missed."""
    held = [point for point in points if not point["fitted"] and all(
        re.match(pattern, point[key]) for key, pattern in bar["match"].items())]
    within = sum(point["within"] for point in held)
    share = within / len(held) * 100
    missed: dict[str, int] = {}
    for point in held:
        if not point["within"]:
            title = find_cause(point, causes)["title"]
            missed[title] = missed.get(title, 0) + 1
    ordered = sorted(missed.items(), key=lambda item: (-item[1], item[0]))
    return [f"{bar['title']}, held out", f"{bar['percent']} %",
            f"{within} of {len(held)}, {share:.1f} %",
            "yes" if share >= bar["percent"] else "no",
            "; ".join(f"{title} ({count})" for title, count in ordered)]


def bars_part(certificate: Json) -> str:
    theory, _ = summarise_theory((DOCS / "theory.md").read_text("utf-8"))
    peers = [row for row in summarise_peers((DOCS / "peers.md").read_text("utf-8"))
             if row[0] in ("wsrch", "tpcc")]
    lost = sum(row[-1] == "no" for row in peers)
    bars = tomllib.loads((DOCS / "misses.toml").read_text("utf-8"))["bar"]
    rows = [*describe_theory_bars(theory),
            ["differences above 5 % to MQSim on its two traces that are not explained", "none",
             str(lost or "none"), "no" if lost else "yes", ""],
            *(describe_drive_bar(bar, certificate["points"], read_causes()) for bar in bars)]
    reasons = [fill(f"**{bar['title'].capitalize()}.** {bar['text']}")
               for bar, row in zip(bars, rows[-len(bars):], strict=True) if row[3] == "no"]
    return "\n\n".join([table(("figure", "bar", "reached", "met", "causes of what is missed"), rows,
                              0).rstrip(), *reasons])


# ---------------------------------------------------------------- the page


def replace_part(page: str, name: str, text: str) -> str:
    begin, end = (f"<!-- {name}: {edge} -->" for edge in ("begin", "end"))
    before, _, rest = page.partition(f"{begin}\n")
    _, _, after = rest.partition(end)
    if not after:
        raise SystemExit(f"docs/validation.md: there is no part {name}")
    return f"{before}{begin}\n\n{text.rstrip()}\n\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certificate", type=Path, help="JSON document of approxftl drives")
    parser.add_argument("--out", type=Path, default=DOCS / "validation.md")
    arguments = parser.parse_args()
    page = (DOCS / "validation.md").read_text("utf-8")
    page = replace_part(page, "theory", theory_part())
    page = replace_part(page, "peers", peers_part())
    if arguments.certificate:
        certificate = json.loads(arguments.certificate.read_text("utf-8"))
        page = replace_part(page, "bars", bars_part(certificate))
        page = replace_part(page, "drives", drives_part(certificate))
    arguments.out.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
