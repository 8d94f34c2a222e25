# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parse model files: the place and type of the tensors in them.

Only headers are read. As they may be malicious, a malformed or unknown header raises a ModelError.
"""

from approxftl.models import gguf, npy, onnx, safetensors
from approxftl.models.source import ModelError, Source
from approxftl.models.tensors import Model

__all__ = ["FORMATS", "parse_model"]

FORMATS = ("safetensors", "gguf", "onnx", "npy")


def parse_model(source: Source) -> Model:
    """Return the tensors that a model file describes."""
    begin = source.read_byte_range(0, min(source.size, 10))
    if begin.startswith(b"GGUF"):
        return gguf.parse_gguf(source)
    if begin.startswith(npy.MAGIC):
        return npy.parse_npy(source)
    if begin[8:9] == b"{":
        return safetensors.parse_safetensors(source)
    if begin.startswith(b"PK"):
        raise ModelError("it is an archive, as PyTorch and numpy's npz make them: programs and "
                         "compressed data cannot be approximate; safetensors can")
    if begin.startswith(b"{"):
        raise ModelError("it is JSON, such as the index of a model in several files: tag those")
    return onnx.parse_onnx(source)
