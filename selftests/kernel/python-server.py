#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs in a Python that has started and has imported what they need, each in its own process.

Words of standard input ask for them, each ended by a zero byte: PID, how many words
the command has, and the command: PROGRAM, -c TEXT or -, and arguments. Files 3, 4
and 5 of process PID are its 0, 1 and 2. A line of standard output tells how it ended, as a shell
does.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType

#: What programs here import.
for name in ("argparse", "collections", "csv", "dataclasses", "errno", "fcntl", "json", "mmap",
             "random", "re", "socket", "struct", "subprocess", "tempfile", "threading", "time",
             "typing", "zlib"):
    import_module(name)

PIDFD_GETFD = 438
libc = ctypes.CDLL(None, use_errno=True)


def words() -> Iterator[str]:
    """Yield what is asked."""
    rest = b""
    while piece := os.read(0, 1 << 16):
        *whole, rest = (rest + piece).split(b"\0")
        yield from map(os.fsdecode, whole)


def become(client: int) -> None:
    """Have the files of who asks, the very same with their offsets, and its signals."""
    process = os.pidfd_open(client)
    for ours in range(3):
        if (theirs := libc.syscall(PIDFD_GETFD, process, ours + 3, 0)) < 0:
            raise OSError(ctypes.get_errno(), f"file {ours + 3} of process {client}")
        os.dup2(theirs, ours)
        os.close(theirs)
    os.close(process)
    # A shell has those of what it starts in the background ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]


def wanted() -> tuple[list[str], dict[str, CodeType]]:
    """Return what to run, with programs that are compiled, in a process of its own for each."""
    compiled: dict[str, CodeType] = {}
    asked = words()
    for client in asked:
        command = [next(asked) for _ in range(int(next(asked)))]
        program = command[0]
        if not program.startswith("-") and program not in compiled and Path(program).is_file():
            compiled[program] = compile(Path(program).read_bytes(), program, "exec")
        child = os.fork()
        if not child:
            become(int(client))
            return command, compiled
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, b"%d\n" % (code if code >= 0 else 128 - code))
    sys.exit()


def main() -> None:
    """Run one program as if Python had been started for it."""
    gc.freeze()
    command, compiled = wanted()
    match command:
        case ["-c", text, *_]:
            code = compile(text, "<string>", "exec")
            del command[1]
        case ["-", *_]:
            code = compile(sys.stdin.read(), "<stdin>", "exec")
        case [program, *_]:
            code = compiled.get(program) or compile(Path(program).read_bytes(), program, "exec")
    sys.argv = command
    sys.path[0] = "" if command[0].startswith("-") else str(Path(command[0]).parent)
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__file__ = command[0]
    exec(code, module.__dict__)


if __name__ == "__main__":
    main()
