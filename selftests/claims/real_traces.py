# SPDX-License-Identifier: GPL-2.0-only
"""Real traces that replace the synthetic streams of the claims' studies."""

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

from selftests.claims.runs import program_under_test
from selftests.lib.programs import run_program


def real_trace_directory() -> str:
    """Return the directory of real traces, or ""."""
    return os.environ.get("CLAIMS_TRACES", "")


@functools.cache
def scratch_directory() -> Path:
    """Return a directory, removed at exit, in which studies find request streams by name."""
    directory = tempfile.mkdtemp(prefix="claims-")
    atexit.register(shutil.rmtree, directory)
    return Path(directory)


def convert_real_trace(path: Path, *options: str, name: str = "") -> Path | None:
    """Convert a trace to a record file for studies; report a file that is no trace, return None."""
    out = scratch_directory() / f"{name or path.stem}.aft"
    command = [str(program_under_test().with_name("approxftl-trace")), "convert", "-q", "--force",
               *options, str(path), str(out)]
    try:
        done = run_program(*command)
    except OSError as error:
        print(f"claims: {path} skipped: {error}", file=sys.stderr)
        return None
    if done.code:
        print(f"claims: {path} skipped: {done.err.strip()}", file=sys.stderr)
        return None
    return out


def link_record_file_as_trace(path: Path) -> Path:
    """Link a record file into the directory where studies look for traces."""
    link = scratch_directory() / path.name
    link.unlink(missing_ok=True)
    link.symlink_to(path.absolute())
    return link


@functools.cache
def list_real_trace_files() -> dict[str, Path]:
    """Return the real traces as record files; `approxftl trace convert` finds their format."""
    files = sorted(path for path in Path(real_trace_directory()).iterdir() if path.is_file())
    records = {f"trace {path.stem}": link_record_file_as_trace(path) if path.suffix == ".aft"
               else convert_real_trace(path) for path in files}
    found = {name: path for name, path in records.items() if path}
    if not found:
        sys.exit(f"claims: {real_trace_directory()} has no trace")
    return found

