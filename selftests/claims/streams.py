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
    """Return where studies find streams by their names, as long as this program lives."""
    directory = tempfile.mkdtemp(prefix="claims-")
    atexit.register(shutil.rmtree, directory)
    return Path(directory)


@functools.cache
def stand_in_file(volume: standins.Volume, seed_text: str) -> Path:
    """Write the stand-in of a volume."""
    return record_file(volume.name, standins.stand_in(volume, STANDIN_REQUESTS, int(seed_text)))


def record_file(name: str, accesses: Sequence[standins.Access]) -> Path:
    """Write requests to a file for studies."""
    text = scratch() / f"{name}.csv"
    text.write_text(standins.as_csv(accesses))
    path = converted(text, "--keep-time")
    assert path, "the program reads what it writes"
    return path


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


def volumes() -> dict[str, Path]:
    """Return the streams that claims about traces run on, by a name that says what they are."""
    if trace_directory():
        return traces()
    return {f"synthetic {volume.name}": stand_in_file(volume, seed())
            for volume in standins.VOLUMES}


# Light writes that have time for all leaders of both active blocks of cubeFTL's device, then a
# burst that needs two thirds of their followers. In word lines of 48 KiB.
CUBE_DIES, CUBE_LAYERS = 8, 48
LIGHT_WRITES = CUBE_DIES * 2 * CUBE_LAYERS
BURST_WRITES = LIGHT_WRITES * 2
LIGHT_NS, PAUSE_NS = 400_000, 500_000_000
BURSTS = 6


@functools.cache
def burst_file() -> Path:
    """Write such a stream; the sequence goes through the device once."""
    stream_: list[standins.Access] = []
    t_ns = 0
    for _ in range(BURSTS):
        for gap, count in ((LIGHT_NS, LIGHT_WRITES), (0, BURST_WRITES)):
            for _ in range(count):
                stream_.append(standins.Access(t_ns, 6 * len(stream_), 6, True))
                t_ns += gap
            t_ns += PAUSE_NS
    return record_file("bursts", stream_)
