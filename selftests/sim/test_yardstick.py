# SPDX-License-Identifier: GPL-2.0-only
"""--yardstick: the offline optimum beside runs of policies, which never beat its lower bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--blocks", "256", "--channels", "2", "--requests", "60000", "--warmup", "20000",
         "--yardstick", "optimum", "--write-share", "100%"]


def simulate_and_read_optimum_bounds(*arguments: str) -> list[Json]:
    """Run a small device; return each run's bounds of the optimum and write amplification."""
    runs = run_sim(*SMALL, *arguments)["runs"]
    return [{**each["yardstick"], "total": each["write_amplification"]["total"]} for each in runs]


@pytest.mark.parametrize("load", [
    "", "--hot-share 90% --hot-range 5%", "--workload zipf --zipf-skew 1.2",
    "--workload sequential", "--discard-share 20%", "--size 16KiB --unit 8KiB",
    "--hot-share 50% --hot-range 0.5% --depth 512", "--size 512:50,6KiB:50 --flush-every 7",
])
@pytest.mark.parametrize("buffer", ["0", "64KiB", "1MiB"])
@pytest.mark.in_turn
def test_no_run_relocates_less_than_the_lower_bound(load: str, buffer: str) -> None:
    policies = "baseline,separated,midas"
    for found in simulate_and_read_optimum_bounds("--buffer", buffer, "--policy", policies,
                                                  *load.split()):
        assert found["lower"] <= found["total"] + 0.0001
        assert found["lower"] <= found["reached"]
        assert found["factor"] == pytest.approx(found["total"] / found["reached"], abs=2e-4)
        assert found["buffered_units"] == 0 or buffer != "0"


def test_knowledge_of_the_future_saves_most_relocation() -> None:
    for seed in "1", "2":
        (found,) = simulate_and_read_optimum_bounds("--requests", "300000", "--op", "12%", "--seed",
                                                    seed)
        assert found["lower"] == 1
        assert found["reached"] < 1.1
        assert found["total"] > 3


def test_sequential_writes_need_no_relocation() -> None:
    (found,) = simulate_and_read_optimum_bounds("--workload", "sequential")
    assert (found["lower"], found["reached"], found["relocated_units"]) == (1, 1, 0)


def test_a_buffer_that_holds_the_hot_data_absorbs_them() -> None:
    (found,) = simulate_and_read_optimum_bounds("--footprint", "0.3%", "--buffer", "4MiB")
    assert found["buffered_units"] == found["host_write_units"] == 60000
    assert found["lower"] == 0


def test_each_seed_has_a_stream_of_its_own() -> None:
    hot = ["--hot-share", "50%", "--hot-range", "0.5%", "--buffer", "64KiB"]
    first, other = simulate_and_read_optimum_bounds("--seed", "5,6", *hot)
    assert first["buffered_units"] != other["buffered_units"]
    assert [first] == simulate_and_read_optimum_bounds("--seed", "5", *hot)


def test_the_table_names_both_bounds_of_the_optimum() -> None:
    table = run_approxftl("sim", *SMALL).out
    assert "with knowledge of the future" in table
    assert "no less is possible              1.0000" in table


@pytest.mark.parametrize(("arguments", "says"), [
    ("--raid 5", "--yardstick and --raid contradict each other"),
    ("--tenants 4,4", "--yardstick and --tenants contradict"),
    ("--beside-rate 10", "--yardstick and --beside-rate contradict"),
    ("--change 100:policy=separated", "--yardstick and --change contradict"),
    ("--channels 2 --shards 2", "--yardstick: the device has several shards; set shards 1"),
    ("--trace -", "standard input can be read once"),
    ("--yardstick pessimum", "pessimum"),
])
def test_invalid_uses_of_option_yardstick_are_refused(arguments: str, says: str) -> None:
    done = run_approxftl("sim", "--yardstick", "optimum", *arguments.split(), "--dry-run")
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_replaying_a_recorded_run_gives_the_same_yardstick_result(tmp_path: Path) -> None:
    record = tmp_path / "record.aft"
    direct = get_only_run(run_sim(*SMALL, "--record", str(record)))
    again = get_only_run(run_sim("--blocks", "256", "--channels", "2", "--trace", str(record),
                                 "--warmup", "20000", "--yardstick", "optimum"))
    assert again["yardstick"] == direct["yardstick"]
