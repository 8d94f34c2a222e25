# SPDX-License-Identifier: GPL-2.0-only
"""Test overwrites in the write buffer, and when buffered data are programmed."""

import pytest
from selftests.sim.support import get_only_run, run_sim

#: A buffer of 256 units, 12 of which are one program.
DRIVE = ("--bits", "3", "--one-shot", "on", "--page", "16KiB", "--unit", "4KiB", "--layers", "8",
         "--word-lines", "4", "--blocks", "64", "--channels", "2", "--chips", "2", "--buffer",
         "1MiB", "--buffer-hold", "1s", "--write-share", "100%", "--fill", "random")
#: 2000 writes a second for ten seconds.
LOAD = (*DRIVE, "--size", "4KiB", "--requests", "20000", "--arrival", "open", "--rate", "2000")
SECONDS, PROGRAM = 10, 12


def simulate_and_read_counters(*options: str) -> dict[str, int]:
    """Return the counters of a run of LOAD with OPTIONS."""
    counted: dict[str, int] = get_only_run(run_sim(*LOAD, *options))["counters"]
    return counted


@pytest.mark.parametrize(("footprint", "units"), [("0.02%", 16), ("0.06%", 50)])
def test_a_working_set_in_the_buffer_is_programmed_once_a_second(footprint: str,
                                                                 units: int) -> None:
    """Each buffer queue holds the units of one program, which starts after buffer_hold."""
    run = simulate_and_read_counters("--footprint", footprint)
    queues = -(-units // PROGRAM)
    assert queues * (SECONDS - 1) <= run["array_programs"] <= queues * SECONDS
    assert run["programmed_host_units"] + run["padded_units"] == run["array_programs"] * PROGRAM
    # A queue is padded only if it is older than buffer_hold and shorter than a program.
    assert run["padded_units"] <= PROGRAM
    left = run["host_write_units"] - run["programmed_host_units"] - run["buffer_coalesced_units"]
    assert 0 <= left <= units


def test_each_flush_programs_a_working_set_once() -> None:
    run = simulate_and_read_counters("--footprint", "0.02%", "--flush-every", "1000")
    flushes = run["host_flush_requests"]
    assert flushes == 19
    # A unit that is written while a flush is in progress is programmed with the others.
    assert flushes * 16 <= run["programmed_host_units"] < (flushes + 1) * 16


def test_without_a_watermark_a_page_is_programmed_when_it_is_full() -> None:
    run = simulate_and_read_counters("--footprint", "0.06%", "--buffer-high", "0")
    assert run["array_programs"] > 1000
    assert run["padded_units"] == 0


@pytest.mark.parametrize("workload", ["sequential", "uniform"])
def test_a_load_larger_than_the_buffer_keeps_all_dies_busy(workload: str) -> None:
    """A buffer watermark must not reduce throughput, compared with programming at once."""
    load = ("--workload", workload, "--size", "64KiB", "--requests", "4000")
    early, default = (int(get_only_run(run_sim(*DRIVE, *load, "--buffer-high",
                                               high))["simulated_ns"])
                      for high in ("0", "50%"))
    assert default < 1.01 * early
