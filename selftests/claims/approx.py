# SPDX-License-Identifier: GPL-2.0-only
"""Claims about ApproxFTL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from selftests.claims.real_traces import trace_directory
from selftests.claims.rows import (
    Claim,
    all_program_us,
    claim,
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
    without_rules,
)
from selftests.claims.runs import Json, falsely
from selftests.claims.studies import results, volumes

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


def ax1() -> list[Claim]:
    """Compare program times by block kind."""
    modes = ("normal", "between", "after", "reduced")
    # Section III-B has 24 % and 33 %; 25 instead of 40 steps; steps 1.5 times as large.
    full = 700.0
    paper = [full, 0.76 * full, 0.67 * full, full * 5 / 8, full / 1.5]
    ours = [*mode_times("approxftl", modes, SHARES[1:-1]),
            mode_times("delta_b", ("normal", "coarse"), ("30%", "70%"))[1]]
    close = all(abs(a / b - 1) <= 0.01 for a, b in zip(ours, paper, strict=True))
    kinds = all(map(kinds_explain_modes, on_one_die("approxftl")))
    return [
        # This cannot fail: the profile's times come from the same figures.
        identity("AX-1", "program us: precise, case b, case c, approximate, Delta_b", row(paper),
                 row(ours), "+-1 %", close),
        claim("AX-1", "mode of each page follows from the kind of its block", "always",
              "always" if kinds else "not always", "open blocks", kinds),
    ]


def collected() -> Json:
    """Return ApproxFTL's run with garbage collection and half of the data tagged."""
    run: Json = results("approx-collected", tags="0.5", policy="approxftl")["approxftl"]
    return run


def ax2() -> list[Claim]:
    """Check invariants at the end; test-property-random.c checks each block after each step."""
    runs = [collected(), *on_one_die("approxftl", ["50%"])]
    bugs = sum(counter(run, "policy_bugs") for run in runs)
    verified = all(run["verified"] for run in runs)
    ours = f"{bugs} refused, audit {'clean' if verified else 'failed'}"
    return [claim("AX-2", "placements that the core's legality checks refuse; --verify",
                  "0 refused, audit clean", ours, "exact", bugs == 0 and verified)]


# Saving of service time that the section's models give for independent tags, by policy.
SERVICE_SAVING = {
    "delta_b": (0.0, 3.3, 10.0, 16.7, 23.3, 33.3),
    "vth_b": (0.0, 3.8, 11.3, 18.8, 26.2, 37.5),
    "approxftl": (0.0, 6.2, 19.2, 29.7, 33.9, 37.5),
}


def ax3() -> list[Claim]:
    """Compare mean service times."""
    result = []
    for policy, paper in SERVICE_SAVING.items():
        ours = [saving(program_us(run), program_us(base))
                for run, base in zip(on_one_die(policy), on_one_die("baseline"), strict=True)]
        what = f"{policy}: write service saving in % at a = 0 .1 .3 .5 .7 1"
        # Even without tags, the first position of a checkerboard block may take a precise page.
        holds = near(ours, paper, 1.5) and abs(ours[0]) < 0.001
        result.append(claim("AX-3", what, row(paper), row(ours), "+-1.5", holds))
    return result + [
        claim("AX-3", f"approxftl: % of pages in checkerboards at a = .1 .3 .4 .5 .7, {what}",
              row(paper, 0), row(ours), "+-1.5", near(ours, paper, 1.5))
        for what, name, paper in CHECKERBOARDS
        for ours in [[checkerboard_share(run)
                      for share, run in results(name, "approx-share", policy="approxftl").items()
                      if share not in ("0%", "100%")]]
    ]


# Percent of pages in checkerboard blocks, from the same models. In the paper's Fig. 6 they are few
# in all applications but one.
CHECKERBOARDS: tuple[tuple[str, str, tuple[float, ...]], ...] = (
    ("independent tags", "approx-one-die", (18, 42, 48, 50, 42)),
    ("tags in runs of 64", "approx-runs", (1, 1, 1, 2, 1)),
)


def checkerboard_share(run: Json) -> float:
    """Return the share of pages in checkerboard blocks, half of whose pages are precise."""
    modes = run["mode_pages"]
    return 200 * float(modes["between"] / sum(modes.values()))


def ax4() -> list[Claim]:
    """Compare the response time of writes that queue."""
    result = []
    for use, runs in results("approx-queues", "utilisation", "policy").items():
        means = [response_us(runs[policy], "write") for policy in ALL]
        cuts = [saving(mean, means[0]) for mean in means]
        busy = runs["baseline"]["luns"]["mean_utilisation"]
        ordered = means == sorted(means, reverse=True) and len(set(means)) == len(means)
        ours = f"{cuts[3]:.1f} > {cuts[2]:.1f} > {cuts[1]:.1f} > 0"
        what = f"write response cut in %, baseline {busy:.2f} busy: ApproxFTL > Vth_b > Delta_b"
        holds = 35 <= cuts[3] <= 55 and ordered and abs(busy - float(use[:-1]) / 100) <= 0.01
        result.append(claim("AX-4", what, "35..55, ordered", ours, "band", holds))
    return result


def ax5() -> list[Claim]:
    """Compare the response time of reads, which wait behind writes."""
    result = []
    for writes, runs in results("approx-reads", "write-share", "policy").items():
        cut = saving(response_us(runs["approxftl"], "read"), response_us(runs["baseline"], "read"))
        what = f"read response cut in % with {writes[:-1]} % writes"
        need, holds = (">= 15", cut >= 15) if writes != "0%" else ("< 2", abs(cut) < 2)
        result.append(claim("AX-5", what, need, f"{cut:.1f}", "band", holds))
    return result


def low_share(run: Json) -> float:
    """Return the share of erases at low voltage."""
    return counter(run, "array_low_erases") / counter(run, "array_erases")


def ax6() -> list[Claim]:
    """Compare lifetimes; wear comes from the blocks, f from the erase counters."""
    result = []
    gains: dict[str, list[float]] = {"vth_b": [], "approxftl": []}
    for tags, runs in results("approx-collected", "tags", "policy").items():
        # The fill erases nothing, so that blocks and counters have seen the same erases.
        for policy, run in runs.items():
            f = low_share(run)
            implied = 100 * (1 / (1 - 0.38 * f) - 1)
            gains[policy].append(lifetime(run))
            what = f"{policy}: lifetime gain in % at a = {tags}, f = {f:.3f}"
            result.append(identity("AX-6", what, f"{implied:.2f}", f"{gains[policy][-1]:.2f}",
                                   "+-0.3", abs(gains[policy][-1] - implied) <= 0.3))
    ordered = all(a >= b > 0 for a, b in zip(gains["vth_b"], gains["approxftl"], strict=True))
    ours = ", ".join(f"{a:.1f} / {b:.1f}"
                     for a, b in zip(gains["vth_b"], gains["approxftl"], strict=True))
    result.append(claim("AX-6", "lifetime gain in % of Vth_b / ApproxFTL", "Vth_b >= ApproxFTL > 0",
                        ours, "order", ordered))
    return result


def ax7() -> list[Claim]:
    """Compare energy."""
    run = collected()
    erase = counter(run, "erase_energy_pj") / counter(run, "array_erases") / 1e6
    paper = 3.3 * 25e-3 * 3.5e-3 * 1e6
    result = [identity("AX-7", "energy of an erase in uJ", f"{paper:.2f}", f"{erase:.2f}", "+-1 %",
                       abs(erase / paper - 1) <= 0.01)]
    runs = results("approx-one-die", approx_share="50%")
    for policy in ALL[1:]:
        energy = saving(*(measure(runs[name], "program_energy_mean_pj")
                          for name in (policy, "baseline")))
        service = saving(program_us(runs[policy]), program_us(runs["baseline"]))
        result.append(identity("AX-7", f"{policy}: write energy saving in % at a = 0.5",
                               f"{service:.2f} (service)", f"{energy:.2f}", "+-1 %",
                               abs(energy / service - 1) <= 0.01))
    return result


def approximate_copies(run: Json) -> float:
    """Return the mean number of approximate copies per page of initially approximate data.

    A copy counts for its whole block, so the mean stays below the bound; the C tests follow single
    pages.
    """
    copies: int = run["class_pages"]["approximate"]
    units: int = run["geometry"]["units"]
    return copies / units


def ax8() -> list[Claim]:
    """Compare bit error rates, and how errors accumulate with copies."""
    result = []
    for policy, run in results("approx-fresh").items():
        flipped = counter(run, "read_flipped_bits") / counter(run, "read_approx_units") / 65536
        # 7.2e-4 is the default of rber_approx; errors are drawn for each read.
        result.append(identity("AX-8", f"{policy}: bit error rate of fresh approximate pages",
                               "7.2e-4", f"{flipped:.3e}", "+-5 %",
                               abs(flipped / 7.2e-4 - 1) <= 0.05))
    copies = [*map(approximate_copies, results("approx-promotion", "promote").values())]
    holds = copies[0] == 0 and 0 < copies[1] <= 1 and copies[1] < copies[2] <= 2
    result.append(claim("AX-8", "approximate copies of a page at threshold 1, 2, 3",
                        "<= 0 1 2", row(copies, 3), "exact", holds))
    return result


def amplifications(runs: dict[str, Json]) -> list[float]:
    """Return the write amplification of Baseline and of ApproxFTL."""
    return [runs[name]["write_amplification"]["total"] for name in ("baseline", "approxftl")]


def ax9() -> list[Claim]:
    """Compare write amplification on hot and cold data."""
    result = []
    for name, runs in results("approx-skewed", "stream", "policy", blocks=1024).items():
        base, ours = amplifications(runs)
        result.append(claim("AX-9", f"WAF of ApproxFTL / Baseline, {name}", "<= 1.02",
                            f"{ours / base:.3f} ({ours:.2f} / {base:.2f})", "direction",
                            ours <= 1.02 * base))
    base, ours = amplifications(results("approx-skewed", blocks=512))
    return [*result, known_miss(
        "AX-9", "the same, 80 % on 20 %, half as many blocks", "<= 1.02", f"{ours / base:.3f}",
        "1.02..1.2: open blocks are spare space", 1.02 < ours / base <= 1.2)]


def ax_t() -> list[Claim]:
    """Check the paper's statements on its applications, which conflict (register I-1)."""
    found: dict[str, list[float]] = {}
    # Records of real traces carry tags.
    streams = (results("approx-traces", "trace", "policy") if trace_directory() else
               results("approx-tags", "stream", "policy"))
    for runs in streams.values():
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
    names = ", ".join(volumes() if trace_directory() else streams)
    papers = ("45.64, from 5.15 to 46.67", "41.38", "24.5, from 9.9 to 26.8", "5.75", "6.64")
    return [
        Claim("AX-T", f"{what}, {kind}: {names}", paper,
              f"{row(cuts)}, mean {mean(cuts):.1f}", "-", "report")
        for (what, cuts), paper in zip(found.items(), papers, strict=True)
    ]


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


def ax_rules() -> list[Claim]:
    """Ablate two rules, each on a load that shows its effect, before pools are added."""
    def steps(rule: str, load: str) -> tuple[Step, Step]:
        found = []
        for after in (0, 1):
            missing = ENHANCEMENTS[ENHANCEMENTS.index(rule) + after:]
            with falsely(mutants=without_rules(*missing)):
                found.append(Step.of(results("approx-rules", load=load)["approxftl"]))
        return found[0], found[1]

    without_rule, with_rule = steps("approx-no-wear-rule", "for the wear rule")
    precise_first, approx_first = steps("approx-precise-copied-first", "for the order of copies")
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
    """Ablate ApproxFTL, each enhancement on top of those above; report those without effect."""
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
