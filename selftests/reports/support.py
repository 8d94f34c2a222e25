# SPDX-License-Identifier: GPL-2.0-only
"""Inputs for reports and charts, made by the programs themselves, and a browser."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from selftests.lib.programs import BUILD, Done, run_program
from selftests.playground.support import Browser

PROGRAM = BUILD / "approxftl"

Json = dict[str, Any]

FULL = ("--histogram", "--block-table", "--page-map", "auto")
#: Idle dies collect from the first request on, so that wear and write amplification have figures.
STREAM = ("--fill", "random", "--fill-approx", "50%", "--approx-share", "50%", "--requests",
          "6000", "--warmup", "2000", "--utilisation", "30%", "--gc_idle_limit", "fixed")
POLICIES = ("baseline", "delta_b", "vth_b", "approxftl")


def run_approxftl(*arguments: str | Path, directory: Path | None = None,
                  environment: dict[str, str] | None = None) -> Done:
    return run_program(PROGRAM, *arguments, directory=directory, environment=environment)


def run_approxftl_ok(*arguments: str | Path, directory: Path | None = None) -> str:
    """Run approxftl, which must succeed without a message."""
    done = run_approxftl(*arguments, directory=directory)
    assert (done.code, done.err) == (0, ""), done.err
    return done.out


def simulate_to_file(path: Path, *arguments: str | Path) -> Json:
    """Run the simulator, and write its result to a file."""
    run_approxftl_ok("sim", *arguments, f"--json={path}", "--quiet")
    result: Json = json.loads(path.read_text())
    return result


def write_report_input_files(directory: Path) -> list[Path]:
    """Write one input file of each kind that is made without an emulated device."""
    result, timeline = directory / "result.json", directory / "timeline.json"
    simulate_to_file(result, *STREAM, *FULL, "--policy", ",".join(POLICIES), "--timeline", timeline)
    records = directory / "stream.aft"
    simulate_to_file(directory / "unused.json", "--requests", "500", "--record", records)
    (directory / "unused.json").unlink()
    log = directory / "requests.log"
    (directory / "target").write_bytes(bytes(1 << 20))
    run_approxftl_ok("replay", records, directory / "target", "--overwrite", "--fold", "--no-stall",
                     "--buffered", "--record", log)
    return [result, timeline, records, log, *write_sample_device_files(directory)]


COUNTERS = {"host_write_units": 1000, "read_flipped_bits": 7, "array_erases": 12,
            "read_energy_pj": 10, "program_energy_pj": 20, "erase_energy_pj": 30}


def make_device_stat_json(**more: Any) -> Json:
    return {
        "approxftl_json_format": [1, 0],
        "tool": {"version": "0.1.0", "argv": ["approxftl", "stat", "ssd", "-j"]},
        "devices": [{"name": "ssd", "store": "ram", "profile": "demo", "policy": "approxftl",
                     "size_bytes": 1 << 29, "write_amplification": 1.25,
                     "counters": COUNTERS, **more}],
    }


def make_interval_stat_json(second: int) -> Json:
    """Return one interval of `approxftl stat -i 1s -j`."""
    return {"interval_ns": 1_000_000_000, "write_amplification": 1 + second / 10,
            "counters": COUNTERS,
            "block_layer": {"read_bytes": second << 20, "write_bytes": 2 * second << 20}}


def make_replay_report_json() -> Json:
    """Return a report as approxftl-replay writes it."""
    times = {"mean_ns": 2000, "p50_ns": 1000, "p99_ns": 9000, "p99_9_ns": 9500, "max_ns": 10000}
    return {
        "approxftl_json_format": [1, 0],
        "tool": {"version": "0.1.0", "argv": ["approxftl", "replay", "x.aft", "/dev/dm-0"]},
        "trace": "x.aft", "target": "/dev/dm-0", "interrupted": False, "planned_requests": 10,
        "done_requests": 10, "failed_requests": 0, "engine": "uring",
        "fidelity": {"mode": "open_loop", "lag": times, "late_requests": 0},
        "latency": [{"op": op, "class": "precise", "requests": 5, "bytes": 20480, **times}
                    for op in ("read", "write")],
        "data": {"precise": {"units": 5, "flipped_bits": 0}},
    }


BLOCKS = "".join(f"{i} closed precise {i} {10000 * i} 128 0\n" for i in range(8))
LUNS = "".join(f"{i} good_blocks 4 free_blocks 1 valid_units 99 queued 0 busy_ns {i + 1}000000000 "
               "cached_blocks 0\n"
               for i in range(2))
BLOCK = ("state closed\nkind checkerboard\nvalid_units 31\napprox_units 16\nprogrammed_pages 32\n"
         "erases 3\nwear 30000\nreads 0\n"
         + "".join(f"page {i} class {i % 2} mode {i % 2} valid {i != 5:d}\n" for i in range(32)))


#: The summary that the commands print for the inputs of write_report_input_files().
EVERYTHING = "4 runs, 3 devices, 1 timeline, 3 answers, 1 record file, 1 replay, 1 log"


def write_sample_device_files(directory: Path) -> list[Path]:
    """Write sample files about a device, as approxftl's verbs and the kernel module print them."""
    paths = []
    for name, content in (
        ("stat.json", json.dumps(make_device_stat_json())),
        ("series.json", json.dumps(make_device_stat_json(samples=[make_interval_stat_json(s)
                                                                  for s in range(1, 4)]))),
        ("health.json", json.dumps(make_device_stat_json(verdict="good", reasons=[],
                                                         blocks={"total": 8, "erases_max": 7}))),
        ("replay.json", json.dumps(make_replay_report_json())),
        ("blocks.txt", BLOCKS), ("luns.txt", LUNS), ("block-3.txt", BLOCK),
    ):
        (directory / name).write_text(content)
        paths.append(directory / name)
    return paths


# ---------------------------------------------------------------- a browser


def open_page_headless(page: Path, profile: Path, *options: str) -> Done:
    """Open a page in headless Chromium without a network."""
    return run_program("chromium", "--headless", "--no-sandbox", "--disable-gpu",
                       "--enable-logging=stderr", f"--user-data-dir={profile}",
                       "--host-resolver-rules=MAP * ~NOTFOUND", *options, page.as_uri())


def read_console_messages(done: Done) -> list[str]:
    """Return the browser's console messages, such as errors and refused loads."""
    return [line for line in done.err.splitlines() if ":CONSOLE" in line]


def make_page_with_script(page: Path, script: str) -> Path:
    """Return a copy of a page with one more script at its end."""
    copy = page.with_name(f"probe-{page.name}")
    copy.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    return copy


def find_urls_in_page(html: str) -> list[str]:
    names = "href|src|srcset|action|data|poster"
    found: Sequence[str] = re.findall(rf'\b(?:{names})="([^"]*)"', html)
    styles = re.findall(r"(?:url\(|@import)\s*([^;)]*)", html)
    return [*found, *styles]


# ---------------------------------------------------------------- interactive figures

#: JavaScript helpers for probes: scroll to a figure, find its marks.
PROBE = """
    let frames = 0;
    const countFrame = () => requestAnimationFrame(() => { frames++; countFrame(); });
    countFrame();
    const until = async (test) => {
        const before = frames;
        for (let i = 0; i < 6000 && !test(); i++)
            await new Promise((done) => setTimeout(done, 10));
        if (!test() && frames === before)
            throw new Error("no frame drawn");
    };
    const drawn = () => new Promise((done) => setTimeout(done, 300));
    const seen = async (id) => {
        const figure = document.getElementById(id);
        figure.scrollIntoView();
        await until(() => figure.classList.contains("alive"));
        return figure;
    };
    const marks = (figure, kind) => [...figure.querySelectorAll(`.live .mark-${kind} path`)]
        .filter((mark) => mark.getBoundingClientRect().width > 0);
    const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
    const over = (top, share, low) => low.map((one, i) => share * top[i] + (1 - share) * one);
    const light = (colour) => colour.map((one) => one / 255).map((one) => one <= 0.04045 ?
        one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (colour, beneath) => {
        const both = [light(colour), light(beneath)];
        return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    };
    const box = (name) => [...document.querySelectorAll("#controls label")]
        .find((label) => label.textContent.trim() === name).querySelector("input");
"""
#: Return the number of marks, and those whose contrast is less than 3 to 1.
WEAK_MARKS = """
        await drawn();
        const strength = (at, beneath) => {
            const style = getComputedStyle(at);
            return Math.max(...["fill", "stroke"].map((what) => {
                if (style[what] === "none")
                    return 0;
                const [r, g, b, own = 1] = numbers(style[what]);
                const share = own * style.opacity * style[`${what}Opacity`];
                return contrast(over([r, g, b], share, beneath), beneath);
            }));
        };
        const kinds = ["rect", "symbol"].map((kind) => `.live .mark-${kind}.role-mark path`);
        // Of colours that are a scale, as in a heat map, 1.4.11 asks nothing: the map stands out.
        const still = ":scope > svg :is(path, circle, rect):is([class^=s], [class^=m]), .frame";
        const weak = [];
        let count = 0;
        for (const figure of document.querySelectorAll("figure.alive")) {
            const beneath = numbers(getComputedStyle(figure).backgroundColor);
            const named = new Map();
            // A line is told by the wider one beneath it, of the same shape.
            const lines = ".live .mark-line path, .live .mark-rule.role-mark line, " +
                ":scope > svg :is(.curve, .bars)";
            for (const at of figure.querySelectorAll(lines)) {
                const way = ["d", "href", "transform", "x2", "y2"]
                    .map((one) => at.getAttribute(one)).join();
                named.set(way, Math.max(named.get(way) ?? 0, strength(at, beneath)));
            }
            for (const at of figure.querySelectorAll([...kinds, still].join()))
                if (getComputedStyle(at).opacity !== "0")
                    named.set(at, strength(at, beneath));
            for (const [at, ratio] of named) {
                count++;
                if (ratio < 3 && at.getAttribute?.("aria-label")?.includes("erased") !== true)
                    weak.push([figure.id, at.outerHTML?.slice(0, 200), ratio.toFixed(2)].join());
            }
        }
        return [count, weak.slice(0, 5)];
"""


def run_script(browser: Browser, script: str) -> Any:
    """Run a script in the page and return its value.

    Chromium may stop drawing frames, so that no chart becomes visible. Load the page again then.
    """
    asynchronous = f"(async () => {{ {PROBE} {script} }})()"
    try:
        return browser.run_script(asynchronous)
    except AssertionError as error:
        if "no frame drawn" not in str(error):
            raise
    browser.load_web_page(browser.page)
    return browser.run_script(asynchronous)


def press_key(shown: Browser, key: str, code: int, text: str = "") -> None:
    for kind in ("keyDown", "keyUp"):
        shown.call_method("Input.dispatchKeyEvent", type=kind, key=key, code=key.strip() or "Space",
                          windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")


def load_fresh_page(browser: Browser, page: Path, width: int, height: int) -> Iterator[Browser]:
    """Yield a freshly loaded page, which must request no URL and log nothing to the console."""
    browser.set_screen_size(width, height)
    browser.call_method("Emulation.setEmulatedMedia", media="", features=[])
    browser.load_web_page(page)
    browser.said.clear()
    browser.requested.clear()
    yield browser
    assert browser.said == []
    assert [url for url in browser.requested if not url.startswith(("data:", "blob:"))] == []
