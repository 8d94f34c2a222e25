# SPDX-License-Identifier: GPL-2.0-only
"""Measures that only papers use, each computed from the counters of one run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from approxftl_tools.measures import MEASURES, look, ratio

Json = dict[str, Any]
Value = Callable[[Json], float | None]


def count(run: Json, name: str) -> float:
    """Return a counter."""
    return float(run["counters"][name])


def response_mean_ns(run: Json) -> float | None:
    """Return the mean response time of reads and writes together."""
    both = [look(run, "timing", f"{kind}_response") for kind in ("read", "write")]
    return ratio(sum(one["sum_ns"] for one in both), sum(one["count"] for one in both))


def program_energy(run: Json) -> float | None:
    """Return the mean energy of a program."""
    return ratio(count(run, "program_energy_pj"), count(run, "array_programs"))


def lifetime(run: Json) -> float | None:
    """Return erases of the blocks per full erase of wear."""
    return ratio(run["blocks"]["erase_count"]["mean"], run["blocks"]["wear"]["mean"])


def moved_pages(run: Json) -> float:
    """Return the pages that the device relocated."""
    return count(run, "programmed_gc_units") + count(run, "programmed_rewrite_units")


def host_pages(run: Json) -> float:
    """Return the pages consumed by host writes; a reprogrammed word line counts two."""
    modes = run["mode_pages"]
    return float(modes["normal"] + modes["mlc"] - count(run, "reprogrammed_pages")
                 - moved_pages(run))


def consumed_pages(run: Json) -> float:
    """Return the pages consumed by host writes and relocation."""
    return host_pages(run) + moved_pages(run)


def written_pages(run: Json) -> float:
    """Return the pages that the host, or the RAID array, wrote to devices."""
    raid = run.get("raid")
    if raid:
        return float(raid["data_write_units"] + raid["parity_write_units"])
    return count(run, "host_write_units")


def writes_per_erase(run: Json) -> float | None:
    """Return the pages written per erase."""
    return ratio(written_pages(run), count(run, "array_erases"))


def collection_ns(run: Json) -> float:
    """Return the flash time (ns) of relocation and erases."""
    return (count(run, "array_program_ns") - count(run, "host_program_ns")
            + count(run, "array_erase_ns"))


def parity_percent(run: Json) -> float | None:
    """Return parity writes as a percentage of user writes."""
    return ratio(look(run, "raid", "parity_write_units"), count(run, "host_write_units"), 100)


def in_checkerboard(run: Json) -> float:
    """Return the pages of strictly alternating blocks: half are precise, the others approximate."""
    return 2 * float(run["mode_pages"]["between"])


def in_phase_2(run: Json) -> float:
    """Return the pages of two-pass blocks: half are precise, after approximate ones."""
    return 2 * float(run["mode_pages"]["after"])


def in_precise(run: Json) -> float:
    """Return the pages of blocks that hold precise data in sequence."""
    return float(run["mode_pages"]["normal"])


def in_all_approximate(run: Json) -> float:
    """Return approximate pages not joined by precise ones; an unfinished phase counts, too."""
    modes = run["mode_pages"]
    return float(modes["reduced"] - modes["between"] - modes["after"])


def rewrite_percent(run: Json) -> float | None:
    """Return rewrites as a percentage of the pages that the host accesses."""
    return ratio(count(run, "programmed_rewrite_units"),
                 count(run, "host_read_units") + count(run, "host_write_units"), 100)


def sensing_mean_ns(run: Json) -> float | None:
    """Return the mean array time of a page read, including retries."""
    return ratio(count(run, "array_read_ns"), count(run, "array_reads"))


def of_queue(index: int, *keys: str) -> Value:
    """Return a function that looks up a number of a host queue; None without that queue."""
    def value(run: Json) -> float | None:
        queues = run.get("queues", [])
        return look(queues[index], *keys) if index < len(queues) else None
    return value


def queue_values() -> Iterator[tuple[str, Value]]:
    """Yield the values of each possible queue."""
    for index in range(8):
        yield f"queue_{index}_requests_per_s", of_queue(index, "requests_per_s")
        yield f"queue_{index}_bytes_per_s", of_queue(index, "bytes_per_s")
        for kind, what in itertools.product(("read", "write"), ("mean", "p50", "p99", "p99_9")):
            yield (f"queue_{index}_{kind}_response_{what}_ns",
                   of_queue(index, f"{kind}_response", f"{what}_ns"))


VALUES: dict[str, Value] = {
    **{measure.key: measure.value for measure in MEASURES},
    "response_mean_ns": response_mean_ns,
    "program_energy_mean_pj": program_energy,
    "lifetime": lifetime,
    "host_pages": host_pages,
    "moved_pages": moved_pages,
    "consumed_pages": consumed_pages,
    "writes_per_erase": writes_per_erase,
    "collection_ns": collection_ns,
    "parity_percent": parity_percent,
    "rewrite_percent": rewrite_percent,
    "sensing_mean_ns": sensing_mean_ns,
    "checkerboard": in_checkerboard,
    "phase_2": in_phase_2,
    "precise": in_precise,
    "all_approximate": in_all_approximate,
    **dict(queue_values()),
}
