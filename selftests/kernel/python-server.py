#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run Python programs in forks of an interpreter that has imported their modules already.

A request on standard input is a sequence of words, each ended by a zero byte: the client's PID,
the number of words of the command, and the command: PROGRAM, -c TEXT or -, with arguments. The
client's descriptors 3, 4 and 5 become the program's 0, 1 and 2. For each request the server
prints the exit status on a line, as a shell counts it.
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

#: Modules that the tests' programs import.
for name in ("argparse", "collections", "csv", "dataclasses", "errno", "fcntl", "json", "mmap",
             "random", "re", "socket", "struct", "subprocess", "tempfile", "threading", "time",
             "typing", "zlib"):
    import_module(name)

PIDFD_GETFD = 438
libc = ctypes.CDLL(None, use_errno=True)


def words() -> Iterator[str]:
    """Yield the words of the requests."""
    rest = b""
    while piece := os.read(0, 1 << 16):
        *whole, rest = (rest + piece).split(b"\0")
        yield from map(os.fsdecode, whole)


def become(client: int) -> None:
    """Take over the client's open files, which share their offsets, and reset signal handlers."""
    process = os.pidfd_open(client)
    for ours in range(3):
        if (theirs := libc.syscall(PIDFD_GETFD, process, ours + 3, 0)) < 0:
            raise OSError(ctypes.get_errno(), f"file {ours + 3} of process {client}")
        os.dup2(theirs, ours)
        os.close(theirs)
    os.close(process)
    # A shell starts background processes with SIGINT and SIGQUIT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]


def wanted() -> tuple[list[str], dict[str, CodeType]]:
    """Serve requests; return the command and the compiled programs in the forked child only."""
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
    """Run a program as if a new interpreter had started it."""
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
