#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the gain of shards: one run on two processors, and the cost of a shard on one.

bench_shards.py             a device of 512 GiB, static allocation, open arrivals
bench_shards.py --scale 0.1 a tenth of the requests
bench_shards.py --strict    exit status 1 if a limit is missed

One thread and then two drive two shards; the results must be equal. Two rows report the gain.
The first compares elapsed time with two unrelated runs, each of half of the device, alone and in
parallel: their gain is the machine's maximum. The second is the ratio of all work to the work of
the busier thread.

Two processors that are threads of one core are slower when both are busy. Here both always are:
runs of idle priority, which yield to any other, fill the idle time, so that one thread runs at the
same speed alone as beside another. Without them (--alone) the gain of two threads is that of two
hardware threads of a core.

The time of a run with one request is subtracted. The best of all rounds counts, as disturbances
only make runs slower.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bars import Bar, print_limits, print_table_in_columns
from bench import BINARY, SHAPE_512G, read_processor_name
from benchmark import (
    find_benchmark_exit_status,
    make_benchmark_parser,
    require_built_program,
    write_result_json,
)

#: Half of this device has half of the resources that its channels share, too.
DEVICE = (f"--profile tcad18 --size 8KiB {SHAPE_512G} --allocate static --fill sequential "
          "--approx-share 50% --write-share 37% --arrival open --utilisation 50%").split()
#: Options for runs that must be short, and for a shrunken run that tests this program.
LITTLE = ("--fill_valid", "0.1%", "--footprint", "0.1%")
HALF = ["--channels", "4", "--buffer", "0"]
WANTED, OF_LIMIT = 1.7, 0.95
SHARDS = (1, 2, 4, 8)


def busiest_thread_cpu_s(pid: int) -> float:
    """Return the processor time that the busiest thread has used so far."""
    times = [0.0]
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):
            times.append(int(path.read_text().split()[0]) / 1e9)
    return max(times)


def run_programs_in_parallel(count: int, *arguments: str) -> tuple[float, float, float, list[Any]]:
    """Run COUNT simulators in parallel; return their times and results.

    The times in seconds are elapsed, processor, and processor of the busiest thread.
    """
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(count)]
        command = [str(BINARY), "sim", *DEVICE, *arguments, "--json", "--quiet"]
        before, begin, busiest = os.times(), time.monotonic(), 0.0
        running = [subprocess.Popen(command, stdout=file) for file in files]
        while any(process.poll() is None for process in running):
            busiest = max(busiest, *(busiest_thread_cpu_s(process.pid) for process in running), 0)
            time.sleep(0.005)
        wall, after = time.monotonic() - begin, os.times()
        if any(process.returncode for process in running):
            sys.exit(f"bench: failed: {' '.join(command)}")
        for file in files:
            file.seek(0)
        said = [json.load(file) for file in files]
    cpu = (after.children_user + after.children_system -
           before.children_user - before.children_system)
    return wall, cpu, busiest, [{k: v for k, v in one.items() if k != "tool"} for one in said]


@contextlib.contextmanager
def run_idle_priority_programs(count: int) -> Iterator[None]:
    """Keep the processors busy by idle-priority programs, so that a lone run has no speed gain."""
    command = [str(BINARY), "sim", *DEVICE, *HALF, *LITTLE, "--requests", "1000000000000",
               "--quiet", "--die-with-parent"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(count)]
    try:
        for process in running:
            os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


class Case:
    """A number of shards and threads, with its best times for all requests and for one request."""

    def __init__(self, name: str, count: int, *arguments: str) -> None:
        self.name, self.count, self.arguments = name, count, arguments
        self.whole = self.empty = (1e9, 1e9)
        self.shared_out = 0.0
        self.said: list[Any] = []

    def run_case_and_keep_best_times(self, requests: int) -> None:
        """Run the case in one more round, and keep its best times."""
        wall, cpu, busiest, self.said = run_programs_in_parallel(self.count, *self.arguments,
                                                                 "--requests", str(requests))
        self.whole = min(self.whole[0], wall), min(self.whole[1], cpu)
        # The last sample misses some milliseconds; the busiest thread has at least half of the
        # work.
        self.shared_out = max(self.shared_out, cpu / max(busiest, cpu / 2))
        wall, cpu, _, _ = run_programs_in_parallel(self.count, *self.arguments, "--requests", "1")
        self.empty = min(self.empty[0], wall), min(self.empty[1], cpu)

    @property
    def elapsed_s_of_requests(self) -> float:
        """Elapsed seconds of the requests, without the start of the run."""
        return max(1e-9, self.whole[0] - self.empty[0])

    @property
    def cpu_s_of_requests(self) -> float:
        """Processor seconds of the requests, without the start of the run."""
        return max(1e-9, self.whole[1] - self.empty[1])

    def convert_case_to_json(self, requests: int) -> dict[str, Any]:
        """Return all measured values of the case as JSON members."""
        return {"name": self.name, "runs": self.count, "arguments": list(self.arguments),
                "requests": requests, "wall_s": self.elapsed_s_of_requests,
                "cpu_s": self.cpu_s_of_requests,
                "startup_wall_s": self.empty[0], "work_to_busiest_thread": self.shared_out}


def make_shard_cases(scale: float) -> dict[str, Case]:
    size = () if scale >= 0.1 else LITTLE
    cases = [
        Case("one thread", 1, "--shards", "2", "--jobs", "1", *size),
        Case("two threads", 1, "--shards", "2", "--jobs", "2", *size),
        Case("half alone", 1, *HALF, *size),
        Case("two halves", 2, *HALF, *size),
        *(Case(f"{shards} shards", 1, "--shards", str(shards), "--jobs", "1", *size)
          for shards in SHARDS if shards != 2),
    ]
    return {case.name: case for case in cases}


def compare_shard_gains_with_limits(cases: dict[str, Case]) -> list[Bar]:
    """Compare gains with limits, lowered where even independent processes gain little."""
    one, two = cases["one thread"], cases["two threads"]
    most = 2 * cases["half alone"].elapsed_s_of_requests / cases["two halves"].elapsed_s_of_requests
    costs = {1: cases["1 shards"].cpu_s_of_requests, 2: one.cpu_s_of_requests,
             4: cases["4 shards"].cpu_s_of_requests, 8: cases["8 shards"].cpu_s_of_requests}
    return [
        Bar("one run on two processors", one.elapsed_s_of_requests / two.elapsed_s_of_requests,
            min(WANTED, OF_LIMIT * most), f"x as fast; unrelated runs: {most:.2f}"),
        Bar("the same, of their own", two.shared_out, WANTED, "x the work of the busier thread"),
        *(Bar(f"{shards} shards in one thread", costs[shards] / costs[1], 1.25, "x cost",
              least=False) for shards in SHARDS[1:]),
    ]


def main() -> int:
    """Run the benchmark that the command line describes."""
    parser = make_benchmark_parser("Shards on one and on several processors.", "bench-shards.json",
                                   5)
    parser.add_argument("--alone", action="store_true",
                        help="with nothing on the processors that are left")
    args = parser.parse_args()
    require_built_program(Path(BINARY))
    requests = max(10, round(4_000_000 * args.scale))
    cases = make_shard_cases(args.scale)
    with run_idle_priority_programs(0 if args.alone else os.cpu_count() or 1):
        for _ in range(max(1, args.rounds)):
            for case in cases.values():
                case.run_case_and_keep_best_times(requests)
    if cases["one thread"].said != cases["two threads"].said:
        sys.exit("bench: two threads do not say what one says")
    print_table_in_columns([("case", "s", "CPU-s", "us/request", "start s")] + [
        (c.name, f"{c.elapsed_s_of_requests:.2f}", f"{c.cpu_s_of_requests:.2f}",
         f"{c.cpu_s_of_requests / c.count / requests * 1e6:.3f}", f"{c.empty[0]:.2f}")
        for c in cases.values()])
    bars = compare_shard_gains_with_limits(cases)
    print_limits(bars)
    print(f"\none thread and two say the same; {read_processor_name()}, "
          f"{os.cpu_count()} processors")
    write_result_json(args.json, {
        "approxftl_bench_shards_format": [1, 0],
        "machine": {"cpu": read_processor_name(), "cpus": os.cpu_count()},
        "cases": [case.convert_case_to_json(requests) for case in cases.values()],
        "bars": [bar.convert_limit_to_json() for bar in bars],
    })
    return find_benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
