# SPDX-License-Identifier: GPL-2.0-only
"""Make the papers' figures from scratch: the studies of paper_studies/, on one page.

A study describes the paper's figure and the runs that reproduce it. It contains no results: all
numbers come from the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from approxftl_tools import command, figure_file, study_plan, study_report, study_table
from approxftl_tools.command import Refusal
from approxftl_tools.figure import Figure
from approxftl_tools.figure_file import Style
from approxftl_tools.inputs import Json, read
from approxftl_tools.page import page, templates
from approxftl_tools.study_engine import Processes
from approxftl_tools.study_figure import Spec, chart_of, specs_of
from approxftl_tools.study_plan import Plan
from approxftl_tools.study_run import ensure, unique
from approxftl_tools.study_store import Store
from approxftl_tools.study_streams import Setting

#: Papers in the order of the page; a study is named after its system.
SYSTEMS = ("ApproxFTL", "cubeFTL", "AGCR", "TVR", "ReSSD", "Weights")
FOLDER = Path(__file__).parent / "paper_studies"


@dataclass(frozen=True)
class Made:
    """A figure of a study."""

    plan: Plan
    spec: Spec

    def place(self) -> tuple[int, str]:
        """Return the position on the page."""
        return SYSTEMS.index(self.plan.name), self.spec.name

    def lacks(self) -> bool:
        """Tell whether a required Python package is missing."""
        return "networks" in self.spec.table and not find_spec("sklearn")


def figures(names: Sequence[str], setting: Setting) -> list[Made]:
    """Return the figures whose names start with one of these; all without names."""
    tables = {path: [str(one["name"]) for one in study_plan.load(path)["figure"]]
              for path in sorted(FOLDER.glob("*.toml"))}
    known = sorted(name for own in tables.values() for name in own)
    for name in names:
        if not any(one.startswith(name) for one in known):
            raise Refusal(f'there is no figure "{name}"; there are {", ".join(known)}',
                          command.USAGE)
    start = tuple(names) or ("",)
    plans = [study_plan.read(path, command.program(), setting=setting, sure=True)
             for path, own in tables.items() if any(one.startswith(start) for one in own)]
    found = [Made(plan, spec) for plan in plans for spec in specs_of(plan)
             if spec.name.startswith(start)]
    return sorted(found, key=Made.place)


def titles(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return names and titles of figures without running anything."""
    start = tuple(names) or ("",)
    found = [(SYSTEMS.index(study["name"]), one["name"], one["title"])
             for study in map(study_plan.load, FOLDER.glob("*.toml")) for one in study["figure"]]
    return ((name, title) for _, name, title in sorted(found) if name.startswith(start))


def drawable(names: Sequence[str], setting: Setting, say: Callable[[str], None]) -> list[Made]:
    """Return the named figures, or all whose requirements are met."""
    found = figures(names, setting)
    lacking = [one for one in found if not names and one.lacks()]
    for one in lacking:
        say(f"{one.spec.name}: left out, for lack of the Python package sklearn")
    return [one for one in found if one not in lacking]


def made_by(one: Made, store: Store, files: Sequence[Path]) -> Json:
    """Return the runs and files that reproduce a figure."""
    return {"runs": [[point.address, point.command()] for point in unique(one.plan.points)],
            "study": one.plan.path.name, "store": store.root.name,
            "files": [path.name for path in files]}


def introduction(setting: Setting) -> Json:
    """Return the facts that hold for all figures."""
    seed = setting.more.get("seed") or setting.more["base"]["seed"]
    return {"seeds": f"{setting.more['seeds']} seeds from {seed}; error bars are intervals of 95 %"
            if "seeds" in setting.more else f"seed {seed}",
            "version": command.version(), "traces": str(setting.traces or ""),
            "length": "Full runs." if setting.full else "Short runs; FULL=1 makes longer ones."}


def draw(one: Made, store: Store, folder: Path, kind: str, style: Style,
         reports: Sequence[Json]) -> tuple[Figure, list[Path], list[str]]:
    """Draw a figure and write its CSV; return it, its files and its policies."""
    groups = study_table.groups_of(one.plan, store)
    chart = chart_of(one.plan, one.spec, groups, reports,
                     f"In the paper: {one.spec.text()} Here: {one.plan.text}")
    files = [folder / f"{chart.name}.{ending}" for ending in (kind, "csv")]
    command.write_file(files[0], figure_file.render(chart, kind, style))
    command.write_file(files[1], chart.csv())
    return chart, files, study_report.policies_of(groups)


def reports_of(folder: Path) -> list[Json]:
    """Return the labelled reports of networks on devices in a folder."""
    found = [run.data for run in read([folder]).programs if run.data.get("labels")]
    if not found:
        raise Refusal(f"{folder}: no report of approxftl app weights --label")
    return found


def make(names: Sequence[str], setting: Setting, folder: Path, kind: str, style: Style, jobs: int,
         say: Callable[[str], None], reports: Sequence[Json] = ()) -> Path:
    """Make figures; return the path of the page that shows them."""
    templates()  # Fails now, and not after minutes, if Jinja2 is missing.
    chosen = drawable(names, setting, say)
    store = Store(folder / "runs")
    points = unique([point for one in chosen for point in one.plan.points])
    say(f"{len(chosen)} figures, {len(points)} runs")
    ensure(points, store, Processes(command.program(), jobs))
    made = []
    for one in chosen:
        made.append((one, *draw(one, store, folder, kind, style, reports)))
        say(str(made[-1][2][0]))
    charts, bundle = study_report.charts([figure for _, figure, _, _ in made],
                                         [name for *_, own in made for name in own])
    said = [(one.plan.name, chart | made_by(one, store, files))
            for (one, _, files, _), chart in zip(made, charts, strict=True)]
    systems = [(system, [chart for _, chart in group])
               for system, group in groupby(said, key=lambda pair: pair[0])]
    # A page of some figures must not replace the page of all.
    stem = "index" if not names else names[0] if len(names) == 1 else "selection"
    command.write_file(folder / f"{stem}.html", page(
        "papers.html", "The papers' figures", bundle=bundle, systems=systems,
        **introduction(setting)))
    return folder / f"{stem}.html"
