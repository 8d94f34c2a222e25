# SPDX-License-Identifier: GPL-2.0-only
"""How sure a mean is: of several runs, of one run, of a ratio of two policies.

Intervals are of 95 %. Samples lie along the last axis of an array, so that a thousand studies cost
hardly more than one.
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
#: Means of neighbours in MSER-5.
NEIGHBOURS = 5
#: A quarter of a run is never taken for warm-up: the last few batches may agree by chance.
KEPT = 4
#: An end that puts the mean off by less is left alone.
MATTERS = 0.02
RESAMPLES = 999
#: Two runs have an interval, but one that hardly excludes anything.
LEAST = 2


@dataclass(frozen=True)
class Estimate:
    """A mean and its interval, which nothing is known of after a single run."""

    mean: float
    half: float | None
    count: int

    @property
    def low(self) -> float | None:
        """Return the lower end."""
        return None if self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        """Return the upper end."""
        return None if self.half is None else self.mean + self.half

    @property
    def equal(self) -> bool:
        """Tell whether all samples are the same, but for how numbers are rounded."""
        return self.within(1e-9)

    def within(self, share: float) -> bool:
        """Tell whether the interval is no wider than this share of the mean to either side."""
        return self.half is not None and self.half <= share * abs(self.mean)


# ---------------------------------------------------------------- Student's t


def continued_fraction(a: float, b: float, x: float) -> float:
    """Return the fraction of the incomplete beta function, by Lentz' method."""
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
    return math.exp(front) * continued_fraction(a, b, x) / a


@cache
def t_quantile(share: float, freedom: int) -> float:
    """Return what Student's t exceeds in so small a share of cases, above one half."""
    tail = 2.0 * (1.0 - share)
    low, high = 0.0, 1.0
    while incomplete_beta(freedom / 2, 0.5, freedom / (freedom + high * high)) > tail:
        high *= 2.0
    for _ in range(100):
        middle = (low + high) / 2
        above = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + middle * middle)) > tail
        low, high = (middle, high) if above else (low, middle)
    return (low + high) / 2


def half_widths(samples: Array) -> Array:
    """Return how far the intervals of means reach to either side, by Student's t."""
    count = samples.shape[-1]
    widths: Array = (t_quantile((1 + CONFIDENCE) / 2, count - 1)
                     * samples.std(axis=-1, ddof=1) / math.sqrt(count))
    return widths


# ---------------------------------------------------------------- bootstrap


@cache
def resampling(count: int) -> NDArray[np.int64]:
    """Return which samples are drawn, always the same: the same runs make the same interval."""
    return np.random.default_rng(count).integers(count, size=(RESAMPLES, count))


def bootstrap_widths(samples: Array) -> Array:
    """Return how far the intervals reach that make no assumption about the distribution.

    They are those of the studentised bootstrap, as wide to both sides. That of quantiles alone is
    much too narrow for so few runs as one makes: it covers 85 % for five.
    """
    count = samples.shape[-1]
    spread = samples.std(axis=-1, ddof=1)
    drawn = samples[..., resampling(count)]
    errors = np.abs(drawn.mean(axis=-1) - samples.mean(axis=-1, keepdims=True))
    spreads = drawn.std(axis=-1, ddof=1)
    # Where all that is drawn is the same there is no spread to measure by.
    same = spreads <= 1e-9 * spread[..., None]
    scaled = np.where(same, np.inf, errors / np.where(same, 1.0, spreads))
    bounds = np.quantile(scaled, CONFIDENCE, axis=-1, method="higher")
    reach: Array = np.where(spread > 0, bounds, 0.0) * spread
    return reach


def estimate(samples: Any, tail: bool = False) -> Estimate:
    """Return the mean of a measure of several runs; `tail`: one whose distribution is skewed."""
    values = np.asarray(samples, dtype=np.float64)
    count = values.shape[-1]
    if count < LEAST:
        return Estimate(float(values.mean()), None, count)
    half = float((bootstrap_widths if tail else half_widths)(values))
    if not math.isfinite(half):
        # Too few for it: two runs are drawn as one and the same half of the time.
        half = float(half_widths(values))
    return Estimate(float(values.mean()), half, count)


def paired_ratio(samples: Any, yardstick: Any, tail: bool = False) -> Estimate | None:
    """Return the mean ratio of runs that had the same random numbers; None if there is none."""
    base = np.asarray(yardstick, dtype=np.float64)
    if not base.all():
        return None
    return estimate(np.asarray(samples, dtype=np.float64) / base, tail)


def runs_needed(found: Estimate, share: float) -> int:
    """Return how many runs would have an interval so narrow, as far as these can tell."""
    if found.half is None or found.within(share) or not found.mean:
        return found.count
    spread = found.half / t_quantile((1 + CONFIDENCE) / 2, found.count - 1)
    runs = found.count + 1
    while (t_quantile((1 + CONFIDENCE) / 2, runs - 1) * spread * math.sqrt(found.count / runs)
           > share * abs(found.mean)):
        runs += max(1, runs // 50)
    return runs


# ---------------------------------------------------------------- inside one run


@dataclass(frozen=True)
class Truncation:
    """What MSER-5 says of a run."""

    #: Values at the begin that are worth leaving out.
    cut: int
    #: Whether enough is left to say so.
    settled: bool


def best_cut(means: Array) -> int:
    """Return how many to leave out, so that the standard error of the rest is smallest.

    What differs by rounding alone is equal, and then as few as can be are left out.
    """
    count = len(means)
    left = np.arange(count, 0, -1)
    back = (means - means.mean())[::-1]
    sums, squares = np.cumsum(back)[::-1], np.cumsum(back * back)[::-1]
    errors = ((squares - sums * sums / left) / (left * left))[:count - count // KEPT]
    rounding = (1e-12 * squares / (left * left))[:len(errors)]
    return int(np.argmax(errors <= errors.min() + rounding))


def mser5(values: Any) -> Truncation:
    """Return how much of the begin of a run to leave out.

    It is what makes the standard error of the rest smallest, counted in batches of five. Where that
    is more than half, the rest is too short to tell; where the same rule would leave out an end
    that puts the mean off, that is not like what was before. Either way the run was still drifting.
    """
    series = np.asarray(values, dtype=np.float64)
    count = len(series) // NEIGHBOURS
    if count < 2 * NEIGHBOURS:
        return Truncation(0, False)
    means = series[:count * NEIGHBOURS].reshape(count, NEIGHBOURS).mean(axis=-1)
    begin = best_cut(means)
    late = means[begin:]
    early = late[:len(late) - best_cut(late[::-1])]
    same = len(early) == len(late) or abs(late.mean() / early.mean() - 1) < MATTERS
    return Truncation(begin * NEIGHBOURS, bool(2 * begin <= count and same))
