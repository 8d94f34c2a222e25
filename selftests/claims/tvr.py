# SPDX-License-Identifier: GPL-2.0-only
"""Claims about TVR."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from selftests.claims.rows import (
    Claim,
    array_program_us,
    claim,
    counter,
    identity,
    known_miss,
    measure,
    row,
    saving,
    share,
    without_rules,
    words,
)
from selftests.claims.runs import falsely, simulate
from selftests.claims.streams import trace_directory, volumes

# The times of the SSD module in the paper's simulator, as its authors published them
# (remembered): 25 us, 200 us, 1.5 ms, and 100 us on the bus for a page of 4 KiB.
MODULE = words(
    "--profile ics14 --bits 1 --page 4096 --blocks 256 --read 25us --program 200us "
    "--program_fast 0 --erase 1500us --bus 41 --wear_times off"
)

# The paper's own measurements.
MEASURED = words("--profile ics14 --blocks 512 --size 2KiB")
ROOMY = words("--op 50% --fill sequential --fill-valid 50% --footprint 50% --requests 40000")


def tvr_cut(*arguments: str) -> float:
    """How much less the mean response of all requests is with TVR, in percent."""
    runs = simulate(*arguments, "--policy", "baseline,tvr", "--tvr_mode", "device")
    return saving(*(measure(runs[policy], "response_mean_ns") for policy in ("tvr", "baseline")))


def tv5() -> list[Claim]:
    """Response time of mixed streams, by their share of writes."""
    shares_ = (18, 50, 77)
    light = ("--utilisation", "10%")
    if trace_directory():
        return [
            claim("TV-5", f"{name}: mean response cut in %", "11..35 on its own six",
                  f"{less:.1f}", "0..50: programs take half", 0 < less <= 50)
            for name, path in volumes().items()
            for less in [tvr_cut(*MODULE, "--trace", str(path), "--arrival", "trace")]
        ]
    cuts, measured = ([tvr_cut(*device, *ROOMY, *light, "--write-share", share(w)) for w in shares_]
                      for device in (MODULE, MEASURED))
    what = f"synthetic, {row(shares_, 0)} % writes, times"
    return [
        claim("TV-5", f"{what} of the paper's simulator: cut in %", "11..35, rising", row(cuts),
              "11..35, order", cuts == sorted(set(cuts)) and cuts[0] > 11 and cuts[-1] <= 35),
        known_miss("TV-5", f"{what} that the paper measured: cut in %", "11..35, rising",
                   row(measured), "30..50, order: programs take half, and are most of the time",
                   measured == sorted(set(measured)) and measured[0] > 30 and measured[-1] <= 50),
    ]


def tv6() -> list[Claim]:
    """More packages, as much load on each of them."""
    result = []
    for percent in (30, 60):
        cuts = [tvr_cut(*MODULE, *ROOMY, "--allocate", "static", "--channels", str(packages),
                     "--utilisation", share(percent), "--requests", str(20000 * packages),
                     "--write-share", share(50))
                for packages in (2, 4, 8)]
        # They share nothing: what is left between them is chance.
        steady = all(b >= a - 1 for a, b in pairwise(cuts))
        result.append(identity("TV-6", f"cut in % with 2 4 8 packages, each {percent} % busy",
                               "does not fall", row(cuts), "-1", steady))
    return result


WORN_OUT = words("--profile ics14 --blocks 64 --size 2KiB --op 30% --fill sequential --requests "
                 "100000 --write-share 100% --hot-share 80% --hot-range 20%")


def tv_a() -> list[Claim]:
    """TVR part by part: time of a program, wear of an erase."""
    base = simulate(*WORN_OUT, "--policy", "baseline")["baseline"]
    with falsely(mutants=without_rules("tvr-wears-fully")):
        steps = simulate(*WORN_OUT, "--policy", "tvr", "--tvr_mode", "device")["tvr"]
    whole, block = (simulate(*WORN_OUT, "--policy", "tvr", "--tvr_mode", mode)["tvr"]
                    for mode in ("device", "block"))
    runs = (base, steps, whole, block)
    us = [array_program_us(run) for run in runs]
    wear = [counter(run, "wear_sum") / counter(run, "array_erases") / 10000 for run in runs]
    cells = [f"{a:.0f} {b:.3f}" for a, b in zip(us, wear, strict=True)]
    return [
        Claim("TV-A", "baseline (us of a program, wear of an erase)", "-", cells[0], "-", "report"),
        claim("TV-A", "+ fewer steps", "-", cells[1], "order", us[1] < 0.6 * us[0]),
        claim("TV-A", "+ less wear", "-", cells[2], "order", wear[2] < wear[1] == 1),
        claim("TV-A", "only for what is written again in time: between both", "-", cells[3],
              "order", us[2] < us[3] < us[0] and wear[2] < wear[3] < 1),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "TV-5": tv5,
    "TV-6": tv6,
    "TV-A": tv_a,
}
