# SPDX-License-Identifier: GPL-2.0-only
"""One browser for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selftests.playground.support import PAGE, Browser


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start it, and end it."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    browser.size(1280, 900)
    yield browser
    browser.close()


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """It asks nobody for anything, and the page complains of nothing."""
    started.said.clear()
    started.requested.clear()
    yield started
    started.run("0")
    assert started.said == []
    assert {url for url in started.requested if not url.startswith(("data:", "blob:"))} <= {
        PAGE.as_uri()[:80], "about:blank"}
