# SPDX-License-Identifier: GPL-2.0-only
"""Claims about density classes, parity lending and in-place switch. They test the mechanisms only,
because the results are in papers of which only the abstracts were available."""

from collections.abc import Callable

from selftests.claims.rows import (
    Claim,
    compute_percent_reduction,
    format_numbers,
    get_result_measure,
    host_program_us_per_page,
    make_claim_row,
    make_deviation_row,
    mean_response_us,
    read_counter,
    sensing_us_per_page,
)
from selftests.claims.runs import Json
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


def ablate_in_place_switch() -> list[Claim]:
    """Ablate in-place switch and compare it with an SLC cache whose blocks are folded."""
    steps = ("", "+ word lines are switched", "+ beside what idle time moves", "+ whatever that is",
             "", "", "+ ApproxFTL's placement")
    runs = [*results_of_study("ips-parts", "parts").values()]
    us, erases = [host_program_us_per_page(run) for run in runs], [read_counter(run, "array_erases")
                                                                   for run in runs]
    slc = [run["mode_pages"]["slc"] for run in runs]
    cells = [f"{a:.0f} {b} {c}" for a, b, c in zip(us, slc, erases, strict=True)]
    clean = [not read_counter(run, "policy_bugs") for run in runs]
    holds = {1: 0.9 * us[0] < us[1] < us[0] and erases[1] > erases[0],
             2: us[2] < 0.9 * us[1] and slc[2] > 1.1 * slc[1],
             3: us[3] < 1.02 * us[4] and erases[3] < 0.8 * erases[4],
             6: erases[6] < erases[5] and us[6] < 0.9 * us[5]}
    reports = {0: "all bits at once (us of a page of the host; pages with one bit; erases)",
               4: "no switch: a cache in blocks, which are folded",
               5: "switched, half of the data approximate"}
    orders = {1: "order: hardly faster, more erases", 2: "order: faster, more with one bit",
              3: "order: as fast as folded, fewer erases", 6: "order: faster, fewer erases"}
    rows = [make_claim_row("IP-A", steps[i], "-", cells[i], orders[i], holds[i] and clean[i])
            if i in holds else Claim("IP-A", reports[i], "-", cells[i], "-", "report")
            for i in range(len(steps))]
    return [*rows, compare_in_place_switch_with_folding(runs[1], runs[4])]


def compare_in_place_switch_with_folding(switched: Json, folded: Json) -> Claim:
    """Compare in-place switch to folding, as the abstract does without naming load or cache."""
    times = mean_response_us(switched, "write") / mean_response_us(folded, "write")
    moves = (get_result_measure(switched, "write_amplification") /
             get_result_measure(folded, "write_amplification"))
    return make_deviation_row("IP-A", "beside folded blocks: write response, write amplification",
                              "up to 0.75 0.53", format_numbers([times, moves], 2),
                              "slower: the switch is a whole program",
                              times > 2 and 0.53 < moves < 0.75)


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "DE-A": ablate_density_classes,
    "PL-A": ablate_lent_parity,
    "IP-A": ablate_in_place_switch,
}
