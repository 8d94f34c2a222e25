#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Build the playground as one page: bundle.py FOLDER (of page.html) LIBRARY.wasm OUT.html."""

import base64
import gzip
import sys
from pathlib import Path

#: In the order in which they use each other.
SCRIPTS = ("wasi", "device", "state", "palette", "draw", "cells", "fingers", "charts", "content",
           "tours", "app")


def compress_file_to_text(path: Path) -> str:
    """Return a file as compressed text that the page unpacks; equal files give equal text."""
    return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode()


def build_playground_page(folder: Path, library: Path) -> str:
    """Return the HTML page of the playground."""
    script = "\n".join((folder / f"{name}.js").read_text() for name in SCRIPTS)
    parts = {"@STYLE@": (folder / "page.css").read_text(), "@WASM@": compress_file_to_text(library),
             "@SCRIPT@": script}
    html = (folder / "page.html").read_text()
    for mark, part in parts.items():
        html = html.replace(mark, part)
    return html


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(build_playground_page(Path(sys.argv[1]), Path(sys.argv[2])))
