# SPDX-License-Identifier: GPL-2.0-only
"""Fit a drive's profile to one half of the measurements, and judge the fit by the other half.

The search is Gauss-Newton on a grid of steps, coarse first, then coordinate descent. It is
deterministic, and needs only a function that returns the errors of a set of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from approxftl_tools.arrays import np
from approxftl_tools.bench import Bench
from approxftl_tools.calibrate_fit import Vector
from approxftl_tools.drive_list import FAMILIES, Drive, Free
from approxftl_tools.drive_points import FITTED, HELD, OTHER, Point, list_measured_points_of_drive
from approxftl_tools.drive_runs import emulated_drive_size, get_parameters_of_simulated_drive
from approxftl_tools.refusal import NOT_FOUND, Refusal

#: Values of the fitted parameters, in their order.
Values = tuple[float, ...]
#: Grid steps by which a parameter is moved to measure its slope, in turn.
STRIDES = (4, 2, 1)
#: A parameter moves by at most this many strides at once.
FARTHEST = 8.0
#: Damping factors of the least squares, tried in turn, relative to the diagonal.
FORCES = (0.01, 1.0)
#: Damping of parameters that change no error.
TINY = 1e-9
#: Reads in flight, or thousand writes a second, below which reads hardly wait.
QUIET = 20.0
#: Sets of values that each stage of the search for a drive without profile may try.
STAGE_BUDGET = 16
#: A parameter is not determined if a step changes the misfit by less than this.
NOTICED = 0.01


class SpentError(Exception):
    """Raised when the search has used up its budget of evaluations."""


def robust_misfit(errors: Vector) -> float:
    """Return the misfit: quadratic for errors inside tolerance bands, logarithmic for large ones.

    An error that no parameter can remove must not distort the fit of the others.
    """
    return float(np.sum(np.log1p(errors ** 2)))


def solve_least_squares_step_of_drive_fit(errors: Vector, slope: Vector, force: float) -> Vector:
    """Return the damped least-squares step, in units of each parameter's step size."""
    weight = 1 / (1 + errors ** 2)
    normal = (slope.T * weight) @ slope
    normal += np.diag(force * np.diag(normal) + TINY)
    return np.clip(np.linalg.solve(normal, -(slope.T * weight) @ errors), -FARTHEST, FARTHEST)


def move_value_within_bounds(free: Free, value: float, steps: float) -> float:
    """Return a parameter's value, moved by a number of steps and limited to its bounds."""
    return round(min(max(value + round(steps) * free.step, free.low), free.high), 9)


@dataclass
class Search:
    """The search for the values with the smallest misfit."""

    free: Sequence[Free]
    #: Returns the errors of a set of values, in units of their bands.
    errors: Callable[[Values], Vector]
    budget: int
    #: Called after each evaluation with their number and the smallest misfit.
    tell: Callable[[int, float], None]
    seen: dict[Values, Vector] = field(default_factory=dict)

    def compute_errors_of_parameter_values(self, values: Values) -> Vector:
        """Return the errors of a set of parameter values; evaluate equal sets only once."""
        if values not in self.seen:
            if len(self.seen) >= self.budget:
                raise SpentError
            self.seen[values] = self.errors(values)
            self.tell(len(self.seen),
                      self.compute_parameter_misfit(self.find_best_parameters_so_far()))
        return self.seen[values]

    def compute_parameter_misfit(self, values: Values) -> float:
        return robust_misfit(self.compute_errors_of_parameter_values(values))

    def find_best_parameters_so_far(self) -> Values:
        return min(self.seen, key=lambda values: (robust_misfit(self.seen[values]), values))

    def shift_parameter(self, values: Values, which: int, steps: float) -> Values:
        changed = move_value_within_bounds(self.free[which], values[which], steps)
        return (*values[:which], changed, *values[which + 1:])

    def compute_error_slope_of_parameter(self, values: Values, which: int, stride: int) -> Vector:
        """Return how the errors change by one step of a parameter, measured over `stride` steps."""
        up, down = (self.shift_parameter(values, which, way * stride) for way in (1, -1))
        other = up if up != values else down
        way = (other[which] - values[which]) / (stride * self.free[which].step)
        return (self.compute_errors_of_parameter_values(other)
                - self.compute_errors_of_parameter_values(values)) / way

    def try_least_squares_steps(self, values: Values, stride: int) -> None:
        base = self.compute_errors_of_parameter_values(values)
        slopes = np.array([self.compute_error_slope_of_parameter(values, which, stride)
                           for which in range(len(self.free))]).T
        for force in FORCES:
            far = solve_least_squares_step_of_drive_fit(base, slopes, force) * stride
            self.compute_errors_of_parameter_values(tuple(
                move_value_within_bounds(one, value, move)
                for one, value, move in zip(self.free, values, far.tolist(), strict=True)))

    def reduce_misfit_per_parameter(self, values: Values) -> None:
        """Move one parameter by one step at a time while that reduces the misfit."""
        for one in (self.shift_parameter(values, which, way)
                    for which in range(len(self.free)) for way in (1, -1)):
            if one != values and \
                    self.compute_parameter_misfit(one) < self.compute_parameter_misfit(values):
                return self.reduce_misfit_per_parameter(self.find_best_parameters_so_far())
        return None

    def search_best_fit_from_initial_values(self, start: Values) -> None:
        """Search until the misfit stops shrinking or the budget of evaluations is spent."""
        try:
            self.compute_errors_of_parameter_values(start)
            for stride in STRIDES:
                for _ in count():
                    best = self.find_best_parameters_so_far()
                    self.try_least_squares_steps(best, stride)
                    if self.find_best_parameters_so_far() == best:
                        break
            self.reduce_misfit_per_parameter(self.find_best_parameters_so_far())
        except SpentError:
            pass

    def compute_misfit_change_per_parameter_step(self, values: Values,
                                                 which: int) -> tuple[float | None, float | None]:
        """Return how a parameter's step down, and up, changes the misfit; None beyond bounds."""
        here = self.compute_parameter_misfit(values)
        down, up = (self.shift_parameter(values, which, way) for way in (-1, 1))
        return (None if down == values else self.compute_parameter_misfit(down) - here,
                None if up == values else self.compute_parameter_misfit(up) - here)


@dataclass(frozen=True)
class Share:
    """Summary of a drive profile's errors at the fitted, or at the held-out, measured points."""

    points: int
    within: int
    median: float
    worst: float
    misfit: float

    @classmethod
    def summarise_errors(cls, errors: Vector) -> Share:
        """Return the summary of errors that are given in units of their tolerance bands."""
        sizes = sorted(np.abs(errors).tolist()) or [0.0]
        return cls(len(errors), int(np.sum(np.abs(errors) <= 1)), sizes[len(sizes) // 2],
                   sizes[-1], robust_misfit(errors))


@dataclass
class Fit:
    """The result of a fit: a drive's parameter values before and after it, and their errors."""

    drive: Drive
    start: Values
    values: Values
    evaluations: int = 0
    interrupted: bool = False
    #: For each parameter the misfit change of a step down and one up; None if unknown.
    felt: list[tuple[float | None, float | None]] = field(default_factory=list)
    #: For each half the summaries before and after the fit.
    shares: dict[str, tuple[Share, Share]] = field(default_factory=dict)

    def is_parameter_undetermined(self, which: int) -> bool:
        """Tell whether a step of the parameter changes the misfit too little to be fitted."""
        known = [abs(one) for one in self.felt[which] if one is not None] if self.felt else []
        return bool(known) and max(known) < NOTICED

    def drive_with_fitted_values(self) -> Drive:
        """Return the drive with the options of its fitted values."""
        return self.drive.copy_drive_with_options(*(
            f"--{one.name}={one.format_parameter_value(value)}"
            for one, value in zip(self.drive.free, self.values, strict=True)))

    def format_fitted_profile(self) -> str:
        """Return the fitted parameters as a profile to apply on top of the drive's own profile."""
        ended = "interrupted after" if self.interrupted else "after"
        names = {one.name for one in self.drive.free}
        device = [option.removeprefix("--") for option in self.drive.device_options()]
        lines = [f"# {self.drive.about}, fitted by approxftl drives --refit, {ended} "
                 f"{self.evaluations} evaluations.",
                 f"# approxftl sim --{device[0].replace('=', ' ')} --policy {self.drive.policy} "
                 "--set @FILE"]
        if self.drive.generic:
            lines += [option for option in device[1:] if option.partition("=")[0] not in names]
        for which, (one, value) in enumerate(zip(self.drive.free, self.values, strict=True)):
            if self.is_parameter_undetermined(which):
                lines.append("# Not determined:")
            lines.append(f"{one.name}={one.format_parameter_value(value)}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Stage:
    """A part of the search for the first values of a drive that has no profile."""

    names: tuple[str, ...]
    #: Tells which points determine these parameters, whatever the others are.
    selects: Callable[[Point], bool]


#: Parameters that few points determine, with these points, in the order of the search.
STAGES = (
    Stage(("program",), lambda point: point.curve.startswith("sequential")
          and "read" not in point.curve and point.measure in ("rate, MB/s", "thousand/s")),
    # Buffered writes that hardly wait for anything.
    Stage(("controller", "controller_vary"), lambda point: point.x < QUIET
          and point.measure in ("write p50, us", "write p99") and point.table != "write-steady"),
    # Reads that hardly wait for anything but reads, such as those of fio alone.
    Stage(("read", "read_last"), lambda point: point.curve.startswith("random-read")
          or (point.measure in ("read p50", "read mean") and point.x < QUIET)),
    Stage(("op",), lambda point: point.curve == "uniform"))
ALL_WRITE_RATES = Stage((), lambda point: point.table in ("write-steady", "write-zones"))


@dataclass(frozen=True)
class Judge:
    """Simulates the fitted or the held-out measured points with sets of parameter values."""

    drive: Drive
    bench: Bench
    tables: Path
    only: Callable[[Point], bool]
    #: The half that the fit uses.
    half: str = FITTED

    def compute_errors_of_fit_or_holdout_points(self, half: str, values: Values) -> Vector:
        """Return the errors of the fitted or held-out points, in units of their tolerance bands."""
        drive = self.drive.copy_drive_with_options(*(
            f"--{one.name}={one.format_parameter_value(value)}"
            for one, value in zip(self.drive.free, values, strict=True)))
        found = self.list_points_of_half(half, drive)
        if not found and half == self.half:
            raise Refusal(f"{self.tables}: no point of {drive.name} to fit to", NOT_FOUND)
        loads = {load: (*drive.make_drive_arguments(), *load.arguments) for point in found
                 for load in (point.load, point.base) if load}
        results = self.bench.run_or_look_up_simulations(loads.values())
        by_load = {load: results[options] for load, options in loads.items()}
        return np.array([point.compute_simulation_error(point.compute_simulated_value(by_load))
                         / point.band
                         for point in found])

    def list_points_of_half(self, half: str, drive: Drive) -> list[Point]:
        """Return a half's points; with the fitted half also those that both halves refer to."""
        points = list_measured_points_of_drive(drive, emulated_drive_size(drive, self.bench),
                                               self.tables, half)
        return [point for point in points
                if self.only(point) and (half == self.half or point.half == half)]

    def read_parameter_values_of_profile(self) -> Values:
        """Return the profile's values of the fitted parameters; refuse a value out of bounds."""
        parameters = get_parameters_of_simulated_drive(self.drive, self.bench)
        values = tuple(one.read_parameter_value_from_result(parameters) for one in self.drive.free)
        for one, value in zip(self.drive.free, values, strict=True):
            if value != move_value_within_bounds(one, value, 0):
                raise Refusal(
                    f"{self.drive.name}: {one.name} is {one.format_parameter_value(value)}, not "
                    f"from {one.format_parameter_value(one.low)} "
                    f"to {one.format_parameter_value(one.high)}")
        return values


def set_free_parameters_of_drive(drive: Drive, names: Sequence[str], values: Values) -> Drive:
    """Return the drive with the values of all free parameters; only those of @names stay free."""
    options = (f"--{one.name}={one.format_parameter_value(value)}"
               for one, value in zip(drive.free, values, strict=True))
    return replace(drive.copy_drive_with_options(*options),
                   free=tuple(one for one in drive.free if one.name in names))


def fit_stage(judge: Judge, stage: Stage, values: Values) -> tuple[Values, float]:
    """Fit the parameters of a stage to the points that determine them, if there are such points.

    Return the values of all parameters, and the misfit of these points.
    """
    free = judge.drive.free
    part = replace(judge, drive=set_free_parameters_of_drive(judge.drive, stage.names, values),
                   only=lambda point: judge.only(point) and stage.selects(point))
    if not part.list_points_of_half(part.half, part.drive):
        return values, 0.0
    if not stage.names:
        return values, robust_misfit(part.compute_errors_of_fit_or_holdout_points(part.half, ()))
    search = Search(part.drive.free,
                    lambda some: part.compute_errors_of_fit_or_holdout_points(part.half, some),
                    STAGE_BUDGET, lambda _done, _best: None)
    search.search_best_fit_from_initial_values(
        tuple(value for one, value in zip(free, values, strict=True) if one.name in stage.names))
    best = search.find_best_parameters_so_far()
    found = dict(zip((one.name for one in part.drive.free), best, strict=True))
    return tuple(found.get(one.name, value) for one, value in zip(free, values, strict=True)), \
        search.compute_parameter_misfit(best)


def find_first_values_of_generic_drive(judge: Judge) -> Drive:
    """Return a drive without profile, with the family and the values that a fit can start from.

    Few points determine each of some parameters whatever the others are, so these are fitted first,
    one after the other. Then each family of policies gets the over-provisioning that suits it, and
    the family with the least misfit of all write rates is taken.
    """
    values = judge.read_parameter_values_of_profile()
    for stage in STAGES[:-1]:
        values, _ = fit_stage(judge, stage, values)
    tried: list[tuple[float, int, Drive]] = []
    for index, (policy, victim) in enumerate(FAMILIES):
        drive = replace(judge.drive, policy=policy).copy_drive_with_options(f"--victim={victim}")
        family = replace(judge, drive=drive)
        suited, _ = fit_stage(family, STAGES[-1], values)
        _, misfit = fit_stage(family, ALL_WRITE_RATES, suited)
        tried.append((misfit, index, replace(set_free_parameters_of_drive(drive, (), suited),
                                             free=drive.free)))
    return min(tried)[2]


def fit_drive(judge: Judge, budget: int, tell: Callable[[int, float], None]) -> Fit:
    """Fit a drive to half of its measured points; if interrupted, return the best values yet."""
    start = judge.read_parameter_values_of_profile()
    found = Fit(judge.drive, start, start)
    own = judge
    search = Search(judge.drive.free,
                    lambda values: own.compute_errors_of_fit_or_holdout_points(own.half, values),
                    budget, tell)
    try:
        if judge.drive.generic:
            found.drive = find_first_values_of_generic_drive(judge)
            own = replace(judge, drive=found.drive)
        search.search_best_fit_from_initial_values(own.read_parameter_values_of_profile())
        search.budget += 2 * len(start)
        found.values = search.find_best_parameters_so_far()
        found.felt = [search.compute_misfit_change_per_parameter_step(found.values, which)
                      for which in range(len(start))]
        before = judge.compute_errors_of_fit_or_holdout_points(judge.half, start)
        found.shares[FITTED] = (Share.summarise_errors(before),
                                Share.summarise_errors(search.seen[found.values]))
    except KeyboardInterrupt:
        found.interrupted = True
        if search.seen:
            found.values = search.find_best_parameters_so_far()
            first = next(iter(search.seen.values()))
            found.shares[FITTED] = (Share.summarise_errors(first),
                                    Share.summarise_errors(search.seen[found.values]))
    found.evaluations = len(search.seen)
    return found


def summarise_errors_of_held_out_points(judge: Judge, found: Fit) -> None:
    """Judge the fit by the held-out points, which are read only after the fit."""
    before, after = (
        Share.summarise_errors(replace(judge, drive=drive)
                               .compute_errors_of_fit_or_holdout_points(OTHER[judge.half], values))
        for drive, values in ((judge.drive, found.start), (found.drive, found.values)))
    found.shares[HELD] = (before, after)
