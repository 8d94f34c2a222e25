# SPDX-License-Identifier: GPL-2.0-only
"""Each mutant of the tables matches the sources, and a few of them are caught."""

import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import run_program
from selftests.mutants import table
from selftests.mutants.verdict import UntriedError, judge_kernel_test


@pytest.mark.parametrize("area", sorted(table.HERE.glob("*.toml")), ids=lambda area: area.stem)
def test_each_mutant_matches_its_source_file(area: Path) -> None:
    mutants, problems = table.load_mutants(area)
    assert mutants or problems
    problems += [problem for mutant in mutants
                 if (problem := table.check_mutant(mutant, table.TOP))]
    assert not problems, "\n".join(problems)


END = "ok 2 - store: every device can be removed\nok 3 - store: the kernel's log is clean\n"


@pytest.mark.parametrize(("status", "said", "caught"), [
    (0, "ok 1 - store: limits of crypt\n" + END, False),
    (0, "ok 1 - store: limits of crypt\nok 2 - store: limits of dm # SKIP no dm\n" + END, False),
    (1, "not ok 1 - store: no point has 'limits' in its name\n", False),
    (125, "error: lock is held twice\nlook \n", False),
    (124, "KTAP version 1\n", True),
    (124, "", False),
    (143, "not ok 1 - store: limits of crypt\n", True),
    (98, "ok 1 - store: limits of crypt\nKernel panic\n", True),
])
def test_output_of_a_kernel_test_shows_whether_it_caught_a_mutant(status: int, said: str, *,
                                                                  caught: bool) -> None:
    assert judge_kernel_test(status, said, "limits")[0] == caught


@pytest.mark.parametrize("said", [
    "ok 1 - store: stats prints nothing else\nok 2 - store: limits of dm # SKIP no dm\n" + END,
    "ok 1 - store: limits of dm # SKIP no dm\nnot ok 2 - store: no point has 'limits' in it\n",
])
def test_a_mutant_whose_test_points_are_skipped_is_not_tried(said: str) -> None:
    with pytest.raises(UntriedError, match="no dm"):
        judge_kernel_test(0, said, "limits")


@pytest.mark.slow
def test_a_sample_of_mutants_fails_its_tests() -> None:
    turn = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=table.TOP,
                          capture_output=True, text=True, check=False).stdout.strip() or "0"
    command = [str(table.HERE / "run"), "--sample", "2", "--turn", turn]
    tried = run_program(*command)
    assert tried.code == 0, tried.out + tried.err
