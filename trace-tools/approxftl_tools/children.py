# SPDX-License-Identifier: GPL-2.0-only
"""Run child processes from threads, and end them when the command ends."""

import contextlib
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Exit status of a program that was not started.
NOT_BEGUN = 1
#: Seconds that a program has to tidy up after a signal.
PATIENCE_S = 0.5


@dataclass
class Children:
    """The child processes that a command runs."""

    running: set[subprocess.Popen[str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: bool = False

    def run_program(self, arguments: Sequence[str | Path],
                    timeout: float | None = None, memory: int = 0) -> tuple[int, str, str]:
        """Run a program with a memory limit in bytes; return its exit status, stdout and stderr."""
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

    def stop_child_programs(self) -> None:
        """Start no more programs and end the running programs: two SIGTERMs, then SIGKILL."""
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
