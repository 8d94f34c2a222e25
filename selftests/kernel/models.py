#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a neural network model, and check the copy that a device returns.

    make MODEL
    planes MADE STORED FOUND MODEL BACK    MADE, STORED, FOUND: JSON answers of "tag model" and
                                           "tag query"; BACK: MODEL as read back
    plain MADE STORED MODEL BACK
    levels MADE STORED MODEL BACK
"""

from __future__ import annotations

import json
import random
import struct
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from applications import expect

Json = dict[str, Any]
NUMBERS = 1 << 17
#: Tensors: name, type, bytes per number.
TENSORS = (("a.weight", "BF16", 2), ("a.codes", "I8", 1), ("a.bias", "F32", 4))
MANTISSA = 7


def read(path: str) -> Json:
    """Return a JSON answer."""
    result: Json = json.loads(Path(path).read_text())
    return result


def make(path: str) -> None:
    """Write a safetensors model of random numbers without a package that may not be installed."""
    entries, data, chance = {}, b"", random.Random(1)
    for name, kind, size in TENSORS:
        shape = [NUMBERS] if name.endswith("bias") else [NUMBERS // 512, 512]
        entries[name] = {"dtype": kind, "shape": shape,
                         "data_offsets": [len(data), len(data) + NUMBERS * size]}
        data += chance.randbytes(NUMBERS * size)
    text = json.dumps(entries).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def differing(one: str, other: str) -> dict[int, int]:
    """Return the offsets at which two files differ, with the differing bits."""
    pairs = zip(Path(one).read_bytes(), Path(other).read_bytes(), strict=True)
    return {at: a ^ b for at, (a, b) in enumerate(pairs) if a != b}


def flips(differ: dict[int, int]) -> int:
    """Count the bits that differ."""
    return sum(bits.bit_count() for bits in differ.values())


def same_units(made: Json, stored: Json) -> None:
    """Require that the device stores as many approximate bytes as "tag model" announced."""
    units = stored["errors"]["approximate_units"] * stored["errors"]["unit_bytes"]
    expect(units == made["approximate_bytes"] > 0,
           f"{units} bytes are approximate, {made['approximate_bytes']} were promised")


def begin_of(path: str) -> int:
    """Return the offset of the data behind the header."""
    length: int = struct.unpack("<Q", Path(path).read_bytes()[:8])[0]
    return 8 + length


def planes(made: Json, stored: Json, found: Json, model: str, back: str) -> None:
    """Check a model stored by bit plane; all planes are full, so each flipped bit hits a number."""
    same_units(made, stored)
    differ = differing(model, back)
    print(f"# {flips(differ)} bits of {made['approximate_bytes']} bytes have flipped")
    expect(flips(differ) == stored["errors"]["flipped_bits"] > 0,
           f"{flips(differ)} bits differ, {stored['errors']['flipped_bits']} are reported")
    data = begin_of(model)
    codes, bias = data + 2 * NUMBERS, data + 3 * NUMBERS
    expect(all(data <= at < bias for at in differ), "what is precise is damaged")
    spared = [at for at, bits in differ.items()
              if bits & (0xF0 if at >= codes else 0xFF if (at - data) % 2 else 1 << MANTISSA)]
    expect(not spared, f"byte {spared[:1]} has lost a bit that is spared")
    expect(not found["unchanged"] and {one["name"] for one in found["changed"]}
           == {"a.weight", "a.codes"}, "what has changed is not told")
    bits = {bit for one in found["changed"] for bit in one["bits"]}
    expect(bits <= set(range(MANTISSA)), f"bits {bits} are said to have changed")


def of_tensors(differ: dict[int, int], model: str) -> list[int]:
    """Count the flipped bits in the header and in each tensor."""
    edges, counts = [0, begin_of(model)], []
    for _name, _kind, size in TENSORS:
        edges.append(edges[-1] + NUMBERS * size)
    for begin, end in pairwise(edges):
        counts.append(flips({at: bits for at, bits in differ.items() if begin <= at < end}))
    return counts


def levels(made: Json, stored: Json, model: str, back: str) -> None:
    """Check a model whose first tensor is of level 3, the second of level 1, the third precise."""
    same_units(made, stored)
    differ = differing(model, back)
    header, most, least, bias = of_tensors(differ, model)
    print(f"# flipped bits: {most} of level 3, {least} of level 1")
    expect(flips(differ) == stored["errors"]["flipped_bits"],
           f"{flips(differ)} bits differ, {stored['errors']['flipped_bits']} are reported")
    expect(header == bias == 0, "what is precise is damaged")
    expect({(one["level"], one["length_bytes"]) for one in made["ranges"]}
           == {(3, 2 * NUMBERS), (1, NUMBERS)}, "the ranges are not those of the tensors")
    expect(most > 100 * (least + 1), "levels do not differ")


def plain(made: Json, stored: Json, model: str, back: str) -> None:
    """Check a model in which only the numbers without an exponent are approximate."""
    same_units(made, stored)
    differ = differing(model, back)
    print(f"# {flips(differ)} bits of {made['approximate_bytes']} bytes have flipped")
    expect(flips(differ) == stored["errors"]["flipped_bits"] > 0,
           f"{flips(differ)} bits differ, {stored['errors']['flipped_bits']} are reported")
    codes = begin_of(model) + 2 * NUMBERS
    expect(all(codes <= at < codes + NUMBERS for at in differ), "what is precise is damaged")


def main() -> None:
    """Run the command that the first argument names."""
    what, *words = sys.argv[1:]
    if what == "make":
        make(words[0])
    elif what == "planes":
        planes(read(words[0]), read(words[1]), read(words[2]), words[3], words[4])
    else:
        {"plain": plain, "levels": levels}[what](read(words[0]), read(words[1]), words[2], words[3])


if __name__ == "__main__":
    main()
