# SPDX-License-Identifier: GPL-2.0-only
"""Compare victim selection with published models of write amplification."""

import math

import pytest
from selftests.sim.support import get_only_run, run_sim

#: One LUN, one open block, and only the reserve that relocation needs, as the models assume.
BARE = ("--policy", "baseline", "--channels", "1", "--chips", "1", "--layers", "4", "--word_lines",
        "16", "--page", "4KiB", "--gc", "0%", "--gc_idle_valid", "0%", "--errors", "off", "--fill",
        "random", "--workload", "uniform", "--write-share", "100%", "--size", "4KiB")


def measure_steady_amplification(*options: str, blocks: int = 2000) -> float:
    """Return the write amplification of a device in its steady state."""
    found = get_only_run(run_sim(*BARE, "--blocks", str(blocks), "--requests", str(blocks * 600),
                                 "--warmup", str(blocks * 400), *options))
    host = found["write_amplification"]["host_write_units"]
    return float(found["write_amplification"]["programmed_units"] / host)


def compute_fifo_amplification(spare: float) -> float:
    """Return the write amplification of FIFO collection under uniform writes.

    A block is collected when the log has passed all blocks once since it was filled, with a valid
    share of u. Meanwhile the host has overwritten (1 - u) / (1 - spare) of all data, so
    u = exp(-(1 - u) / (1 - spare)).
    """
    valid = 0.5
    for _ in range(500):
        valid = math.exp(-(1 - valid) / (1 - spare))
    return 1 / (1 - valid)


@pytest.mark.parametrize("spare", [0.15, 0.2, 0.28])
@pytest.mark.in_turn
def test_fifo_agrees_with_the_analytical_model(spare: float) -> None:
    found = measure_steady_amplification("--victim", "fifo", "--op", f"{spare:.0%}")
    assert found == pytest.approx(compute_fifo_amplification(spare), rel=0.01)


@pytest.mark.in_turn
def test_more_victim_choices_cause_fewer_relocations() -> None:
    rules = ("greedy", "d_choices --victim_choices 64", "d_choices --victim_choices 8",
             "d_choices --victim_choices 2")
    found = [measure_steady_amplification("--op", "20%", "--victim", *rule.split()) for rule
             in rules]
    assert found == sorted(found)
    assert found[0] == pytest.approx(found[1], rel=0.02)
    assert found[2] > 1.02 * found[0]
    assert found[3] > 1.05 * found[2]


def test_windowed_victim_selection_with_window_1_is_fifo() -> None:
    digests = {get_only_run(run_sim(*BARE, "--blocks", "100", "--op", "20%", "--requests", "40000",
                                    "--victim", *rule.split()))["digest"]
               for rule in ("fifo", "windowed --victim_window 1", "windowed")}
    assert len(digests) == 2


@pytest.mark.parametrize("rule", ["cost_benefit", "d_choices", "fifo", "windowed"])
def test_every_policy_accepts_every_victim_selector(rule: str) -> None:
    runs = run_sim("--policy", "baseline,approxftl,cubeftl,tvr,ressd,agcr", "--bits", "3",
                   "--one_shot", "on", "--blocks", "60", "--layers", "8", "--word_lines", "2",
                   "--op", "50%", "--fill", "random", "--write-share", "100%", "--verify",
                   "--victim", rule, "--requests", "40000")["runs"]
    assert len(runs) == 6
    for found in runs:
        assert found["verified"]
        assert found["counters"]["policy_bugs"] == 0
        assert found["counters"]["gc_blocks"] > 0
