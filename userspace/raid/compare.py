#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare Linux md's RAID-5 with the simulator's, on the same requests.

    compare.py prepare RESULTS MEMBERS       write the requests for both, run the simulator
    compare.py report RESULTS MEMBERS        print md's counters beside the simulator's
    compare.py changes RESULTS MEMBERS...    print the effect of ReSSD by number of members

Requests are writes of 16 KiB at a steady rate, after a pass over the whole array. Most go to a
few extents at a time, each of which is written twenty times: short-lived data, as ReSSD expects.
Rate and number of extents grow with the array, so that each member has the same load.
"""

import json
import os
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AFTL_BUILD", TOP / "build"))
PROGRAM = Path(os.environ.get("APPROXFTL", BUILD / "approxftl")).absolute()
RECORD = struct.Struct("<QQIBBHII")
WRITE = 1

Json = dict[str, Any]
Request = tuple[int, int]

POLICIES = ("tlc", "ressd")
#: A member: one plane of the paper's device with fewer and smaller blocks. md needs 4 KiB sectors.
MEMBER = {
    "channels": "1", "chips": "1", "dies": "1", "planes": "1", "blocks": "256", "layers": "4",
    "unit": "4KiB", "op": "20", "gc": "4", "gc_idle_valid": "100", "errors": "off",
    "buffer": "256KiB", "buffer_hold": "1s", "zone1": "4s", "zone2": "8s", "zone3": "16s",
}
PROFILE = "tos22"
#: KiB that md uses of a member, slightly less than its capacity.
MEMBER_KIB = 74 * 1024
CHUNK = 65536
UNIT = 4096
PAGE = 16384
STRIPES = 256
REQUEST = 16384
PASS_REQUEST = 65536
#: Requests per second for each data member.
RATE = 50
#: Requests of an extent, mean writes to each of them, and the share of writes elsewhere.
EXTENT, USES, OTHERS = 16, 20, 0.05
#: Active extents in an array of four members.
EXTENTS = 4
#: md holds a partial stripe until others displace it: measured, about 20 ms at this rate.
HOLD = "20ms"
#: Largest factor between simulator and md; measures that are not listed are not compared.
TOLERANCE = {
    "parity writes of user writes": 1.15,
    "pages consumed": 1.3,
    "units collected": 1.6,
    "erases": 1.3,
    "page writes for each erase": 1.3,
}


@dataclass(frozen=True)
class Outcome:
    """Activity of an array's members during the measured requests."""

    user_units: int
    member_units: int
    pages: int
    gc_units: int
    erases: int
    per_erase: list[float]
    write_us: float

    @property
    def compute_parity_writes_per_user_write(self) -> float:
        """Return parity units written per user unit."""
        return self.member_units / self.user_units - 1

    def get_measures_of_raid_array(self) -> dict[str, float]:
        """Return the measures of an array by name."""
        return {
            "parity writes of user writes": self.compute_parity_writes_per_user_write,
            "pages consumed": self.pages,
            "units collected": self.gc_units,
            "erases": self.erases,
            "page writes for each erase": self.member_units * UNIT / PAGE / max(1, self.erases),
            "write response, mean us": self.write_us,
        }


def run_simulator(*arguments: str) -> Json:
    """Run the simulator and return the JSON object of its only run."""
    command = [str(PROGRAM), "sim", *arguments, "--json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    run: Json = json.loads(done.stdout)["runs"][0]
    return run


def make_requests_to_whole_array(capacity: int) -> list[Request]:
    """Return a workload that writes the whole array sequentially."""
    return [(offset, PASS_REQUEST) for offset in range(0, capacity, PASS_REQUEST)]


def make_requests_to_active_extents(capacity: int, count: int, in_use: int) -> list[Request]:
    """Return writes, most of them to a changing set of active extents."""
    draw = random.Random(1)
    extents = capacity // REQUEST // EXTENT
    active = [draw.randrange(extents) for _ in range(in_use)]
    result = []
    for _ in range(count):
        if draw.random() < OTHERS:
            place = draw.randrange(capacity // REQUEST)
        else:
            turn = draw.randrange(len(active))
            place = active[turn] * EXTENT + draw.randrange(EXTENT)
            if not draw.randrange(USES * EXTENT):
                active[turn] = draw.randrange(extents)
        result.append((place * REQUEST, REQUEST))
    return result


def write_fio_log(path: Path, requests: list[Request], rate: int) -> None:
    """Write the requests as an fio log with times in ms."""
    lines = ["fio version 3 iolog", "0 /dev/md5 add", "0 /dev/md5 open"]
    lines += [f"{number * 1000 // rate} /dev/md5 write {offset} {length}"
              for number, (offset, length) in enumerate(requests)]
    end = len(requests) * 1000 // rate
    path.write_text("\n".join([*lines, f"{end} /dev/md5 close", ""]))


def write_records(path: Path, requests: list[Request], rate: int) -> None:
    """Write a record file: the simulator writes its header, this function appends the requests."""
    run_simulator("--fill", "none", "--requests", "0", "--record", str(path))
    with path.open("ab") as out:
        for number, (offset, length) in enumerate(requests):
            out.write(RECORD.pack(number * 1_000_000_000 // rate, offset // 512, length // 512,
                                  WRITE, 0, 0, 0, 0))


def simulate_array(results: Path, members: int, policy: str, warmup: int) -> Json:
    """Run the simulator's array and return its result."""
    options = [word for key, value in MEMBER.items() for word in (f"--{key}", value)]
    return run_simulator("--fill", "none", "--profile", PROFILE, *options, "--policy", policy,
                         "--raid", "5", "--members", str(members), "--chunk", str(CHUNK // UNIT),
                         "--stripes", str(STRIPES), "--stripe-hold", HOLD, "--trace",
                         str(results / "requests.aft"), "--arrival", "trace", "--warmup",
                         str(warmup))


def prepare_requests(results: Path, members: int) -> None:
    """Make the requests and run the simulator on them."""
    capacity = (members - 1) * MEMBER_KIB * 1024 // CHUNK * CHUNK
    first = make_requests_to_whole_array(capacity)
    rate = RATE * (members - 1)
    rest = make_requests_to_active_extents(capacity, 2 * capacity // REQUEST,
                                           round(EXTENTS * (members - 1) / 3))
    third = len(rest) // 3
    warm, measured = first + rest[:third], rest[third:]
    (results / "member-options").write_text(" ".join(
        ["--store ram --profile", PROFILE, *(f"{k}={v}" for k, v in MEMBER.items())]))
    (results / "member-kib").write_text(str(MEMBER_KIB))
    (results / "stripes").write_text(str(STRIPES))
    write_fio_log(results / "warm.log", warm, rate)
    write_fio_log(results / "measured.log", measured, rate)
    write_records(results / "requests.aft", warm + measured, rate)
    for policy in POLICIES:
        run = simulate_array(results, members, policy, len(warm))
        (results / f"{policy}.sim.json").write_text(json.dumps(run))


def count_pages_consumed_by_array(counters: Json) -> int:
    """Return the number of consumed pages; reprogrammed pages are not counted again."""
    units: int = sum(value for name, value in counters.items()
                     if name.startswith("programmed_") and name.endswith("_units"))
    units += counters["padded_units"]
    return units // (PAGE // UNIT) - int(counters["reprogrammed_pages"])


def get_result_of_simulation(results: Path, policy: str) -> Outcome:
    """Return the measured activity of the simulator's array."""
    run = json.loads((results / f"{policy}.sim.json").read_text())
    counters = run["counters"]
    written = run["raid"]["data_write_units"] + run["raid"]["parity_write_units"]
    return Outcome(counters["host_write_units"], written, count_pages_consumed_by_array(counters),
                   counters["programmed_gc_units"], counters["array_erases"], [],
                   run["timing"]["write_response"]["mean_ns"] / 1000)


def read_member_counters(results: Path, policy: str, members: int) -> Iterator[Json]:
    """Yield the counters of the members of md's array."""
    for number in range(1, members + 1):
        path = results / "md" / f"{policy}.member-{number}.json"
        yield json.loads(path.read_text())["devices"][0]["counters"]


def read_md_array_results(results: Path, policy: str, members: int) -> Outcome:
    """Return the measured activity of md's array, from the counters of its members."""
    counted = list(read_member_counters(results, policy, members))
    report = json.loads((results / "md" / f"{policy}.fio.json").read_text())["jobs"][0]["write"]

    def sum_member_counter(name: str) -> int:
        return sum(int(one[name]) for one in counted)

    pages = sum(count_pages_consumed_by_array(one) for one in counted)
    per_erase = [one["host_write_units"] * UNIT / PAGE / max(1, one["array_erases"])
                 for one in counted]
    return Outcome(report["io_bytes"] // UNIT, sum_member_counter("host_write_units"), pages,
                   sum_member_counter("programmed_gc_units"), sum_member_counter("array_erases"),
                   per_erase, report["clat_ns"]["mean"] / 1000)


def print_measure_comparison(name: str, md: float, sim: float) -> bool:
    """Print a measure of md and of the simulator; return whether both agree within tolerance."""
    factor = sim / md
    limit = TOLERANCE.get(name)
    agrees = not limit or 1 / limit <= factor <= limit
    verdict = f"{'agrees' if agrees else 'differs'}, up to {limit}x" if limit else "not compared"
    print(f"  {name:32} {md:12.3f} {sim:12.3f}   {factor:6.3f}x  {verdict}")
    return agrees


def compute_ressd_effect_on_arrays(results: Path, members: int) -> dict[str, tuple[float, float]]:
    """Return the change (%) that ReSSD causes in md's and in the simulator's array."""
    tlc, ressd = ((read_md_array_results(results, policy, members).get_measures_of_raid_array(),
                   get_result_of_simulation(results, policy).get_measures_of_raid_array())
                  for policy in POLICIES)
    return {name: (100 * (ressd[0][name] / tlc[0][name] - 1),
                   100 * (ressd[1][name] / tlc[1][name] - 1)) for name in tlc[0]}


def print_ressd_effect_on_arrays(changes: dict[str, tuple[float, float]]) -> bool:
    """Print the changes that ReSSD causes in both arrays; return whether their signs agree."""
    same = True
    print("\nressd against tlc in %            md    simulator")
    for name, (md, sim) in changes.items():
        # A change below 5 % may be chance.
        same &= name not in TOLERANCE or md * sim > 0 or max(abs(md), abs(sim)) < 5
        print(f"  {name:32} {md:+12.1f} {sim:+12.1f}")
    return same


def print_md_and_simulated_arrays(results: Path, members: int) -> bool:
    """Print md's and the simulator's measures by policy; return whether they agree."""
    agreed = True
    for policy in POLICIES:
        md = read_md_array_results(results, policy, members)
        sim = get_result_of_simulation(results, policy)
        print(f"\n{policy}, {members} devices {'md':>29} {'simulator':>12}")
        for name, value in md.get_measures_of_raid_array().items():
            agreed &= print_measure_comparison(name, value, sim.get_measures_of_raid_array()[name])
        print("  page writes for each erase, by device  " +
              " ".join(f"{value:.2f}" for value in md.per_erase))
    agreed &= print_ressd_effect_on_arrays(compute_ressd_effect_on_arrays(results, members))
    print("\nthe arrays " + ("agree" if agreed else "differ") + " on what the flash did")
    return agreed


def print_ressd_effect_per_array_size(results: Path, counts: list[int]) -> None:
    """Print the changes that ReSSD causes in arrays of several sizes, md's and simulated."""
    by_count = {members: compute_ressd_effect_on_arrays(results / str(members), members)
                for members in counts}
    print("\nressd against tlc in %, md (simulator)")
    print(f"  {'':32}" + "".join(f"{f'{members} devices':>18}" for members in counts))
    for name in by_count[counts[0]]:
        cells = (by_count[members][name] for members in counts)
        print(f"  {name:32}" + "".join(f"{f'{md:+.1f} ({sim:+.1f})':>18}" for md, sim in cells))


def main() -> int:
    """Run the command (prepare, report or changes) that the command line names."""
    verb, folder, counts = sys.argv[1], Path(sys.argv[2]), [int(word) for word in sys.argv[3:]]
    if verb == "changes":
        print_ressd_effect_per_array_size(folder, counts)
        return 0
    if verb == "prepare":
        prepare_requests(folder, counts[0])
        return 0
    return 0 if print_md_and_simulated_arrays(folder, counts[0]) else 1


if __name__ == "__main__":
    sys.exit(main())
