# SPDX-License-Identifier: GPL-2.0-only
"""What the commands of this package share: exit status, sentences, the head of JSON."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

DONE, FAILED, USAGE, NOT_FOUND, NOT_VERIFIED = range(5)
#: Format of JSON documents: a new minor version adds keys, a new major one changes them.
JSON_FORMAT = [1, 0]
HELP_WIDTH = 98


class Refusal(Exception):  # noqa: N818
    """A command cannot go on; its text is the one sentence that the user sees."""

    def __init__(self, sentence: str, status: int = FAILED) -> None:
        super().__init__(sentence)
        self.status = status


class Parser(argparse.ArgumentParser):
    """A parser whose complaints look like those of the other commands."""

    def error(self, message: str) -> NoReturn:
        """Print one line."""
        sys.stderr.write(f"{self.prog.replace(' ', '-')}: {message}; "
                         f'"{self.prog} --help" lists the options\n')
        sys.exit(USAGE)


def parser(verb: str, summary: str, epilog: str = "") -> Parser:
    """Return a parser for `approxftl VERB`."""
    return Parser(prog=f"approxftl {verb}", description=summary, epilog=epilog,
                  formatter_class=wide_help, allow_abbrev=False)


def wrapped(text: str) -> str:
    """Return a paragraph of a help text."""
    return fill(text, HELP_WIDTH, break_on_hyphens=False)


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that begins as that of the other commands does."""

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action],
                  groups: Iterable[Any], prefix: str | None = None) -> None:
        """Begin with a capital."""
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)


def wide_help(prog: str) -> argparse.HelpFormatter:
    """Format help to the same width everywhere."""
    return Help(prog, max_help_position=28, width=HELP_WIDTH)


def run(verb: str, body: Callable[[], int]) -> int:
    """Return the exit status of `body`, with a sentence if it refuses."""
    try:
        return body()
    except Refusal as refusal:
        sys.stderr.write(f"approxftl-{verb}: {refusal}\n")
        return refusal.status
    except BrokenPipeError:
        # Whoever read has seen enough; nothing may be flushed into the pipe any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return DONE


def program() -> Path:
    """Return the simulator, wherever the working directory may be."""
    path = Path(os.environ.get("APPROXFTL", "approxftl"))
    return path.absolute() if len(path.parts) > 1 else path


@cache
def version() -> str:
    """Return the version of the programs that we belong to."""
    try:
        done = subprocess.run([program(), "version"], capture_output=True, text=True, timeout=30,
                              check=False)
    except OSError:
        return "unknown"
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout else "unknown"


def envelope(verb: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return what every JSON document begins with."""
    return {
        "approxftl_json_format": JSON_FORMAT,
        "tool": {"version": version(), "argv": ["approxftl", verb, *argv]},
    }


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole, or leave what was there."""
    data = content.encode() if isinstance(content, str) else content
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            beside.write_bytes(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(f"{path}: cannot write: {error.strerror}") from error
