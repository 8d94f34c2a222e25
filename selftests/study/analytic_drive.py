# SPDX-License-Identifier: GPL-2.0-only
"""A stand-in for the simulator in calibration, which computes results by formulas.

The formulas are coarse but exact, so that tests can check the parameters found for such a drive,
hundreds of times in a second.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from approxftl_tools.bench import Bench, Options
from approxftl_tools.study_store import Store

Json = dict[str, Any]


class AnalyticBench(Bench):
    """A drive whose results follow from formulas, in place of a simulated drive."""

    def __init__(self) -> None:
        super().__init__(Path("nothing"), 1, Store(Path("nowhere")))

    def run_or_look_up_simulations(self, runs: Iterable[Options]) -> dict[Options, Json]:
        return {options: make_analytic_result(Device(options)) for options in runs}


class Device:
    """The options of a simulated run as numbers; times are in nanoseconds."""

    def __init__(self, options: Options) -> None:
        self.words = dict(option.removeprefix("--").partition("=")[::2] for option in options)
        self.dies = self.read_option_as_number("channels") * self.read_option_as_number("chips")
        self.stripe = self.read_option_as_number("page") * self.read_option_as_number("planes")
        self.at_once = 3 if self.words["one_shot"] == "on" else 1
        self.size, self.depth = self.read_option_as_number("size"), self.read_option_as_number(
            "depth", 1)

    def read_option_as_number(self, name: str, usual: float = 0.0) -> float:
        """Return the number at the start of an option's value."""
        found = re.match(r"[0-9.]+", self.words.get(name, ""))
        return float(found[0]) if found else usual

    def compute_program_bandwidth(self) -> float:
        """Return the program bandwidth of all dies, in bytes per nanosecond."""
        return self.dies * self.stripe * self.at_once / self.read_option_as_number("program")

    def count_dies_serving_requests(self) -> float:
        """Return how many dies serve the requests; a stride as long as all dies uses one die."""
        stride, row = int(self.read_option_as_number("stride")), int(self.dies * self.stripe)
        return max(self.at_once, row // math.gcd(stride, row)) if stride else self.dies

    def compute_time_outside_flash_ns(self) -> float:
        """Return the time that a request spends outside the flash, in nanoseconds."""
        return self.read_option_as_number("controller") + self.read_option_as_number(
            "link_command") + 1e3 * self.size / self.read_option_as_number("link")

    def compute_single_read_times_ns(self) -> tuple[float, float, float]:
        """Return the minimum, median and maximum time of a read at queue depth 1."""
        move = self.compute_time_outside_flash_ns() + 1e3 * min(self.size,
                                                                16384) / self.read_option_as_number(
            "bus")
        middle = self.read_option_as_number("read")
        return (move + self.read_option_as_number("read_first", middle), move + middle,
                move + self.read_option_as_number("read_last", middle))


def compute_mean_read_ns(device: Device) -> float:
    """Return the mean read time; at a high queue depth dies, link or commands limit the rate."""
    lone = sum(device.compute_single_read_times_ns()) / 3
    busy = (lone - device.compute_time_outside_flash_ns()) * max(1.0, device.size / device.stripe)
    busy /= device.count_dies_serving_requests()
    slowest = max(busy, 1e3 * device.size / device.read_option_as_number("link"),
                  device.read_option_as_number("link_command"))
    beside = device.read_option_as_number("beside_rate") * device.read_option_as_number(
        "beside_size") / 1e9
    wait = beside / device.compute_program_bandwidth() * device.read_option_as_number("program") / 2
    return math.hypot(lone + wait, device.depth * slowest)


def compute_mean_write_ns(device: Device) -> float:
    """Return the mean write time; some writes find room in the buffer, others wait for programs."""
    volume = device.read_option_as_number("requests") * device.size
    kept = min(1.0, device.read_option_as_number("buffer") / volume) if device.depth > 1 else 1.0
    waf = 1.0
    if "fill_overwrite" in device.words:
        waf, kept = 0.5 + 50 / device.read_option_as_number("op"), 0.0
    slow = math.hypot(device.compute_time_outside_flash_ns(),
                      device.depth * device.size * waf / device.compute_program_bandwidth())
    quick = math.hypot(device.compute_time_outside_flash_ns(),
                       1e3 * device.depth * device.size / device.read_option_as_number("link"))
    return kept * quick + (1 - kept) * slow


def make_analytic_result(device: Device) -> Json:
    """Return a result with the fields of the simulator's result that calibration uses."""
    write = device.read_option_as_number("write-share") > 50
    mean = compute_mean_write_ns(device) if write else compute_mean_read_ns(device)
    _, middle, last = (mean, mean,
                       mean) if write or device.depth > 1 else device.compute_single_read_times_ns()
    times = {"mean_ns": mean, "p50_ns": middle, "p90_ns": last, "p99_ns": last}
    count = device.read_option_as_number("requests")
    return {"counters": {"host_read_requests": 0 if write else count,
                         "host_write_requests": count if write else 0},
            "simulated_ns": count * mean / device.depth,
            "timing": {"read_response": times, "write_response": times}}
