# SPDX-License-Identifier: GPL-2.0-only
"""Store a picture with approximate pixels, or count its wrong bits: annotated.c in Python."""

import sys
from pathlib import Path

import approxftl

HEADER = b"a header of 4 KiB".ljust(4096, b"\0")
PICTURE = HEADER + bytes((i * i >> 12) & 0xFF for i in range(1 << 20))


def main(path: Path) -> None:
    """Write the picture, or count its wrong bits."""
    if not path.exists():
        with approxftl.open(path, "wb", precise=[(0, len(HEADER))]) as f:
            f.write(PICTURE)
            f.sync()
        return
    with approxftl.open(path, "rb") as f:
        back = f.read()
        flips = (int.from_bytes(back) ^ int.from_bytes(PICTURE)).bit_count()
        state = "intact" if back[:4096] == HEADER else "lost"
        told = f.errors().flipped_bits
    print(f"{flips} bits have flipped, the library says {told}; the header is {state}")


main(Path(sys.argv[1]))
