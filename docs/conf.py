# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: the documents and the manual pages as one searchable site (make site)."""

import re
from typing import Any

project = "dm-approxftl"
author = "the dm-approxftl authors"
extensions = ["myst_parser"]
exclude_patterns = ["examples"]
html_extra_path = ["architecture.svg", "checkerboard.svg", "playground.png", "tags.svg",
                   "volume.svg", "write-path.svg"]
html_theme = "alabaster"
html_theme_options = {"page_width": "70em", "sidebar_width": "16em", "show_powered_by": False}
html_sidebars = {"**": ["about.html", "searchbox.html", "globaltoc.html"]}
html_copy_source = False
myst_heading_anchors = 4


def unlink_source_files(_app: object, _name: str, text: list[str]) -> None:
    """Turn links to files of the source tree, which are not of the site, into plain text."""
    text[0] = re.sub(r"\[([^]]*)\]\((?:\.\./)+(?:userspace|selftests|dm-approxftl|README|CHANGELOG|"
                     r"CONTRIBUTING)[^)]*\)", r"\1", text[0])


def setup(app: Any) -> None:
    """Register the step."""
    app.connect("source-read", unlink_source_files)
