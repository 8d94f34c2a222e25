# SPDX-License-Identifier: GPL-2.0-only
"""Claims of the paper about ApproxFTL, computed or simulated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from selftests.claims import classifiers
from selftests.claims.real_traces import real_trace_directory
from selftests.claims.register import Measured, pack_results
from selftests.claims.rows import (
    arithmetic_mean,
    array_program_us_per_host_unit,
    compute_percent_reduction,
    compute_percent_reduction_or_nan,
    get_result_measure,
    host_program_us_per_page,
    lifetime_gain_percent,
    list_mutants_that_disable_rules,
    mean_response_us,
    pack_results_and_mean,
    read_counter,
)
from selftests.claims.runs import Json, falsified_settings, simulate_with_timeline
from selftests.claims.studies import results_of_study

ALL = ("baseline", "delta_b", "vth_b", "approxftl")
CLASSES = ("precise", "approximate")
SHARES = ("0%", "10%", "30%", "50%", "70%", "100%")


def run_policy_on_one_die(policy: str, shares: Sequence[str] = SHARES) -> list[Json]:
    """Return runs of a policy on one die, by the share of approximate pages (at random lpns)."""
    found = results_of_study("approx-one-die", "approx-share", policy=policy)
    return [found[share] for share in shares]


def solve_linear_equations(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solve linear equations exactly, each row ending with its right side; [] if singular."""
    for i in range(len(rows)):
        pivot = next((j for j in range(i, len(rows)) if rows[j][i]), None)
        if pivot is None:
            return []
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(len(rows)):
            if j != i:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [equation[-1] for equation in rows]


def solve_for_program_mode_times_us(policy: str, modes: Sequence[str],
                                    shares: Sequence[str]) -> list[float]:
    """Return the time (us) of each program mode, solved from as many runs as there are modes."""
    runs = run_policy_on_one_die(policy, shares)
    equations = [
        [Fraction(run["mode_pages"][mode]) for mode in modes]
        + [Fraction(read_counter(run, "array_program_ns"), 1000)]
        for run in runs
    ]
    # A mode that never occurs has no time; NaN fails every tolerance.
    return [float(value) for value in solve_linear_equations(equations)] or [math.nan] * len(modes)


def do_program_modes_match_block_kinds(run: Json) -> bool:
    """Tell whether closed blocks have only pages in the program modes of their block kind."""
    pages = {kind: count["pages"] for kind, count in run["block_kinds"].items()}
    modes = run["mode_pages"]
    one_block = run["geometry"]["pages_per_block"]
    half = pages["checkerboard"] / 2
    rest = {
        "normal": modes["normal"] - pages["precise"],
        "reduced": modes["reduced"] - half - pages["all_approx"],
        "fast": modes["between"] + modes["after"] - half,
    }
    limits = {"normal": one_block, "reduced": 3 * one_block, "fast": one_block}
    return all(0 <= rest[name] <= limits[name] for name in rest)


def measure_ax1_program_times() -> list[Measured]:
    """Measure the program times of ApproxFTL's four program modes, and of coarse ISPP steps."""
    modes = ("normal", "between", "after", "reduced")
    ours = [*solve_for_program_mode_times_us("approxftl", modes, SHARES[1:-1]),
            solve_for_program_mode_times_us("delta_b", ("normal", "coarse"), ("30%", "70%"))[1]]
    kinds = all(map(do_program_modes_match_block_kinds, run_policy_on_one_die("approxftl")))
    return [pack_results(*ours),
            pack_results(shown="always" if kinds else "not always", holds=kinds)]


def run_approxftl_with_gc() -> Json:
    """Return ApproxFTL's run with garbage collection and half of the data tagged."""
    run: Json = results_of_study("approx-collected", tags="0.5", policy="approxftl")["approxftl"]
    return run


def measure_ax2_illegal_placements() -> list[Measured]:
    """Count the placements that the core refused in runs, and audit the devices after the runs."""
    runs = [run_approxftl_with_gc(), *run_policy_on_one_die("approxftl", ["50%"])]
    bugs = sum(read_counter(run, "policy_bugs") for run in runs)
    verified = all(run["verified"] for run in runs)
    return [pack_results(bugs, holds=bugs == 0 and verified,
                         shown=f"{bugs} refused, audit {'clean' if verified else 'failed'}")]


def measure_ax3_service_time() -> list[Measured]:
    """Measure the saving of service time, and the share of pages in mixed (checkerboard) blocks."""
    result = []
    for policy in ALL[1:]:
        ours = [compute_percent_reduction(host_program_us_per_page(run),
                                          host_program_us_per_page(base))
                for run, base in zip(run_policy_on_one_die(policy),
                                     run_policy_on_one_die("baseline"), strict=True)]
        # Even without tags, the first position of a checkerboard block may take a precise page.
        result.append(pack_results(*ours, holds=abs(ours[0]) < 0.001))
    return result + [
        pack_results(*(compute_share_of_checkerboard_pages(run)
                       for share, run in results_of_study(name, "approx-share",
                                                          policy="approxftl").items()
                       if share not in ("0%", "100%")))
        for name in ("approx-one-die", "approx-runs")
    ]


def compute_share_of_checkerboard_pages(run: Json) -> float:
    """Return the share of pages in checkerboard blocks, half of whose pages are precise."""
    modes = run["mode_pages"]
    return 200 * float(modes["between"] / sum(modes.values()))


def measure_ax4_write_response() -> list[Measured]:
    """Measure the response time of writes that queue."""
    result = []
    for use, runs in results_of_study("approx-queues", "utilisation", "policy").items():
        means = [mean_response_us(runs[policy], "write") for policy in ALL]
        cuts = [compute_percent_reduction(mean, means[0]) for mean in means]
        busy = runs["baseline"]["luns"]["mean_utilisation"]
        ordered = means == sorted(means, reverse=True) and len(set(means)) == len(means)
        result.append(pack_results(cuts[3], shown=f"{cuts[3]:.1f} > {cuts[2]:.1f} > {cuts[1]:.1f}",
                                   holds=ordered and abs(busy - float(use[:-1]) / 100) <= 0.01))
    return result


def compute_latency_reductions(runs: dict[str, Json]) -> tuple[float, float]:
    """Return by how much ApproxFTL shortens the responses of reads and of writes in percent."""
    read, write = (compute_percent_reduction_or_nan(*(mean_response_us(runs[policy], kind)
                                                      for policy in ("approxftl", "baseline")))
                   for kind in ("read", "write"))
    return read, write


def measure_ax5_read_response() -> list[Measured]:
    """Measure the response time of reads, which wait behind writes."""
    found = results_of_study("approx-reads", "utilisation", "order", "write-share", "policy")
    by_order = {order: {share: compute_latency_reductions(runs) for share, runs in by_share.items()}
                for order, by_share in found["60%"].items()}
    busy, in_turn = by_order["read_first"], by_order["fcfs"]
    light = {share: compute_latency_reductions(runs)
             for share, runs in found["2%"]["read_first"].items()}
    less = [write - read for read, write in (busy["50%"], in_turn["50%"])]
    few, _ = busy["90%"]
    return [
        *(pack_results(read, shown=f"{read:.1f}; in turn {in_turn[share][0]:.1f}")
          for share, (read, _) in busy.items() if share in in_turn),
        pack_results(busy["0%"][0]),
        pack_results(few, shown=f"{few:.1f}; 2 % busy: {light['90%'][0]:.1f}"),
        pack_results(less[0], shown=f"{less[0]:.1f}; in turn {less[1]:.1f}"),
    ]


def compute_low_voltage_erase_share(run: Json) -> float:
    return read_counter(run, "array_low_erases") / read_counter(run, "array_erases")


def measure_ax6_lifetime() -> list[Measured]:
    """Measure lifetimes from the wear of the blocks and the counted share of low-voltage erases."""
    gains: dict[str, list[float]] = {"vth_b": [], "approxftl": []}
    far = []
    for runs in results_of_study("approx-collected", "tags", "policy").values():
        # The fill erases nothing, so the counters of the run include all erases that wore blocks.
        for policy, run in runs.items():
            gains[policy].append(lifetime_gain_percent(run))
            far.append(abs(lifetime_gain_percent(run)
                           - 100 * (1 / (1 - 0.38 * compute_low_voltage_erase_share(run)) - 1)))
    over = [a - b for a, b in zip(*gains.values(), strict=True)]
    return [pack_results(max(far), digits=2), pack_results(*gains["approxftl"]),
            pack_results(*over, holds=min(over) > 0)]


def measure_ax7_energy() -> list[Measured]:
    """Measure the energy of erases and programs, and that of a whole run."""
    run = run_approxftl_with_gc()
    runs = results_of_study("approx-one-die", approx_share="50%")
    far = []
    for policy in ALL[1:]:
        energy = compute_percent_reduction(*(get_result_measure(runs[name],
                                                                "program_energy_mean_pj")
                                             for name in (policy, "baseline")))
        far.append(abs(energy - compute_percent_reduction(*(host_program_us_per_page(runs[name])
                                                            for name in (policy, "baseline")))))
    tagged = results_of_study("approx-tags", "stream", "policy",
                              stream=["50 % in runs of 64", "50 % in runs of 1"])
    total = [[compute_percent_reduction(*(by_policy[name]["energy"]["total_pj"]
                                          for name in ("approxftl", policy))) for policy in ALL[:3]]
             for by_policy in (runs, tagged["50 % in runs of 64"], tagged["50 % in runs of 1"])]
    erase = read_counter(run, "erase_energy_pj") / read_counter(run, "array_erases") / 1e6
    return [pack_results(erase, digits=2), pack_results(max(far), digits=2),
            *(pack_results(*cuts) for cuts in total), pack_results(total[-1][0])]


def count_copies_per_approximate_page(run: Json) -> float:
    """Return the mean number of approximate copies per page of initially approximate data.

    The mean is lower than the copies allowed for a single page; the C tests follow single pages.
    """
    copies: int = run["class_pages"]["approximate"]
    units: int = run["geometry"]["units"]
    return copies / units


def measure_ax8_bit_errors() -> list[Measured]:
    """Measure bit error rates, which are drawn for each read, and count copies."""
    flipped = [read_counter(run, "read_flipped_bits") / read_counter(run, "read_approx_units")
               / 65536 for run in results_of_study("approx-fresh").values()]
    copies = [*map(count_copies_per_approximate_page,
                   results_of_study("approx-promotion", "promote").values())]
    bounded = all(low <= value <= low + 1 for low, value in zip((-1, 0, 1), copies, strict=True))
    return [pack_results(*(1e4 * rate for rate in flipped), digits=2),
            pack_results(*copies, digits=3, holds=bounded)]


def list_write_amplifications(runs: dict[str, Json]) -> list[float]:
    """Return the write amplification of Baseline and of ApproxFTL."""
    return [runs[name]["write_amplification"]["total"] for name in ("baseline", "approxftl")]


def measure_ax9_amplification() -> list[Measured]:
    """Measure ApproxFTL's change of write amplification on skewed loads and a half-size device."""
    loads = [*results_of_study("approx-skewed", "stream", "policy", blocks=1024).values(),
             results_of_study("approx-skewed", blocks=512)]
    changes = [100 * (ours / base - 1) for base, ours in map(list_write_amplifications, loads)]
    unsorted = ([-compute_percent_reduction_or_nan(*(runs[name]["write_amplification"]["total"]
                                                     for name in (policy, "baseline")))
                 for runs in loads[:3]]
                for policy in ("delta_b", "vth_b"))
    base, by_age = list_write_amplifications(results_of_study(
        "approx-skewed", given={"set": "hot_age=40s"}, stream="80 % on 20 %", blocks=1024,
        policy=["baseline", "approxftl"]))
    return [*map(pack_results, changes), *(pack_results(*change) for change in unsorted),
            pack_results(100 * (by_age / base - 1))]


def measure_ax10_accuracy() -> list[Measured]:
    """Measure the loss of accuracy on flipped bytes, floats, and mantissas, by classifier."""
    run = results_of_study("approx-fresh")["approxftl"]
    rate = read_counter(run, "read_flipped_bits") / read_counter(run,
                                                                 "read_approx_units") / 65536
    return [pack_results(*classifiers.measure_accuracy_losses(rate, kind, bits))
            for kind, bits in (("u1", 8), ("f4", classifiers.ALL_BITS),
                               ("f4", classifiers.MANTISSA))]


def compute_wear_excess_percent(study: str, **where: Any) -> float:
    """Return the percentage by which maximum / mean wear exceeds that of least-worn-first."""
    own = Step.extract_ablation_measures(results_of_study(study, policy="approxftl",
                                                          **where)["approxftl"])
    with falsified_settings(mutants=list_mutants_that_disable_rules("approx-least-worn")):
        runs = results_of_study(study, policy="approxftl", **where)
        ideal = Step.extract_ablation_measures(runs["approxftl"])
    return 100 * (own.peak / ideal.peak - 1)


def measure_ax12_wear_rule() -> list[Measured]:
    """Compare ApproxFTL's choice of free blocks with one that always opens the least worn block."""
    return [pack_results(compute_wear_excess_percent("approx-collected", tags="0.5")),
            pack_results(compute_wear_excess_percent("approx-rules", load="for the wear rule"))]


def compute_share_of_fast_writes(run: Json, limit_ns: float) -> float:
    """Return the share of writes (%) in a histogram with at most the given response time."""
    bins: list[list[int]] = run["timing"]["write_response"]["bins"]
    return 100 * sum(n for top, n in bins if top <= limit_ns) / sum(n for _, n in bins)


def measure_largest_write_responses(runs: dict[str, Json]) -> list[Measured]:
    """Compare ApproxFTL with Baseline: largest write response, and share of short responses."""
    ours, largest = (runs[name]["timing"]["write_response"]["max_ns"]
                     for name in ("approxftl", "baseline"))
    return [pack_results(100 * ours / largest),
            pack_results(*(compute_share_of_fast_writes(runs[name], 0.269 * largest)
                           for name in ("approxftl", "baseline")))]


def measure_ax13_burst_responses() -> list[Measured]:
    """Measure the response times of writing an image in one burst."""
    return measure_largest_write_responses(results_of_study("approx-burst"))


def measure_ax14_energy_and_lifetime() -> list[Measured]:
    """Measure energy and lifetime at the share of approximate data that Fig. 9 implies."""
    found = results_of_study("approx-implied", "load", "policy")
    base, *others = (found["much space"][policy]["energy"]["total_pj"] for policy in ALL)
    cuts = [compute_percent_reduction(energy, base) for energy in others]
    return [*map(pack_results, cuts[:2]),
            pack_results(lifetime_gain_percent(found["a small full device"]["approxftl"])),
            pack_results(cuts[2])]


def list_classes_of_disturbing_neighbours(block: Json, pages_of_layer: int, page: int) -> list[str]:
    """Return the data classes of a page's neighbours that are programmed after the page."""
    classes = block["class"]

    def get_program_order_of_page(at: int) -> tuple[bool, int]:
        # In two phases all approximate pages are programmed before the precise ones.
        return "after" in block["mode"] and classes[at] == "precise", at

    row = page // pages_of_layer
    near = [at for at in (page - 1, page + 1) if at // pages_of_layer == row]
    near += [at for at in (page - pages_of_layer, page + pages_of_layer)
             if 0 <= at < len(classes)]
    return [classes[at] for at in near
            if get_program_order_of_page(at) > get_program_order_of_page(page)]


def measure_ax15_disturbing_neighbours() -> list[Measured]:
    """Count the neighbours programmed after a page, by block's write order and page's class."""
    run = results_of_study("approx-layout")["approxftl"]
    pages_of_layer = run["geometry"]["word_lines_per_layer"]
    found: dict[tuple[str, str], list[list[str]]] = {}
    for block in run["page_maps"]:
        order = "two phases" if "after" in block["mode"] else block["kind"]
        for page, kind in enumerate(block["class"]):
            found.setdefault((order, kind), []).append(
                list_classes_of_disturbing_neighbours(block, pages_of_layer, page))

    def find_max_count_of_disturbing_neighbours(order: str, kind: str,
                                                of: Sequence[str] = CLASSES) -> float:
        return max((sum(map(near.count, of)) for near in found.get((order, kind), [])),
                   default=math.nan)

    board = "checkerboard"
    return [
        pack_results(find_max_count_of_disturbing_neighbours(board, "precise"),
                     find_max_count_of_disturbing_neighbours(board, "precise", ["precise"]),
                     digits=0),
        pack_results(find_max_count_of_disturbing_neighbours("two phases", "precise"), digits=0),
        pack_results(find_max_count_of_disturbing_neighbours("precise", "precise", ["precise"]),
                     digits=0),
        pack_results(find_max_count_of_disturbing_neighbours(board, "approximate", ["precise"]),
                     digits=0),
        pack_results(find_max_count_of_disturbing_neighbours("two phases", "approximate"),
                     digits=0),
    ]


def count_open_blocks_of_die(run: Json) -> int:
    """Return the number of blocks of a run's only die that are neither free nor full."""
    full = sum(kind["blocks"] for kind in run["block_kinds"].values())
    count: int = run["blocks"]["good"] - sum(run["luns"]["free_blocks"]) - full
    return count


def measure_ax16_open_blocks() -> list[Measured]:
    """Count the open blocks of a die after twenty runs of different lengths."""
    opened = [count_open_blocks_of_die(results_of_study("approx-layout", given={
        "requests": requests, "approx-run": 64})["approxftl"])
        for requests in range(2001, 30001, 1400)]
    return [pack_results(min(opened), max(opened), digits=0)]


@dataclass
class Replay:
    """Blocks of a device, each rebuilt from a run's operations after the block's first erase."""

    #: Program mode of each page, and most approximate writes of a page, by block.
    modes: dict[int, dict[int, str]]
    writes: Counter[int]
    #: Class of the first page in each use of a block as a checkerboard, by block.
    first: dict[int, list[str]]
    victim: int = -1

    def erase_block(self, block: int, pages: int) -> None:
        used = self.modes.pop(block, {})
        if len(used) == pages and {"between", "after"} & {*used.values()}:
            self.first.setdefault(block, []).append(used[0])
        elif {*used.values()} == {"reduced"}:
            # Whether this block began as a checkerboard cannot be told.
            self.first.setdefault(block, []).append("")
        self.writes.pop(block, None)

    def program_pages(self, block: int, pages: range, mode: str, copied: bool) -> None:
        self.modes.setdefault(block, {}).update(dict.fromkeys(pages, mode))
        if mode == "reduced":
            before = self.writes[self.victim] if copied else 0
            self.writes[block] = max(self.writes[block], before + 1)


def count_disturbing_neighbours_with_baseline() -> int:
    """Return how many neighbours of a page Baseline programs after the page, at most."""
    report, events = simulate_with_timeline(
        "--profile=tcad18", "--policy=baseline", "--size=8KiB", "--channels=1", "--chips=1",
        "--blocks=128", "--fill=none", "--write-share=100%", "--requests=4000")
    row, turns = report["geometry"]["word_lines_per_layer"], {
        (event["args"]["block"], event["args"]["page"]): turn for turn, event in enumerate(events)}
    return max(sum(turns.get((block, near), -1) > turn
                   for near in (page - row, page + row,
                                *(at for at in (page - 1, page + 1) if at // row == page // row)))
               for (block, page), turn in turns.items())


def measure_ax18_class_changes_of_blocks() -> list[Measured]:
    """Count class changes of checkerboards' first pages, and approximate writes of one unit."""
    report, events = simulate_with_timeline(
        "--profile=tcad18", "--policy=approxftl", "--size=8KiB", "--channels=1", "--chips=1",
        "--blocks=128", "--word_lines=4", "--op=25%", "--fill=none", "--write-share=100%",
        "--approx-share=50%", "--hot-share=95%", "--hot-range=5%", "--requests=60000")
    replay, most = Replay({}, Counter(), {}), 0
    for event in events:
        block, page, count = (event["args"][key] for key in ("block", "page", "pages"))
        if event["name"] == "erase":
            replay.erase_block(block, report["geometry"]["pages_per_block"])
        elif event["name"] == "read":
            replay.victim = block
        else:
            replay.program_pages(block, range(page, page + count), event["name"].split()[1],
                                 event["cat"] == "gc")
            most = max(most, replay.writes[block])
    pairs = [pair for uses in replay.first.values() for pair in pairwise(uses) if all(pair)]
    changed = sum((a == "reduced") != (b == "reduced") for a, b in pairs)
    return [pack_results(100 * changed / len(pairs), digits=0), pack_results(most, digits=0),
            pack_results(count_disturbing_neighbours_with_baseline(), digits=0)]


APPS = ("fft", "smm", "lu", "sor", "img", "vid")


def list_application_runs(dies: str, rule: str) -> dict[str, dict[str, Json]]:
    """Return runs of captured applications; RULE, "size" or "age", says which writes are hot."""
    return results_of_study("approx-apps", "app", "policy", dies=dies, rule=rule)


def compute_app_response_reductions(dies: str, rule: str) -> tuple[float, float]:
    """Return by how much ApproxFTL shortens reads and writes, as a mean over six applications."""
    runs = list_application_runs(dies, rule)
    read, write = (arithmetic_mean(cuts) for cuts in zip(*(compute_latency_reductions(runs[app])
                                                           for app in APPS), strict=True))
    return read, write


def compare_write_saving_with_policy_vth_b(runs: dict[str, Json]) -> float:
    """Return by how many percentage points more than policy vth_b ApproxFTL shortens writes."""
    base, vth_b, ours = (mean_response_us(runs[name], "write")
                         for name in ("baseline", "vth_b", "approxftl"))
    return compute_percent_reduction(ours, base) - compute_percent_reduction(vth_b, base)


def measure_ax17_applications() -> list[Measured]:
    """Replay our annotated applications on 1 to 32 dies; small or recently written data are hot."""
    rules = ("size", "age")
    cuts = [zip(*(compute_app_response_reductions(dies, rule) for dies in "1248"), strict=True)
            for rule in rules]
    by_rule = [list_application_runs("4", rule) for rule in rules]
    energy = {app: compute_percent_reduction(*(by_rule[0][app][policy]["energy"]["total_pj"]
                                               for policy in ("approxftl", "baseline")))
              for app in APPS}
    again = [list_application_runs("1, again", rule) for rule in rules]
    many, few = (compute_latency_reductions(runs["mc"])[0]
                 for runs in (list_application_runs("32", "size"), by_rule[0]))
    return [
        *(pack_results(*means) for pair in cuts for means in pair),
        *(pack_results(cut) for cut in compute_app_response_reductions("32", "size")),
        *(pack_results(*(compare_write_saving_with_policy_vth_b(runs[app]) for app in APPS))
          for runs in by_rule),
        *(pack_results_and_mean(lifetime_gain_percent(runs[app]["vth_b"])
                                - lifetime_gain_percent(runs[app]["approxftl"]) for app in APPS)
          for runs in again),
        pack_results_and_mean(energy.values()),
        pack_results(energy["smm"], holds=min(energy, key=energy.__getitem__) == "smm"),
        pack_results(*(compute_share_of_checkerboard_pages(by_rule[1][app]["approxftl"])
                       for app in APPS)),
        pack_results(few, shown=f"{few:.1f}; on 32 dies: {many:.1f}"),
        *measure_largest_write_responses(by_rule[0]["img"]),
    ]


def measure_ax_averages_on_tagged_traces() -> list[Measured]:
    """Measure the paper's averages on synthetic streams with tags, or on tagged real traces."""
    found: dict[str, list[float]] = {}
    streams = (results_of_study("approx-traces", "trace", "policy") if real_trace_directory() else
               results_of_study("approx-tags", "stream", "policy",
                                policy=["baseline", "approxftl"]))
    for runs in streams.values():
        base, ours = runs["baseline"], runs["approxftl"]
        for what, value in (
            ("write", compute_percent_reduction_or_nan(*(mean_response_us(r, "write")
                                                         for r in (ours, base)))),
            ("read", compute_percent_reduction_or_nan(*(mean_response_us(r, "read")
                                                        for r in (ours, base)))),
            ("energy",
             compute_percent_reduction_or_nan(*(r["energy"]["total_pj"] for r in (ours, base)))),
            ("lifetime",
             lifetime_gain_percent(ours) if read_counter(ours, "array_erases") else math.nan),
            ("amplification",
             compute_percent_reduction_or_nan(*(r["write_amplification"]["total"]
                                                for r in (ours, base)))),
        ):
            found.setdefault(what, []).append(value)
    ends = [[min(found[what]), max(found[what])] for what in ("write", "energy")]
    return [*map(pack_results_and_mean, found.values()), *(pack_results(*pair) for pair in ends)]


# The enhancements of ApproxFTL, from the last to the first. With all of them switched off except
# its promotion rule, ApproxFTL does the same as Vth_b.
ENHANCEMENTS = ("approx-no-checkerboard", "approx-no-two-phase", "approx-no-wear-rule",
                "approx-precise-copied-first", "approx-one-pool")


@dataclass(frozen=True)
class Step:
    """The measures of one ablation step of ApproxFTL."""

    host_us: float
    all_us: float
    amplification: float
    lifetime: float
    peak: float

    @classmethod
    def extract_ablation_measures(cls, run: Json) -> Step:
        """Extract the measures of an ablation step from a run."""
        wear = run["blocks"]["wear"]
        return cls(host_program_us_per_page(run), array_program_us_per_host_unit(run),
                   run["write_amplification"]["total"],
                   lifetime_gain_percent(run), wear["max"] / wear["mean"])

    @property
    def relocation_program_us(self) -> float:
        """Return the mean program time of relocated data in us."""
        return (self.all_us - self.host_us) / (self.amplification - 1)

    def format_ablation_measures(self) -> str:
        """Format the measures of an ablation step for a cell of the table."""
        return (f"{self.host_us:.1f} {self.all_us:.0f} {self.amplification:.3f} "
                f"{self.lifetime:.1f} {self.peak:.2f}")


def run_policy_without_enhancements(policy: str, *missing: str) -> Step:
    """Run a policy without some enhancements on hot and cold data, half of it approximate."""
    with falsified_settings(mutants=list_mutants_that_disable_rules(*missing)):
        return Step.extract_ablation_measures(results_of_study("approx-skewed", policy=policy,
                                                               stream="80 % on 20 %",
                                                               blocks=1024)[policy])


def run_approxftl_without_and_with_rule(rule: str, load: str) -> tuple[Step, Step]:
    """Run ApproxFTL on a load that an enhancement affects, without and with the enhancement."""
    found = []
    for after in (0, 1):
        missing = ENHANCEMENTS[ENHANCEMENTS.index(rule) + after:]
        with falsified_settings(mutants=list_mutants_that_disable_rules(*missing)):
            runs = results_of_study("approx-rules", load=load)
            found.append(Step.extract_ablation_measures(runs["approxftl"]))
    return found[0], found[1]


def ablate_approxftl() -> list[Measured]:
    """Ablate ApproxFTL: add one enhancement after another, each on a load that it affects."""
    checks: dict[int, Callable[[Step, Step], bool]] = {
        1: lambda a, b: a.host_us < b.host_us and a.lifetime > 10,
        2: lambda a, b: a.host_us < 0.95 * b.host_us and a.all_us > b.all_us,
        3: lambda a, b: a.all_us < b.all_us and a.lifetime < b.lifetime,
        6: lambda a, b: a.all_us < 0.98 * b.all_us and a.host_us < 0.95 * b.host_us,
    }
    steps = [run_policy_without_enhancements("baseline"), run_policy_without_enhancements("vth_b")]
    steps += [run_policy_without_enhancements("approxftl", *ENHANCEMENTS[i + 1:])
              for i in range(len(ENHANCEMENTS))]
    shown = [f"from {a.format_ablation_measures()} to {b.format_ablation_measures()}"
             for a, b in pairwise(steps)]
    without_rule, with_rule = run_approxftl_without_and_with_rule("approx-no-wear-rule",
                                                                  "for the wear rule")
    precise_first, approx_first = run_approxftl_without_and_with_rule("approx-precise-copied-first",
                                                                      "for the order of copies")
    return [
        *(pack_results(holds=holds(steps[at], steps[at - 1]), shown=shown[at - 1])
          for at, holds in checks.items()),
        pack_results(without_rule.peak, with_rule.peak, digits=2,
                     holds=with_rule.peak < 0.95 * without_rule.peak),
        pack_results(precise_first.relocation_program_us, approx_first.relocation_program_us,
                     holds=approx_first.relocation_program_us
                     < 0.99 * precise_first.relocation_program_us),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "AX-1": measure_ax1_program_times,
    "AX-2": measure_ax2_illegal_placements,
    "AX-3": measure_ax3_service_time,
    "AX-4": measure_ax4_write_response,
    "AX-5": measure_ax5_read_response,
    "AX-6": measure_ax6_lifetime,
    "AX-7": measure_ax7_energy,
    "AX-8": measure_ax8_bit_errors,
    "AX-9": measure_ax9_amplification,
    "AX-10": measure_ax10_accuracy,
    "AX-12": measure_ax12_wear_rule,
    "AX-13": measure_ax13_burst_responses,
    "AX-14": measure_ax14_energy_and_lifetime,
    "AX-15": measure_ax15_disturbing_neighbours,
    "AX-16": measure_ax16_open_blocks,
    "AX-17": measure_ax17_applications,
    "AX-18": measure_ax18_class_changes_of_blocks,
    "AX-A": ablate_approxftl,
    "AX-T": measure_ax_averages_on_tagged_traces,
}
