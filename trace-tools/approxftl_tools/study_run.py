# SPDX-License-Identifier: GPL-2.0-only
"""Run the points of a study once each and store the results, until done or a signal arrives."""

import sys
import time
from collections.abc import Callable, Sequence

from approxftl_tools.command import Refusal
from approxftl_tools.study_engine import Engine
from approxftl_tools.study_plan import Point
from approxftl_tools.study_store import DONE, FAILED, Store


class Progress:
    """Progress of a study: counts ended points for a line on a terminal and for a callback."""

    def __init__(self, total: int, shown: bool,
                 tell: Callable[[int, int], object] | None = None) -> None:
        """Start the clock of the progress line."""
        self.total, self.shown, self.ended, self.failed = total, shown, 0, 0
        self.tell = tell
        self.begun = time.monotonic()

    def count_and_report_finished_point(self, failed: bool) -> None:
        """Count a finished point and print the progress."""
        self.ended += 1
        self.failed += failed
        if self.tell:
            self.tell(self.ended, self.total)
        if self.shown:
            left = (time.monotonic() - self.begun) / self.ended * (self.total - self.ended)
            sys.stderr.write(f"\r{self.ended} of {self.total} points, {self.failed} failed, "
                             f"about {left:.0f} s left \033[K")
            sys.stderr.flush()

    def end_progress_line(self) -> None:
        if self.shown and self.ended:
            sys.stderr.write("\n")


def run_study_points(points: Sequence[Point], store: Store, engine: Engine,
                     progress: Progress) -> bool:
    """Run points of a study and store their outcomes; return False if interrupted."""
    try:
        for outcome in engine.run_all_points(points):
            if outcome.result is None:
                store.store_failure(outcome.point, outcome.why)
            else:
                store.store_result(outcome.point, outcome.result)
            progress.count_and_report_finished_point(outcome.result is None)
    except KeyboardInterrupt:
        return False
    finally:
        engine.stop_all_points()
        progress.end_progress_line()
    return True


def distinct_points(points: Sequence[Point]) -> list[Point]:
    """Return points with distinct addresses: two points with equal commands are run once."""
    return list({point.address: point for point in points}.values())


def require_point_results(points: Sequence[Point], store: Store, engine: Engine,
                          shown: bool = False,
                          tell: Callable[[int, int], object] | None = None) -> None:
    """Run the points of a study that lack results; raise Refusal if one fails."""
    store.create_result_directory()
    missing = distinct_points([point for point in points if store.state_of_point(point) != DONE])
    if not run_study_points(missing, store, engine, Progress(len(missing), shown, tell)):
        raise KeyboardInterrupt
    for point in missing:
        if store.state_of_point(point) == FAILED:
            raise Refusal(f"{point.shell_command()}: {store.read_point_failure(point)}")
