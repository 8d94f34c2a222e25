# SPDX-License-Identifier: GPL-2.0-only
"""Claims that compare policies with unequal protection with each other, which no paper does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selftests.claims.rows import (
    Claim,
    array_program_us_per_host_unit,
    host_program_us_per_page,
    make_claim_row,
    read_counter,
)
from selftests.claims.runs import Json
from selftests.claims.studies import results_of_study

COLUMNS = ("us of a page of the host, of all for a unit; us of a read; units lost; erases; flipped "
           "bits of a unit")


@dataclass(frozen=True)
class Price:
    """Costs of a policy: program and read times in us, lost units, erases, flips per unit read."""

    host: float
    every: float
    read: float
    lost: int
    erases: int
    flips: float
    bugs: int

    def format_policy_costs(self) -> str:
        """Format the measures of a policy for a cell of the table."""
        return (f"{self.host:.0f} {self.every:.0f} {self.read:.0f} {self.lost} "
                f"{self.erases} {self.flips:.0f}")


def extract_policy_costs(run: Json) -> Price:
    """Extract the measures of a policy from a run."""
    return Price(host_program_us_per_page(run), array_program_us_per_host_unit(run),
                 run["timing"]["read_service"]["mean_ns"] / 1000,
                 read_counter(run, "read_lost_units"), read_counter(run, "array_erases"),
                 read_counter(run, "read_flipped_bits")
                 / max(1, read_counter(run, "read_approx_units")),
                 read_counter(run, "policy_bugs"))


def measure_policy_costs(*how: str) -> Iterator[Price]:
    """Yield the measures of each policy, run with the given options."""
    runs = results_of_study("unequal-protection", "how", how=[*how])
    return (extract_policy_costs(runs[one]) for one in how)


Check = tuple[str, str, Price, bool]


def make_cost_claim_rows(id_: str, first: str, base: Price, rows: tuple[Check, ...]) -> list[Claim]:
    """Return the rows of a claim; the first row is the compared baseline, which is not tested."""
    return [Claim(id_, f"{first} ({COLUMNS})", "-", base.format_policy_costs(), "-", "report"),
            *(make_claim_row(id_, what, "-", now.format_policy_costs(), f"order: {order}",
                             holds and not now.bugs)
              for what, order, now, holds in rows)]


def compare_up1_policy_costs() -> list[Claim]:
    """Compare each policy alone and, where compatible, combined with ApproxFTL's placement."""
    base, placed, lent, dense, both, ips, beside = measure_policy_costs(
        "baseline", "approxftl", "lending", "density", "density with ApproxFTL", "ips",
        "ips with ApproxFTL")
    return make_cost_claim_rows("UP-1", "baseline", base, (
        ("ApproxFTL", "programs and reads faster", placed,
         placed.host < 0.8 * base.host and placed.read < 0.9 * base.read),
        ("lending", "reads faster than under ApproxFTL, programs do not", lent,
         lent.read < 0.95 * placed.read and lent.host > 0.95 * base.host),
        ("density", "the same, programs of the host faster, more erases", dense,
         dense.read < 0.95 * placed.read and dense.host < 0.8 * base.host
         and dense.erases > placed.erases),
        ("density + ApproxFTL's placement", "programs faster than under either", both,
         both.host < 0.8 * min(dense.host, placed.host)),
        ("ips", "programs of the host faster than under ApproxFTL, all slower", ips,
         ips.host < 0.97 * placed.host and ips.every > base.every),
        ("ips + ApproxFTL's placement", "programs faster than under either, fewer erases", beside,
         beside.host < 0.9 * min(ips.host, placed.host) and beside.every < 0.9 * ips.every
         and beside.erases < ips.erases),
    ))


def compare_up2_quality_level_costs() -> list[Claim]:
    """Compare quality levels, each alone and all mixed, with ApproxFTL, which ignores them."""
    base, placed, one, two, three, mixed = measure_policy_costs(
        "baseline", "approxftl, a third of each", "level 1", "level 2", "level 3",
        "a third of each")
    return make_cost_claim_rows("UP-2", "baseline", base, (
        ("levels, all of level 1", "reads faster", one,
         one.read < 0.9 * base.read and one.host > 0.99 * base.host),
        ("levels, all of 2", "programs faster, more flips", two,
         two.host < 0.9 * one.host and two.flips > 1.05 * one.flips),
        ("levels, all of 3", "programs faster, more flips", three,
         three.host < 0.9 * two.host and three.flips > 1.05 * two.flips),
        ("levels, a third of each", "between 1 and 3, fewer flips than under ApproxFTL", mixed,
         three.host < 0.9 * mixed.host and mixed.host < 0.9 * one.host
         and mixed.flips < 0.9 * placed.flips),
        ("ApproxFTL, a third of each", "more flips than of level 3, as fast", placed,
         placed.flips > 1.03 * three.flips and 0.97 < placed.host / three.host < 1.03),
    ))


CLAIMS: dict[str, Callable[[], list[Claim]]] = {
    "UP-1": compare_up1_policy_costs,
    "UP-2": compare_up2_quality_level_costs,
}
