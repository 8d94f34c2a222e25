#!/usr/bin/python3 -I
# SPDX-License-Identifier: GPL-2.0-only
"""Print what fio, an annotated program and the device measured under two policies.

side-by-side.py FOLDER
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

POLICIES = ("baseline", "approxftl")


# A 99th percentile says something when at least fifty requests are beyond it.
LEAST_FOR_P99 = 5000


def latencies(report: dict[str, Any], job: str) -> Iterator[tuple[str, float]]:
    """Yield mean and 99th percentile of the completion latency of a job that is called as it."""
    for entry in report["jobs"]:
        if entry["jobname"] == job:
            figures = entry[job]["clat_ns"]
            yield f"{job}, mean us", figures["mean"] / 1000
            if figures["N"] >= LEAST_FOR_P99:
                yield f"{job}, p99 us", figures["percentile"]["99.000000"] / 1000
            return
    raise SystemExit(f"side-by-side: fio reported no job called {job}")


def device_counters(folder: Path, name: str) -> dict[str, int]:
    """Return the counters of a device."""
    counters: dict[str, int] = json.loads((folder / f"{name}.stat.json").read_text())["devices"][0][
        "counters"
    ]
    return counters


def device_figures(counters: dict[str, int]) -> Iterator[tuple[str, float]]:
    """Yield what a device has counted, of any load."""
    energy = sum(counters[f"{kind}_energy_pj"] for kind in ("read", "program", "erase"))
    yield "program, mean us", counters["array_program_ns"] / counters["array_programs"] / 1000
    yield "energy, mJ", energy / 1e9
    yield "flipped bits read", counters["read_flipped_bits"]


def collection_figures(counters: dict[str, int]) -> Iterator[tuple[str, float]]:
    """Yield what garbage collection costs: nothing yet on a device that is new."""
    programmed = sum(
        value for name, value in counters.items()
        if name.startswith("programmed_") and name.endswith("_units")
    )
    yield "write amplification", programmed / counters["host_write_units"]
    yield "erases", counters["array_erases"]
    yield "wear, full erases", counters["wear_sum"] / 10000


def load_figures(folder: Path, policy: str) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of every figure of the load under one policy."""
    report = json.loads((folder / f"{policy}.fio.json").read_text())
    counters = device_counters(folder, policy)
    yield from latencies(report, "write")
    yield from latencies(report, "read")
    yield from device_figures(counters)
    yield from collection_figures(counters)


def image_figures(folder: Path, policy: str) -> Iterator[tuple[str, float]]:
    """Yield the same of the image."""
    written = json.loads((folder / f"{policy}-written.app.json").read_text())
    report = json.loads((folder / f"{policy}.app.json").read_text())
    quality = report["quality"]
    yield "write, ms", written["write_ns"] / 1e6
    yield "read, ms", report["compute_ns"] / 1e6
    yield from device_figures(device_counters(folder, f"{policy}-image"))
    yield "flipped bits in image", report["inputs"]["flipped_bits"]
    yield "flipped bits in header", report["inputs"]["damaged_precise_bits"]
    yield "PSNR, dB", math.inf if quality["psnr_db"] is None else quality["psnr_db"]
    yield "SSIM", quality["ssim"]


def change(before: float, after: float) -> str:
    """Return the change in percent, or nothing where there is none to speak of."""
    return f"{100 * (after - before) / before:+.1f} %" if before and before < math.inf else ""


def side_by_side(title: str, columns: list[dict[str, float]]) -> None:
    """Print a table."""
    print(f"\n{title:24}{POLICIES[0]:>12}{POLICIES[1]:>12}{'change':>11}")
    for name, before in columns[0].items():
        after = columns[1][name]
        print(f"{name:24}{before:12.2f}{after:12.2f}{change(before, after):>11}")


def main() -> None:
    """Print the tables."""
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
        return
    folder = Path(sys.argv[1])
    side_by_side("fio-profiles/clients.fio",
                 [dict(load_figures(folder, policy)) for policy in POLICIES])
    side_by_side("an image of 256 KiB",
                 [dict(image_figures(folder, policy)) for policy in POLICIES])


if __name__ == "__main__":
    main()
