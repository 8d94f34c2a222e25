# SPDX-License-Identifier: GPL-2.0-only
"""A browser that all tests of a file share."""

from collections.abc import Iterator

import pytest
from selftests.playground.support import PAGE, Browser


@pytest.fixture(scope="module")
def started_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start the browser, and close the browser after the last test."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    browser.set_screen_size(1280, 900)
    yield browser
    browser.close_browser()


@pytest.fixture
def browser(started_browser: Browser) -> Iterator[Browser]:
    """The browser; after each test, check that no URL was requested and nothing was logged."""
    started_browser.said.clear()
    started_browser.requested.clear()
    yield started_browser
    started_browser.run_script("0")
    assert started_browser.said == []
    assert {url for url in started_browser.requested if not url.startswith(("data:", "blob:"))} <= {
        PAGE.as_uri()[:80], "about:blank"}
