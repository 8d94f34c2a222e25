# SPDX-License-Identifier: GPL-2.0-only
"""The papers' figures from scratch: each is a file of runs and of what to plot of them.

A file of paper_figures/ says what the paper shows, what is run in its place, and how it is
plotted. Nothing in it is a result: all numbers come from the runs.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from approxftl_tools import command, plot
from approxftl_tools.children import Children
from approxftl_tools.command import Refusal
from approxftl_tools.figure import Bars, Curves, Figure, Plot
from approxftl_tools.kinds import cumulative, no_zero
from approxftl_tools.measures import factor
from approxftl_tools.page import figure_block, page, table
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.paper_weights import shelf
from approxftl_tools.study_plan import digest_of

Json = dict[str, Any]

#: A name, and its points.
Curve = tuple[str, list[float], list[float]]

#: Papers in the order of the page.
SYSTEMS = ("ApproxFTL", "cubeFTL", "AGCR", "TVR", "ReSSD", "Weights")
FOLDER = Path(__file__).parent / "paper_figures"
#: {quick|full} in a command; {trace:NAME} stands for a record file.
CHOICE = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")
TRACE = re.compile(r"\{trace:(\w+)\}")
#: Requests of a synthetic stand-in.
QUICK_REQUESTS, FULL_REQUESTS = 40_000, 400_000
#: Seconds that one run may take.
PATIENCE = {False: 600, True: 24 * 3600}


@dataclass(frozen=True)
class RunSpec:
    """A command, and where its results belong."""

    category: str
    series: str
    x: float
    command: str


@dataclass(frozen=True)
class Spec:
    """A figure of a paper."""

    name: str
    system: str
    figure: str
    title: str
    #: What the paper shows.
    paper: str
    #: What is different here: stand-ins, sizes.
    here: str
    plot: Json
    runs: Sequence[RunSpec]
    #: A module without which it cannot be drawn.
    needs: str = ""


@dataclass(frozen=True)
class Setting:
    """How the figures are made."""

    output: Path
    full: bool
    traces: Path | None
    seed: int
    format: str = "svg"
    children: Children = field(default_factory=Children)


# ---------------------------------------------------------------- what there is


def read_spec(path: Path) -> Spec:
    """Read the description of a figure."""
    try:
        text = tomllib.loads(path.read_text("utf-8"))
        common = " ".join(text.get("common", "").split())
        runs = [RunSpec(run.get("category", ""), run.get("series", ""), float(run.get("x", 0)),
                        f"{common} {run['command']}") for run in text["run"]]
        return Spec(path.stem, text["system"], text["figure"], text["title"],
                    " ".join(text["paper"].split()), " ".join(text["here"].split()),
                    text["plot"], runs, text.get("needs", ""))
    except (tomllib.TOMLDecodeError, KeyError, OSError) as error:
        raise Refusal(f"{path}: no description of a figure: {error}") from error


def specs(names: Sequence[str] = ()) -> list[Spec]:
    """Return the figures whose names begin like one of these; all without names."""
    found = [read_spec(path) for path in sorted(FOLDER.glob("*.toml"))]
    found.sort(key=lambda spec: (SYSTEMS.index(spec.system), spec.name))
    for name in names:
        if not any(spec.name.startswith(name) for spec in found):
            raise Refusal(f'there is no figure "{name}"; there are '
                          f"{', '.join(spec.name for spec in found)}", command.USAGE)
    return [spec for spec in found if not names or spec.name.startswith(tuple(names))]


# ---------------------------------------------------------------- running


def stand_in(name: str, setting: Setting) -> Path:
    """Return the record file of a volume: the real one, or a synthetic one like it."""
    if setting.traces:
        real = setting.traces / f"{name}.aft"
        if not real.exists():
            raise Refusal(f"{setting.traces}: there is no {name}.aft; approxftl trace convert "
                          "makes one", command.NOT_FOUND)
        return real
    count = FULL_REQUESTS if setting.full else QUICK_REQUESTS
    path = setting.output / "traces" / f"{name}-{count}-{setting.seed}.aft"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with command.output(path) as file:
            call([str(command.program()), "synth", "--like", name, "--requests", str(count),
                  "--seed", str(setting.seed), "-o", str(file)], setting)
    return path


def call(arguments: Sequence[str], setting: Setting) -> str:
    """Run a program; return what it printed."""
    try:
        status, out, err = setting.children.run(arguments, PATIENCE[setting.full])
    except OSError as error:
        raise Refusal(f"{arguments[0]}: cannot run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Refusal(f"{shlex.join(arguments)}: still running after {error.timeout} s") from error
    if status:
        raise Refusal(f"{shlex.join(arguments)}: {err.strip()}")
    return out


def arguments_of(run: RunSpec, setting: Setting) -> list[str]:
    """Return the command line of a run."""
    text = CHOICE.sub(lambda found: found[2 if setting.full else 1], run.command)
    text = TRACE.sub(lambda found: shlex.quote(str(stand_in(found[1], setting))), text)
    return ["sim", *shlex.split(text), "--seed", str(setting.seed), "--histogram", "--quiet"]


def program_digest() -> str:
    """Return what tells one simulator from another."""
    try:
        return hashlib.sha256(command.program().read_bytes()).hexdigest()
    except OSError as error:
        raise Refusal(f"{command.program()}: cannot read: {error.strerror}; make all builds it",
                      command.NOT_FOUND) from error


def result_path(arguments: Sequence[str], digest: str, setting: Setting) -> Path:
    """Return where a result is kept: the same run of the same program is not repeated."""
    traces = [digest_of(Path(word)) for word in arguments if word.endswith(".aft")]
    key = hashlib.sha256(json.dumps([digest, *traces, *arguments]).encode()).hexdigest()[:20]
    return setting.output / "runs" / f"{key}.json"


def ensure(arguments: Sequence[str], digest: str, setting: Setting) -> Json:
    """Return the result of a run, which is made if it is not there."""
    path = result_path(arguments, digest, setting)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with command.output(path) as file:
            call([str(command.program()), *arguments, "--json", str(file)], setting)
    result: Json = json.loads(path.read_text("utf-8"))
    return result


# ---------------------------------------------------------------- plotting


@dataclass(frozen=True)
class Point:
    """One policy of one run."""

    category: str
    series: str
    x: float
    data: Json


def with_unit_bits(result: Json) -> list[Json]:
    """Return the runs of a result, each with the size of a unit, by which errors are counted."""
    bits = 8 * result["geometry"]["unit_bytes"]
    return [{**run, "unit_bits": bits} for run in result["runs"]]


def points(spec: Spec, results: Sequence[Json]) -> list[Point]:
    """Return all policies of all runs."""
    return [Point(run.category, run.series or one["policy"], run.x, one)
            for run, result in zip(spec.runs, results, strict=True)
            for one in with_unit_bits(result)]


def value_at(found: Iterable[Point], category: str, series: str, measure: str) -> float | None:
    """Return the measure of one bar."""
    for point in found:
        if (point.category, point.series) == (category, series):
            return VALUES[measure](point.data)
    return None


SCALED: dict[str, Callable[[float], float]] = {
    "ratio": lambda r: r,
    "cut_percent": lambda r: 100 * (1 - r),
    "gain_percent": lambda r: 100 * (r - 1),
}


def related(value: float | None, base: float | None, plot_: Json) -> float | None:
    """Return a value as the figure shows it."""
    if "relative_to" not in plot_:
        return None if value is None else value * plot_.get("scale", 1)
    relative = factor(value, base)
    return None if relative is None else SCALED[plot_.get("as", "ratio")](relative)


def shown_series(found: Sequence[Point], plot_: Json) -> list[str]:
    """Return the series in their order; the yardstick is left out where it would be zero."""
    series: list[str] = plot_.get("series") or list(dict.fromkeys(p.series for p in found))
    if plot_.get("as", "ratio") == "ratio":
        return series
    return [name for name in series if name != plot_.get("relative_to")]


def bars_by_measure(found: Sequence[Point], plot_: Json) -> Plot:
    """Bars by measure, all of one category."""
    category = found[0].category
    series = [(name, [related(value_at(found, category, name, measure),
                              value_at(found, category, plot_["relative_to"], measure), plot_)
                      for measure in plot_["measures"]]) for name in shown_series(found, plot_)]
    names = [measure.replace("_", " ") for measure in plot_["measures"]]
    return Bars(names, series, plot_["unit"], mark=1.0)


def bars(found: Sequence[Point], plot_: Json) -> Plot:
    """Bars by category, one series for each policy."""
    if "measures" in plot_:
        return bars_by_measure(found, plot_)
    categories = list(dict.fromkeys(point.category for point in found))
    base = plot_.get("relative_to", "")
    series = []
    for name in shown_series(found, plot_):
        values = [related(value_at(found, category, name, plot_["measure"]),
                          value_at(found, category, base, plot_["measure"]), plot_)
                  for category in categories]
        series.append((name, values))
    mark = 1.0 if plot_.get("as", "ratio") == "ratio" and base else None
    return Bars(categories, series, plot_["unit"], mark=mark)


def parts(found: Sequence[Point], plot_: Json) -> Plot:
    """Bars that are made of parts: measures, or the members of an object."""
    names = [f"{point.category} {point.series}" if plot_.get("both") else point.category
             for point in found]
    bases = {point.category: sum(part_values(point, plot_).values()) for point in found
             if point.series == plot_.get("relative_to")}
    tables = []
    for point in found:
        values = part_values(point, plot_)
        whole = bases.get(point.category) or (sum(values.values()) if plot_.get("shares") else 1)
        scale = 100 if plot_.get("shares") else 1
        tables.append({key: scale * value / whole if whole else 0.0
                       for key, value in values.items()})
    keys = [key for key in dict.fromkeys(k for t in tables for k in t)
            if any(t.get(key) for t in tables)]
    return Bars(names, [(key.replace("_", " "), [t.get(key, 0.0) for t in tables])
                        for key in keys], plot_["unit"], stacked=True)


def part_values(point: Point, plot_: Json) -> dict[str, float]:
    """Return the parts of one bar."""
    if "measures" in plot_:
        return {name: VALUES[name](point.data) or 0.0 for name in plot_["measures"]}
    node = point.data[plot_["object"]]
    return {key: float(value["pages"] if isinstance(value, dict) else value)
            for key, value in node.items()}


def line_of(found: Sequence[Point], category: str, name: str, plot_: Json) -> Curve:
    """Return one line: a scheme in a category, over the quantity of the runs."""
    here = [point for point in found if point.category == category]
    xs, ys = [], []
    for x in dict.fromkeys(point.x for point in here):
        at_x = [point for point in here if point.x == x]
        y = related(value_at(at_x, category, name, plot_["measure"]),
                    value_at(at_x, category, plot_.get("relative_to", ""), plot_["measure"]),
                    plot_)
        if y is not None:
            xs.append(x)
            ys.append(y)
    return (category or name, xs, ys)


def curves(found: Sequence[Point], plot_: Json) -> Plot:
    """Lines over a quantity of the runs."""
    categories = list(dict.fromkeys(point.category for point in found))
    lines = [line_of(found, category, name, plot_)
             for category in categories for name in shown_series(found, plot_)]
    return Curves(plot_["x"], plot_["unit"], lines)


def distributions(found: Sequence[Point], plot_: Json) -> Plot:
    """Distributions of response times."""
    lines = [(f"{point.category} {point.series}".strip(),
              *cumulative(point.data["timing"][plot_["measure"]]["bins"])) for point in found]
    return Curves("us", "% of requests", lines, log_x=plot_.get("log", no_zero(lines)), steps=True)


PLOTS: dict[str, Callable[[Sequence[Point], Json], Plot]] = {
    "bars": bars, "parts": parts, "curves": curves, "cdf": distributions, "shelf": shelf,
}


def figure_of(spec: Spec, results: Sequence[Json]) -> Figure:
    """Return the figure."""
    found = [point for point in points(spec, results)
             if spec.plot.get("only", point.series) == point.series]
    description = f"In the paper: {spec.paper} Here: {spec.here}"
    return Figure(spec.name, f"{spec.system}, {spec.figure}: {spec.title}", description,
                  PLOTS[spec.plot["kind"]](found, spec.plot))


# ---------------------------------------------------------------- all of it


def made_by(spec: Spec, setting: Setting, commands: Sequence[Sequence[str]], digest: str) -> str:
    """Return the part of the page that says how to repeat a figure."""
    rows = [[str(result_path(arguments, digest, setting).relative_to(setting.output)),
             shlex.join(["approxftl", *arguments])] for arguments in commands]
    return (f"<details><summary>Runs ({len(rows)}); {escape(spec.name)}.toml</summary>\n"
            f"{table(['result', 'command'], rows)}</details>\n"
            f'<p>Files: <a href="{escape(spec.name)}.{setting.format}">'
            f"{escape(spec.name)}.{setting.format}</a>, "
            f'<a href="{escape(spec.name)}.csv">{escape(spec.name)}.csv</a></p>\n')


def introduction(setting: Setting) -> str:
    """Return what holds for all figures."""
    streams = (f"Volumes are real record files in <code>{escape(str(setting.traces))}</code>."
               if setting.traces else
               "Volumes are synthetic: streams with the published characteristics of the real "
               "ones, which cannot be handed on.")
    length = "Full runs." if setting.full else "Short runs; FULL=1 makes longer ones."
    return (f"<p>All numbers are simulated here, with seed {setting.seed}, by approxftl "
            f"{escape(command.version())}. {length} {streams} Absolute times are not the papers'; "
            "compare schemes within a figure.</p>\n")


def index(made: Sequence[tuple[Spec, Figure, list[list[str]]]], setting: Setting,
          digest: str) -> str:
    """Return the page with all figures."""
    body = [introduction(setting)]
    system = ""
    for spec, figure, commands in made:
        if spec.system != system:
            system = spec.system
            body.append(f"<h2>{escape(system)}</h2>\n")
        body.append(figure_block(figure, made_by(spec, setting, commands, digest)))
    return page("The papers' figures", "".join(body))


def drawable(names: Sequence[str], say: Callable[[str], None]) -> list[Spec]:
    """Return the figures that were named, or all for which there is what they need."""
    found = specs(names)
    lacking = [spec for spec in found if not names and spec.needs and not find_spec(spec.needs)]
    for spec in lacking:
        say(f"{spec.name}: left out, for lack of the Python package {spec.needs}")
    return [spec for spec in found if spec not in lacking]


def make(names: Sequence[str], setting: Setting, workers: int,
         say: Callable[[str], None]) -> Path:
    """Make figures; return the page that shows them."""
    began = time.monotonic()
    chosen = drawable(names, say)
    plot.library()
    digest = program_digest()
    commands = {spec.name: [arguments_of(run, setting) for run in spec.runs] for spec in chosen}
    different = {tuple(arguments) for spec in chosen for arguments in commands[spec.name]}
    say(f"{len(chosen)} figures, {len(different)} runs")
    made = []
    with ThreadPoolExecutor(workers) as pool:
        started = {arguments: pool.submit(ensure, arguments, digest, setting)
                   for arguments in sorted(different)}
        try:
            for spec in chosen:
                results = [started[tuple(arguments)].result()
                           for arguments in commands[spec.name]]
                figure = figure_of(spec, results)
                path = setting.output / f"{spec.name}.{setting.format}"
                plot.save(figure, setting.format, path)
                command.write_file(path.with_suffix(".csv"), figure.csv())
                made.append((spec, figure, commands[spec.name]))
                say(f"{path} ({time.monotonic() - began:.0f} s)")
        except BaseException:
            setting.children.stop()
            pool.shutdown(cancel_futures=True)
            raise
    # The page of all figures is not replaced by one of some.
    stem = "index" if not names else names[0] if len(names) == 1 else "selection"
    page_path = setting.output / f"{stem}.html"
    command.write_file(page_path, index(made, setting, digest))
    return page_path
