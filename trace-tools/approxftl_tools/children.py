# SPDX-License-Identifier: GPL-2.0-only
"""Programs that a command runs in threads, and ends when it ends itself."""

from __future__ import annotations

import contextlib
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: In place of the exit status of a program that was not begun.
NOT_BEGUN = 1
#: After a signal, for what a program has to tidy up.
PATIENCE_S = 0.5


@dataclass
class Children:
    """Programs under way."""

    running: set[subprocess.Popen[str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: bool = False

    def run(self, arguments: Sequence[str | Path],
            timeout: float | None = None, memory: int = 0) -> tuple[int, str, str]:
        """Run a program, with so much memory at most: its exit status, and what it printed."""
        with self.lock:
            if self.stopped:
                return NOT_BEGUN, "", "not begun"
            process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape",
                start_new_session=True)
            self.running.add(process)
            if memory:
                resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        finally:
            with self.lock:
                self.running.discard(process)
        return process.returncode, out, err

    def stop(self) -> None:
        """Let no more begin, and end what runs: in order, at once, and if need be by force."""
        with self.lock:
            self.stopped = True
            left = list(self.running)
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(number)
            end = time.monotonic() + PATIENCE_S
            while any(process.poll() is None for process in left) and time.monotonic() < end:
                time.sleep(0.01)
