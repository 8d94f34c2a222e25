# SPDX-License-Identifier: GPL-2.0-only
"""Test that synthetic streams resemble their model, are repeatable and labelled."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, PROGRAM, run_program

from approxftl_tools import aft, record_writer, synthesis, workload_profile

SYNTH = BUILD / "approxftl-synth"
NAMES = [row[0] for row in workload_profile.PUBLISHED]
#: Properties of the model that a stream of any length has within this tolerance.
EXACT = {"write_share": 0.01, "update_share": 0.01, "read_written_share": 0.02,
         "approx_share": 0.03}


def run_synth(*arguments: str | Path, status: int = 0) -> Any:
    done = subprocess.run([SYNTH, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(autouse=True, scope="module")
def set_program_path_for_tests() -> Iterator[None]:
    """Set the path of approxftl for functions that tests call in their own process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APPROXFTL", str(PROGRAM))
        yield


def measure_stream_characteristics(stream: synthesis.Stream, folder: Path) -> dict[str, float]:
    path = folder / record_writer.OUTPUT
    columns = stream.convert_stream_to_record_columns()
    record_writer.write_record_file(path, columns, stream.device_bytes, "test", {})
    return workload_profile.profile_of_record_file(path).collect_characteristics_for_comparison()


@pytest.mark.parametrize("name", NAMES)
def test_streams_resemble_the_published_traces(tmp_path: Path, name: str) -> None:
    profile = workload_profile.published_profile(name)
    made = measure_stream_characteristics(synthesis.generate_stream(profile, 60000, 1), tmp_path)
    wanted = profile.collect_characteristics_for_comparison()
    few = min(wanted["write_share"], 1 - wanted["write_share"]) * 60000
    for key in ("write_share", "read_written_share"):
        assert made[key] == pytest.approx(wanted[key], abs=EXACT[key] + 2 / few**0.5), key
    assert made["update_share"] <= wanted["update_share"] + 0.01
    assert made["write_mean_kib"] == pytest.approx(wanted["write_mean_kib"], rel=0.15)
    assert made["arrival_mean_ms"] == pytest.approx(wanted["arrival_mean_ms"], rel=0.1)


def test_overwritten_data_are_as_old_as_in_the_published_trace(tmp_path: Path) -> None:
    profile = workload_profile.published_profile("PRN_0")
    made = measure_stream_characteristics(synthesis.generate_stream(profile, 400000, 1), tmp_path)
    for zone, share in enumerate(profile.zone_shares, 1):
        assert made[f"update_zone_{zone}_share"] == pytest.approx(share, abs=0.04)
    assert made["update_share"] == pytest.approx(profile.update_share, abs=0.01)


def test_a_stream_too_short_for_updates_of_old_data_is_reported(tmp_path: Path) -> None:
    told = run_synth("--like", "PRN_0", "--requests", "5000", "-O", tmp_path / "a.aft").stdout
    assert "This stream lasts 0.2 hours; more --requests" in " ".join(told.split())
    told = run_synth("--like", "PRN_0", "--requests", "300000", "-O", tmp_path / "a.aft").stdout
    assert "hours" not in told


@pytest.mark.parametrize("name", ["prn0", "Prn_0", "PRN-0"])
def test_volume_names_may_be_spelled_differently(name: str) -> None:
    assert workload_profile.published_profile(name).name == "PRN_0"


def test_a_fit_to_a_generated_stream_recovers_its_profile(tmp_path: Path) -> None:
    first = tmp_path / "first.aft"
    run_synth("--like", "HM_0", "--requests", "150000", "--approx-share", "0.4", "-O", first)
    saved = tmp_path / "saved.json"
    run_synth("--fit", first, "--profile-out", saved)
    done = run_synth("--profile", saved, "--requests", "150000", "--seed", "9", "--json",
                     "-O", tmp_path / "second.aft")
    document = parse_document("trace-tools/approxftl_tools/tools-output.fields", done.stdout)
    assert document["wanted"] == workload_profile.profile_of_record_file(
        first).collect_characteristics_for_comparison()
    for key, most in EXACT.items():
        assert document["made"][key] == pytest.approx(document["wanted"][key], abs=most), key


def test_the_same_seed_generates_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.aft", "b.aft", "c.aft")]
    for file, seed in zip(files, ("5", "5", "6"), strict=True):
        run_synth("--like", "SRC1_2", "--requests", "3000", "--seed", seed, "-O", file)
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


def test_the_simulator_reads_a_generated_stream(tmp_path: Path) -> None:
    file = tmp_path / "a.aft"
    run_synth("--like", "PRXY_0", "--requests", "5000", "--approx-share", "100%", "-O", file)
    done = subprocess.run([BUILD / "approxftl", "sim", f"--trace={file}", "--profile=tcad18",
                           "--fold", "--arrival=closed", "--json=-", "--quiet", "--blocks=64",
                           "--policy=vth_b", "--fill=none"],
                          capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)["runs"][0]
    assert run["requests"] == 5000
    assert run["class_pages"]["precise"] == 0


def test_the_header_marks_a_synthetic_stream(tmp_path: Path) -> None:
    file = tmp_path / "a.aft"
    run_synth("--like", "hm_1", "--requests", "100", "-O", file)
    read = aft.open_record_file(file)
    assert read.source_format == "synthetic HM_1"
    said = json.loads(read.provenance)["about"]
    assert said["synthetic"] == "yes"
    assert said["seed"] == "1"
    assert "bursts" in said["assumed"]


def test_reads_of_read_only_addresses_are_as_frequent_as_requested(tmp_path: Path) -> None:
    """synth reads each read-only address 50 times, and 5 % of the written addresses."""
    told = run_synth("--like", "HM_0", "--requests", "20000", "--reads-of-a-place", "50",
                     "--read-places-share", "5%", "--output", tmp_path / "a.aft", "--json").stdout
    assert json.loads(told)["made"]["read_written_share"] == pytest.approx(0.12, abs=0.02)
    file = aft.open_record_file(tmp_path / "a.aft")
    write, first = file.get_operation_codes_of_records() == aft.OPERATIONS.index(
        "write"), file.get_record_column("off_sect")
    read = first[~write]
    alone = read[~np.isin(read, first[write])]
    assert len(alone) / len(np.unique(alone)) == pytest.approx(50, rel=0.2)
    assert np.isin(np.unique(first[write]), read).mean() == pytest.approx(0.05, abs=0.01)


@settings(max_examples=30)
@given(requests=st.integers(1, 400), seed=st.integers(0, 2**32), writes=st.floats(0, 1),
       updates=st.floats(0, 1), written=st.floats(0, 1))
def test_any_workload_profile_gives_a_valid_stream(requests: int, seed: int, writes: float,
                                                   updates: float, written: float) -> None:
    profile = workload_profile.Profile(
        "any", "a test", writes, updates, (0.25, 0.25, 0.25, 0.25),
        workload_profile.geometric_request_sizes(9), workload_profile.geometric_request_sizes(4),
        (0.0, 1e9, 4e12), written, 3.0, 0.5)
    stream = synthesis.generate_stream(profile, requests, seed)
    assert len(stream.t_ns) == requests
    assert (np.diff(stream.t_ns) >= 0).all()
    assert (stream.nsect > 0).all()
    assert ((stream.off_sect + stream.nsect) * 512 <= stream.device_bytes).all()
    first_class: dict[int, int] = {}
    for sector, tag, op in zip(stream.off_sect, stream.tag, stream.op, strict=True):
        if op:
            assert first_class.setdefault(int(sector), int(tag)) == tag


def test_synth_fails_if_the_stream_deviates_more_than_option_within_allows(tmp_path: Path) -> None:
    done = run_synth("--like", "STG_0", "--requests", "2000", "--within", "1%", "-O",
                     tmp_path / "a.aft", status=4)
    assert "further off than --within 0.01" in done.stderr


def test_list_prints_the_published_volumes() -> None:
    lines = run_synth("--list").stdout.splitlines()
    assert len(lines) == 1 + len(NAMES)
    assert [line.split()[0] for line in lines[1:]] == NAMES


@pytest.mark.parametrize(("arguments", "status", "sentence"), [
    (["--like", "HM_9", "-O", "x"], 3, 'no volume "HM_9" is published; there are HM_0'),
    (["--like", "HM_0"], 2, "nothing to write"),
    (["--fit", "gone.aft", "-O", "x"], 3, "gone.aft: cannot read: No such file or directory"),
    (["--profile", "gone.json", "-O", "x"], 3, "gone.json: cannot read"),
    (["--like", "HM_0", "--approx-share", "2", "-O", "x"], 2, "is no share"),
    (["--like", "HM_0", "--requests", "0", "-O", "x"], 2, "is not from 1"),
    ([], 2, "one of the arguments"),
])
def test_invalid_options_of_synth_are_refused(arguments: list[str], status: int,
                                              sentence: str) -> None:
    done = run_synth(*arguments, status=status)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("change", "sentence"), [
    ({"write_share": 2}, "fractions from 0 to 1"),
    ({"zone_shares": [1.0]}, "four fractions"),
    ({"arrival_ns": [5, 1]}, "ascending order"),
    ({"write_sizes": {"units": [0], "weights": [1]}}, "units from 1 on"),
    ({"read_sizes": 3}, "no workload profile"),
    ({"surprise": 3}, "no workload profile"),
    ({"approxftl_workload_format": [9, 0]}, "of another format"),
])
def test_damaged_profiles_are_refused(tmp_path: Path, change: dict[str, Any],
                                      sentence: str) -> None:
    file = tmp_path / "profile.json"
    published = workload_profile.published_profile("HM_0")
    profile = json.loads(workload_profile.profile_to_json(published))
    file.write_text(json.dumps(profile | change))
    done = run_program(SYNTH, "--profile", file, "-O", tmp_path / "x")
    assert done.code == 1
    assert sentence in done.err
    assert not (tmp_path / "x").exists()


def test_the_list_of_workload_profiles_is_written_as_json() -> None:
    done = run_synth("--list", "--json")
    volumes = parse_document("trace-tools/approxftl_tools/tools-output.fields",
                             done.stdout)["volumes"]
    assert [one["name"] for one in volumes] == [row[0] for row in workload_profile.PUBLISHED]


@pytest.mark.parametrize("option", ["--output=x.aft", "--within=0.1", "--approx-share=1.0"])
def test_a_list_of_volumes_refuses_options_without_effect(option: str) -> None:
    done = run_program(BUILD / "approxftl-synth", "--list", option)
    assert (done.code, done.out) == (2, "")
    assert "contradict each other" in done.err
