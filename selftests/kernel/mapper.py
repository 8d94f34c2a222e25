# SPDX-License-Identifier: GPL-2.0-only
"""Access to device-mapper's control device without libdevmapper, which would reject bad input."""

import fcntl
import os
import struct

# linux/dm-ioctl.h
HEADER = struct.Struct("=3I I I I i I I I Q 128s 129s 7s")
SPEC = struct.Struct("=Q Q i I 16s")
DEVICE = 10  # index of dev in HEADER
VERSION = (4, 0, 0)
CREATE, REMOVE, SUSPEND, LOAD, TABLE, MESSAGE = 3, 4, 6, 9, 12, 14
SUSPEND_FLAG, STATUS_TABLE_FLAG = 1 << 1, 1 << 4
ROOM = 16384


class Mapper:
    """A device-mapper device with a name and a size, driven by ioctls."""

    def __init__(self, name: str = "aftl-fuzz", sectors: int = 20480) -> None:
        self.control = os.open("/dev/mapper/control", os.O_RDWR)
        self.name = name
        self.sectors = sectors
        self.node = ""  # the device's path, for open()

    def issue_dm_ioctl(self, command: int, payload: bytes = b"", flags: int = 0,
                       targets: int = 0) -> bytes:
        """Issue an ioctl of device-mapper; return the bytes after the header."""
        header = HEADER.pack(*VERSION, ROOM, HEADER.size, targets, 0, flags, 0, 0, 0,
                             self.name.encode(), b"", b"")
        data = bytearray((header + payload).ljust(ROOM, b"\0"))
        fcntl.ioctl(self.control, 3 << 30 | HEADER.size << 16 | 0xFD << 8 | command, data)
        self.node = f"/dev/dm-{os.minor(HEADER.unpack_from(data)[DEVICE])}"
        return bytes(data[HEADER.size :])

    def load_table(self, line: bytes, target: bytes = b"approxftl") -> None:
        size = SPEC.size + len(line) + 1
        spec = SPEC.pack(0, self.sectors, 0, size + -size % 8, target)
        self.issue_dm_ioctl(LOAD, spec + line + b"\0", targets=1)

    def read_live_table(self) -> bytes:
        return self.issue_dm_ioctl(TABLE, flags=STATUS_TABLE_FLAG)[SPEC.size :].split(b"\0", 1)[0]

    def send_dm_message(self, text: bytes) -> bytes:
        """Send a message to sector 0 of the device; return the answer, which may be empty."""
        payload = struct.pack("=Q", 0) + text + b"\0"
        return self.issue_dm_ioctl(MESSAGE, payload).split(b"\0", 1)[0].rstrip()

    def suspend_or_resume(self, *, suspended: bool) -> None:
        """Suspend or resume the device."""
        self.issue_dm_ioctl(SUSPEND, flags=SUSPEND_FLAG if suspended else 0)
