# SPDX-License-Identifier: GPL-2.0-only
"""Test reading model files of all formats, and splitting and joining tensors by bit plane."""

import json
import math
import os
import random
import struct
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selftests.library import model_files
from selftests.library.model_files import (
    KINDS,
    WRITERS,
    Made,
    encode_gguf_pair,
    encode_gguf_text,
    encode_onnx_tensor,
    encode_pb_field,
    encode_varint,
    make_tensor,
)

import approxftl
from approxftl.models import parse_model, planes
from approxftl.models.choice import (
    UNIT,
    Choice,
    count_bytes_in_ranges,
    merge_extents,
    whole_units_in_byte_ranges,
)
from approxftl.models.planes import Layout, PlaneFile
from approxftl.models.source import FileSource, MemorySource, ModelError
from approxftl.models.tensors import ELEMENTS, Model

RANDOM = np.random.default_rng(21)
SOME = [
    make_tensor("layer.0.weight", RANDOM.normal(size=(24, 40)).astype("<f4")),
    make_tensor("layer.0.bias", RANDOM.normal(size=24).astype("<f4")),
    make_tensor("layer.1.weight", RANDOM.integers(0, 1 << 16, (16, 24), dtype=np.uint16), "bf16"),
    make_tensor("layer.1.codes", RANDOM.integers(-128, 128, (8, 16), dtype=np.int8)),
]
FORMS = sorted(WRITERS)
#: Processor time in seconds for fuzzing each format.
FUZZ_SECONDS = float(os.environ.get("AFTL_FUZZ_SECONDS", "0.7"))
FEW = settings(max_examples=60, database=None)


def parse_model_bytes(data: bytes) -> Model:
    return parse_model(MemorySource(data))


def check_model_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_model_bytes(data)
    assert sentence in str(caught.value), caught.value
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


# Valid files


def generate_tensors_of_element_type(kind: str) -> st.SearchStrategy[Made]:
    shapes = st.lists(st.integers(0, 9), min_size=1, max_size=4).map(tuple)
    return shapes.flatmap(lambda shape: st.binary(
        min_size=math.prod(shape) * KINDS[kind][0], max_size=math.prod(shape) * KINDS[kind][0],
    ).map(lambda data: Made("", kind, shape, data)))


MADE = st.sampled_from(sorted(set(KINDS) - {"bf16"})).flatmap(generate_tensors_of_element_type)
TENSORS = st.lists(MADE, min_size=1, max_size=6).map(
    lambda found: [one._replace(name=f"t{number}é") for number, one in enumerate(found)])


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(tensors=TENSORS)
@example(tensors=SOME)
def test_every_format_is_read_as_it_was_written(form: str, tensors: list[Made]) -> None:
    data = WRITERS[form](tensors)
    model = parse_model_bytes(data)
    wanted = tensors if form != "npy" else [tensors[0]._replace(name="data")]
    found = {one.name: (one.element.name, one.shape, data[one.offset:one.end_of_tensor_data])
             for one in model.tensors}
    assert model.form == form
    assert found == {one.name: (one.kind, one.shape, one.data) for one in wanted}


def test_all_gguf_blocks_and_versions_are_read() -> None:
    for number, count, size in ((2, 32, 18), (8, 32, 34), (14, 256, 210), (39, 32, 17)):
        info = encode_gguf_text("t") + struct.pack("<IQQIQ", 2, 2 * count, 3, number, 0)
        head = b"GGUF" + struct.pack("<IQQ", 2, 1, 0) + info
        model = parse_model_bytes(head + bytes(-len(head) % 32) + bytes(6 * size))
        assert [(t.shape, t.length) for t in model.tensors] == [((3, 2 * count), 6 * size)]
        head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + info.replace(
            struct.pack("<Q", 2 * count), struct.pack("<Q", count + 1))
        check_model_refused(head + bytes(9999), "no whole blocks")


def test_gguf_alignment_is_respected() -> None:
    pairs = [encode_gguf_pair("general.alignment", 4, struct.pack("<I", 4096))]
    model = parse_model_bytes(model_files.make_gguf_file(SOME, pairs, 4096))
    assert [one.offset % 4096 for one in model.tensors] == [0] * len(SOME)


def test_onnx_tensors_without_raw_data_stay_precise() -> None:
    floats = encode_pb_field(1, 2) + encode_pb_field(2, 1) + encode_pb_field(
        8, b"floats") + encode_pb_field(4,
                                        struct.pack("<2f",
                                                    1, 2))
    texts = encode_pb_field(1, 1) + encode_pb_field(2, 8) + encode_pb_field(
        8, b"texts") + encode_pb_field(6, b"word")
    model = parse_model_bytes(model_files.make_onnx_file(SOME, encode_pb_field(5, floats)
                                                         + encode_pb_field(5, texts)))
    assert {one.name for one in model.tensors if one.exact} == {"floats", "texts"}
    one_by_one = encode_pb_field(1, 3) + encode_pb_field(1, 5) + encode_pb_field(
        2, 3) + encode_pb_field(9, bytes(15))
    assert parse_model_bytes(
        model_files.make_onnx_file([], encode_pb_field(5, one_by_one))).tensors[0].shape == (3,
                                                                                             5)


# Invalid files


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_ends_too_early_is_refused(form: str) -> None:
    data = WRITERS[form](SOME)
    for kept in [*range(min(len(data), 400)), *range(400, len(data), 97), len(data) - 1]:
        with pytest.raises(ModelError):
            parse_model_bytes(data[:kept])


def make_safetensors_variant(**changes: Any) -> bytes:
    """Return a safetensors file of one tensor with changes in its header entry."""
    one = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes
    return pack_safetensors_file({"t": {key: value for key, value in one.items()
                                        if value is not None}})


def pack_safetensors_file(entries: Any, data: bytes = bytes(8)) -> bytes:
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


TWO = {"shape": [2], "dtype": "F32"}

HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "neither safetensors"),
    "text": (b"hello, world\n", "begins no field"),
    "archive": (b"PK\3\4" + bytes(99), "archive"),
    "index": (b'{"weight_map": {}}', "index of a model"),
    "length overflows": (b"\xff" * 8 + b"{}", "larger than 32 MiB"),
    "length reaches beyond": (struct.pack("<Q", 999) + b"{}", "the data end"),
    "no object": (pack_safetensors_file(b'{"a":1}]'), "no JSON"),
    "deep": (pack_safetensors_file(b'{"a":' + b"[" * 9999 + b"]" * 9999 + b"}"), "no JSON"),
    "wide": (pack_safetensors_file(b'{"a":' + b"[]," * 200000 + b"[]}"),
             "more than 65536 tensors can need"),
    "other encoding": (struct.pack("<Q", 4) + "{}".encode("utf-16-le"), "no JSON"),
    "key twice": (pack_safetensors_file(b'{"a":{},"a":{}}'), "a key twice"),
    "not a number": (pack_safetensors_file(b'{"a":NaN}'), "a number that is none"),
    "many digits": (pack_safetensors_file(b'{"t":{"dtype":"F32","data_offsets":[0,8],"shape":['
                                          + b"9" * 5000 + b"]}}"), "no JSON"),
    "key missing": (make_safetensors_variant(dtype=None), "other keys"),
    "key more": (make_safetensors_variant(more=1), "other keys"),
    "type": (make_safetensors_variant(dtype="F12"), "its type F12 is unknown"),
    "type of no text": (make_safetensors_variant(dtype=["F32"]), "is unknown"),
    "shape of floats": (make_safetensors_variant(shape=[2.0]), "whole numbers"),
    "shape of truth": (make_safetensors_variant(shape=[True, 2]), "whole numbers"),
    "shape negative": (make_safetensors_variant(shape=[-2, -1]), "no shape"),
    "shape large": (make_safetensors_variant(shape=[2**62, 2**62]), "no number of bytes"),
    "shape that would wrap to 8 bytes": (make_safetensors_variant(shape=[2**62 + 2]),
                                         "no number of bytes"),
    "shape deep": (make_safetensors_variant(shape=[1] * 33), "no shape"),
    "bytes too few": (make_safetensors_variant(shape=[3]), "it has 8 bytes, its shape needs 12"),
    "offsets reversed": (make_safetensors_variant(data_offsets=[8, 0]), "no range"),
    "offsets negative": (make_safetensors_variant(data_offsets=[-8, 0]), "no range"),
    "offsets beyond": (make_safetensors_variant(data_offsets=[8, 16]), "should be at bytes"),
    "offsets of one": (make_safetensors_variant(data_offsets=[8]), "no range"),
    "overlap": (pack_safetensors_file({"a": {**TWO, "data_offsets": [0, 8]},
                                       "b": {**TWO, "data_offsets": [4, 12]}}, bytes(12)),
                'tensors "a" and "b" overlap'),
    "hole": (pack_safetensors_file({"a": {**TWO, "data_offsets": [0, 8]}}, bytes(9)),
             "belong to no tensor"),
    "metadata": (pack_safetensors_file({"__metadata__": {"a": 1}}, b""), "are not texts"),
    "terminal": (make_safetensors_variant(dtype="\x1b[31m\n"), "\\x1b[31m\\x0a"),
    "gguf version": (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
    "gguf big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "little-endian"),
    "gguf tensors": (b"GGUF" + struct.pack("<IQQ", 3, 10**6, 0), "it has 1000000 tensors"),
    "gguf pairs": (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**64 - 1), "keys, and 65536"),
    "gguf text": (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**64 - 1) + bytes(99), "ends within"),
    "gguf list": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + encode_gguf_pair(
        "a", 9, struct.pack("<IQ", 10, 2**63)) + bytes(99), "ends within"),
    "gguf texts": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + encode_gguf_pair(
        "a", 9, struct.pack("<IQ", 8, 2**63)) + bytes(99), "ends within"),
    "gguf lists of lists": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + encode_gguf_pair(
        "a", 9, struct.pack("<IQ", 9, 1)) + bytes(99), "list of values of kind 9"),
    "gguf header": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + encode_gguf_pair(
        "a", 8, struct.pack("<Q", 33 << 20)) + bytes(33 << 20), "larger than 32 MiB"),
    "gguf value": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + encode_gguf_pair("a", 13, b"")
                   + bytes(99), "of kind 13"),
    "gguf not UTF-8": (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"\xff" + bytes(99), "UTF-8"),
    "gguf alignment": (model_files.make_gguf_file(SOME, [encode_gguf_pair(
        "general.alignment", 4, struct.pack("<I", 0))]), "general.alignment"),
    "gguf type": (b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + encode_gguf_text("t") + struct.pack(
        "<IQIQ", 1, 8, 4, 0) + bytes(99), "its type 4 is unknown"),
    "gguf overlap": (b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + b"".join(
        encode_gguf_text(name) + struct.pack("<IQIQ", 1, 64, 24, at)
        for name, at in (("a", 0), ("b", 32))) + bytes(999), 'tensors "a" and "b" overlap'),
    "gguf names": (b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + b"".join(
        encode_gguf_text("a") + struct.pack("<IQIQ", 1, 32, 24, at) for at in (0, 32)) + bytes(999),
        "one name"),
    "onnx elsewhere": (model_files.make_onnx_file([], encode_pb_field(5, encode_pb_field(2, 1)
                                                                      + encode_pb_field(14, 1))),
                       "in another file"),
    "onnx external": (model_files.make_onnx_file([], encode_pb_field(5, encode_pb_field(2, 1)
                                                                     + encode_pb_field(13, b"x"))),
                      "in another file"),
    "onnx raw twice": (model_files.make_onnx_file([],
                                                  encode_pb_field(5, encode_onnx_tensor(SOME[0])
                                                                  + encode_pb_field(9, b""))),
                       "twice"),
    "onnx two graphs": (model_files.make_onnx_file([]) + encode_pb_field(7, b""), "twice"),
    "onnx group": (model_files.make_onnx_file([]) + b"\x0b", "begins no field"),
    "onnx number": (b"\x08" + b"\xff" * 11, "more than 64 bits"),
    "onnx beyond": (encode_pb_field(1, 8) + b"\x3a" + encode_varint(2**63), "reaches beyond"),
    "onnx tensor beyond graph": (encode_pb_field(1, 8) + encode_pb_field(7, b"\x2a\x09\x08")
                                 + bytes(50), "reaches beyond"),
    "onnx shape": (model_files.make_onnx_file([],
                                              encode_pb_field(5, encode_pb_field(1, 2**64 - 1)
                                                              + encode_pb_field(2, 1)
                                                              + encode_pb_field(9, b""))),
                   "no shape"),
    "onnx fields": (encode_pb_field(1, 8) + encode_pb_field(7, encode_pb_field(3, 0) * (1 << 20)),
                    "more than 1048576 fields"),
    "npy pickle": (b"\x93NUMPY\1\0" + struct.pack("<H", 60) + (
        b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }").ljust(60), "its type |O"),
    "npy big-endian": (b"\x93NUMPY\1\0" + struct.pack("<H", 60) + (
        b"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }").ljust(60), "its type >f4"),
    "npy program": (b"\x93NUMPY\1\0" + struct.pack("<H", 60) + (
        b"{'descr': __import__('os'), 'shape': (1,)}").ljust(60), "plain numbers"),
    "npy long": (b"\x93NUMPY\2\0" + struct.pack("<I", 2**32 - 1), "larger than 10000"),
    "npy version": (b"\x93NUMPY\x09\0" + bytes(99), "version 9.0"),
    "npy more bytes": (model_files.make_npy_file(SOME) + b"x", "its shape needs"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_model_files_are_refused_with_one_sentence(name: str) -> None:
    data, sentence = HOSTILE[name]
    check_model_refused(data, sentence)


def make_file_of_empty_tensors(form: str, count: int) -> bytes:
    return WRITERS[form]([Made(f"t{number}", "i8", (0,), b"") for number in range(count)])


def measure_processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time that a function takes, in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("form", ["safetensors", "gguf", "onnx"])
def test_a_million_tensors_are_refused_at_once(form: str) -> None:
    data = make_file_of_empty_tensors(form, 400000 if form == "safetensors" else 66000)
    data = data.replace(struct.pack("<QQ", 66000, 4), struct.pack("<QQ", 10**6, 4), 1)
    few = make_file_of_empty_tensors(form, 1000)
    # The limit of ten times the cost per byte of a small file still excludes quadratic time.
    assert measure_processor_seconds(lambda: check_model_refused(data,
                                                                 "65536")) / len(data) < 10 * min(
        measure_processor_seconds(lambda: parse_model_bytes(few)) for _ in range(5)) / len(few)
    tracemalloc.start()
    check_model_refused(data, "65536")
    assert tracemalloc.get_traced_memory()[1] < 256 << 20
    tracemalloc.stop()
    assert len(parse_model_bytes(few).tensors) == 1000


# Fuzzers

#: Boundary values of integers.
EDGES = [0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63,
         2**64 - 1, 2**64 - 8]


def mutate_bytes(data: bytes, chance: random.Random) -> bytes:
    """Mutate a few bytes of a model file, mostly in the parts that the reader checks."""
    bytes_of = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = min(int(chance.expovariate(1 / 120)), len(bytes_of) - 1) if bytes_of else 0
        how = chance.randrange(6)
        if how == 0 and bytes_of:
            bytes_of[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            size = chance.choice([1, 2, 4, 8])
            edge = chance.choice(EDGES) % (1 << 8 * size)
            bytes_of[at:at + size] = edge.to_bytes(size, chance.choice(["little", "big"]))
        elif how == 2:
            del bytes_of[at:at + chance.randint(1, 40)]
        elif how == 3:
            bytes_of[at:at] = bytes_of[at:at + chance.randint(1, 40)]
        elif how == 4:
            bytes_of[at:at] = chance.choice([b"[", b"{", b'"', b",", b"-", b"e9", b"\\ud800"])
        else:
            del bytes_of[chance.randint(0, len(bytes_of)):]
    return bytes(bytes_of)


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMS, "planes"])
@pytest.mark.in_turn
def test_mutated_files_are_read_or_refused(form: str, tmp_path: Path) -> None:
    data = store_model_by_bit_plane(SOME, tmp_path) if form == "planes" else WRITERS[form](SOME)
    good, seed, until = 0, 0, time.process_time() + FUZZ_SECONDS
    while seed % 64 or time.process_time() < until:
        seed += 1
        fuzzed = MemorySource(mutate_bytes(data, random.Random(f"{form} {seed}")))
        try:
            model = parse_model(fuzzed)
            last = 0
            assert len({one.name for one in model.tensors}) == len(model.tensors) <= 65536
            for one in model.tensors:
                if one.length:
                    assert last <= one.offset < one.end_of_tensor_data <= model.source.size
                    assert one.length == one.element.byte_length_of_numbers(math.prod(one.shape))
                    last = one.end_of_tensor_data
            if planes.is_bit_plane_model(model):
                whole = PlaneFile(model)
                assert len(whole.read_byte_range(0, whole.size)) == whole.size
            good += 1
        except ModelError as error:
            assert "\n" not in str(error), seed
        except Exception as error:
            raise AssertionError(f"{form}: seed {seed}") from error
    assert seed > 500 and good > 10, (seed, good)


# Splitting by bit plane


def store_model_by_bit_plane(tensors: Sequence[Made], folder: Path,
                             which: Callable[[str], bool] = bool,
                             form: str = "safetensors") -> bytes:
    """Return a file that stores by bit plane those tensors whose names `which` accepts."""
    model = parse_model_bytes(WRITERS[form](tensors))
    layout = Layout(model,
                    [one for one in model.tensors if which(one.name)
                     and one.element.can_store_by_plane])
    path = folder / "planes"
    for _ in range(2):
        with path.open("wb") as file:
            layout.write_plane_file(file.fileno())
    assert path.stat().st_size == layout.size
    return path.read_bytes()


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@FEW
@given(data=st.data())
def test_each_bit_plane_has_one_bit_of_each_number(bits: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=70))
    apart = planes.split_into_planes(struct.pack(f"<{len(numbers)}{'BHIQ'[bits.bit_length() - 4]}",
                                                 *numbers),
                                     bits)
    for plane in range(bits):
        found = np.unpackbits(apart[plane], count=len(numbers), bitorder="little")
        assert [number >> (bits - 1 - plane) & 1 for number in numbers] == found.tolist()
    whole = planes.join_planes([plane.tobytes() for plane in apart], len(numbers))
    assert list(struct.unpack(f"<{len(numbers)}{'BHIQ'[bits.bit_length() - 4]}", whole)) == numbers


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(tensors=TENSORS, bits=st.integers(0, 63), spans=st.lists(
    st.tuples(st.integers(0, 2000), st.integers(0, 300)), max_size=5))
@example(tensors=SOME, bits=63, spans=[(1, 2999)])
def test_every_format_is_restored_from_bit_planes(form: str, tensors: list[Made], bits: int,
                                                  spans: list[tuple[int, int]],
                                                  tmp_path_factory: pytest.TempPathFactory) -> None:
    original = WRITERS[form](tensors)
    names = sorted(one.name for one in parse_model_bytes(original).tensors)
    chosen = {name for number, name in enumerate(names) if bits >> number & 1}
    stored = store_model_by_bit_plane(tensors, tmp_path_factory.getbasetemp(), chosen.__contains__,
                                      form)
    file = PlaneFile(parse_model_bytes(stored))
    file.check_bytes_outside_planes()
    assert file.read_byte_range(0, file.size) == original
    assert file.is_original_model_intact and not any(file.find_damaged_bit_planes(one)
                                                     for one in file.planes)
    for offset, length in spans:
        if offset + length <= file.size:
            assert file.read_byte_range(offset, length) == original[offset:offset + length]


def test_large_tensors_are_converted_in_parts(tmp_path: Path) -> None:
    large = [make_tensor("t", RANDOM.integers(0, 1 << 16, (3, 100003), dtype=np.uint16), "bf16")]
    file = PlaneFile(parse_model_bytes(store_model_by_bit_plane(large, tmp_path)))
    assert file.read_byte_range(0, file.size) == model_files.make_safetensors_file(large)
    assert all(one.at % UNIT == one.bytes_of_plane % UNIT == 0 for one in file.planes)


def test_a_flipped_bit_of_a_bit_plane_is_a_flipped_bit_of_a_number(tmp_path: Path) -> None:
    stored = bytearray(store_model_by_bit_plane(SOME, tmp_path))
    file = PlaneFile(parse_model_bytes(bytes(stored)))
    one = next(one for one in file.planes if one.tensor.name == "layer.1.weight")
    begin, length = one.byte_range_of_lowest_bit_planes(3)
    assert (begin + length, length) == (one.end_offset_of_planes, 3 * one.bytes_of_plane)
    stored[begin + 2] ^= 0x10
    changed = PlaneFile(parse_model_bytes(bytes(stored)))
    assert [changed.find_damaged_bit_planes(other) for other in changed.planes
            if other != one] == [[]] * 3
    assert changed.find_damaged_bit_planes(next(other for other in changed.planes
                                                if other == one)) == [2]
    assert not changed.is_original_model_intact
    before, after = (np.frombuffer(f.read_byte_range(one.tensor.offset, one.tensor.length), "<u2")
                     for f in (file, changed))
    assert np.flatnonzero(before ^ after).tolist() == [2 * 8 + 4]
    assert before[20] ^ after[20] == 4
    changed.check_bytes_outside_planes()


def test_damage_outside_the_tensors_is_reported(tmp_path: Path) -> None:
    stored = bytearray(store_model_by_bit_plane(SOME, tmp_path))
    rest = next(one for one in parse_model_bytes(bytes(stored)).tensors
                if one.name == "approxftl.rest")
    stored[rest.offset + 70] ^= 1
    with pytest.raises(ModelError, match="damaged"):
        PlaneFile(parse_model_bytes(bytes(stored))).check_bytes_outside_planes()


def change_bit_plane_description(stored: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    length = struct.unpack("<Q", stored[:8])[0]
    entries = json.loads(stored[8:8 + length])
    said = json.loads(entries["__metadata__"]["approxftl.planes"])
    change(said)
    entries["__metadata__"]["approxftl.planes"] = json.dumps(said)
    text = json.dumps(entries).encode()
    return pack_safetensors_file(text + b" " * (-(8 + len(text)) % UNIT), stored[8 + length:])


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "version": lambda said: said.update(version=2),
    "bytes more": lambda said: said.update(bytes=said["bytes"] + 2**40),
    "bytes negative": lambda said: said.update(bytes=-1),
    "no tensor": lambda said: said["tensors"].pop(),
    "order": lambda said: said["tensors"].reverse(),
    "twice": lambda said: said["tensors"].append(said["tensors"][0]),
    "place": lambda said: said["tensors"][1].__setitem__(3, said["tensors"][0][3]),
    "shape": lambda said: said["tensors"][0].__setitem__(2, [2**40]),
    "empty": lambda said: said["tensors"][0].__setitem__(2, [0]),
    "type": lambda said: said["tensors"][0].__setitem__(1, "bool"),
    "sums": lambda said: said["tensors"][0].__setitem__(4, "00"),
    "nothing": dict.clear,
}


@pytest.mark.parametrize("name", CHANGES)
def test_inconsistent_descriptions_of_bit_planes_are_refused(name: str, tmp_path: Path) -> None:
    stored = store_model_by_bit_plane(SOME, tmp_path)
    assert PlaneFile(parse_model_bytes(change_bit_plane_description(stored, lambda said: None)))
    with pytest.raises(ModelError):
        PlaneFile(parse_model_bytes(change_bit_plane_description(stored, CHANGES[name])))


# Approximate parts

LARGE = [
    make_tensor("a.weight", RANDOM.normal(size=(64, 512)).astype("<f4")),
    make_tensor("a.codes", RANDOM.integers(-128, 128, (64, 512), dtype=np.int8)),
    make_tensor("a.indices", RANDOM.integers(0, 99, (64, 512), dtype=np.int32)),
    make_tensor("a.bias", RANDOM.integers(-128, 128, 32768, dtype=np.int8)),
]


@pytest.mark.parametrize(("choice", "wanted"), [
    (Choice(), {"a.codes"}),
    (Choice(rule="all"), {"a.weight", "a.codes", "a.indices", "a.bias"}),
    (Choice(types=("i32",)), {"a.indices"}),
    (Choice(types=("f32", "i8")), {"a.weight", "a.codes"}),
    (Choice(names=("*bias",)), {"a.bias"}),
    (Choice(names=("a.*",), never=("*.bias", "a.i*")), {"a.weight", "a.codes"}),
    (Choice(names=("a.*",), types=("i8",)), {"a.codes", "a.bias"}),
])
def test_options_choose_the_tensors_to_be_approximate(choice: Choice, wanted: set[str]) -> None:
    model = parse_model_bytes(model_files.make_safetensors_file(LARGE))
    assert {one.name for one in model.tensors
            if not choice.why_tensor_is_precise(one, apart=False)} == wanted


@pytest.mark.parametrize(("kind", "low"), [("f32", 23), ("bf16", 7), ("f16", 10), ("i8", 4),
                                           ("f8_e4m3", 3), ("u8", 4), ("f64", 52)])
def test_sign_and_exponent_bits_of_numbers_stay_precise(kind: str, low: int) -> None:
    assert Choice().count_approximate_bit_planes(ELEMENTS[kind]) == low
    assert Choice(planes=5).count_approximate_bit_planes(ELEMENTS[kind]) == 5


def test_boolean_tensors_are_never_approximate() -> None:
    truth = parse_model_bytes(pack_safetensors_file({"t": {"dtype": "BOOL", "shape": [2, 4],
                                                           "data_offsets": [0, 8]}}))
    for choice in (Choice(rule="all"), Choice(names=("*",)), Choice(types=("bool",))):
        assert choice.why_tensor_is_precise(truth.tensors[0],
                                            apart=False) == "a truth value has no small error"


RANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), max_size=8)


@FEW
@given(ranges=RANGES, one=st.tuples(st.integers(0, 300), st.integers(0, 60)))
def test_approximate_ranges_are_merged(ranges: list[tuple[int, int]], one: tuple[int, int]) -> None:
    def list_offsets_in_ranges(some: Sequence[tuple[int, int]]) -> set[int]:
        return {at for offset, length in some for at in range(offset, offset + length)}

    found = merge_extents(ranges)
    assert list_offsets_in_ranges(found) == list_offsets_in_ranges(ranges)
    assert found == sorted(found)
    assert count_bytes_in_ranges(one, found) == len(list_offsets_in_ranges(found)
                                                    & list_offsets_in_ranges([one]))


def test_byte_ranges_are_rounded_inward_to_whole_units() -> None:
    assert whole_units_in_byte_ranges([(1, 2 * UNIT), (3 * UNIT, UNIT), (5 * UNIT + 1, 50)]) == [
        (UNIT, UNIT), (3 * UNIT, UNIT)]


# Loading


def test_a_safetensors_model_is_loaded_into_arrays(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(model_files.make_safetensors_file(SOME))
    found = approxftl.load_safetensors(path)
    for one in SOME:
        array = found[one.name]
        assert array.shape == one.shape
        if one.kind == "bf16":
            assert array.dtype == np.float32
            assert (array.view("<u4") >> 16).astype("<u2").tobytes() == one.data
            assert not (array.view("<u4") & 0xFFFF).any()
        else:
            assert array.tobytes() == one.data
        array += 1
    path.write_bytes(store_model_by_bit_plane(SOME, tmp_path))
    again = approxftl.load_safetensors(path)
    assert all(np.array_equal(again[name] + 1, found[name], equal_nan=True) for name in found)


@pytest.mark.parametrize(("bit", "parts", "good"), [
    (15, ("sign",), False), (15, ("exponent",), True), (14, ("sign",), True),
    (14, ("exponent",), False), (7, ("exponent",), False), (6, ("sign", "exponent"), True),
    (15, (), True), (14, ("sign", "exponent"), False),
])
def test_flipped_bits_of_protected_parts_are_refused(bit: int, parts: tuple[str, ...], good: bool,
                                                     tmp_path: Path) -> None:
    stored = bytearray(store_model_by_bit_plane(SOME, tmp_path))
    one = next(one for one in PlaneFile(parse_model_bytes(bytes(stored))).planes
               if one.tensor.element.name == "bf16")
    stored[one.end_offset_of_planes - (bit + 1) * one.bytes_of_plane] ^= 1
    (tmp_path / "planes").write_bytes(stored)
    if good:
        approxftl.load_safetensors(tmp_path / "planes", protect=parts)
        return
    with pytest.raises(ValueError, match=f'"layer.1.weight": bit {bit} is protected'):
        approxftl.load_safetensors(tmp_path / "planes", protect=parts)


def test_models_whose_bits_cannot_be_protected_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(model_files.make_safetensors_file(SOME))
    with pytest.raises(ValueError, match="not mantissa"):
        approxftl.load_safetensors(path, protect=["mantissa"])
    path.write_bytes(model_files.make_gguf_file(SOME))
    with pytest.raises(ModelError, match="it is gguf, not safetensors"):
        approxftl.load_safetensors(path)
    path.write_bytes(make_safetensors_variant(dtype="F8_E4M3", shape=[8]))
    with pytest.raises(ModelError, match="numpy has no type f8_e4m3"):
        approxftl.load_safetensors(path)


def test_a_file_that_grows_shorter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(model_files.make_safetensors_file(SOME))
    with path.open("rb") as file:
        source = FileSource(file)
        with path.open("r+b") as other:
            other.truncate(20)
        with pytest.raises(ModelError, match="ended at byte 20 meanwhile"):
            parse_model(source)
