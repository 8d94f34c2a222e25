# SPDX-License-Identifier: GPL-2.0-only
"""Real traces that claims run on, in place of what their studies make."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from selftests.claims.runs import binary


def trace_directory() -> str:
    """Return where real traces are, or nothing."""
    return os.environ.get("CLAIMS_TRACES", "")


@functools.cache
def scratch() -> Path:
    """Return where studies find streams by their names, as long as this program lives."""
    directory = tempfile.mkdtemp(prefix="claims-")
    atexit.register(shutil.rmtree, directory)
    return Path(directory)


def converted(path: Path, *options: str, name: str = "") -> Path | None:
    """Return a trace as a record file for studies; nothing, and a word about it, if it is none."""
    out = scratch() / f"{name or path.stem}.aft"
    command = [str(binary().with_name("approxftl-trace")), "convert", "-q", "--force", *options,
               str(path), str(out)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        print(f"claims: {path} skipped: {error}", file=sys.stderr)
        return None
    if done.returncode:
        print(f"claims: {path} skipped: {done.stderr.strip()}", file=sys.stderr)
        return None
    return out


def linked(path: Path) -> Path:
    """Return a record file as studies find it."""
    link = scratch() / path.name
    link.unlink(missing_ok=True)
    link.symlink_to(path.absolute())
    return link


@functools.cache
def traces() -> dict[str, Path]:
    """Return the real traces, as record files: whatever "approxftl trace convert" reads."""
    files = sorted(path for path in Path(trace_directory()).iterdir() if path.is_file())
    records = {f"trace {path.stem}": linked(path) if path.suffix == ".aft" else converted(path)
               for path in files}
    found = {name: path for name, path in records.items() if path}
    if not found:
        sys.exit(f"claims: {trace_directory()} has no trace")
    return found

