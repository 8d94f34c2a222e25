# SPDX-License-Identifier: GPL-2.0-only
"""Each mutant of the tables matches the sources, and a few of them are caught."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from selftests.mutants import table

BASE = 'breaks = "a rule"\ncaught_by = "core/test-chip"\n'
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


@pytest.mark.parametrize(("text", "problem"), [
    ("file = 'no.c'", "there is no file no.c"),
    ("caught_by = 'core/test-none'", "caught_by names a test that is not there: selftests/core"),
    ("caught_by = 'kernel none: point'", "caught_by names a test that is not there: selftests/ker"),
    ("new = 'def load('", "`new` is what selftests/mutants/table.py has"),
])
def test_an_entry_that_does_not_fit_the_tree_is_refused(
        tmp_path: Path, text: str, problem: str) -> None:
    base = BASE + "file = 'selftests/mutants/table.py'\nold = 'def load('\nnew = ''\n"
    key = text.partition(" ")[0]
    base = "".join(line + "\n" for line in base.splitlines() if line.partition(" ")[0] != key)
    area = tmp_path / "area.toml"
    area.write_text(f"[a]\n{base}{text}\n")
    (mutant,), problems = table.load(area)
    assert not problems
    assert table.check(mutant, table.TOP).startswith(f"area/a: {problem}")
