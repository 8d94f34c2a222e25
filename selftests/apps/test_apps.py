# SPDX-License-Identifier: GPL-2.0-only
"""Test the annotated programs without a device: numerics, files, damage, reports, refusals."""

import json
import math
import os
import re
import resource
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, Done, run_program

PROGRAM = BUILD / "approxftl-app"
SCHEMA = "userspace/apps/app-output.fields"
HEADER = 4096

SMALL: dict[str, list[str]] = {
    "fft": ["--size", "16384"],
    "smm": ["--size", "4096", "--degree", "8"],
    "lu": ["--size", "256"],
    "sor": ["--size", "128", "--rounds", "512"],
    "mc": ["--size", "65536"],
    "img": ["--width", "256", "--height", "256"],
    "vid": ["--width", "128", "--height", "64", "--frames", "12"],
    "log": ["--size", "9000"],
}
NUMERIC = ("fft", "smm", "lu", "sor", "mc")
MEASURES = {**dict.fromkeys(NUMERIC, "relative_error"), "log": "mean_absolute_error"}
WAYS = ("buffered", "direct", "mmap")
#: Files with approximate data, and the distance between headers in bytes.
INPUTS = {
    "fft": {"signal": 0}, "smm": {"values": 0, "vector": 0}, "lu": {"matrix": 0},
    "sor": {"grid": 0}, "mc": {"samples": 0}, "img": {"image": 0},
    "vid": {"video": HEADER + 128 * 64}, "log": {"series": 0},
}
Json = dict[str, Any]
Words = NDArray[np.float64]


def run_app(*arguments: str | Path) -> Done:
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_app_for_report(app: str, folder: Path, *arguments: str | Path, code: int = 0) -> Json:
    done = run_app(app, folder, *arguments, "--json")
    assert done.code == code, done.err
    return parse_document(SCHEMA, done.out)


def write_app_files(app: str, folder: Path, *arguments: str) -> None:
    run_app_for_report(app, folder, "--phase", "write", *SMALL[app], *arguments)


def run_app_for_result(app: str, folder: Path, *arguments: str) -> Json:
    return run_app_for_report(app, folder, "--phase", "compute", *arguments)


def read_float_values(path: Path) -> Words:
    return np.fromfile(path, dtype=np.float64, offset=HEADER)


def read_integer_values(path: Path) -> NDArray[np.uint64]:
    return np.fromfile(path, dtype=np.uint64, offset=HEADER)


def list_approximate_byte_offsets(app: str, data: NDArray[np.uint8], name: str) -> NDArray[np.intp]:
    """Return the offsets of all bytes of an input file in which bits may flip."""
    stride = INPUTS[app][name] or len(data)
    offsets = np.arange(len(data))
    return offsets[offsets % stride >= HEADER]


def flip_bits(app: str, folder: Path, rate: float, seed: int) -> int:
    """Flip bits of the approximate data at a given error rate; return the number of flips."""
    random = np.random.default_rng(seed)
    count = 0
    for name in INPUTS[app]:
        data = np.fromfile(folder / name, dtype=np.uint8)
        for bit in range(8):
            offsets = list_approximate_byte_offsets(app, data, name)
            hit = offsets[random.random(len(offsets)) < rate]
            data[hit] ^= np.uint8(1 << bit)
            count += len(hit)
        data.tofile(folder / name)
    return count


def compute_quality_loss(app: str, document: Json) -> float:
    quality = document["quality"]
    return float(quality[MEASURES.get(app, "mean_square_error")])


# Precise data


@pytest.mark.parametrize("app", SMALL)
@pytest.mark.parametrize("way", WAYS)
def test_apps_without_bit_errors_compute_the_right_result(app: str, way: str,
                                                          tmp_path: Path) -> None:
    folder = BUILD / "tests" / f"apps-{app}-{way}"  # some kernels lack O_DIRECT on tmpfs
    folder.mkdir(parents=True, exist_ok=True)
    document = run_app_for_report(app, folder, "--io", way, *SMALL[app], "--reference", tmp_path)
    assert document["check"]["passed"]
    assert not document["device_active"]
    assert compute_quality_loss(app, document) == 0
    assert document["inputs"]["flipped_bits"] == document["inputs"]["damaged_precise_bits"] == 0
    if app in MEASURES:
        assert document["quality"]["repaired_values"] == 0
    else:
        assert document["quality"]["psnr_db"] is None
        assert document["quality"]["ssim"] == 1
    assert list(tmp_path.iterdir()) == []


def rearrange_matrix_into_tiles(data: Words, rows: int, columns: int) -> NDArray[np.complex128]:
    points = data[: 2 * rows * columns].view(np.complex128)
    return points.reshape(rows // 32, columns // 32, 32, 32).swapaxes(1, 2).reshape(rows, columns)


@pytest.mark.parametrize(("size", "rows"), [(2048, 64), (16384, 128), (32768, 256)])
def test_app_fft_computes_the_transform_of_numpy(size: int, rows: int, tmp_path: Path) -> None:
    run_app_for_report("fft", tmp_path, "--size", str(size))
    signal = rearrange_matrix_into_tiles(read_float_values(tmp_path / "signal"), rows,
                                         size // rows).ravel()
    spectrum = rearrange_matrix_into_tiles(read_float_values(tmp_path / "spectrum"), rows,
                                           size // rows).T.ravel()
    assert np.allclose(spectrum, np.fft.fft(signal), rtol=0, atol=1e-9)
    assert 0.5 < np.abs(signal.real).mean() * 2 < 1.5


def rearrange_matrix_into_blocks(data: Words, side: int) -> Words:
    return data.reshape(side, side, 64, 64).swapaxes(1, 2).reshape(side * 64, side * 64)


def test_factors_of_app_lu_multiply_to_the_matrix(tmp_path: Path) -> None:
    run_app_for_report("lu", tmp_path, "--size", "192")
    matrix = rearrange_matrix_into_blocks(read_float_values(tmp_path / "matrix"), 3)
    factors = rearrange_matrix_into_blocks(read_float_values(tmp_path / "factors"), 3)
    product = (np.tril(factors, -1) + np.eye(192)) @ np.triu(factors)
    assert np.allclose(product, matrix, rtol=0, atol=1e-10)
    assert np.linalg.matrix_rank(matrix) == 192


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_app_smm_computes_the_matrix_product(rounds: int, tmp_path: Path) -> None:
    run_app_for_report("smm", tmp_path, "--size", "500", "--degree", "7", "--rounds", str(rounds))
    begins = read_integer_values(tmp_path / "rows")[:501].astype(int)
    columns = read_integer_values(tmp_path / "columns").astype(int)
    values = read_float_values(tmp_path / "values")
    vector = read_float_values(tmp_path / "vector")[:500]
    for _ in range(rounds):
        vector = np.array([
            values[a:b] @ vector[columns[a:b]] for a, b in pairwise(begins)
        ])
    assert np.allclose(read_float_values(tmp_path / "product")[:500], vector, rtol=1e-13)
    assert len(set(np.diff(begins))) > 5
    assert len(set(columns)) > 400


@pytest.mark.parametrize("rounds", [1, 15, 17, 40])
def test_app_sor_computes_the_textbook_iteration(rounds: int, tmp_path: Path) -> None:
    run_app_for_report("sor", tmp_path, "--size", "32", "--rounds", str(rounds))
    grid = read_float_values(tmp_path / "grid")[:1024].reshape(32, 32)
    omega = 2 / (1 + math.sin(math.pi / 31))
    for _ in range(rounds):
        for i in range(1, 31):
            for j in range(1, 31):
                around = grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1]
                grid[i, j] += omega * (around / 4 - grid[i, j])
    relaxed = read_float_values(tmp_path / "relaxed")[:1024].reshape(32, 32)
    assert np.allclose(relaxed, grid, rtol=0, atol=1e-12)


def test_app_mc_estimates_pi_from_its_stored_points(tmp_path: Path) -> None:
    run_app_for_report("mc", tmp_path, "--size", "8192")
    points = read_float_values(tmp_path / "samples").reshape(4, 2048, 2)
    inside = ((points**2).sum(axis=2) <= 1).mean(axis=1) * 4
    assert np.array_equal(read_float_values(tmp_path / "estimates")[:4], inside)


def test_frames_of_a_raw_video_are_pgm_images(tmp_path: Path) -> None:
    write_app_files("vid", tmp_path)
    data = (tmp_path / "video").read_bytes()
    for frame in range(12):
        image = data[frame * (HEADER + 128 * 64):]
        found = re.match(rb"P5\n(#[^\n]*\n)*(\d+) (\d+)\n255\n", image)
        assert found
        assert (found.end(), int(found[2]), int(found[3])) == (HEADER, 128, 64)
    assert len(data) == 12 * (HEADER + 128 * 64)


def test_video_stores_small_differences_between_frames(tmp_path: Path) -> None:
    write_app_files("vid", tmp_path, "--segment", "4")
    frames = np.fromfile(tmp_path / "video", dtype=np.uint8).reshape(12, -1)[:, HEADER:]
    spread = np.abs(frames.astype(np.int8).astype(int)).mean(axis=1)
    assert all(spread[frame] < 30 for frame in range(12) if frame % 4)
    assert run_app_for_result("vid", tmp_path)["quality"]["psnr_db"] is None


def test_apps_with_one_seed_write_the_same_files(tmp_path: Path) -> None:
    contents = []
    for seed in ("7", "7", "8"):
        write_app_files("lu", tmp_path, "--seed", seed)
        contents.append((tmp_path / "matrix").read_bytes())
    assert contents[0] == contents[1]
    assert contents[0][HEADER:] != contents[2][HEADER:]


# Damage


@pytest.mark.slow
@pytest.mark.parametrize("app", SMALL)
@pytest.mark.in_turn
def test_output_quality_falls_with_bit_errors(app: str, tmp_path: Path) -> None:
    means = []
    for rate in (1e-5, 2e-4, 4e-3, 5e-2):
        found = []
        for seed in range(3):
            write_app_files(app, tmp_path)
            flips = flip_bits(app, tmp_path, rate, seed)
            document = run_app_for_result(app, tmp_path)
            assert document["inputs"]["flipped_bits"] == flips
            assert document["inputs"]["damaged_precise_bits"] == 0
            assert document["check"]["passed"]
            found.append(compute_quality_loss(app, document))
        means.append(sum(found) / len(found))
    assert means == sorted(means)
    assert means[-1] > means[0]


@pytest.mark.parametrize("app", SMALL)
@pytest.mark.parametrize("content", ["00", "ff", "7ff0000000000001", "random"])
def test_apps_return_a_result_if_all_approximate_input_bytes_are_damaged(
        app: str, content: str, tmp_path: Path) -> None:
    write_app_files(app, tmp_path)
    for name in INPUTS[app]:
        data = np.fromfile(tmp_path / name, dtype=np.uint8)
        offsets = list_approximate_byte_offsets(app, data, name)
        pattern = np.frombuffer(bytes.fromhex("00" if content == "random" else content)[::-1],
                                dtype=np.uint8)
        data[offsets] = np.resize(pattern, len(offsets)) if content != "random" else (
            np.random.default_rng(5).integers(0, 256, len(offsets)))
        data.tofile(tmp_path / name)
    document = run_app_for_result(app, tmp_path)
    assert compute_quality_loss(app, document) > 0
    if app in NUMERIC and content.startswith(("ff", "7f")):
        assert document["quality"]["repaired_values"] >= len(offsets) // 8


def test_psnr_follows_from_the_flipped_bits(tmp_path: Path) -> None:
    write_app_files("img", tmp_path, "--width", "1024", "--height", "1024")
    flips = flip_bits("img", tmp_path, 7.2e-4, 3)
    quality = run_app_for_result("img", tmp_path)["quality"]
    expected = 10 * math.log10(255**2 / (flips / 2**23 * sum(4**bit for bit in range(8))))
    assert quality["expected_psnr_db"] == pytest.approx(expected, abs=1e-3)
    # The mean square of 2^20 pixels has a standard deviation of 2.8 %.
    assert quality["psnr_db"] == pytest.approx(expected, abs=0.5)
    assert 35 < quality["psnr_db"] < 37.5
    assert 0.5 < quality["ssim"] < 1


@pytest.mark.parametrize(("app", "name", "offset"), [
    ("fft", "signal", 3), ("smm", "columns", HEADER + 7), ("smm", "rows", HEADER + 803),
    ("smm", "rows", 100), ("vid", "video", 5 * (HEADER + 128 * 64) + 9), ("img", "image", 0),
])
def test_damage_to_precise_data_is_reported(
        app: str, name: str, offset: int, tmp_path: Path) -> None:
    write_app_files(app, tmp_path)
    data = bytearray((tmp_path / name).read_bytes())
    data[offset] ^= 0x40
    (tmp_path / name).write_bytes(data)
    done = run_app(app, tmp_path, "--phase", "compute")
    assert done.code in (1, 4), done.err
    assert done.err.count("\n") == 1
    assert str(tmp_path) in done.err or "precise data are damaged" in done.err


@pytest.mark.parametrize("app", SMALL)
@pytest.mark.parametrize("kept", [0, 1000, HEADER, HEADER + 5000])
def test_truncated_files_are_refused(app: str, kept: int, tmp_path: Path) -> None:
    write_app_files(app, tmp_path)
    name = next(iter(INPUTS[app]))
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:kept])
    done = run_app(app, tmp_path, "--phase", "compute")
    assert done.code == 1, done.err
    assert done.err.count("\n") == 1
    assert f"{tmp_path}/{name}: " in done.err


def test_a_header_of_another_program_is_refused(tmp_path: Path) -> None:
    write_app_files("lu", tmp_path)
    (tmp_path / "signal").write_bytes((tmp_path / "matrix").read_bytes())
    done = run_app("fft", tmp_path, "--phase", "compute")
    assert done.code == 1
    assert "signal: of another program than fft" in done.err


# Command line


def test_phases_of_an_app_that_run_separately_report_the_same_parameters(tmp_path: Path) -> None:
    whole = run_app_for_report("sor", tmp_path, *SMALL["sor"])
    write_app_files("sor", tmp_path)
    later = run_app_for_result("sor", tmp_path)
    assert whole["parameters"] == later["parameters"]
    assert {"write_ns", "compute_ns"} <= set(whole)
    assert "write_ns" not in later
    assert run_app("sor", tmp_path, "--phase", "read").code == 0


def test_text_report_of_an_app_has_psnr_and_flipped_bits(tmp_path: Path) -> None:
    done = run_app("img", tmp_path, *SMALL["img"])
    assert (done.code, done.err) == (0, "")
    for words_of_it in ("no device of dm-approxftl here", "PSNR", "infinite", "flipped bits"):
        assert words_of_it in done.out
    assert run_app("img", tmp_path, f"--json={tmp_path / 'out'}").out.startswith("img:")
    assert json.loads((tmp_path / "out").read_text())["app"] == "img"


def test_approxftl_report_shows_the_psnr_of_each_app_run(tmp_path: Path) -> None:
    files = []
    for policy, rate in (("baseline", 0.0), ("approxftl", 1e-3)):
        write_app_files("img", tmp_path)
        flip_bits("img", tmp_path, rate, 1)
        files.append(tmp_path / f"{policy}.app.json")
        files[-1].write_text(json.dumps(run_app_for_result("img", tmp_path)))
    page = tmp_path / "page.html"
    done = run_program(BUILD / "approxftl-report", *files, "-O", page)
    assert (done.code, done.err) == (0, "")
    expected = json.loads(files[1].read_text())["quality"]["psnr_db"]
    found = re.search(r"PSNR, dB</th><td>infinite</td><td>([\d.]+)", page.read_text())
    assert found
    assert float(found[1]) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("arguments", "code", "sentence"), [
    ([], 2, "PROGRAM missing"),
    (["ftf", "."], 2, "did you mean fft?"),
    (["fft"], 2, "DIRECTORY missing"),
    (["fft", ".", "x"], 2, "one word too many"),
    (["fft", ".", "--bogus"], 2, "--bogus"),
    (["fft", ".", "--size"], 2, "--size"),
    (["fft", ".", "--size", "x"], 2, "--size"),
    (["fft", ".", "--size", "0"], 2, "--size: 0 is out of range; it must be 4"),
    (["fft", ".", "--rounds", "3"], 2, "program fft has no option --rounds"),
    (["fft", ".", "--io", "aio"], 2, "is not buffered, direct or mmap"),
    (["fft", ".", "--phase", "later"], 2, "is not all, write or compute"),
    (["img", ".", "--width", "99999999"], 2, "is out of range; it must be 64 to 16384"),
    (["fft", ".", "--size", "5000"], 1, "power of 2"),
    (["lu", ".", "--size", "100"], 1, "multiple of 64"),
    (["fft", "/nonexistent"], 3, "cannot open the directory"),
    (["fft", ".", "--require"], 1, "approxftl app: .: "),
    (["img", ".", "--reference", "/nonexistent"], 3, "--reference names another place"),
])
def test_wrong_options_are_refused(arguments: list[str], code: int, sentence: str,
                                   tmp_path: Path) -> None:
    done = run_program(PROGRAM, *arguments, directory=tmp_path)
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("approxftl app: ")
    assert done.err.count("\n") == 1
    assert sentence in done.err


def test_compute_needs_the_files_of_the_write_phase(tmp_path: Path) -> None:
    done = run_app("lu", tmp_path, "--phase", "compute")
    assert done.code == 3
    assert "matrix: no such file; --phase write creates it" in done.err
    write_app_files("lu", tmp_path)
    done = run_app("lu", tmp_path, "--phase", "compute", "--seed", "9")
    assert done.code == 1
    assert "other parameters" in done.err


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    limit = (1 << 20, 1 << 20)
    done = subprocess.run(
        [PROGRAM, "mc", tmp_path], capture_output=True, check=False, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        restore_signals=False,  # SIGXFSZ stays ignored
    )
    assert done.returncode == 1
    assert "samples: cannot make room: File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


FOREIGN = {
    "a line": b"thesis\n",
    "a text": b"thesis\n" * 1000,
    "a picture": b"P5\n# Created by hand\n64 64\n255\n" + bytes(4096),
}


@pytest.mark.parametrize(("app", "content"), [
    *((app, "a text") for app in SMALL), ("mc", "a line"), ("img", "a picture")])
def test_files_of_other_programs_are_not_overwritten(app: str, content: str,
                                                     tmp_path: Path) -> None:
    path = tmp_path / next(iter(INPUTS[app]))
    path.write_bytes(FOREIGN[content])
    done = run_app(app, tmp_path, *SMALL[app])
    assert done.code == 1
    assert done.err == (f"approxftl app: {path}: is another program's; "
                        "name another directory or --force\n")
    assert path.read_bytes() == FOREIGN[content]
    run_app_for_report(app, tmp_path, *SMALL[app], "--force")
    run_app_for_report(app, tmp_path, *SMALL[app])


def test_an_empty_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "samples").touch()
    run_app_for_report("mc", tmp_path, *SMALL["mc"])


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("name", ["samples", "estimates"])
def test_symbolic_links_in_place_of_data_files_are_not_followed(name: str, force: tuple[str, ...],
                                                                tmp_path: Path) -> None:
    folder, precious = tmp_path / "d", tmp_path / "precious"
    folder.mkdir()
    write_app_files("mc", folder)
    (folder / "samples").rename(precious)
    before = precious.read_bytes()
    for target in ("../precious", "../nowhere"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        done = run_app("mc", folder, *SMALL["mc"], *force)
        assert done.code == 1
        assert f"{name}: is a link, which is not followed; remove it" in done.err
        assert (folder / name).is_symlink()
    assert precious.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


def test_pipes_are_refused_as_data_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "samples")
    done = run_app("mc", tmp_path, *SMALL["mc"], "--force")
    assert done.code == 1
    assert "samples: is no regular file; remove it" in done.err
    assert (tmp_path / "samples").is_fifo()
