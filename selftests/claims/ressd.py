# SPDX-License-Identifier: GPL-2.0-only
"""Claims of the paper about ReSSD and RSS-RAID, computed or simulated."""

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from selftests.claims import census
from selftests.claims.real_traces import (
    convert_real_trace,
    list_real_trace_files,
    real_trace_directory,
    scratch_directory,
)
from selftests.claims.register import Measured, pack_results
from selftests.claims.rows import (
    arithmetic_mean,
    compute_percent_reduction,
    format_numbers,
    get_result_measure,
    list_mutants_that_disable_rules,
    mean_response_us,
    pack_results_and_mean,
    read_counter,
    sensing_us_per_page,
)
from selftests.claims.runs import (
    Json,
    falsified_settings,
    get_seed_of_runs,
    program_under_test,
    simulate_with_timeline,
)
from selftests.claims.studies import results_of_study
from selftests.lib.programs import run_program

from approxftl_tools import aft
from approxftl_tools.paper_measures import count_pages_written_to_devices
from approxftl_tools.workload_profile import (
    KIB_PER_UNIT,
    PUBLISHED,
    Sizes,
    profile_of_record_file,
    profile_to_json,
    published_profile,
)


def simulate_one_plane(**where: Any) -> dict[str, Json]:
    """Run ReSSD and TLC on one plane with enough idle time for background collection."""
    usual: Json = {"candidates": 16, "virtual_layers": "off"}
    return results_of_study("ressd-plane", policy="tlc", **usual) | results_of_study(
        "ressd-plane", policy="ressd", **usual | where)


@dataclass(frozen=True)
class Gain:
    """Results of a ReSSD run divided by those of a TLC run; gain of writes per erase in percent."""

    pages: float
    moved: float
    writes_per_erase: float
    collection: float


def compute_ressd_to_tlc_ratios(base: Json, run: Json) -> Gain:
    """Return the results of a ReSSD run divided by those of a TLC run with the same requests."""
    def divide_measure_by_that_of_tlc(key: str) -> float:
        return get_result_measure(run, key) / get_result_measure(base, key)

    # A trace that rewrites a few pages leaves no valid pages in victims, and nothing is relocated.
    ends = [get_result_measure(one, "moved_pages") for one in (base, run)]
    moved = ends[1] / ends[0] if ends[0] else math.inf if ends[1] else 1.0
    return Gain(divide_measure_by_that_of_tlc("consumed_pages"), moved,
                100 * (divide_measure_by_that_of_tlc("writes_per_erase") - 1),
                divide_measure_by_that_of_tlc("collection_ns"))


def compare_ressd_with_tlc(runs: dict[str, Json]) -> Gain:
    """Return the ratios of page counts and GC time of policy ressd to those of policy tlc."""
    return compute_ressd_to_tlc_ratios(runs["tlc"], runs["ressd"])


def compute_pages_per_word_line(run: Json) -> float:
    """Return the mean number of pages programmed per reprogrammable word line between erases."""
    again = read_counter(run, "reprogrammed_pages")
    modes: dict[str, int] = run["mode_pages"]
    return 2 + again / ((modes["mlc"] - again) / 2)


def measure_re2_pages_per_line() -> list[Measured]:
    """Count programs of each word line as the run ends; test-ressd.c counts after each program."""
    run = simulate_one_plane()["ressd"]
    bugs = read_counter(run, "policy_bugs")
    pages = compute_pages_per_word_line(run)
    # Less than 4 pages are accepted, because the warm-up leaves some word lines half programmed.
    return [pack_results(pages, digits=3, holds=bugs == 0 and run["verified"] and pages > 3.9)]


def compute_write_service_us(run: Json) -> float:
    total: int = run["timing"]["write_service"]["sum_ns"]
    return float(total / 1000)


def measure_re3_operation_times() -> list[Measured]:
    """Measure the paper's six operation times, each on a load that needs the operation."""
    # The first write is cold. Its updates open four word lines, then reprogram them.
    one_shot, two_of, last_two = map(compute_write_service_us,
                                     results_of_study("ressd-one-page", "warmup").values())
    cold, hot = results_of_study("ressd-reads", "data").values()
    erased = simulate_one_plane()["tlc"]
    erase = read_counter(erased, "array_erase_ns") / read_counter(erased, "array_erases") / 1000
    return [pack_results(one_shot, two_of / 2, last_two - two_of / 2, sensing_us_per_page(cold),
                         sensing_us_per_page(hot), erase, digits=0)]


def list_ressd_gains(gain: Gain) -> tuple[float, float, float]:
    """Return changes from TLC to ReSSD in %: consumed pages, writes per erase and GC time."""
    return 100 * (gain.pages - 1), gain.writes_per_erase, 100 * (gain.collection - 1)


def measure_re5_writes_per_erase_in_little_space() -> list[Measured]:
    """Measure writes per erase with less spare space and a single victim candidate."""
    at90 = compare_ressd_with_tlc(results_of_study("ressd-space", space="90 % valid"))
    return [pack_results(at90.writes_per_erase),
            pack_results(compare_ressd_with_tlc(simulate_one_plane(candidates=1)).writes_per_erase),
            pack_results(100 * 3 / compute_pages_per_word_line(simulate_one_plane()["ressd"]))]


def simulate_raid5(members: int = 4) -> dict[str, Json]:
    """Run RAID-5 of TLC planes and of ReSSD planes."""
    return results_of_study("rss-raid", array=f"{members} devices")


def run_array_on_short_lived_data(policy: str, option: Json | None = None) -> list[Json]:
    """Run an array, with three seeds, on hot data that get cold after 16 writes (Fig. 26)."""
    first = int(get_seed_of_runs())
    return [results_of_study("rss-raid", array="4 devices", policy=policy, given={
        "active-requests": 16, "seed": seed} | (option or {}))[policy]
        for seed in range(first, first + 3)]


def list_result_pairs_on_short_lived_data(option: Json | None = None) -> list[dict[str, Json]]:
    """Return runs of policies tlc and ressd on short-lived data, with each of three seeds."""
    return [{"tlc": tlc, "ressd": run} for tlc, run in zip(
        run_array_on_short_lived_data("tlc"), run_array_on_short_lived_data("ressd", option),
                                                           strict=True)]


def run_super_layer_variants() -> list[tuple[Json, Json, Json]]:
    """Run ReSSD's array with super layers of 2 and of 32 layers, and with virtual super layers."""
    return [*zip(*(run_array_on_short_lived_data("ressd", option)
                   for option in ({}, {"super_layers": 32}, {"virtual_layers": "on"})),
                 strict=True)]


def compute_means_over_seeds(figures: Iterable[Iterable[float]]) -> list[float]:
    return [*map(arithmetic_mean, zip(*figures, strict=True))]


def sum_free_blocks(run: Json) -> int:
    return sum(run["luns"]["free_blocks"])


def compute_percent_change_from_tlc(value: Callable[..., float], runs: dict[str, Json],
                                    *arguments: Any) -> float:
    """Return the change of a measure from TLC to ReSSD in percent."""
    return -compute_percent_reduction(value(runs["ressd"], *arguments),
                                      value(runs["tlc"], *arguments))


def compute_page_change_by_word_lines(runs: dict[str, Json], key: str) -> float:
    """Return the change of a page count from TLC to ReSSD in percent, three pages a word line."""
    ressd, tlc = (get_result_measure(runs[policy], key) for policy in ("ressd", "tlc"))
    again = read_counter(runs["ressd"], "reprogrammed_pages")
    # The measures count two pages for a word line of hot data.
    lines = (runs["ressd"]["mode_pages"]["mlc"] - again) / 2
    return -compute_percent_reduction(ressd + lines, tlc)


def count_free_pages(run: Json, blocks_at_start: int) -> float:
    """Return the free pages as the paper counts: two for a free word line of a ReSSD block."""
    geo, pages = run["geometry"], run["mode_pages"]
    lines = geo["layers"] * geo["word_lines_per_layer"]
    again = read_counter(run, "reprogrammed_pages")
    programmed = pages["normal"] / 3 + (pages["mlc"] - again) / 2
    unused = sum_free_blocks(run)
    # The collected blocks were full.
    partly = (blocks_at_start - unused + read_counter(run, "array_erases")) * lines - programmed
    return float(3 * unused * lines + (2 if run["policy"] == "ressd" else 3) * partly)


def measure_free_space_after_short_runs() -> tuple[list[float], list[float]]:
    """Return ReSSD's change of free blocks, and of free pages as the paper counts, in percent."""
    fresh, *later = results_of_study("ressd-array", "on", "policy", on=[
        "1 request", "15000 requests", "30000 requests", "45000 requests"]).values()
    return ([compute_percent_change_from_tlc(sum_free_blocks, runs) for runs in later],
            [compute_percent_change_from_tlc(count_free_pages, runs, sum_free_blocks(fresh["tlc"]))
             for runs in later])


# Capacity in bytes of the planes to which traced addresses are folded. The stream repeats until the
# planes have been written about twice; the paper defines what is hot.
FOLDED = 1024 * 384 * 86 // 100 * 16384


@dataclass(frozen=True)
class Played:
    """Runs of ReSSD and TLC on a trace: in arrays, with virtual super layers, and on one device."""

    raid: dict[str, Json]
    virtual: dict[str, Json]
    alone: dict[str, Json]
    larger: dict[str, Json]


@functools.cache
def replay_trace_on_devices(path: Path) -> Played:
    """Replay a trace on an array, on a larger array, and on a single device."""
    def replay_trace_on_array(data_members: int, on: str) -> dict[str, Json]:
        capacity = data_members * FOLDED // 2**20 * 2**20
        folded = convert_real_trace(path, f"--fold={capacity}", name=f"{path.stem}-{capacity}")
        assert folded, "it has been read before"
        accesses = census.read_accesses_from_record_file(folded)
        written = sum(one.pages * census.PAGE for one in accesses if one.write)
        repeat = max(1, 2 * capacity // max(1, written))
        return results_of_study("ressd-traces", on=on, given={
            "trace": folded.stem, "repeat": min(repeat, 1000)})

    return Played(replay_trace_on_array(3, "4 devices"),
                  replay_trace_on_array(3, "4 devices, virtual super layers"),
                  replay_trace_on_array(3, "one device"), replay_trace_on_array(5, "6 devices"))


def compute_means_over_real_traces(of: Callable[[Played], Sequence[float]]) -> list[Measured]:
    """Average the results that a function computes for each real trace that fills the array."""
    found = [of(played) for played in map(replay_trace_on_devices, list_real_trace_files().values())
             if all(read_counter(run, "array_erases") for run in played.larger.values())]
    return [*map(pack_results_and_mean, zip(*found, strict=True))]


def response_change_from_tlc(runs: dict[str, Json], kind: str = "write") -> float:
    """Return the change of a response time from TLC to ReSSD in percent."""
    return -compute_percent_reduction(*(mean_response_us(runs[policy], kind)
                                        for policy in ("ressd", "tlc")))


#: Options with which one run gives all measures of RSS-RAID: a fourth of the requests are reads,
#: dies are seldom busy, a stripe's row is written at once, and a write waits for its share of GC.
ALL_MEASURES: Json = {"write-share": "75%", "rate": 20, "zone1": "106.79s", "zone2": "213.58s",
                      "zone3": "427.16s", "stripe-hold": "1us", "gc_idle_valid": "0%",
                      "gc_mode": "paced"}


def measure_all_at_once() -> Measured:
    """Measure pages, collection, erases and responses of one run, and its writes for each erase."""
    runs = results_of_study("ressd-array", on="4 devices", given=ALL_MEASURES)
    pages, writes_per_erase, collection = list_ressd_gains(compare_ressd_with_tlc(runs))
    changes = (pages, collection, compute_percent_change_from_tlc(read_counter, runs,
                                                                  "array_erases"),
               response_change_from_tlc(runs), response_change_from_tlc(runs, "read"))
    return pack_results(*changes, holds=writes_per_erase > 0,
                        shown=f"{format_numbers(changes)}; writes per erase "
                        f"{writes_per_erase:+.1f}")


def measure_re6_raid_response() -> list[Measured]:
    """Measure RSS-RAID on a synthetic load with the share of hot data of the paper's 15 traces."""
    if real_trace_directory():
        *gains, response = compute_means_over_real_traces(
            lambda played: (*list_ressd_gains(compare_ressd_with_tlc(played.raid)),
                            response_change_from_tlc(played.raid)))
        return [*gains, pack_results(math.nan), response, *[pack_results(math.nan)] * 7]
    runs = simulate_raid5()
    moved = [read_counter(runs["ressd"], f"programmed_{cause}_units")
             for cause in ("gc", "rewrite")]
    parts = [get_result_measure(runs["ressd"], "consumed_pages") - sum(moved), *moved]
    blocks, pages = measure_free_space_after_short_runs()
    return [
        *map(pack_results, list_ressd_gains(compare_ressd_with_tlc(runs))),
        measure_all_at_once(),
        pack_results(response_change_from_tlc(runs)),
        pack_results(*blocks, shown=f"{format_numbers(blocks)}; pages {format_numbers(pages)}"),
        pack_results(compute_percent_change_from_tlc(sum_free_blocks, runs)),
        pack_results(100 * (compare_ressd_with_tlc(runs).moved - 1)),
        pack_results(compute_percent_change_from_tlc(read_counter, runs, "array_erases")),
        pack_results(*(100 * part / sum(parts) for part in parts)),
        pack_results(100 * (count_collected_blocks_with_data(runs["ressd"])
                            / count_collected_blocks_with_data(runs["tlc"]) - 1)),
        measure_erases_without_copies(runs),
    ]


def measure_erases_without_copies(runs: dict[str, Json]) -> Measured:
    """Count the collected blocks without valid pages, also in an array with much spare space."""
    roomy = results_of_study("rss-raid", array="4 devices",
                             given={"op": "30%", "active-others": "0%"})
    direct, other = ([read_counter(both[policy], "gc_empty_blocks")
                      for policy in ("tlc", "ressd")]
                     for both in (runs, roomy))
    return pack_results(*direct,
                        shown=f"{format_numbers(direct, 0)}; {format_numbers(other, 0)}")


def count_collected_blocks_with_data(run: Json) -> int:
    """Return the number of collected blocks that had valid pages."""
    return read_counter(run, "gc_blocks") - read_counter(run, "gc_empty_blocks")


def measure_re7_single_device() -> list[Measured]:
    """Compare ReSSD's gain on a single device with its gain on an array with the same user data."""
    if real_trace_directory():
        return compute_means_over_real_traces(
            lambda played: list_ressd_gains(compare_ressd_with_tlc(played.alone))[:2])
    raid = compare_ressd_with_tlc(simulate_raid5())
    alone = compare_ressd_with_tlc(results_of_study("ressd-array", on="one device"))
    return [pack_results(list_ressd_gains(alone)[0], holds=raid.pages < alone.pages),
            pack_results(list_ressd_gains(alone)[1],
                         holds=raid.writes_per_erase > alone.writes_per_erase)]


def measure_re8_super_layers() -> list[Measured]:
    """Measure how virtual super layers change consumed pages, moved pages, writes per erase (%)."""
    if real_trace_directory():
        found = compute_means_over_real_traces(
            lambda played: list_ressd_gains(compute_ressd_to_tlc_ratios(
                played.raid["ressd"], played.virtual["ressd"]))[:2])
        return [*found, *[pack_results(math.nan)] * 4]
    return [*map(pack_results, compute_means_over_seeds(
        compare_virtual_super_layers(plain, virtual)
        for plain, _, virtual in run_super_layer_variants()))]


def compare_virtual_super_layers(plain: Json, virtual: Json) -> tuple[float, ...]:
    """Return how virtual super layers change an array's pages, erases and GC time, in percent."""
    pages, writes_per_erase, collection = list_ressd_gains(compute_ressd_to_tlc_ratios(plain,
                                                                                       virtual))
    displaced = [read_counter(run, "programmed_rewrite_units") for run in (plain, virtual)]
    fewer = displaced[0] - displaced[1]
    erases = -compute_percent_reduction(*(read_counter(run, "array_erases")
                                          for run in (virtual, plain)))
    return (pages, writes_per_erase, 100 * fewer / displaced[0],
            100 * fewer / get_result_measure(plain, "consumed_pages"), erases, collection)


def measure_re9_rewritten_data() -> list[Measured]:
    """Rewrite all data after an hour; without earlier updates ReSSD and TLC are equal."""
    runs = results_of_study("ressd-cold")
    busy = [run["luns"]["mean_utilisation"] for run in runs.values()]
    return [pack_results(*list_ressd_gains(compare_ressd_with_tlc(runs)),
                         100 * (busy[1] / busy[0] - 1),
                         digits=2)]


def ablate_ressd() -> list[Measured]:
    """Ablate ReSSD: more reclamation candidates, their reuse, idle time, virtual super layers."""
    idle, back = "ressd-idle-does-nothing", "ressd-candidates-not-waked"
    steps: tuple[tuple[int, tuple[str, ...], str], ...] = (
        (1, (idle, back), "off"),
        (16, (idle, back), "off"),
        (16, (idle,), "off"),
        (16, (), "off"),
        (16, (), "on"),
    )
    gains = []
    for candidates, missing, virtual in steps:
        with falsified_settings(mutants=list_mutants_that_disable_rules(*missing)):
            gains.append(compare_ressd_with_tlc(simulate_one_plane(candidates=candidates,
                                                                   virtual_layers=virtual)))
    more = [b.writes_per_erase - a.writes_per_erase for a, b in pairwise(gains)]
    holds = [gains[0].writes_per_erase < 0, more[0] > 0, more[1] > 0, more[2] < 0, more[3] > 0]
    return [pack_results(*list_ressd_gains(gain)[:2], holds=good)
            for gain, good in zip(gains, holds, strict=True)]


def measure_re10_array_sizes() -> list[Measured]:
    """Compare ReSSD's gains over TLC in arrays of 4 and of 6 members."""
    if real_trace_directory():
        return compute_means_over_real_traces(lambda played: [b - a for a, b in zip(
            list_ressd_gains(compare_ressd_with_tlc(played.raid))[:2],
            list_ressd_gains(compare_ressd_with_tlc(played.larger))[:2],
strict=True)])
    small, large = (list_ressd_gains(compare_ressd_with_tlc(simulate_raid5(members)))
                    for members in (4, 6))
    return [pack_results(b - a, shown=f"{b - a:+.1f}: {a:.1f}, {b:.1f}", holds=better)
            for a, b, better in ((small[0], large[0], large[0] < 0),
                                 (small[1], large[1], large[1] > 0))]


def measure_re11_parity_writes() -> list[Measured]:
    """Measure parity writes; how long a stripe cache merges them is not in the paper."""
    if real_trace_directory():
        return compute_means_over_real_traces(
            lambda played: [get_result_measure(played.raid["tlc"], "parity_percent")] * 2)
    short = get_result_measure(simulate_raid5()["tlc"], "parity_percent")
    longer = [get_result_measure(run, "parity_percent")
              for run in results_of_study("ressd-parity", "stripe-hold").values()]
    return [pack_results(short), pack_results(*longer)]


def measure_re12_mlc_mode() -> list[Measured]:
    """Compare the response and endurance of MLC mode (two bits per cell) with those of TLC."""
    runs = results_of_study("ressd-mlc-mode", "load", "bits")
    tlc, mlc = runs["an array that waits"].values()
    ends = [get_result_measure(run, "writes_per_erase")
            for run in runs["a plane that collects"].values()]
    # The paper's endurance divides erases by the largest number of cycles of a cell.
    endurance = ends[1] / ends[0] * 30000 / 1500
    with_reads = results_of_study("ressd-mlc-mode", "bits", load="an array that waits",
                                  given={"write-share": "75%"})
    return [
        pack_results(-compute_percent_reduction(mean_response_us(mlc, "write"),
                                                mean_response_us(tlc, "write"))),
        pack_results(100 * (mlc["geometry"]["units"] / tlc["geometry"]["units"] - 1)),
        pack_results(endurance),
        pack_results(endurance / (1 + arithmetic_mean(
            compare_ressd_with_tlc(runs).writes_per_erase
            for runs in list_result_pairs_on_short_lived_data()) / 100)),
        pack_results(-compute_percent_reduction(*(mean_response_us(run, "read")
                                                  for run in (with_reads["two"],
                                                              with_reads["three"])))),
    ]


def measure_re13_fill_thresholds() -> list[Measured]:
    """Measure writes per erase under two interpretations of the paper's fill threshold."""
    return [pack_results(compare_ressd_with_tlc(runs).writes_per_erase)
            for runs in results_of_study("ressd-full", "filled", "policy").values()]


#: Options for the same stream with reads, at the usual rate and at one with idle time.
READS: tuple[Json, ...] = (
    {"write-share": "75%"},
    {"write-share": "75%", "rate": 60, "zone1": "35.6s", "zone2": "71.2s", "zone3": "142.4s"},
)


def measure_re15_read_response() -> list[Measured]:
    """Measure the response of reads among writes in an array, at two rates."""
    return [pack_results(response_change_from_tlc(results_of_study("ressd-array", on="4 devices",
                                                                   given=given), "read"))
            for given in READS]


def measure_re16_layer_counts() -> list[Measured]:
    """Compare ReSSD's gain with super layers of 4 to 64 layers to that with two layers."""
    gains = [compute_ressd_to_tlc_ratios(simulate_one_plane()["ressd"], results_of_study(
        "ressd-plane", policy="ressd", candidates=16, virtual_layers="off",
        given={"super_layers": depth})["ressd"]) for depth in (4, 8, 16, 32, 64)]
    writes = [gain.writes_per_erase for gain in gains]
    pages, writes_per_erase, response, *virtual, virtual_response = compute_means_over_seeds(
        [figure for run in others for figure in (
            *list_ressd_gains(compute_ressd_to_tlc_ratios(plain, run))[:2],
            response_change_from_tlc({"tlc": plain, "ressd": run}))]
        for plain, *others in run_super_layer_variants())
    return [
        pack_results(pages),
        pack_results(writes_per_erase),
        pack_results(*writes[:4], shown=format_numbers(writes),
                     holds=abs(writes[4] - writes[3]) < 3),
        pack_results(*(100 * part / whole if whole else math.nan for part, whole in zip(
            virtual, (pages, writes_per_erase), strict=True))),
        *(pack_results(change, digits=2) for change in (response, virtual_response)),
    ]


#: What the paper's own figures say of its load: collection below 8 % of free blocks (Table 4);
#: 29.4 % of updates are cold, and the hot ones spread over the zones as the means of Table 5 do;
#: 6.4 % of hot data get cold (Fig. 26), after 16 requests. So much spare space makes TLC amplify
#: 2.83 times, as the shares of Fig. 13 imply.
PAPER_LOAD: Json = {"gc": "8%", "op": "21%", "active-others": "29.4%", "active-requests": 16,
                    "zone1": "3.828s", "zone2": "10.693s", "zone3": "52.805s"}


def measure_re17_rss_raid_on_paper_load() -> list[Measured]:
    """Measure RSS-RAID on a load whose settings come from the paper's tables."""
    runs = results_of_study("ressd-array", on="4 devices", given=PAPER_LOAD)
    tlc, ours = runs["tlc"], runs["ressd"]
    consumed, host = (get_result_measure(ours, key) for key in ("consumed_pages", "host_pages"))
    moved = [read_counter(ours, f"programmed_{cause}_units") for cause in ("gc", "rewrite")]
    pages, writes_per_erase, collection = list_ressd_gains(compare_ressd_with_tlc(runs))
    written, by_lines = (compute_percent_change_from_tlc(get_result_measure, runs, "host_pages"),
                         compute_page_change_by_word_lines(runs, "host_pages"))
    return [
        pack_results(get_result_measure(tlc, "consumed_pages")
                     / count_pages_written_to_devices(tlc),
                     digits=2),
        pack_results(written, shown=f"{written:.1f}; three pages: {by_lines:.1f}"),
        *map(pack_results, (pages, writes_per_erase, collection)),
        pack_results(compute_percent_change_from_tlc(read_counter, runs, "array_erases")),
        pack_results(*(100 * part / consumed for part in (moved[0], host, moved[1]))),
        pack_results(100 * (compare_ressd_with_tlc(runs).moved - 1)),
    ]


def measure_re19_short_lived_data() -> list[Measured]:
    """Measure RSS-RAID on hot data that get cold as soon as in the paper's Fig. 26."""
    consumed, pages, writes_per_erase, collection, moved, erases = compute_means_over_seeds((
        get_result_measure(runs["tlc"],
                           "consumed_pages") / count_pages_written_to_devices(runs["tlc"]),
        *list_ressd_gains(compare_ressd_with_tlc(runs)),
        100 * (compare_ressd_with_tlc(runs).moved - 1),
        compute_percent_change_from_tlc(read_counter, runs, "array_erases"))
        for runs in list_result_pairs_on_short_lived_data())
    virtual = arithmetic_mean(
        compare_ressd_with_tlc(runs).writes_per_erase
        for runs in list_result_pairs_on_short_lived_data({"virtual_layers": "on"}))
    return [pack_results(consumed, digits=2),
            *map(pack_results, (pages, writes_per_erase, virtual, erases, moved, collection))]


#: Planes of a device and KiB of a page in the paper (Table 4), and requests of its volumes.
PLANES, PAGE_KIB, REQUESTS = 64, 16, 10**6
#: Options for requests a thousand times as fast, which need no waits of hours in the write buffer.
FASTER: Json = {"time-scale": 0.001, "zone1": "1800ms", "zone2": "3600ms", "zone3": "7200ms"}


@functools.cache
def generate_requests_to_plane(volume: str, seed: str) -> Path:
    """Generate the one-page requests that one of 64 planes gets from a volume's stream."""
    profile = published_profile(volume)
    write, read = (share * (1 + (sizes.mean_request_kib() - KIB_PER_UNIT) / PAGE_KIB)
                   for share, sizes in ((profile.write_share, profile.write_sizes),
                                        (1 - profile.write_share, profile.read_sizes)))
    page, fewer = Sizes((PAGE_KIB // KIB_PER_UNIT,), (1.0,)), PLANES / (write + read)
    path = scratch_directory() / f"{volume}-{seed}.aft"
    path.with_suffix(".json").write_text(profile_to_json(replace(
        profile, write_share=write / (write + read), write_sizes=page, read_sizes=page,
        arrival_ns=tuple(fewer * ns for ns in profile.arrival_ns))))
    done = run_program(program_under_test(), "synth", "--profile", path.with_suffix(".json"),
                       "--requests", str(round(REQUESTS / fewer)), "--seed", seed, "-O", path)
    assert done.code == 0, done.err
    return path


def count_updates_on_raid5(path: Path) -> int:
    """Count the updates of data pages and of parity pages (writes to pages written before)."""
    file = aft.open_record_file(path)
    written = file.get_operation_codes_of_records() == census.WRITE
    pages = file.get_record_column("off_sect")[written] \
        // (PAGE_KIB * 2)
    return 2 * len(pages) - len({*pages.tolist()}) - len({*(pages // 3).tolist()})


def measure_requests_to_plane(volume: str) -> list[float]:
    """Run a volume's requests to one plane; return the numbers for the paper's Table 6."""
    path = generate_requests_to_plane(volume, get_seed_of_runs())
    given = {"trace": str(path), "arrival": "trace"}
    runs = results_of_study("ressd-volumes", "on", "policy", given=given | FASTER)
    real, real_members = (results_of_study("ressd-volumes", on=on, given=given | {"buffer": "0"})
                          for on in ("4 devices", "10 devices"))
    fresh = results_of_study("ressd-volumes", on="4 devices", policy="tlc",
                             given=given | FASTER | {"requests": 1})["tlc"]
    usual, members = runs["4 devices"], runs["10 devices"]
    few = runs["4 devices, one candidate"] | {"tlc": usual["tlc"]}
    dead, consumed = runs["4 devices, 5 % dead"], get_result_measure(usual["ressd"],
                                                                     "consumed_pages")
    few_dead = runs["4 devices, 5 % dead, one candidate"] | {"tlc": dead["tlc"]}
    virtual = {"tlc": usual["ressd"]} | runs["4 devices, virtual super layers"]

    def compute_result_change_from_tlc(both: dict[str, Json], key: str = "consumed_pages") -> float:
        return compute_percent_change_from_tlc(get_result_measure, both, key)

    def measure_free_space(both: dict[str, Json]) -> float:
        return compute_percent_change_from_tlc(count_free_pages, both, sum_free_blocks(fresh))

    erases = [read_counter(run, "array_erases") for run in usual.values()]
    relocated = [read_counter(usual["ressd"], f"programmed_{cause}_units")
                 for cause in ("gc", "rewrite")]
    return [
        compute_result_change_from_tlc(usual), 100 * (erases[1] / erases[0] - 1), *erases,
        compute_result_change_from_tlc(usual, "writes_per_erase"),
            compute_result_change_from_tlc(usual, "collection_ns"),
        *(100 * part / consumed for part in (consumed - sum(relocated), *relocated)),
        response_change_from_tlc(real, "read"), response_change_from_tlc(real),
        response_change_from_tlc(real_members) - response_change_from_tlc(real),
        measure_free_space(usual), measure_free_space(few),
        compute_result_change_from_tlc(dead), compute_result_change_from_tlc(few_dead),
        compute_result_change_from_tlc(members) - compute_result_change_from_tlc(usual),
        100 * usual["ressd"]["mode_pages"]["mlc"] / count_updates_on_raid5(path),
        *(compute_result_change_from_tlc(runs[size]) for size in ("one plane", "three planes")),
        compute_result_change_from_tlc(virtual),
        100 * read_counter(few["ressd"], "programmed_rewrite_units")
        / get_result_measure(few["ressd"], "consumed_pages"),
        compute_page_change_by_word_lines(usual, "consumed_pages"),
        *(100 * share for share in profile_of_record_file(path).zone_shares),
    ]


def measure_re20_for_each_trace_volume() -> list[Measured]:
    """Measure the requests to one plane for each volume of Table 6; average over the volumes."""
    by_volume = {row[0]: measure_requests_to_plane(row[0]) for row in PUBLISHED}
    (pages, erases, erases_tlc, erases_ours, each, collection, host, collected, displaced, read,
     write, write_members, free, free_few, dead, few_dead, members, hot, alone, alone_wide, virtual,
     displaced_few, by_lines, *zones) = map(arithmetic_mean, zip(*by_volume.values(), strict=True))
    shares = host, collected, displaced
    # The paper's Fig. 15 has counts of erases, where other figures have them relative to TLC.
    together = 100 * (erases_ours / erases_tlc - 1)
    much = sum(figures[12] >= 8 for figures in by_volume.values())
    return [
        pack_results(pages, shown=f"{pages:.1f}; three pages: {by_lines:.1f}"),
        pack_results(together, shown=f"{together:.1f}; mean of the changes: {erases:.1f}"),
        *map(pack_results, (each, collection)),
        pack_results(*shares, shown=f"{format_numbers(shares)}; one candidate: "
                     f"{displaced_few:.1f} displaced"),
        pack_results(read), pack_results(write),
        pack_results(free, shown=f"{free:.1f}; one candidate: {free_few:.1f}"),
        pack_results(much, by_volume["PROJ_4"][12], shown=f"{much} {by_volume['PROJ_4'][12]:.2f}"),
        pack_results(dead, shown=f"{dead:.1f}; one candidate: {few_dead:.1f}"),
        pack_results(members), pack_results(hot),
        pack_results(alone, shown=f"{alone:.1f}; three planes: {alone_wide:.1f}",
                     holds=pages < alone),
        pack_results(virtual), pack_results(*zones), pack_results(write_members),
    ]


def measure_re14_memory() -> list[Measured]:
    """Measure ReSSD's memory per page, in addition to the core's own byte of state."""
    runs = results_of_study("ressd-memory")
    more = (runs["ressd"]["memory_bytes"] - runs["tlc"]["memory_bytes"]) / 2**20
    capacity = runs["ressd"]["geometry"]["physical_bytes"] / 2**30
    return [pack_results(more, digits=2), pack_results(capacity, digits=0)]


#: Options of one plane with ReSSD, and the seconds' writes of the paper's examples: pages that are
#: written for the first time, so that later writes are updates, then those of Figs. 7, 8 and 12.
PLANE = ("--profile=tos22", "--policy=ressd", "--channels=1", "--chips=1", "--dies=1", "--planes=1",
         "--errors=off", "--gc_idle_valid=100%")
FIRST_WRITES = tuple((page, page + 1, page + 2) for page in range(0, 24, 3))
#: The second and third write share a word line; others use up the super layer; then the fourth.
FIG_7 = ((0, 1), (2, 3), (4, 5), (6, 2), (3,), (4,), (5,), (1,), (6,), (2,), (6,), (7,), (0, 8))
FIG_8 = ((0, 1), (2, 3), (4, 3), (5, 0), (6,), (4,), (1,), (8,))
#: Two layers of four word lines, of which updates use up all but lines 0 and 4; then other data.
FIG_12 = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 2), (3,), (4,), (5,),
          (6,), (7,), (10,), (11,), (12,), (13,), (14,), (2,), (3,), (16,), (17,), (18,), (19, 20),
          (21, 22), (23, 8), (0, 1), (15,))


#: Updates of a small plane, of which nearly all are hot.
HOT_UPDATES = ("--blocks=128", "--op=40%", "--write-share=100%", "--size=16KiB", "--requests=20000",
               "--workload=active", "--active-set=1%", "--active-others=5%", "--rate=100",
               "--zone1=6s", "--zone2=12s", "--zone3=24s")


@dataclass(frozen=True)
class Example:
    """What a worked example of super layers does on a plane of ReSSD."""

    #: Word lines of the programs of hot data, in their order.
    lines: list[int]
    relocated_pages: int
    #: Valid pages of each word line of the block of hot data.
    valid: list[int]


def run_super_layer_example(writes: Sequence[Sequence[int]], *options: str) -> Example:
    """Run the writes of an example, those of a second after those of another."""
    seconds = [*FIRST_WRITES, *writes]
    trace = scratch_directory() / "example.csv"
    trace.write_text("".join(f"{second},W,{page * PAGE_KIB * 1024},{PAGE_KIB * 1024}\n"
                             for second, pages in enumerate(seconds) for page in pages))
    record = convert_real_trace(trace, "--from=csv", "--columns=time=1,op=2,offset=3,bytes=4",
                                "--time-unit=s", "--offset-unit=bytes")
    report, events = simulate_with_timeline(
        *PLANE, "--blocks=256", "--op=60%", "--fill=none", "--buffer=64KiB", "--buffer_hold=10ms",
        "--candidates=1", f"--trace={record}", "--arrival=trace", f"--until={len(seconds) + 1}s",
        "--page-map=auto", *options)
    (run,) = report["runs"]
    (hot,) = (block["valid_units"] for block in run["page_maps"]
              if block["kind"] == "reprogrammable")
    return Example([event["args"]["page"] // 3 for event in events
                    if event["name"] == "program mlc"],
                   read_counter(run, "programmed_rewrite_units"),
                   [sum(hot[page:page + 3]) for page in range(0, len(hot), 3)])


def measure_super_layer_rules() -> tuple[int, int]:
    """Count the most reprograms of a word line, and illegal programs, with virtual super layers.

    A layer may be programmed once the layer two below has been reprogrammed twice.
    """
    _, events = simulate_with_timeline(*PLANE, *HOT_UPDATES, "--fill=none", "--virtual_layers=on")
    counts: dict[int, Counter[int]] = {}
    most = early = 0
    for event in events:
        block, line = event["args"]["block"], event["args"]["page"] // 3
        if event["name"] == "erase":
            counts.pop(block, None)
        elif event["name"] == "program mlc":
            own = counts.setdefault(block, Counter())
            before = line // 2 * 2 - 4
            early += before >= 0 and min(own[before], own[before + 1]) < 3
            own[line] += 1
            most = max(most, own[line] - 1)
    return most, early


def measure_re22_worked_examples() -> list[Measured]:
    """Run the paper's examples of super layers; measure the numbers that the paper states."""
    fig_8, used = map(run_super_layer_example, (FIG_8, FIG_7))
    full = run_super_layer_example((*FIG_8[:2], (4, 5), (6, 7), (8,)))
    _, events = simulate_with_timeline(*PLANE, *HOT_UPDATES, "--fill=random", "--candidates=1")
    longest = max(event["dur"] for event in events
                  if (event["name"], event["cat"]) == ("program normal", "host"))
    layers = [run_super_layer_example(FIG_12, "--layers=4", "--word_lines=4",
                                      f"--virtual_layers={state}") for state in ("on", "off")]
    virtual, plain = ([*dict.fromkeys(line for line in example.lines[20:] if line % 4 == 0)]
                      for example in layers)
    moved = [example.relocated_pages for example in layers]
    return [pack_results(*fig_8.lines, digits=0), pack_results((longest - 3000) / 53, digits=0),
            pack_results(full.relocated_pages, digits=0),
            pack_results(*virtual, shown=f"{format_numbers(virtual, 0)}; plain: "
                         f"{format_numbers(plain, 0)}"),
            pack_results(*(1 + used.lines[at] // 4 for at in (0, 0, -1)), digits=0),
            pack_results(*measure_super_layer_rules(), digits=0),
            pack_results(run_super_layer_example((*FIG_8[:4], FIG_8[6])).lines[4], digits=0),
            pack_results(moved[0], shown=f"{moved[0]}; plain: {moved[1]}"),
            pack_results(*fig_8.valid[:4], digits=0)]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "RE-2": measure_re2_pages_per_line,
    "RE-3": measure_re3_operation_times,
    "RE-5": measure_re5_writes_per_erase_in_little_space,
    "RE-6": measure_re6_raid_response,
    "RE-7": measure_re7_single_device,
    "RE-8": measure_re8_super_layers,
    "RE-9": measure_re9_rewritten_data,
    "RE-10": measure_re10_array_sizes,
    "RE-11": measure_re11_parity_writes,
    "RE-12": measure_re12_mlc_mode,
    "RE-13": measure_re13_fill_thresholds,
    "RE-14": measure_re14_memory,
    "RE-15": measure_re15_read_response,
    "RE-16": measure_re16_layer_counts,
    "RE-17": measure_re17_rss_raid_on_paper_load,
    "RE-19": measure_re19_short_lived_data,
    "RE-20": measure_re20_for_each_trace_volume,
    "RE-22": measure_re22_worked_examples,
    "RE-A": ablate_ressd,
}
