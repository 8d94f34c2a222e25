#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print what fio and the device measured under two policies, side by side."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

POLICIES = ("baseline", "approxftl")


def latency_us(report: dict[str, Any], job: str, direction: str) -> dict[str, float]:
    """Return mean and 99th percentile of a job's completion latency."""
    for entry in report["jobs"]:
        if entry["jobname"] == job:
            figures = entry[direction]["clat_ns"]
            return {
                "mean": figures["mean"] / 1000,
                "p99": figures["percentile"]["99.000000"] / 1000,
            }
    raise SystemExit(f"side-by-side: fio reported no job called {job}")


def figures(folder: Path, policy: str) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of every figure of one policy."""
    report = json.loads((folder / f"{policy}.fio.json").read_text())
    counters = json.loads((folder / f"{policy}.stat.json").read_text())["devices"][0]["counters"]
    write = latency_us(report, "log", "write")
    read = latency_us(report, "queries", "read")
    programmed = sum(
        value for name, value in counters.items()
        if name.startswith("programmed_") and name.endswith("_units")
    )
    energy = sum(counters[f"{kind}_energy_pj"] for kind in ("read", "program", "erase"))
    yield "write, mean us", write["mean"]
    yield "write, p99 us", write["p99"]
    yield "read, mean us", read["mean"]
    yield "read, p99 us", read["p99"]
    yield "program, mean us", counters["array_program_ns"] / counters["array_programs"] / 1000
    yield "energy, mJ", energy / 1e9
    yield "write amplification", programmed / counters["host_write_units"]
    yield "flipped bits read", counters["read_flipped_bits"]


def change(before: float, after: float) -> str:
    """Return the change in percent, or nothing where there is none to speak of."""
    return f"{100 * (after - before) / before:+.1f} %" if before else ""


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    columns = [dict(figures(folder, policy)) for policy in POLICIES]
    print(f"\n{'fio-profiles/bursts.fio':24}{POLICIES[0]:>12}{POLICIES[1]:>12}{'change':>11}")
    for name, before in columns[0].items():
        after = columns[1][name]
        print(f"{name:24}{before:12.2f}{after:12.2f}{change(before, after):>11}")


if __name__ == "__main__":
    main()
