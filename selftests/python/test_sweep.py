# SPDX-License-Identifier: GPL-2.0-only
"""sweep() gives the runs of the command line, with confidence intervals over their seeds."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selftests.lib.programs import PROGRAM, TOP, run_program

import approxftl as aftl
from approxftl_tools.statistics import estimate_mean, estimate_paired_ratio

BASE: dict[str, Any] = {"profile": "demo", "blocks": 64, "requests": 30000, "write_share": 1.0,
                        "workload": "zipf"}


@pytest.fixture(scope="module")
def sweep_results() -> aftl.Runs:
    return aftl.sweep(policy=["baseline", "approxftl"], op=[30, 40], seeds=3, jobs=2,
                      approx_share=0.5, **BASE)


def test_runs_of_a_sweep_equal_single_simulations(sweep_results: aftl.Runs) -> None:
    assert len(sweep_results) == 12
    assert sweep_results.axes == {"policy": ["baseline", "approxftl"], "op": [30, 40],
                                  "seed": [1, 2, 3]}
    for run in sweep_results:
        assert run.json == aftl.simulate(**run.options).json
    order = [(row["policy"], row["op"], row["seed"]) for row in sweep_results.rows()]
    assert order == [(p, o, s) for p in ("baseline", "approxftl") for o in (30, 40)
                     for s in (1, 2, 3)]


def list_summary_values_of_runs(runs: aftl.Runs, policy: str, op: int, name: str) -> list[float]:
    return [run.summary[name] or 0 for run in runs
            if run.options["policy"] == policy and run.options["op"] == op]


def test_means_and_paired_ratios_have_intervals(sweep_results: aftl.Runs) -> None:
    name = "write_response_mean_ns"
    found = sweep_results.interval("write_mean", by="policy", relative_to="baseline")
    assert (found["baseline"].mean, found["baseline"].half) == (1, 0)
    each = [np.array(list_summary_values_of_runs(sweep_results, "approxftl", op, name))
            / list_summary_values_of_runs(sweep_results, "baseline", op, name) for op in (30, 40)]
    assert found["approxftl"] == estimate_mean(np.mean(each, axis=0))
    plain = aftl.Runs({**sweep_results.axes, "op": [30]},
                      [run for run in sweep_results if run.options["op"] == 30])
    name = "write_amplification"
    base, other = (list_summary_values_of_runs(plain, policy, 30, name)
                   for policy in ("baseline", "approxftl"))
    assert plain.interval(name, by="policy")["baseline"] == estimate_mean(base)
    ratio = plain.interval(name, by="policy", relative_to="baseline")["approxftl"]
    assert ratio == estimate_paired_ratio(other, base)


def my_generator() -> Iterator[tuple[int, str, int, int]]:
    for i in range(2000):
        yield 100000 * i, ("write", "read")[i % 2], 4096 * (i % 700), 4096


def test_calls_from_the_introduction_of_the_library_run() -> None:
    run = aftl.simulate(profile="demo", policy="baseline", op="7%", requests=my_generator, seed=1)
    run.summary["write_amplification"]; run.requests.to_pandas()  # noqa: E702
    assert run.result == aftl.simulate(profile="demo", policy="baseline", op="7%",
                                       requests=my_generator(), seed=1).result
    emptiest = aftl.Policy(select_victim=lambda blocks: blocks.valid.argmin())
    runs = aftl.sweep(policy=["baseline", emptiest], op=["10%", "20%"], seeds=8, jobs=2)
    runs.interval("write_p99", by="policy", relative_to="baseline")
    assert runs.plot("write_amplification", x="op")._repr_svg_().startswith("<svg")
    dev = aftl.Device(profile="demo", fill="none")
    lpn, n, ns = 5, 3, 10**9
    dev.write(lpn, n); dev.advance(ns); dev.blocks()  # noqa: E702
    assert (dev.blocks()["valid"].sum(), dev.now_ns > ns) == (n, True)


def test_old_names_of_devices_are_accepted_with_a_warning(tmp_path: Path) -> None:
    for arguments in ((tmp_path,), (None,)):
        with pytest.warns(DeprecationWarning, match="MountedDevice"):
            assert isinstance(aftl.Device(*arguments), aftl.MountedDevice)
    with pytest.warns(DeprecationWarning, match="MountedDevice"):
        assert isinstance(aftl.Device(require=False), aftl.MountedDevice)
    with pytest.warns(DeprecationWarning, match=r"now approxftl\.Device"):
        assert getattr(aftl, "SimulatedDevice") is aftl.Device  # noqa: B009 # has no type


def test_invalid_arguments_of_sweep_and_its_method_interval_are_refused(
        sweep_results: aftl.Runs) -> None:
    for measure, by, base, said in (("write_p99", "size", None, "no axis"),
                                    ("write_p99", "op", 7, "7 is no value of op"),
                                    ("read_p99", "op", None, "no value in some runs")):
        with pytest.raises(ValueError, match=said):
            sweep_results.interval(measure, by=by, relative_to=base)
    with pytest.raises(KeyError, match="no measure"):
        sweep_results.interval("beauty", by="op")
    with pytest.raises(aftl.OptionError, match="seeds"):
        aftl.sweep(seed=5, **BASE)
    with pytest.raises(aftl.OptionError, match="empty"):
        aftl.sweep(op=[], **BASE)


def read_chart_rows(chart: aftl.Chart) -> list[tuple[Any, ...]]:
    return [(row[2], row[1], row[3], row[4], row[5], row[6])
            for row in chart.figure.plot.csv_rows()]


def test_a_figure_of_a_sweep_shows_the_intervals(sweep_results: aftl.Runs, tmp_path: Path) -> None:
    chart = sweep_results.plot("write_mean", "op", by="policy", relative_to="baseline")
    expected = []
    for op in (30, 40):
        part = aftl.Runs({**sweep_results.axes, "op": [op]},
                         [run for run in sweep_results if run.options["op"] == op])
        found = part.interval("write_mean", by="policy", relative_to="baseline")
        expected += [(op, policy, one.mean, one.low, one.high, 3) for policy, one in found.items()]
    assert read_chart_rows(chart) == expected
    # Without `by` the figure has a series for each policy, and not the mean of the policies.
    assert read_chart_rows(sweep_results.plot("write_mean", "op",
                                              relative_to="baseline")) == expected
    means = sweep_results.interval("write_p99", by="policy")
    plain = sweep_results.plot("write_p99", "policy")
    assert [row[2] * 1e6 for row in read_chart_rows(plain)] == pytest.approx(
        [means[policy].mean for policy in ("baseline", "approxftl")])
    assert "ms" in plain._repr_svg_()
    for name in ("a.svg", "a.pdf", "a.png", "a.csv"):
        chart.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    assert (tmp_path / "a.svg").read_text() == chart._repr_svg_()
    with pytest.raises(ValueError, match=r"does not end in \.svg, \.pdf, \.png or \.csv"):
        chart.save(tmp_path / "a.jpeg")
    for x, by in (("size", None), ("op", "op"), ("op", "size")):
        with pytest.raises(ValueError, match="no axis"):
            sweep_results.plot("write_p99", x, by=by)


def test_an_error_ends_a_sweep() -> None:
    with pytest.raises(aftl.OptionError, match='unknown policy "none"'):
        aftl.sweep(policy=["none", "baseline"], seeds=2, jobs=2, **{**BASE, "requests": 10**12})


INTERRUPTED = """
import os, signal, threading
import approxftl as aftl
# A shell's background jobs, such as a check under nohup, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    aftl.sweep(profile="demo", depth=[1, 2], requests=10**12, seeds=2, jobs=2)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_stops_a_sweep() -> None:
    done = run_program(sys.executable, "-c", INTERRUPTED,
                       environment={"PYTHONPATH": os.pathsep.join(
                           str(TOP / folder) for folder in ("userspace/python", "trace-tools"))})
    assert (done.out, done.code) == ("interrupted\n", 0), done.err


def test_ctrl_c_while_a_sweep_starts_its_runs_ends_the_sweep(
        monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ThreadPoolExecutor.submit
    submitted: list[object] = []

    def submit_or_interrupt(pool: ThreadPoolExecutor, *arguments: Any) -> object:
        if len(submitted) == 2:
            raise KeyboardInterrupt
        submitted.append(submit(pool, *arguments))
        return submitted[-1]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_or_interrupt)
    with pytest.raises(KeyboardInterrupt):
        aftl.sweep(profile="demo", depth=[1, 2], requests=10**12, seeds=2, jobs=2)
    assert len(submitted) == 2


def list_run_results(runs: aftl.Runs) -> list[Any]:
    return [run.result for run in runs]


def test_an_interrupted_sweep_continues_from_its_kept_results(
        sweep_results: aftl.Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    told: list[tuple[int, int]] = []

    def record_progress_or_interrupt(done: int, of: int) -> None:
        told.append((done, of))
        if len(told) == 3:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"policy": ["baseline", "approxftl"], "op": [30, 40], "seeds": 3,
                               "jobs": 2, "approx_share": 0.5, "results": tmp_path, **BASE}
    with pytest.raises(KeyboardInterrupt):
        aftl.sweep(progress=record_progress_or_interrupt, **options)
    assert told == [(1, 12), (2, 12), (3, 12)]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/result.json")}
    assert 2 <= len(kept) < 12
    runs = aftl.sweep(progress=lambda *counts: told.append(counts), **options)
    assert told[-1] == (12, 12)
    assert len(told) - 3 == 12 - len(kept)
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items())
    assert list_run_results(runs) == list_run_results(sweep_results)
    assert runs.interval("write_mean", "policy") == sweep_results.interval("write_mean", "policy")
    done = run_program(PROGRAM, *runs[0].command[1:])
    assert (done.out, done.code) == (runs[0].json, 0)


def test_requests_of_one_generator_are_used_in_all_runs_of_a_sweep(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    rows = [(1000 * i, "write", 4096 * (i % 50), 4096) for i in range(300)]
    expected = aftl.simulate(profile="demo", requests=rows, seed=1).result
    some: tuple[dict[str, Any], ...] = ({}, {"results": tmp_path})
    for more in some:
        runs = aftl.sweep(profile="demo", requests=iter(rows), op=["10%", "20%"], seeds=2, **more)
        assert [run.result["requests"] for run in runs] == 4 * [300]
        assert aftl.sweep(profile="demo", requests=rows, seeds=1, **more)[0].result == expected


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_results(sweep_results: aftl.Runs, tmp_path: Path,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    monkeypatch.setenv("PATH", f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}")
    with distributed.LocalCluster(2, threads_per_worker=1, processes=False, dashboard_address=None,
                                  host="tcp://127.0.0.1") as cluster:
        runs = aftl.sweep(policy=["baseline", "approxftl"], op=[30, 40], seeds=3, approx_share=0.5,
                          scheduler=cluster.scheduler_address, **BASE)
    assert list_run_results(runs) == list_run_results(sweep_results)


#: Runs the tasks of a job array one after the other; the sentence of each failure is in its output.
SBATCH = """#!/bin/sh
for script; do :; done
echo "$@" >{0}/words
echo "42;cluster"
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
for task in $(seq 0 "$last"); do
	SLURM_ARRAY_JOB_ID=42 SLURM_ARRAY_TASK_ID=$task sh "$script" >{0}/slurm-42.out 2>&1 || failed=1
done
exit ${{failed:-0}}
"""


def test_slurm_gives_the_same_results(sweep_results: aftl.Runs, tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    options: dict[str, Any] = {"policy": ["baseline", "approxftl"], "op": [30, 40], "seeds": 3,
                               "approx_share": 0.5, "slurm": ["--partition=long"],
                               "slurm_time": "8:00:00", **BASE}
    with pytest.raises(aftl.InputError, match="sbatch: cannot run"):
        aftl.sweep(results=tmp_path / "results", **options)
    (tmp_path / "sbatch").write_text(SBATCH.format(tmp_path))
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{PROGRAM.parent}{os.pathsep}"
                               f"{os.environ['PATH']}")
    runs = aftl.sweep(results=tmp_path / "results", **options)
    assert list_run_results(runs) == list_run_results(sweep_results)
    words = (tmp_path / "words").read_text()
    assert words == f"--parsable --wait --partition=long {tmp_path}/results/sweep.sh\n"
    assert "#SBATCH --time=8:00:00\n" in (tmp_path / "results/sweep.sh").read_text()
    with pytest.raises(aftl.SimulationError, match="job 42 of Slurm left no result"):
        aftl.sweep(results=tmp_path / "results", **{**options, "policy": ["baseline", "none"]})


def test_ctrl_c_cancels_a_job_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{PROGRAM.parent}{os.pathsep}"
                               f"{os.environ['PATH']}")
    for name, text in (("sbatch", SBATCH.format(tmp_path).replace("exit", "exec sleep 60; exit")),
                       ("scancel", f"#!/bin/sh\necho $@ >{tmp_path}/cancelled\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def raise_keyboard_interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        aftl.sweep(results=tmp_path / "results", slurm=[], progress=raise_keyboard_interrupt,
                   seeds=2, **{**BASE, "requests": 100})
    assert (tmp_path / "cancelled").read_text() == "42\n"


def test_sweep_refuses_options_that_a_results_folder_or_slurm_cannot_use(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for more, said in (({"slurm": []}, "slurm: name the directory"),
                       ({"slurm_time": "60"}, 'slurm_time: "60" is not a time'),
                       ({"results": tmp_path, "policy": aftl.Policy("own")}, "leave out results"),
                       ({"results": tmp_path, "set": "@/tmp/x"}, "give the parameters themselves"),
                       ({"results": tmp_path, "policy": "none"}, 'unknown policy "none"')):
        monkeypatch.setenv("APPROXFTL", str(PROGRAM))
        with pytest.raises(aftl.SimulationError, match=said):
            aftl.sweep(**{**BASE, "requests": 10, **more})
    monkeypatch.setenv("APPROXFTL", "/nowhere")
    with pytest.raises(aftl.InputError, match="put it into PATH"):
        aftl.sweep(results=tmp_path, **{**BASE, "requests": 10})
