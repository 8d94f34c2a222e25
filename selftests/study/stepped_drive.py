# SPDX-License-Identifier: GPL-2.0-only
"""Measure a simulated device by fio job files, one job after the other, in the device's own time.

Unlike simulate_fio_jobs(), each job finds the device as the earlier jobs have left it.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from selftests.study.hidden_drive import (
    Json,
    make_fio_output_with_placeholders,
    store_measurement,
)

from approxftl import Device
from approxftl_tools.calibrate_model import Model
from approxftl_tools.fio_job_file import list_jobs_with_all_options
from approxftl_tools.fio_output import Options

UNIT = 4096
#: Requests of a job at most, and time in ns between two jobs.
REQUESTS, PAUSE_NS = 4000, 10**9


def list_first_units_of_requests(options: Options, units: int, capacity: int,
                                 draw: random.Random) -> list[int]:
    """Return where the requests of a job begin, in units; all but writes in order are short."""
    word, hole = options.parse_access_pattern_of_job()
    places = (capacity - units) // units + 1
    bound = int(options.find_fio_option_value("number_ios") or 0)
    if word == "write":
        return [place * units for place in range(min(bound or places, places))]
    if word in ("randread", "randwrite"):
        return [draw.randrange(places) * units for _ in range(min(bound or REQUESTS, REQUESTS))]
    stride = units + hole // UNIT
    return [index * stride % (capacity - units + 1) // units * units for index in range(REQUESTS)]


def measure_job(device: Device, job: Json, options: Options, capacity: int,
                draw: random.Random) -> None:
    """Run a job on a device, and store what fio would measure."""
    units, depth = options.request_size_bytes() // UNIT, options.compute_fio_queue_depth()
    kind = "write" if "write" in options.parse_access_pattern_of_job()[0] else "read"
    firsts = list_first_units_of_requests(options, units, capacity, draw)
    begin_ns = device.now_ns
    times = device.submit(kind, firsts, units, depth)
    section = job[kind]
    section["io_bytes"], section["total_ios"] = len(firsts) * units * UNIT, len(firsts)
    section["clat_ns"]["N"] = len(firsts)
    store_measurement(job, kind, "rate", len(firsts) * 1e9 / (device.now_ns - begin_ns))
    store_measurement(job, kind, "mean", float(times.mean()) / 1e3)
    for what, share in (("p50", 50), ("p90", 90), ("p99", 99)):
        store_measurement(job, kind, what, float(np.percentile(times, share)) / 1e3)
    device.advance(PAUSE_NS)


def measure_device_with_jobs(model: Model, least: int, files: Sequence[Path],
                             folder: Path) -> list[Path]:
    """Run job files on an empty device of a model, and write one fio output for each."""
    device = Device(policy="baseline", fill="none", **model.make_device_parameters(least))
    capacity, draw, paths = len(device.l2p()), random.Random(7), []
    for when, file in enumerate(files, 10):
        document = make_fio_output_with_placeholders(file, when)
        for job, (_, words) in zip(document["jobs"], list_jobs_with_all_options(file), strict=True):
            measure_job(device, job, Options({}, {"job options": words}), capacity, draw)
        paths.append(folder / f"{file.stem}.json")
        paths[-1].write_text(json.dumps(document))
    return paths
