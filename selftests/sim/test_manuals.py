# SPDX-License-Identifier: GPL-2.0-only
"""The manual page of the record format lists all its fields."""

import re

from selftests.lib.programs import TOP
from selftests.sim.support import FIELDS


def test_the_manual_lists_the_fields_of_record_files() -> None:
    page = (TOP / "userspace/approxftl/aft.5.rst").read_text()
    for name, offset, size in FIELDS:
        assert re.search(rf"^{offset} +{size} +{name} ", page, re.MULTILINE)
