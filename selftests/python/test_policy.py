# SPDX-License-Identifier: GPL-2.0-only
"""Policies in Python equal built-in ones with the same decisions; illegal decisions are refused."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selftests.lib.programs import TOP
from selftests.sim.support import compile_policy

import approxftl as aftl

LOAD: dict[str, Any] = {"profile": "demo", "blocks": 64, "op": 30, "workload": "zipf",
                        "write_share": 1.0, "requests": 40000, "fill": "random"}


def simulate_for_results(**options: Any) -> Any:
    """Return the results of a run, except the name of its policy and of its write streams."""
    found = aftl.simulate(**{**LOAD, **options}).result
    return [found[key] for key in ("digest", "counters", "timing", "write_amplification")]


def select_cost_benefit_victim(blocks: aftl.Blocks) -> int:
    empty = np.flatnonzero(blocks.valid == 0)
    if len(empty):
        return int(empty[0])
    age = np.minimum(blocks.age_ns >> 16, 2**32 - 1) + 1
    gain = age * (blocks.block_pages - blocks.valid) // (2 * blocks.valid)
    return int(gain.argmax())


@pytest.mark.parametrize(("victim", "select"), [
    ("greedy", lambda _: None), ("fifo", lambda blocks: blocks.age_ns.argmax()),
    ("cost_benefit", select_cost_benefit_victim)])
@pytest.mark.parametrize("more", [{}, {"superblock": 4, "size": "16KiB"}, {"unit": 512},
                                  {"fill_overwrite": 100}])
def test_a_victim_rule_in_python_equals_the_built_in_one(
        victim: str, more: dict[str, Any], select: Callable[[aftl.Blocks], Any]) -> None:
    policy = aftl.Policy(select_victim=select)
    assert simulate_for_results(policy=policy, **more) == simulate_for_results(policy="baseline",
                                                                               victim=victim,
                                                                               **more)


def test_a_stream_rule_in_python_equals_the_built_in_one() -> None:
    rule = aftl.Policy(stream=lambda page: page.relocated, streams=["fresh", "moved"],
                       moved=1)
    assert simulate_for_results(policy=rule) == simulate_for_results(policy="separated")
    steady = {key: value for key, value in LOAD.items() if key != "fill"}
    ours, theirs = (aftl.simulate(**steady, policy=policy) for policy in (rule, "separated"))
    assert ours.result["digest"] == theirs.result["digest"] != simulate_for_results(policy=rule)[0]
    assert ours.document["starting_state"] == "random"
    seen: set[tuple[bool, bool]] = set()

    def record_written_page(page: aftl.Page) -> int:
        seen.add((page.relocated, page.approximate))
        return 0

    aftl.simulate(**LOAD, approx_share=0.5, policy=aftl.Policy(stream=record_written_page))
    assert seen == {(False, False), (False, True), (True, False)}


class Recorder(aftl.Policy):
    """A policy that compares the blocks and pages of its arguments with its device."""

    streams = ("cold", "hot")
    device: aftl.Device | None = None
    seen = 0

    def start(self, device: Any) -> None:
        self.written = np.zeros(device.logical_pages, np.int64)

    def stream(self, page: aftl.Page) -> int:
        if page.relocated:
            return page.stream
        assert (page.stream < 0) == (page.age_ns < 0)
        self.written[page.lpn] += 1
        return int(self.written[page.lpn] > 1)

    def select_victim(self, blocks: aftl.Blocks) -> int:
        if Recorder.device:
            found = Recorder.device.blocks()[blocks.block]
            for name in ("valid", "erases", "reads"):
                assert (found[name] == getattr(blocks, name)).all(), name
            assert (found["kind"] == blocks.stream).all()
            assert (blocks.block // (Recorder.device.block_count // Recorder.device.luns)
                    == blocks.lun).all()
            assert blocks.now_ns == Recorder.device.now_ns
            assert (blocks.now_ns - found["opened_ns"] == blocks.age_ns).all()
            assert (blocks.rest_ns <= blocks.age_ns).all()
            assert (blocks.data_age_ns > 0).all()
            assert (blocks.data_age_ns != blocks.age_ns).any()
            assert len(blocks) == len(blocks.valid)
            with pytest.raises(ValueError, match="read-only"):
                blocks.valid[0] = 0
            Recorder.seen += 1
        return int(blocks.valid.argmin())


def test_a_policy_in_python_sees_its_device() -> None:
    policy = Recorder()
    assert policy.name == "recorder"
    device = aftl.Device(profile="demo", blocks=16, op=40, fill="none", policy=policy)
    Recorder.device = device
    try:
        assert device.kinds == ["cold", "hot"]
        lpns = np.random.default_rng(1).zipf(1.2, 60000) % device.logical_pages
        for lpn in range(device.logical_pages):
            device.write(lpn)
        device.submit("write", lpns)
        device.advance(10**9)
        device.check()
    finally:
        Recorder.device = None
    assert Recorder.seen > 10
    assert not hasattr(policy, "written"), "the state belongs to the run"
    assert set(device.blocks()["kind"].tolist()) == {0, 1}
    assert device.counters()["policy_bugs"] == 0


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda _: "first", TypeError, r"select_victim\(\) returned 'first', which is no index of"),
    (lambda blocks: blocks.valid < 3, TypeError, r"which is no index of blocks"),
    (lambda _: 1.0, TypeError, r"returned 1.0, which is no index of blocks"),
    (lambda _: -1, ValueError, r"select_victim\(\) returned -1; there are blocks 0 to \d+"),
    (lambda blocks: len(blocks), ValueError, r"returned (\d+); there are blocks 0 to \d+"),
    (lambda blocks: blocks.cost, AttributeError, "blocks have no cost; there are block, valid"),
    (lambda _: 1 // 0, ZeroDivisionError, "division"),
    (lambda: 1, TypeError, "argument"),
]


@pytest.mark.parametrize(("select", "kind", "said"), WRONG, ids=range(len(WRONG)))
def test_an_invalid_victim_of_a_python_policy_ends_the_run(
    select: Any, kind: type[Exception], said: str
) -> None:
    policy = aftl.Policy(select_victim=select)
    with pytest.raises(kind, match=said):
        aftl.simulate(**{**LOAD, "requests": 10**12}, policy=policy, keep_requests=False)
    with pytest.raises(kind, match=said):
        aftl.sweep(policy=["baseline", policy], seeds=2, jobs=2, **LOAD)


@pytest.mark.parametrize(("stream", "kind", "said"), [
    (lambda _: 2, ValueError, r"stream\(\) returned 2; there are streams 0 to 1"),
    (lambda _: None, TypeError, r"stream\(\) returned None, which is no index of streams"),
    (lambda page: page.heat, AttributeError, "heat")])
def test_an_invalid_stream_of_a_python_policy_ends_the_run(
    stream: Any, kind: type[Exception], said: str
) -> None:
    policy = aftl.Policy(stream=stream, streams=["a", "b"])
    with pytest.raises(kind, match=said):
        aftl.simulate(**LOAD, policy=policy)
    with pytest.raises(kind, match=said):  # while the device is filled
        aftl.Device(profile="demo", policy=policy)


def test_an_exception_ends_a_call_and_not_the_device() -> None:
    fails = [True]

    def fail_or_select_victim(blocks: aftl.Blocks) -> int:
        if fails:
            raise LookupError("undecided")
        return int(blocks.valid.argmin())

    device = aftl.Device(profile="demo", blocks=16, op=40, fill="none",
                                  policy=aftl.Policy(select_victim=fail_or_select_victim))
    lpns = np.random.default_rng(1).integers(0, device.logical_pages, 60000)
    with pytest.raises(LookupError, match="undecided"):
        device.submit("write", lpns)
    with pytest.raises(LookupError, match="undecided"):
        for lpn in lpns.tolist():
            device.write(lpn)
    fails.clear()
    device.submit("write", lpns)
    device.check()


def test_a_policy_cannot_use_its_own_device() -> None:
    refused: list[str] = []

    def change_device_from_policy(_blocks: aftl.Blocks) -> None:
        for use in (lambda: device.write(0), lambda: device.advance(1), device.check,
                    lambda: device.submit("write", [0])):
            with pytest.raises(aftl.SimulationError, match="only look at it") as caught:
                use()
            refused.append(str(caught.value))

    device = aftl.Device(profile="demo", blocks=16, op=40, fill="none",
                         policy=aftl.Policy(select_victim=change_device_from_policy))
    lpns = np.random.default_rng(1).integers(0, device.logical_pages, 40000)
    for lpn in lpns[:30000].tolist():
        device.write(lpn)
    before = len(refused)
    assert before
    device.submit("write", lpns[30000:])
    assert len(refused) > before


@pytest.mark.parametrize(("arguments", "said"), [
    ({"name": "a b"}, "name: 'a b' is not made of"),
    ({"name": "baseline"}, "a built-in policy has the name baseline, too"),
    ({"streams": ["a", "b"]}, "no function `stream`"),
    ({"stream": len, "streams": ["a", "a"]}, "1 to 8 different names"),
    ({"stream": len, "streams": []}, "1 to 8 different names"),
    ({"stream": len, "streams": list("abcdefghi")}, "1 to 8 different names"),
    ({"stream": len, "streams": ["a,b"]}, "streams: 'a,b' is not made of"),
    ({"stream": len, "streams": ["a", "b"], "moved": 3}, "moved: 3 is not within 1 and"),
    ({"select_victim": 5}, "select_victim: 5 is no function")])
def test_wrong_policies_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        aftl.simulate(profile="demo", requests=1, policy=aftl.Policy(**arguments))


@pytest.mark.parametrize(("options", "said"), [
    ({"shards": 2}, "shards: a policy in Python"), ({"raid": 5}, "raid: a policy in Python"),
    ({"change": "1:gc=9"}, "--change saves"), ({"dump": "device"}, "--dump saves")])
def test_python_policies_are_refused_for_several_devices(options: dict[str, Any], said: str,
                                                         tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(aftl.OptionError, match=said):
        aftl.simulate(profile="demo", requests=10, policy=aftl.Policy("mine"), **options)
    with pytest.raises(aftl.OptionError, match='unknown policy "mine"'):
        aftl.simulate(profile="demo", requests=10, policy="mine")


def test_a_sweep_compares_python_and_built_in_policies() -> None:
    oldest = aftl.Policy("oldest", select_victim=lambda blocks: blocks.age_ns.argmax())
    runs = aftl.sweep(policy=["baseline", oldest], seeds=3, jobs=2, **LOAD)
    assert runs.axes["policy"] == ["baseline", "oldest"]
    found = runs.interval("write_amplification", by="policy", relative_to="baseline")
    built_in = aftl.sweep(victim=["greedy", "fifo"], policy="baseline", seeds=3, **LOAD).interval(
        "write_amplification", by="victim", relative_to="greedy")
    assert found["oldest"] == built_in["fifo"]
    assert found["oldest"].low
    assert found["oldest"].low > 1
    with pytest.raises(aftl.OptionError, match="policy: a value is there twice"):
        aftl.sweep(policy=[oldest, oldest], seeds=2, **LOAD)


def test_threads_have_policies_of_their_own() -> None:
    policy = Recorder()
    expected = simulate_for_results(policy=policy)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(simulate_for_results(policy=policy)))
               for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3


def test_a_policy_is_loaded_from_a_shared_object(tmp_path: Path) -> None:
    made = compile_policy(tmp_path, (TOP / "docs/examples/survivors.c").read_text())
    assert simulate_for_results(policy=str(made)) == simulate_for_results(policy="separated")
    assert aftl.simulate(**LOAD, policy=made).result["policy"] == "survivors"
    assert aftl.Device(profile="demo", policy=made).kinds == ["fresh", "moved"]
    with pytest.raises(aftl.OptionError, match="cannot read"):
        aftl.simulate(**LOAD, policy="./missing.so")
