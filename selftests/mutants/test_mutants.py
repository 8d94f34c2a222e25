# SPDX-License-Identifier: GPL-2.0-only
"""Each mutant of the tables matches the sources, and a few of them are caught."""

import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import run_program
from selftests.mutants import table


@pytest.mark.parametrize("area", sorted(table.HERE.glob("*.toml")), ids=lambda area: area.stem)
def test_each_mutant_matches(area: Path) -> None:
    mutants, problems = table.load_mutants(area)
    assert mutants or problems
    problems += [problem for mutant in mutants
                 if (problem := table.check_mutant(mutant, table.TOP))]
    assert not problems, "\n".join(problems)


@pytest.mark.slow
def test_a_sample_of_mutants_fails_its_tests() -> None:
    turn = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=table.TOP,
                          capture_output=True, text=True, check=False).stdout.strip() or "0"
    command = [str(table.HERE / "run"), "--sample", "2", "--turn", turn]
    tried = run_program(*command)
    assert tried.code == 0, tried.out + tried.err
