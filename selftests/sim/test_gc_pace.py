# SPDX-License-Identifier: GPL-2.0-only
"""Paced garbage collection: a host write waits for its share, not for a whole block."""

from __future__ import annotations

from typing import Any

import pytest
from selftests.sim.support import only_run, sim

#: Random writes of one page to a full device at queue depth 32; no die is ever idle.
FULL = ("--op", "28", "--fill", "random", "--write-share", "100%", "--size", "8KiB", "--requests",
        "100000", "--warmup", "60000")


def steady(*options: str) -> dict[str, Any]:
    return only_run(sim(*FULL, *options))


def tail(run: dict[str, Any]) -> float:
    """Return the p99.9 of the write response time, as a multiple of the mean."""
    write = run["timing"]["write_response"]
    return float(write["p99_9_ns"] / write["mean_ns"])


def amplification(run: dict[str, Any]) -> float:
    return float(run["write_amplification"]["total"])


@pytest.mark.parametrize("allocate", ("rotate", "least_busy"))
def test_the_write_tail_is_short_at_the_same_write_amplification(allocate: str) -> None:
    block = steady("--gc_mode", "block", "--allocate", allocate)
    paced = steady("--gc_mode", "paced", "--allocate", allocate)
    assert tail(block) > 4
    assert tail(paced) < 2.5
    assert amplification(paced) == pytest.approx(amplification(block), rel=0.02)


def test_the_write_tail_does_not_grow_with_the_block() -> None:
    block = [steady("--gc_mode", "block", "--layers", layers) for layers in ("8", "16")]
    paced = [steady("--gc_mode", "paced", "--layers", layers) for layers in ("8", "16")]
    assert tail(block[1]) > 1.5 * tail(block[0])
    assert tail(paced[1]) < 1.2 * tail(paced[0])


def test_paced_collection_needs_little_emergency_gc() -> None:
    counters = steady("--gc_mode", "paced")["counters"]
    assert counters["gc_paced_steps"] > 20 * counters["gc_urgent_steps"]
    assert steady("--gc_mode", "block")["counters"]["gc_paced_steps"] == 0
