# SPDX-License-Identifier: GPL-2.0-only
"""Train a small network that recognises digits, and measure its accuracy with flipped bits."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from approxftl.models.tensors import Element, Tensor
from approxftl_tools import lossy
from approxftl_tools.arrays import np
from approxftl_tools.command import Refusal
from approxftl_tools.lossy import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Path of the images in the scikit-learn package, as CSV.
DIGITS = "datasets/data/digits.csv.gz"
CLASSES, PIXELS, GREY = 10, 64, 16
#: Test images of about 1800 images.
TESTED = 600
EPOCHS, BATCH, RATE = 15, 64, 2e-3


@dataclass(frozen=True)
class Digits:
    """Images of digits, and the digit that each one shows."""

    pictures: Floats
    labels: NDArray[np.int64]

    def select_images(self, indices: Any) -> Digits:
        return Digits(self.pictures[indices], self.labels[indices])


@cache
def load_digits(seed: int) -> tuple[Digits, Digits]:
    """Return training and test images of digits."""
    # Importing the package takes long and is not needed.
    spec = find_spec("sklearn")
    path = Path(spec.origin).parent / DIGITS if spec and spec.origin else None
    if path is None or not path.exists():
        raise Refusal("the digits are in the Python package scikit-learn: pip install "
                      "scikit-learn, or apt-get install python3-sklearn")
    with gzip.open(path, "rt") as file:
        rows = np.loadtxt(file, delimiter=",", dtype=np.int64)
    every = Digits((rows[:, :PIXELS] / GREY).astype(np.float32), rows[:, PIXELS])
    order = np.random.default_rng(seed).permutation(len(every.labels))
    return every.select_images(order[TESTED:]), every.select_images(order[:TESTED])


@dataclass(frozen=True)
class Layer:
    """A layer of the network: weights, with a row for each input, and biases."""

    weights: Floats
    bias: Floats


def network_layer_outputs(layers: Sequence[Layer], pictures: Floats) -> list[Floats]:
    """Return the outputs of each layer, preceded by the network's input."""
    values = [pictures]
    for number, layer in enumerate(layers):
        with np.errstate(all="ignore"):
            found = values[-1] @ layer.weights + layer.bias
        last = number == len(layers) - 1
        values.append(found if last else np.maximum(found, 0))
    return values


def measure_recognition_rate(layers: Sequence[Layer], data: Digits) -> float:
    """Return the share of images that are recognised; a NaN score ranks last."""
    found = np.nan_to_num(network_layer_outputs(layers, data.pictures)[-1], nan=-np.inf)
    return float((found.argmax(axis=1) == data.labels).mean())


def _layer_gradients(layers: Sequence[Layer], data: Digits) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield each layer's number and its gradients of weights and biases, the last layer first."""
    values = network_layer_outputs(layers, data.pictures)
    chances = np.exp(values[-1] - values[-1].max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(data.labels)), data.labels] -= 1
    behind = chances / np.float32(len(data.labels))
    for number in reversed(range(len(layers))):
        yield number, values[number].T @ behind, behind.sum(axis=0)
        behind = (behind @ layers[number].weights.T) * (values[number] > 0)


def _take_adam_step(value: Floats, gradient: Floats, moments: list[Floats], at: int) -> None:
    """Change the weights of a network by one step of the Adam optimiser."""
    moments[0] += np.float32(0.1) * (gradient - moments[0])
    moments[1] += np.float32(0.001) * (gradient**2 - moments[1])
    size = np.sqrt(moments[1] / np.float32(1 - 0.999**at)) + np.float32(1e-8)
    value -= np.float32(RATE) * moments[0] / np.float32(1 - 0.9**at) / size


def train_network(hidden: int, seed: int, data: Digits) -> list[Layer]:
    chance = np.random.default_rng([seed, 1])
    sizes = [PIXELS, hidden, hidden, CLASSES]
    layers = [Layer(chance.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32),
                    np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    moments = [[[np.zeros_like(value) for _ in range(2)] for value in (one.weights, one.bias)]
               for one in layers]
    at = 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(data.labels))
        for begin in range(0, len(order), BATCH):
            at += 1
            batch = data.select_images(order[begin:begin + BATCH])
            for number, weights, bias in list(_layer_gradients(layers, batch)):
                _take_adam_step(layers[number].weights, weights, moments[number][0], at)
                _take_adam_step(layers[number].bias, bias, moments[number][1], at)
    return layers


def pack_network(layers: Sequence[Layer], element: Element, about: dict[str, Any]) -> bytes:
    """Return a network as a file whose weights may lose bits."""
    return lossy.pack_arrays(
        {f"layer.{number}.weight": layer.weights for number, layer in enumerate(layers)},
        {f"layer.{number}.bias": layer.bias for number, layer in enumerate(layers)},
        element, about)


def unpack_network(tensors: Sequence[Tensor], data: Sequence[bytes]) -> tuple[list[Layer], int]:
    """Return the network stored in a file, and the number of non-finite weights set to 0."""
    arrays, repaired = lossy.unpack_arrays(tensors, data)
    count = sum(name.endswith(".weight") for name in arrays)
    return [Layer(arrays[f"layer.{number}.weight"], arrays[f"layer.{number}.bias"])
            for number in range(count)], repaired
