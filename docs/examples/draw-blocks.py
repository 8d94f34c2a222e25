#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw the blocks of a device that `approxftl sim --dump FILE` has saved.

The format is described in dm-approxftl/core/persist/snapshot.c.
"""

import argparse
import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"AFTLSNAP"
STREAMS = 8
STATES = ("free", "open", "closed", "bad")
ORDERS = ("sequential", "two-pass", "leader-first", "super-layer")
# One letter for each enum aftl_mode; lower case for a page without valid data
MODES = "NRBACFLM"
LEGEND = "N normal, R reduced, B between, A after, C coarse, F fine, L follower, M MLC"


@dataclass
class Page:
    """A flash page: its program mode, and how many of its logical pages are valid."""

    mode: int | None
    valid: int


@dataclass
class Block:
    state: int
    order: int
    kind: int
    flip: int
    erases: int
    pages: list[Page] = field(default_factory=list)

    def count_valid_slots(self) -> int:
        """Return how many logical pages of the block hold current data."""
        return sum(page.valid for page in self.pages)

    def count_programmed_pages(self) -> int:
        """Return how many pages have been programmed since the block was erased."""
        return sum(page.mode is not None for page in self.pages)


class Reader:
    """Read the little-endian numbers of a saved device one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def read_next_bytes(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def read_next_number(self, size: int) -> int:
        return int.from_bytes(self.read_next_bytes(size), "little")


class Device:
    def __init__(self, data: bytes) -> None:
        reader = Reader(data)
        if reader.read_next_bytes(8) != MAGIC or reader.read_next_number(2) != 2:
            raise SystemExit("this is not a snapshot of a device in format 2")
        reader.read_next_bytes(2)
        self.policy = reader.read_next_bytes(16).rstrip(b"\0").decode()
        parameters = reader.read_next_number(4)
        self.parameters = dict(self._read_parameter(reader) for _ in range(parameters))
        self.now_ns, self.age_ns, _ = struct.unpack("<QQQ", reader.read_next_bytes(24))
        reader.read_next_bytes(4 + 8 * STREAMS + 8)
        p = self.parameters
        if p["plane_mode"] == 2:
            raise SystemExit("blocks that are wide over several planes are not drawn")
        self.block_count = p["channels"] * p["chips"] * p["dies"] * p["planes"] * p["blocks"]
        self.row_pages = p["word_lines"] * p["bits"]
        self.block_pages = p["layers"] * self.row_pages
        self.page_units = p["page"] // (p["unit"] or p["page"])
        self.blocks = [self._read_block(reader) for _ in range(self.block_count)]

    @staticmethod
    def _read_parameter(reader: Reader) -> tuple[str, int]:
        key = reader.read_next_bytes(reader.read_next_number(1)).decode()
        return key, reader.read_next_number(8)

    def _read_block(self, reader: Reader) -> Block:
        state, order, kind, flags = reader.read_next_bytes(4)
        reader.read_next_bytes(2)
        programmed, _, erases, _, _, _, _ = struct.unpack("<IIIIIIQ", reader.read_next_bytes(32))
        block = Block(state, order, kind, flags & 1, erases)
        if programmed:
            block.pages = [self._read_page(reader) for _ in range(self.block_pages)]
        return block

    def _read_page(self, reader: Reader) -> Page:
        attr = reader.read_next_number(1)
        reader.read_next_bytes(2)
        valid = 0
        for _ in range(self.page_units):
            valid += reader.read_next_number(1)
            reader.read_next_bytes(8 if self.parameters["errors"] else 4)
        return Page(attr >> 3 & 7 if attr & 1 else None, valid)


def choose_page_symbol(page: Page) -> str:
    """Return the character that stands for a page in the drawing."""
    if page.mode is None:
        return "."
    return MODES[page.mode] if page.valid else MODES[page.mode].lower()


def format_block_heading(device: Device, number: int, block: Block) -> str:
    """Return the heading of a printed block."""
    slots = device.block_pages * device.page_units
    return (
        f"block {number}: {STATES[block.state]}, {ORDERS[block.order]}, kind {block.kind}, "
        f"flip {block.flip}, {block.erases} erases, "
        f"{block.count_programmed_pages()} of {device.block_pages} pages written, "
        f"{block.count_valid_slots()} of {slots} slots valid"
    )


def print_block(device: Device, number: int) -> None:
    """Print one block, a layer in each row."""
    block = device.blocks[number]
    print(format_block_heading(device, number, block))
    for start in range(0, len(block.pages), device.row_pages):
        row = block.pages[start : start + device.row_pages]
        print("  " + " ".join(choose_page_symbol(page) for page in row))


def main() -> None:
    """Draw or list the blocks of the saved device that the command line names."""
    parser = argparse.ArgumentParser(description="Draw the blocks of a saved device.")
    parser.add_argument("file", type=Path, help="what approxftl sim --dump has written")
    parser.add_argument("--list", action="store_true", help="one line for each written block")
    parser.add_argument("--limit", type=int, default=8, metavar="N", help="at most N blocks")
    parser.add_argument(
        "--emptiest", action="store_true", help="closed blocks, fewest valid slots first"
    )
    options = parser.parse_args()
    device = Device(options.file.read_bytes())
    numbers = [n for n, block in enumerate(device.blocks) if block.pages]
    if options.emptiest:
        numbers = [n for n in numbers if STATES[device.blocks[n].state] == "closed"]
        numbers.sort(key=lambda n: device.blocks[n].count_valid_slots())
    print(f"{device.policy}: {len(numbers)} blocks; {LEGEND}")
    for number in numbers[: options.limit]:
        if options.list:
            print(format_block_heading(device, number, device.blocks[number]))
        else:
            print_block(device, number)


if __name__ == "__main__":
    main()
