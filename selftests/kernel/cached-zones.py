# SPDX-License-Identifier: GPL-2.0-only
"""Whether the states of zones that Linux keeps since 6.19 are those that the device reports."""

import fcntl
import os
import struct
import sys

BLKREPORTZONEV2 = 0xC010128E
CACHED = 1 << 31
ACTIVE = 0xFF
HEADER = struct.Struct("=QII")
ZONE = struct.Struct("=QQQBB22xQ16x")
CONDITION = 4
OPEN_OR_CLOSED = {2, 3, 4}
COUNT = 64


def report(device: int, flags: int) -> list[int]:
    """The state of each zone; the cache knows one word for all that are open or closed."""
    place = bytearray(HEADER.size + COUNT * ZONE.size)
    HEADER.pack_into(place, 0, 0, COUNT, flags)
    fcntl.ioctl(device, BLKREPORTZONEV2, place)
    zones = HEADER.unpack_from(place)[1]
    states = (ZONE.unpack_from(place, HEADER.size + i * ZONE.size)[CONDITION] for i in range(zones))
    return [ACTIVE if state in OPEN_OR_CLOSED else state for state in states]


def main() -> None:
    """Compare them."""
    device = os.open(sys.argv[1], os.O_RDONLY)
    cached, reported = report(device, CACHED), report(device, 0)
    if cached != reported or not reported:
        sys.exit(f"cached {cached}, reported {reported}")


main()
