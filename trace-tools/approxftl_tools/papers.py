# SPDX-License-Identifier: GPL-2.0-only
"""Make the papers' figures from the studies of paper_studies/, on one page.

A study describes the paper's figure and the runs that reproduce it. It contains no results: all
numbers come from the runs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from approxftl_tools import command, figure_file, study_plan, study_report, study_table
from approxftl_tools.command import Refusal
from approxftl_tools.figure import Figure
from approxftl_tools.figure_file import Style
from approxftl_tools.inputs import Json, read_inputs
from approxftl_tools.page import render_html_page, template_environment
from approxftl_tools.study_engine import Processes
from approxftl_tools.study_figure import Spec, draw_figure_of_study, figure_specs
from approxftl_tools.study_plan import Plan
from approxftl_tools.study_run import distinct_points, require_point_results
from approxftl_tools.study_store import Store
from approxftl_tools.study_streams import Setting

#: Papers in the order of the page; a study is named after its system.
SYSTEMS = ("ApproxFTL", "cubeFTL", "AGCR", "TVR", "ReSSD", "Weights")
FOLDER = Path(__file__).parent / "paper_studies"


@dataclass(frozen=True)
class Made:
    """A figure of a paper that a study reproduces."""

    plan: Plan
    spec: Spec


def find_paper_figures(names: Sequence[str], setting: Setting) -> list[Made]:
    """Return the figures whose names start with one of `names`; without names all figures."""
    tables = {path: [str(one["name"]) for one in study_plan.load_toml_file(path)["figure"]]
              for path in sorted(FOLDER.glob("*.toml"))}
    known = sorted(name for own in tables.values() for name in own)
    for name in names:
        if not any(one.startswith(name) for one in known):
            raise Refusal(f'there is no figure "{name}"; there are {", ".join(known)}',
                          command.USAGE)
    start = tuple(names) or ("",)
    plans = [study_plan.read_study(path, command.simulator_path(), setting=setting, sure=True)
             for path, own in tables.items() if any(one.startswith(start) for one in own)]
    found = [Made(plan, spec) for plan in plans for spec in figure_specs(plan)
             if spec.name.startswith(start)]
    return sorted(found, key=lambda one: (SYSTEMS.index(one.plan.name), one.spec.name))


def figure_titles(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the names and titles of all figures without running their studies."""
    start = tuple(names) or ("",)
    found = [(SYSTEMS.index(study["name"]), one["name"], one["title"])
             for study in map(study_plan.load_toml_file, FOLDER.glob("*.toml"))
             for one in study["figure"]]
    return ((name, title) for _, name, title in sorted(found) if name.startswith(start))


def drawable_figures(names: Sequence[str], setting: Setting,
                     say: Callable[[str], None]) -> list[Made]:
    """Return the named figures, or all figures whose required Python package is installed."""
    found = find_paper_figures(names, setting)
    lacking = [one for one in found
               if not names and "networks" in one.spec.table and not find_spec("sklearn")]
    for one in lacking:
        say(f"{one.spec.name}: left out, for lack of the Python package sklearn")
    return [one for one in found if one not in lacking]


def draw_paper_figure(one: Made, store: Store, folder: Path, kind: str, style: Style,
                      reports: Sequence[Json]) -> tuple[Figure, list[Path], list[str]]:
    """Draw a paper's figure and write its CSV; return the figure, its files and its policies."""
    groups = study_table.group_points_ignoring_seed(one.plan, store)
    chart = draw_figure_of_study(one.plan, one.spec, groups, reports,
                                 f"In the paper: {one.spec.figure_spec_as_text()} "
                                 f"Here: {one.plan.text}")
    files = [folder / f"{chart.name}.{ending}" for ending in (kind, "csv")]
    command.write_file(files[0], figure_file.render_figure(chart, kind, style))
    command.write_file(files[1], chart.figure_as_csv())
    return chart, files, study_report.list_policies_of_study(groups)


def read_reports_of_stored_networks(folder: Path) -> list[Json]:
    """Return the labelled reports of neural networks that were stored on devices."""
    found = [run.data for run in read_inputs([folder]).programs if run.data.get("labels")]
    if not found:
        raise Refusal(f"{folder}: no report of approxftl app weights --label")
    return found


def make_figures(names: Sequence[str], setting: Setting, folder: Path, kind: str, style: Style,
                 jobs: int, say: Callable[[str], None], reports: Sequence[Json] = ()) -> Path:
    """Make figures of papers; return the path of the page that shows them."""
    template_environment()  # Fails now, and not after minutes, if Jinja2 is missing.
    chosen = drawable_figures(names, setting, say)
    store = Store(folder / "runs")
    points = distinct_points([point for one in chosen for point in one.plan.points])
    say(f"{len(chosen)} figures, {len(points)} runs")
    require_point_results(points, store, Processes(command.simulator_path(), jobs))
    made = []
    for one in chosen:
        made.append((one, *draw_paper_figure(one, store, folder, kind, style, reports)))
        say(str(made[-1][2][0]))
    charts, bundle = study_report.chart_template_data([figure for _, figure, _, _ in made],
                                                      [name for *_, own in made for name in own])
    said = [(one.plan.name, {
        **chart, "study": one.plan.path.name, "store": store.root.name,
        "runs": [[point.address, point.shell_command()]
                 for point in distinct_points(one.plan.points)],
        "files": [path.name for path in files]})
            for (one, _, files, _), chart in zip(made, charts, strict=True)]
    systems = [(system, [chart for _, chart in group])
               for system, group in groupby(said, key=lambda pair: pair[0])]
    # A page of some figures must not replace the page of all.
    stem = "index" if not names else names[0] if len(names) == 1 else "selection"
    seed = setting.more.get("seed") or setting.more["base"]["seed"]
    command.write_file(folder / f"{stem}.html", render_html_page(
        "papers.html", "The papers' figures", bundle=bundle, systems=systems,
        seeds=f"{setting.more['seeds']} seeds from {seed}; error bars are intervals of 95 %"
        if "seeds" in setting.more else f"seed {seed}",
        version=command.simulator_version(), traces=str(setting.traces or ""),
        length="Full runs." if setting.full else "Short runs; FULL=1 makes longer ones."))
    return folder / f"{stem}.html"
