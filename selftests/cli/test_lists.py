# SPDX-License-Identifier: GPL-2.0-only
"""-o selects columns and -S sorts rows in every verb with a list, as text and as JSON."""

import atexit
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.json_schema import make_schema_checker, parse_document
from selftests.lib.programs import PROGRAM as BINARY
from selftests.lib.programs import TOP, Done
from selftests.sim.support import run_approxftl

from approxftl_tools import compare, figures, study, synth
from approxftl_tools.measures import MEASURES
from approxftl_tools.paper_measures import VALUES, Value

Row = dict[str, Any]
#: Lists that need no device; @ stands for the directory with their input files.
LISTS = ("params", "profiles", "policies", "doctor --root /none", "trace formats",
         "synth --list", "figures --list", "figures --papers --list", "compare @/r.json",
         "study table @/s.toml")
MODULES = {"compare": compare.main, "figures": figures.main, "study": study.main,
           "synth": synth.main}
STUDY = """\
study = 1
seeds = 2
measures = ["write_amplification", "read_response_mean_ns"]
relative_to = "baseline"
[base]
requests = 300
warmup = 10
[vary]
op = ["15%", "28%"]
policy = ["baseline", "approxftl"]
"""
VERBS = "userspace/approxftl/verbs-output.fields"
TOOLS = "trace-tools/approxftl_tools/tools-output.fields"
FORMATS = "trace-tools/trace/trace-output.fields"
#: Lists without a header line.
BARE = ("profiles", "policies", "figures --list", "figures --papers --list")
HELD = settings(max_examples=12)


@cache
def make_results_folder() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    assert run_approxftl("sim", "--requests=300", "--warmup=10", "--policy=baseline,approxftl",
                         "--seed=1..3", "-q", f"-j{folder}/r.json").code == 0
    (folder / "s.toml").write_text(STUDY)
    assert run_approxftl("study", "run", folder / "s.toml").code == 0
    return folder


def run_verb(verb: str, *options: str) -> Done:
    words = [str(make_results_folder()) + word[1:] if word[0] == "@" else word
             for word in verb.split()]
    if words[0] in MODULES:
        return run_verb_in_process(MODULES[words[0]], [*words[1:], *options])
    return run_approxftl(*words, *options)


def run_verb_in_process(main: Callable[[Sequence[str]], int], words: Sequence[str]) -> Done:
    """Run a Python verb in the process of the test, which saves the start of an interpreter."""
    os.environ["APPROXFTL"] = str(BINARY)
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        told = [io.TextIOWrapper(io.FileIO(one.fileno(), "w", closefd=False), write_through=True)
                for one in (out, err)]
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            with redirect_stdout(told[0]), redirect_stderr(told[1]):
                code = main(words)
        finally:
            for stream, own, number in zip(told, kept, (1, 2), strict=True):
                stream.flush()
                os.dup2(own, number)
                os.close(own)
        texts = [os.pread(file.fileno(), 1 << 24, 0).decode() for file in (out, err)]
    return Done(code, *texts)


@cache
def print_default_columns(verb: str) -> Done:
    return run_verb(verb)


def print_list_columns(verb: str, *options: str) -> str:
    done = run_verb(verb, *options)
    assert done.err == print_default_columns(verb).err, done.err
    assert done.code == print_default_columns(verb).code
    return done.out


def find_schema_of_verb(verb: str) -> str:
    return VERBS if verb in ("params", "profiles", "policies", "doctor --root /none") else \
        FORMATS if verb == "trace formats" else TOOLS


def parse_list_rows(verb: str, *options: str) -> list[Row]:
    found: list[Row] = parse_document(find_schema_of_verb(verb),
                                      print_list_columns(verb, "-j", *options))["rows"]
    return found


@cache
def read_help_columns(verb: str) -> tuple[dict[str, str], ...]:
    """Return the columns that "-o help" lists."""
    done = run_verb(verb, "-o", "help")
    assert (done.code, done.err) == (0, "")
    found = [re.fullmatch(r"(\w+)  +(\S+(?: \S+)*)  +(\S.*)", line)
             for line in done.out.splitlines()]
    return tuple({"key": one[1], "title": one[2], "help": one[3]} for one in found if one)


@cache
def read_column_cells(verb: str, key: str) -> tuple[str, ...]:
    """Return the cells of a column as printed in text, in row order."""
    return tuple(line.strip()
                 for line in print_list_columns(verb, "--no-head", "-o", key).splitlines())


@cache
def parse_rows_with_all_columns(verb: str) -> tuple[Row, ...]:
    return tuple(parse_list_rows(verb, "-o", ",".join(one["key"] for one
                                                      in read_help_columns(verb))))


def make_value_sort_key(value: Any) -> tuple[int, Any]:
    """Return a sort key that puts missing values first."""
    return (0, 0) if value is None else (1, value)


def sort_table_row_numbers(verb: str, keys: list[tuple[str, bool]]) -> list[int]:
    """Return the row numbers in sorted order; the sort is stable."""
    table = parse_rows_with_all_columns(verb)
    found = list(range(len(table)))
    for key, falls in reversed(keys):
        # A reversed sort is stable, too.
        found.sort(key=lambda at: make_value_sort_key(table[at][key]), reverse=falls)
    return found


@pytest.mark.parametrize("verb", LISTS)
class TestList:
    """Properties of each list that a verb prints."""

    def test_help_lists_the_columns(self, verb: str) -> None:
        assert len(read_help_columns(verb)) >= 2
        assert len(run_verb(verb, "-o", "help").out.splitlines()) == len(read_help_columns(verb))
        assert len({one["title"].lower()
                    for one in read_help_columns(verb)}) == len(read_help_columns(verb))
        for one in read_help_columns(verb):
            assert len(one["help"]) > 2
            assert re.fullmatch(r"[a-z][a-z0-9_]*", one["key"])
            # "-o help" prints the list of columns, so a column "help" could not be selected.
            assert "help" not in (one["key"], one["title"].lower())

    def test_json_has_the_selected_columns(self, verb: str) -> None:
        keys = [one["key"] for one in read_help_columns(verb)]
        assert len(parse_rows_with_all_columns(verb)) >= 4
        assert all(list(row) == keys for row in parse_rows_with_all_columns(verb))
        # A column that is a number in one row is a number or missing in all rows.
        for key in keys:
            kinds = {type(row[key]) for row in parse_rows_with_all_columns(verb)} - {type(None)}
            assert kinds <= {int, float} or len(kinds) == 1, key

    def test_default_columns_are_shown_without_option_o(self, verb: str) -> None:
        usual = list(parse_list_rows(verb, "-S", read_help_columns(verb)[0]["key"])[0])
        more = [one["key"] for one in read_help_columns(verb)
                if "not shown by default" in one["help"]]
        assert usual == [one["key"] for one in read_help_columns(verb) if one["key"] not in more]
        if more:
            assert list(parse_list_rows(verb, "-o", f"+{more[0]}")[0]) == [*usual, more[0]]

    def test_rows_can_be_sorted_by_each_column(self, verb: str) -> None:
        every = ",".join(one["key"] for one in read_help_columns(verb))
        for one in read_help_columns(verb)[:16]:
            for sign in ("", "-"):
                order = sort_table_row_numbers(verb, [(one["key"], sign == "-")])
                assert parse_list_rows(verb, "-o", every, "-S", sign + one["key"].upper()) == [
                    parse_rows_with_all_columns(verb)[at] for at in order]

    @HELD
    @given(data=st.data())
    def test_columns_appear_in_the_requested_order(self, verb: str, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(read_help_columns(verb)), min_size=1,
                                    max_size=12, unique_by=id))
        # Commas separate columns, so a title with a comma cannot be selected.
        names = [data.draw(st.sampled_from([one["key"], *(
            [one["title"], one["title"].lower()] if "," not in one["title"] else [])]))
                 for one in chosen]
        by = [(one["key"], data.draw(st.sampled_from(["", "+", "-"]))) for one in data.draw(
            st.lists(st.sampled_from(read_help_columns(verb)), unique_by=id, max_size=3))]
        sort = [f"--sort={','.join(sign + key for key, sign in by)}"] if by else []
        order = sort_table_row_numbers(verb, [(key, sign == "-") for key, sign in by])
        keys = [one["key"] for one in chosen]
        table = parse_rows_with_all_columns(verb)
        assert parse_list_rows(verb, "-o", ",".join(names), *sort) == [
            {key: table[at][key] for key in keys} for at in order]
        lines = print_list_columns(verb, "-o", ",".join(names), *sort).splitlines()
        if verb not in BARE:
            assert lines.pop(0).split() == " ".join(one["title"] for one in chosen).split()
        assert [line.split() for line in lines] == [
            " ".join(read_column_cells(verb, key)[at] for key in keys).split() for at in order]

    @pytest.mark.parametrize("option", ["-o", "-S"])
    def test_unknown_columns_are_refused(self, verb: str, option: str) -> None:
        key = read_help_columns(verb)[0]["key"]
        name = verb.split()[0]
        for wrong, sentence in (
            (f"{key}x", f'no column "{key}x"; did you mean {key}?'),
            (f"{key},", None), ("", 'no column ""'), (f"{key},{key}", "is there twice"),
            ("9" * 30, '"-o help" lists them'), (f",{key}", 'no column ""'),
        ):
            done = run_verb(verb, f"{option}{wrong}" if wrong else f"--{OPTIONS[option]}=")
            if sentence is None:
                assert done.code == print_default_columns(verb).code
                continue
            assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
            assert re.match(f"approxftl[- ]{name}", done.err) and sentence in done.err


OPTIONS = {"-o": "show", "-S": "sort"}


@pytest.mark.parametrize("verb", ["params", "profiles", "policies"])
def test_listed_names_are_accepted_as_arguments(verb: str) -> None:
    """A verb accepts each name that it lists, also with dashes and underscores exchanged."""
    for name in read_column_cells(verb, read_help_columns(verb)[0]["key"]):
        for way in (name, name.replace("_", "-"), name.replace("-", "_")):
            assert run_verb(verb, way, "--no-head", "-o",
                            read_help_columns(verb)[0]["key"]).out.strip() == name


def test_a_plus_or_minus_without_a_column_name_is_refused() -> None:
    assert run_verb("params", "-S", "-").code == 2
    assert run_verb("params", "-o", "+").code == 2


def test_json_is_written_to_the_named_file(tmp_path: Any) -> None:
    file = tmp_path / "rows"
    for words in ((f"-j{file}",), (f"--json={file}",)):
        done = run_verb("params", *words, "-o", "key")
        assert (done.code, done.out, done.err) == (0, "", "")
        assert len(json.loads(file.read_text())["rows"]) == len(
            parse_rows_with_all_columns("params"))
        file.unlink()
    # The value of -j must be attached; the next argument is an input file.
    for option in ("-j", "--json"):
        done = run_verb("compare", option, str(make_results_folder() / "r.json"))
        assert (done.code, bool(json.loads(done.out)["runs"])) == (0, True)
    assert run_verb("params", f"-j{file}", "--profile", "none").code == 2
    assert not file.exists()


#: Columns that only stat has: rates between two samples, and values that a simulation lacks.
OF_A_DEVICE = {"busy_percent", "late_mean_ns", "late_p99_ns", "read_mib", "write_mib"}


def read_help_names(*words: str) -> list[str]:
    return [line.split()[0] for line in run_approxftl(*words, "-o", "help").out.splitlines()
            if line]


#: Measures that sim's table does not print.
OF_COMPARE_ALONE = {
    "energy", "bit error rate of approximate data", "bits corrected", "approximate units read",
    *(f"write response, {kind}, {what}" for kind in ("precise", "approximate")
      for what in ("mean", "p99"))}


def test_a_measure_has_one_name_in_study_compare_and_stat() -> None:
    """A measure that `compare` or `stat` lists has the name by which studies know the measure."""
    known = set(VALUES)
    listed = read_help_names("compare", str(make_results_folder() / "r.json"))
    assert set(listed) - known == {"label", "policy", "profile", "seed", "file"}
    assert known >= {measure.key for measure in MEASURES} == set(listed) & known
    told = {name.removesuffix("_per_second") for name in read_help_names("stat", "-i", "1")}
    assert told - OF_A_DEVICE <= known | read_documented_counters()
    assert len(told) > len(OF_A_DEVICE) + 3


def read_documented_counters() -> set[str]:
    """Return the counters that docs/reference.md lists."""
    text = (TOP / "docs/reference.md").read_text()
    listed = re.search(r"^## Counters$.*?(?=^## )", text, re.M | re.S)
    assert listed
    return set(re.findall(r"^\| `(\w+)`", listed[0], re.M))


def test_measures_that_are_counters_have_the_counters_names() -> None:
    names = sorted(read_documented_counters())
    run_ = {"counters": {name: 1009 + index for index, name in enumerate(names)}}
    assert len(names) > 90
    of_counters = [(key, name) for key, value in VALUES.items() for name in names
                   if compute_measure_from_counters(value, run_) == run_["counters"][name]]
    assert len(of_counters) >= 9
    assert [pair for pair in of_counters if pair[0] != pair[1]] == []
    errors = make_schema_checker(VERBS).schema
    health = errors["$defs"]["health"]["properties"]["devices"]["items"]
    assert set(health["properties"]["errors"]["properties"]) <= set(names)


def test_fields_of_the_status_line_have_the_counters_names() -> None:
    """The status line, `approxftl list` and the JSON name a counter alike."""
    source = (TOP / "dm-approxftl/target/status.c").read_text()
    pairs = re.findall(r"status->(\w+) \+= counters->(\w+);", source)
    assert len(pairs) == 5 and [pair for pair in pairs if pair[0] != pair[1]] == []
    table = (TOP / "dm-approxftl/target/status-table.h").read_text()
    words = {word for found in re.findall(r"^STATUS_\w+\(([\w, ]+), \"", table, re.M)
             for word in found.split(", ")}
    verbs = make_schema_checker(VERBS).schema
    assert set(verbs["$defs"]["status"]["properties"]) == words
    listed = {name for name in read_help_names("list")
              if name.endswith(("_units", "_blocks", "_bits"))}
    assert len(listed) == 4 and listed <= words


def compute_measure_from_counters(value: Value, run_: dict[str, Any]) -> float | None:
    """Return a measure of a run; None if the run lacks data from which the measure is computed."""
    try:
        return value(run_)
    except (KeyError, TypeError):
        return None


def test_titles_of_measures_are_equal_in_all_outputs() -> None:
    """The verbs sim and compare, the report and the charts give each measure the same title."""
    printed, above = set(), ""
    told = run_approxftl("sim", "--policy", "approxftl", "--requests", "2000", "--approx-share",
                         "0.5").out
    for line in told.splitlines():
        found = re.match(r"( *)(\S.*?)  ", line)
        if found and not found[1]:
            above = found[2]
        if found:
            printed |= {found[2], f"{above.split(',')[0]}, {found[2]}",
                        f"{above.split()[0]} {found[2]}"}
    titles = {measure.title for measure in MEASURES}
    assert titles - printed == OF_COMPARE_ALONE
