# SPDX-License-Identifier: GPL-2.0-only
"""Run every claim as a test, check the register, run claims on files in MSR Cambridge's format."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from selftests.claims import (
    claims,
    negative_controls,
    real_traces,
    register,
    ressd,
    runs,
    studies,
)
from selftests.lib.programs import run_program

from approxftl_tools import aft, study_plan
from approxftl_tools.synthesis import Stream, generate_stream
from approxftl_tools.workload_profile import published_profile

#: Number of rows of own designs that only report a figure, or differ as docs/systems explains.
REPORTED = {"DE-A": 1, "PL-A": 2, "IP-A": 3, "UP-1": 1, "UP-2": 1, "HY-3": 5}
EXPLAINED = {"IP-A": 1}
#: Claims whose figures change when a directory of traces is given.
TRACED = ("AG-2", "AG-3", "AG-4", "AG-5", "AG-6", "AG-9", "AX-T", "CU-9", "TV-5")
TRACED_ARRAYS = ("RE-6", "RE-7", "RE-8", "RE-10", "RE-11")


#: Claims that each `make check` measures: the shortest of each paper that run the simulator.
SAMPLE = ("AX-8", "AG-3", "CU-4", "RE-9")


def mark_claims_by_length(ids: Iterable[str]) -> list[object]:
    """Return claims as parameters: `make check` leaves out the long ones, and rotates most others.

    `make check-all` and `make claims` measure all.
    """
    marks = {id_: [pytest.mark.long] for id_ in negative_controls.LONG}
    marks |= {id_: [] for id_ in SAMPLE}
    return [pytest.param(id_, marks=marks.get(id_, [pytest.mark.in_turn])) for id_ in ids]


@pytest.mark.parametrize("id_", mark_claims_by_length(claims.CLAIMS))
def test_verdicts_on_measured_claims_agree_with_the_register_of_papers(id_: str) -> None:
    assert [(one.entry.id, one.describe_conflict_with_register)
            for one in claims.measure_and_judge_claim(id_)
            if one.describe_conflict_with_register] == []
    assert negative_controls.find_claim_rows_without_negative_control(id_) == []


@pytest.mark.parametrize("id_", mark_claims_by_length(claims.OWN))
def test_no_claim_about_a_design_without_a_paper_fails(id_: str) -> None:
    # `make claims` runs all requests; the controls of hybrid fail with these, too.
    with runs.falsified_settings(("--requests=100000",) if id_.startswith("HY") else ()):
        rows = claims.measure_claim_without_paper(id_)
    assert rows and all(row.id == id_ for row in rows)
    assert [row for row in rows if row.verdict == "fail"] == []
    assert sum(row.verdict == "explained" for row in rows) == EXPLAINED.get(id_, 0)
    assert sum(row.verdict == "report" for row in rows) == REPORTED.get(id_, 0)
    assert negative_controls.find_claim_rows_without_negative_control(id_) == []


def test_each_register_entry_is_complete() -> None:
    listed = [entry for name in register.PAPERS.values() for entry in register.read_register(name)]
    assert len({entry.id for entry in listed}) == len(listed) > 159
    for entry in listed:
        assert entry.where and entry.says and entry.verdict in register.VERDICTS, entry.id
        measured = entry.claim_id in claims.CLAIMS
        assert measured == bool(entry.ours) and measured != (entry.verdict == "absent"), entry.id
        has_limits = entry.within is not None or bool(entry.band)
        assert not (has_limits or entry.verdict == "reproduced") or entry.why, entry.id
        assert entry.verdict != "reproduced" or (has_limits and entry.paper_figures_text), entry.id
        assert entry.verdict not in ("contradicted", "absent") or entry.cause, entry.id
        assert entry.verdict != "contradicted" or entry.tested, entry.id
        assert entry.verdict != "direction" or not entry.paper_figures or entry.cause, entry.id
        assert entry.model == [] or entry.verdict in ("mechanism", "identity", "contradicted")
        assert re.fullmatch(r"[A-Z]{2}-(?:(?:\d+|[A-Z])\.\d+|N\d+)", entry.id), entry.id


def test_each_claim_has_numbered_register_entries() -> None:
    assert {entry.claim_id
            for entry in register.register_entries_by_id().values()} - {""} == set(claims.CLAIMS)
    for id_ in claims.CLAIMS:
        own = register.list_register_entries_of_claim(id_)
        assert [entry.id for entry in own] == [f"{id_}.{i + 1}" for i in range(len(own))]


def test_documents_contain_the_tables_of_the_register() -> None:
    for path, lines in register.generated_lines_by_document().items():
        assert register.replace_generated_lines_in_document(path.read_text(),
                                                            lines) == path.read_text(), \
            f"{path.name}: run selftests/claims/register.py"


def test_the_summary_counts_the_verdicts_of_the_register() -> None:
    rows = register.count_verdicts_by_system([("AX", "reproduced"), ("AX", "absent"),
                                              ("RE", "absent")])
    assert rows[1] == ["approxftl", "1", "0", "0", "0", "0", "1", "2"]
    assert rows[-1] == ["all", "1", "0", "0", "0", "0", "2", "3"]


ENTRY = register.Entry("XX-1.1", "1", "x", "direction", paper=10, within=1, direction=(0, 100))


def test_the_summary_separates_exact_outcomes_from_measured_figures() -> None:
    near = replace(ENTRY, verdict="reproduced")
    exact = replace(near, id="XX-1.2", within=0)
    limits = replace(near, id="XX-1.3", within=None, band=(0, 1))
    assert register.split_reproduced_entries([ENTRY, near, exact, limits, replace(
        exact, id="XX-1.4", verdict="mechanism")]) == (["XX-1.2"], ["XX-1.1", "XX-1.3"])


@pytest.mark.parametrize(("entry", "values", "verdict"), [
    (ENTRY, (10.9,), "reproduced"),
    (ENTRY, (11.1,), "direction"),
    (ENTRY, (-0.1,), "contradicted"),
    (replace(ENTRY, direction=None), (11.1,), "contradicted"),
    (replace(ENTRY, paper=[1, 2], order="rising"), (1.5, 1.2), "contradicted"),
    (replace(ENTRY, paper=[1, 2], order="rising"), (1.5, 2.5), "reproduced"),
    (replace(ENTRY, within=None, band=(5, 20)), (5.0, 21.0), "direction"),
    (replace(ENTRY, within=None, direction=None, order="falling"), (2.0, 1.0), "direction"),
    (replace(ENTRY, verdict="identity"), (10.0,), "identity"),
    (replace(ENTRY, verdict="mechanism"), (20.0,), "contradicted"),
])
def test_verdict_of_a_claim_follows_from_its_measured_figures(entry: register.Entry,
                                                              values: tuple[float, ...],
                                                              verdict: str) -> None:
    assert entry.judge_results(register.pack_results(*values)) == verdict
    assert entry.judge_results(register.pack_results(*values, holds=False)) == "contradicted"


def test_the_table_of_claims_fits_100_columns(capsys: pytest.CaptureFixture[str]) -> None:
    shown = [claims.Judged(entry,
                           register.pack_results(*entry.paper_figures or (0,), shown=entry.ours))
             for entry in register.register_entries_by_id().values() if entry.claim_id]
    claims.print_claim_tables(shown, [])
    claims.print_verdict_summary(shown, claims.list_register_entries_without_claim([]), [], [])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100 and len(lines) > len(shown)


def count_commits() -> int:
    """Return the number of commits in the tree, which selects the sample of negative controls."""
    done = run_program("git", "rev-list", "--count", "HEAD")
    return int(done.out) if done.code == 0 else 0


@pytest.mark.parametrize("control",
                         negative_controls.choose_rotating_negative_controls(2, count_commits()),
                         ids=lambda control: control.describe_falsified_setting)
def test_a_negative_control_makes_its_claims_fail(control: negative_controls.Control) -> None:
    with runs.falsified_settings(("--requests=100000",) if control.id.startswith("HY") else ()):
        assert control.find_claim_rows_held_despite_falsification() == []


def test_ineffective_and_missing_negative_controls_are_reported(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    same = negative_controls.Control("TV-2", (1,), "nothing", constant="tvr.STEP_V = 0.2")
    monkeypatch.setattr(negative_controls, "CONTROLS", (same,))
    assert negative_controls.run_negative_controls(["TV-2"]) == 1
    assert negative_controls.run_negative_controls(["TV-1"]) == 1
    assert "no control for: half widths" in capsys.readouterr().out


def test_request_streams_of_negative_controls_are_separate_files() -> None:
    usual = studies.list_record_files_of_trace_volumes()
    assert [path.name.partition("-")[0] for path in usual.values()] == ["HM_0", "PRN_1", "PROJ_1"]
    with runs.falsified_settings(made_by={"reads-of-a-place": 40, "requests": 100}):
        other = studies.list_record_files_of_trace_volumes()
    assert other.keys() == usual.keys() and not set(other.values()) & set(usual.values())
    assert all(len(aft.open_record_file(path).get_operation_codes_of_records()) == 100
               for path in other.values())
    assert studies.list_record_files_of_trace_volumes() == usual


def test_negative_controls_override_the_options_of_a_study(tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.toml").write_text(
        'study = 1\nwarmup = "ignore"\n[base]\nwear_gap = 0\n[vary]\nrequests = [7, 8]\n')
    monkeypatch.setenv("APPROXFTL", str(runs.program_under_test()))
    monkeypatch.setenv("AFTL_BUILD", str(tmp_path))
    monkeypatch.setattr(studies, "FOLDER", tmp_path)
    with pytest.raises(AssertionError, match="several runs at baseline"):
        studies.results_of_study("small")
    with runs.falsified_settings(("--requests=5", "--wear-gap=3")):
        found = studies.results_of_study("small", requests=8)["baseline"]
    assert found["requests"] == 5 and found["parameters"]["wear_gap"] == 3
    assert studies.drop_repeated_options(["--wear_gap=0", "--wear-gap=3"]) == ["--wear-gap=3"]


def test_each_study_is_valid_and_used_by_a_claim(tmp_path: Path) -> None:
    said = "".join(path.read_text() for path in Path(studies.__file__).parent.glob("*.py"))
    for path in studies.FOLDER.glob("*.toml"):
        plan = studies.read_claim_study(path.stem, {})
        study_plan.check_axis_values(path, runs.program_under_test(), plan.points)
        assert plan.text and f'"{path.stem}"' in said


def format_stream_as_msr_trace(stream: Stream) -> str:
    """Return the lines of an MSR Cambridge trace; its clock counts 100 ns since 1601."""
    rows = zip(stream.t_ns, stream.op, stream.off_sect, stream.nsect, strict=True)
    return "".join(
        f"{128166372000000000 + t_ns // 100},host,0,{'Write' if write else 'Read'},"
        f"{sector * aft.SECTOR},{sectors * aft.SECTOR},1000\n"
        for t_ns, write, sector, sectors in rows)


def round_stream_to_pages(stream: Stream) -> Stream:
    """Return a request stream with doubled addresses and lengths, for pages of 8 KiB."""
    return replace(stream, off_sect=2 * stream.off_sect, nsect=2 * stream.nsect)


@pytest.fixture
def synthetic_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Stream]:
    """Place synthetic streams in the directory of real traces, beside a non-trace file."""
    made = {name: round_stream_to_pages(generate_stream(
        replace(published_profile(name), reads_of_a_place=200, read_places_share=0.04), 10000, 1))
        for name in ("HM_0", "PRN_1")}
    for name, stream in made.items():
        (tmp_path / f"{name}.csv").write_text(format_stream_as_msr_trace(stream))
    (tmp_path / "README").write_text("They are not to be passed on.\n")
    monkeypatch.setenv("CLAIMS_TRACES", str(tmp_path))
    monkeypatch.setattr(ressd, "FOLDED", ressd.FOLDED * 96 // 1024)
    return made


def test_converted_real_traces_keep_their_requests(
        synthetic_traces: dict[str, Stream], capsys: pytest.CaptureFixture[str]) -> None:
    found = real_traces.list_real_trace_files()
    assert "README skipped: " in capsys.readouterr().err
    names = {f"trace {name}" for name in synthetic_traces}
    assert set(found) == names == set(studies.list_record_files_of_trace_volumes())
    for name, stream in synthetic_traces.items():
        file = aft.open_record_file(found[f"trace {name}"])
        for column, wanted in (("off_sect", stream.off_sect), ("nsect", stream.nsect),
                               ("t_ns", stream.t_ns // 100 * 100)):
            assert (file.get_record_column(column) == wanted).all()
        assert (file.get_operation_codes_of_records() == stream.op).all()


@pytest.mark.parametrize("id_", TRACED)
def test_claims_accept_traces_instead_of_synthetic_streams(synthetic_traces: dict[str, Stream],
                                                           id_: str) -> None:
    # Use as small a device as the stand-ins do.
    with runs.falsified_settings(("--blocks=16",) if id_.startswith("AG") else ()):
        found = claims.judge_claim_results(id_, claims.CLAIMS[id_]())
    assert any(one.ours.shown != one.entry.ours for one in found)
    lists = [one.ours.shown for one in found if ", mean " in one.ours.shown]
    assert all(len(shown.partition(",")[0].split()) == len(synthetic_traces) for shown in lists)
    assert lists or id_ in ("AG-2", "AG-6")


@pytest.mark.parametrize("id_", TRACED_ARRAYS)
@pytest.mark.in_turn
def test_claims_about_raid_arrays_accept_real_traces(
    synthetic_traces: dict[str, Stream], id_: str
) -> None:
    # Use small planes.
    with runs.falsified_settings(("--blocks=96",)):
        found = claims.judge_claim_results(id_, claims.CLAIMS[id_]())
    lists = [one.ours.shown for one in found if ", mean " in one.ours.shown]
    # Four thousand repeated requests are not a volume, so the figures need not match the paper's.
    assert lists and all(len(shown.partition(",")[0].split()) == len(synthetic_traces)
                         for shown in lists)
