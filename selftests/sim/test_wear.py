# SPDX-License-Identifier: GPL-2.0-only
"""Test that wear levelling keeps the erase counts of a die within the configured gap."""

from typing import Any

import pytest
from selftests.sim.support import get_only_run, run_sim

#: Nearly all writes go to two of a hundred blocks; the data of the others never change.
SKEWED = ("--channels", "1", "--chips", "1", "--blocks", "128", "--layers", "4", "--word-lines",
          "4", "--op", "28", "--fill", "sequential", "--hot-share", "99%", "--hot-range", "2%",
          "--write-share", "100%", "--size", "8KiB", "--requests", "300000")
GAPS = (4, 16, 64, 256)


def simulate_skewed_writes(gap: int, *options: str) -> dict[str, Any]:
    return get_only_run(run_sim(*SKEWED, "--wear-gap", str(gap), "--verify", *options))


def compute_erase_count_range(run: dict[str, Any]) -> float:
    erases = run["blocks"]["erase_count"]
    return float(erases["max"] - erases["min"])


@pytest.mark.parametrize("options", (
    (), ("--gc-mode", "paced"), ("--hot-share", "80%", "--hot-range", "50%"),
    ("--policy", "approxftl", "--fill-approx", "100%")), ids=" ".join)
def test_the_spread_of_erase_counts_stays_within_wear_gap(options: tuple[str, ...]) -> None:
    runs = [simulate_skewed_writes(gap, *options) for gap in GAPS]
    for gap, run in zip(GAPS, runs, strict=True):
        assert compute_erase_count_range(run) <= gap
        assert run["counters"]["policy_bugs"] == 0
    ranges = [compute_erase_count_range(run) for run in runs]
    assert ranges[0] < ranges[1] < ranges[2] <= ranges[3]


def test_without_wear_levelling_the_spread_of_erase_counts_grows() -> None:
    assert compute_erase_count_range(simulate_skewed_writes(0)) > 400


def test_wear_levelling_relocates_few_blocks() -> None:
    without = simulate_skewed_writes(0)["write_amplification"]["total"]
    wide = simulate_skewed_writes(64)
    assert wide["write_amplification"]["total"] < without * 1.05
    assert wide["counters"]["wear_blocks"] < wide["counters"]["array_erases"] / 20
