#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge what a network reports of its weights and of the device.

    rate REPORT RATE           as many bits have flipped as a rate lets expect
    bought REPORT              what the tags have saved
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from applications import expect

Json = dict[str, Any]
SIGMAS = 4


def read(path: str | Path) -> Json:
    """Return a report, which is sound."""
    report: Json = json.loads(Path(path).read_text())
    if "inputs" in report:
        sound(report)
    return report


def sound(report: Json) -> None:
    """What differs is what the device reports; all low planes are approximate, and nothing else."""
    inputs, told, low = report["inputs"], report["reported"], report["parameters"]["planes"]
    expect(inputs["flipped_bits"] == told["flipped_bits"],
           f"{inputs['flipped_bits']} bits differ, {told['flipped_bits']} are reported")
    expect(inputs["damaged_precise_bits"] == 0, "precise data are damaged")
    expect(told["approximate_units"] * 4096 == inputs["approximate_bytes"] > 0,
           f"{told['approximate_units']} units are approximate")
    expect(all(not any(layer["flipped_bits_by_plane"][low:]) for layer in report["arrays"]),
           "bits of planes that are precise have flipped")
    found = report["share"]
    guess = found["predicted"]
    print(f"# {report['parameters']['type']}, {low} planes: {inputs['flipped_bits']} flipped bits,"
          f" {found['stored']:.2%} right, precise {found['precise']:.2%}, predicted "
          f"{guess['low']:.2%} to {guess['high']:.2%}; layers alone "
          + " ".join(f"{layer['share']:.2%}" for layer in report["arrays"]))
    expect(guess["low"] <= found["stored"] <= guess["high"], "that is not what the rate predicts")


def rate(report: Json, wanted: float) -> None:
    """Compare the number of flipped bits with what the rate lets expect."""
    mean = wanted * 8 * report["inputs"]["approximate_bytes"]
    found = report["inputs"]["flipped_bits"]
    expect(abs(found - mean) < SIGMAS * math.sqrt(mean),
           f"{found} flipped bits, {mean:.0f} expected")


def bought(report: Json) -> None:
    """Tagged weights cost less energy and time than the same without."""
    precise, tagged = report["cost"]["precise"], report["cost"]["tagged"]
    for name in ("energy_pj", "program_ns"):
        print(f"# {name}: {tagged[name]} tagged, {precise[name]} precise")
        expect(0 < tagged[name] < precise[name], f"{name} is not smaller")


def main() -> None:
    """Judge one thing."""
    what, *words = sys.argv[1:]
    if what == "rate":
        rate(read(words[0]), float(words[1]))
    else:
        bought(read(words[0]))


if __name__ == "__main__":
    main()
