# SPDX-License-Identifier: GPL-2.0-only
"""Measure the cost of reading a trace: processor time, memory, beside blkparse on the same file.

bench_trace.py                 all cases, median of five rounds
bench_trace.py --scale 0.01    a hundredth of the requests, to test this program
bench_trace.py --strict        exit status 1 if a limit is missed

Processor time is user and system time of the whole child, from the kernel. Rounds are
interleaved, so that a machine that slows down slows all cases.
"""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from bars import Bar, print_columns, print_limits
from benchmark import (
    BUILD,
    benchmark_exit_status,
    benchmark_parser,
    require_built_program,
    write_result_json,
)

BINARY = BUILD / "approxftl-trace"

Json = dict[str, Any]

FORMAT = [1, 0]

EVENT = np.dtype([
    ("magic", "<u4"), ("sequence", "<u4"), ("t", "<u8"), ("sector", "<u8"), ("bytes", "<u4"),
    ("action", "<u4"), ("pid", "<u4"), ("device", "<u4"), ("cpu", "<u4"), ("error", "<u2"),
    ("extra", "<u2"),
])

# Actions with their category bits: queue, get request, insert, issue, complete.
QUEUE, GET, INSERT, ISSUE, COMPLETE = (
    1 | 16 << 16, 4 | 16 << 16, 12 | 16 << 16, 7 | 64 << 16, 8 | 128 << 16)


@dataclass
class Case:
    """A file and a command that reads it."""

    name: str
    command: list[str]
    items: int
    what: str
    cpu_s: list[float] = field(default_factory=list)
    peak_kib: int = 0

    def measure_round(self) -> None:
        """Run it once."""
        with Path(os.devnull).open("wb") as null:
            child = os.posix_spawnp(self.command[0], self.command, os.environ, file_actions=[
                (os.POSIX_SPAWN_DUP2, null.fileno(), 1), (os.POSIX_SPAWN_DUP2, null.fileno(), 2)])
            _, status, usage = os.wait4(child, 0)
        if status:
            raise SystemExit(f"bench: failed: {' '.join(self.command)}")
        self.cpu_s.append(usage.ru_utime + usage.ru_stime)
        self.peak_kib = max(self.peak_kib, usage.ru_maxrss)

    @property
    def median_seconds(self) -> float:
        """Median of the rounds."""
        return statistics.median(self.cpu_s)

    @property
    def million_items_per_s(self) -> float:
        """Millions of items per second of processor time."""
        return self.items / self.median_seconds / 1e6 if self.median_seconds else 0.0

    def case_as_json(self) -> Json:
        """Return all measured values."""
        return {
            "name": self.name, "items": self.items, "of": self.what, "cpu_s": self.cpu_s,
            "peak_kib": self.peak_kib, "millions_per_cpu_s": self.million_items_per_s,
        }


def write_capture(name: Path, requests: int, actions: Sequence[int]) -> int:
    """Write a capture: two processors, a request every 2 us, 30 in flight; return its events.

    Each action follows the previous one after some time. The first occurs on the submitting
    processor; the completion occurs on either processor.
    """
    draw = np.random.default_rng(1)
    arrival = np.cumsum(draw.integers(500, 3500, requests))
    sectors = draw.integers(0, 1 << 28, requests) * 8
    # A process runs on one processor for a while, then on the other.
    home = np.arange(requests) // 16 % 2
    events = np.zeros(requests * len(actions), EVENT)
    events["magic"] = 0x65617407
    events["bytes"] = 4096
    events["device"] = 253 << 20
    events["pid"] = 1000
    kind = np.where(draw.random(requests) < 0.5, 2, 1) | 256
    for i, action in enumerate(actions):
        part = events[i::len(actions)]
        later = 300 * i if action != COMPLETE else draw.integers(20_000, 100_000, requests)
        part["t"] = arrival + later
        part["sector"] = sectors
        part["action"] = action | kind << 16
        part["cpu"] = home if action != COMPLETE else draw.integers(0, 2, requests)
    events = events[np.argsort(events["t"], kind="stable")]
    for cpu in (0, 1):
        own = events[events["cpu"] == cpu]
        own["sequence"] = np.arange(1, len(own) + 1)
        own.tofile(f"{name}.blktrace.{cpu}")
    return len(events)


Numbers = npt.NDArray[np.int64]


def text_format_generators(requests: int) -> dict[str, Callable[[], list[str]]]:
    """Return the generator of each text format's lines."""
    draw = np.random.default_rng(2)
    t: Numbers = np.cumsum(draw.integers(1, 2000, requests)) + 128166372003061629
    at: Numbers = draw.integers(0, 1 << 28, requests) * 8
    n: Numbers = draw.integers(1, 128, requests)
    w: Numbers = draw.integers(0, 2, requests)
    rows = list(zip(t.tolist(), at.tolist(), n.tolist(), w.tolist(), strict=True))
    word, letter = ("Read", "Write"), "RW"
    return {
        "msr": lambda: [f"{x},hm,0,{word[y]},{a * 512},{c * 512},{x % 9999}"
                        for x, a, c, y in rows],
        "spc": lambda: [f"0,{a},{c * 512},{letter[y]},{i / 1000:.6f}"
                        for i, (_, a, c, y) in enumerate(rows)],
        "alibaba": lambda: [f"419,{letter[y]},{a * 512},{c * 512},{x // 100}"
                            for x, a, c, y in rows],
        "mqsim": lambda: [f"{x} 0 {a} {c} {1 - y}" for x, a, c, y in rows],
        "iolog": lambda: ["fio version 3 iolog", *(
            f"{i} /dev/vda {word[y].lower()} {a * 512} {c * 512}"
            for i, (_, a, c, y) in enumerate(rows))],
        "blkparse": lambda: [
            f"253,0    0 {i:8d} {i // 1000:5d}.{i % 1000:03d}000{'Q C'.index(q)}00  1000  {q}   "
            f"{letter[y]} {a} + {c} [fio]"
            for i, (_, a, c, y) in enumerate(rows[::2]) for q in "QC"],
    }


def make_trace_cases(directory: Path, scale: float) -> list[Case]:
    """Write all files, and return the cases."""
    cases = []
    for name, actions in (("bios", (QUEUE, COMPLETE)),
                          ("requests", (QUEUE, GET, INSERT, ISSUE, COMPLETE))):
        path = directory / name
        events = write_capture(path, max(100, round(2_000_000 * scale)), actions)
        cases.append(Case(f"blktrace, {name}", [str(BINARY), "pair", "-q", str(path)], events,
                          "events"))
        if shutil.which("blkparse"):
            cases.append(Case(f"blkparse, {name}", [
                "blkparse", "-D", str(directory), "-i", name, "-o", os.devnull], events, "events"))
    lines = max(100, round(1_000_000 * scale))
    for name, make in text_format_generators(lines).items():
        file = directory / f"{name}.txt"
        file.write_text("\n".join(make()) + "\n")
        cases.append(Case(name, [str(BINARY), "info", "-q", str(file)], lines, "lines"))
    return cases


def compare_with_limits(cases: Sequence[Case]) -> list[Bar]:
    """Compare the results with the project's limits."""
    by_name = {case.name: case for case in cases}
    bars = []
    for name in ("bios", "requests"):
        ours, theirs = by_name[f"blktrace, {name}"], by_name.get(f"blkparse, {name}")
        bars.append(Bar(f"read and pair {name}", ours.million_items_per_s, 20, "M events/CPU-s"))
        if theirs:
            bars.append(Bar(f"against blkparse, {name}",
                            theirs.median_seconds / ours.median_seconds, 20, "x"))
    bars += [Bar(f"read {case.name}", case.million_items_per_s, 2, "M lines/CPU-s")
             for case in cases if case.what == "lines"]
    return bars


def print_tables_and_limits(cases: Sequence[Case], bars: Sequence[Bar]) -> None:
    """Print the tables and the limits."""
    print_columns([("case", "M/CPU-s", "CPU-s", "peak MiB")] + [
        (c.name, f"{c.million_items_per_s:.2f}", f"{c.median_seconds:.3f}",
         f"{c.peak_kib / 1024:.1f}")
        for c in cases])
    print()
    print_limits(bars)


def main() -> int:
    """Entry point."""
    parser = benchmark_parser("Cost of reading traces.", "bench-trace.json")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds (5)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X",
                        help="times the requests (1)")
    args = parser.parse_args()
    require_built_program(BINARY)
    with tempfile.TemporaryDirectory() as directory:
        # Use a child process, whose memory does not count in this one's peak of children.
        with ProcessPoolExecutor(1) as pool:
            cases = pool.submit(make_trace_cases, Path(directory), args.scale).result()
        for _ in range(max(1, args.rounds)):
            for case in cases:
                case.measure_round()
    bars = compare_with_limits(cases)
    print_tables_and_limits(cases, bars)
    write_result_json(args.json, {
        "approxftl_bench_format": FORMAT,
        "machine": {"cpus": os.cpu_count(), "system": platform.platform()},
        "rounds": args.rounds,
        "scale": args.scale,
        "cases": [case.case_as_json() for case in cases],
        "bars": [bar.limit_as_json() for bar in bars],
    })
    return benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
