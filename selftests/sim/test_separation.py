# SPDX-License-Identifier: GPL-2.0-only
"""Policies that separate data have less write amplification than the baseline on skewed loads."""

import pytest
from selftests.sim.support import run_sim

DEVICE = (
    "--blocks 256 --channels 2 --op 28% --fill random --write-share 100% --size 8KiB "
    "--requests 300000 --warmup 700000 --seed 7 --policy baseline,separated,sepbit,midas"
)


@pytest.mark.parametrize(
    ("load", "most"),
    [
        ("--workload zipf", {"separated": 0.85, "sepbit": 0.76, "midas": 0.76}),
        ("--hot-share 80% --hot-range 20%", {"separated": 0.96, "sepbit": 0.96, "midas": 0.96}),
        # Nothing is to be gained; MiDAS must not split what is alike.
        ("", {"separated": 1.01, "sepbit": 1.06, "midas": 1.01}),
    ],
    ids=["zipf", "80/20", "uniform"],
)
@pytest.mark.in_turn
def test_separation_by_lifetime_reduces_write_amplification(load: str,
                                                            most: dict[str, float]) -> None:
    runs = {run["policy"]: run for run in run_sim(*f"{DEVICE} {load}".split())["runs"]}
    baseline = runs.pop("baseline")["write_amplification"]["total"]
    assert not any(run["counters"]["policy_bugs"] for run in runs.values())
    found = {name: run["write_amplification"]["total"] / baseline for name, run in runs.items()}
    assert {name: ratio for name, ratio in found.items() if ratio > most[name]} == {}, found
