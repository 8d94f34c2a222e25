# SPDX-License-Identifier: GPL-2.0-only
"""docs/validation.md agrees with its sources, and explains each point that is missed."""

import importlib.util
import re
from collections import Counter
from types import ModuleType

import pytest
from selftests.lib.programs import TOP

DOCS = TOP / "docs"
PAGE = (DOCS / "validation.md").read_text("utf-8")


@pytest.fixture(scope="module", name="generator")
def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_validation",
                                                  DOCS / "generate-validation.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cut_part(name: str) -> str:
    (found,) = re.findall(f"<!-- {name}: begin -->\n\n(.*?)\n\n<!-- {name}: end -->", PAGE, re.S)
    return str(found)


def test_theory_and_peers_are_those_of_their_documents(generator: ModuleType) -> None:
    assert cut_part("theory") == generator.theory_part().rstrip()
    assert cut_part("peers") == generator.peers_part().rstrip()


def test_each_missed_point_of_a_drive_has_a_cause(generator: ModuleType) -> None:
    """The causes together list as many points of each drive and half as its counts miss."""
    part = cut_part("drives")
    causes = {cause["title"]: cause for cause in generator.read_causes()}
    sections = re.split(r"^### (.*?) \((\d+)\)$", part, flags=re.M)
    listed: Counter[tuple[str, str]] = Counter()
    for title, count, text in zip(sections[1::3], sections[2::3], sections[3::3], strict=True):
        assert generator.fill(causes.pop(title)["text"]) in text and "**Tested.** " in text
        rows = [row for row in generator.read_markdown_rows(text) if row[0] != "drive"]
        sizes = [len(row[3].split("; ")) for row in rows]
        assert sum(sizes) == int(count) > 0, title
        for row, size in zip(rows, sizes, strict=True):
            listed[row[0].split("`")[1], row[2]] += size
    assert not causes
    wanted: Counter[tuple[str, str]] = Counter()
    for name, *cells in generator.read_markdown_rows(sections[0])[1:-1]:
        for half, cell in zip(("fitted", "held"), cells, strict=True):
            within, points = map(int, re.findall(r"\d+", cell) or (0, 0))
            wanted[name.strip("`"), half] = points - within
    assert +listed == +wanted
    assert f"The {sum(wanted.values())} points that are missed" in part


def test_the_front_page_shows_the_counts_of_the_certificate(generator: ModuleType) -> None:
    part = cut_part("drives")
    (counts,) = re.findall(r"^\| drive \| fitting half.*?\n\n", part, re.M | re.S)
    assert counts.strip() in (TOP / "README.md").read_text("utf-8")
    (within, points) = re.findall(r"^(\d+) of (\d+) measured points", part)[0]
    for name in ("README.md", "docs/drives.md"):
        text = " ".join((TOP / name).read_text("utf-8").split())
        assert f"{within} of {points} published" in text or \
            f"Among {points} points {within} are" in text, name


def test_a_missed_point_without_a_cause_stops_the_generator(generator: ModuleType) -> None:
    point = {"drive": "acme", "unit": "a", "table": "read-grid", "load": "4 KiB", "fitted": True,
             "measure": "reads/s", "measured": 1.0, "ours": 2.0, "within": False}
    with pytest.raises(SystemExit, match=r"has no cause of acme read-grid 4 KiB reads/s"):
        generator.drives_part({"points": [point]})
    point |= {"drive": "micron-7450-max", "table": "latency-load", "measure": "read p99"}
    with pytest.raises(SystemExit, match=r"the cause mixed saturation has no point"):
        generator.drives_part({"points": [point]})


def test_misses_of_theory_and_peers_are_not_hidden(generator: ModuleType) -> None:
    theory = (DOCS / "theory.md").read_text("utf-8").replace("| +0.01 | 1 | yes |",
                                                             "| +1.01 | 1 | no |", 1)
    rows, missed = generator.summarise_theory(theory)
    assert len(missed) == 1 and any(row[1] != row[2] for row in rows)
    peers = (DOCS / "peers.md").read_text("utf-8").replace("| 204.8 | 212.4 | +3.7 |",
                                                           "| 204.8 | 222.4 | +8.6 |")
    assert [row[1] for row in generator.summarise_peers(peers) if row[-1] == "no"] == ["mean_us"]


def test_each_bar_has_what_is_reached_and_a_reason(generator: ModuleType) -> None:
    """The table agrees with the counts of the drives and of their causes; a missed bar is told."""
    rows = {row[0]: row for row in generator.read_markdown_rows(cut_part("bars"))}
    (held,) = re.findall(r"^\| all \|.*\| (\d+ of \d+) \|$", cut_part("drives"), re.M)
    whole = rows["points of real drives, held out"]
    assert whole[2].startswith(f"{held}, ")
    within, points = map(int, held.split(" of "))
    causes = dict(re.findall(r"([^;]+) \((\d+)\)", whole[4]))
    assert sum(map(int, causes.values())) == points - within
    missed = [name for name, row in rows.items() if row[3] == "no"]
    assert missed
    for name in missed:
        title = name.removesuffix(", held out").capitalize()
        assert re.search(rf"\*\*{re.escape(title)}\.\*\* \S", cut_part("bars")), name


def test_a_bar_counts_held_out_points_of_its_class_only(generator: ModuleType) -> None:
    point = {"drive": "samsung-pm9a3", "unit": "a", "table": "latency-load", "load": "1",
             "measure": "read p99", "within": False, "fitted": False}
    others = [point | {"within": True}, point | {"fitted": True}, point | {"measure": "read p99.9"}]
    bar = {"title": "p99", "percent": 51, "match": {"measure": "read p99$"}}
    row = generator.describe_drive_bar(bar, [point, *others], generator.read_causes())
    assert row == ["p99, held out", "51 %", "1 of 2, 50.0 %", "no",
                   "Latency rises in a step that the model smooths (1)"]
    assert generator.describe_drive_bar(bar | {"percent": 50}, [point, *others],
                                        generator.read_causes())[3] == "yes"
