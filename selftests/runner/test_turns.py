# SPDX-License-Identifier: GPL-2.0-only
"""Kernels that share test points together run each point, or the last kernel reports a gap."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, run_program

SCRIPT = """. selftests/lib/tap.sh
work=$PLACE
others=$KERNELS
eval "$(sed -n '/^none_left_by_all()/,/^}/p' selftests/kernel/run-tests)"
for kernel; do
    cp "$work/$kernel" "$work/left"
    none_left_by_all "$kernel"
done
ktap_finished"""


def judged(place: Path, kernels: int, *left: str) -> str:
    """Return the output after kernels "a", "b" ... left these one-letter points to others."""
    names = [chr(ord("a") + i) for i in range(len(left))]
    for name, points in zip(names, left, strict=True):
        (place / name).write_text("".join(f"# t: {point}: left to another kernel\n"
                                          for point in points))
    (place / "script").write_text(f"cd '{TOP}'\n{SCRIPT}\n")
    return run_program("/bin/sh", str(place / "script"), *names, environment={
        "PLACE": str(place), "KERNELS": str(kernels), "AFTL_BUILD": str(place / "build")}).out


@pytest.mark.parametrize(("left", "by_all"), [
    (("xy", "yz", "zx"), ""), (("xy", "yx", "x"), "x"), (("xx", "yy", "x"), ""),
    (("xy", "xy", "xy"), "xy")])
def test_points_that_no_kernel_ran_are_named(
        tmp_path: Path, left: tuple[str, ...], by_all: str) -> None:
    said = judged(tmp_path, len(left), *left).splitlines()
    assert said[:-2] == [f"# t: {point}: left to another kernel by all" for point in by_all]
    assert said[-2] == f"{'not ' if by_all else ''}ok 1 - each point has a kernel"


def test_missing_points_are_judged_only_after_all_kernels(tmp_path: Path) -> None:
    assert judged(tmp_path, 3, "x", "x") == "1..0\n"


def turns(turn: str, phase: str, points: str) -> list[str]:
    """Return the points that this kernel runs."""
    script = f"cd '{TOP}'; . selftests/kernel/turns.sh; for p in {points}; do " \
        'next_turn "$p" && echo "$p"; done'
    return run_program("/bin/sh", "-c", script, environment={
        "AFTL_TURN": turn, "AFTL_PHASE": phase}).out.splitlines()


def test_a_point_has_one_kernel_in_one_commit_of_three() -> None:
    points = " ".join("abcdefghijklm")
    done = {(turn, phase): [line for line in turns(turn, phase, points) if line[0] != "#"]
            for turn in ("1/3", "2/3", "3/3") for phase in ("1/3", "2/3", "3/3")}
    assert sorted(chain(*done.values())) == points.split()
    assert done["2/3", "1/3"] == ["b", "k"] and done["3/3", "2/3"] == ["f"]
    assert turns("", "", points) == points.split()
    said = turns("1/2", "1/2", "a b c d")
    assert said == ["a", "# b: left to another kernel", "# c: left to another commit",
                    "# d: left to another commit"]


def test_every_point_has_a_kernel_and_a_commit(tmp_path: Path) -> None:
    """Run stand-ins for all tests, each with several points."""
    folder = tmp_path / "selftests/kernel"
    folder.mkdir(parents=True)
    text = (TOP / "selftests/kernel/run-in-kernel").read_text()
    (folder / "run-in-kernel").write_text(text)
    # The stand-in must not take processors offline.
    (folder / "turns.sh").write_text(
        (TOP / "selftests/kernel/turns.sh").read_text() + "processors() { :; }\n")
    kinds = dict(re.findall(r"^(contract|alone|programs)='([^']*)'", text, re.M))
    tests = {kind: names.split() for kind, names in kinds.items()}
    for name in chain(*tests.values()):
        (folder / f"{name}.sh").write_text(
            '. selftests/kernel/turns.sh; echo "ok 1 - each"; for p in a b c d e f g h i; do\n'
            'next_turn "$p" && echo "ok 2 - $p"; done; true\n')
    seen = [line.partition(" - ")[2] for turn in (1, 2, 3) for phase in (1, 2, 3)
            for line in run_program(
                "sh", folder / "run-in-kernel", environment={
                    "AFTL_TURN": f"{turn}/3", "AFTL_PHASE": f"{phase}/3", "LAB_PROGRAMS": "/bin"},
            ).out.splitlines() if line.startswith("ok ")]
    for kind, times in ("contract", 9), ("alone", 3), ("programs", 1):
        for name in tests[kind]:
            assert seen.count(f"{name}: each") == times
            assert [seen.count(f"{name}: {point}") for point in "abcdefghi"] == [1] * 9, name
