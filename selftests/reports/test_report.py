# SPDX-License-Identifier: GPL-2.0-only
"""The HTML report in a real browser: complete, readable, and without a network."""

import base64
import csv
import gzip
import io
import json
import math
import re
from collections.abc import Iterator
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]
from selftests.lib.programs import (
    TOP,
    install_verb_with_module,
    install_verb_without_module,
    run_program,
)
from selftests.playground.support import Browser
from selftests.reports.support import (
    EVERYTHING,
    FULL,
    POLICIES,
    STREAM,
    WEAK_MARKS,
    Json,
    find_urls_in_page,
    load_fresh_page,
    make_page_with_script,
    open_page_headless,
    press_key,
    read_console_messages,
    run_approxftl_ok,
    run_script,
    simulate_to_file,
    write_report_input_files,
)

from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.seeds import average_runs_over_seeds, mean_of_values

#: At least one figure of each kind.
FIGURES = ("response", "class-response", "cdf-read", "cdf-write", "block-kinds", "modes",
           "energy", "write-amplification", "wear", "quality", "wear-map-1", "page-map-1",
           "luns-1", "timeline-1", "device-throughput", "device-amplification", "record-rate",
           "record-map", "record-sizes", "replay", "replay-lag")


@pytest.fixture(scope="module")
def report_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report")
    inputs = write_report_input_files(directory)
    path = directory / "report.html"
    told = run_approxftl_ok("report", *inputs, "-O", path, "--title", "Four <policies> & a device")
    assert told == f"{path}: {EVERYTHING}\n"
    return path


@pytest.fixture(scope="module")
def report_dom(report_page: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The DOM of the page before any script has redrawn a chart."""
    still = report_page.with_name("still.html")
    still.write_text(report_page.read_text().replace('class="spec"', 'class="unused"'))
    done = open_page_headless(still, tmp_path_factory.mktemp("profile"), "--dump-dom")
    assert done.code == 0, done.err
    assert read_console_messages(done) == []
    return done.out


def find_figure_element(dom: str, name: str) -> str:
    found = re.search(rf'<figure id="{name}">.*?</figure>', dom, re.S)
    assert found, name
    return found[0]


def read_figure_rows(dom: str, name: str) -> list[list[str]]:
    """Return the CSV data that a chart of the report offers for download."""
    link = re.search(r'href="data:text/csv;charset=utf-8,([^"]*)"', find_figure_element(dom, name))
    assert link, name
    return list(csv.reader(io.StringIO(unquote(unescape(link[1])))))


def test_the_page_has_all_sections_in_order(report_dom: str) -> None:
    for section in ("tables", "figures", "provenance"):
        assert f'<section id="{section}">' in report_dom
    assert 'id="missing"' not in report_dom
    places = [report_dom.index(one) for one in ('id="answer"', '<figure id="ratios"', 'id="tables"',
                                                'id="figures"', 'id="provenance"')]
    assert places == sorted(places)
    for name in FIGURES:
        element = find_figure_element(report_dom, name)
        assert re.search(r"<svg [^>]*role=\"img\"", element), name
        assert re.search(r"<(rect|path|circle)\b", element), name
        assert "<table>" in element and "<summary>" in element, name
    assert report_dom.count("<figure ") == report_dom.count("<svg ") == report_dom.count(
        'class="csv"')
    for policy in POLICIES:
        assert f'<th scope="col">{policy}</th>' in report_dom


def test_the_page_refers_to_nothing_external(report_page: Path) -> None:
    for reference in find_urls_in_page(report_page.read_text()):
        assert reference.startswith(("#", "data:")), reference
    assert "://" not in report_page.read_text()


def test_html_identifiers_are_unique(report_dom: str) -> None:
    identifiers = re.findall(r'\bid="([^"]+)"', report_dom)
    assert len(identifiers) == len(set(identifiers))
    for reference in re.findall(r'href="#([^"]+)"', report_dom):
        assert reference in identifiers
    for names in re.findall(r'aria-labelledby="([^"]+)"', report_dom):
        assert set(names.split()) <= set(identifiers)


def test_figures_have_titles_and_descriptions(report_dom: str) -> None:
    for element in re.findall(r"<svg .*?</svg>", report_dom, re.S):
        told = re.search(r"<title [^>]*>([^<]+)</title><desc [^>]*>([^<]+)</desc>", element)
        assert told
        assert len(told[1]) > 5
        assert len(told[2]) > 20


def test_bars_of_figures_have_titles(report_dom: str) -> None:
    element = find_figure_element(report_dom, "response")
    titles = re.findall(r"<rect [^>]*><title>([^<]*)</title>", element)
    assert len(titles) == 4 * len(POLICIES)
    assert titles[0].startswith("read response, mean, baseline: 1 times that of baseline")


def test_tooltips_show_exact_values(report_page: Path, tmp_path: Path) -> None:
    probe = make_page_with_script(report_page, """
        const over = (selector, right = 1) => {
            const mark = document.querySelector(selector);
            mark.scrollIntoView();
            const box = mark.getBoundingClientRect();
            mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true,
                clientX: box.left + right, clientY: box.top + 1}));
            return document.getElementById("tip").textContent;
        };
        const times = [...Array(600).keys()].map((right) => over("#timeline-1 .lanes", right));
        document.title = [over("#response svg rect:has(title)"), over("#wear-map-1 .grid"),
            times.find((text) => text), over("h1")].join("|");
    """)
    done = open_page_headless(probe, tmp_path, "--dump-dom")
    assert read_console_messages(done) == []
    found = re.search(r"<title>([^<]*)</title>", done.out)
    assert found
    bar, cell, operation, nothing = unescape(found[1]).split("|")
    assert bar.startswith("read response, mean, baseline: 1 times")
    assert re.fullmatch(r"LUN,block of the LUN,full erases: 0,0,[0-9.]+", cell)
    assert re.match(r"(program|read|erase).*, block [0-9]+, page [0-9]+.*, [0-9.]+ from [0-9.]+",
                    operation)
    assert nothing == ""


# ---------------------------------------------------------------- numbers


@pytest.fixture(scope="module")
def simulation_result(report_page: Path) -> Json:
    found: Json = json.loads((report_page.parent / "result.json").read_text())
    return found


def test_the_page_shows_response_times(report_dom: str, simulation_result: Json) -> None:
    rows = read_figure_rows(report_dom, "response")
    assert rows[0] == ["", *POLICIES]
    for i, (kind, what) in enumerate((k, w) for k in ("read", "write") for w in ("mean", "p99")):
        values = [run["timing"][f"{kind}_response"][f"{what}_ns"]
                  for run in simulation_result["runs"]]
        shown = [float(cell) for cell in rows[1 + i][1:]]
        assert shown == pytest.approx([value / values[0] for value in values])


def test_the_page_shows_response_times_by_data_class(report_dom: str,
                                                     simulation_result: Json) -> None:
    rows = read_figure_rows(report_dom, "class-response")
    wanted = [(k, w) for k in ("precise", "approx") for w in ("mean", "p99")]
    assert len(rows) == 1 + len(wanted)
    for row, (kind, what) in zip(rows[1:], wanted, strict=True):
        values = [run["timing"][f"write_{kind}_response"][f"{what}_ns"]
                  for run in simulation_result["runs"]]
        assert [float(cell) for cell in row[1:]] == pytest.approx([v / values[0] for v in values])


def test_the_page_shows_the_distribution_of_response_times(report_dom: str,
                                                           simulation_result: Json) -> None:
    rows = [row for row in read_figure_rows(report_dom, "cdf-write")[1:] if row[0] == "approxftl"]
    bins = simulation_result["runs"][3]["timing"]["write_response"]["bins"]
    assert rows[0][1:] == [rows[1][1], "100"]
    rows = rows[1:]
    assert [float(row[1]) for row in rows] == pytest.approx([top / 1000 for top, _ in bins])
    counts, total = [count for _, count in bins], sum(count for _, count in bins)
    longer = [100 * sum(counts[i + 1:]) / total for i in range(len(counts) - 1)]
    assert [float(row[2]) for row in rows] == pytest.approx([*longer, longer[-1]])


def test_the_time_axis_of_a_distribution_is_logarithmic(report_dom: str,
                                                        simulation_result: Json) -> None:
    """The axis is logarithmic: there is a line at each power of ten, equally spaced."""
    levels = re.findall(r'y1="([0-9.]+)" y2="\1" class="level"[^<]*(?:</line>)?<text [^>]*>'
                        r"([^<]*)</text>", find_figure_element(report_dom, "cdf-write"))
    gaps = [float(a) - float(b) for (a, _), (b, _) in pairwise(levels)]
    total = sum(count
                for _, count in simulation_result["runs"][3]["timing"]["write_response"]["bins"])
    assert len(gaps) >= math.floor(math.log10(total)) > 2
    assert gaps == pytest.approx([gaps[0]] * len(gaps), abs=0.2)
    assert [float(b) / float(a) for (_, a), (_, b) in pairwise(levels)] == pytest.approx(
        [10] * len(gaps))


def test_the_page_shows_the_energy(report_dom: str, simulation_result: Json) -> None:
    rows = read_figure_rows(report_dom, "energy")
    base = simulation_result["runs"][0]["energy"]["total_pj"]
    for row, run in zip(rows[1:], simulation_result["runs"], strict=True):
        assert row[0] == run["policy"]
        for name, cell in zip(rows[0][1:], row[1:], strict=True):
            assert float(cell) == pytest.approx(run["energy"][f"{name}_pj"] / base)


def test_wear_and_page_maps_show_the_values_of_the_result(
    report_dom: str, simulation_result: Json
) -> None:
    wear = [float(row[2]) for row in read_figure_rows(report_dom, "wear-map-1")[1:]]
    assert wear == pytest.approx(simulation_result["runs"][0]["block_table"]["wear"])
    maps = [one for run in simulation_result["runs"] for one in run["page_maps"]]
    row_pages = simulation_result["geometry"]["word_lines_per_layer"]
    assert len({word for one in maps for word in one["class"]}) > 1
    for number, page_map in enumerate(maps, 1):
        for layer, page_, word in read_figure_rows(report_dom, f"page-map-{number}")[1:]:
            index = int(layer) * row_pages + int(page_)
            class_, mode = page_map["class"][index], page_map["mode"][index]
            if class_ is None:
                assert word == "erased"
            elif page_map["valid_units"][index]:
                assert word == f"{class_}, {mode}"
            else:
                assert word == f"stale {class_}"


def test_the_page_shows_the_counters_in_a_table(report_dom: str, simulation_result: Json) -> None:
    row = re.search(r'<tr><th scope="row">flipped bits read</th>(.*?)</tr>', report_dom,
                    re.S)
    assert row
    shown = [int(cell) for cell in re.findall(r"<td>(\d+)", row[1])]
    assert shown == [run["counters"]["read_flipped_bits"] for run in simulation_result["runs"]]


def test_wear_and_page_maps_show_the_devices_blocks(report_dom: str) -> None:
    rows = read_figure_rows(report_dom, "wear-map-5")
    assert [(row[0], float(row[2])) for row in rows[1:]] == [(f"{i // 4}", i) for i in range(8)]
    words = [row[2] for row in read_figure_rows(report_dom, "page-map-10")[1:]]
    assert "stale approximate" in words


def test_the_page_names_commands_and_versions(report_dom: str) -> None:
    section = report_dom[report_dom.index('<section id="provenance">'):]
    assert "approxftl sim --fill random" in unescape(section)
    assert "approxftl report" in section
    assert re.search(r"result\.json</th><td>simulator</td><td>[0-9.]+", section)


def test_nothing_is_cut_off_on_a_phone(browser: Browser, report_page: Path) -> None:
    browser.set_screen_size(400, 800)
    browser.load_web_page(report_page)
    wide, least, cut = browser.run_script("""[document.documentElement.scrollWidth,
        getComputedStyle(document.querySelector("#ratios > svg")).minWidth,
        [...document.querySelectorAll(".wide")].filter((one) =>
            !one.closest("details:not([open])") && one.scrollWidth > one.clientWidth)
            .map((one) => one.textContent.slice(0, 80))]""")
    assert wide <= 400
    # A drawing with a least width scrolls; that of the ratios, which are the answer, must not.
    assert least in {"0px", "auto"}
    assert cut == []


def test_no_label_of_a_ratio_is_shortened_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    for name, compute_ns in (("a", 1000), ("b", 2000)):
        app = {"app": "img", "phase": "compute", "compute_ns": compute_ns,
               "counts": {"bytes": 100, "flipped_bits": 1}}
        (tmp_path / f"{name}.json").write_text(json.dumps(app))
    page = tmp_path / "r.html"
    run_approxftl_ok("report", tmp_path / "a.json", tmp_path / "b.json", "-O", page)
    for phone in load_fresh_page(browser, page, 400, 800):
        labels = run_script(phone, """
            const ratios = await seen(document.querySelector("figure:has(script.spec)").id);
            return [...ratios.querySelectorAll(".live text")].map((one) => one.textContent);""")
        assert "time to read and compute" in labels


# ---------------------------------------------------------------- interactive figures

@pytest.fixture
def browser_with_report(browser: Browser, report_page: Path) -> Iterator[Browser]:
    yield from load_fresh_page(browser, report_page, 800, 600)


@pytest.mark.slow
@pytest.mark.in_turn
def test_static_figures_become_interactive_when_scrolled_into_view(
        browser_with_report: Browser) -> None:
    told = run_script(browser_with_report, """
        const all = [...document.querySelectorAll("figure")];
        await drawn();
        const before = all.filter((figure) => figure.matches(".alive")).length;
        const lost = [];
        for (const figure of all) {
            if (lost.length > 2)
                break;
            await seen(figure.id);
            const shown = figure.querySelector(".live svg")?.getBoundingClientRect();
            const still = figure.querySelector(":scope > svg").getBoundingClientRect();
            if (!shown || shown.width < 100 || shown.height < 50 || still.height > 0 ||
                figure.querySelectorAll(".live [class*=mark-] path").length < 3)
                lost.push(figure.id);
        }
        return [before, all.length, lost];
    """)
    before, count, lost = told
    assert lost == []
    assert before < count // 2


def test_hiding_a_policy_hides_it_in_all_figures(browser_with_report: Browser) -> None:
    told = run_script(browser_with_report, """
        const early = [await seen("response"), await seen("energy")];
        const count = (figures) => figures.map((figure) => marks(figure, "rect").length);
        const before = count(early);
        box("vth_b").click();
        await drawn();
        const gone = document.getElementById("wear-map-3").hidden;
        // One that was not seen before knows it, too.
        const hidden = count([...early, await seen("write-amplification")]);
        box("vth_b").click();
        await drawn();
        return [before, hidden, count([...early, document.getElementById("write-amplification")]),
            gone, document.getElementById("wear-map-3").hidden];
    """)
    before, hidden, after, gone, back = told
    # Four times for each of four policies; three parts of energy for each.
    assert before == [16, 12]
    assert hidden[:2] == [12, 9]
    assert after[:2] == before
    assert hidden[2] * 4 == after[2] * 3
    assert (gone, back) == (True, False)


def test_the_filter_for_measures_applies_to_all_figures(browser_with_report: Browser) -> None:
    told = run_script(browser_with_report, """
        const figures = [await seen("response"), await seen("energy")];
        const filter = document.querySelector("#controls input[type=search]");
        const count = async (text) => {
            filter.value = text;
            filter.dispatchEvent(new Event("input"));
            await drawn();
            return figures.map((figure) => marks(figure, "rect").length);
        };
        return [await count("p99"), await count("READ"), await count("")];
    """)
    assert told == [[8, 0], [8, 4], [16, 12]]


def check_ratio_in_bar_text(text: str, result: Json) -> None:
    """Compare the ratio in the text of a bar with the ratio of the runs' response times."""
    found = re.fullmatch("what: (.*) response, (.*), of: (.*), times that of baseline: (.*)", text)
    assert found, text
    times = [run["timing"][f"{found[1]}_response"][f"{found[2]}_ns"] for run in result["runs"]]
    assert float(found[4]) == pytest.approx(times[POLICIES.index(found[3])] / times[0])


def test_hovering_over_a_bar_shows_its_exact_value(browser_with_report: Browser,
                                                   simulation_result: Json) -> None:
    told = run_script(browser_with_report, """
        const mark = marks(await seen("response"), "rect")[13], at = mark.getBoundingClientRect();
        for (const kind of ["pointerover", "pointermove"])
            mark.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: at.left + 2,
                clientY: at.top + 2}));
        mark.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: at.left + 2,
            clientY: at.top + 2}));
        await drawn();
        return [document.getElementById("tip").hidden, document.getElementById("tip").textContent];
    """)
    hidden, text = told
    assert not hidden
    check_ratio_in_bar_text(text, simulation_result)


def test_a_download_equals_the_shown_figure(browser_with_report: Browser) -> None:
    told = run_script(browser_with_report, """
        let link = null;
        HTMLAnchorElement.prototype.click = function () { link = this; };
        box("baseline").click();
        const figure = await seen("response");
        figure.querySelector("button.svg").click();
        await until(() => link);
        return [link.download, decodeURIComponent(link.href.slice(link.href.indexOf(",") + 1))];
    """)
    name, svg = told
    assert name == "response.svg"
    root = ElementTree.fromstring(svg)
    bars = [mark for group in root.iter() if "mark-rect role-mark" in group.get("class", "")
            for mark in group]
    assert len(bars) == 12
    assert {bar.get("fill") for bar in bars} == {"#e69f00", "#009e73", "#cc79a7"}


def test_figures_in_dark_mode_are_light_on_dark(browser_with_report: Browser) -> None:
    ink = {"light": "rgb(28, 31, 35)", "dark": "rgb(230, 232, 234)"}
    for scheme in ("light", "dark", "light"):
        browser_with_report.call_method("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        assert run_script(browser_with_report, f"""
            const figure = await seen("response");
            const fill = () => figure.querySelector(".live text") &&
                getComputedStyle(figure.querySelector(".live text")).fill;
            await until(() => fill() === "{ink[scheme]}");
            return fill();
        """) == ink[scheme]


@pytest.mark.in_turn
def test_a_policy_is_hidden_and_measures_are_filtered_by_keyboard(
    browser_with_report: Browser) -> None:
    """Tab reaches each control, space toggles a check box, and typed text filters."""
    state = """
        const figure = await seen("response"), at = document.activeElement;
        await drawn();
        return [marks(figure, "rect").length, at.closest("#controls") ?
            at.type + " " + (at.closest("label")?.textContent.trim() ?? "") : "",
            getComputedStyle(at).outlineStyle];
    """
    assert run_script(browser_with_report, state)[0] == 16
    for _ in range(60):
        press_key(browser_with_report, "Tab", 9)
        if run_script(browser_with_report, state)[1] == "checkbox vth_b":
            break
    _, focused, outline = run_script(browser_with_report, state)
    assert focused == "checkbox vth_b" and outline != "none"
    press_key(browser_with_report, " ", 32, " ")
    assert run_script(browser_with_report, state)[0] == 12
    press_key(browser_with_report, " ", 32, " ")
    assert run_script(browser_with_report, state)[0] == 16
    for _ in range(20):
        if run_script(browser_with_report, state)[1].startswith("search"):
            break
        press_key(browser_with_report, "Tab", 9)
    browser_with_report.call_method("Input.insertText", text="p99")
    assert run_script(browser_with_report, state)[0] == 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.in_turn
def test_text_has_enough_contrast(browser_with_report: Browser, scheme: str) -> None:
    """WCAG 2 demands a text contrast of 4.5, computed with opacity and the background."""
    browser_with_report.call_method("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}])
    count, weak = run_script(browser_with_report, """
        for (const id of ["response", "cdf-write", "energy", "timeline-1"])
            await seen(id);
        const above = function* (at) { for (; at; at = at.parentElement) yield at; };
        const weak = [];
        let count = 0;
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const at = walker.currentNode.parentElement;
            if (!walker.currentNode.data.trim() || !at.getClientRects().length ||
                at.closest("script, style, title, option"))
                continue;
            const style = getComputedStyle(at), svg = at instanceof SVGElement;
            const [r, g, b, own = 1] = numbers(svg ? style.fill : style.color);
            let beneath = [255, 255, 255], share = own;
            for (const one of [...above(at)].reverse()) {
                const [x, y, z, alpha = 1] = numbers(getComputedStyle(one).backgroundColor);
                beneath = over([x, y, z], alpha, beneath);
            }
            for (const one of above(at))
                share *= Number(getComputedStyle(one).opacity);
            if (!share)
                continue;  // A label that Vega has no room for.
            const ratio = contrast(over([r, g, b], share, beneath), beneath);
            count++;
            if (ratio < 4.5)
                weak.push(at.tagName + " " + at.textContent.slice(0, 30) + " " + ratio.toFixed(2));
        }
        return [count, weak.slice(0, 10)];
    """)
    assert count > 300
    assert weak == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.in_turn
def test_bars_and_curves_have_enough_contrast(browser_with_report: Browser, scheme: str) -> None:
    """WCAG 2 demands a contrast of 3 between a mark's fill or edge and the background."""
    browser_with_report.call_method("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}])
    count, weak = run_script(browser_with_report, """
        for (const id of ["response", "cdf-write", "energy", "timeline-1", "page-map-10"])
            await seen(id);
        await drawn();
    """ + WEAK_MARKS)
    assert count > 100
    assert weak == []


def compute_relative_luminance(colour: str) -> float:
    """Return the relative luminance of a colour by WCAG 2."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("dark", [False, True])
def test_edges_of_all_colours_have_enough_contrast(dark: bool) -> None:
    light_style, dark_style = (TOP / "trace-tools/approxftl_tools/page.css").read_text().split(
        "@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--(\w+): ([^;]+);", light_style))
    if dark:
        found |= dict(re.findall(r"--(\w+): ([^;]+);", dark_style.partition("\n}")[0]))

    def resolve_colour(name: str) -> str:
        value = found[name]
        return resolve_colour(value[6:-1]) if value.startswith("var(--") else value

    beneath = compute_relative_luminance(resolve_colour("soft"))
    edges = [f"e{i}" for i in range(8)] + [f"f{i}" for i in range(10)] + ["gone"]
    for name in edges:
        both = sorted((beneath, compute_relative_luminance(resolve_colour(name))))
        assert (both[1] + 0.05) / (both[0] + 0.05) >= 3, name
    # var() means that the edge has its fill's colour: no edge is darker than necessary.
    assert sum(found[name].startswith("var(") for name in edges[:-1]) == (18 if dark else 10)


def test_keyboard_keys_show_values_and_zoom_a_figure(browser_with_report: Browser,
                                                     simulation_result: Json) -> None:
    state = """
        const live = document.activeElement, tip = document.getElementById("tip");
        await drawn();
        return [live.classList[0], tip.hidden ? "" : tip.textContent, tip.role,
            live.querySelectorAll(".at").length, getComputedStyle(live).outlineStyle,
            [...live.querySelectorAll(".role-axis-label text")]
                .map((one) => one.textContent).sort().join()];
    """
    run_script(browser_with_report, """
        const figure = await seen("response");
        [...document.querySelectorAll("a, button, input")].findLast((one) =>
            one.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_FOLLOWING &&
            !figure.contains(one)).focus();
        return 1;
    """)
    for _ in range(12):
        press_key(browser_with_report, "Tab", 9)
        if run_script(browser_with_report, state)[0] == "live":
            break
    assert run_script(browser_with_report, state)[4] != "none"
    texts = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End"):
        press_key(browser_with_report, key, 0)
        place, text, role, at, *_ = run_script(browser_with_report, state)
        assert (place, role, at) == ("live", "status", 1)
        texts.append(text)
    assert texts[1] == texts[3] and len(set(texts)) == 4
    for text in texts:
        check_ratio_in_bar_text(text, simulation_result)
    press_key(browser_with_report, "Escape", 27)
    assert run_script(browser_with_report, state)[1] == ""

    # Zooming a timeline changes the visible part; a figure without zoom stays as it is.
    run_script(browser_with_report,
               """(await seen("timeline-1")).querySelector(".live").focus(); return 1;""")
    whole = run_script(browser_with_report, state)[5]
    seen = []
    for key in ("+", ">", "<", "-", "0"):
        press_key(browser_with_report, key, 0, key)
        seen.append(run_script(browser_with_report, state)[5])
    assert len({whole, *seen[:2]}) == 3 and seen[2] == seen[0]
    assert seen[3] == seen[4] == whole


@pytest.mark.parametrize("name", ["wear-map-1", "page-map-1"])
def test_keyboard_keys_show_the_value_of_each_cell_of_a_map(browser_with_report: Browser,
                                                            report_dom: str, name: str) -> None:
    """Colours of a scale may lack contrast, as the keyboard reads out the value of each cell."""
    run_script(browser_with_report,
               f'(await seen("{name}")).querySelector(".live").focus(); return 1;')
    cells = read_figure_rows(report_dom, name)[1:]
    for key, cell in (("Home", cells[0]), ("ArrowRight", cells[1]), ("PageDown", cells[11]),
                      ("End", cells[-1])):
        press_key(browser_with_report, key, 0)
        text = run_script(browser_with_report,
                          'await drawn(); return document.getElementById("tip").textContent;')
        assert [part.split(": ")[1] for part in text.split(", ", 2)] == cell, text


def test_a_printed_page_has_static_figures(browser_with_report: Browser) -> None:
    heights = """
        const figure = await seen("response");
        return [":scope > svg", ".live", "button", "details"].map((one) =>
            figure.querySelector(one).getBoundingClientRect().height > 0);
    """
    assert run_script(browser_with_report, heights) == [False, True, True, True]
    browser_with_report.call_method("Emulation.setEmulatedMedia", media="print")
    assert run_script(browser_with_report, heights) == [True, False, False, False]


def test_a_timeline_is_zoomed_by_the_wheel_with_shift(browser_with_report: Browser) -> None:
    first, again, zoomed = run_script(browser_with_report, """
        const figure = await seen("timeline-1");
        const wheel = async (shiftKey) => {
            const picture = figure.querySelector(".live svg"), at = picture.getBoundingClientRect();
            const clientX = at.left + at.width / 2, clientY = at.top + at.height / 2;
            document.elementFromPoint(clientX, clientY).dispatchEvent(new WheelEvent("wheel",
                {bubbles: true, shiftKey, deltaY: -300, clientX, clientY}));
            await drawn();
            return [...figure.querySelectorAll(".live .role-axis-label text")]
                .map((text) => text.textContent).join();
        };
        return [await wheel(false), await wheel(false), await wheel(true)];
    """)
    assert first == again != zoomed


def test_a_report_without_vl_convert_has_static_figures(report_page: Path, tmp_path: Path) -> None:
    program = install_verb_without_module(tmp_path / "place", "report", "vl_convert")
    done = run_program(program, report_page.with_name("result.json"), "-O", tmp_path / "bare.html")
    assert (done.code, done.err) == (0, "")
    bare = (tmp_path / "bare.html").read_text()
    assert "vega" not in bare.lower()
    assert find_figure_element(bare, "response").count("<rect ") > 16


def test_without_jinja2_no_report_is_written(report_page: Path, tmp_path: Path) -> None:
    program = install_verb_without_module(tmp_path / "place", "report", "jinja2")
    done = run_program(program, report_page.with_name("result.json"), "--output",
                       tmp_path / "bare.html")
    assert (done.code, done.err) == (1, "approxftl report: pages need Jinja2; install it "
                                        "(python3-jinja2)\n")
    assert not (tmp_path / "bare.html").exists()


def test_names_with_markup_are_shown_as_text(tmp_path: Path) -> None:
    name = 'a"<img src=x onerror=alert(1)>&amp;\'{{ 7 * 7 }}'
    for end in ("1", "2"):
        simulate_to_file(tmp_path / f"{name}{end}.json", "--requests", "500", "--histogram",
                         "--policy", "baseline,vth_b", "--seed", "1..2")
    run_approxftl_ok("report", tmp_path, "--output", tmp_path / "r.html", "--title", name)
    html = (tmp_path / "r.html").read_text()
    assert "<img" not in html and f"<h1>{escape(name)}</h1>" in html.replace("&#34;", "&quot;") \
        .replace("&#39;", "&#x27;")
    assert [row[0] for row in read_figure_rows(html, "response")[1:3]] == [f"{name}1", f"{name}2"]


VL_CONVERT = """
from pathlib import Path
__version__ = "3"
def get_vega_version():
    return "5"
def javascript_bundle():
    with Path(__file__).with_name("made").open("a") as file:
        file.write("x")
    return "the bundle"
"""


def test_the_script_bundle_is_made_once_and_cached(report_page: Path, tmp_path: Path) -> None:
    program = install_verb_with_module(tmp_path / "place", "report", "vl_convert", VL_CONVERT)

    def make_report_text(cache: Path) -> str:
        done = run_program(program, report_page.with_name("result.json"), "-O", tmp_path / "r.html",
                           environment={"XDG_CACHE_HOME": str(cache)})
        assert (done.code, done.err) == (0, "")
        return (tmp_path / "r.html").read_text()

    first, again = make_report_text(tmp_path / "cache"), make_report_text(tmp_path / "cache")
    assert first == again
    packed = re.search(r'id="vega">([^<]*)</script>', first)
    assert packed
    assert gzip.decompress(base64.b64decode(packed[1])) == b"the bundle"
    made = tmp_path / "place/lib/approxftl/python/made"
    assert made.read_text() == "x"
    # If the cache cannot be written, the bundle is built again.
    assert make_report_text(report_page) == first
    assert made.read_text() == "xx"


# ---------------------------------------------------------------- colours


def read_legend_colours(html: str) -> dict[str, set[str]]:
    """Return the colours that the legends of all charts give to each name."""
    found: dict[str, set[str]] = {}
    for klass, name in re.findall(r'<rect [^>]*height="12" class="([^"]*)"[^>]*>(?:</rect>)?'
                                  r"<text [^>]*>([^<]*)</text>", html):
        found.setdefault(unescape(name), set()).add(klass)
    return found


def test_each_name_in_legends_has_one_colour_in_all_figures(report_dom: str,
                                                            multi_seed_report: Path) -> None:
    for html in (report_dom, multi_seed_report.read_text()):
        known = read_legend_colours(html)
        several = {name: klasses for name, klasses in known.items() if len(klasses) > 1}
        # This holds for names of blocks and of pages.
        assert not several, several
        policies = [known[policy].copy().pop() for policy in POLICIES]
        assert len(set(policies)) == len(POLICIES)
        others = {klass for name in known if name not in POLICIES for klass in known[name]}
        assert not others & set(policies)


def test_a_write_cause_or_class_has_the_same_colour_in_all_figures(report_dom: str) -> None:
    known = {name: klasses.copy().pop() for name, klasses
             in read_legend_colours(report_dom).items()}
    causes = {name: klass for name, klass in known.items()
              if name in ("host", "gc", "refresh", "promotion")}
    assert len(set(causes.values())) == len(causes) >= 2
    kinds = [name for name in known if name.endswith(" (gc)")]
    assert kinds and {known[kind].split()[0] for kind in kinds} == {causes["gc"]}
    assert len({known[kind] for kind in kinds}) == len(kinds)
    for class_ in ("precise", "approximate"):
        words = [name for name in known if name.startswith(f"{class_}, ")]
        assert words and len({known[word].split()[0] for word in words}) == 1
        assert len({known[word] for word in words}) == len(words)
    assert known["precise"] == known["precise, normal"].split()[0]


# ---------------------------------------------------------------- several seeds

SEEDS = 5


@pytest.fixture(scope="module")
def multi_seed_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report about several policies with several seeds each."""
    directory = tmp_path_factory.mktemp("seeds")
    simulate_to_file(directory / "seeds.json", *STREAM, *FULL, "--policy", ",".join(POLICIES),
                     "--seed", f"1..{SEEDS}")
    told = run_approxftl_ok("report", directory / "seeds.json", "-O", directory / "r.html")
    assert told == f"{directory / 'r.html'}: {SEEDS * len(POLICIES)} runs\n"
    return directory / "r.html"


def read_values_by_seed(page: Path, policy: str, *keys: str) -> list[Any]:
    """Return a value of each run of a policy, ordered by seed."""
    values: list[Any] = []
    for run in json.loads((page.parent / "seeds.json").read_text())["runs"]:
        if run["policy"] == policy:
            for key in keys:
                run = run[key]
            values.append(run)
    return values


def compute_paired_ratio(page: Path, policy: str, *keys: str) -> tuple[float, float, float]:
    """Return the mean ratio to the baseline, paired by seed, and its confidence interval."""
    ours, base = read_values_by_seed(page, policy, *keys), read_values_by_seed(page, "baseline",
                                                                               *keys)
    assert len(ours) == SEEDS
    values = [a / b for a, b in zip(ours, base, strict=True)]
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return mean, mean - half, mean + half


def test_the_report_begins_with_the_setup_and_the_better_policy(multi_seed_report: Path) -> None:
    html = unescape(multi_seed_report.read_text())
    said, first = re.findall(r"<h1>.*?</h1>\n<p[^>]*><strong>([^<]*)</strong></p>\n"
                             r"<p[^>]*>([^<]*)</p>\n<figure", html, re.S)[0]
    means = {policy: compute_paired_ratio(multi_seed_report, policy, "timing", "write_response",
                                          "mean_ns")
             for policy in POLICIES[1:]}
    best = min(means, key=lambda policy: means[policy][0])
    mean, low, high = means[best]
    ratio = f"{mean:.3f} ({low:.3f} to {high:.3f}, 95 %)"
    assert said.startswith(
        f"{best} has the shortest mean write response: {ratio} of baseline's; its 99th percentile "
        "is " if mean < 1 else
        f"No policy has a shorter mean write response than baseline; that of {best} is {ratio} "
        "times as long; its 99th percentile is ")
    second = re.findall(r'<ul id="verdict">(.*?)</ul>', html, re.S)[0]
    assert first == (
        "Simulated: demo, 435.2 MiB of 512 MiB, 4 LUNs, starts filled at random; uniform requests "
        "of 4 KiB, 50 % writes, 50 % of them approximate, dies 30 % busy; "
        f"{', '.join(POLICIES)}; {SEEDS} seeds each.")
    for policy in POLICIES[1:]:
        mean, low, high = compute_paired_ratio(multi_seed_report, policy, "timing",
                                               "write_response", "mean_ns")
        assert not low <= 1 <= high
        assert (f"<li>write response, mean: {policy} has {mean:.3f} ({low:.3f} to {high:.3f}) "
                "times that of baseline; the interval of 95 % excludes 1 (no difference)."
                "</li>") in second
    assert second.count("<li>") == 2 * (len(POLICIES) - 1)


def test_the_report_says_that_the_host_filled_the_device(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "r.json", "--requests=2000", "--fill=none", "--host-fill=8")
    run_approxftl_ok("report", tmp_path / "r.json", "-O", tmp_path / "r.html")
    assert "4 LUNs, starts empty, then the host fills it; " in (tmp_path / "r.html").read_text()


def test_the_opening_sentence_says_which_runs_were_not_in_steady_state(tmp_path: Path) -> None:
    """The runs that the simulator warned of are counted beside the ratio between policies."""
    caution = r'id="answer"><strong>[^<]* But (\d of \d) runs were not in steady state'
    filled = ("--fill-overwrite=200%", "--warmup=20000", "--op=28%")
    for steady, wanted in ((("--fill=random",), "4 of 4"), (filled, None)):
        simulate_to_file(tmp_path / "r.json", "--requests=20000", "--policy=baseline,delta_b",
                         "--seed=1,2", "--utilisation=10%", *steady)
        run_approxftl_ok("report", tmp_path / "r.json", "-O", tmp_path / "r.html")
        found = re.search(caution, (tmp_path / "r.html").read_text())
        assert (found and found[1]) == wanted


def test_ratios_to_the_reference_are_shown_with_intervals(multi_seed_report: Path) -> None:
    shown = {(row[0], row[1]): row[2:]
             for row in read_figure_rows(multi_seed_report.read_text(), "ratios")[1:]}
    for title, keys in (("write response, mean", ("timing", "write_response", "mean_ns")),
                        ("energy", ("energy", "total_pj")),
                        ("erases", ("counters", "array_erases"))):
        for policy in POLICIES[1:]:
            *ends, runs = map(float, shown[title, policy])
            assert ends == pytest.approx(compute_paired_ratio(multi_seed_report, policy, *keys))
            assert runs == SEEDS
    element = find_figure_element(multi_seed_report.read_text(), "ratios")
    assert element.count("<circle ") == len(shown)


def test_a_policys_column_is_the_mean_over_seeds(multi_seed_report: Path) -> None:
    html = multi_seed_report.read_text()
    head = re.search(r"<thead><tr>(.*?)</tr>", html[html.index('id="tables"'):])
    assert head
    assert re.findall(r">([^<]+)</th>", head[1]) == list(POLICIES)
    row = re.search(r'<th scope="row">write response, mean</th>(.*?)</tr>',
                    html[html.index('id="tables"'):])
    assert row
    mean, low, high = compute_paired_ratio(multi_seed_report, "vth_b", "timing", "write_response",
                                           "mean_ns")
    assert f"<small>{mean:.3f} [{low:.3f}, {high:.3f}]</small>" in row[1]
    rows = read_figure_rows(html, "energy")
    for policy, *parts in rows[1:]:
        assert sum(map(float, parts)) == pytest.approx(
            np.mean(read_values_by_seed(multi_seed_report, policy, "energy", "total_pj"))
            / np.mean(read_values_by_seed(multi_seed_report, "baseline", "energy", "total_pj")))
    assert 'Block' in html and ", approxftl, seed 1: pages</h3>" in html
    curve = [float(row[2]) for row in read_figure_rows(html, "cdf-write")[1:] if row[0] == "vth_b"]
    requests = sum(read_values_by_seed(multi_seed_report, "vth_b", "timing", "write_response",
                                       "count"))
    tops = [run[-1]
            for run in read_values_by_seed(multi_seed_report, "vth_b", "timing", "write_response",
                                           "bins")]
    longest = sum(count for top, count in tops if top == max(tops)[0])
    assert curve[-1] == pytest.approx(100 * longest / requests)


def test_interrupted_runs_are_left_out_of_means() -> None:
    def make_run_of_seed(seed: int, interrupted: bool, number: float) -> Run:
        data = {"policy": "a", "seed": seed, "interrupted": interrupted, "requests": 10,
                "parts": {"n": number}}
        return Run("", "", data, {}, Path("x.json"))

    inputs = average_runs_over_seeds(Inputs([make_run_of_seed(1, False, 1),
                                             make_run_of_seed(2, True, 50),
                                             make_run_of_seed(3, False, 4)]))
    assert [(one.label, one.data["parts"]["n"]) for one in inputs.runs] == [
        ("a", 2.5), ("a (interrupted after 10 requests)", 50)]


@given(st.lists(st.dictionaries(st.integers(1, 9), st.integers(1, 99), min_size=1), min_size=1))
def test_distributions_of_runs_with_different_seeds_are_pooled(runs: list[dict[int, int]]) -> None:
    shown = mean_of_values([{"count": 1, "bins": [list(one) for one in sorted(bins.items())]}
                            for bins in runs])["bins"]
    assert shown == [[top, sum(bins.get(top, 0) for bins in runs)]
                     for top in sorted({top for bins in runs for top in bins})]


# ---------------------------------------------------------------- incomplete inputs


def test_missing_figures_are_listed(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "plain.json", "--requests", "200")
    run_approxftl_ok("report", "plain.json", directory=tmp_path)
    html = unescape((tmp_path / "report.html").read_text())
    missing = html[html.index('id="missing"'):]
    for option in ("--histogram", "--block-table", "--page-map auto", "--timeline FILE",
                   "--record FILE", "stat NAME -i 1s -j"):
        assert option in missing
    assert 'id="cdf-read"' not in html


@pytest.fixture(scope="module")
def multi_workload_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("workloads")
    for share in ("30", "50", "70"):
        simulate_to_file(directory / f"share-{share}.json", *STREAM, "--histogram", "--policy",
                         ",".join(POLICIES), "--approx-share", f"{share}%", "--seed", "1..2")
    run_approxftl_ok("report", directory, "-O", directory / "r.html")
    return directory / "r.html"


LOADS = ["share-30", "share-50", "share-70"]


def test_several_workloads_become_groups_of_bars(multi_workload_report: Path) -> None:
    html = multi_workload_report.read_text()
    head, *rows = read_figure_rows(html, "response")
    assert head == ["", *POLICIES, "panel"]
    assert list(dict.fromkeys(row[-1] for row in rows)) == [
        "read response, mean", "read response, p99", "write response, mean",
        "write response, p99"]
    rows = [row for row in rows if row[-1] == "write response, mean"]
    assert [row[0] for row in rows] == LOADS
    assert [float(row[1]) for row in rows] == [1, 1, 1]
    for policy, cell in zip(POLICIES, rows[1][1:-1], strict=True):
        found = json.loads(multi_workload_report.with_name("share-50.json").read_text())["runs"]
        means = {name: [run["timing"]["write_response"]["mean_ns"] for run in found
                        if run["policy"] == name] for name in (policy, "baseline")}
        assert float(cell) == pytest.approx(np.mean(
            [a / b for a, b in zip(*means.values(), strict=True)] if len(means) > 1 else 1))


@pytest.mark.parametrize("name", ["ratios", "cdf-write", "energy", "wear", "luns"])
def test_figures_of_several_workloads_have_one_scale(multi_workload_report: Path,
                                                     name: str) -> None:
    element = find_figure_element(multi_workload_report.read_text(), name)
    assert re.findall(r'class="panel"[^>]*>([^<]*)<', element) == LOADS
    assert len(re.findall(r'height="12" class=', element)) == len(
        {row[1] for row in read_figure_rows(element, name)[1:]} if name == "ratios" else
        {row[0] for row in read_figure_rows(element, name)[1:]} if name == "cdf-write" else
        read_figure_rows(element, name)[0][1:-1])
    levels = re.findall(r'class="level"/?>(?:</line>)?<text [^>]*>([^<]*)<', element)
    count = len(levels) // len(LOADS)
    assert count > 2 and levels == levels[:count] * len(LOADS)


def test_interactive_panels_react_to_the_filter(browser: Browser,
                                                multi_workload_report: Path) -> None:
    browser.set_screen_size(800, 600)
    browser.load_web_page(multi_workload_report)
    told = run_script(browser, """
        const figure = await seen("energy");
        const names = () => [...figure.querySelectorAll(".live text")]
            .map((text) => text.textContent).filter((text) => text.startsWith("share"));
        const filter = document.querySelector("#controls input[type=search]");
        const before = [names(), marks(figure, "rect").length];
        filter.value = "share-50";
        filter.dispatchEvent(new Event("input"));
        await drawn();
        const after = [names(), marks(figure, "rect").length];
        const wide = [];
        for (const id of ["ratios", "response", "cdf-write", "luns"]) {
            const other = await seen(id);
            wide.push(other.querySelector(".live svg").getBoundingClientRect().width /
                other.getBoundingClientRect().width);
        }
        return [before, after, wide];
    """)
    assert browser.said == []
    before, after, wide = told
    assert before == [LOADS, 3 * 4 * 3]
    assert after == [["share-50"], 4 * 3]
    assert all(0.6 < one <= 1 for one in wide), wide


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_report_of_a_hundred_workloads_stays_small(report_page: Path, simulation_result: Json,
                                                     tmp_path: Path, browser: Browser) -> None:
    """A result of 500 runs with maps, made from one result by changing its numbers."""
    def scale_result_numbers(value: Any, factor: float) -> Any:
        if isinstance(value, dict):
            return {key: scale_result_numbers(one, factor) for key, one in value.items()}
        if isinstance(value, list):
            return [scale_result_numbers(one, factor) for one in value]
        return int(value * factor) if isinstance(value, int) and value > 1000 else \
            value * factor if isinstance(value, float) else value

    for i in range(125):
        runs = [{**run, **{key: scale_result_numbers(run[key], 1 + (37 * i + 11 * j) % 100 / 100)
                           for key in ("timing", "energy", "counters", "write_amplification")}}
                for j, run in enumerate(simulation_result["runs"])]
        (tmp_path / f"load-{i:03}.json").write_text(json.dumps({**simulation_result, "runs": runs}))
    told = run_approxftl_ok("report", tmp_path, "-O", tmp_path / "r.html")
    assert told.endswith(": 500 runs\n")
    html = (tmp_path / "r.html").read_text()
    assert len(html.encode()) <= 1_700_000
    assert html.count('<figure id="wear-map-') == 4
    assert "496 more than the first 4" in html
    found = list(csv.reader(io.StringIO(unquote(unescape(re.findall(
        r'download="measures.csv"[^>]*utf-8,([^"]*)"', html)[0])))))
    assert len(found) == 501
    runs = simulation_result["runs"]
    columns = dict(zip(found[0], found[1 + 3], strict=True))
    assert (columns["input"], columns["policy"]) == ("load-000", POLICIES[3])
    assert float(columns["array_erases"]) == int(runs[3]["counters"]["array_erases"] * (
        1.33 if runs[3]["counters"]["array_erases"] > 1000 else 1))
    row = re.search(r'<th scope="row">energy</th>(.*?)</tr>', html[html.index('id="tables"'):])
    assert row and row[1].count("<td>") == len(POLICIES) - 1

    # Processor time until the page is interactive, which does not depend on the machine's load.
    browser.call_method("Performance.enable", timeDomain="threadTicks")
    browser.said.clear()
    browser.load_web_page(tmp_path / "r.html")
    boxes = browser.run_script("document.querySelectorAll('#controls input[type=checkbox]').length")
    spent = {one["name"]: one["value"]
             for one in browser.call_method("Performance.getMetrics")["metrics"]}
    print(f"# a page of 500 runs is interactive after {spent['TaskDuration']:.2f} s")
    assert (boxes, browser.said) == (len(POLICIES), [])
    assert 0 < spent["TaskDuration"] <= 2

    # Many bars of a series are drawn as one mark, with the same contrast as single bars.
    many = re.findall(r'<figure id="([^"]*)"(?:(?!</svg>).)*class="bars ', html, re.S)
    count, weak = run_script(browser, f"await seen('{many[0]}');" + WEAK_MARKS)
    assert count > 200 and weak == []


def test_a_report_is_made_to_the_same_bytes_again(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "x.json", "--requests", "300", "--histogram")
    pages = []
    for _ in range(2):
        run_approxftl_ok("report", "x.json", "-O", "r.html", directory=tmp_path)
        pages.append((tmp_path / "r.html").read_bytes())
    assert pages[0] == pages[1]
