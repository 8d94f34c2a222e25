# SPDX-License-Identifier: GPL-2.0-only
"""Test how run-others runs xfstests in pieces, and repeats failed tests on dm-linear."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from selftests.lib.programs import TOP

#: In place of a virtual machine: what the guest says of each test, by device.
LAB = """#!/bin/sh
for words; do :; done
echo "$words" >>commands
set -- ${words#*others.sh }
device=$2
shift 3
for test; do
	case $device:$test in
	*:generic/001) echo "# $test pass 1s" ;;
	ram*:generic/002) echo "# $test pass 1s" && echo "# $test fail _check_dmesg: found" ;;
	*:generic/003) echo "# $test skip [not run] no such thing" ;;
	*:generic/004) echo "# $test fail - output mismatch" ;;
	ram*:generic/005) exit 98 ;;
	linear*:generic/005) echo "# $test pass 2s" && echo "not ok 4 - the kernel's log is clean" ;;
	ram*:generic/006) exec sleep 1000 ;;
	*) echo "# $test pass 2s" ;;
	esac
done
"""


@pytest.fixture(name="tree")
def tree_with_fake_lab(tmp_path: Path) -> Path:
    """Return a source tree with run-others and a fake of the lab, which starts machines."""
    for file in ("selftests/kernel/run-others", "selftests/lib/tap.sh"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / file, tmp_path / file)
    lab = tmp_path / "userspace/lab/approxftl-lab"
    lab.parent.mkdir(parents=True)
    lab.write_text(LAB)
    lab.chmod(0o755)
    groups = tmp_path / "xfstests/tests/generic"
    groups.mkdir(parents=True)
    groups.joinpath("group.list").write_text(
        "# comment\n" + "".join(f"{n:03} auto quick\n" for n in range(1, 9)) + "009 auto quicker\n")
    (tmp_path / "xfstests/tests/ext4").mkdir()
    (tmp_path / "xfstests/tests/ext4/group.list").write_text("001 auto\n")
    return tmp_path


def test_a_failed_xfstest_counts_as_failure_only_if_it_passes_on_dm_linear(tree: Path) -> None:
    """Every test gets one verdict, even if it stops its machine; a second run repeats no test."""
    command = ["selftests/kernel/run-others", "xfstests", "xfstests", "-g", "quick"]
    env = {**os.environ, "ON": "ram-off", "AFTL_BUILD": str(tree / "build"), "PIECE": "3",
           "PATIENCE": "1"}
    first = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert first.returncode == 1, first.stderr
    assert first.stdout.splitlines() == [
        "KTAP version 1",
        "# the kernel's log is clean",
        f"not ok 1 - see {tree}/build/xfstests/ext4-linear-off.log",
        "ok 2 - ram-off: generic/001",
        "not ok 3 - ram-off: generic/002 is fail, on dm-linear pass",
        "ok 4 - ram-off: generic/003 # SKIP not for dm-linear, either",
        "ok 5 - ram-off: generic/004 # SKIP fails on dm-linear, too",
        "not ok 6 - ram-off: generic/005 is fail, on dm-linear pass",
        "not ok 7 - ram-off: generic/006 is fail, on dm-linear pass",
        "ok 8 - ram-off: generic/007",
        "ok 9 - ram-off: generic/008",
        "# ram-off, here:on dm-linear: 1 fail:fail",
        "# ram-off, here:on dm-linear: 3 fail:pass",
        "# ram-off, here:on dm-linear: 3 pass:-",
        "# ram-off, here:on dm-linear: 1 skip:skip",
        "1..9",
    ]
    begun = (tree / "commands").read_text()
    assert "linear-off" in begun and "generic/009" not in begun
    second = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert second.stdout == first.stdout
    assert (tree / "commands").read_text() == begun


def test_a_stopped_run_keeps_the_verdicts_of_its_piece(tree: Path) -> None:
    """The verdicts survive a signal and another run, on another file system, at the same time."""
    command = ["selftests/kernel/run-others", "xfstests", "xfstests"]
    results = tree / "build/xfstests"
    env = {**os.environ, "ON": "ram-off", "AFTL_BUILD": str(tree / "build")}
    with subprocess.Popen([*command, "generic/001", "generic/003", "generic/006"], cwd=tree,
                          env=env, stdout=subprocess.DEVNULL, start_new_session=True) as first:
        log = results / "ext4-ram-off.now/log"
        while not log.exists() or "generic/003" not in log.read_text():
            assert first.poll() is None
            time.sleep(0.1)
        subprocess.run([*command, "generic/007"], cwd=tree, env={**env, "FSTYP": "xfs"}, check=True,
                       stdout=subprocess.DEVNULL)
        os.killpg(first.pid, signal.SIGTERM)
    assert [line.split()[:2] for line in (results / "ext4-ram-off").read_text().splitlines()] == [
        ["generic/001", "pass"], ["generic/003", "skip"]]
    assert (results / "xfs-ram-off").read_text() == "generic/007 pass 2s\n"
