# SPDX-License-Identifier: GPL-2.0-only
"""Read the sections of a fio job file, and estimate how much a job reads and writes."""

from collections.abc import Iterator
from pathlib import Path

from approxftl_tools.fio_output import parse_fio_size
from approxftl_tools.refusal import convert_read_errors_to_refusal

#: Request rate (1/s) assumed for a job that runs for a given time at no given rate.
USUAL_RATE = "10000"


def parse_job_sections(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the sections of a fio job file, including [global]."""
    name, options = "", dict[str, str]()
    with convert_read_errors_to_refusal(path):
        text = path.read_text("utf-8")
    for line in [*text.splitlines(), "[]"]:
        setting = line.partition(";")[0].strip()
        if setting.startswith("["):
            if name:
                yield name, options
            name, options = setting[1:-1], {}
        elif setting:
            key, _, value = setting.partition("=")
            options[key] = value


def list_jobs_with_all_options(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the jobs of a job file, each with the options of [global] that it does not change."""
    (_, shared), *jobs = parse_job_sections(path)
    return [(name, {**shared, **options}) for name, options in jobs]


def count_job_requests(options: dict[str, str], capacity: int) -> int:
    """Return the number of requests of a job on a drive of the given capacity in bytes."""
    whole = capacity // parse_fio_size(options.get("bs", "4k"))
    if "number_ios" in options:
        return min(int(options["number_ios"]), whole)
    if "runtime" in options:
        return int(options["runtime"]) * int(options.get("rate_iops", USUAL_RATE))
    part = float(options.get("io_size", "100%").rstrip("%")) / 100
    return int(whole * part * int(options.get("loops", "1")))


def count_bytes_of_job_file(path: Path, capacity: int) -> int:
    """Return about how many bytes the jobs of a file read and write."""
    return sum(count_job_requests(options, capacity) * parse_fio_size(options.get("bs", "4k"))
               for _, options in list_jobs_with_all_options(path))
