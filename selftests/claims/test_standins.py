# SPDX-License-Identifier: GPL-2.0-only
"""The stand-ins of traces, and what is counted in streams."""

from __future__ import annotations

import pytest
from selftests.claims import standins, streams
from selftests.claims.standins import Access


def stream(text: str) -> list[Access]:
    """Return accesses of single pages, such as "R1 W2"."""
    return [Access(i, int(word[1:]), 1, word[0] == "W") for i, word in enumerate(text.split())]


def test_pages_are_called_what_95_percent_of_their_accesses_are() -> None:
    found = standins.census(stream("R1 R1 W2 W2 R3 W3") + 19 * stream("W4") + stream("R4")
                            + 20 * stream("W5") + stream("R5"))
    assert found.kinds == {1: "R", 2: "W", 3: "-", 4: "-", 5: "W"}
    assert found.read_only_share == pytest.approx(2 / 5)
    assert found.write_only_share == pytest.approx(22 / 42)


def test_requests_of_several_pages_count_for_each() -> None:
    found = standins.census([Access(0, 4, 3, True), Access(1, 5, 1, False)])
    assert found.kinds == {4: "W", 5: "-", 6: "W"}


@pytest.mark.parametrize(("window", "share", "low"), [(0, 2 / 6, 5), (1, 4 / 6, 4), (2, 5 / 6, 3)])
def test_a_window_tells_mixed_data_from_pure(window: int, share: float, low: int) -> None:
    accesses = stream("W1 W1 W2 R2 W2 W2")
    right, writes = standins.identification(accesses, window)
    assert right == pytest.approx(share)
    assert writes == low


@pytest.mark.parametrize("volume", standins.VOLUMES, ids=lambda volume: volume.name)
def test_a_stand_in_has_the_published_characteristics(volume: standins.Volume) -> None:
    accesses = standins.stand_in(volume, 30000, 7)
    writes = [one.pages for one in accesses if one.write]
    reads = [one.pages for one in accesses if not one.write]
    found = standins.census(accesses)
    assert len(writes) / len(accesses) == pytest.approx(volume.write_share, abs=0.01)
    mean_ms = accesses[-1].t_ns / len(accesses) / 1e6
    assert mean_ms == pytest.approx(volume.arrival_ms, rel=0.1)
    for pages, kb in ((writes, volume.write_kb), (reads, volume.read_kb)):
        assert sum(pages) / len(pages) == pytest.approx(kb * 1024 / standins.PAGE, rel=0.25)
    assert found.read_only_share > 0.85 and found.write_only_share > 0.91
    assert [one.t_ns for one in accesses] == sorted(one.t_ns for one in accesses)
    assert accesses == standins.stand_in(volume, 30000, 7)


def test_records_round_trip() -> None:
    accesses = standins.stand_in(standins.VOLUMES[0], 100, 1)
    assert standins.read_records(streams.record_file("round trip", accesses)) == accesses
