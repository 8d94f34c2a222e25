# SPDX-License-Identifier: GPL-2.0-only
"""Networks on a shelf: one of each, in a virtual machine, and what the figure makes of them."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, TOP, run_program

PROGRAM = BUILD / "approxftl"
MONTHS = ["1", "3", "6", "12", "36"]


@pytest.mark.slow
def test_networks_lose_bits_on_a_mounted_device(tmp_path: Path) -> None:
    shelf, figures = tmp_path / "shelf", tmp_path / "figures"
    subprocess.run([TOP / "userspace/shelf/shelf", "1", shelf], check=True, timeout=1200)
    assert len(list(shelf.glob("*.json"))) == 6 * len(MONTHS)
    done = run_program(PROGRAM, "figures", "--papers", "weights-shelf", "--mounted", shelf, "-o",
                       figures)
    assert done.code == 0, done.err
    with (figures / "weights-shelf.csv").open() as file:
        mounted = [row for row in csv.DictReader(file) if row["source"] == "mounted, 1 seeds"]
    names = {row["series"] for row in mounted}
    assert len(names) == 6
    for name in names:
        found = {row["x"]: float(row["y"]) for row in mounted if row["series"] == name}
        assert sorted(found, key=int) == MONTHS
        assert all(40 < share < 100 for share in found.values()) == (name != "all of bfloat16")
