# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a model file is to us: tensors, where they are, and what a bit of theirs is worth."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from approxftl.models.source import TENSORS, ModelError, Source, shown

#: Of more dimensions is nothing that anybody computes with.
DIMENSIONS = 32


@dataclass(frozen=True, slots=True)
class Element:
    """A type of numbers. Its highest bit is the sign if it has one; those of the exponent follow.

    Numbers that come in blocks share a scale, which is among the bytes of the block; of these only
    the length is known.
    """

    name: str
    bits: int
    exponent: int = 0
    signed: bool = True
    exact: str = ""
    block: int = 1
    block_bytes: int = 0

    @property
    def mantissa(self) -> int:
        """Bits that are neither sign nor exponent."""
        return self.bits - self.exponent - self.signed

    def bytes_of(self, count: int) -> int | None:
        """How many bytes so many numbers take; None if they would not fill a byte or a block."""
        if count % self.block or count * self.bits % 8:
            return None
        return count // self.block * self.block_bytes + count * self.bits // 8

    @property
    def parts(self) -> bool:
        """Whether its bits can be stored apart."""
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
#: By name.
ELEMENTS = {element.name: element for element in _ELEMENTS}


@dataclass(frozen=True, slots=True)
class Tensor:
    """Numbers that are in one piece of a file. Nothing else may be there."""

    name: str
    element: Element
    shape: tuple[int, ...]
    offset: int
    length: int
    #: Why none of it may be approximate, if that is so.
    exact: str = ""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.offset + self.length


@dataclass(frozen=True)
class Model:
    """A file with tensors, by their place."""

    form: str
    source: Source
    tensors: list[Tensor]
    metadata: dict[str, str] = field(default_factory=dict)


def check_count(count: int) -> None:
    """Refuse more tensors than anything here is made for."""
    if count > TENSORS:
        raise ModelError(f"it has {count} tensors or more, and {TENSORS} is the most")


def tensor_of(name: str, element: Element, shape: Iterable[int], offset: int,
              length: int | None = None, exact: str = "") -> Tensor:
    """Return a tensor whose length is that of its numbers; refuse another."""
    dimensions = tuple(shape)
    if len(dimensions) > DIMENSIONS or not all(0 <= size < 2**63 for size in dimensions):
        raise ModelError(f'tensor "{shown(name)}": its shape is no shape')
    wanted = element.bytes_of(math.prod(dimensions))
    if wanted is None or wanted >= 2**63:
        raise ModelError(f'tensor "{shown(name)}": no number of bytes holds its shape of '
                         f"{element.name}")
    if length not in (None, wanted):
        raise ModelError(f'tensor "{shown(name)}": it has {length} bytes, its shape needs {wanted}')
    return Tensor(name, element, dimensions, offset, wanted, exact or element.exact)


def model_of(form: str, source: Source, tensors: list[Tensor], data: int,
             metadata: dict[str, str] | None = None) -> Model:
    """Return a model whose tensors are in the file from byte `data` on, none where another is."""
    check_count(len(tensors))
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise ModelError("two tensors have one name")
    ordered = sorted(tensors, key=lambda tensor: (tensor.offset, tensor.end))
    for tensor in ordered:
        if not data <= tensor.offset <= tensor.end <= source.size:
            raise ModelError(f'tensor "{shown(tensor.name)}": its data should be at bytes '
                             f"{tensor.offset} to {tensor.end}, but the file's are {data} to "
                             f"{source.size}")
    for one, other in pairwise([tensor for tensor in ordered if tensor.length]):
        if one.end > other.offset:
            raise ModelError(f'tensors "{shown(one.name)}" and "{shown(other.name)}" overlap')
    return Model(form, source, ordered, metadata or {})
