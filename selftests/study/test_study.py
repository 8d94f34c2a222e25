# SPDX-License-Identifier: GPL-2.0-only
"""Test studies: their points, repeated runs, and robustness against interruptions."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD, TOP, run_program

from approxftl_tools import study as verb
from approxftl_tools import study_plan, study_table

STUDY = BUILD / "approxftl-study"
SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
SMALL = """
name = "small"
[base]
requests = 2000
[vary]
policy = ["baseline", "approxftl"]
approx-share = [0.1, 0.5]
"""
#: Each point takes long enough for a test to interfere.
LONG = SMALL.replace("2000", "1000000").replace("[0.1, 0.5]", "[0.1, 0.2, 0.3, 0.4]")


def write_study(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(f"study = 1\n{text}")
    return path


def run_study(*arguments: str | Path, status: int = 0, **environment: str) -> Any:
    done = subprocess.run([STUDY, *arguments], capture_output=True, text=True, check=False,
                          env=os.environ | environment)
    assert done.returncode == status, done.stderr
    return done


def run_study_in_test_process(*arguments: str | Path) -> tuple[int, str]:
    """Run the study command in the test's process, which saves the start of an interpreter."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said):
        patch.setenv("APPROXFTL", str(BUILD / "approxftl"))
        patch.setattr(signal, "signal", lambda *_: None)
        streams = sys.stdin, sys.stdout, sys.stderr
        try:
            return verb.main([str(word) for word in arguments]), said.getvalue()
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams


def run_study_verb_as_json(*arguments: str | Path, status: int = 0) -> dict[str, Any]:
    return parse_document(SCHEMA, run_study(*arguments, "--json", status=status).stdout)


def read_result_times(folder: Path) -> dict[str, int]:
    """Return the modification time of each result. Directories may be removed meanwhile."""
    return {place: Path(place, "result.json").stat().st_mtime_ns
            for place, _, names in os.walk(folder) if "result.json" in names}


#: An environment variable of child processes, to tell our simulations from those of others.
MARK = f"AFTL_TEST_OF_STUDIES={os.getpid()}"
os.environ[MARK.partition("=")[0]] = MARK.partition("=")[2]


def find_running_simulations(requests: int = 1000000) -> list[int]:
    """Return the processes that simulate points, and not those that only check options."""
    done = run_program("pgrep", "-f",
                       f"approxftl sim .*--requests={requests} (.* )?--die-with-parent")
    found = []
    for word in done.out.split():
        with suppress(OSError):
            if MARK.encode() in Path(f"/proc/{word}/environ").read_bytes().split(b"\0"):
                found.append(int(word))
    return found


def send_signal_to_one_simulation(number: signal.Signals) -> bool:
    """Send a signal to one running simulation; return whether there was one."""
    for pid in find_running_simulations():
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            return True
    return False


def wait_for_results(folder: Path, count: int) -> None:
    await_true(lambda: len(read_result_times(folder)) >= count)


def test_every_combination_of_varied_values_is_run_once(tmp_path: Path) -> None:
    file = write_study(tmp_path, SMALL)
    first = run_study_verb_as_json("run", file)
    assert [(row["policy"], row["approx-share"]) for row in first["rows"]] == [
        ("baseline", 0.1), ("baseline", 0.5), ("approxftl", 0.1), ("approxftl", 0.5)]
    before = read_result_times(tmp_path)
    assert len(before) == 4
    assert run_study_verb_as_json("run", file)["rows"] == first["rows"]
    assert read_result_times(tmp_path) == before


def test_results_equal_the_simulators(tmp_path: Path) -> None:
    row = run_study_verb_as_json("run", write_study(tmp_path, SMALL))["rows"][3]
    direct = subprocess.run(
        [BUILD / "approxftl", "sim", "--requests=2000", "--policy=approxftl",
         "--approx-share=0.5", "--json=-", "--quiet"], capture_output=True, text=True, check=True)
    run = json.loads(direct.stdout)["runs"][0]
    assert row["write_response_mean_ns"] == run["timing"]["write_response"]["mean_ns"]


def test_a_changed_study_runs_only_new_points(tmp_path: Path) -> None:
    run_study("run", write_study(tmp_path, SMALL))
    before = read_result_times(tmp_path)
    run_study("run", write_study(tmp_path, SMALL.replace("[0.1, 0.5]", "[0.1, 0.5, 0.9]")))
    after = read_result_times(tmp_path)
    assert {path: when for path, when in after.items() if path in before} == before
    assert len(after) == 6


def test_a_point_depends_on_its_traces_content(tmp_path: Path) -> None:
    def write_trace_record(seed: int) -> None:
        subprocess.run([BUILD / "approxftl", "sim", "--requests=500", f"--seed={seed}", "--quiet",
                        f"--record={tmp_path / 'a.aft'}"], check=True)

    file = write_study(tmp_path, '[base]\ntrace = "a.aft"\n[vary]\npolicy = ["baseline"]\n')
    write_trace_record(1)
    run_study("run", file)
    write_trace_record(2)
    assert "0 done, 0 failed, 1 missing" in run_study("status", file).stdout
    run_study("run", file)
    assert len(read_result_times(tmp_path)) == 2


def test_a_changed_fault_script_makes_a_point_run_again(tmp_path: Path) -> None:
    script = tmp_path / "faults.toml"
    file = write_study(tmp_path, '[base]\nrequests = 500\nfault_script = "faults.toml"\n'
                                 '[vary]\npolicy = ["baseline"]\n')
    for when in (100, 200):
        script.write_text(f'[[fault]]\nblock = 3\nafter_write = {when}\n')
        assert "0 done, 0 failed, 1 missing" in run_study("status", file).stdout
        run_study("run", file)
    assert len(read_result_times(tmp_path)) == 2
    write_study(tmp_path, '[base]\nset = "@faults.toml"\n[vary]\npolicy = ["baseline"]\n')
    assert "give the parameters themselves" in run_study("status", file, status=2).stderr


def test_failed_points_are_listed_and_stop_no_other_point(tmp_path: Path) -> None:
    # 12 blocks are too few for policy approxftl.
    file = write_study(tmp_path, SMALL.replace("[base]", "[base]\nblocks = 12\nop = 60"))
    done = run_study("run", file, status=1)
    assert done.stderr.count("policy=approxftl approx-share=") == 2
    assert "keeps 16 of the 12 blocks" in done.stderr
    table = run_study_verb_as_json("table", file)
    assert [one["point"]["policy"] for one in table["failed"]] == ["approxftl"] * 2
    assert "keeps 16 of the 12 blocks" in table["failed"][0]["why"]
    assert "2 of 4 points are in the table; 2 failed, 0 missing" in run_study("table", file).stderr
    assert "2 done, 2 failed, 0 missing" in run_study("status", file, status=1).stdout
    states = run_study_verb_as_json("status", file, status=1)
    assert [states[key] for key in ("done", "failed", "missing")] == [2, 2, 0]
    calls = read_result_times(tmp_path)
    run_study("run", file, "--retry", status=1)
    assert read_result_times(tmp_path) == calls


def test_excluded_values_and_seeds_change_the_points(tmp_path: Path) -> None:
    file = write_study(tmp_path, SMALL.replace('"small"', '"small"\nseeds = 3') + """
[[exclude]]
policy = "baseline"
approx-share = [0.5]
""")
    plan = study_plan.read_study(file, BUILD / "approxftl")
    names = [point.point_name() for point in plan.points]
    assert len(names) == 9
    assert not any("baseline approx-share=0.5" in name for name in names)
    assert len({dict(point.varied)["seed"] for point in plan.points}) == 3


@pytest.mark.parametrize(("axis", "rule"), [
    ("[7, 10]", '"7"'), ("[7, 10]", '["7"]'), ('["7", "10"]', "7"), ('["7", 10]', '[7, "7"]')])
def test_exclusion_rules_compare_values_as_passed_to_the_simulator(axis: str, rule: str,
                                                                   tmp_path: Path) -> None:
    file = write_study(tmp_path, f"[vary]\nop = {axis}\n[[exclude]]\nop = {rule}\n")
    plan = study_plan.read_study(file, BUILD / "approxftl")
    assert [point.point_name() for point in plan.points] == ["op=10"]


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_killed_simulation_is_tried_again(tmp_path: Path) -> None:
    file = write_study(tmp_path, LONG)
    driver = subprocess.Popen([STUDY, "run", file, "--jobs", "2"], stdout=subprocess.DEVNULL)
    wait_for_results(tmp_path, 1)
    await_true(lambda: send_signal_to_one_simulation(signal.SIGKILL))
    assert driver.wait() == 0
    assert len(read_result_times(tmp_path)) == 8


@pytest.mark.slow
def test_a_killed_study_is_continued(tmp_path: Path) -> None:
    file = write_study(tmp_path, LONG)
    driver = subprocess.Popen([STUDY, "run", file, "--jobs", "2"], stdout=subprocess.DEVNULL)
    wait_for_results(tmp_path, 2)
    driver.kill()
    driver.wait()
    before = read_result_times(tmp_path)
    assert 2 <= len(before) < 8
    run_study("run", file)
    after = read_result_times(tmp_path)
    assert len(after) == 8
    assert {path: when for path, when in after.items() if path in before} == before


def test_an_interrupted_study_keeps_its_results(tmp_path: Path) -> None:
    file = write_study(tmp_path, LONG)
    # A shell may start the tests in the background with SIGINT ignored.
    driver = subprocess.Popen(["env", "--default-signal=INT", STUDY, "run", file, "--jobs", "2"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_results(tmp_path, 1)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate()
    assert driver.returncode == 130
    assert "interrupted" in said and "the same command goes on" in said
    assert not find_running_simulations()
    assert not list(tmp_path.rglob(".*"))


def test_exported_commands_write_results(tmp_path: Path) -> None:
    file = write_study(tmp_path, SMALL)
    commands = run_study("export", file).stdout
    assert commands.count("\n") == 4
    path = f"{BUILD}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", commands], check=True, env=os.environ | {"PATH": path},
                   stdout=subprocess.DEVNULL)
    assert "4 done, 0 failed, 0 missing" in run_study("status", file).stdout


def test_exported_commands_check_their_files(tmp_path: Path) -> None:
    record = [str(BUILD / "approxftl"), "sim", "--quiet", f"--record={tmp_path / 'a.aft'}"]
    subprocess.run([*record, "--requests=500"], check=True)
    file = write_study(tmp_path, '[base]\ntrace = "a.aft"\n[vary]\npolicy = ["baseline"]\n')
    commands = run_study("export", file).stdout
    environment = os.environ | {"PATH": f"{BUILD}:{os.environ['PATH']}"}

    def run_exported_commands() -> str:
        done = subprocess.run(["sh", "-c", commands], env=environment, capture_output=True,
                              text=True, check=False)
        return done.stderr

    subprocess.run([*record, "--requests=500", "--seed=9"], check=True)
    assert "a.aft is another one" in run_exported_commands()
    assert not read_result_times(tmp_path)
    subprocess.run([*record, "--requests=500"], check=True)
    assert run_exported_commands() == ""
    assert len(read_result_times(tmp_path)) == 1


def test_the_table_of_a_study_is_written_as_csv(tmp_path: Path) -> None:
    lines = run_study("run", write_study(tmp_path, SMALL), "--csv", "--measures",
                      "write_amplification").stdout.splitlines()
    assert lines[0] == ("policy,approx-share,runs,drifting_runs,write_amplification,"
                        "write_amplification_low,write_amplification_high")
    assert len(lines) == 5


@pytest.mark.parametrize(("text", "sentence"), [
    ("vary]", "no TOML"),
    ("[varied]\n", 'unknown key "varied"; did you mean vary?'),
    ('[vary]\npolicy = "baseline"\n', '[vary] "policy" is a list of values'),
    ("[base]\njson = true\n", '"json" is not for a study'),
    ("seed = 5\n", "seed says nothing without seeds"),
    ('until = "2%"\nseeds = 9\nmost = 5\n', "seeds begin with 9, but most is 5"),
    ("most = 5\n", "most says nothing without until"),
    ("[vary]\nop = [7, 10]\n[[exclude]]\nop = []\n", "op = [] takes no point out"),
    ("seeds = 0\n", "seeds is a number from 1 to 100000"),
    ("until = 2\n", 'until is a share such as "2%"'),
    ('until = "2"\n', 'until is a share such as "2%"'),
    ('warmup = "wran"\n', 'unknown rule of warmup "wran"; did you mean warn?'),
    ('measures = ["array_erase"]\n', 'unknown measure "array_erase"; did you mean array_erases?'),
    ('measures = "array_erases"\n', "measures is a list of words"),
    ('[base]\ntrace = "gone.aft"\n', "gone.aft: no such file"),
    ("[vary]\nop = [1]\n[[exclude]]\nop = 1\n", "every point is excluded"),
    (f"[vary]\na = {list(range(400))}\nb = {list(range(400))}\n", "160000 points"),
    ("repeat = 3\n", 'unknown key "repeat"'),
    ("seeds = true\n", "seeds is a number from 1"),
    ("seeds = 2\n[base]\nseed = 4\n", "seeds are given and derived"),
    ('[vary]\npolicy = ["vth_b"]\n[[exclude]]\npolixy = "vth_b"\n',
     'unknown key of [[exclude]] "polixy"; did you mean policy?'),
    ('[vary]\npolicy = ["vth_b"]\n[[exclude]]\npolicy = "vthb"\n',
     'unknown value of policy in [[exclude]] "vthb"; did you mean vth_b?'),
    ('[vary]\npolicy = ["vth_b"]\n[[exclude]]\n', "each [[exclude]] is a table"),
    ('[vary]\npolicy = ["vth_b"]\n[exclude]\npolicy = "vth_b"\n', "each [[exclude]] is a table"),
    ("[base]\nrequest = 10\n[vary]\nop = [7, 10, 20]\n", "did you mean --requests?"),
    ('[base]\npolicy = "baselin"\n[vary]\nop = [7, 10, 20]\n', 'unknown policy "baselin"'),
    ("[vary]\nop = [7, 10, 200]\n", "op: 200 is out of range"),
    ("[base]\nop = [7]\n", '[base] "op" is one value'),
    ("[base]\nop = 7\n[vary]\nop = [7, 9]\n", '"op" is in [base], and in [vary]'),
    ("[vary]\nop = [[7]]\n", '[vary] "op" is a list of values'),
    ("[vary.s]\na = 7\n", '[vary.s] "a" is a set of options'),
    ("[vary]\nop = [7]\n[vary.s]\na = { op = 7 }\n", '"op" is in [vary], and in [vary]'),
    ("[vary.s]\na = { op = 200 }\n", "op: 200 is out of range"),
    ('[vary.s]\na = { json = "x" }\n', '"json" is not for a study'),
    ("[vary.s]\n", '[vary] "s" is a list of values'),
    ('[base]\ntimeline = "x"\n', '"timeline" is not for a study'),
    ("[base]\nseries = true\n", '"series" is not for a study'),
    ("[base]\ndie_with_parent = true\n", '"die_with_parent" is not for a study'),
    ('[base]\nprofile = "a\\u0000b"\n', '[base] "profile" is one value'),
    ('[vary]\npolicy = ["vth_b", "baseline"]\nop = [7, 10]\n[[figure]]\nx = "op"\nseries = "op"\n'
     'y = "array_erases"\n', "[[figure]] study-1 leaves out the axis policy; name it as x, series"),
    ('[vary]\nop = [7, 10]\n[[figure]]\nx = "op"\nseries = "policy"\n'
     'y = ["array_erases", "write_amplification"]\n', "leaves out the axis measure"),
])
def test_invalid_studies_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    status, said = run_study_in_test_process("run", write_study(tmp_path, text))
    assert status == {"no TOML": 1, "gone.aft: no such file": 3}.get(sentence, 2)
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "study.results").exists()


@pytest.mark.parametrize("figure", [
    '[[figure]]\nx = "op"\nseries = "op"\ny = "array_erases"\nrelative_to = "baseline"\n',
    '[[exclude]]\npolicy = "vth_b"\nop = 10\n[[figure]]\nx = "policy"\ny = "array_erases"\n'
    'series = "policy"\nshow = ["vth_b"]\n',
])
def test_a_study_axis_that_relative_to_or_show_fixes_need_not_be_drawn(tmp_path: Path, figure: str
                                                                       ) -> None:
    text = '[vary]\npolicy = ["baseline", "vth_b"]\nop = [7, 10]\n'
    assert run_study_in_test_process("status", write_study(tmp_path, text + figure)) == (0, "")


@pytest.mark.parametrize("file", sorted((TOP / "docs/examples").glob("*.toml")),
                         ids=lambda file: str(file.stem))
def test_figures_of_the_examples_name_each_axis(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path)
    assert run_study_in_test_process("status", tmp_path / file.name) == (0, "")


@pytest.mark.parametrize("jobs", ["-3", "0", "1025", "x", "1e3"])
def test_an_invalid_number_of_jobs_is_refused(tmp_path: Path, jobs: str) -> None:
    status, said = run_study_in_test_process("run", write_study(tmp_path, SMALL), "--jobs", jobs)
    assert status == 2
    assert f'"{jobs}" is not from 1 to 1024' in said


@pytest.mark.in_turn
def test_an_interrupted_simulation_is_tried_again(tmp_path: Path) -> None:
    """A simulation that was interrupted but ended normally has no complete result."""
    driver = subprocess.Popen([STUDY, "run",
                               write_study(tmp_path, LONG.replace("0.2, 0.3, 0.4", "0.2")),
                               "--jobs", "1", "--json"], stdout=subprocess.PIPE, text=True)
    await_true(lambda: send_signal_to_one_simulation(signal.SIGTERM))
    out, _ = driver.communicate()
    assert driver.returncode == 0
    assert len(json.loads(out)["rows"]) == 4


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("end", ["kill -TERM $$", "exit 130"])
def test_a_killed_check_of_options_is_tried_again(tmp_path: Path, end: str, times: int) -> None:
    """If the simulator is killed while it checks options, the study does not refuse the options."""
    double = tmp_path / "approxftl"
    double.write_text(f"""#!/bin/sh
case $* in *--dry-run*)
    echo >>'{tmp_path}/tried'
    [ $(wc -l <'{tmp_path}/tried') -gt {times} ] || {end} ;;
esac
exec '{BUILD}/approxftl' "$@"
""")
    double.chmod(0o755)
    done = run_study("run", write_study(tmp_path, SMALL), status=times == 3, APPROXFTL=str(double))
    assert ("killed 3 times as it looked at the options" in done.stderr) == (times == 3)
    assert len(read_result_times(tmp_path)) == (0 if times == 3 else 4)


def test_a_trace_that_changes_during_a_run_is_refused(tmp_path: Path) -> None:
    """A result must not be stored under the digest of a trace file that was changed meanwhile."""
    record = [str(BUILD / "approxftl"), "sim", "--quiet", f"--record={tmp_path / 'a.aft'}"]
    subprocess.run([*record, "--requests=3000"], check=True)
    file = write_study(tmp_path,
                       '[base]\ntrace = "a.aft"\n[vary]\npolicy = ["baseline", "vth_b"]\n')
    double = tmp_path / "approxftl"
    double.write_text(f"""#!/bin/sh
case $* in
*--dry-run*) ;;
*--policy=vth_b*) until [ -e '{tmp_path}/changed' ]; do sleep 0.05; done ;;
esac
exec '{BUILD}/approxftl' "$@"
""")
    double.chmod(0o755)
    driver = subprocess.Popen([STUDY, "run", file, "--jobs", "1"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env=os.environ | {"APPROXFTL": str(double)})
    wait_for_results(tmp_path, 1)
    subprocess.run([*record, "--requests=3000", "--seed=9"], check=True)
    (tmp_path / "changed").touch()
    _, said = driver.communicate()
    assert driver.returncode == 1
    assert "policy=vth_b" in said and "a.aft has changed since the study began" in said
    assert len(read_result_times(tmp_path)) == 1


@pytest.mark.slow
def test_a_killed_study_leaves_no_process(tmp_path: Path) -> None:
    driver = subprocess.Popen([STUDY, "run", write_study(tmp_path, LONG), "--jobs", "2"],
                              stdout=subprocess.DEVNULL)
    wait_for_results(tmp_path, 1)
    driver.kill()
    driver.wait()
    await_true(lambda: not find_running_simulations())


def test_a_share_of_1_in_a_study_is_refused_as_ambiguous(tmp_path: Path) -> None:
    file = write_study(tmp_path, SMALL.replace("[base]\n", "[base]\nwrite-share = 1\n"))
    assert run_study("status", file, status=2).stderr == (
        f"approxftl study: {file}: --write-share: 1 may mean 1% or 100%; write one of these\n")


def test_the_table_shows_the_measures_of_the_figures(tmp_path: Path) -> None:
    """A study's table names measures without a column below it, except those that no run has."""
    text = SMALL.replace("[base]\n", 'seeds = 2\n[base]\nfill = "random"\nwrite-share = "100%"\n')
    file = write_study(tmp_path, text)
    everything = run_study("run", file).stdout
    assert "write response, mean" in everything and "read response" not in everything
    assert "More with" not in everything and max(map(len, everything.splitlines())) <= 100
    write_study(tmp_path, f'{text}[[figure]]\nx = "approx-share"\ny = "write_amplification"\n')
    said = run_study("table", file).stdout
    head, *rows, empty, more = said.splitlines()[:7]
    assert head.split() == ["policy", "approx-share", "runs", "write", "amplification"]
    assert len(rows) == 4 and not empty
    assert more.startswith("More with --measures, or --csv: write_response_mean_ns, ")
    asked = run_study("table", file, "--measures", "read_response_mean_ns,array_erases").stdout
    assert asked.splitlines()[0].split() == ["policy", "approx-share", "runs", "erases"]


def test_a_table_wider_than_a_page_is_divided() -> None:
    names = ("write_response_mean_ns", "write_response_p99_ns", "write_amplification")
    row: study_table.Row = {"policy": "vth_b", "runs": 5, "drifting_runs": 0}
    for name in names:
        row |= {name: 2.123e6, f"{name}_low": 1e6, f"{name}_high": 3e6, f"{name}_ratio": 0.5,
                f"{name}_ratio_low": 0.4, f"{name}_ratio_high": 0.6}
    tables = study_table.format_tables_of_measures([row], names).split("\n\n")
    assert [table.count("\u00b1") for table in tables] == [2, 1]
    assert all(table.split()[:2] == ["policy", "runs"] for table in tables)
    assert all(len(line) <= 100 for table in tables for line in table.splitlines())


@pytest.mark.parametrize(("low", "said"), [
    (1.9e6, "2 ms \u00b15 %"), (2e6 * (1 - 1e-15), "2 ms"), (None, "2 ms"),
    (-4.6e6, "2 ms \u00b1over 100 %"),
])
def test_zero_width_confidence_intervals_are_left_out_of_the_table(
    low: float | None, said: str
) -> None:
    key = "write_response_mean_ns"
    assert study_table.format_value_and_interval({key: 2e6, f"{key}_low": low}, key) == said
    ratio = f"{key}_ratio"
    same = {ratio: 0.5, f"{ratio}_low": 0.5, f"{ratio}_high": 0.5}
    assert study_table.format_value_and_interval(same, ratio) == "0.500"


def test_option_measures_lists_the_measures_by_subject(tmp_path: Path) -> None:
    told = run_study("table", write_study(tmp_path, SMALL), "--measures", "help").stdout
    assert "\nqueues of the host, N from 0 to 7\n  queue_N_requests_per_s\n" in told
    assert "  write_amplification (waf)\n" in told
    assert len(told.splitlines()) < 75


def test_results_of_another_build_are_reported(tmp_path: Path) -> None:
    """A study ignores stored results of another build or of other options, and says so."""
    text = f'{SMALL}[[figure]]\nx = "approx-share"\ny = "write_response_mean_ns"\n'
    file = write_study(tmp_path, text)
    run_study("run", file, "--measures", "waf")
    write_study(tmp_path, text.replace("requests = ", "requests = 1"))
    for what, status in (("table", 0), ("figure", 1)):
        said = run_study(what, file, status=status).stderr
        assert re.search(r"[1-9]\d* results in .* are of another build or of other options", said)
