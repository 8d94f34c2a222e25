# SPDX-License-Identifier: GPL-2.0-only
"""Measure the cost of simulated requests: processor time, memory, start-up.

bench.py                     all cases, median of three rounds
bench.py --scale 0.01        a hundredth of the requests, to test this program
bench.py --strict            exit status 1 if a limit is exceeded
bench.py --beside OTHER      alternate with another approxftl; a request may cost
                             a twentieth more than there

Processor time is user and system time of the whole child, from the kernel. The net cost of
requests excludes creating and filling the device, which each run reports, and the remaining
cost of a run with a single request. Rounds are interleaved, so that a machine that slows down
slows all cases.
"""

import functools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bars import Bar, print_limits, print_table_in_columns
from benchmark import (
    BUILD,
    find_benchmark_exit_status,
    make_benchmark_parser,
    require_built_program,
    write_result_json,
)

BINARY = Path(os.environ.get("APPROXFTL", BUILD / "approxftl")).absolute()

Json = dict[str, Any]

FORMAT = [2, 0]

# Device of the ApproxFTL paper, whose 8 KiB pages hold one mapping unit; the cases add its size.
COMMON = "--profile tcad18 --size 8KiB --depth 256 --approx-share 50%"
SHAPE_512G = ("--channels 8 --chips 4 --dies 2 --planes 2 --plane_mode shared --blocks 2048 "
              "--layers 4 --word_lines 64")
SHAPE_1T = SHAPE_512G.replace("--blocks 2048", "--blocks 4096")
# As small as SHAPE_16G, with as many LUNs as SHAPE_512G.
SHAPE_16G_WIDE = SHAPE_512G.replace("--blocks 2048", "--blocks 64")
SHAPE_16G = "--channels 8 --chips 1 --blocks 512 --layers 8 --word_lines 64"
FULL = "--fill sequential --fill_approx 50%"
# Half of the capacity is valid and the writes fit into the rest, so that the comparison of sizes is
# free of garbage collection.
ROOMY = "--op 50% --gc 0% --gc_idle_valid 0%"
STEADY = f"--op 10% {FULL} --fill_overwrite 200%"

# Shapes for comparing all schemes: the first shape, and one with three-bit word lines in super
# layers, where cubeFTL has followers and ReSSD reprograms. Neither collects garbage: it would, as a
# fill of both classes leaves large programs half empty under policies that separate classes.
SHAPES = {
    "16 GiB": f"{SHAPE_16G} {ROOMY} {FULL}",
    "16 GiB TLC": "--channels 8 --chips 1 --blocks 680 --layers 64 --word_lines 2 --bits 3 "
                  f"--one_shot on --buffer 1MiB {ROOMY} --fill sequential",
}
#: Limit of a scheme's cost relative to policy baseline on the same shape.
SCHEME_LIMIT = 1.5

#: The L2P table is on flash with 3 of its 4 MiB cached; a third of the reads miss the CMT.
MAPPED = "16 GiB, 37 % writes, 3 of 4 MiB of the map in memory"
#: Cases whose start-up counts.
RANDOM_FILL = "512 GiB, random fill"
#: Limit of a request's or a fill's cost relative to the other program.
BESIDE_LIMIT = 1.05


@dataclass(frozen=True)
class Sample:
    """Processor time, memory and result of one run of the simulator."""

    cpu_s: float
    peak_kib: int
    result: Json

    @property
    def creation_time_s(self) -> float:
        """Processor time, in seconds, of creating the device."""
        return float(self.result["runs"][0]["fill_cpu_ns"]) / 1e9

    @property
    def request_time_s(self) -> float:
        """Processor time after the device is created: requests, digest and exit."""
        return self.cpu_s - self.creation_time_s


@dataclass
class Case:
    """A benchmark case: a device and a request stream; `startups` are runs with one request."""

    name: str
    options: str
    requests: int
    program: Path = BINARY
    samples: list[Sample] = field(default_factory=list)
    startups: list[Sample] = field(default_factory=list)

    def make_command_arguments(self, requests: int) -> list[str]:
        """Return the simulator's command line for the case."""
        return [*COMMON.split(), *self.options.split(), "--requests", str(requests)]

    def measure_benchmark_case_once(self) -> None:
        """Run the benchmark case once; the first time, also run it with a single request."""
        if not self.startups:
            self.startups.append(run_simulator(self.program, self.make_command_arguments(1)))
        self.samples.append(run_simulator(self.program, self.make_command_arguments(self.requests)))

    @property
    def median_creation_s(self) -> float:
        """Median processor time of creating the device."""
        return statistics.median(s.creation_time_s for s in self.startups + self.samples)

    @property
    def median_request_s(self) -> float:
        """Median processor time of the requests, without creating the device."""
        overhead_s = statistics.median(s.request_time_s for s in self.startups)
        return max(1e-9, statistics.median(s.request_time_s for s in self.samples) - overhead_s)

    @property
    def us_per_request(self) -> float:
        """Microseconds per request, which equals seconds per million."""
        return self.median_request_s / self.requests * 1e6

    @property
    def requests_per_second(self) -> float:
        """Requests per second of processor time."""
        return self.requests / self.median_request_s

    @property
    def peak_memory_mib(self) -> float:
        return max(sample.peak_kib for sample in self.samples) / 1024

    @property
    def first_sample_result(self) -> Json:
        first: Json = self.samples[0].result["runs"][0]
        return first

    @property
    def memory_per_page_bytes(self) -> float:
        """Memory of the device per physical page."""
        geo = self.samples[0].result["geometry"]
        pages = geo["blocks"] * geo["pages_per_block"]
        return float(self.first_sample_result["memory_bytes"] / pages)

    def convert_case_to_json(self) -> Json:
        """Return all measured values of the case as JSON members."""
        return {
            "name": self.name,
            "args": self.make_command_arguments(self.requests),
            "profile": self.samples[0].result["profile"],
            "policy": self.first_sample_result["policy"],
            "requests": self.requests,
            "cpu_s": [s.cpu_s for s in self.samples],
            "startup_cpu_s": [s.cpu_s for s in self.startups],
            "create_cpu_s": self.median_creation_s,
            "peak_kib": [s.peak_kib for s in self.samples],
            "cpu_s_per_million_requests": self.us_per_request,
            "requests_per_cpu_s": self.requests_per_second,
            "memory_bytes": self.first_sample_result["memory_bytes"],
            "bytes_per_page": self.memory_per_page_bytes,
            "write_amplification": self.first_sample_result["write_amplification"]["total"],
            "unmapped_read_units": self.first_sample_result["counters"]["unmapped_read_units"],
        }


class RunError(Exception):
    """Raised when the measured program fails."""


def run_simulator(program: Path, arguments: Sequence[str]) -> Sample:
    """Run the simulator; wait4() returns the rusage of this child alone."""
    with tempfile.TemporaryFile() as out:
        command = [str(program), "sim", "--fill=none", *arguments, "--json", "--quiet", "--cpu"]
        child = os.posix_spawn(program, command, os.environ,
                               file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, usage = os.wait4(child, 0)
        if status:
            raise RunError(f"bench: failed: {' '.join(command)}")
        out.seek(0)
        result = json.loads(out.read())
    return Sample(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, result)


def list_names_shown_by_verb(what: str) -> list[str]:
    """Return the names in a list that the simulator prints, such as its policies."""
    out = subprocess.run([BINARY, what], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in out.splitlines() if line.strip()]


@functools.cache
def list_policy_options() -> dict[str, str]:
    """Return the options that select each policy, and each part of the policy hybrid alone."""
    parts = [name for name in list_names_shown_by_verb("params") if name.startswith("hybrid_")]
    only = {
        f"hybrid, only {part.removeprefix('hybrid_')}":
            " ".join(["--policy hybrid", *(f"--{p} {'on' if p == part else 'off'}" for p in parts)])
        for part in parts
    }
    return {policy: f"--policy {policy}" for policy in list_names_shown_by_verb("policies")} | only


def make_device_cases(scale: float) -> dict[str, Case]:
    cases: dict[str, Case] = {}

    def add_device_case(name: str, options: str, requests: int) -> None:
        cases[name] = Case(name, options, max(10, round(requests * scale)))

    # A shrunken run only tests this program, so it does not fill half a terabyte.
    full = FULL if scale >= 0.1 else f"{FULL} --fill_valid 0.1% --footprint 0.1%"
    steady = STEADY if scale >= 0.1 else f"--op 10% {FULL}"
    for policy in ("baseline", "approxftl"):
        for writes in (5, 37):
            add_device_case(f"512 GiB, {writes} % writes, {policy}",
                            f"{SHAPE_512G} {full} --write-share {writes}% --policy {policy}",
                            2_000_000)
    for policy in ("baseline", "approxftl"):
        add_device_case(f"16 GiB, steady collection, {policy}",
                        f"{SHAPE_16G} {steady} --write-share 100% --policy {policy}", 1_000_000)
    few = "" if scale >= 0.1 else "--fill_valid 0.1% --footprint 0.1%"
    for policy in ("baseline", "approxftl", "sepbit", "midas", "vertftl", "cubeftl", "hybrid"):
        add_device_case(f"{RANDOM_FILL}, {policy}",
                        f"{SHAPE_512G} --allocate rotate --fill random {few} --policy {policy}", 1)
    add_device_case(f"{RANDOM_FILL}, static allocation, approxftl",
                    f"{SHAPE_512G} --allocate static --fill random {few} --policy approxftl", 1)
    add_device_case("512 GiB, empty", f"{SHAPE_512G} --policy approxftl", 1)
    for name, shape, same in (("16 GiB", SHAPE_16G, "100%"), ("1 TiB", SHAPE_1T, "1.56%")):
        # The same footprint in bytes on both sizes shows what a larger capacity alone costs.
        add_device_case(f"{name}, same range, 37 % writes",
                        f"{shape} {ROOMY} --footprint {same} --write-share 37%", 2_000_000)
        add_device_case(f"{name}, empty, 37 % writes", f"{shape} {ROOMY} --write-share 37%",
                        2_000_000)
        add_device_case(f"{name}, full, 37 % writes", f"{shape} {ROOMY} {full} --write-share 37%",
                        2_000_000)
    add_device_case("16 GiB of as many LUNs, full, 37 % writes",
                    f"{SHAPE_16G_WIDE} {ROOMY} {full} --write-share 37%", 2_000_000)
    add_device_case(MAPPED, f"{SHAPES['16 GiB']} --write-share 37% --map_cache 3MiB", 1_000_000)
    for size, shape in SHAPES.items():
        for name, policy in list_policy_options().items():
            add_device_case(f"{size}, 37 % writes, {name}",
                            f"{shape} --write-share 37% {policy}", 1_000_000)
    return cases


def compare_costs_with_limits(cases: dict[str, Case]) -> list[Bar]:
    """Compare the results with the project's limits."""
    bars = [
        Bar(name, case.requests_per_second / 1e6, 2.2, "M requests/CPU-s")
        for name, case in cases.items() if name.startswith("512 GiB") and "writes" in name
    ]
    bars += [
        Bar(name, case.requests_per_second / 1e6, 1.5, "M host writes/CPU-s")
        for name, case in cases.items() if "steady" in name
    ]
    empty = cases["512 GiB, empty"]
    bars.append(Bar("512 GiB start-up, empty", empty.median_creation_s, 0.1, "CPU-s", least=False))
    filled = cases["512 GiB, 5 % writes, baseline"]
    bars.append(Bar("512 GiB fill, baseline", filled.median_creation_s, 0.5, "CPU-s", least=False))
    bars += [Bar(name, case.median_creation_s, 0.5, "CPU-s", least=False)
             for name, case in cases.items() if name.startswith(RANDOM_FILL)]
    bars += [Bar(f"{name}, memory", case.memory_per_page_bytes, 12, "bytes/page", least=False)
             for name, case in cases.items() if name.startswith("512 GiB")]
    for small, fill, limit in (("16 GiB", "same range", 1.3), ("16 GiB", "empty", 1.3),
                               ("16 GiB", "full", 1.5), ("16 GiB of as many LUNs", "full", 1.5)):
        pair = [cases[f"{size}, {fill}, 37 % writes"] for size in ("1 TiB", small)]
        ratio = pair[0].us_per_request / pair[1].us_per_request
        bars.append(Bar(f"1 TiB against {small}, {fill}", ratio, limit, "x cost", least=False))
    bars += [Bar(f"{size}, {name} against baseline", cost, SCHEME_LIMIT, "x cost", least=False)
             for size in SHAPES for name, cost in compare_policy_costs(cases, size).items()]
    mapped = cases[MAPPED].us_per_request / cases["16 GiB, 37 % writes, baseline"].us_per_request
    bars.append(Bar(f"{MAPPED}, against all of it", mapped, SCHEME_LIMIT, "x cost", least=False))
    return bars


def compare_policy_costs(cases: dict[str, Case], size: str) -> dict[str, float]:
    """Cost of a request relative to policy baseline."""
    costs = {name: cases[f"{size}, 37 % writes, {name}"].us_per_request
             for name in list_policy_options()}
    return {name: cost / costs["baseline"] for name, cost in costs.items()}


def compare_case_costs_of_two_builds(cases: dict[str, Case], beside: dict[str, Case]) -> list[Bar]:
    """Compare the cost of each case between the measured program and another build of it."""
    def get_case_cost(case: Case) -> float:
        return case.median_creation_s if case.name.startswith(RANDOM_FILL) else case.us_per_request

    return [Bar(f"{name}, against the other", get_case_cost(cases[name]) / get_case_cost(other),
                BESIDE_LIMIT, "x cost", least=False) for name, other in beside.items()]


def read_processor_name() -> str:
    """Return the name of the machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def print_tables_and_limits(cases: dict[str, Case], bars: Sequence[Bar]) -> None:
    base = cases["16 GiB, 37 % writes, baseline"].us_per_request
    lines = [("case", "us/request", "ratio", "start-up s", "peak MiB", "WAF")]
    lines += [
        (c.name, f"{c.us_per_request:.3f}", f"{c.us_per_request / base:.2f}",
         f"{c.median_creation_s:.3f}", f"{c.peak_memory_mib:.0f}",
         f"{c.first_sample_result['write_amplification']['total']:.2f}")
        for c in cases.values() if c is not cases["512 GiB, empty"]
    ]
    print_table_in_columns(lines)
    print()
    print_limits(bars)


def measure_all_cases(cases: dict[str, Case], beside: dict[str, Case], rounds: int,
                      tell: Callable[[str], None]) -> None:
    """Run all cases once in each round."""
    for number in range(1, rounds + 1):
        for name, case in cases.items():
            tell(f"\rround {number} of {rounds}: {name:50}")
            case.measure_benchmark_case_once()
            # Run the program that is compared with, unless it lacks this device or policy.
            try:
                if name in beside:
                    beside[name].measure_benchmark_case_once()
            except RunError:
                del beside[name]
    tell(f"\r{'':70}\r")


def print_progress(text: str) -> None:
    """Show the progress of the rounds on a terminal."""
    if sys.stderr.isatty():
        print(text, end="", file=sys.stderr, flush=True)


def main() -> int:
    """Run the benchmark that the command line describes."""
    parser = make_benchmark_parser("Cost of simulated requests.", "bench.json", 3)
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="measure the cases with this in their name; compare with no bars")
    parser.add_argument("--beside", type=Path, metavar="OTHER",
                        help="another approxftl, measured in turns with this one")
    args = parser.parse_args()
    require_built_program(BINARY)
    cases = {n: c for n, c in make_device_cases(args.scale).items() if args.only in n}
    if not cases:
        sys.exit(f'bench: no case has "{args.only}" in its name')
    beside = {n: replace(c, program=require_built_program(args.beside.absolute()), samples=[],
                         startups=[])
              for n, c in cases.items() if args.beside and c.requests > 1}
    known = len(beside)
    try:
        measure_all_cases(cases, beside, max(1, args.rounds), print_progress)
    except RunError as why:
        sys.exit(str(why))
    compared = compare_case_costs_of_two_builds(cases, beside)
    bars = ([] if args.only else compare_costs_with_limits(cases)) + compared
    costs = {} if args.only else {size: compare_policy_costs(cases, size) for size in SHAPES}
    version = next(iter(cases.values())).samples[0].result["tool"]["version"]
    if args.only:
        print_table_in_columns([("case", "us/request", "M/CPU-s", "start-up s")] + [
            (name, f"{c.us_per_request:.3f}", f"{c.requests_per_second / 1e6:.2f}",
             f"{c.median_creation_s:.3f}")
            for name, c in (*cases.items(), *((f"{n}, the other", o) for n, o in beside.items()))])
        print_limits(bars)
    else:
        print_tables_and_limits(cases, bars)
    if known > len(beside):
        print(f"{known - len(beside)} of {known} cases are unknown to {args.beside}")
    print(f"\napproxftl {version} on {read_processor_name()}")
    write_result_json(args.json, {
        "approxftl_bench_format": FORMAT,
        "version": version,
        "machine": {"cpu": read_processor_name(), "cpus": os.cpu_count(),
                    "system": platform.platform()},
        "rounds": args.rounds,
        "scale": args.scale,
        "cases": [case.convert_case_to_json() for case in cases.values()],
        "beside": [case.convert_case_to_json() for case in beside.values()],
        "policy_cost_to_baseline": costs,
        "bars": [bar.convert_limit_to_json() for bar in bars],
    })
    return find_benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
