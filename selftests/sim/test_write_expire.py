# SPDX-License-Identifier: GPL-2.0-only
"""Reads go first, but overtake a write for `write_expire` at most."""

from typing import Any

import pytest
from selftests.sim.support import get_only_run, run_sim

#: Many reads and few writes to a full device: reads always wait at every die.
READS = ("--op", "28", "--fill", "random", "--write-share", "1%", "--size", "4KiB", "--depth",
         "256", "--requests", "50000")

MS = 1e6
#: More than two programs and two reads take: another write of the die may have expired as well.
OPERATIONS = 2 * MS


def get_write_response_ns(run: dict[str, Any], what: str) -> float:
    return float(run["timing"]["write_response"][what])


@pytest.mark.parametrize("expire", (1, 2, 5))
@pytest.mark.parametrize("suspend", ("off", "both"))
def test_a_write_waits_no_longer_than_write_expire(expire: int, suspend: str) -> None:
    run = get_only_run(run_sim(*READS, "--suspend", suspend, "--write-expire", f"{expire}ms"))
    assert expire * MS < get_write_response_ns(run, "max_ns") < expire * MS + OPERATIONS


def test_without_write_expire_reads_starve_writes() -> None:
    unlimited = get_only_run(run_sim(*READS, "--write-expire", "0"))
    assert get_write_response_ns(unlimited, "p50_ns") > 100 * MS > 5 * get_write_response_ns(
        get_only_run(run_sim(*READS)), "p50_ns")


@pytest.mark.parametrize("buffer", ("0", "1MiB"))
def test_expired_writes_and_reads_take_turns(buffer: str) -> None:
    """If hosts write more than the device can program, reads do not wait for all writes."""
    run = get_only_run(run_sim("--op", "28", "--fill", "random", "--write-share", "80%", "--size",
                               "8KiB", "--depth", "256", "--requests", "30000", "--buffer", buffer,
                               "--write-expire", "1ms"))
    read = run["timing"]["read_response"]
    assert read["p50_ns"] < 10 * MS < get_write_response_ns(run, "p50_ns")
