# SPDX-License-Identifier: GPL-2.0-only
"""Paths of programs, and functions that run them, for all tests in Python."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build")).absolute()
PROGRAM = Path(os.environ.get("APPROXFTL", BUILD / "approxftl")).absolute()


@dataclass(frozen=True)
class Done:
    """Exit status, output and errors of a program that has ended."""

    code: int
    out: str
    err: str


def run_program(*command: str | Path, stdin: bytes = b"", directory: Path | None = None,
                environment: Mapping[str, str] | None = None) -> Done:
    """Run a program to its end, with `environment` added to the environment of the tests."""
    done = subprocess.run(command, input=stdin, cwd=directory, capture_output=True,
                          env={**os.environ, **(environment or {})}, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def install_verb_without_module(place: Path, verb: str, module: str) -> Path:
    """Install a verb written in Python, with a module in its package that cannot be imported."""
    return install_verb_with_module(place, verb, module, "raise ImportError('not here')\n")


def copy_packages(place: Path) -> None:
    """Copy the packages of verbs in Python to the directory that an installation uses."""
    for package in ("trace-tools/approxftl_tools", "userspace/python/approxftl"):
        shutil.copytree(TOP / package, place / Path(package).name, dirs_exist_ok=True)


def install_verb_with_module(place: Path, verb: str, module: str, text: str) -> Path:
    """Install a verb written in Python, with a module of the given text in its package."""
    package = place / "lib/approxftl/python"
    copy_packages(package)
    (package / f"{module}.py").write_text(text)
    (place / "bin").mkdir(exist_ok=True)
    (place / "bin/python-tools").write_text(f"{package}\n{sys.prefix}\n")
    return Path(shutil.copy(BUILD / f"approxftl-{verb}", place / "bin"))
