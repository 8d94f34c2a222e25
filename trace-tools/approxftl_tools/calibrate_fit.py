# SPDX-License-Identifier: GPL-2.0-only
"""Fit a model of a drive to measurements, and estimate how certain the fit is.

The fit minimises the squared errors of the logarithms of the measurements, with the simulator as
the function. The less a parameter changes the simulated values, the wider is its interval.
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

#: Uncertainty of a figure, as the standard deviation of its logarithm: fio rounds percentiles to
#: 1.6 %, and tail latencies do not repeat exactly.
EXACT = {"rate": 0.01, "mean": 0.01, "p50": 0.016, "p90": 0.03, "p99": 0.06}
#: Relative change of a mean with another seed, and of a percentile by one histogram bin.
MEANS_REPEAT, BIN = 0.002, 0.02
#: Change of a parameter's logarithm when its slope is measured, and the largest change in a step.
NUDGE, STRIDE = math.log(1.08), math.log(2.0)
#: Beyond this many standard deviations an error counts linearly: the model is wrong in places.
ROBUST = 3.0
#: Damping factors of the least squares, tried in turn (Levenberg-Marquardt).
FORCES = (1.0, 100.0)
#: The fit ends with a round that gains less than this share.
WORTHWHILE = 0.01
#: Factor that widens the intervals, because the fit stops before it has converged.
UNFINISHED = 1.5
#: Upper limit of the factor between a value and the ends of its interval.
WIDEST = 1e20


def find_measured_value_of_fio_load(load: Measured, kind: str, *measures: str) -> float:
    """Return the value of the first of `measures` that fio has measured; 0 if it measured none."""
    for what in measures:
        for figure in load.figures:
            if (figure.kind, figure.what) == (kind, what):
                return figure.value
    return 0.0


def does_load_have_queue_depth_1(load: Measured) -> bool:
    """Tell whether each request waited for the previous one (queue depth 1)."""
    return load.depth == 1 and not load.rate and not load.beside_rate


def does_load_show_buffer_latency(load: Measured) -> bool:
    """Tell whether the load's write latency is that of the write buffer, not of the flash."""
    return load.writes == 1 and does_load_have_queue_depth_1(load) and load.size <= PAGE


def can_fit_use_measurement(load: Measured, figure: Figure) -> bool:
    """Tell whether a measured value adds information that the model can reproduce.

    A request rate adds nothing to a mean latency: it is the queue depth divided by the mean, or the
    given arrival rate. If the buffer cannot take writes at once, only their mean counts: the
    distribution of their latencies depends on details of garbage collection.
    """
    if figure.what == "rate":
        return not find_measured_value_of_fio_load(load, figure.kind, "mean")
    return figure.kind == "read" or figure.what == "mean" or does_load_show_buffer_latency(load)


def logarithmic_errors(rows: Sequence[Compared]) -> Vector:
    """Return the logarithms of simulated over measured values, in standard deviations."""
    return np.array([math.log(max(ours, 1e-9) / figure.value) / EXACT[figure.what]
                     for load, figure, ours in rows if can_fit_use_measurement(load, figure)])


def compute_robust_error_weights(errs: Vector) -> Vector:
    """Return a weight for each error of a fit, so that large errors count linearly, not squared."""
    return np.minimum(1.0, np.sqrt(ROBUST / np.maximum(np.abs(errs), 1e-9)))


def weighted_misfit(errs: Vector) -> float:
    """Return the misfit of a model: the weighted sum of its squared errors."""
    return float(np.sum((compute_robust_error_weights(errs) * errs) ** 2))


def compute_model_errors_and_slopes(trial: Trial, model: Model,
                                    names: Sequence[str]) -> tuple[Vector, Vector]:
    """Return a model's errors, and their derivatives by the logarithm of each parameter."""
    moved = [model.copy_model_and_set_values({name: model.values[name] * math.exp(NUDGE)})
             for name in names]
    rows = trial.simulate_all_loads_with_models([model, *moved])
    base, *others = map(logarithmic_errors, rows)
    least = np.array([(MEANS_REPEAT if figure.what in ("mean", "rate") else BIN) /
                      EXACT[figure.what] for load, figure, _ in rows[0]
                      if can_fit_use_measurement(load, figure)])
    columns = [np.where(np.abs(other - base) > least, other - base, 0.0) / NUDGE
               for other in others]
    return base, np.array(columns).T.reshape(len(base), len(names))


def solve_least_squares_step_of_model(base: Vector, slope: Vector, force: float) -> Vector:
    """Return the damped least-squares step, as changes of the parameters' logarithms."""
    weight = compute_robust_error_weights(base)
    weighted = slope * weight[:, None]
    normal = weighted.T @ weighted + force * np.eye(slope.shape[1])
    return np.clip(np.linalg.solve(normal, -weighted.T @ (weight * base)), -STRIDE, STRIDE)


def improve_model_by_one_step(trial: Trial, model: Model, names: Sequence[str]
                              ) -> tuple[Model, float]:
    """Fit a model by one least-squares step; return the model and how much better it fits."""
    base, slope = compute_model_errors_and_slopes(trial, model, names)
    tries = [model.copy_model_and_set_values({
        name: model.values[name] * math.exp(move) for name, move in
        zip(names, solve_least_squares_step_of_model(base, slope, force), strict=True)})
             for force in FORCES]
    (cost, best), *_ = rank_models(trial, tries)
    gain = 1 - cost / max(weighted_misfit(base), 1e-9)
    return (best, gain) if gain > 0 else (model, 0.0)


def fit_model(trial: Trial, model: Model, names: Sequence[str], rounds: int = 4) -> Model:
    """Return the model after fitting the given parameters."""
    for _ in range(rounds if trial.loads and names else 0):
        model, gain = improve_model_by_one_step(trial, model, names)
        if gain < WORTHWHILE:
            break
    return model


def rank_models(trial: Trial, models: Sequence[Model]) -> list[tuple[float, Model]]:
    """Return the given models with their misfits, the model with the smallest misfit first."""
    costs = [weighted_misfit(logarithmic_errors(rows))
             for rows in trial.simulate_all_loads_with_models(models)]
    return sorted(zip(costs, models, strict=True), key=lambda pair: pair[0])


def keep_models_as_good_as_best(ranked: Sequence[tuple[float, Model]], figures: int) -> list[Model]:
    """Return the models that the measurements cannot distinguish from the best."""
    least = ranked[0][0]
    # Chi-square limit of one normal variable, scaled up if even the best model fits badly.
    limit = least + t_quantile(0.5 + CONFIDENCE / 2, 10**6) ** 2 * max(1.0, least / figures)
    return [model for cost, model in ranked if cost <= limit]


def confidence_intervals(trial: Trial, model: Model, names: Sequence[str]) -> dict[str,
                                                                                   tuple[float,
                                                                                         float]]:
    """Return the confidence interval of each parameter."""
    base, slope = compute_model_errors_and_slopes(trial, model, names)
    weight = compute_robust_error_weights(base)
    normal = (slope * weight[:, None]).T @ (slope * weight[:, None]) + 1e-6 * np.eye(len(names))
    # Errors of figures of one load are correlated, so each load counts as one observation.
    loads = max(1, len(trial.loads))
    freedom = max(1, loads - len(names))
    scale = len(base) / loads * max(1.0, weighted_misfit(base) / max(1, len(base) - len(names)))
    wide = UNFINISHED * t_quantile(0.5 + CONFIDENCE / 2, freedom) * np.sqrt(
        np.diag(np.linalg.inv(normal)) * scale)
    factors = np.exp(np.minimum(wide, math.log(WIDEST)))
    return {name: (model.values[name] / factor, model.values[name] * factor)
            for name, factor in zip(names, factors.tolist(), strict=True)}
