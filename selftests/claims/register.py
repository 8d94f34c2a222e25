# SPDX-License-Identifier: GPL-2.0-only
"""The register of the papers: docs/papers/*.toml, one entry for each figure that a paper states.

An entry has these keys, all strings unless said otherwise:

    id         claim and row, as AX-5.1: the first figure that the claim function AX-5 measures;
               an id with N for a number, as AX-N1, belongs to no claim function
    where      section, figure, table or slide of the paper
    says       the statement
    paper      the paper's figures: a number, a list of numbers, or words
    model      numbers that follow from the paper's rules where it states none
    ours       our figures as the claim function prints them with seed 1
    within     number or list: the largest distance of ours from paper that counts as reproduced
    band       two numbers: the same as limits, where the paper has a range or a limit
    direction  two numbers: limits within which ours at least has the paper's direction
    order      "rising" or "falling": our figures must be so
    why        where within, band or direction come from
    verdict    one of VERDICTS
    cause      why ours differs; for a contradiction also "tested"
    cause_of   id of an entry of this paper whose cause holds here, too; "cause" then adds to it
    tested     the ablation or counter-experiment that shows the cause
    test       file:name of the test that checks a mechanism which no claim function measures

Run as a program, it writes the tables of docs/systems from the register.
"""

import functools
import math
import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "docs/papers"

#: From the best agreement to none; the first three are tested by negative controls.
VERDICTS = ("reproduced", "direction", "mechanism", "identity", "contradicted", "absent")
TESTED = VERDICTS[:3]
#: The verdicts that the pages of systems print in other words.
AGREEMENT = {"direction": "only the direction agrees", "contradicted": "contradicts the paper"}
#: The papers by the prefix of their claims: register, page and system.
PAPERS = {"AX": "approxftl", "AG": "agcr", "CU": "cubeftl", "TV": "tvr", "RE": "ressd"}
BEGIN, END = "<!-- from the register -->", "<!-- end of the register -->"


@dataclass(frozen=True)
class Measured:
    """Our results for one entry: compared values, the printed text, and a further condition."""

    values: tuple[float, ...]
    shown: str
    holds: bool = True


def pack_results(*values: float, digits: int = 1, holds: bool = True, shown: str = "") -> Measured:
    """Return measured values, printed with DIGITS decimals unless a text is given."""
    # Adding zero leaves no sign on a rounded zero.
    numbers = (f"{round(value, digits) + 0:.{digits}f}" for value in values)
    return Measured(values, shown or " ".join(numbers), holds)


@dataclass(frozen=True)
class Entry:
    """One entry of the register of claims; the module's docstring describes its fields."""

    id: str
    where: str
    says: str
    verdict: str
    paper: float | list[float] | str = ""
    model: float | list[float] = field(default_factory=list)
    ours: str = ""
    within: float | list[float] | None = None
    band: tuple[float, float] | None = None
    direction: tuple[float, float] | None = None
    order: str = ""
    why: str = ""
    cause: str = ""
    cause_of: str = ""
    tested: str = ""
    test: str = ""

    @property
    def claim_id(self) -> str:
        """Return the id of the claim function that measures the entry, or "" if none does."""
        name, dot, _ = self.id.partition(".")
        return name if dot else ""

    @property
    def paper_figures(self) -> list[float]:
        """Return the numbers in the paper, or those that the paper's rules imply."""
        given = self.model if self.model != [] else self.paper
        if isinstance(given, str):
            return []
        return given if isinstance(given, list) else [given]

    @property
    def paper_figures_text(self) -> str:
        """Return the paper's numbers as the text to print."""
        if isinstance(self.paper, str):
            return self.paper
        return " ".join(f"{value:g}" for value in self.paper_figures)

    @property
    def tolerance_of_verdict(self) -> str:
        """Describe when a value counts as reproduced, or as a change in the right direction."""
        parts = []
        if self.within is not None:
            distances = self.within if isinstance(self.within, list) else [self.within]
            parts.append("±" + " ".join(f"{value:g}" for value in distances))
        if self.band:
            parts.append(format_limits(self.band))
        if self.order:
            parts.append(self.order)
        return ", ".join(parts)

    def judge_results(self, ours: Measured) -> str:
        """Return the verdict on our results by the limits of the entry."""
        right = ours.holds and are_values_ordered(ours.values, self.order)
        has_limits = self.within is not None or self.band is not None
        close = right and self.has_values_near_paper(ours.values)
        if self.verdict in ("mechanism", "identity"):
            return self.verdict if close else "contradicted"
        if close and has_limits:
            return "reproduced"
        limits_ = self.direction or (None if has_limits else (-math.inf, math.inf))
        return "direction" if right and limits_ and are_values_within_limits(ours.values, limits_) \
            else "contradicted"

    def has_values_near_paper(self, values: Sequence[float]) -> bool:
        """Tell whether all our values are as near to the paper's as the entry demands."""
        if self.within is not None:
            far = self.within if isinstance(self.within, list) else \
                [self.within] * len(self.paper_figures)
            near = zip(values, self.paper_figures, far, strict=True)
            return all(abs(a - b) <= limit + 1e-9 for a, b, limit in near)
        return not self.band or are_values_within_limits(values, self.band)


def format_limits(band: tuple[float, float]) -> str:
    """Format the range in which a value counts as reproduced; an infinite limit is left out."""
    low, high = band
    if math.isinf(low):
        return f"<= {high:g}"
    return f">= {low:g}" if math.isinf(high) else f"{low:g}..{high:g}"


def are_values_within_limits(values: Sequence[float], band: tuple[float, float]) -> bool:
    return all(band[0] <= value <= band[1] for value in values)


def are_values_ordered(values: Sequence[float], order: str) -> bool:
    """Tell whether the values strictly rise or fall, as ORDER demands; an empty ORDER is met."""
    ordered = sorted(set(values), reverse=order == "falling")
    return not order or list(values) == ordered


def read_register(name: str) -> list[Entry]:
    """Return the register's entries about a paper."""
    document = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    known = {field.name for field in fields(Entry)}
    causes = {table["id"]: table.get("cause", "") for table in document["entry"]}
    entries = []
    for table in document["entry"]:
        unknown = table.keys() - known
        if unknown:
            raise ValueError(f"{name}.toml: {table['id']}: unknown key {min(unknown)}")
        pairs: dict[str, Any] = {
            key: tuple(value) if key in ("band", "direction") else value
            for key, value in table.items()}
        shared = causes[pairs["cause_of"]] if "cause_of" in pairs else ""
        pairs["cause"] = " ".join(f"{shared} {pairs.get('cause', '')}".split())
        entries.append(Entry(**pairs))
    return entries


@functools.cache
def register_entries_by_id() -> dict[str, Entry]:
    found = [entry for name in PAPERS.values() for entry in read_register(name)]
    return {entry.id: entry for entry in found}


def list_register_entries_of_claim(claim: str) -> list[Entry]:
    """Return the entries that a claim function measures, in the order of its results."""
    found = [entry for entry in register_entries_by_id().values() if entry.claim_id == claim]
    return sorted(found, key=lambda entry: int(entry.id.partition(".")[2]))


def is_verdict_worse_than(verdict: str, than: str) -> bool:
    """Tell whether a verdict agrees less with the paper than another verdict does."""
    return VERDICTS.index(verdict) > VERDICTS.index(than)


def count_verdicts_by_system(verdicts: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return a table of counts, with sums, from pairs of paper prefix and verdict."""
    counts = Counter(verdicts)
    rows = [["", *VERDICTS, "all"]]
    for prefix, name in (*PAPERS.items(), ("", "all")):
        row = [sum(count for (paper, said), count in counts.items()
                   if said == verdict and paper.startswith(prefix)) for verdict in VERDICTS]
        rows.append([name, *map(str, row), str(sum(row))])
    return rows


def format_table_as_markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format a table for a document."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return ["| " + " | ".join(row) + " |"
            for row in (head, ["---"] * len(head), *body)]


def make_lines_of_system_page(prefix: str) -> list[str]:
    """Return the lines of a system's page in docs/systems that come from the register."""
    own = read_register(PAPERS[prefix])
    lines = format_table_as_markdown([["", "the paper", "", "ours", "tolerance", "verdict"], *(
        [entry.id, f"{entry.says} ({entry.where})", entry.paper_figures_text,
         entry.ours or f"- {entry.cause}", entry.tolerance_of_verdict, entry.verdict]
        for entry in own)])
    lines.append("")
    causes: dict[str, list[str]] = {}
    for entry in own:
        if entry.cause and entry.claim_id:
            text = f"({AGREEMENT.get(entry.verdict, entry.verdict)}): {entry.cause}"
            text += f" Tested: {entry.tested}" if entry.tested else ""
            causes.setdefault(text, []).append(f"**{entry.id}**")
    for text, ids in causes.items():
        lines += wrap_list_item(f"- {', '.join(ids)} {text}")
    return lines


def wrap_list_item(text: str, width: int = 100) -> Iterator[str]:
    """Yield the wrapped lines of an item of a Markdown list."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = "  " + word
        else:
            line = f"{line} {word}" if line else word
    yield line


def make_verdict_summary_lines() -> list[str]:
    """Return the summary of stated verdicts as a table for a document, and a sentence about it."""
    entries = register_entries_by_id().values()
    table = format_table_as_markdown(count_verdicts_by_system(
        [(entry.id[:2], entry.verdict) for entry in entries]))
    exact, measured = split_reproduced_entries(entries)
    text = (f"Of the {len(exact) + len(measured)} reproduced entries {len(exact)} have the exact "
            "outcome of a rule, such as the order of programs in an example of the paper; their "
            f"tolerance is 0. The other {len(measured)} have a measured figure.")
    return [*table, "", *textwrap.wrap(text, 100)]


def split_reproduced_entries(entries: Iterable[Entry]) -> tuple[list[str], list[str]]:
    """Return the ids of reproduced entries: those with an exact outcome, and the others."""
    found = [entry for entry in entries if entry.verdict == "reproduced"]
    return ([entry.id for entry in found if entry.within == 0],
            [entry.id for entry in found if entry.within != 0])


def generated_lines_by_document() -> dict[Path, list[str]]:
    systems = {TOP / f"docs/systems/{name}.md": make_lines_of_system_page(prefix)
               for prefix, name in PAPERS.items()}
    return systems | {FOLDER / "README.md": make_verdict_summary_lines()}


def replace_generated_lines_in_document(text: str, lines: Sequence[str]) -> str:
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"a document lacks {BEGIN} or {END}")
    return "\n".join([before + BEGIN, "", *lines, "", END + after])


def write_results_to_register(found: dict[str, str]) -> None:
    for name in PAPERS.values():
        path = FOLDER / f"{name}.toml"
        pieces = re.split(r"(?m)^(?=\[\[entry\]\])", path.read_text())
        for at, piece in enumerate(pieces):
            named = re.search(r'^id = "(.*)"', piece, re.M)
            if named and named[1] in found:
                pieces[at] = re.sub(r'(?m)^ours = ".*"$', f'ours = "{found[named[1]]}"', piece)
        path.write_text("".join(pieces))


def main() -> int:
    """Write the generated parts of the documents."""
    for path, lines in generated_lines_by_document().items():
        path.write_text(replace_generated_lines_in_document(path.read_text(), lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
