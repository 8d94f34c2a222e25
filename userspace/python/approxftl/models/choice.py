# SPDX-License-Identifier: LGPL-2.1-or-later
"""Choose a model's approximate bytes by the name of a tensor, its type, or a rule."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from approxftl.models.source import ModelError, printable_name
from approxftl.models.tensors import ELEMENTS, Element, Tensor

#: Assumed unit of flash; with smaller units more of a range is approximate than reported.
UNIT = 4096
RULES = ("weights", "all")
#: Types in which a flipped bit cannot exceed the range of the numbers.
BOUNDED = ("i8", "u8", "i4", "u4", "i16", "u16")

Range = tuple[int, int]


@dataclass(frozen=True)
class Choice:
    """The options that select the approximate tensors of a model."""

    names: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    rule: str = "weights"
    #: Lowest planes that are approximate, for tensors by plane; None for the default.
    planes: int | None = None

    def check_element_types(self) -> None:
        """Raise ModelError for an unknown type of numbers."""
        for name in self.types:
            if name not in ELEMENTS:
                raise ModelError(
                    f"no type {printable_name(name)}; there are {', '.join(sorted(ELEMENTS))}")

    def count_approximate_bit_planes(self, element: Element) -> int:
        """Return the number of approximate bit planes: as set, or mantissa, or half the integer."""
        if self.planes is not None:
            return min(self.planes, element.bits)
        return element.mantissa_bits if element.exponent else element.bits // 2

    def why_tensor_is_precise(self, tensor: Tensor, apart: bool) -> str:
        """Return why a tensor (`apart`: stored by bit plane) stays precise; "" if it does not."""
        if tensor.exact or not tensor.length:
            return tensor.exact or "it has no numbers"
        if self.names and not _matches_any_pattern(tensor.name, self.names):
            return "another name"
        if _matches_any_pattern(tensor.name, self.never):
            return "excepted"
        if self.types and tensor.element.name not in self.types:
            return "another type"
        if self.rule == "all" or self.names:
            return ""
        if len(tensor.shape) < 2:
            return "no weights: one dimension"
        return self._why_error_is_unbounded(tensor.element, apart)

    def _why_error_is_unbounded(self, element: Element, apart: bool) -> str:
        if self.types or element.name in BOUNDED:
            return ""
        if element.block > 1:
            return f"scales are among its numbers; --type {element.name} if these may be wrong"
        if not element.exponent:
            return f"may be indices; --type {element.name} if not"
        return "" if apart else "exponents are among its bits; --to-planes parts them"


def _matches_any_pattern(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def merge_extents(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges (offset, length) in order, with adjacent and overlapping ones merged."""
    found: list[Range] = []
    for offset, length in sorted(ranges):
        if found and sum(found[-1]) >= offset:
            begin = found[-1][0]
            found[-1] = begin, max(sum(found[-1]), offset + length) - begin
        else:
            found.append((offset, length))
    return found


def whole_units_in_byte_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Return the whole mapping units inside merged ranges; these units become approximate."""
    inward = ((-(-offset // UNIT) * UNIT, (offset + length) // UNIT * UNIT)
              for offset, length in ranges)
    return [(begin, end - begin) for begin, end in inward if begin < end]


def count_bytes_in_ranges(one: Range, others: list[Range]) -> int:
    """Return how many bytes of a range are in other ranges, which must be sorted and disjoint."""
    count, number = 0, max(0, bisect_right(others, one) - 1)
    while number < len(others) and others[number][0] < sum(one):
        other = others[number]
        count += max(0, min(sum(one), sum(other)) - max(one[0], other[0]))
        number += 1
    return count

