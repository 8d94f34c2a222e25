#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run a command on a pseudoterminal and send it keys and signals as a user would.

    terminal.py KEYS COMMAND...

KEYS are sent one by one, each after two screen updates: a letter is typed, "^C" is Ctrl-C, "^Z" is
Ctrl-Z followed by SIGCONT, and "size" resizes the window to 40 by 12. Prints the command's output
and, last, its exit status and whether the terminal settings are unchanged.
"""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import sys
import termios
import time

HOME = b"\033[H"


def resize(terminal: int, columns: int, rows: int) -> None:
    """Set the window size."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Seen:
    """The output of a command."""

    def __init__(self, terminal: int) -> None:
        self.terminal, self.text = terminal, b""

    def more(self) -> bool:
        """Read more output; return False at the end."""
        try:
            read = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.text += read
        return bool(read)

    def pictures(self, count: int) -> bool:
        """Wait for that many further screen updates; return False at the end."""
        begin = len(self.text)
        while self.text.count(HOME, begin) < count:
            if not self.more():
                return False
        return True


def press(key: str, child: int, terminal: int) -> None:
    """Send a key or resize the window."""
    if key == "size":
        resize(terminal, 40, 12)
    elif key == "^Z":
        os.write(terminal, b"\032")
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise SystemExit("Ctrl-Z has not stopped it")
        time.sleep(0.2)
        os.kill(child, signal.SIGCONT)
    else:
        os.write(terminal, b"\003" if key == "^C" else key.encode())


def main() -> None:
    """Run the command and report."""
    keys, command = sys.argv[1].split(), sys.argv[2:]
    before: list[object] = []
    child, terminal = pty.fork()
    if not child:
        os.execvp(command[0], command)
    resize(terminal, 100, 30)
    before = termios.tcgetattr(terminal)
    seen = Seen(terminal)
    for key in keys:
        if not seen.pictures(2):
            break
        press(key, child, terminal)
    after = termios.tcgetattr(terminal)
    while seen.more():
        after = termios.tcgetattr(terminal)
    _, status = os.waitpid(child, 0)
    sys.stdout.write(seen.text.decode(errors="replace").replace("\r\n", "\n"))
    print(f"\nended {os.waitstatus_to_exitcode(status)}, the terminal "
          f"{'as it was' if after == before else 'changed'}")


if __name__ == "__main__":
    main()
