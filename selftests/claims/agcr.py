# SPDX-License-Identifier: GPL-2.0-only
"""Claims about AGCR."""

from __future__ import annotations

from collections.abc import Callable

from selftests.claims import census
from selftests.claims.real_traces import trace_directory
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
)
from selftests.claims.runs import Json
from selftests.claims.studies import results, volumes


def of_costs(state: str) -> tuple[float, float, float, float]:
    """Return the change of read and write response by cheap writes, then by cheap reads, in %."""
    changes = []
    for runs in results("agcr-combinations", "trace", "costs", state=state).values():
        base, coarse, fine = map(means_of, runs.values())
        changes.append([100 * (a / b - 1) for a, b in zip((*coarse, *fine), base * 2, strict=True)])
    read_dear, write_cheap, read_cheap, write_dear = (
        mean(column) for column in zip(*changes, strict=True))
    return read_dear, write_cheap, read_cheap, write_dear


def ag2() -> list[Claim]:
    """Compare fixed cost combinations with medium costs, at the profile's error rate and worn."""
    result = []
    names = ", ".join(volumes())
    for said, state in (("", "the profile's rate of errors"), ("13,000 cycles: ", "worn")):
        read_dear, write_cheap, read_cheap, write_dear = of_costs(state)
        result += [
            claim("AG-2", f"{said}{what}", f"{paper:+d}", f"{ours:+.1f}",
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
    """Count the page classes of streams; meaningful for real traces, as stand-ins are built so."""
    result = []
    for name, path in volumes().items():
        found = census.census(census.read_records(path))
        shares = (100 * found.read_only_share, 100 * found.write_only_share)
        holds = shares[0] > 85 - 5 and shares[1] > 91 - 5
        kind = claim if trace_directory() else identity
        result.append(kind("AG-3", f"{name}: % of reads on read-only, writes on write-only data",
                           "> 85, > 91", row(shares), "-5", holds))
    return result


def schemes(state: str = "the profile's rate of errors") -> dict[str, dict[str, Json]]:
    """Return the runs of AGCR, its ablations and its rivals, by volume name."""
    found = results("agcr-schemes", "trace", "scheme", state=state)
    return dict(zip(volumes(), found.values(), strict=True))


def ag4() -> list[Claim]:
    """Compare AGCR with its rivals; queues are short, and li writes nearly all at high cost."""
    result = []
    for rival, paper in (("traditional", "> 0"), ("li", "> 0 (32, 22)")):
        for name, runs in schemes().items():
            ours = [saving(a, b) for a, b in zip(means_of(runs["agcr"]), means_of(runs[rival]),
                                                 strict=True)]
            what = f"{name}: response below {rival} in %, reads and writes"
            result.append(claim("AG-4", what, paper, row(ours), "sign", min(ours) > 0))
    for name, runs in schemes("aged").items():
        ours = [saving(a, b) for a, b in zip(*map(means_of, (runs["agcr"], runs["traditional"])),
                                             strict=True)]
        lost = sum(counter(run, "read_lost_units") for run in runs.values())
        what = f"{name}, errors by wear and age: below traditional in %, reads, writes; lost"
        result.append(claim("AG-4", what, "> 0, 0", f"{row(ours)}; {lost}", "sign",
                            min(ours) > 0 and not lost))
    return result


def ag5() -> list[Claim]:
    """Count re-writes under both readings of the rule; they depend on how often data is read."""
    result: list[Claim] = []
    most = 1.2
    for rule, what in (("agcr", "whatever is not of high cost"),
                       ("agcr, low", "what is of low cost")):
        shares = [measure(runs[rule], "rewrite_percent") for runs in schemes().values()]
        ours = f"{row(shares, 2)}, mean {mean(shares):.2f}"
        result.append(claim("AG-5", f"re-writes in % of accesses ({what}), {', '.join(volumes())}",
                            "<= 1", ours, f"mean <= {most:.2f}", mean(shares) <= most))
        most = mean(shares) / 2
    return result


def ag6() -> list[Claim]:
    """Vary the window; the simulator's low-cost writes are those that the rule calls write-only."""
    result = []
    windows = results("agcr-windows", "trace", "history")
    for name, path in volumes().items():
        accesses = census.read_records(path)
        found = [census.identification(accesses, window) for window in range(3)]
        low = [run["mode_pages"]["coarse"] for run in windows[name.partition(" ")[2]].values()]
        accuracy = [100 * share_ for share_, _ in found]
        same = low == [writes for _, writes in found]
        ours = row(accuracy) + ("" if same else f"; but low-cost writes are {low}")
        result.append(claim("AG-6", f"{name}: identification accuracy in %, windows 0 1 2",
                            "rises", ours, "order", accuracy == sorted(set(accuracy)) and same))
    return result


def ag7() -> list[Claim]:
    """Compare memory: we use a byte per mapping entry, the paper's fields take 1 + h bits."""
    runs = results("agcr-memory")
    units = runs["agcr"]["geometry"]["units"]
    more = (runs["agcr"]["memory_bytes"] - runs["traditional"]["memory_bytes"]) / units
    return [known_miss("AG-7", "bytes of a mapping entry for tag and history of up to 2 accesses",
                       "1 + h bits", f"{more:.3f}", "one byte", 1 <= more < 1.001)]


def ag_a() -> list[Claim]:
    """Ablate AGCR: mean response of reads and of writes in us, re-writes in percent."""
    result = []
    for name, runs in schemes().items():
        steps = [runs[scheme] for scheme in ("traditional", "agcr, off", "agcr, low", "agcr")]
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
