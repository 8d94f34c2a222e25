# SPDX-License-Identifier: GPL-2.0-only
"""approxftl calibrate --device: refusals, confirmation, resuming, signals; and its certificate.

A regular file stands for the drive, a directory for the drive's sysfs, and a script for fio: the
script writes the output that is prepared for a job file, and counts the bytes of the jobs.
"""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD, TOP, Done, run_program
from selftests.study.fio_documents import make_fio_document, make_fio_job, make_job_section

from approxftl_tools.calibrate_device import (
    JOBS,
    Device,
    Progress,
    describe_device_in_sysfs,
    find_job_files,
    find_reason_in_sysfs_to_refuse,
    find_sample_with_data,
    is_job_output_complete,
    list_signatures,
    open_device_exclusively,
    refuse_device_with_data,
)
from approxftl_tools.command import Refusal

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
SIZE = 32 << 20
Json = dict[str, Any]

FIO = f"""#!{sys.executable}
import os, sys, time
from pathlib import Path
own = Path(__file__).parent
jobs = Path(sys.argv[-1])
output = Path([word for word in sys.argv if word.startswith("--output=")][0].partition("=")[2])
with (own / "runs").open("a") as runs:
    runs.write(jobs.stem.removeprefix("calibrate-") + " " + os.environ["SIZE"] + "\\n")
with open(os.environ["TARGET"], "r+b") as target:
    target.write(b"fio")
text = (own / f"{{jobs.stem}}.json").read_text()
if (own / "fail").exists() and (own / "fail").read_text() in jobs.stem:
    output.write_text(text)
    print("fio: the drive has failed", file=sys.stderr)
    sys.exit(1)
if (own / "hang").exists() and (own / "hang").read_text() in jobs.stem:
    output.write_text(text[:100])
    (own / "pid").write_text(str(os.getpid()))
    while True:
        time.sleep(1)
output.write_text(text)
"""


class Bench:
    """A fake drive with its fio, and the command that calibrates it."""

    def __init__(self, place: Path) -> None:
        self.place, self.bin = place, place / "bin"
        self.drive, self.sysfs, self.jobs = place / "drive", place / "sysfs", place / "jobs"
        for folder in (self.bin, self.sysfs / "device", self.jobs):
            folder.mkdir(parents=True)
        with self.drive.open("wb") as file:
            file.truncate(SIZE)
        for name, text in (("size", SIZE // 512), ("device/model", "ACME 9000"),
                           ("wwid", "eui.1"), ("ro", 0), ("stat", "0 0 0 0 0 0 0 0")):
            (self.sysfs / name).write_text(f"{text}\n")
        # Only the reads have direct=1: calibration ignores the other jobs.
        for name, load, kind in (("fill", "fill", "write"), ("reads", "lone", "read"),
                                 ("writes", "single", "write"), ("rewrites", "age", "write")):
            (self.jobs / f"calibrate-{name}.fio").write_text(
                f"[global]\nrw=randread\nbs=4k\n\n[{load}]\nnumber_ios=1000\n")
            job = make_fio_job(load, 0, {"rw": "randread", "direct": str(int(kind == "read"))},
                               kind, make_job_section(1e4, 4096, {"mean": 100.0, "p50": 99.0,
                                                                  "p90": 110.0}))
            (self.bin / f"calibrate-{name}.json").write_text(json.dumps(make_fio_document([job])))
        (self.bin / "fio").write_text(FIO)
        (self.bin / "fio").chmod(0o755)

    def make_command(self, *options: str | Path) -> list[str | Path]:
        return [sys.executable, TOP / "selftests/study/calibrate_file.py", self.sysfs,
                "--device", self.drive, "--job-files", self.jobs, "--results",
                self.place / "results", *options]

    def make_environment(self) -> dict[str, str]:
        return {"PATH": f"{self.bin}:{os.environ['PATH']}", "PYTHONPATH": ":".join(sys.path),
                "APPROXFTL": str(BUILD / "approxftl")}

    def run_calibrate(self, *options: str | Path, stdin: bytes = b"", status: int = 0) -> Done:
        done = run_program(*self.make_command(*options), stdin=stdin, directory=self.place,
                           environment=self.make_environment())
        assert done.code == status, done.err
        return done

    def list_fio_runs(self) -> list[str]:
        runs = self.bin / "runs"
        return runs.read_text().splitlines() if runs.exists() else []


@pytest.fixture(name="bench")
def make_bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ---------------------------------------------------------------- refusals


def test_a_regular_file_and_a_missing_device_are_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"keep")
    for target, why, status in ((path, "not a block device", 1), (Path("/dev/null"), "not a block",
                                                                  1),
                                (tmp_path / "none", "No such file", 3)):
        done = run_program(BUILD / "approxftl-calibrate", "--device", target, "--yes",
                           directory=tmp_path)
        assert (done.code, done.err.count("\n"), done.out) == (status, 1, "")
        assert f"{target}: {why}" in done.err
    assert path.read_bytes() == b"keep" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("words", "why"), [
    ((), "neither FILE nor --device"), (("x.json", "--yes"), "--yes does not go without --device"),
    (("x.json", "--measure-only"), "--measure-only does not go without"),
    (("x.json", "--device", "/dev/null"), "neither with FILE"),
    (("--device", "/dev/null", "--capacity", "1GB"), "nor with --capacity")])
def test_options_that_contradict_are_refused(words: tuple[str, ...], why: str) -> None:
    done = run_program(BUILD / "approxftl-calibrate", *words)
    assert done.code == 2 and why in done.err and done.err.count("\n") == 1


def test_a_device_that_the_kernel_uses_is_refused(bench: Bench) -> None:
    folder = bench.sysfs
    assert find_reason_in_sysfs_to_refuse(folder) == ""
    for name, text, why in (("partition", "1", "is a partition"),
                            ("nvme0n1p2/partition", "2", "has partitions (nvme0n1p2)"),
                            ("holders/dm-3", "", "is part of dm-3"), ("ro", "1", "read-only"),
                            ("queue/zoned", "host-managed", "is zoned")):
        path = folder / name
        before = path.read_text() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        assert why in find_reason_in_sysfs_to_refuse(folder)
        assert why in bench.run_calibrate("--yes", status=1).err
        if before is None:
            path.unlink()
        else:
            path.write_text(before)
    assert find_reason_in_sysfs_to_refuse(folder) == "" and not bench.list_fio_runs()


def test_signatures_are_refused_even_with_overwrite(bench: Bench) -> None:
    assert list_signatures(bench.drive) == []
    for make, kind in (("mkfs.ext4", "ext4"), ("mkswap", "swap")):
        with bench.drive.open("wb") as file:
            file.truncate(SIZE)
        assert run_program(make, "-q", bench.drive).code == 0
        before = bench.drive.read_bytes()
        assert list_signatures(bench.drive) == [kind]
        said = bench.run_calibrate("--yes", "--overwrite", status=1).err
        assert f"holds {kind}" in said and said.count("\n") == 1
        assert bench.drive.read_bytes() == before and not bench.list_fio_runs()


@pytest.mark.parametrize("offset", [0, 1 << 20, SIZE // 2, SIZE - 1])
def test_other_data_are_refused_without_overwrite(bench: Bench, offset: int) -> None:
    device = describe_device_in_sysfs(bench.drive, bench.sysfs)
    with bench.drive.open("r+b") as file:
        assert find_sample_with_data(file.fileno(), SIZE) is None
        file.seek(offset)
        file.write(b"x")
        file.flush()
        found = find_sample_with_data(file.fileno(), SIZE)
        assert found is not None and found <= offset < found + (1 << 20)
        with pytest.raises(Refusal, match=r"holds data at byte .*--overwrite"):
            refuse_device_with_data(device, file.fileno(), False)
        refuse_device_with_data(device, file.fileno(), True)


def test_a_device_that_is_claimed_is_refused(monkeypatch: pytest.MonkeyPatch,
                                             bench: Bench) -> None:
    """The kernel refuses O_EXCL for a device that is mounted, or that another program claims."""
    def refuse_exclusive_open(_path: Path, flags: int) -> int:
        raise OSError(16 if flags & os.O_EXCL else 5, "Device or resource busy")
    monkeypatch.setattr(os, "open", refuse_exclusive_open)
    with pytest.raises(Refusal, match="is in use: mounted"), \
            open_device_exclusively(describe_device_in_sysfs(bench.drive, bench.sysfs)):
        pass


@pytest.mark.parametrize("answer", [b"", b"\n", b"yes\n", b"driv\n"])
def test_without_confirmation_nothing_is_written(bench: Bench, answer: bytes) -> None:
    said = bench.run_calibrate(stdin=answer, status=1).err
    assert f"overwrites all data of {bench.drive} (ACME 9000, 0.03355 GB)" in said
    assert said.endswith("not confirmed, nothing was written; --yes answers in a script\n")
    assert bench.drive.read_bytes() == bytes(SIZE)
    assert not bench.list_fio_runs() and not (bench.place / "results").exists()


# ---------------------------------------------------------------- running the jobs


def test_all_job_files_run_in_order_and_their_output_is_fitted(bench: Bench) -> None:
    """The device's name confirms; a second run finds everything done, and asks nothing."""
    out = bench.run_calibrate(stdin=b"drive\n").out
    assert "lone  read mean, us" in out and "not determined" in out
    bench.run_calibrate("--measure-only")
    assert bench.list_fio_runs() == [f"{name} 100%" for name in JOBS]
    assert {path.name for path in (bench.place / "results").iterdir()} == \
        {"device.json", *(f"{name}.json" for name in JOBS)}


def test_rewrites_can_be_left_out(bench: Bench) -> None:
    out = bench.run_calibrate("--yes", "--skip-rewrites", "--measure-only").out
    assert bench.list_fio_runs() == [f"{name} 100%" for name in JOBS[:-1]] and not out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_measurement_ends_fio_and_is_continued(bench: Bench,
                                                              number: signal.Signals) -> None:
    (bench.bin / "hang").write_text("calibrate-reads")
    process = subprocess.Popen(
        ["env", "--default-signal=INT,TERM", *bench.make_command("--yes", "--progress")],
        env={**os.environ, **bench.make_environment()}, stderr=subprocess.PIPE, text=True)
    await_true((bench.bin / "pid").exists, process)
    await_true(lambda: (bench.bin / "pid").read_text(), process)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.endswith("results keeps the output of fill; the same command goes on there\n"
                         "approxftl calibrate: interrupted\n")
    assert not Path("/proc", (bench.bin / "pid").read_text()).exists()
    results = bench.place / "results"
    assert {path.name for path in results.iterdir()} == {"device.json", "fill.json"}
    (bench.bin / "hang").unlink()
    # The drive holds what fio has written: no --overwrite is needed to go on.
    assert bench.drive.read_bytes()[:3] == b"fio"
    bench.run_calibrate("--yes", "--measure-only")
    assert bench.list_fio_runs() == [f"{name} 100%" for name in ("fill", "reads",
                                                                 *JOBS[1:])]


@pytest.mark.parametrize("damaged", ["", '{"jobs": []}'])
def test_a_damaged_output_and_all_later_ones_are_measured_again(bench: Bench,
                                                                damaged: str) -> None:
    bench.run_calibrate("--yes", "--measure-only")
    (bench.place / "results/reads.json").write_text(damaged)
    (bench.bin / "fail").write_text("calibrate-rewrites")
    assert "keeps the output of fill, reads, writes;" in \
        bench.run_calibrate("--yes", "--measure-only", status=1).err
    (bench.bin / "fail").unlink()
    bench.run_calibrate("--yes", "--measure-only")
    assert bench.list_fio_runs()[len(JOBS):] == [
        f"{name} 100%" for name in (*JOBS[1:], "rewrites")]


def test_a_drive_without_serial_number_needs_overwrite_to_go_on(bench: Bench) -> None:
    """Nothing tells that the data on it are those of the interrupted measurement."""
    (bench.sysfs / "wwid").unlink()
    bench.run_calibrate("--yes", "--measure-only")
    (bench.place / "results/rewrites.json").unlink()
    said = bench.run_calibrate("--yes", "--measure-only", status=1).err
    assert "holds data at byte 0; --overwrite" in said
    bench.run_calibrate("--yes", "--measure-only", "--overwrite")
    assert bench.list_fio_runs()[len(JOBS):] == ["rewrites 100%"]


def test_results_of_another_drive_are_refused(bench: Bench) -> None:
    bench.run_calibrate("--yes", "--measure-only")
    (bench.sysfs / "wwid").write_text("eui.2\n")
    assert "results of another drive" in bench.run_calibrate("--yes", status=1).err
    assert len(bench.list_fio_runs()) == len(JOBS)


def test_a_failure_of_fio_is_reported_with_its_last_line(bench: Bench) -> None:
    (bench.bin / "fail").write_text("calibrate-fill")
    said = bench.run_calibrate("--yes", status=1).err
    assert "keeps the output of no job file" in said
    assert said.endswith("calibrate-fill.fio: ended with status 1: fio: the drive has failed\n")
    assert {path.name for path in (bench.place / "results").iterdir()} == {"device.json"}


def test_an_output_without_all_jobs_is_not_complete(bench: Bench) -> None:
    jobs, output = bench.jobs / "calibrate-reads.fio", bench.bin / "calibrate-reads.json"
    assert is_job_output_complete(output, jobs)
    document = json.loads(output.read_text())
    document["jobs"][0]["error"] = 5
    output.write_text(json.dumps(document))
    assert not is_job_output_complete(output, jobs)
    assert not is_job_output_complete(bench.bin / "calibrate-writes.json", jobs)


def test_time_left_is_the_sum_over_the_remaining_jobs() -> None:
    """The shipped jobs write the drive once and 3.3 times; a rate so far tells the time left."""
    size = 10**12
    progress = Progress(Device(Path("/dev/x"), Path("/none"), "", "", size),
                        find_job_files(None, []), shown=False)
    assert progress.planned["fill"] == pytest.approx(size, rel=0.01)
    assert progress.planned["rewrites"] == pytest.approx(3.3 * size, rel=0.01)
    assert progress.planned["reads"] < 0.1 * size
    progress.name = "rewrites"
    assert progress.describe_progress(1000.0, 3 * size).endswith("at least 1 min left")
    progress.name = "fill"
    text = progress.describe_progress(1000.0, size // 2)
    assert text.startswith("fill, job file 1 of 4: 500.0 of ")
    assert text.endswith(" left") and " at least 2 h " in text
    assert "left" not in progress.describe_progress(0.1, 0)


# ---------------------------------------------------------------- the certificate


def test_a_certificate_names_points_errors_build_and_command(bench: Bench) -> None:
    """Every value of the certificate is in the page and the document, twice the same."""
    texts = []
    for _ in range(2):
        bench.run_calibrate("--yes", "--certificate", bench.place / "own")
        texts.append([(bench.place / f"own.{kind}").read_text() for kind in ("html", "json")])
    assert texts[0] == texts[1]
    page, text = texts[0]
    document = parse_document(SCHEMA, text)
    found = document["certificate"]
    outputs = {bench.place / f"results/{name}.json" for name in JOBS}
    assert found["files_sha256"] == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
                                     for path in outputs}
    assert found["drive"] == {"model": "ACME 9000", "bytes": SIZE}
    errors = sorted(abs(point["error"]) for point in document["fitted"])
    assert found["summary"] == [{"use": "fitted", "points": len(errors),
                                 "median_error": errors[len(errors) // 2]}]
    assert shlex.split(found["repeat"])[:4] == ["approxftl", "calibrate", "--device",
                                                str(bench.drive)]
    for wanted in (found["simulator_sha256"], "ACME 9000", "not determined", "lone", "# A drive",
                   *found["files_sha256"].values(), str(bench.place / "own")):
        assert wanted in page
    for point in document["fitted"]:
        assert f"{point['error'] * 100:+.1f}\u00a0%" in page


def test_a_certificate_overwrites_no_input(bench: Bench) -> None:
    source = bench.place / "own.json"
    source.write_text((bench.bin / "calibrate-reads.json").read_text())
    done = run_program(BUILD / "approxftl-calibrate", source, "--certificate", bench.place / "own")
    assert done.code != 0 and "is also read; give --certificate another name" in done.err
    assert source.read_text() == (bench.bin / "calibrate-reads.json").read_text()
