# SPDX-License-Identifier: GPL-2.0-only
"""simulate() against the command line: equal output bytes and equal messages."""

import importlib
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.programs import PROGRAM, TOP, run_program

import approxftl as aftl

OPTIONS = st.fixed_dictionaries({
    "profile": st.sampled_from(["demo", "micro19"]),
    "blocks": st.just(64),
    "policy": st.sampled_from(["baseline", "approxftl", "vth_b", "streams"]),
    "seed": st.integers(1, 2**40),
    "requests": st.integers(0, 3000),
}, optional={
    "op": st.sampled_from([10, "12.5", "20%"]),
    "workload": st.sampled_from(["zipf", "sequential", "drift"]),
    "write_share": st.floats(0, 1).map(lambda share: round(share, 4)),
    "size": st.sampled_from(["8KiB", {"4KiB": 70, "64KiB": 30}]),
    "approx_share": st.sampled_from([0.5, "30%"]),
    "discard_share": st.sampled_from([0.1]),
    "flush_every": st.integers(0, 50),
    "warmup": st.integers(0, 500),
    "depth": st.integers(1, 64),
    "fill": st.sampled_from(["none", "random"]),
    "buffer": st.sampled_from(["256KiB"]),
    "tenants": st.just([4, 2]),
    "histogram": st.booleans(),
    "block_table": st.booleans(),
    "shards": st.sampled_from([1, 2]),
    "raid": st.sampled_from([None, 5]),
})


@settings(max_examples=40)
@given(OPTIONS)
def test_results_of_simulate_equal_those_of_approxftl_sim(options: dict[str, Any]) -> None:
    error = run = None
    try:
        run = aftl.simulate(**options)
    except aftl.SimulationError as caught:
        error = caught
    line = aftl.simlib.make_command_line(options)
    done = run_program(PROGRAM, *line[1:])
    said = [text.removeprefix("approxftl sim: ") for text in done.err.splitlines()]
    if run:
        assert (run.json, run.messages, done.code) == (done.out, said, 0)
        assert run.command == line
    else:
        assert error
        assert (str(error), error.exit_code) == (said[-1], done.code)


def test_times_of_single_requests_add_up_to_the_statistics() -> None:
    run = aftl.simulate(profile="demo", requests=20000, write_share=0.7,
                        size={"512": 1, "16KiB": 1}, discard_share=0.1, flush_every=100,
                        fill="random", queue_weights="1:1")
    table = run.requests
    assert len(table) == run.result["requests"] == 20000
    assert not table.failed.any()
    assert (np.diff(table.arrival_ns.astype(np.int64)) >= 0).all()
    for kind in ("read", "write", "flush"):
        times = table.response_ns[table.op == aftl.OPERATIONS.index(kind)]
        found = run.result["timing"][f"{kind}_response"]
        assert (len(times), int(times.sum()), int(times.max())) == (
            found["count"], found["sum_ns"], found["max_ns"])
    for kind, op in (("read", 0), ("write", 1)):
        found = run.result["timing"][f"{kind}_waiting"]
        assert int(table.waiting_ns[table.op == op].sum()) == found["sum_ns"]
    counters = run.result["counters"]
    written = int(table.bytes[table.op == 1].sum())
    assert written == counters["host_write_bytes"]
    assert run.measure("write_p99") == run.summary["write_response_p99_ns"]


def test_arrow_columns_share_memory_with_numpy_and_outlive_the_run() -> None:
    table = aftl.simulate(profile="demo", requests=5000).requests
    arrow = table.to_arrow()
    column = table.response_ns
    for name in {*table.COLUMNS} - {"failed"}:  # Arrow packs truth values into bits
        assert arrow[name].chunk(0).buffers()[1].address == table[name].ctypes.data, name
    expected = column.copy()
    del table, arrow
    aftl.simulate(profile="demo", requests=5000, seed=2)
    assert (column == expected).all()


def test_results_are_converted_to_pandas() -> None:
    table = aftl.simulate(profile="demo", requests=500).requests
    frame = table.to_pandas()
    assert list(frame.columns) == list(table.COLUMNS)
    assert frame.op.astype(str).tolist() == [aftl.OPERATIONS[i] for i in table.op]
    names = [*aftl.wait_reasons(), None]
    assert frame.reason.astype(object).where(frame.reason.notna(), None).tolist() == [
        names[i] for i in table.reason]
    assert np.shares_memory(frame.response_ns.to_numpy(), table.response_ns)


def test_results_convert_to_polars() -> None:
    table = aftl.simulate(profile="demo", requests=500).requests
    assert table.to_polars()["response_ns"].to_list() == table.response_ns.tolist()


def test_results_convert_to_parquet(tmp_path: Path) -> None:
    table = aftl.simulate(profile="demo", requests=500).requests
    table.to_parquet(tmp_path / "requests.parquet")
    parquet = importlib.import_module("pyarrow.parquet")
    found = parquet.read_table(tmp_path / "requests.parquet")
    assert found.column_names == list(table.COLUMNS)
    for name in table.COLUMNS:
        assert found[name].to_pylist() == table[name].tolist()


def test_requests_from_a_python_iterator_are_simulated(tmp_path: Path) -> None:
    rows = [(1000 * i, ("read", "write", "trim")[i % 3], 4096 * (i % 50), 4096)
            for i in range(300)]
    run = aftl.simulate(profile="demo", requests=iter(rows))
    table = run.requests
    assert table.arrival_ns.tolist() == [at for at, *_ in rows]
    assert table.op.tolist() == [(0, 1, 3)[i % 3] for i in range(300)]
    assert table.lpn.tolist() == [i % 50 for i in range(300)]
    assert table.offset.tolist() == [offset for _, _, offset, _ in rows]
    # The same as a trace, and as an array with fields.
    aftl.simulate(profile="demo", requests=rows, record=tmp_path / "copy.aft")
    copied = aftl.simulate(profile="demo", trace=tmp_path / "copy.aft")
    assert copied.result["digest"] == run.result["digest"]
    array = np.zeros(300, [("arrival_ns", "u8"), ("op", "u1"), ("offset", "u8"), ("bytes", "u4")])
    array["arrival_ns"], array["op"] = table.arrival_ns, table.op
    array["offset"], array["bytes"] = 4096 * table.lpn.astype(int), 4096
    assert aftl.simulate(profile="demo", requests=array).result == run.result
    assert aftl.simulate(profile="demo", requests=table).result == run.result


@pytest.mark.parametrize(("requests", "said"), [
    ([(0, "write", 100, 4096)], "request 0: 4096 bytes at 100 are no whole sectors of 512 bytes"),
    ([(5, "write", 0, 4096), (4, "read", 0, 4096)],
     "request 1 arrives before the previous request"),
    ([(5, "erase", 0, 4096)], "request 0: unknown operation; there are read, write, flush,"
                              " discard and write_zeroes"),
])
def test_wrong_requests_are_refused(requests: list[tuple[int, str, int, int]], said: str) -> None:
    with pytest.raises(aftl.OptionError) as caught:
        aftl.simulate(profile="demo", requests=requests)
    assert str(caught.value) == said


@pytest.mark.parametrize(("options", "kind", "said"), [
    ({"policyy": "baseline"}, aftl.OptionError,
     'unknown option "--policyy"; did you mean --policy?'),
    ({"policy": "a"}, ValueError, 'unknown policy "a"; there are '),
    ({"policy": "baseline,vth_b"}, aftl.OptionError, "sweep()"),
    ({"help": True}, aftl.OptionError, "help has no meaning"),
    ({"trace": "/nowhere"}, OSError, "/nowhere: "),
    ({"trace": "x", "requests": [(0, "read", 0, 512)]}, aftl.OptionError, "one source"),
    ({"op": 1, "blocks": 8, "fill": "random"}, aftl.SimulationError, ""),
    ({"record": "/nowhere/x"}, aftl.SimulationError, "/nowhere/x: cannot create"),
])
def test_errors_of_a_simulation_are_python_exceptions(options: dict[str, Any],
                                                      kind: type[Exception], said: str) -> None:
    for _ in range(2):
        with pytest.raises(kind) as caught:
            aftl.simulate(**options)
        assert said in str(caught.value)
        assert isinstance(caught.value, aftl.SimulationError)


def test_a_saved_device_file_is_loaded_with_the_same_digest(tmp_path: Path) -> None:
    file = tmp_path / "device"
    first = aftl.simulate(profile="demo", requests=1000, dump=file)
    again = aftl.simulate(load=file, requests=0)
    assert again.result["digest"] == first.result["digest"]
    assert sorted(tmp_path.iterdir()) == [file]


def test_many_python_runs_share_a_parameter_file(tmp_path: Path) -> None:
    file = tmp_path / "parameters"
    file.write_text("op=20\n#" + 20000 * "x" + "\n")
    for _ in range(5):
        run = aftl.simulate(profile="demo", requests=10, set=f"@{file}")
        assert run.document["parameters"]["op_percent"] == 20


def test_simulations_in_threads_give_the_same_results() -> None:
    def run_simulation(seed: int) -> tuple[str, int]:
        run = aftl.simulate(profile="demo", requests=20000, seed=seed, fill="random")
        return run.json, int(run.requests.response_ns.sum())

    expected = {seed: run_simulation(seed) for seed in range(1, 5)}
    found: dict[int, tuple[str, int]] = {}
    threads = [threading.Thread(target=lambda seed=seed: found.update({seed: run_simulation(seed)}))
               for seed in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


INTERRUPTED = """
import os, signal, sys, threading, time
import approxftl as aftl
# A shell's background jobs, such as a check under nohup, ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
begun = threading.Event()
threading.Thread(target=lambda: (begun.wait(), os.kill(os.getpid(), signal.SIGINT))).start()
options = dict(profile="demo", requests=10**12, keep_requests=False)
try:
    aftl.simulate(progress=lambda done: done and begun.set(), **options)
except KeyboardInterrupt:
    print("interrupted")
print(aftl.simulate(profile="demo", requests=10).result["requests"])
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
"""


def test_ctrl_c_stops_a_run() -> None:
    done = run_program(sys.executable, "-c", INTERRUPTED,
                       environment={"PYTHONPATH": os.pathsep.join(
                           str(TOP / folder) for folder in ("userspace/python", "trace-tools"))})
    assert (done.out, done.code) == ("interrupted\n10\n", 0), done.err


def test_ctrl_c_while_the_thread_of_a_run_starts_ends_the_run(
        monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def start_and_interrupt(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    before = threading.active_count()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            aftl.simulate(profile="demo", requests=10**12, keep_requests=False)
    assert threading.active_count() == before


def test_other_python_threads_run_during_a_simulation() -> None:
    counted = 0
    stop = threading.Event()

    def increment_counter_until_simulation_ends() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1

    thread = threading.Thread(target=increment_counter_until_simulation_ends)
    thread.start()
    aftl.simulate(profile="demo", requests=300000, keep_requests=False)
    stop.set()
    thread.join()
    assert counted > 1000


def test_signal_handlers_are_restored(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    aftl.simulate(profile="demo", requests=10, record=tmp_path / "x")
    assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def test_warnings_of_the_simulator_become_python_warnings() -> None:
    words = "100.0 % of reads hit unwritten data"
    with pytest.warns(aftl.SimulationWarning, match=words):
        aftl.simulate(profile="demo", fill="none", write_share=0.0, requests=1000)
    with pytest.warns(aftl.SimulationWarning, match=f"2 of 2 runs have warnings.*{words}"):
        aftl.sweep(profile="demo", fill="none", write_share=0.0, requests=1000, seeds=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aftl.simulate(profile="demo", op="15%", fill_overwrite="100%", workload="zipf",
                      write_share=0.7, requests=100000, warmup=50000)
