# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parse ONNX files: the graph's initializers, in the wire format of protocol buffers.

Constants within nodes, subgraphs, functions and training information are ignored.
"""

from collections.abc import Iterator
from typing import NamedTuple

from approxftl.models.source import Cursor, ModelError, Source, printable_name
from approxftl.models.tensors import (
    ELEMENTS,
    Model,
    Tensor,
    check_tensor_count,
    make_model,
    make_tensor,
)

#: Largest number of fields that are read.
_FIELDS = 1 << 20

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MODEL_VERSION, _MODEL_GRAPH = 1, 7
_GRAPH_INITIALIZER = 5
_DIMS, _TYPE, _NAME, _RAW, _EXTERNAL, _PLACE = 1, 2, 8, 9, 13, 14
#: Fields that hold a tensor's numbers other than as raw data, without a fixed width.
_NUMBERS = {4, 5, 6, 7, 10, 11}
_NOT_RAW = "its numbers are not raw data"

_TYPES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 8: "text", 9: "bool",
          10: "f16", 11: "f64", 12: "u32", 13: "u64", 14: "c64", 15: "c128", 16: "bf16",
          17: "f8_e4m3", 18: "f8_e4m3fnuz", 19: "f8_e5m2", 20: "f8_e5m2fnuz", 21: "u4", 22: "i4",
          23: "f4"}


class _Field(NamedTuple):
    """A field of a protocol buffer message: a number, or the offset and length of its bytes."""

    number: int
    wire: int
    value: int
    length: int


def _read_varint(cursor: Cursor) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = cursor.read_bytes(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80 and value < 1 << 64:
            return value
    raise ModelError(f"the number that ends at byte {cursor.at} has more than 64 bits")


class _Walk:
    """A reader of the protocol buffer fields of a file, which limits the number of fields."""

    def __init__(self, source: Source) -> None:
        self.cursor = Cursor(source)
        self.left = _FIELDS

    def _read_field(self, end: int) -> _Field:
        key = _read_varint(self.cursor)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            return _Field(number, wire, _read_varint(self.cursor), 0)
        sizes = {_FIXED64: 8, _FIXED32: 4}
        if not number or wire not in (_BYTES, *sizes):
            raise ModelError(f"byte {self.cursor.at - 1} begins no field of a protocol buffer")
        length = _read_varint(self.cursor) if wire == _BYTES else sizes[wire]
        if length > end - self.cursor.at:
            raise ModelError(f"the field at byte {self.cursor.at} reaches beyond what it is in")
        return _Field(number, wire, self.cursor.skip_bytes(length), length)

    def read_fields(self, begin: int, end: int) -> Iterator[_Field]:
        """Yield the fields of a message; the caller may read nested messages in between."""
        while begin < end:
            self.left -= 1
            if self.left < 0:
                raise ModelError(f"it has more than {_FIELDS} fields")
            self.cursor.at = begin
            field = self._read_field(end)
            begin = self.cursor.at
            if begin > end:
                raise ModelError(f"the field before byte {begin} reaches beyond what it is in")
            yield field

    def read_numbers(self, field: _Field) -> list[int]:
        """Return the numbers of a field, packed or not."""
        if field.wire == _VARINT:
            return [field.value]
        if field.wire != _BYTES or field.length > 10 * 32:
            raise ModelError(f"the shape at byte {field.value} is no shape")
        found = []
        self.cursor.at = field.value
        while self.cursor.at < field.value + field.length:
            found.append(_read_varint(self.cursor))
        return found

    def read_field_text(self, field: _Field) -> str:
        """Return a field's bytes as text."""
        self.cursor.at = field.value
        return self.cursor.read_text(field.length)


def _require_single_field(seen: set[int], field: _Field, wire: int) -> _Field:
    """Return a field of a message; refuse a repeated field or a wrong wire type."""
    if field.number in seen or field.wire != wire:
        raise ModelError(f"field {field.number} before byte {field.value + field.length} comes "
                         "twice, or is none that ONNX has")
    seen.add(field.number)
    return field


def _read_tensor(walk: _Walk, begin: int, end: int) -> Tensor:
    name, kind, shape = "", 0, list[int]()
    raw: _Field | None = None
    seen: set[int] = set()
    for field in walk.read_fields(begin, end):
        if field.number == _DIMS:
            shape += walk.read_numbers(field)
        elif field.number == _TYPE:
            kind = _require_single_field(seen, field, _VARINT).value
        elif field.number == _NAME:
            name = walk.read_field_text(_require_single_field(seen, field, _BYTES))
        elif field.number == _RAW:
            raw = _require_single_field(seen, field, _BYTES)
        elif field.number == _EXTERNAL or (field.number == _PLACE and field.value):
            raise ModelError(
                f'tensor "{printable_name(name)}": its data are in another file, which cannot '
                "be tagged by this one")
        elif field.number in _NUMBERS:
            seen.add(field.number)
    element = ELEMENTS.get(_TYPES.get(kind, ""))
    if element is None:
        raise ModelError(f'tensor "{printable_name(name)}": its type {kind} is unknown')
    if raw is None:
        return Tensor(name, element, tuple(shape), end, 0, _NOT_RAW)
    if seen & _NUMBERS:
        raise ModelError(f'tensor "{printable_name(name)}": it has raw data and others')
    return make_tensor(name, element, shape, raw.value, raw.length)


def _read_graph(walk: _Walk, graph: _Field) -> list[Tensor]:
    tensors: list[Tensor] = []
    for field in walk.read_fields(graph.value, graph.value + graph.length):
        if field.number == _GRAPH_INITIALIZER:
            if field.wire != _BYTES:
                raise ModelError(f"the tensor before byte {walk.cursor.at} is none")
            check_tensor_count(len(tensors) + 1)
            tensors.append(_read_tensor(walk, field.value, field.value + field.length))
    return tensors


def parse_onnx(source: Source) -> Model:
    """Return the model whose tensors are the ONNX graph's initializers."""
    walk = _Walk(source)
    seen: set[int] = set()
    tensors: list[Tensor] = []
    for field in walk.read_fields(0, source.size):
        if field.number == _MODEL_VERSION:
            _require_single_field(seen, field, _VARINT)
        elif field.number == _MODEL_GRAPH:
            tensors = _read_graph(walk, _require_single_field(seen, field, _BYTES))
    if seen != {_MODEL_VERSION, _MODEL_GRAPH}:
        raise ModelError("it is neither safetensors, GGUF, npy nor ONNX")
    return make_model("onnx", source, tensors, 0)
