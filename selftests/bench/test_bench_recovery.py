# SPDX-License-Identifier: GPL-2.0-only
"""A run of the benchmark of recovery on volumes of almost nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).with_name("bench_recovery.py")


def test_small_volumes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, BENCH, "--runs", "1", "--blocks", "128",
         "--json", tmp_path / "result.json"],
        stdout=subprocess.PIPE, text=True, check=True)
    document = json.loads((tmp_path / "result.json").read_text())
    half, whole = document["recoveries"]
    assert whole["flash"] == 2 * half["flash"] == 128 << 26
    assert 0 < half["cpu_ns"] < half["elapsed_ns"]
    # At 2 GB/s, however many reads are under way.
    assert whole["elapsed_ns"] > whole["read"] / 2
    # Each table is read once: of seven pages 512 bytes, and of 63 units.
    assert 1 < whole["read"] / ((128 << 12) / 7 * 512 + (128 << 14) * 0.9 / 63 * 512) < 1.05
    assert "a TiB is found after a crash" in done.stdout
    assert document["bars"][0]["ours"] > 0
