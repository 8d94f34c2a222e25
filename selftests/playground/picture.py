#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw docs/playground.png, the page after some requests. Run from the top: picture.py."""

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))

from selftests.playground.support import PAGE, Browser  # noqa: E402

STATE = "#at=6000&more=--blocks+32+--op+60"
SIZE = (1180, 960)

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(Path(profile))
        browser.set_screen_size(*SIZE)
        browser.open_playground(PAGE, STATE)
        browser.run_script("choose('b', 5, 9)")
        clip = {"x": 0, "y": 0, "width": SIZE[0], "height": SIZE[1], "scale": 0.65}
        shot = browser.call_method("Page.captureScreenshot", clip=clip)["data"]
        browser.close_browser()
    picture = Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")
    # The page has few colours, and 64 are enough for smooth letters.
    picture.quantize(64, dither=Image.Dither.NONE).save(TOP / "docs/playground.png", optimize=True)
