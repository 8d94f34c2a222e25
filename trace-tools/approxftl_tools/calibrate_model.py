# SPDX-License-Identifier: GPL-2.0-only
"""The model of a drive under calibration: its parameters, and simulator runs with them.

Parameters that are not named in this file have the values that the profiles of real drives use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from approxftl_tools.bench import Bench, Options
from approxftl_tools.fio_output import HARDLY, Figure, Measured

Json = dict[str, Any]

#: Bytes of a page, and blocks of a plane. They only set the capacity, which is not fitted.
PAGE, BLOCKS = 16 << 10, 128
#: Pages in a layer: four word lines of three bits.
IN_LAYER = 12
#: Least capacity of the simulated device in bytes, and the factor that keeps writes from wrapping.
LEAST, ROOMY = 1 << 29, 8
CHANNELS = 8
#: Requests of a run; the latency of reads does not depend on their number.
READS, LEAST_WRITES = 6_000, 5_000
#: Capacities to overwrite until write amplification is steady.
STEADY = 4.0
#: Over-provisioning (%) that is enough for blocks of any length.
PLENTY = 25.0
#: Fitted parameters: unit in the profile, lower and upper bound.
UNITS: dict[str, tuple[str, float, float]] = {
    "controller": ("ns", 100, 1e6), "read": ("ns", 1000, 1e7), "read_first": ("ns", 1000, 1e7),
    "read_last": ("ns", 1000, 1e7), "bus": ("", 20, 1e5), "link": ("", 20, 1e6),
    "link_command": ("ns", 10, 1e6), "program": ("ns", 1000, 1e9), "buffer": ("", 1 << 16, 1 << 32),
    "op": ("%", 6, 89),
}


class Device(Protocol):
    def make_simulated_device_options(self, least: int) -> Options:
        """Return the simulator's options for the model's device, with at least `least` bytes."""

    def estimate_device_capacity(self, least: int) -> float:
        """Return the approximate capacity (bytes) of a device with at least `least` bytes."""

    def min_device_bytes_for_gc(self) -> int:
        """Return the least device size (bytes) at which GC of a block frees room for a program."""


@dataclass(frozen=True)
class Model:
    """A modelled device: integer parameters, of which all values are tried, and fitted values."""

    #: Dies that work in parallel, and the contiguous bytes on one die.
    dies: int
    stripe: int
    #: True if the three pages of a word line are programmed at once.
    one_shot: bool
    values: Mapping[str, float]

    def copy_model_and_set_values(self, values: Mapping[str, float]) -> Model:
        """Return a copy of the model with some values changed, limited to their bounds."""
        bounded = {name: min(max(value, UNITS[name][1]), UNITS[name][2])
                   for name, value in values.items()}
        return replace(self, values={**self.values, **bounded})

    def integer_parameters_of_model(self) -> tuple[int, int, bool]:
        return self.dies, self.stripe, self.one_shot

    def device_geometry(self, least: int) -> dict[str, str | int]:
        channels = next(n for n in range(min(CHANNELS, self.dies), 0, -1) if self.dies % n == 0)
        page = min(self.stripe, PAGE)
        planes = self.stripe // page
        # Reads are not merged over planes: the measured drives do not show it.
        return {"channels": channels, "chips": self.dies // channels, "planes": planes,
                "plane_mode": "wide" if planes > 1 else "shared", "multi_plane_read": "off",
                "page": page, "blocks": BLOCKS,
                "layers": max(2, -(-least // self.device_bytes_if_blocks_have_one_layer())),
                "one_shot": "on" if self.one_shot else "off"}

    def device_bytes_if_blocks_have_one_layer(self) -> int:
        """Return the bytes of a device whose blocks have a single layer of cells."""
        return self.dies * self.stripe * IN_LAYER * BLOCKS

    def min_device_bytes_for_gc(self) -> int:
        """Return the bytes of a device whose blocks are long enough for GC to gain pages.

        GC gains pages from a block if the block has stale pages for at least one program command.
        """
        return max(LEAST,
                   self.device_bytes_if_blocks_have_one_layer() * (8 if self.one_shot else 3))

    def over_provisioning_percent(self, least: int) -> float:
        """Return the model's over-provisioning (%); PLENTY if the device is too small for GC."""
        return self.values["op"] if least >= self.min_device_bytes_for_gc() else PLENTY

    def make_device_parameters(self, least: int) -> dict[str, str]:
        settings: dict[str, str | int] = {
            **self.device_geometry(least), "word_lines": 4, "bits": 3, "gc": "1%",
            "allocate": "least_busy",
            "buffer_safe": "on", "buffer_hold": "1s", "read_limit": 0, "errors": "off",
            "erase": "500us"}
        for name, value in {**self.values, "op": self.over_provisioning_percent(least)}.items():
            unit = UNITS[name][0]
            settings[name] = f"{value:.2f}%" if unit == "%" else f"{round(value)}{unit}"
        return {key: str(value) for key, value in settings.items()}

    def make_simulated_device_options(self, least: int) -> Options:
        """Return the simulator's options that describe the modelled device."""
        return tuple(f"--{key}={value}"
                     for key, value in self.make_device_parameters(least).items())

    def estimate_device_capacity(self, least: int) -> float:
        """Return the approximate capacity (bytes) of the simulated device."""
        shape = self.device_geometry(least)
        pages = self.dies * int(shape["planes"]) * int(shape["layers"]) * IN_LAYER * BLOCKS
        return pages * int(shape["page"]) * (1 - self.over_provisioning_percent(least) / 100)


def fraction_as_percent(share: float) -> str:
    """Return a share, limited to 100 %, as the text of a simulator's option."""
    return f"{min(share, 1.0) * 100:.2f}%"


def find_minimum_device_bytes_for_load(load: Measured, device: Device, capacity: int) -> int:
    """Return the least device size (bytes) for a load: only random rewrites may cause GC."""
    if load.writes and load.order == "random":
        return device.min_device_bytes_for_gc()
    if load.beside_rate or (load.writes == 1 and load.order == "sequential"
                            and load.bytes < 0.5 * capacity):
        return ROOMY * LEAST
    return LEAST


def sequential_write_options(load: Measured, holds: float, capacity: int) -> list[str]:
    """Return the simulator's options for a sequential fill or burst of the measured length."""
    wide = load.bytes >= 0.5 * capacity > 0
    most = int(0.9 * holds) // load.size
    count = most if wide else min(load.bytes // load.size, most)
    # The empty write buffer absorbs the first part of a fill, and is large relative to this small
    # device; a warm-up leaves that part out.
    first = count // 3 if wide else 0
    return ["--workload=sequential", f"--warmup={first}", f"--requests={max(1, count - first)}"]


def random_write_options(load: Measured, holds: float, capacity: int) -> list[str]:
    """Return the simulator's options for random rewrites; their volume scales with the capacity."""
    whole = holds / load.size / load.writes
    share = load.bytes * load.writes / capacity if capacity else 0.0
    count = max(min(share, 1.0) * whole, min(load.bytes // load.size, LEAST_WRITES))
    return [f"--requests={max(1, round(count))}"]


def preconditioning_options(load: Measured) -> list[str]:
    """Return the simulator's options for the state of the drive before a load.

    A fill that the host writes distributes data over the dies as these become idle. Reads meet this
    order, above all reads at strides, so the fill is simulated as it was measured.
    """
    before, filled = load.before, fraction_as_percent(load.before.filled)
    if before.filled < HARDLY:
        return ["--fill=none"]
    if before.overwritten >= HARDLY:
        return ["--fill=sequential", f"--fill_valid={filled}", f"--footprint={filled}",
                f"--fill_overwrite={min(before.overwritten, STEADY) * 100:.0f}%"]
    if before.fill_depth and not load.writes:
        return ["--fill=none", f"--host-fill={before.fill_depth}",
                f"--host-fill-size={before.fill_size}", f"--footprint={filled}"]
    return ["--fill=sequential", f"--fill_valid={filled}", f"--footprint={filled}"]


def make_simulator_options_of_load(load: Measured, device: Device, capacity: int) -> Options:
    least = find_minimum_device_bytes_for_load(load, device, capacity)
    options = [f"--write-share={fraction_as_percent(load.writes)}", f"--size={load.size}",
               *preconditioning_options(load)]
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
        options += sequential_write_options(load, device.estimate_device_capacity(least), capacity)
    else:
        options += random_write_options(load, device.estimate_device_capacity(least), capacity)
    return (*device.make_simulated_device_options(least), *options)


def simulated_rate_or_time(figure: Figure, result: Json) -> float:
    if figure.what == "rate":
        count = float(result["counters"][f"host_{figure.kind}_requests"])
        return count * 1e9 / float(result["simulated_ns"])
    times = result["timing"][f"{figure.kind}_response"]
    return float(times[f"{figure.what.replace('.', '_')}_ns"]) / 1e3


#: A load, one of its figures, and the simulated value.
Compared = tuple[Measured, Figure, float]


@dataclass(frozen=True)
class Trial:
    """The loads on which models are compared with measurements."""

    bench: Bench
    capacity: int
    loads: Sequence[Measured]

    def restrict_trial_to_loads(self, loads: Iterable[Measured]) -> Trial:
        return replace(self, loads=tuple(loads))

    def simulate_all_loads_with_models(self, models: Sequence[Model]) -> list[list[Compared]]:
        runs = {(index, load): make_simulator_options_of_load(load, model, self.capacity)
                for index, model in enumerate(models) for load in self.loads}
        results = self.bench.run_or_look_up_simulations(runs.values())
        return [[(load, figure, simulated_rate_or_time(figure, results[runs[index, load]]))
                 for load in self.loads for figure in load.figures]
                for index in range(len(models))]
