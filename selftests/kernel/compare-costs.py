#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the module costs, beside other devices in memory.

Processor nanoseconds of a random request of 4 KiB, `timing off`, in the lab, whose clock counts
instructions (cost.sh); then requests a second of one writer and two on two processors (writers.sh),
which is as noisy as this machine. Ratios are of one boot; the spread is between boots. A missed
bar is exit status 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build"))
OURS = ("baseline", "approxftl")
YARDSTICK = "linear"
LIMIT = 2.0  # times the yardstick
ELSEWHERE, UNTAGGED = "elsewhere", "baseline"  # the same device, with tags of others and without
TAG_LIMIT = 1.05  # times the cost without
OTHERS = ("brd", "null_blk", YARDSTICK)
TITLES = {"linear": "dm-linear/brd"}

Case = tuple[str, int]  # operation, depth
Costs = dict[tuple[str, Case], float]  # of a device in a case, ns


@dataclass
class Boot:
    """What one virtual machine said."""

    costs: Costs

    def ratio(self, device: str, case: Case, yardstick: str = YARDSTICK) -> float:
        """Return the cost relative to the yardstick's."""
        return self.costs[device, case] / self.costs[yardstick, case]


def guest_says(word: str, command: str, *options: str) -> list[list[str]]:
    """Boot; return the words of the lines that begin so."""
    run = [str(TOP / "selftests/vm/run"), *options, "--timeout", "1200", "--cmd", command]
    done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode and "not ok" not in done.stdout:
        sys.exit(f"compare-costs: {command} ended with {done.returncode}\n{done.stdout}")
    words = [line.split()[2:] for line in done.stdout.splitlines() if line.startswith(f"# {word} ")]
    if not words:
        sys.exit(f"compare-costs: {command} measured nothing\n{done.stdout}")
    return words


def boot_lab(requests: int) -> Boot:
    """Measure in the lab."""
    command = f"REQUESTS={requests} sh selftests/kernel/cost.sh"
    return Boot({(device, (operation, int(depth))): float(ns)
                 for device, operation, depth, ns in guest_says("cost", command, "--lab")})


def spread(boots: list[Boot], device: str, case: Case) -> float:
    """Return the range of a cost over the boots, relative to its mean."""
    seen = [boot.costs[device, case] for boot in boots]
    return (max(seen) - min(seen)) / statistics.mean(seen)


def columns(lines: list[list[str]]) -> None:
    """Print aligned columns, the first to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:]]))


def put_costs(boots: list[Boot]) -> bool:
    """Print the first boot; return whether each ratio is within the limit in all of them."""
    cases = list(dict.fromkeys(case for _, case in boots[0].costs))
    lines = [["4 KiB, ns", *(TITLES.get(name, name) for name in OTHERS),
              *(f"{ours}{word}" for ours in OURS for word in ("", " ratio")), "spread", "bar"]]
    met_all = True
    for case in cases:
        met = all(boot.ratio(ours, case) <= LIMIT for boot in boots for ours in OURS)
        met_all = met_all and met
        cells = [f"{boots[0].costs[name, case]:.0f}" for name in OTHERS]
        for ours in OURS:
            cells += [f"{boots[0].costs[ours, case]:.0f}", f"{boots[0].ratio(ours, case):.3f}"]
        widest = max(spread(boots, name, case) for name in (*OTHERS, *OURS))
        verdict = "met" if met else "missed"
        lines.append([f"{case[0]}, depth {case[1]}", *cells, f"{widest:.2%}", verdict])
    columns(lines)
    print(f"bar: at most {LIMIT:g} times dm-linear/brd; spread: between {len(boots)} boots")
    return met_all


def put_tags(boots: list[Boot]) -> bool:
    """Print what tags of others cost an untagged write; return whether that is within its limit."""
    cases = [case for device, case in boots[0].costs if device == ELSEWHERE]
    lines = [["untagged write, ns", "no tag", "a tag elsewhere", "ratio", "spread", "bar"]]
    met_all = True
    for case in cases:
        met = all(boot.ratio(ELSEWHERE, case, UNTAGGED) <= TAG_LIMIT for boot in boots)
        met_all = met_all and met
        widest = max(spread(boots, name, case) for name in (UNTAGGED, ELSEWHERE))
        lines.append([f"{case[0]}, depth {case[1]}", f"{boots[0].costs[UNTAGGED, case]:.0f}",
                      f"{boots[0].costs[ELSEWHERE, case]:.0f}",
                      f"{boots[0].ratio(ELSEWHERE, case, UNTAGGED):.3f}", f"{widest:.2%}",
                      "met" if met else "missed"])
    columns(lines)
    print(f"bar: at most {TAG_LIMIT:g} times the cost without; tagged are a file and a process")
    return met_all


def measure_writers(rounds: int) -> list[float]:
    """Return the ratio of two writers to one, round by round."""
    said = guest_says("writers", f"ROUNDS={rounds} sh selftests/kernel/writers.sh")
    one, two = ([float(iops) for number, iops in said if number == wanted] for wanted in "12")
    return [pair / single for single, pair in zip(one, two, strict=True)]


def put_writers(ratios: list[float]) -> bool:
    """Print what a second writer is worth; return whether it is worth anything."""
    middle = statistics.median(ratios)
    met = middle > 1
    print(f"two writers to one: {middle:.2f} (median of {len(ratios)}: "
          f"{', '.join(f'{ratio:.2f}' for ratio in sorted(ratios))}); "
          f"bar: more than 1: {'met' if met else 'missed'}")
    return met


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description="Cost of requests in the kernel.")
    parser.add_argument("--boots", type=int, default=2, metavar="N", help="boots of the lab (2)")
    parser.add_argument("--requests", type=int, default=20000, metavar="N",
                        help="requests of the shorter of two measurements (20000)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N",
                        help="comparisons of one writer with two (7); 0 leaves them out")
    parser.add_argument("--json", type=Path, default=BUILD / "bench-kernel.json", metavar="FILE",
                        help="results (bench-kernel.json in the build directory)")
    args = parser.parse_args()
    boots = [boot_lab(args.requests) for _ in range(args.boots)]
    met = put_costs(boots)
    met = put_tags(boots) and met
    ratios = measure_writers(args.rounds) if args.rounds else []
    if ratios:
        met = put_writers(ratios) and met
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps({
        "approxftl_bench_kernel_format": [1, 0],
        "cost_ns": [{f"{device} {operation} {depth}": ns
                     for (device, (operation, depth)), ns in boot.costs.items()}
                    for boot in boots],
        "two_writers_to_one": ratios,
    }, indent=1) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
