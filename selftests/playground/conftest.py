# SPDX-License-Identifier: GPL-2.0-only
"""One browser for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selftests.playground.support import PAGE, Browser


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start the browser, and close it in the end."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    browser.size(1280, 900)
    yield browser
    browser.close()


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """The browser; after each test, check that no URL was requested and nothing was logged."""
    started.said.clear()
    started.requested.clear()
    yield started
    started.run("0")
    assert started.said == []
    assert {url for url in started.requested if not url.startswith(("data:", "blob:"))} <= {
        PAGE.as_uri()[:80], "about:blank"}
