# SPDX-License-Identifier: GPL-2.0-only
"""Test layouts and (predicted) damage of progressive images, groups of pictures and logs.

Independent decoders read the files here; they follow the manual page and the comments at the head
of the sources.
"""

import math
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from selftests.apps.test_apps import HEADER, WAYS, Json, run_app, run_app_for_report

Bytes = NDArray[np.uint8]
Pictures = NDArray[np.int64]
Setup = dict[str, int]
UNIT = 4096
BLOCK = 2048
STEP = 8
NAMES = {"img": "image", "vid": "video", "log": "series"}
SLOW_INPUTS = [HealthCheck.too_slow, HealthCheck.data_too_large]


def make_media_options(setup: Setup) -> list[str]:
    return [word for name, value in setup.items() for word in (f"--{name}", str(value))]


def write_media_file(app: str, folder: Path, setup: Setup, *more: str) -> Path:
    run_app_for_report(app, folder, "--phase", "write", *make_media_options(setup), *more)
    return folder / NAMES[app]


def run_media_compute_phase(app: str, folder: Path, code: int = 0) -> Json:
    return run_app_for_report(app, folder, "--phase", "compute", code=code)


# Layouts


def compute_image_scan_sizes(setup: Setup) -> list[int]:
    """Return each scan of an image without header, as runs of one bit plane of a coefficient."""
    late = (setup["scans"] - 1) // 2
    runs = [8 + 63 * (8 - late)] + [9, 54] * late
    return [-(-count * setup["width"] * setup["height"] // 512 // UNIT) * UNIT for count in runs]


def split_image_scans(data: Bytes, setup: Setup) -> list[Bytes]:
    ends = np.cumsum([HEADER + size for size in compute_image_scan_sizes(setup)])
    assert ends[-1] == len(data)
    parts = np.split(data, ends[:-1])
    for number, part in enumerate(parts):
        assert f"\nscan {number} of {setup['scans']}\n".encode() in bytes(part[:HEADER])
    return [part[HEADER:] for part in parts]


def list_bit_planes_of_scan(scan: int, late: int) -> list[tuple[int, int]]:
    """Return the coefficients and bit planes that a scan of an image holds, in order."""
    if scan == 0:
        return [(cell, plane) for cell in range(64)
                for plane in range(7, late - 1 if cell else -1, -1)]
    cells = range(1, 10) if scan % 2 else range(10, 64)
    return [(cell, late - 1 - (scan - 1) // 2) for cell in cells]


def decode_scans(data: Bytes, setup: Setup, count: int | None = None) -> Pictures:
    """Decode the first scans of an image; bits of missing scans are 0."""
    width, height = setup["width"], setup["height"]
    blocks = width * height // 64
    cells = np.zeros((64, blocks), dtype=np.int64)
    for number, scan in enumerate(split_image_scans(data, setup)[:count]):
        bits = np.unpackbits(scan, bitorder="little")
        for run_at, (cell, plane) in enumerate(list_bit_planes_of_scan(number, (setup["scans"] - 1)
                                                                       // 2)):
            cells[cell] |= bits[run_at * blocks:][:blocks].astype(np.int64) << plane
    places = sorted(((row, column) for row in range(8) for column in range(8)),
                    key=lambda place: (sum(place), place[0]))
    values = np.zeros((blocks, 8, 8))
    for cell, (row, column) in enumerate(places):
        values[:, row, column] = (cells[cell] - 128) * STEP
    basis = np.array([[math.sqrt((2 if u else 1) / 8) * math.cos((2 * x + 1) * u * math.pi / 16)
                       for x in range(8)] for u in range(8)])
    pixels = np.clip(np.floor(basis.T @ values @ basis + 128 + 0.5), 0, 255).astype(np.int64)
    grid: Pictures = pixels.reshape(height // 8, width // 8, 8, 8)
    return grid.swapaxes(1, 2).reshape(height, width)


def decode_video(data: Bytes, setup: Setup) -> Pictures:
    frames = data.reshape(setup["frames"], -1)[:, HEADER:].astype(np.int64)
    begins = np.arange(setup["frames"]) // setup["group"] * setup["group"]
    sums = np.cumsum(frames, axis=0)
    before = np.where(begins[:, None] > 0, sums[begins - 1], 0)
    result: Pictures = (sums - before) % 256
    return result.reshape(setup["frames"], setup["height"], setup["width"])


def decode_time_series(folder: Path, size: int) -> tuple[NDArray[np.int64], int]:
    """Return the decoded samples of a log, and the number of samples that cannot be decoded."""
    stored = np.fromfile(folder / "series", dtype="<u2", offset=HEADER).astype(np.int64)
    index = np.fromfile(folder / "index", dtype="<i8", offset=HEADER)
    pairs = np.fromfile(folder / "outliers", dtype="<i8", offset=HEADER)
    pairs = pairs[: int(np.argmax(pairs == -1))].reshape(-1, 2)
    outliers = dict(map(tuple, pairs.tolist()))
    values, repaired, before = [], 0, 0
    for at in range(size):
        least, span = index[2 * (at // BLOCK): 2 * (at // BLOCK) + 2]
        if at % BLOCK == 0:
            before = 0
        if at in outliers:
            values.append(outliers[at])
            continue
        if stored[at] <= span:
            before = stored[at]
        else:
            repaired += 1
        values.append(least + before)
    return np.array(values), repaired


def read_raw_pictures(app: str, setup: Setup) -> Pictures:
    plain = {key: value for key, value in setup.items() if key not in {"scans", "group"}}
    with TemporaryDirectory() as folder:
        data = np.fromfile(write_media_file(app, Path(folder), plain), dtype=np.uint8)
    frames = data.reshape(setup.get("frames", 1), -1)[:, HEADER:]
    return frames.reshape(-1, setup["height"], setup["width"]).astype(np.int64)


def make_precise_unit_mask(app: str, data: Bytes, setup: Setup) -> NDArray[np.bool_]:
    """Return a mask of the units of a file: true for units in which no bits may flip."""
    units = np.arange(len(data) // UNIT)
    if app == "log":
        return np.equal(units, 0)
    if app == "vid":
        frame, place = np.divmod(units, 1 + setup["width"] * setup["height"] // UNIT)
        intra: NDArray[np.bool_] = frame % setup["group"] == 0
        return intra | np.equal(place, 0)
    marks = [np.arange(1 + size // UNIT) == 0 for size in compute_image_scan_sizes(setup)]
    marks[0][:] = True
    return np.concatenate(marks)


def flip_bits(path: Path, precise: NDArray[np.bool_], rate: float, seed: int) -> int:
    random = np.random.default_rng(seed)
    bits = np.unpackbits(np.fromfile(path, dtype=np.uint8)).reshape(len(precise), -1)
    hit = (random.random(bits.shape) < rate) & ~precise[:, None]
    np.packbits(bits ^ hit).tofile(path)
    return int(hit.sum())


SIDES = st.integers(1, 4).map(lambda count: 64 * count)
SEEDS = st.integers(1, 2**64 - 1)
SETUPS: dict[str, st.SearchStrategy[Setup]] = {
    "img": st.fixed_dictionaries({"width": SIDES, "height": SIDES, "seed": SEEDS,
                                  "scans": st.integers(1, 7).map(lambda half: 2 * half + 1)}),
    "vid": st.fixed_dictionaries({"width": SIDES, "height": SIDES, "seed": SEEDS,
                                  "frames": st.integers(1, 9), "group": st.integers(2, 9)}),
    "log": st.fixed_dictionaries({"size": st.integers(4, 9000), "seed": SEEDS}),
}
FORMS = st.sampled_from(sorted(SETUPS)).flatmap(
    lambda app: st.tuples(st.just(app), SETUPS[app]))


@pytest.mark.slow
@given(FORMS, st.sampled_from(["buffered", "mmap"]))
@settings(max_examples=40, suppress_health_check=SLOW_INPUTS)
def test_media_files_are_read_back_as_written(form: tuple[str, Setup], way: str) -> None:
    app, setup = form
    with TemporaryDirectory() as place:
        folder = Path(place)
        path = write_media_file(app, folder, setup, "--io", way)
        document = run_media_compute_phase(app, folder)
        data = np.fromfile(path, dtype=np.uint8)
        quality = document["quality"]
        assert document["check"]["passed"]
        assert document["check"]["error"] == 0
        precise = make_precise_unit_mask(app, data, setup)
        assert document["inputs"]["approximate_bytes"] == UNIT * int((~precise).sum())
        if app == "log":
            assert quality["mean_absolute_error"] == quality["repaired_values"] == 0
        else:
            assert quality["mean_square_error"] == 0
            assert quality["ssim"] == 1
        if app == "vid":
            assert np.array_equal(decode_video(data, setup), read_raw_pictures(app, setup))
        if app == "img":
            coded = ((decode_scans(data, setup) - read_raw_pictures(app, setup)[0]) ** 2).mean()
            assert 10 * math.log10(255**2 / coded) == pytest.approx(
                quality["coding_psnr_db"], abs=0.001)
            assert quality["coding_psnr_db"] > 38


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("app", "setup"), [
    ("img", {"width": 128, "height": 64, "scans": 7}),
    ("vid", {"width": 128, "height": 64, "frames": 7, "group": 3}), ("log", {"size": 5000})])
def test_every_io_mode_writes_the_same_media_files(app: str, setup: Setup, way: str,
                                                   tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder, how in ((first, "buffered"), (second, way)):
        folder.mkdir()
        run_app_for_report(app, folder, "--io", how, *make_media_options(setup))
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()


def test_stored_outliers_of_a_time_series_equal_its_jumps(tmp_path: Path) -> None:
    write_media_file("log", tmp_path, {"size": 9000})
    values, repaired = decode_time_series(tmp_path, 9000)
    assert repaired == 0
    jumps = np.abs(values - np.median(values)) > 60000
    assert 5 < jumps.sum() < 40
    pairs = np.fromfile(tmp_path / "outliers", dtype="<i8", offset=HEADER)[: 2 * jumps.sum()]
    assert np.array_equal(pairs[::2], np.flatnonzero(jumps))
    assert np.array_equal(pairs[1::2], values[jumps])


def test_each_scan_of_a_progressive_image_improves_the_picture(tmp_path: Path) -> None:
    setup = {"width": 256, "height": 256, "scans": 11}
    data = np.fromfile(write_media_file("img", tmp_path, setup), dtype=np.uint8)
    original = read_raw_pictures("img", setup)[0]
    errors = [float(((decode_scans(data, setup, count) - original) ** 2).mean())
              for count in range(1, 12)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 100 * errors[-1]


# Damage


def test_a_video_error_stays_within_its_group_of_pictures(tmp_path: Path) -> None:
    setup = {"width": 64, "height": 64, "frames": 11, "group": 4}
    path = write_media_file("vid", tmp_path, setup)
    clean = np.fromfile(path, dtype=np.uint8)
    frame = HEADER + 64 * 64
    for hit in range(11):
        if hit % 4 == 0:
            continue
        data = clean.copy()
        data[hit * frame + HEADER + 77] ^= 0x10
        data.tofile(path)
        spoilt = np.flatnonzero((decode_video(data, setup) != decode_video(clean,
                                                                           setup)).any(axis=(1, 2)))
        assert spoilt.tolist() == list(range(hit, min(hit // 4 * 4 + 4, 11)))
        squares = run_media_compute_phase("vid", tmp_path)["quality"]["mean_square_by_position"]
        assert [value > 0 for value in squares] == [
            position >= hit % 4 and hit // 4 * 4 + position < 11 for position in range(4)]


def test_video_errors_grow_with_the_position_in_a_group_of_pictures(tmp_path: Path) -> None:
    setup = {"width": 320, "height": 192, "frames": 24, "group": 6}
    path = write_media_file("vid", tmp_path, setup)
    data = np.fromfile(path, dtype=np.uint8)
    flip_bits(path, make_precise_unit_mask("vid", data, setup), 7.2e-4, 1)
    quality = run_media_compute_phase("vid", tmp_path)["quality"]
    squares = quality["mean_square_by_position"]
    assert squares[0] == 0
    assert squares == sorted(squares)
    assert squares[5] == pytest.approx(5 * squares[1], rel=0.25)
    assert sum(squares) / 6 == pytest.approx(quality["mean_square_error"], rel=1e-5)


#: The tolerance in standard deviations, plus the effect of several errors in one value.
SIGMAS = 4
COINCIDENCES = 0.04


@pytest.mark.parametrize("rate", [1e-4, 7.2e-4, 2e-3])
@pytest.mark.parametrize(("app", "setup"), [
    *(("img", {"width": 512, "height": 512, "scans": count}) for count in (3, 5, 9, 11)),
    *(("vid", {"width": 192, "height": 128, "frames": 20, "group": count})
      for count in (2, 8, 20)),
    ("log", {"size": 150000}),
])
def test_media_quality_is_as_the_error_rate_predicts(app: str, setup: Setup, rate: float,
                                                     tmp_path: Path) -> None:
    path = write_media_file(app, tmp_path, setup)
    precise = make_precise_unit_mask(app, np.fromfile(path, dtype=np.uint8), setup)
    flips = flip_bits(path, precise, rate, 11)
    document = run_media_compute_phase(app, tmp_path)
    inputs, quality = document["inputs"], document["quality"]
    assert inputs["flipped_bits"] == flips
    assert inputs["damaged_precise_bits"] == 0
    wanted = rate * 8 * inputs["approximate_bytes"]
    assert abs(flips - wanted) < SIGMAS * math.sqrt(wanted)
    name = "mean_absolute_error" if app == "log" else "mean_square_error"
    found, expected = quality[name], quality[f"expected_{name}"]
    band = SIGMAS * quality["expected_deviation"] + COINCIDENCES * expected
    assert abs(found - expected) < band
    assert band < expected, "a band as wide as this holds anything"
    if app == "log":
        assert quality["repaired_values"] > 0
    else:
        assert 10 * math.log10(255**2 / expected) == pytest.approx(quality["expected_psnr_db"],
                                                                   abs=0.01)


def test_the_predicted_error_of_a_video_equals_that_of_flipping_each_bit(tmp_path: Path) -> None:
    setup = {"width": 64, "height": 128, "frames": 8, "group": 3}
    path = write_media_file("vid", tmp_path, setup)
    clean = np.fromfile(path, dtype=np.uint8)
    stored, pixels = clean.reshape(8, -1)[:, HEADER:], decode_video(clean, setup).reshape(8, -1)
    total, squared = 0.0, 0.0
    for frame in (1, 2, 4, 5, 7):
        for bit in range(8):
            change = np.where(stored[frame] >> bit & 1, -1, 1) << bit
            reached = pixels[frame:frame // 3 * 3 + 3]
            energy = (((reached + change) % 256 - reached) ** 2).sum(axis=0)
            total += float(energy.sum())
            squared += float((energy**2.0).sum())
    data = clean.copy()
    data[clean.size // 8 + HEADER] ^= 1
    data.tofile(path)
    document = run_media_compute_phase("vid", tmp_path)
    rate = 1 / 8 / document["inputs"]["approximate_bytes"]
    quality = document["quality"]
    assert quality["expected_mean_square_error"] == pytest.approx(rate * total / pixels.size,
                                                                  abs=1e-6)
    spread = math.sqrt(rate * squared) / pixels.size
    assert spread * 0.999 < quality["expected_deviation"] < 1.1 * spread


def test_damaged_progressive_images_have_a_higher_psnr_than_raw_ones(tmp_path: Path) -> None:
    found = {}
    for name, more in (("raw", {}), ("progressive", {"scans": 9})):
        folder = tmp_path / name
        folder.mkdir()
        setup = {"width": 512, "height": 512, **more}
        path = write_media_file("img", folder, setup)
        units = path.stat().st_size // UNIT
        precise = (make_precise_unit_mask("img", np.zeros(units * UNIT, dtype=np.uint8), setup)
                   if more else np.arange(units) == 0)
        flip_bits(path, precise, 7.2e-4, 5)
        found[name] = run_media_compute_phase("img", folder)["quality"]["psnr_db"]
    assert found["progressive"] > found["raw"] + 5


def test_an_unterminated_list_of_outliers_is_refused(tmp_path: Path) -> None:
    write_media_file("log", tmp_path, {"size": 5000})
    path = tmp_path / "outliers"
    words = (path.stat().st_size - HEADER) // 8
    endless = np.repeat(np.arange(words // 2, dtype="<u8"), 2).tobytes()
    path.write_bytes(path.read_bytes()[:HEADER] + endless)
    done = run_app("log", tmp_path, "--phase", "compute")
    assert done.code == 1
    assert done.err.startswith(f"approxftl app: {path}: page ")
    assert done.err.endswith(" is beyond the end\n")


def test_impossible_samples_of_a_time_series_are_replaced_by_the_previous_ones(
        tmp_path: Path) -> None:
    path = write_media_file("log", tmp_path, {"size": 5000})
    before, _ = decode_time_series(tmp_path, 5000)
    data = np.fromfile(path, dtype=np.uint8)
    random = np.random.default_rng(2)
    data[HEADER:] = np.where(random.random(len(data) - HEADER) < 0.05,
                             random.integers(0, 256, len(data) - HEADER), data[HEADER:])
    data.tofile(path)
    values, repaired = decode_time_series(tmp_path, 5000)
    quality = run_media_compute_phase("log", tmp_path)["quality"]
    assert quality["repaired_values"] == repaired > 50
    assert quality["mean_absolute_error"] == pytest.approx(
        float(np.abs(values - before).mean()), abs=1e-6)


Spots = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=40)),
                 max_size=30)


def corrupt_bytes_at_offsets(path: Path, spots: list[tuple[float, bytes]]) -> None:
    data = bytearray(path.read_bytes())
    for place, content in spots:
        at = int(place * len(data))
        data[at:at + len(content)] = content[: len(data) - at]
    path.write_bytes(data)


@pytest.mark.slow
@given(FORMS, st.data())
@settings(max_examples=60, suppress_health_check=SLOW_INPUTS)
def test_damaged_media_files_are_refused_or_read(form: tuple[str, Setup],
                                                 data: st.DataObject) -> None:
    app, setup = form
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_media_file(app, folder, setup)
        paths = sorted(path for path in folder.iterdir())
        path = data.draw(st.sampled_from(paths))
        corrupt_bytes_at_offsets(path, data.draw(Spots))
        if data.draw(st.booleans()):
            kept = int(data.draw(st.floats(0, 1)) * path.stat().st_size)
            path.write_bytes(path.read_bytes()[:kept])
        done = run_app(app, folder, "--phase", "compute")
        assert done.code in (0, 1, 4), done.err
        assert done.err.count("\n") == (done.code > 0)
        if done.code == 1:
            assert f"{place}/" in done.err


@pytest.mark.parametrize(("app", "setup", "name", "offset", "code"), [
    ("img", {"width": 64, "height": 64, "scans": 5}, "image", HEADER + 9, 4),
    ("img", {"width": 64, "height": 64, "scans": 5}, "image", 2 * HEADER + 300, 1),
    ("vid", {"width": 64, "height": 64, "frames": 7, "group": 3}, "video", 6 * 8192 + 5000, 4),
    ("log", {"size": 5000}, "index", HEADER + 1, 4),
    ("log", {"size": 5000}, "outliers", HEADER + 3, 4),
    ("log", {"size": 5000}, "series", 9, 1),
])
def test_damage_to_precise_parts_is_reported(
        app: str, setup: Setup, name: str, offset: int, code: int, tmp_path: Path) -> None:
    write_media_file(app, tmp_path, setup)
    data = bytearray((tmp_path / name).read_bytes())
    data[offset] ^= 0x40
    (tmp_path / name).write_bytes(data)
    done = run_app(app, tmp_path, "--phase", "compute")
    assert done.code == code, done.err
    assert done.err.count("\n") == 1


def change_numbers_in_media_header(path: Path, **changes: int) -> None:
    """Change numbers in the header of an image or log, and keep the header's length."""
    header = path.read_bytes()[:HEADER]
    for name, value in changes.items():
        line = re.search(rb"# %s \d+\n" % name.encode(), header)
        assert line
        changed = f"# {name} {value}\n".encode()
        header = header[:line.start()] + changed + header[line.end():]
        header = (header + b"#" * HEADER)[:HEADER]
    path.write_bytes(header + path.read_bytes()[HEADER:])


@pytest.mark.parametrize(("app", "setup", "changes", "sentence"), [
    ("img", {"width": 64, "height": 64, "scans": 5}, {"scans": 4}, "of another program than img"),
    ("img", {"width": 64, "height": 64, "scans": 5}, {"scans": 99}, "scans 99 is not between"),
    ("img", {"width": 64, "height": 64, "scans": 5}, {"segment": 4}, "of another program than img"),
    ("img", {"width": 64, "height": 64, "scans": 5}, {"width": 16384, "height": 16384},
     "the file is shorter than its header says"),
    ("vid", {"width": 64, "height": 64, "group": 5}, {"group": 257}, "group 257 is not between"),
    ("vid", {"width": 64, "height": 64, "group": 5}, {"group": 1}, "group 1 is not between"),
    ("vid", {"width": 64, "height": 64, "group": 5}, {"segment": 3}, "of another program than vid"),
    ("log", {"size": 5000}, {"size": 2**30}, "the file is shorter than its header says"),
    ("log", {"size": 5000}, {"size": 2**31}, "of another program than log"),
])
def test_media_files_with_wrong_headers_are_refused(app: str, setup: Setup, changes: dict[str, int],
                                                    sentence: str, tmp_path: Path) -> None:
    change_numbers_in_media_header(write_media_file(app, tmp_path, setup), **changes)
    done = run_app(app, tmp_path, "--phase", "compute")
    assert done.code == 1
    assert sentence in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "code", "sentence"), [
    (["img", "--scans", "8"], 1, "scans, 3 to 15, is odd"),
    (["img", "--scans", "9", "--segment", "4"], 1, "with segment 1"),
    (["img", "--scans", "17"], 2, "--scans: 17 is out of range; it must be 3 to 15"),
    (["img", "--group", "4"], 2, "program img has no option --group"),
    (["vid", "--scans", "9"], 2, "program vid has no option --scans"),
    (["vid", "--group", "4", "--segment", "2"], 1, "with segment 1"),
    (["vid", "--group", "1"], 2, "--group: 1 is out of range; it must be 2 to 256"),
    (["log", "--size", "2000000000"], 1, "size is at most 2^30"),
    (["log", "--scans", "3"], 2, "program log has no option --scans"),
])
def test_impossible_media_parameters_are_refused(arguments: list[str], code: int, sentence: str,
                                                 tmp_path: Path) -> None:
    done = run_app(*arguments[:1], tmp_path, *arguments[1:])
    assert done.code == code
    assert sentence in done.err
    assert list(tmp_path.iterdir()) == []


def test_media_apps_print_predicted_and_measured_quality(tmp_path: Path) -> None:
    lines: dict[str, tuple[Setup, tuple[str, ...]]] = {
        "img": ({"width": 64, "height": 64, "scans": 9}, ("PSNR ", "of the form without errors")),
        "vid": ({"width": 64, "height": 64, "group": 4}, ("first and the last of a group", )),
        "log": ({"size": 9000}, ("mean absolute error", "samples that could not be")),
    }
    for app, (setup, words) in lines.items():
        path = write_media_file(app, tmp_path, setup)
        assert "to be expected" not in run_app(app, tmp_path, "--phase", "read").out
        data: Any = np.fromfile(path, dtype=np.uint8)
        flip_bits(path, make_precise_unit_mask(app, data, {"frames": 32, **setup}), 1e-3, 1)
        done = run_app(app, tmp_path, "--phase", "read")
        assert done.code == 0
        for word in (*words, "  to be expected of the flipped bits"):
            assert word in done.out
