# SPDX-License-Identifier: GPL-2.0-only
"""Test the fit of a drive: its search, the held-out half of the points, the fitted profile."""

import csv
import json
import re
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, TOP
from selftests.study.test_drives import SCHEMA, SHAPE, run_drives_verb

from approxftl_tools.bench import Bench, Options
from approxftl_tools.calibrate_fit import Vector
from approxftl_tools.drive_fit import (
    Fit,
    Judge,
    Search,
    Values,
    find_first_values_of_generic_drive,
    fit_drive,
    summarise_errors_of_held_out_points,
)
from approxftl_tools.drive_list import DRIVES, FAMILIES, Drive, Free, make_generic_drive
from approxftl_tools.drive_points import (
    ANCHOR,
    FITTED,
    HELD,
    OTHER,
    OWN_TABLES,
    Point,
    Shape,
    list_measured_points_of_drive,
)
from approxftl_tools.drive_runs import emulated_drive_size
from approxftl_tools.study_store import Store

BY_NAME = pytest.mark.parametrize("drive", DRIVES, ids=lambda drive: drive.name)


def ignore_progress(_done: int, _best: float) -> None:
    """Ignore the progress that a search reports."""


# ---------------------------------------------------------------- halves


def convert_fit_points_to_tuples(points: Iterable[Point]) -> list[tuple[object, ...]]:
    return [(one.table, one.row, one.measure, one.measured, one.load, one.base, one.base_measured,
             one.half) for one in points]


@BY_NAME
def test_each_point_is_either_fitted_or_held_out(drive: Drive) -> None:
    whole = list_measured_points_of_drive(drive, SHAPE, OWN_TABLES)
    for half in (FITTED, HELD):
        assert convert_fit_points_to_tuples(list_measured_points_of_drive(drive, SHAPE, OWN_TABLES,
                                                                          half)) == \
            convert_fit_points_to_tuples(one for one in whole if one.half != OTHER[half])


@BY_NAME
def test_points_of_a_curve_are_fitted_and_held_out_in_turn(drive: Drive) -> None:
    """Each run is either fitted or held out; of neighbouring points of a curve one is held out."""
    runs: dict[Any, set[str]] = defaultdict(set)
    curves: dict[tuple[str, str], dict[float, str]] = defaultdict(dict)
    for one in list_measured_points_of_drive(drive, SHAPE, OWN_TABLES):
        runs[one.load].add(one.half)
        if one.half != ANCHOR:
            curves[one.table, one.curve][one.x] = one.half
    assert all(len(halves) == 1 for halves in runs.values())
    for (table, curve), halves in curves.items():
        if table != "write-zones" and curve != "read-only-part":
            inside = [halves[x] for x in sorted(halves)]
            assert all(one != other for one, other in pairwise(inside)), curve
    sizes = [sum(halves == {half} for halves in runs.values()) for half in (FITTED, HELD)]
    assert abs(sizes[0] - sizes[1]) <= 3


def parse_count_and_total_of_cell(cell: str) -> tuple[int, int]:
    """Parse a cell such as "3 of 5"."""
    within, _, points = cell.partition(" of ")
    return (int(within), int(points)) if points else (0, 0)


def test_the_document_counts_fitted_and_held_out_points() -> None:
    """Check the number of measured points; `make drives` counts the points within their bands."""
    page = (TOP / "docs" / "drives.md").read_text()
    rows = re.findall(r"^\| (.*?) ?\| ([a-z-]+)(?:, (sequential))? \| (.+?) \| (.+?) \| (.+?) \| ",
                      page.split("## The table")[1].split("\n## ")[0], re.M)
    named, sums = "", [[0, 0], [0, 0]]
    told: dict[tuple[str, ...], list[int]] = {}
    wanted: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for name, table, order, measure, *cells in rows[2:]:
        named = name.strip("`") or named
        counts = [parse_count_and_total_of_cell(cell) for cell in cells]
        told[named, table, order, measure] = [points for _, points in counts]
        for total, count in zip(sums, counts, strict=True):
            total[:] = [one + more for one, more in zip(total, count, strict=True)]
    for drive in DRIVES:
        for one in list_measured_points_of_drive(drive, SHAPE, OWN_TABLES):
            order = "sequential" * (one.table == "read-grid" and "sequential" in one.what)
            which = one.half == HELD or not drive.free
            wanted[drive.name, one.table, order, one.measure][which] += 1
    assert told == wanted
    text = " ".join(page.split())
    (within, points), (held, unseen) = sums
    assert f"Among {points + unseen} points {within + held} are within their tolerance bands: " \
           f"{within} of the {points} points for fitting, {held} of the {unseen} held-out points" \
        in text


@dataclass
class Pretended:
    """A stand-in for the simulator that returns constant results and records requested runs."""

    asked: set[Options] = field(default_factory=set)
    progress: bool = False

    def run_or_look_up_simulations(self, runs: Iterable[Options]) -> dict[Options, Any]:
        times = {f"{what}_ns": 1e4 for what in ("mean", "p50", "p99", "p99_9")}
        result = {"counters": defaultdict(lambda: 1000), "simulated_ns": 10**9, "unit_bytes": 4096,
                  "write_amplification": {"total": 2.0},
                  "timing": {"read_response": times, "write_response": times},
                  "parameters": defaultdict(lambda: 30.0, read_ns=3e4, read_first_ns=3e4,
                                            read_last_ns=3e4, read_move_ns=3e4, program_ns=3e4,
                                            command_ns=5e3, row=4, suspend_step_ns=1e5,
                                            erase_ns=5e5, suspend_limit=6, suspend_reads=2),
                  "geometry": {"units": SHAPE.units, "unit_bytes": SHAPE.unit_bytes,
                               "physical_bytes": SHAPE.superblock, "blocks_per_lun": 1}}
        found = dict.fromkeys(runs, result)
        self.asked |= set(found)
        return found


@pytest.mark.parametrize("half", [FITTED, HELD])
@BY_NAME
def test_the_held_out_half_is_run_only_after_the_fit(drive: Drive, half: str) -> None:
    bench: Any = Pretended()
    held = [one for one in list_measured_points_of_drive(drive, SHAPE, OWN_TABLES)
            if one.half == OTHER[half]]
    other = {one.load.arguments for one in held}

    def list_workloads_simulated_so_far() -> set[tuple[str, ...]]:
        return {load for load in other for asked in bench.asked if asked[-len(load):] == load}
    if drive.free:
        judge = Judge(drive, bench, OWN_TABLES, lambda _: True, half)
        found = fit_drive(judge, 10, ignore_progress)
        assert found.evaluations >= 3 and not list_workloads_simulated_so_far()
        summarise_errors_of_held_out_points(judge, found)
        assert list_workloads_simulated_so_far() == other
        assert found.shares[HELD][1].points == len(held)


def write_table_with_spoilt_rows(folder: Path, name: str, result: str) -> Path:
    """Write a measurement table whose held-out rows have other results."""
    folder.mkdir()
    with (OWN_TABLES / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "kiops": result} if row["workload"].startswith("sequential-read")
                         else row for row in rows)
    return folder


def test_held_out_points_do_not_influence_the_fit(tmp_path: Path) -> None:
    fits, profiles = [], []
    for number, result in enumerate(("23.68", "9999", "")):
        tables = write_table_with_spoilt_rows(tmp_path / str(number), "kioxia-xg6-fio.csv", result)
        out = tmp_path / f"{number}.json"
        run_drives_verb("--refit", "kioxia-xg6", "--tables", tables, "--save", tables,
                        f"--json={out}", "--results", tmp_path / "kept")
        profiles.append((tables / "kioxia-xg6.profile").read_text())
        (found,) = parse_document(SCHEMA, out.read_text())["fits"]
        held = found["halves"].pop("held")
        fits.append(found)
        assert held["fitted"]["within"] == (3 if number == 0 else 0)
        assert held["fitted"]["points"] == (0 if number == 2 else 3)
    assert len(set(profiles)) == 1
    assert fits[0] == fits[1] == fits[2]


def test_a_drive_of_which_nothing_is_known_is_fitted(tmp_path: Path) -> None:
    """Tables of a drive without profile are enough for its emulation, with an error per point."""
    for path in OWN_TABLES.glob("kioxia-xg6-*.csv"):
        (tmp_path / path.name.replace("kioxia-xg6", "acme-9000")).write_text(path.read_text())
    run = ("acme-9000", "--tables", tmp_path, "--results", tmp_path / "kept")
    said = run_drives_verb("--refit", *run, status=3).err
    assert "the capacity of acme-9000 is not known; write acme-9000-datasheet.csv" in said
    (tmp_path / "acme-9000-datasheet.csv").write_text("key,value,unit\ncapacity,1.02,TB\n")
    out = tmp_path / "found.json"
    said = run_drives_verb("--refit", *run, "--save", tmp_path, f"--json={out}",
                           "--certificate", tmp_path / "own", "--evaluations", "6").out
    document = parse_document(SCHEMA, out.read_text())
    assert re.search(r"^fio +random-read 4 KiB +thousand/s +263.7 ", said, re.M)
    assert [point["fitted"] for point in document["points"]] == \
        [True] * 3 + [False] * 3 + [True] * 3
    (fit,) = document["fits"]
    assert fit["halves"]["fitted"]["fitted"]["misfit"] < fit["halves"]["fitted"]["before"]["misfit"]
    # The saved profile gives the same emulation, with approxftl drives and with approxftl sim.
    out.unlink()
    run_drives_verb(*run, "--profiles", tmp_path, f"--json={out}")
    again = json.loads(out.read_text())["points"]
    assert [point["ours"] for point in again] == [point["ours"] for point in document["points"]]
    profile = (tmp_path / "acme-9000.profile").read_text()
    (line,) = re.findall("^# (approxftl sim .*) --set @FILE$", profile, re.M)
    assert len(re.findall("^op=", profile, re.M)) == 1
    load = [word for word in again[0]["arguments"] if "requests" in word]
    done = subprocess.run([BUILD / "approxftl", *line.split()[1:], "--set",
                           f"@{tmp_path / 'acme-9000.profile'}", *load, "--json", "--quiet"],
                          capture_output=True, check=True)
    known = {one.name: one for one in make_generic_drive("acme-9000", 10**12).free}
    parameters = json.loads(done.stdout)["parameters"]
    for row in fit["parameters"]:
        assert known[row["name"]].read_parameter_value_from_result(parameters) == row["fitted"]


def test_the_search_without_profile_finds_the_family_of_a_drive(tmp_path: Path) -> None:
    """A drive with hidden values, and the policy of the second family, is recognised."""
    hidden = replace(make_generic_drive("acme", 960 * 10**9), policy=FAMILIES[2][0],
                     options=("--profile=generic-drive", f"--victim={FAMILIES[2][1]}",
                              "--blocks=32", "--op=24%", "--program=800us", "--seed=7"))
    bench = Bench(BUILD / "approxftl", 1, Store(tmp_path / "kept"))
    tables = tmp_path / "tables"
    tables.mkdir()
    rows = [("sequential", "", 894, 1), ("sequential", "", 600, 1), ("uniform", "", 894, 2),
            ("read-only-part", "s0.6 f0 s0.4 f1", 894, 2),
            ("read-only-part", "s0.2 f0 s0.8 f1", 894, 2),
            ("two-zones", "s0.9 f0.1 s0.1 f0.9", 894, 2),
            ("two-zones", "s0.6 f0.4 s0.4 f0.6", 894, 2)]
    lines = [dict(zip(STEADY, ("a", pattern, parameter, "seq", str(full), "512" if "seq" in pattern
                               else "4", "1" if "seq" in pattern else "64", str(times), "1", ""),
                      strict=True)) for pattern, parameter, full, times in rows]
    for _ in range(2):
        with (tables / "acme-write-steady.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, STEADY)
            writer.writeheader()
            writer.writerows(lines)
        for point in list_measured_points_of_drive(hidden, emulated_drive_size(hidden, bench),
                                                   tables):
            options = (*hidden.make_drive_arguments(), *point.load.arguments)
            result = bench.run_or_look_up_simulations([options])[options]
            lines[point.row]["host_mbps"] = f"{point.value(result):.6g}"
    drive = make_generic_drive("acme", 960 * 10**9)
    judge = Judge(drive.copy_drive_with_options("--blocks=32"), bench, tables, lambda _: True)
    found = find_first_values_of_generic_drive(judge)
    assert found.policy == FAMILIES[2][0] and f"--victim={FAMILIES[2][1]}" in found.options
    values = dict(option.removeprefix("--").split("=") for option in found.options)
    assert abs(float(values["program"].removesuffix("us")) - 800) <= 20
    assert abs(float(values["op"].removesuffix("%")) - 24) <= 1


# ---------------------------------------------------------------- the search

FREE = (Free("a", 0, 100, 1), Free("b", 10, 20, 0.5), Free("c", 1, 8, 1))


def run_parameter_search(errors: Callable[[Values], Vector], start: Values, budget: int = 60,
                         free: tuple[Free, ...] = FREE) -> Search:
    found = Search(free, errors, budget, ignore_progress)
    found.search_best_fit_from_initial_values(start)
    return found


def compute_model_errors_with_known_minimum(values: Values) -> Vector:
    """Return six errors, two of them constant; the sum of squares is least at (70, 13.5, 3)."""
    a, b, c = values
    return np.array([(a / 70) ** 1.5 - 1, 4 * (b / 13.5 - 1), (c - 3) / 3, a * b / 945 - 1, 2.0,
                     -0.5]) * 5


def test_the_search_finds_a_known_minimum() -> None:
    for start in ((10.0, 19.0, 8.0), (100.0, 10.0, 1.0), (70.0, 13.5, 3.0)):
        found = run_parameter_search(compute_model_errors_with_known_minimum, start)
        assert found.find_best_parameters_so_far() == (70.0, 13.5, 3.0)
        assert len(found.seen) < 60
        assert run_parameter_search(compute_model_errors_with_known_minimum,
                                    start).seen.keys() == found.seen.keys()


def test_parameters_stay_within_their_bounds() -> None:
    def compute_model_errors_with_outside_minimum(values: Values) -> Vector:
        return np.array([(values[0] - 300) / 50, values[1] + 20, values[2] - 20])
    found = run_parameter_search(compute_model_errors_with_outside_minimum, (50.0, 15.0, 4.0))
    assert found.find_best_parameters_so_far() == (100.0, 10.0, 8.0)
    assert all(one.low <= value <= one.high for values in found.seen
               for one, value in zip(FREE, values, strict=True))
    assert found.compute_misfit_change_per_parameter_step(found.find_best_parameters_so_far(),
                                                          0)[1] is None


def test_the_number_of_evaluations_is_limited() -> None:
    assert len(run_parameter_search(compute_model_errors_with_known_minimum, (10.0, 19.0, 8.0),
                                    9).seen) == 9


def test_parameters_without_effect_are_undetermined() -> None:
    found = run_parameter_search(lambda values: np.array([values[0] - 40, 0.0001 * values[1]]),
                                 (50.0, 15.0, 4.0))
    found.budget += 6
    best = found.find_best_parameters_so_far()
    done = Fit(replace(DRIVES[0], free=FREE), best, best,
               felt=[found.compute_misfit_change_per_parameter_step(best, which)
                     for which in range(3)])
    assert [done.is_parameter_undetermined(which) for which in range(3)] == [False, True, True]
    text = done.format_fitted_profile()
    assert re.search(r"# Not determined:\nb=.*\n# Not determined:\nc=", text)


@pytest.mark.parametrize("bounds", [(5, 5, 1), (9, 5, 1), (5, 9, 0), (5, 9, 10)])
def test_every_free_parameter_has_bounds(bounds: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="is no range"):
        Free("read", *bounds)


def test_documented_fitted_parameters_are_searched() -> None:
    parts = (TOP / "docs" / "drives.md").read_text().split("\n## ")
    (page,) = (part for part in parts if part.startswith("What a profile rests on"))
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", page, re.M)
    named = {name for title, why in rows if "fitted" in why
             for name in re.findall("`(.+?)`", title)}
    assert named == {one.name for drive in DRIVES for one in drive.free}


# ---------------------------------------------------------------- hidden parameters

HIDDEN = {"op": "22%", "read": "63us", "program": "900us", "controller": "9us"}
OWN = Drive("own", "a device of ours", 10**9, "baseline", 1 << 20,
            options=("--profile=demo", "--blocks=128", "--layers=2", "--errors=off"),
            free=(Free("op", 10, 50, 1, "%"), Free("read", 20, 150, 2, "us"),
                  Free("program", 200, 3000, 50, "us"), Free("controller", 1, 40, 1, "us"),
                  Free("idle", 100, 9000, 100, "us")))
STEADY = ("unit", "pattern", "parameter", "precondition", "filled_gib", "block_kib", "queue_depth",
          "written_capacities", "host_mbps", "wa_measured")
FIO = ("workload", "queue_depth", "kiops")


def write_measurements(folder: Path, bench: Bench) -> None:
    """Write measurement tables of a device with hidden parameters and a seed of its own."""
    rows = {"own-write-steady.csv": [
        dict(zip(STEADY, ("a", "uniform", "", "seq", f"{full * 10**9 / 2**30:.6f}", "4", "16", "3",
                          "1", "1"), strict=True)) for full in (0.6, 0.7, 0.8, 0.9)],
        "own-fio.csv": [dict(zip(FIO, (f"{kind} 4 KiB", depth, "1"), strict=True))
                        for kind in ("random-read", "random-write")
                        for depth in ("1", "2", "4", "8", "16", "32")]}
    hidden = replace(OWN, options=(*OWN.options, "--seed=7",
                                   *(f"--{key}={value}" for key, value in HIDDEN.items())))
    for _ in range(2):
        for name, lines in rows.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(lines[0]))
                writer.writeheader()
                writer.writerows(lines)
        result = bench.run_or_look_up_simulations([(*hidden.make_drive_arguments(),
                                                    "--requests=0")]).popitem()[1]["geometry"]
        shape = Shape(result["units"], result["unit_bytes"],
                      result["physical_bytes"] // result["blocks_per_lun"])
        for point in list_measured_points_of_drive(hidden, shape, folder):
            options = (*hidden.make_drive_arguments(), *point.load.arguments)
            results = bench.run_or_look_up_simulations([options])
            ours = point.compute_simulated_value({point.load: results[options]})
            column = {"thousand/s": "kiops", "rate, MB/s": "host_mbps"}.get(
                point.measure, "wa_measured")
            rows[f"own-{point.table}.csv"][point.row][column] = f"{ours:.6g}"


def test_a_fit_finds_the_hidden_parameters_of_a_device(tmp_path: Path) -> None:
    bench = Bench(BUILD / "approxftl", 1, Store(tmp_path / "kept"))
    tables = tmp_path / "tables"
    tables.mkdir()
    write_measurements(tables, bench)
    judge = Judge(replace(OWN, options=(*OWN.options, "--op=35%", "--read=110us", "--program=500us",
                                        "--controller=20us", "--idle=1ms")),
                  bench, tables, lambda _: True)
    found = fit_drive(judge, 60, ignore_progress)
    summarise_errors_of_held_out_points(judge, found)
    for one, value in zip(OWN.free[:4], found.values, strict=False):
        assert abs(value - float(HIDDEN[one.name].rstrip("us%"))) <= one.step, found.values
    assert [found.is_parameter_undetermined(which) for which in range(5)] == [False] * 4 + [True]
    (before, after), held = found.shares[FITTED], found.shares[HELD]
    assert before.within < before.points and after.within == after.points
    assert held[1].within == held[1].points >= 6 and held[1].worst < 0.8 < held[0].worst


# ---------------------------------------------------------------- the command


def test_a_fit_is_repeatable_and_its_profile_valid(tmp_path: Path) -> None:
    texts, folders = [], [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        texts.append(run_drives_verb("--refit", "kioxia-xg6", "--swap", "--evaluations=2", "--save",
                                     folder).out)
    assert texts[0] == texts[1]
    path, other = (folder / "kioxia-xg6.profile" for folder in folders)
    assert path.read_bytes() == other.read_bytes()
    # Another value, so that the test sees that this file is used.
    path.write_text("# of ours\n\nread=120us\n")
    done = subprocess.run([BUILD / "approxftl", "sim", "--profile=kioxia-xg6", "--fill=none",
                           "--requests=0",
                           "--json=-", f"--set=@{path}"], capture_output=True, check=True)
    assert json.loads(done.stdout)["parameters"]["read_ns"] == 120000
    out = tmp_path / "points.json"
    run_drives_verb("kioxia-xg6", "--only", "random-read", "--profiles", folders[0],
                    f"--json={out}")
    assert all("--read=120us" in point["arguments"] and not point["within"]
               for point in json.loads(out.read_text())["points"])
    said = run_drives_verb("--refit", "kioxia-xg6", "--save", folders[0], status=1).err
    assert "is there already" in said and path.read_text().startswith("# of ours")
    said = run_drives_verb("--refit", "kioxia-xg6", "--profiles", folders[0], "--evaluations=1").out
    assert re.search(r"^read +120us ", said, re.M)


def test_an_interrupted_fit_returns_the_best_so_far(tmp_path: Path) -> None:
    out = tmp_path / "fits.json"
    process = subprocess.Popen(
        [BUILD / "approxftl-drives", "--refit", "wd-zn540", "wd-dc-960", "--only", "KiB, 16 x 1",
         "--progress", "--jobs=1", "--save", tmp_path, f"--json={out}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    text = b""
    while b"evaluation 1 of" not in text:
        text += process.stderr.read(1)
    process.send_signal(signal.SIGTERM)
    assert process.communicate()[1].endswith(b"approxftl drives: interrupted\n")
    assert process.returncode == 130
    (found,) = parse_document(SCHEMA, out.read_text())["fits"]
    assert found["interrupted"] and 1 <= found["evaluations"] <= 5
    assert set(found["halves"]) == {"fitted"}
    profile = (tmp_path / "wd-zn540.profile").read_text()
    assert "interrupted after" in profile and "suspend_limit=" in profile


@pytest.mark.parametrize(("words", "status", "sentence"), [
    (["--refit", "wd-conventional"], 2, "nothing of it is fitted"),
    (["kioxia-xg6", "--save=."], 2, "--save does not go without --refit"),
    (["kioxia-xg6", "--swap"], 2, "--swap does not go without --refit"),
    (["--refit", "kioxia-xg6", "--only=nothing"], 3, "no point of kioxia-xg6 to fit to"),
    (["--refit", "kioxia-xg6", "--save=/nowhere"], 3, "no such directory")])
def test_invalid_fit_options_are_refused(words: list[str], status: int, sentence: str) -> None:
    assert sentence in run_drives_verb(*words, status=status).err


def test_a_start_value_outside_its_bounds_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kioxia-xg6.profile").write_text("read=500us\n")
    assert "read is 500us, not from 20us to 120us" in run_drives_verb(
        "--refit", "kioxia-xg6", "--profiles", tmp_path, status=1).err
