# SPDX-License-Identifier: GPL-2.0-only
"""Times of the controller: a queue with random service times, and housekeeping."""

import math
from typing import Any

import pytest
from selftests.sim.support import get_only_run, run_sim

#: Buffered writes wait for the controller only.
WRITES = ("--profile", "demo", "--buffer", "64MiB", "--fill", "none", "--set", "program=1us",
          "--set", "erase=1us", "--set", "bus=100000", "--write-share", "100%", "--size", "4KiB",
          "--requests", "200000")
SERVICE_US = 10.0


def get_write_response_us(run: dict[str, Any], what: str) -> float:
    return float(run["timing"]["write_response"][what]) / 1e3


@pytest.mark.parametrize("utilisation", (0.1, 0.5, 0.8))
def test_random_controller_time_gives_the_responses_of_an_m_m_1_queue(utilisation: float) -> None:
    """Poisson arrivals and exponential service: the response is exponential (M/M/1)."""
    run = get_only_run(run_sim(*WRITES, "--rate", f"{utilisation / SERVICE_US * 1e6:.0f}",
                               "--set", f"controller_vary={SERVICE_US}us"))
    mean = SERVICE_US / (1 - utilisation)
    assert get_write_response_us(run, "mean_ns") == pytest.approx(mean, rel=0.05)
    assert get_write_response_us(run, "p50_ns") == pytest.approx(mean * math.log(2), rel=0.06)
    assert get_write_response_us(run, "p99_ns") == pytest.approx(mean * math.log(100), rel=0.12)


@pytest.mark.parametrize(("name", "waits"), [("controller_program", True),
                                              ("controller_relocate", False)])
def test_writes_wait_while_the_controller_prepares_a_program(name: str, waits: bool) -> None:
    """A page takes two writes, so every 200 us the controller works on a program for 150 us.

    The write 100 us later waits for the other 50 us, and the next one for nothing.
    """
    run = get_only_run(run_sim(*WRITES[:-1], "20000", "--rate", "10000", "--arrival-shape", "fixed",
                               "--set", "buffer_high=0", "--set", f"{name}=150us"))
    assert get_write_response_us(run, "max_ns") == (50 if waits else 0)
    assert get_write_response_us(run, "mean_ns") == pytest.approx(25 if waits else 0, abs=0.1)


def test_writes_wait_for_relocation_only_if_it_takes_the_controller_time() -> None:
    def run(*options: str) -> float:
        return get_write_response_us(get_only_run(run_sim(
            "--profile", "demo", "--buffer", "8MiB", "--op", "20%", "--fill-overwrite", "100%",
            "--write-share", "100%", "--rate", "500", "--requests", "5000", *options)), "p99_ns")
    assert run("--set", "controller_program=20us") == 0
    assert 0 < run("--set", "controller_relocate=20us") <= 20


def test_without_variation_each_write_takes_the_same_time() -> None:
    run = get_only_run(run_sim(*WRITES, "--rate", "1000", "--set", "controller=8us"))
    assert get_write_response_us(run, "max_ns") == get_write_response_us(run, "min_ns") == 8


@pytest.mark.parametrize(("rate", "longest_ms"), ((10000, 0.0), (40000, 6.8)))
def test_writes_wait_if_the_buffer_fills_during_housekeeping(rate: int, longest_ms: float) -> None:
    """While housekeeping stops programs, only the higher write rate fills the buffer."""
    run = get_only_run(run_sim("--profile", "demo", "--buffer", "1MiB", "--write-share", "100%",
                               "--size", "4KiB", "--fill", "sequential", "--arrival-shape", "fixed",
                               "--op", "50%", "--rate", str(rate), "--requests", "200000",
                               *(f"--set={text}" for text in ("program=20us", "erase=20us",
                                                              "bus=10000", "gc=20%",
                                                              "housekeeping=10ms",
                                                              "housekeeping_every=100ms"))))
    assert get_write_response_us(run, "max_ns") / 1e3 == pytest.approx(longest_ms, abs=0.5)


def test_without_erases_there_is_no_housekeeping() -> None:
    run = get_only_run(run_sim("--profile", "demo", "--buffer", "1MiB", "--write-share", "100%",
                               "--size", "4KiB", "--fill", "none", "--rate", "40000", "--set",
                               "program=20us", "--requests", "20000", "--set",
                               "housekeeping=100ms"))
    assert get_write_response_us(run, "max_ns") < 1e3
