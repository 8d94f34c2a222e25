# SPDX-License-Identifier: LGPL-2.1-or-later
"""Store models by bit plane: the highest bits of all numbers of a tensor, then their next bits.

So the low planes of a tensor are one range of whole flash units, which may be approximate while
sign and exponent are not. The file is itself a safetensors file: a byte tensor for each tensor
stored by plane, and a byte tensor with the remaining bytes of the original.
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

from approxftl.models.safetensors import encode_header
from approxftl.models.source import ModelError, Source, printable_name
from approxftl.models.tensors import ELEMENTS, Model, Tensor, make_model, make_tensor

#: Alignment of planes; no unit of flash is larger.
ALIGN = 4096
_KEY = "approxftl.planes"
_REST = "approxftl.rest"
_VERSION = 1
#: Numbers that are split at a time, a multiple of 8.
_PIECE = 1 << 18
_COPY = 1 << 22


def _round_up_to_alignment(length: int) -> int:
    return -(-length // ALIGN) * ALIGN


@dataclass(frozen=True)
class Planes:
    """The bit planes of a tensor of the original file; `at`: their offset in the plane file."""

    tensor: Tensor
    at: int
    sums: list[int] = field(default_factory=list, compare=False)

    @property
    def count_numbers_of_tensor(self) -> int:
        """Return how many numbers the tensor has."""
        return self.tensor.length * 8 // self.tensor.element.bits

    @property
    def bytes_of_plane(self) -> int:
        """Return the distance in bytes between the starts of adjacent bit planes."""
        return _round_up_to_alignment(-(-self.count_numbers_of_tensor // 8))

    @property
    def end_offset_of_planes(self) -> int:
        """Return the offset behind the tensor's last bit plane."""
        return self.at + self.bytes_of_plane * self.tensor.element.bits

    def byte_range_of_lowest_bit_planes(self, planes: int) -> tuple[int, int]:
        """Return the range of the tensor's lowest bit planes as offset and length."""
        length = self.bytes_of_plane * min(planes, self.tensor.element.bits)
        return self.end_offset_of_planes - length, length

    def bit_number_of_plane(self, plane: int) -> int:
        """Return the bit number of a bit plane; bit 0 is the lowest."""
        return self.tensor.element.bits - 1 - plane

    def checksum_of_plane(self, source: Source, plane: int) -> int:
        """Return the checksum of a bit plane; plane 0 is the highest."""
        return zlib.crc32(source.read_byte_range(self.at + plane * self.bytes_of_plane,
                                                 self.bytes_of_plane))


def split_into_planes(numbers: bytes, bits: int) -> NDArray[np.uint8]:
    """Return the bit planes of numbers, the highest first, each padded with 0 to whole bytes."""
    whole = np.frombuffer(numbers, dtype=f"<u{bits // 8}")
    planes = [np.packbits((whole >> bit).astype(np.uint8) & 1, bitorder="little")
              for bit in reversed(range(bits))]
    return np.stack(planes)


def join_planes(planes: Sequence[bytes], count: int) -> bytes:
    """Return a given number of values, assembled from their bit planes."""
    kind = np.dtype(f"<u{len(planes) // 8}")
    numbers = np.zeros(count, dtype=kind)
    for plane in planes:
        bits = np.unpackbits(np.frombuffer(plane, dtype=np.uint8), count=count, bitorder="little")
        numbers = (numbers << kind.type(1)) | bits
    return numbers.astype(kind).tobytes()


@dataclass(frozen=True)
class _Gaps:
    """The original file's bytes between tensors that are stored by plane, concatenated."""

    begins: list[int]
    lengths: list[int]

    @classmethod
    def _gaps_between_tensors(cls, tensors: Sequence[Tensor], size: int) -> _Gaps:
        begins = [0, *(tensor.end_of_tensor_data for tensor in tensors)]
        ends = [*(tensor.offset for tensor in tensors), size]
        return cls(begins, [end - begin for begin, end in zip(begins, ends, strict=True)])

    @property
    def _total_bytes_between_tensors(self) -> int:
        return sum(self.lengths)


class Layout:
    """The layout of the file that stores a model by bit plane."""

    def __init__(self, model: Model, tensors: Sequence[Tensor]) -> None:
        self.model = model
        self.tensors = sorted((t for t in tensors if t.length), key=lambda tensor: tensor.offset)
        for tensor in self.tensors:
            if tensor.name == _REST or not tensor.element.can_store_by_plane:
                raise ModelError(
                    f'tensor "{printable_name(tensor.name)}": its bits cannot be apart')
        self._gaps = _Gaps._gaps_between_tensors(self.tensors, model.source.size)
        self.planes: list[Planes] = []
        self._begin = len(self._encode_header("0" * 64, "0" * 64))
        self._assign_offsets_to_planes()

    def _assign_offsets_to_planes(self) -> None:
        at = self._begin + _round_up_to_alignment(self._gaps._total_bytes_between_tensors)
        for tensor in self.tensors:
            self.planes.append(Planes(tensor, at, [0] * tensor.element.bits))
            at = self.planes[-1].end_offset_of_planes
        self.size = at

    def _list_tensor_shapes_for_header(self) -> Iterator[tuple[str, list[int]]]:
        yield _REST, [_round_up_to_alignment(self._gaps._total_bytes_between_tensors)]
        for tensor in self.tensors:
            yield tensor.name, [tensor.element.bits, Planes(tensor, 0).bytes_of_plane]

    def _encode_header(self, whole: str, rest: str) -> bytes:
        """Return the header of the file stored by plane; its length is independent of checksums."""
        about = {
            "version": _VERSION, "form": self.model.form, "bytes": self.model.source.size,
            "sha256": whole, "rest_sha256": rest, "tensors": [
                [t.name, t.element.name, list(t.shape), t.offset,
                 "".join(f"{s:08x}" for s in self._checksums_of_tensor_planes(number))]
                for number, t in enumerate(self.tensors)],
        }
        shapes = dict(self._list_tensor_shapes_for_header())
        ends = accumulate(math.prod(shape) for shape in shapes.values())
        tensors = {
            name: {"dtype": "U8", "shape": shape, "data_offsets": [end - math.prod(shape), end]}
            for (name, shape), end in zip(shapes.items(), ends, strict=True)}
        return encode_header({"__metadata__": {_KEY: json.dumps(about)}, **tensors}, ALIGN)

    def _checksums_of_tensor_planes(self, number: int) -> list[int]:
        return self.planes[number].sums if self.planes else [0] * self.tensors[number].element.bits

    def write_plane_file(self, fd: int) -> None:
        """Write the model, stored by plane, into an empty file, which may already have tags."""
        os.ftruncate(fd, self.size)
        rest = self._write_bytes_between_tensors(fd)
        for planes in self.planes:
            self._write_planes(fd, planes)
        _write_all_bytes(fd, self._encode_header(sha256_of_file(self.model.source), rest), 0)

    def _write_bytes_between_tensors(self, fd: int) -> str:
        found, at = hashlib.sha256(), self._begin
        for begin, length in zip(self._gaps.begins, self._gaps.lengths, strict=True):
            for piece in read_file_chunks(self.model.source, begin, length):
                found.update(piece)
                at += _write_all_bytes(fd, piece, at)
        return found.hexdigest()

    def _write_planes(self, fd: int, planes: Planes) -> None:
        tensor, bits = planes.tensor, planes.tensor.element.bits
        planes.sums[:] = [0] * bits
        for first in range(0, planes.count_numbers_of_tensor, _PIECE):
            count = min(_PIECE, planes.count_numbers_of_tensor - first)
            numbers = self.model.source.read_byte_range(tensor.offset + first * bits // 8,
                                                        count * bits // 8)
            for plane, data in enumerate(split_into_planes(numbers, bits)):
                _write_all_bytes(fd, data.tobytes(),
                                 planes.at + plane * planes.bytes_of_plane + first // 8)
                planes.sums[plane] = zlib.crc32(data, planes.sums[plane])
        padding = bytes(planes.bytes_of_plane - -(-planes.count_numbers_of_tensor // 8))
        planes.sums[:] = [zlib.crc32(padding, one) for one in planes.sums]


def _write_all_bytes(fd: int, data: bytes, offset: int) -> int:
    done = 0
    while done < len(data):
        done += os.pwrite(fd, data[done:], offset + done)
    return done


def read_file_chunks(source: Source, begin: int, length: int) -> Iterator[bytes]:
    """Yield parts of a file's range that fit into memory."""
    for at in range(begin, begin + length, _COPY):
        yield source.read_byte_range(at, min(_COPY, begin + length - at))


def sha256_of_file(source: Source) -> str:
    """Return the SHA-256 of a whole file."""
    found = hashlib.sha256()
    for piece in read_file_chunks(source, 0, source.size):
        found.update(piece)
    return found.hexdigest()


class PlaneFile:
    """A file stored by bit plane; read() returns the original's bytes, including flipped bits."""

    def __init__(self, model: Model) -> None:
        about = _parse_plane_description(model.metadata[_KEY])
        self.source = model.source
        self.form, self.size = str(about["form"]), _require_number(about["bytes"])
        self.sha256, self._rest_sha256 = str(about["sha256"]), str(about["rest_sha256"])
        places = {tensor.name: tensor for tensor in model.tensors}
        self._rest = _take_named_tensor(places, _REST)
        self.planes = [self._parse_planes(entry, places)
                       for entry in _require_list_value(about["tensors"])]
        if places:
            raise ModelError("it has tensors of which its metadata say nothing")
        tensors = make_model(self.form, self, [planes.tensor for planes in self.planes], 0).tensors
        self._gaps = _Gaps._gaps_between_tensors(tensors, self.size)
        if [planes.tensor for planes in self.planes] != tensors:
            raise ModelError("its tensors are not in their order")
        if _round_up_to_alignment(self._gaps._total_bytes_between_tensors) != self._rest.length:
            raise ModelError("the rest of the original is not all there")
        #: Offsets in the original where gaps and tensors begin, alternating.
        self._edges = [edge for gap, tensor in zip(self._gaps.begins, tensors, strict=False)
                       for edge in (gap, tensor.offset)] + self._gaps.begins[len(tensors):]
        self._rests = [0, *accumulate(self._gaps.lengths)]

    @staticmethod
    def _parse_planes(entry: Any, places: dict[str, Tensor]) -> Planes:
        name, kind, shape, offset, sums = _require_list_value(entry, 5)
        element = ELEMENTS.get(str(kind))
        if element is None or not element.can_store_by_plane:
            raise ModelError(f'its type "{printable_name(str(kind), 20)}" has no planes')
        tensor = make_tensor(str(name), element, map(_require_number, _require_list_value(shape)),
                             _require_number(offset))
        if not tensor.length:
            raise ModelError(
                f'tensor "{printable_name(tensor.name)}": it has no numbers, and so no planes')
        place = _take_named_tensor(places, tensor.name)
        planes = Planes(tensor, place.offset, _parse_checksums(sums, element.bits))
        if place.shape != (element.bits, planes.bytes_of_plane) or place.offset % ALIGN:
            raise ModelError(
                f'tensor "{printable_name(tensor.name)}": its planes are not all there')
        return planes

    def read_byte_range(self, offset: int, length: int) -> bytes:
        """Return bytes of the original file; raise ModelError beyond its end."""
        if not 0 <= offset <= offset + length <= self.size:
            raise ModelError(f"the original ends at byte {self.size}, before what should be at "
                             f"{offset}")
        pieces: list[bytes] = []
        while length:
            pieces.append(self._read_bytes_until_tensor_boundary(offset, length))
            offset += len(pieces[-1])
            length -= len(pieces[-1])
        return b"".join(pieces)

    def _read_bytes_until_tensor_boundary(self, offset: int, length: int) -> bytes:
        """Return the first bytes of a range of the original: those in one tensor or in one gap."""
        number, inside = divmod(bisect_right(self._edges, offset) - 1, 2)
        if inside:
            planes = self.planes[number]
            return self._read_tensor_bytes(planes, offset - planes.tensor.offset,
                                           min(length, planes.tensor.end_of_tensor_data - offset))
        into = offset - self._gaps.begins[number]
        return self.source.read_byte_range(self._rest.offset + self._rests[number] + into,
                                           min(length, self._gaps.lengths[number] - into))

    def _read_tensor_bytes(self, planes: Planes, offset: int, length: int) -> bytes:
        size = planes.tensor.element.bits // 8
        first = offset // size // 8 * 8
        count = min(-(-(offset + length) // size), planes.count_numbers_of_tensor,
                    first + _PIECE) - first
        begin_of_first = planes.at + first // 8
        stored = [self.source.read_byte_range(begin_of_first + plane * planes.bytes_of_plane,
                                              -(-count // 8))
                  for plane in range(planes.tensor.element.bits)]
        begin = offset - first * size
        return join_planes(stored, count)[begin:begin + length]

    def check_bytes_outside_planes(self) -> None:
        """Raise ModelError if the bytes outside all planes, which must be precise, have changed."""
        found = hashlib.sha256()
        for piece in read_file_chunks(self.source, self._rest.offset,
                                      self._gaps._total_bytes_between_tensors):
            found.update(piece)
        if found.hexdigest() != self._rest_sha256:
            raise ModelError("what is precise of it has changed: it is damaged")

    def find_damaged_bit_planes(self, planes: Planes) -> list[int]:
        """Return the bit numbers of bit planes that differ from their checksums."""
        return [planes.bit_number_of_plane(plane) for plane, written in enumerate(planes.sums)
                if planes.checksum_of_plane(self.source, plane) != written]

    @property
    def is_original_model_intact(self) -> bool:
        """Tell whether the original file is unchanged, by its checksum."""
        return sha256_of_file(self) == self.sha256


def _parse_plane_description(text: str) -> dict[str, Any]:
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("what it says of its planes is no JSON") from None
    keys = {"version", "form", "bytes", "sha256", "rest_sha256", "tensors"}
    if not isinstance(about, dict) or about.keys() != keys or about["version"] != _VERSION:
        raise ModelError("what it says of its planes is of another version")
    return about


def _require_list_value(value: Any, count: int | None = None) -> list[Any]:
    if not isinstance(value, list) or count not in (None, len(value)):
        raise ModelError("what it says of its planes is not as it should be")
    return value


def _require_number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ModelError("what it says of its planes is not as it should be")
    return value


def _parse_checksums(text: Any, count: int) -> list[int]:
    try:
        sums = bytes.fromhex(str(text))
    except ValueError:
        sums = b""
    if len(sums) != 4 * count:
        raise ModelError("the check sums of its planes are not all there")
    return [int.from_bytes(sums[at:at + 4], "big") for at in range(0, len(sums), 4)]


def _take_named_tensor(places: dict[str, Tensor], name: str) -> Tensor:
    place = places.pop(name, None)
    if place is None or place.element is not ELEMENTS["u8"]:
        raise ModelError(f'tensor "{printable_name(name)}": its bytes are not there')
    return place


def is_bit_plane_model(model: Model) -> bool:
    """Tell whether a model file is stored by bit plane."""
    return _KEY in model.metadata
