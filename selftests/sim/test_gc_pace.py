# SPDX-License-Identifier: GPL-2.0-only
"""Paced garbage collection: a host write waits for a share of a block's collection."""

from typing import Any

import pytest
from selftests.sim.support import get_only_run, run_sim

#: Random writes of one page to a full device at queue depth 32; no die is ever idle.
FULL = ("--op", "28", "--fill", "random", "--write-share", "100%", "--size", "8KiB", "--requests",
        "100000", "--warmup", "60000")


def simulate_writes_in_steady_state(*options: str) -> dict[str, Any]:
    return get_only_run(run_sim(*FULL, *options))


def get_write_tail_to_mean_ratio(run: dict[str, Any]) -> float:
    """Return the p99.9 of the write response time, as a multiple of the mean."""
    write = run["timing"]["write_response"]
    return float(write["p99_9_ns"] / write["mean_ns"])


def read_total_amplification(run: dict[str, Any]) -> float:
    return float(run["write_amplification"]["total"])


@pytest.mark.parametrize("allocate", ("rotate", "least_busy"))
def test_paced_collection_shortens_the_tail_of_write_latency(allocate: str) -> None:
    block = simulate_writes_in_steady_state("--gc_mode", "block", "--allocate", allocate)
    paced = simulate_writes_in_steady_state("--gc_mode", "paced", "--allocate", allocate)
    assert get_write_tail_to_mean_ratio(block) > 4
    assert get_write_tail_to_mean_ratio(paced) < 2.5
    assert read_total_amplification(paced) == pytest.approx(read_total_amplification(block),
                                                            rel=0.02)


def test_the_write_tail_does_not_grow_with_the_block_size() -> None:
    block = [simulate_writes_in_steady_state("--gc_mode", "block", "--layers", layers)
             for layers in ("8", "16")]
    paced = [simulate_writes_in_steady_state("--gc_mode", "paced", "--layers", layers)
             for layers in ("8", "16")]
    assert get_write_tail_to_mean_ratio(block[1]) > 1.5 * get_write_tail_to_mean_ratio(block[0])
    assert get_write_tail_to_mean_ratio(paced[1]) < 1.2 * get_write_tail_to_mean_ratio(paced[0])


def test_paced_collection_needs_little_emergency_gc() -> None:
    counters = simulate_writes_in_steady_state("--gc_mode", "paced")["counters"]
    assert counters["gc_paced_steps"] > 20 * counters["gc_urgent_steps"]
    assert simulate_writes_in_steady_state("--gc_mode", "block")["counters"]["gc_paced_steps"] == 0
