# SPDX-License-Identifier: GPL-2.0-only
"""What papers count that is no common measure: each from the counters of one run."""

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
    """Mean response of reads and writes together."""
    both = [look(run, "timing", f"{kind}_response") for kind in ("read", "write")]
    return ratio(sum(one["sum_ns"] for one in both), sum(one["count"] for one in both))


def program_energy(run: Json) -> float | None:
    """Energy of a program, on average."""
    return ratio(count(run, "program_energy_pj"), count(run, "array_programs"))


def lifetime(run: Json) -> float | None:
    """Erases of the blocks for each full erase of wear."""
    return ratio(run["blocks"]["erase_count"]["mean"], run["blocks"]["wear"]["mean"])


def moved_pages(run: Json) -> float:
    """Pages that the device has moved of itself."""
    return count(run, "programmed_gc_units") + count(run, "programmed_rewrite_units")


def host_pages(run: Json) -> float:
    """Pages of flash that host writes used up; a word line programmed again counts two."""
    modes = run["mode_pages"]
    return float(modes["normal"] + modes["mlc"] - count(run, "reprogrammed_pages")
                 - moved_pages(run))


def consumed_pages(run: Json) -> float:
    """Pages of flash that were used up."""
    return host_pages(run) + moved_pages(run)


def written_pages(run: Json) -> float:
    """Pages that were given to the devices to write."""
    raid = run.get("raid")
    if raid:
        return float(raid["data_write_units"] + raid["parity_write_units"])
    return count(run, "host_write_units")


def writes_per_erase(run: Json) -> float | None:
    """Pages written for each erase."""
    return ratio(written_pages(run), count(run, "array_erases"))


def collection_ns(run: Json) -> float:
    """Time that the flash spends on moves and erases."""
    return (count(run, "array_program_ns") - count(run, "host_program_ns")
            + count(run, "array_erase_ns"))


def parity_percent(run: Json) -> float | None:
    """Parity writes for each user write."""
    return ratio(look(run, "raid", "parity_write_units"), count(run, "host_write_units"), 100)


def in_checkerboard(run: Json) -> float:
    """Pages of blocks in strict turns: half of them are precise ones between approximate ones."""
    return 2 * float(run["mode_pages"]["between"])


def in_phase_2(run: Json) -> float:
    """Pages of blocks in two passes: half of them are precise ones after approximate ones."""
    return 2 * float(run["mode_pages"]["after"])


def in_precise(run: Json) -> float:
    """Pages of blocks that are filled with precise data in sequence."""
    return float(run["mode_pages"]["normal"])


def in_all_approximate(run: Json) -> float:
    """Approximate pages that no precise ones have joined; a phase that is not over counts, too."""
    modes = run["mode_pages"]
    return float(modes["reduced"] - modes["between"] - modes["after"])


def rewrite_percent(run: Json) -> float | None:
    """Re-writes for each page that the host accesses."""
    return ratio(count(run, "programmed_rewrite_units"),
                 count(run, "host_read_units") + count(run, "host_write_units"), 100)


def sensing_mean_ns(run: Json) -> float | None:
    """Array time of a page that is read, retries included."""
    return ratio(count(run, "array_read_ns"), count(run, "array_reads"))


def of_queue(index: int, *keys: str) -> Value:
    """Look up a number of a queue of the host, if there is that one."""
    def value(run: Json) -> float | None:
        queues = run.get("queues", [])
        return look(queues[index], *keys) if index < len(queues) else None
    return value


def queue_values() -> Iterator[tuple[str, Value]]:
    """Values of each queue that there can be."""
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
