# SPDX-License-Identifier: GPL-2.0-only
"""Test zoned devices with requests that write and reset zones, and the zone report."""

import csv
import re
from pathlib import Path

import pytest
from selftests.lib.programs import TOP
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

DEVICE = ("--zoned", "4MiB", "--buffer", "2MiB", "--buffer_safe", "on")
STREAM = ("--workload", "zones", "--size", "64KiB", "--open-zones", "4", "--requests", "20k")


def simulate_zoned_device(*more: str) -> Json:
    return get_only_run(run_sim(*DEVICE, *STREAM, *more))


def test_zones_need_no_collection_and_fail_no_request() -> None:
    result = simulate_zoned_device("--write-share", "80%", "--verify")
    counters, states = result["counters"], result["zones"]
    assert sum(states.values()) == 108 and states["full"] > 90
    assert counters["host_failed_requests"] == 0
    assert counters["zone_resets"] > 100
    assert counters["zone_opens"] == pytest.approx(counters["zone_resets"] + 108 - states["empty"],
                                                   abs=5)
    assert counters["programmed_gc_units"] == counters["padded_units"] == 0
    assert result["write_amplification"]["total"] <= 1


def test_the_report_counts_the_states_of_zones() -> None:
    told = run_approxftl("sim", *DEVICE, *STREAM).out
    assert re.search(r"baseline: zones of 4.000 MiB: .*4 implicitly_open, .* resets,", told)
    assert not any(get_only_run(run_sim("--requests", "10"))["zones"].values())


def test_rewrites_in_a_random_write_area_program_nothing() -> None:
    """Data are programmed once, however often the area is rewritten before the commit."""
    area = ("--zrwa", "16", "--zrwa_granularity", "4", "--size", "16KiB", "--buffer", "4MiB",
            "--verify")
    once = simulate_zoned_device(*area, "--write-share", "100%")["counters"]
    result = simulate_zoned_device(*area, "--write-share", "100%", "--zone-rewrites", "60%")
    often = result["counters"]
    for counters in (once, often):
        assert counters["host_failed_requests"] == counters["padded_units"] == 0
        assert counters["zrwa_commits"] > 0
    assert once["buffer_coalesced_units"] == 0
    assert often["buffer_coalesced_units"] == pytest.approx(0.6 * often["host_write_units"],
                                                            rel=0.05)
    buffered = often["host_write_units"] - often["buffer_coalesced_units"] - \
        often["programmed_host_units"]
    assert 0 < buffered <= 1024  # units of the write buffer
    assert often["zrwa_implicit_commits"] < 0.5 * once["zrwa_implicit_commits"]
    assert re.search(r"zones of .* [1-9]\d* commits, [1-9]\d* implicit commits, .* resets",
                     run_approxftl("sim", *DEVICE, *STREAM, *area).out)


def test_rewrites_need_a_random_write_area() -> None:
    refused = run_approxftl("sim", *DEVICE, *STREAM, "--zone-rewrites", "10%")
    assert refused.code and "the random write area of a zone has 0 bytes" in refused.err
    refused = run_approxftl("sim", *DEVICE, *STREAM, "--zone-append", "--zrwa", "16",
                            "--buffer", "4MiB")
    assert refused.code and "an append to a zone with a random write area fails" in refused.err
    refused = run_approxftl("sim", *DEVICE, *STREAM, "--zrwa", "1")
    assert refused.code and "fewer than a request of 65536; raise zrwa" in refused.err


def test_the_zones_of_the_zn540_are_emulated() -> None:
    """The ZN540's zones are as docs/drives.md says; one more open zone is refused."""
    table = TOP / "trace-tools/approxftl_tools/drive_tables/wd-zn540-datasheet.csv"
    with table.open() as rows:
        told = {row["key"]: row["value"] for row in csv.DictReader(rows)}
    page = (TOP / "docs/drives.md").read_text()
    words = re.findall(r"^    (zoned=.* blocks=\d+)$", page, re.M)[0].split()
    assert int(told["zone_size"]) == 2 << 10 and words[0] == "zoned=2GiB"
    assert words[1] == f"zone_capacity={told['zone_capacity']}MiB"
    device = ("--profile", "wd-zn540", *(f"--{word}" for word in words))
    active = int(told["max_open_zones"])
    stream = ("--workload", "zones", "--size", "128KiB", "--write-share", "100%")
    result = get_only_run(run_sim(*device, *stream, "--requests", "40k", "--open-zones",
                                  str(active)))
    assert result["counters"]["host_failed_requests"] == 0
    assert sum(result["zones"].values()) == 17 and result["zones"]["implicitly_open"] == active
    assert run_approxftl("sim", *device, *stream, "--open-zones", str(active + 1)).code


def test_appends_fill_the_zones_in_order() -> None:
    """Zone appends write what writes at the write pointer write; the device counts them."""
    writes, appends = simulate_zoned_device(), simulate_zoned_device("--zone-append")
    counted = [run["counters"].pop("zone_append_requests") for run in (writes, appends)]
    assert counted == [0, appends["counters"]["host_write_requests"]] and counted[1] > 9000
    assert writes["counters"] == appends["counters"] and writes["zones"] == appends["zones"]
    assert not appends["counters"]["host_failed_requests"]


def test_the_controller_takes_longer_for_appends() -> None:
    """One request at a time: the controller is the bottleneck, and each append costs the more."""
    stream = ("--write-share", "100%", "--size", "4KiB", "--requests", "10k", "--depth", "8",
              "--controller_command", "50us", "--controller_append", "100us")
    means = [get_only_run(run_sim(*DEVICE, "--program=1us", "--workload", "zones", *stream,
                                  *more))["timing"]["write_response"]["mean_ns"] / 8e3
             for more in ((), ("--zone-append",))]
    assert means == pytest.approx([50, 150], rel=0.03)


def test_a_saved_zoned_device_is_loaded_and_written_further(tmp_path: Path) -> None:
    saved = str(tmp_path / "device")
    simulate_zoned_device("--dump", saved)
    result = get_only_run(run_sim("--load", saved, *STREAM, "--verify"))
    assert result["counters"]["host_failed_requests"] == 0


@pytest.mark.parametrize("more, why", [
    (("--discard-share", "1%"), "use --workload zones, with one --size and without discards"),
    (("--size", "24KiB"), "not a multiple of requests of 24576"),
    (("--open-zones", "15"), "leave none to go on with"),
    (("--record", "/dev/null"), "records have no resets of zones"),
    (("--zone-append", "--zoned", "0"), "only a device with zones has appends"),
])
def test_invalid_zone_options_are_refused(more: tuple[str, ...], why: str) -> None:
    done = run_approxftl("sim", *DEVICE, *STREAM, *more)
    assert done.code and why in done.err
