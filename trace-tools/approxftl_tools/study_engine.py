# SPDX-License-Identifier: GPL-2.0-only
"""Running the points of a study by processes of this machine.

A point is a process of the simulator, here or elsewhere. One that is killed is tried again, for it
may have been somebody else's mistake; one that ends by itself is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from approxftl_tools.children import Children
from approxftl_tools.study_plan import ATTEMPTS, Point, digest_of, was_killed

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
    return last[0].removeprefix("approxftl sim: ")


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
    #: Of memory, for each; 0: what there is.
    memory: int = 0
    children: Children = field(default_factory=Children)

    def once(self, point: Point) -> tuple[int, str, str]:
        """Run a point, and return how it ended."""
        return self.children.run([self.program, "sim", *point.arguments, *OWN],
                                 memory=self.memory)

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
