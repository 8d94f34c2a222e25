# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmark of the kernel makes of what its guests say; the guests are for `kernel`."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

UNTAGGED = 1910
DEVICES = {"brd": 500, "linear": 1000, "null_blk": 1100, "baseline": 1900, "approxftl": 1950}


# Of each round: requests a second of one and of two, waits and millionths of time of two
AT_ONCE = {
    "one": [(100, 90, 30, 40000), (80, 120, 20, 10000), (100, 110, 40, 30000)],
    "shards": [(90, 180, 0, 0), (100, 150, 1, 5), (100, 160, 0, 0)],
    "apart": [(100, 180, 0, 0), (100, 165, 0, 0), (100, 160, 0, 0)],
}


def writers(rounds: dict[str, list[tuple[int, int, int, int]]], processors: int) -> list[list[str]]:
    """Return what a guest tells of them."""
    return [[device, str(number), str(iops), *map(str, waits)]
            for told in zip(*([(device, *each) for each in rounds[device]] for device in rounds),
                            strict=True)
            for device, one, many, *waited in told
            for number, iops, waits in ((1, one, (0, 0)), (processors, many, waited))]


# The second storm of ours is slower than dm-thin's. Of this kernel dm-clone is not.
STORMS = [
    ["plain", "1000", "100", "1100", "9000", "60"], ["safe", "1000", "120", "1100", "9000", "60"],
    ["linear", "1000", "150", "1900", "8000", "900"],
    ["thin", "1000", "100", "1100", "8000", "100"],
    ["plain", "900", "90", "1000", "9000", "50"], ["safe", "1000", "110", "1100", "9000", "60"],
    ["linear", "1000", "150", "1900", "8000", "900"],
    ["thin", "1000", "100", "1100", "8000", "100"],
    ["plain", "2000", "120", "2300", "18000", "100"], ["safe", "1000", "110", "1100", "9000", "60"],
    ["linear", "1000", "150", "1900", "8000", "900"],
    ["thin", "1000", "100", "1100", "8000", "100"],
]


def boot(elsewhere: int) -> list[list[str]]:
    """Return the costs that the lab tells of."""
    costs = [[device, operation, depth, str(ns)] for device, ns in DEVICES.items()
             for operation in ("randwrite", "randread") for depth in ("1", "32")]
    return costs + [[device, "randwrite", depth, str(cost)] for depth in ("1", "32")
                    for device, cost in (("untagged", UNTAGGED), ("elsewhere", elsewhere))]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the program, whose guests say what they are told to; the second boot is dearer."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    program = importlib.import_module("bench_kernel")
    boots = iter([boot(1900), boot(1970)])
    in_turn = {"one": 80, "shards": 90, "apart": 95}

    def says(word: str, command: str, *run: str) -> list[list[str]]:
        if word != "writers":
            return STORMS if word == "storm" else next(boots)
        assert f"PROCESSORS={run[1]} " in command
        if run[4:]:
            assert run == ("--cpus", "2", "--memory", "4GiB", "--parallel")
            return writers(AT_ONCE, 2)
        return writers({device: [(100, in_turn[device], 3, 21000 * (device == "one"))]
                        for device in AT_ONCE}, int(run[1]))

    monkeypatch.setattr(program, "guest_says", says)
    monkeypatch.setattr(program, "LIMITS", dict.fromkeys(program.LIMITS, 2.0))
    return program


def results(bench: Any, monkeypatch: pytest.MonkeyPatch, file: Path, *words: str) -> Any:
    """Run it; return its status and what it has written."""
    monkeypatch.setattr("sys.argv", ["bench_kernel", "--json", str(file), *words])
    return bench.main(), json.loads(file.read_text())


def test_ratios_and_bars(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                         capsys: pytest.CaptureFixture[str]) -> None:
    status, document = results(bench, monkeypatch, tmp_path / "result.json", "--strict")
    assert status == 1
    assert document["approxftl_bench_kernel_format"] == [2, 0]
    bars = {bar["what"]: bar for bar in document["bars"]}
    assert len(bars) == 15
    assert [what for what, bar in bars.items() if not bar["met"]] == [
        "2 writers at once, each with a shard: to one writer"]
    assert bars["randwrite, depth 1, to dm-linear/brd"]["ours"] == 1.95
    # The dearest boot counts.
    assert bars["untagged randwrite, depth 32, with tags elsewhere"]["ours"] == 1970 / UNTAGGED
    assert bars["2 writers at once, each with a shard: to one writer"]["ours"] == 1.6
    assert bars["the same, to two each with a device"]["ours"] == 1.0
    assert bars["8 writers in turn, each with a shard: work, to one writer"]["ours"] == 100 / 90
    assert bars["4 writers in turn, each with a shard: waited for a lock"]["ours"] == 0
    assert document["two_writers"]["shards"] == {
        "ratios": [2.0, 1.5, 1.6], "waits": [0, 1, 0], "waited": [0, 0.0005, 0]}
    assert document["writers_in_turn"]["4"]["one"]["waited"] == [2.1]
    assert bars["fdatasync() on a volume, to dm-thin"]["ours"] == 1
    assert bars["fdatasync() on a volume, buffer_safe, to dm-thin"]["ours"] == 1.1
    assert document["storms"]["plain"][0] == {
        "writes": 1000, "a_second": 100, "below": 1100, "sectors": 9000, "flushes": 60}
    said = capsys.readouterr().out
    # Of the round in the middle.
    assert re.search(r"^volume +100 +1.00 +1.040 +4.500 +0.060$", said, re.M)
    assert re.search(r"^dm-linear +150 +1.50 +1.000 +4.000 +0.900$", said, re.M)
    assert "dm-clone is not in that kernel" in said
    assert re.search(r"with one FTL +1\.10 +0\.90 +1\.50 +30 +3\.00 %", said)
    assert "1.950" in said
    assert "3.62%" in said


def test_a_missed_bar_is_a_failure_to_whom_asks(bench: Any, monkeypatch: pytest.MonkeyPatch,
                                                tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "TAG_LIMIT", 1.01)
    status, document = results(bench, monkeypatch, tmp_path / "result.json", "--strict",
                               "--rounds", "0")
    assert status == 1
    assert [bar["what"] for bar in document["bars"] if not bar["met"]] == [
        f"untagged randwrite, depth {depth}, with tags elsewhere" for depth in (1, 32)]


@pytest.mark.parametrize(("name", "limit", "missed"), [
    ("MORE_WORK", 1.1, ["4 writers in turn, each with a shard: work, to one writer",
                        "8 writers in turn, each with a shard: work, to one writer"]),
    ("OF_APART", 1.01, ["the same, to two each with a device"]),
    ("TWO", 1.7, ["2 writers at once, each with a shard: to one writer"]),
    ("WAITED", -1, [f"{number} writers {how}, each with a shard: waited for a lock"
                    for number, how in ((4, "in turn"), (8, "in turn"), (2, "at once"))]),
])
def test_bars_of_writers(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str,
                         limit: float, missed: list[str]) -> None:
    monkeypatch.setattr(bench, "TWO", 1.6)
    monkeypatch.setattr(bench, name, limit)
    _, document = results(bench, monkeypatch, tmp_path / "result.json")
    assert [bar["what"] for bar in document["bars"] if not bar["met"]] == missed


def test_it_only_tells_of_a_missed_bar_otherwise(bench: Any, monkeypatch: pytest.MonkeyPatch,
                                                 tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "LIMITS", dict.fromkeys(bench.LIMITS, 1.9))
    status, document = results(bench, monkeypatch, tmp_path / "result.json", "--rounds", "0",
                               "--storms", "0")
    assert status == 0
    assert not document["bars"][0]["met"]
    assert document["two_writers"] == {}
    assert document["writers_in_turn"] == {}
    assert document["storms"] == {}


def test_without_a_yardstick_there_is_no_bar(bench: Any, monkeypatch: pytest.MonkeyPatch,
                                             tmp_path: Path) -> None:
    monkeypatch.setattr(f"{__name__}.STORMS", [words for words in STORMS if words[0] != "thin"])
    _, document = results(bench, monkeypatch, tmp_path / "result.json")
    assert len(document["bars"]) == 13
    assert len(document["storms"]["safe"]) == 3
