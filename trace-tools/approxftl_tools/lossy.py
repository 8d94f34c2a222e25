# SPDX-License-Identifier: GPL-2.0-only
"""Store arrays whose low bits may flip, and simulate the flips."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from approxftl.models.loading import array_of_tensor
from approxftl.models.safetensors import encode_header
from approxftl.models.tensors import ELEMENTS, Element, Tensor
from approxftl_tools.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float32]"

#: Element types by the names of the option --type.
KINDS = {"int8": ELEMENTS["i8"], "bfloat16": ELEMENTS["bf16"]}
#: Metadata key of the parameters, and the suffix of an array's scale.
ABOUT, SCALE = "approxftl.app", ".scale"


def encode_numbers(values: Floats, element: Element) -> tuple[NDArray[Any], np.float32]:
    """Return an array converted to the stored type, and the scale that restores its values."""
    if element.name == "i8":
        scale = np.float32(np.abs(values).max() / 127)
        return np.rint(values / scale).astype(np.int8), scale
    # Round to nearest, ties to even.
    bits = values.view(np.uint32)
    return ((bits + (np.uint32(0x7FFF) + (bits >> 16 & 1))) >> 16).astype(np.uint16), np.float32(1)


def pack_arrays(lossy: Mapping[str, Floats], exact: Mapping[str, Floats], element: Element,
                about: dict[str, Any]) -> bytes:
    """Return arrays as a safetensors file with metadata."""
    parts: list[tuple[str, str, NDArray[Any]]] = []
    for name, values in lossy.items():
        stored, scale = encode_numbers(values, element)
        parts += [(name, element.name, stored), (name + SCALE, "f32", np.array([scale]))]
    parts += [(name, "f32", values) for name, values in exact.items()]
    entries: dict[str, Any] = {"__metadata__": {ABOUT: json.dumps(about)}}
    at = 0
    for name, kind, array in parts:
        entries[name] = {"dtype": kind.upper(), "shape": list(array.shape),
                         "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    return encode_header(entries, 8) + b"".join(array.tobytes() for _, _, array in parts)


def select_lossy_tensors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors of a file whose low bits may flip."""
    names = {tensor.name for tensor in tensors}
    return [tensor for tensor in tensors if tensor.name + SCALE in names]


def unpack_arrays(tensors: Sequence[Tensor], data: Sequence[bytes]) -> tuple[dict[str, Floats],
                                                                             int]:
    """Return the arrays with non-finite values replaced by 0, and the number of such values."""
    stored = {tensor.name: array_of_tensor(tensor, content)
              for tensor, content in zip(tensors, data, strict=True)}
    arrays, repaired = dict[str, Floats](), 0
    for name, array in stored.items():
        values = array.astype(np.float32)
        wrong = ~np.isfinite(values)
        values[wrong] = 0
        repaired += int(wrong.sum())
        arrays[name] = values * stored[name + SCALE][0] if name + SCALE in stored else values
    return arrays, repaired


def flip_low_bits(tensors: Sequence[Tensor], data: Sequence[bytes], rates: Sequence[float],
                  chance: np.random.Generator) -> list[bytes]:
    """Return the data with low bits flipped at random; rates[0] is that of the lowest bit."""
    names, found = {tensor.name for tensor in select_lossy_tensors(tensors)}, []
    for tensor, content in zip(tensors, data, strict=True):
        if tensor.name not in names:
            found.append(content)
            continue
        numbers = np.frombuffer(content, dtype=f"<u{tensor.element.bits // 8}").copy()
        for bit, rate in enumerate(rates):
            hit = chance.integers(0, len(numbers), chance.binomial(len(numbers), rate))
            np.bitwise_xor.at(numbers, hit, numbers.dtype.type(1 << bit))
        found.append(numbers.tobytes())
    return found
