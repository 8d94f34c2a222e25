# SPDX-License-Identifier: GPL-2.0-only
"""Test the requests for md and for the simulator's array, and their comparison."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from selftests.lib.programs import TOP, run_program

SCRIPT = TOP / "userspace/raid/compare.py"


def load_compare_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare"] = module
    spec.loader.exec_module(module)
    return module


compare = load_compare_module()


def test_requests_stay_inside_the_array_and_repeat_addresses() -> None:
    capacity = 3 * 2**20
    requests = compare.make_requests_to_active_extents(capacity, 5000, 4)
    assert requests == compare.make_requests_to_active_extents(capacity, 5000, 4)
    assert all(0 <= at <= capacity - compare.REQUEST for at, _ in requests)
    assert len({at for at, _ in requests}) < len(requests) / 10
    assert sum(size for _, size in compare.make_requests_to_whole_array(capacity)) == capacity


def make_fake_member_counters(factor: float) -> dict[str, int]:
    """Return fake counters of an array member: FACTOR times 1000 written and relocated units."""
    return {
        "host_write_units": int(1000 * factor), "programmed_host_units": int(1000 * factor),
        "programmed_gc_units": int(1000 * factor), "padded_units": 0, "reprogrammed_pages": 0,
        "array_erases": int(50 * factor),
    }


def write_fake_results(folder: Path, policy: str, factor: float, members: int = 4) -> None:
    """Write results of an md array, and simulated ones whose counters are FACTOR times as large."""
    (folder / "md").mkdir(exist_ok=True)
    for number in range(1, members + 1):
        member = {"devices": [{"counters": make_fake_member_counters(1)}]}
        (folder / f"md/{policy}.member-{number}.json").write_text(json.dumps(member))
    write = {"io_bytes": 2000 * compare.UNIT, "clat_ns": {"mean": 1e6}}
    (folder / f"md/{policy}.fio.json").write_text(json.dumps({"jobs": [{"write": write}]}))
    run = {
        "counters": make_fake_member_counters(4 * factor) | {"host_write_units": 2000},
        "raid": {"data_write_units": 2000, "parity_write_units": 2000},
        "timing": {"write_response": {"mean_ns": 5e6}},
    }
    (folder / f"{policy}.sim.json").write_text(json.dumps(run))


@pytest.mark.parametrize(("factor", "agrees"), [(1.0, True), (1.2, True), (1.4, False)])
def test_md_and_simulated_arrays_agree_within_the_tolerance(tmp_path: Path, factor: float,
                                                            agrees: bool) -> None:
    for policy in compare.POLICIES:
        write_fake_results(tmp_path, policy, factor)
    assert compare.print_md_and_simulated_arrays(tmp_path, 4) is agrees


def test_md_and_simulated_arrays_with_opposite_erase_changes_do_not_agree(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_fake_results(tmp_path, "tlc", 1.0)
    write_fake_results(tmp_path, "ressd", 1.0)
    path = tmp_path / "ressd.sim.json"
    run = json.loads(path.read_text())
    run["counters"]["array_erases"] = 220
    path.write_text(json.dumps(run))
    for number in range(1, 5):
        member = {"devices": [{"counters": make_fake_member_counters(1) | {"array_erases": 46}}]}
        (tmp_path / f"md/ressd.member-{number}.json").write_text(json.dumps(member))
    assert compare.print_md_and_simulated_arrays(tmp_path, 4) is False
    assert "differs, up to" not in capsys.readouterr().out


def test_members_of_small_and_large_arrays_get_equally_many_requests(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "simulate_array", lambda *_: {})
    monkeypatch.setattr(compare, "MEMBER_KIB", 1024)
    load = {}
    for members in (4, 7):
        (tmp_path / str(members)).mkdir()
        compare.prepare_requests(tmp_path / str(members), members)
        writes = [line.split() for line in
                  (tmp_path / str(members) / "measured.log").read_text().splitlines()
                  if " write " in line]
        seconds = int(writes[-1][0]) / 1000
        load[members] = (len(writes) / (members - 1), seconds)
    assert load[4][0] == pytest.approx(load[7][0], rel=0.01)
    assert load[4][1] == pytest.approx(load[7][1], rel=0.05)


def test_counter_changes_from_policy_tlc_to_ressd_are_printed_by_array_size(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (4, 6):
        (tmp_path / str(number)).mkdir()
        write_fake_results(tmp_path / str(number), "tlc", 1.0, number)
        write_fake_results(tmp_path / str(number), "ressd", 2.0, number)
    compare.print_ressd_effect_per_array_size(tmp_path, [4, 6])
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if "devices" in line).split() == ["4", "devices", "6",
                                                                        "devices"]
    pages = next(line for line in lines if "pages consumed" in line)
    assert pages.split()[2:] == ["+0.0", "(+100.0)", "+0.0", "(+100.0)"]


@pytest.mark.parametrize("members", ["3", "11", "few", "4,11"])
def test_numbers_of_devices_outside_4_to_10_are_refused(members: str) -> None:
    done = run_program(TOP / "userspace/raid/raid", members)
    assert done.code == 2 and "4 to 10" in done.err
