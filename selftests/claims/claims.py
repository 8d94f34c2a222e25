# SPDX-License-Identifier: GPL-2.0-only
"""The papers' figures beside ours: every number is computed or simulated when asked for.

Each claim is a small function that runs the simulator (or asks the physics models) and
compares. Nothing is stored but what the papers say and how far we may be from it.

    claims.py                 all of them
    claims.py AX-3 CU         one, or all that begin so
    claims.py --negative-controls AX-3    each falsified setting must make its rows miss
    claims.py --traces DIR    those about traces on real ones, of any format that can be converted
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / "trace-tools")]

from selftests.claims import (  # noqa: E402
    agcr,
    approx,
    cubeftl,
    density,
    hybrid,
    ips,
    lending,
    models,
    ressd,
    tvr,
    unequal,
)
from selftests.claims.real_traces import trace_directory  # noqa: E402
from selftests.claims.rows import Claim  # noqa: E402
from selftests.claims.runs import binary, seed  # noqa: E402

CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    **{id_: models.of_physics(id_) for id_ in models.PHYSICS_IDS},
    **approx.CLAIMS, **agcr.CLAIMS, **cubeftl.CLAIMS, **density.CLAIMS,
    **lending.CLAIMS, **ips.CLAIMS, **hybrid.CLAIMS, **ressd.CLAIMS, **tvr.CLAIMS,
    **unequal.CLAIMS,
}

#: The origin of the tolerance of a claim's rows.
PAPER, MODEL, ORDER = "paper", "model of the paper's section", "the order is all"
BANDS = {
    **dict.fromkeys(("AX-1", "AX-2", "AX-5", "AX-8", "AG-1", "AG-6", "CU-2", "CU-4", "CU-8",
                     "RE-2", "RE-3", "TV-1", "TV-2", "TV-4", "RE-1", "RE-4"), PAPER),
    **dict.fromkeys(("AX-3", "CU-3", "CU-5", "TV-3", "AX-7"), MODEL),
    **dict.fromkeys(("CU-7", "RE-7", "RE-10", "TV-6", "HY-1", "HY-2", "AX-A", "AG-A", "CU-A",
                     "RE-A", "TV-A", "AG-4", "DE-A", "PL-A", "IP-A", "UP-1", "UP-2"), ORDER),
    "AX-4": "paper, +-10 points: 50 to 60 % busy move it by 5",
    "AX-6": "equation 10; order",
    "AX-9": "paper, +2 %",
    "AX-T": "-",
    "AG-2": "133 to 800 MB/s, open in the talk, give -22..-24 -41..-54 52..57 100..131",
    "AG-3": "talk, -5; synthetic ones are made so",
    "AG-5": "talk, +0.2: ten seeds give 0.78 to 0.97",
    "AG-7": "talk",
    "CU-1": "remembered; 700 us and -16.2 % calibrate the model",
    "CU-6": "remembered; the spread of a layer's pages is chosen for 66 %",
    "CU-9": "paper's largest; all its loads are below",
    "CU-10": "chance: three standard deviations",
    "TV-5": "paper's range",
    "RE-5": "10 to 40 updates of a hot page, open, give .61-.80 .62-.90 +15..+47",
    "RE-6": "paper, half as much to twice as much",
    "RE-8": "paper: below 7 %; displaced, half to twice",
    "RE-9": "both should be one device",
    "RE-11": "paper, 88; 3 to 100 ms move it by 8",
    "RE-12": "paper; 50 to 200 requests a second, open, give -28..-33 .66-.71",
    "HY-3": "the order is all; three devices, one load",
}

#: Section titles by the prefix of claim ids.
SYSTEMS = {
    "AX": "ApproxFTL", "AG": "AGCR", "CU": "cubeFTL", "TV": "TVR",
    "RE": "ReSSD and RSS-RAID", "DE": "density classes, mechanism only",
    "PL": "parity lending, mechanism only", "IP": "in-place switch, mechanism only",
    "UP": "unequal protection side by side, which no paper has",
    "HY": "hybrid, which no paper has",
}


def place_of(id_: str) -> tuple[int, int]:
    """Return the sort key of a claim: system, then number, then a trailing letter."""
    system, _, number = id_.partition("-")
    return list(SYSTEMS).index(system), int(number) if number.isdigit() else len(CLAIMS)


IDS = sorted(CLAIMS, key=place_of)


@functools.cache
def rows_of(id_: str) -> tuple[Claim, ...]:
    """Return the rows of a claim, with `band` set."""
    return tuple(replace(one, band=BANDS[id_]) for one in CLAIMS[id_]())


def chosen(names: Sequence[str]) -> list[str]:
    """Return the ids of claims that begin with one of these names; all claims without names."""
    if not names:
        return IDS
    for name in names:
        if not any(id_.startswith(name) for id_ in IDS):
            sys.exit(f'claims: no claim "{name}"; there are {" ".join(IDS)}')
    return [id_ for id_ in IDS if id_.startswith(tuple(names))]


def put_table(claims: Sequence[Claim]) -> None:
    """Print the rows as a table with a section for each system."""
    head = ("", "what", "paper", "ours", "tolerance", "band from", "verdict")
    rows = [(c.id, c.what, c.paper, c.ours, c.tolerance, c.band, c.verdict) for c in claims]
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]

    def put(line: tuple[str, ...]) -> None:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())

    for prefix, system in SYSTEMS.items():
        section = [line for line in rows if line[0].startswith(f"{prefix}-")]
        if section:
            print(f"\n{system}\n")
            for line in (head, *section):
                put(line)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="The papers' figures beside ours.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seed", default=seed(), metavar="N", help="seed of all runs")
    parser.add_argument("--traces", default=trace_directory(), metavar="DIR",
                        help="traces for the claims about them, of 10,000 requests or more, in "
                             "any format that \"approxftl trace formats\" lists; synthetic "
                             "stand-ins otherwise")
    parser.add_argument("--negative-controls", action="store_true",
                        help="try falsified settings, in which rows must miss")
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims, or how they begin: AX-3 CU")
    args = parser.parse_args()
    os.environ["CLAIMS_SEED"] = args.seed
    os.environ["CLAIMS_TRACES"] = args.traces
    if not binary().is_file():
        sys.exit(f"claims: {binary()} does not exist: make all")
    if args.negative_controls:
        from selftests.claims import negative_controls

        return negative_controls.prove(chosen(args.ids))
    claims = [claim for id_ in chosen(args.ids) for claim in rows_of(id_)]
    counts = Counter(claim.verdict for claim in claims)
    if args.json:
        print(json.dumps({"seed": args.seed, "claims": [asdict(c) for c in claims]}, indent=1))
    else:
        put_table(claims)
        print(f"\nseed {args.seed}: {counts['pass']} hold, {counts['fail']} fail, "
              f"{counts['explained']} differ and are explained in docs/systems, "
              f"{counts['report']} have nothing to be compared with, "
              f"{counts['identity']} are identities and count as nothing")
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
