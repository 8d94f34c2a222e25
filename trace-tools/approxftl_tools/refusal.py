# SPDX-License-Identifier: GPL-2.0-only
"""Exit statuses of commands, and the exception for their error messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DONE, FAILED, USAGE, NOT_FOUND, NOT_VERIFIED = range(5)
INTERRUPTED = 130


class Refusal(Exception):  # noqa: N818
    """Raised when a command cannot go on; the text is the message for the user."""

    def __init__(self, sentence: str, status: int = FAILED) -> None:
        super().__init__(sentence)
        self.status = status


@contextmanager
def convert_read_errors_to_refusal(path: Path) -> Iterator[None]:
    """Turn an OSError of reading a file into a Refusal."""
    try:
        yield
    except OSError as error:
        raise Refusal(f"{path}: cannot read: {error.strerror or error}", NOT_FOUND) from error
