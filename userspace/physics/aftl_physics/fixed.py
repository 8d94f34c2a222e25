# SPDX-License-Identifier: GPL-2.0-only
"""Round to the same integer on every machine.

libm implementations differ in the last digit of exp and erfc. A model value is therefore first
rounded to a few significant decimal digits; the rest is exact rational arithmetic. A value so close
to a rounding boundary that such a difference could move it is refused.
"""

import math
from decimal import Decimal
from fractions import Fraction

SIGNIFICANT_DIGITS = 4
#: Relative distance to a rounding boundary below which a value is refused. Accumulated rounding
#: errors of the models stay below 1e-12.
BOUNDARY_MARGIN = 1e-10


class UnstableRoundingError(ValueError):
    """A model value too close to a decimal rounding boundary to be reproducible."""


def round_to_significant_digits(value: float, digits: int = SIGNIFICANT_DIGITS) -> Fraction:
    """Return `value` rounded to `digits` significant decimal digits, exactly."""
    if value < 0 or not math.isfinite(value):
        raise ValueError(f"not a finite non-negative number: {value!r}")
    if value < 1e-300:
        return Fraction(0)
    rounded = {Decimal(f"{v:.{digits - 1}e}") for v in _error_bounds_of_value(value)}
    if len(rounded) != 1:
        raise UnstableRoundingError(f"{value!r} lies on a {digits}-digit rounding boundary")
    return Fraction(rounded.pop())


def _error_bounds_of_value(value: float) -> tuple[float, float]:
    """Return the two ends of the range of values that must be rounded to the same integer."""
    return value * (1.0 - BOUNDARY_MARGIN), value * (1.0 + BOUNDARY_MARGIN)


def nearest_integer(value: Fraction) -> int:
    """Return the nearest integer; halves round up."""
    return math.floor(value + Fraction(1, 2))


def scale_to_integer(value: float, scale: int, digits: int = SIGNIFICANT_DIGITS) -> int:
    """Return `value` x `scale` as an integer, rounded to `digits` decimal digits first."""
    return nearest_integer(round_to_significant_digits(value, digits) * scale)
