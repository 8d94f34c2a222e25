# SPDX-License-Identifier: GPL-2.0-only
"""Test `approxftl tag model` with a control device that needs no kernel."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, Done
from selftests.library import model_files
from selftests.library.model_files import Made, make_tensor
from selftests.library.support import DOUBLE, parse_call_log, run_program_with_library
from selftests.library.test_models import FEW, store_model_by_bit_plane
from selftests.library.test_models import TENSORS as TENSORS_OF_ANY

from approxftl.models import parse_model
from approxftl.models.choice import Choice
from approxftl.models.source import MemorySource
from approxftl_tools.model import decide_tensor_classes, list_approximate_byte_ranges
from approxftl_tools.model import make_tag_model_parser as command_line

UNIT = 4096
RANDOM = np.random.default_rng(3)
TENSORS = [
    make_tensor("embed", RANDOM.normal(size=(64, 512)).astype("<f4")),
    make_tensor("codes", RANDOM.integers(-128, 128, (64, 512), dtype=np.int8)),
    make_tensor("bias", RANDOM.normal(size=512).astype("<f4")),
]


def run_tag_model_tool(*words: str | Path, log: Path | None = None, device: bool = True) -> Done:
    if not device:
        return run_program_with_library(BUILD / "approxftl", "tag", "model", *words)
    program = BUILD / "approxftl-model"
    return run_program_with_library(program, *words, log=log, APPROXFTL=str(DOUBLE / "approxftl"))


def run_tag_model_as_json(*words: str | Path, log: Path | None = None) -> Any:
    done = run_tag_model_tool(*words, "--json", log=log)
    assert (done.code, done.err) == (0, ""), done.err
    return parse_document("trace-tools/approxftl_tools/tools-output.fields", done.out)


@pytest.fixture
def tensor_file(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.write_bytes(model_files.make_safetensors_file(TENSORS))
    return path


def list_tagged_ranges(log: Path) -> list[tuple[int, int]]:
    return [(call.offset, call.length) for call in parse_call_log(log) if call.what == "tag"]


def test_the_weights_are_tagged_and_nothing_else(tensor_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    said = run_tag_model_as_json(tensor_file, log=log)
    codes = next(one for one in said["tensors"] if one["name"] == "codes")
    assert [call.what for call in parse_call_log(log)] == ["untag", "tag"]
    assert list_tagged_ranges(log) == [(codes["offset_bytes"], 64 * 512)]
    begin = codes["offset_bytes"]
    whole = (begin + 64 * 512) // UNIT - -(-begin // UNIT)
    assert said["approximate_bytes"] == codes["approximate_bytes"] == whole * UNIT
    assert 0 < codes["approximate_bytes"] < codes["stored_bytes"]
    assert said["tagged"] and not said["by_plane"]
    reasons = {one["name"]: one["precise_because"] for one in said["tensors"]}
    assert "--to-planes" in reasons["embed"] and "one dimension" in reasons["bias"]


def test_tensors_get_quality_levels(tensor_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    said = run_tag_model_as_json(tensor_file, "--type", "f32,i8", "--level", "3", "--level",
                                 "2:*des", log=log)
    offsets = {one["name"]: one["offset_bytes"] for one in said["tensors"]}
    levels = {one["offset_bytes"]: one["level"] for one in said["ranges"]}
    assert levels == {offsets["codes"]: 2, offsets["embed"]: 3}
    assert {(call.offset, call.kind) for call in parse_call_log(log) if call.what == "tag"} == {
        (offsets["codes"], 3), (offsets["embed"], 4)}
    said = run_tag_model_as_json(tensor_file, "--dry-run")
    assert {one["level"] for one in said["ranges"]} == {1}


@pytest.mark.parametrize("apart", [False, True])
@FEW
@given(tensors=TENSORS_OF_ANY, said=st.lists(st.tuples(
    st.integers(1, 3), st.sampled_from(["", ":t0*", ":t[12]*", ":*"])), max_size=4))
@example(tensors=[make_tensor(f"t{number}", np.ones((4, 9), dtype="<f4")) for number in range(3)],
         said=[(3, ""), (2, ":t0*"), (1, ":t[12]*")])
def test_bit_planes_get_quality_levels(apart: bool, tensors: list[Made],
                                       said: list[tuple[int, str]],
                                       tmp_path_factory: pytest.TempPathFactory) -> None:
    data = store_model_by_bit_plane(tensors, tmp_path_factory.getbasetemp()) if apart else \
        model_files.make_safetensors_file(tensors)
    args = command_line().parse_args(["x", *(f"--level={level}{name}" for level, name in said)])
    verdicts = decide_tensor_classes(Choice(rule="all"), parse_model(MemorySource(data)))
    wanted: dict[int, int] = {}
    for one in verdicts:
        level = [level for level, name in [(1, ""), *said]
                 if name in {"", ":*"} or one.tensor.name[1] in {":t0*": "0"}.get(name, "12")][-1]
        begin, length = one.approximate or (0, 0)
        wanted |= dict.fromkeys(range(begin, begin + length), level)
    ranges = list_approximate_byte_ranges(args, verdicts)
    assert all(sum(one) <= other[0] for (one, _), (other, _) in pairwise(ranges))
    assert wanted == {at: level for (begin, length), level in ranges
                      for at in range(begin, begin + length)}


def test_a_dry_run_changes_nothing(tensor_file: Path, tmp_path: Path) -> None:
    before = tensor_file.read_bytes()
    log = tmp_path / "log"
    said = run_tag_model_as_json(tensor_file, "--dry-run", log=log)
    run_tag_model_as_json(tensor_file, "--dry-run", "--to-planes", tmp_path / "planes", log=log)
    assert said["ranges"] and not said["tagged"]
    assert parse_call_log(log) == [] and tensor_file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    assert run_tag_model_tool(tensor_file, "--dry-run", device=False).code == 0


def test_neighbouring_tensors_are_tagged_as_one_range(tensor_file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    said = run_tag_model_as_json(tensor_file, "--rule", "all", "--remember", log=log)
    total = sum(len(one.data) for one in TENSORS)
    header = said["total_bytes"] - total
    assert list_tagged_ranges(log) == [(header, total)]
    assert os.getxattr(tensor_file, "user.approxftl") == f"{header}+{total}".encode()
    run_tag_model_as_json(tensor_file, "--type", "f64", "--remember")
    assert os.listxattr(tensor_file) == []


def test_many_ranges_are_tagged(tmp_path: Path) -> None:
    path = tmp_path / "model"
    rows = [make_tensor(f"{'x' if number % 2 else 'y'}{number}", np.zeros((2, 8), dtype=np.int8))
            for number in range(4500)]
    path.write_bytes(model_files.make_safetensors_file(rows))
    log = tmp_path / "log"
    said = run_tag_model_as_json(path, "--tensor", "x*", log=log)
    assert len(said["ranges"]) == len(list_tagged_ranges(log)) == 2250
    assert said["approximate_bytes"] == 0


def test_a_model_file_survives_conversion_to_bit_planes_and_back(
    tensor_file: Path, tmp_path: Path
) -> None:
    log, stored, back = tmp_path / "log", tmp_path / "planes", tmp_path / "back"
    said = run_tag_model_as_json(tensor_file, "--to-planes", stored, log=log)
    assert said["tagged"] and said["by_plane"] and said["total_bytes"] == stored.stat().st_size
    low = {one["name"]: (one["approximate_planes"], one["approximate_bytes"])
           for one in said["tensors"]}
    assert low == {"embed": (23, 23 * UNIT), "codes": (4, 4 * UNIT)}
    assert said["approximate_bytes"] == 27 * UNIT
    assert sum(length for _, length in list_tagged_ranges(log)) == 27 * UNIT
    assert {call.inode for call in parse_call_log(log)} == {stored.stat().st_ino}
    again = run_tag_model_as_json(stored, "--planes", "2")
    assert again["by_plane"] and again["approximate_bytes"] == 4 * UNIT
    assert run_tag_model_as_json(stored, "--from-planes", back)["unchanged"]
    assert back.read_bytes() == tensor_file.read_bytes()


def test_flipped_bits_are_reported(tensor_file: Path, tmp_path: Path) -> None:
    stored, back = tmp_path / "planes", tmp_path / "back"
    said = run_tag_model_as_json(tensor_file, "--to-planes", stored)
    data = bytearray(stored.read_bytes())
    data[said["ranges"][0]["offset_bytes"]] ^= 1
    stored.write_bytes(data)
    found = run_tag_model_as_json(stored, "--from-planes", back)
    assert not found["unchanged"]
    assert found["changed"] == [{"name": "embed", "bits": [22]}]
    assert "bits that have changed somewhere: 22\n" in run_tag_model_tool(stored, "--from-planes",
                                                                          back).out
    differ = np.frombuffer(back.read_bytes(), np.uint8) ^ np.frombuffer(tensor_file.read_bytes(),
                                                                         np.uint8)
    assert np.count_nonzero(np.unpackbits(differ)) == 1


def test_a_model_is_converted_without_a_device(tensor_file: Path, tmp_path: Path) -> None:
    done = run_tag_model_tool(tensor_file, device=False)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("approxftl tag model: there is no /dev/approxftl; load the module")
    done = run_tag_model_tool(tensor_file, "--to-planes", tmp_path / "planes", device=False)
    assert done.code == 0
    assert done.err.startswith("approxftl tag model: nothing is approximate: there is no /dev/")
    assert run_tag_model_tool(tmp_path / "planes", "--from-planes", tensor_file,
                              device=False).code == 0


def test_invalid_options_are_refused(tensor_file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"PK\3\4")
    missing = tmp_path / "missing"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for words, code, sentence in (
        ((wrong,), 1, f"{wrong}: it is an archive"),
        ((missing,), 3, f"{missing}: No such file"),
        ((tmp_path,), 3, "not a regular file"),
        ((fifo,), 3, "not a regular file"),
        ((tensor_file, "--type", "f33"), 2, "--type: no type f33; there are bf16, "),
        ((tensor_file, "--from-planes", missing), 1, "it is not by plane"),
        ((tensor_file, "--from-planes", missing, "--planes", "3"), 2, "takes no word about tags"),
        ((tensor_file, "--to-planes", missing, "--rewrite"), 2, "without --rewrite"),
        ((tensor_file, "--to-planes", tensor_file), 1, "is also read"),
        ((tensor_file, "--planes", "65"), 2, "65 is not from 0 to 64"),
        ((tensor_file, "--level", "4"), 2, "4 is no level from 1 to 3"),
        ((tensor_file, "--level", "2:"), 2, "2: is no level from 1 to 3"),
        ((tensor_file, "--from-planes", missing, "--level", "2"), 2, "takes no word about tags"),
    ):
        done = run_tag_model_tool(*words)
        assert (done.code, done.out) == (code, ""), done
        assert done.err.startswith("approxftl tag model: ") and sentence in done.err, done.err
        assert done.err.count("\n") == 1
    assert not missing.exists()


def test_approximate_bytes_of_each_tensor_are_printed(tensor_file: Path) -> None:
    done = run_tag_model_tool(tensor_file, "--dry-run")
    lines = done.out.splitlines()
    assert lines[0].split() == ["TENSOR", "TYPE", "SHAPE", "BYTES", "APPROXIMATE"]
    assert lines[2].split() == ["codes", "i8", "64x512", "32768", "28672"]
    assert lines[-1].startswith("safetensors: 28672 of ")
    assert lines[-1].endswith(" bytes are approximate if it is tagged so")


def test_rewrite_stores_existing_data_approximately(tensor_file: Path, tmp_path: Path) -> None:
    before = tensor_file.read_bytes()
    log = tmp_path / "log"
    run_tag_model_as_json(tensor_file, "--rewrite", log=log)
    assert list_tagged_ranges(log) and tensor_file.read_bytes() == before
