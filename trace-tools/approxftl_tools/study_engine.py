# SPDX-License-Identifier: GPL-2.0-only
"""Run the points of a study as processes of this machine.

A point is one simulator process. If the process was killed, for example for lack of memory, the
point runs again; if the process exited by itself, the point does not.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from approxftl_tools.children import Children
from approxftl_tools.study_plan import ATTEMPTS, Point, cached_file_digest, was_process_killed

#: Arguments that a study adds to those of a point.
OWN = ("--json=-", "--quiet", "--die-with-parent")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point: its result, or the reason why there is none."""

    point: Point
    result: str | None
    why: str = ""


class Engine(Protocol):
    """The interface of engines, the classes that run the points of a study."""

    def run_all_points(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Run all points of a study; yield outcomes in the order in which the points end."""

    def stop_all_points(self) -> None:
        """Start no more simulators and end the running simulators."""


def outcome_of_simulator_process(
    point: Point, status: int, out: str, err: str, attempts: int
) -> Outcome:
    if status == 0:
        return Outcome(point, out)
    if was_process_killed(status):
        how = f"killed by signal {-status}" if status < 0 else "interrupted"
        return Outcome(point, None, f"{how}, {attempts} times")
    # The reason why a simulation has no result.
    last = err.strip().splitlines()[-1:] or [f"exit status {status}, without a word"]
    return Outcome(point, None, last[0].removeprefix("approxftl sim: "))


def find_first_changed_file(point: Point) -> str | None:
    """Return the point's first input file that changed since the study was read, or None."""
    for name, digest in point.files:
        try:
            if cached_file_digest(Path(name)) != digest:
                return name
        except OSError:
            return name
    return None


@dataclass
class Processes:
    """An engine that runs a limited number of processes on this machine."""

    program: Path
    jobs: int
    #: Bytes of memory for each process; 0 for no limit.
    memory: int = 0
    children: Children = field(default_factory=Children)

    def run_point_once(self, point: Point) -> tuple[int, str, str]:
        """Run a point once; return exit status, stdout and stderr."""
        return self.children.run_program([self.program, "sim", *point.arguments, *OWN],
                                         memory=self.memory)

    def run_point_until_finished(self, point: Point) -> Outcome:
        """Run a point until it ends without being killed, or the attempts are used up."""
        attempts = 1
        status, out, err = self.run_point_once(point)
        while was_process_killed(status) and not self.children.stopped and attempts < ATTEMPTS:
            status, out, err = self.run_point_once(point)
            attempts += 1
        changed = find_first_changed_file(point)
        if changed:
            return Outcome(point, None, f"{changed} has changed since the study began")
        return outcome_of_simulator_process(point, status, out, err, attempts)

    def run_all_points(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Run all points, and yield each outcome as the point ends."""
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting: set[Future[Outcome]] = {pool.submit(self.run_point_until_finished, point)
                                             for point in points}
            try:
                while waiting:
                    ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in ended:
                        yield future.result()
            except BaseException:
                self.stop_all_points()
                pool.shutdown(cancel_futures=True)
                raise

    def stop_all_points(self) -> None:
        """End the running simulator processes."""
        self.children.stop_child_programs()
