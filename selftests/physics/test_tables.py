# SPDX-License-Identifier: GPL-2.0-only
"""The generated C files are reproduced byte for byte, and their numbers are right."""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from selftests.lib.programs import run_program

from aftl_physics import program_time, reprogram_code, tables
from aftl_physics.csource import Macro, Table

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "dm-approxftl" / "core" / "nand"


def run_physics_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aftl_physics", *arguments],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "userspace" / "physics")},
    )


@cache
def load_compiled_tables() -> ctypes.CDLL:
    """Compile the generated tables, so that they are read independently of the generator."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
                   f"-I{ROOT / 'userspace/host'}", f"-I{ROOT / 'dm-approxftl'}",
                   str(CORE / tables.SOURCE), "-o", f"{folder}/tables.so"]
        result = run_program(*command)
        assert result.code == 0, result.err
        return ctypes.CDLL(f"{folder}/tables.so")


def read_c_table_numbers(name: str) -> list[int]:
    """Return the numbers of a table in memory order."""
    table = next(table for table in list_c_tables() if table.name == name)
    number = {"u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32,
              "u64": ctypes.c_uint64}[table.ctype]
    return list((number * np.array(table.values).size).in_dll(load_compiled_tables(), name))


def read_c_macro_value(name: str) -> int:
    found = re.search(rf"^#define {name} (\d+)$", (CORE / tables.HEADER).read_text(), re.M)
    assert found, name
    return int(found.group(1))


def list_c_tables() -> list[Table]:
    items = [item for section in tables.all_c_table_sections() for item in section.items]
    return [item for item in items if isinstance(item, Table)]


def read_compiled_rber_table() -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    sizes = [len(a) for a in (tables.DISTURB_AXIS_MV, tables.PE_AXIS, tables.HOUR_AXIS)]
    return np.array(read_c_table_numbers("aftl_rber_q40")).reshape(-1, *sizes)


@pytest.mark.parametrize("name", [tables.HEADER, tables.SOURCE])
def test_checked_in_c_tables_equal_regenerated_ones(name: str) -> None:
    different = tables.first_differing_c_item(name, (CORE / name).read_text())
    assert different is None, f"{name} differs in {different}"


def test_checked_in_voltage_states_equal_regenerated_ones() -> None:
    """The playground draws the cell states from which the tables were generated."""
    checked_in = (ROOT / "userspace" / "playground" / tables.STATES).read_text()
    assert checked_in == tables.cell_states_text() == run_physics_command("states").stdout


@pytest.mark.slow
@pytest.mark.in_turn
def test_physics_verb_check_accepts_equal_c_tables_and_names_a_difference(tmp_path: Path) -> None:
    assert run_physics_command("generate", "--out", str(tmp_path)).returncode == 0
    assert run_physics_command("check", "--against", str(tmp_path)).returncode == 0
    source = tmp_path / tables.SOURCE
    source.write_text(source.read_text().replace("586600", "586601"))
    result = run_physics_command("check", "--against", str(tmp_path))
    assert result.returncode == 1
    assert "first in aftl_cube_program_ns" in result.stderr


def test_check_reports_a_missing_file(tmp_path: Path) -> None:
    result = run_physics_command("check", "--against", str(tmp_path))
    assert result.returncode == 1 and "does not exist" in result.stderr


@pytest.mark.slow
def test_physics_verb_show_prints_the_models_and_help_lists_the_verbs() -> None:
    assert "mlc_precise" in run_physics_command("show").stdout
    assert "generate" in run_physics_command("--help").stdout


@pytest.mark.parametrize("table", list_c_tables(), ids=lambda t: t.name)
def test_values_of_c_tables_fit_their_type_and_dimensions(table: Table) -> None:
    array = np.array(table.values)
    macros = {
        item.name: item.value
        for section in tables.all_c_table_sections() for item in section.items
        if isinstance(item, Macro)
    }
    enums = {"AFTL_RBER_CURVES": 11, "AFTL_CUBE_MAX_REMOVED_LOOPS + 1": 5,
             "AFTL_CUBE_MAX_SKIPPED_LOOPS + 1": 5}
    sizes = [int(d) if d.isdigit() else {**macros, **enums}[d] for d in table.dims]
    assert list(array.shape) == sizes
    assert array.min() >= 0 and array.max() < 2 ** int(table.ctype[1:])
    assert read_c_table_numbers(table.name) == array.ravel().tolist()


def test_rows_of_the_poisson_table_have_exact_means_and_columns_never_fall() -> None:
    grid = np.array(read_c_table_numbers("aftl_poisson_lambda_q8"))
    rows = np.array(read_c_table_numbers("aftl_poisson_count_q8")).reshape(len(grid), 64)
    assert len(grid) == read_c_macro_value("AFTL_POISSON_ROWS") <= 96
    assert grid[0] == 0 and grid[-1] >= 8192 * 256 and (np.diff(grid) > 0).all()
    assert (rows.sum(axis=1) == 64 * grid).all()
    assert (np.diff(rows, axis=0) >= 0).all()
    assert (np.diff(rows, axis=1) >= 0).all()
    assert not rows[0].any()


def test_error_rates_never_fall_along_an_axis_of_their_table() -> None:
    array = read_compiled_rber_table()
    for axis in (1, 2, 3):
        assert (np.diff(array, axis=axis) >= 0).all()


def test_coarser_program_steps_never_have_lower_error_rates() -> None:
    fine, medium, coarse = read_compiled_rber_table()[3:6]
    assert (fine <= medium).all() and (medium <= coarse).all()


def test_making_error_rates_monotone_changes_them_little() -> None:
    """Monotone tables differ from the model by at most 2 %, for reprogrammed pages 15 %.

    The error-rate factor of reprogrammed pages falls with time; their retention errors hardly rise.
    """
    for name, (_, model) in tables.rber_curves().items():
        grid = tables.rber_tables()[name]
        for i, mv in enumerate(tables.DISTURB_AXIS_MV):
            exact = tables.EXACT_DISTURB_MV.get(mv, float(mv))
            value = tables.rber_as_q40(model(exact, 3000, 168))
            little = 0.15 if name == "TLC_REPROGRAM" else 0.02
            assert grid[i, 4, 3] == pytest.approx(value, rel=little), name


def test_error_rates_at_the_published_disturbance_shifts_are_the_published_ones() -> None:
    array = read_compiled_rber_table()
    axis = read_c_table_numbers("aftl_rber_disturb_axis")
    assert array[0, axis.index(350), 0, 0] / 2**40 == pytest.approx(1e-8, rel=1e-4)
    assert array[1, axis.index(219), 0, 0] / 2**40 == pytest.approx(7.2e-4, rel=1e-6)
    assert array[2, axis.index(350), 0, 0] / 2**40 == pytest.approx(7.2e-4, rel=1e-6)


def test_error_rate_tables_have_the_voltage_shifts_by_two_neighbours() -> None:
    shifts = np.array(read_c_table_numbers("aftl_disturb_mv")).reshape(2, 2)
    assert shifts.tolist() == [[200, 125], [150, 94]]
    axis = read_c_table_numbers("aftl_rber_disturb_axis")
    assert all(int(total) in axis for total in shifts.sum(axis=0))


def read_profile_time_ns(profile: str, parameter: str) -> float:
    """Return a profile's time of an operation; if it sets none, the parameter's default."""
    units = {"US": 1e3, "MS": 1e6, "": 1}
    base = ROOT / "dm-approxftl" / "core" / "base"
    text = (base / "profiles.c").read_text()
    settings = text[text.index(f"{profile}_settings[]"):].split("};")[0]
    own = re.search(rf'"{parameter}", (\d+)(?: \* (US|MS))? ', settings)
    usual = re.search(rf"PARAM\({parameter}, TIME, \d, .*?, (\d+)(?: \* (US|MS))?, *\"",
                      (base / "param-table.h").read_text().replace("\n\t", " "))
    found = own or usual
    assert found, parameter
    if found.group(1) == "0":
        return read_program_time_of_mode_us(parameter) * read_profile_time_ns(profile,
                                                                              "program") / 700000
    return int(found.group(1)) * units[found.group(2) or ""]


def read_program_time_of_mode_us(parameter: str) -> int:
    """Return a mode's program time in us if a standard program takes 700 us."""
    modes = (ROOT / "dm-approxftl/core/base/mode-list.h").read_text()
    found = re.search(rf"^MODE\(.*, {parameter}, (\d+), ", modes, re.M)
    assert found, parameter
    return int(found.group(1))


def test_drive_profiles_have_the_operation_times_of_the_models() -> None:
    approx = ("program", "program_between", "program_after", "program_reduced", "program_coarse")
    times = [read_profile_time_ns("tcad18", name) for name in approx]
    assert times == list(program_time.approxftl_program_ns())
    costs = ("coarse", "", "fine")
    for cost, step in enumerate(costs):
        word = f"_{step}" if step else ""
        assert read_profile_time_ns("fast16", f"program{word}") == program_time.AGCR_WRITE_NS[cost]
        assert read_profile_time_ns("fast16", f"read{word}") == program_time.agcr_read_ns(cost)
    ours = ("program", "read", "program_mlc", "reprogram", "read_mlc", "erase")
    assert [read_profile_time_ns("tos22", name) for name in ours] == [
        reprogram_code.TLC_PROGRAM_NS, reprogram_code.TLC_READ_NS,
        reprogram_code.INITIAL_PROGRAM_NS, reprogram_code.REPROGRAM_NS,
        reprogram_code.REPROGRAM_READ_NS, reprogram_code.ERASE_NS]
    cube = read_c_table_numbers("aftl_cube_program_ns")
    assert cube[0] == read_profile_time_ns("micro19", "program") == 700000 and cube[15] == 586600


def test_the_c_table_of_cubeftl_margins_gives_the_published_saving() -> None:
    at = 17 - read_c_macro_value("AFTL_CUBE_MARGIN_FIRST")
    total = read_c_table_numbers("aftl_cube_start_mv")[at] + read_c_table_numbers(
        "aftl_cube_final_mv")[at]
    assert total == 320
    loops_q8 = total * 256 // read_c_macro_value("AFTL_CUBE_STEP_MV")
    times = read_c_table_numbers("aftl_cube_program_ns")[:5]
    whole, rest = divmod(loops_q8, 256)
    time = times[whole] + (times[whole + 1] - times[whole]) * rest // 256
    assert 1 - time / 700000 == pytest.approx(0.197, abs=5e-4)


def test_cubeftls_c_tables_equal_the_model() -> None:
    errors = np.array(read_c_table_numbers("aftl_cube_ep1_q12")).reshape(len(tables.PE_AXIS), -1)
    assert (np.diff(errors, axis=0) > 0).all()
    most = read_c_macro_value("AFTL_CUBE_EP1_MAX_Q12")
    assert most / errors[0].min() == pytest.approx(1.7, abs=2e-3)
    assert most / errors[tables.PE_AXIS.index(2000)].max() == pytest.approx(1.0, abs=2e-3)
    loops = np.array(read_c_table_numbers("aftl_cube_vert_mv")) / read_c_macro_value(
        "AFTL_CUBE_STEP_MV")
    vert = np.interp(loops, range(5), read_c_table_numbers("aftl_cube_program_ns")[:5])
    assert vert.mean() == pytest.approx(644000, abs=200) and vert.max() == 700000
    early = np.array(read_c_table_numbers("aftl_cube_early_verifies"))
    assert early.mean() == 3 and (np.bincount(early)[2:] == [16, 32, 16]).all()
    assert errors[0][early == 4].min() >= errors[0][early == 2].max()
    retries = np.array(read_c_table_numbers("aftl_cube_retry_q16")).reshape(len(tables.PE_AXIS), -1)
    worn = retries[tables.PE_AXIS.index(2000)]
    assert worn[tables.HOUR_AXIS.index(720)] / 65536 == pytest.approx(0.3, abs=1e-4)
    assert worn[tables.HOUR_AXIS.index(8760)] / 65536 == pytest.approx(0.9, abs=1e-4)
    assert not retries[0].any() and not retries[:, 0].any()
    assert (np.diff(retries, axis=0) >= 0).all() and (np.diff(retries, axis=1) >= 0).all()


def test_tvrs_c_tables_equal_the_model() -> None:
    steps = np.array(read_c_table_numbers("aftl_tvr_steps")).reshape(2, 17)
    assert steps[:, 0].tolist() == [11, 8] and steps[:, 16].tolist() == [22, 16]
    assert (np.diff(steps, axis=1) >= 0).all()
    factors = read_c_table_numbers("aftl_tvr_endurance_q16")
    assert factors[16] == 65536 and factors[0] / 65536 == pytest.approx(1.071, abs=0.003)
    assert factors == sorted(factors, reverse=True)
