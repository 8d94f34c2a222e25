# SPDX-License-Identifier: GPL-2.0-only
"""The manual pages: complete, and their examples work."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from selftests.sim.support import BINARY, FIELDS, TOP


def examples(page: Path) -> list[str]:
    return re.findall(r"^    \$ (.+)$", page.read_text(), re.MULTILINE)


#: Pages whose examples need no device; those of the simulator's folder must have some.
PAGES = sorted(
    page
    for folder in ("userspace", "trace-tools")
    for page in (TOP / folder).rglob("*.rst")
    if page.parent.name == "approxftl" or examples(page)
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"}
    commands = examples(page)
    assert commands
    for command in commands:
        done = subprocess.run(
            command.split(),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), command


def test_every_option_is_explained() -> None:
    table = (TOP / "userspace/sim/option-table.h").read_text()
    page = (TOP / "userspace/approxftl/approxftl-sim.1.rst").read_text()
    names = re.findall(r"^SIM_OPT\((\w+),", table, re.MULTILINE)
    missing = [n for n in names if not re.search(f"^--{n.replace('_', '-')}\\b", page, re.M)]
    assert missing == []


def test_fields_are_those_of_the_format() -> None:
    page = (TOP / "userspace/approxftl/aft.5.rst").read_text()
    for name, offset, size in FIELDS:
        assert re.search(rf"^{offset} +{size} +{name} ", page, re.MULTILINE)
