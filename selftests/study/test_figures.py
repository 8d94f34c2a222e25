# SPDX-License-Identifier: GPL-2.0-only
"""Test the results of studies: means, intervals, ratios, figures, archives, job arrays."""

import csv
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD, TOP, Done, run_program

from approxftl_tools import study_pack, study_plan, study_table
from approxftl_tools.statistics import estimate_mean, estimate_paired_ratio, estimate_sample_size
from approxftl_tools.study_store import Store

STUDY = BUILD / "approxftl-study"
PROGRAM = BUILD / "approxftl"
SMALL = """study = 1
seeds = 4
relative_to = "baseline"
[base]
requests = 1500
blocks = 64
fill = "random"
write-share = "100%"
[vary]
policy = ["baseline", "vth_b"]
[vary.stream]
"few" = { approx-share = "10%" }
"runs of 64" = { approx-share = "50%", approx-run = 64 }
[[figure]]
name = "ratio"
x = "stream"
y = "write_response_mean_ns"
relative_to = "baseline"
points = [
  { x = "few", y = 0.9, series = "vth_b" }, { y = 0.8, low = 0.7, high = 0.85, series = "vth_b" }]
"""


def write_study(folder: Path, text: str = SMALL) -> Path:
    path = folder / "s.toml"
    path.write_text(text)
    return path


def run_study(*arguments: str | Path, code: int = 0, **environment: str) -> Done:
    done = run_program(STUDY, *arguments, environment=environment)
    assert done.code == code, done
    return done


def read_study_table(*arguments: str | Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run_study(*arguments, "--json").out)["rows"]
    return found


def simulate_without_study(seed: int, *options: str) -> float:
    """Return the mean write response time of one run without a study."""
    done = subprocess.run(
        [PROGRAM, "sim", "--requests=1500", "--blocks=64", "--fill=random", "--write-share=100%",
         f"--seed={seed}", *options, "--json=-", "--quiet"],
        capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["runs"][0]["timing"]["write_response"]["mean_ns"])


@pytest.fixture(scope="module")
def finished_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_study(tmp_path_factory.mktemp("done"))
    run_study("run", path)
    return path


# ---------------------------------------------------------------- tables


def test_means_intervals_and_ratios_follow_from_the_runs(finished_study: Path) -> None:
    stream = ("--approx-share=50%", "--approx-run=64")
    seeds = [int(str(seed)) for seed in study_plan.derive_seeds(1, 4)]
    base = [simulate_without_study(seed, *stream, "--policy=baseline") for seed in seeds]
    ours = [simulate_without_study(seed, *stream, "--policy=vth_b") for seed in seeds]
    (row,) = [row for row in read_study_table("table", finished_study)
              if (row["policy"], row["stream"]) == ("vth_b", "runs of 64")]
    assert row["runs"] == 4
    for key, found in (("write_response_mean_ns", estimate_mean(ours)),
                       ("write_response_mean_ns_ratio", estimate_paired_ratio(ours, base))):
        assert found is not None
        assert [row[key], row[f"{key}_low"], row[f"{key}_high"]] == pytest.approx(
            [found.mean, found.low, found.high])


def test_policies_of_one_simulation_equal_separate_runs(tmp_path: Path) -> None:
    """Policies in one simulation have the same results as in separate simulations."""
    together = SMALL.replace("[base]", '[base]\npolicy = "baseline,vth_b"').replace(
        'policy = ["baseline", "vth_b"]\n', "")
    path = write_study(tmp_path, together)
    run_study("run", path)
    key = "write_response_mean_ns_ratio"
    alone = tmp_path / "alone"
    alone.mkdir()
    run_study("run", write_study(alone))
    assert sorted((row["stream"], row[key]) for row in read_study_table("table", path)
                  if row[key]) == sorted(
(row["stream"], row[key]) for row in read_study_table("table", alone / "s.toml") if row[key])


def test_seeds_are_added_until_the_interval_is_narrow(tmp_path: Path) -> None:
    text = SMALL.replace("seeds = 4", 'until = "1%"\nmost = 12\nseeds = 3')
    path = write_study(tmp_path, text)
    done = run_study("run", path, "--json")
    found = json.loads(done.out)["rows"]
    runs = {row["runs"] for row in found}
    assert len(runs) == 1 and 3 < runs.pop() <= 12
    key = "write_response_mean_ns_ratio"
    narrow = all(row[f"{key}_high"] - row[key] <= 0.01 * row[key] for row in found if row[key])
    assert narrow != ("12 seeds are not enough for intervals of 1 %" in done.err)
    before = len(list((tmp_path / "s.results").iterdir()))
    assert json.loads(run_study("table", path, "--json").out)["rows"] == found
    run_study("run", path)
    assert len(list((tmp_path / "s.results").iterdir())) == before
    assert f"{before} done, 0 failed, 0 missing" in run_study("status", path).out


def test_a_wide_interval_is_reported() -> None:
    assert estimate_sample_size(estimate_mean([1.0, 1.2, 0.9]), 0.02) > 20


def test_runs_with_drifting_response_times_are_counted_or_refused(tmp_path: Path) -> None:
    text = """study = 1
[base]
requests = 5000
fill = "random"
write-share = "100%"
rate = 20000
[vary]
policy = ["baseline"]
"""
    done = run_study("run", write_study(tmp_path, text))
    assert "1 of 1 runs were still drifting" in done.err
    assert read_study_table("table", tmp_path / "s.toml")[0]["drifting_runs"] == 1
    run_study("run", write_study(tmp_path, text.replace("[base]", 'warmup = "refuse"\n[base]')),
              code=1)
    quiet = run_study("run",
                      write_study(tmp_path, text.replace("[base]", 'warmup = "ignore"\n[base]')))
    assert "drifting" not in quiet.err


# ---------------------------------------------------------------- figures


def test_a_figure_file_contains_its_numbers(finished_study: Path, tmp_path: Path) -> None:
    told = run_study("figure", finished_study, "--figures", tmp_path, "--format",
                     "svg,pdf,png").out.split()
    assert [Path(name).name for name in told] == ["ratio.svg", "ratio.pdf", "ratio.png"]
    heads = {"svg": b"<svg ", "pdf": b"%PDF-", "png": b"\x89PNG"}
    for kind, head in heads.items():
        assert (tmp_path / f"ratio.{kind}").read_bytes().startswith(head)
    with (tmp_path / "ratio.csv").open() as file:
        marks = list(csv.DictReader(file))
    wanted = {row["stream"]: row for row in read_study_table("table", finished_study)
              if row["policy"] == "vth_b"}
    own = [mark for mark in marks if mark["source"] == "approxftl"]
    assert [mark["x"] for mark in own] == list(wanted), "and the yardstick is no mean of its own"
    for mark in own:
        key = "write_response_mean_ns_ratio"
        assert [float(mark[end]) for end in ("y", "low", "high")] == pytest.approx(
            [wanted[mark["x"]][f"{key}{end}"] for end in ("", "_low", "_high")])
    paper, level = [mark for mark in marks if mark["source"] == "the paper"]
    assert (level["x"], float(level["y"]), float(level["low"])) == ("", 0.8, 0.7)
    assert (paper["x"], float(paper["y"]), paper["low"]) == ("few", 0.9, "")
    assert json.loads((tmp_path / "ratio.json").read_text())["figure"]["marks"][0]["runs"] == 4
    drawn = (tmp_path / "ratio.svg").read_text()
    assert ", the paper</title>" in drawn and "runs of 64" in drawn


def test_a_figure_of_the_same_numbers_is_the_same_file(finished_study: Path,
                                                       tmp_path: Path) -> None:
    for name in ("one", "two"):
        run_study("figure", finished_study, "--figures", tmp_path / name, "--format", "svg,pdf")
    for kind in ("svg", "pdf", "csv"):
        assert (tmp_path / f"one/ratio.{kind}").read_bytes() == (
            tmp_path / f"two/ratio.{kind}").read_bytes()


def test_a_style_file_changes_the_figures(finished_study: Path, tmp_path: Path) -> None:
    style = tmp_path / "style.toml"
    style.write_text('width = 5\nfont_size = 11\npalette = ["#123456"]\n')
    for name, options, width in (("a", (), 3.5), ("b", ("--width", "double"), 7.16),
                                 ("c", ("--style", style), 5)):
        run_study("figure", finished_study, "--figures", tmp_path / name, *options)
        found = re.search(r' width="([\d.]+)in"', (tmp_path / name / "ratio.svg").read_text())
        assert found
        assert float(found[1]) == pytest.approx(width, abs=0.01)
    drawn = (tmp_path / "c/ratio.svg").read_text()
    # Text is 12 units high in the drawing, and 11 points in the style.
    assert "#123456" in drawn and f'viewBox="0 0 {round(5 * 72 * 12 / 11)} ' in drawn


@pytest.mark.parametrize(("text", "sentence"), [
    ('palettes = ["#123456"]', 'unknown key "palettes"; did you mean palette?'),
    ('palette = ["red"]', "palette is a list of colours"),
    ("width = 900", "width is from 1 to 50 inches, or one of single, double"),
    ("font_size = 1", "font_size is from 3 to 72"),
])
def test_invalid_styles_are_refused(finished_study: Path, tmp_path: Path, text: str,
                                    sentence: str) -> None:
    (tmp_path / "style.toml").write_text(text)
    assert sentence in run_study("figure", finished_study, "--figures", tmp_path / "o", "--style",
                                 tmp_path / "style.toml", code=2).err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("text", "sentence"), [
    ('x = "stream"', "each [[figure]] has y"),
    ('x = "streams"\ny = "array_erases"', '"streams"; did you mean stream?'),
    ('x = "stream"\ny = "array_erase"', 'unknown measure in [[figure]] "array_erase"; '
     "did you mean array_erases?"),
    ('x = "stream"\ny = "array_erases"\ncolour = 1', 'unknown key of [[figure]] "colour"'),
    ('x = "stream"\ny = "array_erases"\nkind = "bar"', 'unknown kind of [[figure]] "bar"'),
    ('x = "stream"\ny = "array_erases"\nfacets = "stream"', "are different axes"),
    ('x = "stream"\ny = "array_erases"\nseries = "stream"', "s-1 leaves out the axis policy"),
    ('x = "stream"\ny = "array_erases"\nname = "../up"', "no name of its own for a file"),
    ('x = "stream"\ny = "array_erases"\npoints = [{ x = 1 }]', "has a number y, and an x unless"),
    ('x = "stream"\ny = "array_erases"\npoints = [{ x = 1, z = 2 }]', 'unknown key of a point'),
    ('x = "stream"\ny = "read_response_mean_ns"', "nothing is done that it shows"),
])
def test_invalid_figures_are_refused(finished_study: Path, tmp_path: Path, text: str,
                                     sentence: str) -> None:
    path = write_study(tmp_path, SMALL[:SMALL.index("[[figure]]")] + f"[[figure]]\n{text}\n")
    said = run_program(STUDY, "figure", path, "--out", finished_study.with_suffix(".results"))
    assert said.code in (1, 2) and sentence in said.err, said
    assert said.err.count("\n") == 1
    assert not list(tmp_path.glob("*.svg"))


def test_a_page_shows_the_numbers_of_the_study(finished_study: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run_study("report", finished_study, "--output", page)
    text = page.read_text()
    row = next(row for row in read_study_table("table", finished_study) if row["policy"] == "vth_b")
    assert f"{row['write_response_mean_ns_ratio']:.3f}" in text
    assert "write response, mean: vth_b has from" in text
    assert "times that of baseline" in unescape(text)
    assert text.count('<svg role="img"') == 1 and "runs of 64, vth_b: " in text
    assert "://" not in text, "nothing from elsewhere"


def test_a_report_includes_a_study(finished_study: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = run_program(PROGRAM, "report", finished_study.with_suffix(".results"), "-O", page)
    assert (told.code, told.err) == (0, ""), told
    assert "results of a study in" in told.out
    text = page.read_text()
    for row in read_study_table("table", finished_study):
        ratio = row["write_response_mean_ns_ratio"]
        if ratio:
            assert (f"{ratio:.3f} [{row['write_response_mean_ns_ratio_low']:.3f}, "
                    f"{row['write_response_mean_ns_ratio_high']:.3f}]") in text


# ---------------------------------------------------------------- archives


def test_archives_are_reproducible(finished_study: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run_study("pack", finished_study, "--output", tmp_path / name)
    with tarfile.open(tmp_path / "one") as one, tarfile.open(tmp_path / "two") as two:
        assert one.getnames() == two.getnames()
        for name in one.getnames():
            if name != "provenance.json":
                assert (study_pack.read_tar_member(one, name)
                        == study_pack.read_tar_member(two, name))
        assert {member.mtime for member in one.getmembers()} == {0}


def test_an_archive_runs_without_its_sources(tmp_path: Path) -> None:
    """The archive contains the trace; the study can be run from it without its sources."""
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run([PROGRAM, "sim", "-q", "--requests=700", f"--record={tmp_path}/a.aft"],
                   check=True)
    path = write_study(home, 'study = 1\n[base]\ntrace = "../a.aft"\n[vary]\n'
                       'policy = ["baseline", "vth_b"]\n')
    run_study("run", path)
    run_study("pack", path, "--output", tmp_path / "archive")
    (tmp_path / "a.aft").unlink()
    home.rename(tmp_path / "gone")
    said = run_study("verify", tmp_path / "archive").out
    assert "2 points of approxftl" in said and "0 differ" in said and "the same build" in said


def copy_archive_with_changed_member(archive: Path, target: Path, name: str, change: Any) -> Path:
    """Copy an archive with one member changed."""
    with tarfile.open(archive) as old, tarfile.open(target, "w:gz") as new:
        for member in old.getmembers():
            data = study_pack.read_tar_member(old, member.name)
            study_pack.add_tar_member(new, member.name,
                                      change(data) if member.name == name else data)
    return target


def test_a_changed_result_fails_verification(finished_study: Path, tmp_path: Path) -> None:
    run_study("pack", finished_study, "--output", tmp_path / "archive")
    changed = copy_archive_with_changed_member(tmp_path / "archive", tmp_path / "changed",
                                               "results/3.json",
                                               lambda data: data.replace(b'"seed": ', b'"seed": 1',
                                                                         1))
    said = run_study("verify", changed, code=4).out
    assert "1 differ" in said and "comes out otherwise" in said


@pytest.mark.parametrize(("name", "change", "sentence"), [
    ("provenance.json", lambda data: b"[]", "no archive of a study"),
    ("provenance.json", lambda data: data.replace(b'"study_archive": 1', b'"study_archive": 2'),
     "archive of version 2"),
    ("provenance.json", lambda data: data.replace(b'"seeds": 4', b'"seeds": 9999999999999'),
     "leave"),
    ("study.toml", lambda data: data.replace(b"[base]", b'[base]\njson = "x"'),
     '"json" is not for a study'),
    ("study.toml", lambda data: data.replace(b"[base]", b'[base]\ntrace = "/etc/passwd"'),
     '"/etc/passwd" is not in the archive'),
    ("study.toml", lambda data: data.replace(b', "vth_b"]', b"]"), "results of other points"),
])
def test_malformed_archives_are_refused(finished_study: Path, tmp_path: Path, name: str,
                                        change: Any, sentence: str) -> None:
    run_study("pack", finished_study, "--output", tmp_path / "archive")
    changed = copy_archive_with_changed_member(tmp_path / "archive", tmp_path / "changed", name,
                                               change)
    said = run_program(STUDY, "verify", changed)
    if sentence == "leave":
        assert said.code != 0
    else:
        assert said.code in (1, 2, 3) and sentence in said.err, said
    assert "Traceback" not in said.err


def test_a_missing_archive_is_reported(tmp_path: Path) -> None:
    assert run_study("verify", tmp_path / "gone", code=3).err.count("\n") == 1
    (tmp_path / "text").write_text("no archive")
    assert "no archive of a study" in run_study("verify", tmp_path / "text", code=1).err


@pytest.mark.slow
def test_another_build_reproduces_an_archive(finished_study: Path, tmp_path: Path) -> None:
    """A simulator built by clang without optimisation reproduces the runs of an archive."""
    run_study("pack", finished_study, "--output", tmp_path / "archive")
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MFLAGS")}
    other = BUILD / "determinism/clang/approxftl"
    subprocess.run(["make", "-s", "-j2", f"O={other.parent}", "CC=clang", "OPT=-O0", "WERROR=",
                    other], cwd=TOP, env=environment, check=True, stdout=subprocess.DEVNULL)
    said = run_study("verify", tmp_path / "archive", APPROXFTL=str(other)).out
    assert "another build" in said and "0 differ" in said


# ---------------------------------------------------------------- scale


#: The number of points; 10000 take a minute of processor time.
POINTS = int(os.environ.get("AFTL_STUDY_POINTS", "600"))


def measure_processor_time_s(command: Sequence[str | Path], environment: dict[str, str],
                             times: int = 1) -> float:
    """Return the processor time of a command and its children, in seconds."""
    begun = os.times()
    for _ in range(times):
        subprocess.run(command, env=os.environ | environment, check=True,
                       stdout=subprocess.DEVNULL)
    ended = os.times()
    return ended.children_user + ended.children_system - (
        begun.children_user + begun.children_system)


@pytest.mark.long
@pytest.mark.slow
def test_many_points_resume_after_a_kill(tmp_path: Path) -> None:
    """A resumed study repeats no run (point), and the overhead of each is small.

    With 10000 points or more, a point must cost less than five starts of a program; with fewer, the
    measurement is less certain and the limit is ten.
    """
    # A simulator that takes no time, so that only the study's own time is measured.
    folder = tmp_path
    result = subprocess.run([PROGRAM, "sim", "--requests=10", "--json=-", "-q"],
                            capture_output=True, text=True, check=True).stdout
    program = folder / "approxftl"
    program.write_text(f"#!/bin/sh\necho >>{folder}/calls\ncase \"$*\" in *dry-run*) ;;\n"
                       f"*) printf '%s' '{result}' ;;\nesac\n")
    program.chmod(0o755)
    path = write_study(tmp_path, f"study = 1\nseeds = {POINTS}\n[vary]\npolicy = ['baseline']\n")
    command = [sys.executable, "-m", "approxftl_tools.study", "run", str(path), "--jobs", "2"]
    environment = {"APPROXFTL": str(program), "PYTHONPATH": str(TOP / "trace-tools")}
    driver = subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL)
    results = path.with_suffix(".results")
    await_true(lambda: len(list(results.glob("*/result.json"))) >= POINTS // 6, driver)
    driver.kill()
    driver.wait()
    known = {one: one.stat().st_mtime_ns for one in results.glob("*/result.json")}
    assert POINTS // 6 <= len(known) < POINTS
    (tmp_path / "calls").unlink()
    run_rest = measure_processor_time_s(command, environment)
    assert {one: one.stat().st_mtime_ns for one in known} == known
    assert len(list(results.glob("*/result.json"))) == POINTS
    calls = (tmp_path / "calls").read_text().count("\n")
    # Plus two checks of the options, and two jobs of the first driver that outlived it.
    assert POINTS - len(known) <= calls <= POINTS - len(known) + 2 + 2
    # Subtract the cost of a study with nothing to run, and the cost of the stand-in.
    done = measure_processor_time_s(command, environment)
    read = (done - measure_processor_time_s([*command[:3], "run", "--help"], environment)) / POINTS
    start = measure_processor_time_s([program], environment, 100) / 100
    each = (run_rest - done) / calls - start + read
    print(f"# {calls} of {POINTS} points took {1000 * each:.2f} ms each, to be read "
          f"{1000 * read:.2f}, to start the stand-in {1000 * start:.2f}")
    assert read < each < (5 if POINTS >= 10000 else 10) * start


def test_a_job_array_writes_results(tmp_path: Path) -> None:
    """Run the job script directly, with the environment that Slurm would set."""
    path = write_study(tmp_path)
    queue = tmp_path / "job.sh"
    run_study("export", path, "--slurm", queue, "--chunk", "5", "--time", "0:10:00")
    text = queue.read_text()
    assert "#SBATCH --array=0-3\n" in text and "#SBATCH --time=0:10:00\n" in text
    assert len((tmp_path / "job.sh.manifest").read_text().splitlines()) == 16
    environment = {"PATH": f"{BUILD}:{os.environ['PATH']}", "SLURM_ARRAY_JOB_ID": "7"}
    for task in range(4):
        done = run_program("sh", queue,
                           environment=environment | {"SLURM_ARRAY_TASK_ID": str(task)})
        assert (done.code, done.err) == (0, ""), done
    assert "16 done, 0 failed, 0 missing" in run_study("status", path).out


def test_a_terminated_job_is_queued_again(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL.replace("requests = 1500", "requests = 30000000"))
    queue = tmp_path / "job.sh"
    run_study("export", path, "--slurm", queue)
    (tmp_path / "scontrol").write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/told\n')
    (tmp_path / "scontrol").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{BUILD}:{os.environ['PATH']}",
                                "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0"}
    job = subprocess.Popen(["sh", queue], env=environment, stdout=subprocess.DEVNULL)
    results = path.with_suffix(".results")
    await_true(lambda: list(results.glob("*/.approxftl-*")))
    job.terminate()
    assert job.wait() == 0
    assert (tmp_path / "told").read_text() == "requeue 7_0\n"
    assert not list(results.glob("*/result.json"))


def test_an_unknown_reference_run_is_refused(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL.replace('= "baseline"\n[base]', '= "baselin"\n[base]'))
    said = run_study("run", path, "--out", tmp_path / "results", code=2)
    assert 'relative_to: no run has "baselin"; did you mean baseline?' in said.err
    assert not (tmp_path / "results").exists()


def test_the_reference_of_a_figure_may_be_a_value_of_any_axis(tmp_path: Path) -> None:
    """relative_to may name a value of any axis: workloads are compared for each policy."""
    path = write_study(tmp_path, SMALL.replace('= "baseline"\n[base]', '= "few"\n[base]').replace(
        "seeds = 4", "seeds = 2"))
    rows = json.loads(run_study("run", path, "--json", "--measures",
                                "write_response_mean_ns").out)["rows"]
    found = {(row["policy"], row["stream"]): row["write_response_mean_ns_ratio"] for row in rows}
    assert found["baseline", "few"] is found["vth_b", "few"] is None
    assert found["vth_b", "runs of 64"] < found["baseline", "runs of 64"]
    assert found["baseline", "runs of 64"] == pytest.approx(1, abs=.1)


def test_no_output_destroys_an_input(finished_study: Path, tmp_path: Path) -> None:
    path = write_study(tmp_path)
    results = finished_study.with_suffix(".results")
    for verb in ("pack", "report"):
        said = run_study(verb, path, "--out", results, "--output", path, code=1).err
        assert "is also read" in said
    assert path.read_text() == SMALL


def test_each_group_of_runs_is_compared_with_its_own_reference(finished_study: Path) -> None:
    plan = study_plan.read_study(finished_study, PROGRAM)
    store = Store(finished_study.with_suffix(".results"))
    groups = study_table.group_points_ignoring_seed(plan, store)
    for group in groups:
        base = study_table.find_group_with_reference_value(group, groups,
                                                           study_plan.Yardstick("baseline"))
        assert base is not None
        assert base.varied == group.varied | {"policy": "baseline"}
