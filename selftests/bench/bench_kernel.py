#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the processor time of the module with that of other block devices in memory.

First measure the time of a random request of 4 KiB, `timing off`, in the lab, whose clock counts
instructions (cost.py). Then measure one writer, and one on each of some processors (writers.sh),
with one FTL, with a shard for each writer, and with a device for each writer:

- With processors that take turns while instructions are counted: the work per request, for any
  number of processors. A waiting writer lets others run, so waiting is not counted.
- With two processors in parallel: requests a second, which is as noisy as this machine.

Both report the share of time that writers wait for each other. Among processors that take turns,
a wait lasts a whole turn, so that the share is larger than in parallel. Ratios are within one boot;
the spread is between boots. With --strict, a missed limit is exit status 1.
"""

import statistics
import sys
from dataclasses import asdict, dataclass
from typing import Any

from bars import Bar, print_limits, print_table_in_columns
from benchmark import (
    find_benchmark_exit_status,
    make_benchmark_parser,
    read_output_fields_of_guest_command,
    write_result_json,
)

OURS = ("baseline", "approxftl")
YARDSTICK = "linear"
LIMITS = {("randwrite", 1): 1.4, ("randwrite", 32): 1.3,
          ("randread", 1): 1.1, ("randread", 32): 1.1}  # limits relative to the yardstick
ELSEWHERE, UNTAGGED = "elsewhere", "untagged"  # the same device, with and without tags of others
TAG_LIMIT = 1.05  # relative to the cost without tags
OTHERS = ("brd", "null_blk", YARDSTICK)
TITLES = {"linear": "dm-linear/brd"}

WRITERS = {"one": "with one FTL", "shards": "each with a shard", "apart": "each with a device"}
MANY = (4, 8)  # numbers of processors that take turns
TURNS_MS, ROUND_MS = 2000, 3000  # long relative to a turn, and to other load of the host
MORE_WORK = 1.15  # relative to one writer
WAITED = 2.0  # per cent of the writers' time
TWO, OF_APART = 1.9, 0.95  # gain over one writer; part of the gain of separate devices

Case = tuple[str, int]  # operation, depth
Costs = dict[tuple[str, Case], float]  # ns of a device in a case


@dataclass
class Boot:
    """The costs that one boot of the virtual machine measured, by device and case."""

    costs: Costs

    def compute_cost_ratio(self, device: str, case: Case, yardstick: str = YARDSTICK) -> float:
        """Return the cost of a case relative to its cost on the reference device."""
        return self.costs[device, case] / self.costs[yardstick, case]


def measure_request_costs_in_lab_vm(requests: int) -> Boot:
    """Measure the costs of all devices and cases in the lab."""
    command = f"REQUESTS={requests} selftests/kernel/cost.py"
    return Boot({(device, (operation, int(depth))): float(ns)
                 for device, operation, depth, ns
                 in read_output_fields_of_guest_command("cost", command)})


def compute_request_cost_spread(boots: list[Boot], device: str, case: Case) -> float:
    """Return the difference between a cost's extremes over all boots, relative to the mean cost."""
    seen = [boot.costs[device, case] for boot in boots]
    return (max(seen) - min(seen)) / statistics.mean(seen)


def format_largest_cost_spread(boots: list[Boot], case: Case, *devices: str) -> str:
    """Return the largest spread, over all boots, of the given devices' costs in a case."""
    return f"{max(compute_request_cost_spread(boots, device, case) for device in devices):.2%}"


def find_largest_cost_ratio(boots: list[Boot], case: Case, device: str,
                            yardstick: str = YARDSTICK) -> float:
    """Return the largest ratio, over all boots, of a device's cost to the reference device's."""
    return max(boot.compute_cost_ratio(device, case, yardstick) for boot in boots)


def format_case_title(case: Case) -> str:
    """Return the name of a case as it is printed."""
    return f"{case[0]}, depth {case[1]}"


def print_device_costs(boots: list[Boot]) -> list[Bar]:
    """Print the costs measured in the first boot; return the limits of all costs."""
    cases = list(dict.fromkeys(case for _, case in boots[0].costs))
    with_ratio = ("null_blk", *OURS)
    lines = [["4 KiB, ns", "brd", TITLES[YARDSTICK],
              *(f"{device}{word}" for device in with_ratio for word in ("", " ratio")), "spread"]]
    for case in cases:
        cells = [f"{boots[0].costs[other, case]:.0f}" for other in ("brd", YARDSTICK)]
        for device in with_ratio:
            cells += [f"{boots[0].costs[device, case]:.0f}",
                      f"{boots[0].compute_cost_ratio(device, case):.3f}"]
        spread = format_largest_cost_spread(boots, case, *OTHERS, *OURS)
        lines.append([format_case_title(case), *cells, spread])
    print_table_in_columns(lines)
    print(f"spread: between {len(boots)} boots\n")
    return [Bar(f"{format_case_title(case)}, to {TITLES[YARDSTICK]}",
                max(find_largest_cost_ratio(boots, case, ours) for ours in OURS), LIMITS[case], "x",
                least=False)
            for case in cases]


def print_tag_costs(boots: list[Boot]) -> list[Bar]:
    """Print how tags of other files and processes slow untagged writes down; return the limits."""
    cases = [case for device, case in boots[0].costs if device == ELSEWHERE]
    lines = [["untagged write, ns", "no tag", "a tag elsewhere", "ratio", "spread"]]
    lines += [[format_case_title(case), f"{boots[0].costs[UNTAGGED, case]:.0f}",
               f"{boots[0].costs[ELSEWHERE, case]:.0f}",
               f"{boots[0].compute_cost_ratio(ELSEWHERE, case, UNTAGGED):.3f}",
               format_largest_cost_spread(boots, case, UNTAGGED, ELSEWHERE)] for case in cases]
    print_table_in_columns(lines)
    print()
    return [Bar(f"untagged {format_case_title(case)}, with tags elsewhere",
                find_largest_cost_ratio(boots, case, ELSEWHERE, UNTAGGED), TAG_LIMIT, "x",
                least=False) for case in cases]


@dataclass
class Writers:
    """Results of several writers on a device, by round."""

    ratios: list[float]  # requests a second, relative to one writer
    waits: list[int]  # waits of writers for each other
    waited: list[float]  # per cent of their time


Measured = dict[str, Writers]  # by device


def parse_writer_rate_lines(said: list[list[str]]) -> Writers:
    """Parse a device's lines of writers.sh: writers, requests/s, lock waits, millionths waited."""
    one, more = ([words for words in said if (words[0] == "1") == alone] for alone in (True, False))
    return Writers(
        [float(many[1]) / float(single[1]) for single, many in zip(one, more, strict=True)],
        [int(words[2]) for words in more], [int(words[3]) / 1e4 for words in more])


def measure_writer_rates(processors: int, rounds: int, runtime_ms: int, *how: str) -> Measured:
    """Measure one writer, and one on each processor, on all devices."""
    said = read_output_fields_of_guest_command(
        "writers", f"PROCESSORS={processors} ROUNDS={rounds} RUNTIME_MS={runtime_ms} "
        "sh selftests/kernel/writers.sh", "--cpus", str(processors), "--memory", "4GiB", *how)
    return {device: parse_writer_rate_lines([words[1:] for words in said if words[0] == device])
            for device in WRITERS}


def print_throughput_ratios_to_one_writer(processors: int, measured: Measured) -> None:
    lines = [[f"{processors} writers to one", "median", "least", "most", "waits", "waited"]]
    lines += [[WRITERS[device], *(f"{of(told.ratios):.2f}" for of in (statistics.median, min, max)),
               f"{statistics.median(told.waits):.0f}", f"{statistics.median(told.waited):.2f} %"]
              for device, told in measured.items()]
    print_table_in_columns(lines)
    print()


def convert_writers_to_json(measured: Measured) -> dict[str, Any]:
    """Return the results of the writers as the members of a JSON object."""
    return {device: asdict(told) for device, told in measured.items()}


def make_limit_of_lock_wait_time(processors: int, measured: Measured, how: str) -> Bar:
    return Bar(f"{processors} writers {how}, {WRITERS['shards']}: waited for a lock",
               statistics.median(measured["shards"].waited), WAITED, "%", least=False)


def report_throughput_of_alternating_writers(processors: int, measured: Measured) -> list[Bar]:
    """Report writers on emulated processors, where no writer waits for locks; return the limits."""
    print_throughput_ratios_to_one_writer(processors, measured)
    work = 1 / statistics.median(measured["shards"].ratios)
    return [Bar(f"{processors} writers in turn, {WRITERS['shards']}: work, to one writer",
                work, MORE_WORK, "x", least=False),
            make_limit_of_lock_wait_time(processors, measured, "in turn")]


def report_throughput_of_parallel_writers(measured: Measured) -> list[Bar]:
    """Report two writers on processors that work in parallel; return the limits."""
    print_throughput_ratios_to_one_writer(2, measured)
    shards, apart = measured["shards"].ratios, measured["apart"].ratios
    of_apart = [ours / theirs for ours, theirs in zip(shards, apart, strict=True)]
    return [Bar(f"2 writers at once, {WRITERS['shards']}: to one writer",
                statistics.median(shards), TWO, "x"),
            Bar(f"the same, to two {WRITERS['apart']}", statistics.median(of_apart), OF_APART, "x"),
            make_limit_of_lock_wait_time(2, measured, "at once")]


def main() -> int:
    """Run the benchmark that the command line describes."""
    parser = make_benchmark_parser("Cost of requests in the kernel.", "bench-kernel.json")
    parser.add_argument("--boots", type=int, default=2, metavar="N", help="boots of the lab (2)")
    parser.add_argument("--requests", type=int, default=20000, metavar="N",
                        help="requests of the shorter of two measurements (20000)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N",
                        help="comparisons of one writer with two (7); 0 leaves out all of writers")
    args = parser.parse_args()
    boots = [measure_request_costs_in_lab_vm(args.requests) for _ in range(max(1, args.boots))]
    bars = print_device_costs(boots) + print_tag_costs(boots)
    in_turn = {processors: measure_writer_rates(processors, 1, TURNS_MS)
               for processors in MANY if args.rounds}
    for processors, measured in in_turn.items():
        bars += report_throughput_of_alternating_writers(processors, measured)
    at_once = measure_writer_rates(2, args.rounds, ROUND_MS, "--parallel") if args.rounds else {}
    bars += report_throughput_of_parallel_writers(at_once) if at_once else []
    print_limits(bars)
    write_result_json(args.json, {
        "approxftl_bench_kernel_format": [3, 0],
        "cost_ns": [{f"{device} {operation} {depth}": ns
                     for (device, (operation, depth)), ns in boot.costs.items()}
                    for boot in boots],
        "two_writers": convert_writers_to_json(at_once),
        "writers_in_turn": {str(processors): convert_writers_to_json(measured)
                            for processors, measured in in_turn.items()},
        "bars": [bar.convert_limit_to_json() for bar in bars],
    })
    return find_benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
