#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judge what annotated programs report of themselves and of the device.

    image REPORT [RATE]        flipped bits, headers, and the signal-to-noise ratio
    grown REPORT REPORT        the second has the errors of the first and more
    network REPORT RATE        flipped bits, and the share of digits that is predicted
    predicted REPORT RATE      flipped bits, headers, and the quality that the program predicts
    side-by-side BASE OTHER    BASE.json and BASE.stats of each policy
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: Sum of the squares of what the bits of a pixel are worth, and of their fourth powers.
SQUARES = sum(4**bit for bit in range(8))
FOURTH_POWERS = sum(16**bit for bit in range(8))
SIGMAS = 4
#: What multiple errors of one value may add to a prediction, see approxftl-app(1).
COINCIDENCES = 0.04


def expect(holds: bool, sentence: str) -> None:
    """End with a remark if something is not as it should be."""
    if not holds:
        print(f"# {sentence}")
        sys.exit(1)


def read(path: str) -> Json:
    """Return a report."""
    result: Json = json.loads(Path(path).read_text())
    return result


def same(report: Json) -> None:
    """What differs is what the device reports; all data are approximate, and nothing else."""
    inputs, reported = report["inputs"], report["reported"]
    expect(inputs["flipped_bits"] == reported["flipped_bits"],
           f"{inputs['flipped_bits']} bits differ, {reported['flipped_bits']} are reported")
    expect(inputs["flipped_bits"] > 0, "no bit has flipped")
    expect(inputs["damaged_precise_bits"] == 0, "headers or indices are damaged")
    expect(reported["approximate_units"] * 4096 == inputs["approximate_bytes"],
           f"{reported['approximate_units']} units are approximate of "
           f"{inputs['approximate_bytes'] // 4096}")
    expect(report.get("check", {"passed": True})["passed"], "the precise run is wrong")


def rated(report: Json, rate: float) -> None:
    """As many bits have flipped as the rate predicts."""
    flipped = report["inputs"]["flipped_bits"]
    wanted = rate * 8 * report["inputs"]["approximate_bytes"]
    expect(abs(flipped - wanted) < SIGMAS * math.sqrt(wanted),
           f"{flipped} flipped bits, {wanted:.0f} expected")


def predicted(report: Json, rate: float) -> None:
    """Compare flipped bits and quality with what the rate and they predict."""
    same(report)
    rated(report, rate)
    quality = report["quality"]
    for measure in ("mean_square_error", "mean_absolute_error"):
        if f"expected_{measure}" not in quality:
            continue
        found, wanted = quality[measure], quality[f"expected_{measure}"]
        band = SIGMAS * quality["expected_deviation"] + COINCIDENCES * wanted
        print(f"# {report['app']}: {measure} {found:.3f}, predicted {wanted:.3f} +- {band:.3f}")
        expect(abs(found - wanted) < band, "the quality is not what the flipped bits predict")


def network(report: Json, rate: float) -> None:
    """Compare flipped bits and the share of digits that is told right with what is predicted."""
    same(report)
    rated(report, rate)
    share = report["share"]
    print(f"# {share['stored']:.2%} right, predicted {share['predicted']}")
    expect(share["predicted"]["low"] <= share["stored"] <= share["predicted"]["high"],
           "that is not what the rate predicts")


def image(report: Json, rate: float | None) -> None:
    """Compare the quality with what the error rate predicts.

    A bit is worth 1 to 128 grey levels. Each flips with chance r, so the mean square of a
    pixel's error is r times the sum of the squares of these, and the variance of that square
    is r times the sum of their fourth powers, divided by the number of pixels for their mean.
    """
    same(report)
    pixels = report["inputs"]["approximate_bytes"]
    flipped = report["inputs"]["flipped_bits"]
    if rate is None:
        rate = report["reported"]["flipped_bits"] / (8 * pixels)
    else:
        rated(report, rate)
    mean = rate * SQUARES
    spread = SIGMAS * math.sqrt(rate * FOURTH_POWERS / pixels)
    low, high = (10 * math.log10(255**2 / value) for value in (mean + spread, mean - spread))
    found = report["quality"]["psnr_db"]
    print(f"# {flipped} flipped bits, PSNR {found:.2f} dB, predicted {low:.2f} to {high:.2f} dB")
    expect(low <= found <= high, "the quality is not what the error rate predicts")


def grown(before: Json, after: Json) -> None:
    """Time adds errors."""
    counts = [report["inputs"]["flipped_bits"] for report in (before, after)]
    print(f"# {counts[0]} flipped bits, after ageing {counts[1]}")
    expect(counts[0] < counts[1], "ageing has added no error")


def counters(path: str) -> dict[str, int]:
    """Return the counters of a device."""
    rows = (line.split() for line in Path(path).read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2}


def side_by_side(base: str, other: str) -> None:
    """Print what two policies make of one program; the second saves time and energy."""
    columns = []
    for name in (base, other):
        report, counts = read(f"{name}.json"), counters(f"{name}.stats")
        energy = sum(counts[f"{kind}_energy_pj"] for kind in ("read", "program", "erase"))
        columns.append({
            "write_ms": report["write_ns"] / 1e6,
            "compute_ms": report["compute_ns"] / 1e6,
            "program_mean_us": counts["array_program_ns"] / counts["array_programs"] / 1e3,
            "energy_mj": energy / 1e9,
            "flipped_bits": report["inputs"]["flipped_bits"],
            "relative_error": report["quality"]["relative_error"],
        })
    for key in columns[0]:
        print(f"# {key:16} {columns[0][key]:12.4f} {columns[1][key]:12.4f}")
    baseline, approximate = columns
    expect(baseline["flipped_bits"] == 0, "bits have flipped under baseline")
    expect(baseline["relative_error"] == 0, "the result under baseline is not exact")
    expect(approximate["flipped_bits"] > 0, "no bit has flipped under approxftl")
    expect(0 < approximate["relative_error"] < 1, "the result under approxftl is worthless")
    for key in ("program_mean_us", "energy_mj"):
        expect(approximate[key] < baseline[key], f"{key} is not smaller")


def main() -> None:
    """Judge one thing."""
    what, *words = sys.argv[1:]
    if what == "image":
        image(read(words[0]), float(words[1]) if len(words) > 1 else None)
    elif what == "grown":
        grown(read(words[0]), read(words[1]))
    elif what in ("network", "predicted"):
        (network if what == "network" else predicted)(read(words[0]), float(words[1]))
    else:
        side_by_side(words[0], words[1])


if __name__ == "__main__":
    main()
