# SPDX-License-Identifier: GPL-2.0-only
"""Charts after figures in papers: each is made from simulated runs, repeatable, labelled."""

import csv
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from selftests.reports.support import (
    PROGRAM,
    Json,
    find_urls_in_page,
    open_page_headless,
    read_console_messages,
    run_approxftl,
    run_approxftl_ok,
    simulate_to_file,
)

from approxftl_tools import digit_recognition, papers, study_plan
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.study_figure import figure_specs, list_stored_network_accuracies
from approxftl_tools.study_streams import Setting, resolve_quick_or_full_values

#: Figures whose runs take a second or two.
QUICK = ("approxftl-10-lifetime", "tvr-packages", "cubeftl-write-cdf", "rss-raid-parity")
NAMES = [name for name, _ in papers.figure_titles(())]
STUDIES = sorted(papers.FOLDER.glob("*.toml"))


@pytest.fixture(scope="module")
def figures_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("papers")
    said = run_approxftl_ok("figures", "--papers", *QUICK, "-O", directory)
    for name in QUICK:
        assert f"{directory / name}.svg" in said
    assert said.splitlines()[-1] == str(directory / "selection.html")
    return directory


@pytest.fixture
def study_setting_with_tiny_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """Replace each recorded trace by a tiny one; the tests only need the files to exist."""
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    first = tmp_path / "HM_0.aft"
    simulate_to_file(tmp_path / "x.json", "--requests", "1", "--record", first)
    for path in STUDIES:
        document = study_plan.load_toml_file(path)
        for name in document["vary"]["trace"] if "synth" in document else ():
            (tmp_path / f"{name}.aft").write_bytes(first.read_bytes())
    return Setting(True, tmp_path, more={"base": {"seed": 1}})


@pytest.mark.in_turn
def test_drawing_one_figure_keeps_the_page_of_all_figures(figures_folder: Path) -> None:
    (figures_folder / "index.html").write_text("all")
    said = run_approxftl_ok("figures", "--papers", QUICK[0], "-O", figures_folder, "--format",
                            "pdf")
    assert said.splitlines()[-1] == str(figures_folder / f"{QUICK[0]}.html")
    assert (figures_folder / "index.html").read_text() == "all"
    assert (figures_folder / f"{QUICK[0]}.pdf").read_bytes()[:5] == b"%PDF-"
    assert f'href="{QUICK[0]}.pdf"' in (figures_folder / f"{QUICK[0]}.html").read_text()
    (figures_folder / "index.html").unlink()


def read_approxftl_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows that dm-approxftl measured, without the rows that cite the paper."""
    return [row for row in read_csv_rows(path) if row["source"] == "approxftl"]


def read_csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def read_results_behind_paper_figures(directory: Path) -> Iterator[Json]:
    """Yield the simulator's report of each run that `approxftl figures --papers` made."""
    for path in sorted((directory / "runs").glob("*/result.json")):
        yield json.loads(path.read_text())


def test_each_simulated_system_has_paper_figures() -> None:
    systems = {study_plan.load_toml_file(path)["name"] for path in STUDIES}
    assert systems == set(papers.SYSTEMS)
    listed = run_approxftl_ok("figures", "--papers", "--list").splitlines()
    assert [line.split()[0] for line in listed] == NAMES
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_each_study_describes_itself_and_its_figures(path: Path) -> None:
    document = study_plan.load_toml_file(path)
    text = study_plan.join_text_to_one_line(document["text"])
    assert text.endswith(".")
    assert re.search("synthetic|the bit error rate behind", text, re.I), "what stands in"
    for one in document["figure"]:
        assert study_plan.join_text_to_one_line(one["text"]).endswith(".")
        assert one["title"].startswith(f"{document['name']}, ")


def test_a_figure_without_its_package_is_left_out(monkeypatch: pytest.MonkeyPatch,
                                                  study_setting_with_tiny_traces: Setting) -> None:
    monkeypatch.setattr(papers, "find_spec", lambda _name: None)
    said: list[str] = []
    found = papers.drawable_figures((), study_setting_with_tiny_traces, said.append)
    assert [one.spec.name for one in found] == [name for name in NAMES if "weights" not in name]
    assert said == [f"weights-{name}: left out, for lack of the Python package sklearn"
                    for name in ("layers", "shelf")]
    (one,) = papers.drawable_figures(["weights-shelf"], study_setting_with_tiny_traces, said.append)
    assert one.spec.name == "weights-shelf"


def test_more_flipped_bits_let_a_network_recognise_fewer_digits(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digit_recognition, "SEEDS", 1)
    monkeypatch.setattr(digit_recognition, "DRAWS", 1)
    found = [digit_recognition.mean_accuracy("int8", 8, rate) for rate in (0.0, 0.05, 0.4)]
    mean = [one.mean for one in found]
    assert mean[0] > 95 and mean[0] > mean[1] > mean[2] and mean[2] < 50
    alone = [digit_recognition.mean_accuracy("int8", 8, 0.4, layer).mean for layer in range(3)]
    assert all(mean[2] < one < mean[0] for one in alone) and len(set(alone)) == 3


def make_network_report(share: float, alone: float, **changed: Any) -> Json:
    return {"parameters": {"type": "int8", "planes": 8, "hidden": 256, "levels": [1] * 8,
                           **changed}, "labels": {"cycles": "5000", "months": "3"},
            "share": {"stored": share},
            "arrays": [{"name": f"layer.{n}.weight", "share": alone + n / 10} for n in range(3)]}


def test_paper_figure_of_networks_includes_results_from_a_mounted_device(
        study_setting_with_tiny_traces: Setting) -> None:
    specs = {spec.name: spec for one in papers.find_paper_figures(["weights"],
                                                                  study_setting_with_tiny_traces)
             for spec in [one.spec]}
    reports = [make_network_report(0.9, 0.5), make_network_report(0.8, 0.7),
               make_network_report(0.1, 0.1, planes=4),
               make_network_report(0.1, 0.1, type="bfloat16"),
               make_network_report(0.1, 0.1, hidden=64),
               make_network_report(0.1, 0.1, levels=[3] * 8), make_network_report(0.1, 0.1)
               | {"labels": {"cycles": "1000", "months": "3"}}, make_network_report(0.1, 0.1)
               | {"labels": {"cycles": "5000"}}]
    reports.append({key: value for key, value in reports[0].items() if key != "share"})
    marks = {mark.series: mark
             for mark in list_stored_network_accuracies(specs["weights-shelf"], reports)}
    one = marks["all of int8"]
    assert (one.x, one.source) == ("3", "mounted, 2 seeds")
    assert one.y == pytest.approx(85)
    assert one.low is not None and one.high is not None and one.low < 80 and one.high > 90
    assert marks["half of int8"].y == pytest.approx(10) and len(marks) == 2
    layers = {mark.series: mark.y
              for mark in list_stored_network_accuracies(specs["weights-layers"], reports)}
    assert layers == {f"{name} layer, all of int8": pytest.approx(60 + 10 * at)
                      for at, name in enumerate(("first", "second", "last"))}


@pytest.mark.parametrize(("options", "most"), [
    (("--approx-share", "50%", "--approx-run", "1"), "checkerboard"),
    (("--approx-share", "10%"), "precise"),
    (("--approx-share", "90%"), "all_approximate"),
    (("--approx-share", "50%", "--approx-run", "64"), "phase_2"),
])
def test_each_workload_fills_mostly_the_expected_kind_of_approxftl_block(
        tmp_path: Path, options: tuple[str, ...], most: str) -> None:
    """Page counts of all block kinds add up to all pages; the expected kind has the most."""
    measures = study_plan.load_toml_file(papers.FOLDER / "approxftl-blocks.toml")["figure"][0]["y"]
    simulate_to_file(tmp_path / "x.json", "--policy", "approxftl", "--write-share", "100%",
                     "--requests", "30000", "--channels", "1", "--chips", "1", "--profile",
                     "tcad18", "--fill", "none", *options)
    (one,) = json.loads((tmp_path / "x.json").read_text())["runs"]
    found = {name: VALUES[name](one) or 0 for name in measures}
    assert sum(found.values()) == sum(one["mode_pages"].values())
    assert max(found, key=lambda name: found[name]) == most


@pytest.mark.slow
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_simulator_accepts_every_paper_study(path: Path,
                                                 study_setting_with_tiny_traces: Setting) -> None:
    """The simulator accepts all parameter values of a paper's study."""
    plan = study_plan.read_study(path, PROGRAM, setting=study_setting_with_tiny_traces)
    assert plan.points and figure_specs(plan)


@pytest.mark.slow
def test_numbers_of_paper_figures_are_those_of_the_runs(figures_folder: Path) -> None:
    table = read_approxftl_rows(figures_folder / "approxftl-10-lifetime.csv")
    assert {row["series"] for row in table} == {"delta_b", "vth_b", "approxftl"}
    for row in table:
        share = row["x"].replace(" ", "")
        (result,) = [r for r in read_results_behind_paper_figures(figures_folder)
                     if f"--fill-approx={share}" in r["tool"]["argv"]]
        lives = {one["policy"]: one["blocks"]["erase_count"]["mean"] / one["blocks"]["wear"]["mean"]
                 for one in result["runs"]}
        assert float(row["y"]) == pytest.approx(lives[row["series"]] / lives["baseline"])


@pytest.mark.slow
def test_reductions_in_paper_figures_equal_those_of_the_runs(figures_folder: Path) -> None:
    table = read_csv_rows(figures_folder / "tvr-packages.csv")
    assert len(table) == 8
    for row in table:
        argv = {f"--channels={row['x']}", f"--utilisation={row['series']}"}
        (result,) = [r for r in read_results_behind_paper_figures(figures_folder)
                     if argv <= set(r["tool"]["argv"])]
        means = []
        for one in result["runs"]:
            both = [one["timing"][f"{kind}_response"] for kind in ("read", "write")]
            means.append(sum(t["sum_ns"] for t in both) / sum(t["count"] for t in both))
        assert float(row["y"]) == pytest.approx(100 * (1 - means[1] / means[0]))


@pytest.mark.slow
@pytest.mark.in_turn
def test_the_index_shows_all_figures_in_a_browser(figures_folder: Path, tmp_path: Path) -> None:
    done = open_page_headless(figures_folder / "selection.html", tmp_path, "--dump-dom")
    assert done.code == 0, done.err
    assert read_console_messages(done) == []
    for name in QUICK:
        assert f'<figure id="{name}">' in done.out
        assert f'href="{name}.svg"' in done.out
    assert "In the paper:" in done.out
    assert "Volumes are synthetic" in done.out
    for reference in find_urls_in_page(done.out):
        assert reference.startswith(("#",
                                     "data:")) or (figures_folder / reference).exists(), reference
    assert unescape(done.out).count("approxftl sim --profile") >= len(QUICK)


@pytest.mark.slow
def test_completed_runs_of_paper_figures_are_not_repeated(figures_folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (figures_folder / "runs").glob("*/*")}
    figures = {path: path.read_bytes() for path in figures_folder.glob("*.svg")}
    run_approxftl_ok("figures", "--papers", "tvr-packages", "-O", figures_folder)
    assert {path: path.stat().st_mtime_ns
            for path in (figures_folder / "runs").glob("*/*")} == before
    assert {path: path.read_bytes() for path in figures_folder.glob("*.svg")} == figures


@pytest.mark.slow
def test_paper_figures_of_several_seeds_have_intervals(figures_folder: Path) -> None:
    (before,) = {row["low"] for row in read_approxftl_rows(figures_folder / "rss-raid-parity.csv")}
    run_approxftl_ok("figures", "--papers", "rss-raid-parity", "--seeds", "2", "-O", figures_folder)
    assert before == ""
    for row in read_approxftl_rows(figures_folder / "rss-raid-parity.csv"):
        assert row["runs"] == "2" and float(row["low"]) < float(row["y"]) < float(row["high"])
    assert "2 seeds from 1" in (figures_folder / "rss-raid-parity.html").read_text()


def test_the_option_full_makes_runs_longer() -> None:
    def find_options_of_short_and_full_runs(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for one in value.values():
                yield from find_options_of_short_and_full_runs(one)
        elif isinstance(value, str) and "|" in value:
            yield value

    for path in STUDIES:
        for value in find_options_of_short_and_full_runs(study_plan.load_toml_file(path)):
            assert int(resolve_quick_or_full_values(value, True)) > int(
                resolve_quick_or_full_values(value, False)), path


@pytest.mark.parametrize(("arguments", "code", "sentence"), [
    (["--papers", "nonsense"], 2, 'there is no figure "nonsense"; there are agcr-costs-read'),
    (["--full", "x.json"], 2, "--full needs --papers"),
    (["--mounted", ".", "x.json"], 2, "--mounted needs --papers"),
    (["--papers", "weights", "--mounted", "x"], 1, "x: no report of approxftl app weights --lab"),
    (["--seed", "3", "x.json"], 2, "--seed needs --papers"),
    (["--papers", "--kind", "cdf"], 2, "--kind and --papers contradict each other"),
    (["--papers", "tvr", "--seeds", "0"], 2, "seeds is a number from 1 to"),
    (["--papers", "agcr", "--traces", "no"], 3, "no: there is no HM_0.aft"),
])
def test_wrong_arguments_of_papers_are_refused(tmp_path: Path, arguments: list[str], code: int,
                                               sentence: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/x.json").write_text('{"app": "weights"}')
    done = run_approxftl("figures", *arguments, directory=tmp_path)
    assert done.code == code
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_a_failed_run_of_a_paper_figure_is_named(tmp_path: Path) -> None:
    program = tmp_path / "approxftl"
    program.write_text("#!/bin/sh\necho 'approxftl sim: no more' >&2\nexit 1\n")
    program.chmod(0o755)
    done = run_approxftl("figures", "--papers", "tvr-packages", "-O", tmp_path / "out",
                         environment={"APPROXFTL": str(program)})
    assert done.code == 1
    assert done.err.startswith("approxftl figures: approxftl sim ")
    assert done.err.endswith(": no more\n")
    assert list((tmp_path / "out").glob("*.svg")) == []
