# SPDX-License-Identifier: GPL-2.0-only
"""Each benchmark runs and writes its results; its speed is not tested."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.programs import PROGRAM, run_program

HERE = Path(__file__).parent
TINY = ("--rounds", "1", "--scale", "0.001")


def bench(name: str, folder: Path, *arguments: str | Path) -> tuple[dict[str, Any], str]:
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


def test_the_simulator(tmp_path: Path) -> None:
    result, _ = bench("bench", tmp_path, *TINY)
    assert result["approxftl_bench_format"] == [2, 0]
    assert result["machine"]["cpu"]
    assert len({case["name"] for case in result["cases"]}) == len(result["cases"]) > 10
    for case in result["cases"]:
        assert case["profile"] == "tcad18"
        assert case["policy"] in case["args"] or case["policy"] == "baseline"
        assert len(case["cpu_s"]) == len(case["startup_cpu_s"]) == 1
        assert case["cpu_s_per_million_requests"] > 0
        assert case["memory_bytes"] > 0
    policies = [line.split()[0] for line in run_program(PROGRAM, "policies").out.splitlines()]
    for costs in result["policy_cost_to_baseline"].values():
        assert costs["baseline"] == 1 and set(costs) > set(policies)
    bars = {bar["what"]: bar["limit"] for bar in result["bars"]}
    assert all(bars[f"16 GiB TLC, {policy} against baseline"] == 1.5 for policy in policies)


def test_another_program_is_measured_alternately(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(f"""#!/bin/sh
case "$*" in *delta_b*) exit 2 ;; esac
exec {PROGRAM} "$@" --blocks 300
""")
    other.chmod(0o755)
    told, said = bench("bench", tmp_path, "--rounds", "2", "--scale", "0.001", "--only", "_b",
                       "--beside", other)
    ours = {case["name"]: case for case in told["cases"]}
    cost = "cpu_s_per_million_requests"
    assert {case["policy"] for case in ours.values()} == {"delta_b", "vth_b"}
    assert {case["policy"] for case in told["beside"]} == {"vth_b"}
    assert len(told["bars"]) == len(told["beside"]) == len(ours) / 2
    for case, bar in zip(told["beside"], told["bars"], strict=True):
        assert case["memory_bytes"] < ours[case["name"]]["memory_bytes"]
        assert bar["ours"] == ours[case["name"]][cost] / case[cost]
        assert bar["limit"] == 1.05
    assert f"{len(told['bars'])} of {len(ours)} cases are unknown to {other}" in said


def test_recovery(tmp_path: Path) -> None:
    document, said = bench("bench_recovery", tmp_path, "--runs", "1", "--blocks", "128")
    half, whole = document["recoveries"]
    assert whole["flash"] == 2 * half["flash"] == 128 << 26
    assert 0 < half["cpu_ns"] < half["elapsed_ns"]
    # The rate is 2 GB/s, however many reads are in flight.
    assert whole["elapsed_ns"] > whole["read"] / 2
    # Each table is read once: 512 bytes per seven pages, and per 63 units.
    assert 1 < whole["read"] / ((128 << 12) / 7 * 512 + (128 << 14) * 0.9 / 63 * 512) < 1.05
    assert "a TiB is found after a crash" in said


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed: make deps")
def test_replay_beside_fio_and_the_machine(tmp_path: Path) -> None:
    document, said = bench("bench_replay", tmp_path, "--boots", "0", "--rounds", "1",
                           "--requests", "2000")
    assert document["approxftl_bench_replay_format"] == [1, 1]
    timer, ours, fio = document["rows"]
    assert (timer["tool"], ours["tool"], fio["tool"]) == ("timer", "approxftl", "fio")
    assert (timer["issued"], ours["issued"]) == (200, 2000) and 0 < fio["issued"] <= 2000
    for row in document["rows"]:
        assert 0 <= row["late_1ms"] <= row["late"] <= 1
        assert 0 <= row["p50_us"] <= row["p99_us"] <= row["max_us"]
        assert row["tool"] in said


def test_shards(tmp_path: Path) -> None:
    result, said = bench("bench_shards", tmp_path, *TINY)
    assert "one thread and two say the same" in said
    assert len({case["name"] for case in result["cases"]}) == len(result["cases"]) == 7
    assert all(case["cpu_s"] > 0 and case["wall_s"] > 0 for case in result["cases"])


def test_traces(tmp_path: Path) -> None:
    found, _ = bench("bench_trace", tmp_path, "--rounds", "1", "--scale", "0.005")
    assert found["approxftl_bench_format"] == [1, 0]
    names = [case["name"] for case in found["cases"]]
    assert len(set(names)) == len(names) >= 8
    assert all(case["items"] > 0 and len(case["cpu_s"]) == 1 for case in found["cases"])
