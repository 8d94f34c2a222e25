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


def quotient_of_counters(run: Json, dividend: str, divisor: str) -> float | None:
    return compute_scaled_quotient(counter_of_run(run, dividend), counter_of_run(run, divisor))


def response_mean_ns(run: Json) -> float | None:
    """Return the mean response time of reads and writes together."""
    both = [get_json_value_at_key_path(run, "timing", f"{kind}_response")
            for kind in ("read", "write")]
    return compute_scaled_quotient(sum(one["sum_ns"] for one in both),
                                   sum(one["count"] for one in both))


def count_relocated_units(run: Json) -> float:
    return counter_of_run(run, "programmed_gc_units") + counter_of_run(run,
                                                                       "programmed_rewrite_units")


def count_pages_consumed_by_host_writes(run: Json) -> float:
    """Return the pages that host writes consumed; a reprogrammed word line counts as two pages."""
    modes = run["mode_pages"]
    return float(modes["normal"] + modes["mlc"] - counter_of_run(run, "reprogrammed_pages")
                 - count_relocated_units(run))


def count_pages_written_to_devices(run: Json) -> float:
    """Return the pages that were written to a device, or to all members of a RAID array."""
    raid = run.get("raid")
    if raid:
        return float(raid["data_write_units"] + raid["parity_write_units"])
    return counter_of_run(run, "host_write_units")


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
    "program_energy_mean_pj": lambda run: quotient_of_counters(run, "program_energy_pj",
                                                               "array_programs"),
    # How many erases of the run wear a block as much as one full-voltage erase.
    "lifetime": lambda run: compute_scaled_quotient(run["blocks"]["erase_count"]["mean"],
                                                    run["blocks"]["wear"]["mean"]),
    "host_pages": count_pages_consumed_by_host_writes,
    "moved_pages": count_relocated_units,
    "consumed_pages": lambda run: (count_pages_consumed_by_host_writes(run)
                                   + count_relocated_units(run)),
    "writes_per_erase": lambda run: compute_scaled_quotient(count_pages_written_to_devices(run),
                                                            counter_of_run(run, "array_erases")),
    # Flash time of relocation and erases.
    "collection_ns": lambda run: (counter_of_run(run, "array_program_ns")
                                  - counter_of_run(run, "host_program_ns")
                                  + counter_of_run(run, "array_erase_ns")),
    "parity_percent": lambda run: compute_scaled_quotient(
        get_json_value_at_key_path(run, "raid", "parity_write_units"),
        counter_of_run(run, "host_write_units"), 100),
    # Units that the policy AGCR rewrote, in percent of the units that the host accessed.
    "rewrite_percent": lambda run: compute_scaled_quotient(
        counter_of_run(run, "programmed_rewrite_units"),
        counter_of_run(run, "host_read_units") + counter_of_run(run, "host_write_units"), 100),
    # Array time of a page read, including retries.
    "sensing_mean_ns": lambda run: quotient_of_counters(run, "array_read_ns", "array_reads"),
    # Pages of ApproxFTL's blocks: half of those in checkerboard blocks are approximate; phase-2
    # blocks are filled with approximate data up to the half, then with precise data.
    "checkerboard": lambda run: 2 * float(run["mode_pages"]["between"]),
    "phase_2": lambda run: 2 * float(run["mode_pages"]["after"]),
    "precise": lambda run: float(run["mode_pages"]["normal"]),
    # Approximate pages minus the precise pages in the same blocks.
    "all_approximate": lambda run: float(run["mode_pages"]["reduced"]
                                         - run["mode_pages"]["between"]
                                         - run["mode_pages"]["after"]),
    **dict(list_readers_of_queue_statistics()),
}
