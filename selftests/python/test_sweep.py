# SPDX-License-Identifier: GPL-2.0-only
"""sweep(): the runs of the command line, and intervals over their seeds."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selftests.lib.programs import TOP, run_program

import approxftl as aftl
from approxftl_tools.statistics import estimate_mean, paired_ratio

BASE: dict[str, Any] = {"profile": "demo", "blocks": 64, "requests": 30000, "write_share": 1.0,
                        "workload": "zipf"}


@pytest.fixture(scope="module")
def sweep_runs() -> aftl.Runs:
    return aftl.sweep(policy=["baseline", "approxftl"], op=[30, 40], seeds=3, jobs=2,
                      approx_share=0.5, **BASE)


def test_runs_of_a_sweep_equal_single_simulations(sweep_runs: aftl.Runs) -> None:
    assert len(sweep_runs) == 12
    assert sweep_runs.axes == {"policy": ["baseline", "approxftl"], "op": [30, 40],
                               "seed": [1, 2, 3]}
    for run in sweep_runs:
        assert run.json == aftl.simulate(**run.options).json
    order = [(row["policy"], row["op"], row["seed"]) for row in sweep_runs.rows()]
    assert order == [(p, o, s) for p in ("baseline", "approxftl") for o in (30, 40)
                     for s in (1, 2, 3)]


def measure_values(runs: aftl.Runs, policy: str, op: int, name: str) -> list[float]:
    return [run.summary[name] or 0 for run in runs
            if run.options["policy"] == policy and run.options["op"] == op]


def test_means_and_paired_ratios_have_intervals(sweep_runs: aftl.Runs) -> None:
    name = "write_response_mean_ns"
    found = sweep_runs.interval("write_mean", by="policy", relative_to="baseline")
    assert (found["baseline"].mean, found["baseline"].half) == (1, 0)
    each = [np.array(measure_values(sweep_runs, "approxftl", op, name))
            / measure_values(sweep_runs, "baseline", op, name) for op in (30, 40)]
    assert found["approxftl"] == estimate_mean(np.mean(each, axis=0))
    plain = aftl.Runs({**sweep_runs.axes, "op": [30]},
                      [run for run in sweep_runs if run.options["op"] == 30])
    name = "write_amplification"
    base, other = (measure_values(plain, policy, 30, name) for policy in ("baseline", "approxftl"))
    assert plain.interval(name, by="policy")["baseline"] == estimate_mean(base)
    ratio = plain.interval(name, by="policy", relative_to="baseline")["approxftl"]
    assert ratio == paired_ratio(other, base)


def test_wrong_questions_are_refused(sweep_runs: aftl.Runs) -> None:
    for measure, by, base, said in (("write_p99", "size", None, "no axis"),
                                    ("write_p99", "op", 7, "7 is no value of op"),
                                    ("read_p99", "op", None, "no value in some runs")):
        with pytest.raises(ValueError, match=said):
            sweep_runs.interval(measure, by=by, relative_to=base)
    with pytest.raises(KeyError, match="no measure"):
        sweep_runs.interval("beauty", by="op")
    with pytest.raises(aftl.OptionError, match="seeds"):
        aftl.sweep(seed=5, **BASE)
    with pytest.raises(aftl.OptionError, match="empty"):
        aftl.sweep(op=[], **BASE)


def chart_rows(chart: aftl.Chart) -> list[tuple[Any, ...]]:
    return [(row[2], row[1], row[3], row[4], row[5], row[6])
            for row in chart.figure.plot.csv_rows()]


def test_a_figure_shows_the_intervals(sweep_runs: aftl.Runs, tmp_path: Path) -> None:
    chart = sweep_runs.plot("write_mean", "op", by="policy", relative_to="baseline")
    expected = []
    for op in (30, 40):
        part = aftl.Runs({**sweep_runs.axes, "op": [op]},
                         [run for run in sweep_runs if run.options["op"] == op])
        found = part.interval("write_mean", by="policy", relative_to="baseline")
        expected += [(op, policy, one.mean, one.low, one.high, 3) for policy, one in found.items()]
    assert chart_rows(chart) == expected
    means = sweep_runs.interval("write_p99", by="policy")
    plain = sweep_runs.plot("write_p99", "policy")
    assert [row[2] * 1e6 for row in chart_rows(plain)] == pytest.approx(
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
            sweep_runs.plot("write_p99", x, by=by)


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
