# SPDX-License-Identifier: GPL-2.0-only
"""Lists: -o and -S choose and sort in every verb that has them, for a person and as JSON."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.json_schema import document_of
from selftests.lib.programs import Done
from selftests.sim.support import run

Row = dict[str, Any]
#: Lists that are there without a device or a file.
LISTS = ("params", "profiles", "policies", "doctor --root /none", "trace formats")
VERBS = "userspace/approxftl/verbs-output.schema.json"
SCHEMAS = {"trace formats": "trace-tools/trace/trace-output.schema.json"}
#: These have no titles.
BARE = ("profiles", "policies")
HELD = settings(max_examples=12, deadline=None)


def ask(verb: str, *options: str) -> Done:
    return run(*verb.split(), *options)


def told(verb: str, *options: str) -> str:
    done = ask(verb, *options)
    assert done.err == "", done.err
    assert done.code == ask(verb).code
    return done.out


def rows(verb: str, *options: str) -> list[Row]:
    found: list[Row] = document_of(SCHEMAS.get(verb, VERBS), told(verb, "-j", *options))["rows"]
    return found


@cache
def columns(verb: str) -> tuple[dict[str, str], ...]:
    """Return the columns that there are, as "-o help" says."""
    done = run(*verb.split(), "-o", "help")
    assert (done.code, done.err) == (0, "")
    found = [re.fullmatch(r"(\w+) +(\S+) +(\S.*)", line) for line in done.out.splitlines()]
    return tuple({"key": one[1], "title": one[2], "help": one[3]} for one in found if one)


@cache
def cells(verb: str, key: str) -> tuple[str, ...]:
    """Return a column as a person reads it, in the order in which the rows come."""
    return tuple(line.strip() for line in told(verb, "--no-head", "-o", key).splitlines())


@cache
def everything(verb: str) -> tuple[Row, ...]:
    return tuple(rows(verb, "-o", ",".join(one["key"] for one in columns(verb))))


def order_of(value: Any) -> tuple[int, Any]:
    """Nothing is the smallest."""
    return (0, 0) if value is None else (1, value)


def sorted_by(verb: str, keys: list[tuple[str, bool]]) -> list[int]:
    """Return numbers of rows, in order; equal ones stay as they were."""
    table = everything(verb)
    found = list(range(len(table)))
    for key, falls in reversed(keys):
        # Equal ones stay in their order with reverse, too.
        found.sort(key=lambda at: order_of(table[at][key]), reverse=falls)
    return found


@pytest.mark.parametrize("verb", LISTS)
class TestList:
    """Every list, whatever is in it."""

    def test_help_lists_the_columns(self, verb: str) -> None:
        assert len(columns(verb)) >= 2
        assert len(ask(verb, "-o", "help").out.splitlines()) == len(columns(verb))
        assert len({one["title"].lower() for one in columns(verb)}) == len(columns(verb))
        for one in columns(verb):
            assert len(one["help"]) > 2
            assert re.fullmatch(r"[a-z][a-z0-9_]*", one["key"])
            # Nobody could ask for that one.
            assert "help" not in (one["key"], one["title"].lower())

    def test_json_has_the_columns(self, verb: str) -> None:
        keys = [one["key"] for one in columns(verb)]
        assert len(everything(verb)) >= 5
        assert all(list(row) == keys for row in everything(verb))
        # Whatever is a number for one row is none for others at most.
        for key in keys:
            kinds = {type(row[key]) for row in everything(verb)} - {type(None)}
            assert len(kinds) == 1, key

    def test_without_columns_there_are_the_usual_ones(self, verb: str) -> None:
        usual = list(rows(verb, "-S", columns(verb)[0]["key"])[0])
        more = [one["key"] for one in columns(verb) if "not shown by default" in one["help"]]
        assert usual + more == [one["key"] for one in columns(verb)]
        if more:
            assert list(rows(verb, "-o", f"+{more[0]}")[0]) == [*usual, more[0]]

    def test_each_column_sorts(self, verb: str) -> None:
        every = ",".join(one["key"] for one in columns(verb))
        for one in columns(verb):
            for sign in ("", "-"):
                order = sorted_by(verb, [(one["key"], sign == "-")])
                assert rows(verb, "-o", every, f"-S{sign}{one['title']}") == [
                    everything(verb)[at] for at in order]

    @HELD
    @given(data=st.data())
    def test_any_columns_in_any_order(self, verb: str, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(columns(verb)), min_size=1, unique_by=id))
        names = [data.draw(st.sampled_from([one["key"], one["title"], one["title"].lower()]))
                 for one in chosen]
        by = [(one["key"], data.draw(st.sampled_from(["", "+", "-"]))) for one in data.draw(
            st.lists(st.sampled_from(columns(verb)), unique_by=id, max_size=3))]
        sort = [f"--sort={','.join(sign + key for key, sign in by)}"] if by else []
        order = sorted_by(verb, [(key, sign == "-") for key, sign in by])
        keys = [one["key"] for one in chosen]
        table = everything(verb)
        assert rows(verb, "-o", ",".join(names), *sort) == [
            {key: table[at][key] for key in keys} for at in order]
        lines = told(verb, "-o", ",".join(names), *sort).splitlines()
        if verb not in BARE:
            assert lines.pop(0).split() == [one["title"] for one in chosen]
        assert [line.split() for line in lines] == [
            " ".join(cells(verb, key)[at] for key in keys).split() for at in order]

    @pytest.mark.parametrize("option", ["-o", "-S"])
    def test_unknown_columns_are_refused(self, verb: str, option: str) -> None:
        key = columns(verb)[0]["key"]
        name = verb.split()[0]
        for wrong, sentence in (
            (f"{key}x", f'no column "{key}x"; did you mean {key}?'),
            (f"{key},", None), ("", 'no column ""'), (f"{key},{key}", "is there twice"),
            ("9" * 30, '"-o help" lists them'), (f",{key}", 'no column ""'),
        ):
            done = ask(verb, f"{option}{wrong}" if wrong else f"--{OPTIONS[option]}=")
            if sentence is None:
                assert done.code == ask(verb).code
                continue
            assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
            assert done.err.startswith(f"approxftl {name}") and sentence in done.err


OPTIONS = {"-o": "show", "-S": "sort"}


def test_a_minus_alone_is_the_first_column_of_nothing() -> None:
    assert ask("params", "-S", "-").code == 2
    assert ask("params", "-o", "+").code == 2


def test_a_file_of_json(tmp_path: Any) -> None:
    file = tmp_path / "rows"
    for words in ((f"-j{file}",), (f"--json={file}",)):
        done = ask("params", *words, "-o", "key")
        assert (done.code, done.out, done.err) == (0, "", "")
        assert len(json.loads(file.read_text())["rows"]) == len(everything("params"))
        file.unlink()
    assert ask("params", f"-j{file}", "--profile", "none").code == 2
    assert not file.exists()
