# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx settings of `make site`, which makes one site of the documents and manual pages."""

import re
from pathlib import Path
from typing import Any

project = "dm-approxftl"
author = "the dm-approxftl authors"
extensions = ["myst_parser"]
exclude_patterns = ["examples"]
html_extra_path = [picture.name for picture in Path(__file__).parent.glob("*.[ps][nv]g")]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme = "alabaster"
html_theme_options = {"page_width": "76em", "body_max_width": "none",
                      "sidebar_width": "16em", "show_powered_by": False}
html_sidebars = {"**": ["about.html", "searchbox.html", "globaltoc.html"]}
html_copy_source = False
smartquotes = False     # keeps the two dashes of an option
myst_heading_anchors = 4


def unlink_source_files(_app: object, _name: str, text: list[str]) -> None:
    """Turn links to files of the source tree, which the site does not contain, into plain text."""
    text[0] = re.sub(r"\[([^]]*)\]\((?:\.\./)+(?:userspace|selftests|dm-approxftl|README|CHANGELOG|"
                     r"CONTRIBUTING)[^)]*\)", r"\1", text[0])


def setup(app: Any) -> None:
    """Make Sphinx call unlink_source_files() for each page."""
    app.connect("source-read", unlink_source_files)
