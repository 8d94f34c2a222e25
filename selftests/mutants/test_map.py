# SPDX-License-Identifier: GPL-2.0-only
"""What the documents say of the papers' mechanisms and of the core's rules has mutants: the map."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
MAP = HERE / "map"
POLICY = "dm-approxftl/core/policy/policy.h"
MODES = "dm-approxftl/core/base/mode-list.h"
LEAST = 120
#: A mutant breaks one thing, seen from two sides at most.
OFTEN = 2
#: Sections whose paragraphs, list items and rows of tables each need a mutant; those where only
#: the last two do.
PAPERS = {**{f"docs/systems/{name}.md": ("The idea",) for name in
             ("agcr", "approxftl", "cubeftl", "density", "ips", "lending",
              "levels", "ressd", "tvr")}}
ITEMS = {
    "docs/systems/hybrid.md": ("Hybrid", "What contradicts what"),
    "docs/systems/ressd.md": ("Blocks",),
    "docs/design.md": ("The life of a write", "The life of a read",
                       "One program: transaction and legality",
                       "Garbage collection and other jobs", "The cache of one bit in a cell",
                       "Placement handles", "The map on flash", "The cache of reads",
                       "Superblocks and parity", "Zones",
                       "Errors are state"),
}


def plain(text: str) -> str:
    """Return it in one line, without what begins lines of C comments."""
    return " ".join(re.sub(r"^[ \t]*/?\*+/?", "", text, flags=re.M).split())


def read_map(text: str) -> dict[str, dict[str, list[str]]]:
    """Return mutants by document and by words of it."""
    found: dict[str, dict[str, list[str]]] = {}
    words = ""
    for line in text.splitlines():
        if line.startswith("= "):
            found[line[2:]] = {}
        elif line.startswith("\t"):
            list(found.values())[-1][words] = line.split()
        elif line and not line.startswith("#"):
            words = line
            list(found.values())[-1][words] = []
    return found


def blocks(text: str, section: str) -> Iterator[str]:
    """Return paragraphs, list items and rows of tables; not commands nor what leads to them."""
    body = re.search(rf"^#+ {re.escape(section)}\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    assert body, section
    prose = re.sub(r"^```.*?^```$", "", body.group(1), flags=re.M | re.S)
    prose = re.sub(r"^\|.*\n\|[ |-]*\|$", "", prose, flags=re.M)
    for part in re.split(r"\n\s*\n|\n(?=(?:- |\d+\. |\|))", prose):
        if part.strip() and not part.rstrip().endswith(":"):
            yield part.strip()


def is_item(block: str) -> bool:
    """Return whether it belongs to a list or a table."""
    return re.match(r"- |\d+\. |\|", block) is not None


def bare(text: str, rows: dict[str, list[str]], sections: tuple[str, ...], all_: bool) -> list[str]:
    """Return blocks of these sections of TEXT that hold no words with a mutant."""
    return [block for section in sections for block in blocks(text, section)
            if (all_ or is_item(block))
            and not any(mutants and words in plain(block) for words, mutants in rows.items())]


@pytest.fixture(scope="module", name="rows")
def the_map() -> dict[str, dict[str, list[str]]]:
    return read_map(MAP.read_text())


def names() -> set[str]:
    return {patch.stem for patch in (HERE / "core").glob("*.patch")}


def test_there_are_enough() -> None:
    assert len(names()) >= LEAST


def test_every_row_has_words_of_its_document_and_mutants(
        rows: dict[str, dict[str, list[str]]]) -> None:
    for document, found in rows.items():
        text = plain((TOP / document).read_text())
        assert [words for words in found if words not in text] == [], document
        assert [words for words, mutants in found.items() if not mutants] == [], document


def test_every_mutant_is_somewhere_and_none_is_invented(
        rows: dict[str, dict[str, list[str]]]) -> None:
    used = Counter(name for found in rows.values() for mutants in found.values()
                   for name in mutants)
    assert set(used) - names() == set()
    assert names() - set(used) == set()
    assert [name for name, often in used.items() if often > OFTEN] == []


@pytest.mark.parametrize("document", [*PAPERS, *ITEMS])
def test_everything_said_has_a_mutant(rows: dict[str, dict[str, list[str]]],
                                      document: str) -> None:
    text = (TOP / document).read_text()
    assert bare(text, rows[document], PAPERS.get(document, ()), True) == []
    assert bare(text, rows[document], ITEMS.get(document, ()), False) == []


def test_every_method_of_policies_has_a_mutant(rows: dict[str, dict[str, list[str]]]) -> None:
    text = (TOP / POLICY).read_text()
    start = text.index("struct aftl_policy_type {")
    body = text[start:text.index("\n};\n", start)]
    methods = re.findall(r"/\*((?:(?!\*/).)*)\*/\s+(?:(?!/\*).)*?(\(\*\w+\)\()", body, re.S)
    # What changes nothing has nothing that could break.
    wanted = [name for said, name in methods if "change nothing" not in plain(said)]
    assert len(wanted) > 20
    assert [name for name in wanted if not rows[POLICY].get(name)] == []


def test_every_mode_has_a_mutant(rows: dict[str, dict[str, list[str]]]) -> None:
    modes = re.findall(r"/\* (.*) \*/\nMODE\(", (TOP / MODES).read_text())
    assert len(modes) >= 10
    assert [mode for mode in modes if not rows[MODES].get(mode)] == []


def test_what_has_no_mutant_is_found() -> None:
    text = "# A\n\n## B\n\nOne thing.\n\n- two\n  lines\n- three\n\n| x | y |\n| --- | --- |\n" \
           "| 4 | 5 |\n\nAs in:\n\n```console\n$ z\n```\n\n## C\n\n- six\n"
    rows = read_map("= d\none\n\tm\n\ntwo lines\n\tm n\nthree\n")["d"]
    assert bare(text, rows, ("B",), True) == ["One thing.", "- three", "| 4 | 5 |"]
    assert bare(text, {"4 | 5": ["m"], "three": ["n"], **rows, "six": ["m"]}, ("B", "C"),
                False) == ["- three"]
