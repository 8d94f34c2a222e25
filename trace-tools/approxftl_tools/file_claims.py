# SPDX-License-Identifier: GPL-2.0-only
"""Track the files that a command reads and writes, so that no output overwrites another file.

Files are compared by identity, so a link or another spelling of a path is the same file.
userspace/lib/file-claims.c does the same for the programs in C.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from approxftl_tools.refusal import Refusal

#: The path that stands for standard output.
STANDARD = Path("-")

#: Identity of a file: device and inode numbers, or its resolved path.
Mark = tuple[int, int] | str


def file_identities(path: Path) -> Iterator[Mark]:
    """Yield a file's identities; none for a terminal or device: two outputs may go there."""
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
    """The files that one command reads and writes."""

    read: set[Mark] = field(default_factory=set)
    written: dict[Mark, tuple[str, Path]] = field(default_factory=dict)

    def forget_claimed_files(self) -> None:
        """Forget all claims, at the start of a command."""
        self.read.clear()
        self.written.clear()

    def claim_input(self, path: Path) -> None:
        marks = set(file_identities(path))
        for mark in marks & self.written.keys():
            option, output = self.written[mark]
            raise Refusal(f"{output}: is also read; give {option} another name")
        self.read |= marks

    def refuse_input_as_output(self, path: Path, option: str = "the output") -> None:
        """Raise Refusal if the output is also an input."""
        if self.read and self.read.intersection(file_identities(path)):
            raise Refusal(f"{path}: is also read; give {option} another name")

    def claim_output(self, path: Path, option: str) -> None:
        self.refuse_input_as_output(path, option)
        marks = set(file_identities(path))
        for mark in marks:
            other, _ = self.written.get(mark, (option, path))
            if other != option:
                raise Refusal(f"{path}: is also written by {other}; give {option} another name")
        self.written |= dict.fromkeys(marks, (option, path))


#: The claims of the running command.
CLAIMS = Claims()
