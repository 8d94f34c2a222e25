# SPDX-License-Identifier: GPL-2.0-only
"""Each mutant of the tables matches the sources, and a few of them are caught."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from selftests.mutants import table

SOURCE = '''#define TWICE(x) \\
	((x) + (x))

static const int sizes[] = {
	1, 2,
};

static int
first(int a,
	int b)
{
	if (a &&
		b)
		return TWICE(a);
	return sizes[0];
}

int second(int a)
{
	return TWICE(a);
}
'''


@pytest.mark.parametrize("area", sorted(table.HERE.glob("*.toml")), ids=lambda area: area.stem)
def test_each_mutant_matches(area: Path) -> None:
    mutants, problems = table.load(area)
    assert mutants or problems
    problems += [problem for mutant in mutants if (problem := table.check(mutant, table.TOP))]
    assert not problems, "\n".join(problems)


@pytest.mark.slow
def test_a_sample_is_caught() -> None:
    turn = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=table.TOP,
                          capture_output=True, text=True, check=False).stdout.strip() or "0"
    command = [str(table.HERE / "run"), "--sample", "2", "--turn", turn]
    tried = subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr


def change(function: str, old: str, new: str) -> str:
    return table.replace(SOURCE, table.Edit("a.c", function, old, new))


@pytest.mark.parametrize(("function", "old", "problem"), [
    ("third", "a", "a.c has no function, macro or object third"),
    ("", "return TWICE(a);", "`old` is 2 times in a.c, it has to be there once"),
    ("second", "return sizes", "`old` is 0 times in second of a.c, it has to be there once"),
    ("second", "econd", "`old` is 0 times in second of a.c, it has to be there once"),
])
def test_a_text_that_does_not_match_once_is_refused(function: str, old: str, problem: str) -> None:
    with pytest.raises(table.MutantError) as caught:
        change(function, old, "0")
    assert str(caught.value) == problem
