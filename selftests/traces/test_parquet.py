# SPDX-License-Identifier: GPL-2.0-only
"""Test that pyarrow reads the contents of a trace from a converted Parquet file."""

import shutil
import stat
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from selftests.lib.programs import install_verb_without_module, run_program
from selftests.traces.support import BINARY, run_trace_tool, run_trace_tool_ok, write_test_file
from selftests.traces.test_round_trips import Request, make_random_stream, write_stream_as_csv

parquet: Any = import_module("pyarrow.parquet")

TYPES = {"t_ns": "uint64", "op": "string", "offset_bytes": "uint64", "bytes": "uint64",
         "latency_ns": "uint64", "pid": "uint32", "stream": "uint16", "class": "string"}


def convert_stream_to_parquet_table(directory: Path, stream: list[Request]) -> Any:
    source, out = write_test_file(directory / "source",
                                  write_stream_as_csv(stream)), directory / "out.parquet"
    run_trace_tool_ok("convert", "-q", "--keep-time", source, out)
    return parquet.read_table(out)


@pytest.mark.slow
@settings(max_examples=8)
@given(make_random_stream())
def test_conversion_to_parquet_keeps_every_field(stream: list[Request]) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = convert_stream_to_parquet_table(Path(name), stream)
        assert {field.name: str(field.type) for field in table.schema} == TYPES
        assert [tuple(row.values()) for row in table.to_pylist()] == stream
        assert sorted(f.name for f in Path(name).iterdir()) == ["out.parquet", "source"]


def test_largest_numbers_and_many_row_groups_are_kept(tmp_path: Path) -> None:
    # More than one block of CSV, and numbers that overflow signed columns.
    stream = [(i, "write", 2**50 + 512 * i, 512, 2**40, 2**32 - 1, 2**16 - 1, "approximate")
              for i in range(60_000)]
    assert [tuple(row.values())
            for row in convert_stream_to_parquet_table(tmp_path, stream).to_pylist()] == stream


def test_a_failed_conversion_leaves_no_file(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "s", "0,0,512,R,0.5\nnonsense\n")
    done = run_trace_tool("convert", "-q", "--from", "spc", "--strict", source,
                          tmp_path / "o.parquet")
    assert done.code == 1
    assert [file.name for file in tmp_path.iterdir()] == ["s"]
    told = run_trace_tool("info", "--from", "parquet", source)
    assert (told.code, "--from: format parquet is only written" in told.err) == (2, True)


def test_a_missing_pyarrow_is_reported(tmp_path: Path) -> None:
    install_verb_without_module(tmp_path / "place", "parquet", "pyarrow")
    program = shutil.copy(BINARY, tmp_path / "place/bin")
    source, out = write_test_file(tmp_path / "s", "0,0,512,R,0.5\n"), tmp_path / "o.parquet"
    done = run_program(program, "convert", "-q", "--from", "spc", source, out)
    assert done.code == 1
    assert "pip install pyarrow" in done.err
    assert not out.exists()


def test_a_failure_of_the_parquet_program_is_reported(tmp_path: Path) -> None:
    alone = tmp_path / "bin"
    alone.mkdir()
    (alone / "approxftl-trace").write_bytes(BINARY.read_bytes())
    other = write_test_file(alone / "approxftl-parquet", "#!/bin/sh\nexit 3\n")
    for file in (alone / "approxftl-trace", other):
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    source, out = write_test_file(tmp_path / "s", "0,0,512,R,0.5\n"), tmp_path / "o.parquet"
    done = run_program(alone / "approxftl-trace", "convert", "-q", "--from", "spc", source, out)
    assert done.code == 1
    assert "approxftl-parquet" in done.err
    assert not out.exists()
