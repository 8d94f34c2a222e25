# SPDX-License-Identifier: GPL-2.0-only
"""Statistics, compared with scipy and checked on random processes whose parameters are known."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from approxftl_tools import statistics
from approxftl_tools.statistics import Array, Estimate
from approxftl_tools.study_report import ratio_sentence

scipy: Any = import_module("scipy.stats")
STUDIES = 2000


@pytest.fixture
def random_generator() -> Generator:
    return np.random.default_rng(18)


def compute_interval_coverage(samples: Array, widths: Array, truth: float) -> float:
    """Return the share of studies whose interval contains the true value."""
    return float((np.abs(samples.mean(axis=-1) - truth) <= widths).mean())


# ---------------------------------------------------------------- scipy


@given(st.integers(1, 2000), st.floats(0.55, 0.9999))
def test_t_quantiles_equal_scipys(freedom: int, share: float) -> None:
    assert statistics.t_quantile(share, freedom) == pytest.approx(scipy.t.ppf(share, freedom),
                                                                  rel=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_t_intervals_equal_scipys(values: list[float]) -> None:
    found = statistics.estimate_mean(values)
    spread = scipy.sem(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert found.half is not None
    reach = scipy.t.ppf(0.975, len(values) - 1) * spread
    assert found.half == pytest.approx(reach, rel=1e-6, abs=1e-6)


def test_bootstrap_intervals_equal_scipys(random_generator: Generator) -> None:
    """scipy draws other bootstrap samples, with nearly the same standard error of the means."""
    values = random_generator.lognormal(0, 0.5, 12)
    drawn = values[statistics.draw_bootstrap_sample_indices(12)].mean(axis=-1)
    theirs = scipy.bootstrap((values,), np.mean, n_resamples=9999, rng=1)
    assert drawn.std(ddof=1) == pytest.approx(theirs.standard_error, rel=0.08)


# ---------------------------------------------------------------- coverage


@pytest.mark.parametrize("runs", [3, 5, 10, 40])
def test_intervals_of_means_cover_the_true_mean(runs: int, random_generator: Generator) -> None:
    samples = random_generator.normal(7, 2, (STUDIES, runs))
    assert compute_interval_coverage(samples, statistics.t_interval_half_widths(samples),
                                     7) == pytest.approx(0.95, abs=0.01)


def test_intervals_of_ratios_cover_the_true_ratio(random_generator: Generator) -> None:
    """Noise that the runs of two policies share cancels in their ratio: its interval is narrow."""
    stream = random_generator.lognormal(0, 0.3, (STUDIES, 8))
    ours = 0.6 * stream * (1 + 0.02 * random_generator.normal(size=stream.shape))
    ratios = [statistics.estimate_paired_ratio(a, b) for a, b in zip(ours, stream, strict=True)]
    hits = [one is not None and one.low is not None and one.high is not None
            and one.low <= 0.6 <= one.high for one in ratios]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.01)
    paired, alone = ratios[0], statistics.estimate_mean(ours[0])
    assert paired is not None and paired.half is not None and alone.half is not None
    assert paired.half / paired.mean < alone.half / alone.mean / 5


@pytest.mark.parametrize(("runs", "least", "most"),
                         [(5, 0.96, 0.99), (8, 0.955, 0.98), (20, 0.94, 0.96), (40, 0.94, 0.96)])
@pytest.mark.in_turn
def test_bootstrap_intervals_cover_the_true_mean(runs: int, least: float, most: float,
                                                 random_generator: Generator) -> None:
    """With few runs more than 95 % of the bootstrap intervals contain the true mean."""
    samples = random_generator.normal(7, 2, (STUDIES, runs))
    assert least <= compute_interval_coverage(samples, statistics.bootstrap_half_widths(samples),
                                              7) <= most


def test_bootstrap_covers_skewed_means_better_than_t(random_generator: Generator) -> None:
    """For skewed data too few t intervals contain the true mean, and plain bootstrap even fewer."""
    samples = random_generator.lognormal(0, 0.8, (STUDIES, 8))
    truth = float(np.exp(0.32))
    student = compute_interval_coverage(samples, statistics.t_interval_half_widths(samples),
                                        truth)
    boot = compute_interval_coverage(samples, statistics.bootstrap_half_widths(samples), truth)
    drawn = samples[..., statistics.draw_bootstrap_sample_indices(8)].mean(axis=-1)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=-1)
    plain = float(((low <= truth) & (truth <= high)).mean())
    assert plain + 0.02 < student
    assert student + 0.015 < boot < 0.95


def test_nearly_equal_quantiles_do_not_widen_bootstrap_intervals(
        random_generator: Generator) -> None:
    """Runs whose quantiles lie in few bins have intervals about as wide as those of Student's t."""
    bins = 1 + 0.05 * np.round(0.7 * random_generator.normal(size=(STUDIES, 8)))
    samples = bins + 1e-4 * random_generator.normal(size=bins.shape)
    wide = statistics.bootstrap_half_widths(samples) / statistics.t_interval_half_widths(samples)
    assert np.quantile(wide[np.isfinite(wide)], 0.99) < 3
    found = statistics.estimate_mean([0.997, 0.998, 1.0, 0.9991, 1.0997], tail=True)
    assert found.half is not None and found.half < 0.1


# ---------------------------------------------------------------- edge cases


def test_a_single_run_has_no_confidence_interval() -> None:
    assert statistics.estimate_mean([3.0]) == Estimate(3.0, None, 1)
    assert Estimate(3.0, None, 1).low is None
    assert not Estimate(3.0, None, 1).is_half_width_within_share_of_mean(1)


@pytest.mark.parametrize("tail", [False, True])
def test_equal_runs_have_a_zero_width_interval(tail: bool) -> None:
    assert statistics.estimate_mean([4.0] * 6, tail) == Estimate(4.0, 0.0, 6)


def test_a_quantile_of_two_runs_has_a_student_t_interval() -> None:
    """Intervals of two runs use Student's t: half of all bootstrap samples would repeat one run."""
    assert statistics.estimate_mean([1.0, 2.0], tail=True) == statistics.estimate_mean([1.0, 2.0])


def test_a_ratio_to_zero_is_undefined() -> None:
    assert statistics.estimate_paired_ratio([1.0, 2.0], [0.0, 1.0]) is None


def test_the_estimated_number_of_runs_gives_the_wanted_width(random_generator: Generator) -> None:
    pilot = statistics.estimate_mean(random_generator.normal(50, 5, 40))
    count = statistics.estimate_sample_size(pilot, 0.02)
    halves = [statistics.estimate_mean(random_generator.normal(50, 5, count)).half or 0
              for _ in range(50)]
    assert np.mean(halves) == pytest.approx(0.02 * 50, rel=0.25)
    assert statistics.estimate_sample_size(pilot, 0.5) == 40


@pytest.mark.parametrize(("samples", "said"), [
    ([[0.9, 0.9, 0.9]], "write amplification: p has 0.900 times that of q; the ratio is the "
     "same for each seed, which gives no interval."),
    # The mean of these numbers is not exact in floating point.
    ([[0.1 + 0.2] * 3], "write amplification: p has 0.300 times that of q; the ratio is the "
     "same for each seed, which gives no interval."),
    ([[0.9]], "write amplification: p has 0.900 times that of q; one seed gives no interval."),
    ([[0.90, 0.91]], "write amplification: p has 0.905 (0.841 to 0.969) times that of q; the "
     "interval of 95 % excludes 1 (no difference)."),
    ([[0.9, 1.1]], "write amplification: p has 1.000 (-0.271 to 2.271) times that of q; the "
     "interval of 95 % includes 1: the difference may be chance."),
    ([[0.90, 0.91], [0.9, 1.1]], "write amplification: p has from 0.905 (0.841 to 0.969) to 1.000 "
     "(-0.271 to 2.271) times that of q; 1 of 2 intervals of 95 % exclude 1 (no difference)."),
    ([[0.90, 0.91], [0.5, 0.5]], "write amplification: p has from 0.500 to 0.905 (0.841 to 0.969) "
     "times that of q; 1 of 1 intervals of 95 % exclude 1 (no difference); 1 ratios are the same "
     "for each seed, which gives no interval."),
])
def test_sentences_about_ratios_depend_on_their_intervals(samples: list[list[float]],
                                                          said: str) -> None:
    found = [statistics.estimate_mean(one) for one in samples]
    assert ratio_sentence("p", found, "q", "write_amplification") == said
