# SPDX-License-Identifier: GPL-2.0-only
"""Program and read times: ISPP steps, ApproxFTL's placements, AGCR's costs, cubeFTL's loops."""

import math
from dataclasses import dataclass
from functools import lru_cache

from aftl_physics import cell
from aftl_physics.normal import find_root

#: Baseline program time of ApproxFTL's device (V-A; stated), in ns.
APPROXFTL_PROGRAM_NS = 700_000
#: Savings of a precise write whose later neighbours are all approximate (III-B 2b: "around
#: 24 %"), and of one without later neighbours (III-B 2c: "about 33 %").
SAVING_APPROX_NEIGHBOURS = 0.24
SAVING_NO_NEIGHBOURS = 0.33


def ispp_steps(vmax_v: float, step_v: float) -> int:
    """Return the number of ISPP steps from the bottom to the top of the voltage window."""
    return math.ceil(vmax_v / step_v - 1e-9)


def approximate_program_ns() -> int:
    """Return the time (ns) of an approximate write, with 25 instead of 40 ISPP steps (derived)."""
    short = ispp_steps(cell.VMAX_APPROX_V, cell.STEP_V)
    full = ispp_steps(cell.VMAX_PRECISE_V, cell.STEP_V)
    return round(APPROXFTL_PROGRAM_NS * short / full)


def approxftl_program_ns() -> tuple[int, ...]:
    """Return ApproxFTL's program times (ns): precise, two relaxed, approximate, larger steps."""
    return (
        APPROXFTL_PROGRAM_NS,
        round(APPROXFTL_PROGRAM_NS * (1.0 - SAVING_APPROX_NEIGHBOURS)),
        round(APPROXFTL_PROGRAM_NS * (1.0 - SAVING_NO_NEIGHBOURS)),
        approximate_program_ns(),
        round(APPROXFTL_PROGRAM_NS / cell.DELTA_B_STEP_FACTOR),
    )


#: AGCR's cost points L, M, H in ns (remembered from the published version; the talk has only
#: ratios, which these meet for writes: 0.75 / 1 / 1.33 against 0.74 / 1 / 1.35).
AGCR_WRITE_NS = (450_000, 600_000, 800_000)
AGCR_READ_LEVEL_NS = (70_000, 170_000, 310_000)
#: Step of the medium write (assumed); the others follow from time ~ 1 / step.
AGCR_MEDIUM_STEP_V = 0.30


def agcr_ispp_step_v(cost: int) -> float:
    """Return the ISPP step (V) of AGCR's write cost 0 (low: coarse step), 1 or 2 (fine step)."""
    return AGCR_MEDIUM_STEP_V * AGCR_WRITE_NS[1] / AGCR_WRITE_NS[cost]


def agcr_read_ns(cost: int) -> int:
    """Return a page's read time by its write cost 0..2 (AGCR): slower after a cheaper write."""
    return AGCR_READ_LEVEL_NS[2 - cost]


#: cubeFTL's leader program time and effect of skipped verifies (remembered values; the available
#: text has no numerals. 700 us agrees with a published 128 Gb V-NAND).
CUBE_LEADER_NS = 700_000
CUBE_SKIP_SAVING = 0.162
#: Loop structure (assumed): 14 loops, 7 states of 4 loops each, the default verify starts three
#: loops earlier than a state needs.
CUBE_LOOPS = 14
CUBE_STATES = 7
CUBE_WINDOW = 4
CUBE_EARLY_VERIFIES = 3
CUBE_MAX_REMOVED = 4
#: Spare margin 1.7 is worth 320 mV, which saves 19.7 % without skipped verifies (remembered).
CUBE_MARGIN = 1.7
CUBE_MARGIN_MV = 320.0
CUBE_MARGIN_SAVING = 0.197
#: Saving of vertFTL on every word line (remembered).
CUBE_VERT_SAVING = 0.08
#: Reads (assumed): retries of a read that needs any, probability of needing them when fresh, after
#: 2K cycles + a month, + a year.
CUBE_RETRIES = 3
CUBE_RETRY_PROBABILITY = (0.0, 0.3, 0.9)


@dataclass(frozen=True)
class LoopTimes:
    """Times of one program pulse and of one verify, in ns."""

    pulse_ns: float
    verify_ns: float


def first_and_last_verify_loops(removed: int) -> list[tuple[int, int]]:
    """Return first and last verify loop of each state when `removed` loops are cut from the start
    of the program. The states' last loops are spread evenly from loop CUBE_WINDOW to loop
    CUBE_LOOPS.
    """
    span = CUBE_LOOPS - CUBE_WINDOW
    windows = []
    for state in range(CUBE_STATES):
        last = round(CUBE_WINDOW + span * state / (CUBE_STATES - 1)) - removed
        windows.append((max(1, last - CUBE_WINDOW + 1), max(1, last)))
    return windows


def count_verifies(removed: int, skipped: int) -> int:
    """Return the number of verifies of a program that skips some first verifies of each state."""
    return sum(
        last - max(1, first - CUBE_EARLY_VERIFIES + skipped) + 1
        for first, last in first_and_last_verify_loops(removed)
    )


@lru_cache(maxsize=1)
def calibrate_loop_times() -> LoopTimes:
    """Return pulse and verify times that fit the program times of cubeFTL's word lines."""
    redundant = count_verifies(0, 0) - count_verifies(0, CUBE_EARLY_VERIFIES)
    verify = CUBE_SKIP_SAVING * CUBE_LEADER_NS / redundant
    pulse = (CUBE_LEADER_NS - count_verifies(0, 0) * verify) / CUBE_LOOPS
    return LoopTimes(pulse, verify)


def cube_program_ns_of_loops(removed: int, skipped: int) -> float:
    """Return the program time tPROG = sum over loops of (tPGM + k_i tVFY) (cubeFTL eq 1)."""
    times = calibrate_loop_times()
    return (CUBE_LOOPS - removed) * times.pulse_ns + count_verifies(removed,
                                                                    skipped) * times.verify_ns


def cube_program_ns(removed: int, skip_verify: bool) -> float:
    """Return the program time tPROG of an average layer, with or without redundant verifies."""
    return cube_program_ns_of_loops(removed, CUBE_EARLY_VERIFIES if skip_verify else 0)


def time_saved_by_removed_loops(loops: float) -> float:
    """Return the share of program time saved by removing ISPP loops (fractions allowed)."""
    whole = min(int(loops), CUBE_MAX_REMOVED - 1)
    low, high = cube_program_ns(whole, False), cube_program_ns(whole + 1, False)
    return 1.0 - (low + (high - low) * (loops - whole)) / CUBE_LEADER_NS


@lru_cache(maxsize=1)
def ispp_step_mv() -> float:
    """Return the ISPP step (mV) at which a margin of 320 mV saves 19.7 % of the time (derived)."""
    loops = find_root(lambda x: time_saved_by_removed_loops(x) - CUBE_MARGIN_SAVING,
                      0.0, CUBE_MAX_REMOVED)
    return CUBE_MARGIN_MV / loops


def cube_margin_mv(spare: float) -> float:
    """Return the voltage margin (mV) of a spare margin S_M = BER(max) / BER(measured).

    Errors between two states fall about exponentially with their distance, so the margin is
    logarithmic in S_M, with CUBE_MARGIN_MV at S_M = CUBE_MARGIN (assumed).
    """
    return CUBE_MARGIN_MV * math.log(spare) / math.log(CUBE_MARGIN)


def loops_skipped_by_spare_margin(spare: float) -> float:
    """Return the number of ISPP loops that a spare margin lets a program skip, at most four."""
    return min(float(CUBE_MAX_REMOVED), cube_margin_mv(spare) / ispp_step_mv())
