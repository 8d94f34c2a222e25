# SPDX-License-Identifier: GPL-2.0-only
"""--slowest lists requests with the reasons of their waits; --record writes times and reasons."""

import csv
import json
import re
from pathlib import Path

import pytest
from selftests.sim.support import get_only_run, read_trace, run_approxftl, run_sim

#: Idle dies collect from the first request on.
COLLECTING = ("--op=20%", "--utilisation=60%", "--requests=20000", "--gc_idle_limit=fixed")
#: Erases take 10 ms.
BUSY = (*COLLECTING, "--fill=random", "--erase=10ms", "--warmup=2000")


def test_waiting_times_by_reason_add_up_to_the_waiting_time() -> None:
    found = get_only_run(run_sim(*BUSY, "--slowest", "50"))
    slowest = found["slowest"]
    responses = [request["response_ns"] for request in slowest]
    timing = found["timing"]
    assert len(slowest) == 50 and responses == sorted(responses, reverse=True)
    assert responses[0] == max(timing[f"{op}_response"]["max_ns"] for op in ("read", "write"))
    for request in slowest:
        assert sum(request["waits_ns"].values()) == request["waiting_ns"]
    assert found["digest"] == get_only_run(run_sim(*BUSY))["digest"]
    assert "slowest" not in get_only_run(run_sim(*BUSY))


def test_option_slowest_names_erases_as_a_wait_reason() -> None:
    """JSON and table of --slowest name the erase as the reason of a read that waits for it."""
    args = (*BUSY, "--slowest=500")
    reads = [request for request in get_only_run(run_sim(*args))["slowest"]
             if request["op"] == "read"]
    assert reads
    assert max(read["waits_ns"].get("erase", 0) for read in reads) > 8e6
    table = run_approxftl("sim", *args).out
    assert re.search(r" read .* erase \d+\.\d %", table)
    assert len(re.findall(r"^ *[\d.]+ .?s +(?:read|write) ", table, re.M)) == 500


def test_option_slowest_names_waits_for_the_arbitration_turn_of_a_queue() -> None:
    """A tenant of weight 1 waits for its arbitration turn behind a tenant of weight 200."""
    found = get_only_run(run_sim("--tenants=64,4", "--queue-weights=200:1", "--set=depth=16",
                                 "--requests=5000", "--slowest=5", "--write-share=100%",
                                 "--op=20%"))
    assert found["slowest"][0]["waits_ns"]["queue"] > found["slowest"][0]["waiting_ns"] / 2


@pytest.mark.parametrize("options", (("--shards=2",), ("--raid=5",)))
def test_option_slowest_is_refused_for_several_devices(options: tuple[str, ...]) -> None:
    assert run_approxftl("sim", "--slowest=3", *options).code == 2


def test_recorded_response_times_add_up_to_those_of_the_report(tmp_path: Path) -> None:
    """Times in the CSV file of --record add up to the report's; a record file has rounded times."""
    table, record = tmp_path / "run.csv", tmp_path / "run.aft"
    timing = get_only_run(run_sim(*COLLECTING, "--record", table))["timing"]
    rows = list(csv.DictReader(table.open()))
    for op in ("read", "write"):
        mine = [row for row in rows if row["op"] == op]
        assert sum(int(row["latency_ns"]) for row in mine) == timing[f"{op}_response"]["sum_ns"]
        assert sum(int(row["waiting_ns"]) for row in mine) == timing[f"{op}_waiting"]["sum_ns"]
        assert all(bool(row["reason"]) == (row["waiting_ns"] != "0") for row in mine)
    assert {"erase", "program", "relocation"} < {row["reason"] for row in rows}
    run_sim(*COLLECTING, "--record", record)
    read_trace(record)
    again = tmp_path / "again.csv"
    assert run_approxftl("trace", "convert", "-q", record, again).code == 0
    assert [-(-int(row["latency_ns"]) // 100) * 100 for row in rows] == [
        int(row["latency_ns"]) for row in csv.DictReader(again.open())]
    assert run_sim("--trace", table, "--fold")["runs"][0]["requests"] == 20000


def test_wasteful_garbage_collection_in_idle_time_causes_a_warning() -> None:
    """Idle GC doubles the write amplification of an idle drive; the advised option avoids that."""
    args = ("--op=20%", "--blocks=256", "--utilisation=2%", "--buffer=256KiB", "--warmup=100000",
            "--requests=50000")
    found = {limit: run_approxftl("sim", *args, f"--gc_idle_limit={limit}", "--json")
             for limit in ("fixed", "adaptive")}
    wasted = [get_only_run(json.loads(done.out))["write_amplification"]["total"]
              for done in found.values()]
    assert wasted[0] > 1.3 * wasted[1]
    sentence = "baseline: collection in idle time wrote more than half of the data"
    assert sentence in found["fixed"].err and sentence not in found["adaptive"].err
    assert "gc 50 % of free blocks cannot be reached with op 7 %" in run_approxftl(
        "sim", "--op=7%", "--gc=50%", "--gc_idle_limit=fixed", "--requests=100").err
    assert "cannot be reached" not in run_approxftl("sim", "--op=7%", "--gc=5%",
                                                    "--gc_idle_limit=fixed", "--requests=100").err
