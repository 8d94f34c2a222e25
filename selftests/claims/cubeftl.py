# SPDX-License-Identifier: GPL-2.0-only
"""Claims of the paper about cubeFTL, computed or simulated."""

import itertools
from collections.abc import Callable

from selftests.claims.models import cell
from selftests.claims.real_traces import real_trace_directory
from selftests.claims.register import Measured, pack_results
from selftests.claims.rows import (
    arithmetic_mean,
    compute_percent_reduction_or_nan,
    format_numbers,
    get_result_measure,
    list_mutants_that_disable_rules,
    mean_program_us,
    mean_response_us,
    pack_results_and_mean,
    read_counter,
    sensing_us_per_page,
)
from selftests.claims.runs import Json, falsified_settings, simulate_with_timeline
from selftests.claims.studies import results_of_study

BY_LOOPS = "by the loop model"
#: States of wear and retention in the paper.
MONTH, YEAR = "2K cycles, a month", "2K cycles, a year"


def run_saturating_writes(followers: str = BY_LOOPS) -> dict[str, Json]:
    """Return runs of single-word-line writes that keep all dies of the paper's device busy."""
    return results_of_study("cubeftl-writes", followers=followers)


def measure_cu2_leader_and_follower_counts() -> list[Measured]:
    """Count leader and follower word lines, open blocks of a chip, and refused placements."""
    runs = run_saturating_writes()
    result = []
    for policy, open_blocks in (("cubeftl", 2), ("cubeftl_minus", 1)):
        run = runs[policy]
        geo = run["geometry"]
        leaders, followers = (run["mode_pages"][mode] for mode in ("normal", "follower"))
        (closed,) = (kind["blocks"] for kind in run["block_kinds"].values())
        opened = run["blocks"]["good"] - sum(run["luns"]["free_blocks"]) - closed
        bugs = read_counter(run, "policy_bugs")
        # In an open block, leaders may precede their followers; a follower never precedes its
        # leader.
        pending = (geo["word_lines_per_layer"] - 1) * leaders - followers
        limit = open_blocks * geo["luns"] * geo["pages_per_block"]
        holds = (bugs == 0 and run["verified"] and 0 <= pending <= limit
                 and opened <= open_blocks * geo["luns"])
        result.append(pack_results(followers / leaders, opened / geo["luns"], bugs, digits=2,
                                   holds=holds))
    return result


def compute_throughput_gain(runs: dict[str, Json], policy: str = "cubeftl") -> float:
    """Return the throughput gain of cubeFTL over pageFTL in percent."""
    rates = [get_result_measure(runs[name], "requests_per_second") for name in (policy, "pageftl")]
    return 100 * (rates[0] / rates[1] - 1)


def compute_follower_program_time_saving(run: Json) -> float:
    """Derive the share of program time that follower word lines save from the mean program time."""
    pages = run["mode_pages"]
    share_: float = pages["follower"] / (pages["normal"] + pages["follower"])
    return (1 - mean_program_us(run) / 700) / share_


def measure_cu3_throughput() -> list[Measured]:
    """Measure the gain in continuous writes, and the gain that faster follower word lines imply."""
    gains, implied = [], []
    for followers in ("30% faster", "33% faster", BY_LOOPS):
        runs = run_saturating_writes(followers)
        gains.append(compute_throughput_gain(runs))
        implied.append(100 * (1 / (1 - 0.75 * compute_follower_program_time_saving(runs["cubeftl"]))
                              - 1))
    less = compute_follower_program_time_saving(run_saturating_writes()["cubeftl"])
    return [
        pack_results(max(abs(a - b) for a, b in zip(gains, implied, strict=True)),
                     shown=f"{format_numbers(gains)}; implied {format_numbers(implied)}"),
        pack_results(100 * less),
    ]


def run_write_bursts(followers: str = BY_LOOPS, interface: str = "no limit") -> dict[str, Json]:
    """Run each policy on write bursts that fit into the follower word lines of open blocks."""
    return results_of_study("cubeftl-write-bursts", followers=followers, interface=interface)


def compute_burst_rate_gain(runs: dict[str, Json], policy: str) -> float:
    """Return the gain in burst throughput over pageFTL in percent.

    Writes between bursts complete at once; writes of a burst complete as fast as the buffer drains.
    """
    return 100 * (mean_response_us(runs["pageftl"], "write") / mean_response_us(runs[policy],
                                                                                "write") - 1)


def measure_cu4_bursts() -> list[Measured]:
    """Measure bursts that fit into the follower word lines, also with buses of limited speed."""
    result = []
    for followers in ("30 % faster", "33 % faster", BY_LOOPS):
        runs = run_write_bursts(followers)
        gain, minus = (compute_burst_rate_gain(runs, policy)
                       for policy in ("cubeftl", "cubeftl_minus"))
        result.append(pack_results(gain, shown=f"{gain:.1f} > {minus:.1f}",
                                   holds=gain > minus + 5))
    own, faster = (run_write_bursts(BY_LOOPS, interface) for interface in ("profile", "3200 MB/s"))
    gain, minus = (compute_burst_rate_gain(own, policy) for policy in ("cubeftl", "cubeftl_minus"))
    rise = compute_burst_rate_gain(faster, "cubeftl")
    shown = f"{gain:.1f} > {minus:.1f}; {rise:.1f} at 3200 MB/s"
    return [*result, pack_results(gain, shown=shown, holds=gain > minus)]


def measure_cu5_vertftl() -> list[Measured]:
    """Measure vertFTL, which knows the layers without measuring them, against pageFTL."""
    runs = run_saturating_writes()
    return [pack_results(100 * (mean_program_us(runs["vertftl"]) / 700 - 1)),
            pack_results(compute_throughput_gain(runs, "vertftl"))]


def run_reads_of_old_data(state: str) -> dict[str, Json]:
    """Return runs that read single pages written before the device aged."""
    return results_of_study("cubeftl-old-reads", state=state)


def count_retries_per_page_read(run: Json) -> float:
    """Return the mean number of retries per page read."""
    return read_counter(run, "read_retries") / read_counter(run, "array_reads")


def measure_cu6_read_retries() -> list[Measured]:
    """Measure read retries, and the memory of cubeFTL's table of read references."""
    result = []
    for name in (MONTH, YEAR):
        runs = run_reads_of_old_data(name)
        plain, default, learned = (count_retries_per_page_read(run) for run in runs.values())
        lost = sum(read_counter(run, "read_lost_units") for run in runs.values())
        times = [sensing_us_per_page(run) / 60 for run in runs.values()]
        pays = all(abs(us - 1 - more) <= 0.01
                   for us, more in zip(times, (plain, default, learned), strict=True))
        result += [
            pack_results(*times, digits=2, holds=pays and not lost and plain == default > learned),
            pack_results(default, digits=2),
            pack_results(compute_percent_reduction_or_nan(learned, default)),
        ]
    runs = results_of_study("cubeftl-memory")
    more = runs["cubeftl"]["memory_bytes"] - runs["pageftl"]["memory_bytes"]
    geo = runs["cubeftl"]["geometry"]
    # In addition to the table, the policy keeps the measurements of leaders for two blocks per die,
    # and both policies keep some bytes per die about their open blocks.
    active = geo["luns"] * 2 * geo["layers"] * 2
    layers = geo["blocks"] * geo["layers"]
    return [*result, pack_results((more - active) / layers, digits=2)]


def compute_throughput_gains_by_write_ratio(state: str) -> dict[str, float]:
    """Return cubeFTL's throughput gain (%) on a half-full device, by the share of writes."""
    found = results_of_study("cubeftl-mixed", "write-share", "policy", state=state)
    return {writes: compute_throughput_gain(runs) for writes, runs in found.items()}


def measure_cu7_device_states() -> list[Measured]:
    """Measure cubeFTL's throughput gains on new and old devices, by bursts and share of writes."""
    fresh, old = ([compute_throughput_gains_by_write_ratio(state)[writes]
                   for writes in ("90%", "50%", "10%")]
                  for state in ("fresh", YEAR))
    open_queue = results_of_study("cubeftl-mixed", "write-share", "policy", state="fresh",
                                  write_share=["90%", "50%"], given={"utilisation": "50%"})
    return [pack_results(compute_burst_rate_gain(run_write_bursts(), "cubeftl"), *fresh),
            pack_results(*old, holds=old[2] > fresh[2] + 5),
            pack_results(*(compute_percent_reduction_or_nan(*(mean_response_us(runs[policy], "read")
                                                              for policy in ("cubeftl", "pageftl")))
                           for runs in open_queue.values()))]


def measure_cu8_tail_latency() -> list[Measured]:
    """Measure the tail of write latency in ms of pageFTL, cubeFTL- and cubeFTL."""
    p90 = [run_write_bursts()[name]["timing"]["write_response"]["p90_ns"] / 1e6
           for name in ("pageftl", "cubeftl_minus", "cubeftl")]
    return [pack_results(*p90, holds=p90[2] < 0.95 * p90[1])]


def measure_cu9_largest_gain() -> list[Measured]:
    """Measure cubeFTL's largest throughput gain, on bursts, writes or real traces."""
    if real_trace_directory():
        # No scheme can speed up writes that the write buffer absorbs. A buffer that drains faster
        # even absorbs fewer: an overwrite finds its page still buffered less often.
        gains = [*map(compute_throughput_gain,
                      results_of_study("cubeftl-traces", "trace", "policy").values())]
        return [pack_results_and_mean(gains)] * 2
    return [pack_results(max(compute_burst_rate_gain(run_write_bursts(), "cubeftl"),
                             compute_throughput_gains_by_write_ratio("fresh")["100%"])),
            pack_results(compute_burst_rate_gain(run_write_bursts("32.3 % faster"), "cubeftl"))]


def measure_cu10_misprograms() -> list[Measured]:
    """Count misprogrammed follower word lines; test-cubeftl.c compares their data."""
    run, rate = run_saturating_writes("one in 1000 bad")["cubeftl"], 0.001
    followers = run["mode_pages"]["follower"] / 3
    repeated, moved = read_counter(run, "repeated_programs"), read_counter(
        run, "programmed_rewrite_units") / 3
    # Some data were overwritten before the policy could relocate them.
    holds = (run["verified"] and abs(repeated / followers / rate - 1) < 0.4
             and repeated * 0.95 <= moved <= repeated)
    return [pack_results(holds=holds, shown=f"{repeated} of {followers:.0f}, {moved:.0f} moved, "
                         + ("clean" if run["verified"] else "failed"))]


def measure_cu11_device_sizes() -> list[Measured]:
    """Measure throughput gains of cubeFTL and cubeFTL- with GC, on devices of two sizes."""
    result = []
    for runs in results_of_study("cubeftl-collected", "device", "policy").values():
        gains = [compute_throughput_gain(runs, policy) for policy in ("cubeftl", "cubeftl_minus")]
        result.append(pack_results(gains[0], shown=format_numbers(gains)))
    return result


def measure_cu12_workloads() -> list[Measured]:
    """Measure the paper's six workloads on new devices, on worn ones, and during GC."""
    found = results_of_study("cubeftl-workloads", "state", "load", "policy")
    fresh, old, collecting = ({load: compute_throughput_gain(runs) for load, runs in loads.items()}
                              for loads in found.values())
    vert = [compute_throughput_gain(runs, "vertftl") for runs in found["fresh"].values()]
    shown = format_numbers([*fresh.values()])
    return [
        pack_results(fresh["oltp"], shown=shown, holds=fresh["oltp"] == max(fresh.values())),
        pack_results(max(vert), shown=format_numbers(vert)),
        pack_results(old["oltp"], old["proxy"], shown=format_numbers([*old.values()])),
        pack_results(*(arithmetic_mean(gains.values()) for gains in (fresh, old))),
        pack_results(min(collecting.values()), shown=format_numbers([*collecting.values()])),
    ]


#: Layer and place in the layer of a word line, in the order of programs of its block.
Order = list[tuple[int, int]]


def list_word_line_orders(policy: str) -> list[Order]:
    """Return in which order a policy programs the word lines of the blocks that it fills."""
    report, events = simulate_with_timeline(
        "--profile=micro19", "--blocks=100", "--fill=none", "--write-share=100%", "--size=48KiB",
        "--requests=4000", "--rate=1000", f"--policy={policy}")
    geo = report["geometry"]
    orders: dict[int, Order] = {}
    for event in (event for event in events if event["name"].startswith("program")):
        line = (event["args"]["page"] % geo["pages_per_block"]) // geo["pages_per_word_line"]
        orders.setdefault(event["args"]["block"], []).append(
            divmod(line, geo["word_lines_per_layer"]))
    full = geo["layers"] * geo["word_lines_per_layer"]
    return [order for order in orders.values() if len(order) == full]


def compute_rber_of_word_line_order(order: Order) -> float:
    """Return the mean error rate of word lines that later programs on their string disturb.

    Transistors select one string of a layer at a time, so that other strings are not disturbed.
    """
    turn = {line: number for number, line in enumerate(order)}
    later = [sum(turn.get((layer + step, at), -1) > number for step in (-1, 1))
             for (layer, at), number in turn.items()]
    channel = cell.make_approxftl_cell(cell.VMAX_PRECISE_V, cell.STEP_V)
    return arithmetic_mean(cell.cell_rber(channel, count * cell.SHIFT_Y_MV) for count in later)


def measure_cu13_program_orders() -> list[Measured]:
    """Compare error rates of mixed and vertical program order with those of horizontal order."""
    horizontal, mixed = (list_word_line_orders(policy) for policy in ("cubeftl_minus", "cubeftl"))
    vertical = sorted(horizontal[0], key=lambda line: line[::-1])
    # In the mixed order leaders are programmed before the followers of lower layers.
    ahead = all(any(b[0] < a[0] for a, b in itertools.pairwise(order)) for order in mixed)
    usual = arithmetic_mean(map(compute_rber_of_word_line_order, horizontal))
    odd = sorted(vertical, key=lambda line: (line[0] % 2, line))
    rates = [compute_rber_of_word_line_order(order) / usual for order in (vertical, *mixed, odd)]
    return [pack_results(rates[0], max(rates[1:-1]), shown=f"{format_numbers(rates[:2], 3)}; "
                         f"odd layers last: {rates[-1]:.3f}", holds=ahead and rates[-1] > 1.03)]


def ablate_cubeftl() -> list[Measured]:
    """Ablate cubeFTL: gains in write bursts and retries in reads of old data, by its parts."""
    with falsified_settings(mutants=list_mutants_that_disable_rules("cube-margin-unspent")):
        skips = run_write_bursts()["cubeftl_minus"]
    runs = run_write_bursts()
    with falsified_settings(mutants=list_mutants_that_disable_rules("cube-references-not-learned")):
        before = count_retries_per_page_read(run_reads_of_old_data(YEAR)["cubeftl"])
    after = count_retries_per_page_read(run_reads_of_old_data(YEAR)["cubeftl"])
    rates = [compute_burst_rate_gain(runs | {"skips": skips}, name)
             for name in ("vertftl", "skips", "cubeftl_minus", "cubeftl")]
    times = [mean_program_us(run) for run in (runs["pageftl"], skips, runs["cubeftl_minus"])]
    return [
        pack_results(rates[1], holds=rates[1] > 0 and times[1] < times[0]),
        pack_results(*rates[1:3], holds=rates[2] > rates[1] and times[2] < times[1]),
        pack_results(*rates[2:], holds=rates[3] > rates[2] + 5),
        pack_results(before, after, digits=2, holds=after < before / 2),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "CU-2": measure_cu2_leader_and_follower_counts,
    "CU-3": measure_cu3_throughput,
    "CU-4": measure_cu4_bursts,
    "CU-5": measure_cu5_vertftl,
    "CU-6": measure_cu6_read_retries,
    "CU-7": measure_cu7_device_states,
    "CU-8": measure_cu8_tail_latency,
    "CU-9": measure_cu9_largest_gain,
    "CU-10": measure_cu10_misprograms,
    "CU-11": measure_cu11_device_sizes,
    "CU-12": measure_cu12_workloads,
    "CU-13": measure_cu13_program_orders,
    "CU-A": ablate_cubeftl,
}
