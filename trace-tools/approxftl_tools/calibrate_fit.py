# SPDX-License-Identifier: GPL-2.0-only
"""How far a drive is from measurements, and the way to one that is nearer.

What is measured is fitted by least squares of the logarithms, with the simulator as the function.
An interval is what the measurements allow: the wider, the less a parameter changes what was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from approxftl_tools.arrays import np
from approxftl_tools.calibrate_model import PAGE, Compared, Model, Trial
from approxftl_tools.fio_output import Figure, Measured
from approxftl_tools.statistics import CONFIDENCE, t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float64]"

#: How exact figures are, as standard deviations of their logarithms: fio's percentiles are rounded
#: to 1.6 %, and tails do not repeat.
EXACT = {"rate": 0.01, "mean": 0.01, "p50": 0.016, "p90": 0.03, "p99": 0.06}
#: Another seed changes a mean by so much, and a percentile by the width of a bin.
MEANS_REPEAT, BIN = 0.002, 0.02
#: A parameter is moved by this to see what it does, and by no more than that in a step.
NUDGE, STRIDE = math.log(1.08), math.log(2.0)
#: Errors beyond so many standard deviations count in proportion: a model is wrong in places.
ROBUST = 3.0
#: Least squares are held by these forces in turn: a step of one costs as much as so many errors.
FORCES = (1.0, 100.0)
#: A round that gains less than this share is the last.
WORTHWHILE = 0.01
#: Rounds end before nothing can be gained any more, and so does the knowledge.
UNFINISHED = 1.5
#: Nothing is known to a factor beyond this.
WIDEST = 1e20


def value(load: Measured, kind: str, *measures: str) -> float:
    """Return the first of these that was measured; 0 if none was."""
    for what in measures:
        for figure in load.figures:
            if (figure.kind, figure.what) == (kind, what):
                return figure.value
    return 0.0


def one_by_one(load: Measured) -> bool:
    """Tell whether each request waited for the one before."""
    return load.depth == 1 and not load.rate and not load.beside_rate


def single_writes(load: Measured) -> bool:
    """Tell whether it shows what the buffer takes, and not what lies behind it."""
    return load.writes == 1 and one_by_one(load) and load.size <= PAGE


def counts(load: Measured, figure: Figure) -> bool:
    """Tell whether it says something that is not said already, and that a model can know.

    With so many requests under way the rate is that number by the mean; with so many begun in a
    second it is that number. Of writes that the buffer does not take at once only the mean counts:
    who waits, and for how long, is in the details of collection.
    """
    if figure.what == "rate":
        return not value(load, figure.kind, "mean")
    return figure.kind == "read" or figure.what == "mean" or single_writes(load)


def errors(rows: Sequence[Compared]) -> Vector:
    """Return ours against measured, in standard deviations."""
    return np.array([math.log(max(ours, 1e-9) / figure.value) / EXACT[figure.what]
                     for load, figure, ours in rows if counts(load, figure)])


def noticed(rows: Sequence[Compared]) -> Vector:
    """Return what must change at least to be more than chance, or than a histogram's next bin."""
    return np.array([(MEANS_REPEAT if figure.what in ("mean", "rate") else BIN) /
                     EXACT[figure.what] for load, figure, _ in rows if counts(load, figure)])


def damped(errs: Vector) -> Vector:
    """Return weights under which large errors count in proportion."""
    return np.minimum(1.0, np.sqrt(ROBUST / np.maximum(np.abs(errs), 1e-9)))


def misfit(errs: Vector) -> float:
    """Return a sum that is the smaller the better."""
    return float(np.sum((damped(errs) * errs) ** 2))


def slopes(trial: Trial, model: Model, names: Sequence[str]) -> tuple[Vector, Vector]:
    """Return the errors, and how each changes with the logarithm of each parameter."""
    moved = [model.with_values({name: model.values[name] * math.exp(NUDGE)}) for name in names]
    rows = trial.ours([model, *moved])
    base, *others = map(errors, rows)
    least = noticed(rows[0])
    columns = [np.where(np.abs(other - base) > least, other - base, 0.0) / NUDGE
               for other in others]
    return base, np.array(columns).T.reshape(len(base), len(names))


def step(base: Vector, slope: Vector, force: float) -> Vector:
    """Return how far to go: least squares, with a force that holds what nothing moves."""
    weight = damped(base)
    weighted = slope * weight[:, None]
    normal = weighted.T @ weighted + force * np.eye(slope.shape[1])
    return np.clip(np.linalg.solve(normal, -weighted.T @ (weight * base)), -STRIDE, STRIDE)


def nearer(trial: Trial, model: Model, names: Sequence[str]) -> tuple[Model, float]:
    """Return the best model that one round finds, and by which share it is better."""
    base, slope = slopes(trial, model, names)
    tries = [model.with_values({name: model.values[name] * math.exp(move) for name, move in
                                zip(names, step(base, slope, force), strict=True)})
             for force in FORCES]
    (cost, best), *_ = choose(trial, tries)
    gain = 1 - cost / max(misfit(base), 1e-9)
    return (best, gain) if gain > 0 else (model, 0.0)


def fit(trial: Trial, model: Model, names: Sequence[str], rounds: int = 4) -> Model:
    """Return the model with these parameters fitted."""
    for _ in range(rounds if trial.loads and names else 0):
        model, gain = nearer(trial, model, names)
        if gain < WORTHWHILE:
            break
    return model


def choose(trial: Trial, models: Sequence[Model]) -> list[tuple[float, Model]]:
    """Return models with their misfits, the best first."""
    costs = [misfit(errors(rows)) for rows in trial.ours(models)]
    return sorted(zip(costs, models, strict=True), key=lambda pair: pair[0])


def as_good(ranked: Sequence[tuple[float, Model]], figures: int) -> list[Model]:
    """Return the models that are about as good as the best, which the measurements do not tell."""
    least = ranked[0][0]
    # Of one number that is normal; where nothing fits as well as it should, the more.
    limit = least + t_quantile(0.5 + CONFIDENCE / 2, 10**6) ** 2 * max(1.0, least / figures)
    return [model for cost, model in ranked if cost <= limit]


def intervals(trial: Trial, model: Model, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return where each parameter may be."""
    base, slope = slopes(trial, model, names)
    weight = damped(base)
    normal = (slope * weight[:, None]).T @ (slope * weight[:, None]) + 1e-6 * np.eye(len(names))
    # Figures of one load err together: they count as one.
    loads = max(1, len(trial.loads))
    freedom = max(1, loads - len(names))
    scale = len(base) / loads * max(1.0, misfit(base) / max(1, len(base) - len(names)))
    wide = UNFINISHED * t_quantile(0.5 + CONFIDENCE / 2, freedom) * np.sqrt(
        np.diag(np.linalg.inv(normal)) * scale)
    factors = np.exp(np.minimum(wide, math.log(WIDEST)))
    return {name: (model.values[name] / factor, model.values[name] * factor)
            for name, factor in zip(names, factors.tolist(), strict=True)}
