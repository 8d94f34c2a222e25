#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge what a network reports of its weights and of the device.

    rate REPORT RATE           as many bits have flipped as a rate lets expect
    bought REPORT              what the tags have saved
    levels REPORT              planes of higher levels have lost more
    more REPORT REPORT         in the second, of the same weights, more bits have flipped
    older REPORT REPORT        the same, of the same pages
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
    expect(inputs["flipped_bits_by_level"] == told["flipped_bits_by_level"],
           f"{told['flipped_bits_by_level']} bits of levels are reported")
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


def levels(report: Json) -> None:
    """Each level has its units and its rate, from what bears least to what bears most."""
    told, said = report["reported"], report["parameters"]["levels"]
    units, flips = told["approximate_units_by_level"], told["flipped_bits_by_level"]
    print(f"# units {units}, flipped bits {flips}")
    expect([one * len(said) for one in units]
           == [said.count(level) * told["approximate_units"] for level in (1, 2, 3)],
           f"levels are {said}, and units {units}")
    one, two, three = (flip / unit for flip, unit in zip(flips, units, strict=True))
    expect(one * 100 < two < three * 3 / 4, f"{one:.2f}, {two:.2f}, {three:.2f} bits of a unit")


def bought(report: Json) -> None:
    """Tagged weights cost less energy and time than the same without."""
    precise, tagged = report["cost"]["precise"], report["cost"]["tagged"]
    for name in ("energy_pj", "program_ns"):
        print(f"# {name}: {tagged[name]} tagged, {precise[name]} precise")
        expect(0 < tagged[name] < precise[name], f"{name} is not smaller")


def more(few: Json, many: Json) -> None:
    """Compare reports of the same weights; what is precise is whole in both."""
    expect(few["parameters"] == many["parameters"], "they are not the same weights")
    expect(few["share"]["precise"] == many["share"]["precise"], "the precise copy has changed")
    expect(few["inputs"]["flipped_bits"] < many["inputs"]["flipped_bits"], "no more have flipped")


def older(new: Json, old: Json) -> None:
    """Bits of the same pages have flipped, and none back, plane by plane and array by array."""
    more(new, old)
    for one, other in zip(new["arrays"], old["arrays"], strict=True):
        pairs = zip(one["flipped_bits_by_plane"], other["flipped_bits_by_plane"], strict=True)
        expect(all(a <= b for a, b in pairs), f"{one['name']}: bits have flipped back")


def main() -> None:
    """Judge one thing."""
    what, *words = sys.argv[1:]
    if what in ("more", "older"):
        {"more": more, "older": older}[what](read(words[0]), read(words[1]))
    elif what == "rate":
        rate(read(words[0]), float(words[1]))
    else:
        {"bought": bought, "levels": levels}[what](read(words[0]))


if __name__ == "__main__":
    main()
