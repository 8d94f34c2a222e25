#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the module costs, beside other devices in memory.

Processor nanoseconds of a random request of 4 KiB, `timing off`, in the lab, whose clock counts
instructions (cost.sh); then requests a second of one writer and two on two processors, with one
FTL and with a shard for each (writers.sh), which is as noisy as this machine, and how often they
wait for each other, which is not. Ratios are of one boot; the spread is between boots. Emulated
processors may take turns: then a second one is worth nothing. Last, fdatasync() of 64 threads on a
volume, beside other targets on the same drive (flush-storm.sh), in the lab again, with what the
drive was asked for, by which the rates can be told for another one. With --strict, a missed bar is
exit status 1.
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import asdict, dataclass

from bars import Bar, put_bars, put_columns
from benchmark import exit_status, guest_says, options, put_result

OURS = ("baseline", "approxftl")
YARDSTICK = "linear"
LIMIT = 2.0  # times the yardstick
ELSEWHERE, UNTAGGED = "elsewhere", "baseline"  # the same device, with tags of others and without
TAG_LIMIT = 1.05  # times the cost without
OTHERS = ("brd", "null_blk", YARDSTICK)
TITLES = {"linear": "dm-linear/brd"}

STORMS = {"plain": "volume", "safe": "volume, buffer_safe", "linear": "dm-linear",
          "thin": "dm-thin", "clone": "dm-clone"}
OUR_STORMS = ("plain", "safe")
STORM_YARDSTICK = "thin"

WRITERS = {"one": "two writers to one", "shards": "the same, each with a shard"}

Case = tuple[str, int]  # operation, depth
Costs = dict[tuple[str, Case], float]  # of a device in a case, ns


@dataclass
class Boot:
    """What one virtual machine said."""

    costs: Costs

    def ratio(self, device: str, case: Case, yardstick: str = YARDSTICK) -> float:
        """Return the cost relative to the yardstick's."""
        return self.costs[device, case] / self.costs[yardstick, case]


def boot_lab(requests: int) -> Boot:
    """Measure in the lab."""
    command = f"REQUESTS={requests} sh selftests/kernel/cost.sh"
    return Boot({(device, (operation, int(depth))): float(ns)
                 for device, operation, depth, ns in guest_says("cost", command)})


def spread(boots: list[Boot], device: str, case: Case) -> float:
    """Return the range of a cost over the boots, relative to its mean."""
    seen = [boot.costs[device, case] for boot in boots]
    return (max(seen) - min(seen)) / statistics.mean(seen)


def widest(boots: list[Boot], case: Case, *devices: str) -> str:
    """Return the largest spread of devices in a case."""
    return f"{max(spread(boots, device, case) for device in devices):.2%}"


def dearest(boots: list[Boot], case: Case, device: str, yardstick: str = YARDSTICK) -> float:
    """Return the largest ratio in all boots: a bar holds in each of them."""
    return max(boot.ratio(device, case, yardstick) for boot in boots)


def name(case: Case) -> str:
    """Return a case as told."""
    return f"{case[0]}, depth {case[1]}"


def put_costs(boots: list[Boot]) -> list[Bar]:
    """Print the first boot; return the bars."""
    cases = list(dict.fromkeys(case for _, case in boots[0].costs))
    lines = [["4 KiB, ns", *(TITLES.get(other, other) for other in OTHERS),
              *(f"{ours}{word}" for ours in OURS for word in ("", " ratio")), "spread"]]
    for case in cases:
        cells = [f"{boots[0].costs[other, case]:.0f}" for other in OTHERS]
        for ours in OURS:
            cells += [f"{boots[0].costs[ours, case]:.0f}", f"{boots[0].ratio(ours, case):.3f}"]
        lines.append([name(case), *cells, widest(boots, case, *OTHERS, *OURS)])
    put_columns(lines)
    print(f"spread: between {len(boots)} boots\n")
    return [Bar(f"{name(case)}, to {TITLES[YARDSTICK]}",
                max(dearest(boots, case, ours) for ours in OURS), LIMIT, "x", least=False)
            for case in cases]


def put_tags(boots: list[Boot]) -> list[Bar]:
    """Print what tags of others, a file and a process, cost an untagged write; return the bars."""
    cases = [case for device, case in boots[0].costs if device == ELSEWHERE]
    lines = [["untagged write, ns", "no tag", "a tag elsewhere", "ratio", "spread"]]
    lines += [[name(case), f"{boots[0].costs[UNTAGGED, case]:.0f}",
               f"{boots[0].costs[ELSEWHERE, case]:.0f}",
               f"{boots[0].ratio(ELSEWHERE, case, UNTAGGED):.3f}",
               widest(boots, case, UNTAGGED, ELSEWHERE)] for case in cases]
    put_columns(lines)
    print()
    return [Bar(f"untagged {name(case)}, with tags elsewhere",
                dearest(boots, case, ELSEWHERE, UNTAGGED), TAG_LIMIT, "x", least=False)
            for case in cases]


@dataclass
class Writers:
    """What two of them did on a device, round by round."""

    ratios: list[float]  # to what one did
    waits: list[int]  # for each other


def measure_writers(rounds: int) -> dict[str, Writers]:
    """Measure both devices."""
    said = guest_says("writers", f"ROUNDS={rounds} sh selftests/kernel/writers.sh",
                      "--real-time")
    return {device: writers_of([words[1:] for words in said if words[0] == device])
            for device in WRITERS}


def writers_of(said: list[list[str]]) -> Writers:
    """Return what is said of one device: writers, requests a second, waits."""
    one, two = ([float(iops) for number, iops, _ in said if number == wanted] for wanted in "12")
    return Writers([pair / single for single, pair in zip(one, two, strict=True)],
                   [int(waits) for number, _, waits in said if number == "2"])


def put_writers(measured: dict[str, Writers]) -> list[Bar]:
    """Print what a second writer is worth; return the bars."""
    for device, told in measured.items():
        print(f"{WRITERS[device]}, {len(told.ratios)} rounds: "
              f"{', '.join(f'{ratio:.2f}' for ratio in sorted(told.ratios))}; "
              f"{statistics.median(told.waits):.0f} waits")
    print()
    return [Bar(f"{WRITERS[device]}, median", statistics.median(told.ratios), 1, "x")
            for device, told in measured.items()]


@dataclass
class Storm:
    """What 64 threads did that wait for fdatasync() after each write, and what that took."""

    writes: int
    a_second: float
    below: int  # writes that the drive was asked for, with those that are nothing but flushes
    sectors: int
    flushes: int

    def each(self) -> list[str]:
        """Return what one of them took of the drive."""
        return [f"{count / self.writes:.3f}" for count in (
            self.below - self.flushes, self.sectors / 2, self.flushes)]


def measure_storms(rounds: int) -> dict[str, list[Storm]]:
    """Measure the devices that the newest kernel has: those before lack dm-clone."""
    said = guest_says("storm", f"ROUNDS={rounds} sh selftests/kernel/flush-storm.sh",
                      "--kernel", "newest", "--memory", "2GiB")
    return {device: storms for device in STORMS
            if (storms := [storm_of(words[1:]) for words in said if words[0] == device])}


def storm_of(words: list[str]) -> Storm:
    """Return what is said of one."""
    return Storm(int(words[0]), float(words[1]), *map(int, words[2:]))


def put_storms(measured: dict[str, list[Storm]]) -> list[Bar]:
    """Print what one fdatasync() takes; return the bars."""
    lines = [["write and fdatasync(), 64 threads", "a second", f"to {STORMS[STORM_YARDSTICK]}",
              "writes below", "KiB", "flushes"]]
    yardstick = measured.get(STORM_YARDSTICK)
    ratios = {device: statistics.median(ours.a_second / other.a_second for ours, other
                                        in zip(storms, yardstick or storms, strict=True))
              for device, storms in measured.items()}
    for device, storms in measured.items():
        middle = sorted(storms, key=lambda storm: storm.a_second)[len(storms) // 2]
        lines.append([STORMS[device], f"{middle.a_second:.0f}",
                      f"{ratios[device]:.2f}" if yardstick else "-", *middle.each()])
    put_columns(lines)
    print(*(f"{STORMS[device]} is not in that kernel"
            for device in STORMS if device not in measured), sep="\n")
    return [Bar(f"fdatasync() on a {STORMS[device]}, to {STORMS[STORM_YARDSTICK]}", ratios[device],
                1, "x") for device in OUR_STORMS if yardstick]


def main() -> int:
    """Entry point."""
    parser = options("Cost of requests in the kernel.", "bench-kernel.json")
    parser.add_argument("--boots", type=int, default=2, metavar="N", help="boots of the lab (2)")
    parser.add_argument("--requests", type=int, default=20000, metavar="N",
                        help="requests of the shorter of two measurements (20000)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N",
                        help="comparisons of one writer with two (7); 0 leaves them out")
    parser.add_argument("--storms", type=int, default=5, metavar="N",
                        help="rounds of storms of fdatasync() (5); 0 leaves them out")
    args = parser.parse_args()
    boots = [boot_lab(args.requests) for _ in range(max(1, args.boots))]
    bars = put_costs(boots) + put_tags(boots)
    writers = measure_writers(args.rounds) if args.rounds else {}
    bars += put_writers(writers)
    storms = measure_storms(args.storms) if args.storms else {}
    bars += put_storms(storms) if storms else []
    put_bars(bars)
    put_result(args.json, {
        "approxftl_bench_kernel_format": [1, 3],
        "cost_ns": [{f"{device} {operation} {depth}": ns
                     for (device, (operation, depth)), ns in boot.costs.items()}
                    for boot in boots],
        "two_writers_to_one": writers["one"].ratios if writers else [],
        "two_writers": {device: asdict(told) for device, told in writers.items()},
        "storms": {device: [asdict(storm) for storm in told] for device, told in storms.items()},
        "bars": [bar.as_json() for bar in bars],
    })
    return exit_status(args, met=all(bar.met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
