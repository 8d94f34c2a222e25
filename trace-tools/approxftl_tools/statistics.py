# SPDX-License-Identifier: GPL-2.0-only
"""Confidence intervals of the mean of several runs, and of the ratio of two policies' means.

Intervals cover 95 %. Samples lie along the last axis of an array, so that numpy computes the
intervals of a thousand means in one call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from approxftl_tools.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Array: TypeAlias = "NDArray[np.float64]"

CONFIDENCE = 0.95
RESAMPLES = 999
#: Spread of a bootstrap resample, relative to that of all runs, at which its values are equal.
SAME = 0.1
#: Least number of runs for an interval, although that of two is very wide.
LEAST = 2


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its confidence interval, which is None for a single run."""

    mean: float
    half: float | None
    count: int

    @property
    def low(self) -> float | None:
        """Return the lower end of the confidence interval."""
        return None if self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        """Return the upper end of the confidence interval."""
        return None if self.half is None else self.mean + self.half

    @property
    def are_samples_equal_up_to_rounding(self) -> bool:
        """Tell whether all samples are equal up to rounding."""
        return self.is_half_width_within_share_of_mean(1e-9)

    def is_half_width_within_share_of_mean(self, share: float) -> bool:
        """Tell whether the half width of the interval is at most a given share of the mean."""
        return self.half is not None and self.half <= share * abs(self.mean)


# ---------------------------------------------------------------- Student's t


def compute_beta_continued_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1.0)) or tiny)
    result = d
    for m in range(1, 1000):
        for factor in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                       -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1.0 / ((1.0 + factor * d) or tiny)
            c = (1.0 + factor / c) or tiny
            result *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return result


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = (math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
             + a * math.log(x) + b * math.log1p(-x))
    return math.exp(front) * compute_beta_continued_fraction(a, b, x) / a


@cache
def t_quantile(share: float, freedom: int) -> float:
    """Return a quantile of Student's t; `share` is above one half."""
    tail = 2.0 * (1.0 - share)
    low, high = 0.0, 1.0
    while incomplete_beta(freedom / 2, 0.5, freedom / (freedom + high * high)) > tail:
        high *= 2.0
    for _ in range(100):
        middle = (low + high) / 2
        above = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + middle * middle)) > tail
        low, high = (middle, high) if above else (low, middle)
    return (low + high) / 2


def t_interval_half_widths(samples: Array) -> Array:
    """Return the half widths of intervals of means by Student's t."""
    count = samples.shape[-1]
    widths: Array = (t_quantile((1 + CONFIDENCE) / 2, count - 1)
                     * samples.std(axis=-1, ddof=1) / math.sqrt(count))
    return widths


# ---------------------------------------------------------------- bootstrap


@cache
def draw_bootstrap_sample_indices(count: int) -> NDArray[np.int64]:
    """Return random indices of runs for each bootstrap resample, the same ones for equal counts."""
    return np.random.default_rng(count).integers(count, size=(RESAMPLES, count))


def bootstrap_half_widths(samples: Array) -> Array:
    """Return the half widths of bootstrap intervals, which assume no distribution.

    This is the symmetric studentised bootstrap. Percentile bootstrap intervals are too narrow for
    few runs: those of five runs cover 85 %.
    """
    count = samples.shape[-1]
    spread = samples.std(axis=-1, ddof=1)
    drawn = samples[..., draw_bootstrap_sample_indices(count)]
    errors = np.abs(drawn.mean(axis=-1) - samples.mean(axis=-1, keepdims=True))
    spreads = drawn.std(axis=-1, ddof=1)
    # A resample of nearly equal values has no spread to divide by. Quantiles are bounds of bins and
    # often nearly equal: without SAME intervals are a hundred times as wide, and cover no more.
    same = spreads <= SAME * spread[..., None]
    scaled = np.where(same, np.inf, errors / np.where(same, 1.0, spreads))
    bounds = np.quantile(scaled, CONFIDENCE, axis=-1, method="higher")
    reach: Array = np.where(spread > 0, bounds, 0.0) * spread
    return reach


def estimate_mean(samples: Any, tail: bool = False) -> Estimate:
    """Return the mean of samples with its interval; by bootstrap if `tail` (skewed samples)."""
    values = np.asarray(samples, dtype=np.float64)
    count = values.shape[-1]
    if count < LEAST:
        return Estimate(float(values.mean()), None, count)
    half = float((bootstrap_half_widths if tail else t_interval_half_widths)(values))
    if not math.isfinite(half):
        # Too few samples for the bootstrap: of two, half of the resamples are constant.
        half = float(t_interval_half_widths(values))
    return Estimate(float(values.mean()), half, count)


def estimate_paired_ratio(samples: Any, yardstick: Any, tail: bool = False) -> Estimate | None:
    """Return the mean ratio of samples to base values of the same seed; None if a base is 0."""
    base = np.asarray(yardstick, dtype=np.float64)
    if not base.all():
        return None
    return estimate_mean(np.asarray(samples, dtype=np.float64) / base, tail)


def estimate_sample_size(found: Estimate, share: float) -> int:
    """Return the estimated number of runs for a confidence interval with a given half width."""
    if found.half is None or found.is_half_width_within_share_of_mean(share) or not found.mean:
        return found.count
    spread = found.half / t_quantile((1 + CONFIDENCE) / 2, found.count - 1)
    runs = found.count + 1
    while (t_quantile((1 + CONFIDENCE) / 2, runs - 1) * spread * math.sqrt(found.count / runs)
           > share * abs(found.mean)):
        runs += max(1, runs // 50)
    return runs
