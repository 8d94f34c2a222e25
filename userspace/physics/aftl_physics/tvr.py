# SPDX-License-Identifier: GPL-2.0-only
"""TVR: threshold-voltage reduction by giving up state margins (ICS 2014, sections 4 and 5).

"MSB" is the page that the paper programs first and calls fast, which is the opposite of common
naming. Voltages are in volt; m is the fraction of the margins that is kept (1 = normal, 0 = TVR).
"""

import math
from functools import lru_cache

from aftl_physics import cell
from aftl_physics.normal import find_root, inverse_tail, normal_tail

#: RBER limit for UBER 1e-16 (5.3; stated).
RBER_LIMIT = 4.5e-4
#: Standard deviations that give the published D0..D5 (derived; the table is not in the text).
SIGMA_ERASED_V = 0.4217
SIGMA_PROGRAMMED_V = 0.1085
#: ISPP (eqs 1 and 14; stated).
BETA = 1.14
STEP_V = 0.2
#: State means with full margins and the error budget of eq (8), in errors per page (derived:
#: the set that reproduces 22/16 steps and both endurance figures).
MEANS_V = (-1.67, 1.86, 3.23, 4.62)
ERROR_BUDGET = 7.11
#: Program time of S0 in us and slow-down of S1..S3 (4.1; stated as "faster by 15.5/23/31 %").
S0_PROGRAM_NS = 672_000
STATE_SLOWDOWN_PERMILLE = (1000, 1155, 1230, 1310)
#: Drop of program time in the first 2e5 cycles and in the rest (4.1).
EARLY_PROGRAM_DROP = 0.103
LATE_PROGRAM_DROP = 0.048
EARLY_CYCLES = 200_000
LIFE_CYCLES = 1_200_000
#: Erase time of blocks full of '11' and of '01' when new, and of all at end of life (4.2).
ERASE_NEW_NS = (3_300_000, 3_100_000)
ERASE_OLD_NS = 9_000_000


def distances_to_read_references() -> tuple[float, ...]:
    """Return D0..D5, the distances of the state means to their read references (eqs 10-13).

    The tails Q of a page type are equal, so the RBER limit is 2 x 1/4 Q (MSB) or 4 x 1/4 Q (LSB).
    """
    x_msb = inverse_tail(2.0 * RBER_LIMIT)
    x_lsb = inverse_tail(RBER_LIMIT)
    d0, d1 = x_lsb * SIGMA_ERASED_V, x_lsb * SIGMA_PROGRAMMED_V
    d2 = x_msb * SIGMA_PROGRAMMED_V
    return d0, d1, d2, d2, d1, d1


def mean_state_voltages_without_margins() -> tuple[float, ...]:
    """Return the states' mean voltages without margins; the erased mean is unchanged (Fig 11b)."""
    d = [round(x, 2) for x in distances_to_read_references()]
    first = MEANS_V[0]
    return first, first + d[0] + d[1], first + sum(d[:4]), first + sum(d)


def tvr_state_means(m: float) -> tuple[float, ...]:
    """Return the states' mean voltages with a fraction `m` of their margins (linear; assumed)."""
    return tuple(low + m * (high - low)
                 for low, high in zip(mean_state_voltages_without_margins(), MEANS_V, strict=True))


def ispp_steps_of_voltage_swing(swing_v: float) -> int:
    """Return the ISPP steps of one threshold swing: N_s = ceil(dVth / (beta dVpp)) (eq 14)."""
    return math.ceil(swing_v / (BETA * STEP_V) - 1e-9)


def tvr_ispp_steps(m: float) -> tuple[int, int]:
    """Return the numbers of ISPP steps of the MSB and of the LSB page. MSB pages go up to S2 and
    LSB pages to S1; the paper leaves S3 out, and so does this model.
    """
    mu = tvr_state_means(m)
    return ispp_steps_of_voltage_swing(mu[2] - mu[0]), ispp_steps_of_voltage_swing(mu[1] - mu[0])


def tvr_errors_per_page(mean_v: float, life: float) -> float:
    """Return the errors per page after `life` x 1e5 cycles at a mean state voltage (TVR eq 8)."""
    log = math.log(mean_v)
    return (-5e-4 * log + 0.0019) * math.exp((0.036 * log + 0.6616) * life) - 1.0


def endurance_cycles(m: float) -> float:
    """Return the P/E cycles (1e5) until the errors by eq (8) reach the error budget."""
    mean = sum(tvr_state_means(m)) / 4.0
    return find_root(lambda n: tvr_errors_per_page(mean, n) - ERROR_BUDGET, 1.0, 40.0)


def state_program_ns() -> tuple[int, ...]:
    """Return the published program time by final state (section 4.1)."""
    return tuple(S0_PROGRAM_NS * s // 1000 for s in STATE_SLOWDOWN_PERMILLE)


def ispp_step_ns() -> int:
    """Return the time of one ISPP step: the mean program time over the mean number of steps."""
    return round(sum(state_program_ns()) / 4 / (sum(tvr_ispp_steps(1.0)) / 2))


def _interpolate_over_cycles(start: float, end: float, low: int, high: int, cycles: int) -> float:
    share = min(1.0, max(0.0, (cycles - low) / (high - low)))
    return start + (end - start) * share


def block_erase_ns(pattern: int, cycles: int) -> int:
    """Return the erase time of a block after P/E cycles; data `pattern`: 0 is '11', 1 is '01'."""
    return round(_interpolate_over_cycles(ERASE_NEW_NS[pattern], ERASE_OLD_NS, 0, LIFE_CYCLES,
                                          cycles))


def relative_program_time(cycles: int) -> float:
    """Return program time relative to a new device: it falls fast for 2e5 cycles, then slowly."""
    early = 1.0 - EARLY_PROGRAM_DROP
    if cycles <= EARLY_CYCLES:
        return _interpolate_over_cycles(1.0, early, 0, EARLY_CYCLES, cycles)
    return _interpolate_over_cycles(early, early * (1.0 - LATE_PROGRAM_DROP), EARLY_CYCLES,
                                    LIFE_CYCLES, cycles)


@lru_cache(maxsize=64)
def make_tvr_cell(m: float) -> cell.Channel:
    """Return TVR's cell with a fraction `m` of the state margins, for the common voltage model."""
    sigmas = (SIGMA_ERASED_V, *[SIGMA_PROGRAMMED_V] * 3)
    return cell.make_gaussian_cell(tvr_state_means(m), sigmas)


def page_rbers_without_state_margins() -> tuple[float, float]:
    """Return the RBER of the MSB and of the LSB page without state margins (eqs 10 and 11)."""
    d = distances_to_read_references()
    s = (SIGMA_ERASED_V, *[SIGMA_PROGRAMMED_V] * 5)
    q = [normal_tail(x / y) for x, y in zip(d, s, strict=True)]
    return 0.25 * (q[2] + q[3]), 0.25 * (q[0] + q[1] + q[4] + q[5])
