# SPDX-License-Identifier: GPL-2.0-only
"""Measures that only papers use, each computed from the counters of one run."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from approxftl_tools.measures import MEASURES, compute_scaled_quotient, get_json_value_at_key_path

Json = dict[str, Any]
Value = Callable[[Json], float | None]


def counter_of_run(run: Json, name: str) -> float:
    return float(run["counters"][name])


def response_mean_ns(run: Json) -> float | None:
    """Return the mean response time of reads and writes together."""
    both = [get_json_value_at_key_path(run, "timing", f"{kind}_response")
            for kind in ("read", "write")]
    return compute_scaled_quotient(sum(one["sum_ns"] for one in both),
                                   sum(one["count"] for one in both))


def mean_program_energy(run: Json) -> float | None:
    return compute_scaled_quotient(counter_of_run(run, "program_energy_pj"),
                                   counter_of_run(run, "array_programs"))


def compute_ratio_of_erases_to_wear(run: Json) -> float | None:
    """Return how many erases of the run wear a block as much as one full-voltage erase."""
    return compute_scaled_quotient(run["blocks"]["erase_count"]["mean"],
                                   run["blocks"]["wear"]["mean"])


def count_relocated_units(run: Json) -> float:
    return counter_of_run(run, "programmed_gc_units") + counter_of_run(run,
                                                                       "programmed_rewrite_units")


def count_pages_consumed_by_host_writes(run: Json) -> float:
    """Return the pages that host writes consumed; a reprogrammed word line counts as two pages."""
    modes = run["mode_pages"]
    return float(modes["normal"] + modes["mlc"] - counter_of_run(run, "reprogrammed_pages")
                 - count_relocated_units(run))


def count_pages_consumed_by_all_writes(run: Json) -> float:
    """Return the pages that host writes and relocation consumed."""
    return count_pages_consumed_by_host_writes(run) + count_relocated_units(run)


def count_pages_written_to_devices(run: Json) -> float:
    """Return the pages that were written to a device, or to all members of a RAID array."""
    raid = run.get("raid")
    if raid:
        return float(raid["data_write_units"] + raid["parity_write_units"])
    return counter_of_run(run, "host_write_units")


def writes_per_erase(run: Json) -> float | None:
    """Return the pages written per erase."""
    return compute_scaled_quotient(count_pages_written_to_devices(run),
                                   counter_of_run(run, "array_erases"))


def gc_time_ns(run: Json) -> float:
    """Return the flash time (ns) of relocation and erases."""
    return (counter_of_run(run, "array_program_ns") - counter_of_run(run, "host_program_ns")
            + counter_of_run(run, "array_erase_ns"))


def compute_ratio_of_parity_to_user_writes(run: Json) -> float | None:
    """Return parity writes as a percentage of user writes."""
    return compute_scaled_quotient(get_json_value_at_key_path(run, "raid", "parity_write_units"),
                                   counter_of_run(run, "host_write_units"), 100)


def count_pages_of_half_approximate_blocks(run: Json) -> float:
    """Return the pages of ApproxFTL's checkerboard blocks; half of these pages are approximate."""
    return 2 * float(run["mode_pages"]["between"])


def count_pages_of_blocks_filled_in_two_phases(run: Json) -> float:
    """Return the pages in ApproxFTL's phase-2 blocks: half approximate, then half precise."""
    return 2 * float(run["mode_pages"]["after"])


def count_pages_of_precise_blocks(run: Json) -> float:
    """Return the pages programmed in the normal mode, in ApproxFTL's blocks of precise data."""
    return float(run["mode_pages"]["normal"])


def subtract_precise_from_approximate_pages(run: Json) -> float:
    """Return ApproxFTL's approximate pages minus the precise pages in the same blocks."""
    modes = run["mode_pages"]
    return float(modes["reduced"] - modes["between"] - modes["after"])


def compute_ratio_of_rewrites_to_host_accesses(run: Json) -> float | None:
    """Return the units that the policy AGCR rewrote, in percent of the units the host accessed."""
    return compute_scaled_quotient(counter_of_run(run, "programmed_rewrite_units"),
                                   counter_of_run(run, "host_read_units")
                                   + counter_of_run(run, "host_write_units"), 100)


def compute_mean_sensing_ns(run: Json) -> float | None:
    """Return the mean array time of a page read, including retries."""
    return compute_scaled_quotient(counter_of_run(run, "array_read_ns"),
                                   counter_of_run(run, "array_reads"))


def make_queue_statistic_reader(index: int, *keys: str) -> Value:
    """Return a function that reads a value of host queue `index` from a result, or None."""
    def read_queue_statistic(run: Json) -> float | None:
        queues = run.get("queues", [])
        return get_json_value_at_key_path(queues[index], *keys) if index < len(queues) else None
    return read_queue_statistic


def list_readers_of_queue_statistics() -> Iterator[tuple[str, Value]]:
    for index in range(8):
        yield f"queue_{index}_requests_per_s", make_queue_statistic_reader(index, "requests_per_s")
        yield f"queue_{index}_bytes_per_s", make_queue_statistic_reader(index, "bytes_per_s")
        for kind, what in itertools.product(("read", "write"), ("mean", "p50", "p99", "p99_9")):
            yield (f"queue_{index}_{kind}_response_{what}_ns",
                   make_queue_statistic_reader(index, f"{kind}_response", f"{what}_ns"))


VALUES: dict[str, Value] = {
    **{measure.key: measure.value for measure in MEASURES},
    "response_mean_ns": response_mean_ns,
    "program_energy_mean_pj": mean_program_energy,
    "lifetime": compute_ratio_of_erases_to_wear,
    "host_pages": count_pages_consumed_by_host_writes,
    "moved_pages": count_relocated_units,
    "consumed_pages": count_pages_consumed_by_all_writes,
    "writes_per_erase": writes_per_erase,
    "collection_ns": gc_time_ns,
    "parity_percent": compute_ratio_of_parity_to_user_writes,
    "rewrite_percent": compute_ratio_of_rewrites_to_host_accesses,
    "sensing_mean_ns": compute_mean_sensing_ns,
    "checkerboard": count_pages_of_half_approximate_blocks,
    "phase_2": count_pages_of_blocks_filled_in_two_phases,
    "precise": count_pages_of_precise_blocks,
    "all_approximate": subtract_precise_from_approximate_pages,
    **dict(list_readers_of_queue_statistics()),
}
