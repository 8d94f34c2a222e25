# SPDX-License-Identifier: GPL-2.0-only
"""Test a served device as the drive of a virtual machine with a file system."""

import shutil
from pathlib import Path

import pytest
from selftests.lib.programs import PROGRAM, run_program
from selftests.nbdkit.support import needs_nbdkit, run_server

pytestmark = [
    pytest.mark.long, needs_nbdkit,
    pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="QEMU is not installed")]

IN_GUEST = """
set -e
disk=/dev/nvme0n1
modprobe -a ext4 2>/dev/null || true
mkfs.ext4 -q $disk
mkdir /tmp/on
mount -o discard $disk /tmp/on
head -c 6000000 /dev/urandom >/tmp/on/kept
head -c 6000000 /dev/urandom >/tmp/on/deleted
sync
rm /tmp/on/deleted
umount /tmp/on
e2fsck -fn $disk
mount $disk /tmp/on
sha256sum </tmp/on/kept
umount /tmp/on
"""


def run_command_in_guest(address: str, command: str) -> str:
    done = run_program(PROGRAM, "lab", "--real-time", "--no-module", "--disk", address, "--cmd",
                       command)
    assert done.code == 0, done.out + done.err
    return done.out


def find_last_checksum_line(text: str) -> str:
    return next(line for line in reversed(text.splitlines()) if line.endswith("  -"))


def test_files_in_a_guest_survive_restarts_of_server_and_guest(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    with run_server("--store", volume, "--size", "48MiB", "timing=real") as server:
        written = find_last_checksum_line(run_command_in_guest(server.uri, IN_GUEST))
    assert run_program(PROGRAM, "check", volume).code == 0
    with run_server("--store", volume, "timing=off") as server:
        read = run_command_in_guest(server.uri, "mkdir /tmp/on; mount -o ro /dev/nvme0n1 /tmp/on "
                                    "&& sha256sum </tmp/on/kept")
    assert find_last_checksum_line(read) == written
