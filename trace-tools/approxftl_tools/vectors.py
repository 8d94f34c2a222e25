# SPDX-License-Identifier: GPL-2.0-only
"""Clustered vectors like embeddings, and the search for the nearest ones."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from approxftl_tools.arrays import np
from approxftl_tools.lossy import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUERIES, NEAREST = 256, 10
#: Mean number of vectors in a cluster, and their distance from its centre.
GROUP, SPREAD = 64, 0.7


def _draw_vectors(count: int, centres: NDArray[np.float64], chance: np.random.Generator) -> Floats:
    """Return vectors of length 1 around random centres."""
    values = centres[chance.integers(0, len(centres), count)]
    values += chance.normal(0, SPREAD / centres.shape[1]**0.5, values.shape)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values.astype(np.float32)


@cache
def make_vectors(count: int, dimensions: int, seed: int) -> tuple[Floats, Floats]:
    """Return vectors to search in, and query vectors."""
    chance = np.random.default_rng([seed, 4])
    centres = chance.normal(0, dimensions**-0.5, (max(1, count // GROUP), dimensions))
    return (_draw_vectors(count, centres, chance), _draw_vectors(QUERIES, centres, chance))


def find_indices_of_nearest_vectors(among: Floats, queries: Floats) -> NDArray[np.int64]:
    """Return the indices of the largest scalar products, unsorted; NaN ranks last."""
    with np.errstate(all="ignore"):
        found = np.nan_to_num(queries @ among.T, nan=-np.inf)
    return np.argpartition(found, -NEAREST, axis=1)[:, -NEAREST:]


@cache
def _true_neighbours(count: int, dimensions: int, seed: int) -> NDArray[np.int64]:
    return find_indices_of_nearest_vectors(*make_vectors(count, dimensions, seed))


def compute_recall_of_nearest_vectors(stored: Floats, seed: int) -> float:
    """Return the share of the true nearest vectors that a search of the stored ones still finds."""
    truth = _true_neighbours(*stored.shape, seed)
    found = find_indices_of_nearest_vectors(stored, make_vectors(*stored.shape, seed)[1])
    hits = (found[:, :, None] == truth[:, None, :]).any(axis=2)
    return float(hits.mean())
