# SPDX-License-Identifier: GPL-2.0-only
"""Test the formulas against published numbers, and a sample of rows against the simulator."""

import math

import pytest
from selftests.theory import forms, theory

TOP = theory.TOP
#: Cheap rows, each with another form.
SAMPLE = ("fifo-16-20", "d2-16-20", "window-16-20", "read-only-greedy-0.5", "md1-5000",
          "closed-8-8", "dynamic-wear-static-50", "lifetime-static-50-16", "static-wear-75")
#: Cheap rows whose controls are run.
CONTROLLED = {"greedy-64-35": 2, "priority-reads-3000": 2, "lifetime-static-50-16": 1}


def test_write_amplification_of_fifo_victims_is_as_published() -> None:
    """Xiang and Kurkoski published an amplification of 2.36 for spare space of 0.3 of the data."""
    assert forms.fifo_amplification(1 / 1.3) == pytest.approx(2.36, abs=0.005)


@pytest.mark.parametrize("load", [0.5, 0.8, 0.95])
def test_write_amplification_of_random_victims_is_as_published(load: float) -> None:
    """Drawing one block, a random victim, amplifies writes by 1 / (1 - load) (Van Houdt)."""
    assert forms.sampled_greedy_amplification(load, 32, 1,
                                              full=True) == pytest.approx(1 / (1 - load), rel=1e-9)


@pytest.mark.parametrize("load", [0.5, 0.8, 0.95])
def test_windowed_greedy_write_amplification_with_large_blocks_approaches_fifo(load: float) -> None:
    assert forms.windowed_greedy_amplification(load, 4096, 0) == pytest.approx(
        forms.fifo_amplification(load), rel=1e-9)
    assert forms.windowed_greedy_amplification(load, 4096, 1) == pytest.approx(
        forms.fifo_amplification(load), rel=4e-3)
    assert forms.windowed_greedy_amplification(load, 4096, 1) < forms.windowed_greedy_amplification(
        load, 4096, 0.5) < forms.fifo_amplification(load)


@pytest.mark.parametrize("pages", [4, 16, 64])
def test_write_amplification_of_d_choices_gc_approaches_greedy_as_d_grows(pages: int) -> None:
    """With more choices, d-choices approaches the greedy form from above."""
    several = [forms.sampled_greedy_amplification(0.85, pages, drawn, full=True)
               for drawn in (2, 5, 10, 100, 5000)]
    assert several == sorted(several, reverse=True)
    assert several[-1] == pytest.approx(forms.windowed_greedy_amplification(0.85, pages, 1),
                                        rel=2e-3)


def test_two_equal_data_classes_equal_a_single_class() -> None:
    one = forms.fifo_amplification(0.9)
    halves = ((0.5, 0.5), (0.5, 0.5))
    assert forms.fifo_amplification_of_mixed_data(0.9, halves) == pytest.approx(one, rel=1e-9)
    best = forms.find_best_space_split_between_classes(0.9, halves, forms.fifo_amplification)
    assert best == pytest.approx((one, 0.5), rel=1e-5)
    assert forms.d_choices_amplification_of_mixed_data(0.7, 6, 10, halves) == pytest.approx(
        forms.sampled_greedy_amplification(0.7, 6, 10), rel=1e-3)


def test_mean_waits_of_a_priority_queue_are_as_published() -> None:
    """M/D/1 waits half as long as M/M/1; priorities leave the mean waiting work unchanged."""
    assert forms.compute_mean_wait_of_each_priority([(0.5, 1)]) == pytest.approx([0.5])
    shares = ((0.3, 1.0), (0.1, 4.0))
    waits = forms.compute_mean_wait_of_each_priority(shares)
    together = (0.3 + 0.1 * 16) / 2 / (1 - 0.7)
    assert waits[0] < together < waits[1]
    assert sum(rate * service * wait for (rate, service), wait in zip(shares, waits, strict=True)
               ) == pytest.approx(0.7 * together)


def test_closed_queue_throughput_is_as_published() -> None:
    """2 requests keep 1.5 of 2 dies busy; n exponential ones keep nk/(n+k-1) of k dies busy."""
    assert forms.compute_busy_dies_with_constant_service(2, 2) == pytest.approx(1.5)
    assert forms.compute_busy_dies_with_constant_service(1, 7) == pytest.approx(1)
    for requests, dies in ((4, 4), (8, 8), (16, 8)):
        half = requests + dies - 0.5
        assert forms.compute_busy_dies_with_constant_service(requests, dies) == pytest.approx(
            half - math.sqrt(half**2 - 2 * requests * dies), rel=0.02)
        assert forms.compute_busy_dies_with_exponential_service(requests, dies) == pytest.approx(
            requests * dies / (requests + dies - 1))
        assert (forms.compute_busy_dies_with_exponential_service(requests, dies)
                < forms.compute_busy_dies_with_constant_service(requests, dies))


def read_documented_table() -> str:
    return (TOP / "docs/theory.md").read_text().partition(theory.BEGIN)[2].partition(theory.END)[0]


def test_the_theory_page_lists_all_comparisons() -> None:
    for row in theory.make_all_theory_table_rows().values():
        assert f"| {row.load} |" in read_documented_table(), row.name
    assert read_documented_table().count("| yes |") + read_documented_table().count(
        "| NO |") == len(theory.make_all_theory_table_rows())


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.in_turn
def test_a_comparison_is_within_its_tolerance_and_as_documented(name: str) -> None:
    found = theory.simulate_theory_row(theory.make_all_theory_table_rows()[name], "1..4")
    assert found.holds
    assert theory.format_markdown_row(found) in read_documented_table()


@pytest.mark.parametrize("name", CONTROLLED)
def test_simulations_with_a_wrong_rule_or_load_miss_the_formula(name: str) -> None:
    row = theory.make_all_theory_table_rows()[name]
    assert row.bar is not None and len(row.controls) == CONTROLLED[name]
    for _, error in theory.compute_negative_control_errors(row):
        assert abs(error) > row.bar


@pytest.mark.long
@pytest.mark.parametrize("name", theory.make_all_theory_table_rows())
def test_every_comparison_passes_and_its_negative_controls_fail(name: str) -> None:
    row = theory.make_all_theory_table_rows()[name]
    found = theory.simulate_theory_row(row, "1..4")
    assert theory.format_markdown_row(found) in read_documented_table()
    assert theory.check_negative_controls([row]) == 0
