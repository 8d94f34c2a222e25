# SPDX-License-Identifier: GPL-2.0-only
"""Measure how smooth the playground is: frames a second while it plays, by the page's own clock.

bench_playground.py               five seconds for each device
bench_playground.py --seconds 1   a short run to test this program
bench_playground.py --strict      exit status 1 if a limit is missed

The browser draws without a graphics card, and at most sixty frames a second.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bars import Bar, put_bars, put_columns
from benchmark import exit_status, need, options, put_result
from selftests.playground.support import PAGE, Browser

FORMAT = [1, 0]

#: Name, address, speed as a power of ten, and the least frames a second.
CASES = (
    ("demo, one policy", "#b=&fill=random", 2.5, 60),
    ("demo, two policies", "#fill=random", 2.5, 60),
    ("demo, two policies, fast", "#fill=random", 5, 20),
    ("32 dies, one policy", "#profile=tcad18&b=", 3, 20),
    ("32 dies, two policies", "#profile=tcad18", 3, 20),
)
#: Tolerance for frames that are slightly late.
NEARLY = 0.98

PLAY = """new Promise((done) => {
    document.getElementById("speed").value = %s;
    app.frames = [];
    const from = app.runs.a.at;
    setPlaying(true);
    setTimeout(() => {
        setPlaying(false);
        const seconds = (app.frames.at(-1) - app.frames[0]) / 1000;
        done({frames: (app.frames.length - 1) / seconds,
            requests: (app.runs.a.at - from) / seconds});
    }, %d);
})"""


def measure(browser: Browser, seconds: float) -> list[dict[str, Any]]:
    """Play each device."""
    found = []
    for name, address, speed, least in CASES:
        browser.open(PAGE, address)
        played = browser.run(PLAY % (speed, 1000 * seconds))
        found.append({"name": name, "least": least, **played})
    return found


def main() -> int:
    """Entry point."""
    parser = options("Frames a second of the playground.", "bench-playground.json")
    parser.add_argument("--seconds", type=float, default=5, metavar="S",
                        help="of playing each device (5)")
    args = parser.parse_args()
    need(PAGE)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(Path(profile))
        browser.size(1280, 900)
        cases = measure(browser, args.seconds)
        browser.close()
    bars = [Bar(case["name"], case["frames"], NEARLY * case["least"], "frames/s")
            for case in cases]
    put_columns([("device", "frames/s", "requests/s")] + [
        (case["name"], f"{case['frames']:.1f}", f"{case['requests']:.0f}") for case in cases])
    print()
    put_bars(bars)
    put_result(args.json, {
        "approxftl_bench_format": FORMAT,
        "machine": {"cpus": os.cpu_count(), "system": platform.platform()},
        "cases": cases,
        "bars": [bar.as_json() for bar in bars],
    })
    return exit_status(args, met=all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
