# SPDX-License-Identifier: GPL-2.0-only
"""Test read cache and read-ahead: response times, report, docs/examples/read-ahead.toml."""

import re
import tomllib

import pytest
from selftests.lib.programs import TOP
from selftests.sim.support import get_only_run, run_approxftl, run_sim

ALONE = ("--fill", "sequential", "--write-share", "0", "--depth", "1", "--requests", "20000")
READ_NS, CONTROLLER_NS = 55_240, 9_000


def test_the_hit_rate_is_the_cached_share_of_the_footprint() -> None:
    """The hit rate of uniform reads is the cache's size divided by the footprint."""
    ran = run_sim(*ALONE, "--footprint", "10%", "--controller", "9us", "--read_cache", "22MiB",
                  "--warmup", "50000", "--verify")
    result = get_only_run(ran)
    counters, mean = result["counters"], result["timing"]["read_response"]["mean_ns"]
    share = counters["read_cache_units"] / counters["host_read_units"]
    assert share == pytest.approx((22 << 20) / (ran["geometry"]["units"] * 4096 / 10), abs=0.02)
    assert mean == pytest.approx(CONTROLLER_NS + READ_NS * (1 - share), rel=0.005)
    assert counters["array_reads"] == 20000 - counters["read_cache_units"]


def test_report_counts_units_read_from_the_cache_and_read_ahead() -> None:
    args = ("--fill", "sequential", "--workload", "sequential", "--write-share", "10%",
            "--requests", "20000", "--read_cache", "2MiB", "--read_ahead", "256KiB")
    counters = get_only_run(run_sim(*args))["counters"]
    told = dict(re.findall(r"^ *(\S.*?\S)  +(\S+) *$", run_approxftl("sim", *args).out, re.M))
    assert int(told["units read from the cache"]) == counters["read_cache_units"] > 10000
    assert int(told["read ahead"]) == counters["read_ahead_units"]
    assert int(told["read ahead in vain"]) == counters["read_ahead_vain_units"] > 0
    assert "ahead" not in run_approxftl("sim", "--requests", "100").out


def test_read_ahead_leaves_only_the_controllers_time() -> None:
    """With 64 KiB of read-ahead a read takes only the controller's time, as the tutorial says."""
    study = tomllib.loads((TOP / "docs/examples/read-ahead.toml").read_text())
    base = [word for key, value in study["base"].items() for word in (f"--{key}", str(value))]
    sizes = study["vary"]["read_ahead"]
    runs = [get_only_run(run_sim(*base, "--read_ahead", size)) for size in sizes]
    mean = dict(zip(sizes, (r["timing"]["read_response"]["mean_ns"] for r in runs), strict=True))
    assert mean["0"] == CONTROLLER_NS + READ_NS
    assert mean["64KiB"] == pytest.approx(CONTROLLER_NS, rel=0.001)
    assert mean["16KiB"] == pytest.approx(2 * CONTROLLER_NS, rel=0.05)
    assert runs[0]["counters"]["array_reads"] == 20000
    assert runs[-1]["counters"]["array_reads"] == pytest.approx(10000, rel=0.01)
