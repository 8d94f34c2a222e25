# SPDX-License-Identifier: GPL-2.0-only
"""The manual pages: complete, and their examples work."""

from __future__ import annotations

import re

from selftests.lib.programs import TOP
from selftests.sim.support import FIELDS


def test_every_option_is_explained() -> None:
    table = (TOP / "userspace/sim/option-table.h").read_text()
    page = (TOP / "userspace/approxftl/approxftl-sim.1.rst").read_text()
    names = re.findall(r"^SIM_OPT\((\w+),", table, re.MULTILINE)
    table = (TOP / "trace-tools/reader/reading-option-table.h").read_text()
    names += re.findall(r'^READING\("([\w-]+)",', table, re.MULTILINE)
    assert len(names) >= 70
    names = [name.replace("_", "-") for name in names]
    missing = [name for name in names
               if not re.search(rf"^(-\w, )?--(.*, --)?{name}\b", page, re.M)]
    assert missing == []


def test_fields_are_those_of_the_format() -> None:
    page = (TOP / "userspace/approxftl/aft.5.rst").read_text()
    for name, offset, size in FIELDS:
        assert re.search(rf"^{offset} +{size} +{name} ", page, re.MULTILINE)
