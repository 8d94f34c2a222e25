# SPDX-License-Identifier: GPL-2.0-only
"""A drive that is being found out: its parameters, and what the simulator makes of them.

What nothing below says of the device is as the profiles of real drives have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from approxftl_tools.bench import Bench, Options
from approxftl_tools.fio_output import HARDLY, Figure, Measured

Json = dict[str, Any]

#: Of a page, and of the blocks of a plane: whatever they are, capacity is not what is looked for.
PAGE, BLOCKS = 16 << 10, 128
#: Pages in a layer: four word lines of three bits.
IN_LAYER = 12
#: Bytes that the simulated device has at least, and where what is written is not to come round.
LEAST, ROOMY = 1 << 29, 8
CHANNELS = 8
#: Requests of a run; what reads show does not depend on how many there are.
READS, LEAST_WRITES = 6_000, 5_000
#: Rewrites of the capacity after which nothing changes any more.
STEADY = 4.0
#: Over-provisioning (%) for which blocks may be as short as they like.
PLENTY = 25.0
#: Parameters that are numbers, with their units in the profile, and the smallest and largest.
UNITS: dict[str, tuple[str, float, float]] = {
    "controller": ("ns", 100, 1e6), "read": ("ns", 1000, 1e7), "read_first": ("ns", 1000, 1e7),
    "read_last": ("ns", 1000, 1e7), "bus": ("", 20, 1e5), "link": ("", 20, 1e6),
    "link_command": ("ns", 10, 1e6), "program": ("ns", 1000, 1e9), "buffer": ("", 1 << 16, 1 << 32),
    "op": ("%", 6, 89),
}


class Device(Protocol):
    """What loads run on."""

    def options(self, least: int) -> Options:
        """Return the options of the simulator that make one of so many bytes."""

    def capacity(self, least: int) -> float:
        """Return the bytes that such a one holds, about."""

    def least_rewritten(self) -> int:
        """Return the bytes that it has at least when it is rewritten."""


@dataclass(frozen=True)
class Model:
    """A device: what is counted, and what is measured."""

    #: That work at the same time, and the bytes that lie in one before the next one's begin.
    dies: int
    stripe: int
    #: Whether three pages are programmed at once.
    one_shot: bool
    values: Mapping[str, float]

    def with_values(self, values: Mapping[str, float]) -> Model:
        """Return it with some numbers changed, within their limits."""
        bounded = {name: min(max(value, UNITS[name][1]), UNITS[name][2])
                   for name, value in values.items()}
        return replace(self, values={**self.values, **bounded})

    def counts(self) -> tuple[int, int, bool]:
        """Return what is counted."""
        return self.dies, self.stripe, self.one_shot

    def shape(self, least: int) -> dict[str, str | int]:
        """Return the parameters that are counted, of a device of so many bytes."""
        channels = next(n for n in range(min(CHANNELS, self.dies), 0, -1) if self.dies % n == 0)
        page = min(self.stripe, PAGE)
        planes = self.stripe // page
        return {"channels": channels, "chips": self.dies // channels, "planes": planes,
                "plane_mode": "wide" if planes > 1 else "shared", "page": page,
                "blocks": BLOCKS, "layers": max(2, -(-least // self.layer())),
                "one_shot": "on" if self.one_shot else "off"}

    def layer(self) -> int:
        """Return the bytes of a layer of all blocks."""
        return self.dies * self.stripe * IN_LAYER * BLOCKS

    def least_rewritten(self) -> int:
        """Return the bytes of a device with blocks long enough to be collected one by one.

        A block is worth it that has the pages of a program less than it could have.
        """
        return max(LEAST, self.layer() * (8 if self.one_shot else 3))

    def spare(self, least: int) -> float:
        """Return over-provisioning (%): where nothing is rewritten it is the same for all."""
        return self.values["op"] if least >= self.least_rewritten() else PLENTY

    def parameters(self, least: int) -> dict[str, str]:
        """Return everything that the device is made of."""
        settings: dict[str, str | int] = {
            **self.shape(least), "word_lines": 4, "bits": 3, "gc": "1%", "allocate": "least_busy",
            "buffer_safe": "on", "buffer_hold": "1s", "read_limit": 0, "errors": "off",
            "erase": "500us"}
        for name, value in {**self.values, "op": self.spare(least)}.items():
            unit = UNITS[name][0]
            settings[name] = f"{value:.2f}%" if unit == "%" else f"{round(value)}{unit}"
        return {key: str(value) for key, value in settings.items()}

    def options(self, least: int) -> Options:
        """Return the options of the simulator that make the device."""
        return tuple(f"--{key}={value}" for key, value in self.parameters(least).items())

    def capacity(self, least: int) -> float:
        """Return the bytes of the simulated device, about."""
        shape = self.shape(least)
        pages = self.dies * int(shape["planes"]) * int(shape["layers"]) * IN_LAYER * BLOCKS
        return pages * int(shape["page"]) * (1 - self.spare(least) / 100)


def percent(share: float) -> str:
    """Write a share as the simulator reads it."""
    return f"{min(share, 1.0) * 100:.2f}%"


def least_of(load: Measured, device: Device, capacity: int) -> int:
    """Return what the device has to hold, so that nothing else than the load's is collected."""
    if load.writes and load.order == "random":
        return device.least_rewritten()
    if load.beside_rate or (load.writes == 1 and load.order == "sequential"
                            and load.bytes < 0.5 * capacity):
        return ROOMY * LEAST
    return LEAST


def writes_in_order(load: Measured, holds: float, capacity: int) -> list[str]:
    """Return options for a fill, or for a burst, which has as many bytes as it had."""
    wide = load.bytes >= 0.5 * capacity > 0
    most = int(0.9 * holds) // load.size
    count = most if wide else min(load.bytes // load.size, most)
    # The first part of a fill goes into a buffer that is empty, and is larger here, by proportion.
    first = count // 3 if wide else 0
    return ["--workload=sequential", f"--warmup={first}", f"--requests={max(1, count - first)}"]


def writes_at_random(load: Measured, holds: float, capacity: int) -> list[str]:
    """Return options for rewrites: volumes count in capacities."""
    whole = holds / load.size / load.writes
    share = load.bytes * load.writes / capacity if capacity else 0.0
    count = max(min(share, 1.0) * whole, min(load.bytes // load.size, LEAST_WRITES))
    return [f"--requests={max(1, round(count))}"]


def run_of(load: Measured, device: Device, capacity: int) -> Options:
    """Return the options of a run of this load."""
    before, least = load.before, least_of(load, device, capacity)
    options = [f"--write-share={percent(load.writes)}", f"--size={load.size}"]
    if before.filled >= HARDLY:
        options += ["--fill=sequential", f"--fill_valid={percent(before.filled)}",
                    f"--footprint={percent(before.filled)}"]
    if before.overwritten >= HARDLY:
        options.append(f"--fill_overwrite={min(before.overwritten, STEADY) * 100:.0f}%")
    if load.rate:
        options += [f"--rate={max(1, round(load.rate))}",
                    f"--arrival-shape={'poisson' if load.poisson else 'fixed'}"]
    else:
        options.append(f"--depth={load.depth}")
    if load.stride:
        options.append(f"--stride={load.stride}")
    if load.beside_rate:
        options += [f"--beside-rate={max(1, round(load.beside_rate))}",
                    f"--beside-size={load.beside_size}"]
    if load.writes == 0:
        options += [f"--requests={READS}"]
        options += ["--workload=sequential"] if load.order == "sequential" else []
    elif load.order == "sequential":
        options += writes_in_order(load, device.capacity(least), capacity)
    else:
        options += writes_at_random(load, device.capacity(least), capacity)
    return (*device.options(least), *options)


def value_of(figure: Figure, result: Json) -> float:
    """Return what the simulator has for a figure that was measured."""
    if figure.what == "rate":
        count = float(result["counters"][f"host_{figure.kind}_requests"])
        return count * 1e9 / float(result["simulated_ns"])
    times = result["timing"][f"{figure.kind}_response"]
    return float(times[f"{figure.what.replace('.', '_')}_ns"]) / 1e3


#: A load, a figure of it, and ours.
Compared = tuple[Measured, Figure, float]


@dataclass(frozen=True)
class Trial:
    """Loads that a model is held against."""

    bench: Bench
    capacity: int
    loads: Sequence[Measured]

    def of(self, loads: Iterable[Measured]) -> Trial:
        """Return it with some of the loads."""
        return replace(self, loads=tuple(loads))

    def ours(self, models: Sequence[Model]) -> list[list[Compared]]:
        """Return for each model what it has for each figure."""
        runs = {(index, load): run_of(load, model, self.capacity)
                for index, model in enumerate(models) for load in self.loads}
        results = self.bench.results(runs.values())
        return [[(load, figure, value_of(figure, results[runs[index, load]]))
                 for load in self.loads for figure in load.figures]
                for index in range(len(models))]
