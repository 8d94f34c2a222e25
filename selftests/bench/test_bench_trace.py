# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark of traces runs, and writes what it has measured. Speed is not a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).with_name("bench_trace.py")


def test_tiny_run_is_well_formed(tmp_path: Path) -> None:
    result = tmp_path / "bench.json"
    done = subprocess.run([sys.executable, BENCH, "--rounds", "1", "--scale", "0.005", "--json",
                           result], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(result.read_text())
    assert found["approxftl_bench_format"] == [1, 0]
    names = [case["name"] for case in found["cases"]]
    assert len(set(names)) == len(names) >= 8
    for case in found["cases"]:
        assert case["items"] > 0
        assert len(case["cpu_s"]) == 1
    for bar in found["bars"]:
        assert bar["met"] == (bar["ours"] >= bar["limit"])
        assert bar["what"] in done.stdout
