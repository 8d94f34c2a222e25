# SPDX-License-Identifier: GPL-2.0-only
"""Program times and read retries of cubeFTL, which measures a layer at its leader word line.

The available text of the paper has no numerals. Two facts are quoted from memory: a spare margin of
1.7 is worth 320 mV and saves at most 19.7 % of the program time; 0.3 or 0.9 of the reads of data
that are a month or a year old need retries. The rest is assumed.
"""

import math
from functools import lru_cache

from aftl_physics import layers, program_time
from aftl_physics.normal import find_root

#: P/E cycles at which the worst layer has no margin left (assumed: the paper's end of life).
LIFE_CYCLES = 2000
#: Share of a margin that raises the first program voltage; the rest lowers the last (assumed).
START_SHARE = 0.5
#: Age in hours of the two conditions with known retry rates, after LIFE_CYCLES.
MONTH_HOURS, YEAR_HOURS = 720, 8760
#: Deviation of a page from its layer's mean number of retries, either way, when a read without a
#: reference table needs any (assumed: about a third remains with the table).
RETRY_SPREAD = 1


@lru_cache(maxsize=1)
def errors_by_layer() -> list[float]:
    """Return by layer the relative errors (mean about 1) between the erased state and P1 after a
    program. These errors vary with the square root of the layer's error factor (assumed).
    """
    return [math.sqrt(factor / layers.UNIT) for factor in layers.layer_factors_q8()]


def max_layer_errors() -> float:
    """Return the paper's BER_EP1(max): 1.7 times the errors of the best layer of a new device."""
    return min(errors_by_layer()) * program_time.CUBE_MARGIN


def growth_of_layer_errors(cycles: float) -> float:
    """Return the growth of errors with wear: the worst layer meets BER_EP1(max) at LIFE_CYCLES."""
    return 1.0 + (max_layer_errors() / max(errors_by_layer()) - 1.0) * cycles / LIFE_CYCLES


def spare_margin_of_layer(point: int, cycles: float) -> float:
    """Return the spare margin S_M of a layer: the factor by which its errors may grow."""
    errors = errors_by_layer()[point] * growth_of_layer_errors(cycles)
    return max(1.0, max_layer_errors() / errors)


def voltage_margins_mv(spare: float) -> tuple[float, float]:
    """Return by how many mV a spare margin lets the first ISPP voltage rise and the last fall."""
    limit = program_time.CUBE_MAX_REMOVED * program_time.ispp_step_mv()
    total = min(limit, program_time.cube_margin_mv(spare))
    return START_SHARE * total, (1.0 - START_SHARE) * total


def time_saved_by_follower_word_line(spare: float) -> float:
    """Return the share of program time that a follower word line saves (fewer verifies, loops)."""
    loops = program_time.loops_skipped_by_spare_margin(spare)
    whole = min(int(loops), program_time.CUBE_MAX_REMOVED - 1)
    low = program_time.cube_program_ns(whole, True)
    high = program_time.cube_program_ns(whole + 1, True)
    return 1.0 - (low + (high - low) * (loops - whole)) / program_time.CUBE_LEADER_NS


def mean_time_saved_by_follower_word_lines(cycles: float) -> float:
    """Return the share of program time that follower word lines save, averaged over layers."""
    savings = [time_saved_by_follower_word_line(spare_margin_of_layer(point, cycles))
               for point in range(layers.POINTS)]
    return sum(savings) / len(savings)


@lru_cache(maxsize=1)
def premature_verify_loops_by_layer() -> list[int]:
    """Return for each layer how many loops too early the default verifies of a state start: three,
    but four in the quarter of the layers with the most errors, and two in the quarter with the
    fewest errors (assumed).
    """
    ranked = sorted(range(layers.POINTS), key=lambda point: errors_by_layer()[point])
    early = [program_time.CUBE_EARLY_VERIFIES] * layers.POINTS
    for point in ranked[:layers.POINTS // 4]:
        early[point] -= 1
    for point in ranked[-layers.POINTS // 4:]:
        early[point] += 1
    return early


@lru_cache(maxsize=1)
def vertftl_voltage_reduction_mv() -> list[float]:
    """Return by how much vertFTL reduces the last ISPP voltage (mV) by layer, fixed for all
    conditions.

    The better a layer is than the worst layer, the more margin it has at any age. vertFTL lowers
    only the last voltage, and by less than the margin, so the savings are scaled to
    CUBE_VERT_SAVING.
    """
    worst = max(errors_by_layer())
    loops = (program_time.loops_skipped_by_spare_margin(worst / own) for own in errors_by_layer())
    savings = list(map(program_time.time_saved_by_removed_loops, loops))
    scale = program_time.CUBE_VERT_SAVING * len(savings) / sum(savings)
    return [program_time.ispp_step_mv() * loop_count_for_program_time_saving(saving * scale)
            for saving in savings]


def loop_count_for_program_time_saving(saving: float) -> float:
    """Return the number of ISPP loops whose removal saves a share of the program time."""
    most = program_time.CUBE_MAX_REMOVED
    found = find_root(lambda loops: program_time.time_saved_by_removed_loops(loops) - saving,
                      -1e-6, most)
    return max(0.0, found)


def retry_probability(cycles: float, hours: float) -> float:
    """Return the share of layers whose data need read retries after a read with default references.

    Assumed: linear in cycles, and a power of the age through the shares at a month and at a year.
    """
    _, month, year = program_time.CUBE_RETRY_PROBABILITY
    exponent = math.log(year / month) / math.log(YEAR_HOURS / MONTH_HOURS)
    return min(1.0, cycles / LIFE_CYCLES * year * math.pow(hours / YEAR_HOURS, exponent))
