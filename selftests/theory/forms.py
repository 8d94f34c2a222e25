# SPDX-License-Identifier: GPL-2.0-only
"""Published closed and mean-field forms of write amplification and waiting, by numpy and scipy.

`load` is the share of the pages in use that are valid: logical pages by the pages of all blocks but
the free and open ones. `pages` is the number of pages in a block. The mean-field forms are exact
for a block of that many pages on a device with very many blocks.

In mean-field forms, time counts collections by number of blocks, and `rate` is the rate at which a
valid page is overwritten. A collection frees as many pages as are overwritten until the next one:
rate * load * pages. So the write amplification is 1 / (rate * load).

A device of ours never collects a block whose pages are all valid. That changes the result where
blocks are small and nearly full; `full=True` gives the published form, which collects them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

integrate: Any = import_module("scipy.integrate")
optimize: Any = import_module("scipy.optimize")
special: Any = import_module("scipy.special")
stats: Any = import_module("scipy.stats")

#: A class of data: its share of the logical pages and its share of the writes.
Class = tuple[float, float]


def fifo_amplification(load: float) -> float:
    """Return the write amplification of FIFO, and of greedy collection if blocks are very large."""
    a = 1 / load
    return float((a / (a + special.lambertw(-a * np.exp(-a)))).real)


def windowed_greedy_amplification(load: float, pages: int, share: float) -> float:
    """Return the amplification of greedy collection among the oldest blocks, a `share` of all.

    A share of 0 is FIFO collection, 1 is greedy collection. A block ages until the log has been
    written once around, then enters the window of oldest blocks, where the block with the fewest
    valid pages is collected.
    """
    def compute_excess_of_valid_pages(rate: float) -> float:
        """Return the mean valid pages of a block at overwrite rate `rate`, minus load * pages."""
        def compute_excess_of_block_share_sum(turn: float) -> float:
            return turn + share - 1 + float(np.exp(-rate * turn * pages)) / (rate * pages)

        turn = optimize.brentq(compute_excess_of_block_share_sum, 0,
                               1) if compute_excess_of_block_share_sum(0) < 0 else 0.0
        valid = float(np.exp(-rate * turn))
        entering = stats.binom.pmf(np.arange(pages + 1), pages, valid)
        all_valid = min(entering[pages] / (rate * pages), 1 - turn)
        held = pages * (1 - valid) / rate + pages * all_valid
        left, reached = 1 - turn - all_valid, float(entering[pages])
        for j in range(pages - 1, 0, -1):
            reached += float(entering[j])
            blocks = min(reached / (rate * j), left)
            held, left = held + j * blocks, left - blocks
        return float(held - load * pages)

    return float(1 / (load * optimize.brentq(compute_excess_of_valid_pages, 1.0001 / pages, 50,
                                             xtol=1e-13)))


def sampled_greedy_amplification(load: float, pages: int, drawn: int, *,
                                 full: bool = False) -> float:
    """Return the write amplification of collecting the emptiest of some randomly drawn blocks.

    If the device draws nothing but blocks whose pages are all valid, it takes the emptiest block.
    """
    def compute_net_block_outflow(at_least: float, falling: float, above: float, flow: float,
                                  drawable: int) -> float:
        """Return how many more blocks leave a level of valid pages than reach it, as a rate."""
        return (falling * (at_least - above) - flow
                + drawable * (at_least**drawn - above**drawn))

    def compute_excess_of_valid_pages(rate: float) -> float:
        above, flow, held = 0.0, 1.0, 0.0
        for j in range(pages, 0, -1):
            level = (rate * j, above, flow, 0 if j == pages and not full else 1)
            if compute_net_block_outflow(1, *level) <= 0:
                held += j
                break
            at_least = optimize.brentq(compute_net_block_outflow, above, 1, level, xtol=1e-15)
            held += at_least
            flow, above = rate * j * (at_least - above), at_least
        return float(held - load * pages)

    return float(1 / (load * optimize.brentq(compute_excess_of_valid_pages, 1.0001 / pages, 50,
                                             xtol=1e-13)))


def fifo_amplification_of_mixed_data(load: float, classes: Sequence[Class]) -> float:
    """Return the write amplification of FIFO collection, if classes of data share the log.

    A page that is not overwritten while the log is written once around is moved once.
    """
    def count_pages_programmed_per_log_cycle(turn: float) -> float:
        """Return the pages programmed while the log is written once, `turn` of them by the host."""
        return sum(writes * turn / -float(np.expm1(-writes * turn / data)) if writes else data
                   for data, writes in classes)

    turn = optimize.brentq(lambda turn: count_pages_programmed_per_log_cycle(turn) - 1 / load, 1e-9,
                           1 / load, xtol=1e-14)
    return float(1 / (load * turn))


def d_choices_amplification_of_mixed_data(load: float, pages: int, drawn: int,
                                          classes: tuple[Class, Class]) -> float:
    """Return the amplification of d-choices if host and relocated data of two classes share blocks.

    The mean-field equations have the share of blocks for each pair of numbers of valid pages of the
    classes. The equations are integrated until the colder class was overwritten ten times.
    """
    (data, writes), (other_data, other_writes) = classes
    hot, cold = np.array([(i, j) for i in range(pages + 1) for j in range(pages + 1 - i)]).T
    index = np.full((pages + 1, pages + 1), -1)
    index[hot, cold] = np.arange(len(hot))
    valid = hot + cold
    rates = np.array([writes / data, other_writes / other_data]) / (load * pages)
    refill = np.zeros((len(hot), len(hot)))
    for i, free in enumerate(pages - valid):
        new = np.arange(free + 1)
        refill[index[hot[i] + new, cold[i] + free - new], i] = stats.binom.pmf(new, free, writes)

    def compute_distribution_of_victims(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
        level = np.bincount(valid, blocks, pages + 1)
        at_least = np.append(np.cumsum(level[::-1])[::-1], 0).clip(0) ** drawn
        chance = at_least[:-1] - at_least[1:]
        chance[pages] = 0
        found: NDArray[np.float64] = blocks * (
            chance / chance.sum() / np.where(level > 0, level, 1))[valid]
        return found

    def compute_change_of_block_distribution(_: float,
                                             blocks: NDArray[np.float64]) -> NDArray[np.float64]:
        victims = compute_distribution_of_victims(blocks)
        total: NDArray[np.float64] = refill @ victims - victims
        for rate, count, below in ((rates[0], hot, index[hot - 1, cold]),
                                   (rates[1], cold, index[hot, cold - 1])):
            flow = victims @ (pages - valid) * rate * count * blocks
            total -= flow
            np.add.at(total, below, flow)
        return total

    first = stats.binom.pmf(valid, pages, load) * stats.binom.pmf(hot, valid, data)
    last = integrate.solve_ivp(compute_change_of_block_distribution, (0, 10 / rates.min()), first,
                               method="RK23", rtol=1e-5, atol=1e-8).y[:, -1]
    return float(pages / (compute_distribution_of_victims(last) @ (pages - valid)))


def find_best_space_split_between_classes(load: float, classes: tuple[Class, Class],
                                          one: Callable[[float], float]
                                          ) -> tuple[float, float]:
    """Return the least amplification of two separated classes, and the first class's space share.

    `one` returns the write amplification of a class from its load.
    """
    (data, writes), (other_data, other_writes) = classes

    def total_write_amplification(space: float) -> float:
        return writes * one(load * data / space) + other_writes * one(
            load * other_data / (1 - space))

    bounds = load * data * (1 + 1e-6), 1 - load * other_data * (1 + 1e-6)
    found = optimize.minimize_scalar(total_write_amplification, method="bounded",
                                     options={"xatol": 1e-9}, bounds=bounds)
    return float(found.fun), float(found.x)


def compute_mean_wait_of_each_priority(arrivals: Sequence[tuple[float, float]]) -> list[float]:
    """Return the mean wait at one die of each (rate, service time) class, in order of priority.

    Arrivals are Poisson; a service is constant and not preempted. One class is M/D/1.
    """
    rest = sum(rate * service**2 for rate, service in arrivals) / 2
    busy = np.cumsum([0.0, *(rate * service for rate, service in arrivals)])
    return [float(rest / ((1 - before) * (1 - after)))
            for before, after in pairwise(busy)]


def compute_busy_dies_with_constant_service(requests: int, dies: int) -> float:
    """Return the mean number of busy dies of a closed queue, if all services take the same time.

    The services begin together, so that they also end together: a Markov chain of the lengths of
    the queues. Its states are the sorted lengths.
    """
    start = tuple(sorted([requests, *[0] * (dies - 1)]))
    ways, todo = {}, [start]
    while todo:
        state = todo.pop()
        spread = {tuple(sorted(max(length - 1, 0) for length in state)): 1.0}
        for _ in range(dies - state.count(0)):
            placed: dict[tuple[int, ...], float] = {}
            for lengths, chance in spread.items():
                for length, times in Counter(lengths).items():
                    after = list(lengths)
                    after[after.index(length)] += 1
                    key = tuple(sorted(after))
                    placed[key] = placed.get(key, 0.0) + chance * times / dies
            spread = placed
        ways[state] = spread
        todo += [one for one in spread if one not in ways and one not in todo]
    number = {state: i for i, state in enumerate(ways)}
    chain: NDArray[np.float64] = -np.eye(len(ways))
    for state, spread in ways.items():
        for after_all, chance in spread.items():
            chain[number[after_all], number[state]] += chance
    chain[0] = 1
    long_run = np.linalg.solve(chain, np.eye(len(ways))[0])
    return float(sum(long_run[number[state]] * (dies - state.count(0)) for state in ways))


def compute_busy_dies_with_exponential_service(requests: int, dies: int) -> float:
    """Return the busy dies for exponential services, by mean value analysis: a lower bound."""
    rate, waiting = 0.0, 0.0
    for several in range(1, requests + 1):
        rate = several / (1 + waiting)
        waiting = several / dies
    return rate
