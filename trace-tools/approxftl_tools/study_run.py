# SPDX-License-Identifier: GPL-2.0-only
"""Running points into a store: each of them once, whoever asks, until the last or a signal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from approxftl_tools.command import Refusal
from approxftl_tools.study_engine import Engine
from approxftl_tools.study_plan import Point
from approxftl_tools.study_store import DONE, FAILED, Store


class Progress:
    """A line on a terminal that says how far it is."""

    def __init__(self, total: int, shown: bool) -> None:
        """Begin."""
        self.total, self.shown, self.ended, self.failed = total, shown, 0, 0
        self.begun = time.monotonic()

    def tell(self, failed: bool) -> None:
        """Count a point."""
        self.ended += 1
        self.failed += failed
        if self.shown:
            left = (time.monotonic() - self.begun) / self.ended * (self.total - self.ended)
            sys.stderr.write(f"\r{self.ended} of {self.total} points, {self.failed} failed, "
                             f"about {left:.0f} s left \033[K")
            sys.stderr.flush()

    def close(self) -> None:
        """Leave the line."""
        if self.shown and self.ended:
            sys.stderr.write("\n")


def execute(points: Sequence[Point], store: Store, engine: Engine, progress: Progress) -> bool:
    """Run points and keep what comes of them; false if interrupted."""
    try:
        for outcome in engine.outcomes(points):
            if outcome.result is None:
                store.fail(outcome.point, outcome.why)
            else:
                store.succeed(outcome.point, outcome.result)
            progress.tell(outcome.result is None)
    except KeyboardInterrupt:
        return False
    finally:
        engine.stop()
        progress.close()
    return True


def unique(points: Sequence[Point]) -> list[Point]:
    """Return points of different addresses: what differs in name only is run once."""
    return list({point.address: point for point in points}.values())


def ensure(points: Sequence[Point], store: Store, engine: Engine, shown: bool = False) -> None:
    """Run what is not done; one that fails, now, fails all of it."""
    store.prepare()
    missing = unique([point for point in points if store.state(point) != DONE])
    if not execute(missing, store, engine, Progress(len(missing), shown)):
        raise KeyboardInterrupt
    for point in missing:
        if store.state(point) == FAILED:
            raise Refusal(f"{point.command()}: {store.why(point)}")
