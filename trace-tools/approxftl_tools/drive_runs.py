# SPDX-License-Identifier: GPL-2.0-only
"""Run the loads that emulated drives are judged by; write a study file for each drive.

The study files are ordinary ones, which approxftl study can pack, export and draw.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from approxftl_tools import study_plan
from approxftl_tools.bench import Bench
from approxftl_tools.command import write_file
from approxftl_tools.drive_list import Drive
from approxftl_tools.drive_points import Load, Point, Shape

Runs = dict[tuple[Drive, Load], study_plan.Point]
#: A run without requests, which only reports the device's geometry and parameters.
NOTHING = Load(("--requests=0",))


def options_as_toml(arguments: Iterable[str]) -> str:
    """Return the simulator's options as an inline TOML table."""
    parts = (text.removeprefix("--").partition("=") for text in arguments)
    return ", ".join(f"{key} = {json.dumps(value if sign else True)}" for key, sign, value in parts)


def make_study_text_of_drive(drive: Drive, loads: Mapping[str, Load]) -> str:
    rows = "".join(f"{json.dumps(name)} = {{ {options_as_toml(load.arguments)} }}\n"
                   for name, load in loads.items())
    return (f"study = {study_plan.LANGUAGE}\nname = {json.dumps(drive.name)}\n"
            f"text = {json.dumps(drive.about)}\nwarmup = \"ignore\"\n"
            f"base = {{ {options_as_toml(drive.make_drive_arguments())} }}\n\n[vary.row]\n{rows}")


def map_load_names_to_loads(points: Iterable[Point]) -> dict[str, Load]:
    """Return the loads of measured points, named by the first table row that has the load."""
    names: dict[Load, str] = {}
    for point in points:
        names.setdefault(point.load, f"{point.table} {point.row}")
    return {name: load for load, name in names.items()}


def run_drive_study(drive: Drive, loads: Mapping[str, Load], bench: Bench) -> Runs:
    bench.store.create_result_directory()
    path = bench.store.root / f"{drive.name}.toml"
    write_file(path, make_study_text_of_drive(drive, loads))
    plan = study_plan.read_study(path, bench.program, sure=True)
    return {(drive, load): run for load, run in zip(loads.values(), plan.points, strict=True)}


def simulate_drive_without_requests(drive: Drive, bench: Bench) -> dict[str, Any]:
    """Return the result of a run without requests, which describes the device."""
    run = (*drive.make_drive_arguments(), *NOTHING.arguments)
    return replace(bench, progress=False).run_or_look_up_simulations([run])[run]


def get_parameters_of_simulated_drive(drive: Drive, bench: Bench) -> dict[str, Any]:
    found: dict[str, Any] = simulate_drive_without_requests(drive, bench)["parameters"]
    return found


def enlarge_drive(drive: Drive, times: int, bench: Bench) -> Drive:
    """Return a copy of the drive with its number of blocks multiplied by `times`."""
    if times == 1:
        return drive
    blocks = simulate_drive_without_requests(drive, bench)["geometry"]["blocks_per_lun"] * times
    return drive.copy_drive_with_options(f"--blocks={blocks}")


def emulated_drive_size(drive: Drive, bench: Bench) -> Shape:
    """Return the size of the emulated device, of which each load writes a multiple."""
    found = simulate_drive_without_requests(drive, bench)["geometry"]
    return Shape(found["units"], found["unit_bytes"],
                 found["physical_bytes"] // found["blocks_per_lun"])
