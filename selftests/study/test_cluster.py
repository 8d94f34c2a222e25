# SPDX-License-Identifier: GPL-2.0-only
"""Test studies on a Dask cluster: sent files, and workers that die or lack memory."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selftests.lib.processes import await_true
from selftests.lib.programs import BUILD
from selftests.study.test_study import LONG as OTHERS
from selftests.study.test_study import (
    SMALL,
    STUDY,
    find_running_simulations,
    read_result_times,
    run_study,
    run_study_in_test_process,
    run_study_verb_as_json,
    wait_for_results,
    write_study,
)

from approxftl_tools import study_cluster, study_plan

#: Start a scheduler and workers with extra options; return the address and the workers.
Start = Callable[..., tuple[str, list[subprocess.Popen[bytes]]]]
#: A number of requests by which this test finds its own simulations among those of others.
REQUESTS = 999999
ENDLESS = 999999999
LONG = OTHERS.replace("1000000", str(REQUESTS))
CODE = "import sys; from distributed.cli.dask_{} import main; sys.exit(main())"
RECORD = (str(BUILD / "approxftl"), "sim", "--quiet", "--requests=3000")
TRACED = '[base]\ntrace = "Übung a.aft"\n[vary]\npolicy = ["baseline", "vth_b"]\n'


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a local cluster with two workers in another directory."""
    processes = []
    environment = os.environ | {"PATH": f"{BUILD}:{os.environ['PATH']}"}
    (tmp_path / "worker").mkdir()

    def begin_study(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE.format(kind), *arguments, "--no-dashboard"],
            env=environment, cwd=tmp_path / "worker", stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        processes.append(process)
        return process

    def start_cluster_processes(protocol: str = "tcp", common: tuple[str, ...] = (),
                                workers: tuple[str, ...] = ("--nthreads", "1")
                                ) -> tuple[str, list[subprocess.Popen[bytes]]]:
        address = f"{protocol}://127.0.0.1:{20000 + os.getpid() % 20000}"
        begin_study("scheduler", "--host", address, *common)
        return address, [begin_study("worker", address, "--no-nanny", *common, *workers)
                         for _ in range(2)]

    yield start_cluster_processes
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def study_file_with_trace(tmp_path: Path) -> Path:
    subprocess.run([*RECORD, f"--record={tmp_path / 'Übung a.aft'}"], check=True)
    return write_study(tmp_path, TRACED)


def read_folder_contents(root: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in root.glob("*/result.json")}


def make_cluster_task_of_study_point(point: study_plan.Point) -> study_cluster.Task:
    return point.arguments, point.files[0][1], point.files[1:]


def test_workers_use_sent_file_contents(study_file_with_trace: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker uses the file contents that it was sent, not its local file of the same name."""
    point = study_plan.read_study(study_file_with_trace, BUILD / "approxftl").points[0]
    monkeypatch.setenv("PATH", f"{BUILD}:{os.environ['PATH']}")
    name, digest = point.files[1]
    sent = {digest: Path(name).read_bytes()}
    task = study_cluster.make_point_runner_for_workers(0)
    status, out, said, attempts = task(make_cluster_task_of_study_point(point), sent)
    assert (status, said, attempts) == (0, "", 1)
    subprocess.run([*RECORD, "--seed=9", f"--record={name}"], check=True)
    assert task(make_cluster_task_of_study_point(point), sent) == (0, out, "", 1)
    Path(name).unlink()
    assert task(make_cluster_task_of_study_point(point), sent) == (0, out, "", 1)


def test_a_worker_of_another_build_is_refused(study_file_with_trace: Path, tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    point = study_plan.read_study(study_file_with_trace, BUILD / "approxftl").points[0]
    task = study_cluster.make_point_runner_for_workers(0)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert task(make_cluster_task_of_study_point(point),
                {})[2] == "the worker has no approxftl in its PATH"
    (tmp_path / "approxftl").write_text("#!/bin/sh\n")
    (tmp_path / "approxftl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert task(make_cluster_task_of_study_point(point),
                {})[2] == f"the worker's {tmp_path}/approxftl is of another build"


def test_workers_retry_killed_simulations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker retries a simulator that was killed, and one that was interrupted."""
    program = tmp_path / "approxftl"
    program.write_text(f"#!/bin/sh\necho x >>{tmp_path}/tries\ncase $(wc -l <{tmp_path}/tries) in\n"
                       "1) kill -KILL $$ ;;\n2) exit 130 ;;\nesac\necho result\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    task = study_cluster.make_point_runner_for_workers(0)
    assert task(((), study_plan.cached_file_digest(program), ()), {}) == (0, "result\n", "", 3)


@pytest.mark.slow
def test_cluster_results_equal_local_ones(study_file_with_trace: Path, tmp_path: Path,
                                          start_cluster: Start) -> None:
    """The results equal local ones, although workers read no file of the study."""
    address, _ = start_cluster()
    run_study("run", study_file_with_trace, "--scheduler", address, "--results", tmp_path / "there")
    run_study("run", study_file_with_trace, "--results", tmp_path / "here")
    here = read_folder_contents(tmp_path / "here")
    assert len(here) == 2
    assert read_folder_contents(tmp_path / "there") == here
    assert not list((tmp_path / "worker").glob("**/approxftl-*"))


@pytest.mark.long
@pytest.mark.slow
def test_points_of_a_lost_worker_are_run_again(tmp_path: Path, start_cluster: Start) -> None:
    address, workers = start_cluster()
    file = write_study(tmp_path, LONG)
    driver = subprocess.Popen([STUDY, "run", file, "--scheduler", address])
    wait_for_results(tmp_path, 1)
    workers[0].kill()
    assert driver.wait() == 0
    wanted = run_study_and_read_results(file, tmp_path / "here")
    assert read_folder_contents(tmp_path / "study.results") == wanted


def run_study_and_read_results(file: Path, root: Path) -> dict[str, bytes]:
    run_study("run", file, "--results", root)
    return read_folder_contents(root)


@pytest.mark.slow
def test_an_interrupt_ends_all_simulations(tmp_path: Path, start_cluster: Start) -> None:
    """An interrupt of a study ends running and waiting simulations, but no worker."""
    address, workers = start_cluster()
    file = write_study(tmp_path, LONG.replace(str(REQUESTS), str(ENDLESS)))
    driver = subprocess.Popen(["env", "--default-signal=INT", STUDY, "run", file, "--scheduler",
                               address], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    await_true(lambda: len(find_running_simulations(ENDLESS)) == 2)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate()
    assert driver.returncode == 130
    assert b"the same command goes on" in said
    await_true(lambda: not find_running_simulations(ENDLESS))
    time.sleep(1)
    assert not find_running_simulations(ENDLESS)
    assert all(worker.poll() is None for worker in workers)


STARVED = """
[base]
requests = 1000
fill = "random"
[vary]
profile = ["demo", "qlc"]
"""


def test_a_point_over_its_memory_limit_fails(tmp_path: Path) -> None:
    """A failed run of the study has the simulator's error message; other runs are completed."""
    done = run_study("run", write_study(tmp_path, STARVED), "--memory", "52MiB", status=1)
    assert re.search("profile=qlc: .*memory", done.stderr)
    assert len(read_result_times(tmp_path)) == 1
    run_study("run", tmp_path / "study.toml", "--memory", "4GiB", "--retry")
    assert len(read_result_times(tmp_path)) == 2


@pytest.mark.long
@pytest.mark.slow
def test_the_memory_limit_applies_on_workers(tmp_path: Path, start_cluster: Start) -> None:
    """The memory limit applies on workers, whose declared memory limits concurrent runs."""
    address, _ = start_cluster(workers=("--nthreads", "2", "--resources", "memory=100e6"))
    done = run_study("run", write_study(tmp_path, STARVED), "--scheduler", address, "--memory",
                     "52MiB", status=1)
    assert re.search("profile=qlc: .*memory", done.stderr)
    driver = subprocess.Popen([STUDY, "run", write_study(tmp_path, LONG), "--scheduler", address,
                               "--memory", "60MiB"], stdout=subprocess.DEVNULL)
    most = 0
    while driver.poll() is None:
        most = max(most, len(find_running_simulations(REQUESTS)))
        time.sleep(0.02)
    assert driver.returncode == 0
    assert most == 2


def make_certificates(folder: Path) -> Path:
    """Create a certificate authority and a certificate signed by it."""
    folder.mkdir()

    def run_openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    run_openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                "/CN=authority", "-keyout", "authority.pem", "-out", "ca.pem")
    run_openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout",
                "key.pem", "-out", "request.pem")
    run_openssl("x509", "-req", "-days", "2", "-in", "request.pem", "-CA", "ca.pem", "-CAkey",
                "authority.pem", "-CAcreateserial", "-out", "cert.pem")
    return folder


@pytest.mark.long
@pytest.mark.slow
def test_clients_without_a_valid_certificate_are_refused(tmp_path: Path,
                                                         start_cluster: Start) -> None:
    """A client without a certificate, or with one from another authority, is refused."""
    ours, others = make_certificates(tmp_path / "ours"), make_certificates(tmp_path / "others")
    address, _ = start_cluster("tls", ("--tls-ca-file", str(ours / "ca.pem"), "--tls-cert",
                                       str(ours / "cert.pem"), "--tls-key", str(ours / "key.pem")))
    file = write_study(tmp_path, SMALL)
    rows = run_study_verb_as_json("run", file, "--scheduler", address, "--tls", ours)["rows"]
    assert rows == run_study_verb_as_json("run", file, "--results", tmp_path / "here")["rows"]
    for options in (("--tls", others), ()):
        done = run_study("run", file, "--results", tmp_path / "none", "--scheduler", address,
                         *options, status=1)
        assert "no Dask scheduler answers there" in done.stderr.splitlines()[-1]


def test_wrong_tls_options_are_refused(tmp_path: Path) -> None:
    file = write_study(tmp_path, SMALL)
    status, said = run_study_in_test_process("run", file, "--tls", tmp_path)
    assert (status, "without --scheduler" in said) == (2, True)
    status, said = run_study_in_test_process("run", file, "--scheduler", "tls://127.0.0.1:9",
                                                   "--tls", tmp_path)
    assert status == 3
    assert f"{tmp_path}: there is no ca.pem; --tls needs ca.pem, cert.pem, key.pem in it" in said


@pytest.mark.slow
@pytest.mark.in_turn
def test_an_unreachable_cluster_is_reported(tmp_path: Path) -> None:
    done = run_study("run", write_study(tmp_path, SMALL), "--scheduler", "tcp://127.0.0.1:9",
                     status=1)
    assert "no Dask scheduler answers there" in done.stderr.splitlines()[-1]
