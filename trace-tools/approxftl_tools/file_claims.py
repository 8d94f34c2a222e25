# SPDX-License-Identifier: GPL-2.0-only
"""What a command reads and writes, so that no output destroys an input or another output.

Files count by what they are: a link, or another spelling, does not make another file.
userspace/lib/file-claims.c does the same for the programs in C.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from approxftl_tools.refusal import Refusal

#: By that name standard output is called.
STANDARD = Path("-")

#: What tells files apart: numbers of what is there, and a name without links.
Mark = tuple[int, int] | str


def marks_of(path: Path) -> Iterator[Mark]:
    """Yield what is the same for the same file; of terminals and the like several may write."""
    with contextlib.suppress(OSError):
        state = os.fstat(1) if path == STANDARD else path.stat()
        if stat.S_ISREG(state.st_mode) or (path == STANDARD and stat.S_ISFIFO(state.st_mode)):
            yield state.st_dev, state.st_ino
        if not stat.S_ISREG(state.st_mode):
            return
    if path != STANDARD:
        yield os.path.realpath(path)


@dataclass
class Claims:
    """The files of one command."""

    read: set[Mark] = field(default_factory=set)
    written: dict[Mark, tuple[str, Path]] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin with a command."""
        self.read.clear()
        self.written.clear()

    def reads(self, path: Path) -> None:
        """Claim an input."""
        marks = set(marks_of(path))
        for mark in marks & self.written.keys():
            option, output = self.written[mark]
            raise Refusal(f"{output}: is also read; give {option} another name")
        self.read |= marks

    def check(self, path: Path, option: str = "the output") -> None:
        """Refuse to write what is read."""
        if self.read and self.read.intersection(marks_of(path)):
            raise Refusal(f"{path}: is also read; give {option} another name")

    def writes(self, path: Path, option: str) -> None:
        """Claim an output, which the command line calls so."""
        self.check(path, option)
        marks = set(marks_of(path))
        for mark in marks:
            other, _ = self.written.get(mark, (option, path))
            if other != option:
                raise Refusal(f"{path}: is also written by {other}; give {option} another name")
        self.written |= dict.fromkeys(marks, (option, path))


#: Those of the command that runs.
CLAIMS = Claims()
