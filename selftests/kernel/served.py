#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A volume moves between the target and `approxftl serve`, in both directions."""

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
    finish_test,
    format_volume,
    make_ram_disks,
    require,
    run_command,
    run_point,
    skip_test_point,
    temporary_device,
)

DISK = Path("/dev/ram0")
DISK_KIB = 192 << 10
BYTES = 24 << 20
NAME = "a volume moves between the target and nbdkit"


@contextmanager
def serve_volume() -> Iterator[str]:
    """Context manager: serve the volume by `approxftl serve`; yield the address."""
    with subprocess.Popen([APPROXFTL, "serve", f"--store={DISK}", "timing=off"],
                          stdout=subprocess.PIPE, text=True) as server:
        require(server.stdout, "the server has no output")
        try:
            yield server.stdout.readline().strip() if server.stdout else ""
        finally:
            server.send_signal(signal.SIGTERM)
    require(server.returncode == 0, f"the server ended with {server.returncode}")


def check_volume_moves_between_hosts() -> None:
    """The kernel and `approxftl serve` each read the data that the other one wrote to a volume."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        first, second, read = (Path(scratch, name) for name in ("first", "second", "read"))
        first.write_bytes(os.urandom(BYTES))
        second.write_bytes(os.urandom(BYTES))
        make_ram_disks(1, DISK_KIB)
        format_volume(DISK, SHAPE)
        with serve_volume() as uri:
            run_command("nbdcopy", first, uri)
        with temporary_device("aftl-served", SHAPE, DISK) as path:
            run_command("cmp", "-n", str(BYTES), first, path)
            run_command("dd", f"if={second}", f"of={path}", "bs=1M", "conv=fsync", "status=none")
        with serve_volume() as uri:
            run_command("nbdcopy", uri, read)
        run_command("cmp", "-n", str(BYTES), second, read)


if shutil.which("nbdkit") and Path(APPROXFTL).with_name("nbdkit-approxftl-plugin.so").exists():
    run_point(NAME, check_volume_moves_between_hosts)
else:
    skip_test_point(NAME, "nbdkit and nbdkit-plugin-dev are not installed")
finish_test()
