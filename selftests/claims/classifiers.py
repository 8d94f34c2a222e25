# SPDX-License-Identifier: GPL-2.0-only
"""Accuracy of classifiers on data with bits flipped at a device's error rate."""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Draws of flipped bits that an accuracy is averaged over.
DRAWS = 20
#: Bits of a float32 that a flip may hit: its mantissa, or all.
MANTISSA, ALL_BITS = 23, 32


def flip_lowest_bits(data: NDArray[Any], rate: float, bits: int, draw: int) -> NDArray[Any]:
    """Return a copy of the data in which the lowest bits of each value flip at the given rate."""
    whole = data.copy().view(f"u{data.itemsize}")
    random = np.random.default_rng(draw)
    for bit in range(bits):
        hit = random.random(whole.shape) < rate
        whole ^= hit.astype(whole.dtype) << np.array(bit, whole.dtype)
    return whole.view(data.dtype)


def import_sklearn_module(name: str) -> Any:
    """Import a module of scikit-learn, which takes long and is not needed by other claims."""
    return importlib.import_module(f"sklearn.{name}")


def train_classifiers() -> Iterator[tuple[Any, NDArray[np.uint8], NDArray[Any]]]:
    """Yield classifiers with unseen test data as bytes, and the right answers.

    Grey levels of digits and tenths of millimetres of irises are scaled to a byte.
    """
    data, choice = import_sklearn_module("datasets"), import_sklearn_module("model_selection")
    iris, digits = data.load_iris(return_X_y=True), data.load_digits(return_X_y=True)
    for make, (values, answers), scale in (
        (import_sklearn_module("tree").DecisionTreeClassifier(random_state=1), digits, 15),
        (import_sklearn_module("svm").SVC(), digits, 15),
        (import_sklearn_module("neural_network").MLPClassifier(random_state=1, max_iter=200),
         digits, 15),
        (import_sklearn_module("neighbors").KNeighborsClassifier(), iris, 10),
    ):
        learned, kept, known, wanted = choice.train_test_split(
            (values * scale).round().astype(np.uint8), answers, test_size=0.5, random_state=1)
        yield make.fit(learned, known), kept, wanted


def compute_accuracy_loss(model: Any, kept: NDArray[Any], wanted: NDArray[Any],
                          copies: Iterable[NDArray[Any]]) -> float:
    """Return the accuracy (%-points) that a classifier loses on copies of its data, on average."""
    scores = [model.score(np.nan_to_num(data, posinf=3e38, neginf=-3e38), wanted)
              for data in copies]
    return 100 * float(model.score(kept, wanted) - np.mean(scores))


def measure_accuracy_losses(rate: float, kind: str, bits: int) -> list[float]:
    """Return the accuracy lost by a tree, SVM, network and nearest neighbours, in %-points."""
    # More threads than processors wait for each other.
    importlib.import_module("threadpoolctl").threadpool_limits(1)
    return [compute_accuracy_loss(model, kept, wanted,
                                  (flip_lowest_bits(kept.astype(kind), rate, bits, draw)
                                   for draw in range(DRAWS)))
            for model, kept, wanted in train_classifiers()]
