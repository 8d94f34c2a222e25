# SPDX-License-Identifier: GPL-2.0-only
"""The L2P table on flash (CMT): a miss costs the chip's read time, and is reported."""

import re
from pathlib import Path

import pytest
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

READ_NS, UNIT, BUS = 45_000, 4096, 0.4  # bytes per ns
PAGES = 109  # translation pages of 1024 entries, for profile demo
#: Dirty eviction takes one program's worth of translation pages from the cache for each die.
LEAVING = 4 * 2
ONE = ("--fill", "sequential", "--write-share", "0", "--depth", "1", "--requests", "20000")


def simulate_cmt_at_queue_depth_1(size: int) -> Json:
    return get_only_run(run_sim(*ONE, "--map_cache", str(size), "--verify"))


@pytest.mark.parametrize("size", [64 << 10, 128 << 10, 256 << 10, 384 << 10])
def test_a_miss_of_the_translation_page_costs_a_second_sensing(size: int) -> None:
    result = simulate_cmt_at_queue_depth_1(size)
    counters, mean = result["counters"], result["timing"]["read_response"]["mean_ns"]
    alone = READ_NS + UNIT / BUS
    missed = counters["map_misses"] / counters["map_lookups"]
    assert counters["map_lookups"] == counters["host_read_requests"] == 20000
    assert counters["map_loads"] == counters["map_misses"]
    assert missed == pytest.approx(1 - (size // UNIT - LEAVING) / PAGES, abs=0.02)
    assert mean == pytest.approx(alone * (1 + missed), rel=0.01)
    assert counters["array_reads"] == 20000 + counters["map_loads"]


def test_a_cache_for_the_whole_l2p_table_costs_no_time() -> None:
    whole, off = simulate_cmt_at_queue_depth_1(1 << 20), simulate_cmt_at_queue_depth_1(0)
    assert whole["counters"]["map_misses"] == 0
    assert whole["timing"] == off["timing"]
    assert off["counters"]["map_lookups"] == 0


def test_writes_of_translation_pages_are_a_reported_cause() -> None:
    args = ("--fill", "random", "--requests", "20000", "--map_cache", "128KiB",
            "--gc_idle_limit", "fixed")
    result = get_only_run(run_sim(*args))
    counters, causes = result["counters"], result["write_amplification"]
    assert causes["map"] == pytest.approx(
        counters["programmed_map_units"] / counters["host_write_units"], abs=1e-4)
    assert causes["total"] == pytest.approx(
        sum(part for name, part in causes.items()
            if name != "total" and not name.endswith(("_units", "_bytes"))), abs=1e-3)
    assert counters["map_merges"] <= counters["programmed_map_units"]
    table = run_approxftl("sim", *args).out
    told = dict(re.findall(r"^ *(\S.*?\S)  +(\S+) *$", table, re.M))
    share = counters["map_misses"] / counters["map_lookups"] * 100
    assert float(told["that waited for the map"].rstrip("%")) == pytest.approx(share, abs=0.01)
    assert int(told["map pages read for them"]) == counters["map_loads"]
    assert int(told["map pages read to write"]) == counters["map_merges"]
    assert int(told["map pages moved"]) == counters["map_moved_units"]
    assert "map pages" not in run_approxftl("sim", "--requests", "100").out


def test_a_saved_device_with_a_map_cache_continues(tmp_path: Path) -> None:
    saved = tmp_path / "device"
    args = ("--map_cache", "128KiB", "--fill", "random", "--requests", "5000")
    run_sim(*args, "--dump", saved)
    result = get_only_run(run_sim("--load", saved, "--requests", "5000", "--verify"))
    assert result["counters"]["host_failed_requests"] == 0
    assert result["counters"]["map_misses"] > 1000
