# SPDX-License-Identifier: GPL-2.0-only
"""Claims about cubeFTL."""

from __future__ import annotations

from collections.abc import Callable

from selftests.claims.models import physics
from selftests.claims.real_traces import trace_directory
from selftests.claims.rows import (
    Claim,
    array_program_us,
    claim,
    counter,
    cut,
    identity,
    measure,
    near,
    read_us,
    response_us,
    row,
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results, volumes

BY_LOOPS = "by the loop model"
#: States of wear and retention in the paper.
MONTH, YEAR = "2K cycles, a month", "2K cycles, a year"


def saturated(followers: str = BY_LOOPS) -> dict[str, Json]:
    """Return runs of single-word-line writes that keep all dies of the paper's device busy."""
    return results("cubeftl-writes", followers=followers)


def cu2() -> list[Claim]:
    """Check the order of leaders and followers."""
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
        result.append(claim(
            "CU-2", f"{policy}: leader : follower pages, open blocks of a chip, refused",
            f"1 : 3, <= {open_blocks}, 0",
            f"1 : {followers / leaders:.3f}, {opened / geo['luns']:.2f}, {bugs}",
            "open blocks", holds))
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


def cu3() -> list[Claim]:
    """Compare the throughput of continuous writes."""
    result = []
    for f in (0.30, 0.33):
        runs = saturated(f"{f:.0%} faster")
        gain, paper = cube_gain(runs), 100 * (1 / (1 - 0.75 * f) - 1)
        result.append(identity("CU-3", f"cubeFTL over pageFTL in %, followers {f:.0%} faster",
                               f"{paper:.1f}", f"{gain:.1f}", "+-3", abs(gain - paper) <= 3))
    runs = saturated()
    f = follower_saving(runs["cubeftl"])
    gain, implied = cube_gain(runs), 100 * (1 / (1 - 0.75 * f) - 1)
    result += [
        claim("CU-3", "mean saving of followers on new flash in %, loop model by layer", "~ 30",
              f"{100 * f:.1f}", "27..33", 0.27 <= f <= 0.33),
        identity("CU-3", f"cubeFTL over pageFTL in %, followers {100 * f:.1f} % faster by the "
                 "model", f"{implied:.1f}", f"{gain:.1f}", "+-3", abs(gain - implied) <= 3),
    ]
    return result


def bursts(followers: str = BY_LOOPS) -> dict[str, Json]:
    """Run the schemes on bursts that fit into the followers of the open blocks."""
    return results("cubeftl-write-bursts", followers=followers)


def burst_gain(runs: dict[str, Json], policy: str) -> float:
    """Return the gain in burst throughput over pageFTL in percent.

    Writes between bursts complete at once; writes of a burst complete as fast as the buffer drains.
    """
    return 100 * (response_us(runs["pageftl"], "write") / response_us(runs[policy], "write") - 1)


def cu4() -> list[Claim]:
    """Compare bursts that fit into the followers."""
    result = []
    for followers in ("30 % faster", "33 % faster", BY_LOOPS):
        runs = bursts(followers)
        gain, minus = (burst_gain(runs, policy) for policy in ("cubeftl", "cubeftl_minus"))
        what = f"bursts, followers {followers}: over pageFTL in %, cubeFTL > cubeFTL-"
        result.append(claim("CU-4", what, "40..49", f"{gain:.1f} > {minus:.1f}", "40..49, order",
                            40 <= gain <= 49 and gain > minus + 5))
    return result


def cu5() -> list[Claim]:
    """Compare vertFTL, which knows the layers without measuring them, with pageFTL."""
    runs = saturated()
    cut, gain = 100 * (1 - array_program_us(runs["vertftl"]) / 700), cube_gain(runs, "vertftl")
    return [identity("CU-5", "vertFTL: program time in %, throughput over pageFTL in %",
                     "~ -8, small", f"-{cut:.1f}, +{gain:.1f}", "-7..-9, 0..+10",
                     7 <= cut <= 9 and 0 < gain <= 10)]


def old_reads(state: str) -> dict[str, Json]:
    """Return runs that read single pages written before the device aged."""
    return results("cubeftl-old-reads", state=state)


def retries(run: Json) -> float:
    """Return the mean number of retries per page read."""
    return counter(run, "read_retries") / counter(run, "array_reads")


def cu6() -> list[Claim]:
    """Compare read retries, and the memory of the reference table."""
    result = []
    for name, expected in ((MONTH, 0.3 * 3), (YEAR, 0.9 * 3)):
        runs = old_reads(name)
        plain, default, learned = (retries(run) for run in runs.values())
        less = cut(learned, default)
        lost = sum(counter(run, "read_lost_units") for run in runs.values())
        times = [read_us(run) / 60 for run in runs.values()]
        implied = [1 + plain, 1 + default, 1 + learned]
        result += [
            claim("CU-6", f"{name}: reads of baseline, pageFTL, cubeFTL over one sensing, lost",
                  f"{row(implied, 2)}, 0", f"{row(times, 2)}, {lost}",
                  "1 + retries; baseline pays them, too",
                  lost == 0 and plain == default > learned and near(times, implied, 0.01)),
            identity("CU-6", f"{name}: retries of a read, default references", f"{expected:.2f}",
                     f"{default:.2f}", "+-0.15", abs(default - expected) <= 0.15),
            claim("CU-6", f"{name}: fewer with the reference table, in %", "66", f"{less:.1f}",
                  "+-8", abs(less - 66) <= 8),
        ]
    runs = results("cubeftl-memory")
    more = runs["cubeftl"]["memory_bytes"] - runs["pageftl"]["memory_bytes"]
    geo = runs["cubeftl"]["geometry"]
    # In addition to the table, the policy keeps the measurements of leaders for two blocks per die,
    # and both policies keep some bytes per die about their open blocks.
    active = geo["luns"] * 2 * geo["layers"] * 2
    layers = geo["blocks"] * geo["layers"]
    each = (more - active) / layers
    result.append(identity("CU-6", "bytes of the reference table for each layer", "2",
                           f"{each:.2f}", "+-0.05", abs(each - 2) <= 0.05))
    return result


def mixed(state: str) -> dict[str, float]:
    """Return cubeFTL's gain in percent on a half-full device, by the share of writes."""
    found = results("cubeftl-mixed", "write-share", "policy", state=state)
    return {writes: cube_gain(runs) for writes, runs in found.items()}


def cu7() -> list[Claim]:
    """Compare the loads that gain in each device state."""
    fresh, old = ([mixed(state)[writes] for writes in ("90%", "50%", "10%")]
                  for state in ("fresh", YEAR))
    runs = bursts()
    bursty = burst_gain(runs, "cubeftl")
    return [
        claim("CU-7", "fresh: gain in % of bursts of writes, of 90 50 10 % writes",
              "falls", row([bursty, *fresh]), "order",
              [bursty, *fresh] == sorted([bursty, *fresh], reverse=True)),
        claim("CU-7", "2K cycles, a year: gain in % of 90 50 10 % writes", "most where most reads",
              row(old), "10 % writes: above fresh, and largest",
              old[2] > fresh[2] + 5 and old[2] == max(old)),
    ]


def cu8() -> list[Claim]:
    """Compare the tail of write latency."""
    runs = bursts()
    p90 = {name: run["timing"]["write_response"]["p90_ns"] / 1e6 for name, run in runs.items()}
    ours = [p90["cubeftl"], p90["cubeftl_minus"], p90["pageftl"]]
    return [claim("CU-8", "bursts: 90th percentile of writes in ms, cubeFTL <= cubeFTL-, pageFTL",
                  "clearly less", row(ours), "order", ours[0] < 0.95 * ours[1] < ours[2])]


def cu9() -> list[Claim]:
    """Compare the largest gain; the paper's six workloads are programs on file systems."""
    if trace_directory():
        gains = [*map(cube_gain, results("cubeftl-traces", "trace", "policy").values())]
        # No scheme can speed up writes that the write buffer absorbs. A buffer that drains faster
        # even absorbs fewer: an overwrite finds its page still buffered less often.
        return [claim("CU-9", f"throughput over pageFTL in %: {', '.join(volumes())}", "up to 48",
                      row(gains), "-5..50", min(gains) >= -5 and max(gains) <= 50)]
    gain = max(burst_gain(bursts(), "cubeftl"), mixed("fresh")["100%"])
    # Bursts gain 48 % if each follower omits three loops, the last value of CU-1.
    less = -float(physics()["CU-1"].ours.split()[-2])
    best = burst_gain(bursts(f"{less:.1f} % faster"), "cubeftl")
    return [
        claim("CU-9", "largest gain over pageFTL in %, fresh (synthetic bursts)", "48",
              f"{gain:.1f}", "30..50", 30 <= gain <= 50),
        claim("CU-9", f"the same, all followers {less:.1f} % faster: three loops less", "48",
              f"{best:.1f}", "+-3", abs(best - 48) <= 3),
    ]


def cu10() -> list[Claim]:
    """Check misprogrammed followers; test-cubeftl.c compares the bytes."""
    run, rate = saturated("one in 1000 bad")["cubeftl"], 0.001
    followers = run["mode_pages"]["follower"] / 3
    repeated, moved = counter(run, "repeated_programs"), counter(
        run, "programmed_rewrite_units") / 3
    # Some data were overwritten before the policy could relocate them.
    holds = (run["verified"] and abs(repeated / followers / rate - 1) < 0.4
             and repeated * 0.95 <= moved <= repeated)
    return [claim("CU-10", "bad followers, programmed once more, audit",
                  f"{followers * rate:.0f}, all, clean",
                  f"{repeated}, {moved:.0f}, {'clean' if run['verified'] else 'failed'}",
                  "chance; overwritten data", holds)]


def cu_a() -> list[Claim]:
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
        claim("CU-A", "vertFTL: bursts over pageFTL in %", "-", f"{rates[0]:.1f}", "order",
              rates[0] > 0),
        claim("CU-A", "cubeFTL- without margins, needless verifies left out: the same; program us",
              "-", f"{rates[1]:.1f}; {times[1]:.0f}", "above pageFTL",
              rates[1] > 0 and times[1] < times[0]),
        claim("CU-A", "+ margins of leaders", "-", f"{rates[2]:.1f}; {times[2]:.0f}", "order",
              rates[2] > rates[1] and times[2] < times[1]),
        claim("CU-A", "+ leaders and followers by the write buffer (cubeFTL)", "-",
              f"{rates[3]:.1f}", "order", rates[3] > rates[2] + 5),
        claim("CU-A", "2K cycles, a year: retries of a read without and with references", "-",
              row([before, after], 2), "half", after < before / 2),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "CU-2": cu2,
    "CU-3": cu3,
    "CU-4": cu4,
    "CU-5": cu5,
    "CU-6": cu6,
    "CU-7": cu7,
    "CU-8": cu8,
    "CU-9": cu9,
    "CU-10": cu10,
    "CU-A": cu_a,
}
