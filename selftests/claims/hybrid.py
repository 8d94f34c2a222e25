# SPDX-License-Identifier: GPL-2.0-only
"""Claims about the policy hybrid, which no paper describes."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

from selftests.claims.rows import Claim, make_claim_row, read_counter, sensing_us_per_page
from selftests.claims.runs import Json
from selftests.claims.studies import results_of_study

from approxftl_tools.measures import get_json_value_at_key_path

PARTS = ("approx", "cube", "agcr", "tvr", "ressd")


@dataclass(frozen=True)
class Ablation:
    """Measures of a hybrid run; host_us, all_us: time of host or all programs per host unit."""

    host_us: float
    all_us: float
    read_us: float
    erases: int
    wear: float
    bugs: int

    def format_hybrid_measures(self) -> str:
        """Format the measures of a hybrid run for a cell of the table."""
        return (f"{self.host_us:.0f} {self.all_us:.0f} {self.read_us:.1f} {self.erases} "
                f"{self.wear:.3f}")


def list_options_of_hybrid_components(on: Iterable[str]) -> Json:
    """Return the options that enable the given parts of policy hybrid and no other parts."""
    return {f"hybrid_{part}": "on" if part in on else "off" for part in PARTS}


def run_hybrid_policy_with_components(*on: str) -> Ablation:
    """Run policy hybrid with the given parts; return program times, erases and wear."""
    run = results_of_study("hybrid-parts", device="cubeFTL",
                           **list_options_of_hybrid_components(on))["hybrid"]
    units, erases = read_counter(run, "host_write_units"), read_counter(run, "array_erases")
    return Ablation(read_counter(run, "host_program_ns") / units / 1000,
                    read_counter(run, "array_program_ns") / units / 1000,
                    sensing_us_per_page(run), erases, read_counter(run, "wear_sum") / erases
                    / 10000, read_counter(run, "policy_bugs"))


HYBRID_COLUMNS = "program us of a unit: host's, all; sensing us; erases; wear of one"


def report_hy1_each_hybrid_component_alone() -> list[Claim]:
    """Report the gain and the cost of each part of hybrid alone."""
    none = run_hybrid_policy_with_components()
    result = [make_claim_row("HY-1", f"hybrid without parts ({HYBRID_COLUMNS})", "-",
                             none.format_hybrid_measures(), "no part: wear 1",
                             none.wear == 1 and none.bugs == 0)]
    checks: tuple[tuple[str, str, Callable[[Ablation], bool]], ...] = (
        ("approx", "programs faster", lambda a: a.all_us < 0.9 * none.all_us),
        ("cube", "programs faster, hardly other erases",
         lambda a: a.all_us < 0.9 * none.all_us and abs(a.erases / none.erases - 1) < 0.01),
        ("agcr", "programs faster, reads slower",
         lambda a: a.all_us < none.all_us and a.read_us > none.read_us),
        ("tvr", "programs faster, erases wear less",
         lambda a: a.all_us < 0.9 * none.all_us and a.wear < 0.99),
        ("ressd", "fewer erases, programs slower",
         lambda a: a.erases < none.erases and a.host_us > none.host_us),
    )
    for part, what, holds in checks:
        alone = run_hybrid_policy_with_components(part)
        result.append(make_claim_row("HY-1", f"only {part}: {what}", "-",
                                     alone.format_hybrid_measures(),
                                     "order", holds(alone) and alone.bugs == 0))
    return result


def report_hy2_removed_hybrid_components() -> list[Claim]:
    """Report the loss when a single part is removed from policy hybrid."""
    every, none = run_hybrid_policy_with_components(*PARTS), run_hybrid_policy_with_components()
    result = [make_claim_row("HY-2", f"hybrid with all parts ({HYBRID_COLUMNS})", "-",
                             every.format_hybrid_measures(), "programs and erases below none",
                             every.all_us < none.all_us and every.erases < none.erases
                             and every.bugs == 0)]
    checks: tuple[tuple[str, str, Callable[[Ablation], bool]], ...] = (
        ("approx", "slower", lambda a: a.all_us > every.all_us),
        ("cube", "slower", lambda a: a.all_us > every.all_us),
        ("agcr", "no difference beside tvr", lambda a: abs(a.all_us / every.all_us - 1) < 0.02),
        ("tvr", "slower", lambda a: a.all_us > every.all_us),
        ("ressd", "faster: it takes what tvr writes in half the time",
         lambda a: a.all_us < every.all_us),
    )
    for part, what, holds in checks:
        rest = run_hybrid_policy_with_components(*(other for other in PARTS if other != part))
        result.append(make_claim_row("HY-2", f"without {part}: {what}", "-",
                                     rest.format_hybrid_measures(), "order",
                                     holds(rest) and rest.bugs == 0))
    return result


#: The parts that are on by default.
DEFAULT = ("approx", "cube", "tvr")


def compute_flash_array_us_per_host_unit(run: Json) -> float:
    """Return the array time (us) of a run per unit that the host wrote or read."""
    busy = sum(read_counter(run, f"array_{what}_ns") for what in ("program", "read", "erase"))
    return busy / (read_counter(run, "host_write_units")
                   + read_counter(run, "host_read_units")) / 1000


def report_hy3_hybrid_component_combinations() -> list[Claim]:
    """Report the best combinations of hybrid's parts over all devices, and the default parts."""
    every = [on for count in range(len(PARTS) + 1) for on in combinations(PARTS, count)]
    runs = results_of_study("hybrid-parts", *(f"hybrid_{part}" for part in PARTS), "device")
    busy = {on: [*map(compute_flash_array_us_per_host_unit, get_json_value_at_key_path(
        runs, *list_options_of_hybrid_components(on).values()).values())] for on in every}
    best = [*map(min, zip(*busy.values(), strict=True))]
    over = {on: 100 * (sum(map(operator.truediv, us, best)) / len(best) - 1)
            for on, us in busy.items()}
    found = sorted(every, key=lambda on: over[on])
    unasked = results_of_study("hybrid-default")["hybrid"]["parameters"]
    usual = list_options_of_hybrid_components(DEFAULT).items() <= unasked.items()
    rows = [Claim("HY-3", f"busy time over the best of each of {len(best)} devices, %: "
                  f"{' '.join(on) or 'no part'}", "-", f"{over[on]:.1f}", "-", "report")
            for on in (*found[:4], found[-1])]
    return [*rows,
            make_claim_row("HY-3", f"the default, {' '.join(DEFAULT)}: over the least of these, %",
                           "-", f"{over[DEFAULT] - over[found[0]]:.1f}", "0",
                           usual and found[0] == DEFAULT)]


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "HY-1": report_hy1_each_hybrid_component_alone,
    "HY-2": report_hy2_removed_hybrid_components,
    "HY-3": report_hy3_hybrid_component_combinations,
}
