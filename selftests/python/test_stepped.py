# SPDX-License-Identifier: GPL-2.0-only
"""Compare a device that is driven step by step with a model of its contents."""

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import approxftl as aftl
from approxftl import stepped


def make_small_device(**options: Any) -> aftl.Device:
    return aftl.Device(**{"profile": "demo", "blocks": 16, "op": 30, "fill": "none",
                                    **options})


def list_mapped_pages_and_blocks(device: aftl.Device) -> tuple[Any, Any]:
    mapped = device.mapping()
    return mapped[mapped["block"] != stepped.NOWHERE], device.blocks()


class Machine(RuleBasedStateMachine):
    """Random requests; the model has the pages with data and the number of pages per operation."""

    def __init__(self) -> None:
        super().__init__()
        self.device = make_small_device()
        self.written: set[int] = set()
        self.pages = {"read": 0, "write": 0, "discard": 0}
        self.least_ns = 0

    def clip_range_to_device(self, lpn: int, pages: int) -> range:
        return range(lpn, min(lpn + pages, self.device.logical_pages))

    @rule(lpn=st.integers(0, 11000), pages=st.integers(1, 40))
    def write_pages(self, lpn: int, pages: int) -> None:
        span = self.clip_range_to_device(lpn, pages)
        assert self.device.write(lpn, len(span)) > 0
        self.written.update(span)
        self.pages["write"] += len(span)

    @rule(lpn=st.integers(0, 11000), pages=st.integers(1, 40))
    def read_pages(self, lpn: int, pages: int) -> None:
        span = self.clip_range_to_device(lpn, pages)
        before = self.device.now_ns
        response = self.device.read(lpn, len(span))
        assert (response > 0) == any(lpn in self.written for lpn in span)
        assert self.device.now_ns == before + response
        self.pages["read"] += len(span)

    @rule(lpn=st.integers(0, 11000), pages=st.integers(1, 2000))
    def trim_pages(self, lpn: int, pages: int) -> None:
        span = self.clip_range_to_device(lpn, pages)
        self.device.trim(lpn, len(span))
        self.pages["discard"] += len(self.written.intersection(span))
        self.written.difference_update(span)

    @rule(count=st.integers(1, 3000), seed=st.integers(0, 99))
    def write_many_pages(self, count: int, seed: int) -> None:
        lpns = np.random.default_rng(seed).integers(0, 11000, count)
        times = self.device.submit("write", lpns, depth=8)
        assert (times > 0).all()
        self.written.update(lpns.tolist())
        self.pages["write"] += count

    @rule(ns=st.integers(0, 10**9))
    def advance_time(self, ns: int) -> None:
        until = self.device.now_ns + ns
        assert self.device.advance(ns) == until == self.device.now_ns

    @rule()
    @precondition(lambda self: self.written)
    def flush_device(self) -> None:
        self.device.flush()

    @invariant()
    def check_request_counts(self) -> None:
        counters = self.device.counters()
        for kind, pages in self.pages.items():
            assert counters[f"host_{kind}_units"] == pages

    @invariant()
    def check_mapping(self) -> None:
        mapped, blocks = list_mapped_pages_and_blocks(self.device)
        assert set(np.flatnonzero(self.device.l2p())) == self.written
        assert len(set(mapped["ppn"].tolist())) == len(mapped)
        counted = np.bincount(mapped["block"], minlength=len(blocks))
        assert (counted == blocks["valid"]).all()

    def teardown(self) -> None:
        self.device.check()


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=8, stateful_step_count=12)


def test_batches_of_submit_equal_the_stream_of_approxftl_sim() -> None:
    run = aftl.simulate(profile="demo", workload="zipf", write_share=1.0, requests=30000, depth=16)
    device = aftl.Device(profile="demo")
    times = device.submit("write", run.requests.lpn, depth=16)
    assert (times == run.requests.response_ns).all()
    assert device.digest() == run.result["digest"]
    counters = run.result["counters"]
    assert {name: counters[name] for name in device.counters()} == device.counters()


def test_block_and_l2p_tables_are_read_only_views_of_the_device() -> None:
    device = make_small_device()
    blocks, entries = device.blocks(), device.l2p()
    assert not blocks["valid"].any() and not entries.any()
    assert device.mapping()["level"].max() < 2**(32 - device.ppn_bits) == 4
    device.write(3, 2)
    assert (blocks["valid"].sum(), np.flatnonzero(entries).tolist()) == (2, [3, 4])
    assert device.blocks().ctypes.data == blocks.ctypes.data
    assert device.l2p().ctypes.data == entries.ctypes.data
    for table in (blocks, entries):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0
    ppns = device.mapping()["ppn"][3:5]
    assert (entries[3:5] - 1 == ppns).all()
    expected = blocks.copy(), entries.copy()
    del device
    make_small_device().write(0, 8)
    assert all((found == wanted).all() for found, wanted in zip((blocks, entries), expected,
                                                                strict=True))


def test_requests_beyond_the_end_are_refused() -> None:
    device = make_small_device()
    end = device.logical_pages
    device.write(end - 1)
    for lpn, pages in ((end, 1), (end - 1, 2), (-1, 1), (0, 0), (0, -1), (2**62, 1)):
        for call in (device.read, device.write, device.trim):
            with pytest.raises(ValueError, match="not within"):
                call(lpn, pages)
    with pytest.raises(aftl.OptionError, match="request 1, of 1 pages at"):
        device.submit("write", [0, end])
    with pytest.raises(ValueError, match="no operation"):
        device.submit("erase", [0])
    assert device.counters()["host_write_units"] == 1


@pytest.mark.parametrize(("options", "said"), [
    ({"requests": 5}, "--requests describes no device"),
    ({"shards": 2}, "shards: "),
    ({"policy": "none"}, 'unknown policy "none"'),
    ({"blocks": 2, "op": 1}, ""),
    ({"load": "/nowhere", "profile": None}, "/nowhere: "),
])
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(aftl.SimulationError) as caught:
        aftl.Device(**{"profile": "demo", **options})
    assert said in str(caught.value)


def test_arrival_times_may_not_decrease() -> None:
    with pytest.raises(ValueError, match="back"):
        make_small_device().advance(-1)


def test_two_threads_may_use_two_devices() -> None:
    def write_to_own_device(seed: int) -> str:
        device = make_small_device(fill="random")
        lpns = np.random.default_rng(seed).integers(0, device.logical_pages, 20000)
        device.submit("write", lpns[:10000])
        for lpn in lpns[10000:].tolist():
            device.write(lpn)
        return device.digest()

    expected = {seed: write_to_own_device(seed) for seed in (1, 2)}
    found: dict[int, str] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: write_to_own_device(seed)}))
        for seed in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_two_threads_may_not_use_one_device() -> None:
    device = make_small_device()

    def write_to_shared_device() -> None:
        for lpn in range(5000):
            device.write(lpn)

    threads = [threading.Thread(target=write_to_shared_device) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert device.counters()["host_write_units"] == 10000
    device.check()


def test_device_fault_affects_only_the_named_unit_block_or_die() -> None:
    device = make_small_device()
    device.write(0, 8)
    with pytest.raises(OSError, match="unit 9: No data"):
        device.fault("unit", 9)
    device.fault("unit", 5)
    with pytest.raises(OSError, match="Input/output error"):
        device.read(5)
    assert device.read(0, 5) > 0
    assert device.read(6, 2) > 0
    device.write(5)
    assert device.read(0, 8) > 0
    states = device.blocks()["state"]
    device.fault("block", int(np.flatnonzero(states == states.min())[-1]))
    assert device.counters()["retired_blocks"] == 1
    device.fault("die", 0)
    assert device.counters()["retired_blocks"] >= device.block_count // device.luns
    device.check()


def test_fault_age_ages_the_cells_and_not_the_clock() -> None:
    device = make_small_device(policy="tvr", op=60)
    for _ in range(2):
        device.write(0, 64)
    before = device.now_ns
    device.fault("age", 400 * 86400 * 10**9)
    assert device.now_ns == before
    device.advance(10**9)
    assert device.counters()["programmed_refresh_units"] == 64


@pytest.mark.parametrize(("kind", "number", "said"), [
    ("disk", 0, "'disk' is not a fault; there are block, die, unit, age"),
    ("unit", -1, "-1 is negative"),
    ("unit", 2**40, "Invalid argument"),
    ("block", 2**32, "Invalid argument"),
    ("die", 99, "Invalid argument"),
])
def test_wrong_faults_are_refused(kind: str, number: int, said: str) -> None:
    device = make_small_device()
    before = device.digest()
    with pytest.raises((OSError, ValueError), match=said):
        device.fault(kind, number)
    assert device.digest() == before
