# SPDX-License-Identifier: GPL-2.0-only
"""Test what the failure of a die costs with RAIN and without RAIN."""

import tomllib
from itertools import product

from selftests.lib.programs import TOP
from selftests.sim.support import get_only_run, run_sim


def test_rain_loses_no_data_but_costs_writes() -> None:
    """With RAIN no data are lost; reads of the failed die take longer, and all writes cost more."""
    study = tomllib.loads((TOP / "docs/examples/rebuilt-die.toml").read_text())
    base = [word for key, value in study["base"].items() for word in (f"--{key}", str(value))]
    ran = {
        (rain, dies): get_only_run(run_sim(*base, "--rain", rain, "--die-dies", dies, "--verify"))
        for rain, dies in product(study["vary"]["rain"], study["vary"]["die-dies"])
    }
    lost = {key: run["counters"]["read_lost_units"] for key, run in ran.items()}
    assert {key for key, units in lost.items() if units} == {("off", "late"), ("off", "early")}
    recovered = {key for key, run in ran.items() if run["counters"]["read_recovered_units"]}
    assert ("on", "late") in recovered and ("on", "never") not in recovered
    rebuilt = {key: run["counters"]["programmed_rebuild_units"] for key, run in ran.items()}
    assert rebuilt["on", "late"] > 0 and not rebuilt["on", "never"] and not rebuilt["off", "late"]
    slow = {key: run["timing"]["read_response"]["mean_ns"] for key, run in ran.items()}
    assert slow["on", "late"] > slow["on", "never"]
