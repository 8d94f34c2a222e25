#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Open and close a volume as often as one is told to, in one process.

open-volume.py NAME SECTORS

Each line of standard input is answered by one. An empty one closes the device NAME ("closed"). Any
other one is the parameters of a table line, opens it, and has it audited while it is suspended:
"clean", or what is wrong. Either way it is to be closed then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mapper import CREATE, REMOVE, Mapper


def open_volume(mapper: Mapper, line: bytes) -> str:
    """Create the device; return what an audit says."""
    mapper.call(CREATE)
    try:
        mapper.load(line)
        mapper.suspend(suspended=False)
        Path("/dev/mapper", mapper.name).symlink_to(mapper.node)
        mapper.suspend(suspended=True)
        said = mapper.message(b"audit").decode()
        mapper.suspend(suspended=False)
    except OSError as error:
        return f"{line.decode()}: {error}"
    return said


def close_volume(mapper: Mapper) -> str:
    """Remove the device, which must not be in use."""
    Path("/dev/mapper", mapper.name).unlink(missing_ok=True)
    mapper.call(REMOVE)
    return "closed"


def main(name: str, sectors: int) -> None:
    """Answer lines."""
    mapper = Mapper(name, sectors)
    for line in sys.stdin:
        words = line.encode().strip()
        print(open_volume(mapper, words) if words else close_volume(mapper), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
