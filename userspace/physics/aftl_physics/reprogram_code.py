# SPDX-License-Identifier: GPL-2.0-only
"""ReSSD's cell encodings (section 3.2, Fig 3, Table 1), derived by enumeration.

A word line is programmed with two bits per cell and may then be reprogrammed twice; each time one
bit of every cell gets a new value. States only move up. Values are MSB << 1 | LSB, states ER = 0
and P1..P7 = 1..7. An encoding maps each value to its state.

Rule (derived; it reproduces every value the paper shows): a value keeps its state if no cell would
have to move down. The other values take the lowest window of four adjacent states that lets all
cells move up and is a Gray code.
"""

import itertools
from enum import IntEnum
from typing import NamedTuple

Encoding = tuple[int, int, int, int]

LSB = 0
MSB = 1
VALUES = 4
STATES = 8
#: Initial MLC-mode program: ER=11, P1=01, P2=00, P3=10 (Fig 3; stated).
INITIAL: Encoding = (2, 1, 3, 0)


class Code(IntEnum):
    """Orders in which a cell's bits were updated (L = LSB, M = MSB), each with its encoding."""

    INITIAL = 0
    L = 1
    M = 2
    LL = 3
    LM = 4
    ML = 5
    MM = 6


#: Code reached from a code by updating the LSB or the MSB.
NEXT: dict[Code, tuple[Code, Code]] = {
    Code.INITIAL: (Code.L, Code.M),
    Code.L: (Code.LL, Code.LM),
    Code.M: (Code.ML, Code.MM),
}


def replace_bit_of_value(value: int, bit: int, new: int) -> int:
    """Return the two-bit `value` with one of its bits replaced."""
    return value & ~(1 << bit) | new << bit


def highest_state_before_bit_update(old: Encoding, bit: int, target: int) -> int:
    """Return the highest state from which a cell gets the value `target` when `bit` is updated."""
    return max(old[source] for source in (target, target ^ 1 << bit))


def values_by_voltage_state(code: Encoding) -> list[int]:
    """Return the two-bit values of a cell encoding in the order of their voltage states."""
    return sorted(range(VALUES), key=lambda value: code[value])


def is_gray_code(code: Encoding) -> bool:
    """Tell whether adjacent states differ in one bit, so that a misread state is one wrong bit."""
    values = values_by_voltage_state(code)
    return all((a ^ b).bit_count() == 1 for a, b in itertools.pairwise(values))


def _is_legal_bit_update(old: Encoding, new: Encoding, bit: int) -> bool:
    for value in range(VALUES):
        limit = highest_state_before_bit_update(old, bit, value)
        keeps = old[value] >= limit
        if new[value] < limit or (keeps and new[value] != old[value]):
            return False
    return is_gray_code(new)


def updated_encoding(old: Encoding, bit: int) -> Encoding:
    """Return the encoding after an update of `bit`; raise ValueError if it is not unique."""
    for start in range(STATES - VALUES + 1):
        window = range(start, start + VALUES)
        choices = [(a, b, c, d) for a, b, c, d in itertools.permutations(window, VALUES)]
        found = [choice for choice in choices if _is_legal_bit_update(old, choice, bit)]
        if len(found) > 1:
            raise ValueError(f"rule is ambiguous after {old}: {found}")
        if found:
            return found[0]
    raise ValueError(f"no encoding after {old}")


def encodings_by_update_order() -> dict[Code, Encoding]:
    """Return all seven encodings of ReSSD."""
    codes = {Code.INITIAL: INITIAL}
    for code, following in NEXT.items():
        for bit in (LSB, MSB):
            codes[following[bit]] = updated_encoding(codes[code], bit)
    return codes


def reprogram_count(code: Code) -> int:
    """Return ReSSD's RPCnt: how often the word line was reprogrammed."""
    return 0 if code == Code.INITIAL else 1 if code in (Code.L, Code.M) else 2


def id_of_encoding_state_range(code: Code) -> int:
    """Return the ID of an encoding's states: 0 for ER-P3 and for P1-P4, 1 for P2-P5, up to 3."""
    return max(0, min(encodings_by_update_order()[code]) - 1)


def encodings_by_count_and_id() -> dict[tuple[int, int], Code]:
    """Return the encodings by reprogram count and ID; update orders LM and ML share an encoding."""
    codes = encodings_by_update_order()
    table: dict[tuple[int, int], Code] = {}
    for code in Code:
        key = (reprogram_count(code), id_of_encoding_state_range(code))
        known = table.setdefault(key, code)
        if codes[known] != codes[code]:
            raise ValueError(f"RPCnt and ID {key} do not identify the encoding")
    return table


def read_references_per_page(code: Encoding) -> tuple[int, int]:
    """Return the number of read references that reads of the LSB and of the MSB page need."""
    pairs = list(itertools.pairwise(values_by_voltage_state(code)))
    counts = [sum((a ^ b) >> bit & 1 for a, b in pairs) for bit in (LSB, MSB)]
    return counts[0], counts[1]


class Path(NamedTuple):
    """The states that a cell goes through from erase to erase."""

    states: tuple[int, int, int]
    codes: tuple[Code, Code, Code]


def all_state_sequences_of_cell() -> list[Path]:
    """Return all 4 x (2 bits x 2 values) x (2 bits x 2 values) = 64 sequences of cell states."""
    codes = encodings_by_update_order()
    result = []
    choices = list(itertools.product((LSB, MSB), (0, 1)))
    for value, (bit1, new1), (bit2, new2) in itertools.product(range(VALUES), choices, choices):
        first = NEXT[Code.INITIAL][bit1]
        second = NEXT[first][bit2]
        value1 = replace_bit_of_value(value, bit1, new1)
        value2 = replace_bit_of_value(value1, bit2, new2)
        states = (INITIAL[value], codes[first][value1], codes[second][value2])
        result.append(Path(states, (Code.INITIAL, first, second)))
    return result


#: ReSSD's device (Table 4; stated).
PLANES = 4 * 4 * 2 * 2
BLOCKS_PER_PLANE = 1536
WORD_LINES_PER_BLOCK = 128
HOT_LEVELS = 3
#: Bits of a block and of a word-line pointer, and of a word line's status (4.4.1, 3.2).
BLOCK_POINTER_BITS = 11
WORD_LINE_POINTER_BITS = 7
WORD_LINE_STATUS_BITS = 6
TIMESTAMP_BITS = 32
BLOCK_TAG_BITS = 3
#: Times of Table 4 and section 7.2.7, in ns.
TLC_PROGRAM_NS = 3_000_000
TLC_READ_NS = 66_000
INITIAL_PROGRAM_NS = 2_675_000
REPROGRAM_NS = 2_705_000
REPROGRAM_READ_NS = 53_000
ERASE_NS = 10_000_000


def ressd_metadata_bytes() -> float:
    """Return the bytes of RAM that ReSSD needs for timestamps, block tags, pointers and status."""
    blocks = PLANES * BLOCKS_PER_PLANE
    pointers = PLANES * HOT_LEVELS * (BLOCK_POINTER_BITS + WORD_LINE_POINTER_BITS)
    status = blocks * WORD_LINES_PER_BLOCK * WORD_LINE_STATUS_BITS
    return (blocks * (TIMESTAMP_BITS + BLOCK_TAG_BITS) + pointers + status) / 8
