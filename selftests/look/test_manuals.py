# SPDX-License-Identifier: GPL-2.0-only
"""The manual pages and the help: complete, and what their examples say works."""

from __future__ import annotations

import re

import pytest
from selftests.lib.programs import TOP
from selftests.look.support import succeed

VERBS = ("compare", "figures", "report")

HELP = {
    "report": """\
Usage: approxftl report [-h] [-o FILE] [-t TEXT] FILE [FILE ...]

Writes one HTML page with tables and figures of everything that it is given.

positional arguments:
  FILE               what to show

options:
  -h, --help         show this help message and exit
  -o, --output FILE  the page, - for standard output (default report.html)
  -t, --title TEXT   its title
""",
    "compare": """\
Usage: approxftl compare [-h] [-a] [-j] FILE [FILE ...]

Puts runs side by side, relative to the first, and says what devices, replays and record
files hold.

positional arguments:
  FILE        what to compare

options:
  -h, --help  show this help message and exit
  -a, --all   every measure, not only the headline
  -j, --json  everything as JSON, times in ns, energy in pJ
""",
    "figures": """\
Usage: approxftl figures [-h] [-l] [-k KIND,...] [-o DIR] [-f {svg,pdf}] [-p] [--full]
                         [--traces DIR] [--seed N] [--seeds N] [--mounted DIR] [-d]
                         [FILE ...]

Draws single figures, as SVG or PDF, with their numbers as CSV.

positional arguments:
  FILE                    what to draw

options:
  -h, --help              show this help message and exit
  -l, --list              list the kinds of figure
  -k, --kind KIND,...     only these kinds
  -o, --output DIR        where they go (default figures)
  -f, --format {svg,pdf}  svg (default) or pdf
  -p, --papers            the papers' figures, simulated from scratch (minutes); FILE are then
                          names of figures, or how they begin
  --full                  with --papers: longer runs (half an hour)
  --traces DIR            with --papers: real record files of volumes, NAME.aft, in place of
                          synthetic ones
  --seed N                with --papers: seed (default 1)
  --seeds N               with --papers: as many runs of each point, for intervals
  --mounted DIR           with --papers: labelled reports of approxftl app weights, whose networks
                          are drawn beside the simulated ones
  -d, --data              the numbers of each figure, as CSV beside it
""",
}


def page(verb: str) -> str:
    return (TOP / f"trace-tools/approxftl_tools/approxftl-{verb}.1.rst").read_text()


@pytest.mark.parametrize("verb", VERBS)
def test_help(verb: str) -> None:
    told = succeed(verb, "--help")
    assert told.startswith(HELP[verb])
    assert "timelines of approxftl sim --timeline, reports of approxftl replay" in " ".join(
        told.split())


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_explained(verb: str) -> None:
    offered = set(re.findall(r"--[a-z]+", HELP[verb]))
    explained = set(re.findall(r"^(?:-\w(?: [\w.,]+)?, )?(--[a-z]+)", page(verb), re.M))
    assert explained == offered
