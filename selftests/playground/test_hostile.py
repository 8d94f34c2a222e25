# SPDX-License-Identifier: GPL-2.0-only
"""Hostile addresses and files, and very fast users, do not break the page."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest
from selftests.lib.programs import run_program
from selftests.playground.support import (
    PAGE,
    PROGRAM,
    Browser,
    drop_file,
    load_playground,
    needs_page,
    read_element_text,
    run_native_simulation,
)

pytestmark = needs_page

#: Text of internal errors, which must never be shown.
INWARD = re.compile(r"undefined|null|NaN|not a function|not iterable|TypeError|unreachable|"
                    r"out of bounds|is not valid JSON|\[object")


def read_shown_error(browser: Browser) -> str:
    hidden = browser.run_script("document.getElementById('trouble').hidden")
    return "" if hidden else read_element_text(browser, "trouble")


def change_playground_url_fragment(browser: Browser, address: str) -> None:
    """Change the address of the open page, which is faster than loading the page again."""
    browser.run_script(f"""new Promise((done) => {{
        window.addEventListener("hashchange", () => setTimeout(done, 0), {{once: true}});
        location.hash = {json.dumps(address)};
    }})""")


# ---------------------------------------------------------------- addresses

#: Invalid values for each key of an address.
WRONG = {
    "at": ["x", "-5", "1e9", "99999999999", "1.5"], "view": ["nix", "__proto__", "constructor"],
    "sync": ["nix"], "place": ["nix", "device x"], "w": ["x", "-1", "1e3"], "x": ["5%"],
    "skew": ["x", "-1", "Infinity"], "op": ["x", "-3"], "pe": ["x", "-1"], "months": ["x", "1e3"],
    "load": ["fast", "-9"], "whole": ["2"], "tour": ["0", "11", "x"],
    "rot": ["x", "nix:1:1", "vth_b:1", "vth_b:-1:1", "vth_b:1:1:1"],
    "do": ["5", "nix", "x:a:policy:vth_b", "1.5:a:policy:vth_b", "-3:a:age:5", "5:c:age:5",
           "5:a:age:-5", ";", "5:a:policy:vth_b;", "5:a:policy:vth_b:6", "5:a:age:5h", "5:a:GC:5",
           "5:a:gc:1%,9:gc=2", "5:a:gc:" + "9" * 32],
    "see": ["x", "a", "a:1", "c:0:0:0:0", "a:-1:0:0:0", "a:512:0:0:0", "a:0:256:0:0",
            "a:0:0:2:0", "a:0:0:0:32768", "a:0:0:0:0:0", "b:0:0:0:0", "a:1e1:0:0:0",
            "a:999999999:999999999:999999999:999999999"],
    "zoom": ["x", "d4", "b512", "d-1", "d", "p0", "p0:1:1", "p0:1:1:0", "p0:1:1:-4", "p512:1:1:9",
             "p0:x:1:5", "p0:1:1:1e9", "p0:1:1:5:6", "__proto__", "p0:1:1:9999999"],
    "nothing": ["of the kind"], "toString": ["1"], "trace": ["dropped.aft"]}


@pytest.mark.parametrize("key", WRONG)
@pytest.mark.in_turn
def test_invalid_values_in_the_url_fragment_are_named(key: str, browser: Browser) -> None:
    """The error names an invalid value of the address; all other values take effect."""
    for number, text in enumerate(WRONG[key]):
        address = f"#b=&seed=7&at=30&{key}={text.replace(' ', '+')}"
        if number:
            change_playground_url_fragment(browser, address)
        else:
            browser.open_playground(PAGE, address)
        assert browser.run_script("document.body.dataset.ready") == "yes", text
        told = read_shown_error(browser)
        assert ("dropped" if key == "trace" else f"{key}={text}") in told, (text, told)
        assert not INWARD.search(told.replace(text, ""))
        state = browser.run_script("app.state")
        assert state["seed"] == "7"
        assert state.get(key) == browser.run_script(f"Object.hasOwn(STANDARD, '{key}') ? "
                                                    f"STANDARD['{key}'] : undefined"), text
        browser.run_script("stepBy(1)")
        assert browser.run_script("app.runs.a.at") == int(state["at"]) + 1


@pytest.mark.parametrize("words", [
    "profile=nix", "a=nix", "a=", "b=nix", "fill=nix", "size=nix", "size=1", "size=", "seed=x",
    "seed=99999999999999999999", "w=101", "x=200", "op=99", "pe=999999999", "months=999999999",
    "load=0", "load=100000000", "skew=999", "more=--blocks+16777216", "more=--nix", "more=x",
    "more=--requests", "more=--policy+all", "more=--trace+/etc/passwd", "more=--raid+5",
    "more=--dump+x", "more=--blocks+4294967296+--channels+999999", "more=" + "x+" * 5000,
    "profile=qlc&a=approxftl",
    "profile=qlc&a=baseline&b=ressd", "profile=wd-zn540&a=vth_b", "do=5:a:policy:nix",
    "profile=qlc&a=baseline&do=5:a:policy:ressd", "more=%00", "more=%F0%9F%92%A9", "a=%"])
@pytest.mark.in_turn
def test_invalid_url_fragments_do_not_break_the_playground(words: str, browser: Browser) -> None:
    """The page shows an error or a device for any address, and accepts the next address."""
    if words == "profile=nix":
        browser.open_playground(PAGE)
    change_playground_url_fragment(browser, f"#b=&at=30&{words}")
    assert browser.run_script("document.body.dataset.ready") == "yes"
    told = read_shown_error(browser)
    assert not INWARD.search(told), told
    assert told or browser.run_script("app.runs.a.at") == 30
    browser.run_script("setPlaying(true); stepBy(1); setPlaying(false); zoomOut(); zoomInto('a')")
    browser.run_script("setState({...STANDARD, b: '', at: '40'})")
    assert read_shown_error(browser) == ""
    assert browser.run_script("app.runs.a.at") == 40


LIMITS = """%s.map((args) => {
    try {
        const device = new Device(app.module, args);
        device.call("playground_run_to_request_or_time", 300, FOREVER);
        device.cells(0, 0, 0);
        return device.digest();
    } catch (error) {
        return error.message;
    }
})"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["smallest", "largest"])
@pytest.mark.in_turn
def test_extreme_parameters_give_the_native_result(end: str, browser: Browser) -> None:
    """Each parameter at its limit, except shards, gives the native program's digest or error."""
    load_playground(browser)
    listed = json.loads(run_program(PROGRAM, "params", "--json").out)["parameters"]
    runs = [["--policy", "approxftl", "--write-share", "0.8", "--approx-share", "0.5",
             f"--{one['key']}", one[end]] for one in listed
            if one.get(end) is not None and one["key"] != "shards"]
    assert len(runs) > 100
    here = [said for at in range(0, len(runs), 20)
            for said in browser.run_script(LIMITS % json.dumps(runs[at:at + 20]))]
    for arguments, said in zip(runs, here, strict=True):
        there = run_native_simulation(*arguments, "--requests", "300")
        assert said == (there.get("refused") or there["runs"][0]["digest"]), arguments


# ---------------------------------------------------------------- time

def test_rapid_key_presses_leave_one_running_timer(browser: Browser) -> None:
    """After many starts and stops of the playback one timer runs: a frame is drawn once."""
    load_playground(browser, "#b=&at=0")
    times, state = browser.run_script("""new Promise((done) => {
        for (let i = 0; i < 20; i++)
            document.dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true}));
        setPlaying(true);
        app.frames = [];
        const look = () => {
            if (app.frames.length < 9)
                return setTimeout(look, 20);
            setPlaying(false);
            return done([app.frames, app.playing]);
        };
        look();
    })""")
    assert len(set(times)) == len(times) and not state


def test_an_error_during_playback_stops_it(browser: Browser) -> None:
    load_playground(browser, "#b=&at=0")
    label, playing = browser.run_script("""new Promise((done) => {
        const {device} = app.runs.a, {library} = device;
        const fail = () => { device.hand(["no more"]); return -1; };
        device.library = {...library, playground_run_to_request_or_time: fail};
        setPlaying(true);
        const look = () => app.playing ? setTimeout(look, 20) :
            done([document.getElementById("play").textContent, app.playing]);
        look();
    })""")
    assert (label, playing) == ("▶ Play", False)
    assert read_shown_error(browser) == "no more"


def test_loading_another_device_stops_the_playback(browser: Browser) -> None:
    """Loading another device by address, control or file stops playing, even if loading fails."""
    load_playground(browser, "#b=&at=0")
    for change in ("location.hash = '#b=&a=nix&at=5'", "setState({a: 'nix', profile: 'demo'})",
                   "takeFile(new File(['{\"approxftl_json_format\":1}'], 'x'))",
                   "location.hash = '#b=&a=vth_b&at=7'"):
        state = browser.run_script(f"""new Promise((done) => {{
            setState({{...STANDARD, b: ""}});
            showPlace("device");
            setPlaying(true);
            {change};
            const look = () => app.playing ? setTimeout(look, 20) :
                setTimeout(() => done(document.getElementById("play").textContent), 50);
            look();
        }})""")
        assert state == "▶ Play", change
        assert bool(read_shown_error(browser)) == ("vth_b" not in change), change
        assert not INWARD.search(read_shown_error(browser))
    assert browser.run_script("app.runs.a.at") == 7


def test_the_playback_survives_changes_of_the_window(browser: Browser) -> None:
    load_playground(browser, "#at=0")
    browser.run_script(
        "document.getElementById('speed').value = 3; zoomInto('a'); setPlaying(true)")
    try:
        for wide, tall in ((800, 400), (400, 800), (320, 480), (2000, 1200), (1280, 900)):
            browser.set_screen_size(wide, tall)
            browser.run_script("new Promise((done) => setTimeout(done, 120))")
            assert browser.run_script("""["a", "b"].every((side) => {
                const {canvas, layout} = app.pictures[side], box = canvas.getBoundingClientRect();
                return Math.abs(canvas.width - box.width * devicePixelRatio) < 2 && layout.wide > 0;
            })"""), (wide, tall)
        browser.run_script("setPlaying(false)")
        assert browser.run_script("app.runs.a.at") > 50
    finally:
        browser.set_screen_size(1280, 900)


def test_a_long_run_needs_bounded_memory(browser: Browser) -> None:
    """Snapshots, chart samples and frame times take bounded memory, however long the run."""
    load_playground(browser, "#b=&fill=random&at=0")
    sizes = browser.run_script("""[20000, 100000, 200000].map((at) => {
        app.frames.push(...Array(9000).fill(0));
        goTo(at, Infinity);
        const {copies} = app.runs.a;
        return [copies.length, copies.reduce((sum, {memory}) => sum + memory.bytes.byteLength, 0),
            app.samples.a.list.length, app.runs.a.device.library.memory.buffer.byteLength];
    })""")
    assert all(copies <= 25 and held <= (128 << 20) + 2 * memory and samples <= 600
               for copies, held, samples, memory in sizes)
    assert len({memory for *_, memory in sizes}) == 1


def test_nothing_flashes_with_reduced_motion(browser: Browser) -> None:
    """With prefers-reduced-motion nothing flashes."""
    for preference, flashes in (("reduce", False), ("no-preference", True)):
        browser.call_method("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-reduced-motion", "value": preference}])
        load_playground(browser, "#b=&at=0")
        assert browser.run_script("stepBy(40); app.pictures.a.flashes.length > 0") == flashes
    browser.call_method("Emulation.setEmulatedMedia", features=[])


# ---------------------------------------------------------------- commands

def test_a_command_that_cannot_be_copied_is_selected(browser: Browser) -> None:
    """If the clipboard refuses the simulator's command, the page selects the command's text."""
    load_playground(browser, "#b=&at=5")
    assert browser.run_script("""(async () => {
        Object.defineProperty(navigator, "clipboard", {value: {writeText: async () => {
            throw new Error("no"); }}});
        document.getElementById("copy").click();
        await new Promise((done) => setTimeout(done, 50));
        return getSelection().toString();
    })()""") == read_element_text(browser, "command")


# ---------------------------------------------------------------- files

@pytest.fixture(scope="module")
def bytes_of_record_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("records") / "stream.aft"
    run_native_simulation("--requests", "3000", "--write-share", "0.9", "--record", str(path))
    return path.read_bytes()


def make_report_file_bytes(**changes: object) -> bytes:
    whole = {"approxftl_json_format": [1, 0], "tool": {"argv": ["approxftl", "sim"]}, "runs": []}
    return json.dumps({**whole, **changes}).encode()


def test_damaged_files_are_named_and_change_nothing(bytes_of_record_file: bytes, browser: Browser,
                                                    tmp_path: Path) -> None:
    """The error message names the dropped file, and the device stays as it was."""
    argv = {"argv": ["approxftl", "sim", "--write-share"]}
    packed = gzip.compress(bytes_of_record_file)
    files = {
        "empty.aft": b"", "half.json": make_report_file_bytes()[:-5],
        "cut.gz": packed[:len(packed) // 2],
        "noise.gz": packed[:20] + bytes(500), "bomb.gz": gzip.compress(bytes(300 << 20), 9),
        "runs.json": make_report_file_bytes(runs=3),
        "none.json": make_report_file_bytes(runs=[None]),
        "tool.json": make_report_file_bytes(tool=7),
   "argv.json": make_report_file_bytes(tool={"argv": "sim"}),
   "numbers.json": make_report_file_bytes(tool={"argv": [1, "sim"]}),
   "value.json": make_report_file_bytes(tool=argv),
        "no-digest.json": make_report_file_bytes(runs=[{"policy": "baseline"}]),
   "head.aft": bytes_of_record_file[:40], "csv.csv": b"1,2,3\nx,y,z\n",
             "long.csv": b"9" * 2_000_000,
   "deep.json": b'{"approxftl_json_format":1,"runs":' + b"[" * 100000,
}
    load_playground(browser, "#b=&at=77")
    for name, content in files.items():
        told = drop_file(browser, name, content)
        assert told == read_shown_error(browser) and told.startswith(f"{name}: "), (name, told)
        assert len(told) > len(name) + 12 and not INWARD.search(told), told
        assert ("more than 256 MB" in told) == (name == "bomb.gz")
        state = browser.run_script("[app.state.trace, app.runs.a.at, app.files.length]")
        assert state == ["", 77, 0], name


def test_a_file_that_is_too_large_is_refused(browser: Browser) -> None:
    load_playground(browser, "#b=&at=5")
    browser.run_script(
        "takeFile({name: 'x', size: 3e9, arrayBuffer: () => { throw new Error('read'); }})")
    assert read_shown_error(browser) == "x: this file has 3000 MB, and a page takes 256"


def test_the_file_dropped_last_is_shown(bytes_of_record_file: bytes, browser: Browser) -> None:
    """The last dropped file wins, even if an earlier one loads more slowly."""
    load_playground(browser, "#b=&at=500")
    data = base64.b64encode(bytes_of_record_file).decode()
    browser.run_script(f"""(async () => {{
        const bytes = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0));
        let open;
        const late = {{name: "late.aft", size: 9, arrayBuffer: () => new Promise((done) => {{
            open = () => done(bytes.buffer); }})}};
        const first = takeFile(late);
        showPlace("device");
        goTo(300);
        await takeFile(new File([bytes], "quick.aft"));
        open();
        await first;
    }})()""")
    assert read_element_text(browser, "file-text").startswith("quick.aft: ")
    assert browser.run_script("app.state.trace") == "dropped.aft"


def test_files_that_are_no_pictures_are_refused(browser: Browser) -> None:
    load_playground(browser, "#place=content")
    before = browser.run_script("[...KINDS[0].bytes]")
    for name, content in (("x.png", "[]"), ("cut.png", "[137,80,78,71,13,10,26,10,0,0,0,13]"),
                          ("text.txt", "[104,105]")):
        browser.run_script(f"takePicture(new File([Uint8Array.from({content})], '{name}'))")
        assert read_shown_error(browser) == f"{name}: this is no picture that the browser can read"
    browser.run_script("forgetTrouble(); takePicture(undefined)")
    assert read_shown_error(browser) == ""
    assert browser.run_script("[...KINDS[0].bytes]") == before
