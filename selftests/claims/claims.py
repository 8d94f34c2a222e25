# SPDX-License-Identifier: GPL-2.0-only
"""The papers' figures beside ours: every number is computed or simulated when asked for.

Each claim is a small function that runs the simulator, or asks the physics models, and returns
figures. The register in docs/papers states what the papers say, how far ours may be from it, and
the verdict. Claims about designs that no paper has bring their own rows.

    claims.py                 all of them
    claims.py AX-3 CU         one, or all that begin so
    claims.py --negative-controls AX-3    each falsified setting must make its rows miss
    claims.py --traces DIR    those about traces on real ones, of any format that can be converted
    claims.py --update        write our figures into the register and into docs/systems
"""

import argparse
import functools
import json
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / "trace-tools")]

from selftests.claims import (  # noqa: E402
    abstracts,
    agcr,
    approx,
    cubeftl,
    hybrid,
    models,
    register,
    ressd,
    tvr,
    unequal,
)
from selftests.claims.real_traces import real_trace_directory  # noqa: E402
from selftests.claims.register import Entry, Measured  # noqa: E402
from selftests.claims.rows import Claim  # noqa: E402
from selftests.claims.runs import get_seed_of_runs, program_under_test  # noqa: E402

#: The claims that the register has entries for, and those about designs that no paper has.
CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    **models.CLAIMS, **approx.CLAIMS, **agcr.CLAIMS, **cubeftl.CLAIMS, **ressd.CLAIMS,
    **tvr.CLAIMS,
}
OWN: dict[str, Callable[[], list[Claim]]] = {
    **abstracts.CLAIMS, **hybrid.CLAIMS, **unequal.CLAIMS,
}

#: Section titles by the prefix of claim ids.
SYSTEMS = {
    "AX": "ApproxFTL", "AG": "AGCR", "CU": "cubeFTL", "TV": "TVR",
    "RE": "ReSSD and RSS-RAID", "DE": "density classes, mechanism only",
    "PL": "parity lending, mechanism only", "IP": "in-place switch, mechanism only",
    "UP": "unequal protection side by side, which no paper has",
    "HY": "hybrid, which no paper has",
}
#: Widths of the columns of the table, which fits 100 columns: id, verdict, what, paper, ours.
WIDTHS = (8, 12, 33, 19, 20)


@dataclass(frozen=True)
class Judged:
    """An entry of the register of papers, our results for it, and the resulting verdict."""

    entry: Entry
    ours: Measured

    @property
    def verdict(self) -> str:
        """Return the verdict on an entry of the register that follows from our results."""
        return self.entry.judge_results(self.ours)

    @property
    def describe_conflict_with_register(self) -> str:
        """Describe how our results contradict the verdict in the register, or return ""."""
        if self.verdict != self.entry.verdict:
            return f"the register says {self.entry.verdict}"
        if self.ours.shown != self.entry.ours:
            return f"the register says {self.entry.ours}"
        return ""

    def make_claim_table_cells(self) -> tuple[str, ...]:
        """Return the cells of the claim's row in the table."""
        allowed = f" [{self.entry.tolerance_of_verdict}]" if self.entry.tolerance_of_verdict else ""
        return (self.entry.id, self.verdict, self.entry.says + allowed,
                self.entry.paper_figures_text, self.ours.shown)


def claim_sort_key(id_: str) -> tuple[int, int]:
    """Return the sort key of a claim: system, then number, then a trailing letter."""
    system, _, number = id_.partition("-")
    return list(SYSTEMS).index(system), int(number) if number.isdigit() else len(CLAIMS | OWN)


IDS = sorted(CLAIMS | OWN, key=claim_sort_key)


def judge_claim_results(id_: str, figures: Sequence[Measured]) -> list[Judged]:
    """Combine the results of a claim function with the entries of the register of papers."""
    return [Judged(*pair)
            for pair in zip(register.list_register_entries_of_claim(id_), figures, strict=True)]


@functools.cache
def measure_and_judge_claim(id_: str) -> tuple[Judged, ...]:
    """Return the register entries of a claim function with our results."""
    return tuple(judge_claim_results(id_, CLAIMS[id_]()))


@functools.cache
def measure_claim_without_paper(id_: str) -> tuple[Claim, ...]:
    """Return the rows of a claim about a design that no paper has."""
    return tuple(OWN[id_]())


def claim_ids_by_prefix(names: Sequence[str]) -> list[str]:
    """Return the ids of claims that begin with one of these names; all claims without names."""
    if not names:
        return IDS
    for name in names:
        if not any(id_.startswith(name) for id_ in IDS):
            sys.exit(f'claims: no claim "{name}"; there are {" ".join(IDS)}')
    return [id_ for id_ in IDS if id_.startswith(tuple(names))]


def print_table_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    """Print a row of a table; long cells are continued below."""
    wrapped = [textwrap.wrap(cell, width) or [""]
               for cell, width in zip(cells, widths, strict=True)]
    for at in range(max(map(len, wrapped))):
        line = (cell[at] if at < len(cell) else "" for cell in wrapped)
        print("  ".join(text.ljust(width)
                        for text, width in zip(line, widths, strict=True)).rstrip())


def print_claim_tables(papers: Sequence[Judged], own: Sequence[Claim]) -> None:
    """Print the rows as a table with a section for each system."""
    sections: dict[str, list[tuple[str, ...]]] = {}
    for one in papers:
        sections.setdefault(one.entry.id[:2], []).append(one.make_claim_table_cells())
    for row in own:
        sections.setdefault(row.id[:2], []).append(
            (row.id, row.verdict, f"{row.what} [{row.tolerance}]", row.paper, row.ours))
    for prefix, rows in sections.items():
        print(f"\n{SYSTEMS[prefix]}\n")
        print_table_row(("", "verdict", "what", "paper", "ours"), WIDTHS)
        for cells in rows:
            print_table_row(cells, WIDTHS)


def print_verdict_summary(papers: Sequence[Judged], unmeasured: Iterable[Entry],
                          own: Sequence[Claim], differing: Sequence[Judged]) -> None:
    """Print the verdicts by paper, the checks of other designs, and missing register entries."""
    verdicts = [(one.entry.id[:2], one.verdict) for one in papers]
    verdicts += [(entry.id[:2], entry.verdict) for entry in unmeasured]
    print(f"\nseed {get_seed_of_runs()}: verdicts by paper\n")
    for row in register.count_verdicts_by_system(verdicts):
        print_table_row(row, (10, *(12,) * len(register.VERDICTS), 4))
    counts = Counter(row.verdict for row in own)
    print(f"\nOf designs that no paper has, {counts['pass']} checks hold, {counts['fail']} fail, "
          f"{counts['explained']} differ\nas docs/systems explains.")
    for one in differing:
        print(f"{one.entry.id}: {one.verdict}, {one.ours.shown}; "
              f"{one.describe_conflict_with_register}")


def list_register_entries_without_claim(names: Sequence[str]) -> list[Entry]:
    """Return the entries that no claim function measures, of all papers or of the chosen ones."""
    return [entry for entry in register.register_entries_by_id().values() if not entry.claim_id
            and (not names or entry.id.startswith(tuple(names)))]


def main() -> int:
    """Measure the claims that the command line names."""
    parser = argparse.ArgumentParser(description="The papers' figures beside ours.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seed", default=get_seed_of_runs(), metavar="N", help="seed of all runs")
    parser.add_argument("--traces", default=real_trace_directory(), metavar="DIR",
                        help="traces for the claims about them, of 10,000 requests or more, in "
                             "any format that \"approxftl trace formats\" lists; synthetic "
                             "stand-ins otherwise")
    parser.add_argument("--negative-controls", action="store_true",
                        help="try falsified settings, in which rows must miss")
    parser.add_argument("--update", action="store_true",
                        help="write our figures into docs/papers and docs/systems")
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims, or how they begin: AX-3 CU")
    args = parser.parse_args()
    os.environ["CLAIMS_SEED"] = args.seed
    os.environ["CLAIMS_TRACES"] = args.traces
    if not program_under_test().is_file():
        sys.exit(f"claims: {program_under_test()} does not exist: make all")
    ids = claim_ids_by_prefix(args.ids)
    if args.negative_controls:
        from selftests.claims import negative_controls

        return negative_controls.run_negative_controls(ids)
    papers = [one for id_ in ids if id_ in CLAIMS for one in measure_and_judge_claim(id_)]
    own = [row for id_ in ids if id_ in OWN for row in measure_claim_without_paper(id_)]
    if args.update:
        register.write_results_to_register({one.entry.id: one.ours.shown for one in papers})
        return register.main()
    # The register has the figures of seed 1 on synthetic streams.
    usual = args.seed == "1" and not args.traces
    differing = [one for one in papers if one.describe_conflict_with_register] if usual else []
    if args.json:
        found = [asdict(one) | {"judged": one.verdict} for one in papers]
        print(json.dumps({"seed": args.seed, "papers": found, "claims": [*map(asdict, own)]},
                         indent=1))
    else:
        print_claim_tables(papers, own)
        print_verdict_summary(papers, list_register_entries_without_claim(args.ids), own, differing)
    return 1 if differing or any(row.verdict == "fail" for row in own) else 0


if __name__ == "__main__":
    sys.exit(main())
