# SPDX-License-Identifier: GPL-2.0-only
"""Claims about ApproxFTL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from selftests.claims.rows import (
    Claim,
    all_program_us,
    claim,
    compare,
    counter,
    cut,
    identity,
    known_miss,
    lifetime,
    mean,
    measure,
    near,
    program_us,
    response_us,
    row,
    saving,
    share,
    without_rules,
    words,
)
from selftests.claims.runs import Json, falsely, simulate
from selftests.claims.streams import trace_directory, traces

ALL = ("baseline", "delta_b", "vth_b", "approxftl")
SHARES = (0, 10, 30, 50, 70, 100)

# The published state of one LUN is what Algorithm 1 works on: 400,000 page writes into a
# single die fill 780 of its 1,024 blocks, so that nothing is collected.
ONE_DIE = words("--channels 1 --chips 1 --write-share 100% --requests 400000")


def stream(percent: float) -> dict[str, Json]:
    """All policies on independent tags."""
    return compare(ALL, *ONE_DIE, "--approx-share", share(percent))


def solve(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solve linear equations, the right side last, exactly; nothing if they do not suffice."""
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


def mode_times(policy: str, modes: Sequence[str], shares: Sequence[float]) -> list[float]:
    """Time of one program in each mode, in us, from as many runs as there are modes."""
    runs = [stream(percent)[policy] for percent in shares]
    equations = [
        [Fraction(run["mode_pages"][mode]) for mode in modes]
        + [Fraction(counter(run, "array_program_ns"), 1000)]
        for run in runs
    ]
    # A mode that never occurs has no time, which no tolerance allows.
    return [float(value) for value in solve(equations)] or [math.nan] * len(modes)


def kinds_explain_modes(run: Json) -> bool:
    """Whether used blocks of each kind hold what that kind must; open ones are the slack."""
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


def ax1() -> list[Claim]:
    """Service times by block kind."""
    modes = ("normal", "between", "after", "reduced")
    # 24 % and 33 % from section III-B; 25 instead of 40 steps; steps of 1.5 times the size.
    full = 700.0
    paper = [full, 0.76 * full, 0.67 * full, full * 5 / 8, full / 1.5]
    ours = [*mode_times("approxftl", modes, (10, 30, 50, 70)),
            mode_times("delta_b", ("normal", "coarse"), (30, 70))[1]]
    close = all(abs(a / b - 1) <= 0.01 for a, b in zip(ours, paper, strict=True))
    kinds = all(kinds_explain_modes(stream(percent)["approxftl"]) for percent in SHARES)
    return [
        # The profile has these times.
        identity("AX-1", "program us: precise, case b, case c, approximate, Delta_b", row(paper),
                 row(ours), "+-1 %", close),
        claim("AX-1", "mode of each page follows from the kind of its block", "always",
              "always" if kinds else "not always", "open blocks", kinds),
    ]


COLLECTING = words(
    "--channels 2 --chips 1 --blocks 256 --word_lines 16 --op 25% --write-share 100% "
    "--requests 300000 --fill sequential"
)


def collected() -> Json:
    """Return ApproxFTL's run with collection and half of the data tagged."""
    return compare(("approxftl",), *COLLECTING, "--approx-share", share(50),
                   "--fill-approx", share(50), "--verify")["approxftl"]


def ax2() -> list[Claim]:
    """Invariants; test-property-random.c looks at every block after every step."""
    runs = [
        collected(),
        compare(("approxftl",), *ONE_DIE, "--approx-share", share(50), "--verify")["approxftl"],
    ]
    bugs = sum(counter(run, "policy_bugs") for run in runs)
    verified = all(run["verified"] for run in runs)
    ours = f"{bugs} refused, audit {'clean' if verified else 'failed'}"
    return [claim("AX-2", "placements that the core's legality checks refuse; --verify",
                  "0 refused, audit clean", ours, "exact", bugs == 0 and verified)]


# What the models of the paper's section imply for independent tags, by policy.
SERVICE_SAVING = {
    "delta_b": (0.0, 3.3, 10.0, 16.7, 23.3, 33.3),
    "vth_b": (0.0, 3.8, 11.3, 18.8, 26.2, 37.5),
    "approxftl": (0.0, 6.2, 19.2, 29.7, 33.9, 37.5),
}


def ax3() -> list[Claim]:
    """Mean service time."""
    result = []
    for policy, paper in SERVICE_SAVING.items():
        runs = [stream(percent) for percent in SHARES]
        ours = [saving(program_us(run[policy]), program_us(run["baseline"])) for run in runs]
        what = f"{policy}: write service saving in % at a = 0 .1 .3 .5 .7 1"
        # A checkerboard block's first position may take a precise page even without tags.
        holds = near(ours, paper, 1.5) and abs(ours[0]) < 0.001
        result.append(claim("AX-3", what, row(paper), row(ours), "+-1.5", holds))
    return result + [
        claim("AX-3", f"approxftl: % of pages in checkerboards at a = .1 .3 .4 .5 .7, {what}",
              row(paper, 0), row(ours), "+-1.5", near(ours, paper, 1.5))
        for what, options, paper in CHECKERBOARDS
        for ours in [[checkerboard_share(share(percent), *options)
                      for percent in (10, 30, 40, 50, 70)]]
    ]


# Shares of pages in blocks that are filled in strict turns, from the same models: the paper's
# Fig. 6, where there are few but in one application.
CHECKERBOARDS: tuple[tuple[str, tuple[str, ...], tuple[float, ...]], ...] = (
    ("independent tags", (), (18, 42, 48, 50, 42)),
    ("tags in runs of 64", ("--approx-run", "64"), (1, 1, 1, 2, 1)),
)


def checkerboard_share(approx: str, *options: str) -> float:
    """Half of the pages of such blocks are precise ones between approximate ones."""
    run = compare(("approxftl",), *ONE_DIE, "--approx-share", approx, *options)["approxftl"]
    modes = run["mode_pages"]
    return 200 * float(modes["between"] / sum(modes.values()))


def ax4() -> list[Claim]:
    """Response time of writes that queue."""
    result = []
    for percent in (50, 55, 60):
        runs = compare(ALL, "--write-share", share(100), "--approx-share", share(50),
                       "--utilisation", share(percent), "--requests", "200000")
        means = [response_us(runs[policy], "write") for policy in ALL]
        cuts = [saving(mean, means[0]) for mean in means]
        busy = runs["baseline"]["luns"]["mean_utilisation"]
        ordered = means == sorted(means, reverse=True) and len(set(means)) == len(means)
        ours = f"{cuts[3]:.1f} > {cuts[2]:.1f} > {cuts[1]:.1f} > 0"
        what = f"write response cut in %, baseline {busy:.2f} busy: ApproxFTL > Vth_b > Delta_b"
        holds = 35 <= cuts[3] <= 55 and ordered and abs(busy - percent / 100) <= 0.01
        result.append(claim("AX-4", what, "35..55, ordered", ours, "band", holds))
    return result


HALF_FULL = words("--blocks 128 --fill sequential --fill-valid 50% --fill-approx 50% "
                  "--footprint 50% --requests 200000")


def ax5() -> list[Claim]:
    """Response time of reads, which wait behind writes."""
    result = []
    for writes in (50, 75, 0):
        runs = compare(("baseline", "approxftl"), *HALF_FULL, "--write-share", share(writes),
                       "--approx-share", share(50), "--utilisation", share(50))
        cut = saving(response_us(runs["approxftl"], "read"), response_us(runs["baseline"], "read"))
        what = f"read response cut in % with {writes} % writes"
        need, holds = (">= 15", cut >= 15) if writes else ("< 2", abs(cut) < 2)
        result.append(claim("AX-5", what, need, f"{cut:.1f}", "band", holds))
    return result


def low_share(run: Json) -> float:
    """Share of erases with reduced voltage."""
    return counter(run, "array_low_erases") / counter(run, "array_erases")


def ax6() -> list[Claim]:
    """Lifetime; wear comes from the blocks, f from the counters of erases."""
    result = []
    gains: dict[str, list[float]] = {"vth_b": [], "approxftl": []}
    for percent in (50, 60, 70):
        # Filling erases nothing: blocks and counters have seen the same erases.
        runs = compare(("vth_b", "approxftl"), *COLLECTING, "--approx-share", share(percent),
                       "--fill-approx", share(percent))
        for policy, run in runs.items():
            f = low_share(run)
            implied = 100 * (1 / (1 - 0.38 * f) - 1)
            gains[policy].append(lifetime(run))
            what = f"{policy}: lifetime gain in % at a = {percent / 100}, f = {f:.3f}"
            result.append(identity("AX-6", what, f"{implied:.2f}", f"{gains[policy][-1]:.2f}",
                                   "+-0.3", abs(gains[policy][-1] - implied) <= 0.3))
    ordered = all(a >= b > 0 for a, b in zip(gains["vth_b"], gains["approxftl"], strict=True))
    ours = ", ".join(f"{a:.1f} / {b:.1f}"
                     for a, b in zip(gains["vth_b"], gains["approxftl"], strict=True))
    result.append(claim("AX-6", "lifetime gain in % of Vth_b / ApproxFTL", "Vth_b >= ApproxFTL > 0",
                        ours, "order", ordered))
    return result


def ax7() -> list[Claim]:
    """Energy."""
    run = collected()
    erase = counter(run, "erase_energy_pj") / counter(run, "array_erases") / 1e6
    paper = 3.3 * 25e-3 * 3.5e-3 * 1e6
    result = [identity("AX-7", "energy of an erase in uJ", f"{paper:.2f}", f"{erase:.2f}", "+-1 %",
                       abs(erase / paper - 1) <= 0.01)]
    runs = stream(50)
    for policy in ALL[1:]:
        energy = saving(*(measure(runs[name], "program_energy_mean_pj")
                          for name in (policy, "baseline")))
        service = saving(program_us(runs[policy]), program_us(runs["baseline"]))
        result.append(identity("AX-7", f"{policy}: write energy saving in % at a = 0.5",
                               f"{service:.2f} (service)", f"{energy:.2f}", "+-1 %",
                               abs(energy / service - 1) <= 0.01))
    return result


def approximate_copies(threshold: int) -> float:
    """How often approximate data of the start is copied as such, per page.

    The host writes nothing approximate: every approximate program is such a copy. It writes
    a tenth of the device over and over, and wear levelling moves the rest about. A copy
    counts for its whole block, so the mean stays below the bound; the C tests follow single
    pages.
    """
    run = compare(("approxftl",), *words(
        "--channels 1 --chips 1 --blocks 128 --word_lines 4 --op 30% --write-share 100% "
        "--requests 150000 --fill random --fill-approx 100% --footprint 10% --wear_gap 4"),
        "--promote", f"{threshold}")["approxftl"]
    copies: int = run["class_pages"]["approximate"]
    units: int = run["geometry"]["units"]
    return copies / units


def ax8() -> list[Claim]:
    """Bit errors, and their accumulation."""
    result = []
    for policy in ("vth_b", "approxftl"):
        run = compare((policy,), *words(
            "--blocks 128 --fill sequential --fill-valid 50% --fill-approx 100% --footprint 50% "
            "--write-share 0% --requests 100000"))[policy]
        flipped = counter(run, "read_flipped_bits") / counter(run, "read_approx_units") / 65536
        # The default of rber_approx, drawn for each read.
        result.append(identity("AX-8", f"{policy}: bit error rate of fresh approximate pages",
                               "7.2e-4", f"{flipped:.3e}", "+-5 %",
                               abs(flipped / 7.2e-4 - 1) <= 0.05))
    copies = [approximate_copies(threshold) for threshold in (1, 2, 3)]
    holds = copies[0] == 0 and 0 < copies[1] <= 1 and copies[1] < copies[2] <= 2
    result.append(claim("AX-8", "approximate copies of a page at threshold 1, 2, 3",
                        "<= 0 1 2", row(copies, 3), "exact", holds))
    return result


# The paper's device has 1,024 blocks in a LUN here, too: ApproxFTL keeps up to ten of them
# open (five in each pool) and holds five back for moves, Baseline one and one. That is spare
# space which only a LUN of many blocks has; in one of 512, where 15 % of spare are 77 blocks,
# it would cost more than hot and cold pools gain from a stream as flat as the first.
SKEWED = words(
    "--channels 1 --chips 1 --blocks 1024 --word_lines 16 --op 15% --write-share 100% "
    "--approx-share 50% --fill sequential --fill-approx 50% --fill-overwrite 100% "
    "--warmup 100000 --requests 200000"
)


def ax9() -> list[Claim]:
    """Write amplification with hot and cold data."""
    result = []
    for name, options in (
        ("80 % on 20 %", "--hot-share 80% --hot-range 20%"),
        ("90 % on 10 %", "--hot-share 90% --hot-range 10%"),
        ("Zipf 0.9", "--workload zipf --zipf-skew 0.9"),
    ):
        runs = compare(("baseline", "approxftl"), *SKEWED, *words(options))
        base, ours = (runs[name]["write_amplification"]["total"] for name in runs)
        result.append(claim("AX-9", f"WAF of ApproxFTL / Baseline, {name}", "<= 1.02",
                            f"{ours / base:.3f} ({ours:.2f} / {base:.2f})", "direction",
                            ours <= 1.02 * base))
    runs = compare(("baseline", "approxftl"), *SKEWED, "--blocks", "512",
                   *words("--hot-share 80% --hot-range 20%"))
    base, ours = (runs[name]["write_amplification"]["total"] for name in runs)
    return [*result, known_miss(
        "AX-9", "the same, 80 % on 20 %, half as many blocks", "<= 1.02", f"{ours / base:.3f}",
        "1.02..1.2: open blocks are spare space", 1.02 < ours / base <= 1.2)]


# Shares and runs of approximate writes that could stand for the paper's applications: neither is
# published, nor are their traces.
TAGGED = (("10", "1"), ("10", "64"), ("30", "64"), ("50", "1"), ("50", "64"), ("70", "64"))
APPLICATION_LOAD = words("--channels 2 --chips 2 --blocks 512 --fill sequential --fill-valid 50% "
                         "--footprint 50% --fill_overwrite 100% --write-share 75% --utilisation "
                         "55% --requests 200000")


def tagged_streams() -> dict[str, tuple[str, ...]]:
    """Return arguments by the name of a stream: real traces, whose records have tags, or ours."""
    if trace_directory():
        return {name: words(f"--trace {path} --arrival trace --fill sequential --fill-valid 50%")
                for name, path in traces().items()}
    return {f"{approx} % in runs of {run}": (*APPLICATION_LOAD, "--size", "8KiB", "--approx-share",
                                             f"{approx}%", "--fill-approx", f"{approx}%",
                                             "--approx-run", run)
            for approx, run in TAGGED}


def ax_t() -> list[Claim]:
    """What the paper says of its applications, which cannot all be true (register I-1)."""
    found: dict[str, list[float]] = {}
    streams = tagged_streams()
    for arguments in streams.values():
        runs = simulate("--profile", "tcad18", "--policy", "baseline,approxftl", *arguments)
        base, ours = runs["baseline"], runs["approxftl"]
        for what, value in (
            ("write response cut in %", cut(*(response_us(r, "write") for r in (ours, base)))),
            ("read response cut in %", cut(*(response_us(r, "read") for r in (ours, base)))),
            ("energy cut in %", cut(*(r["energy"]["total_pj"] for r in (ours, base)))),
            ("lifetime gained in %",
             lifetime(ours) if counter(ours, "array_erases") else math.nan),
            ("write amplification cut in %",
             cut(*(r["write_amplification"]["total"] for r in (ours, base)))),
        ):
            found.setdefault(what, []).append(value)
    kind = "real traces" if trace_directory() else "synthetic"
    papers = ("45.64, from 5.15 to 46.67", "41.38", "24.5, from 9.9 to 26.8", "5.75", "6.64")
    return [
        Claim("AX-T", f"{what}, {kind}: {', '.join(streams)}", paper,
              f"{row(cuts)}, mean {mean(cuts):.1f}", "-", "report")
        for (what, cuts), paper in zip(found.items(), papers, strict=True)
    ]


# The enhancements of ApproxFTL, from the last to the first: without all of them but its rule of
# promotion it does what Vth_b does.
ENHANCEMENTS = ("approx-no-checkerboard", "approx-no-two-phase", "approx-no-wear-rule",
                "approx-precise-copied-first", "approx-one-pool")


@dataclass(frozen=True)
class Step:
    """What a part of ApproxFTL changes."""

    host_us: float
    all_us: float
    amplification: float
    lifetime: float
    peak: float

    @classmethod
    def of(cls, run: Json) -> Step:
        """Look at a run."""
        wear = run["blocks"]["wear"]
        return cls(program_us(run), all_program_us(run), run["write_amplification"]["total"],
                   lifetime(run), wear["max"] / wear["mean"])

    @property
    def moved_us(self) -> float:
        """Mean time of a program of moved data."""
        return (self.all_us - self.host_us) / (self.amplification - 1)

    def text(self) -> str:
        """In a cell of the table."""
        return (f"{self.host_us:.1f} {self.all_us:.0f} {self.amplification:.3f} "
                f"{self.lifetime:.1f} {self.peak:.2f}")


def approx_step(policy: str, *missing: str) -> Step:
    """Run a policy without some of its parts on hot and cold data, half of it approximate."""
    with falsely(mutants=without_rules(*missing)):
        run = compare((policy,), *SKEWED, *words("--hot-share 80% --hot-range 20%"))[policy]
    return Step.of(run)


#: A small device: blocks wear unevenly enough for the rule, and are many times collected.
SMALL_BLOCKS = words("--channels 1 --chips 1 --blocks 128 --op 25% --write-share 100% "
                     "--fill sequential")


def ax_rules() -> list[Claim]:
    """Two rules that show on loads of their own, with and without each, before there are pools."""
    def steps(rule: str, *load: str) -> tuple[Step, Step]:
        found = []
        for after in (0, 1):
            missing = ENHANCEMENTS[ENHANCEMENTS.index(rule) + after:]
            with falsely(mutants=without_rules(*missing)):
                found.append(Step.of(compare(("approxftl",), *SMALL_BLOCKS, *load)["approxftl"]))
        return found[0], found[1]

    without_rule, with_rule = steps("approx-no-wear-rule", *words(
        "--word_lines 4 --requests 400000 --approx-share 50% --fill-approx 50% "
        "--hot-share 95% --hot-range 5%"))
    precise_first, approx_first = steps("approx-precise-copied-first", *words(
        "--word_lines 2 --requests 100000 --approx-share 60% --fill-approx 60% --promote 7"))
    return [
        claim("AX-A", "wear rule, 95 % on 5 %, small device: most worn / mean, without, with", "-",
              row([without_rule.peak, with_rule.peak], 2), "-5 %; five seeds -11 to -20",
              with_rule.peak < 0.95 * without_rule.peak),
        claim("AX-A", "approximate data copied first, promote=7: us of a moved unit, without, with",
              "-", row([precise_first.moved_us, approx_first.moved_us]),
              "-1 %; five seeds -2.2 to -2.5",
              approx_first.moved_us < 0.99 * precise_first.moved_us),
    ]


def ax_a() -> list[Claim]:
    """ApproxFTL part by part, each on top of those above it; what does not show is reported."""
    checks: tuple[tuple[str, str, Callable[[Step, Step], bool] | None], ...] = (
        ("Vth_b", "writes faster than Baseline's, wears less",
         lambda a, b: a.host_us < b.host_us and a.lifetime > 10),
        ("+ checkerboard (and promotion)", "writes faster, moves slower: they become precise",
         lambda a, b: a.host_us < 0.95 * b.host_us and a.all_us > b.all_us),
        ("+ two-phase", "moves faster; of what phase 1 takes less is erased gently",
         lambda a, b: a.all_us < b.all_us and a.lifetime < b.lifetime),
        ("+ wear rule", "does not show here", None),
        ("+ approximate data copied first", "does not show here", None),
        ("+ pools", "writes faster, all programs take less",
         lambda a, b: a.all_us < 0.98 * b.all_us and a.host_us < 0.95 * b.host_us),
    )
    steps = [approx_step("baseline"), approx_step("vth_b")]
    steps += [approx_step("approxftl", *ENHANCEMENTS[i + 1:]) for i in range(len(ENHANCEMENTS))]
    columns = "us to program a unit: host's, all; WAF; lifetime %; most worn / mean"
    return [
        Claim("AX-A", f"Baseline ({columns})", "-", steps[0].text(), "-", "report"),
        *(claim("AX-A", f"{name}: {what}", "-", now.text(), "order", holds(now, then)) if holds
          else Claim("AX-A", f"{name}: {what}", "-", now.text(), "-", "report")
          for (name, what, holds), (then, now) in zip(checks, pairwise(steps), strict=True)),
        *ax_rules(),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "AX-1": ax1,
    "AX-2": ax2,
    "AX-3": ax3,
    "AX-4": ax4,
    "AX-5": ax5,
    "AX-6": ax6,
    "AX-7": ax7,
    "AX-8": ax8,
    "AX-9": ax9,
    "AX-A": ax_a,
    "AX-T": ax_t,
}
