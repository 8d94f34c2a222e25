# SPDX-License-Identifier: GPL-2.0-only
"""approxftl calibrate --device: refuse a drive that holds anything, else run the fio jobs on it."""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from approxftl_tools import command
from approxftl_tools.fio_job_file import count_bytes_of_job_file, list_jobs_with_all_options
from approxftl_tools.fio_output import parse_fio_document
from approxftl_tools.output import temporary_output
from approxftl_tools.refusal import Refusal

#: The job files calibrate-NAME.fio, in the order in which a drive has to run them.
JOBS = ("fill", "reads", "writes", "rewrites")
#: Options of approxftl calibrate that only --device has.
DEVICE_OPTIONS = ("results", "yes", "overwrite", "skip_rewrites", "job_files", "measure_only")
HERE = Path(__file__).parent
#: The job files in the source tree, and in an installation below lib/approxftl/python.
JOB_FOLDERS = (HERE / "../../fio-profiles", HERE / "../../../../share/approxftl/fio-profiles")
#: The file in the results' directory that names the measured drive.
IDENTITY = "device.json"
#: Length and number of the samples, evenly spread over a drive, that must be zero.
SAMPLE, SAMPLES = 1 << 20, 64
#: The ioctl that discards a range of bytes (linux/fs.h).
BLKDISCARD = 0x1277
#: Seconds between two lines of progress, and seconds that fio has to end after SIGTERM.
PERIOD_S, PATIENCE_S = 1.0, 10.0
SECTOR = 512


@dataclass(frozen=True)
class Device:
    """A drive as the kernel describes it."""

    path: Path
    #: Its directory in sysfs.
    folder: Path
    model: str
    serial: str
    bytes: int

    def describe_device(self) -> str:
        return f"{self.path} ({self.model or 'unknown model'}, {self.bytes / 1e9:.4g} GB)"

    def identify_device(self) -> dict[str, str | int]:
        return {"model": self.model, "serial": self.serial, "bytes": self.bytes}

    def count_transferred_bytes(self) -> int:
        """Return how many bytes were read from and written to the device since it exists."""
        fields = (self.folder / "stat").read_text().split()
        return (int(fields[2]) + int(fields[6])) * SECTOR


def read_first_attribute(folder: Path, *names: str) -> str:
    """Return the first of the named sysfs attributes that is there; empty if there is none."""
    for name in names:
        with contextlib.suppress(OSError):
            return (folder / name).read_text().strip()
    return ""


def describe_device_in_sysfs(path: Path, folder: Path) -> Device:
    """Return a drive by its directory in sysfs."""
    return Device(path, folder, read_first_attribute(folder, "device/model", "dm/name"),
                  read_first_attribute(folder, "wwid", "device/wwid", "device/serial", "dm/uuid"),
                  int((folder / "size").read_text()) * SECTOR)


def find_device(path: Path) -> Device:
    """Return the drive at a path; refuse everything that is not a block device."""
    try:
        state = path.stat()
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}", command.NOT_FOUND) from error
    if not stat.S_ISBLK(state.st_mode):
        raise Refusal(f"{path}: not a block device; --device takes a whole drive, such as "
                      "/dev/nvme1n1")
    number = f"{os.major(state.st_rdev)}:{os.minor(state.st_rdev)}"
    return describe_device_in_sysfs(path, Path("/sys/dev/block", number).resolve())


# ---------------------------------------------------------------- a drive that holds something


def find_reason_in_sysfs_to_refuse(folder: Path) -> str:
    """Return why a block device cannot be measured, by its directory in sysfs; empty if it can."""
    parts = sorted(path.parent.name for path in folder.glob("*/partition"))
    holders = sorted(path.name for path in folder.glob("holders/*"))
    if (folder / "partition").exists():
        return "is a partition; give the whole drive"
    if parts:
        return f"has partitions ({', '.join(parts)})"
    if holders:
        return f"is part of {', '.join(holders)}"
    if read_first_attribute(folder, "ro") == "1":
        return "is read-only"
    if read_first_attribute(folder, "queue/zoned") not in ("", "none"):
        return "is zoned, and the jobs write in any order"
    return ""


def list_signatures(path: Path) -> list[str]:
    """Return the types of file systems, RAID members, volumes and so on that wipefs finds."""
    program = shutil.which("wipefs") or shutil.which("wipefs", path="/usr/sbin:/sbin")
    if not program:
        raise Refusal("wipefs was not found, which looks for data on the drive; install util-linux",
                      command.NOT_FOUND)
    done = subprocess.run([program, "--no-act", "--noheadings", "--output", "TYPE", path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refusal(f"{path}: {' '.join(done.stderr.split())}")
    return list(dict.fromkeys(done.stdout.split()))


def find_sample_with_data(descriptor: int, size: int) -> int | None:
    """Return the offset of a sample that is not zero; None if all samples are."""
    last = max(size - SAMPLE, 0)
    for offset in sorted({last * index // (SAMPLES - 1) // SAMPLE * SAMPLE
                          for index in range(SAMPLES - 1)} | {last}):
        if any(os.pread(descriptor, SAMPLE, offset)):
            return offset
    return None


@contextmanager
def open_device_exclusively(device: Device) -> Iterator[int]:
    """Yield a descriptor that keeps others from mounting or claiming the device."""
    try:
        descriptor = os.open(device.path, os.O_RDWR | os.O_EXCL)
    except OSError as error:
        why = "is in use: mounted, swap space, or part of another device; lsblk tells" \
            if error.errno == errno.EBUSY else f"cannot open: {error.strerror}"
        raise Refusal(f"{device.path}: {why}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def refuse_device_with_data(device: Device, descriptor: int, overwrite: bool) -> None:
    """Refuse a drive with a signature, or with any other data unless those may be overwritten."""
    found = list_signatures(device.path)
    if found:
        raise Refusal(f"{device.path}: holds {', '.join(found)}; wipefs --all removes signatures "
                      "of data that nobody needs")
    offset = None if overwrite else find_sample_with_data(descriptor, device.bytes)
    if offset is not None:
        raise Refusal(f"{device.path}: holds data at byte {offset}; --overwrite destroys them")


def confirm_overwriting(device: Device) -> None:
    """Ask the user for the device's name; refuse any other answer."""
    sys.stderr.write(f"This overwrites all data of {device.describe_device()}.\n"
                     "Type the device's name to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() not in (str(device.path), device.path.name):
        raise Refusal(f"{device.path}: not confirmed, nothing was written; --yes answers in a "
                      "script")


# ---------------------------------------------------------------- the jobs


def find_job_files(folder: Path | None, skipped: Sequence[str]) -> dict[str, Path]:
    """Return the job files, in the order in which they run."""
    for place in (folder,) if folder else JOB_FOLDERS:
        files = {name: place / f"calibrate-{name}.fio" for name in JOBS if name not in skipped}
        if all(path.exists() for path in files.values()):
            return files
    raise Refusal(f"{folder or JOB_FOLDERS[-1]}: has not all of the job files calibrate-"
                  f"{{{','.join(JOBS)}}}.fio; --job-files names their directory", command.NOT_FOUND)


def is_job_output_complete(output: Path, jobs: Path) -> bool:
    """Tell whether fio's output has each job of the job file, without an error."""
    try:
        found = parse_fio_document(output)["jobs"]
        return [job["jobname"] for job in found] == \
            [name for name, _ in list_jobs_with_all_options(jobs)] and \
            not any(job["error"] for job in found)
    except (Refusal, LookupError, TypeError):
        return False


def stop_fio(process: subprocess.Popen[str]) -> None:
    """End fio and the processes of its jobs, which are in a session of their own."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(PATIENCE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_fio(jobs: Path, device: Device, output: Path, descriptor: int,
            report: Callable[[], None]) -> None:
    """Run a job file; the output appears under its name when fio has succeeded.

    fio inherits the exclusive descriptor, so that the device stays claimed as long as fio runs.
    """
    target = str(device.path.resolve()).replace(":", r"\:")
    with temporary_output(output) as content, \
            content.with_name("errors").open("w+", errors="replace") as errors:
        process = subprocess.Popen(
            ["fio", "--output-format=json", "--eta=never", f"--output={content}", jobs.absolute()],
            env={**os.environ, "TARGET": target, "SIZE": "100%"}, cwd=content.parent,
            stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, text=True,
            start_new_session=True, pass_fds=(descriptor,))
        try:
            while process.poll() is None:
                report()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PERIOD_S)
        except BaseException:
            stop_fio(process)
            raise
        errors.seek(0)
        lines = errors.read().split("\n")
        if process.returncode or not is_job_output_complete(content, jobs):
            why = next((line for line in reversed(lines) if line.strip()), "its output lacks jobs")
            raise Refusal(f"fio {jobs}: ended with status {process.returncode}: {why}")


def format_duration(seconds: float) -> str:
    minutes = int(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else \
        f"{minutes} min" if minutes else f"{int(seconds)} s"


class Progress:
    """Estimate the time left from the bytes that the jobs transfer, and print it."""

    def __init__(self, device: Device, files: dict[str, Path], shown: bool) -> None:
        self.device, self.shown = device, shown
        self.planned = {name: count_bytes_of_job_file(path, device.bytes)
                        for name, path in files.items()}
        self.name, self.began, self.before = "", 0.0, 0

    def begin_job_file(self, name: str) -> None:
        self.name, self.began = name, time.monotonic()
        self.before = self.device.count_transferred_bytes()

    def describe_progress(self, seconds: float, done: int) -> str:
        """Return the progress after a job file has transferred `done` bytes in `seconds`.

        Later job files are supposed to be as fast; random rewrites are slower, so this is a least.
        """
        names = [*self.planned]
        left = max(self.planned[self.name] - done, 0) + \
            sum(self.planned[name] for name in names[names.index(self.name) + 1:])
        text = f"{self.name}, job file {names.index(self.name) + 1} of {len(names)}: " \
            f"{done / 1e9:.1f} of {self.planned[self.name] / 1e9:.1f} GB"
        return f"{text}, at least {format_duration(left * seconds / done)} left" if done else text

    def print_progress(self) -> None:
        if self.shown:
            text = self.describe_progress(time.monotonic() - self.began,
                                          self.device.count_transferred_bytes() - self.before)
            sys.stderr.write(f"\rapproxftl calibrate: {text}\033[K")
            sys.stderr.flush()

    def end_progress_line(self) -> None:
        if self.shown and self.name:
            sys.stderr.write("\n")


def list_job_files_to_run(files: dict[str, Path], results: Path) -> list[str]:
    """Return the first job file without a complete output, and all that follow it.

    Each job file depends on the data that the earlier ones leave on the drive.
    """
    names = [*files]
    missing = [index for index, name in enumerate(names)
               if not is_job_output_complete(results / f"{name}.json", files[name])]
    return names[missing[0]:] if missing else []


def was_device_measured_before(device: Device, results: Path) -> bool:
    """Tell whether the results are of this drive for sure; refuse those of another."""
    path = results / IDENTITY
    if not path.exists():
        return False
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(f"{path}: cannot read: {error}") from error
    if found != device.identify_device():
        raise Refusal(f"{results}: has results of another drive; give --results another name")
    return bool(device.serial)


def run_job_files(device: Device, files: dict[str, Path], results: Path, descriptor: int,
                  shown: bool) -> None:
    """Run the job files whose output is not there; keep those that are done on a signal."""
    names = list_job_files_to_run(files, results)
    for name in names:
        (results / f"{name}.json").unlink(missing_ok=True)
    progress = Progress(device, {name: files[name] for name in names}, shown)
    try:
        for name in names:
            if name == JOBS[0]:
                # The fill should find the drive empty.
                try:
                    fcntl.ioctl(descriptor, BLKDISCARD, struct.pack("=QQ", 0, device.bytes))
                except OSError as error:
                    sys.stderr.write(
                        f"approxftl calibrate: warning: {device.path}: cannot discard its data: "
                        f"{error.strerror}; the fill is slower if the drive was used before\n")
            progress.begin_job_file(name)
            run_fio(files[name], device, results / f"{name}.json", descriptor,
                    progress.print_progress)
    except BaseException:
        done = [name for name in files if (results / f"{name}.json").exists()]
        progress.end_progress_line()
        sys.stderr.write(f"approxftl calibrate: {results} keeps the output of "
                         f"{', '.join(done) or 'no job file'}; the same command goes on there\n")
        raise
    progress.end_progress_line()


def measure_device(device: Device, files: dict[str, Path], results: Path, *, yes: bool = False,
                   overwrite: bool = False, shown: bool = False) -> list[Path]:
    """Run what is missing of the job files on a drive without data; return fio's outputs."""
    measured = was_device_measured_before(device, results)
    if list_job_files_to_run(files, results):
        if not shutil.which("fio"):
            raise Refusal("fio was not found; install fio", command.NOT_FOUND)
        reason = find_reason_in_sysfs_to_refuse(device.folder)
        if reason:
            raise Refusal(f"{device.path}: {reason}")
        with open_device_exclusively(device) as descriptor:
            # The data of an interrupted measurement of this drive may be overwritten.
            refuse_device_with_data(device, descriptor, overwrite or measured)
            if not yes:
                confirm_overwriting(device)
            results.mkdir(parents=True, exist_ok=True)
            command.write_json_document(results / IDENTITY, device.identify_device())
            run_job_files(device, files, results, descriptor, shown)
    return [results / f"{name}.json" for name in files]
