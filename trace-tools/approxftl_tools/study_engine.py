# SPDX-License-Identifier: GPL-2.0-only
"""Running the points of a study: processes of this machine, or the workers of a Dask cluster.

Either way a point is a process of the simulator. One that is killed is tried again, for it may have
been somebody else's mistake; one that ends by itself is not.
"""

from __future__ import annotations

import hashlib
import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from approxftl_tools.children import Children
from approxftl_tools.command import FAILED, INTERRUPTED, Refusal
from approxftl_tools.study_plan import Point, digest_of

#: How often a point is begun that is killed each time.
ATTEMPTS = 3
#: What a study adds to the arguments of a point.
OWN = ("--json=-", "--quiet", "--die-with-parent")


@dataclass(frozen=True)
class Outcome:
    """A point that has ended: its result, or why there is none."""

    point: Point
    result: str | None
    why: str = ""


class Engine(Protocol):
    """Whatever runs points."""

    def outcomes(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Run them all; in the order in which they end."""

    def stop(self) -> None:
        """Let no more begin, and end what runs."""


def complaint(status: int, said: str) -> str:
    """Return why a simulation has no result."""
    last = said.strip().splitlines()[-1:] or [f"exit status {status}, without a word"]
    return last[0]


def was_killed(status: int) -> bool:
    """Tell whether somebody else has ended it; a simulator that can ends in order."""
    return status < 0 or status == INTERRUPTED


def outcome_of(point: Point, status: int, out: str, err: str, attempts: int) -> Outcome:
    """Judge a process that has ended."""
    if status == 0:
        return Outcome(point, out)
    if was_killed(status):
        how = f"killed by signal {-status}" if status < 0 else "interrupted"
        return Outcome(point, None, f"{how}, {attempts} times")
    return Outcome(point, None, complaint(status, err))


def changed_file(point: Point) -> str | None:
    """Return a file that is not what the point's address says."""
    for name, digest in point.files:
        try:
            if digest_of(Path(name)) != digest:
                return name
        except OSError:
            return name
    return None


@dataclass
class Processes:
    """So many processes at a time on this machine."""

    program: Path
    jobs: int
    children: Children = field(default_factory=Children)

    def once(self, point: Point) -> tuple[int, str, str]:
        """Run a point, and return how it ended."""
        return self.children.run([self.program, "sim", *point.arguments, *OWN])

    def run(self, point: Point) -> Outcome:
        """Run a point until it ends by itself."""
        attempts = 1
        status, out, err = self.once(point)
        while was_killed(status) and not self.children.stopped and attempts < ATTEMPTS:
            status, out, err = self.once(point)
            attempts += 1
        changed = changed_file(point)
        if changed:
            return Outcome(point, None, f"{changed} has changed since the study began")
        return outcome_of(point, status, out, err, attempts)

    def outcomes(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Run them all, and yield each as it ends."""
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting: set[Future[Outcome]] = {pool.submit(self.run, point) for point in points}
            try:
                while waiting:
                    ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in ended:
                        yield future.result()
            except BaseException:
                self.stop()
                pool.shutdown(cancel_futures=True)
                raise

    def stop(self) -> None:
        """End what runs."""
        self.children.stop()


#: A point for a worker: its arguments, and the files that it reads with their digests.
Task = tuple[Sequence[str], Sequence[tuple[str, str]]]


def worker_task() -> Callable[[Task], tuple[int, str, str, int]]:
    """Return what workers run: a closure, which goes to them whole, for they lack this package."""
    attempts_most, own, interrupted = ATTEMPTS, OWN, INTERRUPTED

    def state(path: Path) -> tuple[int, ...]:
        found = path.stat()
        return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def wrong(path: Path, digest: str) -> str:
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            return f"the worker cannot read {path}: {error.strerror}"
        if found == digest:
            return ""
        return f"the worker's {path} is another one; the same file must be at the same place"

    def run(task: Task) -> tuple[int, str, str, int]:
        arguments, files = task
        program = shutil.which("approxftl")
        if program is None:
            return 1, "", "the worker has no approxftl in its PATH", 1
        mine = [(Path(program), files[0][1]), *((Path(name), digest) for name, digest in files[1:])]
        sentences = [sentence for path, digest in mine if (sentence := wrong(path, digest))]
        if sentences:
            return 1, "", sentences[0], 1
        before = [state(path) for path, _ in mine]
        attempts = 0
        while attempts < attempts_most:
            attempts += 1
            done = subprocess.run([program, "sim", *arguments, *own], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
            if 0 <= done.returncode != interrupted:
                break
        if [state(path) for path, _ in mine] != before:
            return 1, "", "a file has changed while the worker read it", attempts
        return done.returncode, done.stdout, done.stderr, attempts
    return run


@dataclass
class Cluster:
    """The workers of a Dask scheduler."""

    program: Path
    address: str
    dask: Any = None
    client: Any = None

    def connect(self) -> None:
        """Find the scheduler."""
        try:
            self.dask = importlib.import_module("distributed")
        except ImportError as error:
            raise Refusal("--scheduler needs the Python package distributed: "
                          "pip install distributed", FAILED) from error
        try:
            self.client = self.dask.Client(self.address, timeout="5s")
        except (OSError, ValueError, TimeoutError) as error:
            raise Refusal(f"{self.address}: no Dask scheduler answers there ({error}); "
                          '"dask scheduler" and "dask worker" start one') from error

    def outcomes(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Run them all, and yield each as it ends."""
        self.connect()
        task = worker_task()
        futures = {self.client.submit(task, (point.arguments, point.files), pure=False,
                                      retries=ATTEMPTS - 1): point for point in points}
        for future in self.dask.as_completed(futures):
            yield self.judge(futures[future], future)

    def judge(self, point: Point, future: Any) -> Outcome:
        """Return what became of a point."""
        error = future.exception()
        if error is not None:
            return Outcome(point, None, f"the cluster lost it: {error}")
        return outcome_of(point, *future.result())

    def stop(self) -> None:
        """Give up what the cluster still has of ours."""
        if self.client is not None:
            self.client.close()
