# SPDX-License-Identifier: GPL-2.0-only
"""Calibration finds the hidden parameters of analytic, of simulated and of real drives."""

import json
import os
import signal
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.json_schema import parse_document
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD, TOP, run_program
from selftests.study.analytic_drive import AnalyticBench
from selftests.study.fio_documents import (
    make_fio_document,
    make_fio_job,
    make_job_section,
    write_fitted_and_predicted_fio_loads,
)
from selftests.study.hidden_drive import Hidden, simulate_fio_jobs
from selftests.study.stepped_drive import measure_device_with_jobs

from approxftl_tools.bench import Bench
from approxftl_tools.calibrate_model import Model, Trial
from approxftl_tools.calibrate_search import (
    ONE_SHOT_STRIPE,
    PATHS,
    STRIPES,
    Found,
    find_drive_model,
)
from approxftl_tools.command import Refusal
from approxftl_tools.fio_output import Output, State, read_fio_files
from approxftl_tools.study_store import Store

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
#: fio's job files, in the order in which a drive runs them; the second one only reads.
JOB_FILES = tuple(TOP / f"fio-profiles/calibrate-{name}.fio"
                  for name in ("fill", "reads", "writes", "rewrites"))
READS = JOB_FILES[1]
Json = dict[str, Any]

#: Dies, stripe, one-shot programming, and parameters; only "read" means equal page times.
DRIVES = {
    "one-shot": Model(16, 32768, True, {
        "controller": 8000, "read_first": 50000, "read": 60000, "read_last": 80000, "bus": 1200,
        "link": 3000, "link_command": 1000, "program": 1500000, "buffer": 8 << 20, "op": 15}),
    "page-by-page": Model(32, 16384, False, {
        "controller": 5000, "read": 45000, "bus": 800, "link": 6000, "link_command": 600,
        "program": 700000, "buffer": 32 << 20, "op": 28}),
    "twelve-dies": Model(12, 65536, False, {
        "controller": 12000, "read": 80000, "bus": 1000, "link": 2000, "link_command": 3000,
        "program": 2000000, "buffer": 4 << 20, "op": 9}),
    "many-dies": Model(64, 16384, True, {
        "controller": 3000, "read": 50000, "bus": 1600, "link": 6500, "link_command": 900,
        "program": 1200000, "buffer": 64 << 20, "op": 20}),
}


@pytest.mark.parametrize("one_shot", [False, True])
@pytest.mark.parametrize("stripe", STRIPES)
def test_simulator_accepts_geometries_that_the_search_tries(stripe: int, one_shot: bool) -> None:
    """The search limits stripes with one-shot programming to the size that the simulator allows."""
    model = replace(DRIVES["one-shot"], stripe=stripe, one_shot=one_shot)
    done = run_program(BUILD / "approxftl", "sim", *model.make_simulated_device_options(1 << 30),
                       "--fill=none",
                       "--requests=0", "--quiet")
    assert (done.code == 0) == (not one_shot or stripe <= ONE_SHOT_STRIPE), done.err


def make_hidden_drive(model: Model) -> Hidden:
    """Return a simulated drive of a model, large enough for bursts, with a seed of its own."""
    least = max(8 << 29, model.min_device_bytes_for_gc())
    return Hidden((*model.make_simulated_device_options(least), "--seed=77"),
                  model.estimate_device_capacity(least))


def calibrate_analytic_drive(model: Model, folder: Path, jobs: tuple[Path, ...],
                             seed: int) -> Found:
    """Return parameters found for a drive that formulas describe, measured with 1 % of error."""
    bench = AnalyticBench()
    output = read_fio_files(simulate_fio_jobs(make_hidden_drive(model), jobs, folder, bench, 0.01,
                                              seed))
    return find_drive_model(Trial(bench, output.capacity, tuple(output.loads)), lambda _: None)


def list_true_parameters(model: Model) -> dict[str, float]:
    return {"dies": model.dies, "stripe": model.stripe, "one_shot": model.one_shot, **model.values}


# ---------------------------------------------------------------- by formulas


@pytest.mark.parametrize("name", DRIVES)
def test_intervals_contain_the_true_values(name: str, tmp_path: Path) -> None:
    """The 95 % intervals contain the true values often enough, and are narrow."""
    hidden = list_true_parameters(DRIVES[name])
    hits: list[bool] = []
    widths: list[float] = []
    for seed in range(4):
        found = calibrate_analytic_drive(DRIVES[name], tmp_path, JOB_FILES, seed)
        for known in found.known:
            if known.is_parameter_determined and known.name in hidden:
                low, high = known.low * (1 - 1e-9), known.high * (1 + 1e-9)
                hits.append(low <= hidden[known.name] <= high)
                widths.append(high / max(low, 1e-9) if low else 1.0)
    assert len(hits) >= 4 * 9
    assert statistics.mean(hits) > 0.95
    assert statistics.median(widths) < 1.2


def test_with_few_dies_the_command_time_is_undetermined(tmp_path: Path) -> None:
    """Where few dies limit all loads, the command time cannot be determined; the report says so."""
    drive = replace(DRIVES["one-shot"], dies=6)
    hidden = list_true_parameters(drive)
    for seed in range(2):
        found = calibrate_analytic_drive(drive, tmp_path, JOB_FILES, seed)
        known = {one.name: one for one in found.known}
        assert not known["link_command"].is_parameter_determined
        assert not known["controller"].is_parameter_determined or \
            known["controller"].low <= hidden["controller"] <= known["controller"].high


def test_reads_alone_determine_read_parameters_only(tmp_path: Path) -> None:
    found = calibrate_analytic_drive(DRIVES["one-shot"], tmp_path, (READS,), 1)
    told = {known.name for known in found.known if known.is_parameter_determined}
    assert {"dies", "stripe", "one_shot", "read", "link"} <= told
    assert told.isdisjoint({"program", "buffer", "op"})
    assert all(known.measurements_that_determine_parameter.startswith("assumed; ask")
               for known in found.known
               if known.name in ("program", "buffer", "op"))


def test_a_fill_without_bursts_leaves_the_buffer_undetermined(tmp_path: Path) -> None:
    found = calibrate_analytic_drive(DRIVES["one-shot"], tmp_path, JOB_FILES[:2], 1)
    told = {known.name for known in found.known if known.is_parameter_determined}
    assert "program" in told and "buffer" not in told
    assert {known.name: known.value for known in found.known}["buffer"] == 16 << 20


def test_without_strided_reads_one_shot_programming_is_undetermined(tmp_path: Path) -> None:
    jobs = tmp_path / "random.fio"
    jobs.write_text(READS.read_text().partition("[stride-")[0])
    found = calibrate_analytic_drive(DRIVES["one-shot"], tmp_path, (jobs,), 1)
    assert "one_shot" not in {known.name for known in found.known if known.is_parameter_determined}
    assert {known.name: known.value for known in found.known}["dies"] == 16


def test_noise_makes_intervals_wider(tmp_path: Path) -> None:
    """More measurement noise makes the intervals wider."""
    widths = []
    for noise in (0.01, 0.1):
        bench = AnalyticBench()
        output = read_fio_files(simulate_fio_jobs(make_hidden_drive(DRIVES["one-shot"]),
                                                  JOB_FILES, tmp_path, bench, noise,
                                                  3))
        found = find_drive_model(Trial(bench, output.capacity, tuple(output.loads)), lambda _: None)
        widths.append({known.name: known.high / known.low - 1 for known in found.known
                       if known.name in ("read", "program", "op")})
    assert all(widths[1][name] > 2 * widths[0][name] for name in widths[0])


# ---------------------------------------------------------------- in the simulator


def run_calibrate(*arguments: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([BUILD / "approxftl-calibrate", *arguments], capture_output=True,
                          text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def run_approxftl(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BUILD / "approxftl", *words], capture_output=True, text=True,
                          check=False)


@pytest.mark.long
@pytest.mark.slow
def test_parameters_of_a_simulated_drive_are_recovered(tmp_path: Path) -> None:
    """All parameters of a simulated drive are found from measurements with an error of 1 %."""
    hidden = list_true_parameters(DRIVES["one-shot"])
    bench = Bench(BUILD / "approxftl", 2, Store(tmp_path / "store"))
    paths = simulate_fio_jobs(make_hidden_drive(DRIVES["one-shot"]), JOB_FILES,
                              tmp_path, bench, 0.01)
    out, profile = tmp_path / "found.json", tmp_path / "found.profile"
    run_calibrate(*paths, f"--json={out}", "--output", profile)
    found = parse_document(SCHEMA, out.read_text())
    known = {one["name"]: one for one in found["parameters"]}
    for name in ("dies", "stripe", "one_shot"):
        assert (known[name]["low"], known[name]["high"]) == (hidden[name], hidden[name])
    outside = [name for name, one in known.items()
               if one["determined"] and not one["low"] <= hidden[name] <= one["high"]]
    assert len(outside) <= 2, known
    assert all(abs(one["value"] / hidden[name] - 1) < (0.3 if name in PATHS else 0.08)
               for name, one in known.items() if one["determined"]), known
    errors = sorted(abs(figure["error"]) for figure in found["fitted"])
    assert errors[len(errors) // 2] < 0.02
    assert run_approxftl("sim", "--set", f"@{profile}", "--requests", "100").returncode == 0


@pytest.mark.slow
def test_simulated_reads_match_a_drive_that_fio_has_filled(tmp_path: Path) -> None:
    """A drive filled through a queue answers strided reads as simulated if the fill is repeated.

    If the depth of the fill is unknown, the simulated fill puts data on the dies in turn, and reads
    at strides of all dies are simulated too slow.
    """
    model = replace(DRIVES["one-shot"], dies=8)
    paths = measure_device_with_jobs(model, 1 << 30, JOB_FILES[:2], tmp_path)
    output = read_fio_files(paths)
    known = tuple(load for load in output.loads if load.writes == 0)
    unknown = tuple(replace(load, before=State(load.before.filled)) for load in known)
    assert {load.before.fill_depth for load in known} == {32}
    errors = []
    for loads in (known, unknown):
        trial = Trial(Bench(BUILD / "approxftl", 2, Store(tmp_path / "store")), output.capacity,
                      loads)
        errors.append({load.name: ours / figure.value - 1 for load, figure, ours
                       in trial.simulate_all_loads_with_models([model])[0]
                       if figure.what == "mean"})
    assert len(errors[0]) == 19
    assert all(abs(error) < 0.08 for error in errors[0].values()), errors[0]
    assert statistics.median(errors[1][name] for name in errors[1] if "stride" in name) > 0.1


@pytest.mark.slow
def test_simulated_bursts_match_those_of_a_drive_that_ran_the_jobs_in_order(tmp_path: Path) -> None:
    """Bursts and single writes do not depend on earlier bursts, which the fit leaves out."""
    model = replace(DRIVES["one-shot"], dies=8)
    output = read_fio_files(measure_device_with_jobs(model, 1 << 30,
                                                     (JOB_FILES[0], JOB_FILES[2]), tmp_path))
    loads = tuple(load for load in output.loads if load.name.startswith(("burst", "single")))
    assert len(loads) == 6 and loads[-1].before.bursts > 0.05
    trial = Trial(Bench(BUILD / "approxftl", 2, Store(tmp_path / "store")), output.capacity, loads)
    for load, figure, ours in trial.simulate_all_loads_with_models([model])[0]:
        if figure.what in ("rate", "mean"):
            assert ours == pytest.approx(figure.value, rel=0.01), load


@pytest.mark.slow
@pytest.mark.in_turn
def test_half_of_a_drives_measurements_predicts_the_other_half(tmp_path: Path) -> None:
    """Half of the ZN540's 18 read loads predict the other half.

    Only percentiles at 128 reads of 8 KiB in flight are predicted wrong: there the drive schedules
    waiting reads more evenly than the model.
    """
    fitted, against = write_fitted_and_predicted_fio_loads("wd-zn540", ("read-grid",), tmp_path)
    out = tmp_path / "found.json"
    run_calibrate(fitted, "--against", against, f"--json={out}")
    found = parse_document(SCHEMA, out.read_text())
    known = {one["name"]: one for one in found["parameters"]}
    assert {name for name, one in known.items() if not one["determined"]} >= {
        "one_shot", "program", "buffer", "op"}
    assert 20 <= known["dies"]["value"] <= 32
    unseen = found["against"]
    assert {figure["file"] for figure in unseen} == {str(against)}
    for measure_, band in (("mean", 0.05), ("p50", 0.05), ("p90", 0.10), ("p99", 0.15)):
        errors = [abs(figure["error"]) for figure in unseen if figure["measure"] == measure_]
        assert len(errors) == 9
        assert sum(error > band for error in errors) <= 1, (measure_, unseen)


# ---------------------------------------------------------------- the command


def make_fio_output_of_single_reads(**changed: Any) -> Json:
    """Return fio's output for random reads at queue depth 1."""
    found = make_fio_job("lone", 0, {"rw": "randread"}, "read",
                         make_job_section(1e4, 4096, {"mean": 100.0, "p50": 99.0, "p90": 110.0}))
    return make_fio_document([{**found, **changed}])


def write_fio_output(folder: Path, content: Json | str) -> Path:
    path = folder / "fio.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_single_reads_determine_the_read_time(tmp_path: Path) -> None:
    said = run_calibrate(write_fio_output(tmp_path, make_fio_output_of_single_reads())).stdout
    assert [line.split()[0] for line in said.splitlines() if "not determined" in line] >= ["dies"]
    assert "lone  read mean, us" in said
    profile = tmp_path / "own.profile"
    run_calibrate(write_fio_output(tmp_path, make_fio_output_of_single_reads()), "--output",
                  profile)
    text = profile.read_text()
    assert "\n# Not determined:\n" in text and "\nprogram=" in text.partition("# Not")[2]
    for words in (("sim", "--requests", "10"), ("create", "ssd", "--policy", "baseline",
                                               "--dry-run")):
        done = run_approxftl(*words, "--set", f"@{profile}")
        assert done.returncode == 0, done.stderr
    assert run_calibrate(write_fio_output(tmp_path, make_fio_output_of_single_reads()), "--output",
                         "-").stdout == text


def test_warnings_of_fio_are_skipped(tmp_path: Path) -> None:
    text = f"fio: a warning\n{json.dumps(make_fio_output_of_single_reads())}\nfio: another\n"
    plain = read_fio_files([write_fio_output(tmp_path, make_fio_output_of_single_reads())])
    assert read_fio_files([write_fio_output(tmp_path, text)]).loads == plain.loads


DIRECT = {"rw": "randread", "ioengine": "libaio"}
REFUSALS: list[tuple[Json | str, str]] = [
    ("", "no JSON"), ("fio: 4k=1\n", "no JSON"),
                                          (json.dumps(make_fio_output_of_single_reads())[:-40],
                                           "was fio interrupted?"),
    ('{"a": 1}', "JSON, but not fio's"), ('{"fio version": "fio-3.33"}', "JSON, but not fio's"),
    (f'{{"n": {"9" * 5000}}}', "no whole JSON"), (make_fio_document([]), "they have no jobs"),
    (make_fio_output_of_single_reads(**{"job options": DIRECT}), "direct=1 is missing"),
    (make_fio_output_of_single_reads(error=5), "ended with error 5"),
                                          (make_fio_output_of_single_reads(groupid="x"),
                                           "not as its program writes it"),
    (make_fio_output_of_single_reads(read={"total_ios": float("nan")}),
     "not as its program writes it"),
    (make_fio_output_of_single_reads(read={**make_job_section(1e4, 4096), "iops": float("inf")}),
     "not as its program writes it"),
    (make_fio_output_of_single_reads(read={**make_job_section(1e4, 4096), "iops": -1.0}),
     "not as its program writes it"),
    (make_fio_output_of_single_reads(read={**make_job_section(1e4, 4096), "total_ios": 10**30}),
     "not as its program writes it"),
    (make_fio_output_of_single_reads(read=make_job_section(0.0, 0)), "has done nothing"),
    *((make_fio_output_of_single_reads(**{"job options": {**DIRECT, "direct": "1", **options}}),
       why) for options, why in (({"bssplit": "4k/50:64k/50"}, "several lengths"),
                                 ({"bs": "4k,8k"}, "several lengths"),
                                 ({"bs": "512"}, "requests of 512 bytes"),
                                 ({"bs": "0"}, "requests of 0 bytes"),
                                 ({"bs": "9" * 4000 + "k"}, "requests of"),
                                 ({"iodepth": "0"}, "that many requests"),
                                 ({"iodepth": "-1"}, "that many requests"),
                                 ({"numjobs": "99999"}, "that many requests"),
                                 ({"iodepth": "many"}, "not as its program writes it"),
                                 ({"thinktime": "1s"}, "pauses between requests"),
                                 ({"rw": "trim"}, "rw=trim"), ({"rw": "read"}, "read-ahead"),
                                 ({"rw": "read:1k"}, "its stride"),
                                 ({"rw": "write:4k"}, "holes between"),
                                 ({"rw": "rw"}, "reads between writes"))),
]


@pytest.mark.parametrize(("content", "why"), REFUSALS, ids=range(len(REFUSALS)))
def test_messages_of_refusals_are_one_line(tmp_path: Path, content: Json | str, why: str) -> None:
    said = run_calibrate(write_fio_output(tmp_path, content), status=1)
    assert why in said.stderr and said.stderr.count("\n") == 1 and not said.stdout
    assert said.stderr.startswith("approxftl calibrate: ")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert "cannot read" in run_calibrate(tmp_path / "none.json", status=3).stderr
    for capacity in ("many", "0", "-1", "nan", "1e9"):
        assert "is no capacity" in run_calibrate("x", "--capacity", capacity, status=2).stderr


def test_rewrites_of_a_drive_of_unknown_capacity_are_refused(tmp_path: Path) -> None:
    rewrites = make_fio_document([make_fio_job("age", 0, {"rw": "randwrite"}, "write",
                                               make_job_section(1e4, 4096, {"mean": 100.0}))])
    path = write_fio_output(tmp_path, rewrites)
    assert [one.why for one in read_fio_files([path]).unused] == [
        "how full the drive was is not known: give the output of the job that filled it, or "
        "--capacity"]
    assert len(read_fio_files([path], 10**12).loads) == 1


@pytest.mark.parametrize(("share", "rw", "used"), [
    (0.01, "write", True), (0.1, "write", False), (0.1, "randwrite", False), (0.0, "write", True)])
def test_strided_reads_after_writes_that_moved_data_are_left_out(share: float, rw: str, used: bool,
                                                                 tmp_path: Path) -> None:
    """The fit repeats the fill only, so reads must not show what later writes have moved."""
    capacity = 10**9 // (128 << 10) * (128 << 10)

    def make_writes(name: str, group: int, rw: str, written: float) -> Json:
        section = {**make_job_section(1e4, 128 << 10, {"mean": 100.0}), "io_bytes": int(written)}
        bound = {"number_ios": "800"} if group else {}
        return make_fio_job(name, group, {"rw": rw, "bs": "128k", **bound}, "write", section)
    reads = make_job_section(1e5, 4096, {"mean": 100.0})
    jobs = [make_writes("fill", 0, "write", capacity),
            make_writes("burst", 1, rw, share * capacity),
            make_fio_job("stride", 2, {"rw": "read:60k", "bs": "4k"}, "read", reads),
            make_fio_job("anywhere", 3, {"rw": "randread", "bs": "4k"}, "read", reads)]
    output = read_fio_files([write_fio_output(tmp_path, make_fio_document(jobs))])
    assert "anywhere" in [load.name for load in output.loads]
    assert ("stride" in [load.name for load in output.loads]) == used
    assert [one.why.startswith("writes after the fill have moved data") for one in output.unused
            if one.name == "stride"] == [True] * (not used)


def list_paths_in_document(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a document, as tuples of keys."""
    inner = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, one in inner for path in list_paths_in_document(one, (*at, key)))]


WHOLE = make_fio_document([*make_fio_output_of_single_reads()["jobs"],
                           make_fio_job("fill", 1, {"rw": "write", "bs": "128k"}, "write",
                                        make_job_section(1e4, 1 << 17)),
                           make_fio_job("beside", 2, {"rw": "randread"}, "read",
                                        make_job_section(1e3, 4096)),
                           make_fio_job("writer", 2, {"rw": "write", "rate_iops": "80"}, "write",
                                        make_job_section(80, 4096))])
ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | \
    st.sampled_from(["4k", "-1", "0", "9" * 400, [], {}, "randrw", "write:4k"])


def copy_document_with_change(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a document with another value at a given path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = copy_document_with_change(copy[path[0]], path[1:], new)
    return copy


@settings(max_examples=200)
@given(st.sampled_from(list_paths_in_document(WHOLE)[1:]), ODD, st.none() | st.integers(0, 4000))
def test_mutated_fio_output_is_read_or_refused(
        tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], new: Any,
        cut: int | None) -> None:
    file = write_fio_output(tmp_path_factory.getbasetemp(),
                            json.dumps(copy_document_with_change(WHOLE, path, new))[:cut])
    try:
        output: Output = read_fio_files([file])
    except Refusal as refusal:
        assert str(refusal).count("\n") == 0
        return
    for load in output.loads:
        assert load.size % 4096 == 0 and load.size > 0 and load.depth > 0
        assert load.figures and all(0 < figure.value < 1e18 for figure in load.figures)


def test_output_of_a_real_fio_is_read(tmp_path: Path) -> None:
    """Run the shipped job file with fio itself on a file; the measured times do not matter."""
    out = tmp_path / "reads.json"
    with (BUILD / "calibrate.file").open("wb") as target:
        target.truncate(1 << 22)
    try:
        subprocess.run(["fio", "--output-format=json", "--eta=never", f"--output={out}", READS],
                       env=os.environ | {"TARGET": target.name, "SIZE": "4m"}, check=True,
                       cwd=tmp_path)
    finally:
        Path(target.name).unlink()
    output = read_fio_files([out])
    assert not output.unused
    loads = {load.name: load for load in output.loads}
    assert loads["stride-1m"].stride == 1 << 20 and loads["random-128k-32"].depth == 32
    assert loads["random-16k-1"].size == 16384
    assert {figure.what for figure in loads["random-4k-16"].figures} >= {"rate", "mean", "p50"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_calibration_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    fitted, _ = write_fitted_and_predicted_fio_loads("wd-zn540", ("read-grid",), tmp_path)
    process = subprocess.Popen(
        ["env", "--default-signal=INT,TERM", BUILD / "approxftl-calibrate", fitted, "--progress",
         "--json=out.json"], cwd=tmp_path, env=os.environ | {"TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "single reads" in process.stderr.readline()
    await_true(lambda: any(tmp_path.glob("approxftl-calibrate-*/*")))
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.endswith("approxftl calibrate: interrupted\n")
    assert {path.name for path in tmp_path.iterdir()} == {"fitted.json", "against.json"}
