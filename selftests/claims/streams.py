# SPDX-License-Identifier: GPL-2.0-only
"""Streams that claims run on and that no study makes: real traces, and bursts."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from selftests.claims.runs import binary

from approxftl_tools import aft, record_writer

#: What is made here, by the names of studies.
OWN = ("cubeftl-write-bursts",)


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


# Light writes that have time for all leaders of both active blocks of cubeFTL's device, then a
# burst that needs two thirds of their followers. In word lines of 48 KiB.
CUBE_DIES, CUBE_LAYERS = 8, 48
LIGHT_WRITES = CUBE_DIES * 2 * CUBE_LAYERS
BURST_WRITES = LIGHT_WRITES * 2
LIGHT_NS, PAUSE_NS = 400_000, 500_000_000
BURSTS = 6
WORD_LINE_SECTORS = 96
WRITE = aft.OPERATIONS.index("write")


@functools.cache
def burst_file() -> Path:
    """Write such a stream; the sequence goes through the device once."""
    gaps = np.tile(np.repeat((LIGHT_NS, 0), (LIGHT_WRITES, BURST_WRITES)), BURSTS)
    gaps[LIGHT_WRITES - 1::LIGHT_WRITES + BURST_WRITES] += PAUSE_NS
    gaps[LIGHT_WRITES + BURST_WRITES - 1::LIGHT_WRITES + BURST_WRITES] += PAUSE_NS
    place = np.arange(len(gaps)) * WORD_LINE_SECTORS
    text = scratch() / "bursts.csv"
    text.write_text("\n".join(record_writer.lines({
        "t_ns": np.cumsum(gaps) - gaps, "off_sect": place,
        "nsect": np.full(len(gaps), WORD_LINE_SECTORS), "op": np.full(len(gaps), WRITE),
        "class": np.zeros(len(gaps), int)})) + "\n")
    path = converted(text, "--keep-time")
    assert path, "the program reads what it writes"
    return path
