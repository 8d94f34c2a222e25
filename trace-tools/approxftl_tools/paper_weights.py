# SPDX-License-Identifier: GPL-2.0-only
"""How well a network tells digits when its weights have lain on a shelf.

The simulator counts flipped bits; so many of the planes' bits flip, at random, in networks that are
trained from several seeds. That a device's own flipped bits do the same is tested by
selftests/kernel/weights.sh.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from approxftl.models import parse
from approxftl.models.source import MemorySource
from approxftl_tools import lossy, network
from approxftl_tools.figure import Curves, Plot
from approxftl_tools.lossy import KINDS
from approxftl_tools.paper_measures import VALUES

Json = dict[str, Any]

HIDDEN, SEEDS, DRAWS = 256, 6, 4
#: Of Student's distribution, for 95 % and one degree of freedom less than there are seeds.
STUDENT = 2.571


@cache
def trained(seed: int) -> tuple[list[network.Layer], network.Digits]:
    """Return a network, and digits that it has not learned."""
    learned, others = network.digits(seed)
    return network.trained(HIDDEN, seed, learned), others


def shares(kind: str, planes: int, rate: float) -> Iterator[float]:
    """Yield the percentage of digits that are told right, for each seed."""
    for seed in range(1, SEEDS + 1):
        layers, others = trained(seed)
        source = MemorySource(network.packed(layers, KINDS[kind], {}))
        tensors, chance = parse(source).tensors, np.random.default_rng([seed, 3])
        found = []
        for _ in range(DRAWS):
            data = [source.read(one.offset, one.length) for one in tensors]
            data = lossy.flipped(tensors, data, planes, rate, chance)
            found.append(network.accuracy(network.unpacked(tensors, data)[0], others))
        yield 100 * float(np.mean(found))


def shelf(found: Sequence[Any], plot_: Json) -> Plot:
    """Draw the share of digits over months, with the interval of its mean over seeds."""
    lines = []
    for one in plot_["networks"]:
        points = []
        for point in found:
            rate = VALUES["bit_error_rate"](point.data)
            if point.category == one["category"] and rate is not None:
                values = list(shares(one["type"], one["planes"], rate))
                reach = STUDENT * float(np.std(values, ddof=1)) / SEEDS**0.5
                points.append((point.x, float(np.mean(values)), reach))
        xs = [x for x, _, _ in points]
        lines += [(one["name"] + words, xs, [mean + side * reach for _, mean, reach in points])
                  for words, side in (("", 0), (", from", -1), (", to", 1))]
    return Curves(plot_["x"], plot_["unit"], lines, log_x=True)
