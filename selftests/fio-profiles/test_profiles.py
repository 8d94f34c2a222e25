# SPDX-License-Identifier: GPL-2.0-only
"""Every job file runs on a file, describes itself, and has the shares of reads that it states."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.programs import BUILD, TOP, run_program

PROFILES = sorted((TOP / "fio-profiles").glob("*.fio"))
# selftests/kernel/profiles.sh runs all of them on a device.
FOR_FILES = [profile for profile in PROFILES if profile.stem != "trim"]

Json = dict[str, Any]


@cache
def run_profile(profile: Path) -> dict[str, Json]:
    """Run a profile once on a file; return its jobs by name."""
    BUILD.mkdir(parents=True, exist_ok=True)
    # /tmp may be in memory and lack direct I/O.
    with tempfile.TemporaryDirectory(dir=BUILD) as directory:
        done = run_program("fio", "--output-format=json", "--eta=never", str(profile),
                           directory=Path(directory),
                           environment={"TARGET": f"{directory}/file", "SIZE": "1m"})
    assert done.code == 0, done.out + done.err
    return {job["jobname"]: job for job in json.loads(done.out)["jobs"]}


@pytest.mark.parametrize("profile", FOR_FILES, ids=lambda path: path.stem)
@pytest.mark.in_turn
def test_each_profile_runs_on_a_file(profile: Path) -> None:
    for name, job in run_profile(profile).items():
        assert job["error"] == 0
        assert job["read"]["total_ios"] + job["write"]["total_ios"] > 0, name


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_header_describes_the_profile_and_its_command(profile: Path) -> None:
    header, _, jobs = profile.read_text().partition("\n[global]\n")
    lines = header.splitlines()
    assert lines[0].startswith("; SPDX-")
    assert all(line.startswith(";") or not line for line in lines)
    assert f"fio fio-profiles/{profile.name}" in header
    assert "filename=${TARGET}\nsize=${SIZE}\n" in jobs


# Reads per write, from the source in the header; then the reading and the writing jobs.
MIXES = {
    "mail": (1, ["deliver"], ["deliver"]),  # one group: fio adds the readers' figures to it
    "web": (10, ["pages"], ["log"]),
    "proxy": (5, ["hits"], ["misses"]),
    "key-value": (4, ["gets"], ["log"]),
    "oltp": (1 / 9, ["queries"], ["rows", "log"]),
    "documents": (1, ["finds"], ["updates"]),
    "mixed-70-30": (70 / 30, ["mixed"], ["mixed"]),
    "mixed-30-70": (30 / 70, ["mixed"], ["mixed"]),
}


@pytest.mark.parametrize("name", MIXES)
def test_mixed_fio_profiles_have_the_expected_ratio_of_reads_to_writes(name: str) -> None:
    wanted, readers, writers = MIXES[name]
    jobs = run_profile(TOP / "fio-profiles" / f"{name}.fio")
    reads = sum(jobs[job]["read"]["total_ios"] for job in readers)
    writes = sum(jobs[job]["write"]["total_ios"] for job in writers)
    assert reads / writes == pytest.approx(wanted, rel=0.25)


@pytest.mark.parametrize("name", ["mail", "web", "proxy"])
def test_mixed_requests_have_16_kib_on_average(name: str) -> None:
    readers = MIXES[name][1]
    jobs = run_profile(TOP / "fio-profiles" / f"{name}.fio")
    reads = [jobs[job]["read"] for job in readers]
    mean = sum(read["io_bytes"] for read in reads) / sum(read["total_ios"] for read in reads)
    assert mean == pytest.approx(16 * 1024, rel=0.25)
