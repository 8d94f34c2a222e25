#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel uses what `approxftl serve` serves: a volume moves to the target and back, and the
kernel's NBD client mounts a file system.
"""

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
    EXT4,
    SHAPE,
    finish_test,
    format_volume,
    make_ram_disks,
    require,
    run_check,
    run_command,
    skip_test_point,
    temporary_device,
)

DISK = Path("/dev/ram0")
DISK_KIB = 192 << 10
BYTES = 24 << 20
NAME = "a volume moves between the target and nbdkit"
CLIENT = "a file system on the kernel's NBD client is mounted again"


@contextmanager
def run_store_server(store: str | Path, *options: str) -> Iterator[str]:
    """Context manager: serve a volume or memory by `approxftl serve`; yield the address."""
    with subprocess.Popen([APPROXFTL, "serve", f"--store={store}", "timing=off", *options],
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
        with run_store_server(DISK) as uri:
            run_command("nbdcopy", first, uri)
        with temporary_device("aftl-served", SHAPE, DISK) as path:
            run_command("cmp", "-n", str(BYTES), first, path)
            run_command("dd", f"if={second}", f"of={path}", "bs=1M", "conv=fsync", "status=none")
        with run_store_server(DISK) as uri:
            run_command("nbdcopy", uri, read)
        run_command("cmp", "-n", str(BYTES), second, read)


def check_file_system_on_nbd_client() -> None:
    """The NBD client of the kernel reads the files that it wrote before it connected again."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        content, mounted = Path(scratch, "content"), Path(scratch, "mounted")
        content.write_bytes(os.urandom(BYTES))
        mounted.mkdir()
        with run_store_server("ram", "--size=64MiB") as uri:
            for steps in ((EXT4.split(), ("cp", content, mounted)),
                          (("e2fsck", "-fn"), ("cmp", content, mounted / "content"))):
                run_command("nbd-client", "-unix", uri.partition("socket=")[2], "/dev/nbd0")
                run_command(*steps[0], "/dev/nbd0")
                run_command("mount", "/dev/nbd0", mounted)
                run_command(*steps[1])
                run_command("umount", mounted)
                run_command("nbd-client", "-d", "/dev/nbd0")


if shutil.which("nbdkit") and Path(APPROXFTL).with_name("nbdkit-approxftl-plugin.so").exists():
    run_check(NAME, check_volume_moves_between_hosts)
    if not shutil.which("nbd-client"):
        skip_test_point(CLIENT, "nbd-client is not installed")
    elif subprocess.run(["modprobe", "--quiet", "nbd"], check=False).returncode:
        skip_test_point(CLIENT, "this kernel has no module nbd")
    else:
        run_check(CLIENT, check_file_system_on_nbd_client)
else:
    skip_test_point(NAME, "nbdkit and nbdkit-plugin-dev are not installed")
finish_test()
