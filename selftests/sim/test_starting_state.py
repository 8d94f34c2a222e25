# SPDX-License-Identifier: GPL-2.0-only
"""The starting state of a device is reported, with a warning where it is misleading."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from selftests.sim.support import Record, run_approxftl, write_trace

UNWRITTEN = "% of reads hit unwritten data and took no flash time"
SMALL = ("--blocks=32", "--op=40%", "--requests=2000")


@pytest.mark.parametrize(("given", "words", "state"), [
    ((), "demo, starts filled at random, 100 % valid, then 100 % overwritten, ", "random"),
    (("--op=60%",), "demo, starts filled at random, 100 % valid, then 200 % overwritten, ",
     "random"),
    (("--fill-valid=30%",), "demo, starts filled at random, 30 % valid, then 500 % overwritten, ",
     "random"),
    (("--fill-valid=0%",), "demo, starts empty, ", "empty"),
    (("--fill-overwrite=0%",), "demo, starts filled at random, 100 % valid, 76.80 MiB ", "random"),
    (("--fill=random",), "demo, starts filled at random, 100 % valid, 76.80 MiB ", "random"),
    (("--profile=ics14",), "ics14, starts filled at random, 100 % valid, then 100 % overwritten, ",
     "random"),
    (("--shards=2",), "demo, starts filled at random, 100 % valid, then 100 % overwritten, ",
     "random"),
    (("--raid=5",), "demo, starts filled at random, 100 % valid, then 100 % overwritten, ",
     "random"),
    (("--fill=none", "--host-fill=4", "--footprint=37.5%"),
     "demo, starts empty, then the host fills 37.5 % in sequence in simulated time, ", "empty"),
    (("--fill=none",), "demo, starts empty, ", "empty"),
    (("--set=fill=none",), "demo, starts empty, ", "empty"),
    (("--fill=sequential", "--fill_valid=50%"), "demo, starts filled in sequence, 50 % valid, ",
     "sequential"),
    (("--fill=random", "--fill_overwrite=100%"),
     "demo, starts filled at random, 100 % valid, then 100 % overwritten, ", "random"),
    (("--fill=sequential", "--fill_valid=12.5%"), "demo, starts filled in sequence, 12.5 % valid, ",
     "sequential"),
    (("--fill=random", "--fill_valid=0%"), "demo, starts empty, ", "empty"),
])
def test_the_first_line_and_json_show_the_starting_state(
        given: tuple[str, ...], words: str, state: str) -> None:
    assert run_approxftl("sim", *SMALL, *given).out.splitlines()[0].startswith(f"device: {words}")
    assert json.loads(run_approxftl("sim", *SMALL, *given, "--json").out)["starting_state"] == state


def test_the_starting_state_of_a_loaded_device_is_saved(tmp_path: Path) -> None:
    assert run_approxftl("sim", *SMALL, "-q", f"--dump={tmp_path}/d").code == 0
    done = run_approxftl("sim", f"--load={tmp_path}/d", "--requests=100", "--json")
    assert json.loads(done.out)["starting_state"] == "saved"


def test_reads_of_unwritten_data_cause_a_note(tmp_path: Path) -> None:
    assert UNWRITTEN not in run_approxftl("sim", *SMALL, "--fill=random").err
    assert (f"baseline: 100.0 {UNWRITTEN}; --fill random writes all data first\n"
            in run_approxftl("sim", *SMALL, "--fill=none", "--write-share=0%").err)
    half = run_approxftl("sim", *SMALL, "--fill=sequential", "--fill_valid=50%",
                         "--write-share=0%").err
    share = re.search(rf"baseline: ([0-9.]+) {UNWRITTEN}; --fill-valid 100% writes", half)
    assert share and 45 < float(share[1]) < 55
    both = run_approxftl("sim", *SMALL, "--fill=none", "--write-share=0%",
                         "--policy=baseline,delta_b", "--seed=1,2").err
    assert both.count(UNWRITTEN) == 1 and f"baseline, seed 1 and 3 more: 100.0 {UNWRITTEN}" in both
    # Reads of discarded data are not caused by the starting state.
    discarded = run_approxftl("sim", *SMALL, "--fill=random", "--write-share=0%",
                              "--discard-share=50%").err
    assert f"{UNWRITTEN}\n" in discarded
    # An array also reads unwritten data to compute parity.
    array = run_approxftl("sim", "--fill=none", "--raid=5", "--requests=2000").err
    share = re.search(rf"baseline: ([0-9.]+) {UNWRITTEN}", array)
    assert share and 95 < float(share[1]) <= 100
    # Reads of data that the trace wrote first cause no warning.
    trace = write_trace(tmp_path / "t.aft", [Record(n, 8 * (n % 50), 8, int(n < 50))
                                             for n in range(100)])
    assert UNWRITTEN not in run_approxftl("sim", "--fill=none", f"--trace={trace}").err


def test_a_run_that_only_uses_up_free_blocks_causes_a_warning(tmp_path: Path) -> None:
    """A device that is full but fresh looks fast; the remedy that the warning names removes it."""
    words = "not in steady state: "
    command = ("sim", "--requests=20000", "--policy=baseline,delta_b")
    done = run_approxftl(*command, "--fill=random", f"--json={tmp_path}/fresh.json")
    assert re.search(rf"warning: baseline and 1 more: {words}\d\d blocks were written and only 0 "
                     "erased, so there was little garbage collection; "
                     "--fill-overwrite 100% starts in steady state\n", done.err), done.err
    runs = json.loads((tmp_path / "fresh.json").read_text())["runs"]
    assert all("free_blocks" in run["unsteady"] for run in runs)
    assert run_approxftl(*command, "--fill=random", "--quiet").err == ""
    asked = run_approxftl(*command, "--fill=random", "--fill-overwrite=100%", "--json")
    steady = run_approxftl(*command, "--json")
    assert json.loads(asked.out)["runs"] == json.loads(steady.out)["runs"]
    assert words not in steady.err
    assert not any("free_blocks" in run.get("unsteady", ())
                   for run in json.loads(steady.out)["runs"])
    for no_reason in (["--fill=none"], ["--fill=random", "--write-share=0%"],
                      ["--fill=random", "--warmup=200000"], ["--fill=random", "--requests=500"]):
        assert words not in run_approxftl(*command, *no_reason).err
    assert run_approxftl("sim", "--fill=none", "-q", f"--dump={tmp_path}/d").code == 0
    loaded = run_approxftl("sim", f"--load={tmp_path}/d", "--requests=5000").err
    assert words in loaded and "garbage collection; raise --warmup\n" in loaded


@pytest.mark.parametrize("load", [("--raid=5", "--members=3"), ("--shards=2",)])
def test_arrays_and_shards_start_in_steady_state(load: tuple[str, ...]) -> None:
    """They start as --fill-overwrite 100% leaves them, and collect garbage from the start."""
    command = ("sim", *load, "--policy=baseline,separated", "--blocks=64", "--write-share=100%",
               "--requests=20000", "--verify", "--json")
    default, asked, fresh = (
        json.loads(run_approxftl(*command, *options).out)["runs"]
        for options in ((), ("--fill=random", "--fill-overwrite=100%"), ("--fill=random",)))
    assert default == asked
    for settled, begun in zip(default, fresh, strict=True):
        assert settled["verified"]
        assert settled["counters"]["gc_blocks"] > begun["counters"]["gc_blocks"]


LARGE = ("sim", "--blocks=3000", "--requests=1000", "--write-share=100%")


def test_a_long_preparation_is_noted_with_the_option_that_avoids_it() -> None:
    words = "2611200 writes brought the device into steady state, before 1000 requests; " \
            "--fill-overwrite 0% leaves these writes out"
    assert words in run_approxftl(*LARGE).err
    for options in (["--fill-overwrite=0%"], ["--fill-overwrite=100%"], ["--fill=none"],
                    ["--quiet"], ["--requests=300000"]):
        assert "into steady state, before" not in run_approxftl(*LARGE, *options).err


def test_the_progress_line_names_the_preparation() -> None:
    shown = run_approxftl(*LARGE, "--progress").err
    fill = re.findall(r"baseline: writing the starting state \(--fill-overwrite 0% is quicker\): "
                      r"(\d+) of 5222400, ", shown)
    assert fill and sorted(map(int, fill)) == list(map(int, fill)) and int(fill[-1]) <= 5222400
    both = run_approxftl(*LARGE, "--progress", "--policy=baseline,separated", "--jobs=2").err
    assert "all runs write their starting state first: 0 of 2000" in both
    assert "starting state" not in run_approxftl(*LARGE, "--progress", "--fill=none").err


def test_a_run_without_simulated_time_is_reported() -> None:
    words = "baseline: the simulated time is 0: no request waited for flash"
    assert words in run_approxftl("sim", "--write-share=100%", "--buffer=64MiB",
                                  "--requests=1000").err
    assert words not in run_approxftl("sim", "--requests=1000").err
    assert words not in run_approxftl("sim", "--requests=0").err


#: Reads at a stride of all dies, of a device that programs three pages at once.
STRIDED = ("--channels=8", "--chips=1", "--planes=2", "--plane_mode=wide", "--page=16KiB",
           "--multi_plane_read=off", "--bits=3", "--one_shot=on", "--word_lines=4", "--layers=3",
           "--blocks=32", "--op=25%", "--buffer=8MiB", "--write-share=0", "--workload=sequential",
           "--stride=256KiB", "--depth=16", "--requests=2000", "--json", "--quiet")


def simulate_strided_reads(*options: str) -> dict[str, Any]:
    done = run_approxftl("sim", *STRIDED, *options)
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    return document


def test_a_fill_by_the_host_writes_the_footprint_before_the_statistics() -> None:
    whole = simulate_strided_reads("--fill=none", "--host-fill=32", "--verify")
    arrivals, counters = whole["stream"], whole["runs"][0]["counters"]
    assert (arrivals["host_fill_depth"], arrivals["host_fill_bytes"]) == (32, 131072)
    assert not counters["host_write_requests"] and not counters["array_programs"]
    assert counters["host_read_units"] == counters["array_reads"] == 2000
    half = simulate_strided_reads("--fill=none", "--host-fill=4", "--host-fill-size=1MiB",
                                  "--footprint=50%", "--block-table")
    assert sum(half["runs"][0]["block_table"]["valid_units"]) == half["geometry"]["units"] // 2


@pytest.mark.parametrize(("allocate", "depth", "equal"), [
    ("rotate", 32, True), ("least_busy", 1, True), ("least_busy", 32, False)])
def test_a_fill_by_the_host_places_data_where_its_writes_go(
        allocate: str, depth: int, equal: bool) -> None:
    """Under load, the least busy die is not always the next one, as it is in the instant fill."""
    instant, written = (
        simulate_strided_reads(f"--allocate={allocate}", *fill)["runs"][0]["simulated_ns"]
        for fill in (("--fill=sequential",), ("--fill=none", f"--host-fill={depth}")))
    assert (written == instant) == equal
    assert equal or written < 0.95 * instant


def test_a_large_device_is_overwritten_only_on_request() -> None:
    """Overwriting a terabyte takes minutes."""
    done = run_approxftl("sim", "--profile=tcad18", "--requests=1")
    assert done.out.startswith("device: tcad18, starts filled at random, 100 % valid, 108.8 GiB")
