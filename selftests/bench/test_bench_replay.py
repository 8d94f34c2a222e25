# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark of replays runs, and tells of both tools. How good they are is not a test."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).with_name("bench_replay.py")


def test_tiny_run_tells_of_both_and_of_the_machine(tmp_path: Path) -> None:
    if not shutil.which("fio"):
        pytest.skip("fio is not installed: make deps")
    result = tmp_path / "result.json"
    arguments = ("--boots", "0", "--rounds", "1", "--requests", "2000", "--json")
    done = subprocess.run(
        [sys.executable, BENCH, *arguments, result], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert document["approxftl_bench_replay_format"] == [1, 1]
    timer, ours, fio = document["rows"]
    assert (timer["tool"], ours["tool"], fio["tool"]) == ("timer", "approxftl", "fio")
    assert timer["issued"] == 200
    assert ours["issued"] == 2000
    assert 0 < fio["issued"] <= 2000
    for row in document["rows"]:
        assert 0 <= row["late_1ms"] <= row["late"] <= 1
        assert 0 <= row["p50_us"] <= row["p99_us"] <= row["max_us"]
        assert row["tool"] in done.stdout
