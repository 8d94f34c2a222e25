# SPDX-License-Identifier: GPL-2.0-only
"""Test points are divided among kernels and commits so that each point runs in one of them."""

import re
import sys
from itertools import chain
from pathlib import Path

import pytest
from selftests.lib.programs import TOP, run_program

PHASES = ("1/6", "2/6", "3/6", "4/6", "5/6", "6/6")
SHELL = ("cd '{top}'; . selftests/kernel/turns.sh; "
         "for p in {points}; do next_turn $p && echo $p; done")
PYTHON = """import sys
sys.path.insert(0, '{top}/selftests/kernel')
import ktap
print(*(p for p in '{points}'.split() if ktap.is_check_selected(p)), sep='\\n')"""


MOVING = (
    "cd '{top}'; . selftests/kernel/turns.sh; ktap_test_run() {{ echo $1; }}; "
    "for p in {points}; do moving $p; done",
    """import sys
sys.path.insert(0, '{top}/selftests/kernel')
import ktap
ktap.run_check = lambda name, action: print(name)
for point in '{points}'.split():
    ktap.run_moving_check(point, print)""")


def list_selected_test_points(turn: str, phase: str, points: str,
                              scripts: tuple[str, str] = (SHELL, PYTHON)) -> list[str]:
    """Return this kernel's test points; shell and Python must select the same ones."""
    environment = {"AFTL_TURN": turn, "AFTL_PHASE": phase}
    said = [run_program(*words, text.format(top=TOP, points=points), environment=environment).out
            for words, text in zip((("/bin/sh", "-c"), (sys.executable, "-c")), scripts,
                                   strict=True)]
    found = [[*filter(None, lines.splitlines())] for lines in said]
    assert sorted(found[0]) == sorted(found[1])
    return found[0]


def test_each_test_point_runs_on_one_kernel_in_one_of_six_commits() -> None:
    points = " ".join("abcdefghijklmnopqrstu")
    done = {(turn, phase): [line for line in list_selected_test_points(turn, phase, points)
                            if line[0]
                            != "#"] for turn in ("1/3", "2/3", "3/3")
            for phase in PHASES}
    assert sorted(chain(*done.values())) == points.split()
    assert done["2/3", "1/6"] == ["b", "t"] and done["3/3", "2/6"] == ["f"]
    assert list_selected_test_points("", "", points) == points.split()
    said = list_selected_test_points("1/2", "1/2", "a b c d")
    assert said == ["a", "# b: left to another kernel", "# c: left to another commit",
                    "# d: left to another commit"]


def test_a_moving_test_point_runs_on_one_kernel_in_each_commit_and_on_all_in_three() -> None:
    turns, phases = ("1/3", "2/3", "3/3"), PHASES[:3]
    done = {(turn, phase): [line for line in list_selected_test_points(turn, phase, "a b c d",
                                                                       MOVING) if line[0] != "#"]
            for turn in turns for phase in phases}
    assert all(sorted(chain(*(done[turn, phase] for turn in turns))) == [*"abcd"]
               for phase in phases)
    assert all(sorted(chain(*(done[turn, phase] for phase in phases))) == [*"abcd"]
               for turn in turns)
    assert list_selected_test_points("1/2", "1/1", "a b", MOVING) == ["a", "b"]


def test_slow_python_tests_are_divided_among_six_commits(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("""import pytest
@pytest.mark.in_turn
@pytest.mark.parametrize("number", range(30))
def test_thirty_cases_divided_among_six_commits(number): print(f"<{number}>")
@pytest.mark.in_turn("pair")
def test_first_of_two_tests_that_run_in_the_same_commit(): print("<one>")
@pytest.mark.in_turn("pair")
def test_second_of_two_tests_that_run_in_the_same_commit(): print("<two>")
def test_unmarked_test_runs_in_each_commit(): print("<always>")
""")
    (tmp_path / "conftest.py").write_text((TOP / "selftests/conftest.py").read_text())
    done = {phase: re.findall("<(.*)>", run_program(
        sys.executable, "-m", "pytest", "-s", "-c", TOP / "pyproject.toml", tmp_path,
        environment={"AFTL_PHASE": phase}).out) for phase in (*PHASES, "")}
    everything = done.pop("")
    assert len(everything) == 33 and all(len(done[phase]) > 1 for phase in done)
    assert sorted(chain(*done.values())) == sorted([*everything, *5 * ["always"]])
    assert all(("one" in ran) == ("two" in ran) for ran in done.values())


def copy_kernel_runner(tree: Path) -> tuple[Path, str]:
    """Copy run-in-kernel beside fake tests; return the folder and the text of run-in-kernel."""
    folder = tree / "selftests/kernel"
    folder.mkdir(parents=True)
    text = (TOP / "selftests/kernel/run-in-kernel").read_text()
    (folder / "run-in-kernel").write_text(text)
    # The stand-in must not take processors offline.
    (folder / "turns.sh").write_text(
        (TOP / "selftests/kernel/turns.sh").read_text() + "processors() { :; }\n")
    return folder, text


@pytest.mark.parametrize(("script", "status", "last"), [
    ("echo ok 1 - one", 0, "ok 1 - only: one"),
    ("echo 'ok 1 - one # SKIP no disk'; exit 4", 0, "ok 1 - only: one # SKIP no disk"),
    ("echo ok 1 - one; exit 4", 1, "not ok 2 - only: exit status 4"),
    ("echo ok 1 - one; exit 3", 1, "not ok 2 - only: exit status 3"),
    ("echo not ok 1 - one; exit 1", 1, "not ok 1 - only: one"),
    (":", 1, "not ok 1 - only: no point"),
])
def test_a_failed_test_point_decides_the_exit_status(
        tmp_path: Path, script: str, status: int, last: str) -> None:
    folder, _ = copy_kernel_runner(tmp_path)
    (folder / "only.sh").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "only.sh").chmod(0o755)
    done = run_program("sh", folder / "run-in-kernel", "only")
    points = [line for line in done.out.splitlines() if line.startswith(("ok ", "not ok "))]
    assert (done.code, points[-1]) == (status, last)


def test_every_test_point_is_assigned_a_kernel_and_a_commit(tmp_path: Path) -> None:
    """Run fakes of the kernel tests, each with several points.

    Two tests stand for the contract's, which are alike.
    """
    folder, text = copy_kernel_runner(tmp_path)
    text = re.sub(r"^contract='[^']*'", "contract='data crash'", text, flags=re.M)
    (folder / "run-in-kernel").write_text(text)
    kinds = dict(re.findall(r"^(contract|moving|alone|programs)='([^']*)'", text, re.M))
    tests = {kind: names.split() for kind, names in kinds.items()}
    for name in chain(*tests.values()):
        stand_in = folder / f"{name}.sh"
        stand_in.write_text(
            '#!/bin/sh\n'
            '. selftests/kernel/turns.sh; echo "ok 1 - each"; for p in a b c d e f g h i; do\n'
            'next_turn "$p" && echo "ok 2 - $p"; done; true\n')
        stand_in.chmod(0o755)
    seen = [line.partition(" - ")[2] for turn in (1, 2, 3) for phase in PHASES
            for line in run_program(
                "sh", folder / "run-in-kernel", environment={
                    "AFTL_TURN": f"{turn}/3", "AFTL_PHASE": phase, "LAB_PROGRAMS": "/bin"},
            ).out.splitlines() if line.startswith("ok ")]
    for kind, times in ("contract", 18), ("moving", 6), ("alone", 3), ("programs", 1):
        for name in tests[kind]:
            assert seen.count(f"{name}: each") == times
            assert [seen.count(f"{name}: {point}") for point in "abcdefghi"] == [1] * 9, name
