# SPDX-License-Identifier: GPL-2.0-only
"""Test the options of `trace record`; selftests/kernel/replay-capture.sh makes real captures."""

from pathlib import Path

import pytest
from selftests.lib.programs import PROGRAM as BINARY
from selftests.lib.programs import TOP, Done, run_program

PAGE = TOP / "trace-tools/capture/approxftl-trace-record.1.rst"


def run_trace_record(*arguments: str, **environment: str) -> Done:
    return run_program(BINARY.with_name("approxftl-trace"), "record", *arguments,
                       environment=environment)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "DEVICE missing"),
        (["--", "true"], "DEVICE missing"),
        (["/dev/null"], "PROGRAM missing"),
        (["/dev/null", "--"], "PROGRAM missing"),
        (["--buffers", "0", "/", "--", "true"], "out of range"),
        (["--buffer-kib", "much", "/", "--", "true"], "--buffer-kib: "),
        (["--output"], "needs a value"),
        (["--wonder", "/", "--", "true"], "unknown option"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], said: str) -> None:
    done = run_trace_record(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("approxftl trace record: ")


def test_options_after_the_program_belong_to_it(tmp_path: Path) -> None:
    done = run_trace_record(str(tmp_path), "--", "true", "--wonder", PATH="/nonexistent")
    assert "unknown option" not in done.err


def test_trace_record_without_blktrace_creates_no_file(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_trace_record("-O", "result", str(tmp_path), "--", "/bin/touch", "ran",
                            PATH="/nonexistent")
    assert done.code == 3
    assert "install the package blktrace" in done.err
    assert list(tmp_path.iterdir()) == []
