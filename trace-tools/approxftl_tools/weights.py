# SPDX-License-Identifier: GPL-2.0-only
"""approxftl app weights: measure how well a network recognises digits after losing bits."""

import sys
from collections.abc import Sequence

from approxftl.models.tensors import Tensor
from approxftl_tools import network, plane_app
from approxftl_tools.lossy import KINDS
from approxftl_tools.plane_app import Json, Parameter, Subject

EPILOG = """\
A network with two hidden layers learns the digits that scikit-learn brings. Its weights are stored
by bit plane, the lowest planes approximate; biases, scales and headers are precise. A precise copy
is stored, too. Reading counts the flipped bits of each plane, asks the device for its count, and
prints the share of digits that the network recognises: with all layers as stored, with one layer as
stored and the others precise, and with bits flipped at random at the measured rates.

Exit status: 0 done, 1 failed, 2 usage, 3 no such file, 4 precise data were damaged.
"""


def make_network_file(setup: Json) -> bytes:
    learned, _ = network.load_digits(setup["seed"])
    layers = network.train_network(setup["hidden"], setup["seed"], learned)
    return network.pack_network(layers, KINDS[setup["type"]], setup)


def measure_accuracy_after_storage(setup: Json, tensors: Sequence[Tensor],
                                   data: Sequence[bytes]) -> tuple[float, int]:
    """Return the accuracy on test images, and the number of non-finite weights set to 0."""
    layers, repaired = network.unpack_network(tensors, data)
    return network.measure_recognition_rate(layers, network.load_digits(setup["seed"])[1]), repaired


SUBJECT = Subject(
    "weights", "Trains a small network, stores its weights by bit plane in DIRECTORY, and tells "
    "what flipped bits cost.", EPILOG, "digits told right",
    {"hidden": Parameter(8, 4096, 256, "width of the hidden layers"),
     "seed": Parameter(1, 2**32, 1, "of training, and of which digits are kept for the test")},
    make_network_file, measure_accuracy_after_storage, network.TESTED)


def main() -> int:
    return plane_app.run_plane_app(SUBJECT)


if __name__ == "__main__":
    sys.exit(main())
