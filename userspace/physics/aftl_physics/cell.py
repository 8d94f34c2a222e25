# SPDX-License-Identifier: GPL-2.0-only
"""Threshold-voltage model of a multi-level cell (ApproxFTL, section III-C, eqs 1-9).

A state is a probability mass function on a voltage grid: an erased Gaussian or a programmed uniform
interval [Vp, Vp + dVpp], convolved with the shifts by its later-programmed neighbours, Laplace
program/erase noise and Gaussian retention loss. Grid bins hold exact probabilities (differences of
distribution functions), so noise much narrower than a bin is modelled exactly, too.

Reading uses the crossing point between neighbouring states ("guard-band reading"). The paper's eq
(8) puts the reference at the lower edge of the programmed interval. There any zero-mean noise
misreads a fixed share of the cells, so that no RBER near 1e-8 would be possible.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from aftl_physics.normal import find_root, normal_tail

FloatArray = NDArray[np.float64]

#: Width of a voltage bin, in volt.
GRID_V = 0.002
#: Where distributions are truncated: 9 sigma is 1e-19, 36 Laplace scales are 2e-16.
GAUSS_CUT = 9.0
LAPLACE_CUT = 36.0

#: ISPP step and window tops (ApproxFTL III-C; stated).
STEP_V = 0.2
VMAX_PRECISE_V = 8.0
VMAX_APPROX_V = 5.0
#: Shift of a victim by a full-swing precise neighbour in Y and Z (ApproxFTL III-C; stated as
#: "0.2 and 0.15 shift", read as volts of an 8 V neighbour).
SHIFT_Y_MV = 200.0
SHIFT_Z_MV = 150.0
#: Erased state and residual Laplace scale that meet 1e-8 (Vmax 8) and 7.2e-4 (Vmax 5) together;
#: fitted by `fit_erased_state` (derived; the paper gives no values).
ERASED_MEAN_V = 1.9837306
ERASED_SIGMA_V = 0.32211357
RESIDUAL_LAPLACE_V = 0.001
#: The two targets (ApproxFTL III-B, V-A; stated) and the assigned value of the Delta_b scheme.
RBER_PRECISE = 1.0e-8
RBER_APPROX = 7.2e-4
RBER_DELTA_B = 7.2e-4
DELTA_B_STEP_FACTOR = 1.5

#: Public MLC channel: Laplace scale per sqrt(cycle), retention constants, time unit one hour.
LAPLACE_PER_SQRT_CYCLE_V = 0.00025
RETENTION_KS = 0.38
RETENTION_KD = 4e-4
RETENTION_KM = 4e-6
#: Erased state and verify levels of the same channel, used for AGCR's step sizes.
PUBLIC_ERASED_MEAN_V = 1.4
PUBLIC_ERASED_SIGMA_V = 0.35
PUBLIC_VERIFY_V = (2.6, 3.2, 3.93)


@dataclass(frozen=True)
class Mass:
    """A probability mass function: mass[i] sits at (first + i) x GRID_V."""

    first: int
    mass: FloatArray

    def convolve_with_mass(self, other: "Mass") -> "Mass":
        """Return the distribution of the sum of two independent variables.

        Direct convolution: all terms are positive, so tails keep their relative precision, which an
        FFT would lose in its rounding noise.
        """
        return Mass(self.first + other.first, np.convolve(self.mass, other.mass))


def _voltage_probabilities(survival: Callable[[float], float], centre: float, reach: float) -> Mass:
    """Return the exact probability in each voltage bin of a distribution that is symmetric about
    `centre`.

    `survival(x)` is the probability of exceeding centre + x. It is only called with x >= 0, because
    differences of small upper tails are precise and differences of numbers near one are not.
    """
    first = math.floor((centre - reach) / GRID_V)
    last = math.ceil((centre + reach) / GRID_V)
    edges = [(k - 0.5) * GRID_V - centre for k in range(first, last + 2)]
    upper = [survival(abs(x)) for x in edges]
    ends = itertools.pairwise(zip(edges, upper, strict=True))
    mass = [_interval_probability(low, high, above, below) for (low, above), (high, below) in ends]
    return Mass(first, np.array(mass))


def _interval_probability(low: float, high: float, tail_low: float, tail_high: float) -> float:
    """Return the probability of [low, high] under a symmetric distribution, from its two tails."""
    if low >= 0:
        return tail_low - tail_high
    if high <= 0:
        return tail_high - tail_low
    return 1.0 - tail_low - tail_high


def point_mass(position: float) -> Mass:
    """Return a distribution at a single voltage, split between two bins for an exact mean."""
    cell = math.floor(position / GRID_V)
    share = position / GRID_V - cell
    return Mass(cell, np.array([1.0 - share, share]))


@lru_cache(maxsize=4096)
def gaussian_mass(mean: float, sigma: float) -> Mass:
    """Return a normal distribution; a vanishing sigma gives a distribution at a single voltage."""
    if sigma < GRID_V / 100:
        return point_mass(mean)
    return _voltage_probabilities(lambda x: normal_tail(x / sigma), mean, GAUSS_CUT * sigma)


@lru_cache(maxsize=256)
def laplace_mass(scale: float) -> Mass:
    """Return a Laplace distribution with mean zero (eq 5, program/erase noise)."""
    if scale <= 0:
        return point_mass(0.0)
    return _voltage_probabilities(lambda x: 0.5 * math.exp(-x / scale), 0.0, LAPLACE_CUT * scale)


def uniform_mass(low: float, width: float) -> Mass:
    """Return a uniform distribution on [low, low + width] (eq 3, the last ISPP step)."""
    first = math.floor(low / GRID_V + 0.5)
    last = math.floor((low + width) / GRID_V + 0.5)
    edges = (np.arange(first, last + 2) - 0.5) * GRID_V
    inside = np.clip(edges, low, low + width)
    return Mass(first, np.diff(inside) / width)


def _neighbour_shift(swing_v: float) -> Mass:
    """Return the shift by a later-programmed neighbour, whose 4 states are equally likely."""
    parts = [point_mass(swing_v * state / 3.0) for state in range(4)]
    first = min(p.first for p in parts)
    mass = np.zeros(max(p.first + len(p.mass) for p in parts) - first)
    for p in parts:
        mass[p.first - first : p.first - first + len(p.mass)] += 0.25 * p.mass
    return Mass(first, mass)


def neighbour_shifts(total_mv: float) -> tuple[float, ...]:
    """Return the shifts (mV) of neighbours in the highest state that together cause `total_mv`.

    A neighbour in the same layer and one in the next layer share up to 350 mV in the ratio
    200 : 150; a second pair of neighbours causes the excess.
    """
    pair = SHIFT_Y_MV + SHIFT_Z_MV
    near = min(total_mv, pair)
    shifts = [near * SHIFT_Y_MV / pair, near * SHIFT_Z_MV / pair]
    if total_mv > pair:
        rest = total_mv - pair
        shifts += [rest * SHIFT_Y_MV / pair, rest * SHIFT_Z_MV / pair]
    return tuple(shifts)


@lru_cache(maxsize=256)
def neighbour_shift_distribution(total_mv: float) -> Mass:
    """Return the distribution of the accumulated shift (V) of a cell by its neighbours."""
    result = point_mass(0.0)
    for shift_mv in neighbour_shifts(total_mv):
        result = result.convolve_with_mass(_neighbour_shift(shift_mv / 1000.0))
    return result


@dataclass(frozen=True)
class State:
    """A programmed or erased state before any noise.

    `spread_v` is the standard deviation if `is_gaussian`, else the width of the interval that
    starts at `level_v`. `swing_v` is the voltage above the erased mean that retention drains.
    """

    level_v: float
    spread_v: float
    swing_v: float
    is_gaussian: bool

    def distribution_after_program(self) -> Mass:
        """Return the state's voltage distribution right after programming."""
        if self.is_gaussian:
            return gaussian_mass(self.level_v, self.spread_v)
        return uniform_mass(self.level_v, self.spread_v)


@dataclass(frozen=True)
class Channel:
    """A cell without wear: its states in ascending order (four for two bits) and its noise."""

    states: tuple[State, ...]
    residual_laplace_v: float = 0.0


def _make_programmed_state(verify_v: float, step_v: float, erased_mean_v: float) -> State:
    return State(verify_v, step_v, verify_v + 0.5 * step_v - erased_mean_v, False)


def make_approxftl_cell(
    vmax_v: float,
    step_v: float,
    erased_mean_v: float = ERASED_MEAN_V,
    erased_sigma_v: float = ERASED_SIGMA_V,
    residual_laplace_v: float = RESIDUAL_LAPLACE_V,
    bits: int = 2,
) -> Channel:
    """Return ApproxFTL's cell, whose programmed states are equally spaced up to Vmax - dVpp."""
    programmed_states = 2**bits - 1
    pitch = (vmax_v - step_v - erased_mean_v) / programmed_states
    erased = State(erased_mean_v, erased_sigma_v, 0.0, True)
    programmed = [
        _make_programmed_state(erased_mean_v + i * pitch, step_v, erased_mean_v)
        for i in range(1, programmed_states + 1)
    ]
    return Channel((erased, *programmed), residual_laplace_v)


def make_agcr_cell(step_v: float) -> Channel:
    """Return AGCR's cell: the public cell model with fixed verify levels and a given ISPP step."""
    erased = State(PUBLIC_ERASED_MEAN_V, PUBLIC_ERASED_SIGMA_V, 0.0, True)
    programmed = [_make_programmed_state(v, step_v, PUBLIC_ERASED_MEAN_V) for v in PUBLIC_VERIFY_V]
    return Channel((erased, *programmed))


def make_gaussian_cell(means_v: Sequence[float], sigmas_v: Sequence[float]) -> Channel:
    """Return a cell with four Gaussian states (TVR's description)."""
    states = [
        State(mean, sigma, mean - means_v[0], True)
        for mean, sigma in zip(means_v, sigmas_v, strict=True)
    ]
    return Channel(tuple(states))


@lru_cache(maxsize=4096)
def _noise_distribution(residual_v: float, swing_v: float, cycles: int, hours: int) -> Mass:
    """Return the distribution of program/erase noise (eq 5) plus retention loss (eq 6)."""
    root = math.sqrt(cycles)
    noise = laplace_mass(residual_v + LAPLACE_PER_SQRT_CYCLE_V * root)
    drain = RETENTION_KS * swing_v * math.log1p(hours)
    mean = -drain * RETENTION_KD * root
    variance = drain * RETENTION_KM * cycles**0.6 if cycles else 0.0
    return noise.convolve_with_mass(gaussian_mass(mean, math.sqrt(variance)))


@lru_cache(maxsize=4096)
def _disturbed_distribution(state: State, disturb_mv: float) -> Mass:
    shifts = neighbour_shift_distribution(disturb_mv)
    return state.distribution_after_program().convolve_with_mass(shifts)


@lru_cache(maxsize=1024)
def _erased_state(state: State, residual_v: float, disturb_mv: float, cycles: int) -> Mass:
    """Return the erased state's distribution at a read, which retention does not change."""
    noise = _noise_distribution(residual_v, 0.0, cycles, 0)
    return _disturbed_distribution(state, disturb_mv).convolve_with_mass(noise)


def state_distributions(channel: Channel, disturb_mv: float, cycles: int, hours: int) -> list[Mass]:
    """Return the voltage distributions of the cell's states at the time of a read (eq 7)."""
    residual = channel.residual_laplace_v
    result = [_erased_state(channel.states[0], residual, disturb_mv, cycles)]
    for state in channel.states[1:]:
        noise = _noise_distribution(residual, state.swing_v, cycles, hours)
        result.append(_disturbed_distribution(state, disturb_mv).convolve_with_mass(noise))
    return result


def misread_probability(lower: Mass, upper: Mass) -> float:
    """Return the summed misread probabilities of two neighbouring states at the best reference."""
    first = min(lower.first, upper.first)
    last = max(lower.first + len(lower.mass), upper.first + len(upper.mass))
    low = np.zeros(last - first + 1)
    high = np.zeros(last - first + 1)
    start = lower.first - first
    low[start : start + len(lower.mass)] = lower.mass
    start = upper.first - first + 1
    high[start : start + len(upper.mass)] = upper.mass
    above = np.cumsum(low[::-1])[::-1]
    below = np.cumsum(high)
    return float(np.min(above + below))


def cell_rber(channel: Channel, disturb_mv: float, cycles: int = 0, hours: int = 0) -> float:
    """Return the raw bit error rate (eq 8 with crossing-point references).

    States are equally likely and Gray-coded: a misread cell is one wrong bit.
    """
    states = state_distributions(channel, disturb_mv, cycles, hours)
    pairs = itertools.pairwise(states)
    share = 1.0 / len(states)
    return sum(share * misread_probability(a, b) for a, b in pairs) / math.log2(len(states))


def neighbour_shift_mv(vmax_v: float) -> float:
    """Return a cell's shift (mV) by a neighbour in its and one in the next layer, at `vmax_v`."""
    return (SHIFT_Y_MV + SHIFT_Z_MV) * vmax_v / VMAX_PRECISE_V


def _fresh_page_rbers(mean_v: float, sigma_v: float) -> tuple[float, float]:
    """Return the RBERs of a precise and an approximate page without wear and age."""
    precise, approx = (
        cell_rber(make_approxftl_cell(v, STEP_V, mean_v, sigma_v), neighbour_shift_mv(v))
        for v in (VMAX_PRECISE_V, VMAX_APPROX_V)
    )
    return precise, approx


def fit_erased_sigma(mean_v: float) -> float:
    """Return the erased sigma (V) for an RBER of 1e-8 of a precise page, given the erased mean."""
    return find_root(
        lambda s: math.log(_fresh_page_rbers(mean_v, s)[0] / RBER_PRECISE), 0.2, 0.5, steps=30
    )


def fit_erased_state() -> tuple[float, float]:
    """Return the erased mean and sigma (V) that meet RBERs of 1e-8 and 7.2e-4; takes seconds."""
    mean = find_root(lambda m: math.log(_fresh_page_rbers(m, fit_erased_sigma(m))[1] / RBER_APPROX),
                     1.5, 2.4, steps=30)
    return mean, fit_erased_sigma(mean)
