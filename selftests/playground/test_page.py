# SPDX-License-Identifier: GPL-2.0-only
"""The playground in a real browser shows the results of the native simulator."""

import base64
import gzip
import itertools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
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
    simulate_shown_commands,
)

pytestmark = needs_page


def list_names_shown_by_verb(verb: str) -> list[str]:
    return [line.split()[0] for line in run_program(PROGRAM, verb).out.splitlines()]


def test_the_page_is_small_and_loads_nothing_external() -> None:
    html = PAGE.read_text()
    assert PAGE.stat().st_size <= 1_000_000
    assert not re.findall(r'\b(?:href|src|srcset|action)="(?!data:)[^"]*"', html)
    assert "://" not in html


@pytest.mark.in_turn
def test_playground_lists_all_policies_profiles_and_program_modes(browser: Browser) -> None:
    load_playground(browser)
    assert browser.run_script("POLICIES") == list_names_shown_by_verb("policies")
    assert browser.run_script("Object.keys(PROFILES)") == list_names_shown_by_verb("profiles")
    modes = len(browser.run_script("app.runs.a.device.about.modes"))
    assert browser.run_script("[new Set(LETTERS).size, LETTERS.length]") == [modes, modes]


# ---------------------------------------------------------------- the same results

#: Go forwards, back, and forwards again; return the digest at each stop.
WALK = """(() => {
    const state = {...STANDARD, ...%s};
    const args = argsOf(state, state.a);
    try {
        const run = new Run(app.module, args, [], []);
        run.every = 150;
        const digests = [400, 950, 300, 950].map((at) => {
            run.go(at);
            return run.device.digest();
        });
        run.device.call("playground_audit");
        return {args, digests};
    } catch (error) {
        return {args, refused: error.message};
    }
})()"""


def compare_with_native_simulation(browser: Browser, **state: str) -> None:
    """Compare a device in the page with a native one: same digest or same error message."""
    here = browser.run_script(WALK % json.dumps(state))
    there = run_native_simulation(*here["args"], "--requests", "950")
    if "refused" in here:
        assert there == {"refused": here["refused"]}
        return
    shorter = run_native_simulation(*here["args"], "--requests", "300")["runs"][0]["digest"]
    digest = there["runs"][0]["digest"]
    assert here["digests"][1:] == [digest, shorter, digest], state
    assert digest != shorter


@pytest.mark.parametrize("policy", list_names_shown_by_verb("policies") if PAGE.exists() else [])
@pytest.mark.in_turn
def test_every_policy_gives_the_native_digests(policy: str, browser: Browser) -> None:
    load_playground(browser)
    compare_with_native_simulation(browser, a=policy, fill="random", w="80", skew="0.9")


@pytest.mark.slow
@pytest.mark.parametrize("profile", list_names_shown_by_verb("profiles") if PAGE.exists() else [])
@pytest.mark.in_turn
def test_every_profile_gives_the_native_digests(profile: str, browser: Browser) -> None:
    load_playground(browser)
    for policy in ("baseline", "approxftl", "cubeftl"):
        compare_with_native_simulation(browser, profile=profile, a=policy, pe="500", months="2",
                                       size="64KiB")


@pytest.mark.parametrize("load", ["closed", "60"])
def test_the_digest_at_a_time_does_not_depend_on_the_steps_to_it(load: str,
                                                                 browser: Browser) -> None:
    load_playground(browser)
    assert browser.run_script("""(() => {
        const args = argsOf({...STANDARD, fill: "random", w: "70", load: "LOAD"}, "approxftl");
        const digests = new Set();
        const digest = (walk) => {
            const device = new Device(app.module, args);
            walk(device);
            device.call("playground_run_to_request_or_time", 700, FOREVER);
            device.state();
            digests.add(device.digest());
        };
        digest(() => 0);
        digest((device) => {
            for (let at = 1; at < 700; at++)
                device.call("playground_run_to_request_or_time", at, FOREVER);
        });
        digest((device) => {
            for (let ns = 0; device.state().requests < 600; ns += 777777)
                device.call("playground_run_to_request_or_time", MOST_REQUESTS, ns);
        });
        digest((device) => { device.call("playground_run_to_request_or_time", 200, FOREVER);
            device.digest();
            device.paint(1, layoutOf(device.about, 1), coloursOf("mode", "#ffffff"));
            device.json("playground_describe_page", 3, 3); });
        return digests.size;
    })()""".replace("LOAD", load)) == 1


@pytest.mark.parametrize("load", ["closed", "60"])
def test_the_state_at_a_time_does_not_depend_on_the_times_shown_before(load: str,
                                                                       browser: Browser) -> None:
    """A device's state at a time is the same, whether the page goes there at once or in steps."""
    load_playground(browser)
    assert browser.run_script("""(() => {
        const run = () => new Run(app.module, argsOf({...STANDARD, load: "LOAD"}, "vth_b"), [], []);
        const of = (one) => `${one.at} ${one.state.now_ns} ${one.device.digest()}`;
        const ns = 123456789;
        const [once, pieces, later] = [run(), run(), run()];
        once.go(MOST_REQUESTS, ns);
        for (let part = 1; part <= 50; part++)
            pieces.go(MOST_REQUESTS, ns * part / 50);
        later.go(3000);
        later.go(MOST_REQUESTS, ns);
        return new Set([once, pieces, later].map(of)).size;
    })()""".replace("LOAD", load)) == 1


def test_the_page_reacts_while_it_computes_many_requests(browser: Browser) -> None:
    load_playground(browser, "#b=&at=100")
    browser.run_script("goTo(4000000000, 50)")
    assert browser.run_script("app.target") == 4000000000
    first = browser.run_script("app.runs.a.at")
    browser.run_script("new Promise((done) => setTimeout(done, 400))")
    assert browser.run_script("app.runs.a.at") > first
    browser.run_script("goTo(50)")
    assert browser.run_script("[app.target, app.runs.a.at]") == [None, 50]


# ---------------------------------------------------------------- the page's controls

def test_url_fragment_and_shown_command_give_the_same_device_digest(browser: Browser) -> None:
    address = "#a=vth_b&b=approxftl&w=60&seed=7&fill=sequential&at=1234&view=mode"
    load_playground(browser, address)
    digests = simulate_shown_commands(browser)
    assert len(digests) == 2 and read_element_text(browser, "digest").split() == digests
    state = read_playground_state(browser)
    assert state == {**state, "a": "vth_b", "at": "1234", "seed": "7"}
    load_playground(browser, read_playground_url_fragment(browser))
    assert read_element_text(browser, "digest").split() == digests


def read_playground_state(browser: Browser) -> dict[str, str]:
    state: dict[str, str] = browser.run_script("app.state")
    return state


def read_playground_url_fragment(browser: Browser) -> str:
    """Return the page's address (URL fragment) after the page has updated the address."""
    browser.run_script("new Promise((done) => setTimeout(done, 2 * TOLD_MS))")
    address: str = browser.run_script("location.hash")
    return address


def test_stepping_back_restores_the_digest(browser: Browser) -> None:
    load_playground(browser, "#at=500")
    first = read_element_text(browser, "digest")
    browser.run_script("document.getElementById('next').click()")
    assert read_playground_state(browser)["at"] == "501"
    assert read_element_text(browser, "digest") != first
    browser.run_script("document.getElementById('back').click()")
    assert read_element_text(browser, "digest") == first
    browser.run_script("const scrub = document.getElementById('scrub'); scrub.value = 120;"
                       "scrub.dispatchEvent(new Event('input'))")
    assert read_playground_state(browser)["at"] == "120"
    assert read_element_text(browser, "fact-a").startswith("request 120,")


def test_playback_gives_the_digest_of_the_command(browser: Browser) -> None:
    load_playground(browser, "#at=0")
    at = browser.run_script("""new Promise((done) => {
        document.getElementById("play").click();
        setTimeout(() => { document.getElementById("play").click(); done(app.runs.a.at); }, 700);
    })""")
    assert at > 20
    assert simulate_shown_commands(browser) == read_element_text(browser, "digest").split()


def wait_for_target_state(browser: Browser) -> None:
    """Wait until the page has reached its target state."""
    browser.run_script("""new Promise((done) => {
        const look = () => app.target === null ? done() : setTimeout(look, 20);
        look();
    })""")


def test_each_parameter_slider_changes_the_device(browser: Browser) -> None:
    load_playground(browser, "#at=1000")
    for name, setting, option in (("x", "10", "--approx-share"), ("op", "30", "--op"),
                                  ("skew", "1.2", "--zipf-skew"), ("pe", "2000", "--cycles"),
                                  ("months", "6", "--age"), ("w", "40", "--write-share")):
        before = read_element_text(browser, "digest")
        browser.run_script(f"""(() => {{
            const input = document.querySelector('#controls [name={name}]');
            input.value = "{setting}";
            input.dispatchEvent(new Event("input", {{bubbles: true}}));
        }})()""")
        wait_for_target_state(browser)
        assert option in read_element_text(browser, "command")
        assert (read_element_text(browser, "digest") != before) == (name != "months"), name
    assert read_playground_state(browser)["view"] == "errors"


def test_charts_show_values_of_the_whole_run_and_axes_without_tiny_numbers(
        browser: Browser) -> None:
    """Each chart names the value of the run; an axis of zeros has no number but zero."""
    load_playground(browser, "#fill=random&w=100&op=20&at=20000&b=")
    shown = browser.run_script("CHARTS.map(({name}) => read(`value-${name}`))".replace(
        "read(", "((id) => document.getElementById(id).textContent)("))
    assert all(re.search(r"baseline \d", text) for text in shown[2:]), shown
    load_playground(browser, "#fill=none&w=100&at=500&b=")
    texts = browser.run_script("""(() => {
        const texts = [], write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            texts.push(text);
            return write.call(this, text, ...rest);
        };
        drawCharts();
        CanvasRenderingContext2D.prototype.fillText = write;
        return texts;
    })()""")
    assert "1.00 \u00d7" in texts and not [text for text in texts if "e-" in text], texts


def test_runs_are_compared_at_the_same_simulated_time(browser: Browser) -> None:
    """ApproxFTL has completed more requests than the baseline at equal simulated time."""
    load_playground(browser, "#sync=time&at=3000")
    slow, fast = browser.run_script("[app.runs.a.at, app.runs.b.at]")
    assert slow == 3000
    assert fast > 1.2 * slow


def test_a_policy_change_in_mid_run_keeps_the_data(browser: Browser) -> None:
    """A policy change keeps the data; going back in time and forth again gives the same digest."""
    load_playground(browser, "#b=&at=2000&do=1000:a:policy:vth_b;1500:*:age:730")
    found = browser.run_script("""(() => {
        const run = app.runs.a;
        const of = () => [run.device.about.policy, run.state.hours, run.device.digest()];
        const there = of();
        run.go(900);
        const before = of();
        run.go(2000);
        run.device.call("playground_audit");
        const valid = run.state.valid_units;
        return {there, before, again: of(), valid};
    })()""")
    assert found["there"][:2] == ["vth_b", 730]
    assert found["before"][:2] == ["baseline", 0]
    assert found["again"] == found["there"]
    plain = browser.run_script(
        """(() => { const run = new Run(app.module, argsOf(app.state, "baseline"),
        [], []); run.go(2000); return run.state.valid_units; })()""")
    assert found["valid"] == pytest.approx(plain, abs=64)
    assert simulate_shown_commands(browser) == [found["there"][2]]


@pytest.mark.parametrize(("lines", "address"), [
    (1, "#at=2000&do=500:*:age:730;1200:*:policy:tlc;1200:*:gc:9;1999:*:age:8760;2001:*:age:9"),
    (2, "#at=1500&do=400:b:policy:density;900:a:policy:vth_b;900:*:age:48&fill=random"),
    (2, "#at=900&sync=time&do=300:*:policy:vth_b;1000:b:age:5"),
    (2, "#a=vth_b&b=vth_b&at=700&do=0:b:policy:approxftl;700:a:gc_idle_valid:30%25"),
    (1, "#a=vth_b&b=vth_b&at=700&do=0:*:age:99999"),
    (1, "#b=&at=1300&load=60&w=70&do=1000:*:policy:approxftl;1100:a:refresh:30d"),
    (1, "#b=&at=1300&do=777:a:gc_idle_valid:9%25&w=100&more=--zoned+4MiB+--buffer+2MiB+"
        "--buffer_safe+on+--workload+zones+--open-zones+4&size=4KiB&x=0"),
    (1, "#b=&at=600&load=90&more=--beside-rate+400&do=300:*:age:5")])
@pytest.mark.in_turn
def test_shown_commands_with_changes_in_mid_run_reproduce_the_device(
        lines: int, address: str, browser: Browser) -> None:
    """The printed commands give the device at the shown time, also after jumps in time."""
    load_playground(browser, address)
    at = read_playground_state(browser)["at"]
    shown = read_element_text(browser, "digest").split()
    assert len(read_element_text(browser, "command").splitlines()) == lines
    # Two equal devices need only one native run.
    assert simulate_shown_commands(browser) == (shown if lines > 1 else list(dict.fromkeys(shown)))
    browser.run_script("goTo(250)")
    assert set(simulate_shown_commands(browser)) == set(read_element_text(browser,
                                                                          "digest").split()) != set(
        shown)
    browser.run_script(f"goTo({at})")
    assert read_element_text(browser, "digest").split() == shown


@pytest.mark.in_turn
def test_a_change_to_any_policy_in_mid_run_equals_the_native_one(browser: Browser) -> None:
    """Changing to any policy gives the same digest or error message as natively."""
    load_playground(browser)
    found = browser.run_script("""["demo", "qlc"].flatMap((profile) => POLICIES.map((policy) => {
        const state = {...STANDARD, profile, b: "", fill: "random", w: "80", at: "900",
            more: "--blocks 32 --op 60", do: `500:a:policy:${policy}`};
        try {
            const run = new Run(app.module, argsOf(state, state.a), [], actionsOf(state.do, "a"));
            run.go(900);
            return [commandsOf(state, state.at), run.device.digest()];
        } catch (error) {
            return [commandsOf(state, state.at), error.message];
        }
    }))""")
    refused = 0
    for (line,), said in found:
        there = run_native_simulation(*shlex.split(line)[2:])
        refused += "refused" in there
        assert there.get("refused", said).endswith(said), line
        assert "refused" in there or there["runs"][0]["digest"] == said, line
    assert 0 < refused < len(found) / 2


def test_a_parameter_change_in_mid_run_equals_the_native_one(browser: Browser) -> None:
    """A refused change of a parameter is reported, and is not added to the page's address."""
    load_playground(browser, "#at=800")
    write = """(() => { const input = document.getElementById("parameter"); input.value = "%s";
        input.dispatchEvent(new Event("change")); })()"""
    browser.run_script(write % "gc_idle_valid = 30%")
    assert read_playground_state(browser)["do"] == "800:*:gc_idle_valid:30%"
    assert read_element_text(browser, "changes") == "at 800: gc_idle_valid 30%"
    assert simulate_shown_commands(browser) == read_element_text(browser, "digest").split()
    for wrong, said in (("op=50", "which cannot become 50"), ("nix=1", "unknown parameter"),
                        ("gc", "by its name and value"), ("gc=8;9:a:age:1", "by its name and"),
                        ("age=5h", "by its name and"), ("policy=nix", "no policy")):
        browser.run_script(write % wrong)
        assert said in read_element_text(browser, "trouble"), wrong
        assert read_playground_state(browser)["do"] == "800:*:gc_idle_valid:30%"
        assert browser.run_script("app.runs.a.at") == 800
    browser.run_script("document.getElementById('undo').click()")
    assert read_playground_state(browser)["do"] == "" and browser.run_script("app.runs.a.at") == 800


def test_dragging_a_slider_does_not_exhaust_the_memory(browser: Browser) -> None:
    """Creating many devices in sequence does not exhaust the memory."""
    load_playground(browser, "#at=800")
    for share in range(40):
        browser.run_script(f"setState({{x: '{share}'}}, DRAG_MS)")
    wait_for_target_state(browser)
    assert browser.run_script("[app.state.x, app.runs.b.at]") == ["39", 800]
    assert browser.run_script("document.getElementById('trouble').hidden")


# ---------------------------------------------------------------- views

def test_every_view_draws_the_block_that_a_click_selects(browser: Browser) -> None:
    """Each way to draw the flash shows something, and a click selects the drawn block."""
    load_playground(browser, "#b=&a=approxftl&at=3000&fill=random")
    seen = browser.run_script("""VIEWS.map(({name}) => {
        app.state.view = name;
        draw(true);
        const {canvas} = app.pictures.a;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
        copy.drawImage(canvas, 0, 0);
        const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(new Uint32Array(pixels.buffer)).size;
    })""")
    assert min(seen) >= 3, seen
    assert browser.run_script("""(() => {
        const picture = app.pictures.a, box = picture.canvas.getBoundingClientRect();
        const scale = picture.scale() * box.width / picture.canvas.width;
        return [0, 77, 128, 511].every((block) => {
            const place = picture.placeOf(block);
            picture.canvas.dispatchEvent(new MouseEvent("click", {
                clientX: box.left + (place.x + 3.5) * scale,
                clientY: box.top + (place.y + 1.5) * scale}));
            return app.chosen.block === block && app.chosen.page === 3 + picture.layout.width;
        });
    })()""")


#: Colour transforms in linear light for colour-blind viewers (Machado and others, 2009).
SEEN_BY = {
    "all": np.eye(3),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                        [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                          [-0.011820, 0.042940, 0.968881]]),
    "no blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                         [0.004733, 0.691367, 0.303900]]),
}
TO_XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2126729, 0.7151522, 0.0721750],
                   [0.01775, 0.10947, 0.87277]])


def convert_to_cie_lab(colour: str, seen: Any) -> Any:
    """Return a colour in CIE Lab."""
    part = np.array([int(colour[at:at + 2], 16) for at in (1, 3, 5)]) / 255
    light = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
               for value in TO_XYZ @ np.clip(seen @ light, 0, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("ground", ["#e8ebee", "#21262d"])
@pytest.mark.parametrize("view", ["use", "mode", "kind"])
def test_colours_are_distinguishable(view: str, ground: str, browser: Browser) -> None:
    """Any two colours of a legend differ enough, also for colour-blind viewers."""
    load_playground(browser)
    about = {"modes": browser.run_script("app.runs.a.device.about.modes"),
             "kinds": list("abcdefgh")}
    legend = browser.run_script(f"legendOf('{view}', {json.dumps(about)}, '{ground}')")
    assert len(legend) == {"use": 4, "mode": len(about["modes"]), "kind": 8}[view]
    for sight, seen in SEEN_BY.items():
        for (one, first), (other, second) in itertools.combinations(legend, 2):
            apart = np.linalg.norm(convert_to_cie_lab(one, seen) - convert_to_cie_lab(other, seen))
            assert apart > 10, (sight, first, second, one, other)


def open_url_and_read_playground_view(browser: Browser, address: str) -> list[Any]:
    """Open an address; return the selected block and the visible part of each picture."""
    load_playground(browser, address)
    found: list[Any] = browser.run_script("""[app.side, app.chosen, app.cell,
        ...sides().map((side) => app.pictures[side].zoom),
        ...["block-title", "page-title", "cell-text"].map((name) => $(name).textContent)]""")
    return found


@pytest.mark.parametrize("zoom", ["", "&zoom=d1", "&zoom=b177", "&zoom=p177:3.5:-2:60",
                                  "&zoom=p511:900000:0.25:0.01"])
@pytest.mark.in_turn
def test_url_fragment_contains_the_selected_block_page_cell_and_zoom(
        zoom: str, browser: Browser) -> None:
    first = open_url_and_read_playground_view(browser, f"#at=500&see=b:177:19:1:300{zoom}")
    assert first[:3] == ["b", {"block": 177, "page": 19}, {"slot": 1, "at": 300}]
    assert (first[3] is None) == (first[4] is None) == (not zoom)
    assert not zoom or first[3] == pytest.approx(first[4], abs=0.01)
    assert first[5].startswith("Block 177 of die 1, approxftl")
    assert first[6].startswith("Page 19:") and first[7].startswith("Cell 300")
    for key, size in (("x", "wide"), ("y", "tall")) if zoom else ():
        end = first[3][key] + first[3][size]
        assert first[3][key] >= 0
        assert end <= browser.run_script(f"app.pictures.a.layout.{size} + 2")
    browser.run_script("choose('a', 130, 5); chooseCell({slot: 1, at: 77})")
    browser.run_script("""fingered("a", 1.7, ...(() => { const box =
        app.pictures.a.canvas.getBoundingClientRect();
        return [box.left + box.width / 3, box.top + box.height / 3]; })(), 0, 0)""")
    here = browser.run_script("app.pictures.a.zoom")
    there = open_url_and_read_playground_view(browser, read_playground_url_fragment(browser))
    assert there[:3] == ["a", {"block": 130, "page": 5}, {"slot": 1, "at": 77}]
    assert there[3] == pytest.approx(here, abs=0.05)
    # After a change of the window's shape, the same part is visible.
    middle = here["x"] + here["wide"] / 2, here["y"] + here["tall"] / 2
    block = browser.run_script("app.state.zoom").split(":")[0]
    browser.set_screen_size(700, 900)
    try:
        browser.run_script("new Promise((done) => setTimeout(done, 150))")
        assert browser.run_script("app.state.zoom").split(":")[0] == block
        found = browser.run_script("app.pictures.a.wordsOf(app.pictures.a.zoom)")
        assert found.split(":")[0] == block, middle
    finally:
        browser.set_screen_size(1280, 900)


def test_after_rapid_changes_the_url_fragment_has_the_last_state(browser: Browser) -> None:
    """Rapid changes of state update the address only seldom, but always to the last state."""
    load_playground(browser, "#b=&at=10")
    asked = browser.run_script("""(async () => {
        const replace = history.replaceState;
        let asked = 0;
        history.replaceState = (...what) => { asked++; replace.apply(history, what); };
        const end = performance.now() + 1500;
        for (let block = 0; performance.now() < end; block = (block + 1) % 500) {
            choose("a", block, 0);
            await new Promise((done) => setTimeout(done, 4));
        }
        choose("a", 321, 5);
        await new Promise((done) => setTimeout(done, 2 * TOLD_MS));
        history.replaceState = replace;
        return asked;
    })()""")
    assert 1 <= asked <= 7
    assert "see=a%3A321%3A5%3A0%3A0" in browser.run_script("location.hash")
    # A new address takes precedence over a pending update of the old one.
    browser.run_script("""new Promise((done) => {
        choose("a", 1, 1);
        window.addEventListener("hashchange", () => setTimeout(done, 0), {once: true});
        location.hash = "#b=&at=77";
        app.toldAt = -TOLD_MS;
        choose("a", 2, 2);
    })""")
    read_playground_url_fragment(browser)
    assert browser.run_script("[app.runs.a.at, app.chosen.block, location.hash]") == [77, 0,
                                                                                      "#b=&at=77"]


def test_the_zoom_survives_a_reload_and_a_resized_window(browser: Browser) -> None:
    """A reload of the address and a resized window keep the zoom; a new device resets it."""
    load_playground(browser, "#at=300")
    browser.run_script("choose('a', 300, 0); zoomInto('a')")
    assert "zoom=d2" in read_playground_url_fragment(browser)
    browser.run_script("zoomInto('a')")
    address = read_playground_url_fragment(browser)
    assert "zoom=b300" in address and "see=a%3A300%3A0%3A0%3A0" in address
    browser.set_screen_size(600, 900)
    browser.run_script("new Promise((done) => setTimeout(done, 150))")
    assert browser.run_script("app.pictures.a.shows(300) && app.pictures.b.shows(300)")
    browser.set_screen_size(1280, 900)
    browser.run_script("setState({more: '--blocks 32 --op 60'})")
    assert [read_playground_state(browser)[key] for key in ("see", "zoom")] == ["a:0:0:0:0", ""]
    assert browser.run_script("app.pictures.a.zoom") is None
    assert browser.run_script("document.getElementById('trouble').hidden")


def touch_web_page(browser: Browser, *moments: list[tuple[float, float]]) -> None:
    """Touch the page with fingers at given positions, a list for each moment, and lift them."""
    for kind, fingers in zip(["Start"] + ["Move"] * len(moments), moments, strict=False):
        browser.call_method("Input.dispatchTouchEvent", type=f"touch{kind}",
                            touchPoints=[{"x": x, "y": y} for x, y in fingers])
    browser.call_method("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def test_two_fingers_zoom_the_picture_and_one_finger_moves_it(browser: Browser) -> None:
    """Two fingers zoom both pictures; one finger moves a zoomed picture, or scrolls the page."""
    browser.set_screen_size(400, 800)
    load_playground(browser, "#at=500")
    browser.call_method("Emulation.setTouchEmulationEnabled", enabled=True)
    under = """(() => { const found = app.pictures.a.find(%f, %f);
        return found && [found.block, found.page]; })()"""
    try:
        left, top, wide, tall = browser.run_script("""(() => {
            app.pictures.a.canvas.scrollIntoView({block: "center"});
            const box = app.pictures.a.canvas.getBoundingClientRect();
            return [box.left, box.top, box.width, box.height];
        })()""")
        x, y = left + wide * 0.3, top + tall * 0.4
        before = browser.run_script(under % (x, y))
        scale = browser.run_script("app.pictures.a.scale()")
        touch_web_page(browser, *([(x - 10 - 5 * i, y), (x + 10 + 5 * i, y)] for i in range(9)))
        assert browser.run_script("app.pictures.a.scale()") == pytest.approx(5 * scale, rel=0.05)
        assert browser.run_script(under % (x, y)) == before
        assert browser.run_script("app.pictures.b.zoom") == browser.run_script(
            "app.pictures.a.zoom")
        chosen = browser.run_script("app.chosen")
        touch_web_page(browser, *([(x + 4 * i, y + 3 * i)] for i in range(6)))
        assert browser.run_script(under % (x + 20, y + 15)) == before
        assert browser.run_script("app.chosen") == chosen
        touch_web_page(browser, *([(x - 60 + 6 * i, y), (x + 60 - 6 * i, y)] for i in range(10)))
        assert browser.run_script("app.pictures.a.zoom") is None
        # Without zoom, one finger scrolls the page.
        assert browser.run_script("getComputedStyle(app.pictures.a.canvas).touchAction") \
            == "pan-x pan-y"
        touch_web_page(browser, [(x, y)])
        assert browser.run_script("app.chosen.block") == before[0]
    finally:
        browser.call_method("Emulation.setTouchEmulationEnabled", enabled=False)
        browser.set_screen_size(1280, 900)


def test_dragging_the_picture_selects_no_block(browser: Browser) -> None:
    load_playground(browser, "#b=&at=500")
    browser.run_script("app.chosen = {block: 200, page: 3}; zoomInto('a'); zoomInto('a')")
    before = browser.run_script("app.pictures.a.zoom")
    x, y = browser.run_script("""(() => { const box = app.pictures.a.canvas.getBoundingClientRect();
        return [box.left + 90, box.top + 90]; })()""")
    seen = []
    for far in (0, 60):
        for kind, at in (("Pressed", 0), ("Moved", far / 2), ("Moved", far), ("Released", far)):
            browser.call_method("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x + far - at,
                                y=y - at, button="left", buttons=1, clickCount=1)
        seen.append(browser.run_script("[app.chosen, app.pictures.a.zoom]"))
    (clicked, still), (moved, elsewhere) = seen
    assert clicked["page"] != 3 and moved == clicked
    assert elsewhere is not None and elsewhere != still == before


def test_history_of_a_block_equals_that_of_the_simulator(browser: Browser) -> None:
    """What the page says of a block agrees with the native simulator's block table."""
    load_playground(browser, "#b=&a=approxftl&at=900&size=4KiB")
    words = shlex.split(read_element_text(browser, "command"))
    table = run_native_simulation(*words[2:], "--block-table")["runs"][0]["block_table"]
    for block in (0, 1, 2, 128):
        told = browser.run_script(f"""(() => {{ const before = app.runs.a.device.copy();
            app.runs.a.device.call("playground_complete_all_requests");
            const told = app.runs.a.device.json("playground_describe_block", {block});
            app.runs.a.device.restore(before); return told; }})()""")
        for ours, theirs in (("state", "state"), ("valid", "valid_units"), ("erases", "erases")):
            assert told[ours] == table[theirs][block], (block, ours)
    browser.run_script("choose('a', 0, 0)")
    text = browser.run_script("document.getElementById('history').textContent")
    assert re.fullmatch(r"programmed \w+, host write at request \d+, .*", text)


def test_the_page_is_usable_by_keyboard(browser: Browser) -> None:
    load_playground(browser, "#at=200")
    press = """(target, key) => target.dispatchEvent(
        new KeyboardEvent("keydown", {key, bubbles: true}))"""
    browser.run_script(f"""(() => {{ const press = {press}; const picture = app.pictures.a.canvas;
        picture.focus(); press(picture, "ArrowRight"); press(picture, "Enter");
        press(document.getElementById("block"), "ArrowDown"); }})()""")
    assert browser.run_script("app.chosen") == {"block": 1, "page": 16}
    assert browser.run_script("app.pictures.a.zoom !== null")
    browser.run_script(f"({press})(document.body, 'Escape'); ({press})(document.body, '.')")
    assert browser.run_script("app.pictures.a.zoom") is None
    assert read_playground_state(browser)["at"] == "201"


def test_each_control_has_an_accessible_name(browser: Browser) -> None:
    """Each control has a name in the accessibility tree."""
    load_playground(browser)
    for place in ("device", "content", "course", "files"):
        browser.run_script(f"showPlace('{place}')")
        nodes = browser.call_method("Accessibility.getFullAXTree")["nodes"]
        for node in nodes:
            role = node.get("role", {}).get("value")
            if not node["ignored"] and role in ("button", "slider", "textbox", "combobox", "img",
                                                "image", "link"):
                assert node.get("name", {}).get("value"), (place, role, node.get("properties"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_on_a_narrow_screen(scheme: str, browser: Browser) -> None:
    """A screen of 400 pixels' width cuts nothing off."""
    browser.set_screen_size(400, 800)
    browser.call_method("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}])
    load_playground(browser)
    for place in ("device", "content", "course", "files"):
        browser.run_script(f"showPlace('{place}')")
        assert browser.run_script("document.documentElement.scrollWidth") <= 400, place
    browser.run_script("showPlace('course')")
    assert max(browser.run_script("""TOURS.map((tour, i) => { showTour(i);
        document.querySelector("#tour .all").click();
        return document.documentElement.scrollWidth; })""")) <= 400
    dark = browser.run_script("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (scheme == "light")
    browser.call_method("Emulation.setEmulatedMedia", features=[])
    browser.set_screen_size(1280, 900)


# ---------------------------------------------------------------- approximate content

def test_flipped_bits_equal_the_devices_count(browser: Browser) -> None:
    """Flipped bits equal the device's count, hit no precise data, and grow with wear and age."""
    load_playground(browser, "#place=content")
    found = browser.run_script("""[[0, 0], [3000, 12], [8000, 48]].flatMap(([pe, months]) =>
        ["approxftl", "baseline"].flatMap((policy) => [true, false].map((approximate) => {
            const {flipped, counted, lost} = throughDevice(app.module, KINDS[0].bytes,
                {approximate, policy, pe, months, seed: "1"});
            return {pe, policy, approximate, flipped, counted, lost};
        })))""")
    assert all(one["flipped"] == one["counted"] for one in found if not one["lost"])
    spoiled = [one["flipped"] for one in found if one["approximate"] and
               one["policy"] == "approxftl"]
    assert spoiled == sorted(spoiled)
    assert spoiled[1] > 100
    assert all(one["flipped"] == 0 for one in found
               if not one["lost"] and not (one["approximate"] and one["policy"] == "approxftl"))


def test_flipped_bits_of_sample_files_equal_the_devices_count(browser: Browser) -> None:
    load_playground(browser, "#place=content")
    for name in ("picture", "sound", "numbers"):
        for kind in ("approximate", "precise"):
            text = browser.run_script(
                f"[...document.querySelectorAll('#sample-{name} .{kind} p')].at(-1)"
                ".textContent")
            told = re.search(r"(\d+) of \d+ bits have flipped, the device counted (\d+)", text)
            assert told, text
            assert told[1] == told[2]
            assert (told[1] == "0") == (kind == "precise")
    assert "PSNR ∞" in browser.run_script(
        "document.querySelector('#sample-picture .precise').textContent")


def test_url_fragment_contains_the_ageing_parameters_of_sample_files(browser: Browser) -> None:
    load_playground(browser, "#place=content&rot=vth_b:5000:24&seed=3")
    texts = "[...document.querySelectorAll('.sample p')].map((one) => one.textContent)"
    first = browser.run_script(texts)
    browser.run_script("""(() => { const {pe} = document.getElementById("content-controls");
        pe.value = "750";
        pe.dispatchEvent(new Event("input", {bubbles: true})); })()""")
    assert browser.run_script(texts) != first
    address = read_playground_url_fragment(browser)
    assert "rot=vth_b%3A750%3A24" in address
    second = browser.run_script(texts)
    load_playground(browser, "#place=content&rot=vth_b:5000:24&seed=3")
    assert browser.run_script(texts) == first
    browser.run_script(f"""new Promise((done) => {{ location.hash = "{address}";
        window.addEventListener("hashchange", () => setTimeout(done, 0)); }})""")
    assert browser.run_script(texts) == second


def test_a_picture_of_the_user_is_scaled_to_the_sample_size(browser: Browser) -> None:
    load_playground(browser, "#place=content")
    picture = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
        "rkJggg==")
    bytes_ = list(picture)
    length = browser.run_script(f"""(async () => {{
        const file = new File([Uint8Array.from({bytes_})], "a.png", {{type: "image/png"}});
        const pixels = await pictureOf(file);
        return pixels.length;
    }})()""")
    assert length == 160 * 160 * 3


# ---------------------------------------------------------------- course

TOURS = range(10)


def test_the_course_has_ten_tours(browser: Browser) -> None:
    load_playground(browser, "#place=course")
    assert browser.run_script("TOURS.length") == len(TOURS)


def estimate_tour_seconds(browser: Browser, number: int) -> float:
    """Estimate how long a guided tour takes by its text, requests, devices to see and tasks."""
    text, *counts = browser.run_script("""(() => {
        const all = (what) => document.querySelectorAll(`#tour ${what}`);
        const read = [...all(".part > p:not(.verdict), .choice")].map((one) => one.textContent);
        return [read.join(" "), ...[".show", ".try", ".part:has(.choice)"]
            .map((what) => all(what).length)];
    })()""")
    looks, tasks, questions = counts
    assert looks >= 3 and tasks >= 2 and questions >= 4
    requests: int = browser.run_script(f"""TOURS[{number}].parts.filter(({{state}}) => state)
        .reduce((sum, {{state}}) => sum + Number(state.at), 0)""")
    seconds = 0.3 * len(text.split()) + 30 * (looks + questions) + 90 * tasks
    return float(seconds + requests / 10 ** 2.5)


ANSWER = """(() => {
    const part = document.querySelectorAll("#tour .part")[%d];
    return [...part.querySelectorAll(".choice")].map((choice) => {
        choice.click();
        const verdict = part.querySelector(".verdict");
        return [verdict.className, verdict.textContent];
    });
})()"""


@pytest.mark.parametrize("number", TOURS)
def test_tours_ask_before_they_explain(number: int, browser: Browser) -> None:
    """In a guided tour, questions with one right answer precede explanations; it takes 10 min."""
    load_playground(browser, f"#b=&at=0&place=course&tour={number + 1}")
    seen = """[...document.querySelectorAll("#tour .part")].filter((part) => part.checkVisibility())
        .length"""
    kinds = browser.run_script(f"TOURS[{number}].parts.map((part) => Boolean(part.question))")
    questions = [at for at, is_question in enumerate(kinds) if is_question]
    for at in questions:
        assert browser.run_script(seen) == at + 1
        verdicts = browser.run_script(ANSWER % at)
        assert sorted(one for one, _ in verdicts) == [
            "verdict right"] + ["verdict wrong"] * (len(verdicts) - 1)
        for one, text in verdicts:
            assert text.startswith("Right. " if one.endswith("right") else "Not so. ")
            assert re.search(r"\d", text), text
            assert not re.search("NaN|undefined|Infinity|\u2013", text), text
    assert browser.run_script(seen) == len(kinds)
    assert browser.run_script("document.querySelector('#tour .all').hidden")
    # Answers are kept while another part of the page is shown.
    browser.run_script("showPlace('device'); showPlace('course')")
    answered = "document.querySelectorAll('#tour .verdict:not([hidden])').length"
    assert browser.run_script(f"[{seen}, {answered}]") == [len(kinds), len(questions)]
    minutes = estimate_tour_seconds(browser, number) / 60
    title = read_element_text(browser, "tour")
    told = re.match(rf"{number + 1}\. .*?About (\d+) minutes to read", title)
    assert told and int(told[1]) == round(minutes) and 9 <= minutes <= 12, minutes
    assert browser.run_script("document.querySelector('#tours [aria-current]').textContent") \
        in title
    assert browser.run_script("document.getElementById('trouble').hidden")


def test_all_parts_of_a_tour_can_be_shown_at_once(browser: Browser) -> None:
    load_playground(browser, "#b=&at=0&place=course&tour=3")
    assert browser.run_script("""(() => {
        const hidden = () => document.querySelectorAll("#tour .part[hidden]").length;
        const before = hidden();
        document.querySelector("#tour .all").click();
        const answered = document.querySelectorAll("#tour .right, #tour .wrong").length;
        return [before > 5, hidden(), answered];
    })()""") == [True, 0, 0]


TASK = """(() => {
    const strip = document.getElementById("task");
    const text = () => strip.hidden ? "" : document.getElementById("task-text").textContent;
    const patient = goTo;
    goTo = (at) => patient(at, Infinity);
    try {
        return [...document.querySelectorAll("#tour .part")].map((part, i) => {
            const button = part.querySelector(".try");
            if (!button)
                return null;
            button.click();
            const before = [app.state.place, app.task.over, text()];
            document.getElementById("task-way").click();
            const after = [app.task.over, text(), document.getElementById("trouble").textContent];
            document.getElementById("task-back").click();
            const top = document.querySelectorAll("#tour .part")[i].getBoundingClientRect().top;
            return {ask: part.querySelector("p").textContent, before, after,
                back: [app.state.place, text(), app.part === i && top >= 0 && top < innerHeight]};
        }).filter(Boolean);
    } finally {
        goTo = patient;
    }
})()"""


@pytest.mark.parametrize("number", TOURS)
@pytest.mark.in_turn
def test_a_tour_task_is_done_only_after_its_solution(number: int, browser: Browser) -> None:
    """A guided tour's task is not fulfilled at its start; the offered solution fulfils it."""
    load_playground(browser, f"#b=&at=0&place=course&tour={number + 1}")
    browser.run_script("document.querySelector('#tour .all').click()")
    tasks = browser.run_script(TASK)
    assert len(tasks) >= 2
    for found in tasks:
        assert found["before"] == ["device", False, found["ask"]]
        over, text, trouble = found["after"]
        assert over and re.match(r"Done\. .*\d", text) and "NaN" not in text, (text, trouble)
        assert found["back"] == ["course", "", True]


def test_playback_completes_a_task_of_the_course(browser: Browser) -> None:
    load_playground(browser, "#place=course")
    assert browser.run_script("""new Promise((done) => {
        beginTask(TOURS[0].parts.find(({ask}) => ask));
        document.getElementById("speed").value = 5;
        const before = app.task.over;
        setPlaying(true);
        const look = () => app.task.over || app.runs.a.at > 20000 ?
            done([before, app.task.over, document.getElementById("task-way").hidden]) :
            setTimeout(look, 20);
        look();
    })""") == [False, True, True]
    # Another device of the course has no task.
    assert browser.run_script("""(() => {
        showStep(TOURS[0].parts.find(({state}) => state).state);
        return document.getElementById("task").hidden;
    })()""")


def test_shown_device_lifetime_follows_from_the_number_of_erases(browser: Browser) -> None:
    load_playground(browser)
    options = "--channels 1 --chips 1 --blocks 64 --fill random --write-share 100% --op 20%"
    counters = [run_native_simulation(*options.split(), "--requests", count)["runs"][0]["counters"]
                for count in ("8000", "24000")]
    host, erases = (counters[1][key] - counters[0][key]
                    for key in ("host_write_units", "array_erases"))
    shown, blocks, units = browser.run_script(f"""(() => {{
        const device = new Device(app.module, "{options}".split(" "));
        const at = (requests) => (
            device.call("playground_run_to_request_or_time", requests, FOREVER), device.state());
        const [then, now] = [at(8000), at(24000)];
        const lifetime = CHARTS.find((chart) => chart.name === "lifetime");
        return [lifetime.of(now, then), now.blocks, now.units];
    }})()""")
    assert erases > 100 and blocks == 64
    assert shown == pytest.approx(3000 * blocks * host / erases / units, rel=0.02)


@pytest.mark.in_turn
def test_each_tour_step_shows_the_device_that_it_describes(browser: Browser) -> None:
    """Each step of a guided tour creates its device, and shows the device or a file on it."""
    load_playground(browser, "#place=course")
    steps = browser.run_script(
        """(() => { const patient = goTo; goTo = (at) => patient(at, Infinity);
        return TOURS.flatMap((tour, number) => tour.parts.map((part, i) => {
        if (!part.state || part.ask)
            return null;
        showPlace("course");
        showTour(number);
        document.querySelectorAll("#tour .part")[i].querySelector(".show").click();
        const trouble = document.getElementById("trouble");
        const there = app.state.place === (part.state.place || "device") &&
            app.runs.a.at === Number(part.state.at);
        return [trouble.hidden && there ? "" : `${tour.title}: ${trouble.textContent}`,
            app.state.place];
    })).filter(Boolean); })()""")
    assert len(steps) > 30 and [said for said, _ in steps if said] == []
    assert {place for _, place in steps} == {"device", "content"}


# ---------------------------------------------------------------- files

@pytest.fixture(scope="module")
def recorded_stream_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record file of 20000 requests."""
    path = tmp_path_factory.mktemp("records") / "stream.aft"
    run_native_simulation("--requests", "20000", "--write-share", "0.9", "--approx-share", "0.3",
                          "--record", str(path))
    return path


def convert_trace(source: Path, target: Path, *options: str) -> None:
    done = run_program(PROGRAM.with_name("approxftl-trace"), "convert", *options, str(source),
                       str(target))
    assert done.code == 0, done.err


@pytest.mark.parametrize("kind", ["aft", "msr", "blktrace", "iolog", "csv"])
def test_a_trace_dropped_on_the_page_equals_the_converted_trace(kind: str,
                                                                recorded_stream_file: Path,
                                                                browser: Browser,
                                                                tmp_path: Path) -> None:
    """A trace dropped on the page gives the requests that approxftl trace convert writes."""
    source, converted = tmp_path / f"-it's $dropped.{kind}", tmp_path / "converted.aft"
    convert_trace(recorded_stream_file, source, "--to", kind)
    convert_trace(source, converted)
    load_playground(browser)
    assert "20000 requests" in drop_file(browser, source.name, source.read_bytes())
    browser.run_script("goTo(100000, Infinity)")
    arguments, digest, over = browser.run_script("""[argsOf(app.state, "baseline"),
        app.runs.a.device.digest(), app.runs.a.over]""")
    arguments = [str(converted) if word == "dropped.aft" else word for word in arguments]
    assert run_native_simulation(*arguments)["runs"][0]["digest"] == digest
    assert over is True
    # The printed command names the file as it was dropped.
    browser.run_script("""setState({a: "baseline", b: "vth_b", at: "7000", do: "5000:*:age:730"});
        showPlace("device");""")
    wait_for_target_state(browser)
    assert simulate_shown_commands(browser, tmp_path) == read_element_text(browser,
                                                                           "digest").split()


def test_a_compressed_trace_is_unpacked_and_played(recorded_stream_file: Path,
                                                   browser: Browser) -> None:
    load_playground(browser)
    assert "20000 requests" in drop_file(browser, "stream.aft.gz",
                                         gzip.compress(recorded_stream_file.read_bytes()))
    assert "expand it first" in drop_file(browser, "stream", b"BZh" + bytes(100))


def test_a_saved_state_contains_the_position_in_the_trace(recorded_stream_file: Path,
                                                          browser: Browser) -> None:
    """The position in the trace file is part of a saved state."""
    load_playground(browser)
    assert "20000 requests" in drop_file(browser, "stream.aft", recorded_stream_file.read_bytes())
    same = browser.run_script("""(() => { const run = app.runs.a; run.go(9000);
        const digest = run.device.digest(); run.go(16000); run.go(1000); run.go(9000);
        return digest === run.device.digest(); })()""")
    assert same


@pytest.mark.parametrize("start", [(), ("--fill", "none")])
def test_a_report_dropped_on_the_page_opens_its_devices(browser: Browser, tmp_path: Path,
                                                        start: tuple[str, ...]) -> None:
    """Dropping a report opens the devices that it describes."""
    path = tmp_path / "report.json"
    done = run_program(PROGRAM, "sim", "--profile=demo", "--policy", "vth_b,approxftl", *start,
                       "--write-share", "0.75", "--approx-share", "40%", "--requests",
                       "1500", "--warmup", "200", "--gc", "5", f"--json={path}", "-q")
    assert done.code == 0
    load_playground(browser)
    drop_file(browser, "report.json", path.read_bytes())
    browser.run_script("showPlace('device')")
    assert simulate_shown_commands(browser) == read_element_text(browser, "digest").split()
    digests = [run["digest"] for run in json.loads(path.read_text())["runs"]]
    assert read_element_text(browser, "digest").split() == digests


def test_without_parameters_the_page_opens_on_devices_that_collect_garbage(
        browser: Browser) -> None:
    browser.call_method("Page.navigate", url="about:blank")
    browser.call_method("Page.navigate", url=PAGE.as_uri())
    state, playing, erases, points = browser.run_script("""new Promise((done) => {
        const look = () => {
            if (document.body && document.body.dataset.ready && app.runs.b &&
                app.runs.b.at > 12000)
                done([addressOf(app.state), app.playing,
                    SIDES.map((side) => app.runs[side].state.counters.array_erases),
                    CHARTS.map((chart) => app.samples.b.points(chart).length)]);
            else
                setTimeout(look, 20);
        };
        look();
    })""")
    assert "fill=random" in state and playing
    assert min(erases) > 0 and min(points) > 10


def test_the_play_button_is_on_the_first_screen_of_a_phone(browser: Browser) -> None:
    browser.set_screen_size(400, 800)
    try:
        browser.open_playground(PAGE)
        top, bottom, wide = browser.run_script("""(() => {
            const box = document.getElementById("play").getBoundingClientRect();
            return [box.top, box.bottom, document.documentElement.scrollWidth];
        })()""")
    finally:
        browser.set_screen_size(1280, 900)
    assert 0 <= top < bottom <= 400
    assert wide <= 400


def test_values_of_sliders_have_units(browser: Browser) -> None:
    browser.open_playground(PAGE, "#w=70&op=20&pe=300&months=3")
    assert browser.run_script("[...document.querySelectorAll('#controls .value')].map((one) =>"
                              " one.textContent)") == ["70 %", "50 %", "0", "20 %", "300 cycles",
                                                       "3 months"]
