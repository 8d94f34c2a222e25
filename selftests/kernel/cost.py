#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the processor time of a request on each of several devices.

cost.py FIO REQUESTS NAME=DEVICE[:OPERATION]...: prints "NAME OPERATION DEPTH NANOSECONDS" for
random reads and writes of 4 KiB, or for OPERATION only, at queue depths 1 and 32.

The result is the processor time of fio with 3 x REQUESTS requests less its time with REQUESTS
requests, so that fio's start cancels out; the device, the system call and fio's own work remain.
The devices complete requests in the submitter's context, so this includes their whole cost. The
kernel accounts it in nanoseconds.

Each value is the minimum of several runs, because the kernel sometimes charges milliseconds of
its own work to the running task.
"""

from __future__ import annotations

import os
import sys

ENGINES = {1: "psync", 32: "libaio"}
OPERATIONS = ("randwrite", "randread")
SPAN = "64m"  # part of the device that is used
LOW, HIGH = 1, 3  # times REQUESTS
RUNS = 2


def processor_ns(command: list[str]) -> int:
    """Run a command; return its user plus system time, which is the scheduler's measurement."""
    null = os.open(os.devnull, os.O_WRONLY)
    child = os.posix_spawn(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"cost: failed: {' '.join(command)}")
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def job(fio: str, device: str, *options: str) -> list[str]:
    """Return a fio command line whose options avoid fio's own work per request."""
    return [fio, "--name=cost", f"--filename={device}", "--direct=1", "--thread", f"--size={SPAN}",
            "--randrepeat=1", "--norandommap", "--minimal", "--gtod_reduce=1", *options]


def request_ns(fio: str, device: str, operation: str, depth: int, requests: int) -> float:
    """Return the processor time of a request in nanoseconds."""
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
