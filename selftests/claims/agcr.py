# SPDX-License-Identifier: GPL-2.0-only
"""Claims of the paper about AGCR, computed or simulated."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from selftests.claims import census
from selftests.claims.real_traces import real_trace_directory, scratch_directory
from selftests.claims.register import Measured, pack_results
from selftests.claims.rows import (
    arithmetic_mean,
    compute_percent_reduction,
    format_numbers,
    get_result_measure,
    list_mean_responses,
    mean_response_us,
    pack_results_and_mean,
    read_counter,
    sensing_us_per_page,
)
from selftests.claims.runs import Json, run_two_streams_on_one_device
from selftests.claims.studies import list_record_files_of_trace_volumes, results_of_study

from approxftl_tools import aft


def compute_response_change_by_cost(state: str) -> tuple[float, float, float, float]:
    """Return changes (%) of read and write responses if all writes, or all reads, have low cost."""
    changes = []
    for runs in results_of_study("agcr-combinations", "trace", "costs", state=state).values():
        base, coarse, fine = map(list_mean_responses, runs.values())
        changes.append([100 * (a / b - 1) for a, b in zip((*coarse, *fine), base * 2, strict=True)])
    read_dear, write_cheap, read_cheap, write_dear = (
        arithmetic_mean(column) for column in zip(*changes, strict=True))
    return read_dear, write_cheap, read_cheap, write_dear


def measure_ag2_write_costs() -> list[Measured]:
    """Measure low-cost writes with high-cost reads, and the reverse; also on worn flash."""
    result = []
    for state in ("the profile's rate of errors", "worn"):
        read_dear, write_cheap, read_cheap, write_dear = compute_response_change_by_cost(state)
        result += [*map(pack_results, (write_cheap, read_cheap, write_dear - write_cheap,
                                       read_dear - read_cheap))]
    return result


def measure_ag3_page_classes() -> list[Measured]:
    """Count page classes of request streams; synthetic ones are made with the paper's shares."""
    found = [census.classify_pages(census.read_accesses_from_record_file(path))
             for path in list_record_files_of_trace_volumes().values()]
    return [pack_results_and_mean(100 * one.read_only_share for one in found),
            pack_results_and_mean(100 * one.write_only_share for one in found)]


def list_agcr_runs(state: str = "the profile's rate of errors") -> dict[str, dict[str, Json]]:
    """Return the runs of AGCR, of its ablations and of the policies compared, by volume name."""
    found = results_of_study("agcr-schemes", "trace", "scheme", state=state)
    return dict(zip(list_record_files_of_trace_volumes(), found.values(), strict=True))


def compute_latency_savings(scheme: str, rival: str,
                            state: str = "the profile's rate of errors") -> tuple[list[float],
                                                                                  list[float]]:
    """Return by how much a scheme shortens the response of reads and of writes, by volume."""
    pairs = [[compute_percent_reduction(a, b)
              for a, b in zip(list_mean_responses(runs[scheme]), list_mean_responses(runs[rival]),
                              strict=True)] for runs in list_agcr_runs(state).values()]
    reads, writes = zip(*pairs, strict=True)
    return [*reads], [*writes]


def measure_ag4_gain_over_other_policies() -> list[Measured]:
    """Measure AGCR against other policies; in short queues policy li writes most at high cost."""
    lost = sum(read_counter(run, "read_lost_units") for runs in list_agcr_runs("aged").values()
               for run in runs.values())
    reads, writes = compute_latency_savings("agcr", "traditional", "aged")
    return [
        *map(pack_results_and_mean, compute_latency_savings("agcr", "traditional")),
        *map(pack_results_and_mean, compute_latency_savings("agcr", "li")),
        pack_results(arithmetic_mean(reads), arithmetic_mean(writes),
                     holds=min(*reads, *writes) > 0 and not lost),
    ]


def measure_ag5_rewrites() -> list[Measured]:
    """Count AGCR's rewrites in idle time: of any data, or only of data written at low cost."""
    return [pack_results_and_mean([get_result_measure(runs[rule], "rewrite_percent")
                                   for runs in list_agcr_runs().values()], 2)
            for rule in ("agcr", "agcr, low")]


def measure_ag6_history_windows() -> list[Measured]:
    """Vary AGCR's history window; low-cost writes must go to write-only pages."""
    windows = results_of_study("agcr-windows", "trace", "history")
    accuracies, right = [], True
    for name, path in list_record_files_of_trace_volumes().items():
        accesses = census.read_accesses_from_record_file(path)
        found = [census.apply_agcr_rule(accesses, window) for window in range(3)]
        low = [run["mode_pages"]["coarse"] for run in windows[name.partition(" ")[2]].values()]
        accuracy = [100 * share_ for share_, _ in found]
        right = right and accuracy == sorted(set(accuracy)) and low == [n for _, n in found]
        accuracies.append(accuracy)
    return [pack_results(*map(arithmetic_mean, zip(*accuracies, strict=True)), holds=right)]


def measure_ag7_bytes_per_mapping_entry() -> list[Measured]:
    """Measure the bytes that AGCR adds to a mapping entry; return the device's geometry."""
    runs = results_of_study("agcr-memory")
    geo = runs["agcr"]["geometry"]
    more = (runs["agcr"]["memory_bytes"] - runs["traditional"]["memory_bytes"]) / geo["units"]
    return [pack_results(more, digits=3),
            pack_results(*(runs["agcr"]["parameters"][part]
                           for part in ("channels", "chips", "planes")), digits=0)]


def measure_read_of_written_data_us(policy: str, *pace: str) -> float:
    """Return the mean read response in us after a policy wrote the data at the given rate."""
    common = ("--size=8KiB", "--footprint=1%")
    run = run_two_streams_on_one_device(
        ("--profile=fast16", "--blocks=16", "--fill=none", f"--policy={policy}", *common, *pace,
         "--workload=sequential", "--write-share=100%", "--requests=12000"),
        ("--utilisation=10%", "--write-share=0", "--requests=50000", *common))
    return mean_response_us(run, "read")


def measure_ag8_slow_reads() -> list[Measured]:
    """Compare reads of data that policies agcr and li wrote, by depth; count low-cost writes."""
    changes = [compute_percent_reduction(*(measure_read_of_written_data_us(policy, pace)
                                           for policy in ("agcr", "li")))
               for pace in ("--utilisation=2%", "--depth=512")]
    low = [arithmetic_mean(run["mode_pages"]["coarse"] / read_counter(run,
                                                                      "host_write_units") * 100
                           for run in (by_scheme[scheme]
                                       for by_scheme in list_agcr_runs().values()))
           for scheme in ("li", "agcr")]
    return [*map(pack_results, changes), pack_results(*low)]


def copy_record_with_reads_as_writes(path: Path) -> Path:
    """Return a copy of a record file in which each read has become a write."""
    records, data = aft.open_record_file(path).records, bytearray(path.read_bytes())
    np.frombuffer(data, records.dtype, offset=len(data) - records.nbytes)["op"] = census.WRITE
    copy = scratch_directory() / f"writing-{path.name}"
    copy.write_bytes(data)
    return copy


def list_results_on_prewritten_devices(policy: str, *options: str) -> list[Json]:
    """Return runs of the AGCR talk's volumes on devices where POLICY wrote all data before.

    The data were written by the requests of the volume, at their pace but all as writes.
    """
    common = ("--whole-units", "--fold", "--arrival=trace")
    device = ("--profile=fast16", "--allocate=static", "--order=fcfs", "--fill=none",
              f"--blocks={2048 if real_trace_directory() else 16}", f"--policy={policy}", *options)
    return [run_two_streams_on_one_device((*device, *common,
                                           f"--trace={copy_record_with_reads_as_writes(path)}"),
                                          (*common, f"--trace={path}"))
            for path in list_record_files_of_trace_volumes("agcr-combinations").values()]


def measure_ag9_reads_of_written_data() -> list[Measured]:
    """Compare reads of data that AGCR wrote with those of data by two variants of policy li."""
    ours = list_results_on_prewritten_devices("agcr")
    rivals = (list_results_on_prewritten_devices("li"),
              list_results_on_prewritten_devices("li", "--program_fine=600us", "--read_fine=170us"))
    pairs = [[list_mean_responses(run) for run in runs] for runs in (ours, *rivals)]
    sensing = [arithmetic_mean(map(sensing_us_per_page, runs)) for runs in (*rivals, ours)]
    return [
        *(pack_results_and_mean(compute_percent_reduction(a[kind], b[kind])
                                for a, b in zip(pairs[0], rival, strict=True))
          for rival in pairs[1:] for kind in (0, 1)),
        pack_results(*sensing[1:], shown=format_numbers(sensing, 0)),
        pack_results_and_mean((get_result_measure(run, "rewrite_percent") for run in ours), 2),
    ]


def ablate_agcr() -> list[Measured]:
    """Ablate AGCR: mean response of reads and writes in us, percentage of rewritten data."""
    steps = ("traditional", "agcr, off", "agcr, low", "agcr")
    runs = [[by_scheme[scheme] for scheme in steps] for by_scheme in list_agcr_runs().values()]
    found = [[(*list_mean_responses(run), get_result_measure(run, "rewrite_percent"))
              for run in by_step]
             for by_step in zip(*runs, strict=True)]
    means = [tuple(map(arithmetic_mean, zip(*by_volume, strict=True))) for by_volume in found]
    checks = (
        all(b[1] < 0.85 * a[1] for a, b in zip(found[0], found[1], strict=True)),
        all(b[0] < a[0] for a, b in zip(found[1], found[2], strict=True)),
        all(b[0] < 0.7 * a[0] for a, b in zip(found[2], found[3], strict=True)),
    )
    cells = [f"{format_numbers(one[:2], 0)} {one[2]:.2f}" for one in means]
    return [pack_results(holds=holds, shown=f"from {cells[at]} to {cells[at + 1]}")
            for at, holds in enumerate(checks)]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "AG-2": measure_ag2_write_costs,
    "AG-3": measure_ag3_page_classes,
    "AG-4": measure_ag4_gain_over_other_policies,
    "AG-5": measure_ag5_rewrites,
    "AG-6": measure_ag6_history_windows,
    "AG-7": measure_ag7_bytes_per_mapping_entry,
    "AG-8": measure_ag8_slow_reads,
    "AG-9": measure_ag9_reads_of_written_data,
    "AG-A": ablate_agcr,
}
