# SPDX-License-Identifier: GPL-2.0-only
"""Claims about the physics models, which need no run of the simulator."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise

from selftests.lib.programs import TOP

PHYSICS = TOP / "userspace/physics"
sys.path.append(str(PHYSICS))

from selftests.claims.register import Measured, pack_results  # noqa: E402

from aftl_physics import (  # noqa: E402
    cell,
    layers,
    poisson,
    program_time,
    reprogram_code,
    tlc,
    tvr,
)
from aftl_physics.normal import find_root  # noqa: E402

#: A common code of MLC flash in 2012, which TVR's paper does not name: corrected bits, and bits.
MLC_CODE = (24, 8 * 1080)
#: The code that ReSSD's paper names (3.3.1): corrected bits, and bits of its 1 KB.
TLC_CODE = (80, 8 * 1024)


def find_corrected_rber(corrected: int, bits: int, uber: float) -> float:
    """Return the bit error rate at which a code word fails so often that UBER is reached."""
    def compute_uber_above_target(rate: float) -> float:
        first, weights = poisson.poisson_probabilities(rate * bits)
        return sum(weights[max(0, corrected + 1 - first):]) / bits - uber

    return find_root(compute_uber_above_target, 1e-7, corrected / bits)


def compute_correctable_page_errors(corrected: int) -> float:
    """Return the mean errors of a 16 KiB page at which a code of N bits per KB has UBER 1e-15."""
    return find_corrected_rber(corrected, TLC_CODE[1], 1e-15) * 16 * TLC_CODE[1]


def measure_ag1_page_times() -> list[Measured]:
    """Return AGCR's times in us of writes by cost, and of reads by the write cost of their data."""
    reads = (program_time.agcr_read_ns(cost) // 1000 for cost in range(3))
    return [pack_results(*(ns // 1000 for ns in program_time.AGCR_WRITE_NS), *reads, digits=0)]


def measure_ax11_cell_model() -> list[Measured]:
    """Return error rates of precise pages in faster program modes, and of mode Delta_b.

    The last two results are the error rates of precise and of approximate pages after 10,000 cycles
    and 1,000 hours, relative to the rate that the code corrects.
    """
    approximate, precise = map(cell.neighbour_shift_mv, (cell.VMAX_APPROX_V, cell.VMAX_PRECISE_V))

    def compute_rber_of_ispp_step(step_v: float, shift_mv: float) -> float:
        return cell.cell_rber(cell.make_approxftl_cell(cell.VMAX_PRECISE_V, step_v), shift_mv)

    faster, fastest = (cell.STEP_V / (1 - saving) for saving in
                       (program_time.SAVING_APPROX_NEIGHBOURS, program_time.SAVING_NO_NEIGHBOURS))
    coarse = [compute_rber_of_ispp_step(factor * cell.STEP_V, precise)
              for factor in (cell.DELTA_B_STEP_FACTOR, 6)]
    shown = f"{1e8 * compute_rber_of_ispp_step(faster, precise):.2f} before precise ones"
    limit = find_corrected_rber(*MLC_CODE, 1e-15)
    worn = (cell.cell_rber(cell.make_approxftl_cell(vmax, cell.STEP_V), shift_mv, 10_000, 1000)
            for vmax, shift_mv in ((cell.VMAX_PRECISE_V, precise),
                                   (cell.VMAX_APPROX_V, approximate)))
    relaxed = pack_results(1e8 * compute_rber_of_ispp_step(faster, approximate),
                           1e8 * compute_rber_of_ispp_step(fastest, 0), digits=2)
    return [
        pack_results(*relaxed.values, shown=f"{relaxed.shown}; {shown}"),
        pack_results(1e4 * coarse[0], shown=f"{coarse[0]:.1e}; six times: {coarse[1]:.1e}"),
        *(pack_results(rate / limit, digits=3) for rate in worn),
    ]


def measure_cu1_leader_program_time() -> list[Measured]:
    """Return the program time (us) of cubeFTL's leader word lines, and what followers save in %."""
    leader = program_time.cube_program_ns(0, False)
    skip, both = (100 * (program_time.cube_program_ns(loops, True) / leader - 1)
                  for loops in (0, 3))
    return [pack_results(leader / 1000), pack_results(skip), pack_results(both)]


def measure_tv1_state_half_widths() -> list[Measured]:
    """Return half widths (V) of TVR's states D0 to D5, and the sums of D0 to D3 and of D0, D1."""
    widths = tvr.distances_to_read_references()
    return [pack_results(*widths[:2], *widths[4:], digits=3),
            pack_results(*widths[2:4], digits=3),
            pack_results(sum(widths[:4]), sum(widths[:2]), digits=3)]


def measure_tv2_ispp_steps() -> list[Measured]:
    """Return TVR's ISPP steps with and without margins, MSB and LSB, and the saving in percent."""
    full, bare = tvr.tvr_ispp_steps(1.0), tvr.tvr_ispp_steps(0.0)
    return [pack_results(*full, digits=0), pack_results(*bare, digits=0),
            pack_results(100 * (sum(bare) / sum(full) - 1))]


def measure_tv3_endurance() -> list[Measured]:
    """Return TVR's endurance with and without margins in 1e5 cycles, and the gain in percent."""
    full, bare = tvr.endurance_cycles(1.0), tvr.endurance_cycles(0.0)
    by_state = [tvr.tvr_errors_per_page(mean, tvr.LIFE_CYCLES / 1e5) for mean in tvr.MEANS_V[1:]]
    return [pack_results(full, digits=3), pack_results(bare, digits=3),
            pack_results(100 * (bare / full - 1), digits=2), pack_results(*by_state, digits=2)]


def extrapolate_program_slowdown_of_state(of: int, first: int, second: int) -> float:
    """Return a state's slowdown against S0 in percent, extrapolated from two other states.

    By the TVR paper's equation 1, the program time grows in proportion to the state's voltage.
    """
    ns, volts = tvr.state_program_ns(), tvr.MEANS_V
    slope = (ns[second] - ns[first]) / (volts[second] - volts[first])
    return 100 * ((ns[first] + slope * (volts[of] - volts[first])) / ns[0] - 1)


def measure_tv4_program_times_of_states() -> list[Measured]:
    """Return TVR's program times by state in us, erase times in ms, and their drift by wear."""
    life = [tvr.relative_program_time(cycles) for cycles in range(0, tvr.LIFE_CYCLES, 10000)]
    early, late = (100 * (1 - tvr.relative_program_time(cycles))
                   for cycles in (200_000, tvr.LIFE_CYCLES))
    return [
        pack_results(*(time / 1000 for time in tvr.state_program_ns()), digits=0),
        pack_results(*(tvr.block_erase_ns(pattern, cycles) / 1e6
                       for cycles in (0, tvr.LIFE_CYCLES) for pattern in (0, 1))),
        pack_results(early, 100 * (1 - (100 - late) / (100 - early))),
        pack_results(100 * (1 - sum(life) / len(life))),
        pack_results(*(extrapolate_program_slowdown_of_state(*states)
                       for states in ((1, 2, 3), (2, 1, 3), (3, 1, 2)))),
    ]


def count_misread_cells(cycles: int, erased_widths: float = 1) -> list[float]:
    """Return the misread cells, in 1e-4, between each two neighbouring states of TVR's flash.

    The erased state is `erased_widths` times as wide as in the model.
    """
    sigmas = (erased_widths * tvr.SIGMA_ERASED_V, *[tvr.SIGMA_PROGRAMMED_V] * 3)
    states = cell.state_distributions(cell.make_gaussian_cell(tvr.MEANS_V, sigmas), 0, cycles, 0)
    return [1e4 * cell.misread_probability(*pair) for pair in pairwise(states)]


def measure_tv10_errors_of_states() -> list[Measured]:
    """Return the cell model's errors for TVR by pair of states, by page type, and by wear."""
    pairs = [pack_results(*count_misread_cells(200_000, widths)) for widths in (1, 3)]
    pages = [pack_results((one.values[0] + one.values[2]) / one.values[1], digits=2)
             for one in pairs]
    worn = [sum(count_misread_cells(cycles)) for cycles in (200_000, 400_000, 800_000, 1_200_000)]
    return [
        *(pack_results(*own.values, shown=f"{own.shown}; wider: {wide.shown}")
          for own, wide in (pairs, pages)),
        pack_results(*worn, digits=0),
    ]


def measure_tv9_ecc_and_coupling_limits() -> list[Measured]:
    """Return the RBER (1e-4) that ECC corrects; by how many % 2 V less swing cuts disturbance."""
    rates = [1e4 * find_corrected_rber(MLC_CODE[0], bits, 1e-16) for bits in (MLC_CODE[1], 8192)]
    lost = 100 * (1 - cell.neighbour_shift_mv(5.4 - 2) / cell.neighbour_shift_mv(5.4))
    return [pack_results(rates[0], shown=f"{rates[0]:.2f}; 24 bits of 1024 bytes: {rates[1]:.2f}"),
            pack_results(lost)]


#: Data of TVR's states in the order of their voltages, the bit of the MSB page first (2.2).
TVR_DATA = (0b11, 0b10, 0b00, 0b01)


def measure_tv11_references_per_read() -> list[Measured]:
    """Return how many reference voltages a read of the MSB and of the LSB page compares."""
    changed = [a ^ b for a, b in pairwise(TVR_DATA)]
    return [pack_results(*(sum(bits >> page & 1 for bits in changed) for page in (1, 0)),
                         digits=0)]


def does_id_determine_cell_encoding() -> bool:
    """Tell whether a word line's number of updates and ID determine ReSSD's cell encoding."""
    try:
        return len(reprogram_code.encodings_by_count_and_id()) == 6
    except ValueError:
        return False


def list_voltage_lowering_updates(states: Sequence[int], bit: int) -> list[tuple[int, int]]:
    """Return the pairs of old and new value for which flipping a bit lowers the cell's voltage."""
    return [(old, old ^ bit) for old in range(4) if states[old ^ bit] < states[old]]


def count_bit_updates_of_cell_in_worst_order() -> int:
    """Return how many bit updates a cell allows in the worst order of its bits."""
    codes = {reprogram_code.INITIAL}
    for count in range(reprogram_code.STATES):
        try:
            codes = {reprogram_code.updated_encoding(code, bit) for code in codes for bit in (0, 1)}
        except ValueError:
            return count
    return reprogram_code.STATES


def measure_re1_encodings() -> list[Measured]:
    """Check ReSSD's encodings: state sequences of a cell, Gray codes, names, sensings of a read."""
    paths = reprogram_code.all_state_sequences_of_cell()
    rising = sum(list(path.states) == sorted(path.states) for path in paths)
    codes = reprogram_code.encodings_by_update_order()
    gray = sum(map(reprogram_code.is_gray_code, codes.values()))
    falling = list_voltage_lowering_updates(codes[reprogram_code.Code.INITIAL], 0b01)
    once, both, twice = (reprogram_code.Code[name] for name in ("L", "LM", "LL"))
    unique = does_id_determine_cell_encoding()
    return [pack_results(
        rising, gray, holds=unique,
        shown=f"{rising} of {len(paths)} paths, {gray} of 7 codes, unique: {unique}".lower()),
        pack_results(codes[once][0b11], codes[once][0b01], codes[both][0b00], codes[both][0b11],
                     codes[twice][0b00], digits=0),
        pack_results(max(max(reprogram_code.read_references_per_page(code))
                         for code in codes.values()), digits=0),
        pack_results(*(state(codes[code]) for code in (once, both, twice) for state in (min, max)),
                     digits=0),
        pack_results(*(int(f"{value:b}") for pair in falling for value in pair),
                     shown=", ".join(f"{old:02b} to {new:02b}" for old, new in falling)),
        pack_results(count_bit_updates_of_cell_in_worst_order(), digits=0),
        pack_results(*(int(f"{value:b}") for value in
                       reprogram_code.values_by_voltage_state(codes[once])),
                     shown=" ".join(f"{value:02b}" for value in
                                    reprogram_code.values_by_voltage_state(codes[once]))),
        pack_results(len({(min(code), max(code)) for code in codes.values()}) - 1, digits=0),
        pack_results(*(number(code) for code in (reprogram_code.Code.INITIAL, once, twice)
                       for number in (reprogram_code.reprogram_count,
                                      reprogram_code.id_of_encoding_state_range)), digits=0)]


def measure_re4_metadata() -> list[Measured]:
    """Return the MiB of ReSSD's metadata, and how many blocks have L2P entries of the same size."""
    size = reprogram_code.ressd_metadata_bytes()
    return [pack_results(size / 2**20, digits=2), pack_results(size / 896, digits=0)]


def measure_re18_correctable_errors() -> list[Measured]:
    """Return the errors per page that the paper's ECC corrects, and that a weaker ECC corrects."""
    most, half = (compute_correctable_page_errors(TLC_CODE[0] // part) for part in (1, 2))
    return [pack_results(most, digits=0),
            pack_results(most, shown=f"{most:.0f}; 40 bits of 1 KB: {half:.0f}")]


#: Mean errors of a page (Table 2): conventional programs, one, two, three layers in any order.
ORDER_MEANS = (1, 2, 9, 11)


def find_largest_page_errors(mean: float, difference: float = 1) -> int:
    """Return the median, over blocks, of the largest number of errors of a page of a block.

    A layer has 6 pages; DIFFERENCE scales the model's differences between layers.
    """
    rates = [mean * (1 + difference * (factor / layers.UNIT - 1))
             for factor in layers.layer_factors_q8()]
    tables = [poisson.poisson_probabilities(rate) for rate in rates]
    most = 0
    while math.prod(sum(weights[:max(0, most + 1 - first)]) for first, weights in tables) ** 6 < .5:
        most += 1
    return most


def measure_re21_largest_errors() -> list[Measured]:
    """Return the most errors of a page of a block, for the mean errors that the paper measured.

    The text has, after a semicolon, the errors if layers differ twice as much as in the model.
    """
    result = [pack_results(*map(find_largest_page_errors, ORDER_MEANS[:2]), digits=0)]
    for means in (ORDER_MEANS[2:], (*tlc.WORN_MEAN_FRESH, *tlc.WORN_MEAN_YEAR)):
        usual, more = ([find_largest_page_errors(mean, times) for mean in means]
                       for times in (1, 2))
        result.append(pack_results(*usual, shown=" ".join(map(str, usual)) + "; "
                                   + " ".join(map(str, more))))
    return result


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "AG-1": measure_ag1_page_times,
    "AX-11": measure_ax11_cell_model,
    "CU-1": measure_cu1_leader_program_time,
    "RE-1": measure_re1_encodings,
    "RE-4": measure_re4_metadata,
    "RE-18": measure_re18_correctable_errors,
    "RE-21": measure_re21_largest_errors,
    "TV-1": measure_tv1_state_half_widths,
    "TV-2": measure_tv2_ispp_steps,
    "TV-3": measure_tv3_endurance,
    "TV-4": measure_tv4_program_times_of_states,
    "TV-9": measure_tv9_ecc_and_coupling_limits,
    "TV-10": measure_tv10_errors_of_states,
    "TV-11": measure_tv11_references_per_read,
}

FALSELY = """
import sys
from selftests.claims.models import *
exec(sys.argv[1])
print(json.dumps([asdict(one) for one in CLAIMS[sys.argv[2]]()]))
"""


def measure_falsified_claim(id_: str, false: str) -> list[Measured]:
    """Run a statement that falsifies the physics models, then return a claim's computed values."""
    done = subprocess.run([sys.executable, "-c", FALSELY, false, id_], cwd=TOP,
                          env=os.environ | {"PYTHONPATH": f"{TOP}:{PHYSICS}"},
                          stdout=subprocess.PIPE, text=True, check=True)
    return [Measured(tuple(one["values"]), one["shown"], one["holds"])
            for one in json.loads(done.stdout)]


__all__ = [
    "CLAIMS",
    "asdict",
    "cell",
    "find_corrected_rber",
    "json",
    "layers",
    "measure_falsified_claim",
    "program_time",
    "reprogram_code",
    "tvr",
]
