# SPDX-License-Identifier: GPL-2.0-only
"""Every acceptance claim as a test."""

from __future__ import annotations

import pytest
from selftests.claims import claims


@pytest.mark.parametrize("id_", claims.IDS)
def test_claim(id_: str) -> None:
    rows = claims.CLAIMS[id_]()
    assert rows
    assert all(row.id == id_ for row in rows)
    assert [row for row in rows if row.verdict != "pass"] == []


def test_no_claim_of_the_models_is_left_out() -> None:
    assert set(claims.physics()) == set(claims.PHYSICS_IDS)


def test_a_false_figure_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(claims.SERVICE_SAVING, "delta_b", (0.0, 3.3, 10.0, 18.5, 23.3, 33.3))
    verdicts = [row.verdict for row in claims.ax3()]
    assert verdicts == ["fail", "pass", "pass"]
