# SPDX-License-Identifier: GPL-2.0-only
"""Write output files atomically: a file appears only when it is complete.

Devices and pipes are written in place, and symbolic links are followed; "-" is standard output.
userspace/lib/output-file.c does the same for the programs in C.
"""

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from approxftl_tools.file_claims import CLAIMS, STANDARD
from approxftl_tools.refusal import Refusal

#: Name of the new file in its temporary directory.
CONTENT = "content"
#: Errors that forbid a file in another user's directory, and errors of replacing a file in a sticky
#: directory or at a mount point.
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
IRREPLACEABLE = {*FORBIDDEN, errno.EBUSY, errno.EXDEV}


def output_path(text: str) -> Path:
    """Return the path of an output; "./-" is a file named "-", not standard output."""
    path = Path(text)
    return path if path != STANDARD or text == str(STANDARD) else path.absolute()


def stat_path_following_links(path: Path) -> os.stat_result | None:
    """Return the stat() of a path, links followed; None if the path does not exist."""
    try:
        return os.fstat(1) if path == STANDARD else path.stat()
    except FileNotFoundError:
        return None


def is_standard_output(state: os.stat_result | None) -> bool:
    """Tell whether a path is the file that is open as standard output."""
    if state is None:
        return False
    with contextlib.suppress(OSError):
        return os.path.samestat(state, os.fstat(1))
    return False


def replaceable_output_path(path: Path, state: os.stat_result | None) -> Path | None:
    """Return the path that a rename replaces; None if the output is written in place."""
    # A path such as /dev/fd/3 stands for an open file, which cannot be replaced.
    if Path(os.path.realpath(path.parent)).is_relative_to("/proc") or is_standard_output(state):
        return None
    if state is not None and not stat.S_ISREG(state.st_mode):
        return None
    return Path(os.path.realpath(path))


def copy_temporary_file_to_output(content: Path, path: Path, standard: bool) -> None:
    """Copy the content of a temporary file into an existing file or standard output."""
    sys.stdout.flush()
    with content.open("rb") as source, (
            open(1, "wb", closefd=False) if standard else path.open("wb")) as sink:
        shutil.copyfileobj(source, sink, 1 << 20)


def move_output_into_place(content: Path, target: Path, old: os.stat_result | None) -> None:
    """Move the new file to its final name, with owner and mode of a file that it replaces."""
    if old is not None:
        with contextlib.suppress(PermissionError):
            os.chown(content, old.st_uid, old.st_gid)
        content.chmod(stat.S_IMODE(old.st_mode) & 0o777)
    try:
        content.replace(target)
    except OSError as error:
        if old is None or error.errno not in IRREPLACEABLE:
            raise
        # A rename cannot replace it, so overwrite it in place.
        try:
            copy_temporary_file_to_output(content, target, False)
        except OSError as failed:
            raise Refusal(f"{target}: can be neither replaced nor written: {failed.strerror}; what "
                          "was there may be lost") from failed


def temporary_directory(target: Path | None, old: os.stat_result | None
                        ) -> tempfile.TemporaryDirectory[str]:
    """Return a temporary directory beside the output or, if none can be made there, elsewhere."""
    if target:
        try:
            return tempfile.TemporaryDirectory(prefix=".approxftl-", dir=target.parent)
        except OSError as error:
            if old is None or error.errno not in FORBIDDEN:
                raise
    return tempfile.TemporaryDirectory(prefix=".approxftl-")


@contextmanager
def temporary_output(path: Path, name: str = CONTENT) -> Iterator[Path]:
    """Yield a temporary file to write; at the end, move the file to `path`."""
    CLAIMS.refuse_input_as_output(path)
    try:
        state = stat_path_following_links(path)
        target = replaceable_output_path(path, state)
        if state is not None and path != STANDARD and not os.access(path, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        if state is not None and stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(21, os.strerror(21))
        with temporary_directory(target, state) as folder:
            content = Path(folder) / name
            yield content
            if target is None:
                copy_temporary_file_to_output(content, path, is_standard_output(state))
            else:
                move_output_into_place(content, target, state)
    except OSError as error:
        raise Refusal(f"{path}: cannot write: {error.strerror or error}") from error


def write_file(path: Path, content: str | bytes) -> None:
    # File names in the text may hold bytes that are not UTF-8.
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    with temporary_output(path) as file:
        file.write_bytes(data)
