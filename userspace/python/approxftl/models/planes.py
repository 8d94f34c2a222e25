# SPDX-License-Identifier: LGPL-2.1-or-later
"""Store models by bit plane: the highest bits of all numbers of a tensor, then the next.

So the low planes of a tensor are one range of whole flash units, which may be approximate while
sign and exponent are not. The file is itself a safetensors file: a byte tensor for each tensor
stored by plane, and one with the remaining bytes of the original.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from approxftl.models.safetensors import header_of
from approxftl.models.source import ModelError, Source, shown
from approxftl.models.tensors import ELEMENTS, Model, Tensor, model_of, tensor_of

#: Alignment of planes; no unit of flash is larger.
ALIGN = 4096
_KEY = "approxftl.planes"
_REST = "approxftl.rest"
_VERSION = 1
#: Numbers that are split at a time, a multiple of 8.
_PIECE = 1 << 18
_COPY = 1 << 22


def _padded(length: int) -> int:
    return -(-length // ALIGN) * ALIGN


@dataclass(frozen=True)
class Planes:
    """The planes of a tensor of the original; `at` is their offset in the file by plane."""

    tensor: Tensor
    at: int
    sums: list[int] = field(default_factory=list, compare=False)

    @property
    def count(self) -> int:
        """Return the number of numbers."""
        return self.tensor.length * 8 // self.tensor.element.bits

    @property
    def each(self) -> int:
        """Return the distance in bytes between the begins of two planes."""
        return _padded(-(-self.count // 8))

    @property
    def end(self) -> int:
        """Return the offset behind the last plane."""
        return self.at + self.each * self.tensor.element.bits

    def low(self, planes: int) -> tuple[int, int]:
        """Return the range of the lowest planes as offset and length."""
        length = self.each * min(planes, self.tensor.element.bits)
        return self.end - length, length

    def bit(self, plane: int) -> int:
        """Return the bit number of a plane; bit 0 is the lowest."""
        return self.tensor.element.bits - 1 - plane

    def sum_of(self, source: Source, plane: int) -> int:
        """Return the checksum of a plane; plane 0 is the highest."""
        return zlib.crc32(source.read(self.at + plane * self.each, self.each))


def part(numbers: bytes, bits: int) -> NDArray[np.uint8]:
    """Return the planes of numbers, highest first, each padded with 0 to whole bytes."""
    whole = np.frombuffer(numbers, dtype=f"<u{bits // 8}")
    planes = [np.packbits((whole >> bit).astype(np.uint8) & 1, bitorder="little")
              for bit in reversed(range(bits))]
    return np.stack(planes)


def join(planes: Sequence[bytes], count: int) -> bytes:
    """Return this many numbers, put together from their planes."""
    kind = np.dtype(f"<u{len(planes) // 8}")
    numbers = np.zeros(count, dtype=kind)
    for plane in planes:
        bits = np.unpackbits(np.frombuffer(plane, dtype=np.uint8), count=count, bitorder="little")
        numbers = (numbers << kind.type(1)) | bits
    return numbers.astype(kind).tobytes()


@dataclass(frozen=True)
class _Gaps:
    """The bytes of the original between tensors stored by plane, concatenated."""

    begins: list[int]
    lengths: list[int]

    @classmethod
    def between(cls, tensors: Sequence[Tensor], size: int) -> _Gaps:
        begins = [0, *(tensor.end for tensor in tensors)]
        ends = [*(tensor.offset for tensor in tensors), size]
        return cls(begins, [end - begin for begin, end in zip(begins, ends, strict=True)])

    @property
    def total(self) -> int:
        return sum(self.lengths)


class Layout:
    """The layout of a file by plane for a model."""

    def __init__(self, model: Model, tensors: Sequence[Tensor]) -> None:
        self.model = model
        self.tensors = sorted((t for t in tensors if t.length), key=lambda tensor: tensor.offset)
        for tensor in self.tensors:
            if tensor.name == _REST or not tensor.element.parts:
                raise ModelError(f'tensor "{shown(tensor.name)}": its bits cannot be apart')
        self._gaps = _Gaps.between(self.tensors, model.source.size)
        self.planes: list[Planes] = []
        self._begin = len(self._header("0" * 64, "0" * 64))
        self._place()

    def _place(self) -> None:
        at = self._begin + _padded(self._gaps.total)
        for tensor in self.tensors:
            self.planes.append(Planes(tensor, at, [0] * tensor.element.bits))
            at = self.planes[-1].end
        self.size = at

    def _entries(self) -> Iterator[tuple[str, list[int]]]:
        yield _REST, [_padded(self._gaps.total)]
        for tensor in self.tensors:
            yield tensor.name, [tensor.element.bits, Planes(tensor, 0).each]

    def _header(self, whole: str, rest: str) -> bytes:
        """Return the header; its length does not depend on the checksums."""
        about = {
            "version": _VERSION, "form": self.model.form, "bytes": self.model.source.size,
            "sha256": whole, "rest_sha256": rest, "tensors": [
                [t.name, t.element.name, list(t.shape), t.offset,
                 "".join(f"{s:08x}" for s in self._sums(number))]
                for number, t in enumerate(self.tensors)],
        }
        shapes = dict(self._entries())
        ends = accumulate(math.prod(shape) for shape in shapes.values())
        tensors = {
            name: {"dtype": "U8", "shape": shape, "data_offsets": [end - math.prod(shape), end]}
            for (name, shape), end in zip(shapes.items(), ends, strict=True)}
        return header_of({"__metadata__": {_KEY: json.dumps(about)}, **tensors}, ALIGN)

    def _sums(self, number: int) -> list[int]:
        return self.planes[number].sums if self.planes else [0] * self.tensors[number].element.bits

    def write(self, fd: int) -> None:
        """Write the whole file into an empty one, which may have been tagged before."""
        os.ftruncate(fd, self.size)
        rest = self._write_rest(fd)
        for planes in self.planes:
            self._write_planes(fd, planes)
        _write(fd, self._header(digest(self.model.source), rest), 0)

    def _write_rest(self, fd: int) -> str:
        found, at = hashlib.sha256(), self._begin
        for begin, length in zip(self._gaps.begins, self._gaps.lengths, strict=True):
            for piece in pieces(self.model.source, begin, length):
                found.update(piece)
                at += _write(fd, piece, at)
        return found.hexdigest()

    def _write_planes(self, fd: int, planes: Planes) -> None:
        tensor, bits = planes.tensor, planes.tensor.element.bits
        planes.sums[:] = [0] * bits
        for first in range(0, planes.count, _PIECE):
            count = min(_PIECE, planes.count - first)
            numbers = self.model.source.read(tensor.offset + first * bits // 8, count * bits // 8)
            for plane, data in enumerate(part(numbers, bits)):
                _write(fd, data.tobytes(), planes.at + plane * planes.each + first // 8)
                planes.sums[plane] = zlib.crc32(data, planes.sums[plane])
        padding = bytes(planes.each - -(-planes.count // 8))
        planes.sums[:] = [zlib.crc32(padding, one) for one in planes.sums]


def _write(fd: int, data: bytes, offset: int) -> int:
    done = 0
    while done < len(data):
        done += os.pwrite(fd, data[done:], offset + done)
    return done


def pieces(source: Source, begin: int, length: int) -> Iterator[bytes]:
    """Yield a range in pieces that fit into memory."""
    for at in range(begin, begin + length, _COPY):
        yield source.read(at, min(_COPY, begin + length - at))


def digest(source: Source) -> str:
    """Return the SHA-256 of a whole file."""
    found = hashlib.sha256()
    for piece in pieces(source, 0, source.size):
        found.update(piece)
    return found.hexdigest()


class PlaneFile:
    """A file by plane; read() returns the original, including flipped bits."""

    def __init__(self, model: Model) -> None:
        about = _about(model.metadata[_KEY])
        self.source = model.source
        self.form, self.size = str(about["form"]), _number(about["bytes"])
        self.sha256, self._rest_sha256 = str(about["sha256"]), str(about["rest_sha256"])
        places = {tensor.name: tensor for tensor in model.tensors}
        self._rest = _place_of(places, _REST)
        self.planes = [self._planes(entry, places) for entry in _list(about["tensors"])]
        if places:
            raise ModelError("it has tensors of which its metadata say nothing")
        tensors = model_of(self.form, self, [planes.tensor for planes in self.planes], 0).tensors
        self._gaps = _Gaps.between(tensors, self.size)
        if [planes.tensor for planes in self.planes] != tensors:
            raise ModelError("its tensors are not in their order")
        if _padded(self._gaps.total) != self._rest.length:
            raise ModelError("the rest of the original is not all there")
        #: Offsets in the original where gaps and tensors begin, alternating.
        self._edges = [edge for gap, tensor in zip(self._gaps.begins, tensors, strict=False)
                       for edge in (gap, tensor.offset)] + self._gaps.begins[len(tensors):]
        self._rests = [0, *accumulate(self._gaps.lengths)]

    @staticmethod
    def _planes(entry: Any, places: dict[str, Tensor]) -> Planes:
        name, kind, shape, offset, sums = _list(entry, 5)
        element = ELEMENTS.get(str(kind))
        if element is None or not element.parts:
            raise ModelError(f'its type "{shown(str(kind), 20)}" has no planes')
        tensor = tensor_of(str(name), element, map(_number, _list(shape)), _number(offset))
        if not tensor.length:
            raise ModelError(f'tensor "{shown(tensor.name)}": it has no numbers, and so no planes')
        place = _place_of(places, tensor.name)
        planes = Planes(tensor, place.offset, _sums(sums, element.bits))
        if place.shape != (element.bits, planes.each) or place.offset % ALIGN:
            raise ModelError(f'tensor "{shown(tensor.name)}": its planes are not all there')
        return planes

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the original; raise ModelError beyond its end."""
        if not 0 <= offset <= offset + length <= self.size:
            raise ModelError(f"the original ends at byte {self.size}, before what should be at "
                             f"{offset}")
        pieces: list[bytes] = []
        while length:
            pieces.append(self._piece(offset, length))
            offset += len(pieces[-1])
            length -= len(pieces[-1])
        return b"".join(pieces)

    def _piece(self, offset: int, length: int) -> bytes:
        """Return as many of the bytes as are contiguous in this file."""
        number, inside = divmod(bisect_right(self._edges, offset) - 1, 2)
        if inside:
            planes = self.planes[number]
            return self._joined(planes, offset - planes.tensor.offset,
                                min(length, planes.tensor.end - offset))
        into = offset - self._gaps.begins[number]
        return self.source.read(self._rest.offset + self._rests[number] + into,
                                min(length, self._gaps.lengths[number] - into))

    def _joined(self, planes: Planes, offset: int, length: int) -> bytes:
        size = planes.tensor.element.bits // 8
        first = offset // size // 8 * 8
        count = min(-(-(offset + length) // size), planes.count, first + _PIECE) - first
        stored = [self.source.read(planes.at + plane * planes.each + first // 8, -(-count // 8))
                  for plane in range(planes.tensor.element.bits)]
        begin = offset - first * size
        return join(stored, count)[begin:begin + length]

    def check_rest(self) -> None:
        """Raise ModelError if the remaining bytes changed; they are always precise."""
        found = hashlib.sha256()
        for piece in pieces(self.source, self._rest.offset, self._gaps.total):
            found.update(piece)
        if found.hexdigest() != self._rest_sha256:
            raise ModelError("what is precise of it has changed: it is damaged")

    def changed(self, planes: Planes) -> list[int]:
        """Return the bit numbers of planes that differ from their checksums."""
        return [planes.bit(plane) for plane, written in enumerate(planes.sums)
                if planes.sum_of(self.source, plane) != written]

    @property
    def unchanged(self) -> bool:
        """Tell whether the original is unchanged, by its checksum."""
        return digest(self) == self.sha256


def _about(text: str) -> dict[str, Any]:
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("what it says of its planes is no JSON") from None
    keys = {"version", "form", "bytes", "sha256", "rest_sha256", "tensors"}
    if not isinstance(about, dict) or about.keys() != keys or about["version"] != _VERSION:
        raise ModelError("what it says of its planes is of another version")
    return about


def _list(value: Any, count: int | None = None) -> list[Any]:
    if not isinstance(value, list) or count not in (None, len(value)):
        raise ModelError("what it says of its planes is not as it should be")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ModelError("what it says of its planes is not as it should be")
    return value


def _sums(text: Any, count: int) -> list[int]:
    try:
        sums = bytes.fromhex(str(text))
    except ValueError:
        sums = b""
    if len(sums) != 4 * count:
        raise ModelError("the check sums of its planes are not all there")
    return [int.from_bytes(sums[at:at + 4], "big") for at in range(0, len(sums), 4)]


def _place_of(places: dict[str, Tensor], name: str) -> Tensor:
    place = places.pop(name, None)
    if place is None or place.element is not ELEMENTS["u8"]:
        raise ModelError(f'tensor "{shown(name)}": its bytes are not there')
    return place


def is_by_plane(model: Model) -> bool:
    """Tell whether a model is a file by plane."""
    return _KEY in model.metadata
