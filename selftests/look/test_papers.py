# SPDX-License-Identifier: GPL-2.0-only
"""The papers' figures: each from its runs, repeatable, and labelled as what it is."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from selftests.look.support import Json, browse, console, references, run, simulate, succeed

from approxftl_tools import command, paper
from approxftl_tools.figure import Curves
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.paper_weights import shelf

#: Runs that take a second or two.
QUICK = ("approxftl-10-lifetime", "tvr-packages", "cubeftl-write-cdf", "agcr-rewrites")
NAMES = [spec.name for spec in paper.specs()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("papers")
    told = succeed("figures", "--papers", *QUICK, "-o", directory)
    for name in QUICK:
        assert f"{directory / name}.svg" in told
    assert told.splitlines()[-1] == str(directory / "selection.html")
    return directory


def test_one_figure_leaves_the_page_of_all(made: Path) -> None:
    (made / "index.html").write_text("all")
    told = succeed("figures", "--papers", QUICK[0], "-o", made, "--format", "pdf")
    assert told.splitlines()[-1] == str(made / f"{QUICK[0]}.html")
    assert (made / "index.html").read_text() == "all"
    assert (made / f"{QUICK[0]}.pdf").read_bytes()[:5] == b"%PDF-"
    assert f'href="{QUICK[0]}.pdf"' in (made / f"{QUICK[0]}.html").read_text()
    (made / "index.html").unlink()


def rows(path: Path) -> list[list[str]]:
    with path.open() as file:
        return list(csv.reader(file))


def results(directory: Path) -> Iterator[Json]:
    """Return all results that figures were made from."""
    for path in sorted((directory / "runs").glob("*.json")):
        yield json.loads(path.read_text())


def test_each_system_has_figures() -> None:
    systems = [spec.system for spec in paper.specs()]
    assert tuple(dict.fromkeys(systems)) == paper.SYSTEMS
    listed = succeed("figures", "--papers", "--list").splitlines()
    assert [line.split()[0] for line in listed] == NAMES


@pytest.mark.parametrize("spec", paper.specs(), ids=lambda spec: spec.name)
def test_description(spec: paper.Spec) -> None:
    assert spec.paper.endswith(".")
    assert spec.here.endswith(".")
    assert spec.plot["kind"] in paper.PLOTS
    assert re.search("synthetic|the bit error rate behind", spec.here, re.I), "what stands in"
    measures = [spec.plot["measure"]] if "measure" in spec.plot else spec.plot.get("measures", [])
    for measure in measures:
        assert measure in VALUES or spec.plot["kind"] == "cdf"


def test_a_figure_without_its_package_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "find_spec", lambda _name: None)
    said: list[str] = []
    assert {spec.name for spec in paper.drawable((), said.append)} == {*NAMES} - {"weights-shelf"}
    assert said == ["weights-shelf: left out, for lack of the Python package sklearn"]
    assert [spec.name for spec in paper.drawable(["weights"], said.append)] == ["weights-shelf"]


def test_more_flipped_bits_leave_fewer_digits() -> None:
    units = {"read_approx_units": 1000, "read_flipped_bits": 0}
    found = [paper.Point("here", "", x, {"unit_bits": 1000, "counters": {
        **units, "read_flipped_bits": flips}}) for x, flips in ((1, 0), (2, 50000), (3, 400000))]
    lines = shelf(found, {"x": "months", "unit": "%", "networks": [
        {"name": "n", "type": "int8", "planes": 8, "category": "here"}]})
    assert isinstance(lines, Curves)
    (name, xs, mean), (_, _, low), (_, _, high) = lines.curves
    assert (name, list(xs)) == ("n", [1, 2, 3])
    assert mean[0] > 95 and mean[0] > mean[1] > mean[2] and mean[2] < 50
    assert all(a < b < c for a, b, c in zip(low, mean, high, strict=True))


@pytest.mark.parametrize(("options", "most"), [
    (("--approx-share", "50%", "--approx-run", "1"), "checkerboard"),
    (("--approx-share", "10%"), "precise"),
    (("--approx-share", "90%"), "all_approximate"),
    (("--approx-share", "50%", "--approx-run", "64"), "phase_2"),
])
def test_kinds_of_blocks_as_they_are_written(
        tmp_path: Path, options: tuple[str, ...], most: str) -> None:
    """They are all pages, and what streams make is known."""
    spec = next(spec for spec in paper.specs() if spec.name == "approxftl-06-block-kinds")
    simulate(tmp_path / "x.json", "--policy", "approxftl", "--write-share", "100%", "--requests",
             "30000", "--channels", "1", "--chips", "1", "--profile", "tcad18", *options)
    (one,) = json.loads((tmp_path / "x.json").read_text())["runs"]
    found = {name: VALUES[name](one) or 0 for name in spec.plot["measures"]}
    assert sum(found.values()) == sum(one["mode_pages"].values())
    assert max(found, key=lambda name: found[name]) == most


@pytest.mark.slow
@pytest.mark.parametrize("spec", paper.specs(), ids=lambda spec: spec.name)
def test_commands_are_understood(spec: paper.Spec, tmp_path: Path) -> None:
    """The first run of each figure, without its requests."""
    (tmp_path / "traces").mkdir()
    setting = paper.Setting(tmp_path, True, tmp_path / "traces", 1)
    first = spec.runs[0]
    for name in paper.TRACE.findall(first.command):
        simulate(tmp_path / "x.json", "--requests", "1", "--record",
                 tmp_path / "traces" / f"{name}.aft")
    arguments = paper.arguments_of(first, setting)
    for option in ("--requests", "--warmup"):
        if option in arguments:
            arguments[arguments.index(option) + 1] = "0"
    done = run(*arguments, "--json", tmp_path / "y.json")
    assert (done.code, done.err) == (0, "")


@pytest.mark.slow
def test_numbers_are_those_of_the_runs(made: Path) -> None:
    table = rows(made / "approxftl-10-lifetime.csv")
    assert table[0] == ["", "baseline", "delta_b", "vth_b", "approxftl"]
    for row in table[1:]:
        share = row[0].replace(" ", "")
        (result,) = [r for r in results(made) if "--fill-approx" in r["tool"]["argv"]
                     and share in r["tool"]["argv"]]
        lives = [one["blocks"]["erase_count"]["mean"] / one["blocks"]["wear"]["mean"]
                 for one in result["runs"]]
        assert [float(cell) for cell in row[1:]] == pytest.approx(
            [life / lives[0] for life in lives])


@pytest.mark.slow
def test_cuts_are_those_of_the_runs(made: Path) -> None:
    table = rows(made / "tvr-packages.csv")
    assert table[0][1:] == ["packages", "cut of the mean response, %"]
    for busy, packages, cut in table[1:]:
        argv = ["--channels", str(int(float(packages))), "--utilisation", busy[:2] + "%"]
        (result,) = [r for r in results(made) if " ".join(argv) in " ".join(r["tool"]["argv"])]
        means = []
        for one in result["runs"]:
            both = [one["timing"][f"{kind}_response"] for kind in ("read", "write")]
            means.append(sum(t["sum_ns"] for t in both) / sum(t["count"] for t in both))
        assert float(cut) == pytest.approx(100 * (1 - means[1] / means[0]))


@pytest.mark.slow
def test_index_in_a_browser(made: Path, tmp_path: Path) -> None:
    done = browse(made / "selection.html", tmp_path, "--dump-dom")
    assert done.code == 0, done.err
    assert console(done) == []
    for name in QUICK:
        assert f'<figure id="{name}">' in done.out
        assert f'href="{name}.svg"' in done.out
    assert "In the paper:" in done.out
    assert "Volumes are synthetic" in done.out
    for reference in references(done.out):
        assert reference.startswith(("#", "data:")) or (made / reference).exists(), reference
    assert unescape(done.out).count("approxftl sim --profile") >= len(QUICK)


@pytest.mark.slow
def test_runs_are_not_repeated(made: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (made / "runs").iterdir()}
    figures = {path: path.read_bytes() for path in made.glob("*.svg")}
    succeed("figures", "--papers", "tvr-packages", "-o", made)
    assert {path: path.stat().st_mtime_ns for path in (made / "runs").iterdir()} == before
    assert {path: path.read_bytes() for path in made.glob("*.svg")} == figures


@pytest.mark.slow
def test_volumes_are_labelled_synthetic(made: Path) -> None:
    volumes = sorted((made / "traces").glob("*.aft"))
    assert volumes
    for volume in volumes:
        assert b"synthetic" in volume.read_bytes()[:4096]


def test_real_volumes_take_their_place(tmp_path: Path) -> None:
    setting = paper.Setting(tmp_path, False, tmp_path, 1)
    (tmp_path / "PRN_0.aft").write_bytes(b"real")
    assert paper.stand_in("PRN_0", setting) == tmp_path / "PRN_0.aft"
    with pytest.raises(command.Refusal, match=r"there is no HM_0\.aft"):
        paper.stand_in("HM_0", setting)


def test_full_runs_are_longer(tmp_path: Path) -> None:
    for spec in paper.specs():
        for one in spec.runs:
            for quick, full in paper.CHOICE.findall(one.command):
                assert int(full) > int(quick), spec.name


@pytest.mark.parametrize(("arguments", "code", "sentence"), [
    (["--papers", "nonsense"], 2, 'there is no figure "nonsense"; there are approxftl-05'),
    (["--full", "x.json"], 2, "--full needs --papers"),
    (["--seed", "3", "x.json"], 2, "--seed needs --papers"),
    (["--papers", "--kind", "cdf"], 2, "--kind and --papers contradict each other"),
    (["--papers", "agcr", "--traces", "no"], 3, "no: there is no HM_0.aft"),
])
def test_refusals(tmp_path: Path, arguments: list[str], code: int, sentence: str) -> None:
    done = run("figures", *arguments, directory=tmp_path)
    assert done.code == code
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_a_failed_run_is_named(tmp_path: Path) -> None:
    program = tmp_path / "approxftl"
    program.write_text("#!/bin/sh\necho 'approxftl: no more' >&2\nexit 1\n")
    program.chmod(0o755)
    done = run("figures", "--papers", "tvr-packages", "-o", tmp_path / "out",
               environment={"APPROXFTL": str(program)})
    assert done.code == 1
    assert done.err.startswith(f"approxftl-figures: {program} sim ")
    assert done.err.endswith("approxftl: no more\n")
    assert list((tmp_path / "out").glob("*.svg")) == []
