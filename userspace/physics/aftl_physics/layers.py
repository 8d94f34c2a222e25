# SPDX-License-Identifier: GPL-2.0-only
"""Error-rate factor by position in the layer stack (cubeFTL's inter-layer variability).

Shape and size are assumptions: the papers say that layers differ strongly and non-linearly and give
no numbers. The etched channel is widest at the top and narrowest at the bottom, so both ends have
the most errors, the bottom slightly more; most other layers are alike.
"""

from fractions import Fraction

POINTS = 64
UNIT = 256
#: Excess at the top and at the bottom, in units of the best layer.
TOP_EXCESS = Fraction(6, 10)
BOTTOM_EXCESS = Fraction(9, 10)
EXPONENT = 4


def relative_error_factor_of_layer(point: int) -> Fraction:
    """Return a layer's unnormalised error factor: 1 in the middle, rising outwards with power 4."""
    position = Fraction(2 * point - (POINTS - 1), POINTS - 1)
    excess = TOP_EXCESS if position < 0 else BOTTOM_EXCESS
    return 1 + excess * abs(position) ** EXPONENT


def layer_factors_q8() -> list[int]:
    """Return the layers' error factors x 256 from top (0) to bottom, with a mean of exactly 256."""
    shapes = [relative_error_factor_of_layer(p) for p in range(POINTS)]
    exact = [s * POINTS * UNIT / sum(shapes) for s in shapes]
    result = [int(x) for x in exact]
    missing = POINTS * UNIT - sum(result)
    by_remainder = sorted(range(POINTS), key=lambda p: (result[p] - exact[p], p))
    for p in by_remainder[:missing]:
        result[p] += 1
    return result
