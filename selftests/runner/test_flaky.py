# SPDX-License-Identifier: GPL-2.0-only
"""Tests that fail now and then are counted, and the series can be interrupted."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from selftests.lib.processes import until
from selftests.lib.programs import TOP, Done, run_program


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree that has one test, which fails each third time."""
    (tmp_path / "selftests/core").mkdir(parents=True)
    for name in "flaky", "run":
        shutil.copy(TOP / "selftests" / name, tmp_path / "selftests")
    packages = tmp_path / "selftests/install-packages"
    packages.write_text(f"#!/bin/sh\necho {tmp_path}/venv\n")
    packages.chmod(0o755)
    script = tmp_path / "selftests/core/thing.tap.sh"
    script.write_text(f"#!/bin/sh\necho 1 >>{tmp_path}/runs\nruns=$(wc -l <{tmp_path}/runs)\n"
                      "echo 1..1; [ $((runs % 3)) -ne 0 ] || printf 'not '; echo ok 1 - point\n"
                      "echo run $runs\n")
    script.chmod(0o755)
    return tmp_path


def flaky(tree: Path, *arguments: str) -> Done:
    return run_program(tree / "selftests/flaky", "--build", tree / "build", *arguments)


def test_the_rate_and_the_output_are_reported(tree: Path) -> None:
    done = flaky(tree, "--no-load", "--runs", "7", "core")
    assert done.code == 1
    assert "not loaded: --no-load" in done.out
    assert f"run 3: failed: core/thing: point; see {tree}/build/flaky/core/run-3.txt" in done.out
    assert done.out.endswith("2 of 7 runs failed\n     2 of 7  core/thing: point\n")
    kept = tree / "build/flaky/core"
    assert sorted(path.name for path in kept.iterdir()) == [
        f"run-{number}{rest}" for number in (3, 6)
        for rest in ("-core-thing.err", "-core-thing.out", ".txt")]
    assert "run 6\n" in (kept / "run-6-core-thing.out").read_text()


def test_a_series_without_failure_passes(tree: Path) -> None:
    done = flaky(tree, "--no-load", "-n", "2", "core/thing")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("0 of 2 runs failed: with 95 % confidence fewer than 100 in 100 do\n")


def test_a_wrong_command_line(tree: Path) -> None:
    for words in ("--no-load", "cores"), ("--runs", "0", "core"), ():
        done = flaky(tree, *words)
        assert (done.code, done.out) == (2, "")
        assert done.err
    assert flaky(tree, "--help").out.startswith("usage: selftests/flaky")


def test_without_stress_ng_there_is_a_remark(tree: Path) -> None:
    (tree / "bin").mkdir()
    for name in "python3", "sh", "wc":
        found = shutil.which(name)
        assert found
        (tree / "bin" / name).symlink_to(found)
    done = run_program(tree / "selftests/flaky", "--build", tree / "build", "-n1", "core",
                       environment={"PATH": str(tree / "bin")})
    assert done.code == 0, done
    assert "not loaded: stress-ng is not installed; selftests/install-packages --load" in done.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(tree: Path, number: signal.Signals) -> None:
    """What it has started is gone, and what is known is reported."""
    (tree / "bin").mkdir()
    (tree / "bin/stress-ng").write_text(f"#!/bin/sh\necho $$ >{tree}/load\nexec sleep infinity\n")
    (tree / "bin/stress-ng").chmod(0o755)
    script = tree / "selftests/core/thing.tap.sh"
    script.write_text(script.read_text().replace(
        "echo run", f"[ $runs -lt 2 ] || {{ echo $$ >{tree}/pid; exec sleep infinity; }}\necho"))
    process = subprocess.Popen(
        [tree / "selftests/flaky", "--build", tree / "build", "core"], stdout=subprocess.PIPE,
        text=True, env=os.environ | {"PATH": f"{tree}/bin:{os.environ['PATH']}"})
    until(lambda: (tree / "pid").exists() and (tree / "pid").read_text(), process)
    process.send_signal(number)
    said, _ = process.communicate()
    assert process.returncode == 130
    assert "interrupted\n\n0 of 1 runs failed" in said
    places = [Path("/proc") / (tree / name).read_text().strip() for name in ("pid", "load")]
    until(lambda: not any(map(Path.exists, places)))
