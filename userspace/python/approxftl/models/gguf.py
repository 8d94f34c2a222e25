# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parse the headers of GGUF files: counts, keys with values, a list of tensors."""

import struct

from approxftl.models.source import TENSORS, Cursor, ModelError, Source, printable_name
from approxftl.models.tensors import (
    ELEMENTS,
    Element,
    Model,
    Tensor,
    check_tensor_count,
    make_model,
    make_tensor,
)

_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")
_VERSIONS = (2, 3)
_DIMENSIONS = 4
_ALIGNMENT = "general.alignment"

#: Sizes of values by kind; texts and lists have a length field.
_VALUE_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_VALUE_U32, _VALUE_TEXT, _VALUE_LIST = 4, 8, 9

#: Element names by GGUF's type number.
_PLAIN = {0: "f32", 1: "f16", 24: "i8", 25: "i16", 26: "i32", 27: "i64", 28: "f64", 30: "bf16"}
#: Name, numbers in a block, and bytes of a block by type number.
_BLOCKS = {
    2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20), 6: ("q5_0", 32, 22), 7: ("q5_1", 32, 24),
    8: ("q8_0", 32, 34), 10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110),
    12: ("q4_k", 256, 144), 13: ("q5_k", 256, 176), 14: ("q6_k", 256, 210), 15: ("q8_k", 256, 292),
    16: ("iq2_xxs", 256, 66), 17: ("iq2_xs", 256, 74), 18: ("iq3_xxs", 256, 98),
    19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18), 21: ("iq3_s", 256, 110),
    22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 29: ("iq1_m", 256, 56),
    34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 39: ("mxfp4", 32, 17),
}


_TYPES = {number: ELEMENTS[name] for number, name in _PLAIN.items()} | {
    number: Element(name, 0, block=count, block_bytes=size)
    for number, (name, count, size) in _BLOCKS.items()}
ELEMENTS |= {element.name: element for element in _TYPES.values()}


def _read_text(cursor: Cursor) -> str:
    return cursor.read_text(cursor.read_number(_U64))


def _skip_texts(cursor: Cursor, count: int) -> None:
    for _ in range(count):
        cursor.read_bytes(cursor.read_number(_U64))


def _skip_list(cursor: Cursor) -> None:
    kind, count = cursor.read_number(_U32), cursor.read_number(_U64)
    if kind == _VALUE_TEXT:
        _skip_texts(cursor, count)
    elif kind in _VALUE_BYTES:
        cursor.skip_bytes(count * _VALUE_BYTES[kind])
    else:
        raise ModelError(f"it has a list of values of kind {kind}, which is unknown")


def _read_alignment(cursor: Cursor) -> int:
    """Read a key of the header and its value; return the alignment if the key sets it, else 0."""
    key, kind = _read_text(cursor), cursor.read_number(_U32)
    if key == _ALIGNMENT:
        alignment = cursor.read_number(_U32)
        if kind != _VALUE_U32 or not alignment or alignment % 8:
            raise ModelError("its general.alignment is no multiple of 8")
        return alignment
    if kind == _VALUE_TEXT:
        cursor.read_bytes(cursor.read_number(_U64))
    elif kind == _VALUE_LIST:
        _skip_list(cursor)
    elif kind in _VALUE_BYTES:
        cursor.read_bytes(_VALUE_BYTES[kind])
    else:
        raise ModelError(
            f'key "{printable_name(key)}": its value is of kind {kind}, which is unknown')
    return 0


def _read_tensor(cursor: Cursor) -> Tensor:
    """Read a tensor's entry; its offset is relative to the start of the data."""
    name = _read_text(cursor)
    dimensions = cursor.read_number(_U32)
    if dimensions > _DIMENSIONS:
        raise ModelError(f'tensor "{printable_name(name)}": it has {dimensions} dimensions')
    shape = [cursor.read_number(_U64) for _ in range(dimensions)]
    number, offset = cursor.read_number(_U32), cursor.read_number(_U64)
    element = _TYPES.get(number)
    if element is None:
        raise ModelError(f'tensor "{printable_name(name)}": its type {number} is unknown')
    if element.block > 1 and (not shape or shape[0] % element.block):
        raise ModelError(f'tensor "{printable_name(name)}": its rows are no whole blocks')
    # GGUF lists the innermost dimension first, other formats last.
    return make_tensor(name, element, reversed(shape), offset)


def parse_gguf(source: Source) -> Model:
    """Return the model that a GGUF header describes."""
    cursor = Cursor(source, 4)
    version = cursor.read_number(_U32)
    if version not in _VERSIONS:
        raise ModelError(f"its version {version} is none of 2 and 3 in little-endian order")
    count, pairs = cursor.read_number(_U64), cursor.read_number(_U64)
    check_tensor_count(count)
    if pairs > TENSORS:
        raise ModelError(f"it has {pairs} keys, and {TENSORS} is the most")
    alignment = max([_read_alignment(cursor) for _ in range(pairs)], default=0) or 32
    tensors = [_read_tensor(cursor) for _ in range(count)]
    data = -(-cursor.at // alignment) * alignment
    for tensor in tensors:
        if tensor.offset % alignment:
            raise ModelError(f'tensor "{printable_name(tensor.name)}": its data are not aligned')
    return make_model("gguf", source, [
        Tensor(t.name, t.element, t.shape, data + t.offset, t.length, t.exact) for t in tensors
    ], min(data, source.size))
