# SPDX-License-Identifier: LGPL-2.1-or-later
"""The contents of a model file: tensors, their place, and the meaning of their bits."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from approxftl.models.source import TENSORS, ModelError, Source, printable_name

#: Largest number of dimensions.
DIMENSIONS = 32


@dataclass(frozen=True, slots=True)
class Element:
    """A type of numbers: the sign is the highest bit, if any, then the exponent.

    Numbers in blocks share a scale that is stored within the block; of types with blocks only the
    length of a block is known.
    """

    name: str
    bits: int
    exponent: int = 0
    signed: bool = True
    exact: str = ""
    block: int = 1
    block_bytes: int = 0

    @property
    def mantissa_bits(self) -> int:
        """Return the number of mantissa bits."""
        return self.bits - self.exponent - self.signed

    def byte_length_of_numbers(self, count: int) -> int | None:
        """Return the length of `count` numbers; None if these do not fill whole bytes or blocks."""
        if count % self.block or count * self.bits % 8:
            return None
        return count // self.block * self.block_bytes + count * self.bits // 8

    @property
    def can_store_by_plane(self) -> bool:
        """Tell whether the type can be stored by plane."""
        return not self.exact and self.bits in (8, 16, 32, 64)


_TRUTH = "a truth value has no small error"
_PAIR = "its numbers are pairs"
_TEXT = "texts have no small error"
_SCALE = "a power of two may not lose a bit"

_ELEMENTS = [
    Element("f64", 64, 11), Element("f32", 32, 8), Element("f16", 16, 5), Element("bf16", 16, 8),
    Element("f8_e4m3", 8, 4), Element("f8_e5m2", 8, 5), Element("f8_e4m3fnuz", 8, 4),
    Element("f8_e5m2fnuz", 8, 5), Element("f8_e8m0", 8, 8, signed=False, exact=_SCALE),
    Element("f6_e2m3", 6, 2), Element("f6_e3m2", 6, 3), Element("f4", 4, 2),
    Element("i64", 64), Element("i32", 32), Element("i16", 16), Element("i8", 8),
    Element("i4", 4), Element("u64", 64, signed=False), Element("u32", 32, signed=False),
    Element("u16", 16, signed=False), Element("u8", 8, signed=False),
    Element("u4", 4, signed=False), Element("bool", 8, signed=False, exact=_TRUTH),
    Element("c64", 64, exact=_PAIR), Element("c128", 128, exact=_PAIR),
    Element("text", 0, signed=False, exact=_TEXT),
]
#: Element types by name.
ELEMENTS = {element.name: element for element in _ELEMENTS}


@dataclass(frozen=True, slots=True)
class Tensor:
    """Numbers in one contiguous range of a file, without other data between the numbers."""

    name: str
    element: Element
    shape: tuple[int, ...]
    offset: int
    length: int
    #: The reason why the tensor must be precise; empty if it may be approximate.
    exact: str = ""

    @property
    def end_of_tensor_data(self) -> int:
        """Return the offset in the file behind the tensor's data."""
        return self.offset + self.length


@dataclass(frozen=True)
class Model:
    """A model file, with its tensors in the order of their offsets."""

    form: str
    source: Source
    tensors: list[Tensor]
    metadata: dict[str, str] = field(default_factory=dict)


def check_tensor_count(count: int) -> None:
    """Raise ModelError for a model with too many tensors."""
    if count > TENSORS:
        raise ModelError(f"it has {count} tensors or more, and {TENSORS} is the most")


def make_tensor(name: str, element: Element, shape: Iterable[int], offset: int,
                length: int | None = None, exact: str = "") -> Tensor:
    """Return a tensor; refuse a length that does not match its shape."""
    dimensions = tuple(shape)
    if len(dimensions) > DIMENSIONS or not all(0 <= size < 2**63 for size in dimensions):
        raise ModelError(f'tensor "{printable_name(name)}": its shape is no shape')
    wanted = element.byte_length_of_numbers(math.prod(dimensions))
    if wanted is None or wanted >= 2**63:
        raise ModelError(f'tensor "{printable_name(name)}": no number of bytes holds its shape of '
                         f"{element.name}")
    if length not in (None, wanted):
        raise ModelError(
            f'tensor "{printable_name(name)}": it has {length} bytes, its shape needs {wanted}')
    return Tensor(name, element, dimensions, offset, wanted, exact or element.exact)


def make_model(form: str, source: Source, tensors: list[Tensor], data: int,
               metadata: dict[str, str] | None = None) -> Model:
    """Return a model; refuse tensors that overlap, or are not between byte `data` and the end."""
    check_tensor_count(len(tensors))
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise ModelError("two tensors have one name")
    ordered = sorted(tensors, key=lambda tensor: (tensor.offset, tensor.end_of_tensor_data))
    for tensor in ordered:
        if not data <= tensor.offset <= tensor.end_of_tensor_data <= source.size:
            raise ModelError(f'tensor "{printable_name(tensor.name)}": its data should be at bytes '
                             f"{tensor.offset} to {tensor.end_of_tensor_data}, but the file's are "
                             f"{data} to {source.size}")
    for one, other in pairwise([tensor for tensor in ordered if tensor.length]):
        if one.end_of_tensor_data > other.offset:
            raise ModelError(
                f'tensors "{printable_name(one.name)}" and "{printable_name(other.name)}" overlap')
    return Model(form, source, ordered, metadata or {})
