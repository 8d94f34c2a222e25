# SPDX-License-Identifier: GPL-2.0-only
"""approxftl app embeddings: search the nearest vectors in an index that loses bits."""

import sys
from collections.abc import Sequence

from approxftl.models.tensors import Tensor
from approxftl_tools import lossy, plane_app, vectors
from approxftl_tools.lossy import KINDS
from approxftl_tools.plane_app import Json, Parameter, Subject

EPILOG = """\
Vectors of length 1, in groups, are stored by bit plane, the lowest planes approximate; scale and
headers are precise. A precise copy is stored, too. Reading counts the flipped bits of each plane,
asks the device for its count, and prints the share of the ten nearest vectors that a search for 256
other vectors finds (recall@10): in the stored vectors, in the precise copy, and in copies with bits
flipped at random at the measured rates.

Exit status: 0 done, 1 failed, 2 usage, 3 no such file, 4 precise data were damaged.
"""
NAME = "vectors"


def make_vectors_file(setup: Json) -> bytes:
    among, _ = vectors.make_vectors(setup["vectors"], setup["dimensions"], setup["seed"])
    return lossy.pack_arrays({NAME: among}, {}, KINDS[setup["type"]], setup)


def measure_recall_after_storage(setup: Json, tensors: Sequence[Tensor],
                                 data: Sequence[bytes]) -> tuple[float, int]:
    """Return the recall of the search, and the number of non-finite values replaced by 0."""
    arrays, repaired = lossy.unpack_arrays(tensors, data)
    return vectors.compute_recall_of_nearest_vectors(arrays[NAME], setup["seed"]), repaired


SUBJECT = Subject(
    "embeddings", "Stores vectors by bit plane in DIRECTORY, searches for the nearest among them, "
    "and tells what flipped bits cost.", EPILOG, "recall@10",
    {"vectors": Parameter(64, 1 << 20, 4096, "how many"),
     "dimensions": Parameter(2, 4096, 64, "of a vector"),
     "seed": Parameter(1, 2**32, 1, "of all vectors")},
    make_vectors_file, measure_recall_after_storage, vectors.QUERIES * vectors.NEAREST)


def main() -> int:
    return plane_app.run_plane_app(SUBJECT)


if __name__ == "__main__":
    sys.exit(main())
