# SPDX-License-Identifier: GPL-2.0-only
"""Test placement handles with two tenants, and the FDP statistics in the report."""

import re

import pytest
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

TENANTS = ("--blocks", "64", "--unit", "0", "--fill", "sequential", "--write-share", "100%",
           "--hot-share", "95%", "--hot-range", "5%", "--hot-stream", "1", "--warmup", "40k",
           "--requests", "20k")
FIELDS = {"host_units", "media_units", "erased_units", "changed_blocks", "partial_blocks",
          "reallocated_units", "reallocated_events"}


def simulate_two_tenants(*more: str) -> Json:
    return get_only_run(run_sim(*TENANTS, *more))


def read_total_amplification(result: Json) -> float:
    return float(result["write_amplification"]["total"])


def test_separating_tenants_reduces_write_amplification() -> None:
    alone = simulate_two_tenants()
    initial = simulate_two_tenants("--placement_handles", "1")
    persistent = simulate_two_tenants("--placement_handles", "1", "--placement_isolation",
                                      "persistent")
    assert read_total_amplification(persistent) < 0.8 * read_total_amplification(alone)
    assert read_total_amplification(persistent) < 0.8 * read_total_amplification(initial)
    assert alone["placement_handles"] == []


@pytest.mark.parametrize("policy", ["baseline", "cubeftl", "ressd"])
def test_statistics_of_handles_add_up_to_the_counters(policy: str) -> None:
    result = simulate_two_tenants("--policy", policy, "--placement_handles", "2", "--one_shot",
                                  "on",
                                  "--op", "25%")
    handles, counters = result["placement_handles"], result["counters"]
    assert len(handles) == 3 and all(set(handle) == FIELDS for handle in handles)
    total = {name: sum(handle[name] for handle in handles) for name in FIELDS}
    programmed = sum(value for name, value in counters.items()
                     if re.fullmatch(r"programmed_\w+_units|padded_units", name))
    assert total["media_units"] == programmed
    # Requests in flight when the statistics started had been counted on arrival.
    assert total["host_units"] == pytest.approx(counters["host_write_units"], abs=64)
    assert total["reallocated_units"] == programmed - counters["padded_units"] - \
        counters["programmed_host_units"]
    assert total["erased_units"] == counters["array_erases"] * 8 * 16
    assert counters["media_write_bytes"] == (programmed - counters["padded_units"]) * 8192
    assert counters["media_erased_bytes"] == total["erased_units"] * 8192
    assert 0 < total["reallocated_events"] <= total["reallocated_units"]
    assert handles[1]["host_units"] == pytest.approx(19000, rel=0.02)
    assert not any(handles[2].values())


def test_the_report_lists_placement_handles() -> None:
    told = run_approxftl("sim", *TENANTS, "--placement_handles", "2").out
    lines = re.findall(r"placement handle (\d)( \(default\))?: [\d.]+ [KMG]iB from the host", told)
    assert lines == [("0", " (default)"), ("1", ""), ("2", "")]
    assert "baseline: placement handle 2: 0 MiB from the host" in told
    totals = re.search(r"FDP: HBMW ([\d.]+ .iB), MBMW [\d.]+ .iB, MBE [\d.]+ .iB; events: "
                       r"0 invalid placement ids \(3h\), [1-9]\d* reallocations \(80h\), "
                       r"[1-9]\d* reclaim units changed \(81h\)", told)
    assert totals and totals[1].startswith("78.")  # 20,000 writes of 4 KiB
    assert "FDP" not in run_approxftl("sim", *TENANTS).out


def test_writes_with_an_unknown_placement_id_are_counted() -> None:
    result = simulate_two_tenants("--placement_handles", "2", "--hot-stream", "3")
    assert result["counters"]["unknown_placement_requests"] == pytest.approx(19000, rel=0.02)
    assert result["placement_handles"][0]["host_units"] == pytest.approx(20000, abs=64)
