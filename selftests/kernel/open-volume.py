#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Open and close a volume repeatedly in one process, as standard input directs.

open-volume.py NAME SECTORS

Each input line gets one line of output. An empty line closes the device NAME and prints
"closed". Any other line has the parameters of a table line: it opens the device, audits it
while suspended, and prints "clean" or the error; then the device has to be closed.
"""

import sys
from pathlib import Path

from mapper import CREATE, REMOVE, Mapper


def open_volume(mapper: Mapper, line: bytes) -> str:
    """Create the device; return the result of an audit."""
    mapper.issue_dm_ioctl(CREATE)
    try:
        mapper.load_table(line)
        mapper.suspend_or_resume(suspended=False)
        Path("/dev/mapper", mapper.name).symlink_to(mapper.node)
        mapper.suspend_or_resume(suspended=True)
        said = mapper.send_dm_message(b"audit").decode()
        mapper.suspend_or_resume(suspended=False)
    except OSError as error:
        return f"{line.decode()}: {error}"
    return said


def close_volume(mapper: Mapper) -> str:
    """Remove the device, which must not be in use."""
    Path("/dev/mapper", mapper.name).unlink(missing_ok=True)
    mapper.issue_dm_ioctl(REMOVE)
    return "closed"


def main(name: str, sectors: int) -> None:
    """Answer each request, a line of standard input."""
    mapper = Mapper(name, sectors)
    for line in sys.stdin:
        words = line.encode().strip()
        print(open_volume(mapper, words) if words else close_volume(mapper), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
