#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a request costs the processor, on each of some devices.

cost.py FIO REQUESTS NAME=DEVICE[:OPERATION]...: prints "NAME OPERATION DEPTH NANOSECONDS" for
random reads and writes of 4 KiB, or one of the two, one at a time and 32.

It is the processor time of fio with 3 x REQUESTS requests less that with REQUESTS, so that its
start does not count; device, system call and fio's own work do. The devices complete requests in
the context of the submitter, so this is all that they use. The kernel keeps it in nanoseconds.

Each is the least of some runs: now and then the kernel does milliseconds of work of its own, and
puts them down to whoever runs.
"""

from __future__ import annotations

import os
import sys

ENGINES = {1: "psync", 32: "libaio"}
OPERATIONS = ("randwrite", "randread")
SPAN = "64m"  # of a device
LOW, HIGH = 1, 3  # times REQUESTS
RUNS = 2


def processor_ns(command: list[str]) -> int:
    """Run it; return its user and system time, which add up to what the scheduler measured."""
    null = os.open(os.devnull, os.O_WRONLY)
    child = os.posix_spawn(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"cost: failed: {' '.join(command)}")
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def job(fio: str, device: str, *options: str) -> list[str]:
    """Return fio's command line, without anything that it would do for each request."""
    return [fio, "--name=cost", f"--filename={device}", "--direct=1", "--thread", f"--size={SPAN}",
            "--randrepeat=1", "--norandommap", "--minimal", "--gtod_reduce=1", *options]


def request_ns(fio: str, device: str, operation: str, depth: int, requests: int) -> float:
    """Return processor nanoseconds of a request."""
    options = [f"--rw={operation}", "--bs=4k", f"--ioengine={ENGINES[depth]}",
               f"--iodepth={depth}", "--io_size=1t"]
    spent = [min(processor_ns(job(fio, device, *options, f"--number_ios={times * requests}"))
                 for _ in range(RUNS))
             for times in (LOW, HIGH)]
    return (spent[1] - spent[0]) / ((HIGH - LOW) * requests)


def main(fio: str, requests: int, devices: list[str]) -> None:
    """Fill each device, then measure it."""
    for device in devices:
        name, path = device.split("=", 1)
        path, _, only = path.partition(":")
        processor_ns(job(fio, path, "--rw=write", "--bs=64k", "--ioengine=psync"))
        for operation in [only] if only else OPERATIONS:
            for depth in ENGINES:
                cost = request_ns(fio, path, operation, depth, requests)
                print(name, operation, depth, round(cost), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
