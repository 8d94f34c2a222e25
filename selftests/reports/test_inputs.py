# SPDX-License-Identifier: GPL-2.0-only
"""Invalid inputs give an error message of one sentence that names the fault."""

import json
import re
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selftests.reports.support import (
    BLOCK,
    BLOCKS,
    EVERYTHING,
    LUNS,
    make_device_stat_json,
    run_approxftl,
    simulate_to_file,
    write_report_input_files,
)

from approxftl_tools import command
from approxftl_tools.inputs import read_inputs

VERBS = ("report", "compare", "figures")


def read_refusal_message(directory: Path, *arguments: str, verb: str = "compare",
                         code: int = 1) -> str:
    """Return the error message of a command, which must fail."""
    done = run_approxftl(verb, *arguments, directory=directory)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"approxftl {verb}: ")
    assert done.err.count("\n") == 1
    return done.err


WRONG = [
    (b"", "empty; looked for results of approxftl sim --json"),
    (b"hello\n", 'begins with "hello", which is none of what is understood'),
    (b"\xff\xfe\x00", "neither text nor a record file: it begins with ff fe 00"),
    (b'{"runs": [', "no whole JSON: Expecting value in line 1; was its writer interrupted?"),
    (b"[]", "JSON, but a list and no object"),
    (b"{}", "JSON with nothing; looked for"),
    (b'{"a": 1, "b": 2}', "JSON with a, b; looked for"),
    (b'{"runs": []}', "runs without a geometry; found runs"),
    (b'{"geometry": {}, "runs": [{"policy": "x", "timing": {}, "counters": {}}]}',
     "a run without energy, write_amplification, blocks, block_kinds, mode_pages, luns; "
     "found policy, timing, counters"),
    (b'{"geometry": {}, "runs": [3]}', "a run without policy, timing, "),
    (b'{"traceEvents": [{"ph": "X", "pid": 1}]}',
     "trace events, but one without tid, ts, dur, name, cat, args: they are not of approxftl sim"),
    (b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "x", '
     b'"cat": "", "args": {}}]}', "one without block, page: "),
    (b'{"devices": []}', "a list of devices, with none in it"),
    (b'{"devices": [{}]}', "a device without a name; found nothing"),
    (b'{"fio version": "fio-3.33"}', "JSON of fio without jobs; fio --output-format=json"),
    (b'{"fio version": "fio-3.33", "jobs": [{}]}', "a job of fio without a name; found nothing"),
    (b'{"approxftl_json_format": [2, 0], "runs": []}', "JSON of format [2, 0]; format 1 is"),
    (b"\x89AFT\r\n\x1a\n", "a record file of 8 bytes has no whole header; it is cut off"),
]


@pytest.mark.parametrize(("content", "sentence"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong_input_files_are_refused_with_one_sentence(tmp_path: Path, content: bytes,
                                                         sentence: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(command.Refusal) as refused:
        read_inputs([path])
    told = str(refused.value)
    assert told.startswith(f"{path}: ")
    assert sentence in told
    assert "\n" not in told


@pytest.mark.parametrize("verb", VERBS)
def test_each_report_command_refuses_a_file_of_unknown_format(tmp_path: Path, verb: str) -> None:
    (tmp_path / "x").write_text("hello")
    assert read_refusal_message(tmp_path, "x", verb=verb).startswith(
        f'approxftl {verb}: x: begins with "hello", which is none of')


def test_a_missing_input_is_refused_with_the_files_that_exist(tmp_path: Path) -> None:
    (tmp_path / "near.json").write_text("{}")
    assert "x.json: no such file; ./ has near.json" in read_refusal_message(tmp_path, "x.json",
                                                                            code=3)
    assert "d/x: no such file; d/ has nothing" in read_refusal_message(tmp_path, "d/x", code=3)


def test_a_directory_without_inputs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    told = read_refusal_message(tmp_path, ".", code=3)
    assert ".: no input; looked for *.json, *.aft, *.txt, *.log, found notes.md" in told


def test_incomplete_json_is_refused(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "good.json", "--requests", "10")
    (tmp_path / "bad.json").write_text("{")
    assert "bad.json: no whole JSON" in read_refusal_message(tmp_path, "good.json", "bad.json")


@pytest.mark.parametrize("change", ["short", "version", "field", "fields"])
def test_damaged_record_files_are_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "x.aft"
    simulate_to_file(tmp_path / "x.json", "--requests", "5", "--record", path)
    data = bytearray(path.read_bytes())
    if change == "short":
        del data[-1]
    elif change == "version":
        struct.pack_into("<H", data, 8, 2)
    elif change == "field":
        struct.pack_into("<H", data, 64 + 16, 31)
    else:
        struct.pack_into("<I", data, 28, 2)
    path.write_bytes(data)
    told = read_refusal_message(tmp_path, "x.aft")
    expected = {"short": "bytes are no whole number of records of 32; the file is cut off",
                "version": "a record file of version 2", "field": "does not fit into a record",
                "fields": "records have no field"}
    assert expected[change] in told


def test_an_empty_record_file_is_listed_but_not_drawn(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "run.json", "--requests", "0", "--record", tmp_path / "x.aft")
    assert re.search(r"^records +0$", run_approxftl("compare", tmp_path / "x.aft").out, re.M)
    assert "of which nothing can be drawn" in read_refusal_message(tmp_path, "x.aft",
                                                                   verb="figures")


def test_inputs_without_numbers_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "luns.txt").write_text(LUNS)
    assert "found 1 answer, which has no numbers to compare" in read_refusal_message(tmp_path,
                                                                                     "luns.txt")


def test_an_unwritable_output_is_reported(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "x.json", "--requests", "10")
    told = read_refusal_message(tmp_path, "x.json", "-O", "no/such/r.html", verb="report")
    assert "no/such/r.html: cannot write: No such file or directory" in told
    (tmp_path / "file").write_text("")
    told = read_refusal_message(tmp_path, "x.json", "-O", "file/figures", verb="figures")
    assert "file/figures: cannot create: Not a directory" in told


def test_a_failed_report_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "x").write_text("wrong")
    read_refusal_message(tmp_path, "x", verb="report")
    assert (tmp_path / "report.html").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "x"]


@pytest.mark.parametrize("verb", VERBS)
def test_unknown_options_of_report_verbs_are_refused(tmp_path: Path, verb: str) -> None:
    done = run_approxftl(verb, "--xyzzy", "x", directory=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == (f'approxftl {verb}: unknown option "--xyzzy"; '
                        f'"approxftl {verb} --help" lists the options\n')


def test_every_kind_of_input_is_recognised(tmp_path: Path) -> None:
    found = read_inputs(write_report_input_files(tmp_path))
    assert found.describe_input_counts() == EVERYTHING
    assert sorted(message.kind for message in found.messages) == ["block", "blocks", "luns"]


@settings(max_examples=60,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damaged_input_is_refused_in_one_sentence(tmp_path: Path, data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([BLOCKS, LUNS, BLOCK,
                                       json.dumps(make_device_stat_json())])).encode()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + 1:]
    path = tmp_path / "x"
    path.write_bytes(damaged)
    try:
        assert read_inputs([path]).describe_input_counts() != "nothing"
    except command.Refusal as refused:
        assert str(refused).startswith(f"{path}: ")
        assert "\n" not in str(refused)
