# SPDX-License-Identifier: GPL-2.0-only
"""Test `approxftl app weights` without a device: the network, its files, damage, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, TOP, Done, install_verb_without_module, run_program

from approxftl.models import parse_model
from approxftl.models.planes import PlaneFile
from approxftl.models.source import MemorySource
from approxftl_tools import lossy, network

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
SMALL = ("--hidden", "128", "--draws", "40")
SEEDS = range(3)


def run_app(*words: str | Path) -> Done:
    return run_program(BUILD / "approxftl", "app", "weights", *words)


def run_app_for_report(folder: Path, *words: str | Path) -> Any:
    done = run_app(folder, *words, "--json")
    assert (done.code, done.err) == (0, "")
    return parse_document(SCHEMA, done.out)


def flip_bits_of_bit_planes(folder: Path, planes: range, rate: float, seed: int,
                            name: str = "weights") -> int:
    """Flip bits of some bit planes (plane 0 has the lowest bits); return the number of flips."""
    path, chance, count = folder / name, np.random.default_rng(seed), 0
    data = np.fromfile(path, dtype=np.uint8)
    for one in PlaneFile(parse_model(MemorySource(path.read_bytes()))).planes:
        for bit in planes:
            begin = one.end_offset_of_planes - (bit + 1) * one.bytes_of_plane
            hit = np.unique(chance.integers(0, 8 * one.bytes_of_plane,
                                            int(8 * one.bytes_of_plane * rate)))
            np.bitwise_xor.at(data, begin + hit // 8, (1 << hit % 8).astype(np.uint8))
            count += len(hit)
    data.tofile(path)
    return count


@pytest.mark.parametrize("kind", ["int8", "bfloat16"])
def test_the_network_has_learned_and_is_stored(kind: str, tmp_path: Path) -> None:
    found = run_app_for_report(tmp_path, "--type", kind, "--label", "cycles=1000,months=3", *SMALL)
    assert found["labels"] == {"cycles": "1000", "months": "3"}
    assert found["share"]["precise"] == found["share"]["stored"] > 0.95
    assert found["inputs"]["flipped_bits"] == found["inputs"]["damaged_precise_bits"] == 0
    assert not found["device_active"]
    learned, others = network.load_digits(1)
    layers = network.train_network(128, 1, learned)
    exact = network.measure_recognition_rate(layers, others)
    assert abs(found["share"]["stored"] - exact) < 0.01
    assert not {tuple(one) for one in learned.pictures} & {tuple(one) for one in others.pictures}
    assert (tmp_path / "weights").read_bytes() == (tmp_path / "weights.precise").read_bytes()


def test_stored_weights_are_rounded_to_the_nearest_even() -> None:
    values = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3.14159], np.float32)
    codes, scale = lossy.encode_numbers(values, lossy.KINDS["bfloat16"])
    assert scale == 1
    found = (codes.astype(np.uint32) << 16).view(np.float32)
    assert found.tolist() == [1, 1, 1 + 2**-6, 1 + 2**-7, -3.140625]


@pytest.mark.parametrize(("kind", "planes", "rate"), [
    ("bfloat16", 7, 2e-2), ("int8", 4, 2e-2), ("int8", 8, 2e-2), ("bfloat16", 16, 1e-4),
])
@pytest.mark.in_turn
def test_accuracy_falls_as_the_error_rate_predicts(kind: str, planes: int, rate: float,
                                                   tmp_path: Path) -> None:
    for seed in SEEDS:
        run_app_for_report(tmp_path, "--phase", "write", "--type", kind, "--planes", str(planes),
                           *SMALL[:2])
        flips = flip_bits_of_bit_planes(tmp_path, range(planes), rate, seed)
        found = run_app_for_report(tmp_path, "--phase", "read", *SMALL[2:])
        assert found["inputs"]["flipped_bits"] == flips > 0
        assert flips == sum(sum(one["flipped_bits_by_plane"]) for one in found["arrays"])
        guess = found["share"]["predicted"]
        assert guess["low"] <= found["share"]["stored"] <= guess["high"], found["share"]


def test_each_quality_level_has_its_error_rate(tmp_path: Path) -> None:
    words = ("--planes", "12", "--level", "2:8", "--level", "3:7")
    run_app_for_report(tmp_path, "--phase", "write", *words, *SMALL[:2])
    flips = [flip_bits_of_bit_planes(tmp_path, planes, rate, seed)
             for seed, (planes, rate) in enumerate((
        (range(8, 12), 1e-4), (range(7, 8), 2e-3), (range(7), 0.3)))]
    found = run_app_for_report(tmp_path, "--phase", "read", *SMALL[2:])
    assert found["parameters"]["levels"] == 7 * [3] + [2] + 4 * [1]
    assert found["inputs"]["flipped_bits_by_level"] == flips and min(flips) > 0
    guess = found["share"]["predicted"]
    assert guess["low"] <= found["share"]["stored"] <= guess["high"], found["share"]
    # At one error rate for all planes, flipped exponents would spoil the result.
    assert guess["low"] > 0.5
    same = run_app(tmp_path, "--phase", "read", "--draws", "8", *words)
    assert same.code == 0 and "levels 3 3 3 3 3 3 3 2 1 1 1 1\n" in same.out


def test_exponent_errors_cost_more_than_mantissa_errors(tmp_path: Path) -> None:
    found = {}
    for name, planes in (("mantissa", range(7)), ("exponent", range(7, 15))):
        run_app_for_report(tmp_path, "--phase", "write", "--planes", "16", *SMALL[:2])
        flip_bits_of_bit_planes(tmp_path, planes, 5e-3, 1)
        found[name] = run_app_for_report(tmp_path, "--phase", "read", *SMALL[2:])["share"]
    assert found["mantissa"]["stored"] > found["mantissa"]["precise"] - 0.02
    assert found["exponent"]["stored"] < found["exponent"]["precise"] - 0.1


def test_damage_to_one_layer_is_attributed_to_it(tmp_path: Path) -> None:
    run_app_for_report(tmp_path, "--phase", "write", "--planes", "16", *SMALL[:2])
    path = tmp_path / "weights"
    last = PlaneFile(parse_model(MemorySource(path.read_bytes()))).planes[-1]
    data = np.fromfile(path, dtype=np.uint8)
    end = last.end_offset_of_planes
    data[last.at:end] = np.random.default_rng(1).integers(0, 256, end - last.at)
    data.tofile(path)
    found = run_app_for_report(tmp_path, "--phase", "read", *SMALL[2:])
    layers = [one["share"] for one in found["arrays"]]
    assert layers[:2] == [found["share"]["precise"]] * 2
    assert layers[2] == found["share"]["stored"] < 0.5


def test_damage_to_precise_data_is_reported(tmp_path: Path) -> None:
    run_app_for_report(tmp_path, "--phase", "write", *SMALL[:2])
    before = (tmp_path / "weights").read_bytes()
    model = parse_model(MemorySource(before))
    one = PlaneFile(model).planes[0]
    for name, at, sentence in (("weights", one.at, "precise data are damaged: the device"),
                               ("weights", model.tensors[0].offset + 100, "it is damaged"),
                               ("weights", 20, ""),
                               ("weights.precise", one.at, "precise data are damaged")):
        data = bytearray(before)
        data[at] ^= 1
        (tmp_path / name).write_bytes(data)
        done = run_app(tmp_path, "--phase", "read", "--draws", "8")
        assert done.code in (1, 4) and sentence in done.err, done
        assert done.err.startswith("approxftl app weights: ") and done.err.count("\n") == 1
        (tmp_path / name).write_bytes(before)
    assert run_app(tmp_path, "--phase", "read", "--draws", "8").code == 0


def test_invalid_options_are_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/weights").write_text("mine")
    for words, code, sentence in (
        ((tmp_path / "none",), 3, "is no directory"),
        ((tmp_path, "--phase", "read"), 3, "--phase write makes it"),
        ((tmp_path, "--type", "int8", "--planes", "9"), 2, "a number of int8 has 8"),
        ((tmp_path, "--planes", "17"), 2, "17 is not from 0 to 16"),
        ((tmp_path, "--level", "4"), 2, "4 is no level from 1 to 3, or LEVEL:PLANES"),
        ((tmp_path, "--level", "2:x"), 2, "2:x is no level"),
        ((tmp_path, "--label", "months="), 2, "months= is not KEY=VALUE,..."),
        ((tmp_path, "--label", "=3,a=b"), 2, "=3,a=b is not KEY=VALUE,..."),
        ((tmp_path, "--level", "3:8"), 2, "--level: of 8 planes 7 are approximate"),
        ((tmp_path / "full",), 1, "is not of this program; --force replaces it"),
        ((tmp_path, "--require"), 1, "there is no /dev/approxftl"),
    ):
        done = run_app(*words)
        assert (done.code, done.out) == (code, ""), done
        assert sentence in done.err and done.err.count("\n") == 1
    assert (tmp_path / "full/weights").read_text() == "mine"
    run_app_for_report(tmp_path / "full", "--force", "--phase", "write", *SMALL[:2])
    done = run_app(tmp_path / "full", "--phase", "read", "--planes", "3")
    assert done.code == 2 and "was made with 7" in done.err
    done = run_app(tmp_path / "full", "--phase", "read", "--level", "2:1")
    assert done.code == 2 and "made with [1, 1, 1, 1, 1, 1, 1]" in done.err


def test_app_weights_reports_that_the_package_scikit_learn_is_missing(tmp_path: Path) -> None:
    program = install_verb_without_module(tmp_path, "weights", "sklearn")
    (tmp_path / "lib/approxftl/python/sklearn.py").rename(tmp_path / "sklearn.py")
    empty = tmp_path / "lib/approxftl/python/sklearn"
    empty.mkdir()
    (empty / "__init__.py").touch()
    with (tmp_path / "bin/python-tools").open("r+") as file:
        package, python = file.read().split("\n")[:2]
        file.seek(0)
        file.write(f"{package}:{TOP}/userspace/python\n{python}\n")
    done = run_program(program, tmp_path)
    assert done.code == 1
    assert done.err == ("approxftl app weights: the digits are in the Python package scikit-learn: "
                        "pip install scikit-learn, or apt-get install python3-sklearn\n")
