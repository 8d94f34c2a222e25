#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Replay requests on a device and in the simulator, and compare the tail latencies.

Both start filled at random, so both collect garbage. The device's time is slowed down, so that the
time which Linux spends on a request is small against the time of the flash. Run it in the lab.

Small differences of arrival times change which requests collide, and so the tail: in the simulator,
delays of at most 5 us move a percentile by up to 4 %. So the simulator runs several times with
other delays, and the median of its percentiles is compared.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ktap import (
    APPROXFTL,
    SHAPE,
    FailedError,
    capacity_in_sectors,
    finish_test,
    read_counters,
    require,
    run_check,
    run_command,
    set_processor_count,
    temporary_device,
)
from selftests.replay.support import read_log
from selftests.sim.support import READ, WRITE, Header, Record, read_trace, write_trace

if TYPE_CHECKING:
    from collections.abc import Iterable

SLOWED = 20
REQUESTS = 30_000
MEAN_GAP_NS = 900_000
WRITE_SHARE = 0.7
PAGE_SECTORS = 8
KEYS = f"{SHAPE} policy baseline fill random errors off"
TOLERANCE = 0.05
SIMULATIONS = 7
DELAY_NS = 5000
QUANTILES = (0.5, 0.9, 0.99, 0.999)


def write_skewed_record_file(path: Path, pages: int, delays: random.Random | None = None) -> None:
    """Write a record file of skewed reads and writes, of one to four logical pages each."""
    draw = random.Random(1)
    at_ns = 0
    records = []
    for _ in range(REQUESTS):
        at_ns += int(draw.expovariate(1 / MEAN_GAP_NS))
        count = draw.choice((1, 1, 2, 4))
        first = min(int(pages * draw.random() ** 3), pages - count)
        op = WRITE if draw.random() < WRITE_SHARE else READ
        late_ns = delays.randrange(DELAY_NS) if delays else 0
        records.append(Record(at_ns + late_ns, first * PAGE_SECTORS, count * PAGE_SECTORS, op))
    records.sort(key=lambda record: record.t_ns)
    write_trace(path, records, Header(minor=1, records=REQUESTS, source=b"skewed"))


Responses = dict[int, list[float]]


def sort_responses_by_operation(pairs: Iterable[tuple[int, float]]) -> Responses:
    """Sort response times into lists by operation."""
    responses: Responses = {READ: [], WRITE: []}
    for op, response in pairs:
        responses[op].append(response)
    for values in responses.values():
        values.sort()
    return responses


def replay_on_device(trace: Path) -> tuple[Responses, int]:
    """Return the device's response times, and how many blocks its garbage collection erased."""
    log = trace.with_suffix(".log")
    with temporary_device("aftl-tail", f"{KEYS} timing scale:{SLOWED}", "none") as path:
        said = run_command(APPROXFTL, "replay", "--quiet", "--overwrite", "--tags", "off",
                           "--speed", str(1 / SLOWED), f"--record={log}", trace, path)
        print("".join(f"# {line}\n" for line in said.splitlines()), end="")
        require("100.0 % full" in said, "the replay does not say that the device starts full")
        collected = read_counters("aftl-tail")["gc_blocks"]
    return sort_responses_by_operation((entry.op, (entry.complete_ns - entry.due_ns) / SLOWED)
                                       for entry in read_log(log).entries), collected


def simulate_trace(trace: Path) -> tuple[Responses, int]:
    """Return the simulator's response times, and how many blocks its garbage collection erased."""
    words = KEYS.split()
    pairs = (f"--{key}={value}" for key, value in zip(words[::2], words[1::2], strict=True))
    result = trace.with_suffix(".json")
    record = trace.with_suffix(".simulated.aft")
    run_command(APPROXFTL, "replay", "--simulate", f"--json={result}", trace, "--", *pairs,
                f"--record={record}")
    counts = json.loads(result.read_text())["runs"][0]["counters"]
    return sort_responses_by_operation((each.op, 100 * each.lat_100ns)
                                       for each in read_trace(record)), counts["gc_blocks"]


def find_response_percentile(responses: list[float], share: float) -> float:
    """Return a percentile of sorted response times."""
    return responses[int(share * len(responses))]


def check_tail_latencies_agree() -> None:
    """Check that device and simulator have the same percentiles of reads and of writes."""
    pages = capacity_in_sectors(KEYS) // PAGE_SECTORS
    runs = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        trace = Path(scratch, "skewed.aft")
        for seed in range(SIMULATIONS):
            write_skewed_record_file(trace, pages, random.Random(seed))
            runs.append(simulate_trace(trace))
        write_skewed_record_file(trace, pages)
        real, real_blocks = replay_on_device(trace)
    require(real_blocks and all(blocks for _, blocks in runs), "no garbage was collected")
    wrong = []
    for op, name in ((READ, "read"), (WRITE, "write")):
        require(all(len(real[op]) == len(run[op]) for run, _ in runs), f"{name}s are missing")
        for share in QUANTILES:
            here = find_response_percentile(real[op], share)
            there = statistics.median(find_response_percentile(run[op], share) for run, _ in runs)
            told = f"{name} p{100 * share:g}: {here:.0f} on the device, {there:.0f} simulated"
            print(f"# {told}, {here / there - 1:+.1%}")
            if abs(here - there) > TOLERANCE * there:
                wrong.append(told)
    if wrong:
        raise FailedError("\n".join(wrong))


set_processor_count(2)
run_check("device and simulator have the same tail latencies", check_tail_latencies_agree)
finish_test()
