# SPDX-License-Identifier: GPL-2.0-only
"""Settings of all Python tests: no test of hypothesis fails because the machine is busy.

Of the tests marked `in_turn`, which take long, `make check` runs a sixth in each commit.
"""

import os
import zlib

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("busy-machine", deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy-machine")

LEFT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select a sixth of the `in_turn` tests: AFTL_PHASE is 1/6 in one commit, 2/6 in the next.

    Tests with the same argument of `in_turn` run in the same commits, as they share a fixture.
    """
    phase, _, phases = os.environ.get("AFTL_PHASE", "").partition("/")
    if not phases:
        return
    left = []
    for item in items:
        if mark := item.get_closest_marker("in_turn"):
            name = mark.args[0] if mark.args else item.name
            left += [item] * (zlib.crc32(name.encode()) % int(phases) != int(phase) - 1)
    items[:] = [item for item in items if item not in left]
    config.stash[LEFT] = len(left)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Return the line from which selftests/run takes the number of the tests left out."""
    left = config.stash.get(LEFT, 0)
    return [f"{left} cases are left to another commit"] if left else []
