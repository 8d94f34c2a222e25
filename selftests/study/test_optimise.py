# SPDX-License-Identifier: GPL-2.0-only
"""Studies that search for optimal values: the result, refused values, and resumption."""

import json
import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftests.study.test_study import (
    STUDY,
    find_running_simulations,
    read_result_times,
    run_study,
    run_study_in_test_process,
    run_study_verb_as_json,
    wait_for_results,
    write_study,
)

from approxftl_tools import study_optimise

BASE = """
seeds = 2
[base]
requests = 20000
fill = "random"
policy = "baseline"
"""
SEARCH = BASE + """
[optimise]
minimise = "write_amplification"
trials = 10
together = 3
[optimise.range]
op = { from = 7, to = 40, unit = "%" }
victim = ["greedy", "fifo"]
"""


def run_optimise_verb(*arguments: str | Path) -> dict[str, Any]:
    found = run_study_verb_as_json("optimise", *arguments)
    return {key: found[key] for key in ("measure", "largest", "trials", "best")}


def test_optimise_finds_high_over_provisioning_and_greedy_selection(tmp_path: Path) -> None:
    """Write amplification is least with high over-provisioning and greedy victim selection."""
    found = run_optimise_verb(write_study(tmp_path, SEARCH))
    values = [trial["write_amplification"] for trial in found["trials"]]
    assert len(values) == 10
    assert values == sorted(values)
    best = found["trials"][0]
    assert best["trial"] == found["best"]
    assert int(best["values"]["op"].rstrip("%")) >= 28
    assert best["values"]["victim"] == "greedy"
    assert best["write_amplification_low"] <= values[0] <= best["write_amplification_high"]
    assert found["trials"][-1]["write_amplification"] > values[0]


def test_a_trial_is_reproduced_by_its_command(tmp_path: Path) -> None:
    """The printed command repeats the runs of both seeds, whose mean is the trial's value."""
    found = run_optimise_verb(write_study(tmp_path, SEARCH.replace("trials = 10", "trials = 1")))
    [trial] = found["trials"]
    words = trial["command"].split()[1:]
    told = json.loads(subprocess.run([STUDY.with_name("approxftl"), *words, "--json=-", "--quiet"],
                                     capture_output=True, check=True).stdout)["runs"][0]
    ours = [json.loads(Path(place, "result.json").read_text())["runs"][0]
            for place in read_result_times(tmp_path)]
    assert len(ours) == 2
    assert told["counters"] in [run["counters"] for run in ours]


def test_a_measure_can_be_maximised(tmp_path: Path) -> None:
    text = SEARCH.replace("minimise", "maximise").replace("trials = 10", "trials = 4")
    found = run_optimise_verb(write_study(tmp_path, text))
    values = [trial["write_amplification"] for trial in found["trials"]]
    assert found["largest"]
    assert values == sorted(values, reverse=True)
    assert found["trials"][0]["trial"] == found["best"]


def test_a_trial_is_the_mean_over_varied_parameters(tmp_path: Path) -> None:
    """With two policies varied, the value of a trial is the mean over both policies."""
    base = SEARCH.replace('policy = "baseline"', 'approx-share = "30%"')
    text = base.replace("trials = 10", "trials = 2").replace(
        "write_amplification", "write_response_mean_ns")
    values: list[dict[int, float]] = []
    for policies in ('"baseline"', '"approxftl"', '"baseline", "approxftl"'):
        folder = tmp_path / str(len(values))
        folder.mkdir()
        found = run_optimise_verb(write_study(folder, f"{text}\n[vary]\npolicy = [{policies}]\n"))
        values.append({trial["trial"]: trial["write_response_mean_ns"]
                       for trial in found["trials"]})
    one, other, both = values
    for trial in (1, 2):
        assert one[trial] != other[trial]
        assert both[trial] == pytest.approx((one[trial] + other[trial]) / 2, rel=1e-12)


@pytest.mark.slow
def test_trials_of_a_search_run_in_parallel(tmp_path: Path) -> None:
    text = SEARCH.replace("20000", "1999999").replace("seeds = 2", "seeds = 1").replace(
        "trials = 10", "trials = 3")
    driver = subprocess.Popen([STUDY, "optimise", write_study(tmp_path, text), "--jobs", "8"],
                              stdout=subprocess.DEVNULL)
    most = 0
    while driver.poll() is None:
        most = max(most, len(find_running_simulations(1999999)))
        time.sleep(0.02)
    assert (driver.returncode, most) == (0, 3)


def test_the_optimum_does_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    file = write_study(tmp_path, SEARCH)
    assert (run_optimise_verb(file, "--jobs", "1", "--results", tmp_path / "one")
            == run_optimise_verb(file, "--jobs", "4", "--results", tmp_path / "four"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_search_is_continued(tmp_path: Path, number: signal.Signals) -> None:
    file = write_study(tmp_path, SEARCH.replace("20000", "200000"))
    process = subprocess.Popen(["env", "--default-signal=INT", STUDY, "optimise", file],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for_results(tmp_path, 7)
    process.send_signal(number)
    _, said = process.communicate()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "of 10 trials are done; the same command goes on" in said
    before = read_result_times(tmp_path)
    assert 7 <= len(before) < 20
    assert run_optimise_verb(file) == run_optimise_verb(file, "--results", tmp_path / "at-once")
    after = read_result_times(tmp_path / "study.results")
    assert len(after) == len(read_result_times(tmp_path / "at-once"))
    assert {place: after[place] for place in before} == before


def test_refused_values_make_trials_without_result(tmp_path: Path) -> None:
    """A refused value makes a trial without a result; if all are refused, the study is refused."""
    some = SEARCH.replace("to = 40", "to = 180").replace("trials = 10", "trials = 6")
    done = run_study("optimise", write_study(tmp_path, some), "--json")
    found = json.loads(done.stdout)["trials"]
    without = [trial for trial in found if trial["write_amplification"] is None]
    assert 0 < len(without) < 6
    assert found[-1] in without
    assert all("op" in trial["why"] for trial in without)
    assert done.stderr.count("approxftl study: ") == len(without)
    none = SEARCH.replace("from = 7, to = 40", "from = 107, to = 140")
    status, said = run_study_in_test_process("optimise", write_study(tmp_path, none))
    assert (status, "op" in said.splitlines()[-1]) == (2, True)


RANGE = '[optimise]\nminimise = "array_erases"\n[optimise.range]\n'
REFUSED = {
    BASE: "it has no [optimise]",
    BASE + "[optimise]\n[optimise.range]\nop = [7, 28]\n": "has minimise or maximise",
    BASE + RANGE.replace("[optimise]\n", '[optimise]\nmaximise = "array_erases"\n', 1)
        + "op = [7, 8]\n": "has minimise or maximise",
    BASE + RANGE.replace("array_erases", "array_erase"): "is a table of options",
    BASE + RANGE.replace("array_erases", "array_erase") + "op = [7, 8]\n":
        "did you mean array_erases?",
    BASE + '[optimise]\nminimise = "array_erases"\n': "[optimise.range] is a table of options",
    BASE + RANGE + "op = 7\n": "op is a list of values, or",
    BASE + RANGE + "op = [7]\n": "op is a list of values, or",
    BASE + RANGE + "op = { from = 7 }\n": '"to" is a number',
    BASE + RANGE + "op = { from = true, to = 9 }\n": '"from" is a number',
    BASE + RANGE + "op = { from = 7, to = inf }\n": '"to" is a number',
    BASE + RANGE + "op = { from = 7, to = 7 }\n": "from is below to",
    BASE + RANGE + "op = { from = 7, to = 9, step = 3 }\n": "from is below to",
    BASE + RANGE + "op = { from = 7, to = 9, step = 0.5 }\n": "so is the step",
    BASE + RANGE + "op = { from = 0, to = 9, log = true }\n": "log is true or false",
    BASE + RANGE + "op = { from = 7, to = 9, unti = 3 }\n": "did you mean unit?",
    BASE + RANGE + "requests = [7, 9]\n": '"requests" is in [optimise.range], and in [base]',
    BASE + RANGE + "seed = [7, 9]\n": '"seed" is in [optimise.range], and in [base]',
    BASE + RANGE + "trace = ['a', 'b']\n": '"trace" is not for [optimise.range]',
    BASE + RANGE + "json = ['a', 'b']\n": '"json" is not for [optimise.range]',
    BASE + RANGE.replace("]\nm", "]\ntrials = 0\nm", 1) + "op = [7, 8]\n": "trials is a number",
    BASE + RANGE.replace("]\nm", "]\ntrails = 9\nm", 1) + "op = [7, 8]\n": "did you mean trials?",
}


@pytest.mark.parametrize("text", REFUSED)
def test_invalid_goals_are_refused_before_any_run(text: str, tmp_path: Path) -> None:
    status, said = run_study_in_test_process("optimise", write_study(tmp_path, text))
    assert status == 2
    assert REFUSED[text] in said.splitlines()[-1]
    assert not read_result_times(tmp_path)


def test_a_missing_optuna_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    status, said = run_study_in_test_process("optimise", write_study(tmp_path, SEARCH))
    assert status == 1
    assert said.splitlines() == [
        "approxftl study: study optimise needs the Python package optuna: pip install optuna"]
    assert not read_result_times(tmp_path)


def test_fractions_are_proposed_in_a_form_that_the_simulator_accepts(tmp_path: Path) -> None:
    """Trials have values that the simulator accepts: two decimals in percentages, no exponents."""
    ranges = ('op = { from = 7.5, to = 28.25, unit = "%" }\n'
              'read = { from = 40.5, to = 60, unit = "us" }\n'
              "rber = { from = 1e-8, to = 1e-4, log = true }\n")
    text = SEARCH[:SEARCH.index("op =")].replace("20000", "500") + ranges
    found = run_optimise_verb(write_study(tmp_path, text))
    assert [trial["why"] for trial in found["trials"]] == [""] * 10
    assert len({trial["values"]["rber"] for trial in found["trials"]}) == 10


@given(low=st.floats(1e-8, 1e6), width=st.floats(1e-3, 1e6), unit=st.sampled_from(["", "%", "us"]))
def test_proposed_numbers_are_printed_with_four_digits(low: float, width: float, unit: str) -> None:
    """Proposed numbers have no exponent, but four digits or, as percentages, two decimals."""
    value = low + width / 3
    span = study_optimise.Range(low=low, high=low + width, unit=unit)
    text = str(span.format_option_value(value))
    assert text.endswith(unit)
    number = text.removesuffix(unit) if unit else text
    assert re.fullmatch(r"\d+(\.\d+)?", number)
    assert math.isclose(float(number), value, rel_tol=0 if unit == "%" else 5.1e-4,
                        abs_tol=0.0051 if unit == "%" else 0)
