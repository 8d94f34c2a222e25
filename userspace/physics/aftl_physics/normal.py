# SPDX-License-Identifier: GPL-2.0-only
"""The normal distribution's tail Q(x), its inverse, and bisection."""

import math
from collections.abc import Callable


def normal_tail(x: float) -> float:
    """Return Q(x), the probability that a standard normal variable exceeds x."""
    return 0.5 * math.erfc(x / math.sqrt(2.0))


def find_root(f: Callable[[float], float], low: float, high: float, steps: int = 200) -> float:
    """Return the root of a function in [low, high], where it must change its sign exactly once."""
    negative_low = f(low) < 0
    if negative_low == (f(high) < 0):
        raise ValueError(f"no sign change between {low} and {high}")
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if (f(middle) < 0) == negative_low:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def inverse_tail(probability: float) -> float:
    """Return Q^-1(p) for 0 < p < 1, in standard deviations."""
    return find_root(lambda x: normal_tail(x) - probability, -40.0, 40.0)
