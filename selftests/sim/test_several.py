# SPDX-License-Identifier: GPL-2.0-only
"""Several policies and seeds in one command give the same results in parallel and in sequence."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selftests.lib.json_schema import make_schema_checker
from selftests.lib.processes import (
    await_true,
    has_signal_handler,
    has_taken_signal,
    read_user_time_s,
)
from selftests.lib.programs import BUILD, Done, run_program
from selftests.lib.programs import PROGRAM as BINARY
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

SCHEMA = make_schema_checker("userspace/sim/sim-output.fields")
#: The results differ, and one run is refused: 16 blocks are too few for ApproxFTL.
MANY = ("--policy", "vth_b,approxftl,baseline,ressd", "--seed", "4,1..2", "--blocks", "16",
        "--op", "70", "--write-share", "70%", "--approx-share", "50%", "--requests", "3000")
ALL_OF_IT = ("--histogram", "--series", "--block-table", "--page-map", "auto", "--verify")
ENDLESS = "1000000000000"


def remove_tool_key_from_result(result: Json) -> Json:
    return {key: value for key, value in result.items() if key != "tool"}


def read_and_check_result_file(path: Path) -> Json:
    result: Json = json.loads(path.read_text())
    assert SCHEMA.find_errors(result) == []
    return remove_tool_key_from_result(result)


# ---------------------------------------------------------------- results


def test_parallel_runs_print_what_sequential_runs_print(tmp_path: Path) -> None:
    said: list[tuple[Done, Json]] = []
    for jobs in (1, 2, 5, 4096):
        path = tmp_path / f"{jobs}.json"
        done = run_approxftl("sim", *MANY, *ALL_OF_IT, "--jobs", str(jobs), f"--json={path}")
        said.append((done, read_and_check_result_file(path)))
    assert said[0][0].code == 2
    assert said[0][0].err.count("policy approxftl keeps") == 3
    assert [one for one in said if one != said[0]] == []


def test_notes_and_warnings_do_not_depend_on_option_jobs(tmp_path: Path) -> None:
    """Notes and warnings appear once and in the same order for any number of jobs."""
    trace = tmp_path / "x.csv"
    trace.write_text("t_ns,op,offset_bytes,bytes,latency_ns,pid,stream,class\n"
                     "1,write,700000000,100,0,0,0,precise\n"
                     "2,write,0,900000000000,0,0,0,precise\n")
    several = ("sim", "--policy", "baseline,vth_b", "--seed", "1..2", "--trace", trace, "--fold")
    done = run_approxftl(*several, "--jobs", "2")
    assert [line.split()[-1] for line in done.err.splitlines()] == ["it", "cut"]
    assert done == run_approxftl(*several, "--jobs", "1")


def test_parallel_runs_of_a_raid_array_equal_sequential_ones() -> None:
    array = ("--raid", "5", "--policy", "baseline,vth_b", "--seed", "1..2", "--requests", "2000")
    assert run_approxftl("sim", *array, "--jobs", "4") == run_approxftl("sim", *array, "--jobs",
                                                                        "1")


def test_each_run_equals_a_separate_command() -> None:
    done = run_approxftl("sim", *MANY, *ALL_OF_IT, "--jobs", "3", "--json")
    result = json.loads(done.out)
    runs = [(one["seed"], one["policy"]) for one in result["runs"]]
    assert runs == [(s, p) for s in (4, 1, 2) for p in ("vth_b", "baseline", "ressd")]
    assert [(one["seed"], one["policy"]) for one in result["failed"]] == [
        (s, "approxftl") for s in (4, 1, 2)]
    assert result["seed"] == 4
    for one in result["runs"]:
        alone = get_only_run(run_sim(*MANY, *ALL_OF_IT, "--policy", one["policy"], "--seed",
                                     str(one.pop("seed"))))
        assert one == alone
    assert len({one["digest"] for one in result["runs"]}) > 3


def test_each_seed_has_its_own_table() -> None:
    done = run_approxftl("sim", *MANY)
    parts = done.out.split("\n\ndevice: ")
    assert [int(part.split("seed ")[1].split("\n")[0]) for part in parts] == [4, 1, 2]
    alone = run_approxftl("sim", *MANY, "--seed", "1").out
    assert parts[1] in alone
    why = alone.split("approxftl: no result: ")[1]
    assert done.out.endswith("".join(
        f"approxftl, seed {seed}: no result: {why}" for seed in (4, 1, 2)))


def test_warnings_name_the_seed() -> None:
    done = run_approxftl("sim", "--seed", "7,9", "--requests", "300k", "--jobs", "2",
                         "--fill", "random")
    drifting = [line for line in done.err.splitlines() if "hit unwritten" not in line]
    assert [line.split(": ")[2] for line in drifting] == ["baseline, seed 7", "baseline, seed 9"]


def test_a_single_seed_sets_the_parameter_seed() -> None:
    assert run_approxftl("sim", "--seed", "3", "--requests", "500") == run_approxftl(
        "sim", "--set", "seed=3", "--requests", "500")
    assert "seed" not in get_only_run(run_sim("--seed", "3", "--requests", "10"))
    # The last of --seed and --set seed= wins.
    assert run_sim("--seed", "1..4", "--set", "seed=5", "--requests", "10")["seed"] == 5
    assert len(run_sim("--set", "seed=5", "--seed", "1..4", "--requests", "10")["runs"]) == 4


def test_policy_all_stands_for_every_policy_not_yet_named() -> None:
    known = [one["name"] for one in json.loads(run_approxftl("policies", "--json").out)["policies"]]
    assert len(known) > 12
    few = ("--requests", "100")
    assert [one["policy"] for one in run_sim("--policy", "all", *few)["runs"]] == known
    others = [name for name in known if name not in {"tlc", "vth_b"}]
    runs = run_sim("--policy", "tlc,vth_b,all", *few)["runs"]
    assert [one["policy"] for one in runs] == ["tlc", "vth_b", *others]


# ---------------------------------------------------------------- processes


def list_child_processes(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def is_process_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def run_parallel_command(*arguments: str | Path, jobs: int = 2) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and yield it once its child processes are running."""
    process = subprocess.Popen(
        ["env", "--default-signal=INT,HUP,TERM", BINARY, "sim", "--jobs", str(jobs), "--progress",
         *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    try:
        assert process.stderr
        # This line proves that requests are being simulated, and the starting state is written.
        seen = ""
        while "all runs: " not in seen:
            said = process.stderr.read(10)
            assert said
            seen += said
        await_true(lambda: len(list_child_processes(process.pid)) == jobs)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_option_jobs_sets_the_number_of_processes() -> None:
    with run_parallel_command("--seed", "1..5", "--requests", ENDLESS, jobs=3) as process:
        assert len(list_child_processes(process.pid)) == 3


@pytest.mark.parametrize("processors", [len(os.sched_getaffinity(0)), 1])
def test_the_default_number_of_processes_is_the_number_of_processors(processors: int) -> None:
    allowed = ",".join(map(str, sorted(os.sched_getaffinity(0))[:processors]))
    process = subprocess.Popen(
        ["taskset", "-c", allowed, BINARY, "sim", "--seed", "1..64", "--requests", ENDLESS],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # With one processor the runs share the parent process.
    expected = min(64, processors) if processors > 1 else 0
    try:
        await_true(lambda: list_child_processes(process.pid) if expected
                   else read_user_time_s(process.pid) > 0.1)
        await_true(lambda: len(list_child_processes(process.pid)) == expected)
    finally:
        process.kill()
        process.wait()


#: Send the signal to the command alone, or to its process group as a terminal does.
@pytest.mark.parametrize("send", [
    lambda pid: os.kill(pid, signal.SIGTERM), lambda pid: os.kill(pid, signal.SIGHUP),
    lambda pid: os.killpg(pid, signal.SIGINT)], ids=["SIGTERM", "SIGHUP", "Ctrl-C"])
def test_an_interrupted_command_prints_the_results_so_far(send: Callable[[int], None],
                                                          tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with run_parallel_command("--policy", "baseline,vth_b,tlc", "--requests", ENDLESS,
                              f"--json={path}") as process:
        pids = list_child_processes(process.pid)
        await_true(lambda: all(read_user_time_s(pid) > 0.1 for pid in pids))
        send(process.pid)
        out, _ = process.communicate()
        assert process.returncode == 130
    result = read_and_check_result_file(path)
    assert result["interrupted"] is True
    assert [(one["policy"], one["interrupted"]) for one in result["runs"]] == [
        ("baseline", True), ("vth_b", True)]
    assert all(0 < one["requests"] < int(ENDLESS) for one in result["runs"])
    assert result["failed"] == [{"policy": "tlc", "why": "interrupted before the run began"}]
    assert out.endswith("tlc: no result: interrupted before the run began\n")
    assert not any(map(is_process_running, pids))


@pytest.mark.slow
def test_results_of_completed_runs_are_kept_on_termination(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    # One child is stopped until the other one is complete.
    with run_parallel_command("--seed", "1..2", "--requests", "3M", f"--json={path}") as process:
        first, second = list_child_processes(process.pid)
        os.kill(second, signal.SIGSTOP)
        await_true(lambda: first not in list_child_processes(process.pid))
        os.kill(process.pid, signal.SIGTERM)
        os.kill(second, signal.SIGCONT)
        process.communicate()
        assert process.returncode == 130
    runs = read_and_check_result_file(path)["runs"]
    assert [one["interrupted"] for one in runs] == [False, True]
    assert runs[0]["requests"] == 3000000 > runs[1]["requests"]


def test_a_second_signal_ends_all_processes_at_once(tmp_path: Path) -> None:
    # The preconditioning fill does not check for signals.
    process = subprocess.Popen(
        [BINARY, "sim", "--profile", "tcad18", "--fill", "random", "--fill-overwrite", "10000",
         "--seed", "1..2", "--jobs", "2", f"--json={tmp_path}/x.json"],
        stdout=subprocess.DEVNULL, start_new_session=True)
    await_true(lambda: len(list_child_processes(process.pid)) == 2)
    pids = list_child_processes(process.pid)
    all_of_it = process.pid, *pids
    await_true(lambda: all(has_signal_handler(pid, signal.SIGINT) for pid in all_of_it))
    os.killpg(process.pid, signal.SIGINT)
    await_true(lambda: all(has_taken_signal(pid, signal.SIGINT) for pid in all_of_it))
    time.sleep(0.2)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() == -signal.SIGINT
    await_true(lambda: not any(map(is_process_running, pids)))
    assert list(tmp_path.iterdir()) == []


#: Let a forked child wait until the stop signals of the terminal and of its parent are pending.
WAIT_AFTER_FORK = """
#include <pthread.h>
#include <signal.h>

static void wait_for_signals(void)
{
	sigset_t pending;

	do
		sigpending(&pending);
	while (!sigismember(&pending, SIGINT) || !sigismember(&pending, SIGTERM));
}

__attribute__((constructor)) static void register_wait(void)
{
	pthread_atfork(NULL, NULL, wait_for_signals);
}
"""


def test_a_signal_just_after_the_fork_ends_no_process_at_once(tmp_path: Path) -> None:
    """A child gets the signal of Ctrl-C and that of its parent before it has set itself up."""
    (tmp_path / "wait.c").write_text(WAIT_AFTER_FORK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "wait.so", tmp_path / "wait.c"],
                   check=True)
    process = subprocess.Popen(
        ["env", "--default-signal=INT,HUP,TERM", BINARY, "sim", "--jobs", "2", "--seed", "1..2",
         "--requests", ENDLESS, "--quiet", f"--json={tmp_path}/x.json"],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"LD_PRELOAD": str(tmp_path / "wait.so")})
    await_true(lambda: len(list_child_processes(process.pid)) == 2, process)
    os.killpg(process.pid, signal.SIGINT)
    assert "was ended by signal" not in process.communicate()[1]
    assert process.returncode == 130
    runs = read_and_check_result_file(tmp_path / "x.json")["runs"]
    assert [one["interrupted"] for one in runs] == [True, True]


def test_an_ended_command_leaves_no_process() -> None:
    with run_parallel_command("--seed", "1..2", "--requests", ENDLESS) as process:
        pids = list_child_processes(process.pid)
        process.kill()
        process.communicate()
    await_true(lambda: not any(map(is_process_running, pids)))


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_killed_simulation_is_reported_as_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with run_parallel_command("--policy", "baseline,vth_b", "--seed", "1,5", "--requests", "3M",
                              f"--json={path}") as process:
        os.kill(list_child_processes(process.pid)[1], signal.SIGKILL)
        out, err = process.communicate()
        assert process.returncode == 1
    assert "approxftl sim: vth_b, seed 1: its process was ended by signal 9, Killed\n" in err
    result = read_and_check_result_file(path)
    assert [(one["policy"], one["seed"]) for one in result["runs"]] == [
        ("baseline", 1), ("baseline", 5), ("vth_b", 5)]
    assert [(one["policy"], one["seed"]) for one in result["failed"]] == [("vth_b", 1)]
    assert "vth_b, seed 1: no result: " in out


def test_a_result_that_a_child_process_cannot_write_is_a_failure() -> None:
    """A file size limit lets each run fail whose process cannot write its result."""
    done = run_program("sh", "-c", 'trap "" XFSZ; exec prlimit --fsize=1000 "$@"', "sh", BINARY,
                       "sim", "--policy", "baseline,vth_b", "--requests", "10", "--jobs", "2")
    assert (done.code, done.out) == (1, "")
    assert done.err == "".join(f"approxftl sim: {name}: its process ended without a result\n"
                               for name in ("baseline", "vth_b"))


# ---------------------------------------------------------------- limited resources


def test_fewer_runs_start_if_memory_is_short(tmp_path: Path) -> None:
    probe = ["unshare", "--map-root-user", "--mount", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no name spaces here")
    several = ("sim", "--policy", "baseline,vth_b", "--seed", "1..3", "--requests", "2000")
    expected = run_approxftl(*several)
    bytes_each = max(one["memory_bytes"] for one in run_sim(*several[1:])["runs"])
    info = tmp_path / "meminfo"
    script = f'mount --bind {info} /proc/meminfo && exec "$@"'
    for kib, told in ((2 << 10, "1 of 6"), (7 << 10, "3 of 6"), (100 << 20, "")):
        info.write_text(f"MemTotal: 99999999 kB\nMemAvailable: {kib} kB\n")
        done = run_program(*probe[:-1], "sh", "-c", script, "sh", BINARY, *several, "--jobs", "6")
        assert (done.code, done.out) == (0, expected.out)
        notes = [line for line in done.err.splitlines() if " runs at a time" in line]
        assert len(notes) == bool(told)
        for note in notes:
            most = re.fullmatch(f"approxftl sim: note: {told} runs at a time: each takes up to "
                                r"(\S+) MiB of memory", note)
            # The estimate includes memory that most blocks never use.
            assert most and bytes_each < float(most[1]) * 2**20 < 1.5 * bytes_each


def test_under_a_process_limit_runs_follow_one_another() -> None:
    """If no process can be started, the runs follow one another."""
    expected = run_approxftl("sim", *MANY)
    somebody = ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = run_program(*somebody, "prlimit", "--nproc=0:0", BINARY, "sim", *MANY, "--jobs", "2")
    assert done == expected


# ---------------------------------------------------------------- traces of other formats


@pytest.fixture(scope="module")
def recorded_stream_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("record") / "x.aft"
    assert run_approxftl("sim", "--requests", "3000", "--workload", "bursts", "--flush-every", "50",
                         "--approx-share", "50%", "--record", path).code == 0
    return path


def convert_trace(source: Path, target: Path, *options: str) -> Path:
    done = run_approxftl("trace", "convert", "--quiet", *options, source, target)
    assert done.code == 0, done.err
    return target


def simulate_trace_for_results(trace: Path, *options: str) -> Json:
    result = remove_tool_key_from_result(run_sim("--trace", trace, "--policy", "baseline,tlc",
                                                 "--repeat", "2", *options))
    del result["stream"]
    return result


@pytest.mark.parametrize("name", ["msr", "blktrace"])
def test_every_trace_format_gives_the_results_of_its_conversion(name: str,
                                                                recorded_stream_file: Path,
                                                                tmp_path: Path,
                 monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = convert_trace(recorded_stream_file, tmp_path / "foreign", "--to", name)
    expected = simulate_trace_for_results(convert_trace(foreign, tmp_path / "x.aft", "--to", "aft"))
    assert expected["runs"][0]["requests"] > 2000
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    assert simulate_trace_for_results(foreign) == expected
    assert simulate_trace_for_results(foreign, "--from", name) == expected
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_capture_is_found_by_its_name_or_folder(recorded_stream_file: Path,
                                                  tmp_path: Path) -> None:
    convert_trace(recorded_stream_file, tmp_path / "cap.blktrace.0", "--to", "blktrace")
    expected = simulate_trace_for_results(tmp_path / "cap.blktrace.0")
    assert simulate_trace_for_results(tmp_path / "cap") == expected
    assert simulate_trace_for_results(tmp_path) == expected


def test_reading_options_are_passed_to_the_trace_reader(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("W;0.5;8;16\nR;2.5;0;8\n")
    columns = ("--from=csv", "--columns=op=1,time=2,offset=3,bytes=4", "--time-unit", "ms",
               "--offset-unit", "sectors")
    text = path.read_text().replace(";", ",")
    path.write_text(text)
    out = tmp_path / "seen.aft"
    done = run_approxftl("sim", "--trace", path, *columns, "--record", out)
    assert done.code == 0, done.err
    assert simulate_trace_for_results(out) == simulate_trace_for_results(path, *columns)
    assert run_sim("--trace", path, *columns)["runs"][0]["simulated_ns"] >= 2000000


def test_option_from_sets_the_format_of_standard_input(recorded_stream_file: Path,
                                                       tmp_path: Path) -> None:
    csv = convert_trace(recorded_stream_file, tmp_path / "x.csv")
    done = run_approxftl("sim", "--trace", "-", "--from", "csv", "--policy", "baseline,tlc",
                         "--repeat", "2", "--json", stdin=csv.read_bytes())
    result = remove_tool_key_from_result(json.loads(done.out))
    del result["stream"]
    assert result == simulate_trace_for_results(csv)


def test_dropped_lines_are_reported(recorded_stream_file: Path, tmp_path: Path) -> None:
    path = convert_trace(recorded_stream_file, tmp_path / "x.csv")
    path.write_text(path.read_text() + "nonsense\n")
    done = run_approxftl("sim", "--trace", path)
    assert done.code == 0
    assert "dropped: " in done.err
    done = run_approxftl("sim", "--trace", path, "--strict", f"--json={tmp_path}/x.json")
    assert done.code == 1
    assert done.out == ""
    assert not (tmp_path / "x.json").exists()


def test_a_missing_trace_reader_is_named(recorded_stream_file: Path, tmp_path: Path) -> None:
    alone = tmp_path / "approxftl"
    shutil.copy(BUILD / "approxftl", alone)
    csv = convert_trace(recorded_stream_file, tmp_path / "x.csv")
    nowhere = {"PATH": str(tmp_path)}
    done = run_program(alone, "sim", "--trace", csv, environment=nowhere)
    assert done.code == 3
    assert done.err == (f"approxftl sim: {csv}: no record file; approxftl-trace, which reads "
                        "others, is missing\n")
    assert run_program(alone, "sim", "--trace", recorded_stream_file, environment=nowhere).code == 0
