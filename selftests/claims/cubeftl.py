# SPDX-License-Identifier: GPL-2.0-only
"""Claims about cubeFTL."""

from __future__ import annotations

from collections.abc import Callable

from selftests.claims.real_traces import trace_directory
from selftests.claims.register import Measured, measured
from selftests.claims.rows import (
    array_program_us,
    averaged,
    counter,
    cut,
    measure,
    read_us,
    response_us,
    row,
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results

BY_LOOPS = "by the loop model"
#: States of wear and retention in the paper.
MONTH, YEAR = "2K cycles, a month", "2K cycles, a year"


def saturated(followers: str = BY_LOOPS) -> dict[str, Json]:
    """Return runs of single-word-line writes that keep all dies of the paper's device busy."""
    return results("cubeftl-writes", followers=followers)


def cu2() -> list[Measured]:
    """Count leaders and followers, open blocks of a chip, and refused placements."""
    runs = saturated()
    result = []
    for policy, open_blocks in (("cubeftl", 2), ("cubeftl_minus", 1)):
        run = runs[policy]
        geo = run["geometry"]
        leaders, followers = (run["mode_pages"][mode] for mode in ("normal", "follower"))
        (closed,) = (kind["blocks"] for kind in run["block_kinds"].values())
        opened = run["blocks"]["good"] - sum(run["luns"]["free_blocks"]) - closed
        bugs = counter(run, "policy_bugs")
        # In an open block, leaders may precede their followers; a follower never precedes its
        # leader.
        pending = (geo["word_lines_per_layer"] - 1) * leaders - followers
        limit = open_blocks * geo["luns"] * geo["pages_per_block"]
        holds = (bugs == 0 and run["verified"] and 0 <= pending <= limit
                 and opened <= open_blocks * geo["luns"])
        result.append(measured(followers / leaders, opened / geo["luns"], bugs, digits=2,
                               holds=holds))
    return result


def cube_gain(runs: dict[str, Json], policy: str = "cubeftl") -> float:
    """Return the throughput gain over pageFTL in percent."""
    rates = [measure(runs[name], "requests_per_second") for name in (policy, "pageftl")]
    return 100 * (rates[0] / rates[1] - 1)


def follower_saving(run: Json) -> float:
    """Return the mean saving of a follower, derived from all pages and a quarter of leaders."""
    pages = run["mode_pages"]
    share_: float = pages["follower"] / (pages["normal"] + pages["follower"])
    return (1 - array_program_us(run) / 700) / share_


def cu3() -> list[Measured]:
    """Measure the throughput of continuous writes, and what the mix of followers implies."""
    gains, implied = [], []
    for followers in ("30% faster", "33% faster", BY_LOOPS):
        runs = saturated(followers)
        gains.append(cube_gain(runs))
        implied.append(100 * (1 / (1 - 0.75 * follower_saving(runs["cubeftl"])) - 1))
    less = follower_saving(saturated()["cubeftl"])
    return [
        measured(max(abs(a - b) for a, b in zip(gains, implied, strict=True)),
                 shown=f"{row(gains)}; implied {row(implied)}"),
        measured(100 * less),
    ]


def bursts(followers: str = BY_LOOPS, interface: str = "no limit") -> dict[str, Json]:
    """Run the schemes on bursts that fit into the follower word lines of the open blocks."""
    return results("cubeftl-write-bursts", followers=followers, interface=interface)


def burst_gain(runs: dict[str, Json], policy: str) -> float:
    """Return the gain in burst throughput over pageFTL in percent.

    Writes between bursts complete at once; writes of a burst complete as fast as the buffer drains.
    """
    return 100 * (response_us(runs["pageftl"], "write") / response_us(runs[policy], "write") - 1)


def cu4() -> list[Measured]:
    """Measure bursts that fit into the follower word lines, also on the profile's own bus."""
    result = []
    for followers in ("30 % faster", "33 % faster", BY_LOOPS):
        runs = bursts(followers)
        gain, minus = (burst_gain(runs, policy) for policy in ("cubeftl", "cubeftl_minus"))
        result.append(measured(gain, shown=f"{gain:.1f} > {minus:.1f}", holds=gain > minus + 5))
    own, faster = (bursts(BY_LOOPS, interface) for interface in ("profile", "3200 MB/s"))
    gain, minus = (burst_gain(own, policy) for policy in ("cubeftl", "cubeftl_minus"))
    shown = f"{gain:.1f} > {minus:.1f}; {burst_gain(faster, 'cubeftl'):.1f} at 3200 MB/s"
    return [*result, measured(gain, shown=shown, holds=gain > minus)]


def cu5() -> list[Measured]:
    """Measure vertFTL, which knows the layers without measuring them, against pageFTL."""
    runs = saturated()
    return [measured(100 * (array_program_us(runs["vertftl"]) / 700 - 1)),
            measured(cube_gain(runs, "vertftl"))]


def old_reads(state: str) -> dict[str, Json]:
    """Return runs that read single pages written before the device aged."""
    return results("cubeftl-old-reads", state=state)


def retries(run: Json) -> float:
    """Return the mean number of retries per page read."""
    return counter(run, "read_retries") / counter(run, "array_reads")


def cu6() -> list[Measured]:
    """Measure read retries, and the memory of the reference table."""
    result = []
    for name in (MONTH, YEAR):
        runs = old_reads(name)
        plain, default, learned = (retries(run) for run in runs.values())
        lost = sum(counter(run, "read_lost_units") for run in runs.values())
        times = [read_us(run) / 60 for run in runs.values()]
        pays = all(abs(us - 1 - more) <= 0.01
                   for us, more in zip(times, (plain, default, learned), strict=True))
        result += [
            measured(*times, digits=2, holds=pays and not lost and plain == default > learned),
            measured(default, digits=2),
            measured(cut(learned, default)),
        ]
    runs = results("cubeftl-memory")
    more = runs["cubeftl"]["memory_bytes"] - runs["pageftl"]["memory_bytes"]
    geo = runs["cubeftl"]["geometry"]
    # In addition to the table, the policy keeps the measurements of leaders for two blocks per die,
    # and both policies keep some bytes per die about their open blocks.
    active = geo["luns"] * 2 * geo["layers"] * 2
    layers = geo["blocks"] * geo["layers"]
    return [*result, measured((more - active) / layers, digits=2)]


def mixed(state: str) -> dict[str, float]:
    """Return cubeFTL's gain in percent on a half-full device, by the share of writes."""
    found = results("cubeftl-mixed", "write-share", "policy", state=state)
    return {writes: cube_gain(runs) for writes, runs in found.items()}


def cu7() -> list[Measured]:
    """Measure the loads that gain in each device state: bursts of writes, 90 50 10 % writes."""
    fresh, old = ([mixed(state)[writes] for writes in ("90%", "50%", "10%")]
                  for state in ("fresh", YEAR))
    return [measured(burst_gain(bursts(), "cubeftl"), *fresh),
            measured(*old, holds=old[2] > fresh[2] + 5)]


def cu8() -> list[Measured]:
    """Measure the tail of write latency in ms: pageFTL, cubeFTL-, cubeFTL."""
    p90 = [bursts()[name]["timing"]["write_response"]["p90_ns"] / 1e6
           for name in ("pageftl", "cubeftl_minus", "cubeftl")]
    return [measured(*p90, holds=p90[2] < 0.95 * p90[1])]


def cu9() -> list[Measured]:
    """Measure the largest gain; the paper's six workloads are programs on file systems."""
    if trace_directory():
        # No scheme can speed up writes that the write buffer absorbs. A buffer that drains faster
        # even absorbs fewer: an overwrite finds its page still buffered less often.
        gains = [*map(cube_gain, results("cubeftl-traces", "trace", "policy").values())]
        return [averaged(gains)] * 2
    return [measured(max(burst_gain(bursts(), "cubeftl"), mixed("fresh")["100%"])),
            measured(burst_gain(bursts("32.3 % faster"), "cubeftl"))]


def cu10() -> list[Measured]:
    """Count misprogrammed followers; test-cubeftl.c compares the bytes."""
    run, rate = saturated("one in 1000 bad")["cubeftl"], 0.001
    followers = run["mode_pages"]["follower"] / 3
    repeated, moved = counter(run, "repeated_programs"), counter(
        run, "programmed_rewrite_units") / 3
    # Some data were overwritten before the policy could relocate them.
    holds = (run["verified"] and abs(repeated / followers / rate - 1) < 0.4
             and repeated * 0.95 <= moved <= repeated)
    return [measured(holds=holds, shown=f"{repeated} of {followers:.0f}, {moved:.0f} moved, "
                     + ("clean" if run["verified"] else "failed"))]


def cu11() -> list[Measured]:
    """Measure the gains of cubeFTL and of cubeFTL- with collection, on two sizes of device."""
    result = []
    for runs in results("cubeftl-collected", "device", "policy").values():
        gains = [cube_gain(runs, policy) for policy in ("cubeftl", "cubeftl_minus")]
        result.append(measured(gains[0], shown=row(gains)))
    return result


def cu_a() -> list[Measured]:
    """Ablate cubeFTL: bursts of writes, then reads of old data."""
    with falsely(mutants=without_rules("cube-margin-unspent")):
        skips = bursts()["cubeftl_minus"]
    runs = bursts()
    with falsely(mutants=without_rules("cube-references-not-learned")):
        before = retries(old_reads(YEAR)["cubeftl"])
    after = retries(old_reads(YEAR)["cubeftl"])
    rates = [burst_gain(runs | {"skips": skips}, name)
             for name in ("vertftl", "skips", "cubeftl_minus", "cubeftl")]
    times = [array_program_us(run) for run in (runs["pageftl"], skips, runs["cubeftl_minus"])]
    return [
        measured(rates[1], holds=rates[1] > 0 and times[1] < times[0]),
        measured(*rates[1:3], holds=rates[2] > rates[1] and times[2] < times[1]),
        measured(*rates[2:], holds=rates[3] > rates[2] + 5),
        measured(before, after, digits=2, holds=after < before / 2),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "CU-2": cu2,
    "CU-3": cu3,
    "CU-4": cu4,
    "CU-5": cu5,
    "CU-6": cu6,
    "CU-7": cu7,
    "CU-8": cu8,
    "CU-9": cu9,
    "CU-10": cu10,
    "CU-11": cu11,
    "CU-A": cu_a,
}
