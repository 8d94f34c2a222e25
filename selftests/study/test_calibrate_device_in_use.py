# SPDX-License-Identifier: GPL-2.0-only
"""approxftl calibrate --device on QEMU's NVMe drive: it refuses what holds data, and measures."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.programs import PROGRAM, run_program

JOBS = "[global]\nfilename=${TARGET}\nsize=${SIZE}\nioengine=libaio\ndirect=1\nbs=4k\n\n"
#: Each step changes the drive or its use, and names the words that refuse it then.
STEPS = (
    ("mkfs.ext4 -q $d", "holds ext4"),
    ("mount $d /mnt", "is in use: mounted"),
    ("umount /mnt; wipefs -qa $d", "holds data at byte"),
    ("dmsetup create above --table \"0 8192 linear $d 0\"", "is part of dm-"),
    ("dmsetup remove above; addpart $d 1 2048 4096", "has partitions (nvme0n1p1)"),
)
Json = dict[str, Any]


@pytest.fixture(scope="module", name="results")
def run_steps_in_guest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Try each step in a virtual machine, then measure the drive without its partitions."""
    place = tmp_path_factory.mktemp("in-use")
    for name, job in (("fill", "[fill]\nrw=write\n"),
                      ("reads", "[lone]\nrw=randread\nnumber_ios=100\n"),
                      ("writes", "[single]\nrw=randwrite\nnumber_ios=100\n")):
        (place / f"calibrate-{name}.fio").write_text(JOBS + job)
    calibrate = "approxftl calibrate --device $d --skip-rewrites --job-files . --measure-only " \
        "--yes --results $RESULTS"
    lines = ["set -e", "d=/dev/nvme0n1"]
    for index, (step, _) in enumerate(STEPS):
        lines += [step, f"! {calibrate}/none 2>$RESULTS/{index}"]
    lines += ["delpart $d 1", f"{calibrate}/done --overwrite",
              # Nothing is left to do, so the drive may be in use.
              "mkfs.ext4 -q $d", f"{calibrate}/done"]
    (place / "script").write_text("\n".join(lines) + "\n")
    done = run_program(PROGRAM, "lab", "--script", "script", "--disk", "64MiB", "--results",
                       "results", directory=place)
    assert done.code == 0, done.out + done.err
    return place / "results"


@pytest.mark.slow
@pytest.mark.in_turn("device in use")
def test_a_drive_that_holds_anything_is_refused(results: Path) -> None:
    for index, (step, why) in enumerate(STEPS):
        said = (results / str(index)).read_text()
        assert re.fullmatch(r"approxftl calibrate: /dev/nvme0n1: .*\n", said), (step, said)
        assert why in said, step
    assert not (results / "none").exists()


@pytest.mark.slow
@pytest.mark.in_turn("device in use")
def test_the_shipped_command_measures_an_nvme_drive(results: Path) -> None:
    identity: Json = json.loads((results / "done/device.json").read_text())
    assert identity["model"] == "QEMU NVMe Ctrl" and identity["bytes"] == 64 << 20
    assert identity["serial"]
    for name, kind, count in (("fill", "write", 16384), ("reads", "read", 100),
                              ("writes", "write", 100)):
        (job,) = json.loads((results / f"done/{name}.json").read_text())["jobs"]
        assert job["error"] == 0 and job[kind]["total_ios"] == count
