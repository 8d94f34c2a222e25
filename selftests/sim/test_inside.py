# SPDX-License-Identifier: GPL-2.0-only
"""Test output about the flash: the block table, the page map, the timeline of each LUN."""

import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

BUSY = ("--fill", "random", "--fill-approx", "0.5%", "--approx-share", "0.5", "--policy",
        "approxftl", "--requests", "30000", "--write-share", "0.8")
LIMIT = 1000000


def simulate_and_return_results(*arguments: str) -> tuple[Json, Json]:
    result = run_sim(*BUSY, *arguments)
    return result, get_only_run(result)


def test_block_table_agrees_with_the_summary() -> None:
    result, found = simulate_and_return_results("--block-table")
    table, geometry = found["block_table"], result["geometry"]
    assert {len(column) for column in table.values()} == {geometry["blocks"]}
    good = [i for i, state in enumerate(table["state"]) if state != "bad"]
    assert len(good) == found["blocks"]["good"]
    for column, summary in (("erases", "erase_count"), ("wear", "wear")):
        values = [table[column][i] for i in good]
        told = found["blocks"][summary]
        assert (min(values), max(values)) == (told["min"], told["max"])
        assert sum(values) / len(values) == pytest.approx(told["mean"], abs=1e-4)
    per_lun = geometry["blocks_per_lun"]
    free = Counter(i // per_lun for i, state in enumerate(table["state"]) if state == "free")
    assert [free[lun] for lun in range(geometry["luns"])] == found["luns"]["free_blocks"]
    for state, programmed, kind in zip(table["state"], table["programmed_pages"], table["kind"],
                                       strict=True):
        assert (state == "free") <= (programmed == 0)
        assert (kind == "") == (programmed == 0)


def test_page_maps_agree_with_the_block_table() -> None:
    result, found = simulate_and_return_results("--block-table", "--page-map", "auto")
    table = found["block_table"]
    maps = found["page_maps"]
    assert {page_map["kind"] for page_map in maps} == {kind for kind in table["kind"] if kind}
    assert len({page_map["kind"] for page_map in maps}) == len(maps)
    for page_map in maps:
        block = page_map["block"]
        assert page_map["lun"] == block // result["geometry"]["blocks_per_lun"]
        classes = page_map["class"]
        assert len(classes) == result["geometry"]["pages_per_block"]
        assert len(classes) - classes.count(None) == table["programmed_pages"][block]
        assert sum(page_map["valid_units"]) == table["valid_units"][block]
        approximate = sum(units for units, name in zip(page_map["valid_units"], classes,
                                                       strict=True) if name == "approximate")
        assert approximate == table["approximate_units"][block]
        for name, mode, age in zip(classes, page_map["mode"], page_map["age_hours"], strict=True):
            assert (name is None) == (mode is None) == (age is None)


def test_option_page_map_shows_the_chosen_blocks() -> None:
    _, found = simulate_and_return_results("--page-map", "511,3")
    assert [page_map["block"] for page_map in found["page_maps"]] == [511, 3]


def test_pages_of_a_page_map_have_their_age() -> None:
    _, found = simulate_and_return_results("--page-map", "auto", "--until", "36000000s",
                                           "--refresh", "0")
    ages = [age for page_map in found["page_maps"] for age in page_map["age_hours"]
            if age is not None]
    assert min(ages) >= 9000


def read_timeline_operations(path: Path) -> list[Json]:
    document: Json = json.loads(path.read_text())
    return [event for event in document["traceEvents"] if event["ph"] == "X"]


@pytest.mark.slow
@pytest.mark.parametrize(("suspend", "for_write"),
                         [("off", "off"), ("both", "off"), ("both", "on")])
@pytest.mark.in_turn
def test_timeline_operations_add_up_to_the_counters(tmp_path: Path, suspend: str,
                                                    for_write: str) -> None:
    path = tmp_path / "timeline.json"
    result, found = simulate_and_return_results("--timeline", str(path), "--suspend", suspend,
                                                "--suspend_for_write", for_write)
    counters = found["counters"]
    spent: dict[str, float] = defaultdict(float)
    lanes: dict[int, list[Json]] = defaultdict(list)
    for event in read_timeline_operations(path):
        spent[event["name"].split()[0]] += event["dur"] * 1000
        lanes[event["tid"]].append(event)
    interrupted = counters["array_suspends"] * 20_000  # suspend_cost
    assert (counters["array_suspends"] > 0) == (suspend == "both")
    assert spent["read"] == pytest.approx(counters["array_read_ns"])
    written = counters["array_program_ns"] + counters["array_erase_ns"] + interrupted
    # An erase counts when it has ended; each LUN may have one in progress.
    unfinished = spent["program"] + spent["erase"] - written
    assert unfinished / 3_500_000 in range(result["geometry"]["luns"])
    for lane in lanes.values():
        for before, after in pairwise(lane):
            assert after["ts"] > before["ts"] + before["dur"] - 0.001
    pieces = [event for event in read_timeline_operations(path) if "resumed" in event["args"]]
    assert len(pieces) == counters["array_suspends"]


@pytest.mark.slow
def test_timeline_names_operations(tmp_path: Path) -> None:
    path = tmp_path / "timeline.json"
    _, found = simulate_and_return_results("--timeline", str(path))
    pages: Counter[str] = Counter()
    for event in read_timeline_operations(path):
        pages[event["name"]] += event["args"]["pages"]
    modes = {mode: count for mode, count in found["mode_pages"].items() if count}
    assert {mode: pages[f"program {mode}"] for mode in modes} == modes
    assert sum(event["cat"] == "gc" for event in read_timeline_operations(path)) > 0


def test_timeline_of_several_policies_begins_after_the_warm_up(tmp_path: Path) -> None:
    path = tmp_path / "timeline.json"
    result = run_sim("--requests", "500", "--warmup", "2000", "--policy", "baseline,vth_b",
                     "--timeline", path)
    document = json.loads(path.read_text())
    assert document["tool"]["argv"] == result["tool"]["argv"]
    assert document["omitted_events"] == 0
    names = {event["pid"]: event["args"]["name"] for event in document["traceEvents"]
             if event["name"] == "process_name"}
    assert names == {1: "baseline", 2: "vth_b"}
    begins = [min(event["ts"] for event in read_timeline_operations(path) if event["pid"] == pid)
              for pid in names]
    ends = [run_["device_time_ns"] - run_["simulated_ns"] for run_ in result["runs"]]
    assert all(begin * 1000 >= end for begin, end in zip(begins, ends, strict=True))


@pytest.mark.slow
def test_a_full_timeline_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "timeline.json"
    done = run_approxftl("sim", "--requests", str(LIMIT + 5), "--write-share", "0", "--fill",
                         "sequential", "--timeline", path, f"--json={tmp_path}/run.json")
    assert done.code == 0
    counters = get_only_run(json.loads((tmp_path / "run.json").read_text()))["counters"]
    omitted = counters["array_reads"] - LIMIT
    assert omitted > 0
    assert f"note: --timeline has the first {LIMIT} operations; {omitted} more" in done.err
    with path.open() as lines:
        assert sum('"ph": "X"' in line for line in lines) == LIMIT
    assert f'"omitted_events": {omitted}' in path.read_text()[-100:]


def test_recording_a_timeline_changes_no_result(tmp_path: Path) -> None:
    with_it, _ = simulate_and_return_results("--timeline", str(tmp_path / "x"))
    without, _ = simulate_and_return_results()
    assert with_it["runs"] == without["runs"]
