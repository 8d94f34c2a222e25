#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the reports of annotated programs against each other and against the device.

    image REPORT [RATE]        check flipped bits, headers and the signal-to-noise ratio
    grown REPORT REPORT        check that the second report has more errors than the first
    network REPORT RATE        check flipped bits and the share of correctly classified digits
    predicted REPORT RATE      check flipped bits, headers and the quality the program predicts
    side-by-side BASE OTHER    compare two policies by BASE.json and BASE.stats of each
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: Sums of the squares and of the fourth powers of a pixel's bit weights, 1 to 128.
SQUARES = sum(4**bit for bit in range(8))
FOURTH_POWERS = sum(16**bit for bit in range(8))
SIGMAS = 4
#: Allowance for several errors in one value, as a part of a prediction; see approxftl-app(1).
COINCIDENCES = 0.04


def expect(holds: bool, sentence: str) -> None:
    """Print the sentence and exit with status 1 unless the condition holds."""
    if not holds:
        print(f"# {sentence}")
        sys.exit(1)


def read(path: str) -> Json:
    """Return a report."""
    result: Json = json.loads(Path(path).read_text())
    return result


def same(report: Json) -> None:
    """Require the flipped bits that the device reports, only in data that are all approximate."""
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
    """Require as many flipped bits as the error rate predicts, within SIGMAS deviations."""
    flipped = report["inputs"]["flipped_bits"]
    wanted = rate * 8 * report["inputs"]["approximate_bytes"]
    expect(abs(flipped - wanted) < SIGMAS * math.sqrt(wanted),
           f"{flipped} flipped bits, {wanted:.0f} expected")


def predicted(report: Json, rate: float) -> None:
    """Compare flipped bits with the error rate, and the quality with the program's prediction."""
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
    """Compare the flipped bits and the share of correctly classified digits with the prediction."""
    same(report)
    rated(report, rate)
    share = report["share"]
    print(f"# {share['stored']:.2%} right, predicted {share['predicted']}")
    expect(share["predicted"]["low"] <= share["stored"] <= share["predicted"]["high"],
           "that is not what the rate predicts")


def image(report: Json, rate: float | None) -> None:
    """Compare the quality with the one that the error rate predicts.

    A bit weighs 1 to 128 grey levels and flips with probability r. So a pixel's mean square error
    is r times the sum of the squared weights, and the variance of that square is r times the sum
    of their fourth powers, divided by the number of pixels for the mean over all of them.
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
    """Require that ageing has added errors."""
    counts = [report["inputs"]["flipped_bits"] for report in (before, after)]
    print(f"# {counts[0]} flipped bits, after ageing {counts[1]}")
    expect(counts[0] < counts[1], "ageing has added no error")


def counters(path: str) -> dict[str, int]:
    """Return the counters of a device."""
    rows = (line.split() for line in Path(path).read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2}


def side_by_side(base: str, other: str) -> None:
    """Print the measures under both policies; require that the second saves time and energy."""
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
    """Run the check that the first argument names."""
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
