# SPDX-License-Identifier: GPL-2.0-only
"""selftests/rename changes sources and mutants together, and refuses ambiguous names."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

RENAME = Path(__file__).resolve().parents[1] / "rename"
FILES = {
    "core/sheet.c": '''#include "core/sheet.h"
/* aftl_load() loads; mode is said by mode() */
static int mode(int level)
{
	return level;
}

int aftl_load(struct a *a, int mode)
{
	return a->mode + mode(mode);
}

static const struct ops ops = { .mode = mode, .name = "mode" };
''',
    "core/sheet.h": "int aftl_load(struct a *a, int mode);\n",
    "core/other.c": "int aftl_loads(int mode) { return mode; } /* see sheet.c */\n",
    "Kbuild": "o := core/sheet.o core/other.o\n",
    "CHANGELOG.md": "aftl_load() in core/sheet.c\n",
    "selftests/mutants/core.toml": '''[load-nothing]
breaks = "mode of aftl_load"
file = "core/sheet.c"
function = "mode"
old = 'return mode(mode);'
new = ''

[other]
breaks = "other"
file = "core/other.c"
old = 'return mode;'
new = ''
''',
}


@pytest.fixture(name="tree")
def a_tree(tmp_path: Path) -> Path:
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    shutil.copy2(RENAME, tmp_path / "selftests/rename")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def rename(tree: Path, glossary: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tree / "selftests/rename", *options, "-"], input=glossary, cwd=tree,
                          capture_output=True, text=True, check=False)


def test_sources_and_mutants_are_renamed(tree: Path) -> None:
    glossary = "aftl_load l2p_load # by underscore\nmode() l2p_mode core/s*\n" \
               "core/sheet.c core/cmt.c\n"
    assert rename(tree, glossary, "--dry-run").returncode == 0
    assert {file: (tree / file).read_text() for file in FILES} == FILES
    assert rename(tree, glossary).returncode == 0
    assert not (tree / "core/sheet.c").exists()
    source = (tree / "core/cmt.c").read_text()
    assert "/* l2p_load() loads; mode is said by mode() */" in source
    assert "static int l2p_mode(int level)" in source
    assert "int l2p_load(struct a *a, int mode)" in source
    assert "return a->mode + l2p_mode(mode);" in source
    assert '.mode = l2p_mode, .name = "mode"' in source
    assert '#include "core/sheet.h"' in source
    assert "aftl_loads(int mode) { return mode; } /* see cmt.c */" in \
        (tree / "core/other.c").read_text()
    assert (tree / "Kbuild").read_text() == "o := core/cmt.o core/other.o\n"
    assert (tree / "CHANGELOG.md").read_text() == FILES["CHANGELOG.md"]
    mutants = (tree / "selftests/mutants/core.toml").read_text()
    assert 'breaks = "mode of l2p_load"\nfile = "core/cmt.c"\nfunction = "l2p_mode"' in mutants
    assert "old = 'return l2p_mode(mode);'" in mutants
    assert "old = 'return mode;'" in mutants


@pytest.mark.parametrize(("glossary", "problem"), [
    ("mode l2p_mode", "line 1: mode needs a GLOB"),
    ("aftl_load", "line 1: write OLD NEW [GLOB...]"),
    ("aftl_load l2p-load", "line 1: aftl_load and l2p-load are not two identifiers"),
    ("aftl_gone l2p_gone", "aftl_gone is nowhere"),
    ("aftl_load l2p_load core/o*", "aftl_load is nowhere in core/o*"),
    ("aftl_load aftl_loads", "aftl_loads is in use, so aftl_load cannot become it"),
    ("aftl_load l2p_x\naftl_loads l2p_x", "l2p_x is the new name in 2 lines"),
    ("aftl_load l2p_x\naftl_load l2p_y core/*.c", "aftl_load has two new names in core/other.c"),
    ("core/gone.c core/cmt.c", "core/gone.c is no tracked file"),
    ("core/sheet.c core/other.c", "core/other.c is in use, so core/sheet.c cannot become it"),
])
def test_what_is_ambiguous_or_collides_is_refused(tree: Path, glossary: str, problem: str) -> None:
    refused = rename(tree, glossary)
    assert refused.returncode == 1
    assert refused.stderr == f"rename: {problem}; nothing is changed\n"
    assert {file: (tree / file).read_text() for file in FILES} == FILES
