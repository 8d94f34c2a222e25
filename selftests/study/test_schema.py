# SPDX-License-Identifier: GPL-2.0-only
"""The JSON schema of study files refuses exactly the files that the study command refuses."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selftests.lib.json_schema import Checker
from selftests.lib.programs import BUILD, TOP, run_program

from approxftl_tools import study_plan
from approxftl_tools.command import FAILED, USAGE, Refusal
from approxftl_tools.drive_list import DRIVES
from approxftl_tools.drive_points import OWN_TABLES, Shape, list_measured_points_of_drive
from approxftl_tools.drive_runs import make_study_text_of_drive, map_load_names_to_loads
from approxftl_tools.study_figure import figure_specs
from approxftl_tools.study_optimise import parse_optimise_section_of_study
from approxftl_tools.study_schema import study_schema

PROGRAM = BUILD / "approxftl"
SCHEMA = json.loads(json.dumps(study_schema()))
SHIPPED = [path for folder in ("trace-tools/approxftl_tools/paper_studies", "docs/examples",
                               "selftests/claims/studies") for path in (TOP / folder).glob("*.toml")
           if "\nstudy = 1" in path.read_text()]
#: A study with one of each element of the language.
WHOLE: dict[str, Any] = {
    "study": 1, "name": "s", "text": "t", "seeds": 2, "seed": 7, "until": "2%", "most": 9,
    "measures": ["write_amplification"], "relative_to": "baseline", "warmup": "warn",
    "base": {"requests": "100|200", "fill": "random", "errors": True},
    "vary": {"policy": ["baseline", "approxftl"], "op": [7, "15%"],
             "data": {"few": {"approx-share": "1%"}, "many": {"approx-share": "50%"}}},
    "exclude": [{"policy": "approxftl", "op": [7]}],
    "figure": [{"name": "f", "title": "t", "x": "op", "y": "write_amplification",
                "series": "policy", "facets": "data", "relative_to": "baseline", "error": "range",
                "kind": "bars", "scale": "log", "x_scale": "linear", "x_label": "x",
                "y_label": "y", "points_label": "paper", "text": "t", "show": ["baseline"],
                "change": "cut", "shares": False,
                "points": [{"x": 7, "y": 0.5, "low": 0.4, "high": 0.6, "series": "approxftl",
                            "facet": "few"}]},
               {"x": ["op", "policy"], "y": ["array_erases", "host_pages"], "facets": "data"}],
    "synth": {"requests": 1000},
    "optimise": {"minimise": "write_amplification", "trials": 4, "together": 2, "seed": 3,
                 "range": {"utilisation": {"from": 10, "to": 20, "step": 2, "unit": "%"},
                           "victim": ["greedy", "cost_benefit"]}},
}
#: Errors about relations between parts of a study, which a schema cannot express.
OF_OTHERS = re.compile(
    r"no run has|unknown (axis|key of \[\[exclude\]\]|value of \w+ in \[\[exclude\]\])|is in \[|"
    r"says nothing without|seeds begin with|seeds are given and derived|takes no point out|"
    r"every point is excluded|are the most|no name of its own|are different axes|"
    r"each \[\[figure\]\] has x|an x unless|minimise or maximise|from is below to|log is true|"
    r"from and to are whole|\[optimise.range\] \w+: \"\w+\" is a number|measure in \[\[figure\]\]|"
    r"leaves out the axis|"
    r"is not for \[optimise.range\]")


def format_value_as_toml(value: Any) -> str:
    """Return a value in TOML, on one line."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(k)} = {format_value_as_toml(v)}" for k, v in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(format_value_as_toml, value))}]"
    return json.dumps(value)


def get_reader_error_for_study(document: dict[str, Any]) -> str:
    """Return the error message of the reader of study files for a study, or an empty string."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.toml"
        path.write_text("".join(f"{json.dumps(key)} = {format_value_as_toml(value)}\n"
                                for key, value in document.items()))
        try:
            plan = study_plan.read_study(path, PROGRAM, sure=True)
            figure_specs(plan)
            if plan.optimise is not None:
                parse_optimise_section_of_study(plan)
        except Refusal as refusal:
            assert refusal.status in (FAILED, USAGE) and "\n" not in str(refusal)
            return str(refusal)
    return ""


def list_paths_in_document(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) \
        if isinstance(value, list) else ()
    for key, one in inner:
        yield (*way, key)
        yield from list_paths_in_document(one, (*way, key))


PLACES = list(list_paths_in_document(WHOLE))
VALUES = st.sampled_from([True, False, 0, 7, -1, 1.5, 10**20, "", "word", "2%", "baseline", [], {},
                          ["baseline"], [7, "15%"], [[]], {"a": 1}, {"a": {}}, [{}]])


def make_study_with_one_key_changed(way: tuple[Any, ...], how: str, value: Any) -> dict[str, Any]:
    """Return the whole study file with the value at one path changed."""
    result = copy.deepcopy(WHOLE)
    inner = result
    for step in way[:-1]:
        inner = inner[step]
    last = way[-1]
    if how == "renamed" and isinstance(inner, dict):
        inner[last + "s"] = inner.pop(last)
    elif how == "left out":
        del inner[last]
    else:
        inner[last] = value
    return result


@given(st.sampled_from(PLACES), st.sampled_from(["renamed", "left out", "another"]), VALUES)
@example(("measures",), "another", [])
@example(("figure", 0, "title"), "another", 7)
@example(("synth", "requests"), "another", {})
@settings(max_examples=600)
def test_the_study_schema_refuses_what_the_program_refuses(way: tuple[Any, ...], how: str,
                                                           value: Any) -> None:
    study = make_study_with_one_key_changed(way, how, value)
    found, said = Checker(SCHEMA).find_errors(study), get_reader_error_for_study(study)
    assert said or not found, found
    assert found or not said or OF_OTHERS.search(said), said


def test_a_complete_study_passes_schema_and_program() -> None:
    assert (Checker(SCHEMA).find_errors(WHOLE), get_reader_error_for_study(WHOLE)) == ([], "")


@pytest.mark.parametrize("way", [way for way in PLACES if isinstance(way[-1], str) and
                                 way[0] not in ("base", "vary", "exclude", "synth") and
                                 way[-1] not in ("utilisation", "victim") and
                                 way != ("seed",)], ids=str)
def test_a_misspelt_key_is_refused_by_schema_and_program(way: tuple[Any, ...]) -> None:
    study = make_study_with_one_key_changed(way, "renamed", None)
    assert Checker(SCHEMA).find_errors(study)
    assert f"did you mean {way[-1]}?" in get_reader_error_for_study(study)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_study_files_match_the_study_schema(path: Path) -> None:
    assert Checker(SCHEMA).find_errors(tomllib.loads(path.read_text())) == []


def test_studies_of_drives_match_the_schema() -> None:
    for drive in DRIVES:
        loads = map_load_names_to_loads(list_measured_points_of_drive(drive,
                                                                      Shape(400000, 4096, 1 << 26),
                                                                      OWN_TABLES))
        text = make_study_text_of_drive(drive, loads)
        assert Checker(SCHEMA).find_errors(tomllib.loads(text)) == []


def test_study_schema_prints_every_documented_key() -> None:
    done = run_program(BUILD / "approxftl-study", "schema")
    assert (done.code, json.loads(done.out)) == (0, SCHEMA)
    page = (TOP / "trace-tools/approxftl_tools/approxftl-study.1.rst").read_text()
    keys = {way[-1] for way in list_paths_in_document(SCHEMA) if len(way) > 1 and way[-2]
            == "properties"}
    assert len(SHIPPED) > 60 and len(keys) > 40
    assert [key for key in keys if not re.search(rf"[*\[]{key}\b|\b{key} = ", page)] == []
