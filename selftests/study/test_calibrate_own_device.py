# SPDX-License-Identifier: GPL-2.0-only
"""Calibration finds the hidden parameters of an approxftl device from the shipped fio jobs.

The virtual machine's clock counts instructions. Its device is SLOWER times slower than the
parameters that calibration has to find, so that the time of fio and of the kernel is negligible;
idle time costs nothing there. All jobs but the fill and the bursts are shortened, and their waiting
times are multiplied by SLOWER.
"""

import json
import re
from typing import Any

import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, PROGRAM, TOP, run_program

from approxftl_tools.calibrate_model import Model

SLOWER = 20
HIDDEN = Model(8, 32768, True, {
    "controller": 12000, "read_first": 50000, "read": 60000, "read_last": 80000, "bus": 800,
    "link": 2000, "link_command": 2000, "program": 1500000, "buffer": 8 << 20, "op": 15})
JOBS = ("fill", "reads", "writes")
SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
Json = dict[str, Any]


def make_device_table_line() -> str:
    """Return the table line of a device so large that strided reads reach many blocks."""
    options = [word.removeprefix("--") for word in HIDDEN.make_simulated_device_options(1 << 30)]
    done = run_program(PROGRAM, "sim", *(f"--{word}" for word in options), "--fill=none",
                       "--requests", "0",
                       "--quiet", "--json")
    sectors = json.loads(done.out)["geometry"]["capacity_bytes"] // 512
    words = ["policy", "baseline", "timing", f"scale:{SLOWER}",
             *(part for word in options for part in word.split("="))]
    return f"0 {sectors} approxftl none {len(words)} {' '.join(words)}"


@pytest.fixture(scope="module", name="found")
def calibrate_own_device(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Measure the device in a virtual machine, and calibrate on the host."""
    place = tmp_path_factory.mktemp("calibrate")
    lines = ["set -e", f'dmsetup create hidden --table "{make_device_table_line()}"']
    for name in JOBS:
        jobs = (TOP / f"fio-profiles/calibrate-{name}.fio").read_text()
        text = jobs
        for wanted, fewer in ((r"(?:20000|40000)", 3000), (r"(?:100000|400000)", 8000)):
            text = re.sub(rf"^number_ios={wanted}$", f"number_ios={fewer}", text, flags=re.M)
        text = re.sub(r"^thinktime=(\d+)ms$", lambda m: f"thinktime={int(m[1]) * SLOWER}ms", text,
                      flags=re.M)
        text = re.sub(r"^rate_iops=(\d+)$", lambda m: f"rate_iops={int(m[1]) // SLOWER}", text,
                      flags=re.M)
        (place / f"calibrate-{name}.fio").write_text(re.sub(r"^runtime=5$", "runtime=30", text,
                                                            flags=re.M))
    lines.append("approxftl calibrate --device /dev/mapper/hidden --yes --skip-rewrites "
                 "--job-files . --measure-only --results $RESULTS")
    (place / "script").write_text("\n".join(lines) + "\n")
    done = run_program(PROGRAM, "lab", "--script", "script", "--results", "results",
                       directory=place)
    assert done.code == 0, done.out + done.err
    for name in JOBS:
        document = json.loads((place / f"results/{name}.json").read_text())
        for job in document["jobs"]:
            if "rate_iops" in job["job options"]:
                job["job options"]["rate_iops"] = str(int(job["job options"]["rate_iops"]) * SLOWER)
            for kind in ("read", "write"):
                times = job[kind]["clat_ns"]
                job[kind]["iops"] *= SLOWER
                times["mean"] /= SLOWER
                times["percentile"] = {share: int(ns / SLOWER)
                                       for share, ns in times.get("percentile", {}).items()}
        (place / f"{name}.json").write_text(json.dumps(document))
    done = run_program(BUILD / "approxftl-calibrate", *(f"{name}.json" for name in JOBS),
                       "--json=found.json", directory=place)
    assert done.code == 0, done.err
    return parse_document(SCHEMA, (place / "found.json").read_text())


@pytest.mark.long
@pytest.mark.slow
def test_integer_parameters_are_recovered_exactly(found: Json) -> None:
    known = {one["name"]: one for one in found["parameters"]}
    for name, hidden in (("dies", 8), ("stripe", 32768), ("one_shot", 1)):
        assert (known[name]["low"], known[name]["high"]) == (hidden, hidden), name


@pytest.mark.long
@pytest.mark.slow
def test_measured_parameters_are_recovered_within_tolerance(found: Json) -> None:
    """The fast jobs determine read and program times, but not over-provisioning (no rewrites)."""
    known = {one["name"]: one for one in found["parameters"] if one["determined"]}
    assert {"read", "read_first", "read_last", "program", "buffer"} <= known.keys()
    assert "op" not in known
    for name in ("read", "read_first", "read_last", "program", "buffer"):
        assert known[name]["value"] == pytest.approx(HIDDEN.values[name], rel=0.25), known[name]
    outside = [name for name, hidden in HIDDEN.values.items() if name in known and
               not known[name]["low"] <= hidden <= known[name]["high"]]
    assert len(outside) <= 2, known


@pytest.mark.long
@pytest.mark.slow
def test_simulated_loads_match_the_measured_ones(found: Json) -> None:
    errors = sorted(abs(figure["error"]) for figure in found["fitted"])
    assert len(errors) > 50
    assert errors[len(errors) // 2] < 0.1
