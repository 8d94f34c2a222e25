# SPDX-License-Identifier: GPL-2.0-only
"""RBER of 3D TLC pages, and the effect of reprogramming (ReSSD section 3.3, Tables 2 and 3).

The TLC formula was fitted by others to a 72-layer part: RBER(PE, t, r) = eps + a PE^k + b PE^m t^n
+ g PE^p r^q, t in hours, r = average reads per page. ReSSD reports error counts per page, not a
formula; the ratios of these counts are applied to the formula.
"""

import math

EPS = 1.48e-3
A, K = 3.90e-10, 2.05
B, M, N = 6.28e-5, 0.14, 0.54
G, P, Q = 3.73e-9, 0.33, 1.71

#: Mean errors at 1K P/E, (plain, two-layer reprogrammed), fresh and after one year (Table 3).
WORN_MEAN_FRESH = (5, 9)
WORN_MEAN_YEAR = (34, 49)
YEAR_HOURS = 8760
PAGE_BITS = 16 * 1024 * 8
#: P/E limits of the same cells in TLC and in MLC mode (ReSSD 7.2.7; stated).
TLC_PE_LIMIT = 1500
MLC_MODE_PE_LIMIT = 30000
#: P/E limit of four-bit cells: a third of TLC's, as vendors rate the two (1,000 and 3,000 cycles;
#: assumed).
QLC_PE_LIMIT = 500


def read_disturb_rber(cycles: float, reads: float) -> float:
    """Return the part of the RBER that is due to `reads` reads of each page of the block."""
    return G * math.pow(cycles, P) * math.pow(reads, Q)


def tlc_rber(cycles: float, hours: float, reads: float = 0.0) -> float:
    """Return the RBER of a one-shot programmed TLC page, read with the default references."""
    wear = A * math.pow(cycles, K)
    retention = B * math.pow(cycles, M) * math.pow(hours, N)
    return EPS + wear + retention + read_disturb_rber(cycles, reads)


def share_of_remaining_retention_errors() -> float:
    """Return the share of the retention errors that remain with the best read references.

    The formula is for default references, ReSSD's Table 3 for the best references: with the best
    references, a year's retention after 1K P/E cycles adds 29 errors to a page of 16 KiB.
    """
    left = (WORN_MEAN_YEAR[0] - WORN_MEAN_FRESH[0]) / PAGE_BITS
    return left / (tlc_rber(1000, YEAR_HOURS) - tlc_rber(1000, 0))


def rber_at_best_read_references(cycles: float, hours: float) -> float:
    """Return the RBER of a one-shot programmed TLC page, read with the best references."""
    fresh = tlc_rber(cycles, 0)
    return fresh + share_of_remaining_retention_errors() * (tlc_rber(cycles, hours) - fresh)


def mlc_mode_rber(cycles: float, hours: float) -> float:
    """Return the RBER of a TLC cell that holds two bits.

    Assumption: the cell wears like a TLC cell with cycles scaled by the ratio of the two stated P/E
    limits. The constant term stays, because no measurement of it is published.
    """
    return rber_at_best_read_references(cycles * TLC_PE_LIMIT / MLC_MODE_PE_LIMIT, hours)


def qlc_rber(cycles: float, hours: float) -> float:
    """Return the RBER of a QLC page after both passes, read with the best references.

    Assumption: a QLC cell wears like a TLC cell with cycles scaled by the ratio of the P/E limits.
    The constant term of the RBER stays, as in mlc_mode_rber().
    """
    return rber_at_best_read_references(cycles * TLC_PE_LIMIT / QLC_PE_LIMIT, hours)


def error_ratio_of_reprogrammed_page(hours: float) -> float:
    """Return the ratio of a reprogrammed page's errors to a plain page's, both worn to 1K P/E.

    The ratio is 9/5 when fresh and 49/34 after a year (Table 3); in between it is linear in
    log(1 + t), as the retention laws are (assumption), and afterwards it is constant.
    """
    fresh = WORN_MEAN_FRESH[1] / WORN_MEAN_FRESH[0]
    year = WORN_MEAN_YEAR[1] / WORN_MEAN_YEAR[0]
    progress = min(1.0, math.log1p(hours) / math.log1p(YEAR_HOURS))
    return fresh + (year - fresh) * progress


def reprogram_rber(cycles: float, hours: float) -> float:
    """Return the RBER of a page in a reprogrammed word line of a two-layer super layer."""
    return rber_at_best_read_references(cycles, hours) * error_ratio_of_reprogrammed_page(hours)
