# SPDX-License-Identifier: GPL-2.0-only
"""Test study files: values for short and full runs, generated traces, and kinds of figures."""

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from selftests.lib.programs import BUILD, Done, run_program

from approxftl_tools import digit_recognition, study_plan, study_streams, study_table
from approxftl_tools.command import Refusal
from approxftl_tools.figure_file import read_figure_style, render_figure
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_figure import draw_figure_of_study, figure_specs
from approxftl_tools.study_store import Store
from approxftl_tools.study_streams import Setting, Streams

STUDY = BUILD / "approxftl-study"
PROGRAM = BUILD / "approxftl"
#: Two policies in one run of the simulator, with latency histograms.
RUNS = """study = 1
seeds = 2
warmup = "ignore"
[base]
policy = "baseline,vth_b"
requests = "1500|3000"
blocks = 64
fill = "random"
histogram = true
[vary]
approx-share = ["10%", "50%"]
"""
Y = "write_response_mean_ns"


def run_study(*arguments: str | Path, code: int = 0) -> Done:
    done = run_program(STUDY, *arguments)
    assert done.code == code, done
    return done


@pytest.fixture(scope="module")
def finished_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("done") / "s.toml"
    path.write_text(RUNS)
    run_study("run", path)
    return path


def list_results_with_options(done: Path) -> list[dict[str, Any]]:
    """Return the study's results, each with the values of its varied options."""
    found = []
    for place in done.with_suffix(".results").glob("*/result.json"):
        varied = json.loads(place.with_name("point.json").read_text())["varied"]
        found += [varied | one for one in json.loads(place.read_text())["runs"]]
    return found


def read_figure_marks(done: Path, folder: Path, figure: str) -> list[dict[str, str]]:
    """Return the data of a figure of the study, which is also rendered."""
    path = folder / "f.toml"
    path.write_text(f'{RUNS}[[figure]]\nname = "f"\n{figure}\n')
    plan = study_plan.read_study(path, PROGRAM, sure=True)
    (spec,) = figure_specs(plan)
    groups = study_table.group_points_ignoring_seed(plan, Store(done.with_suffix(".results")))
    chart = draw_figure_of_study(plan, spec, groups)
    rows = list(csv.DictReader(chart.figure_as_csv().splitlines()))
    drawn = ElementTree.fromstring(render_figure(chart, "svg", read_figure_style(None, "")))
    assert sum(not one.tag.endswith(("text", "title", "desc", "style", "g"))
               for one in drawn.iter()) > len({(one.get("facet"), one.get("series"))
                                               for one in rows})
    return rows


def compute_mean_over_seeds(done: Path, measure: Any, **where: str) -> float:
    """Return the mean over both seeds of the study for given values of its varied options."""
    values = [measure(one) for one in list_results_with_options(done)
              if all(one[key.replace("_", "-")] == value for key, value in where.items())]
    assert len(values) == 2
    return float(sum(values)) / 2


@pytest.mark.parametrize(("change", "meant"), [
    ("ratio", lambda ratio: ratio), ("cut", lambda ratio: 100 * (1 - ratio)),
    ("gain", lambda ratio: 100 * (ratio - 1))])
def test_bars_of_a_study_show_changes_relative_to_the_reference(finished_study: Path,
                                                                tmp_path: Path, change: str,
                                                                meant: Any) -> None:
    found = read_figure_marks(finished_study, tmp_path,
                              f'x = "approx-share"\ny = "{Y}"\nkind = "bars"\n'
                              f'relative_to = "baseline"\nchange = "{change}"')
    times = {(one["seed"], one["approx-share"], one["policy"]):
             one["timing"]["write_response"]["mean_ns"]
             for one in list_results_with_options(finished_study)}
    for mark in found:
        ratios = [time / times[seed, share, "baseline"]
                  for (seed, share, policy), time in times.items()
                  if (share, policy) == (mark["x"], "vth_b")]
        assert mark["series"] == "vth_b"
        assert float(mark["y"]) == pytest.approx(meant(sum(ratios) / 2))
        assert float(mark["low"]) < float(mark["y"]) < float(mark["high"])
    assert [mark["x"] for mark in found] == ["10%", "50%"]


def test_the_reference_run_may_be_on_another_axis(finished_study: Path, tmp_path: Path) -> None:
    found = read_figure_marks(finished_study, tmp_path,
                              f'x = "approx-share"\nseries = "approx-share"\ny = "{Y}"\n'
                              'relative_to = "baseline"')
    assert [(mark["series"], mark["x"]) for mark in found] == [("10%", "10%"), ("50%", "50%")]


def test_stacked_bars_show_the_shares_of_their_parts(finished_study: Path, tmp_path: Path) -> None:
    keys = ("precise_pages", "approximate_pages")
    found = read_figure_marks(finished_study, tmp_path,
                              'x = ["approx-share", "policy"]\nkind = "stack"\nshares = true\n'
                              f'y = ["{keys[0]}", "{keys[1]}"]')
    assert len(found) == 8
    for mark in found:
        share, policy = mark["x"].split()
        kind = mark["series"].split()[-1]

        def compute_class_page_percent(one: Any, kind: str = kind) -> float:
            pages = one["class_pages"]
            return 100 * float(pages[kind]) / float(pages["precise"] + pages["approximate"])

        assert float(mark["y"]) == pytest.approx(compute_mean_over_seeds(finished_study,
                                                                         compute_class_page_percent,
                                                                         approx_share=share,
                                                                         policy=policy))


def test_stacked_bars_are_relative_to_the_reference(finished_study: Path, tmp_path: Path) -> None:
    found = read_figure_marks(finished_study, tmp_path,
                              'x = ["approx-share", "policy"]\nkind = "stack"\n'
                              'y = ["program_energy_pj", "read_energy_pj"]\n'
                              'relative_to = "baseline"')
    wholes = dict.fromkeys((mark["x"] for mark in found), 0.0)
    for mark in found:
        wholes[mark["x"]] += float(mark["y"])
    assert wholes["10% baseline"] == pytest.approx(1)
    assert 0 < wholes["50% vth_b"] < 1


def test_bars_of_a_figure_show_the_selected_measures(finished_study: Path, tmp_path: Path) -> None:
    found = read_figure_marks(finished_study, tmp_path,
                              'x = "measure"\ny = ["array_erases", "read_energy_pj"]\n'
                              'facets = "approx-share"\nkind = "bars"\nshow = ["vth_b"]')
    assert [(mark["facet"], mark["series"], mark["x"]) for mark in found] == [
        (f"approximate share: {share}", "vth_b", name) for share in ("10%", "50%")
        for name in ("erases", "energy of reads")]
    assert float(found[0]["y"]) == compute_mean_over_seeds(
        finished_study, lambda one: one["counters"]["array_erases"], approx_share="10%",
        policy="vth_b")


def test_a_response_time_distribution_pools_all_seeds(finished_study: Path, tmp_path: Path) -> None:
    found = [mark for mark in read_figure_marks(finished_study, tmp_path,
                                                'y = "write_response"\nkind = "cdf"\n'
                                                'facets = "approx-share"\nx_scale = "log"')
             if (mark["facet"], mark["series"]) == ("approximate share: 50%", "vth_b")]
    ys = [float(mark["y"]) for mark in found]
    assert ys == sorted(ys) and (ys[0], ys[-1]) == (0, 100)
    bins = [pair for one in list_results_with_options(finished_study)
            if (one["approx-share"], one["policy"]) == ("50%", "vth_b")
            for pair in one["timing"]["write_response"]["bins"]]
    for mark, y in zip(found[1:], ys[1:], strict=True):
        below = sum(count for top, count in bins if top / 1000 <= float(mark["x"]))
        assert y == pytest.approx(100 * below / sum(count for _, count in bins))


NETWORK = ('x = "approx-share"\ny = "bit_error_rate"\n'
           'networks = [{ name = "n", type = "%s", planes = %d }]')


@pytest.mark.parametrize(("figure", "sentence"), [
    ('y = "array_erases"\nkind = "cdf"', 'unknown measure in [[figure]] "array_erases"'),
    ('x = "measure"\ny = "array_erases"', 'unknown axis in x of [[figure]] "measure"'),
    ('x = "policy"\ny = "array_erases"\nchange = "loss"', 'unknown change of [[figure]] "loss"'),
    ('y = "write_response"\nkind = "cdf"', "leaves out the axis"),
    ('x = "approx-share"\ny = "bit_error_rate"\nnetworks = [{ name = "n", planes = 1 }]',
     "each network of [[figure]] has name, type, planes"),
    ('x = "approx-share"\ny = "bit_error_rate"\nnetworks = 3', "networks of [[figure]] is a list"),
    (NETWORK % ("int9", 1), 'unknown type of a network in [[figure]] "int9"; did you mean int8?'),
    (NETWORK.replace("}", ", layer = 3 }") % ("int8", 8),
     "layers of a network in [[figure]] are from 0 to 2"),
    (NETWORK % ("int8", 99), "planes of a network in [[figure]] are from 0 to 64"),
    ('x = "approx-share"\ny = "array_erases"\nfacets = ["policy"]',
     "facets of [[figure]] is a text"),
])
def test_invalid_figure_definitions_are_refused(finished_study: Path, tmp_path: Path, figure: str,
                                                sentence: str) -> None:
    with pytest.raises(Refusal) as said:
        read_figure_marks(finished_study, tmp_path, figure)
    assert sentence in str(said.value)


def test_neural_networks_are_measured_at_the_error_rates_of_their_policy(
        finished_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each group of runs an error rate, because the runs are too short to have errors."""
    monkeypatch.setattr(study_table.Group, "estimate_mean_over_seeds", lambda self, key: Estimate(
        1e-3 * float(self.varied["approx-share"].rstrip("%")) * (self.varied["policy"] == "vth_b"),
        None, 2))
    monkeypatch.setattr(digit_recognition, "mean_accuracy",
                        lambda kind, planes, rate, layer: Estimate(rate, None, 1))
    found = read_figure_marks(finished_study, tmp_path,
                              NETWORK.replace("}", ', policy = "vth_b" }') % ("int8", 8))
    assert [(mark["x"], float(mark["y"])) for mark in found] == [("10%", 0.01), ("50%", 0.05)]


def test_longer_runs_of_option_full_are_separate_points(finished_study: Path) -> None:
    """After its short runs a study is complete; with --full its longer runs are missing."""
    said = run_study("status", finished_study).out, run_study("status", finished_study,
                                                              "--full").out
    assert said == ("s: 4 points, 4 done, 0 failed, 0 missing\n",
                    "s: 4 points, 0 done, 0 failed, 4 missing\n")
    lines = run_study("export", finished_study, "--full").out.splitlines()
    assert len(lines) == 4 and all("--requests=3000 " in line for line in lines)


# ---------------------------------------------------------------- generated traces

MADE = """study = 1
seeds = 2
[base]
arrival = "trace"
policy = "baseline,vth_b"
op = "20%|30%"
fold = true
[synth]
requests = "300|600"
[vary]
trace = ["HM_0", "PRN_1"]
"""


def test_traces_are_generated_for_each_seed(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(MADE)
    run_study("run", path, "--full")
    files = sorted((tmp_path / "s.results/traces").iterdir())
    assert [file.name.rpartition("-")[0] for file in files] == ["HM_0"] * 2 + ["PRN_1"] * 2
    assert len({file.read_bytes() for file in files}) == 4
    assert all(b"synthetic" in file.read_bytes()[:4096] for file in files)
    before = [file.stat().st_mtime_ns for file in files]
    run_study("run", path, "--full")
    assert [file.stat().st_mtime_ns for file in files] == before
    assert {one["requests"] for one in list_results_with_options(path)} == {600}
    run_study("pack", path, "--full")
    for file in files:
        file.unlink()
    assert "4 points" in (said := run_study("verify", tmp_path / "s.study.tar.gz").out)
    assert "0 differ" in said


def test_each_generator_version_makes_its_own_traces(tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(tmp_path / "s.toml", PROGRAM, Setting(made=tmp_path), {"requests": 300}, None)
    first = streams.find_or_generate_record_file("HM_0", 1)
    assert streams.find_or_generate_record_file("HM_0", 1) == first
    monkeypatch.setattr(study_streams, "MAKERS", ("synth.py",))
    assert streams.find_or_generate_record_file("HM_0", 1) != first


def test_real_traces_replace_generated_ones(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(MADE)
    for name in ("HM_0", "PRN_1"):
        run_program(PROGRAM, "sim", "-q", "--requests=200", f"--record={tmp_path}/{name}.aft")
    run_study("run", path, "--traces", tmp_path)
    assert not (tmp_path / "s.results/traces").exists()
    assert {one["requests"] for one in list_results_with_options(path)} == {200}
    run_study("pack", path, "--traces", tmp_path)
    assert "0 differ" in run_study("verify", tmp_path / "s.study.tar.gz").out
    (tmp_path / "HM_0.aft").unlink()
    assert "there is no HM_0.aft; approxftl trace convert makes one" in run_study(
        "status", path, "--traces", tmp_path, code=3).err


@pytest.mark.parametrize(("text", "code", "sentence"), [
    (MADE.replace("[synth]", "[synth]\nseed = 3"), 2, '[synth] "seed" is not for a study'),
    (MADE.replace('"300|600"', '"many"'), 2, '[synth] argument --requests: "many" is not a number'),
    (MADE.replace("HM_0", "HM_9"), 3, "HM_9"),
    (MADE[:MADE.index("[synth]")].replace("study = 1", "study = 1\nsynth = 3"), 2,
     "[synth] is a table of keys and values"),
])
def test_invalid_traces_are_refused(tmp_path: Path, text: str, code: int, sentence: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    said = run_study("run", path, code=code).err
    assert sentence in said and said.count("\n") == 1
