# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parse the headers of safetensors files: a length, a JSON object, then contiguous data."""

import json
import struct
from itertools import pairwise
from typing import Any, NoReturn

from approxftl.models.source import HEADER_BYTES, TENSORS, ModelError, Source, printable_name
from approxftl.models.tensors import (
    ELEMENTS,
    Model,
    Tensor,
    check_tensor_count,
    make_model,
    make_tensor,
)

_LENGTH = struct.Struct("<Q")
_KEYS = {"dtype", "shape", "data_offsets"}
Json = dict[str, Any]


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ModelError("its header has a key twice")
    return result


def _refuse_nan_or_infinity(word: str) -> NoReturn:
    raise ModelError(f"its header has a number that is none, {word}")


def _parse_json(text: bytes) -> Json:
    """Return the JSON object of a header; refuse an object that could take much memory."""
    check_tensor_count(text.count(b"{") - 2)
    if text.count(b"[") > 2 * TENSORS + 2 or text.count(b",") > 40 * TENSORS:
        raise ModelError(f"its header has more than {TENSORS} tensors can need")
    try:
        result = json.loads(text.decode(), object_pairs_hook=_refuse_duplicate_keys,
                            parse_constant=_refuse_nan_or_infinity)
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelError(f"its header is no JSON: {printable_name(str(error), 80)}") from None
    if not isinstance(result, dict):
        raise ModelError("its header is no JSON object")
    return result


def _require_integers(values: Any) -> list[int]:
    """Return a JSON value if it is a list of integers; refuse other types, including bool."""
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise ModelError("its header has something else where a list of whole numbers should be")
    return values


def _read_tensor(name: str, entry: Any, data: int) -> Tensor:
    if not isinstance(entry, dict) or entry.keys() != _KEYS:
        raise ModelError(
            f'tensor "{printable_name(name)}": its header has other keys than dtype, shape and '
            "data_offsets")
    element = ELEMENTS.get(str(entry["dtype"]).lower())
    if element is None:
        raise ModelError(f'tensor "{printable_name(name)}": its type '
                         f'{printable_name(str(entry["dtype"]), 20)} is ' "unknown")
    offsets = _require_integers(entry["data_offsets"])
    if len(offsets) != 2 or not 0 <= offsets[0] <= offsets[1]:
        raise ModelError(f'tensor "{printable_name(name)}": its data_offsets are no range')
    return make_tensor(name, element, _require_integers(entry["shape"]), data + offsets[0],
                       offsets[1] - offsets[0])


def _read_metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or any(type(text) is not str for text in value.values()):
        raise ModelError("its __metadata__ are not texts")
    return value


def _refuse_gaps_between_tensors(model: Model, data: int) -> None:
    """Refuse gaps in the data, which the format forbids: gaps could hide data."""
    edges = [data, *(edge for tensor in model.tensors if tensor.length
                     for edge in (tensor.offset, tensor.end_of_tensor_data)), model.source.size]
    if any(end != begin for end, begin in list(pairwise(edges))[::2]):
        raise ModelError("it has bytes that belong to no tensor")


def parse_safetensors(source: Source) -> Model:
    """Return the model that a safetensors header describes."""
    length = _LENGTH.unpack(source.read_byte_range(0, _LENGTH.size))[0]
    if length > HEADER_BYTES:
        raise ModelError(f"its header of {length} bytes is larger than {HEADER_BYTES >> 20} MiB")
    data = _LENGTH.size + length
    header = _parse_json(source.read_byte_range(_LENGTH.size, length))
    metadata = _read_metadata(header.pop("__metadata__", {}))
    tensors = [_read_tensor(name, entry, data) for name, entry in header.items()]
    model = make_model("safetensors", source, tensors, data, metadata)
    _refuse_gaps_between_tensors(model, data)
    return model


def encode_header(entries: Json, align: int) -> bytes:
    """Return a header's length and text, padded so that data begin at a multiple of `align`."""
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(_LENGTH.size + len(text)) % align)
    if len(text) > HEADER_BYTES:
        raise ModelError(f"its header would be larger than {HEADER_BYTES >> 20} MiB")
    return _LENGTH.pack(len(text)) + text
