# SPDX-License-Identifier: GPL-2.0-only
"""The manual pages and the help: complete, and what their examples say works."""

from __future__ import annotations

import re

import pytest
from selftests.lib.programs import TOP
from selftests.look.support import succeed

VERBS = ("compare", "figures", "report")


def page(verb: str) -> str:
    return (TOP / f"trace-tools/approxftl_tools/approxftl-{verb}.1.rst").read_text()


@pytest.mark.parametrize("verb", VERBS)
def test_help(verb: str) -> None:
    told = succeed(verb, "--help")
    assert told.startswith(f"Usage: approxftl {verb} [-h] ")
    assert "timelines of approxftl sim --timeline, reports of approxftl replay" in " ".join(
        told.split())


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_explained(verb: str) -> None:
    offered = set(re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]*)", succeed(verb, "--help"), re.M))
    explained = set(re.findall(r"^(?:-\w(?: [\w.,]+)?, )?(--[a-z][a-z-]*)", page(verb), re.M))
    assert explained == offered
