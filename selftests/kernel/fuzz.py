#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Table lines and messages that are nearly right, seeded.

fuzz.py lines|messages NUMBER: each is refused with an error code of the target's, or accepted and
then means the same when it is read back. Prints what it did; the kernel's log is for the caller.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import struct
import sys
from collections import Counter

NAME = "aftl-fuzz"
SECTORS = 20480
SEED = 2018

# linux/dm-ioctl.h
HEADER = struct.Struct("=3I I I I i I I I Q 128s 129s 7s")
SPEC = struct.Struct("=Q Q i I 16s")
VERSION = (4, 0, 0)
CREATE, REMOVE, SUSPEND, LOAD, TABLE, MESSAGE = 3, 4, 6, 9, 12, 14
SUSPEND_FLAG, STATUS_TABLE_FLAG = 1 << 1, 1 << 4
ROOM = 16384

LINES = (
    "ram 4 timing off op 30",
    "none 8 profile micro19 policy cubeftl timing off blocks 64",
    "ram 12 profile demo policy approxftl timing scale:3 tag_all approximate rber 1e-6 seed 7",
    "ram 14 blocks 64 word_lines 8 op 30 buffer 1MiB gc 12 wear_gap 50 refresh 30d",
    "none 12 page 4KiB unit 4KiB fill sequential age 90d cell_model voltage rber 2.5e-8",
)
MESSAGES = (
    "stats", "reset", "age 30d", "block 3", "fail 5", "digest", "audit", "gc", "policy hot 1",
)
WORDS = (
    "", "0", "1", "-1", "7", "63", "4294967295", "4294967296", "18446744073709551615",
    "18446744073709551616", "1e-5", "1e-999", "0x10", "99.999", "100", "3.5ms", "1KiB", "1EiB",
    "off", "on", "real", "scale:0", "ram", "none", "op", "blocks", "policy", "%s%n",
    "\u00fc", "x" * 300,
)
# What a constructor, a message or device-mapper itself may answer.
ALLOWED = {errno.EINVAL, errno.ENOMEM, errno.EBUSY, errno.ENXIO, errno.ENOENT, errno.ENOSPC,
           errno.ERANGE, errno.EOPNOTSUPP}


class Mapper:
    """Device-mapper's control device."""

    def __init__(self) -> None:
        self.control = os.open("/dev/mapper/control", os.O_RDWR)

    def call(self, command: int, payload: bytes = b"", flags: int = 0, targets: int = 0) -> bytes:
        """Do one; return what follows the header."""
        header = HEADER.pack(*VERSION, ROOM, HEADER.size, targets, 0, flags, 0, 0, 0,
                             NAME.encode(), b"", b"")
        data = bytearray((header + payload).ljust(ROOM, b"\0"))
        fcntl.ioctl(self.control, 3 << 30 | HEADER.size << 16 | 0xFD << 8 | command, data)
        return bytes(data[HEADER.size :])

    def load(self, line: bytes, target: bytes = b"approxftl") -> None:
        """Load a table of one line."""
        size = SPEC.size + len(line) + 1
        spec = SPEC.pack(0, SECTORS, 0, size + -size % 8, target)
        self.call(LOAD, spec + line + b"\0", targets=1)

    def table(self) -> bytes:
        """Return the parameters of the live table."""
        return self.call(TABLE, flags=STATUS_TABLE_FLAG)[SPEC.size :].split(b"\0", 1)[0]

    def message(self, text: bytes) -> None:
        """Send a message to sector 0."""
        self.call(MESSAGE, struct.pack("=Q", 0) + text + b"\0")

    def suspend(self, *, suspended: bool) -> None:
        """Suspend or resume."""
        self.call(SUSPEND, flags=SUSPEND_FLAG if suspended else 0)


def mutate(draw: random.Random, text: str, *, counted: bool) -> bytes:
    """Change a few words, or bytes; the second word mostly says how many follow it."""
    words = text.split()
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        at = draw.randrange(len(words))
        kind = draw.randrange(5)
        if kind == 0:
            words[at] = draw.choice(WORDS)
        elif kind == 1:
            words.insert(at, draw.choice(WORDS))
        elif kind == 2 and len(words) > 1:
            del words[at]
        elif kind == 3:
            words.append(words[at])
        else:
            other = draw.randrange(len(words))
            words[at], words[other] = words[other], words[at]
    if counted and len(words) > 1 and draw.random() < 0.9:
        words[1] = str(len(words) - 2)
    line = bytearray(" ".join(words).encode())
    if line and draw.random() < 0.2:
        line[draw.randrange(len(line))] = draw.randrange(1, 256)
    return bytes(line)


def answer(error: OSError, text: bytes) -> str:
    """Return the name of an allowed error; anything else ends the test."""
    if error.errno not in ALLOWED:
        raise SystemExit(f"# {text!r}: {error}")
    return errno.errorcode[error.errno]


def try_line(mapper: Mapper, line: bytes) -> str:
    """Load it; what is accepted must print as a line that prints as itself."""
    mapper.call(CREATE)
    try:
        mapper.load(line)
        mapper.suspend(suspended=False)
        printed = mapper.table()
        mapper.load(printed)
        mapper.suspend(suspended=True)
        mapper.suspend(suspended=False)
        if mapper.table() != printed:
            raise SystemExit(f"# {line!r}: {printed!r} became {mapper.table()!r}")
    except OSError as error:
        return answer(error, line)
    finally:
        mapper.call(REMOVE)
    return "accepted"


def fuzz_lines(mapper: Mapper, draw: random.Random, number: int) -> Counter[str]:
    """Load mutated lines."""
    for line in LINES:
        if try_line(mapper, line.encode()) != "accepted":
            raise SystemExit(f"# {line!r} is not right")
    lines = (mutate(draw, draw.choice(LINES), counted=True) for _ in range(number))
    return Counter(try_line(mapper, line) for line in lines)


def try_message(mapper: Mapper, text: bytes) -> str:
    """Send it."""
    try:
        mapper.message(text)
    except OSError as error:
        return answer(error, text)
    return "accepted"


def fuzz_messages(mapper: Mapper, draw: random.Random, number: int) -> Counter[str]:
    """Send mutated messages to a device, suspended now and then."""
    said: Counter[str] = Counter()
    mapper.call(CREATE)
    mapper.load(LINES[3].encode())
    for count in range(number):
        if count % 50 == 0:
            mapper.suspend(suspended=count % 100 == 50)
        text = mutate(draw, draw.choice(MESSAGES), counted=False)
        said[try_message(mapper, text)] += 1
    mapper.call(REMOVE)
    return said


def main(what: str, number: int) -> None:
    """Entry point."""
    fuzz = fuzz_lines if what == "lines" else fuzz_messages
    draw = random.Random(f"{SEED} {os.environ.get('AFTL_TURN', '')}")
    said = fuzz(Mapper(), draw, number)
    print(f"# {number} {what}:", ", ".join(f"{word} {count}" for word, count in said.most_common()))
    if said["accepted"] * 20 < number or said["accepted"] * 20 > number * 19:
        raise SystemExit("# they are not nearly right")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
