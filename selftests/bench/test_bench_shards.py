# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark of shards runs, and tells what it measured. How fast they are is not a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).with_name("bench_shards.py")


def test_tiny_run_is_well_formed(tmp_path: Path) -> None:
    small = ("--rounds", "1", "--scale", "0.001")
    done = subprocess.run([sys.executable, BENCH, *small, "--json", tmp_path / "x.json"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "one thread and two say the same" in done.stdout
    result = json.loads((tmp_path / "x.json").read_text())
    assert len({case["name"] for case in result["cases"]}) == len(result["cases"]) == 7
    assert all(case["cpu_s"] > 0 and case["wall_s"] > 0 for case in result["cases"])
    for bar in result["bars"]:
        assert bar["met"] == (
            bar["ours"] >= bar["limit"] if bar["at_least"] else bar["ours"] <= bar["limit"]
        )
        assert bar["what"] in done.stdout
