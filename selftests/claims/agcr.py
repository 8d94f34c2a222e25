# SPDX-License-Identifier: GPL-2.0-only
"""Claims about AGCR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from selftests.claims import standins
from selftests.claims.rows import (
    Claim,
    claim,
    counter,
    identity,
    known_miss,
    mean,
    means_of,
    measure,
    row,
    saving,
    words,
)
from selftests.claims.runs import Json, simulate
from selftests.claims.streams import trace_directory, volumes

# The paper's device but for its size; queues as in the paper's simulator, an order of arrival for
# each chip that owns its addresses.
AGCR_DEVICE = words("--profile fast16 --allocate static --order fcfs --fill sequential "
                    "--fill-valid 60%")
SMALL = words("--blocks 16")


def played(path: Path, policies: str, *arguments: str) -> dict[str, Json]:
    """Run policies on a record file; real traces get the whole device."""
    size = () if trace_directory() else SMALL
    return simulate(*AGCR_DEVICE, *size, "--trace", str(path), "--arrival", "trace",
                    "--policy", policies, *arguments)


# Where all that is medium needs the second sensing level in the voltage model, as in the talk, and
# no read is repeated. Less worn, a new page is read at the fine level whatever its step was; of
# old ones some need further references, which cost every step the same.
AGCR_WORN = words("--cell_model voltage --cycles 13000 --age 0")


def of_costs(*arguments: str) -> tuple[float, float, float, float]:
    """Changes by cheap writes and by cheap reads, in percent: reads, writes; reads, writes."""
    cheap_write = ("--program", "450us", "--read", "310us")
    cheap_read = ("--program", "800us", "--read", "70us")
    changes = []
    for path in volumes().values():
        runs = [played(path, "traditional", *costs, *arguments)["traditional"]
                for costs in ((), cheap_write, cheap_read)]
        base, coarse, fine = (means_of(run) for run in runs)
        changes.append([100 * (a / b - 1) for a, b in zip((*coarse, *fine), base * 2, strict=True)])
    read_dear, write_cheap, read_cheap, write_dear = (
        mean(column) for column in zip(*changes, strict=True))
    return read_dear, write_cheap, read_cheap, write_dear


def ag2() -> list[Claim]:
    """Fixed combinations of costs against medium ones, by the profile's rate of errors and worn."""
    result = []
    names = ", ".join(volumes())
    for state, arguments in (("", ()), ("13,000 cycles: ", AGCR_WORN)):
        read_dear, write_cheap, read_cheap, write_dear = of_costs(*arguments)
        result += [
            claim("AG-2", f"{state}{what}", f"{paper:+d}", f"{ours:+.1f}",
                  f"+-{tolerance} ({names})", abs(ours - paper) <= tolerance)
            for what, paper, ours, tolerance in (
                ("LCW/HCR against MCW/MCR: write response in %", -26, write_cheap, 5),
                ("HCW/LCR against MCW/MCR: read response in %", -54, read_cheap, 14),
                ("spread of writes between the extremes in points", 61, write_dear - write_cheap,
                 10),
                ("spread of reads between the extremes in points", 114, read_dear - read_cheap, 17),
            )
        ]
    return result


def ag3() -> list[Claim]:
    """What streams are made of; a stand-in is made like that, so this is about real traces."""
    result = []
    for name, path in volumes().items():
        found = standins.census(standins.read_records(path))
        shares = (100 * found.read_only_share, 100 * found.write_only_share)
        holds = shares[0] > 85 - 5 and shares[1] > 91 - 5
        kind = claim if trace_directory() else identity
        result.append(kind("AG-3", f"{name}: % of reads on read-only, writes on write-only data",
                           "> 85, > 91", row(shares), "-5", holds))
    return result


# Where the three step sizes need one, two and three sensing levels in the voltage model, beside
# neighbours that were programmed later. Rates of the constant model are such for all data.
AGCR_AGED = words("--cell_model voltage --cycles 2000 --age 30d")


def ag4() -> list[Claim]:
    """AGCR against its rivals; hardly anybody queues, and li writes nearly all at high cost."""
    result = []
    for rival, paper in (("traditional", "> 0"), ("li", "> 0 (32, 22)")):
        for name, path in volumes().items():
            runs = played(path, "traditional,li,agcr")
            ours = [saving(a, b) for a, b in zip(means_of(runs["agcr"]), means_of(runs[rival]),
                                                 strict=True)]
            what = f"{name}: response below {rival} in %, reads and writes"
            result.append(claim("AG-4", what, paper, row(ours), "sign", min(ours) > 0))
    for name, path in volumes().items():
        runs = played(path, "traditional,agcr", *AGCR_AGED)
        ours = [saving(a, b) for a, b in zip(*map(means_of, (runs["agcr"], runs["traditional"])),
                                             strict=True)]
        lost = sum(counter(run, "read_lost_units") for run in runs.values())
        what = f"{name}, errors by wear and age: below traditional in %, reads, writes; lost"
        result.append(claim("AG-4", what, "> 0, 0", f"{row(ours)}; {lost}", "sign",
                            min(ours) > 0 and not lost))
    return result


def ag5() -> list[Claim]:
    """Re-writes, with both readings of the rule; they depend on how often data is read."""
    result: list[Claim] = []
    most = 1.2
    for rule, what in (("any", "whatever is not of high cost"), ("low", "what is of low cost")):
        shares = [measure(played(path, "agcr", "--rewrite", rule)["agcr"], "rewrite_percent")
                  for path in volumes().values()]
        ours = f"{row(shares, 2)}, mean {mean(shares):.2f}"
        result.append(claim("AG-5", f"re-writes in % of accesses ({what}), {', '.join(volumes())}",
                            "<= 1", ours, f"mean <= {most:.2f}", mean(shares) <= most))
        most = mean(shares) / 2
    return result


def ag6() -> list[Claim]:
    """Windows; the simulator's writes of low cost are those that the rule calls write-only."""
    result = []
    for name, path in volumes().items():
        accesses = standins.read_records(path)
        found = [standins.identification(accesses, window) for window in range(3)]
        runs = [played(path, "agcr", "--history", str(window), "--rewrite", "off", "--gc", "0%")
                for window in range(3)]
        low = [run["agcr"]["mode_pages"]["coarse"] for run in runs]
        accuracy = [100 * share_ for share_, _ in found]
        same = low == [writes for _, writes in found]
        ours = row(accuracy) + ("" if same else f"; but low-cost writes are {low}")
        result.append(claim("AG-6", f"{name}: identification accuracy in %, windows 0 1 2",
                            "rises", ours, "order", accuracy == sorted(set(accuracy)) and same))
    return result


def ag7() -> list[Claim]:
    """Memory: a byte for each mapping entry, in which the paper's fields take 1 + h bits."""
    device = (*AGCR_DEVICE, *SMALL, "--requests", "0", "--rewrite", "off", "--policy",
              "traditional,agcr")
    runs = simulate(*device)
    units = runs["agcr"]["geometry"]["units"]
    more = (runs["agcr"]["memory_bytes"] - runs["traditional"]["memory_bytes"]) / units
    return [known_miss("AG-7", "bytes of a mapping entry for tag and history of up to 2 accesses",
                       "1 + h bits", f"{more:.3f}", "one byte", 1 <= more < 1.001)]


def ag_a() -> list[Claim]:
    """AGCR part by part: mean response of reads and of writes in us, re-writes in percent."""
    result = []
    for name, path in volumes().items():
        steps = [played(path, policy, *words(options))[policy] for policy, options in (
            ("traditional", ""), ("agcr", "--rewrite off"), ("agcr", "--rewrite low"),
            ("agcr", ""))]
        reads, writes = zip(*map(means_of, steps), strict=True)
        cells = [f"{row(means_of(run), 0)} {measure(run, 'rewrite_percent'):.2f}" for run in steps]
        result.append(Claim("AG-A", f"{name}: traditional (us of reads, writes; re-writes in %)",
                            "-", cells[0], "-", "report"))
        for i, what, holds in (
            (1, "+ writes of low cost: faster", writes[1] < 0.85 * writes[0]),
            (2, "+ re-writes of what is of low cost: hardly", reads[2] < reads[1]),
            (3, "+ re-writes of all but high cost: reads faster", reads[3] < 0.7 * reads[2]),
        ):
            result.append(claim("AG-A", f"{name}: {what}", "-", cells[i], "order", holds))
    return result


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "AG-2": ag2,
    "AG-3": ag3,
    "AG-4": ag4,
    "AG-5": ag5,
    "AG-6": ag6,
    "AG-7": ag7,
    "AG-A": ag_a,
}
