# SPDX-License-Identifier: GPL-2.0-only
"""Claims about density classes: mechanism only, for no text of a paper could be had."""

from __future__ import annotations

from collections.abc import Callable

from selftests.claims.rows import Claim, claim, counter, program_us, read_us, words
from selftests.claims.runs import simulate

# QLC worn to 500 cycles, with times as of parts that can be bought (assumed); nine of ten requests
# go to a twentieth of the data, so that what is written again is hot.
DENSE = words(
    "--bits 4 --one_shot on --program 1800us --program_tlc 700us --program_slc 200us --read 110us "
    "--read_tlc 80us --read_slc 40us --ecc_bits 120 --cell_model voltage --cycles 500 --blocks 100 "
    "--op 40% --fill sequential --fill-valid 70% --footprint 70% --fill_approx 60% --approx-share "
    "50% --hot-share 90% --hot-range 5% --write-share 0.3 --size 32KiB --requests 60000 --warmup "
    "60000 --policy density")


def de_a() -> list[Claim]:
    """Density classes part by part; no paper has figures of this."""
    steps = (("", "--density_share 0"), ("+ precise data of the host in sparse blocks", ""),
             ("+ ApproxFTL's placement on the dense side", "--density_approx on"),
             ("one bit in a sparse cell", "--density_bits 1"))
    runs = [simulate(*DENSE, *words(more))["density"] for _, more in steps]
    us, sensing = [program_us(run) for run in runs], [read_us(run) for run in runs]
    erases = [counter(run, "array_erases") for run in runs]
    cells = [f"{a:.0f} {b:.1f} {c}" for a, b, c in zip(us, sensing, erases, strict=True)]
    clean = [not counter(run, "policy_bugs") for run in runs]
    holds = (us[1] < 0.8 * us[0] and sensing[1] < sensing[0] and erases[1] > erases[0],
             us[2] < 0.8 * us[1], sensing[3] < sensing[1] and erases[3] > 1.5 * erases[1])
    return [
        Claim("DE-A", "classes apart, all dense (us of a page of the host; sensing us; erases)",
              "-", cells[0], "-", "report"),
        *(claim("DE-A", steps[i][0], "-", cells[i], what, holds[i - 1] and clean[i])
          for i, what in ((1, "order: both faster, more erases"), (2, "order: programs faster"),
                          (3, "order: reads faster, more erases"))),
    ]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "DE-A": de_a,
}
