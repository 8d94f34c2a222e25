#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the processor time of the Python library beside that of the command.

The command and the library perform the same runs in alternation, and the lowest processor time of
each counts. A run that keeps its requests is compared with a command that writes the same
properties of each request to a record file, because both observe each request; its ratio to a
command that observes no request is printed without a limit. A batch of Device.submit() is compared
with a command whose requests have the same operation and depth. The cost of a call is what a
request takes by Device.write(), minus what it takes in submit() at depth 1. With --strict, a missed
limit is exit status 1.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from bars import Bar, print_limits, print_table_in_columns
from benchmark import (
    BUILD,
    TOP,
    find_benchmark_exit_status,
    make_benchmark_parser,
    require_built_program,
    write_result_json,
)

sys.path[:0] = [str(TOP / "userspace/python"), str(TOP / "trace-tools")]
import approxftl as aftl  # noqa: E402
from approxftl.simlib import make_command_line  # noqa: E402

#: Largest processor time relative to the command
RATIO_LIMIT = 1.05
CALL_LIMIT_US = 2.0
CASES: Mapping[str, Mapping[str, Any]] = {
    "zipf, 70 % writes": {"workload": "zipf", "write_share": 0.7},
    "uniform, op 20 %": {"workload": "uniform", "write_share": 0.5, "op": "20%"},
    "sequential writes": {"workload": "sequential", "write_share": 1.0},
    "reads": {"write_share": 0},
}


def measure_command_cpu_s(options: Mapping[str, object]) -> float:
    """Return the processor time in seconds of a simulation by the command."""
    line = make_command_line(options)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([BUILD / "approxftl", *line[1:]], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_library_cpu_s(work: Callable[[], object]) -> float:
    """Return the processor time in seconds of a function that calls the library."""
    before = time.process_time()
    work()
    return time.process_time() - before


def find_least_simulation_cpu_s(options: Mapping[str, Any], rounds: int,
                                record: Path) -> dict[str, float]:
    """Return the lowest processor times of command and library, without and with request logs."""
    ways: dict[str, Callable[[], float]] = {
        "command": lambda: measure_command_cpu_s(options),
        "library": lambda: measure_library_cpu_s(
            lambda: aftl.simulate(keep_requests=False, **options)),
        "command with record": lambda: measure_command_cpu_s({**options, "record": record}),
        "library with requests": lambda: measure_library_cpu_s(
            lambda: aftl.simulate(**options).requests),
    }
    found = [{name: way() for name, way in ways.items()} for _ in range(rounds)]
    return {name: min(one[name] for one in found) for name in ways}


def find_least_batch_cpu_s(op: str, requests: int, rounds: int) -> dict[str, float]:
    """Return the lowest processor times of a command and of a batch of random requests."""
    options = {"profile": "demo", "requests": requests, "workload": "uniform", "depth": 32,
               "write_share": float(op == "write")}
    pages = np.random.default_rng(1).integers(0, aftl.Device(profile="demo").logical_pages,
                                              requests)
    ways: dict[str, Callable[[], float]] = {
        "command": lambda: measure_command_cpu_s(options),
        "library": lambda: measure_library_cpu_s(
            lambda: aftl.Device(profile="demo").submit(op, pages, depth=32)),
    }
    found = [{name: way() for name, way in ways.items()} for _ in range(rounds)]
    return {name: min(one[name] for one in found) for name in ways}


def measure_write_call_us(requests: int, rounds: int) -> float:
    """Return the cost of a call of write() in addition to the simulation."""
    pages = np.random.default_rng(1).integers(0, 50000, requests)
    numbers = pages.tolist()
    costs = []
    for _ in range(rounds):
        device, same = (aftl.Device(profile="demo", fill="none") for _ in range(2))
        calls = measure_library_cpu_s(lambda: [device.write(lpn) for lpn in numbers])  # noqa: B023
        batch = measure_library_cpu_s(lambda: same.submit("write", pages, depth=1))  # noqa: B023
        costs.append((calls - batch) / requests * 1e6)
    return min(costs)


def main() -> int:
    """Run the benchmark that the command line describes."""
    parser = make_benchmark_parser("Processor time of the Python library.", "bench-python.json", 5)
    args = parser.parse_args()
    require_built_program(BUILD / "approxftl")
    requests = int(1000000 * args.scale)
    cases: list[dict[str, Any]] = []
    bars = []
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            options = {"profile": "demo", "requests": requests, **case}
            found = find_least_simulation_cpu_s(options, args.rounds, Path(folder) / "record.aft")
            cases.append({"name": name, "cpu_s": list(found.values()), **found})
            bars += [Bar(f"{name}: the library beside the command", found["library"] /
                         found["command"], RATIO_LIMIT, "", least=False),
                     Bar(f"{name}: with requests, beside --record",
                         found["library with requests"] / found["command with record"],
                         RATIO_LIMIT, "", least=False)]
    for op in ("read", "write"):
        found = find_least_batch_cpu_s(op, requests, args.rounds)
        cases.append({"name": f"batch of random {op}s", "cpu_s": list(found.values()), **found})
        bars.append(Bar(f"batch of random {op}s, beside the command",
                        found["library"] / found["command"], RATIO_LIMIT, "", least=False))
    call_us = measure_write_call_us(max(requests // 10, 1000), args.rounds)
    bars.append(Bar("a call of write()", call_us, CALL_LIMIT_US, "us", least=False))
    titles = ["command", "library", "command with record", "library with requests"]
    rows = [[case["name"], *(f"{case[title]:.3f}" if title in case else "-"
                                  for title in titles),
             f"{case[titles[-1]] / case['command']:.2f}" if titles[-1] in case else "-"]
            for case in cases]
    print_table_in_columns([["processor time, s", *titles, "with requests : command"], *rows])
    print()
    print_limits(bars)
    write_result_json(args.json, {"approxftl_bench_python_format": [1, 0], "cases": cases,
                                  "bars": [bar.convert_limit_to_json() for bar in bars]})
    return find_benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
