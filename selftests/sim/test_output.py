# SPDX-License-Identifier: GPL-2.0-only
"""The simulator's output: its schema, its sums, and that a repeated run prints the same."""

import json
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from selftests.lib.json_schema import make_schema_checker, parse_document
from selftests.lib.programs import PROGRAM as BINARY
from selftests.sim.support import (
    WRITE,
    Record,
    get_only_run,
    run_approxftl,
    run_sim,
    write_trace,
)

SCHEMA = make_schema_checker("userspace/sim/sim-output.fields")
SMALL = ("--requests", "3000")
BUSY = ("--fill", "random", "--approx-share", "0.3", "--policy", "approxftl")

COMMANDS = [
    (),
    ("--policy", "baseline,vth_b,approxftl", "--approx-share", "0.5", "--histogram", "--cpu"),
    ("--workload", "zipf", "--rate", "5000", "--verify"),
    ("--workload", "zipf", "--utilisation", "0.3", "--arrival-shape", "fixed", "--burst-off",
     "9ms", "--rate-between", "100"),
    ("--workload", "drift", "--size", "4KiB:3,64KiB:1", "--flush-every", "10"),
    ("--workload", "active", "--active-set", "0.01", "--active-others", "5%",
     "--active-extent", "8"),
    ("--workload", "zones", "--zone-size", "1MiB", "--open-zones", "2", "--beside-rate", "50"),
    ("--hot-share", "80%", "--hot-range", "10%", "--scatter", "--beside-rate", "50"),
    ("--raid", "5", "--members", "3", "--chunk", "8", "--verify"),
    ("--raid", "5", "--members", "3", "--series"),
    ("--workload", "sequential", "--discard-share", "0.2", "--warmup", "100"),
    ("--hot-share", "80%", "--hot-range", "10%", "--hot-size", "4KiB:9,8KiB:1", "--size", "64KiB"),
    ("--hot-share", "80%", "--hot-range", "10%", "--hot-stream", "1", "--policy", "streams"),
    ("--profile", "micro19", "--policy", "cubeftl,pageftl", "--write-share", "100%"),
    (*BUSY, "--block-table", "--page-map", "auto"),
    (*BUSY, "--series"),
    (*BUSY, "--change", "1500:policy=vth_b,1500:gc=9,2000:age=30d", "--block-table"),
]



@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_json_of_each_command_matches_the_schema(command: tuple[str, ...]) -> None:
    parse_document("userspace/sim/sim-output.fields",
                   run_approxftl("sim", *SMALL, *command, "-j").out)


def test_results_of_traces_and_loaded_devices_match_the_schema(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "x.aft", [Record(0, 0, 8, WRITE)])
    dump = tmp_path / "device"
    assert SCHEMA.find_errors(run_sim("--trace", trace, "--dump", dump)) == []
    loaded = run_sim("--load", dump)
    assert SCHEMA.find_errors(loaded) == []
    assert loaded["profile"] is None


@pytest.mark.parametrize("command", COMMANDS[:1] + COMMANDS[2:], ids=" ".join)
def test_the_same_arguments_print_the_same_bytes(command: tuple[str, ...]) -> None:
    first = run_approxftl("sim", *SMALL, *command, "--json", "--histogram")
    second = run_approxftl("sim", *SMALL, *command, "--json", "--histogram")
    assert first == second
    assert run_approxftl("sim", *SMALL, *command) == run_approxftl("sim", *SMALL, *command)


def test_each_seed_gives_another_digest() -> None:
    digests = {get_only_run(run_sim(*SMALL, "--seed", str(seed)))["digest"] for seed in range(5)}
    assert len(digests) == 5


def test_json_begins_with_version_arguments_and_setup() -> None:
    result = run_sim(*SMALL, "--seed", "7")
    assert result["approxftl_json_format"] == [1, 0]
    assert result["tool"]["argv"] == ["approxftl", "sim", *SMALL, "--seed", "7", "--json"]
    assert result["tool"]["version"] in run_approxftl("version").out
    assert (result["seed"], result["profile"], result["interrupted"]) == (7, "demo", False)


def test_control_characters_and_invalid_utf_8_in_arguments_give_valid_json(tmp_path: Path) -> None:
    name = tmp_path / 'a"b\\c\n\t\x01\u00e9.json'
    assert run_approxftl("sim", "--requests", "1", f"--json={name}").code == 0
    assert json.loads(name.read_text())["tool"]["argv"][-1] == f"--json={name}"
    raw = bytes(tmp_path) + b"/bad\xff"
    subprocess.run([BINARY, "sim", "-q", "--requests=1", b"--json=" + raw], check=True)
    assert json.loads(Path(raw.decode(errors="surrogateescape")).read_text())["tool"]["argv"][
        -1
    ].endswith("/bad\ufffd")


@pytest.mark.parametrize("warmup", ["0", "5000"])
def test_writes_by_class_add_up_to_all_writes(warmup: str) -> None:
    result = run_sim("--fill", "random", "--requests", "20000", "--approx-share", "0.3",
                     "--histogram", "--warmup", warmup, "--policy", "approxftl", "--utilisation",
                     "0.3")
    timing = get_only_run(result)["timing"]
    parts = [timing[f"write_{name}_response"] for name in ("precise", "approx")]
    whole = timing["write_response"]
    for key in ("count", "sum_ns"):
        assert sum(part[key] for part in parts) == whole[key]
    assert 0.25 < parts[1]["count"] / whole["count"] < 0.35
    assert min(part["min_ns"] for part in parts) == whole["min_ns"]
    assert max(part["max_ns"] for part in parts) == whole["max_ns"]
    bins = dict.fromkeys((top for part in parts for top, _ in part["bins"]), 0)
    for top, count in (pair for part in parts for pair in part["bins"]):
        bins[top] += count
    assert sorted(bins.items()) == [tuple(pair) for pair in whole["bins"]]
    # Two-phase placement: approximate pages are programmed faster than precise ones.
    assert parts[1]["mean_ns"] < parts[0]["mean_ns"]


def test_parts_of_response_times_and_counters_add_up_to_their_totals() -> None:
    result = run_sim("--fill", "random", "--requests", "60000", "--workload", "zipf", "--histogram")
    found = get_only_run(result)
    counters, timing = found["counters"], found["timing"]
    for kind in ("read", "write"):
        response, service = timing[f"{kind}_response"], timing[f"{kind}_service"]
        waiting = timing[f"{kind}_waiting"]
        assert response["count"] == counters[f"host_{kind}_requests"]
        assert sum(count for _, count in response["bins"]) == response["count"]
        assert waiting["sum_ns"] == response["sum_ns"] - service["sum_ns"]
        assert response["mean_ns"] == pytest.approx(response["sum_ns"] / response["count"])
        tops = [top for top, _ in response["bins"]]
        assert tops == sorted(tops)
        ladder = [response[f"{q}_ns"] for q in ("min", "p50", "p90", "p99", "p99_9", "max")]
        assert ladder == sorted(ladder)
    assert counters["host_read_requests"] + counters["host_write_requests"] == 60000
    amplification = found["write_amplification"]
    parts = [value for key, value in counters.items() if key.startswith("programmed_")]
    assert amplification["programmed_units"] == sum(parts) + counters["padded_units"]
    assert amplification["total"] == pytest.approx(
        amplification["programmed_units"] / counters["host_write_units"], abs=1e-4
    )
    assert sum(found["mode_pages"].values()) == sum(found["class_pages"].values())
    energy = found["energy"]
    assert energy["total_pj"] == energy["read_pj"] + energy["program_pj"] + energy["erase_pj"]
    luns = found["luns"]
    assert len(luns["utilisation"]) == result["geometry"]["luns"]
    assert 0 < luns["mean_utilisation"] <= 1


def test_sizes_of_hot_requests_appear_in_json_and_text() -> None:
    assert "hot_sizes" not in run_sim(*SMALL)["stream"]
    hot = ("--hot-share", "0.8", "--hot-range", "0.1", "--hot-size", "8KiB:3,4096")
    assert run_sim(*SMALL, *hot)["stream"]["hot_sizes"] == [
        {"bytes": 8192, "weight": 3},
        {"bytes": 4096, "weight": 1},
    ]
    assert ", 4KiB (8KiB:3,4096 in the hot range), arrival" in run_approxftl("sim", *SMALL,
                                                                             *hot).out


def test_sim_table_shows_ratios_to_the_first_policy() -> None:
    common = ("--requests", "5000", "--approx-share", "0.5", "--policy", "baseline,approxftl")
    table = run_approxftl("sim", *common).out
    runs = run_sim(*common)["runs"]
    means = [found["timing"]["write_response"]["mean_ns"] for found in runs]
    line = next(line for line in table.splitlines() if line.startswith("write response, mean"))
    match = re.search(r"([0-9.]+)x$", line)
    assert match
    assert float(match[1]) == pytest.approx(means[1] / means[0], abs=6e-4)
    assert f"digest {runs[1]['digest']}" in table


def test_a_json_file_does_not_replace_the_table(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    done = run_approxftl("sim", *SMALL, f"--json={file}")
    assert "write response, mean" in done.out
    get_only_run(json.loads(file.read_text()))
    assert run_approxftl("sim", *SMALL, f"--json={file}", "-q").out == ""


CLOSED_AND_OPEN = [
    ("--depth", "1"),
    ("--depth", "64", "--write-share", "0.8", "--flush-every", "50"),
    ("--rate", "4000", "--workload", "zipf", "--discard-share", "0.05"),
    ("--workload", "bursts", "--burst-on", "5ms", "--burst-off", "20ms"),
    ("--buffer", "1MiB", "--size", "4KiB:5,32KiB:1"),
    ("--suspend", "both", "--controller", "10us", "--warmup", "1000"),
]


@pytest.mark.parametrize("command", CLOSED_AND_OPEN, ids=" ".join)
def test_recorded_stream_repeats_the_run(command: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "x.aft"
    device = [*BUSY]
    for key in ("--buffer", "--suspend", "--controller", "--warmup"):
        if key in command:
            device += command[command.index(key) : command.index(key) + 2]
    share = ("--requests", "20000", *command)
    first = run_sim(*BUSY, *share, "--record", path)
    device = [word for word in device if word not in ("--approx-share", "0.3")]
    again = run_sim("--trace", path, *device)
    assert get_only_run(again) == get_only_run(first)


@pytest.mark.parametrize(
    "command",
    [
        ("--policy", "approxftl", "--approx-share", "0.5"),
        ("--policy", "baseline", "--buffer", "1MiB", "--buffer-safe", "on"),
        ("--policy", "vth_b", "--errors", "off", "--discard-share", "0.1"),
        ("--profile", "micro19", "--policy", "approxftl", "--approx-share", "0.2"),
    ],
    ids=" ".join,
)
def test_saved_device_is_the_same_when_loaded(command: tuple[str, ...], tmp_path: Path) -> None:
    dump = tmp_path / "device"
    more = ("--fill", "random") if "micro19" not in command else ()
    saved = run_sim(*command, *more, "--requests", "20000", "--dump", dump)
    loaded = run_sim("--load", dump, "--requests", "0", "--verify")
    assert get_only_run(loaded)["digest"] == get_only_run(saved)["digest"]
    assert loaded["parameters"] == saved["parameters"]
    assert get_only_run(run_sim("--load", dump, "--requests", "5000",
                                "--verify"))["requests"] == 5000


@pytest.mark.parametrize("damage", ["empty", "half", "byte"])
def test_damaged_device_file_is_refused(damage: str, tmp_path: Path) -> None:
    dump = tmp_path / "device"
    run_sim("--requests", "2000", "--dump", dump)
    data = bytearray(dump.read_bytes())
    if damage == "byte":
        data[len(data) // 2] ^= 1
    else:
        del data[0 if damage == "empty" else len(data) // 2 :]
    dump.write_bytes(data)
    done = run_approxftl("sim", "--load", dump)
    assert done.code == 1
    assert re.fullmatch(r"approxftl sim: \S+device: [^\n]+\n", done.err)


def test_requests_of_the_warm_up_are_not_counted() -> None:
    found = get_only_run(run_sim("--requests", "1000", "--warmup", "5000", "--depth", "1"))
    counters = found["counters"]
    total = counters["host_read_requests"] + counters["host_write_requests"]
    # The last request of the warm-up is still in flight when counting starts.
    assert total == 1001
    assert found["requests"] == 1000


def test_the_report_says_that_data_were_verified() -> None:
    assert get_only_run(run_sim(*SMALL, "--verify"))["verified"] is True
    assert ", verified" in run_approxftl("sim", *SMALL, "--verify").out


def test_progress_appears_only_on_request() -> None:
    assert run_approxftl("sim", *SMALL, "--fill", "sequential").err == ""
    assert "baseline: " in run_approxftl("sim", "--requests", "20000", "--progress").err


def interrupt_running_simulation(*arguments: str) -> tuple[int, str, str]:
    process = subprocess.Popen(
        [BINARY, "sim", "--requests", "1000000000", "--progress", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    # A progress line proves that the run is under way.
    while "of 1000000000" not in (seen := process.stderr.read(20)):
        assert seen
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    return process.returncode, out, err


def test_an_interrupted_run_prints_its_results() -> None:
    code, out, _ = interrupt_running_simulation("--policy", "baseline,vth_b", "--jobs", "1",
                                                "--json")
    result = json.loads(out)
    assert code == 130
    assert SCHEMA.find_errors(result) == []
    assert result["interrupted"] is True
    assert [found["policy"] for found in result["runs"]] == ["baseline"]
    assert 0 < get_only_run(result)["requests"] < 1000000000


def compute_shortest_warm_up_in_batches(means: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """Return the shortest warm-up for which the standard error is least (MSER-5), in batches."""
    errors = [((rest - rest.mean()) ** 2).sum() / len(rest) ** 2
              for rest in (means[cut:] for cut in range(len(means) - len(means) // 4))]
    return int(np.argmax(np.isclose(errors, min(errors), rtol=1e-12, atol=0)))


@pytest.mark.parametrize("command", [
    ("--requests", "20000", "--fill", "random", "--write-share", "100%"),
    ("--requests", "150000", "--fill", "random", "--policy", "approxftl,vth_b"),
    ("--requests", "5000", "--warmup", "3000", "--utilisation", "0.6"),
    ("--requests", "5000", "--flush-every", "7", "--discard-share", "0.1"),
    ("--requests", "9000", "--raid", "5", "--warmup", "1000"),
], ids=" ".join)
def test_a_response_series_contains_all_requests(command: tuple[str, ...]) -> None:
    """--series outputs all response times in batches, and the warm-up that MSER-5 defines."""
    result = run_sim(*command, "--series")
    for one in result["runs"]:
        series = one["settling"]
        timing = [one["timing"][f"{kind}_response"] for kind in ("read", "write")]
        missing = sum(t["count"] for t in timing) - (
            len(series["batch_response_sum_ns"]) * series["batch_requests"])
        assert 0 <= missing < series["batch_requests"]
        left = sum(t["sum_ns"] for t in timing) - sum(series["batch_response_sum_ns"])
        assert 0 <= left <= missing * max(t["max_ns"] for t in timing)
        sums = series["batch_response_sum_ns"]
        means = np.array(sums[:len(sums) // 5 * 5], float).reshape(-1, 5).mean(axis=1)
        cut = compute_shortest_warm_up_in_batches(means)
        late = means[cut:]
        early = late[:len(late) - compute_shortest_warm_up_in_batches(late[::-1])]
        assert series["cut_requests"] == 5 * cut * series["batch_requests"]
        assert series["settled"] == (2 * cut <= len(means)
                                     and abs(late.mean() / early.mean() - 1) < 0.02)


def test_a_run_that_includes_its_warm_up_causes_a_warning() -> None:
    """A full device that starts to collect causes a warning; the advised warm-up avoids it."""
    command = ("sim", "--fill", "random", "--blocks", "64", "--requests", "200000",
               "--json=/dev/null")
    done = run_approxftl(*command)
    advised = re.search(r"warning: baseline: its begin puts the mean off by [\d.]+ %: "
                        r"--warmup=(\d+)\n", done.err)
    assert advised and 5_000 < int(advised[1]) < 100_000
    assert run_approxftl(*command, f"--warmup={advised[1]}").err == ""
    assert run_approxftl(*command, "--quiet").err == ""


def test_a_run_whose_response_times_drift_causes_a_warning() -> None:
    done = run_approxftl("sim", "--fill", "random", "--requests", "20000", "--json=/dev/null",
                         "--workload", "sequential", "--rate", "5000", "--write-share", "100%")
    assert "baseline: still drifting: at least 20000 requests of warm-up\n" in done.err


def test_a_note_explains_padding_writes_of_a_device_without_write_buffer() -> None:
    """Padding is listed in the "padding" row of the write amplification."""
    slow = ("sim", "--requests=2000", "--depth=1", "--policy=baseline,vth_b")
    done = run_approxftl(*slow)
    told = re.findall("^approxftl sim: note: baseline and 1 more: padding is (.*) of the write "
                      "amplification of (.*): .* pages of 8KiB .*; --buffer 1MiB ", done.err, re.M)
    rows = [re.search(rf"^{name} +([0-9.]+) ", done.out, re.M)
            for name in ("  padding", "write amplification")]
    assert [tuple(f"{int(float(row[1]) * 100) / 100:g}" for row in rows if row)] == told
    for enough in (("--buffer=1MiB",), ("--size=8KiB",), ("--write-share=0%",)):
        assert "padding" not in run_approxftl(*slow, *enough).err


def test_a_quantile_needs_ten_requests_beyond_it() -> None:
    """A quantile needs ten requests beyond it; its digits are limited by the histogram bins."""
    def parse_rows_of_output(requests: int, *more: str) -> dict[str, list[str]]:
        out = run_approxftl("sim", "--fill=none", "--size=8KiB", "--write-share=100%",
                            f"--requests={requests}", *more).out
        return {line.split()[0]: line.split()[1:] for line in out.splitlines()
                if line.startswith("  p") and line.split()[0] in ("p50", "p99", "p99.9")}

    for name, least in (("p50", 20), ("p99", 1000), ("p99.9", 10000)):
        assert [parse_rows_of_output(count)[name] == ["-"] for count in (least - 1,
                                                                         least)] == [True, False]
    for row in parse_rows_of_output(10000, "--policy=baseline,approxftl").values():
        first, _, second, _, ratio = row
        assert len(first.replace(".", "")) == len(second.replace(".", "")) == 3
        assert re.fullmatch(r"\d\.\d\dx", ratio)
    few = parse_rows_of_output(100, "--policy=baseline,approxftl")
    assert few["p99"] == ["-", "-"] and len(few["p50"]) == 5
