# SPDX-License-Identifier: GPL-2.0-only
"""Servers for the tests of the nbdkit plugin, and clients in nbdsh, which has libnbd."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.programs import BUILD, PROGRAM, Done, run_program

PLUGIN = BUILD / "nbdkit-approxftl-plugin.so"
#: libnbd's module is one of the distribution's Python.
SHELL = ("/usr/bin/python3", "-m", "nbd")

needs_nbdkit = pytest.mark.skipif(not PLUGIN.exists() or not shutil.which("nbdkit"),
                                  reason="nbdkit and nbdkit-plugin-dev are not installed")


class Server:
    """A running `approxftl serve`."""

    def __init__(self, *arguments: str | Path) -> None:
        self.process = subprocess.Popen([PROGRAM, "serve", *arguments], stdout=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout
        self.uri = self.process.stdout.readline().strip()
        assert self.uri, "the server ended without an address"
        self.socket = Path(self.uri.partition("socket=")[2])

    def run_nbdsh(self, script: str) -> str:
        """Run a script with the connection `h` in nbdsh, and return its output."""
        done = run_program(*SHELL, "-u", self.uri, "-c", script)
        assert done.code == 0, done.err
        return done.out

    def run_nbdsh_json(self, script: str) -> Any:
        """Run a script in nbdsh that prints JSON, and return the value."""
        return json.loads(self.run_nbdsh(f"import json\n{script}"))

    @property
    def nbdkit_process_id(self) -> int:
        """The process of nbdkit."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def kill_nbdkit(self) -> None:
        """Kill nbdkit, as a crash does."""
        os.kill(self.nbdkit_process_id, signal.SIGKILL)
        self.process.wait()

    def end_server_by_signal(self, number: int = signal.SIGTERM) -> int:
        """Send a signal to nbdkit, and return its exit status."""
        self.process.send_signal(number)
        return self.process.wait()


@contextmanager
def run_server(*arguments: str | Path) -> Iterator[Server]:
    """Context manager: run an NBD server until the `with` block ends."""
    server = Server(*arguments)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end_server_by_signal()


def run_plugin(*arguments: str) -> Done:
    """Run nbdkit itself, with a command that starts once the device is ready."""
    return run_program("nbdkit", "-U", "-", PLUGIN, *arguments, "--run", "true")
