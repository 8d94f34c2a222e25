# SPDX-License-Identifier: GPL-2.0-only
"""Claims about ReSSD and RSS-RAID."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from selftests.claims import census
from selftests.claims.real_traces import converted, trace_directory, traces
from selftests.claims.register import Measured, measured
from selftests.claims.rows import (
    averaged,
    counter,
    measure,
    read_us,
    response_us,
    row,
    saving,
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results


def on_plane(**where: Any) -> dict[str, Json]:
    """Run both policies on one plane with enough idle time for background collection."""
    usual: Json = {"candidates": 16, "virtual_layers": "off"}
    return results("ressd-plane", policy="tlc", **usual) | results(
        "ressd-plane", policy="ressd", **usual | where)


@dataclass(frozen=True)
class Gain:
    """ReSSD relative to the TLC device, as ratios; writes per erase in percent."""

    pages: float
    moved: float
    writes_per_erase: float
    collection: float


def ratios(base: Json, run: Json) -> Gain:
    """Compare two runs on the same stream."""
    def times(key: str) -> float:
        return measure(run, key) / measure(base, key)

    # A trace that rewrites a few pages leaves no valid pages in victims, and nothing is relocated.
    ends = [measure(one, "moved_pages") for one in (base, run)]
    moved = ends[1] / ends[0] if ends[0] else math.inf if ends[1] else 1.0
    return Gain(times("consumed_pages"), moved, 100 * (times("writes_per_erase") - 1),
                times("collection_ns"))


def ressd_gain(runs: dict[str, Json]) -> Gain:
    """Compare the runs of both policies."""
    return ratios(runs["tlc"], runs["ressd"])


def line_pages(run: Json) -> float:
    """Return the mean number of pages programmed per reprogrammable word line between erases."""
    again = counter(run, "reprogrammed_pages")
    modes: dict[str, int] = run["mode_pages"]
    return 2 + again / ((modes["mlc"] - again) / 2)


def re2() -> list[Measured]:
    """Count pages of a word line at the end; test-ressd.c checks them after each program."""
    run = on_plane()["ressd"]
    bugs = counter(run, "policy_bugs")
    pages = line_pages(run)
    # The limit covers word lines that the warm-up left partly programmed.
    return [measured(pages, digits=3, holds=bugs == 0 and run["verified"] and pages > 3.9)]


def service_us(run: Json) -> float:
    """Return the service time of all writes of a run in us."""
    total: int = run["timing"]["write_service"]["sum_ns"]
    return float(total / 1000)


def re3() -> list[Measured]:
    """Measure the times of one-shot, two bits, reprogram, both reads, erase, each by its use."""
    # The first write is cold. Its updates open four word lines, then reprogram them.
    one_shot, two_of, last_two = map(service_us, results("ressd-one-page", "warmup").values())
    cold, hot = results("ressd-reads", "data").values()
    erased = on_plane()["tlc"]
    erase = counter(erased, "array_erase_ns") / counter(erased, "array_erases") / 1000
    return [measured(one_shot, two_of / 2, last_two - two_of / 2, read_us(cold), read_us(hot),
                     erase, digits=0)]


def percent(gain: Gain) -> tuple[float, float, float]:
    """Return the changes of pages consumed, of writes per erase, of collection time in percent."""
    return 100 * (gain.pages - 1), gain.writes_per_erase, 100 * (gain.collection - 1)


def re5() -> list[Measured]:
    """Measure writes per erase with less spare space and one candidate; pages of a hot page."""
    at90 = ressd_gain(results("ressd-space", space="90 % valid"))
    return [measured(at90.writes_per_erase),
            measured(ressd_gain(on_plane(candidates=1)).writes_per_erase),
            measured(100 * 3 / line_pages(on_plane()["ressd"]))]


def array(members: int = 4) -> dict[str, Json]:
    """Run RAID-5 of TLC planes and of ReSSD planes."""
    return results("rss-raid", array=f"{members} devices")


def free_blocks(run: Json) -> int:
    """Return the number of free blocks at the end."""
    return sum(run["luns"]["free_blocks"])


def change_of(value: Callable[..., float], runs: dict[str, Json], *arguments: str) -> float:
    """Return the change from TLC to ReSSD in percent."""
    return -saving(value(runs["ressd"], *arguments), value(runs["tlc"], *arguments))


def free_after_a_while() -> tuple[list[float], list[float]]:
    """Return TLC's use of free blocks in short runs, and ReSSD's change, both in percent."""
    fresh, *later = results("ressd-array", "on", "policy", on=[
        "1 request", "15000 requests", "30000 requests", "45000 requests"]).values()
    used = [saving(free_blocks(runs["tlc"]), free_blocks(fresh["tlc"])) for runs in later]
    return used, [change_of(free_blocks, runs) for runs in later]


# Capacity in bytes of the planes to which traced addresses are folded. The stream repeats until the
# planes have been written about twice; the paper defines what is hot.
FOLDED = 1024 * 384 * 86 // 100 * 16384


@dataclass(frozen=True)
class Played:
    """Both policies on one trace: in an array, with virtual super layers, and on one device."""

    raid: dict[str, Json]
    virtual: dict[str, Json]
    alone: dict[str, Json]
    larger: dict[str, Json]


@functools.cache
def on_trace(path: Path) -> Played:
    """Replay a trace on all these devices."""
    def play(data_members: int, on: str) -> dict[str, Json]:
        capacity = data_members * FOLDED // 2**20 * 2**20
        folded = converted(path, f"--fold={capacity}", name=f"{path.stem}-{capacity}")
        assert folded, "it has been read before"
        written = sum(one.pages * census.PAGE for one in census.read_records(folded)
                      if one.write)
        repeat = max(1, 2 * capacity // max(1, written))
        return results("ressd-traces", on=on, given={
            "trace": folded.stem, "repeat": min(repeat, 1000)})

    return Played(play(3, "4 devices"), play(3, "4 devices, virtual super layers"),
                  play(3, "one device"), play(5, "6 devices"))


def traced(of: Callable[[Played], Sequence[float]]) -> list[Measured]:
    """Measure some figures on each real trace that fills the array."""
    found = [of(played) for played in map(on_trace, traces().values())
             if all(counter(run, "array_erases") for run in played.larger.values())]
    return [*map(averaged, zip(*found, strict=True))]


def response_change(runs: dict[str, Json], kind: str = "write") -> float:
    """Return the change of a response time from TLC to ReSSD in percent."""
    return -saving(*(response_us(runs[policy], kind) for policy in ("ressd", "tlc")))


def re6() -> list[Measured]:
    """Measure RSS-RAID on a stand-in for the 15 volumes that matches only their hot share."""
    if trace_directory():
        found = traced(lambda played: (*percent(ressd_gain(played.raid)),
                                       *[response_change(played.raid)] * 2))
        return [*found, *[measured(math.nan)] * 7]
    runs = array()
    moved = [counter(runs["ressd"], f"programmed_{cause}_units") for cause in ("gc", "rewrite")]
    parts = [measure(runs["ressd"], "consumed_pages") - sum(moved), *moved]
    # Without a write buffer a write waits for its program: 2675 or 2705 us instead of 3000.
    unbuffered = results("ressd-array", on="no buffer")
    _, later = free_after_a_while()
    return [
        *map(measured, percent(ressd_gain(runs))),
        measured(response_change(unbuffered)),
        measured(response_change(runs)),
        measured(*later),
        measured(change_of(free_blocks, runs)),
        measured(100 * (ressd_gain(runs).moved - 1)),
        measured(change_of(counter, runs, "array_erases")),
        measured(*(100 * part / sum(parts) for part in parts)),
        measured(100 * (migrated(runs["ressd"]) / migrated(runs["tlc"]) - 1)),
        direct_erases(runs),
    ]


def direct_erases(runs: dict[str, Json]) -> Measured:
    """Count collected blocks without a valid page, and those of an array with much spare space."""
    roomy = results("rss-raid", array="4 devices", given={"op": "30%", "active-others": "0%"})
    direct, other = ([counter(both[policy], "gc_empty_blocks") for policy in ("tlc", "ressd")]
                     for both in (runs, roomy))
    return measured(*direct, shown=f"{row(direct, 0)}; {row(other, 0)}")


def migrated(run: Json) -> int:
    """Return the number of collected blocks that had valid pages."""
    return counter(run, "gc_blocks") - counter(run, "gc_empty_blocks")


def re7() -> list[Measured]:
    """Measure a single device for the same user data, and an array over it."""
    if trace_directory():
        return traced(lambda played: percent(ressd_gain(played.alone))[:2])
    raid, alone = ressd_gain(array()), ressd_gain(results("ressd-array", on="one device"))
    return [measured(percent(alone)[0], holds=raid.pages < alone.pages),
            measured(percent(alone)[1], holds=raid.writes_per_erase > alone.writes_per_erase)]


def re8() -> list[Measured]:
    """Measure virtual super layers: pages, writes per erase, displaced pages in percent."""
    if trace_directory():
        found = traced(lambda played: percent(ratios(played.raid["ressd"],
                                                     played.virtual["ressd"]))[:2])
        return [*found, *[measured(math.nan)] * 4]
    plain = on_plane()["ressd"]
    virtual = on_plane(virtual_layers="on")["ressd"]
    pages, writes_per_erase, collection = percent(ratios(plain, virtual))
    displaced = [counter(run, "programmed_rewrite_units") for run in (plain, virtual)]
    fewer = displaced[0] - displaced[1]
    erases = -saving(*(counter(run, "array_erases") for run in (virtual, plain)))
    return [*map(measured, (
        pages, writes_per_erase, 100 * fewer / displaced[0],
        100 * fewer / counter(plain, "host_write_units"), erases, collection))]


def re9() -> list[Measured]:
    """Write all data again after an hour; without earlier updates both devices are equal."""
    runs = results("ressd-cold")
    busy = [run["luns"]["mean_utilisation"] for run in runs.values()]
    return [measured(*percent(ressd_gain(runs)), 100 * (busy[1] / busy[0] - 1), digits=2)]


def re_a() -> list[Measured]:
    """Ablate ReSSD."""
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
        with falsely(mutants=without_rules(*missing)):
            gains.append(ressd_gain(on_plane(candidates=candidates, virtual_layers=virtual)))
    more = [b.writes_per_erase - a.writes_per_erase for a, b in pairwise(gains)]
    holds = [gains[0].writes_per_erase < 0, more[0] > 0, more[1] > 0, more[2] < 0, more[3] > 0]
    return [measured(*percent(gain)[:2], holds=good)
            for gain, good in zip(gains, holds, strict=True)]


def re10() -> list[Measured]:
    """Measure arrays of 4 and of 6 members."""
    if trace_directory():
        return traced(lambda played: [b - a for a, b in zip(
            percent(ressd_gain(played.raid))[:2], percent(ressd_gain(played.larger))[:2],
            strict=True)])
    small, large = (percent(ressd_gain(array(members))) for members in (4, 6))
    return [measured(b - a, shown=f"{b - a:+.1f}: {a:.1f}, {b:.1f}", holds=better)
            for a, b, better in ((small[0], large[0], large[0] < 0),
                                 (small[1], large[1], large[1] > 0))]


def re11() -> list[Measured]:
    """Measure parity writes; merging in the stripe cache depends on an unknown hold time."""
    if trace_directory():
        return traced(lambda played: [measure(played.raid["tlc"], "parity_percent")] * 2)
    short = measure(array()["tlc"], "parity_percent")
    longer = [measure(run, "parity_percent")
              for run in results("ressd-parity", "stripe-hold").values()]
    return [measured(short), measured(longer[-1], shown=row(longer))]


def re12() -> list[Measured]:
    """Measure devices in MLC mode: two of three pages, faster programs."""
    runs = results("ressd-mlc-mode", "load", "bits")
    tlc, mlc = runs["an array that waits"].values()
    ends = [measure(run, "writes_per_erase") for run in runs["a plane that collects"].values()]
    return [
        measured(-saving(response_us(mlc, "write"), response_us(tlc, "write"))),
        measured(100 * (mlc["geometry"]["units"] / tlc["geometry"]["units"] - 1)),
        # The paper's endurance divides erases by the largest number of cycles of a cell.
        measured(ends[1] / ends[0] * 30000 / 1500),
    ]


def re13() -> list[Measured]:
    """Measure writes per erase with the paper's threshold and both readings of its fullness."""
    return [measured(ressd_gain(runs).writes_per_erase)
            for runs in results("ressd-full", "filled", "policy").values()]


#: Options for the same stream with reads, at the usual rate and at one with idle time.
READS: tuple[Json, ...] = (
    {"write-share": "75%"},
    {"write-share": "75%", "rate": 60, "zone1": "35.6s", "zone2": "71.2s", "zone3": "142.4s"},
)


def re15() -> list[Measured]:
    """Measure the response of reads among writes in an array, at two rates."""
    return [measured(response_change(results("ressd-array", on="4 devices", given=given), "read"))
            for given in READS]


def re16() -> list[Measured]:
    """Measure super layers of 32 layers over those of two, and the shape in between."""
    gains = [ratios(on_plane()["ressd"], results(
        "ressd-plane", policy="ressd", candidates=16, virtual_layers="off",
        given={"super_layers": depth})["ressd"]) for depth in (4, 8, 16, 32, 64)]
    virtual = ratios(on_plane()["ressd"], on_plane(virtual_layers="on")["ressd"])
    pages, writes_per_erase, _ = percent(gains[3])
    writes = [gain.writes_per_erase for gain in gains]
    return [
        measured(pages),
        measured(writes_per_erase),
        measured(*writes[:4], shown=row(writes), holds=abs(writes[4] - writes[3]) < 3),
        measured(*(100 * part / whole if whole else math.nan for part, whole in zip(
            percent(virtual), (pages, writes_per_erase), strict=False))),
    ]


def re14() -> list[Measured]:
    """Measure the memory that the policy allocates; the byte of each page exists anyway."""
    runs = results("ressd-memory")
    more = (runs["ressd"]["memory_bytes"] - runs["tlc"]["memory_bytes"]) / 2**20
    capacity = runs["ressd"]["geometry"]["physical_bytes"] / 2**30
    return [measured(more, digits=2), measured(capacity, digits=0)]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "RE-2": re2,
    "RE-3": re3,
    "RE-5": re5,
    "RE-6": re6,
    "RE-7": re7,
    "RE-8": re8,
    "RE-9": re9,
    "RE-10": re10,
    "RE-11": re11,
    "RE-12": re12,
    "RE-13": re13,
    "RE-14": re14,
    "RE-15": re15,
    "RE-16": re16,
    "RE-A": re_a,
}
