# SPDX-License-Identifier: LGPL-2.1-or-later
"""Load tensors as arrays with flipped bits, and refuse changed protected bits."""

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from approxftl.models import parse_model
from approxftl.models.planes import PlaneFile, is_bit_plane_model
from approxftl.models.source import FileSource, ModelError, printable_name
from approxftl.models.tensors import Element, Model, Tensor

#: The parts of a number that may be protected.
PARTS = ("sign", "exponent")

#: Returns the number of approximate units of a range, given offset and length.
Approximate = Callable[[int, int], int]

_KINDS = {"f": "f", "i": "i", "u": "u", "c": "c"}


def _numpy_type_of_tensor(tensor: Tensor) -> np.dtype[Any]:
    element = tensor.element
    if element.name == "bool":
        return np.dtype(np.bool_)
    if element.name[1:] == str(element.bits):
        return np.dtype(f"<{_KINDS[element.name[0]]}{element.bits // 8}")
    raise ModelError(f'tensor "{printable_name(tensor.name)}": numpy has no type {element.name}')


def array_of_tensor(tensor: Tensor, data: bytes) -> NDArray[Any]:
    """Return a tensor as an array; bf16 numbers become float32, which is exact."""
    if tensor.element.name == "bf16":
        wide = np.frombuffer(data, dtype="<u2").astype("<u4") << np.uint32(16)
        return wide.view("<f4").reshape(tensor.shape)
    return np.frombuffer(bytearray(data), dtype=_numpy_type_of_tensor(tensor)).reshape(tensor.shape)


def find_protected_bit_planes(element: Element, parts: Iterable[str]) -> range:
    """Return the bit planes of the given parts of a number; plane 0 is the highest."""
    wanted = set(parts)
    if wanted - set(PARTS):
        raise ValueError(f"what can be protected is {' and '.join(PARTS)}, not "
                         f"{', '.join(sorted(wanted - set(PARTS)))}")
    sign = int(element.signed)
    first = 0 if "sign" in wanted else sign
    return range(first, sign + element.exponent if "exponent" in wanted else max(first, sign))


def _refuse_changed_planes(file: PlaneFile, parts: Iterable[str]) -> None:
    """Raise ModelError if a protected bit plane has changed."""
    file.check_bytes_outside_planes()
    for planes in file.planes:
        for plane in find_protected_bit_planes(planes.tensor.element, parts):
            if planes.checksum_of_plane(file.source, plane) != planes.sums[plane]:
                raise ModelError(f'tensor "{printable_name(planes.tensor.name)}": '
                                 f"bit {planes.bit_number_of_plane(plane)} is protected, and "
                                 "has changed")


def _check_protected_bits_are_precise(model: Model, parts: Iterable[str],
                                      approximate: Approximate) -> None:
    """Raise ModelError if the protected bits of a tensor are approximate, too."""
    for tensor in model.tensors:
        if not tensor.length or not find_protected_bit_planes(tensor.element, parts):
            continue
        if approximate(tensor.offset, tensor.length):
            raise ModelError(
                f'tensor "{printable_name(tensor.name)}": it is approximate, its protected '
                'bits too; "approxftl tag model --to-planes" parts them')


def load_tensors(file: BinaryIO, parts: Iterable[str], approximate: Approximate,
                 ) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file by name."""
    wanted = list(parts)
    model = parse_model(FileSource(file))
    if is_bit_plane_model(model):
        stored = PlaneFile(model)
        _refuse_changed_planes(stored, wanted)
        model = parse_model(stored)
    else:
        _check_protected_bits_are_precise(model, wanted, approximate)
    if model.form != "safetensors":
        raise ModelError(f"it is {model.form}, not safetensors")
    return {tensor.name: array_of_tensor(tensor,
                                         model.source.read_byte_range(tensor.offset, tensor.length))
            for tensor in model.tensors}
