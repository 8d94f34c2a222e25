# SPDX-License-Identifier: GPL-2.0-only
"""A bench that computes each result by a formula instead of running the simulator.

The formulas are coarse but exact, so that tests can check the parameters found for such a
drive, hundreds of times in a second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from approxftl_tools.bench import Bench, Options
from approxftl_tools.study_store import Store

Json = dict[str, Any]


class AnalyticBench(Bench):
    """A bench with the simulator's interface."""

    def __init__(self) -> None:
        super().__init__(Path("nothing"), 1, Store(Path("nowhere")))

    def results(self, runs: Iterable[Options]) -> dict[Options, Json]:
        """Return the results of runs."""
        return {options: analytic_result(Device(options)) for options in runs}


class Device:
    """The options of a run as numbers; times are in nanoseconds."""

    def __init__(self, options: Options) -> None:
        self.words = dict(option.removeprefix("--").partition("=")[::2] for option in options)
        self.dies = self.number("channels") * self.number("chips")
        self.stripe = self.number("page") * self.number("planes")
        self.at_once = 3 if self.words["one_shot"] == "on" else 1
        self.size, self.depth = self.number("size"), self.number("depth", 1)

    def number(self, name: str, usual: float = 0.0) -> float:
        """Return the number at the start of an option's value."""
        found = re.match(r"[0-9.]+", self.words.get(name, ""))
        return float(found[0]) if found else usual

    def per_program(self) -> float:
        """Return the program bandwidth of all dies, in bytes per nanosecond."""
        return self.dies * self.stripe * self.at_once / self.number("program")

    def dies_met(self) -> float:
        """Return how many dies the requests meet; a stride over all dies meets one."""
        stride, row = int(self.number("stride")), int(self.dies * self.stripe)
        return max(self.at_once, row // math.gcd(stride, row)) if stride else self.dies

    def way(self) -> float:
        """Return the time that a request spends outside the flash, in nanoseconds."""
        return self.number("controller") + self.number("link_command") + \
            1e3 * self.size / self.number("link")

    def read(self) -> tuple[float, float, float]:
        """Return the minimum, median and maximum time of a read at queue depth 1."""
        move = self.way() + 1e3 * min(self.size, 16384) / self.number("bus")
        middle = self.number("read")
        return (move + self.number("read_first", middle), move + middle,
                move + self.number("read_last", middle))


def mean_read(device: Device) -> float:
    """Return the mean read time; at depth, the bottleneck of dies, link and commands limits it."""
    lone = sum(device.read()) / 3
    busy = (lone - device.way()) * max(1.0, device.size / device.stripe) / device.dies_met()
    slowest = max(busy, 1e3 * device.size / device.number("link"), device.number("link_command"))
    beside = device.number("beside_rate") * device.number("beside_size") / 1e9
    wait = beside / device.per_program() * device.number("program") / 2
    return math.hypot(lone + wait, device.depth * slowest)


def mean_write(device: Device) -> float:
    """Return the mean write time: some writes fit into the buffer, the others wait for programs."""
    volume = device.number("requests") * device.size
    kept = min(1.0, device.number("buffer") / volume) if device.depth > 1 else 1.0
    waf = 1.0
    if "fill_overwrite" in device.words:
        waf, kept = 0.5 + 50 / device.number("op"), 0.0
    slow = math.hypot(device.way(), device.depth * device.size * waf / device.per_program())
    quick = math.hypot(device.way(), 1e3 * device.depth * device.size / device.number("link"))
    return kept * quick + (1 - kept) * slow


def analytic_result(device: Device) -> Json:
    """Return a result with the fields of the simulator's that calibration uses."""
    write = device.number("write-share") > 50
    mean = mean_write(device) if write else mean_read(device)
    _, middle, last = (mean, mean, mean) if write or device.depth > 1 else device.read()
    times = {"mean_ns": mean, "p50_ns": middle, "p90_ns": last, "p99_ns": last}
    count = device.number("requests")
    return {"counters": {"host_read_requests": 0 if write else count,
                         "host_write_requests": count if write else 0},
            "simulated_ns": count * mean / device.depth,
            "timing": {"read_response": times, "write_response": times}}
