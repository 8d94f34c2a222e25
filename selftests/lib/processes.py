# SPDX-License-Identifier: GPL-2.0-only
"""The state of other processes: tests wait for it, since time says nothing on a busy machine."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def until(what: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until `what()` is true; fail when the process that has to cause it has ended.

    There is no deadline: the runner ends a test that neither prints nor uses the processor.
    """
    while not what():
        if process and process.poll() is not None:
            assert what(), f"the process ended with status {process.returncode}"
            return
        time.sleep(0.02)


def in_mask(pid: int, mask: str, number: int) -> bool:
    """Return whether a signal is in a mask of /proc/PID/status; of what is no more, in none."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    found = re.search(rf"^{mask}:\t([0-9a-f]+)$", status, re.M)
    return bool(found and int(found[1], 16) >> number - 1 & 1)


def catches(pid: int, number: int) -> bool:
    """Return whether it has a handler for a signal; before that it dies of it."""
    return in_mask(pid, "SigCgt", number)


def has_taken(pid: int, number: int) -> bool:
    """Return whether no such signal waits for it: a second one would be the same as the first."""
    return not in_mask(pid, "ShdPnd", number) and not in_mask(pid, "SigPnd", number)


def worked(pid: int) -> float:
    """Return seconds of a processor that it has had in its own code."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(words[11]) / os.sysconf("SC_CLK_TCK")
