# SPDX-License-Identifier: GPL-2.0-only
"""The HTML page of a study, in a real browser: its charts agree with its table."""

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from selftests.lib.programs import install_verb_without_module, run_program
from selftests.playground.support import Browser
from selftests.reports.support import (
    PROGRAM,
    find_urls_in_page,
    load_fresh_page,
    run_approxftl,
    run_script,
)

from approxftl_tools.page import DIGITS

#: A study with each kind of figure and of its options.
STUDY = """study = 1
seeds = 3
relative_to = "baseline"
[base]
requests = 1500
blocks = 128
fill = "random"
write-share = "50%"
approx-share = "50%"
approx-run = 64
histogram = true
[vary]
policy = ["baseline", "vth_b", "approxftl"]
utilisation = ["30%", "50%"]
[[figure]]
name = "lines"
x = "utilisation"
y = "write_response_mean_ns"
points_label = "measured <there>"
points = [{ x = "30%", y = 0.9, low = 0.88, high = 0.93, series = "vth_b" },
          { y = 0.8, low = 0.7, high = 0.85, series = "approxftl" }, { x = "50%", y = 1.02 }]
[[figure]]
name = "bars"
x = "policy"
series = "utilisation"
kind = "bars"
y = "write_response_p99_ns"
scale = "log"
[[figure]]
name = "stack"
x = "policy"
facets = "utilisation"
kind = "stack"
y = ["program_energy_pj", "read_energy_pj"]
points = [{ x = "vth_b", y = 30 }]
[[figure]]
name = "cdf"
facets = "utilisation"
kind = "cdf"
y = "write_response"
x_scale = "log"
[[figure]]
name = "dots"
x = "utilisation"
kind = "dots"
y = "read_response_mean_ns"
relative_to = ""
"""
NAMES = ("lines", "bars", "stack", "cdf", "dots")


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "s.toml").write_text(STUDY)
    run_study_verb("run", folder / "s.toml", "--csv")
    said = run_study_verb("report", folder / "s.toml")
    assert said == f"{folder}/s.html: 6 means, 5 figures\n"
    run_study_verb("figure", folder / "s.toml", "--figures", folder)
    return folder / "s.html"


def run_study_verb(verb: str, *arguments: str | Path) -> str:
    """Run a verb of approxftl study; a warning about short runs is allowed."""
    done = run_approxftl("study", verb, *arguments)
    assert done.code == 0 and "drifting" in (done.err or "drifting"), done
    return done.out


def test_the_page_opens_on_the_mean_and_the_tail_of_the_best_policy(study_page: Path) -> None:
    """The tail may contradict the mean."""
    said = re.findall(r'<p id="answer"><strong>(.*?)</strong>', study_page.read_text())[0]
    rest = r" has from \S+ \(\S+ to \S+\) to \S+ \(\S+ to \S+\) times that of baseline; "
    assert re.match(rf"write response, mean: (\w+){rest}[^.]*95 % [^.]*\. "
                    rf"write response, p99: \1{rest}", unescape(said)), said


@pytest.fixture
def browser_with_study_page(browser: Browser, study_page: Path) -> Iterator[Browser]:
    yield from load_fresh_page(browser, study_page, 1000, 700)


def read_figure_marks(page: Path, name: str) -> list[dict[str, str]]:
    """Return the numbers in the CSV file of a chart."""
    with (page.parent / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_study_page_is_small_and_loads_no_other_file(study_page: Path) -> None:
    text = study_page.read_text()
    assert [one for one in find_urls_in_page(text) if not one.startswith(("#", "data:"))] == []
    assert study_page.stat().st_size < 1.5e6
    assert "base64" not in re.sub(r"<script.*?</script>", "", text, flags=re.S)


def test_the_study_page_shows_findings_before_figures_and_table(study_page: Path) -> None:
    text = study_page.read_text()
    places = [text.index(one) for one in ("of baseline", '<figure id="lines"', "Means and",
                                          "To look at next", '<details><summary>More measures')]
    assert places == sorted(places)
    # Measures that no figure shows are folded, unless they are tails.
    captions = [(text.index(f"<caption>{one}</caption>") < places[-1]) for one in
                ("write response, mean", "write response, p99", "energy")]
    assert captions == [True, True, False]


def test_a_study_without_figures_opens_with_the_ratios(tmp_path: Path) -> None:
    """The figure has a row for each measure and mean, with the values of the table."""
    path = tmp_path / "plain.toml"
    path.write_text(re.sub(r"(?s)\[\[figure\]\].*", "", STUDY).replace('fill = "random"\n', ""))
    run_study_verb("run", path, "--csv")
    assert run_study_verb("report", path) == f"{tmp_path}/plain.html: 6 means, 1 figure\n"
    page = (tmp_path / "plain.html").read_text()
    assert page.index("of baseline") < page.index('<figure id="ratios"') < page.index("Means and")
    figure = re.findall(r'<figure id="ratios">(.*?)</figure>', page, re.S)[0]
    assert "vth_b, die utilisation 30%" in figure and "its interval of 95 %" in figure
    marks = re.findall(r"<title>(\S.*?)</title>", figure)
    table = run_approxftl("study", "table", path, "--csv").out
    ratios = [row["write_response_mean_ns_ratio"] for row in csv.DictReader(table.splitlines())]
    for ratio in filter(None, ratios):
        assert any(f"{float(ratio):.4g} (" in mark for mark in marks), (ratio, marks)


def test_intervals_of_several_series_do_not_overlap(browser_with_study_page: Browser,
                                                    study_page: Path) -> None:
    """Series with the same x value are drawn beside each other, with and without scripts."""
    dots = run_script(browser_with_study_page, """
        const figure = await seen("lines"), OTHERS = "measured <there>";
        return [...figure.querySelectorAll(".live .role-mark.mark-rule line")]
            .map((one) => one.__data__)
            .filter((one) => one.x2 === undefined && one.datum.c7 !== OTHERS)
            .map((one) => [one.datum.c2, one.datum.c1, Math.round(one.x)]);
    """)
    figure = re.findall(r'<figure id="lines">(.*?)</svg>', study_page.read_text(), re.S)[0]
    still = [(at, name, round(float(x))) for x, at, name in re.findall(
        r'<circle cx="([0-9.]+)"[^>]*><title>([0-9]+%), (\w+):', figure)]
    for found in (dots, still):
        places = {(at, x) for at, _, x in found}
        names = {(at, name) for at, name, _ in found}
        assert len(places) == len(names) > 2, found


@pytest.mark.parametrize("width", [400, 2000])
def test_all_figures_are_interactive(browser_with_study_page: Browser, width: int) -> None:
    browser_with_study_page.set_screen_size(width, 900)
    found = run_script(browser_with_study_page, f"""
        const found = [];
        for (const id of {json.dumps(NAMES)}) {{
            const figure = await seen(id);
            const live = figure.querySelector(".live svg").getBoundingClientRect();
            found.push([id, live.width / figure.getBoundingClientRect().width,
                figure.querySelector(":scope > svg").getBoundingClientRect().height,
                figure.querySelectorAll(".live [class*=role-mark] path").length]);
        }}
        return [found, document.documentElement.scrollWidth, innerWidth];
    """)
    figures, scrolled, inner = found
    assert scrolled <= inner
    for name, wide, still, count in figures:
        assert 0.6 < wide <= 1 and still == 0 and count > 3, name


def read_texts_of_marks(shown: Browser, name: str) -> list[dict[str, str]]:
    """Return the text that each mark of a chart shows when the mark is selected by keys."""
    texts = run_script(shown, f"""
        const figure = await seen("{name}"), live = figure.querySelector(".live");
        const key = (key) => live.dispatchEvent(new KeyboardEvent("keydown", {{key}}));
        const said = [];
        let last = null;
        key("Home");
        for (let at = live.querySelector(".at"); at !== last; at = live.querySelector(".at")) {{
            said.push(document.getElementById("tip").textContent);
            last = at;
            key("ArrowRight");
        }}
        return said;
    """)
    return [dict(re.findall(r"(?:^|, )(of|low|high|runs|from|[^:]+): ([^,]*)", text))
            for text in texts]


def round_to_digits_of_study_page(text: str) -> str:
    """Round a number to the precision of the page; return other text unchanged."""
    return f"{float(text):.{DIGITS}g}" if re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", text) else text


def round_fields_of_figure_mark(mark: dict[str, str]) -> tuple[str, ...]:
    keys = ("series", "facet", "x", "source", "y", "low", "high", "runs")
    return tuple(round_to_digits_of_study_page(mark[key]) for key in keys)


@pytest.mark.parametrize("name", NAMES)
def test_tooltips_show_the_numbers_of_the_figure_file(browser_with_study_page: Browser,
                                                      study_page: Path, name: str) -> None:
    wanted = {round_fields_of_figure_mark(mark) for mark in read_figure_marks(study_page, name)}
    axes = ["of", "in", "low", "high", "runs", "from"]
    found = set()
    for said in read_texts_of_marks(browser_with_study_page, name):
        measure = list(said)[-1 - sum(key in said for key in axes[2:])]
        place = [key for key in said if key not in (*axes, measure)]
        values = [said.get(key, "") for key in
                  ("of", "in", *(place[:1] or ["nowhere"]), "from", measure, "low", "high", "runs")]
        found.add(tuple(map(round_to_digits_of_study_page, values)))
    assert found == wanted


def test_measurements_from_the_paper_are_in_all_panels(study_page: Path) -> None:
    found = [mark["facet"] for mark in read_figure_marks(study_page, "stack")
             if mark["source"] == "the paper"]
    assert found == ["die utilisation: 30%", "die utilisation: 50%"]


@pytest.mark.parametrize(("name", "scale"), [("dots", float), ("bars", math.log)])
def test_intervals_are_drawn_to_scale(browser_with_study_page: Browser, name: str,
                                      scale: Callable[[float], float]) -> None:
    means, ends = run_script(browser_with_study_page, f"""
        const figure = await seen("{name}");
        const items = (kind) => [...figure.querySelectorAll(`.live .role-mark${{kind}}`)]
            .map((one) => one.__data__);
        return [items(":is(.mark-symbol, .mark-rect) path").map((one) => [one.y, one.datum.c3]),
            items(".mark-rule line").map((one) => [one.y, one.y2, one.datum.c4, one.datum.c5])
                .filter((one) => one[2] !== undefined)];
    """)
    (first, low), (last, high) = min(means), max(means)
    assert len(means) == 6 and len(ends) >= 6 and first < last

    def compute_position_on_axis(value: float) -> float:
        return float(first + (scale(value) - scale(low)) / (scale(high) - scale(low))
                     * (last - first))

    for begin, end, bottom, top in ends:
        assert sorted((begin, end)) == pytest.approx([compute_position_on_axis(top),
                                                      compute_position_on_axis(bottom)])


def test_parts_of_a_bar_are_stacked(browser_with_study_page: Browser) -> None:
    bars = run_script(browser_with_study_page, """
        return [...(await seen("stack")).querySelectorAll(".live .mark-rect.role-mark path")]
            .map((one) => one.__data__).map(({y, height, datum}) =>
                [datum.c0, datum.c2, datum.rank, y, height, datum.c3]);
    """)
    assert len(bars) == 12
    high = {tuple(bar[:3]): bar[4] / bar[5] for bar in bars}
    assert max(high.values()) == pytest.approx(min(high.values()))
    tops = {tuple(bar[:3]): bar[3] for bar in bars}
    for facet, x, rank, y, height, _ in bars:
        if rank:
            assert y + height == pytest.approx(tops[facet, x, rank - 1])


def test_policies_and_series_are_hidden_by_check_boxes(
    browser_with_study_page: Browser) -> None:
    before, without, alone, after = run_script(browser_with_study_page, """
        const ids = ["lines", "dots", "bars"];
        for (const id of ids)
            await seen(id);
        const count = async () => {
            await drawn();
            return ids.map((id) => document.querySelectorAll(
                `#${id} .live .role-mark:is(.mark-symbol, .mark-rect) path`).length);
        };
        const own = document.querySelector("#bars .series input");
        const found = [await count()];
        for (const one of [box("vth_b"), box("vth_b"), own, own]) {
            one.click();
            found.push(await count());
        }
        return [found[0], found[1], found[3], found[4]];
    """)
    # The numbers of marks in the figures lines, dots and bars.
    assert before == [7, 6, 6] and after == before
    assert without == [4, 4, 4]
    assert alone == [7, 6, 3]


def test_without_javascript_bars_and_dots_have_titles(study_page: Path) -> None:
    """All marks of a chart have titles, except the line of a distribution."""
    text = study_page.read_text()
    for name in set(NAMES) - {"cdf"}:
        figure = text[text.index(f'<figure id="{name}"'):]
        figure = figure[:figure.index("</svg>")]
        titles = [unescape(one) for one in re.findall("<title>([^<]*)</title>", figure)]
        for mark in read_figure_marks(study_page, name):
            words = ", ".join(filter(None, (mark["x"], mark["series"])))
            assert any(one.startswith(f"{words}: ") and one.endswith(f", {mark['source']}")
                       for one in titles), (name, mark)


def test_a_study_page_is_made_without_vl_convert(study_page: Path, tmp_path: Path) -> None:
    program = install_verb_without_module(tmp_path / "place", "study", "vl_convert")
    done = run_program(program, "report", study_page.with_suffix(".toml"), "-O",
                       tmp_path / "x.html", environment={"APPROXFTL": str(PROGRAM)})
    assert done.code == 0, done
    text = (tmp_path / "x.html").read_text()
    assert text.count('aria-labelledby="') == len(NAMES) and 'class="spec"' not in text
