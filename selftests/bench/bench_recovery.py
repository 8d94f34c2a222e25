#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What it takes to find a volume again after a crash.

Volumes of two sizes in memory, in units of 4 KiB and pages of 16 KiB, written all over in random
order (recovery-cost.c): the best of several runs each, for others compute, too. From both follows
what a TiB takes: the processor's time, and the bytes read, at 2 GB/s. With --strict, a missed bar
is exit status 1.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from bars import Bar, put_bars, put_columns
from benchmark import BUILD, TOP, exit_status, options, put_result

SOURCE = Path(__file__).with_name("recovery-cost.c")
LIBRARY = ("core-memory", "checked-memory", "complain")
TIB = 1 << 40
READ_RATE = 2e9  # bytes a second
LIMIT_S = 10.0


@dataclass
class Recovery:
    """What one volume took."""

    flash: int  # bytes
    cpu_ns: int
    read: int  # bytes

    def per_tib(self) -> tuple[float, float]:
        """Return seconds of the processor, and of reading, if it was a TiB."""
        return self.cpu_ns / 1e9 * TIB / self.flash, self.read / READ_RATE * TIB / self.flash


def build() -> Path:
    """Build the program with the core as it is."""
    program = BUILD / "bench/recovery-cost"
    program.parent.mkdir(parents=True, exist_ok=True)
    folders = ["dm-approxftl", "userspace/host", "userspace/lib"]
    subprocess.run(
        ["cc", "-std=gnu11", "-O2", "-flto=auto", *(f"-I{folder}" for folder in folders), "-o",
         program, SOURCE, *sorted(map(str, (TOP / "dm-approxftl/core").glob("*/*.c"))),
         *(f"userspace/lib/{name}.c" for name in LIBRARY), "-lm"], cwd=TOP, check=True)
    return program


def measure(program: Path, blocks: int, runs: int) -> Recovery:
    """Return the best run with so many blocks."""
    said = [subprocess.run([program, str(blocks)], check=True, capture_output=True,
                           text=True).stdout.split() for _ in range(runs)]
    return min((Recovery(*map(int, words)) for words in said), key=lambda found: found.cpu_ns)


def put_recoveries(found: list[Recovery]) -> list[Bar]:
    """Print what they took; return the bar."""
    lines = [["flash, GiB", "cpu, s", "read, GB", "a TiB: cpu, s", "read, s", "both, s"]]
    for one in found:
        cpu, read = one.per_tib()
        lines.append([f"{one.flash / (1 << 30):.0f}", f"{one.cpu_ns / 1e9:.2f}",
                      f"{one.read / 1e9:.2f}", f"{cpu:.1f}", f"{read:.1f}", f"{cpu + read:.1f}"])
    put_columns(lines)
    print()
    return [Bar("a TiB is found after a crash", max(sum(one.per_tib()) for one in found), LIMIT_S,
                "s", least=False)]


def main() -> int:
    """Entry point."""
    parser = options("What it takes to find a volume after a crash.", "bench-recovery.json")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each size (5)")
    parser.add_argument("--blocks", type=int, default=512, metavar="N",
                        help="blocks of 64 MiB of the larger volume (512)")
    args = parser.parse_args()
    program = build()
    found = [measure(program, blocks, max(1, args.runs))
             for blocks in (args.blocks // 2, args.blocks)]
    bars = put_recoveries(found)
    put_bars(bars)
    put_result(args.json, {
        "approxftl_bench_recovery_format": [1, 0],
        "recoveries": [asdict(one) for one in found],
        "bars": [bar.as_json() for bar in bars],
    })
    return exit_status(args, met=all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
