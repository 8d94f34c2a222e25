#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure how closely a replay follows its schedule, beside fio's replay (--read_iolog).

bench_replay.py            in the lab on null_blk, then on this machine on a file in memory
bench_replay.py --guest    the part in the lab, in a kernel with null_blk
bench_replay.py --strict   exit status 1 if the limit is missed

Both tools get the same requests, 4 KiB at random times, 20000 a second. In the lab the kernel's
tracepoint block_bio_queue records when each request arrives. The schedule is aligned with these
times so that the earliest request is on time. For a file, only each tool's own log is available,
and fio's has a resolution of a millisecond.

The first line of each place shows the limit of the machine: the wake-up latency of a program that
only sleeps until given times.

fio reads the requests as a blktrace; its own format has milliseconds, or drops waits below 0.1 ms.
"""

from __future__ import annotations

import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bars import Bar, print_columns, print_limits
from benchmark import (
    BUILD,
    benchmark_exit_status,
    benchmark_parser,
    guest_output_fields,
    require_built_program,
    write_result_json,
)

PROGRAM = BUILD / "approxftl"

RATE = 20000
LATE_US = 100
LEAST_SHARE = 0.99
DISK_BYTES = 128 << 20
TOOLS = ("timer", "approxftl", "fio")
SLEEP = Path(__file__).with_name("timer-lateness.c")
#: Number of sleeps per replayed request, and the time between them.
SLEEP_SHARE, SLEEP_US = 0.1, 500

RECORD = struct.Struct("<QQIBBHII")
RECORD_HEADER = 4096
LOG_ENTRY = struct.Struct("<QQQQIBBHQHHHHIIII")
EVENT = struct.Struct("<IIQQIIIIIHH")
EVENT_MAGIC = 0x65617407
QUEUED = 1 | 1 << 4 << 16
READS, WRITES = 1 << 16, 2 << 16
EVENTS = Path("/sys/kernel/tracing/instances/aftl-bench")
ISSUED = re.compile(r"\s(\d+)\.(\d{6}): block_bio_queue: (\d+,\d+) ")


@dataclass(frozen=True)
class Row:
    """One tool in one round."""

    place: str
    tool: str
    lags_us: list[float]
    span_s: float

    def share_with_larger_lag(self, us: float) -> float:
        """Return the share of requests with a larger lag."""
        return sum(lag > us for lag in self.lags_us) / len(self.lags_us)

    def lag_quantile(self, share: float) -> float:
        """Return the quantile of the lag."""
        ordered = sorted(self.lags_us)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def row_as_line(self) -> str:
        """Format the row for the guest's output, which the host parses."""
        numbers = (self.share_with_larger_lag(LATE_US), self.share_with_larger_lag(1000),
                   self.lag_quantile(0.5), self.lag_quantile(0.99), max(self.lags_us), self.span_s,
                   len(self.lags_us))
        return " ".join([self.tool, *(f"{number:.6f}" for number in numbers)])


@dataclass(frozen=True)
class Figures:
    """The printed figures of a row."""

    place: str
    tool: str
    late: float
    late_1ms: float
    p50_us: float
    p99_us: float
    max_us: float
    span_s: float
    issued: float

    @classmethod
    def parse_lag_figures(cls, place: str, tool: str, *numbers: str) -> Figures:
        """Parse the output of Row.row_as_line()."""
        return cls(place, tool, *(float(number) for number in numbers))


def write_random_record(path: Path, requests: int) -> list[tuple[int, int, int, int]]:
    """Write a record; return time, sector, sectors and operation of each."""
    subprocess.run(
        [PROGRAM, "sim", "--quiet", "--fill=none", "--requests", str(requests), "--arrival", "open",
         "--rate", str(RATE), "--footprint", "20%", "--record", path],
        check=True, stdout=subprocess.DEVNULL)
    data = path.read_bytes()[RECORD_HEADER:]
    found = [record[:4] for record in RECORD.iter_unpack(data)]
    return [(t - found[0][0], sector, sectors, op) for t, sector, sectors, op in found]


def write_requests_as_blktrace(path: Path, requests: Sequence[tuple[int, int, int, int]]) -> None:
    """Write the requests as the events of one processor."""
    path.write_bytes(b"".join(
        EVENT.pack(EVENT_MAGIC, number, t, sector, sectors * 512,
                   QUEUED | (WRITES if op else READS), 1, 8 << 20, 0, 0, 0)
        for number, (t, sector, sectors, op) in enumerate(requests)))


def tool_commands(place: Path, target: str, log: Path) -> dict[str, list[str | Path]]:
    """Return the command line of each tool."""
    return {
        "approxftl": [PROGRAM, "replay", "--quiet", "--overwrite", "--tags", "off", "--record", log,
                      place / "requests.aft", target],
        "fio": ["fio", "--name=replay", f"--read_iolog={place / 'requests.blktrace'}",
                f"--replay_redirect={target}", "--direct=1", "--ioengine=io_uring",
                "--iodepth=256", f"--write_lat_log={place / 'fio'}", "--output=/dev/null"],
    }


def build_sleep_program() -> Path:
    """Build the sleeping program, unless it exists."""
    program = BUILD / "bench/timer-lateness"
    if not program.is_file() or program.stat().st_mtime < SLEEP.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-std=gnu11", "-O2", "-Wall", "-o", program, SLEEP], check=True)
    return program


def measure_sleep_latencies(requests: int) -> Row:
    """Return the wake-up latencies of sleeps that last as long as a replay."""
    times = max(1, int(requests * SLEEP_SHARE))
    lines = subprocess.run([build_sleep_program(), str(times), str(SLEEP_US)], check=True,
                           capture_output=True, text=True).stdout.split()
    return Row("", "timer", [int(line) / 1000 for line in lines], times * SLEEP_US / 1e6)


def issue_lags(requests: Sequence[tuple[int, int, int, int]],
               issued_us: Sequence[float]) -> list[float]:
    """Return the lag of each request, the least being 0. fio omits some at the end."""
    if not 0 < len(issued_us) <= len(requests):
        sys.exit(f"bench: {len(issued_us)} requests came, {len(requests)} were asked for")
    lags = [us - request[0] / 1000 for us, request in zip(issued_us, requests, strict=False)]
    return [lag - min(lags) for lag in lags]


def traced_queue_times_us(device: str) -> list[float]:
    """Return the times at which requests for a device reached the kernel."""
    found = []
    for line in (EVENTS / "trace").read_text().splitlines():
        event = ISSUED.search(line)
        if event and event[3] == device:
            found.append(int(event[1]) * 1e6 + int(event[2]))
    return found


def run_traced_tool(command: Sequence[str | Path], device: str) -> list[float]:
    """Run a tool while the kernel traces each request."""
    (EVENTS / "trace").write_text("")
    enable = EVENTS / "events/block/block_bio_queue/enable"
    enable.write_text("1")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    enable.write_text("0")
    return traced_queue_times_us(device)


def measure_in_guest(requests: int) -> None:
    """Measure on null_blk, and print lines that begin with "# fidelity"."""
    subprocess.run(["modprobe", "null_blk", "nr_devices=1", "gb=1", "queue_mode=0"], check=True)
    if not EVENTS.parent.is_dir():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing"], check=True)
    EVENTS.mkdir(exist_ok=True)
    (EVENTS / "buffer_size_kb").write_text("32768")
    number = Path("/dev/nullb0").stat().st_rdev
    device = f"{os.major(number)},{os.minor(number)}"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        place = Path(directory)
        wanted = write_random_record(place / "requests.aft", requests)
        write_requests_as_blktrace(place / "requests.blktrace", wanted)
        print(f"# fidelity {measure_sleep_latencies(requests).row_as_line()}")
        for tool, command in tool_commands(place, "/dev/nullb0", place / "log").items():
            issued = run_traced_tool(command, device)
            span_s = (issued[-1] - issued[0]) / 1e6
            print(f"# fidelity {Row('', tool, issue_lags(wanted, issued), span_s).row_as_line()}",
                  flush=True)
    EVENTS.rmdir()


def measure_in_lab(requests: int) -> list[Figures]:
    """Measure in the lab."""
    build_sleep_program()  # the guest may lack a compiler, and cannot write here
    command = f"python3 selftests/bench/bench_replay.py --guest --requests {requests}"
    said = guest_output_fields("fidelity", command)
    if len(said) != len(TOOLS):
        sys.exit(f"bench: the guest measured {len(said)} of {len(TOOLS)} tools")
    return [Figures.parse_lag_figures("null_blk in the lab", *words) for words in said]


def logged_issue_times_us(tool: str, place: Path) -> list[float]:
    """Return the times at which a tool logged that it issued each request."""
    if tool == "approxftl":
        entries = LOG_ENTRY.iter_unpack((place / "log").read_bytes()[RECORD_HEADER:])
        return [submit / 1000 for submit, _ in sorted((e[1], e[8]) for e in entries)]
    lines = (place / "fio_lat.1.log").read_text().splitlines()
    ended = (line.split(",")[:2] for line in lines)
    return sorted(int(ms) * 1000 - int(ns) / 1000 for ms, ns in ended)


def measure_on_host(requests: int) -> list[Figures]:
    """Measure on a file in this machine's memory."""
    found = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        place = Path(directory)
        disk = place / "disk"
        disk.write_bytes(bytes(DISK_BYTES))  # allocate it before the measurement
        wanted = write_random_record(place / "requests.aft", requests)
        write_requests_as_blktrace(place / "requests.blktrace", wanted)
        found.append(Figures.parse_lag_figures(
            "file in memory, here", *measure_sleep_latencies(requests).row_as_line().split()))
        for tool, command in tool_commands(place, str(disk), place / "log").items():
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            issued = logged_issue_times_us(tool, place)
            span_s = (issued[-1] - issued[0]) / 1e6
            row = Row("", tool, issue_lags(wanted, issued), span_s)
            found.append(Figures.parse_lag_figures("file in memory, here",
                                                   *row.row_as_line().split()))
    return found


def print_lag_table(rows: Sequence[Figures], span_s: float) -> None:
    """Print the measurements as a table."""
    lines = [("target", "tool", f"in {LATE_US} us", "in 1 ms", "lag p50", "p99", "max, us",
              "span", "issued")]
    for row in rows:
        # The clock of fio's log has a resolution of a millisecond.
        coarse = row.tool == "fio" and "here" in row.place
        lines.append((row.place, row.tool, "-" if coarse else f"{1 - row.late:.2%}",
                      f"{1 - row.late_1ms:.2%}", f"{row.p50_us:.0f}", f"{row.p99_us:.0f}",
                      f"{row.max_us:.0f}", f"{row.span_s / span_s:.3f}x",
                      "-" if row.tool == "timer" else f"{row.issued:.0f}"))
    print_columns(lines, left=2)


def compare_with_limit(rows: Sequence[Figures]) -> list[Bar]:
    """Compare with the limit; only the lab has timers that allow it."""
    judged = [1 - row.late for row in rows if row.tool == "approxftl" and "lab" in row.place]
    return [Bar(f"within {LATE_US} us in the lab", 100 * statistics.median(judged),
                100 * LEAST_SHARE, "%")] if judged else []


def main() -> int:
    """Entry point."""
    parser = benchmark_parser("Fidelity of replays.", "bench-replay.json")
    parser.add_argument("--guest", action="store_true", help="measure on null_blk, now")
    parser.add_argument("--requests", type=int, default=20000, metavar="N", help="(20000)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="on this machine (3); 0 leaves it out")
    parser.add_argument("--boots", type=int, default=1, metavar="N",
                        help="of the lab (1); 0 leaves it out")
    args = parser.parse_args()
    require_built_program(PROGRAM.with_name("approxftl-replay"))
    if args.guest:
        measure_in_guest(args.requests)
        return 0
    rows = [row for _ in range(args.boots) for row in measure_in_lab(args.requests)]
    rows += [row for _ in range(args.rounds) for row in measure_on_host(args.requests)]
    print_lag_table(rows, args.requests / RATE)
    bars = compare_with_limit(rows)
    if bars:
        print_limits(bars)
    write_result_json(args.json, {
        "approxftl_bench_replay_format": [1, 1],
        "requests": args.requests,
        "rate_per_s": RATE,
        "rows": [vars(row) for row in rows],
        "bars": [bar.limit_as_json() for bar in bars],
    })
    return benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
