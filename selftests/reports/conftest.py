# SPDX-License-Identifier: GPL-2.0-only
"""A browser that all tests of a file share."""

from collections.abc import Iterator

import pytest
from selftests.playground.support import Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium without a network, driven by the DevTools protocol."""
    found = Browser(tmp_path_factory.mktemp("driven"))
    yield found
    found.close_browser()
