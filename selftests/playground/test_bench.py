# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark of the page runs, and writes what it has measured. Speed is not a test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from selftests.lib.programs import TOP, run_program
from selftests.playground.support import needs_page

pytestmark = needs_page


def test_tiny_run_is_well_formed(tmp_path: Path) -> None:
    result = tmp_path / "bench.json"
    done = run_program(sys.executable, TOP / "selftests/bench/bench_playground.py", "--seconds",
                       "0.4", "--json", result)
    assert done.code == 0, done.err
    found = json.loads(result.read_text())
    assert found["approxftl_bench_format"] == [1, 0]
    assert len(found["cases"]) == len(found["bars"]) == 5
    for case, bar in zip(found["cases"], found["bars"], strict=True):
        assert case["frames"] > 0
        assert case["requests"] > 0
        assert bar["met"] == (bar["ours"] >= bar["limit"])
        assert bar["what"] in done.out
