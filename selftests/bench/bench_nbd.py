#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the plugin of nbdkit: operations a second, processor time, lateness.

fio reads and writes 4 KiB at depth 32 over one connection, from our plugin with "timing off" and
from nbdkit's memory plugin in alternation; the best run of each counts. Both have as many threads
as approxftl serve gives a connection: with "timing off" that is the number of processors. On a busy
machine the rate says little; the operations for which two processors have the time, fio's work
included, follow from the processor time. Then the plugin emulates the device in real time, and
reports how late requests end. With --strict, a missed limit is exit status 1.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bars import Bar, print_limits, print_table_in_columns
from benchmark import (
    BUILD,
    find_benchmark_exit_status,
    make_benchmark_parser,
    require_built_program,
    write_result_json,
)

PLUGIN = BUILD / "nbdkit-approxftl-plugin.so"
PLUGINS = {"memory": ("memory", "64M"), "approxftl": (PLUGIN, "size=64MiB", "timing=off")}
RATE_LIMIT = 100000
#: Smallest share of the memory plugin's rate
SHARE_LIMIT = 0.9
LATE_LIMIT_US = 60.0
#: Threads of a connection in approxftl serve, with "timing off" and in real time
THREADS_OFF, THREADS = min(max(os.cpu_count() or 1, 2), 32), 32
TICKS = os.sysconf("SC_CLK_TCK")


def run_fio(folder: Path, how: str, operations: int, depth: int) -> tuple[float, float]:
    """Return the number of operations per second of elapsed time, and fio's processor time in s."""
    file = folder / "fio.json"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        ["fio", "--name=bench", "--output-format=json", f"--output={file}", "--ioengine=nbd",
         f"--uri=nbd+unix:///?socket={folder}/socket", f"--rw={how}", "--bs=4k", "--size=60m",
         f"--iodepth={depth}", "--norandommap", f"--io_size={operations * 4096}"],
        check=True, capture_output=True)
    text = file.read_text()
    job = json.loads(text[text.index("{"):])["jobs"][0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (sum(job[op]["total_ios"] for op in ("read", "write")) * 1000 / job["job_runtime"],
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def run_fio_on_plugin(folder: Path, plugin: Sequence[str | Path], how: str, operations: int,
                      depth: int, threads: int) -> tuple[float, float, float, str]:
    """Return fio's rate, the processor times of server and fio in s, and the server's messages."""
    socket, log = folder / "socket", folder / "log"
    with log.open("w") as messages:
        server = subprocess.Popen(["nbdkit", "-f", "-U", socket, "--threads", str(threads),
                                   *plugin], stderr=messages)
    try:
        while not socket.exists() and server.poll() is None:
            pass
        rate, client_s = run_fio(folder, how, operations, depth)
        words = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    finally:
        server.terminate()
        server.wait()
        socket.unlink(missing_ok=True)
    return rate, (int(words[11]) + int(words[12])) / TICKS, client_s, log.read_text()


def measure_plugin_request_rates(folder: Path, how: str, operations: int,
                                 rounds: int) -> dict[str, dict[str, float]]:
    """Return each plugin's highest rate, and the lowest processor times of an operation."""
    found = [{name: run_fio_on_plugin(folder, plugin, how, operations, 32, THREADS_OFF)
              for name, plugin in PLUGINS.items()} for _ in range(rounds)]
    return {name: {"operations_s": max(one[name][0] for one in found),
                   "cpu_us": min(one[name][1] for one in found) / operations * 1e6,
             "cpu_with_client_us": min(one[name][1] + one[name][2] for one in found)
             / operations * 1e6}
            for name in PLUGINS}


def measure_io_lateness_us(folder: Path, how: str, operations: int, depth: int) -> float:
    """Return the median delay of completions behind their emulated times, in real time."""
    *_, log = run_fio_on_plugin(folder, ("-v", PLUGIN, "size=64MiB"), how, operations, depth,
                                  THREADS)
    found = re.search(r"half of them ended at most (\d+) ns late", log)
    if not found:
        sys.exit("bench: the plugin reports no lateness")
    return int(found[1]) / 1000


def main() -> int:
    """Run the benchmark that the command line describes."""
    parser = make_benchmark_parser("Speed and lateness of the plugin of nbdkit.", "bench-nbd.json",
                                   3)
    args = parser.parse_args()
    require_built_program(PLUGIN)
    operations = int(200000 * args.scale)
    cases: dict[str, dict[str, float]] = {}
    bars = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for how in ("randread", "randwrite"):
            found = measure_plugin_request_rates(folder, how, operations, args.rounds)
            cases |= {f"{plugin}, {how}": case for plugin, case in found.items()}
            ours, memory = (found[name]["operations_s"] for name in ("approxftl", "memory"))
            bars += [Bar(f"{how}, depth 32", ours, RATE_LIMIT, "1/s"),
                     Bar(f"{how}, depth 32: in a second's time of two processors",
                         2e6 / found["approxftl"]["cpu_with_client_us"], RATE_LIMIT, "1/s"),
                     Bar(f"{how}, beside the memory plugin", ours / memory, SHARE_LIMIT, "")]
        for how in ("randread", "randwrite"):
            bars += [Bar(f"{how}, depth {depth}: median lateness",
                         measure_io_lateness_us(folder, how, max(operations // 10, 100), depth),
                         LATE_LIMIT_US, "us", least=False) for depth in (1, 32)]
    print_table_in_columns([["plugin", "operations/s", "cpu of the server, us", "with fio, us"],
                            *([name, f"{case['operations_s']:.0f}", f"{case['cpu_us']:.1f}",
                               f"{case['cpu_with_client_us']:.1f}"]
                              for name, case in cases.items())])
    print()
    print_limits(bars)
    write_result_json(args.json, {"approxftl_bench_nbd_format": [1, 0],
                                  "cases": [{"name": name, **case} for name, case in cases.items()],
                                  "bars": [bar.convert_limit_to_json() for bar in bars]})
    return find_benchmark_exit_status(args, met=all(bar.is_limit_met for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
