# SPDX-License-Identifier: GPL-2.0-only
"""Kernels that share points leave none to nobody, or the last of them says so."""

from __future__ import annotations

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
    """Return what is said when kernels with names of a letter have left these points, a letter."""
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
def test_what_all_have_left_is_named(tmp_path: Path, left: tuple[str, ...], by_all: str) -> None:
    said = judged(tmp_path, len(left), *left).splitlines()
    assert said[:-2] == [f"# t: {point}: left to another kernel by all" for point in by_all]
    assert said[-2] == f"{'not ' if by_all else ''}ok 1 - each point has a kernel"


def test_nothing_is_said_before_all_were_here(tmp_path: Path) -> None:
    assert judged(tmp_path, 3, "x", "x") == "1..0\n"
