# SPDX-License-Identifier: GPL-2.0-only
"""Run every claim as a test; run claims about traces on files in MSR Cambridge's format."""

from __future__ import annotations

import re
import subprocess
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from selftests.claims import (
    approx,
    claims,
    models,
    negative_controls,
    real_traces,
    ressd,
    runs,
    studies,
)
from selftests.claims.rows import known_miss

from approxftl_tools import aft, study_plan
from approxftl_tools.synthesis import Stream, generate_stream
from approxftl_tools.workload_profile import find_profile

#: Number of deviations per claim that docs/systems accounts for.
EXPLAINED = {"RE-6": 3, "AX-9": 1, "AG-7": 1, "TV-5": 1, "IP-A": 1}
#: Number of rows per claim that only report a figure, such as the base of an ablation.
REPORTED = {"AX-T": 5, "AX-A": 3, "AG-A": 3, "TV-A": 1, "DE-A": 1, "PL-A": 2,
            "IP-A": 3, "UP-1": 1, "UP-2": 1, "HY-3": 5}
#: Claims whose rows change when a directory of traces is given.
TRACED = ("AG-2", "AG-3", "AG-4", "AG-5", "AG-6", "AX-T", "CU-9", "TV-5")
TRACED_ARRAYS = ("RE-6", "RE-7", "RE-8", "RE-10", "RE-11")


def briefly(id_: str) -> AbstractContextManager[None]:
    """Limit the requests of a claim where its negative controls are known to fail by then, too.

    `make claims` runs all requests.
    """
    return runs.falsely(("--requests=100000",) if id_.startswith("HY") else ())


@pytest.mark.parametrize("id_", claims.IDS)
def test_claim(id_: str) -> None:
    with briefly(id_):
        rows = claims.rows_of(id_)
    assert rows
    assert all(row.id == id_ and row.band for row in rows)
    assert [row for row in rows if row.verdict == "fail"] == []
    assert sum(row.verdict == "explained" for row in rows) == EXPLAINED.get(id_, 0)
    assert sum(row.verdict == "report" for row in rows) == REPORTED.get(id_, 0)
    assert negative_controls.rows_without_control(id_, rows) == []


def turn() -> int:
    """Return the number of commits, by which the sample of negative controls rotates."""
    done = subprocess.run(["git", "rev-list", "--count", "HEAD"], capture_output=True, text=True,
                          check=False)
    return int(done.stdout) if done.returncode == 0 else 0


@pytest.mark.parametrize("control", negative_controls.sample(2, turn()),
                         ids=lambda control: control.how)
def test_negative_control_misses(control: negative_controls.Control) -> None:
    with briefly(control.id):
        assert control.held() == []


def test_control_that_holds_is_reported(capsys: pytest.CaptureFixture[str],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    same = negative_controls.Control("TV-2", (0,), "nothing", constant="tvr.STEP_V = 0.2")
    monkeypatch.setattr(negative_controls, "CONTROLS", (same,))
    assert negative_controls.prove(["TV-2"]) == 1
    assert negative_controls.prove(["TV-1"]) == 1
    assert "no control for: TVR half widths" in capsys.readouterr().out


def test_streams_of_another_world_are_other_files() -> None:
    usual = studies.volumes()
    assert [path.name.partition("-")[0] for path in usual.values()] == ["HM_0", "PRN_1", "PROJ_1"]
    with runs.falsely(made_by={"reads-of-a-place": 40, "requests": 100}):
        other = studies.volumes()
    assert other.keys() == usual.keys() and not set(other.values()) & set(usual.values())
    assert all(len(aft.open_records(path).operations()) == 100 for path in other.values())
    assert studies.volumes() == usual


def test_false_options_override_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.toml").write_text(
        'study = 1\nwarmup = "ignore"\n[base]\nwear_gap = 0\n[vary]\nrequests = [7, 8]\n')
    monkeypatch.setenv("APPROXFTL", str(runs.binary()))
    monkeypatch.setenv("AFTL_BUILD", str(tmp_path))
    monkeypatch.setattr(studies, "FOLDER", tmp_path)
    with pytest.raises(AssertionError, match="several runs at baseline"):
        studies.results("small")
    with runs.falsely(("--requests=5", "--wear-gap=3")):
        found = studies.results("small", requests=8)["baseline"]
    assert found["requests"] == 5 and found["parameters"]["wear_gap"] == 3
    assert studies.once(["--wear_gap=0", "--wear-gap=3"]) == ["--wear-gap=3"]


def test_each_study_can_be_run_by_itself_and_is_looked_at(tmp_path: Path) -> None:
    said = "".join(path.read_text() for path in Path(studies.__file__).parent.glob("*.py"))
    for path in studies.FOLDER.glob("*.toml"):
        plan = studies.plan_of(path.stem, {})
        study_plan.check_values(path, runs.binary(), plan.points)
        assert plan.text and f'"{path.stem}"' in said


def test_no_claim_of_the_models_is_left_out() -> None:
    assert set(models.physics()) == set(models.PHYSICS_IDS)


def test_a_false_figure_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(approx.SERVICE_SAVING, "delta_b", (0.0, 3.3, 10.0, 18.5, 23.3, 33.3))
    verdicts = [row.verdict for row in approx.ax3()]
    assert verdicts == ["fail"] + 4 * ["pass"]


def test_a_known_miss_fails_if_it_changes() -> None:
    rows = [known_miss("RE-6", "x", "1", "2", "why", stays) for stays in (True, False)]
    assert [row.verdict for row in rows] == ["explained", "fail"]


def as_msr(stream: Stream) -> str:
    """Return the lines of an MSR file; its clock counts 100 ns since 1601."""
    rows = zip(stream.t_ns, stream.op, stream.off_sect, stream.nsect, strict=True)
    return "".join(
        f"{128166372000000000 + t_ns // 100},host,0,{'Write' if write else 'Read'},"
        f"{sector * aft.SECTOR},{sectors * aft.SECTOR},1000\n"
        for t_ns, write, sector, sectors in rows)


def whole_pages(stream: Stream) -> Stream:
    """Return a stream whose units are pages of 8 KiB."""
    return replace(stream, off_sect=2 * stream.off_sect, nsect=2 * stream.nsect)


@pytest.fixture
def volumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Stream]:
    """Place synthetic streams in the directory of real traces, beside a file that is no trace."""
    made = {name: whole_pages(generate_stream(
        replace(find_profile(name), reads_of_a_place=200, read_places_share=0.04), 10000, 1))
        for name in ("HM_0", "PRN_1")}
    for name, stream in made.items():
        (tmp_path / f"{name}.csv").write_text(as_msr(stream))
    (tmp_path / "README").write_text("They are not to be passed on.\n")
    monkeypatch.setenv("CLAIMS_TRACES", str(tmp_path))
    monkeypatch.setattr(ressd, "FOLDED", ressd.FOLDED * 96 // 1024)
    return made


def test_traces_of_a_path_are_read_as_they_are(
        volumes: dict[str, Stream], capsys: pytest.CaptureFixture[str]) -> None:
    found = real_traces.traces()
    assert "README skipped: " in capsys.readouterr().err
    assert set(found) == {f"trace {name}" for name in volumes} == set(studies.volumes())
    for name, stream in volumes.items():
        file = aft.open_records(found[f"trace {name}"])
        for column, wanted in (("off_sect", stream.off_sect), ("nsect", stream.nsect),
                               ("t_ns", stream.t_ns // 100 * 100)):
            assert (file.column(column) == wanted).all()
        assert (file.operations() == stream.op).all()


@pytest.mark.parametrize("id_", TRACED)
def test_claim_on_traces(volumes: dict[str, Stream], id_: str) -> None:
    # Use as small a device as the stand-ins do.
    with runs.falsely(("--blocks=16",) if id_.startswith("AG") else ()):
        rows = claims.CLAIMS[id_]()
    said = " ".join(row.what + row.tolerance for row in rows)
    assert all(f"trace {name}" in said for name in volumes) and "synthetic" not in said
    assert [row for row in rows if row.verdict == "fail"] == []


@pytest.mark.parametrize("id_", TRACED_ARRAYS)
def test_claim_about_arrays_on_traces(volumes: dict[str, Stream], id_: str) -> None:
    # Use small planes.
    with runs.falsely(("--blocks=96",)):
        rows = claims.CLAIMS[id_]()
    assert {row.what.split(":")[0] for row in rows} == {f"trace {name}" for name in volumes}
    # Four thousand repeated requests are not a volume, so the figures need not match the paper's.
    assert all(re.findall(r"[-+]?\d+\.\d+", row.ours) for row in rows)
