# SPDX-License-Identifier: GPL-2.0-only
"""What the library's tests share: the library over a control device without a kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build")).absolute()
DOUBLE = BUILD / "selftests/library/double"
HEADERS = TOP / "userspace/libapproxftl"


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Call:
    """A line of the log of the control device."""

    what: str
    inode: int
    offset: int
    length: int
    kind: int


def run(*command: str | Path, log: Path | None = None, library: Path = DOUBLE,
        **variables: str) -> Done:
    """Run a program with this library."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library), **variables,
                   "PYTHONPATH": str(TOP / "userspace/python")}
    if log:
        environment["FAKE_CONTROL_LOG"] = str(log)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120,
                          check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def run_python(program: str, *arguments: str | Path, log: Path | None = None,
               library: Path = DOUBLE) -> Done:
    """Run a program in Python that imports the binding."""
    return run(sys.executable, "-c", program, *arguments, log=log, library=library)


def calls(log: Path) -> list[Call]:
    """Read a log."""
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [Call(what, *(int(number) for number in numbers)) for what, *numbers in lines]
