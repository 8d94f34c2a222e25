#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""In the lab: the processor time of a request with `timing off`, beside other devices in memory.

Prints "# cost DEVICE OPERATION DEPTH NANOSECONDS". REQUESTS=N sets the number of requests, as
`make bench-kernel` does.

The result is the processor time of fio with 3 x REQUESTS requests less its time with REQUESTS
requests, so that fio's start cancels out; the device, the system call and fio's own work remain.
The devices complete requests in the submitter's context, so this includes their whole cost. The
kernel accounts it in nanoseconds. Each value is the minimum of several runs, because the kernel
sometimes charges milliseconds of its own work to the running task.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path

from approx_control import APPROXIMATE, PROCESS, Control
from ktap import (
    create_device,
    finish_test,
    read_counters,
    require,
    run_check,
    run_command,
    run_dmsetup,
    skip_test_point,
)

ENGINES = {1: "psync", 32: "libaio"}
OPERATIONS = ("randwrite", "randread")
SPAN = "64m"  # part of the device that is used
LOW, HIGH = 1, 3  # times REQUESTS
RUNS = 2
REQUESTS = int(os.environ.get("REQUESTS") or 1000)
LIMIT = 1.5  # relative to dm-linear over the kernel's RAM disk
TAGGED_LIMIT = 1.05  # with tags elsewhere, relative to a write without any tag
#: So many blocks that garbage collection never runs
KEYS = "timing off blocks 2048 policy"
POLICIES = ("baseline", "approxftl")
NULL = Path("/sys/kernel/config/nullb/nullb-aftl")

Case = tuple[str, int]  # operation, depth
Costs = dict[tuple[str, str, int], float]  # by device and case
scratch = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="aftl-"))
fio = str(shutil.copy(shutil.which("fio") or "fio", scratch))


def measure_fio_processor_ns(device: str, *options: str) -> int:
    """Run fio with options that avoid its own work; return its user plus system time."""
    command = [fio, "--name=cost", f"--filename={device}", "--direct=1", "--thread",
               f"--size={SPAN}", "--randrepeat=1", "--norandommap", "--minimal", "--gtod_reduce=1",
               *options]
    null = os.open(os.devnull, os.O_WRONLY)
    child = os.posix_spawn(fio, command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    _, status, usage = os.wait4(child, 0)
    require(status == 0, f"failed: {' '.join(command)}")
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def measure_device_costs(costs: Costs, name: str, device: str, *operations: str) -> None:
    """Fill a device, then measure the costs of its requests."""
    measure_fio_processor_ns(device, "--rw=write", "--bs=64k", "--ioengine=psync")
    for operation in operations or OPERATIONS:
        for depth in ENGINES:
            options = [f"--rw={operation}", "--bs=4k", f"--ioengine={ENGINES[depth]}",
                       f"--iodepth={depth}", "--io_size=1t"]
            spent = [min(measure_fio_processor_ns(device, *options, f"--number_ios={count}")
                         for _ in range(RUNS)) for count in (LOW * REQUESTS, HIGH * REQUESTS)]
            cost = (spent[1] - spent[0]) / ((HIGH - LOW) * REQUESTS)
            print(f"# cost {name} {operation} {depth} {round(cost)}", flush=True)
            costs[name, operation, depth] = cost


def measure_costs_of_all_devices(costs: Costs) -> None:
    """Measure an approxftl device and dm-linear; `make bench-kernel` measures more devices."""
    run_command("modprobe", "brd", "rd_nr=1", "rd_size=65536")
    run_dmsetup("create", "aftl-linear", "--table", "0 131072 linear /dev/ram0 0")
    if "REQUESTS" in os.environ:
        run_command("modprobe", "null_blk", "nr_devices=0")
        if not os.path.ismount("/sys/kernel/config"):
            run_command("mount", "-t", "configfs", "configfs", "/sys/kernel/config")
        NULL.mkdir()
        for name, value in (("size", 64), ("blocksize", 4096), ("memory_backed", 1),
                            ("irqmode", 0), ("power", 1)):
            (NULL / name).write_text(str(value))
        measure_device_costs(costs, "brd", "/dev/ram0")
        measure_device_costs(costs, "null_blk",
                             run_command("find", "/dev", "-name", "nullb*", "-type", "b").strip())
        (NULL / "power").write_text("0")
        NULL.rmdir()
    measure_device_costs(costs, "linear", "/dev/mapper/aftl-linear")
    for policy in POLICIES:
        path = create_device(f"aftl-{policy}", f"{KEYS} {policy}")
        measure_device_costs(costs, policy, str(path))
        require(not read_counters(f"aftl-{policy}")["gc_blocks"], f"{policy}: GC ran")


@contextmanager
def run_tagging_process() -> Iterator[None]:
    """Context manager: another process tags its own writes and a file outside of the device."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        control = Control()
        control.tag_range(os.open(scratch / "tagged", os.O_RDWR | os.O_CREAT))
        control.set_class_scope(PROCESS, APPROXIMATE)
        os.write(writer, b"ready")
        signal.pause()
    os.read(reader, 5)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def measure_cost_of_tags_on_untagged_writes(costs: Costs) -> None:
    """Measure untagged writes, first without any tag, then beside tags of another process.

    Take the median of three: the limit is so tight that kernel background work in one run would
    decide.
    """
    device = str(create_device("aftl-elsewhere", f"{KEYS} baseline"))
    for name, beside in (("untagged", nullcontext()), ("elsewhere", run_tagging_process())):
        three: list[Costs] = [{}, {}, {}]
        with beside:
            for one in three:
                measure_device_costs(one, name, device, "randwrite")
        costs.update({key: sorted(one[key] for one in three)[1] for key in three[0]})


def require_cost_ratio(costs: Costs, name: str, other: str, case: Case, limit: float) -> None:
    """Require that a request to one device costs at most LIMIT times as much as to another one."""
    cost, bound = costs[name, *case], costs[other, *case]
    require(cost <= limit * bound, f"{name}: {cost:.0f} ns, {other}: {bound:.0f} ns")


def main() -> None:
    """Run all test points."""
    if "AFTL_LAB" not in os.environ:
        skip_test_point("cost", "only the clock of approxftl lab is steady")
        finish_test()
    costs: Costs = {}
    run_check("the cost of each device is measured", measure_costs_of_all_devices, costs)
    run_check("measure writes with and without tags on other files",
              measure_cost_of_tags_on_untagged_writes,
              costs)
    for policy in POLICIES:
        for case in product(OPERATIONS, ENGINES):
            run_check(
                f"{policy}, {case[0]}, depth {case[1]}: at most one and a half times dm-linear",
                require_cost_ratio, costs, policy, "linear", case, LIMIT)
    for depth in ENGINES:
        run_check(f"untagged write, depth {depth}: tags elsewhere cost at most 5 %",
                  require_cost_ratio, costs, "elsewhere", "untagged", ("randwrite", depth),
                  TAGGED_LIMIT)
    finish_test()


if __name__ == "__main__":
    main()
