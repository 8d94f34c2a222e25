# SPDX-License-Identifier: GPL-2.0-only
"""Test host queues: shares of tenants, the queue of a trace's request, counts of each queue."""

import re
import tomllib
from itertools import product
from pathlib import Path

import pytest
from selftests.lib.programs import TOP
from selftests.sim.support import (
    Header,
    Json,
    Record,
    get_only_run,
    read_trace,
    run_approxftl,
    run_sim,
    write_trace,
)

READS = ("--fill", "sequential", "--write-share", "0", "--set", "depth=16", "--requests", "20000")


def read_queue_statistics(*arguments: str | Path) -> list[Json]:
    counted: list[Json] = get_only_run(run_sim(*arguments))["queues"]
    return counted


def test_tenants_share_the_device_by_queue_weight() -> None:
    both = read_queue_statistics(*READS, "--tenants", "64,64", "--queue_weights", "3:1", "--verify")
    assert [one["weight"] for one in both] == [3, 1]
    assert both[0]["requests_per_s"] == pytest.approx(3 * both[1]["requests_per_s"], rel=0.02)
    assert both[0]["bytes_per_s"] == pytest.approx(4096 * both[0]["requests_per_s"], rel=1e-4)
    assert both[1]["read_response"]["mean_ns"] == pytest.approx(
        3 * both[0]["read_response"]["mean_ns"], rel=0.05)
    even = read_queue_statistics(*READS, "--tenants", "64,64")
    assert even[0]["requests_per_s"] == pytest.approx(even[1]["requests_per_s"], rel=0.02)


def test_statistics_of_queues_add_up_to_those_of_the_device() -> None:
    """Each request is counted in exactly one queue, with its length and as a read or a write."""
    result = get_only_run(run_sim("--tenants", "3,5,7", "--tenant-size", "4KiB,8KiB,16KiB",
                                  "--tenant-write-share", "0,50%,100%", "--warmup", "1000",
                                  "--requests", "6000", "--queue_weights", "1:2:3", "--set",
                                  "depth=16"))
    for kind in ("read", "write"):
        assert sum(one[f"{kind}_response"]["count"] for one in result["queues"]) == (
            result["timing"][f"{kind}_response"]["count"])
        assert sum(one[f"{kind}_response"]["sum_ns"] for one in result["queues"]) == (
            result["timing"][f"{kind}_response"]["sum_ns"])
    first, second, third = result["queues"]
    assert not first["write_response"]["count"] and not third["read_response"]["count"]
    assert second["read_response"]["count"] == pytest.approx(
        second["write_response"]["count"], rel=0.15)
    for one, size in ((first, 4096), (second, 8192), (third, 16384)):
        assert one["bytes_per_s"] == pytest.approx(size * one["requests_per_s"], rel=1e-4)


def test_a_tenant_keeps_its_queue_full() -> None:
    """Little's law: requests in flight are throughput times response time."""
    for one, depth in zip(read_queue_statistics(*READS, "--tenants", "2,9,40"), (2, 9, 40),
                          strict=True):
        under_way = one["requests_per_s"] * one["read_response"]["mean_ns"] / 1e9
        assert under_way == pytest.approx(depth, rel=0.02)


def test_tenants_continue_after_two_changes_of_parameters() -> None:
    """A tenant's requests go on after each of two --change, which save and load the device."""
    both = read_queue_statistics(*READS, "--tenants", "64,64", "--change",
                                 "8000:read_cache=0,9000:queue_weights=9:1")
    assert both[0]["requests_per_s"] == pytest.approx(9 * both[1]["requests_per_s"], rel=0.1)


def test_the_report_shows_each_queue() -> None:
    arguments = (*READS, "--tenants", "32,96", "--queue_weights", "1:1")
    counted = read_queue_statistics(*arguments)
    told = re.findall(r"^queue (\d), throughput +(\d+)/s *\n +read response, mean",
                      run_approxftl("sim", *arguments).out, re.M)
    assert told == [(str(i), str(int(one["requests_per_s"])))
                    for i, one in enumerate(counted)]
    assert "queue 0" not in run_approxftl("sim", "--requests", "100").out


@pytest.fixture(name="trace")
def write_bursty_trace(tmp_path: Path) -> Path:
    """Write a trace of five streams and seven processes, in bursts."""
    return write_trace(tmp_path / "t.aft", [
        Record(i // 200 * 10**8, i * 7919 % 50000 * 8, 8, i % 2, stream=i % 5, pid=i % 7)
        for i in range(7000)], Header(records=7000))


@pytest.mark.parametrize(("by", "numbers"), [("stream", 5), ("pid", 7)])
def test_requests_of_a_trace_get_queues_by_stream_or_pid(trace: Path, by: str,
                                                         numbers: int) -> None:
    def count_requests_by_queue(*more: str) -> list[int]:
        return [one["read_response"]["count"] + one["write_response"]["count"]
                for one in read_queue_statistics("--trace", trace, "--queue-by", by, *more)]
    assert count_requests_by_queue() == [7000 // numbers] * numbers
    assert count_requests_by_queue("--queue_weights", "4:2:1") == [
        7000 // numbers * len(range(queue, numbers, 3)) for queue in range(3)]


def test_a_recorded_run_can_be_repeated(trace: Path, tmp_path: Path) -> None:
    """A recorded trace contains the queues, so that its replay gives the same result."""
    device = ("--queue_weights", "4:2:1", "--set", "depth=16")
    again = tmp_path / "again.aft"
    first = run_sim("--trace", trace, *device, "--record", again)
    assert {record.stream >> 8 for record in read_trace(again)} == {0, 1, 2}
    assert {record.stream & 255 for record in read_trace(again) if record.op} == set(range(5))
    second = get_only_run(run_sim("--trace", again, "--queue-by", "recorded", *device))
    other = get_only_run(run_sim("--trace", again, "--queue-by", "pid", *device))
    assert second["digest"] == get_only_run(first)["digest"] != other["digest"]
    assert second["queues"] == get_only_run(first)["queues"]


@pytest.mark.parametrize(("words", "said"), [
    (("--tenants", "4,x"), '--tenants: "x" is not a whole number'),
    (("--tenants", "0"), "--tenants: 0 is out of range; it must be 1 to 1048576"),
    (("--tenants", ",".join("1" * 9)), "--tenants: at most 8 tenants"),
    (("--tenants", "1,2", "--tenant-size", "4KiB"), "--tenant-size: 1 values for 2 tenants"),
    (("--tenants", "1", "--tenant-write-share", "50"),
     "--tenant-write-share: 50 is more than the whole; write 50% or 0.5"),
    (("--tenant-size", "4KiB"), "--tenant-size needs --tenants"),
    (("--tenants", "1", "--depth", "3"), "--tenants and --depth contradict each other"),
    (("--tenants", "1", "--rate", "5"), "--tenants needs --arrival closed"),
    (("--queue-by", "pid"), "--queue-by needs --trace"),
    (("--queue_weights", "1:0"), 'queue_weights: "1:0" is not up to eight weights'),
])
def test_invalid_queue_options_are_refused(words: tuple[str, ...], said: str) -> None:
    done = run_approxftl("sim", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_queue_of_its_own_protects_from_a_noisy_neighbour() -> None:
    """With a queue of its own, a tenant's read latency is independent of the other tenant."""
    study = tomllib.loads((TOP / "docs/examples/noisy-neighbour.toml").read_text())
    base = [word for key, value in study["base"].items() for word in (f"--{key}", str(value))]
    ran = {(tenants, weights): read_queue_statistics(*base, "--tenants", tenants, "--queue_weights",
                                                     weights)
           for tenants, weights in product(study["vary"]["tenants"],
                                           study["vary"]["queue_weights"])}
    p99 = {key: both[0]["read_response"]["p99_ns"] for key, both in ran.items()}
    assert p99["4,256", "0"] > 5 * p99["4,16", "0"]
    assert p99["4,256", "1:1"] == pytest.approx(p99["4,16", "1:1"], rel=0.05)
    mean = {key: both[0]["read_response"]["mean_ns"] for key, both in ran.items()}
    assert mean["4,256", "0"] == pytest.approx(3.9e6, rel=0.05)  # as in docs/controller.md
    assert mean["4,256", "1:1"] == pytest.approx(0.28e6, rel=0.05)
