# SPDX-License-Identifier: GPL-2.0-only
"""Run the points of a study on the workers of a Dask cluster.

The files of a point are sent to its worker by content, so that a worker needs only the approxftl
program.
"""

import contextlib
import hashlib
import importlib
import json
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from approxftl_tools.command import FAILED, INTERRUPTED, NOT_FOUND, Refusal
from approxftl_tools.study_engine import OWN, Outcome, outcome_of_simulator_process
from approxftl_tools.study_plan import ATTEMPTS, Point

#: Name of the Dask resource that limits memory (dask worker --resources "memory=16e9").
MEMORY = "memory"
#: Files in the folder of --tls.
TLS = ("ca.pem", "cert.pem", "key.pem")
#: Interval at which a worker checks whether its point was cancelled.
ASKED_S = 0.2
#: Seconds to wait for the first worker, which tells whether workers declare memory.
WORKERS_S = 5
#: Arguments of a point, digest of the program, names and digests of the files.
Task = tuple[Sequence[str], str, Sequence[tuple[str, str]]]
#: What a worker returns for a point: exit status, stdout, stderr, number of attempts.
Ended = tuple[int, str, str, int]


def make_point_runner_for_workers(memory: int) -> Callable[[Task, dict[str, bytes]], Ended]:
    """Return the function with which a worker runs a point without approxftl_tools installed."""
    attempts_most, own, interrupted, often = ATTEMPTS, OWN, INTERRUPTED, ASKED_S

    def find_dask_worker_folder() -> tuple[Path, Callable[[], bool]]:
        """Return the Dask worker's folder, and a function that is false for a cancelled point."""
        try:
            worker_of = importlib.import_module("distributed.worker")
            worker, key = worker_of.get_worker(), worker_of.thread_state.key
        except (ImportError, ValueError, AttributeError):
            return Path(tempfile.gettempdir()), lambda: True

        def is_worker_point_still_scheduled() -> bool:
            state = worker.state.tasks.get(key)
            return state is not None and state.state != "cancelled"
        return Path(worker.local_directory), is_worker_point_still_scheduled

    def worker_file_digest(path: Path) -> str:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def quote_worker_path(name: str) -> str:
        return json.dumps(name, ensure_ascii=False)[1:-1]

    def run_program_on_worker_once(words: Sequence[str],
                                   wanted: Callable[[], bool]) -> tuple[int, str, str]:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8",
                              errors="surrogateescape") as process:
            if memory:
                resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    out, err = process.communicate(timeout=often)
                    return process.returncode, out, err
                if not wanted():
                    process.kill()

    def run_program_until_end(words: Sequence[str], wanted: Callable[[], bool]) -> Ended:
        attempts = 0
        while True:
            attempts += 1
            status, out, err = run_program_on_worker_once(words, wanted)
            if 0 <= status != interrupted or attempts == attempts_most or not wanted():
                return status, out, err, attempts

    def run_worker_task(task: Task, contents: dict[str, bytes]) -> Ended:
        arguments, digest, files = task
        program = shutil.which("approxftl")
        if program is None:
            return 1, "", "the worker has no approxftl in its PATH", 1
        if worker_file_digest(Path(program)) != digest:
            return 1, "", f"the worker's {program} is of another build", 1
        place, wanted = find_dask_worker_folder()
        with tempfile.TemporaryDirectory(dir=place, prefix="approxftl-") as folder:
            words, names = [program, "sim", *arguments, *own], []
            for number, (name, wanted_digest) in enumerate(files):
                copy = Path(folder) / f"{number}-{Path(name).name}"
                copy.write_bytes(contents[wanted_digest])
                words = [word.replace(f"={name}", f"={copy}") if word.endswith(f"={name}") else word
                         for word in words]
                names.append((quote_worker_path(str(copy)), quote_worker_path(name)))
            status, out, err, attempts = run_program_until_end(words, wanted)
        for copied, named in names:
            out, err = out.replace(copied, named), err.replace(copied, named)
        return status, out, err, attempts
    return run_worker_task


@dataclass
class Cluster:
    """An engine that uses the workers of a Dask scheduler."""

    program: Path
    address: str
    #: Bytes of memory for each point; 0 for no limit.
    memory: int = 0
    #: Folder of the certificates; None for Dask's own configuration.
    tls: Path | None = None
    dask: Any = None
    client: Any = None
    futures: dict[Any, Point] = field(default_factory=dict)

    def make_tls_settings(self) -> Any:
        """Return the TLS settings of the connection to the scheduler; None without --tls."""
        if self.tls is None:
            return None
        missing = [name for name in TLS if not (self.tls / name).is_file()]
        if missing:
            raise Refusal(f"{self.tls}: there is no {missing[0]}; --tls needs {', '.join(TLS)} "
                          "in it", NOT_FOUND)
        authority, certificate, key = (str(self.tls / name) for name in TLS)
        return self.dask.Security(tls_ca_file=authority, tls_client_cert=certificate,
                                  tls_client_key=key, require_encryption=True)

    def worker_memory_of_point(self) -> dict[str, float]:
        """Return the memory that a point asks of a worker; empty if no worker declares memory."""
        if not self.memory:
            return {}
        with contextlib.suppress(TimeoutError):
            self.client.wait_for_workers(1, timeout=WORKERS_S)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if any(MEMORY in worker["resources"] for worker in workers):
            return {MEMORY: float(self.memory)}
        return {}

    def send_files_to_workers(self, points: Sequence[Point]) -> dict[str, Any]:
        """Send each file's content to the workers once, by its digest; refuse a changed file."""
        contents: dict[str, Any] = {}
        for name, digest in {file for point in points for file in point.files[1:]}:
            if digest in contents:
                continue
            content = Path(name).read_bytes()
            if hashlib.sha256(content).hexdigest() != digest:
                raise Refusal(f"{name} has changed since the study began")
            contents[digest] = self.client.scatter(content, hash=False, broadcast=True)
        return contents

    def run_all_points(self, points: Sequence[Point]) -> Iterator[Outcome]:
        """Run all points, and yield each outcome as the point ends."""
        if not points:
            return
        try:
            self.dask = importlib.import_module("distributed")
        except ImportError as error:
            raise Refusal("--scheduler needs the Python package distributed: "
                          "pip install distributed", FAILED) from error
        try:
            self.client = self.dask.Client(self.address, timeout="5s",
                                           security=self.make_tls_settings())
        except (OSError, ValueError, TypeError, TimeoutError) as error:
            raise Refusal(f"{self.address}: no Dask scheduler answers there ({error}); "
                          '"dask scheduler" and "dask worker" start one') from error
        task, share, contents = make_point_runner_for_workers(
            self.memory), self.worker_memory_of_point(), self.send_files_to_workers(points)
        for point in points:
            needed = {digest: contents[digest] for _, digest in point.files[1:]}
            future = self.client.submit(
                task, (point.arguments, point.files[0][1], point.files[1:]), needed, pure=False,
                retries=ATTEMPTS - 1, resources=share)
            self.futures[future] = point
        for future in self.dask.as_completed(list(self.futures)):
            yield self.get_outcome_of_worker_future(self.futures.pop(future), future)

    def get_outcome_of_worker_future(self, point: Point, future: Any) -> Outcome:
        error = future.exception()
        if error is not None:
            return Outcome(point, None, f"the cluster lost it: {error}")
        return outcome_of_simulator_process(point, *future.result())

    def stop_all_points(self) -> None:
        """Cancel all points; the workers kill the running simulators."""
        if self.client is not None:
            with contextlib.suppress(Exception):
                self.client.cancel(list(self.futures), force=True)
            self.client.close()
