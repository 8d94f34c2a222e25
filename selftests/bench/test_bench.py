# SPDX-License-Identifier: GPL-2.0-only
"""Each benchmark runs and writes its results; its speed is not tested."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.programs import PROGRAM, run_program
from selftests.nbdkit.support import PLUGIN

HERE = Path(__file__).parent
TINY = ("--rounds", "1", "--scale", "0.001")
#: The arguments of each benchmark, and the list of its results.
BENCHES = {
    "bench": (TINY, "cases"),
    "bench_shards": (TINY, "cases"),
    "bench_recovery": (("--runs", "1", "--blocks", "128"), "recoveries"),
    "bench_python": (TINY, "cases"),
    "bench_nbd": (TINY, "cases"),
}


def run_benchmark(name: str, folder: Path, *arguments: str | Path) -> tuple[dict[str, Any], str]:
    """Return the document that a benchmark writes, and its output; check its list of limits."""
    done = run_program(sys.executable, HERE / f"{name}.py", *arguments, "--json",
                       folder / "bench.json")
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads((folder / "bench.json").read_text())
    for bar in document.get("bars", []):
        assert bar["what"] in done.out
        assert "at_least" not in bar or bar["met"] == (
            bar["ours"] >= bar["limit"] if bar["at_least"] else bar["ours"] <= bar["limit"])
    return document, done.out


@pytest.mark.parametrize("name", BENCHES)
@pytest.mark.in_turn
def test_each_benchmark_writes_a_result_file(name: str, tmp_path: Path) -> None:
    if name == "bench_nbd" and not (PLUGIN.exists() and shutil.which("nbdkit")):
        pytest.skip("nbdkit and nbdkit-plugin-dev are not installed")
    arguments, rows = BENCHES[name]
    document, _ = run_benchmark(name, tmp_path, *arguments)
    assert len(document[rows]) > 1
    names = [case["name"] for case in document.get("cases", [])]
    assert len(set(names)) == len(names)
    for row in document[rows]:
        times = [row[key] for key in ("cpu_s", "cpu_ns", "max_us", "operations_s") if key in row]
        assert times and min(times) not in (0, [0])


def test_bench_option_beside_compares_processor_time_with_another_program(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(f"#!/bin/sh\nexec {PROGRAM} \"$@\" --blocks 300\n")
    other.chmod(0o755)
    told, _ = run_benchmark("bench", tmp_path, *TINY, "--only", "_b", "--beside", other)
    ours = {case["name"]: case for case in told["cases"]}
    cost = "cpu_s_per_million_requests"
    assert len(told["bars"]) == len(told["beside"]) == len(ours)
    for case, bar in zip(told["beside"], told["bars"], strict=True):
        assert case["memory_bytes"] < ours[case["name"]]["memory_bytes"]
        assert bar["ours"] == ours[case["name"]][cost] / case[cost]
