# SPDX-License-Identifier: GPL-2.0-only
"""A text summary of the physical models, for the command `show`."""

from aftl_physics import cell, program_time, reprogram_code, tables, tvr

CONDITIONS = ((0, 0), (3000, 720), (10000, 8760))


def _rber_text(value: int) -> str:
    return f"{value / tables.Q40:9.2e}"


def rber_lines() -> list[str]:
    """Return lines with the RBER of every error curve at a few values of wear and age."""
    lines = ["RBER by curve: [accumulated shift] at P/E cycles / hours"]
    head = "".join(f"{f'{mv} mV {pe}/{h}':>18}" for mv in (0, 350) for pe, h in CONDITIONS)
    lines.append(f"  {'':14}{head}")
    for name, grid in tables.rber_tables().items():
        values = [
            grid[tables.DISTURB_AXIS_MV.index(mv), tables.PE_AXIS.index(pe),
                 tables.HOUR_AXIS.index(h)]
            for mv in (0, 350) for pe, h in CONDITIONS
        ]
        lines.append(f"  {name.lower():14}" + "".join(f"{_rber_text(int(v)):>18}" for v in values))
    return lines


def rber_lines_of_larger_ispp_steps() -> list[str]:
    """Return lines with the RBER of precise pages programmed with larger ISPP steps."""
    short = cell.STEP_V / (1.0 - program_time.SAVING_APPROX_NEIGHBOURS)
    shorter = cell.STEP_V / (1.0 - program_time.SAVING_NO_NEIGHBOURS)
    window = cell.make_approxftl_cell
    precise = cell.VMAX_PRECISE_V
    after_approx = cell.cell_rber(window(precise, short),
                                  cell.neighbour_shift_mv(cell.VMAX_APPROX_V))
    after_none = cell.cell_rber(window(precise, shorter), 0.0)
    return [
        "Precise page with fewer steps (limit 1e-8):",
        f"  -24 % and two approximate neighbours {after_approx:.2e}",
        f"  -33 % and no later neighbour         {after_none:.2e}",
    ]


def program_time_lines() -> list[str]:
    """Return lines with the program times of all modes."""
    approx = " ".join(f"{t / 1000:.1f}" for t in program_time.approxftl_program_ns())
    loops = range(program_time.CUBE_MAX_REMOVED + 1)
    cube = [
        " ".join(f"{program_time.cube_program_ns(n, skip) / 1000:.1f}" for n in loops)
        for skip in (False, True)
    ]
    return [
        f"ApproxFTL program us (precise, b, c, approximate, Delta_b): {approx}",
        f"cubeFTL program us by removed loops: {cube[0]}; verifies skipped: {cube[1]}",
        f"TVR steps with margins {tvr.tvr_ispp_steps(1.0)}, without {tvr.tvr_ispp_steps(0.0)}; "
        f"step {tvr.ispp_step_ns() / 1000:.2f} us",
    ]


def cell_encoding_lines() -> list[str]:
    """Return lines with ReSSD's cell encodings."""
    lines = ["ReSSD encodings, values MSB LSB by state:"]
    for code, encoding in reprogram_code.encodings_by_update_order().items():
        states = [
            f"{'ER' if encoding[v] == 0 else f'P{encoding[v]}'}={v:02b}"
            for v in reprogram_code.values_by_voltage_state(encoding)
        ]
        lines.append(f"  {code.name.lower():8}" + " ".join(states))
    return lines


def physics_report() -> str:
    parts = (rber_lines(), rber_lines_of_larger_ispp_steps(), program_time_lines(),
             cell_encoding_lines())
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"
