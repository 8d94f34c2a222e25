# SPDX-License-Identifier: GPL-2.0-only
"""Compare the physics models with the papers' numbers and with rules for all models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftests.claims import models, register

from aftl_physics import (
    cell,
    cube,
    fixed,
    normal,
    program_time,
    reprogram_code,
    tlc,
    tvr,
)

APPROX = cell.make_approxftl_cell(cell.VMAX_APPROX_V, cell.STEP_V)

def make_published_voltage_channel(vmax_v: float) -> cell.Channel:
    return cell.make_approxftl_cell(
        vmax_v, cell.STEP_V, cell.PUBLIC_ERASED_MEAN_V, cell.PUBLIC_ERASED_SIGMA_V, 0.0
    )

@pytest.mark.parametrize("id_", models.CLAIMS)
def test_physics_models_agree_with_the_register_of_papers(id_: str) -> None:
    pairs = zip(register.list_register_entries_of_claim(id_), models.CLAIMS[id_](), strict=True)
    assert all(entry.judge_results(ours) == entry.verdict and entry.ours == ours.shown
               for entry, ours in pairs)

# Normal distribution and rounding

def test_bisection_needs_a_sign_change() -> None:
    with pytest.raises(ValueError, match="no sign change"):
        normal.find_root(lambda x: x * x + 1, -1.0, 1.0)

@given(st.floats(1e-12, 1.0))
def test_rounding_of_table_values_is_equal_with_a_different_libm(value: float) -> None:
    try:
        expected = fixed.scale_to_integer(value, 1 << 40)
    except fixed.UnstableRoundingError:
        return
    assert fixed.scale_to_integer(value * (1 + 5e-11), 1 << 40) == expected
    assert expected == pytest.approx(value * 2**40, rel=6e-4, abs=0.5)

def test_rounding_refuses_a_value_on_a_rounding_boundary() -> None:
    with pytest.raises(fixed.UnstableRoundingError):
        fixed.round_to_significant_digits(1.0005e-8)

# Cell model

@pytest.mark.slow
def test_erased_state_voltages_equal_those_that_the_fit_finds() -> None:
    assert cell.fit_erased_state() == pytest.approx(
        (cell.ERASED_MEAN_V, cell.ERASED_SIGMA_V), abs=1e-6
    )

def test_error_rates_of_relaxed_program_steps_stay_below_the_precise_limit() -> None:
    two_approx = cell.cell_rber(cell.make_approxftl_cell(8.0, 0.2 / 0.76), 218.75)
    none = cell.cell_rber(cell.make_approxftl_cell(8.0, 0.2 / 0.67), 0.0)
    assert two_approx == pytest.approx(2.5e-9, rel=0.1)
    assert 2.8e-10 < none < 4.6e-10
    assert max(two_approx, none) < 1e-8

def test_precise_neighbours_double_the_errors_of_an_approximate_page() -> None:
    assert 1.4e-3 <= cell.cell_rber(APPROX, 350.0) <= 1.5e-3

def test_the_cell_model_gives_policy_delta_b_the_error_rate_1_6e_8() -> None:
    model = cell.cell_rber(cell.make_approxftl_cell(8.0, 0.3), 350.0)
    assert model == pytest.approx(1.6e-8, rel=0.1)

@pytest.mark.parametrize(
    ("cycles", "precise", "approx"),
    [(500, 6.5e-8, 4.7e-4), (2000, 3.1e-7, 7.1e-4), (10000, 5.1e-6, 1.7e-3)],
)
def test_the_cell_model_with_public_values_gives_the_expected_error_rates(cycles: int,
                                                                          precise: float,
                                                                          approx: float) -> None:
    assert cell.cell_rber(make_published_voltage_channel(8.0), 350.0, cycles,
                          1000) == pytest.approx(precise, rel=0.05)
    assert cell.cell_rber(make_published_voltage_channel(5.0), 218.75, cycles,
                          1000) == pytest.approx(approx, rel=0.05)

@pytest.mark.parametrize(
    ("cycles", "hours", "expected"),
    [
        (3000, 720, (3.0e-4, 3.4e-4, 9.8e-4)),
        (5000, 2160, (6.4e-4, 1.05e-3, 3.3e-3)),
        (10000, 8760, (3.5e-3, 5.9e-3, 1.25e-2)),
    ],
)
def test_program_steps_of_agcr_have_the_expected_error_rates(cycles: int, hours: int,
                                                             expected: tuple[float, ...]) -> None:
    steps = [program_time.agcr_ispp_step_v(cost) for cost in (2, 1, 0)]
    rates = [cell.cell_rber(cell.make_agcr_cell(s), 0.0, cycles, hours) for s in steps]
    assert rates == pytest.approx(expected, rel=0.05)

def test_voltage_margins_reduce_the_error_rate_of_a_tvr_page() -> None:
    rates = [cell.cell_rber(tvr.make_tvr_cell(i / 4), 0.0, 1000, 720) for i in range(5)]
    assert rates == sorted(rates, reverse=True)
    assert cell.cell_rber(tvr.make_tvr_cell(0.0), 0.0) <= tvr.RBER_LIMIT
    assert tvr.page_rbers_without_state_margins() == pytest.approx((tvr.RBER_LIMIT, tvr.RBER_LIMIT),
                                                                   rel=1e-6)

# TLC

def test_terms_of_the_tlc_error_rate_formula_equal_the_published_ones() -> None:
    assert tlc.tlc_rber(0, 0) == pytest.approx(1.48e-3)
    assert tlc.tlc_rber(1000, 0) - tlc.tlc_rber(0, 0) == pytest.approx(5.51e-4, rel=0.01)
    assert tlc.read_disturb_rber(1000, 1000) == pytest.approx(4.9e-3, rel=0.02)
    assert tlc.mlc_mode_rber(20000, 720) == tlc.rber_at_best_read_references(1000, 720)

def test_error_rates_at_the_best_read_references_equal_the_measured_ones() -> None:
    more = tlc.rber_at_best_read_references(1000, 8760) - tlc.rber_at_best_read_references(1000, 0)
    assert more * tlc.PAGE_BITS == pytest.approx(34 - 5)
    assert tlc.rber_at_best_read_references(2000, 0) == tlc.tlc_rber(2000, 0)
    assert tlc.share_of_remaining_retention_errors() == pytest.approx(0.01, rel=0.01)

def test_error_rate_factor_of_reprogrammed_pages_is_as_measured() -> None:
    assert tlc.error_ratio_of_reprogrammed_page(0) == pytest.approx(9 / 5)
    assert tlc.error_ratio_of_reprogrammed_page(8760) == pytest.approx(49 / 34)
    assert tlc.error_ratio_of_reprogrammed_page(26280) == pytest.approx(49 / 34)

# Program times

def test_fewer_program_loops_save_the_published_time() -> None:
    saving = [100 * program_time.time_saved_by_removed_loops(n) for n in (1, 2, 3)]
    assert saving == pytest.approx([6.9, 13.9, 21.8], abs=0.06)

def test_skipping_verifies_saves_cubeftl_time_per_loop() -> None:
    saving = [100 - program_time.cube_program_ns(n, True) / 7000 for n in (1, 2, 3)]
    assert saving == pytest.approx([21.2, 26.3, 32.3], abs=0.06)

def test_cubeftl_saves_the_published_program_time_at_a_margin_factor_of_1_7() -> None:
    assert program_time.cube_margin_mv(1.0) == 0.0
    assert program_time.cube_margin_mv(1.7) == pytest.approx(320.0)
    loops = program_time.loops_skipped_by_spare_margin(1.7)
    assert program_time.time_saved_by_removed_loops(loops) == pytest.approx(0.197, abs=1e-6)
    assert 115 <= program_time.ispp_step_mv() <= 135

def test_cubeftl_followers_save_30_percent_of_program_time_when_new() -> None:
    """cubeFTL's followers save the time that the voltage margins of their layers allow."""
    new, used, worn = map(cube.mean_time_saved_by_follower_word_lines, (0, 1000, 2000))
    assert new == pytest.approx(0.30, abs=0.02)
    assert program_time.CUBE_SKIP_SAVING < worn < used

# TVR

def test_tvr_times_of_new_and_worn_blocks_are_as_published() -> None:
    assert [tvr.block_erase_ns(p, 0) for p in (0, 1)] == [3_300_000, 3_100_000]
    assert [tvr.block_erase_ns(p, tvr.LIFE_CYCLES) for p in (0, 1)] == [9_000_000] * 2
    assert tvr.relative_program_time(0) == 1.0
    assert tvr.relative_program_time(200_000) == pytest.approx(0.897)
    assert tvr.relative_program_time(tvr.LIFE_CYCLES) == pytest.approx(0.854, abs=5e-4)

# ReSSD encodings

def test_reprogram_encodings_equal_the_papers_tables() -> None:
    words = {
        "INITIAL": "11 01 00 10", "L": "00 10 11 01", "M": "01 11 10 00", "LL": "11 01 00 10",
        "LM": "10 00 01 11", "ML": "10 00 01 11", "MM": "11 01 00 10",
    }
    lowest = {"INITIAL": 0, "L": 2, "M": 1, "LL": 4, "LM": 3, "ML": 3, "MM": 2}
    for code, encoding in reprogram_code.encodings_by_update_order().items():
        ours = " ".join(f"{v:02b}" for v in reprogram_code.values_by_voltage_state(encoding))
        assert (ours, min(encoding)) == (words[code.name], lowest[code.name]), code

def test_reads_of_lsb_and_msb_pages_need_one_and_two_sensings() -> None:
    for encoding in reprogram_code.encodings_by_update_order().values():
        assert reprogram_code.read_references_per_page(encoding) == (1, 2)

# Poisson quantiles and layers
