# SPDX-License-Identifier: GPL-2.0-only
"""Test the cells of a page that the playground draws: their voltages and their flipped bits."""

import json
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from selftests.playground.support import Browser, load_playground, needs_page, read_element_text

from aftl_physics import cell, layers, tables

pytestmark = needs_page

#: Some pages of a worn device with aged data, with the data of their cells.
PAGES = """(() => {
    const device = new Device(app.module, %s);
    device.call("playground_run_to_request_or_time", 3000, FOREVER);
    device.call("playground_complete_all_requests");
    device.call("playground_age", %d);
    const {pages, layers} = device.about;
    const found = [];
    for (let block = 0; block < 40; block += 3)
        for (let page = block %% 5; page < pages; page += 7) {
            const {layer} = device.json("playground_describe_page", block, page);
            const {words, spreads, ...cells} = device.cells(block, page, 0);
            found.push({...cells, layer, layers});
        }
    return found;
})()"""


def list_flash_pages_in_playground(browser: Browser, policy: str, hours: int,
                                   *options: str) -> list[dict[str, Any]]:
    arguments = ["--policy", policy, "--blocks", "32", "--op", "60", "--write-share", "100%",
                 "--approx-share", "0.5", *options]
    found: list[dict[str, Any]] = browser.run_script(PAGES % (json.dumps(arguments), hours))
    return found


@pytest.mark.parametrize("cycles", [0, 5000])
@pytest.mark.parametrize("policy", ["approxftl", "vth_b", "baseline", "delta_b", "agcr"])
@pytest.mark.in_turn
def test_voltage_states_drawn_by_the_playground_imply_the_simulated_error_rate(
        policy: str, cycles: int, browser: Browser) -> None:
    """The drawn states imply the core's bit error rate at grid points of the tables, within 2 %."""
    load_playground(browser)
    steps = ("--read_coarse", "310us", "--read_fine", "70us") if policy == "agcr" else ()
    found = list_flash_pages_in_playground(browser, policy, 8760, "--cell_model", "voltage",
                                           "--cycles",
                                           str(cycles), "--bits", "2", "--refresh", "0", *steps)
    explained = [one for one in found if one["programmed"] and one["states"] and
                 one["disturb_mv"] in tables.DISTURB_AXIS_MV and one["cycles"] == cycles and
                 one["hours"] == 8760 and not one["assigned"]]
    assert len(explained) > 20 or policy == "agcr"
    assert len(explained) > 3
    for one in explained:
        factor = layers.layer_factors_q8()[one["layer"] * layers.POINTS // one["layers"]] / 256
        assert one["states_q40"] * factor == pytest.approx(one["rber_q40"], rel=0.02, abs=3), one


#: One page of each kind that the policy writes, with the states as they are drawn.
SPREADS = """(() => {
    const device = new Device(app.module, %s);
    device.call("playground_run_to_request_or_time", 2000, FOREVER);
    device.call("playground_age", %d);
    const found = {};
    for (let block = 0; block < 128; block++)
        for (let page = 0; page < 64; page++) {
             const {programmed, mode, class: kind} =
                 device.json("playground_describe_page", block, page);
            if (!programmed || found[`${mode} ${kind}`])
                continue;
            const {words, spreads, ...cells} = device.cells(block, page, 0);
            found[`${mode} ${kind}`] = {...cells, name: device.about.modes[mode], kind,
                spreads: spreads.map((one) => [...one])};
        }
    return Object.values(found);
})()"""
CURVES = {"normal": "MLC_PRECISE", "between": "MLC_PRECISE", "after": "MLC_PRECISE",
          "reduced": "MLC_APPROX", "coarse": "MLC_DELTA_B", "slc": "SLC_MODE"}


@pytest.mark.parametrize(("cycles", "hours"), [(0, 0), (500, 24), (4321, 9000)])
@pytest.mark.parametrize("policy", ["approxftl", "delta_b", "baseline"])
def test_the_drawn_voltage_states_are_those_of_the_cell_model(policy: str, cycles: int, hours: int,
                                                              browser: Browser) -> None:
    """The drawn histograms and reference voltages are the cell model's, also in the tails."""
    load_playground(browser)
    options = ["--policy", policy, "--blocks", "32", "--op", "60", "--write-share", "100%",
               "--approx-share", "0.5", "--cycles", str(cycles), "--refresh", "0"]
    if policy == "baseline":
        options[3] = "64"
        options += ["--slc_static", "20%", "--bits", "2"]
    found = browser.run_script(SPREADS % (json.dumps(options), hours))
    assert len(found) >= (4 if policy == "approxftl" else 1)
    for one in found:
        channel = tables.cells_by_program_mode()[CURVES[one["name"]]]
        assert one["assigned"] == (one["name"] == "coarse")
        disturb = tables.EXACT_DISTURB_MV.get(one["disturb_mv"], float(one["disturb_mv"]))
        states = cell.state_distributions(channel, disturb, one["cycles"], one["hours"])
        assert len(states) == one["states"] == len(one["spreads"])
        first = -round(one["below_zero_mv"] / 1000 / cell.GRID_V)
        for model, drawn in zip(states, one["spreads"], strict=True):
            start = model.first - first
            ours = np.array(drawn)[start:start + len(model.mass)]
            assert np.allclose(ours, model.mass, rtol=1e-3, atol=1e-18)
            assert sum(drawn) == pytest.approx(1, abs=1e-9)
        for reference, (low, high) in zip(one["references_mv"], pairwise(states), strict=True):
            wrong = [float(low.mass[max(at - low.first, 0):].sum() +
                           high.mass[:max(at - high.first, 0)].sum())
                     for at in range(low.first, high.first + len(high.mass))]
            at = round(reference / 1000 / cell.GRID_V + 0.5) - low.first
            assert wrong[at] == pytest.approx(min(wrong), rel=1e-3)
            assert min(wrong) == pytest.approx(cell.misread_probability(low, high), rel=1e-6)


def test_flipped_bits_are_cells_beyond_a_reference_voltage(browser: Browser) -> None:
    load_playground(browser, "#a=approxftl&b=&at=2500&pe=3000&months=12&fill=sequential")
    found = browser.run_script("""(() => {
        const {device} = app.runs.a;
        const found = [];
        for (let at = 0; at < 40 * device.about.pages; at += 9) {
            const [block, page] = [Math.floor(at / device.about.pages), at % device.about.pages];
            const {slots, class: kind} = device.json("playground_describe_page", block, page);
            if (!slots || !slots[0].flips || !kind)
                continue;
            const cells = device.cells(block, page, 0);
            const crossed = [...cells.words.keys()].filter((at) => cells.words[at] >> 24);
            found.push({flipped: slots[0].flipped, crossed, baked: cells.baked,
                sides: [...cells.words].every((one) => {
                    const {mv, state, crossed} = cellOf(one);
                    return crossed === (readAs(cells, mv) !== state);
                })});
        }
        return found;
    })()""")
    assert len(found) > 20
    assert any(one["baked"] for one in found) and any(not one["baked"] for one in found)
    for one in found:
        assert one["sides"]
        assert one["crossed"] == sorted(one["flipped"][one["baked"]:])


def test_flash_pages_without_a_voltage_model_show_no_voltage_states(browser: Browser) -> None:
    """Pages without a voltage model (such as TLC) show errors, but no V_th states."""
    load_playground(
        browser, "#profile=micro19&b=&a=baseline&at=400&pe=2000&months=6&fill=sequential")
    assert "no voltages" in read_element_text(browser, "cells-text")
    assert browser.run_script("document.getElementById('spread').hidden")
    assert browser.run_script("document.getElementById('cells').height") == 16 * 1024 * 8 / 256
    # No voltage model exists for pages with both coarse steps and a low top voltage.
    load_playground(
        browser, "#b=&a=levels&x=100&at=400&pe=3000&more=--bits+2+--level_3_share+100%25")
    assert "programmed rough" in read_element_text(browser, "page-text")
    assert "no voltages" in read_element_text(browser, "cells-text")
    load_playground(browser, "#b=&at=0")
    assert read_element_text(browser,
                             "cells-text").startswith("Erased: all cells are in the lowest state")
    assert re.fullmatch(r"Cell 0: erased, at \d\.\d\d V", read_element_text(browser, "cell-text"))


def test_keyboard_keys_zoom_from_the_device_to_a_cell_and_back(browser: Browser) -> None:
    """The keyboard alone leads from the die to block, page and cells, and back."""
    load_playground(browser, "#b=&a=approxftl&at=2000")
    press = """(key) => { document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", {key, bubbles: true})); return document.activeElement.id; }"""
    browser.run_script("app.pictures.a.canvas.focus()")
    keys = ("Enter", "Enter", "Enter", "ArrowRight", "Enter", "ArrowRight", "ArrowDown", "ArrowUp",
            "ArrowDown")
    at = [browser.run_script(f"({press})('{key}')") for key in keys]
    assert at == ["picture-a"] * 2 + ["block"] * 2 + ["cells"] * 5
    assert browser.run_script("[app.chosen.page, app.cell.at]") == [1, 257]
    told = re.fullmatch(r"Cell 257: programmed to state (\d), now at \d\.\d\d V, read as (\d)",
                        read_element_text(browser, "cell-text"))
    assert told and told[1] == told[2]
    assert [browser.run_script(f"({press})('Escape')") for _ in range(2)] == ["block", "picture-a"]
    assert browser.run_script("app.pictures.a.zoom !== null")
    browser.run_script(f"({press})('Escape')")
    assert browser.run_script("app.pictures.a.zoom") is None


def test_each_unit_of_a_flash_page_has_its_own_cells(browser: Browser) -> None:
    """Each mapping unit of a page has its own cells, and a click on one shows the unit's cells."""
    load_playground(browser, "#b=&at=2000")
    texts = browser.run_script("""["0", "1"].map((slot) => {
        const choice = document.getElementById("slot");
        choice.value = slot;
        choice.dispatchEvent(new Event("change"));
        const canvas = document.getElementById("cells"), box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent("click", {clientX: box.left + box.width * 10.5 / 256,
            clientY: box.top + box.height * 3.5 / 128}));
        return [document.getElementById("cells-title").textContent, app.cell.at];
    })""")
    for _, at in texts:
        # The browser rounds the coordinates of a click.
        assert at // 256 in (2, 3) and at % 256 in (9, 10)
    assert texts[0][0] != texts[1][0]
