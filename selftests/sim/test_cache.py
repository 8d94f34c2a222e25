# SPDX-License-Identifier: GPL-2.0-only
"""The SLC cache: the write rate drops at the time that the chip's times predict."""

import re
from pathlib import Path

import pytest
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

DIES, CHANNELS, BLOCKS, LINES, BITS = 4, 2, 128, 128, 3
PAGE, UNIT, REQUEST = 16 << 10, 4 << 10, 128 << 10
PROGRAM_NS, SLC_NS, READ_SLC_NS, ERASE_NS, BUS = 2e6, 2e5, 25e3, 3.5e6, 0.4  # bytes per ns
SHAPE = ("--fill=none", "--channels", "2", "--chips", "2", "--blocks", "128", "--layers", "32",
         "--word_lines", "4", "--bits", "3", "--one_shot", "on", "--page", "16KiB",
         "--unit", "4KiB", "--op", "20%", "--program", "2ms", "--program_slc", "200us",
         "--read_slc", "25us", "--erase", "3500us", "--bus", "400", "--gc", "10%",
         "--buffer", "1MiB", "--idle", "1ms")
WRITES = ("--workload", "sequential", "--write-share", "100%", "--size", "128KiB")

#: Bytes of a block in SLC mode and in TLC mode.
CACHED, FULL = LINES * PAGE, LINES * PAGE * BITS


def compute_program_transfer_ns(pages: int, array_ns: float) -> float:
    return array_ns + pages * PAGE / BUS


#: Write rate of all dies in MB/s: in the cache, past it, and while dynamic SLC blocks are folded.
#: A full TLC block of host data then costs 1.5 such blocks of programs, a third of it by folding.
IN_CACHE = DIES * PAGE / compute_program_transfer_ns(1, SLC_NS) * 1e3
PAST = DIES * BITS * PAGE / compute_program_transfer_ns(BITS, PROGRAM_NS) * 1e3
FOLDING = DIES * FULL / (
    1.5 * LINES * compute_program_transfer_ns(BITS, PROGRAM_NS)
    + LINES * BITS / 2 * compute_program_transfer_ns(1, READ_SLC_NS)
+ 1.5 * ERASE_NS) * 1e3


def compute_write_mb_s(result: Json) -> float:
    return int(result["counters"]["host_write_units"]) * UNIT / int(result["simulated_ns"]) * 1e3


def simulate_writes_after_warm_up(at: float, *cache: str) -> Json:
    """Simulate writes of `at` MB before the statistics begin, and of 64 MB afterwards."""
    return get_only_run(run_sim(*SHAPE, *WRITES, *cache, "--warmup", str(round(at * 1e6 / REQUEST)),
                                "--requests", "512"))


def test_translation_pages_wait_for_the_collection_of_a_superblock() -> None:
    """A die without a free block does not end the device's life while a superblock is freed."""
    result = get_only_run(run_sim("--channels", "4", "--chips", "2", "--blocks", "128",
                                  "--superblock", "8", "--op", "28%", "--map-cache", "256KiB",
                                  "--fill", "random", "--write-share", "100%", "--size", "8KiB",
                                  "--requests", "20000", "--seed", "3"))
    assert result["counters"]["host_failed_requests"] == 0
    assert result["counters"]["array_erases"] > 0


def test_write_rate_falls_when_the_blocks_of_a_static_slc_cache_are_full() -> None:
    cache = ("--slc_static", "8%")
    volume = DIES * 11 * CACHED / 1e6  # 8 % of 128 blocks
    assert compute_write_mb_s(simulate_writes_after_warm_up(0, *cache)) == pytest.approx(IN_CACHE,
                                                                                         rel=0.02)
    assert compute_write_mb_s(simulate_writes_after_warm_up(volume - 70, *cache)) > IN_CACHE * 0.75
    assert compute_write_mb_s(simulate_writes_after_warm_up(volume + 10,
                                                            *cache)) == pytest.approx(PAST,
                                                                                      rel=0.02)
    assert compute_write_mb_s(simulate_writes_after_warm_up(0)) == pytest.approx(PAST, rel=0.02)


def test_write_rate_of_a_dynamic_slc_cache_falls_in_two_steps() -> None:
    cache = ("--slc_dynamic", "100%")
    lent = DIES * (BLOCKS - 12) * CACHED / 1e6  # until 10 % of the blocks are free
    before = simulate_writes_after_warm_up(lent - 80, *cache)
    assert compute_write_mb_s(before) == pytest.approx(IN_CACHE, rel=0.02)
    assert before["counters"]["fold_blocks"] == 0
    short = simulate_writes_after_warm_up(lent + 400, *cache)
    assert compute_write_mb_s(short) == pytest.approx(FOLDING, rel=0.06)
    assert compute_write_mb_s(short) < PAST * 0.7
    assert short["counters"]["fold_blocks"] > 0 == short["counters"]["fold_idle_blocks"]
    assert short["counters"]["cached_host_units"] == 0


def test_idle_time_empties_the_slc_cache(tmp_path: Path) -> None:
    cache = ("--slc_static", "4%", "--slc_dynamic", "30%")
    device = tmp_path / "device"
    wrote = (*SHAPE, *WRITES, *cache, "--requests", "8000", "--dump", device)

    def measure_write_rate_after_idle_time(rest_ns: int) -> float:
        run_sim(*wrote, "--until", f"{end_ns + rest_ns}ns")
        return compute_write_mb_s(get_only_run(run_sim("--load", device, *WRITES, "--requests",
                                                       "2000")))

    end_ns = int(get_only_run(run_sim(*wrote))["device_time_ns"])
    assert measure_write_rate_after_idle_time(0) == pytest.approx(PAST, rel=0.03)
    assert PAST * 1.2 < measure_write_rate_after_idle_time(2 * 10**9) < IN_CACHE * 0.9
    assert measure_write_rate_after_idle_time(20 * 10**9) == pytest.approx(IN_CACHE, rel=0.03)


def test_folding_and_cached_writes_are_reported() -> None:
    """The JSON and the table report folded data as a cause of writes, and cached writes."""
    cache = ("--slc_dynamic", "30%")
    result = get_only_run(run_sim(*SHAPE, *WRITES, *cache, "--requests", "4000", "--until", "30s"))
    counters = result["counters"]
    assert result["write_amplification"]["fold"] == pytest.approx(
        counters["programmed_fold_units"] / counters["host_write_units"], abs=1e-4)
    assert counters["fold_idle_blocks"] == counters["fold_blocks"] > 0
    assert all(blocks <= 1 for blocks in result["luns"]["cached_blocks"])
    table = run_approxftl("sim", *SHAPE, *WRITES, *cache, "--requests", "4000", "--until",
                          "30s").out
    told = dict(re.findall(r"^ *(\S.*?\S)  +(\S+) *$", table, re.M))
    share = counters["cached_host_units"] / counters["programmed_host_units"] * 100
    assert float(told["host writes to the cache"].rstrip("%")) == pytest.approx(share, abs=0.01)
    assert int(told["blocks folded"]) == counters["fold_blocks"]
    assert int(told["in idle time"]) == counters["fold_idle_blocks"]
    assert "cache" not in run_approxftl("sim", *SHAPE, *WRITES, "--requests", "100").out
