# SPDX-License-Identifier: GPL-2.0-only
"""Test the comparison of runs as text and as JSON."""

import json
import math
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from selftests.lib.json_schema import parse_document
from selftests.reports.support import (
    POLICIES,
    Json,
    make_device_stat_json,
    make_replay_report_json,
    run_approxftl,
    run_approxftl_ok,
    simulate_to_file,
    write_report_input_files,
)
from selftests.sim.support import FUA, LIFE, READ, WRITE, Record, write_trace

from approxftl_tools import aft, measures
from approxftl_tools.figure import number_as_text

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"


@pytest.fixture(scope="module")
def report_input_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_report_input_files(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="module")
def simulation_result(report_input_files: list[Path]) -> Json:
    found: Json = json.loads(report_input_files[0].read_text())
    return found


@pytest.fixture(scope="module")
def comparison_document(report_input_files: list[Path]) -> Json:
    return parse_document(SCHEMA, run_approxftl_ok("compare", *report_input_files, "-j"))


def test_json_names_version_and_arguments(comparison_document: Json,
                                          report_input_files: list[Path]) -> None:
    assert comparison_document["tool"]["version"] == run_approxftl_ok("version").split()[-1]
    assert comparison_document["tool"]["argv"] == ["approxftl", "compare",
                                                   *map(str, report_input_files), "-j"]


def test_measures_in_a_comparison_equal_the_results_of_the_runs(comparison_document: Json,
                                                                simulation_result: Json) -> None:
    assert [run["label"] for run in comparison_document["runs"]] == list(POLICIES)
    for shown, run_ in zip(comparison_document["runs"], simulation_result["runs"], strict=True):
        values = shown["measures"]
        timing, counters = run_["timing"], run_["counters"]
        assert values["write_response_p99_ns"] == timing["write_response"]["p99_ns"]
        assert values["read_waiting_mean_ns"] == timing["read_waiting"]["mean_ns"]
        assert values["total_energy_pj"] == run_["energy"]["total_pj"]
        assert values["write_amplification"] == run_["write_amplification"]["total"]
        assert values["wear_mean"] == run_["blocks"]["wear"]["mean"]
        assert values["read_flipped_bits"] == counters["read_flipped_bits"]
        if counters["read_approx_units"]:
            bits = counters["read_approx_units"] * simulation_result["geometry"]["unit_bytes"] * 8
            assert values["bit_error_rate"] == counters["read_flipped_bits"] / bits
        assert shown["base"] == "baseline"
        assert (shown["seed"], shown["profile"]) == (simulation_result["seed"],
                                                     simulation_result["profile"])
        assert shown["argv"] == simulation_result["tool"]["argv"]


def test_ratios_refer_to_the_first_run(comparison_document: Json) -> None:
    first = comparison_document["runs"][0]["measures"]
    for shown in comparison_document["runs"]:
        for key, value in shown["relative"].items():
            assert value == pytest.approx(shown["measures"][key] / first[key])
        assert all(key in shown["relative"] for key, base in first.items()
                   if base and key in shown["measures"])


def test_keys_of_measures_have_units(comparison_document: Json) -> None:
    for measure in measures.MEASURES:
        assert re.fullmatch(r"[a-z0-9_]+", measure.key)
        assert ("response" in measure.key) <= measure.key.endswith("_ns")
        assert ("energy" in measure.key) <= measure.key.endswith("_pj")
    known = {key for shown in comparison_document["runs"] for key in shown["measures"]}
    # Each measure occurs in some run.
    assert {measure.key for measure in measures.MEASURES} == known


def test_compare_json_lists_values_of_devices_replays_logs_and_record_files(
        comparison_document: Json, report_input_files: list[Path]) -> None:
    assert [device["label"] for device in comparison_document["devices"]] == ["ssd"] * 3
    assert comparison_document["devices"][0]["facts"]["total_energy_pj"] == 60
    assert comparison_document["devices"][0]["facts"]["write_amplification"] == 1.25
    (replayed,) = comparison_document["replays"]
    assert replayed["facts"]["fidelity.lag.p99_ns"] == 9000
    assert replayed["facts"]["write_precise.mean_ns"] == 2000
    (log,) = comparison_document["logs"]
    assert log["facts"]["planned_requests"] == log["facts"]["done_requests"] == 500
    assert log["facts"]["failed_requests"] == 0
    (records,) = comparison_document["records"]
    file = aft.open_record_file(next(path for path in report_input_files if path.suffix == ".aft"))
    assert records["facts"]["records"] == len(file.records) == 500
    writes = int((file.get_operation_codes_of_records() == 1).sum())
    assert records["facts"]["write_requests"] == writes
    assert records["facts"]["writes_of_class_precise"] == writes


def test_flag_bits_of_a_record_do_not_change_its_operation(tmp_path: Path) -> None:
    records = [Record(0, 0, 8, WRITE | FUA | 5 << LIFE), Record(1, 0, 8, READ)]
    file = aft.open_record_file(write_trace(tmp_path / "x.aft", records))
    assert file.get_operation_codes_of_records().tolist() == [WRITE, READ]


def test_the_table_shows_the_ratios(report_input_files: list[Path],
                                    simulation_result: Json) -> None:
    lines = run_approxftl_ok("compare", report_input_files[0]).splitlines()
    assert lines[0].split() == list(POLICIES)
    (mean,) = [line for line in lines if line.startswith("write response, mean")]
    values = [run_["timing"]["write_response"]["mean_ns"] for run_ in simulation_result["runs"]]
    shown = re.findall(r"([0-9.]+)x", mean)
    assert shown == [f"{value / values[0]:.3f}" for value in values[1:]]
    assert len(run_approxftl_ok("compare", report_input_files[0],
                                "--all").splitlines()) > len(lines)


def test_files_with_one_policy_each_are_compared(tmp_path: Path) -> None:
    for op in ("10", "20"):
        simulate_to_file(tmp_path / f"op{op}.json", "--op", op, "--fill", "random", "--requests",
                         "3000")
    shown = parse_document(SCHEMA, run_approxftl_ok("compare", tmp_path, "-j"))["runs"]
    assert [(one["label"], one["base"]) for one in shown] == [
        ("op10 baseline", "op10 baseline"), ("op20 baseline", "op10 baseline")]


def test_ratios_refer_to_the_first_run_of_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        simulate_to_file(tmp_path / f"{name}.json", "--requests", "500", "--policy",
                         "baseline,vth_b")
    shown = parse_document(SCHEMA, run_approxftl_ok("compare", tmp_path, "-j"))["runs"]
    assert [one["base"] for one in shown] == 2 * ["a baseline"] + 2 * ["b baseline"]
    text = run_approxftl_ok("compare", tmp_path)
    assert [line for line in text.splitlines() if line in ("a", "b")] == ["a", "b"]


def test_files_of_one_name_are_labelled_by_directory(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        simulate_to_file(tmp_path / name / "run.json", "--requests", "500", "--policy",
                         "baseline,vth_b")
    shown = json.loads(run_approxftl_ok("compare", "x/run.json", "y/run.json", "-j",
                                        directory=tmp_path))["runs"]
    assert [one["label"] for one in shown] == ["x/run baseline", "x/run vth_b", "y/run baseline",
                                               "y/run vth_b"]


def test_closed_pipe_is_no_error(report_input_files: list[Path]) -> None:
    done = run_approxftl("compare", *report_input_files, "-j")
    assert done.code == 0
    assert len(done.out) > 1000


@pytest.mark.parametrize(("value", "text"), [
    (None, "\u2013"), (0, "0"), (12.0, "12"), (0.123456, "0.1235"), (123456, "123456"),
    ("word", "word"), (1e20, "1e+20"),
])
def test_numbers_are_printed_with_few_digits(value: float | str | None, text: str) -> None:
    assert number_as_text(value) == text


# ---------------------------------------------------------------- incomplete results


@pytest.fixture(scope="module")
def result_with_interrupted_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of three policies: one was refused, and the last one was interrupted."""
    path = tmp_path_factory.mktemp("incomplete") / "result.json"
    done = run_approxftl("sim", "--blocks", "12", "--op", "60", "--requests", "2000", "--policy",
                         "baseline,approxftl,vth_b", f"--json={path}", "--histogram")
    assert done.code == 2
    assert "approxftl: no result: policy approxftl keeps 16 of the 12 blocks" in done.out
    document = json.loads(path.read_text())
    assert [one["policy"] for one in document["runs"]] == ["baseline", "vth_b"]
    assert document["interrupted"]
    document["runs"][1]["interrupted"] = True
    path.write_text(json.dumps(document))
    return path


def test_incomplete_runs_are_marked(result_with_interrupted_run: Path) -> None:
    told = run_approxftl_ok("compare", result_with_interrupted_run)
    assert "vth_b (interrupted after 2000 requests)" in told.splitlines()[0]
    assert re.search(r"^approxftl: no result in .*: policy approxftl keeps 16", told, re.M)
    document = parse_document(SCHEMA, run_approxftl_ok("compare", result_with_interrupted_run,
                                                       "--json"))
    assert [one["interrupted"] for one in document["runs"]] == [False, True]
    assert [one["policy"] for one in document["failed"]] == ["approxftl"]


def test_incomplete_runs_are_marked_in_the_report(result_with_interrupted_run: Path,
                                                  tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = run_approxftl_ok("report", result_with_interrupted_run, "-O", page)
    assert told == f"{page}: 2 runs, 1 policy without a result\n"
    html = page.read_text()
    assert '<th scope="col">vth_b (interrupted after 2000 requests)</th>' in html
    assert "<strong>approxftl: no result in " in html
    # The figures' legends have the same labels.
    assert html.count("interrupted after 2000 requests") > 5


def test_an_interrupted_replay_is_marked(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps({**make_replay_report_json(), "interrupted": True}))
    assert "r (interrupted after 10 requests)" in run_approxftl_ok("compare", tmp_path / "r.json")


def test_captions_of_figures_name_the_runs_with_data(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "four.json", "--requests", "500", "--histogram")
    simulate_to_file(tmp_path / "plain.json", "--requests", "500", "--policy", "vth_b")
    run_approxftl_ok("report", tmp_path / "four.json", tmp_path / "plain.json", "-O",
                     tmp_path / "page.html")
    (figure,) = re.findall(r'<figure id="cdf-write">.*?</figure>',
                           (tmp_path / "page.html").read_text(), re.S)
    assert "four.json" in figure and "plain.json" not in figure


def test_a_full_timeline_names_the_devices_with_lost_operations(tmp_path: Path) -> None:
    event = {"ph": "X", "tid": 0, "ts": 1, "dur": 2, "name": "read", "cat": "host",
             "args": {"block": 0, "page": 0, "pages": 1}}
    names = [{"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": name}}
             for pid, name in enumerate(("first", "second", "third"), 1)]
    (tmp_path / "t.json").write_text(json.dumps({
        "approxftl_json_format": [1, 0], "omitted_events": 77,
        "traceEvents": [*names, {**event, "pid": 1}, {**event, "pid": 2}]}))
    run_approxftl_ok("report", tmp_path / "t.json", "-O", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    assert "77 operations of second, third were not recorded" in html
    assert "77 more were not recorded" not in html


def test_a_timeline_opens_at_the_largest_collection(tmp_path: Path) -> None:
    """Of two garbage collections, the page opens a timeline at the one that relocates more."""
    def make_timeline_event(ts: int, name: str, cause: str) -> Json:
        return {"ph": "X", "pid": 1, "tid": 0, "ts": ts, "dur": 1, "name": name, "cat": cause,
                "args": {"block": 0, "page": ts, "pages": 1}}

    collected = [*range(100, 110), *range(3000, 3500)]
    (tmp_path / "t.json").write_text(json.dumps({
        "approxftl_json_format": [1, 0],
        "traceEvents": [make_timeline_event(ts, "erase" if ts in (109, 3499) else "read",
                                            "gc" if ts in collected else "host")
                        for ts in range(9000)]}))
    run_approxftl_ok("report", tmp_path / "t.json", "-O", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    assert "0 is 3.000 ms after the begin" in html
    assert "7800 more are in t.json" in html
    drawn = re.findall(r'"(\w+), (gc|host), block 0, page (\d+)"', unquote(unescape(html)))
    assert drawn[0] == ("read", "gc", "3000")
    assert ("erase", "gc", "3499") in drawn


def fio_output(mean: float) -> Json:
    """Return fio's output of two jobs; one is too short for a 99th percentile."""
    def make_completion_latencies(count: int) -> Json:
        return {"total_ios": count, "clat_ns": {"N": count, "mean": mean,
                                                "percentile": {"99.000000": 4 * mean}}}
    return {"fio version": "fio-3.33", "jobs": [
        {"jobname": "write", "write": make_completion_latencies(1000),
         "read": make_completion_latencies(0)},
        {"jobname": "look", "write": make_completion_latencies(0),
         "read": make_completion_latencies(999)}]}


def test_results_of_fio_devices_and_programs_are_compared_in_columns(tmp_path: Path) -> None:
    files = []
    for i, name in enumerate(("baseline", "vth_b"), 1):
        app = {"app": "img", "phase": "compute", "compute_ns": 1000 * i,
               "inputs": {"flipped_bits": i - 1}, "quality": {"psnr_db": None if i == 1 else 30.5},
               "check": {"of": "pixels", "passed": True}}
        for kind, document in (
                ("fio", fio_output(2e6 / i)), ("app", app),
                ("stat", make_device_stat_json(name=name, policy=name,
                                               write_amplification=float(i)))):
            files.append(tmp_path / f"{name}.{kind}.json")
            files[-1].write_text(json.dumps(document))
    told = re.sub(" +", " ", run_approxftl_ok("compare", *files))
    assert told.splitlines()[:4] == [
        "Latencies by fio baseline vth_b", "write latency, mean 2 ms 1 ms 0.500x",
        "write latency, p99 8 ms 4 ms 0.500x", "look, read latency, mean 2 ms 1 ms 0.500x"]
    assert "\nwrite amplification 1 2 2.000x\n" in told
    assert "\nflipped bits in the data 0 1\n" in told
    assert "\nPSNR, dB infinite 30.5\n" in told
    assert "\ncheck passed yes yes\n" in told
    assert "late" not in told.replace("latency", "")
    page = tmp_path / "r.html"
    run_approxftl_ok("report", *files, "-O", page)
    html = page.read_text()
    assert "vth_b beside baseline: 0.500 of its write latency, mean; " in html
    assert html.index('<figure id="ratios-1"') < html.index('id="tables"')
    table = parse_document("trace-tools/approxftl_tools/tools-output.fields",
                           run_approxftl_ok("compare", "--json", *files))["tables"][0]
    assert table["rows"][0] == {"name": "write latency, mean", "values": [2e6, 1e6]}


def test_repeated_runs_of_fio_give_intervals(tmp_path: Path) -> None:
    """Ratios are paired by run: 0.4, 0.5 and 0.6 have a mean of 0.5, Student's t gives the rest."""
    files = []
    for name, means in (("baseline", (1e6, 2e6, 3e6)), ("vth_b", (0.4e6, 1e6, 1.8e6))):
        for run, mean in enumerate(means, 1):
            files.append(tmp_path / f"{name}.run{run}.fio.json")
            files[-1].write_text(json.dumps(fio_output(mean)))
    told = re.sub(" +", " ", run_approxftl_ok("compare", *files))
    half = 4.302653 * 0.1 / math.sqrt(3)
    assert told.splitlines()[:2] == [
        "Latencies by fio baseline vth_b",
        f"write latency, mean 2 ms 1.067 ms 0.500x [{0.5 - half:.3f}, {0.5 + half:.3f}]"]
    page = tmp_path / "r.html"
    run_approxftl_ok("report", *files, "-O", page)
    html = page.read_text()
    assert (f"vth_b beside baseline: 0.500 ({0.5 - half:.3f} to {0.5 + half:.3f}, 95 %) of its "
            "write latency, mean; ") in html
    assert "the mean of 3 runs, each beside the same run of the other" in html
    assert "gives no interval" not in html
    # A run that the reference lacks leaves ratios of means, without an interval.
    told = re.sub(" +", " ", run_approxftl_ok("compare", *files[1:]))
    assert "write latency, mean 2.5 ms 1.067 ms 0.427x\n" in told
