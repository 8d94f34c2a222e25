# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the classification of pages and accesses."""

from __future__ import annotations

import pytest
from selftests.claims import census
from selftests.claims.census import Access


def stream(text: str) -> list[Access]:
    """Parse accesses of single pages, such as "R1 W2"."""
    return [Access(i, int(word[1:]), 1, word[0] == "W") for i, word in enumerate(text.split())]


def test_pages_are_classified_by_95_percent_of_their_accesses() -> None:
    found = census.census(stream("R1 R1 W2 W2 R3 W3") + 19 * stream("W4") + stream("R4")
                            + 20 * stream("W5") + stream("R5"))
    assert found.kinds == {1: "R", 2: "W", 3: "-", 4: "-", 5: "W"}
    assert found.read_only_share == pytest.approx(2 / 5)
    assert found.write_only_share == pytest.approx(22 / 42)


def test_requests_of_several_pages_count_for_each() -> None:
    found = census.census([Access(0, 4, 3, True), Access(1, 5, 1, False)])
    assert found.kinds == {4: "W", 5: "-", 6: "W"}


@pytest.mark.parametrize(("window", "share", "low"), [(0, 2 / 6, 5), (1, 4 / 6, 4), (2, 5 / 6, 3)])
def test_a_window_distinguishes_mixed_from_pure_data(window: int, share: float, low: int) -> None:
    accesses = stream("W1 W1 W2 R2 W2 W2")
    right, writes = census.identification(accesses, window)
    assert right == pytest.approx(share)
    assert writes == low
