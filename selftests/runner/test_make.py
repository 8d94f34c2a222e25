# SPDX-License-Identifier: GPL-2.0-only
"""`make -n` says what make would do and does nothing of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import TOP


@pytest.mark.parametrize("target", ["check", "check-fast", "check-core"])
def test_a_dry_run_names_the_tests_and_runs_none(tmp_path: Path, target: str) -> None:
    build = tmp_path / "build"
    said = subprocess.run(["make", "-n", target, f"O={build}"], cwd=TOP, capture_output=True,
                          text=True, timeout=60, check=True).stdout
    assert f"selftests/run --build {build}" in said
    assert "passed" not in said
    assert [path for path in build.rglob("*") if path.name != "flags" and path.is_file()] == []


def test_a_check_builds_the_examples_that_guests_run(tmp_path: Path) -> None:
    """They are in no package, and the first clean checkout that ran a guest early had none."""
    said = subprocess.run(["make", "-n", "check-kernel", f"O={tmp_path}"], cwd=TOP,
                          capture_output=True, text=True, timeout=60, check=True).stdout
    assert f"-o {tmp_path}/examples/annotated " in said
