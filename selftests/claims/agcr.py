# SPDX-License-Identifier: GPL-2.0-only
"""Claims about AGCR."""

from __future__ import annotations

from collections.abc import Callable

from selftests.claims import census
from selftests.claims.register import Measured, measured
from selftests.claims.rows import (
    averaged,
    counter,
    mean,
    means_of,
    measure,
    response_us,
    row,
    saving,
)
from selftests.claims.runs import Json, run_and_read
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


def ag2() -> list[Measured]:
    """Measure fixed cost combinations, at the profile's error rate and worn."""
    result = []
    for state in ("the profile's rate of errors", "worn"):
        read_dear, write_cheap, read_cheap, write_dear = of_costs(state)
        result += [*map(measured, (write_cheap, read_cheap, write_dear - write_cheap,
                                   read_dear - read_cheap))]
    return result


def ag3() -> list[Measured]:
    """Count the page classes of streams; stand-ins are built so."""
    found = [census.census(census.read_records(path)) for path in volumes().values()]
    return [averaged(100 * one.read_only_share for one in found),
            averaged(100 * one.write_only_share for one in found)]


def schemes(state: str = "the profile's rate of errors") -> dict[str, dict[str, Json]]:
    """Return the runs of AGCR, its ablations and its rivals, by volume name."""
    found = results("agcr-schemes", "trace", "scheme", state=state)
    return dict(zip(volumes(), found.values(), strict=True))


def savings(scheme: str, rival: str,
            state: str = "the profile's rate of errors") -> tuple[list[float], list[float]]:
    """Return by how much a scheme shortens the response of reads and of writes, by volume."""
    pairs = [[saving(a, b) for a, b in zip(means_of(runs[scheme]), means_of(runs[rival]),
                                           strict=True)] for runs in schemes(state).values()]
    reads, writes = zip(*pairs, strict=True)
    return [*reads], [*writes]


def ag4() -> list[Measured]:
    """Measure AGCR against its rivals; queues are short, and li writes nearly all at high cost."""
    lost = sum(counter(run, "read_lost_units") for runs in schemes("aged").values()
               for run in runs.values())
    reads, writes = savings("agcr", "traditional", "aged")
    return [
        *map(averaged, savings("agcr", "traditional")),
        *map(averaged, savings("agcr", "li")),
        measured(mean(reads), mean(writes), holds=min(*reads, *writes) > 0 and not lost),
    ]


def ag5() -> list[Measured]:
    """Count re-writes under both readings of the rule; they depend on how often data is read."""
    return [averaged([measure(runs[rule], "rewrite_percent") for runs in schemes().values()], 2)
            for rule in ("agcr", "agcr, low")]


def ag6() -> list[Measured]:
    """Vary the window; the simulator's low-cost writes are those that the rule calls write-only."""
    windows = results("agcr-windows", "trace", "history")
    accuracies, right = [], True
    for name, path in volumes().items():
        accesses = census.read_records(path)
        found = [census.identification(accesses, window) for window in range(3)]
        low = [run["mode_pages"]["coarse"] for run in windows[name.partition(" ")[2]].values()]
        accuracy = [100 * share_ for share_, _ in found]
        right = right and accuracy == sorted(set(accuracy)) and low == [n for _, n in found]
        accuracies.append(accuracy)
    return [measured(*map(mean, zip(*accuracies, strict=True)), holds=right)]


def ag7() -> list[Measured]:
    """Measure the bytes for a mapping entry, and the device's geometry."""
    runs = results("agcr-memory")
    geo = runs["agcr"]["geometry"]
    more = (runs["agcr"]["memory_bytes"] - runs["traditional"]["memory_bytes"]) / geo["units"]
    return [measured(more, digits=3),
            measured(*(runs["agcr"]["parameters"][part]
                       for part in ("channels", "chips", "planes")), digits=0)]


def reads_of_own_data(policy: str, *pace: str) -> float:
    """Return the mean response of reads in us of data that a policy wrote at this pace."""
    common = ("--size=8KiB", "--footprint=1%")
    run = run_and_read(
        ("--profile=fast16", "--blocks=16", "--fill=none", f"--policy={policy}", *common, *pace,
         "--workload=sequential", "--write-share=100%", "--requests=12000"),
        ("--utilisation=10%", "--write-share=0", "--requests=50000", *common))
    return response_us(run, "read")


def ag8() -> list[Measured]:
    """Compare reads of data that agcr and li wrote, idle and in a queue; count low-cost writes."""
    changes = [saving(*(reads_of_own_data(policy, pace) for policy in ("agcr", "li")))
               for pace in ("--utilisation=2%", "--depth=512")]
    low = [mean(run["mode_pages"]["coarse"] / counter(run, "host_write_units") * 100
                for run in (by_scheme[scheme] for by_scheme in schemes().values()))
           for scheme in ("li", "agcr")]
    return [*map(measured, changes), measured(*low)]


def ag_a() -> list[Measured]:
    """Ablate AGCR: mean response of reads and of writes in us, re-writes in percent."""
    steps = ("traditional", "agcr, off", "agcr, low", "agcr")
    runs = [[by_scheme[scheme] for scheme in steps] for by_scheme in schemes().values()]
    found = [[(*means_of(run), measure(run, "rewrite_percent")) for run in by_step]
             for by_step in zip(*runs, strict=True)]
    means = [tuple(map(mean, zip(*by_volume, strict=True))) for by_volume in found]
    checks = (
        all(b[1] < 0.85 * a[1] for a, b in zip(found[0], found[1], strict=True)),
        all(b[0] < a[0] for a, b in zip(found[1], found[2], strict=True)),
        all(b[0] < 0.7 * a[0] for a, b in zip(found[2], found[3], strict=True)),
    )
    cells = [f"{row(one[:2], 0)} {one[2]:.2f}" for one in means]
    return [measured(holds=holds, shown=f"from {cells[at]} to {cells[at + 1]}")
            for at, holds in enumerate(checks)]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "AG-2": ag2,
    "AG-3": ag3,
    "AG-4": ag4,
    "AG-5": ag5,
    "AG-6": ag6,
    "AG-7": ag7,
    "AG-8": ag8,
    "AG-A": ag_a,
}
