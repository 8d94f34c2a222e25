# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parse the headers of npy files: a dictionary of three keys as a Python literal."""

import re
import struct

from approxftl.models.source import ModelError, Source, printable_name
from approxftl.models.tensors import ELEMENTS, Model, make_model, make_tensor

MAGIC = b"\x93NUMPY"
#: Format of the header's length field, by version.
_LENGTHS = {1: struct.Struct("<H"), 2: struct.Struct("<I"), 3: struct.Struct("<I")}
#: Largest header, the same limit as numpy's.
_MOST = 10000

_ENTRY = r"'(?:descr|fortran_order|shape)': *(?:'[^']*'|True|False|\([0-9, ]*\))"
_HEADER = re.compile(rf"{{{_ENTRY}, *{_ENTRY}, *{_ENTRY},? *}}[ \n]*")
_VALUE = re.compile(r"'(\w+)': *('[^']*'|True|False|\([0-9, ]*\))")
_SHAPE = re.compile(r"\((?:[0-9]+,|[0-9]+(?:, *[0-9]+)+,?|) *\)")
_KINDS = {"f2": "f16", "f4": "f32", "f8": "f64", "b1": "bool", "c8": "c64", "c16": "c128"} | {
    f"{kind}{size}": f"{kind}{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)}


def _parse_header_values(text: str) -> dict[str, str]:
    values = dict(_VALUE.findall(text)) if _HEADER.fullmatch(text) else {}
    if values.keys() != {"descr", "fortran_order", "shape"}:
        raise ModelError("its header is not one of plain numbers")
    return values


def _parse_shape(text: str) -> list[int]:
    if not _SHAPE.fullmatch(text):
        raise ModelError("its shape is no shape")
    return [int(number) for number in re.findall("[0-9]+", text)]


def parse_npy(source: Source) -> Model:
    """Return the model that an npy header describes; its only tensor is called "data"."""
    version = source.read_byte_range(len(MAGIC), 2)
    form = _LENGTHS.get(version[0])
    if form is None:
        raise ModelError(f"its version {version[0]}.{version[1]} is unknown")
    length = form.unpack(source.read_byte_range(8, form.size))[0]
    if length > _MOST:
        raise ModelError(f"its header of {length} bytes is larger than {_MOST}")
    data = 8 + form.size + length
    values = _parse_header_values(source.read_byte_range(8 + form.size, length).decode("latin-1"))
    descr = values["descr"].strip("'")
    element = ELEMENTS.get(_KINDS.get(descr[1:], ""))
    if element is None or descr[0] not in ("<|" if element.bits == 8 else "<"):
        raise ModelError(f"its type {printable_name(descr, 20)} is unknown, or not little-endian")
    tensor = make_tensor("data", element, _parse_shape(values["shape"]), data, source.size - data)
    return make_model("npy", source, [tensor], data)
