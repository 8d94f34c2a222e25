#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the time to recover a volume after a crash.

Volumes of two sizes in memory, in units of 4 KiB and pages of 16 KiB, are written completely in
random order and read at 2 GB/s (recovery-cost.c). The best of several runs of each counts, as
other programs disturb them. The time per TiB is derived from both. With --strict, a missed limit
is exit status 1.
"""

import subprocess
import sys
from dataclasses import asdict, dataclass

from bars import Bar, print_limits, print_table_in_columns
from benchmark import BUILD, find_benchmark_exit_status, make_benchmark_parser, write_result_json

PROGRAM = BUILD / "recovery-cost"
TIB = 1 << 40
READ_RATE = 2e9  # bytes a second
LIMIT_S = 10.0


@dataclass
class Recovery:
    """The cost of recovering one volume."""

    flash: int  # bytes
    cpu_ns: int
    elapsed_ns: int
    read: int  # bytes

    def scale_recovery_to_tib(self, seconds: float) -> float:
        """Scale the recovery time of the volume, in seconds, to a volume of one TiB."""
        return seconds * TIB / self.flash

    @property
    def recovery_s_per_tib(self) -> float:
        """Return the elapsed seconds of a recovery, scaled to a volume of one TiB."""
        return self.scale_recovery_to_tib(self.elapsed_ns / 1e9)


def measure_recovery(blocks: int, runs: int) -> Recovery:
    """Return the fastest recovery of a volume with the given number of blocks."""
    said = [subprocess.run([PROGRAM, str(blocks)], check=True, capture_output=True,
                           text=True).stdout.split() for _ in range(runs)]
    return min((Recovery(*map(int, words)) for words in said), key=lambda found: found.elapsed_ns)


def main() -> int:
    """Run the benchmark that the command line describes."""
    parser = make_benchmark_parser("What it takes to find a volume after a crash.",
                                   "bench-recovery.json")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each size (5)")
    parser.add_argument("--blocks", type=int, default=512, metavar="N",
                        help="blocks of 64 MiB of the larger volume (512)")
    args = parser.parse_args()
    found = [measure_recovery(blocks, max(1, args.runs))
             for blocks in (args.blocks // 2, args.blocks)]
    lines = [["flash, GiB", "cpu, s", "elapsed, s", "read, GB", "a TiB: cpu, s", "read, s",
              "elapsed, s"]]
    lines += [[f"{one.flash / (1 << 30):.0f}", f"{one.cpu_ns / 1e9:.2f}",
               f"{one.elapsed_ns / 1e9:.2f}", f"{one.read / 1e9:.2f}",
               f"{one.scale_recovery_to_tib(one.cpu_ns / 1e9):.1f}",
               f"{one.scale_recovery_to_tib(one.read / READ_RATE):.1f}",
               f"{one.recovery_s_per_tib:.1f}"]
              for one in found]
    print_table_in_columns(lines)
    print()
    bars = [Bar("a TiB is found after a crash", max(one.recovery_s_per_tib for one in found),
                LIMIT_S, "s", least=False)]
    print_limits(bars)
    write_result_json(args.json, {
        "approxftl_bench_recovery_format": [1, 0],
        "recoveries": [asdict(one) for one in found],
        "bars": [bar.convert_limit_to_json() for bar in bars],
    })
    return find_benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
