# SPDX-License-Identifier: GPL-2.0-only
"""Wait for the state of other processes; fixed waiting times would fail on a busy machine."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def await_true(what: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until `what()` is true; fail when the process that has to cause it has ended.

    There is no deadline: the runner ends a test that neither prints nor uses the processor.
    """
    while not what():
        if process and process.poll() is not None:
            assert what(), f"the process ended with status {process.returncode}"
            return
        time.sleep(0.02)


def is_signal_in_mask(pid: int, mask: str, number: int) -> bool:
    """Return whether a signal is in a mask of /proc/PID/status; false if the process is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    found = re.search(rf"^{mask}:\t([0-9a-f]+)$", status, re.M)
    return bool(found and int(found[1], 16) >> number - 1 & 1)


def has_signal_handler(pid: int, number: int) -> bool:
    """Return whether a process has a handler for a signal, which would kill it otherwise."""
    return is_signal_in_mask(pid, "SigCgt", number)


def has_taken_signal(pid: int, number: int) -> bool:
    """Return whether a process has taken a signal, so that a second one does not merge with it."""
    return not is_signal_in_mask(pid, "ShdPnd", number) and not is_signal_in_mask(pid, "SigPnd",
                                                                                  number)


def read_user_time_s(pid: int) -> float:
    """Return the user time of a process in seconds."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(words[11]) / os.sysconf("SC_CLK_TCK")
