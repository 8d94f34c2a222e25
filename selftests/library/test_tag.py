# SPDX-License-Identifier: GPL-2.0-only
"""Test `approxftl tag` with a control device that needs no kernel."""

import os
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, Done
from selftests.library.support import DOUBLE, parse_call_log, run_program_with_library


def run_tag_tool(*words: str | Path, log: Path | None = None) -> Done:
    return run_program_with_library(DOUBLE / "approxftl", "tag", *words, log=log)


def make_direct_write_warning(file: Path) -> str:
    """Return the warning of `tag add` that a file's tags do not reach direct writes."""
    return (f"approxftl tag add: {file}: buffered writes are approximate from now on; O_DIRECT"
            " writes stay precise, see approxftl-tag(8)\n")


def run_tag_verb_as_json(verb: str, *words: str | Path, log: Path | None = None) -> Any:
    done = run_tag_tool(verb, *words, "--json", log=log)
    assert done.code == 0
    assert "O_DIRECT" in done.err if verb == "add" and "--precise" not in words else not done.err
    return parse_document("userspace/approxftl/verbs-output.fields", done.out)


@pytest.fixture
def zeroed_file(tmp_path: Path) -> Path:
    made = tmp_path / "file"
    made.write_bytes(bytes(65536))
    return made


def test_tag_add_tags_a_whole_file(zeroed_file: Path) -> None:
    assert run_tag_verb_as_json("add", zeroed_file)["ranges"] == [
        {"offset_bytes": 0, "length_bytes": None, "class": "approximate", "level": 1}]
    assert run_tag_tool("add", zeroed_file) == Done(0, "", make_direct_write_warning(zeroed_file))
    assert run_tag_tool("add", "--precise", zeroed_file) == Done(0, "", "")


def test_tag_add_tags_ranges(zeroed_file: Path) -> None:
    assert run_tag_verb_as_json("add", "--precise", zeroed_file, "0+100", "4KiB+")["ranges"] == [
        {"offset_bytes": 0, "length_bytes": 100, "class": "precise", "level": 0},
        {"offset_bytes": 4096, "length_bytes": None, "class": "precise", "level": 0}]


def test_tag_remember_stores_tags_in_an_attribute(zeroed_file: Path) -> None:
    run_tag_verb_as_json("add", "--remember", zeroed_file, "4096+4096")
    assert os.getxattr(zeroed_file, "user.approxftl") == b"4096+4096"
    assert run_tag_verb_as_json("del", "--remember", zeroed_file)["ranges"] == []
    assert os.listxattr(zeroed_file) == []


@pytest.mark.parametrize("wrong", ["4096", "+1", "x+", "0+x", "0+1+2", "0+-1", "0+1KiX"])
def test_invalid_ranges_make_no_tag_calls(zeroed_file: Path, tmp_path: Path, wrong: str) -> None:
    log = tmp_path / "log"
    done = run_tag_tool("add", zeroed_file, "0+1", wrong, log=log)
    assert (done.code, done.out) == (2, "")
    assert f'"{wrong}" is no range; give OFFSET+LENGTH' in done.err
    assert parse_call_log(log) == []


def test_tag_list_prints_the_tags(zeroed_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    assert [f["path"] for f in run_tag_verb_as_json("list", zeroed_file,
                                                    other)["files"]] == [str(zeroed_file),
                                                                         str(other)]
    done = run_tag_tool("list", zeroed_file, tmp_path / "missing", other)
    assert done.code == 1
    assert done.out.split() == ["FILE", "RANGE", "CLASS"]
    assert done.err == f"approxftl tag list: {tmp_path}/missing: cannot open: No such file or" \
        " directory\n"


def test_tag_query_prints_the_data_class_of_stored_units(zeroed_file: Path) -> None:
    document = run_tag_verb_as_json("query", zeroed_file)
    assert document["errors"]["units"] == len(document["units"]) == 16
    assert document["units"][3]["offset_bytes"] == 3 * 4096
    assert document["units"][3]["class"] == "precise"
    done = run_tag_tool("query", zeroed_file)
    assert done.out.splitlines()[1].split() == ["stored", "0+65536", "precise", "0"]
    assert done.out.splitlines()[2] == "0 bits are flipped in 0 of 16 units"


def test_tag_lists_have_columns(zeroed_file: Path) -> None:
    assert run_tag_tool("list", zeroed_file, "-o",
                        "offset_bytes,class").out.splitlines() == ["OFFSET  CLASS"]
    done = run_tag_tool("query", zeroed_file, "-j", "-o", "+length_bytes,offset", "-S",
                        "-flips,what")
    assert parse_document("userspace/approxftl/verbs-output.fields", done.out)["rows"] == [
        {"what": "stored", "range": "0+65536", "class": "precise", "remark": None,
         "flipped_bits": 0, "length_bytes": 65536, "offset_bytes": 0}]
    done = run_tag_tool("query", zeroed_file, "-o", "range,flips")
    assert done.out.splitlines() == ["RANGE    FLIPS", "0+65536      0"]


def test_tag_scan_restores_remembered_tags(tmp_path: Path) -> None:
    folder = tmp_path / "folder" / "below"
    folder.mkdir(parents=True)
    for name, text in (("a", b"0+4096=precise 4096+"), ("b", b"5+5"), ("c", None), ("d", b"x")):
        (folder / name).touch()
        if text:
            os.setxattr(folder / name, "user.approxftl", text)
    (folder / "link").symlink_to(folder / "a")
    log = tmp_path / "log"
    done = run_tag_tool("scan", tmp_path / "folder", log=log)
    assert done.code == 1
    assert done.out == "2 of 4 files tagged, in 3 ranges\n"
    assert f"{folder}/d: the attribute makes no sense" in done.err
    assert len(done.err.splitlines()) == 1
    assert sorted((c.offset, c.length, c.kind) for c in parse_call_log(log)) == [
        (0, 4096, 0), (5, 5, 1), (4096, -1, 1)]
    (folder / "d").unlink()
    assert run_tag_verb_as_json("scan", tmp_path / "folder") | {"tool": None} == {
        "approxftl_json_format": [1, 0], "tool": None, "path": str(tmp_path / "folder"),
        "files": 3, "tagged_files": 2, "tagged_ranges": 3, "failed_files": 0}


def test_tag_watch_prints_new_tags(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run_tag_verb_as_json("watch", tmp_path, "on", log=log)["watched"] is True
    assert run_tag_verb_as_json("watch", tmp_path, "off", log=log)["watched"] is False
    assert [c.what for c in parse_call_log(log)] == ["watch", "unwatch"]
    done = run_tag_tool("watch", tmp_path, "yes")
    assert (done.code, done.err) == (2, 'approxftl tag watch: "yes" is neither on nor off\n')


def test_wrong_usage_is_refused(zeroed_file: Path) -> None:
    for words, sentence in (
        (("lst",), 'unknown verb "lst"; did you mean list?'),
        (("add",), "FILE [RANGE ...] missing"),
        (("query", zeroed_file, "more"), '"more" is one word too many'),
        (("add", "-x", zeroed_file), 'unknown option "-x"'),
        (("query", "--remember", zeroed_file), 'unknown option "--remember"'),
        (("add", zeroed_file, "--level"), "--level needs a value"),
        (("add", zeroed_file, "-l"), "-l needs a value"),
        (("add", "--level", "4", zeroed_file), "--level: 4 is out of range; it must be 1 to 3"),
        (("add", "--level", "2", "--precise", zeroed_file), "--level is of approximate data"),
        (("list", "-o", "rnge", zeroed_file), 'no column "rnge"; did you mean range?'),
    ):
        done = run_tag_tool(*words)
        assert (done.code, done.out) == (2, "")
        verb = "" if words[0] == "lst" else f" {words[0]}"
        assert done.err.startswith(f"approxftl tag{verb}: {sentence}")
    assert run_tag_tool().code == 2


def test_a_missing_device_is_reported(zeroed_file: Path) -> None:
    done = run_program_with_library(BUILD / "approxftl", "tag", "add", zeroed_file)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("approxftl tag add: there is no /dev/approxftl; load the module")
