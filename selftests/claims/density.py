# SPDX-License-Identifier: GPL-2.0-only
"""Claims about density classes. They test the mechanism only, because the results are in a paper
of which only the abstract was available."""

from collections.abc import Callable

from selftests.claims.rows import (
    Claim,
    host_program_us_per_page,
    make_claim_row,
    read_counter,
    sensing_us_per_page,
)
from selftests.claims.studies import results_of_study


def ablate_density_classes() -> list[Claim]:
    """Ablate density classes; no paper has results for comparison."""
    steps = ("", "+ precise data of the host in sparse blocks",
             "+ ApproxFTL's placement on the dense side", "one bit in a sparse cell")
    runs = [*results_of_study("density-parts", "parts").values()]
    us, sensing = [host_program_us_per_page(run) for run in runs], [sensing_us_per_page(run)
                                                                    for run in runs]
    erases = [read_counter(run, "array_erases") for run in runs]
    cells = [f"{a:.0f} {b:.1f} {c}" for a, b, c in zip(us, sensing, erases, strict=True)]
    clean = [not read_counter(run, "policy_bugs") for run in runs]
    holds = (us[1] < 0.8 * us[0] and sensing[1] < sensing[0] and erases[1] > erases[0],
             us[2] < 0.8 * us[1], sensing[3] < sensing[1] and erases[3] > 1.5 * erases[1])
    return [
        Claim("DE-A", "classes apart, all dense (us of a page of the host; sensing us; erases)",
              "-", cells[0], "-", "report"),
        *(make_claim_row("DE-A", steps[i], "-", cells[i], what, holds[i - 1] and clean[i])
          for i, what in ((1, "order: both faster, more erases"), (2, "order: programs faster"),
                          (3, "order: reads faster, more erases"))),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "DE-A": ablate_density_classes,
}
