# SPDX-License-Identifier: GPL-2.0-only
"""Test --change: when it changes a device, which data are kept, which changes are refused."""

from pathlib import Path

import pytest
from selftests.sim.support import (
    Json,
    get_only_run,
    read_trace,
    run_approxftl,
    run_sim,
    write_trace,
)

#: Idle dies of a filled device collect garbage from the first request on.
COLLECTING = ("--fill", "random", "--gc_idle_limit", "fixed")
STREAM = (*COLLECTING, "--write-share", "0.7", "--approx-share", "0.4", "--size", "4KiB,16KiB",
          "--requests", "2000")
LOADS = [("--depth", "32"), ("--utilisation", "0.6"), ("--beside-rate", "500"),
         ("--rate", "3000", "--beside-rate", "500")]


def run_sim_and_verify(*arguments: str | Path) -> Json:
    return get_only_run(run_sim(*STREAM, *arguments, "--verify"))


@pytest.mark.parametrize("load", LOADS, ids=" ".join)
def test_option_change_without_effect_keeps_the_device_digest(load: tuple[str, ...]) -> None:
    """A --change without effect does not change the digest, also after the last request."""
    stops = ",".join(f"{at}:age=0s" for at in (0, 1, 500, 501, 501, 1999, 2000))
    assert run_sim_and_verify(*load, "--change",
                              stops)["digest"] == run_sim_and_verify(*load)["digest"]


@pytest.mark.parametrize("load", LOADS[:2], ids=" ".join)
def test_option_change_equals_saving_the_device_and_loading_it_with_new_values(
        load: tuple[str, ...], tmp_path: Path) -> None:
    """A change of policy and parameter equals saving a device and loading it with new values."""
    whole, first, second = (tmp_path / name for name in ("whole", "first", "second"))
    changes = ("policy=approxftl", "gc_idle_valid=30%")
    there = run_sim_and_verify(*load, "--record", whole, "--change",
                               ",".join(f"1000:{change}" for change in changes))
    records = read_trace(whole)
    write_trace(first, records[:1000])
    write_trace(second, records[1000:])
    saved = tmp_path / "saved"
    run_sim(*COLLECTING, "--trace", first, "--dump", saved)
    here = get_only_run(run_sim("--load", saved, "--trace", second, "--arrival", "device",
                                "--change", ",".join(f"0:{change}" for change in changes)))
    assert (here["policy"], here["digest"]) == (there["policy"], there["digest"])
    assert there["digest"] != run_sim_and_verify(*load)["digest"]
    again = (*COLLECTING, "--trace", whole, "--change")
    assert get_only_run(run_sim(*again, ",".join(f"1000:{change}" for change in changes)))[
        "digest"] == there["digest"]
    assert get_only_run(run_sim(*again, "999:policy=approxftl"))["digest"] != there["digest"]


def test_statistics_count_only_requests_after_a_change_of_policy() -> None:
    result = run_sim(*STREAM, "--change", "1200:policy=vth_b,1500:age=730h")
    found = get_only_run(result)
    counters = found["counters"]
    assert found["policy"] == "vth_b"
    assert found["requests"] == 800 and result["stream"]["warmup_requests"] == 1200
    assert counters["host_read_requests"] + counters["host_write_requests"] == 800
    timing = found["timing"]
    assert timing["write_response"]["count"] == counters["host_write_requests"] == sum(
        timing[f"write_{name}_response"]["count"] for name in ("precise", "approx"))
    assert found["device_age_hours"] == 730
    later = get_only_run(run_sim(*STREAM, "--warmup", "1600", "--change", "1200:policy=vth_b"))
    assert later["requests"] == 2000 and later["policy"] == "vth_b"


def test_changes_of_policy_after_the_same_request_apply_in_the_given_order() -> None:
    assert run_sim_and_verify("--change", "9:policy=vth_b,9:policy=delta_b")["policy"] == "delta_b"
    assert run_sim_and_verify("--change", "9:policy=delta_b,9:policy=vth_b")["policy"] == "vth_b"


def test_parameters_change_while_zones_have_partly_written_pages() -> None:
    """Writes that wait for a full page of their zone are programmed before the device is saved."""
    zoned = ("--zoned", "4MiB", "--buffer", "2MiB", "--buffer_safe", "on", "--page", "16KiB",
             "--write-share", "100%", "--workload", "zones", "--size", "4KiB", "--open-zones", "4",
             "--requests", "2000")
    found = get_only_run(run_sim(*zoned, "--change", "777:gc_idle_valid=10%", "--verify"))
    assert found["verified"] is True and found["requests"] == 1223


def test_a_policy_change_after_the_end_of_a_trace_is_not_applied(tmp_path: Path) -> None:
    path = tmp_path / "x.aft"
    run_sim("--requests", "50", "--record", path)
    played = get_only_run(run_sim("--trace", path, "--change", "50:age=9h,51:policy=vth_b"))
    assert (played["policy"], played["device_age_hours"]) == ("baseline", 9)


@pytest.mark.parametrize(("change", "sentence"), [
    ("op=50", "--change: op=50: the device was made with op 15, which cannot become 50"),
    ("seed=9", "--change: seed=9: the device was made with seed 1"),
    ("slc_static=8%", "--change: slc_static=8%: slc_static, slc_dynamic: a cell of this device"),
])
def test_impossible_changes_of_device_parameters_are_refused(change: str, sentence: str) -> None:
    """An impossible --change is refused when it is applied; results of other runs are kept."""
    done = run_approxftl("sim", "--requests", "50", "--change", f"5:{change}")
    assert (done.code, done.out) == (2, "") and sentence in done.err
    picky = run_approxftl("sim", "--profile", "qlc", "--blocks", "64", "--requests", "50",
                          "--policy", "baseline", "--change", "5:policy=ressd")
    assert picky.code == 2 and "policy ressd programs each word line in one pass" in picky.err
