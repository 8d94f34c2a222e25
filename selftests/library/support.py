# SPDX-License-Identifier: GPL-2.0-only
"""Helpers of the library's tests: run programs with a control device that needs no kernel."""

import sys
from dataclasses import dataclass
from pathlib import Path

from selftests.lib.programs import BUILD, TOP, Done, run_program

DOUBLE = BUILD / "selftests/library/double"
HEADERS = TOP / "userspace/libapproxftl"


@dataclass(frozen=True)
class Call:
    """One line of the log of the fake control device."""

    what: str
    inode: int
    offset: int
    length: int
    kind: int


def run_program_with_library(*command: str | Path, log: Path | None = None, library: Path = DOUBLE,
                             **variables: str) -> Done:
    """Run a program with the library of the tested build."""
    environment = {"LD_LIBRARY_PATH": str(library), **variables,
                   "PYTHONPATH": str(TOP / "userspace/python")}
    if log:
        environment["FAKE_CONTROL_LOG"] = str(log)
    return run_program(*command, environment=environment)


def run_python(program: str, *arguments: str | Path, log: Path | None = None,
               library: Path = DOUBLE) -> Done:
    """Run a Python program that imports the Python binding of libapproxftl."""
    return run_program_with_library(sys.executable, "-c", program, *arguments, log=log,
                                    library=library)


def parse_call_log(log: Path) -> list[Call]:
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [Call(what, *(int(number) for number in numbers)) for what, *numbers in lines]
