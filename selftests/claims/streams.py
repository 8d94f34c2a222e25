# SPDX-License-Identifier: GPL-2.0-only
"""The streams that claims about traces run on: real ones, or stand-ins."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from selftests.claims import standins
from selftests.claims.runs import binary, seed

STANDIN_REQUESTS = 40000


def trace_directory() -> str:
    """Return where real traces are, or nothing."""
    return os.environ.get("CLAIMS_TRACES", "")


@functools.cache
def scratch() -> Path:
    """Return a directory that lives as long as this program."""
    directory = tempfile.mkdtemp(prefix="claims-")
    atexit.register(shutil.rmtree, directory)
    return Path(directory)


@functools.cache
def stand_in_file(volume: standins.Volume, seed_text: str) -> Path:
    """Write the stand-in of a volume."""
    return record_file(f"{volume.name}-{seed_text}-{standins.USES}",
                       standins.stand_in(volume, STANDIN_REQUESTS, int(seed_text)))


def record_file(name: str, accesses: Sequence[standins.Access]) -> Path:
    """Write requests to a file in the scratch directory."""
    text = scratch() / f"{name}.csv"
    text.write_text(standins.as_csv(accesses))
    path = converted(text, "--keep-time")
    assert path, "the program reads what it writes"
    return path


def converted(path: Path, *options: str) -> Path | None:
    """Return a trace as a record file; nothing, and a word about it, if it is none."""
    out = scratch() / f"{path.stem}{''.join(options)}.aft".replace("/", "-")
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


@functools.cache
def traces() -> dict[str, Path]:
    """Return the real traces, as record files: whatever "approxftl trace convert" reads."""
    files = sorted(path for path in Path(trace_directory()).iterdir() if path.is_file())
    records = {f"trace {path.stem}": path if path.suffix == ".aft" else converted(path)
               for path in files}
    found = {name: path for name, path in records.items() if path}
    if not found:
        sys.exit(f"claims: {trace_directory()} has no trace")
    return found


def volumes() -> dict[str, Path]:
    """Return the streams that claims about traces run on, by a name that says what they are."""
    if trace_directory():
        return traces()
    return {f"synthetic {volume.name}": stand_in_file(volume, seed())
            for volume in standins.VOLUMES}
