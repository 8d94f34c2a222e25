# SPDX-License-Identifier: GPL-2.0-only
"""The papers' figures beside ours: every number is computed or simulated when asked for.

Each claim is a small function that runs the simulator (or asks the physics models) and
compares. Nothing is stored but what the papers say and how far we may be from it.

    claims.py                 all of them
    claims.py AX-3 CU         one, or all that begin so
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
PHYSICS = TOP / "userspace/physics"

Json = dict[str, Any]

ALL = ("baseline", "delta_b", "vth_b", "approxftl")
SHARES = (0, 10, 30, 50, 70, 100)


@dataclass(frozen=True)
class Claim:
    """One comparison; `verdict` is "pass" or "fail"."""

    id: str
    what: str
    paper: str
    ours: str
    tolerance: str
    verdict: str


def claim(id_: str, what: str, paper: str, ours: str, tolerance: str, holds: bool) -> Claim:
    """Return a row of the table."""
    return Claim(id_, what, paper, ours, tolerance, "pass" if holds else "fail")


# ---------------------------------------------------------------- the simulator


def binary() -> Path:
    """Return the program under test."""
    build = Path(os.environ.get("AFTL_BUILD", TOP / "build"))
    return Path(os.environ.get("APPROXFTL", build / "approxftl")).absolute()


def seed() -> str:
    """Return the seed of every run."""
    return os.environ.get("CLAIMS_SEED", "1")


def share(percent: float) -> str:
    """Return an option's share; the sign tells 1% from the fraction 1."""
    return f"{percent:g}%"


@functools.cache
def simulate(*arguments: str) -> dict[str, Json]:
    """Run the simulator once for the same arguments; results by policy."""
    command = [str(binary()), "sim", *arguments, "--seed", seed(), "--json", "-", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    result = json.loads(done.stdout)
    return {run["policy"]: run | {"geometry": result["geometry"]} for run in result["runs"]}


def words(text: str) -> tuple[str, ...]:
    """Return the arguments in a line."""
    return tuple(text.split())


def compare(policies: Iterable[str], *arguments: str) -> dict[str, Json]:
    """Run the policies on one stream of page-sized requests on the paper's device."""
    common = ("--profile", "tcad18", "--size", "8KiB", "--policy", ",".join(policies))
    return simulate(*common, *arguments)


def counter(run: Json, name: str) -> int:
    """Return a counter."""
    value: int = run["counters"][name]
    return value


def program_us(run: Json) -> float:
    """Mean array time of a page of host data."""
    return counter(run, "host_program_ns") / counter(run, "host_program_pages") / 1000


def response_us(run: Json, kind: str) -> float:
    """Mean response time."""
    mean: float = run["timing"][f"{kind}_response"]["mean_ns"]
    return mean / 1000


def saving(of: float, base: float) -> float:
    """How much less, in percent."""
    return 100 * (1 - of / base)


def near(ours: Sequence[float], paper: Sequence[float], tolerance: float) -> bool:
    """Whether all pairs agree."""
    pairs = zip(ours, paper, strict=True)
    return all(abs(a - b) <= tolerance for a, b in pairs)


def row(values: Sequence[float], digits: int = 1) -> str:
    """Return numbers with blanks between them."""
    return " ".join(f"{value:.{digits}f}" for value in values)


# ---------------------------------------------------------------- ApproxFTL

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
        claim("AX-1", "program us: precise, case b, case c, approximate, Delta_b", row(paper),
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
    return result


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


def lifetime(run: Json) -> float:
    """Lifetime gained by low-voltage erases, in percent, from the wear of all blocks."""
    blocks = run["blocks"]
    return 100 * float(blocks["erase_count"]["mean"] / blocks["wear"]["mean"] - 1)


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
            result.append(claim("AX-6", what, f"{implied:.2f}", f"{gains[policy][-1]:.2f}",
                                "+-0.3", abs(gains[policy][-1] - implied) <= 0.3))
    ordered = all(a >= b for a, b in zip(gains["vth_b"], gains["approxftl"], strict=True))
    ours = ", ".join(f"{a:.1f} / {b:.1f}"
                     for a, b in zip(gains["vth_b"], gains["approxftl"], strict=True))
    result.append(claim("AX-6", "lifetime gain in % of Vth_b / ApproxFTL", "Vth_b >= ApproxFTL",
                        ours, "order", ordered))
    return result


def program_uj(run: Json) -> float:
    """Mean energy of a program in uJ."""
    return counter(run, "program_energy_pj") / counter(run, "array_programs") / 1e6


def ax7() -> list[Claim]:
    """Energy."""
    run = collected()
    erase = counter(run, "erase_energy_pj") / counter(run, "array_erases") / 1e6
    paper = 3.3 * 25e-3 * 3.5e-3 * 1e6
    result = [claim("AX-7", "energy of an erase in uJ", f"{paper:.2f}", f"{erase:.2f}", "+-1 %",
                    abs(erase / paper - 1) <= 0.01)]
    runs = stream(50)
    for policy in ALL[1:]:
        energy = saving(program_uj(runs[policy]), program_uj(runs["baseline"]))
        service = saving(program_us(runs[policy]), program_us(runs["baseline"]))
        result.append(claim("AX-7", f"{policy}: write energy saving in % at a = 0.5",
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
        result.append(claim("AX-8", f"{policy}: bit error rate of fresh approximate pages",
                            "7.2e-4", f"{flipped:.3e}", "+-5 %", abs(flipped / 7.2e-4 - 1) <= 0.05))
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
    return result


# ---------------------------------------------------------------- cubeFTL


def saturated(policies: str, *arguments: str) -> dict[str, Json]:
    """Writes of a word line each that keep the dies of the paper's device busy."""
    return simulate("--profile", "micro19", "--policy", policies, *words(
        "--write-share 100% --size 48KiB --depth 512 --requests 100000 --bus 100000"), *arguments)


def cu2() -> list[Claim]:
    """Leaders and followers."""
    runs = saturated("pageftl,cubeftl,cubeftl_minus", "--verify")
    result = []
    for policy, open_blocks in (("cubeftl", 2), ("cubeftl_minus", 1)):
        run = runs[policy]
        geo = run["geometry"]
        leaders, followers = (run["mode_pages"][mode] for mode in ("normal", "follower"))
        (closed,) = (kind["blocks"] for kind in run["block_kinds"].values())
        opened = run["blocks"]["good"] - sum(run["luns"]["free_blocks"]) - closed
        bugs = counter(run, "policy_bugs")
        # Open blocks may have leaders whose followers are not written, never the reverse.
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


def cu3() -> list[Claim]:
    """Throughput of writes without a pause."""
    result = []
    for f in (0.30, 0.33):
        runs = saturated("pageftl,cubeftl", "--program_follower", f"{700_000 * (1 - f):.0f}ns")
        rates = [run["requests"] / run["simulated_ns"] for run in runs.values()]
        gain, paper = 100 * (rates[1] / rates[0] - 1), 100 * (1 / (1 - 0.75 * f) - 1)
        result.append(claim("CU-3", f"cubeFTL over pageFTL in %, followers {f:.0%} faster",
                            f"{paper:.1f}", f"{gain:.1f}", "+-3", abs(gain - paper) <= 3))
    return result


# ---------------------------------------------------------------- the models

PHYSICS_IDS = ("AG-1", "CU-1", "RE-1", "RE-4", "TV-1", "TV-2", "TV-3", "TV-4")


@functools.cache
def physics() -> dict[str, Claim]:
    """Ask the physics models for their claims."""
    done = subprocess.run(
        [sys.executable, "-m", "aftl_physics", "claims", "--json"],
        env=os.environ | {"PYTHONPATH": str(PHYSICS)},
        capture_output=True, text=True, timeout=120, check=False,
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return {item["id"]: Claim(**item) for item in json.loads(done.stdout)}


def of_physics(id_: str) -> Callable[[], list[Claim]]:
    """Return the claim function of one of the models' claims."""
    return lambda: [physics()[id_]]


# ---------------------------------------------------------------- all of them

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
    "CU-2": cu2,
    "CU-3": cu3,
    **{id_: of_physics(id_) for id_ in PHYSICS_IDS},
}

IDS = sorted(CLAIMS)


def chosen(names: Sequence[str]) -> list[str]:
    """Return the claims whose names begin like one of these; all without names."""
    if not names:
        return IDS
    for name in names:
        if not any(id_.startswith(name) for id_ in IDS):
            sys.exit(f'claims: no claim "{name}"; there are {" ".join(IDS)}')
    return [id_ for id_ in IDS if id_.startswith(tuple(names))]


def put_table(claims: Sequence[Claim]) -> None:
    """Print columns."""
    cells = [("", "what", "paper", "ours", "tolerance", "verdict")]
    cells += [(c.id, c.what, c.paper, c.ours, c.tolerance, c.verdict) for c in claims]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description="The papers' figures beside ours.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seed", default=seed(), metavar="N", help="seed of all runs")
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims, or how they begin: AX-3 CU")
    args = parser.parse_args()
    os.environ["CLAIMS_SEED"] = args.seed
    if not binary().is_file():
        sys.exit(f"claims: {binary()} does not exist: make all")
    claims = [claim for id_ in chosen(args.ids) for claim in CLAIMS[id_]()]
    failed = sum(claim.verdict != "pass" for claim in claims)
    if args.json:
        print(json.dumps({"seed": args.seed, "claims": [asdict(c) for c in claims]}, indent=1))
    else:
        put_table(claims)
        print(f"\nseed {args.seed}: {len(claims) - failed} hold, {failed} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
