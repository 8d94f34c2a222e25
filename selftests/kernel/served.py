#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A volume moves between the target and `approxftl serve`, in both directions."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ktap import (
    APPROXFTL,
    SHAPE,
    device,
    finish,
    format_volume,
    must,
    point,
    ram_disks,
    run,
    skip,
)

DISK = Path("/dev/ram0")
DISK_KIB = 192 << 10
BYTES = 24 << 20
NAME = "a volume moves between the target and nbdkit"


@contextmanager
def serving() -> Iterator[str]:
    """Serve the volume until the end of a block, and yield the address."""
    with subprocess.Popen([APPROXFTL, "serve", f"--store={DISK}", "timing=off"],
                          stdout=subprocess.PIPE, text=True) as server:
        must(server.stdout, "the server has no output")
        try:
            yield server.stdout.readline().strip() if server.stdout else ""
        finally:
            server.send_signal(signal.SIGTERM)
    must(server.returncode == 0, f"the server ended with {server.returncode}")


def volume_moves() -> None:
    """Write by one and read by the other, both ways."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        first, second, read = (Path(scratch, name) for name in ("first", "second", "read"))
        first.write_bytes(os.urandom(BYTES))
        second.write_bytes(os.urandom(BYTES))
        ram_disks(1, DISK_KIB)
        format_volume(DISK, SHAPE)
        with serving() as uri:
            run("nbdcopy", first, uri)
        with device("aftl-served", SHAPE, DISK) as path:
            run("cmp", "-n", str(BYTES), first, path)
            run("dd", f"if={second}", f"of={path}", "bs=1M", "conv=fsync", "status=none")
        with serving() as uri:
            run("nbdcopy", uri, read)
        run("cmp", "-n", str(BYTES), second, read)


if shutil.which("nbdkit") and Path(APPROXFTL).with_name("nbdkit-approxftl-plugin.so").exists():
    point(NAME, volume_moves)
else:
    skip(NAME, "nbdkit and nbdkit-plugin-dev are not installed")
finish()
