# SPDX-License-Identifier: GPL-2.0-only
"""The C tables that the FTL core gets from the models."""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aftl_physics import cell, cube, layers, poisson, program_time, tlc, tvr
from aftl_physics.csource import Enum, Macro, Section, Table
from aftl_physics.fixed import scale_to_integer

Q12 = 1 << 12
Q16 = 1 << 16
Q40 = 1 << 40
# Spelt in two parts, so that tools do not take it for the licence of this file.
LICENCE = "SPDX-License" "-Identifier: GPL-2.0-only"
SOURCE = "physics-tables.c"
HEADER = "physics-tables.h"

#: Accumulated neighbour shift in mV. 219 is one Y and one Z neighbour of an approximate page
#: (218.75, at which that point is evaluated), 350 those of a precise page.
DISTURB_AXIS_MV = (0, 100, 200, 219, 350, 525, 700)
EXACT_DISTURB_MV = {219: 218.75}
PE_AXIS = (0, 500, 1000, 2000, 3000, 5000, 10000, 20000)
HOUR_AXIS = (0, 1, 24, 168, 720, 2160, 4380, 8760, 26280)
READ_AXIS = (0, 1, 10, 30, 100, 300, 1000)
TVR_POINTS = 17
TVR_WEAR_AXIS = tuple(range(0, tvr.LIFE_CYCLES + 1, 200_000))
MARGIN_TENTHS = tuple(range(10, 31))
#: Condition under which AGCR's three step sizes define the limits of the three sensing levels.
SENSE_CYCLES, SENSE_HOURS = 5000, 2160

RberModel = Callable[[float, int, int], float]
IntArray = NDArray[np.int64]


def rber_as_q40(rate: float) -> int:
    """Return RBER x 2^40, at most one half (random data)."""
    return min(scale_to_integer(rate, Q40), Q40 // 2)


def _cell_model(channel: cell.Channel) -> RberModel:
    return lambda mv, cycles, hours: cell.cell_rber(channel, mv, cycles, hours)


def _rber_of_delta_b_mode(mv: float, cycles: int, hours: int) -> float:
    """Return the RBER of mode Delta_b (larger ISPP steps): 7.2e-4 plus growth by wear, age etc."""
    channel = cells_by_program_mode()["MLC_DELTA_B"]
    start = cell.cell_rber(channel, cell.neighbour_shift_mv(cell.VMAX_PRECISE_V))
    growth = cell.cell_rber(channel, mv, cycles, hours) - start
    return cell.RBER_DELTA_B + max(0.0, growth)


def cells_by_program_mode() -> dict[str, cell.Channel]:
    """Return each mode's cell model; of Delta_b (larger ISPP steps) only error growth is used."""
    window, step = cell.make_approxftl_cell, cell.make_agcr_cell
    fine, medium, coarse = (step(program_time.agcr_ispp_step_v(cost)) for cost in (2, 1, 0))
    return {
        "MLC_PRECISE": window(cell.VMAX_PRECISE_V, cell.STEP_V),
        "MLC_APPROX": window(cell.VMAX_APPROX_V, cell.STEP_V),
        "MLC_DELTA_B": window(cell.VMAX_PRECISE_V, cell.STEP_V * cell.DELTA_B_STEP_FACTOR),
        "MLC_FINE": fine,
        "MLC_MEDIUM": medium,
        "MLC_COARSE": coarse,
        "SLC_MODE": window(cell.VMAX_APPROX_V, cell.STEP_V, bits=1),
    }


def rber_curves() -> dict[str, tuple[str, RberModel]]:
    """Return model and description of every member of enum aftl_rber_curve, in the enum's order."""
    model = {name: _cell_model(channel) for name, channel in cells_by_program_mode().items()}
    return {
        "MLC_PRECISE": ("precise page, Vmax 8 V", model["MLC_PRECISE"]),
        "MLC_APPROX": ("approximate page, Vmax 5 V", model["MLC_APPROX"]),
        "MLC_DELTA_B": ("Delta_b approximate page, assigned 7.2e-4 plus growth",
                        _rber_of_delta_b_mode),
        "MLC_FINE": ("AGCR high-cost write, 0.225 V steps", model["MLC_FINE"]),
        "MLC_MEDIUM": ("AGCR medium-cost write, 0.30 V steps", model["MLC_MEDIUM"]),
        "MLC_COARSE": ("AGCR low-cost write, 0.40 V steps", model["MLC_COARSE"]),
        "TLC": ("one-shot TLC page", lambda mv, pe, h: tlc.rber_at_best_read_references(pe, h)),
        "TLC_MLC_MODE": ("TLC cell holding two bits", lambda mv, pe, h: tlc.mlc_mode_rber(pe, h)),
        "TLC_REPROGRAM": (
            "reprogrammed page, two-layer super layer",
            lambda mv, pe, h: tlc.reprogram_rber(pe, h),
        ),
        "SLC_MODE": ("one bit in a cell for more, Vmax 5 V", model["SLC_MODE"]),
        "QLC": ("QLC page after both passes", lambda mv, pe, h: tlc.qlc_rber(pe, h)),
    }


def _rber_grid(model: RberModel) -> IntArray:
    """Return the RBER of a curve at all table points, made non-decreasing along each axis."""
    shape = (len(DISTURB_AXIS_MV), len(PE_AXIS), len(HOUR_AXIS))
    exact = [EXACT_DISTURB_MV.get(mv, float(mv)) for mv in DISTURB_AXIS_MV]
    points = [rber_as_q40(model(*point)) for point in product(exact, PE_AXIS, HOUR_AXIS)]
    grid = np.array(points, dtype=np.int64).reshape(shape)
    for axis in range(grid.ndim):
        grid = np.maximum.accumulate(grid, axis=axis)
    return grid


@lru_cache(maxsize=1)
def rber_tables() -> dict[str, IntArray]:
    """Return RBER x 2^40 by curve name.

    A coarser ISPP step never gets a lower RBER. While errors of the erased state dominate, fixed
    verify levels would make its RBER a few percent lower, which is an artefact of the model.
    """
    grids = {name: _rber_grid(model) for name, (_, model) in rber_curves().items()}
    for finer, coarser in pairwise(("MLC_FINE", "MLC_MEDIUM", "MLC_COARSE")):
        grids[coarser] = np.maximum(grids[finer], grids[coarser])
    return grids


def poisson_section() -> Section:
    """Return the section of C tables with the error counts of a page."""
    grid, rows = poisson.poisson_table_q8()
    count = "aftl_poisson_count_q8"
    return Section("Tables of the number of bit errors in a page (Poisson quantiles)", (
        Macro("AFTL_POISSON_ROWS", len(grid)),
        Macro("AFTL_POISSON_COLUMNS", poisson.COLUMNS),
        Table("aftl_poisson_lambda_q8", "u32", ("AFTL_POISSON_ROWS",), grid,
              "means of the rows of aftl_poisson_count_q8, in 1/256 errors, ascending from 0"),
        Table(count, "u32", ("AFTL_POISSON_ROWS", "AFTL_POISSON_COLUMNS"), rows,
              "error count, in 1/256 errors, by mean and by rank of the page",
              "Entry [i][j] is the mean of a Poisson variable with mean aftl_poisson_lambda_q8[i]"
              " within its j-th of 64 equally probable quantile bins.\n"
              "Each row sums to exactly 64 times its mean; entries are non-decreasing along both"
              " axes; row 0 is all zeros."),
    ))


def _neighbour_voltage_shifts_mv() -> list[list[int]]:
    """Return the largest voltage shift (mV) that a neighbour causes, by its direction and class."""
    ratio = cell.VMAX_APPROX_V / cell.VMAX_PRECISE_V
    shifts = (cell.SHIFT_Y_MV, cell.SHIFT_Z_MV)
    return [[int(s + 0.5), int(s * ratio + 0.5)] for s in shifts]


def _sensing_rber_limits() -> list[int]:
    costs = (2, 1, 0)
    channels = [cell.make_agcr_cell(program_time.agcr_ispp_step_v(cost)) for cost in costs]
    return [rber_as_q40(cell.cell_rber(c, 0.0, SENSE_CYCLES, SENSE_HOURS)) for c in channels]


def rber_section() -> Section:
    """Return the section of C tables with raw bit error rates."""
    curves = rber_curves()
    dims = [f"AFTL_RBER_{d}" for d in ("CURVES", "DISTURB_POINTS", "PE_POINTS", "HOUR_POINTS")]
    members = [(f"AFTL_RBER_{name}", doc) for name, (doc, _) in curves.items()]
    values = [grid.tolist() for grid in rber_tables().values()]
    return Section("Tables of raw bit error rates (RBER)", (
        Enum("aftl_rber_curve", "how the cells of a page were programmed", members, dims[0]),
        Macro(dims[1], len(DISTURB_AXIS_MV)),
        Macro(dims[2], len(PE_AXIS)),
        Macro(dims[3], len(HOUR_AXIS)),
        Table("aftl_rber_disturb_axis", "u32", dims[1:2], DISTURB_AXIS_MV,
              "full-swing threshold voltage shift by neighbours programmed later, in millivolt"),
        Table("aftl_rber_pe_axis", "u32", dims[2:3], PE_AXIS, "program/erase cycles of the block"),
        Table("aftl_rber_hour_axis", "u32", dims[3:4], HOUR_AXIS,
              "hours since the page was programmed"),
        Table("aftl_rber_q40", "u64", dims, values,
              "RBER x 2^40 by curve, threshold voltage shift, P/E cycles and age",
              "Rates are at most a half. Non-decreasing along every axis except"
              " the curve: enforced by a running maximum. TLC curves do not depend on the shift."
              " Fine, medium and coarse steps are in that order at every point. All rates are for"
              " reads with the best references."),
        Table("aftl_disturb_mv", "u16", ("2", "2"), _neighbour_voltage_shifts_mv(),
              "threshold voltage shift by a neighbour programmed later, in millivolt",
              "First index: 0 = Y neighbour (same layer), 1 = Z neighbour (adjacent layer). Second"
              " index: 0 = the neighbour is precise, 1 = approximate."),
        Macro("AFTL_LAYER_POINTS", layers.POINTS),
        Table("aftl_layer_factor_q8", "u16", ("AFTL_LAYER_POINTS",), layers.layer_factors_q8(),
              "RBER factor x 256 by relative layer, 0 = top of the stack",
              "The mean is exactly 256. Shape and size are assumptions."),
        Macro("AFTL_SENSE_LEVELS", 3),
        Table("aftl_sense_limit_q40", "u64", ("AFTL_SENSE_LEVELS",), _sensing_rber_limits(),
              "largest RBER x 2^40 that each sensing level still decodes, ascending",
              f"Assumed: RBER of fine, medium and coarse steps after {SENSE_CYCLES} cycles and"
              f" {SENSE_HOURS} hours. Above the last limit ECC asks for further levels."),
        Macro("AFTL_READ_POINTS", len(READ_AXIS)),
        Table("aftl_read_axis", "u32", ("AFTL_READ_POINTS",), READ_AXIS,
              "average reads per page of a block since its erase"),
        Table("aftl_read_disturb_q40", "u64", (dims[2], "AFTL_READ_POINTS"),
              [[rber_as_q40(tlc.read_disturb_rber(pe, r)) for r in READ_AXIS] for pe in PE_AXIS],
              "RBER x 2^40 that reads add to a page, by P/E cycles and reads per page"),
    ))


def _cube_program_ns(removed: int, skipped: int) -> int:
    return scale_to_integer(program_time.cube_program_ns_of_loops(removed, skipped), 1, digits=7)


def cube_section() -> Section:
    """Return the section of C tables for cubeFTL."""
    margins = list(zip(*(cube.voltage_margins_mv(t / 10) for t in MARGIN_TENTHS), strict=True))
    times = [
        [_cube_program_ns(n, skipped) for n in range(program_time.CUBE_MAX_REMOVED + 1)]
        for skipped in range(max(cube.premature_verify_loops_by_layer()) + 1)
    ]
    errors = [[scale_to_integer(one * cube.growth_of_layer_errors(pe), Q12)
               for one in cube.errors_by_layer()] for pe in PE_AXIS]
    retries = [[scale_to_integer(cube.retry_probability(pe, h), Q16) for h in HOUR_AXIS]
               for pe in PE_AXIS]
    points = ("AFTL_CUBE_MARGIN_POINTS",)
    margin_axis = "by spare margin S_M in tenths, starting at AFTL_CUBE_MARGIN_FIRST"
    return Section("cubeFTL", (
        Macro("AFTL_CUBE_MAX_REMOVED_LOOPS", program_time.CUBE_MAX_REMOVED),
        Macro("AFTL_CUBE_MAX_SKIPPED_LOOPS", len(times) - 1),
        Table("aftl_cube_program_ns", "u32",
              ("AFTL_CUBE_MAX_SKIPPED_LOOPS + 1", "AFTL_CUBE_MAX_REMOVED_LOOPS + 1"), times,
              "program time in nanoseconds",
              "First index: loops by which the verifies of each state begin later than by"
              " default. Second index: ISPP loops removed."),
        Table("aftl_cube_early_verifies", "u8", ("AFTL_LAYER_POINTS",),
              cube.premature_verify_loops_by_layer(),
              "loops by which verifies may begin later, by relative layer",
              "The mean is 3. The values are assumed."),
        Table("aftl_cube_vert_mv", "u16", ("AFTL_LAYER_POINTS",),
              [scale_to_integer(mv, 1) for mv in cube.vertftl_voltage_reduction_mv()],
              "vertFTL: how far the last program voltage is lowered, in millivolt, by relative"
              " layer", "On average a layer saves 8 % of its program time."),
        Macro("AFTL_CUBE_STEP_MV", scale_to_integer(program_time.ispp_step_mv(), 1),
              "ISPP step in millivolt, derived from one margin that the paper on cubeFTL measured"),
        Table("aftl_cube_ep1_q12", "u16", ("AFTL_RBER_PE_POINTS", "AFTL_LAYER_POINTS"), errors,
              "errors between erased state and P1 after a program, in 1/4096 of their mean, by P/E"
              " cycles and relative layer",
              "The controller monitors these errors on a leader word line. They are assumed."),
        Macro("AFTL_CUBE_EP1_MAX_Q12", scale_to_integer(cube.max_layer_errors(), Q12),
              "BER_EP1(max) of cubeFTL; its ratio to a word line's errors is the spare margin S_M"),
        Macro("AFTL_CUBE_MARGIN_FIRST", MARGIN_TENTHS[0],
              "Spare margin S_M, in tenths, of the first entry of tables indexed by this margin"),
        Macro("AFTL_CUBE_MARGIN_POINTS", len(MARGIN_TENTHS)),
        Table("aftl_cube_start_mv", "u16", points, [scale_to_integer(mv, 1) for mv in margins[0]],
              f"how far the first program voltage may rise, in millivolt, {margin_axis}",
              "Assumed: half of the total margin, which grows with log(S_M); 320 mV at S_M = 1.7."),
        Table("aftl_cube_final_mv", "u16", points, [scale_to_integer(mv, 1) for mv in margins[1]],
              f"how far the last program voltage may fall, in millivolt, {margin_axis}"),
        Macro("AFTL_CUBE_RETRIES", program_time.CUBE_RETRIES,
              "Mean number of retries of a read that needs retries with the default references"),
        Macro("AFTL_CUBE_RETRY_SPREAD", cube.RETRY_SPREAD,
              "Largest deviation of a page's retries from AFTL_CUBE_RETRIES"),
        Table("aftl_cube_retry_q16", "u32", ("AFTL_RBER_PE_POINTS", "AFTL_RBER_HOUR_POINTS"),
              retries, "share x 65536 of the layers that need retries, by P/E cycles and age",
              "The share at 2000 cycles is 0.3 after a month and 0.9 after a year."),
    ))


def _tvr_rber() -> list[Any]:
    """Return TVR's RBER by margin, cycles, hours; it never rises with margin or falls with age."""
    grids = []
    for i in range(TVR_POINTS):
        channel = tvr.make_tvr_cell(i / (TVR_POINTS - 1))
        points = [rber_as_q40(cell.cell_rber(channel, 0.0, pe, h))
                  for pe, h in product(PE_AXIS, HOUR_AXIS)]
        grids.append(np.array(points, dtype=np.int64).reshape(len(PE_AXIS), len(HOUR_AXIS)))
    stack = np.stack(grids)
    for axis in (1, 2):
        stack = np.maximum.accumulate(stack, axis=axis)
    result: list[Any] = np.maximum.accumulate(stack[::-1], axis=0)[::-1].tolist()
    return result


def tvr_section() -> Section:
    """Return the section of C tables for TVR."""
    kept = [i / (TVR_POINTS - 1) for i in range(TVR_POINTS)]
    steps = [list(column) for column in zip(*(tvr.tvr_ispp_steps(m) for m in kept), strict=True)]
    base = tvr.endurance_cycles(1.0)
    points, wear = "AFTL_TVR_MARGIN_POINTS", "AFTL_TVR_WEAR_POINTS"
    by_margin = "by the retention margin that programs keep, in sixteenths of the normal margin"
    margins = "Margin index: 0 = programs keep no retention margin, 16 = they keep all of it."
    return Section("TVR", (
        Macro(points, TVR_POINTS),
        Table("aftl_tvr_steps", "u8", ("2", points), steps,
              f"ISPP steps of a page program, {by_margin}",
              "First index: 0 = the page the paper calls MSB and programs first, 1 = its LSB"
              f" page. {margins}"),
        Table("aftl_tvr_endurance_q16", "u32", (points,),
              [scale_to_integer(tvr.endurance_cycles(m) / base, Q16, digits=6) for m in kept],
              f"factor x 65536 on the P/E limit, {by_margin}", margins),
        Table("aftl_tvr_rber_q40", "u64", (points, "AFTL_RBER_PE_POINTS", "AFTL_RBER_HOUR_POINTS"),
              _tvr_rber(), f"RBER x 2^40 without disturbance, {by_margin}, P/E cycles and age",
              f"Axes, limit and running maximum as in aftl_rber_q40. {margins}"),
        Macro(wear, len(TVR_WEAR_AXIS)),
        Table("aftl_tvr_wear_axis", "u32", (wear,), TVR_WEAR_AXIS,
              "P/E cycles of aftl_tvr_erase_ns and aftl_tvr_program_wear_q16"),
        Table("aftl_tvr_erase_ns", "u32", ("2", wear),
              [[tvr.block_erase_ns(p, c) for c in TVR_WEAR_AXIS] for p in (0, 1)],
              "erase time in nanoseconds, by content of the block and by P/E cycles",
              "First index: 0 = all cells hold '11' (erased), 1 = all hold '01'. Times"
              " between the measured ends are interpolated linearly (assumed)."),
        Table("aftl_tvr_program_wear_q16", "u32", (wear,),
              [scale_to_integer(tvr.relative_program_time(cycles), Q16, digits=6)
               for cycles in TVR_WEAR_AXIS],
              "program time relative to a new device, x 65536, by P/E cycles"),
    ))


@lru_cache(maxsize=1)
def all_c_table_sections() -> tuple[Section, ...]:
    """Return all sections of C tables in the order of the generated files."""
    return (poisson_section(), rber_section(), cube_section(), tvr_section())


#: Header with the voltages of the states behind the curves, for programs that draw them.
STATES = "cell-states.h"
STATES_GUARD = "AFTL_CELL_STATES_H"


def make_state_section() -> Section:
    """Return the section of C tables with the cell states (uV) of each curve and their noise."""
    cells = cells_by_program_mode()
    most = max(len(channel.states) for channel in cells.values())
    none: list[list[int]] = [[0, 0, 0]] * most
    rows = [_states_as_rows(cells[name], most) if name in cells else none for name in rber_curves()]
    return Section("Threshold voltages behind the error curves of physics-tables.h", (
        Macro("CELL_STATES_MOST", most),
        Macro("CELL_BIN_UV", scale_to_integer(cell.GRID_V, 10**6), "Width of a voltage bin (uV)"),
        Macro("CELL_GAUSS_CUT", int(cell.GAUSS_CUT),
              "Cut-off of the noise distributions, in standard deviations and in Laplace "
              "scales"),
        Macro("CELL_LAPLACE_CUT", int(cell.LAPLACE_CUT)),
        Macro("CELL_CYCLES_NV", scale_to_integer(cell.LAPLACE_PER_SQRT_CYCLE_V, 10**9),
              "Scale of the Laplace noise (nV), divided by the square root of the P/E cycles"),
        Macro("CELL_RETENTION_PERCENT", scale_to_integer(cell.RETENTION_KS, 100),
              "Retention loss per log(1 + hours): % of the swing; factors of mean and variance"),
        Macro("CELL_RETENTION_MEAN_E9", scale_to_integer(cell.RETENTION_KD, 10**9)),
        Macro("CELL_RETENTION_VARIANCE_E9", scale_to_integer(cell.RETENTION_KM, 10**9)),
        Table("cell_residual_uv", "u32", ("AFTL_RBER_CURVES",),
              [scale_to_integer(cells[name].residual_laplace_v, 10**6) if name in cells else 0
               for name in rber_curves()], "Laplace scale of a new cell's noise (uV)"),
        Table("cell_states_uv", "u32", ("AFTL_RBER_CURVES", "CELL_STATES_MOST", "3"), rows,
              "states by curve, in ascending order: level, spread and swing, in microvolts",
              "Level and spread of the erased state are a normal distribution's mean and deviation;"
              " a programmed state begins at its level and is as wide as its spread. Retention"
              " drains the swing. A curve without voltages, or without such a state, has zeros."),
    ))


def _states_as_rows(channel: cell.Channel, most: int) -> list[list[int]]:
    rows = [[scale_to_integer(part, 10**6, digits=8)
             for part in (one.level_v, one.spread_v, one.swing_v)]
            for one in channel.states]
    return rows + [[0, 0, 0]] * (most - len(rows))


def cell_states_text() -> str:
    """Return the text of cell-states.h."""
    section = make_state_section()
    parts = [
        f"/* {LICENCE} */\n/*\n * {section.title}.\n"
        f" * {GENERATED.replace('generate)', 'states)')}\n */\n"
        f"#ifndef {STATES_GUARD}\n#define {STATES_GUARD}\n\n#include \"core/nand/{HEADER}\"\n"
    ]
    for spaced, item in zip(_declarations_of_section(section), section.items, strict=True):
        if isinstance(item, Table):
            comment = spaced[:spaced.index("extern ")]
            parts.append(f"{comment}static {item.source_definition()}")
        else:
            parts.append(spaced)
    return "".join(parts) + f"\n#endif /* {STATES_GUARD} */\n"


GENERATED = "Generated by userspace/physics (python3 -m aftl_physics generate); do not edit."
GUARD = "AFTL_PHYSICS_TABLES_H"


def _declarations_of_section(section: Section) -> list[str]:
    """Return a section's C declarations; no blank line is between uncommented constants."""
    bare = [isinstance(item, Macro) and not item.doc for item in section.items]
    joined = [False, *(a and b for a, b in pairwise(bare))]
    return [
        item.header_declaration() if join else f"\n{item.header_declaration()}"
        for item, join in zip(section.items, joined, strict=True)
    ]


def tables_header_text() -> str:
    """Return the text of physics-tables.h."""
    parts = [
        f"/* {LICENCE} */\n"
        "/*\n * Fixed-point tables of the cell and program-time models.\n"
        f" * {GENERATED}\n */\n#ifndef {GUARD}\n#define {GUARD}\n\n#include \"aftl-host.h\"\n"
    ]
    for section in all_c_table_sections():
        parts.append(f"\n/*\n * {section.title}\n */\n")
        parts += _declarations_of_section(section)
    parts.append(f"\n#endif /* {GUARD} */\n")
    return "".join(parts)


def tables_source_text() -> str:
    """Return the text of physics-tables.c."""
    parts = [
        f"// {LICENCE}\n"
        "/*\n * Values of the tables that physics-tables.h describes.\n"
        f" * {GENERATED}\n */\n#include \"core/nand/{HEADER}\"\n"
    ]
    for section in all_c_table_sections():
        parts += [f"\n{text}" for item in section.items if (text := item.source_definition())]
    return "".join(parts)


def generated_files() -> dict[str, str]:
    """Return name and content of the generated files."""
    return {HEADER: tables_header_text(), SOURCE: tables_source_text()}


def first_differing_c_item(name: str, text: str) -> str | None:
    """Return the first C item in which `text` differs from the generated file, or None."""
    if text == generated_files()[name]:
        return None
    for section in all_c_table_sections():
        for item in section.items:
            expected = item.header_declaration() if name == HEADER else item.source_definition()
            if expected and f"\n{expected}" not in text:
                return item.name
    return "the text around the tables"
