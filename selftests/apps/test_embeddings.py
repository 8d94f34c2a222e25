# SPDX-License-Identifier: GPL-2.0-only
"""Test `approxftl app embeddings` without a device: the search, and effects of flipped bits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selftests.apps.test_weights import SCHEMA, flip_bits_of_bit_planes
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, Done, run_program

from approxftl_tools import vectors

SMALL = ("--vectors", "2048", "--dimensions", "32")


def run_app(*words: str | Path) -> Done:
    return run_program(BUILD / "approxftl", "app", "embeddings", *words)


def run_app_for_report(folder: Path, *words: str | Path) -> Any:
    done = run_app(folder, *words, "--json")
    assert (done.code, done.err) == (0, "")
    return parse_document(SCHEMA, done.out)


def test_nearest_vectors_are_those_that_an_exhaustive_search_finds() -> None:
    among, queries = vectors.make_vectors(500, 16, 3)
    assert np.allclose(np.linalg.norm(among, axis=1), 1, atol=1e-5)
    found = vectors.find_indices_of_nearest_vectors(among, queries)
    for query, indices in zip(queries, found, strict=True):
        apart = np.linalg.norm(among - query, axis=1)
        assert set(indices) == set(np.argsort(apart)[:10])
    assert vectors.compute_recall_of_nearest_vectors(among, 3) == 1
    assert vectors.compute_recall_of_nearest_vectors(among[::-1].copy(), 3) < 0.5


def test_damaged_vectors_are_not_found() -> None:
    among, queries = vectors.make_vectors(5000, 16, 3)
    found = vectors.find_indices_of_nearest_vectors(among, queries)
    gone = among.copy()
    gone[found[:, :5]] = np.nan
    assert vectors.compute_recall_of_nearest_vectors(gone, 3) <= 0.5
    gone[found] = np.nan
    assert vectors.compute_recall_of_nearest_vectors(gone, 3) == 0


@pytest.mark.parametrize(("kind", "planes", "rate"), [
    ("bfloat16", 7, 2e-2), ("int8", 8, 5e-3), ("bfloat16", 16, 2e-4)])
@pytest.mark.in_turn
def test_recall_falls_as_the_error_rate_predicts(kind: str, planes: int, rate: float, tmp_path: Path
                                                 ) -> None:
    for seed in range(3):
        run_app_for_report(tmp_path, "--phase", "write", "--type", kind, "--planes", str(planes),
                           *SMALL)
        flips = flip_bits_of_bit_planes(tmp_path, range(planes), rate, seed, "embeddings")
        found = run_app_for_report(tmp_path, "--phase", "read", "--draws", "40")
        assert found["inputs"]["flipped_bits"] == flips > 0
        guess = found["share"]["predicted"]
        assert found["share"]["stored"] < found["share"]["precise"]
        assert guess["low"] <= found["share"]["stored"] <= guess["high"], found["share"]


def test_files_of_another_program_are_refused(tmp_path: Path) -> None:
    run_app_for_report(tmp_path, "--phase", "write", *SMALL)
    for name in ("", ".precise"):
        (tmp_path / f"embeddings{name}").rename(tmp_path / f"weights{name}")
    done = run_program(BUILD / "approxftl", "app", "weights", tmp_path, "--phase", "read")
    assert done.code == 4 and "it is no file of this program" in done.err
    done = run_program(BUILD / "approxftl", "app", "weights", tmp_path)
    assert done.code == 1 and "--force replaces it" in done.err
