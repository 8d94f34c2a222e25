# SPDX-License-Identifier: GPL-2.0-only
"""Run the points of the claims' studies: those in this directory and those of papers' figures.

A claim names the runs of a study that it compares. Runs are executed together, each once, and their
results are cached in AFTL_BUILD/cache/claims.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from selftests.claims import real_traces, runs

from approxftl_tools import papers, study_plan
from approxftl_tools.study_engine import Processes
from approxftl_tools.study_plan import Plan, Point
from approxftl_tools.study_run import require_point_results
from approxftl_tools.study_store import Store
from approxftl_tools.study_streams import Setting
from approxftl_tools.study_table import group_points_ignoring_seed

FOLDER = Path(__file__).parent / "studies"


def read_claim_study(name: str, given: Mapping[str, Any]) -> Plan:
    """Read a study; add options to its base settings, and the available trace volumes."""
    path = FOLDER / f"{name}.toml"
    path = path if path.exists() else papers.FOLDER / f"{name}.toml"
    document = study_plan.load_toml_file(path)
    vary, real = document.get("vary", {}), bool(real_traces.real_trace_directory())
    more = {"base": {"seed": runs.get_seed_of_runs(), **given}, "vary": vary}
    if "synth" in document:
        more["synth"] = document["synth"] | runs.false_streams
    if "trace" in vary and real:
        vary["trace"] = [volume.stem for volume in real_traces.list_real_trace_files().values()]
    setting = Setting(full=real, traces=real_traces.scratch_directory() if real else None,
                      made=runs.get_build_directory() / "cache/claims/traces", more=more)
    return study_plan.read_study(path, runs.program_under_test(), setting=setting, sure=True)


def list_record_files_of_trace_volumes(name: str = "agcr-windows") -> dict[str, Path]:
    """Return the record files that a study replays, by the name of their volume."""
    kind = "trace" if real_traces.real_trace_directory() else "synthetic"
    return {f"{kind} {dict(point.varied)['trace']}": Path(word.partition("=")[2])
            for point in read_claim_study(name, {}).points for word in point.arguments
            if word.startswith("--trace=")}


def has_varied_option_values(varied: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    said = {study_plan.option_name(key): str(value) for key, value in varied.items()}
    return all(said.get(study_plan.option_name(key)) in (None,
                                                         *study_plan.values_as_strings(values))
               for key, values in where.items())


def drop_repeated_options(words: Iterable[str]) -> list[str]:
    """Remove repeated options; the last value wins."""
    return list({study_plan.option_name(word.partition("=")[0]): word for word in words}.values())


def falsify_study_run(point: Point, program: Path) -> Point:
    """Return a run of a study with the falsified settings of the present negative control."""
    arguments = drop_repeated_options((*point.arguments, *runs.false_arguments))
    return study_plan.make_study_point(study_plan.identify_simulator(program), arguments,
                                       point.varied)


def results_of_study(name: str, *axes: str, given: Mapping[str, Any] | None = None,
                     **where: Any) -> dict[str, Any]:
    """Return runs of a study as nested dicts by the values of AXES; without axes, by policy.

    Only runs that match `where` are executed; a list in `where` matches each of its values.
    """
    plan = read_claim_study(name, given or {})
    program = runs.program_with_mutants(runs.false_mutants)
    points = tuple(falsify_study_run(point, program) for point in plan.points
                   if has_varied_option_values(dict(point.varied), where))
    store = Store(runs.get_build_directory() / "cache/claims/results")
    require_point_results(points, store, Processes(program, os.cpu_count() or 1))
    found: dict[str, Any] = {}
    for group in group_points_ignoring_seed(replace(plan, points=points), store):
        if not has_varied_option_values(group.varied, where):
            continue
        *outer, last = [str(group.varied[axis]) for axis in axes or ("policy",)]
        place = found
        for value in outer:
            place = place.setdefault(value, {})
        (run,) = group.runs.values()
        assert place.setdefault(last, run) is run, f"{name}: several runs at {last}"
    return found
