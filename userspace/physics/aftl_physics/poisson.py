# SPDX-License-Identifier: GPL-2.0-only
"""Quantiles of the Poisson distribution: the number of bit errors of a page.

The number of errors of a page is about Poisson with mean RBER x bits. A page draws one of 64
equally likely ranks once; its error count is the mean of that quantile bin at the current mean. So
counts never shrink with time, and all pages together have the right mean. Only additions,
multiplications and divisions of IEEE doubles are used, in a fixed order: the result is the same on
every machine.
"""

import math

COLUMNS = 64
SCALE = 256
#: Largest mean, in errors per page.
LARGEST_MEAN = 8192
#: Grid points per doubling of the mean.
PER_DOUBLING = 4


def poisson_means_q8() -> list[int]:
    """Return the table's axis, mean error counts x 256: 0, then up to four values per doubling."""
    last = LARGEST_MEAN * SCALE
    ratios = [2.0 ** (i / PER_DOUBLING) for i in range(PER_DOUBLING)]
    powers = range(last.bit_length())
    points = {round((1 << p) * r) for p in powers for r in ratios}
    return [0, *sorted(q for q in points if q <= last)]


def poisson_probabilities(mean: float) -> tuple[int, list[float]]:
    """Return Poisson probabilities of successive error counts, and the first of these counts."""
    mode = int(mean)
    below: list[float] = []
    weight = 1.0
    for k in range(mode, 0, -1):
        weight *= k / mean
        if weight < 1e-30:
            break
        below.append(weight)
    above = [1.0]
    k = mode
    while above[-1] > 1e-30:
        k += 1
        above.append(above[-1] * (mean / k))
    weights = below[::-1] + above
    total = math.fsum(weights)
    return mode - len(below), [w / total for w in weights]


def mean_error_counts_of_quantile_bins(mean: float) -> list[float]:
    """Return the mean error count of each of 64 quantile bins; counts at a bin's edge are split."""
    first, mass = poisson_probabilities(mean)
    sums = [0.0] * COLUMNS
    column, room = 0, 1.0 / COLUMNS
    for index, weight in enumerate(mass):
        count = first + index
        while weight > room and column < COLUMNS - 1:
            sums[column] += count * room
            weight -= room
            column, room = column + 1, 1.0 / COLUMNS
        sums[column] += count * weight
        room -= weight
    return [s * COLUMNS for s in sums]


def rounded_poisson_row(mean_q8: int, previous: list[int]) -> list[int]:
    """Return the mean error counts of the 64 quantile bins, x 256, as integers that sum to 64 x
    mean_q8.

    Every entry is rounded down, but not below the row of the next smaller mean; the remainder goes
    to the entries with the largest fractions.
    """
    exact = [m * SCALE for m in mean_error_counts_of_quantile_bins(mean_q8 / SCALE)]
    row = [max(math.floor(x + 1e-6), p) for x, p in zip(exact, previous, strict=True)]
    missing = COLUMNS * mean_q8 - sum(row)
    if not 0 <= missing <= COLUMNS:
        raise ValueError(f"rounding of the Poisson row {mean_q8} left {missing}")
    by_remainder = sorted(range(COLUMNS), key=lambda c: (round(row[c] - exact[c], 6), -c))
    for column in by_remainder[:missing]:
        row[column] += 1
    return row


def poisson_table_q8() -> tuple[list[int], list[list[int]]]:
    """Return the axis of the Poisson table (mean error counts), and a row for each mean."""
    grid = poisson_means_q8()
    rows = [[0] * COLUMNS]
    for mean_q8 in grid[1:]:
        rows.append(rounded_poisson_row(mean_q8, rows[-1]))
    return grid, rows
