# SPDX-License-Identifier: GPL-2.0-only
"""Devices of several shards: each shard acts like a device of its own.

Results are sums over the shards, and the number of threads does not affect any result.
"""

import json
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.json_schema import make_schema_checker
from selftests.lib.processes import await_true, has_signal_handler, read_user_time_s
from selftests.lib.programs import PROGRAM as BINARY
from selftests.sim.support import (
    DISCARD,
    FLUSH,
    READ,
    WRITE,
    Json,
    Record,
    get_only_run,
    read_trace,
    run_approxftl,
    run_sim,
    write_trace,
)
from selftests.volume.foreign_media import hash_u64

from approxftl_tools import aft

SCHEMA = make_schema_checker("userspace/sim/sim-output.fields")
SHAPE = ("--channels", "4", "--chips", "1", "--blocks", "100", "--op", "45%", "--buffer", "256KiB")
#: Requests of all kinds; many span several shards.
MIXED = ("--size", "4KiB:50,64KiB:20,256KiB:10", "--discard-share", "5%", "--flush-every", "40",
         "--approx-share", "30%", "--fill", "random", "--fill_approx", "30%")
OPEN = ("--arrival", "open", "--utilisation", "70%")
ALL_OF_IT = ("--histogram", "--series", "--block-table", "--verify")
UNIT = 4096
RUN = 64 * 1024 // UNIT
SECTORS = UNIT // 512


def remove_tool_key_from_result(result: Json) -> Json:
    assert SCHEMA.find_errors(result) == []
    return {key: value for key, value in result.items() if key != "tool"}


def compute_aftl_hash64_pair(a: int, b: int) -> int:
    """Compute the same hash as aftl_hash64_pair() in C."""
    return hash_u64(hash_u64(a) ^ b)


# ---------------------------------------------------------------- threads


@pytest.mark.slow
@pytest.mark.parametrize("shards", ["2", "4"])
def test_the_result_does_not_depend_on_the_number_of_threads(shards: str) -> None:
    """Each policy gives the same result with one thread, one per shard, and more threads."""
    each = ("--policy", "all", *SHAPE, *MIXED, *OPEN, *ALL_OF_IT, "--shards", shards,
            "--warmup", "300", "--requests", "1500", "--die-dies", "late",
            "--fill_overwrite", "100%")
    policies = len(json.loads(run_approxftl("policies", "--json").out)["policies"])
    said = [remove_tool_key_from_result(run_sim(*each, "--jobs", str(jobs)))
            for jobs in (1, 2 * policies, 8 * policies)]
    assert len(said[0]["runs"]) > 12
    assert said[1] == said[0]
    assert said[2] == said[0]
    counters = [one["counters"] for one in said[0]["runs"]]
    assert all(one["host_discard_requests"] and one["array_erases"] for one in counters)


def test_output_and_records_do_not_depend_on_the_threads(tmp_path: Path) -> None:
    said = []
    for jobs in "123":
        path = tmp_path / jobs
        done = run_approxftl("sim", *SHAPE, *MIXED, *OPEN, "--shards", "4", "--requests", "30000",
                             "--until", "1h", "--jobs", jobs, "--record", path)
        said.append((done, path.read_bytes()))
    assert said[0][0].code == 0
    assert "4 dies on 4 channels, 4 shards, seed 1" in said[0][0].out
    assert said[1:] == said[:1] * 2


def test_the_overload_message_does_not_depend_on_jobs() -> None:
    """The overload message does not depend on which shard's thread gives up first."""
    flood = ("sim", "--channels", "2", "--chips", "1", "--shards", "2", "--arrival", "open",
             "--rate", "1000000000", "--requests", "3M", "--write-share", "100%")
    done = run_approxftl(*flood, "--jobs", "1")
    assert (done.code, done.out) == (1, "")
    assert "cannot keep up: 1048576 requests wait after" in done.err
    assert run_approxftl(*flood, "--jobs", "2") == done


# ---------------------------------------------------------------- each shard


def select_requests_of_shard(records: list[Record], shards: int, index: int) -> list[Record]:
    """Return the requests of one shard; discards are split at the borders of shards."""
    own = []
    for one in records:
        if one.op == FLUSH:
            own.append(one)
            continue
        unit, end = one.off_sect // SECTORS, (one.off_sect + one.nsect) // SECTORS
        while unit < end:
            upto = min(end, (unit // RUN + 1) * RUN)
            if unit // RUN % shards == index:
                there = unit // RUN // shards * RUN + unit % RUN
                own.append(Record(one.t_ns, there * SECTORS, (upto - unit) * SECTORS, one.op,
                                  one.klass, one.stream))
            unit = upto
    return own


def concatenate_lists(lists: Iterable[list[Any]]) -> list[Any]:
    return [one for several in lists for one in several]


@pytest.mark.parametrize("policy", ["baseline", "approxftl"])
def test_a_shard_equals_a_device_with_its_requests(policy: str, tmp_path: Path) -> None:
    """A shard has the state, counters and wear of a device that gets only the shard's requests."""
    shards = 2
    device = ("--policy", policy, *SHAPE, "--seed", "7", "--fill", "random")
    whole = tmp_path / "whole"
    whole_run = get_only_run(run_sim(*device, *MIXED, *OPEN, "--shards", str(shards), "--requests",
                                     "4000", "--record", whole, "--block-table", "--until", "600s"))
    digest = 0
    alone = []
    for i in range(shards):
        path = write_trace(tmp_path / f"{i}", select_requests_of_shard(read_trace(whole), shards,
                                                                       i))
        alone.append(get_only_run(run_sim(
            *device, "--fill_approx", "30%", "--channels", str(4 // shards), "--buffer", "128KiB",
            "--seed", str(compute_aftl_hash64_pair(7, i)), "--trace", path, "--arrival", "device",
            "--block-table", "--until", "600s")))
        digest = compute_aftl_hash64_pair(digest, int(alone[i]["digest"], 16))
    assert whole_run["digest"] == f"{digest:016x}"
    for name, value in whole_run["counters"].items():
        if not name.startswith("host_") or not name.endswith("_requests"):
            assert value == sum(one["counters"][name] for one in alone), name
    for name in whole_run["block_table"]:
        assert whole_run["block_table"][name] == concatenate_lists(
            one["block_table"][name] for one in alone), name
    assert whole_run["luns"]["free_blocks"] == concatenate_lists(
        one["luns"]["free_blocks"] for one in alone)


# ---------------------------------------------------------------- all shards together


def test_requests_divided_among_shards_are_counted_once() -> None:
    stream = (*SHAPE, *MIXED, *OPEN, "--requests", "4000")
    one = get_only_run(run_sim(*stream))["counters"]
    several = get_only_run(run_sim(*stream, "--shards", "4"))
    counters, timing = several["counters"], several["timing"]
    for kind in ("read", "write", "flush", "discard"):
        assert counters[f"host_{kind}_requests"] == one[f"host_{kind}_requests"] > 0
    for kind in ("read", "write", "write_approx"):
        assert 0.99 < counters[f"host_{kind}_units"] / one[f"host_{kind}_units"] < 1.01
    for kind in ("read", "write", "flush"):
        assert timing[f"{kind}_response"]["count"] == counters[f"host_{kind}_requests"]
    assert (timing["write_precise_response"]["count"] + timing["write_approx_response"]["count"]
            == timing["write_response"]["count"])


def test_statistics_begin_at_the_same_time_in_all_shards() -> None:
    """Requests in flight at the end of the warm-up are counted when they end, as on one device."""
    def count_host_requests(*options: str) -> int:
        result = get_only_run(run_sim(*SHAPE, *MIXED, *OPEN, "--warmup", "1000", "--requests",
                                      "1000", *options))
        assert result["requests"] == 1000
        return sum(result["counters"][f"host_{kind}_requests"]
                   for kind in ("read", "write", "flush", "discard"))

    assert 1000 <= count_host_requests("--shards", "4") < 1000 + 300
    assert 1000 <= count_host_requests() < 1000 + 300


def read_response_times(records: list[Record], path: Path, *options: str) -> Json:
    result = get_only_run(run_sim("--trace", write_trace(path, records), *SHAPE, "--fill",
                                  "sequential", *options))
    found: Json = result["timing"]
    return found


def test_a_request_to_several_shards_ends_with_its_last_part(tmp_path: Path) -> None:
    """A read of two shards ends when the shard that a write keeps busy has read its part."""
    busy = Record(0, (RUN + 8) * SECTORS, SECTORS, WRITE)
    both = Record(1000, (RUN - 1) * SECTORS, 2 * SECTORS, READ)
    path = tmp_path / "x.aft"
    options = ("--shards", "4", "--buffer", "0")
    long = read_response_times([busy, both], path, *options)["read_response"]
    free = read_response_times([both], path, *options)["read_response"]
    first = read_response_times([busy, Record(1000, (RUN - 1) * SECTORS, SECTORS, READ)], path,
                                *options)
    last = read_response_times([busy, Record(1000, RUN * SECTORS, SECTORS, READ)], path, *options)
    assert long["count"] == free["count"] == 1
    assert first["read_response"]["max_ns"] == free["max_ns"]
    assert long["max_ns"] == last["read_response"]["max_ns"] > 2 * free["max_ns"]


def test_a_flush_waits_for_all_shards(tmp_path: Path) -> None:
    path = tmp_path / "x.aft"
    for shard in range(4):
        found = read_response_times([Record(0, shard * RUN * SECTORS, SECTORS, WRITE),
                                     Record(10, 0, 0, FLUSH)],
                                    path, "--shards", "4")
        assert found["flush_response"]["count"] == 1
        assert found["flush_response"]["max_ns"] > 400000
    assert read_response_times([Record(10, 0, 0, FLUSH)], path, "--shards",
                               "4")["flush_response"]["max_ns"] == 0


def test_a_large_discard_is_one_request(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", [Record(0, 8, 200000, DISCARD)])
    counters = get_only_run(run_sim("--trace", path, *SHAPE, "--fill", "sequential", "--shards",
                                    "4", "--verify"))["counters"]
    assert counters["host_discard_requests"] == 1
    assert counters["host_discard_units"] == 200000 // SECTORS


def test_option_die_dies_fails_the_last_die_of_the_last_shard() -> None:
    dead = get_only_run(run_sim(*SHAPE, *MIXED, "--shards", "2", "--requests", "500", "--die-dies",
                                "early", "--block-table"))
    states = dead["block_table"]["state"]
    assert {one == "bad" for one in states[-100:]} == {True}
    assert states[:-100].count("bad") < 20


@pytest.mark.parametrize("arrival", [OPEN, ()])
def test_an_interrupted_run_keeps_its_results(arrival: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    process = subprocess.Popen(
        ["env", "--default-signal=INT", BINARY, "sim", *SHAPE, *arrival, "--shards", "4",
         "--requests", "1000000000000", f"--json={path}", "--record", tmp_path / "x.aft"],
        stdout=subprocess.DEVNULL)
    await_true(lambda: has_signal_handler(process.pid, signal.SIGINT)
               and read_user_time_s(process.pid) > 0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    result = get_only_run(json.loads(path.read_text()))
    assert result["interrupted"] is True
    asked = result["counters"]["host_read_requests"] + result["counters"]["host_write_requests"]
    assert asked == result["requests"] == len(
        aft.open_record_file(tmp_path / "x.aft").get_operation_codes_of_records()) > 0


# ---------------------------------------------------------------- a closed queue


@pytest.mark.parametrize("how", [
    ("--depth", "16"), ("--tenants", "1,8,3"), ("--workload", "bursts", "--burst-on", "2ms",
                                                "--burst-off", "50ms")])
def test_a_recorded_closed_loop_can_be_repeated_with_shards(how: tuple[str, ...],
                                                            tmp_path: Path) -> None:
    """Replaying the recorded arrival times gives the same states: no shard's clock was ahead."""
    device = (*SHAPE, "--shards", "4", "--fill", "random", "--verify")
    path = tmp_path / "x.aft"
    first = get_only_run(run_sim(*device, *MIXED, *how, "--fill_approx", "0", "--requests", "3000",
                                 "--record", path))
    again = get_only_run(run_sim(*device, "--trace", path, "--arrival", "device", "--queue-by",
                                 "recorded"))
    del again["queues"]
    first.pop("queues", None)
    assert first == again


def test_tenants_on_several_shards_keep_their_queues_full() -> None:
    result = get_only_run(run_sim(*SHAPE, "--shards", "4", "--tenants", "1,4", "--write-share", "0",
                                  "--fill", "sequential", "--requests", "4000"))
    few, many = (queue["read_response"] for queue in result["queues"])
    assert few["count"] + many["count"] == 4000
    assert 3 < many["count"] / few["count"] < 4.2


def test_shards_have_the_throughput_of_one_device() -> None:
    """Four dies have the same throughput behind one FTL and behind four."""
    stream = (*SHAPE, "--write-share", "0", "--fill", "sequential", "--requests", "5000",
              "--depth", "64")
    one, four = (get_only_run(run_sim(*stream, "--shards", shards))["simulated_ns"]
                 for shards in "14")
    assert 0.95 < four / one < 1.05


# ---------------------------------------------------------------- zones

#: With 96 blocks the device has the same number of zones for any number of shards.
ZONED = (*SHAPE, "--blocks", "96", "--op", "50%", "--zoned", "4MiB", "--buffer", "16MiB",
         "--buffer_safe", "on", "--workload", "zones", "--open-zones", "6", "--size", "64KiB",
         "--write-share", "60%", "--footprint", "30%", "--requests", "2500", "--verify")


@pytest.mark.parametrize("how", [OPEN, ("--depth", "16")])
def test_a_zone_is_in_one_shard(how: tuple[str, ...]) -> None:
    """Zones end in the states that they have with one FTL, as writes stay in order in a zone."""
    one, two, four, threads = (
        get_only_run(run_sim(*ZONED, *how, "--shards", shards, "--jobs", jobs))
        for shards, jobs in (("1", "1"), ("2", "1"), ("4", "1"), ("4", "2")))
    assert one["zones"]["full"] > 5
    assert one["counters"]["zone_resets"] > 2
    assert four == threads
    for many in (two, four):
        assert many["zones"] == one["zones"]
        assert many["counters"]["host_failed_requests"] == 0
        assert many["counters"]["zone_resets"] == one["counters"]["zone_resets"]


def test_recording_a_zoned_workload_is_refused(tmp_path: Path) -> None:
    done = run_approxftl("sim", *ZONED, "--shards", "2", "--record", tmp_path / "x.aft")
    assert (done.code, done.out) == (1, "")
    assert "records have no resets of zones" in done.err


# ---------------------------------------------------------------- refused options


@pytest.mark.parametrize(("option", "value", "why"), [
    ("--raid", "5", "members of an array have one FTL each"),
    ("--dump", "/nowhere/x", "a device of several FTLs cannot be saved"),
    ("--change", "5:age=1h", "a device of several FTLs cannot be changed"),
    ("--timeline", "/nowhere/x", "it draws the dies of one FTL"),
    ("--page-map", "auto", "it numbers the blocks of one FTL"),
    ("--beside-rate", "100", "such a writer waits for one FTL"),
])
def test_options_that_need_a_single_ftl_are_refused_with_shards(option: str, value: str,
                                                                why: str) -> None:
    done = run_approxftl("sim", "--shards", "2", option, value, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"approxftl sim: {option}: {why}; set shards 1\n"


def test_channels_that_shards_cannot_share_are_refused() -> None:
    done = run_approxftl("sim", "--shards", "2", "--channels", "3")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("approxftl sim: shards: 3 channels cannot be shared out among 2")
    done = run_approxftl("sim", "--shards", "64", "--channels", "64", "--chips", "64", "--blocks",
                         "1048576", "--layers", "1", "--word_lines", "1", "--page", "4KiB")
    assert (done.code, done.out) == (2, "")
    assert "shards: 64 of 67108864 blocks each are more than are counted" in done.err
