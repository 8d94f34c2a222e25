# SPDX-License-Identifier: GPL-2.0-only
"""Convert published measurements of drives to fio's JSON output."""

import csv
import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from approxftl_tools.drive_points import BESIDE, OWN_TABLES
from approxftl_tools.fio_output import PERCENTILES

Json = dict[str, Any]
Row = dict[str, str]
#: A number of requests that suffices for all published percentiles.
MANY = 1_000_000
GROUPS = count()


def make_job_section(iops: float, size: int, times: Json | None = None) -> Json:
    """Return the read or write section of a job in fio's output; times are in microseconds."""
    done = MANY if iops else 0
    told = times or {}
    return {"io_bytes": done * size, "total_ios": done, "iops": iops,
            "clat_ns": {"N": done, "mean": 1e3 * told.get("mean", 0.0),
                        "percentile": {name: 1e3 * told[what] for what, name in
                                       PERCENTILES.items() if what in told}}}


def make_fio_job(name: str, group: int, options: dict[str, str], kind: str, figures: Json) -> Json:
    found: Json = {"jobname": name, "groupid": group, "error": 0,
                   "job options": {"direct": "1", "ioengine": "libaio", **options}}
    for each in ("read", "write"):
        found[each] = figures if each == kind else make_job_section(0.0, 0)
    return found


def make_fio_document(jobs: list[Json]) -> Json:
    """Return fio's JSON output for the given jobs."""
    return {"fio version": "fio-3.33", "timestamp": 1, "global options": {}, "jobs": jobs}


def read_table_row_latencies(row: Row, prefix: str) -> Json:
    return {what: float(row[f"{prefix}{what}_us"]) for what in ("mean", *PERCENTILES)
            if row.get(f"{prefix}{what}_us")}


def make_random_read_jobs(group: int, row: Row) -> list[Json]:
    if row["operation"] != "random-read":
        return []
    size = int(row["block_kib"]) << 10
    options = {"rw": "randread", "bs": str(size), "iodepth": row["queue_depth"],
               "numjobs": row["streams"]}
    name = f"{row['block_kib']}k-{row['queue_depth']}x{row['streams']}"
    return [make_fio_job(name, group, options, "read",
                         make_job_section(float(row["iops"]), size,
                                          read_table_row_latencies(row, "")))]


def make_sequential_write_jobs(group: int, row: Row) -> list[Json]:
    if row["operation"] != "sequential-write":
        return []
    size = int(row["block_kib"]) << 10
    options = {"rw": "write", "bs": str(size), "iodepth": row["queue_depth"],
               "numjobs": row["streams"], "runtime": "60"}
    return [make_fio_job(f"w{row['block_kib']}k-{row['queue_depth']}x{row['streams']}", group,
                         options, "write", make_job_section(float(row["iops"]), size,
                                                            read_table_row_latencies(row, "")))]


def make_read_jobs_beside_writer(group: int, row: Row) -> list[Json]:
    """Return a job of 4 KiB random reads, and one of a writer beside the reads, if there is any."""
    rate, depth = float(row["write_rate_mib"]) * (1 << 20) / BESIDE, row["read_queue_depth"]
    name = f"beside-{row['write_rate_mib']}-{depth}"
    jobs = [make_fio_job(name, group, {"rw": "randread", "bs": "4k", "iodepth": depth}, "read",
                         make_job_section(float(row["read_iops"]), 4096,
                                          read_table_row_latencies(row, "read_")))]
    if rate:
        options = {"rw": "write", "bs": str(BESIDE), "rate_iops": str(round(rate))}
        jobs.append(make_fio_job(f"{name}-writer", group, options, "write",
                                 make_job_section(rate, BESIDE, {"mean": 100.0})))
    return jobs


TABLES: dict[str, Callable[[int, Row], list[Json]]] = {
    "read-grid": make_random_read_jobs, "write-grid": make_sequential_write_jobs,
    "read-under-write": make_read_jobs_beside_writer}


def make_fio_jobs_of_measurement_table(drive: str, table: str) -> Iterator[list[Json]]:
    """Yield the fio jobs of each row, in a table of measurements, that calibration supports."""
    with (OWN_TABLES / f"{drive}-{table}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = TABLES[table](next(GROUPS), row)
            if found:
                yield found


def write_fitted_and_predicted_fio_loads(drive: str, tables: tuple[str, ...],
                                         folder: Path) -> tuple[Path, Path]:
    """Write every second load to a file that calibration fits, all others to one it predicts."""
    loads = [one for table in tables for one in make_fio_jobs_of_measurement_table(drive, table)]
    paths = folder / "fitted.json", folder / "against.json"
    for first, path in enumerate(paths):
        path.write_text(json.dumps(make_fio_document([one for load in loads[first::2] for one
                                                      in load])))
    return paths
