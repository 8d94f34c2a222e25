# SPDX-License-Identifier: GPL-2.0-only
"""Measure how well a network recognises digits after its weights lost bits in retention.

The simulator counts the flipped bits per plane; bits flip at random at that rate in networks
trained from several seeds. selftests/kernel/approximate.py tests that a device flips exactly
the bits that it reports.
"""

from collections.abc import Iterator
from functools import cache

from approxftl.models import parse_model
from approxftl.models.source import MemorySource
from approxftl_tools import lossy, network
from approxftl_tools.arrays import np
from approxftl_tools.lossy import KINDS
from approxftl_tools.statistics import Estimate, estimate_mean

HIDDEN, SEEDS, DRAWS = 256, 6, 4


@cache
def train_network_from_seed(seed: int) -> tuple[list[network.Layer], network.Digits]:
    """Return a trained network, and images of digits that were not used for its training."""
    learned, others = network.load_digits(seed)
    return network.train_network(HIDDEN, seed, learned), others


def accuracy_by_seed(kind: str, planes: int, rate: float, layer: int | None) -> Iterator[float]:
    """Yield the network's accuracy (%) for each seed, with bits lost in one or in all layers."""
    for seed in range(1, SEEDS + 1):
        layers, others = train_network_from_seed(seed)
        source = MemorySource(network.pack_network(layers, KINDS[kind], {}))
        tensors, chance = parse_model(source).tensors, np.random.default_rng([seed, 3])
        found = []
        for _ in range(DRAWS):
            data = [source.read_byte_range(one.offset, one.length) for one in tensors]
            hit = lossy.flip_low_bits(tensors, data, [rate] * planes, chance)
            data = [new if layer is None or one.name == f"layer.{layer}.weight" else old
                    for one, old, new in zip(tensors, data, hit, strict=True)]
            damaged = network.unpack_network(tensors, data)[0]
            found.append(network.measure_recognition_rate(damaged, others))
        yield 100 * float(np.mean(found))


def mean_accuracy(kind: str, planes: int, rate: float, layer: int | None = None) -> Estimate:
    """Return the network's mean accuracy (%) over the seeds, and its confidence interval."""
    return estimate_mean(list(accuracy_by_seed(kind, planes, rate, layer)))
