# SPDX-License-Identifier: GPL-2.0-only
"""Claims about parity lending. They test the mechanism only, because the results are in a paper
of which only the abstract was available."""

from collections.abc import Callable

from selftests.claims.rows import (
    Claim,
    compute_percent_reduction,
    format_numbers,
    make_claim_row,
    read_counter,
)
from selftests.claims.studies import results_of_study


def ablate_lent_parity() -> list[Claim]:
    """Compare runs without lent parity, with half as much parity as ECC has, and with as much.

    The abstract reports 30 % faster reads on average but not the techniques it compares with.
    """
    plain, *runs = results_of_study("lending-parts", "lent").values()
    unpaired, *service = [run["timing"]["read_service"]["mean_ns"] / 1000 for run in (plain, *runs)]
    lost = [read_counter(run, "read_lost_units") for run in runs]
    cells = [f"{us:.0f} {units}" for us, units in zip(service, lost, strict=True)]
    lends = [run["mode_pages"]["lending"] > 10000 and not read_counter(run, "policy_bugs")
             for run in runs]
    return [
        Claim("PL-A", "pages are paired, nothing is lent (us of a read; units lost)", "-",
              cells[0], "-", "report"),
        *(make_claim_row("PL-A", what, "-", cells[i], f"order: faster, {share} % as many lost",
                         lends[i] and service[i] < service[i - 1]
                         and lost[i] < share / 100 * lost[i - 1])
          for i, what, share in ((1, "+ half as much parity as ECC has", 50),
                                 (2, "+ as much", 80))),
        Claim("PL-A", "reads faster, %: than baseline, than paired and not lent, than that with as "
              "much", "30 on average", format_numbers([compute_percent_reduction(a, b) for a, b in (
                  (service[1], unpaired), (service[1], service[0]), (service[2], service[0]))]),
              "-", "report"),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "PL-A": ablate_lent_parity,
}
