# SPDX-License-Identifier: GPL-2.0-only
"""Writers of model files, independent of the reader under test."""

import io
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Made(NamedTuple):
    """A tensor to be written."""

    name: str
    kind: str
    shape: tuple[int, ...]
    data: bytes


#: Bytes per number, and type codes in GGUF and in ONNX.
KINDS = {"f32": (4, 0, 1), "f16": (2, 1, 10), "bf16": (2, 30, 16), "f64": (8, 28, 11),
         "i8": (1, 24, 3), "i16": (2, 25, 5), "i32": (4, 26, 6), "i64": (8, 27, 7)}


def make_tensor(name: str, array: NDArray[Any], kind: str = "") -> Made:
    letter = {"f": "f", "i": "i", "u": "u"}[array.dtype.kind]
    return Made(name, kind or f"{letter}{8 * array.itemsize}", array.shape, array.tobytes())


def make_safetensors_file(tensors: Sequence[Made], metadata: dict[str, str] | None = None) -> bytes:
    at, entries = 0, dict[str, Any]({"__metadata__": metadata} if metadata else {})
    for one in tensors:
        entries[one.name] = {"dtype": one.kind.upper(), "shape": one.shape,
                             "data_offsets": [at, at + len(one.data)]}
        at += len(one.data)
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(one.data for one in tensors)


def encode_gguf_text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def encode_gguf_pair(key: str, kind: int, value: bytes) -> bytes:
    return encode_gguf_text(key) + struct.pack("<I", kind) + value


GGUF_PAIRS = [
    encode_gguf_pair("general.name", 8, encode_gguf_text("small")),
    encode_gguf_pair("x.count", 4, struct.pack("<I", 7)),
    encode_gguf_pair("x.scores", 9, struct.pack("<IQ3f", 6, 3, 1, 2, 3)),
    encode_gguf_pair("x.words", 9,
                     struct.pack("<IQ", 8, 2) + encode_gguf_text("a") + encode_gguf_text("bc")),
]


def make_gguf_file(tensors: Sequence[Made], pairs: Sequence[bytes] = GGUF_PAIRS,
                   alignment: int = 32, version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs)
    data = b""
    for one in tensors:
        data += bytes(-len(data) % alignment)
        head += encode_gguf_text(one.name) + struct.pack("<I", len(one.shape))
        head += struct.pack(f"<{len(one.shape)}Q", *reversed(one.shape))
        head += struct.pack("<IQ", KINDS[one.kind][1], len(data))
        data += one.data
    return head + bytes(-len(head) % alignment) + data


def encode_varint(value: int) -> bytes:
    """Encode a protobuf varint."""
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def encode_pb_field(number: int, value: int | bytes) -> bytes:
    """Encode a protobuf field."""
    if isinstance(value, int):
        return encode_varint(number << 3) + encode_varint(value)
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def encode_onnx_tensor(one: Made) -> bytes:
    """Encode an ONNX initializer with raw data."""
    dims = encode_pb_field(1, b"".join(map(encode_varint, one.shape)))
    return dims + encode_pb_field(2, KINDS[one.kind][2]) + encode_pb_field(
        8, one.name.encode()) + encode_pb_field(9,
                                                one.data)


def make_onnx_file(tensors: Sequence[Made], more: bytes = b"") -> bytes:
    """Return an ONNX file with a node before the initializers."""
    graph = encode_pb_field(1, encode_pb_field(1, b"x") + encode_pb_field(2, b"y")
                            + encode_pb_field(4, b"Relu")) + encode_pb_field(2,
                                                                             b"graph")
    graph += b"".join(encode_pb_field(5, encode_onnx_tensor(one)) for one in tensors) + more
    return encode_pb_field(1, 8) + encode_pb_field(2, b"tests") + encode_pb_field(
        7, graph) + encode_pb_field(8,
                                    encode_pb_field(2, 17))


def make_npy_file(tensors: Sequence[Made]) -> bytes:
    one = tensors[0]
    kind = {"f": "f", "i": "i"}[one.kind[0]]
    file = io.BytesIO()
    np.save(file, np.frombuffer(one.data, dtype=f"<{kind}{KINDS[one.kind][0]}").reshape(one.shape))
    return file.getvalue()


WRITERS: dict[str, Callable[[Sequence[Made]], bytes]] = {
    "safetensors": make_safetensors_file, "gguf": make_gguf_file, "onnx": make_onnx_file,
    "npy": make_npy_file,
}
