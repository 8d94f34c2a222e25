# SPDX-License-Identifier: GPL-2.0-only
"""Fitting the profile of a drive to one half of what was measured, and judging it by the other.

The search is Gauss and Newton's on a grid of steps, coarse first, then one parameter at a time. It
asks for the errors of a set of values and knows nothing else of the drive. Nothing in it is random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from approxftl_tools.arrays import np
from approxftl_tools.bench import Bench
from approxftl_tools.calibrate_fit import Vector
from approxftl_tools.drive_list import Drive, Free
from approxftl_tools.drive_points import FITTED, HELD, OTHER, Point, points_of
from approxftl_tools.drive_runs import parameters_of, shape_of
from approxftl_tools.refusal import NOT_FOUND, Refusal

#: Values of the parameters, in their order.
Values = tuple[float, ...]
#: Steps that a parameter is moved by to see what it does, in turn.
STRIDES = (4, 2, 1)
#: No parameter goes farther at once than so many of these.
FARTHEST = 8.0
#: Least squares are held by these forces in turn, as shares of what a stride changes.
FORCES = (0.01, 1.0)
#: Of what nothing moves.
TINY = 1e-9
#: A parameter of which a step changes the misfit by less is not determined.
NOTICED = 0.01


class SpentError(Exception):
    """The evaluations that the search may make are made."""


def misfit(errors: Vector) -> float:
    """Return what is to be least: squares of errors in bands, and of large ones the logarithm.

    What no parameter can help is far outside its band, and must not bend what they can.
    """
    return float(np.sum(np.log1p(errors ** 2)))


def step(errors: Vector, slope: Vector, force: float) -> Vector:
    """Return how many strides to go: least squares, with a force that holds what nothing moves."""
    weight = 1 / (1 + errors ** 2)
    normal = (slope.T * weight) @ slope
    normal += np.diag(force * np.diag(normal) + TINY)
    return np.clip(np.linalg.solve(normal, -(slope.T * weight) @ errors), -FARTHEST, FARTHEST)


def moved(free: Free, value: float, steps: float) -> float:
    """Return a value so many steps away, or the bound that lies before it."""
    return round(min(max(value + round(steps) * free.step, free.low), free.high), 9)


@dataclass
class Search:
    """The way to the values that fit best."""

    free: Sequence[Free]
    #: The errors of values, each in bands.
    errors: Callable[[Values], Vector]
    budget: int
    #: What is told of each evaluation: how many there were, and the best.
    tell: Callable[[int, float], None]
    seen: dict[Values, Vector] = field(default_factory=dict)

    def at(self, values: Values) -> Vector:
        """Return the errors of values."""
        if values not in self.seen:
            if len(self.seen) >= self.budget:
                raise SpentError
            self.seen[values] = self.errors(values)
            self.tell(len(self.seen), self.cost(self.best()))
        return self.seen[values]

    def cost(self, values: Values) -> float:
        """Return the misfit of values."""
        return misfit(self.at(values))

    def best(self) -> Values:
        """Return the best that was seen."""
        return min(self.seen, key=lambda values: (misfit(self.seen[values]), values))

    def shifted(self, values: Values, which: int, steps: float) -> Values:
        """Return values of which one is so many steps away."""
        changed = moved(self.free[which], values[which], steps)
        return (*values[:which], changed, *values[which + 1:])

    def slope(self, values: Values, which: int, stride: int) -> Vector:
        """Return how the errors change with a stride of a parameter."""
        up, down = (self.shifted(values, which, way * stride) for way in (1, -1))
        other = up if up != values else down
        way = (other[which] - values[which]) / (stride * self.free[which].step)
        return (self.at(other) - self.at(values)) / way

    def leap(self, values: Values, stride: int) -> None:
        """Try where least squares go from the slopes at these values."""
        base = self.at(values)
        slopes = np.array([self.slope(values, which, stride) for which in range(len(self.free))]).T
        for force in FORCES:
            far = step(base, slopes, force) * stride
            self.at(tuple(moved(one, value, move) for one, value, move in
                          zip(self.free, values, far.tolist(), strict=True)))

    def around(self, values: Values) -> Iterator[Values]:
        """Yield what is one step away, within the bounds."""
        for which in range(len(self.free)):
            yield from (one for one in (self.shifted(values, which, way) for way in (1, -1))
                        if one != values)

    def settle(self, values: Values) -> None:
        """Go a step at a time as long as that gains anything."""
        for one in self.around(values):
            if self.cost(one) < self.cost(values):
                return self.settle(self.best())
        return None

    def run(self, start: Values) -> None:
        """Search, until nothing is gained any more or the evaluations are made."""
        try:
            self.at(start)
            for stride in STRIDES:
                for _ in count():
                    best = self.best()
                    self.leap(best, stride)
                    if self.best() == best:
                        break
            self.settle(self.best())
        except SpentError:
            pass

    def felt(self, values: Values, which: int) -> tuple[float | None, float | None]:
        """Return what a step down and one up change of the misfit; None beyond a bound."""
        here = self.cost(values)
        down, up = (self.shifted(values, which, way) for way in (-1, 1))
        return (None if down == values else self.cost(down) - here,
                None if up == values else self.cost(up) - here)


@dataclass(frozen=True)
class Share:
    """How the points of a half are met."""

    points: int
    within: int
    median: float
    worst: float
    misfit: float

    @classmethod
    def of(cls, errors: Vector) -> Share:
        """Return it for errors in bands."""
        sizes = sorted(np.abs(errors).tolist()) or [0.0]
        return cls(len(errors), int(np.sum(np.abs(errors) <= 1)), sizes[len(sizes) // 2],
                   sizes[-1], misfit(errors))


@dataclass
class Fit:
    """A drive as it was and as it was fitted."""

    drive: Drive
    start: Values
    values: Values
    evaluations: int = 0
    interrupted: bool = False
    #: For each parameter what a step down and one up change; None: not known.
    felt: list[tuple[float | None, float | None]] = field(default_factory=list)
    #: For the half that was fitted and the other: before and after.
    shares: dict[str, tuple[Share, Share]] = field(default_factory=dict)

    def undetermined(self, which: int) -> bool:
        """Tell whether no point that was fitted notices a step."""
        known = [abs(one) for one in self.felt[which] if one is not None] if self.felt else []
        return bool(known) and max(known) < NOTICED

    def profile(self) -> str:
        """Return the profile, which the simulator takes after that of the drive."""
        ended = "interrupted after" if self.interrupted else "after"
        lines = [f"# {self.drive.about}, fitted by approxftl drives --refit, {ended} "
                 f"{self.evaluations} evaluations.",
                 f"# approxftl sim --profile {self.drive.name} --set @FILE"]
        for which, (one, value) in enumerate(zip(self.drive.free, self.values, strict=True)):
            if self.undetermined(which):
                lines.append("# Not determined:")
            lines.append(f"{one.name}={one.text(value)}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Judge:
    """What tells how far values are from the points of a half."""

    drive: Drive
    bench: Bench
    tables: Path
    only: Callable[[Point], bool]
    #: Which half is fitted to.
    half: str = FITTED

    def with_values(self, values: Values) -> Drive:
        """Return the drive with these values."""
        return self.drive.changed(*(
            f"--{one.name}={one.text(value)}"
            for one, value in zip(self.drive.free, values, strict=True)))

    def errors(self, half: str, values: Values) -> Vector:
        """Return the errors of one half's points, in bands; the other half is not read."""
        drive = self.with_values(values)
        # What others are relative to is of the fit, and no point that it has not seen.
        found = [point for point in points_of(drive, shape_of(drive, self.bench), self.tables, half)
                 if self.only(point) and (half == self.half or point.half == half)]
        if not found and half == self.half:
            raise Refusal(f"{self.tables}: no point of {drive.name} to fit to", NOT_FOUND)
        loads = {load: (*drive.arguments(), *load.arguments) for point in found
                 for load in (point.load, point.base) if load}
        results = self.bench.results(loads.values())
        by_load = {load: results[options] for load, options in loads.items()}
        return np.array([point.error(point.ours(by_load)) / point.band for point in found])

    def start(self) -> Values:
        """Return the values that the profile has."""
        parameters = parameters_of(self.drive, self.bench)
        values = tuple(one.of(parameters) for one in self.drive.free)
        for one, value in zip(self.drive.free, values, strict=True):
            if value != moved(one, value, 0):
                raise Refusal(f"{self.drive.name}: {one.name} is {one.text(value)}, not from "
                              f"{one.text(one.low)} to {one.text(one.high)}")
        return values


def fit(judge: Judge, budget: int, tell: Callable[[int, float], None]) -> Fit:
    """Fit a drive to its half; who interrupts it gets the best so far."""
    search = Search(judge.drive.free, lambda values: judge.errors(judge.half, values), budget, tell)
    start = judge.start()
    found = Fit(judge.drive, start, start)
    try:
        search.run(start)
        search.budget += 2 * len(start)
        found.values = search.best()
        found.felt = [search.felt(found.values, which) for which in range(len(start))]
    except KeyboardInterrupt:
        found.interrupted = True
        found.values = search.best() if search.seen else start
    found.evaluations = len(search.seen)
    if search.seen:
        found.shares[FITTED] = (Share.of(search.seen[start]), Share.of(search.seen[found.values]))
    return found


def hold(judge: Judge, found: Fit) -> None:
    """Judge by the half that the fit has not seen, which is read here and not before."""
    before, after = (Share.of(judge.errors(OTHER[judge.half], values))
                     for values in (found.start, found.values))
    found.shares[HELD] = (before, after)
