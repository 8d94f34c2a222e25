# SPDX-License-Identifier: GPL-2.0-only
"""Writes smaller than a mapping unit: bytes, write amplification, read-modify-write."""

from pathlib import Path

import pytest
from selftests.sim.support import Json, get_only_run, run_sim

#: A unit is a flash page of 16 KiB; collection is at work.
LARGE_UNITS = ("--page", "16KiB", "--unit", "0", "--op", "28", "--fill", "random")
WRITES = ("--write-share", "100%", "--requests", "20000", "--warmup", "5000")
#: A unit is a flash page of 8 KiB; nothing is collected during the run.
NO_COLLECTION = ("--profile", "tcad18", "--blocks", "64", "--op", "28", "--fill", "random",
                 "--write-share", "100%", "--requests", "20000")
UNIT = 16384


def sum_write_amplification_components(run: Json) -> float:
    return sum(float(part) for name, part in run["write_amplification"].items()
               if name != "total" and not name.endswith(("_units", "_bytes")))


def test_write_amplification_counts_bytes() -> None:
    """A write of 512 bytes programs the whole unit that contains them, here 32 times as much."""
    small, whole = (get_only_run(run_sim(*LARGE_UNITS, *WRITES, "--size", size))
                    for size in ("512B", "16KiB"))
    for run, size in ((small, 512), (whole, UNIT)):
        writes = run["counters"]["host_write_requests"]
        assert run["counters"]["host_write_bytes"] == writes * size
        assert run["counters"]["host_partial_write_units"] == writes * (size < UNIT)
    factor = small["write_amplification"]["total"] / whole["write_amplification"]["total"]
    assert factor == pytest.approx(UNIT / 512, rel=0.02)
    for run in (small, whole):
        assert run["write_amplification"]["programmed_bytes"] / run["counters"][
            "host_write_bytes"] == pytest.approx(run["write_amplification"]["total"], abs=1e-4)
        assert sum_write_amplification_components(run) == pytest.approx(
            run["write_amplification"]["total"], abs=2e-3)


def test_a_write_of_half_a_unit_doubles_write_amplification() -> None:
    """Each partial write reads its unit, keeps the other half of it, and programs the unit."""
    run = get_only_run(run_sim(*NO_COLLECTION, "--size", "4KiB", "--verify"))
    counters = run["counters"]
    assert counters["gc_blocks"] == 0
    assert run["write_amplification"]["total"] == 2
    assert (counters["rmw_reads"], counters["array_reads"], counters["array_programs"]) == (
        20000, 20000, 20000)
    whole = get_only_run(run_sim(*NO_COLLECTION, "--size", "8KiB"))["counters"]
    assert (whole["rmw_reads"], whole["array_reads"]) == (0, 0)


def test_partial_writes_at_depth_1_include_the_read_of_their_page() -> None:
    """With one request at a time, reading the page adds its service time to the write's."""
    alone = ("--depth", "1", "--requests", "2000")
    small, whole, reads = (
        get_only_run(run_sim(*NO_COLLECTION[:-2], *alone, *size))["timing"] for size in (
            ("--size", "4KiB"), ("--size", "8KiB"),
            ("--size", "8KiB", "--write-share", "0%")))
    assert small["write_response"]["mean_ns"] == pytest.approx(
        whole["write_response"]["mean_ns"] + reads["read_response"]["mean_ns"], rel=1e-3)


def test_writes_that_fill_a_buffered_unit_read_it_once() -> None:
    """32 consecutive writes of 512 bytes fill a unit, which is programmed once."""
    run = get_only_run(run_sim(*LARGE_UNITS, "--buffer", "4MiB", "--workload", "sequential",
                               "--size", "512B", "--write-share", "100%", "--requests", "32000"))
    counters = run["counters"]
    units = 32000 * 512 // UNIT
    assert units <= counters["rmw_reads"] <= 1.05 * units
    assert run["write_amplification"]["host"] < 1.05


@pytest.mark.parametrize("options", [
    ("--read-cache", "1MiB"), ("--map-cache", "256KiB"), ("--buffer", "1MiB", "--depth", "256"),
    ("--link", "1000", "--controller-command", "2us"), ("--queue-weights", "3:1")])
def test_random_partial_requests_lose_no_data(options: tuple[str, ...]) -> None:
    """No data are lost if several partial writes to one unit are in progress at a time."""
    run = get_only_run(run_sim(*LARGE_UNITS, *options, "--size", "512B:3,2KiB:3,20KiB",
                               "--footprint", "0.1%", "--write-share", "60%", "--flush-every",
                               "500", "--requests", "20000", "--verify"))
    counters = run["counters"]
    assert counters["host_failed_requests"] == 0
    assert 0 < counters["rmw_reads"] <= counters["host_partial_write_units"]
    assert counters["array_reads"] >= counters["rmw_reads"]


def test_a_recording_keeps_the_sectors_of_partial_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.aft"
    made = get_only_run(run_sim(*LARGE_UNITS, "--size", "512B:3,20KiB,5KiB", "--write-share", "60%",
                                "--discard-share", "5%", "--requests", "20000", "--record", path))
    played = get_only_run(run_sim(*LARGE_UNITS, "--trace", path, "--arrival", "device"))
    assert made["counters"]["host_partial_write_units"] > 9000
    assert (played["digest"], played["counters"]) == (made["digest"], made["counters"])


def test_requests_divided_among_shards_are_counted_in_sectors() -> None:
    """Requests of 70 KiB are divided, because a shard has runs of 64 KiB of the addresses."""
    run = get_only_run(run_sim("--channels", "4", "--shards", "4", "--size", "70KiB",
                               "--write-share", "50%", "--requests", "4000"))
    counters = run["counters"]
    assert counters["host_write_bytes"] == counters["host_write_requests"] * 70 * 1024
    assert counters["host_read_bytes"] == counters["host_read_requests"] * 70 * 1024
