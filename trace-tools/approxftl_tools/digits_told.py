# SPDX-License-Identifier: GPL-2.0-only
"""How well a network tells digits when its weights have lain on a shelf.

The simulator counts flipped bits; so many of the planes' bits flip, at random, in networks that are
trained from several seeds. That a device's own flipped bits do the same is tested by
selftests/kernel/applications.sh.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from approxftl.models import parse
from approxftl.models.source import MemorySource
from approxftl_tools import lossy, network
from approxftl_tools.arrays import np
from approxftl_tools.lossy import KINDS
from approxftl_tools.statistics import Estimate, estimate

HIDDEN, SEEDS, DRAWS = 256, 6, 4


@cache
def trained(seed: int) -> tuple[list[network.Layer], network.Digits]:
    """Return a network, and digits that it has not learned."""
    learned, others = network.digits(seed)
    return network.trained(HIDDEN, seed, learned), others


def shares(kind: str, planes: int, rate: float, layer: int | None) -> Iterator[float]:
    """Yield the percentage of digits told right, for each seed; one layer loses bits, or all."""
    for seed in range(1, SEEDS + 1):
        layers, others = trained(seed)
        source = MemorySource(network.packed(layers, KINDS[kind], {}))
        tensors, chance = parse(source).tensors, np.random.default_rng([seed, 3])
        found = []
        for _ in range(DRAWS):
            data = [source.read(one.offset, one.length) for one in tensors]
            hit = lossy.flipped(tensors, data, [rate] * planes, chance)
            data = [new if layer is None or one.name == f"layer.{layer}.weight" else old
                    for one, old, new in zip(tensors, data, hit, strict=True)]
            found.append(network.accuracy(network.unpacked(tensors, data)[0], others))
        yield 100 * float(np.mean(found))


def told(kind: str, planes: int, rate: float, layer: int | None = None) -> Estimate:
    """Return the mean percentage over seeds, and its interval."""
    return estimate(list(shares(kind, planes, rate, layer)))
