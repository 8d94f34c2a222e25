# SPDX-License-Identifier: GPL-2.0-only
"""Claims about ApproxFTL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from selftests.claims import classifiers
from selftests.claims.real_traces import trace_directory
from selftests.claims.register import Measured, measured
from selftests.claims.rows import (
    all_program_us,
    averaged,
    counter,
    cut,
    lifetime,
    measure,
    program_us,
    response_us,
    saving,
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results

ALL = ("baseline", "delta_b", "vth_b", "approxftl")
SHARES = ("0%", "10%", "30%", "50%", "70%", "100%")


def on_one_die(policy: str, shares: Sequence[str] = SHARES) -> list[Json]:
    """Return the runs on one die with these shares of independently tagged pages."""
    found = results("approx-one-die", "approx-share", policy=policy)
    return [found[share] for share in shares]


def solve(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solve linear equations exactly, the right side last; return [] if they are singular."""
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


def mode_times(policy: str, modes: Sequence[str], shares: Sequence[str]) -> list[float]:
    """Return the program time of each mode in us, solved from as many runs as there are modes."""
    runs = on_one_die(policy, shares)
    equations = [
        [Fraction(run["mode_pages"][mode]) for mode in modes]
        + [Fraction(counter(run, "array_program_ns"), 1000)]
        for run in runs
    ]
    # A mode that never occurs has no time; NaN fails every tolerance.
    return [float(value) for value in solve(equations)] or [math.nan] * len(modes)


def kinds_explain_modes(run: Json) -> bool:
    """Tell whether used blocks of each kind hold the modes of that kind, open blocks excepted."""
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


def ax1() -> list[Measured]:
    """Measure program times by block kind: precise, cases b and c, approximate, Delta_b."""
    modes = ("normal", "between", "after", "reduced")
    ours = [*mode_times("approxftl", modes, SHARES[1:-1]),
            mode_times("delta_b", ("normal", "coarse"), ("30%", "70%"))[1]]
    kinds = all(map(kinds_explain_modes, on_one_die("approxftl")))
    return [measured(*ours), measured(shown="always" if kinds else "not always", holds=kinds)]


def collected() -> Json:
    """Return ApproxFTL's run with garbage collection and half of the data tagged."""
    run: Json = results("approx-collected", tags="0.5", policy="approxftl")["approxftl"]
    return run


def ax2() -> list[Measured]:
    """Count illegal placements at the end; test-property-random.c checks after each step."""
    runs = [collected(), *on_one_die("approxftl", ["50%"])]
    bugs = sum(counter(run, "policy_bugs") for run in runs)
    verified = all(run["verified"] for run in runs)
    return [measured(bugs, holds=bugs == 0 and verified,
                     shown=f"{bugs} refused, audit {'clean' if verified else 'failed'}")]


def ax3() -> list[Measured]:
    """Measure the saving of service time, and the share of pages in checkerboards."""
    result = []
    for policy in ALL[1:]:
        ours = [saving(program_us(run), program_us(base))
                for run, base in zip(on_one_die(policy), on_one_die("baseline"), strict=True)]
        # Even without tags, the first position of a checkerboard block may take a precise page.
        result.append(measured(*ours, holds=abs(ours[0]) < 0.001))
    return result + [
        measured(*(checkerboard_share(run)
                   for share, run in results(name, "approx-share", policy="approxftl").items()
                   if share not in ("0%", "100%")))
        for name in ("approx-one-die", "approx-runs")
    ]


def checkerboard_share(run: Json) -> float:
    """Return the share of pages in checkerboard blocks, half of whose pages are precise."""
    modes = run["mode_pages"]
    return 200 * float(modes["between"] / sum(modes.values()))


def ax4() -> list[Measured]:
    """Measure the response time of writes that queue."""
    result = []
    for use, runs in results("approx-queues", "utilisation", "policy").items():
        means = [response_us(runs[policy], "write") for policy in ALL]
        cuts = [saving(mean, means[0]) for mean in means]
        busy = runs["baseline"]["luns"]["mean_utilisation"]
        ordered = means == sorted(means, reverse=True) and len(set(means)) == len(means)
        result.append(measured(cuts[3], shown=f"{cuts[3]:.1f} > {cuts[2]:.1f} > {cuts[1]:.1f}",
                               holds=ordered and abs(busy - float(use[:-1]) / 100) <= 0.01))
    return result


def ax5() -> list[Measured]:
    """Measure the response time of reads, which wait behind writes."""
    cuts: dict[tuple[str, str, str], float] = {}
    for use, by_share in results("approx-reads", "utilisation", "write-share", "policy").items():
        for share, runs in by_share.items():
            for kind in ("read", "write"):
                cuts[use, share, kind] = cut(*(response_us(runs[policy], kind)
                                               for policy in ("approxftl", "baseline")))
    busy = {share: cuts["50%", share, "read"] for share in ("50%", "75%", "0%", "90%")}
    less = [cuts[use, "50%", "write"] - cuts[use, "50%", "read"] for use in ("50%", "2%")]
    light = cuts["2%", "90%", "read"]
    return [
        *(measured(busy[share]) for share in ("50%", "75%", "0%")),
        measured(busy["90%"], shown=f"{busy['90%']:.1f}; 2 % busy: {light:.1f}"),
        measured(less[0], shown=f"{less[0]:.1f}; 2 % busy: {less[1]:.1f}"),
    ]


def low_share(run: Json) -> float:
    """Return the share of erases at low voltage."""
    return counter(run, "array_low_erases") / counter(run, "array_erases")


def ax6() -> list[Measured]:
    """Measure lifetimes; wear comes from the blocks, the share of low erases from counters."""
    gains: dict[str, list[float]] = {"vth_b": [], "approxftl": []}
    far = []
    for runs in results("approx-collected", "tags", "policy").values():
        # The fill erases nothing, so that blocks and counters have seen the same erases.
        for policy, run in runs.items():
            gains[policy].append(lifetime(run))
            far.append(abs(lifetime(run) - 100 * (1 / (1 - 0.38 * low_share(run)) - 1)))
    over = [a - b for a, b in zip(*gains.values(), strict=True)]
    return [measured(max(far), digits=2), measured(*gains["approxftl"]),
            measured(*over, holds=min(over) > 0)]


def ax7() -> list[Measured]:
    """Measure energy."""
    run = collected()
    runs = results("approx-one-die", approx_share="50%")
    far, total = [], []
    for policy in ALL[1:]:
        energy = saving(*(measure(runs[name], "program_energy_mean_pj")
                          for name in (policy, "baseline")))
        far.append(abs(energy - saving(*(program_us(runs[name])
                                         for name in (policy, "baseline")))))
    for policy in ALL[:3]:
        total.append(saving(*(runs[name]["energy"]["total_pj"]
                              for name in ("approxftl", policy))))
    erase = counter(run, "erase_energy_pj") / counter(run, "array_erases") / 1e6
    return [measured(erase, digits=2), measured(max(far), digits=2), measured(*total)]


def approximate_copies(run: Json) -> float:
    """Return the mean number of approximate copies per page of initially approximate data.

    A copy counts for its whole block, so the mean stays below the bound; the C tests follow single
    pages.
    """
    copies: int = run["class_pages"]["approximate"]
    units: int = run["geometry"]["units"]
    return copies / units


def ax8() -> list[Measured]:
    """Measure bit error rates, which are drawn for each read, and count copies."""
    flipped = [counter(run, "read_flipped_bits") / counter(run, "read_approx_units") / 65536
               for run in results("approx-fresh").values()]
    copies = [*map(approximate_copies, results("approx-promotion", "promote").values())]
    bounded = all(low <= value <= low + 1 for low, value in zip((-1, 0, 1), copies, strict=True))
    return [measured(*(1e4 * rate for rate in flipped), digits=2),
            measured(*copies, digits=3, holds=bounded)]


def amplifications(runs: dict[str, Json]) -> list[float]:
    """Return the write amplification of Baseline and of ApproxFTL."""
    return [runs[name]["write_amplification"]["total"] for name in ("baseline", "approxftl")]


def ax9() -> list[Measured]:
    """Measure the change of write amplification on hot and cold data, and on half the blocks."""
    loads = [*results("approx-skewed", "stream", "policy", blocks=1024).values(),
             results("approx-skewed", blocks=512)]
    changes = [100 * (ours / base - 1) for base, ours in map(amplifications, loads)]
    return [measured(change) for change in changes]


def ax10() -> list[Measured]:
    """Measure the loss of accuracy on flipped bytes, floats, and mantissas, by classifier."""
    run = results("approx-fresh")["approxftl"]
    rate = counter(run, "read_flipped_bits") / counter(run, "read_approx_units") / 65536
    return [measured(*classifiers.accuracy_losses(rate, kind, bits))
            for kind, bits in (("u1", 8), ("f4", classifiers.ALL_BITS),
                               ("f4", classifiers.MANTISSA))]


def ax_t() -> list[Measured]:
    """Measure the paper's averages on streams with tags; records of real traces carry them."""
    found: dict[str, list[float]] = {}
    streams = (results("approx-traces", "trace", "policy") if trace_directory() else
               results("approx-tags", "stream", "policy"))
    for runs in streams.values():
        base, ours = runs["baseline"], runs["approxftl"]
        for what, value in (
            ("write", cut(*(response_us(r, "write") for r in (ours, base)))),
            ("read", cut(*(response_us(r, "read") for r in (ours, base)))),
            ("energy", cut(*(r["energy"]["total_pj"] for r in (ours, base)))),
            ("lifetime", lifetime(ours) if counter(ours, "array_erases") else math.nan),
            ("amplification", cut(*(r["write_amplification"]["total"] for r in (ours, base)))),
        ):
            found.setdefault(what, []).append(value)
    ends = [[min(found[what]), max(found[what])] for what in ("write", "energy")]
    return [*map(averaged, found.values()), *(measured(*pair) for pair in ends)]


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
    def of(cls, run: Json) -> Step:
        """Extract the measures from a run."""
        wear = run["blocks"]["wear"]
        return cls(program_us(run), all_program_us(run), run["write_amplification"]["total"],
                   lifetime(run), wear["max"] / wear["mean"])

    @property
    def moved_us(self) -> float:
        """Return the mean program time of relocated data in us."""
        return (self.all_us - self.host_us) / (self.amplification - 1)

    def text(self) -> str:
        """Format the measures for a cell of the table."""
        return (f"{self.host_us:.1f} {self.all_us:.0f} {self.amplification:.3f} "
                f"{self.lifetime:.1f} {self.peak:.2f}")


def approx_step(policy: str, *missing: str) -> Step:
    """Run a policy without some enhancements on hot and cold data, half of it approximate."""
    with falsely(mutants=without_rules(*missing)):
        return Step.of(results("approx-skewed", policy=policy, stream="80 % on 20 %",
                               blocks=1024)[policy])


def without_and_with(rule: str, load: str) -> tuple[Step, Step]:
    """Run ApproxFTL without pools on a load that shows a rule, without and with that rule."""
    found = []
    for after in (0, 1):
        missing = ENHANCEMENTS[ENHANCEMENTS.index(rule) + after:]
        with falsely(mutants=without_rules(*missing)):
            found.append(Step.of(results("approx-rules", load=load)["approxftl"]))
    return found[0], found[1]


def ax_a() -> list[Measured]:
    """Ablate ApproxFTL, each enhancement on top of those above, where it shows an effect."""
    checks: dict[int, Callable[[Step, Step], bool]] = {
        1: lambda a, b: a.host_us < b.host_us and a.lifetime > 10,
        2: lambda a, b: a.host_us < 0.95 * b.host_us and a.all_us > b.all_us,
        3: lambda a, b: a.all_us < b.all_us and a.lifetime < b.lifetime,
        6: lambda a, b: a.all_us < 0.98 * b.all_us and a.host_us < 0.95 * b.host_us,
    }
    steps = [approx_step("baseline"), approx_step("vth_b")]
    steps += [approx_step("approxftl", *ENHANCEMENTS[i + 1:]) for i in range(len(ENHANCEMENTS))]
    shown = [f"from {a.text()} to {b.text()}" for a, b in pairwise(steps)]
    without_rule, with_rule = without_and_with("approx-no-wear-rule", "for the wear rule")
    precise_first, approx_first = without_and_with("approx-precise-copied-first",
                                                   "for the order of copies")
    return [
        *(measured(holds=holds(steps[at], steps[at - 1]), shown=shown[at - 1])
          for at, holds in checks.items()),
        measured(without_rule.peak, with_rule.peak, digits=2,
                 holds=with_rule.peak < 0.95 * without_rule.peak),
        measured(precise_first.moved_us, approx_first.moved_us,
                 holds=approx_first.moved_us < 0.99 * precise_first.moved_us),
    ]


CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "AX-1": ax1,
    "AX-2": ax2,
    "AX-3": ax3,
    "AX-4": ax4,
    "AX-5": ax5,
    "AX-6": ax6,
    "AX-7": ax7,
    "AX-8": ax8,
    "AX-9": ax9,
    "AX-10": ax10,
    "AX-A": ax_a,
    "AX-T": ax_t,
}
