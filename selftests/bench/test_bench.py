# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark runs, and writes what it has measured. How fast it is is not a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).with_name("bench.py")
BUILD = Path(os.environ.get("AFTL_BUILD", BENCH.parents[2] / "build"))
BINARY = Path(os.environ.get("APPROXFTL", BUILD / "approxftl")).absolute()


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, BENCH, *arguments], capture_output=True, text=True, check=False
    )


def test_tiny_run_is_well_formed(tmp_path: Path) -> None:
    done = bench("--rounds", "1", "--scale", "0.001", "--json", tmp_path / "bench.json")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "bench.json").read_text())
    assert result["approxftl_bench_format"] == [2, 0]
    assert result["machine"]["cpu"]
    assert len({case["name"] for case in result["cases"]}) == len(result["cases"]) > 10
    for case in result["cases"]:
        assert case["profile"] == "tcad18"
        assert case["policy"] in case["args"] or case["policy"] == "baseline"
        assert len(case["cpu_s"]) == len(case["startup_cpu_s"]) == 1
        assert case["cpu_s_per_million_requests"] > 0
        assert case["memory_bytes"] > 0
    policies = [line.split()[0] for line in subprocess.run(
        [BINARY, "policies"], capture_output=True, text=True, check=True).stdout.splitlines()]
    for costs in result["policy_cost_to_baseline"].values():
        assert costs["baseline"] == 1 and set(costs) > set(policies)
    bars = {bar["what"]: bar["limit"] for bar in result["bars"]}
    assert all(bars[f"16 GiB TLC, {policy} against baseline"] == 1.5 for policy in policies)
    for bar in result["bars"]:
        assert bar["met"] == (
            bar["ours"] >= bar["limit"] if bar["at_least"] else bar["ours"] <= bar["limit"]
        )
        assert bar["what"] in done.stdout


def test_another_program_in_turns(tmp_path: Path) -> None:
    other, result = tmp_path / "other", tmp_path / "bench.json"
    other.write_text(f"""#!/bin/sh
case "$*" in *delta_b*) exit 2 ;; esac
exec {BINARY} "$@" --blocks 300
""")
    other.chmod(0o755)
    done = bench("--rounds", "2", "--scale", "0.001", "--only", "_b", "--beside", other,
                 "--json", result)
    assert done.returncode == 0, done.stderr
    told = json.loads(result.read_text())
    ours = {case["name"]: case for case in told["cases"]}
    cost = "cpu_s_per_million_requests"
    assert {case["policy"] for case in ours.values()} == {"delta_b", "vth_b"}
    assert {case["policy"] for case in told["beside"]} == {"vth_b"}
    assert len(told["bars"]) == len(told["beside"]) == len(ours) / 2
    for case, bar in zip(told["beside"], told["bars"], strict=True):
        assert case["memory_bytes"] < ours[case["name"]]["memory_bytes"]
        assert bar["ours"] == ours[case["name"]][cost] / case[cost]
        assert bar["limit"] == 1.05
        assert f"{case['name']}, against the other" in done.stdout
    assert f"{len(told['bars'])} of {len(ours)} cases are unknown to {other}" in done.stdout
