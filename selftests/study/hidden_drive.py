# SPDX-License-Identifier: GPL-2.0-only
"""Synthesise fio's output for a simulated drive whose parameters are known."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approxftl_tools.bench import Bench
from approxftl_tools.calibrate_model import make_simulator_options_of_load, simulated_rate_or_time
from approxftl_tools.fio_job_file import count_job_requests, list_jobs_with_all_options
from approxftl_tools.fio_output import PERCENTILES, parse_fio_size, read_fio_files

Json = dict[str, Any]
TOP = Path(__file__).resolve().parents[2]
#: Capacity in bytes of the drive on which the jobs are supposed to run.
CAPACITY = 64 << 30


@dataclass(frozen=True)
class Hidden:
    """A drive with known parameters: the simulator's options and its capacity."""

    device: tuple[str, ...]
    holds: float

    def make_simulated_device_options(self, _least: int) -> tuple[str, ...]:
        """Return the hidden drive as options of the simulator."""
        return self.device

    def estimate_device_capacity(self, _least: int) -> float:
        return self.holds

    def min_device_bytes_for_gc(self) -> int:
        """Return the least size on which GC works: 0, as simulated drives may have any size."""
        return 0


def make_fio_output_with_placeholders(path: Path, when: int) -> Json:
    """Return fio's output for a job file, with placeholders for all measurements."""
    jobs: list[Json] = []
    group = -1
    for name, both in list_jobs_with_all_options(path):
        group += "stonewall" in both or not jobs
        count, size = count_job_requests(both, CAPACITY), parse_fio_size(both.get("bs", "4k"))
        kind = "write" if "write" in both["rw"] else "read"
        job: Json = {"jobname": name, "groupid": group, "error": 0, "job options": both}
        for each in ("read", "write"):
            done = count if each == kind else 0
            rate = float(both.get("rate_iops", "1000"))
            job[each] = {"io_bytes": done * size, "total_ios": done, "iops": rate if done else 0.0,
                         "clat_ns": {"N": done, "mean": 1e5,
                                     "percentile": dict.fromkeys(PERCENTILES.values(), 100000)}}
        jobs.append(job)
    return {"fio version": "fio-3.33", "timestamp": when, "global options": {}, "jobs": jobs}


def find_histogram_bin_middle(ns: int) -> int:
    """Return the middle of fio's histogram bin, of which each power of two has 64."""
    shift = max(0, ns.bit_length() - 7)
    return ((ns >> shift) << shift) + ((1 << shift) >> 1)


def store_measurement(job: Json, kind: str, what: str, value: float) -> None:
    """Store a measurement in the field where fio has it."""
    if what == "rate":
        job[kind]["iops"] = value
    elif what == "mean":
        job[kind]["clat_ns"]["mean"] = value * 1e3
    else:
        middle = find_histogram_bin_middle(round(value * 1e3))
        job[kind]["clat_ns"]["percentile"][PERCENTILES[what]] = middle


def simulate_fio_jobs(hidden: Hidden, files: Sequence[Path], folder: Path, bench: Bench,
                      noise: float = 0.0, seed: int = 1) -> list[Path]:
    """Simulate the drive and write one fio output for each job file."""
    paths = [folder / f"{path.stem}.json" for path in files]
    documents = {path: make_fio_output_with_placeholders(file, 10 + index)
                 for index, (path, file) in enumerate(zip(paths, files, strict=True))}
    for path, document in documents.items():
        path.write_text(json.dumps(document))
    loads = read_fio_files(paths).loads
    runs = {load: make_simulator_options_of_load(load, hidden, CAPACITY) for load in loads}
    results = bench.run_or_look_up_simulations(runs.values())
    draw = random.Random(seed)
    for load in loads:
        (job,) = (job for job in documents[load.path]["jobs"] if job["jobname"] == load.name)
        for figure in load.figures:
            value = simulated_rate_or_time(figure, results[runs[load]])
            store_measurement(job, figure.kind, figure.what, value * draw.lognormvariate(0, noise))
    for path, document in documents.items():
        path.write_text(json.dumps(document))
    return paths

