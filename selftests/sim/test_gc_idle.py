# SPDX-License-Identifier: GPL-2.0-only
"""gc_idle_limit adaptive: garbage collection in idle time costs few writes to flash."""

import pytest
from selftests.sim.support import get_only_run, run_sim

#: A full device whose mapping unit is a page, so that no write is padded
FULL = ("--blocks", "256", "--page", "4KiB", "--op", "28%", "--approx-share", "30%")
STEADY = ("--fill", "random", "--warmup", "200000", "--requests", "100000", "--utilisation")
#: In each minute 12,000 writes within three seconds, which use up about as many blocks as gc keeps
BURSTS = ("--fill-overwrite", "100%", "--write-share", "100%", "--rate", "4000", "--burst-on", "3s",
          "--burst-off", "60s", "--warmup", "60000", "--requests", "60000")
#: Only emergency collection
LATE = ("--gc", "0%", "--gc_idle_valid", "0%")


def simulate_amplification_and_tail(*options: str) -> tuple[float, int]:
    """Return the write amplification, and the p99 of the write response time."""
    run = get_only_run(run_sim(*FULL, *options))
    return run["write_amplification"]["total"], run["timing"]["write_response"]["p99_ns"]


@pytest.mark.parametrize("utilisation", ("2%", "20%"))
@pytest.mark.parametrize("policy", ("baseline", "separated", "approxftl", "sepbit"))
@pytest.mark.in_turn
def test_adaptive_idle_collection_neither_multiplies_nor_delays_writes(policy: str,
                                                                       utilisation: str) -> None:
    args = (*STEADY, utilisation, "--policy", policy)
    late, late_tail = simulate_amplification_and_tail(*args, *LATE)
    fixed, fixed_tail = simulate_amplification_and_tail(*args, "--gc_idle_limit", "fixed")
    found, tail = simulate_amplification_and_tail(*args, "--gc_idle_limit", "adaptive")
    assert fixed > 1.2 * late and late_tail > 10 * fixed_tail
    assert found < 1.06 * late
    assert tail < 1.1 * fixed_tail


def test_adaptive_idle_collection_leaves_room_for_bursts() -> None:
    args = (*BURSTS, "--policy", "approxftl")
    fixed, fixed_tail = simulate_amplification_and_tail(*args, "--gc_idle_limit", "fixed")
    found, tail = simulate_amplification_and_tail(*args, "--gc_idle_limit", "adaptive")
    assert found < 1.01 * fixed
    assert tail < 1.1 * fixed_tail
