# SPDX-License-Identifier: GPL-2.0-only
"""Test that charts saved as files have the right file type and the right numbers."""

import csv
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftests.lib.programs import BUILD, copy_packages, install_verb_without_module, run_program
from selftests.reports.support import (
    Json,
    run_approxftl,
    run_approxftl_ok,
    simulate_to_file,
    write_report_input_files,
)

from approxftl_tools.colours import CAUSES
from approxftl_tools.figure import (
    TIME_LABEL,
    Bars,
    Curves,
    Dots,
    Figure,
    Grid,
    Panels,
    Span,
    Spans,
    axis_tick_text,
    number_as_text,
)
from approxftl_tools.figure_file import render_figure
from approxftl_tools.figure_kinds import KINDS
from approxftl_tools.figure_times import cumulative_percentages, simplify_curve
from approxftl_tools.figure_wear import average_wear_over_block_ranges, wear_map_by_lun
from approxftl_tools.statistics import Estimate
from approxftl_tools.svg import choose_round_tick_values, figure_as_svg, tick_texts


@pytest.fixture(scope="module")
def report_input_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_report_input_files(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="module")
def drawn_figures_folder(report_input_files: list[Path]) -> Path:
    directory = report_input_files[0].parent / "drawn"
    told = run_approxftl_ok("figures", *report_input_files, "-O", directory, "--data")
    assert sorted(told.split()) == sorted(map(str, directory.glob("*.svg")))
    return directory


def read_csv_rows(path: Path) -> list[list[str]]:
    with path.open() as file:
        return list(csv.reader(file))


def test_each_kind_of_figure_is_drawn(drawn_figures_folder: Path, tmp_path: Path) -> None:
    names = {path.stem for path in drawn_figures_folder.glob("*.svg")}
    assert {path.stem for path in drawn_figures_folder.glob("*.csv")} == names
    simulate_to_file(tmp_path / "seeds.json", "--requests", "500", "--policy", "baseline,approxftl",
                     "--seed", "1..3")
    told = run_approxftl_ok("figures", tmp_path / "seeds.json", "--kind", "ratios", "-O", tmp_path)
    assert told == f"{tmp_path / 'ratios.svg'}\n"
    names.add("ratios")
    for kind in KINDS:
        start = {"device": "device-", "records": "record-"}.get(kind.name, kind.name)
        assert any(name.startswith(start) for name in names), kind.name


def test_figures_are_valid_svg_files(drawn_figures_folder: Path) -> None:
    for path in drawn_figures_folder.glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter())) > 20


def test_csv_files_contain_the_numbers_of_the_inputs(drawn_figures_folder: Path,
                                                     report_input_files: list[Path]) -> None:
    import json

    result: Json = json.loads(report_input_files[0].read_text())
    shares = read_csv_rows(drawn_figures_folder / "block-kinds.csv")
    for row, one in zip(shares[1:], result["runs"], strict=True):
        pages = {name.replace("_", " "): kind["pages"] for name, kind in one["block_kinds"].items()}
        total = sum(pages.values())
        shown = dict(zip(shares[0][1:], map(float, row[1:]), strict=True))
        assert shown == pytest.approx({name: 100 * pages.get(name, 0) / total for name in shown})
        assert sum(shown.values()) == pytest.approx(100)
    parts = read_csv_rows(drawn_figures_folder / "write-amplification.csv")
    assert {*CAUSES, "host_write_units", "programmed_units", "host_write_bytes",
            "programmed_bytes", "total"} == set(
        result["runs"][0]["write_amplification"])
    for row, one in zip(parts[1:], result["runs"], strict=True):
        assert sum(map(float, row[1:])) == pytest.approx(one["write_amplification"]["total"],
                                                         abs=1e-3)
    lanes = read_csv_rows(drawn_figures_folder / "timeline-1.csv")
    begins = [float(row[1]) for row in lanes[1:]]
    assert min(begins) == 0
    events = [event for event in json.loads(report_input_files[1].read_text())["traceEvents"]
              if event["ph"] == "X" and event["pid"] == 1]
    events.sort(key=lambda event: event["ts"])
    spans = sorted((float(row[1]), float(row[2]) - float(row[1])) for row in lanes[1:])
    assert any(all(begin == pytest.approx(event["ts"] - first["ts"], abs=1e-3)
                   for (begin, _), event in zip(spans, events[i:i + len(spans)], strict=True))
               and sorted(dur for _, dur in spans) == pytest.approx(
                   sorted(event["dur"] for event in events[i:i + len(spans)]), abs=1e-3)
               for i, first in enumerate(events[:len(events) - len(spans) + 1]))


def test_chosen_kinds_of_figures_are_written_as_pdf(report_input_files: list[Path],
                                                    tmp_path: Path) -> None:
    told = run_approxftl_ok("figures", report_input_files[0], "--kind", "energy,wear", "--format",
                            "pdf", "-O", tmp_path / "out")
    assert [Path(line).name for line in told.split()] == ["energy.pdf", "wear.pdf"]
    assert (tmp_path / "out/energy.pdf").read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["energy.pdf", "wear.pdf"]


@pytest.mark.parametrize(("width", "inches"), [("single", 3.5), ("double", 7.16)])
def test_option_width_sets_the_figure_width_in_inches(
        report_input_files: list[Path], tmp_path: Path, width: str, inches: float) -> None:
    for kind in ("png", "svg"):
        run_approxftl_ok("figures", report_input_files[0], "--kind", "energy", "--format", kind,
                         "--width", width, "-O", tmp_path)
    head = (tmp_path / "energy.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20], "big") == pytest.approx(300 * inches, abs=1)
    assert f' width="{inches:g}in" ' in (tmp_path / "energy.svg").read_text()


def test_a_style_applies_to_all_figures(report_input_files: list[Path], tmp_path: Path) -> None:
    style = tmp_path / "style.toml"
    style.write_text('width = 5\nfont = "DejaVu Serif"\nfont_size = 6\n'
                     'palette = ["#123456", "#fedcba"]\n')
    for options in ((), ("--style", style)):
        told = run_approxftl_ok("figures", report_input_files[0], "--kind", "cdf", "-O", tmp_path,
                                *options)
        text = Path(told.split()[0]).read_text()
        styled = ('width="5in"' in text, "DejaVu Serif" in text, "#123456" in text,
                  "#0072b2" not in text)
        assert set(styled) == {bool(options)}
    done = run_approxftl("figures", report_input_files[0], "--kind", "cdf", "--style",
                         report_input_files[0])
    assert done.code == 1 and "no TOML" in done.err


def test_an_unknown_kind_of_figure_is_refused(report_input_files: list[Path]) -> None:
    done = run_approxftl("figures", report_input_files[0], "--kind", "pie")
    assert done.code == 2
    assert 'there is no kind "pie"; there are ratios, response, class-response, cdf,' in done.err


def test_a_kind_of_figure_without_its_data_is_refused(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "x.json", "--requests", "10")
    done = run_approxftl("figures", "x.json", "--kind", "cdf", directory=tmp_path)
    assert done.code == 1
    assert "cdf: not in 1 run: approxftl sim --json=FILE --histogram records it" in done.err


def test_a_command_without_files_is_refused(tmp_path: Path) -> None:
    done = run_approxftl("figures", directory=tmp_path)
    assert (done.code, done.err) == (
        2, 'approxftl figures: nothing to draw; name files, or "--list" the kinds\n')


def test_only_pdf_and_png_need_vl_convert(report_input_files: list[Path], tmp_path: Path) -> None:
    """A module that cannot be imported acts like a package that is not installed."""
    program = install_verb_without_module(tmp_path / "place", "figures", "vl_convert")
    done = run_program(program, report_input_files[0], "-O", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    done = run_program(program, report_input_files[0], "-O", tmp_path / "out", "--format", "pdf")
    assert (done.code, done.err) == (
        1, "approxftl figures: pdf needs vl-convert: pip install vl-convert-python; or draw svg, "
        "and convert that, by rsvg-convert or Inkscape\n")


class Interpreters:
    """An installed program with two Python interpreters, each of which may lack packages."""

    def __init__(self, place: Path, verb: str, system: str, foreign: str) -> None:
        self.place = place
        for name, lacks in (("system", system), ("foreign", foreign)):
            (place / name).mkdir()
            python = place / name / "python3"
            python.write_text(f"""#!/bin/sh
for word; do case $word in *{lacks}*) exit 1 ;; esac; done
[ "$2" = -c ] || echo {name} >&2
exec {sys.executable} "$@"
""")
            python.chmod(0o755)
        copy_packages(place / "lib/approxftl/python")
        self.program = place / "bin/approxftl"
        self.program.parent.mkdir()
        start = (BUILD / f"approxftl-{verb}").read_text()
        self.program.write_text(start.replace("/usr/bin/python3", str(place / "system/python3")))
        self.program.chmod(0o755)

    def run_installed_program(self) -> tuple[int, str]:
        done = subprocess.run([self.program, "--help"], text=True, capture_output=True,
                              env={"PATH": f"{self.place}/foreign:/usr/bin:/bin"}, check=False)
        return done.returncode, done.stderr


@pytest.mark.parametrize(("verb", "system", "foreign", "chosen"), [
    ("report", "nothing", "numpy", "system"),
    ("report", "nothing", "nothing", "system"),
    ("report", "numpy", "nothing", "foreign"),
    ("report", "vl_convert", "nothing", "foreign"),
    ("report", "vl_convert", "vl_convert", "system"),
    ("figures", "vl_convert", "nothing", "foreign"),
    ("parquet", "pyarrow", "nothing", "foreign"),
])
@pytest.mark.in_turn
def test_installed_programs_run_the_python_that_has_their_packages(
        tmp_path: Path, verb: str, system: str, foreign: str, chosen: str) -> None:
    assert Interpreters(tmp_path, verb, system, foreign).run_installed_program() == (0,
                                                                                     f"{chosen}\n")


def test_missing_python_modules_are_named(tmp_path: Path) -> None:
    interpreters = Interpreters(tmp_path, "report", "numpy", "numpy")
    assert interpreters.run_installed_program() == (
        1, f"approxftl report: neither {tmp_path}/system/python3 nor {tmp_path}/foreign/python3 is "
        "Python 3.11 or later with numpy: apt-get install python3-numpy\n")


def test_bars_of_negative_values_are_drawn_below_zero() -> None:
    root = ElementTree.fromstring(figure_as_svg(make_bar_figure([2, -1])))
    up, down = [mark for mark in root.iter("rect") if mark.find("title") is not None]
    assert float(up.attrib["height"]) == pytest.approx(2 * float(down.attrib["height"]), abs=0.2)
    zero = float(up.attrib["y"]) + float(up.attrib["height"])
    assert float(down.attrib["y"]) == pytest.approx(zero, abs=0.2)


def make_bar_figure(values: list[float]) -> Figure:
    return Figure("x", "A title", "A description.",
                  Bars([str(i) for i in range(len(values))], [("one", values)], "unit"))


@given(st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=40))
def test_heights_of_bars_are_in_proportion_for_any_values(values: list[float]) -> None:
    root = ElementTree.fromstring(figure_as_svg(make_bar_figure(values)))
    marks = [mark for mark in root.iter("rect") if mark.find("title") is not None]
    assert len(marks) == len(values)
    heights = [float(mark.attrib["height"]) for mark in marks]
    top = max(values, key=abs)
    for height, value in zip(heights, values, strict=True):
        assert height >= 0
        if top:
            assert height == pytest.approx(heights[values.index(top)] * abs(value / top), abs=0.2)


@given(st.lists(st.tuples(st.floats(1e-6, 1e6), st.none() | st.floats(0, 1e6)), min_size=1,
                max_size=9), st.sampled_from([None, 1.0]))
def test_a_dot_plot_is_drawn_for_any_values(found: list[tuple[float, float | None]],
                                            mark: float | None) -> None:
    estimates = [Estimate(mean, half, 3) for mean, half in found]
    figure = Figure("x", "A title", "A description.",
                    Dots([str(i) for i in range(len(found))], [("one", estimates)], "times", mark))
    root = ElementTree.fromstring(figure_as_svg(figure))
    centres = [float(circle.attrib["cx"]) for circle in root.iter("circle")]
    lines = [list(map(float, re.findall(r"-?[0-9.]+", path.attrib["d"])))
             for path in root.iter("path")]
    # Each line is drawn twice: its edge and itself.
    assert lines[::2] == lines[1::2]
    lines = lines[::2]
    assert len(centres) == len(lines) == len(found)
    for x, (low, _, high) in zip(centres, lines, strict=True):
        assert 0 <= low <= x <= high <= 760
    for (one, x), (other, after) in pairwise(sorted(zip(estimates, centres, strict=True),
                                                    key=lambda pair: pair[0].mean)):
        assert one.mean <= other.mean and x <= after


@given(st.lists(st.tuples(st.floats(1e-3, 1e9), st.floats(-1e6, 1e6)), min_size=1, max_size=30),
       st.booleans(), st.booleans())
def test_a_curve_of_any_values_is_drawn_within_its_figure(points: list[tuple[float, float]],
                                                          log_x: bool, steps: bool) -> None:
    xs, ys = zip(*sorted(points), strict=True)
    figure = Figure("x", "A title", "A description.",
                    Curves("x", "y", [("one", xs, ys)], log_x=log_x, steps=steps))
    root = ElementTree.fromstring(figure_as_svg(figure))
    edge, path = root.iter("path")
    assert edge.attrib["d"] == path.attrib["d"] and "under" in edge.attrib["class"]
    places = [float(number) for number in re.findall(r"-?[0-9.]+", path.attrib["d"])]
    assert all(-1 <= place <= 800 for place in places)


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_axis_ticks_enclose_the_range_of_values(low: float, span: float) -> None:
    scale = choose_round_tick_values(low, low + span)
    margin = 1e-6 * max(1, abs(low), span)
    assert scale[0] <= low + margin
    assert scale[-1] >= low + span - margin
    assert 2 <= len(scale) <= 9


def test_labels_of_ticks_that_are_close_together_differ() -> None:
    assert tick_texts([1, 1.5, 2]) == ["1", "1.5", "2"]
    assert tick_texts([0.999999, 1, 1.000001]) == ["0.999999", "1", "1.000001"]


def test_means_of_consecutive_ranges_of_values_are_computed() -> None:
    assert average_wear_over_block_ranges([1, 3, 5, 7], 2) == [2, 6]
    assert average_wear_over_block_ranges([1, 2, 3], 3) == [1, 2, 3]


def test_histograms_become_cumulative_percentages() -> None:
    assert cumulative_percentages([[1000, 1], [3000, 3]]) == ([1.0, 1.0, 3.0], [0.0, 25.0, 100.0])


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_a_figure_is_drawn_to_the_same_bytes_again(kind: str) -> None:
    assert render_figure(make_bar_figure([1, 2]), kind) == render_figure(make_bar_figure([1, 2]),
                                                                         kind)


def test_a_missing_value_of_a_figure_is_left_empty_in_its_csv() -> None:
    plot = Bars(["a"], [("one", [None])], "unit")
    assert Figure("x", "t", "d", plot).figure_as_csv() == ",one\na,\n"
    assert "title" in figure_as_svg(Figure("x", "t", "d", plot))




def find_text_elements(drawn_: str, klass: str = "") -> list[str]:
    """Return the text elements of a drawing that have a given CSS class, or no class."""
    wanted = f' class="{klass}"' if klass else ""
    return re.findall(rf'<text [^>]*text-anchor="\w+"{wanted}>([^<]*)</text>', drawn_)


def test_bars_side_by_side_show_their_values() -> None:
    sides: list[tuple[str, list[float | None]]] = [("one", [0.5, None]), ("two", [1.25, -3.0])]
    plot = Bars(["a", "b"], sides, "unit")
    assert find_text_elements(figure_as_svg(Figure("x", "t", "d", plot)), "value") == [
        "0.5", "1.25", "-3"]
    narrow = Bars([str(i) for i in range(90)], [("one", [0.123] * 90)], "unit")
    assert find_text_elements(figure_as_svg(Figure("x", "t", "d", narrow)), "value") == []
    stacked = Bars(["a", "b"], sides, "unit", stacked=True)
    assert find_text_elements(figure_as_svg(Figure("x", "t", "d", stacked)), "value") == []


@pytest.mark.parametrize(("us", "said"), [(10, "10 us"), (1e3, "1 ms"), (1e6, "1 s"),
                                          (1e5, "100 ms"), (0.1, "100 ns")])
def test_tick_labels_of_a_time_axis_have_units(us: float, said: str) -> None:
    assert axis_tick_text(us, TIME_LABEL) == said
    assert axis_tick_text(us, "s") == number_as_text(us)
    plot = Curves(TIME_LABEL, "%", [("a", [us, 9 * us], [1, 2])], log_x=True)
    assert said in find_text_elements(figure_as_svg(Figure("x", "t", "d", plot)))


def test_a_timeline_figure_has_a_time_axis() -> None:
    plot = Spans("us", ["LUN 0"], ["read"], [Span(0, 1e5, 4e5, "read", "block 1")])
    drawn_ = figure_as_svg(Figure("x", "t", "d", plot))
    assert {"100 ms", "400 ms", "0"} <= set(find_text_elements(drawn_))
    assert ">time<" in drawn_ and 'data-lanes="LUN 0" data-end="400000"' in drawn_


def test_the_legend_of_a_map_lists_only_states_that_occur() -> None:
    words_ = ("precise", "approximate", "erased")
    plot = Grid("layer", "page", ["1", "0"], ["0", "1"],
                [["precise", "erased"], ["precise", "precise"]], "page", words_)
    drawn_ = figure_as_svg(Figure("x", "t", "d", plot))
    assert {"precise", "erased"} <= set(find_text_elements(drawn_))
    assert "approximate" not in find_text_elements(drawn_)
    # Two rows are separated by one line, and two columns by one.
    lines = re.findall(r'<path d="([^"]*)" class="cells"/>', drawn_)
    assert len(lines) == 1
    assert len(re.findall("M", lines[0])) == 2
    wide = Grid("LUN", "block", ["0"], [str(i) for i in range(128)], [[0] * 128], "wear")
    assert 'class="cells"' not in figure_as_svg(Figure("x", "t", "d", wide))
    named = find_text_elements(figure_as_svg(Figure("x", "t", "d", wide)))
    assert {"0", "8", "120"} <= set(named) and "7" not in named


@pytest.mark.parametrize("kind", [
    lambda top: Bars(["a", "b"], [("x", [1.0, top]), ("y", [2.0, None])], "us"),
    lambda top: Bars(["a"], [("x", [1.0]), ("y", [top])], "us", stacked=True),
    lambda top: Curves("s", "MiB/s", [("x", [1.0, 2.0], [1.0, top]), ("y", [1.0], [1.0])]),
    lambda top: Dots(["a"], [("x", [Estimate(1.0, 0.1, 3)]), ("y", [Estimate(top, None, 1)])],
                     "us"),
])
def test_panels_of_a_figure_have_one_legend_and_one_scale(kind: Any) -> None:
    panels = Panels([("first", kind(3.0)), ("second", kind(80.0)), ("third", kind(5.0))])
    still = figure_as_svg(Figure("x", "t", "d", panels))
    alone = figure_as_svg(Figure("x", "t", "d", panels.panels[1][1]))
    assert find_text_elements(still, "panel") == ["first", "second", "third"]
    assert (find_text_elements(still).count("x"), find_text_elements(still).count("y")) == (1, 1)
    scale = [text for text in find_text_elements(alone) if re.fullmatch(r"[0-9.]+", text)]
    assert len(scale) > 2 and all(find_text_elements(still).count(text) == 3 for text in scale)
    said = re.findall(r">([^<>]+)</text>",
                      render_figure(Figure("x", "t", "d", panels), "svg").decode())
    assert {"first", "second", "third"} <= set(said)
    assert (said.count("x"), said.count("y")) == (1, 1)


def test_many_bars_of_a_series_are_one_svg_path() -> None:
    values = [float(i % 7) for i in range(150)]
    plot = Bars([f"load {i}" for i in range(150)], [("x", values), ("y", values)], "us",
                stacked=True)
    drawn_ = figure_as_svg(Figure("x", "t", "d", plot))
    marks = re.findall(r'<use href="#([^"]*)" [^>]*class="bars l(\d)"><title>(\w)</title>', drawn_)
    assert [(number_, name) for _, number_, name in marks] == [("0", "x"), ("1", "y")]
    ways = {name: way for way, name in re.findall(r'<path d="([^"]*)" id="([^"]*)"/>', drawn_)}
    boxes = [[tuple(map(float, box)) for box in re.findall(r"M([0-9.]+) (\d+)V(\d+)", ways[name])]
             for name, *_ in marks]
    # Zero values draw no bar.
    assert [len(found) for found in boxes] == [sum(map(bool, values))] * 2
    # The second part is stacked on the first and has the same height.
    for (x, base, top), (x_, base_, top_) in zip(*boxes, strict=True):
        assert (x, top) == (x_, base_) and abs((base - top) - (base_ - top_)) <= 2
    assert boxes[0][5][1] - boxes[0][5][2] > 5 * (boxes[0][0][1] - boxes[0][0][2])
    assert 10 < len(re.findall(r">load \d+</text>", drawn_)) <= 24


def test_a_curve_is_thinned_to_400_points() -> None:
    times = [float(i) for i in range(1, 20001)]
    left = [100 * (1 - i / 20000) for i in range(20000)]
    few_times, few_left = simplify_curve(times, left)
    assert len(few_times) == len(few_left) <= 400
    assert (few_times[0], few_times[-1]) == (times[0], times[-1])
    assert [left[int(time) - 1] for time in few_times] == few_left
    # The curve has points in each decade of the remaining requests, down to the last one.
    for low in (10, 1, 0.1, 0.01):
        assert sum(low <= share < 10 * low for share in few_left) > 10
    assert simplify_curve(times[:400], left[:400]) == (times[:400], left[:400])


def test_a_map_is_thinned_to_64_columns() -> None:
    found = wear_map_by_lun([float(i % 512) for i in range(64 * 512)], 512, "wear")
    assert (len(found.row_names), len(found.column_names)) == (64, 64)
    assert found.cells[63][:2] == [3.5, 11.5] and found.column_names[1] == "8"
