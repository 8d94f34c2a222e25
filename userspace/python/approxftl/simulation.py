# SPDX-License-Identifier: GPL-2.0-only
"""Simulated runs: a single run, or many runs with confidence intervals."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from approxftl.chart import Chart, make_chart_of_means
from approxftl.policy import Policy, extract_policy_option
from approxftl.simlib import (
    USAGE,
    Job,
    OptionError,
    RequestLog,
    SimulationWarning,
    command_line_for_c,
    error_of_exit_code,
    lib,
    make_command_line,
)
from approxftl_tools.command import Refusal, simulator_path
from approxftl_tools.measures import compute_result_measures
from approxftl_tools.statistics import Estimate, estimate_mean
from approxftl_tools.study_cluster import Cluster
from approxftl_tools.study_engine import OWN, Engine, Processes
from approxftl_tools.study_plan import cached_file_digest, identify_simulator, make_study_point
from approxftl_tools.study_queue import TIME_LIMIT, JobArray, Queue
from approxftl_tools.study_run import require_point_results
from approxftl_tools.study_store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Requests: a number of generated ones, or (arrival in ns, operation, byte offset, bytes) of each.
Requests: TypeAlias = ("int | Iterable[tuple[int, str | int, int, int]] | NDArray[Any]"
                       " | RequestTable")

#: Begin of the messages that Python repeats as a SimulationWarning
WARNING = "warning: "
OPERATIONS = ("read", "write", "flush", "discard", "write_zeroes")
_NUMBERS = {**{name: i for i, name in enumerate(OPERATIONS)}, "trim": 3}
#: Options whose effect is outside of the run.
_NOT_HERE = ("help", "json", "dry_run", "die_with_parent", "quiet", "progress")


def wait_reasons() -> tuple[str, ...]:
    """Return the names of the reasons why requests wait."""
    names: list[str] = []
    while name := lib.wait_reason_name(len(names)):
        names.append(name.decode())
    return tuple(names)


class RequestTable:
    """The requests of a run in the order of arrival, one numpy array for each column.

    The arrays are the simulator's memory, without a copy, and stay valid without the table.
    """

    #: The columns; times are in ns, waiting is the response time without the chip's work.
    COLUMNS = ("arrival_ns", "op", "lpn", "offset", "bytes", "response_ns", "waiting_ns",
               "class", "queue", "failed", "reason")

    arrival_ns: NDArray[np.uint64]
    #: Index in OPERATIONS
    op: NDArray[np.uint8]
    lpn: NDArray[np.uint32]
    offset: NDArray[np.uint64]
    bytes: NDArray[np.uint64]
    response_ns: NDArray[np.uint64]
    waiting_ns: NDArray[np.uint64]
    queue: NDArray[np.uint8]
    failed: NDArray[np.bool_]
    #: Index in wait_reasons() of the reason that took most of the waiting time; its length: none
    reason: NDArray[np.uint8]

    def __init__(self, columns: Mapping[str, NDArray[Any]], page_bytes: int) -> None:
        self.page_bytes = page_bytes
        self._columns = dict(columns)
        for name, column in columns.items():
            setattr(self, name, column)

    def __len__(self) -> int:
        return len(self._columns["op"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the request table as numpy arrays."""
        return dict(self._columns)

    def to_pandas(self) -> Any:
        """Return the requests as a pandas.DataFrame over the same memory. Operations and reasons
        of waits are categories; a missing value means that the request has no reason.
        """
        pd = importlib.import_module("pandas")

        columns: dict[str, Any] = self.to_dict()
        columns["op"] = pd.Categorical.from_codes(self.op, categories=list(OPERATIONS))
        names = wait_reasons()
        codes = self.reason.astype(np.int8)
        columns["reason"] = pd.Categorical.from_codes(
            np.where(codes < len(names), codes, -1), categories=list(names))
        return pd.DataFrame(columns, copy=False)

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table of the requests; op is an index in OPERATIONS. Only failed is
        copied, as Arrow packs truth values into bits.
        """
        pa = importlib.import_module("pyarrow")

        return pa.table({name: pa.array(column) for name, column in self._columns.items()})

    def to_polars(self) -> Any:
        """Return the requests as a polars.DataFrame; op is an index in OPERATIONS."""
        return importlib.import_module("polars").DataFrame(self.to_dict())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the requests as a Parquet file, by pyarrow; op is an index in OPERATIONS."""
        importlib.import_module("pyarrow.parquet").write_table(self.to_arrow(), path)


#: Types of the columns that are no uint64
_TYPES: dict[str, type[np.generic]] = {"lpn": np.uint32, "op": np.uint8, "class": np.uint8,
                                       "queue": np.uint8, "failed": np.bool_,
                                       "reason": np.uint8}


def _read_request_table(job: Job) -> RequestTable:
    log: RequestLog = lib.job_requests(job.handle).contents
    columns = {}
    for name in RequestTable.COLUMNS:
        kind = np.dtype(_TYPES.get(name, np.uint64))
        if log.count:
            memory = (ctypes.c_char * (log.count * kind.itemsize)).from_address(getattr(log, name))
            memory._job = job  # owns the memory
            columns[name] = np.frombuffer(memory, kind)
        else:
            columns[name] = np.zeros(0, kind)
    return RequestTable(columns, log.unit_bytes)


class Run:
    """The result of one simulated run."""

    def __init__(self, command: list[str], options: Mapping[str, object], json_text: str,
                 messages: Sequence[str] = (), job: Job | None = None) -> None:
        #: The command that prints the same JSON.
        self.command = command
        #: The keyword arguments.
        self.options: dict[str, Any] = dict(options)
        #: Warnings and notes.
        self.messages = list(messages)
        #: The JSON text.
        self.json = json_text
        #: It has the requests.
        self._job = job

    @cached_property
    def document(self) -> dict[str, Any]:
        """The parsed JSON document of the run."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    @cached_property
    def result(self) -> dict[str, Any]:
        """The part of the JSON document with the results of the run."""
        found: dict[str, Any] = self.document["runs"][0]
        return found

    @cached_property
    def summary(self) -> dict[str, float | None]:
        """All measures of the run by name, as in studies; None for a measure without a value."""
        return compute_result_measures(self.result, self.document["geometry"]["unit_bytes"])

    def measure(self, name: str) -> float | None:
        """Return a measure by its name; write_p99 is short for write_response_p99_ns."""
        full = measure_name(name)
        if full not in self.summary:
            raise KeyError(f"no measure {name}; there are {', '.join(self.summary)}")
        return self.summary[full]

    @cached_property
    def requests(self) -> RequestTable:
        """Every request of the stream, the warm-up included."""
        if not self._job:
            raise AttributeError("the requests were not kept: keep_requests=False")
        if not lib.job_requests(self._job.handle).contents.unit_bytes:
            raise AttributeError("the requests of an array or of several shards are not kept")
        return _read_request_table(self._job)

    def __repr__(self) -> str:
        return (f"<Run {self.result['policy']}: {self.result['requests']} requests, write"
                f" amplification {self.summary['write_amplification']}>")


def measure_name(name: str) -> str:
    """Return the full name of a measure, in which "response" and the unit may be left out."""
    kind, _, what = name.partition("_")
    if kind in ("read", "write") and what in ("mean", "p50", "p99", "p99_9", "max"):
        return f"{kind}_response_{what}_ns"
    return name


def _convert_requests_to_columns(requests: Any) -> tuple[NDArray[Any], ...]:
    if isinstance(requests, RequestTable):
        return requests.arrival_ns, requests.op, requests.offset, requests.bytes
    if isinstance(requests, np.ndarray) and requests.dtype.names:
        return tuple(requests[name] for name in ("arrival_ns", "op", "offset", "bytes"))
    rows = [(at, _NUMBERS.get(op, 255) if isinstance(op, str) else op, offset, length)
            for at, op, offset, length in requests]
    return tuple(np.array(rows, np.uint64).reshape(-1, 4).T)


def _write_requests(path: Path, requests: Any) -> None:
    columns = _convert_requests_to_columns(requests)
    kinds = (np.uint64, np.uint8, np.uint64, np.uint64)
    held = [np.ascontiguousarray(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    job = Job()
    job.run_library_call(lambda: lib.write_requests(job.handle, str(path).encode(), len(held[0]),
                                                    *(column.ctypes.data for column in held)))


def _convert_requests_option_to_trace(options: dict[str, object],
                                      folder: str | Path) -> dict[str, object]:
    for name in _NOT_HERE:
        if name in options:
            raise OptionError(f"{name} has no meaning in simulate()", USAGE)
    requests = options.get("requests")
    requests = requests() if callable(requests) else requests
    if requests is None or isinstance(requests, (int, str, np.integer)):
        return options
    if options.get("trace") is not None:
        raise OptionError("requests and trace: the stream has one source", USAGE)
    path = Path(folder) / "requests.aft"
    _write_requests(path, requests)
    # The name of the file depends on its content, so that sweeps may share a directory.
    named = path.with_name(f"requests-{cached_file_digest(path)[:12]}.aft")
    path.replace(named)
    return {**{name: value for name, value in options.items() if name != "requests"},
            "trace": named}


def simulate(*, keep_requests: bool = True, progress: Callable[[int], object] | None = None,
             **options: Any) -> Run:
    """Perform the run of "approxftl sim" with these options.

    Keyword arguments are the command's options and the device's parameters, with underscores:
    policy="baseline", op="7%", write_share=0.5, verify=True. policy= is a name, the path of a
    shared object, or a Policy. requests= is a number, or the requests themselves.
    progress= is called with the number of requests so far, a few times a second.
    """
    run = _simulate_in_job(Job(), options, keep_requests, progress)
    for text in _list_warnings_of_run(run):
        warnings.warn(text, SimulationWarning, 2)
    return run


def _list_warnings_of_run(run: Run) -> list[str]:
    return [line.removeprefix(WARNING) for line in run.messages if line.startswith(WARNING)]


def _simulate_in_job(job: Job, options: dict[str, object], keep_requests: bool,
                     progress: Callable[[int], object] | None) -> Run:
    with tempfile.TemporaryDirectory(prefix="approxftl-") as folder:
        options, policy = extract_policy_option(options)
        line = make_command_line(_convert_requests_option_to_trace(options, folder))
        words = command_line_for_c(line)
        with policy.offer_policy_to_job(job) if policy else nullcontext():
            job.run_library_call(lambda: lib.simulate(job.handle, len(line), words, keep_requests),
                                 progress)
    return Run(line, options, lib.job_json(job.handle).decode(), job.messages_of_library_call,
               job if keep_requests else None)


class Runs(Sequence[Run]):
    """The runs of a sweep, seed by seed for each combination of the axes' values."""

    def __init__(self, axes: Mapping[str, Sequence[object]], runs: Sequence[Run]) -> None:
        #: The values of each axis, the last one being the seed
        self.axes = dict(axes)
        self._runs = list(runs)

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        return self._runs[index]

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each run of the sweep: the values of the axes, then all measures."""
        return [{**{axis: run.options[axis] for axis in self.axes}, **run.summary}
                for run in self._runs]

    def to_pandas(self) -> Any:
        """Return rows() as a pandas.DataFrame."""
        return importlib.import_module("pandas").DataFrame(self.rows())

    def _read_measure_for_each_seed(self, measure: str, by: str,
                                    value: object) -> list[list[float]]:
        """Return, as a list for each seed, a measure of the runs whose axis `by` has `value`."""
        found = [[run.measure(measure) for run in self._runs
                  if run.options[by] == value and run.options["seed"] == seed]
                 for seed in self.axes["seed"]]
        if any(one is None for seed in found for one in seed):
            raise ValueError(f"{measure} has no value in some runs of {by}={value}")
        return [[one for one in seed if one is not None] for seed in found]

    def interval(self, measure: str, by: str, relative_to: object = None) -> dict[Any, Estimate]:
        """Return the 95 % interval of the mean over the seeds, for each value of the axis `by`.

        With relative_to, a value of that axis, the interval is that of the ratio of runs that
        differ in this axis only, so that effects of a seed on both runs cancel. Ratios and values
        of the other axes are averaged for each seed; the interval is Student's t.
        """
        if by not in self.axes or by == "seed":
            raise ValueError(f"{by} is no axis of this sweep; its axes are {', '.join(self.axes)}")
        if relative_to is not None and relative_to not in self.axes[by]:
            raise ValueError(f"{relative_to} is no value of {by}")
        base = None if relative_to is None else self._read_measure_for_each_seed(measure, by,
                                                                                 relative_to)
        if base is not None and any(not one for seed in base for one in seed):
            raise ValueError(f"{measure} is 0 in a run of {by}={relative_to}")
        estimates = {}
        for value in self.axes[by]:
            found = np.array(self._read_measure_for_each_seed(measure, by, value))
            ratios = found if base is None else found / np.array(base)
            estimates[value] = estimate_mean(ratios.mean(axis=1))
        return estimates

    def plot(self, measure: str, x: str, *, by: str | None = None,
             relative_to: object = None) -> Chart:
        """Return a Chart of the means with their confidence intervals over the axis `x`. With
        `by`, the name of another axis, each value of that axis is a series; by default each policy
        is a series, unless relative_to is a value of `x`. relative_to is as in interval(), for `by`
        or else for `x`.
        """
        if x not in self.axes or x == by:
            raise ValueError(f"{x} is no axis of this sweep, or that of `by`; its axes are"
                             f" {', '.join(self.axes)}")
        policies = self.axes.get("policy", ())
        if by is None and x != "policy" and len(policies) > 1 and (
                relative_to is None or relative_to in policies):
            by = "policy"
        if by is None:
            found = [(at, "", one)
                     for at, one in self.interval(measure, x, relative_to).items()]
        else:
            found = [(at, str(series), one) for at in self.axes[x]
                     for series, one in Runs({**self.axes, x: [at]}, [
                         run for run in self._runs if run.options[x] == at])
                     .interval(measure, by, relative_to).items()]
        return make_chart_of_means(measure_name(measure), x, relative_to, found)


def _run_sweep_in_threads(plan: Sequence[dict[str, object]], jobs: int,
                          progress: Callable[[int, int], object] | None) -> list[Run]:
    begun = [Job() for _ in plan]
    with ThreadPoolExecutor(jobs) as pool:
        try:
            waiting = [pool.submit(_simulate_in_job, job, one, False, None)
                       for job, one in zip(begun, plan, strict=True)]
            for count, future in enumerate(as_completed(waiting), 1):
                future.result()
                if progress:
                    progress(count, len(plan))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for job in begun:
                job.stop_library_call()
            raise
    return [future.result() for future in waiting]


def _run_sweep_in_study_engine(plan: Sequence[dict[str, object]], engine: Engine, store: Store,
                               progress: Callable[[int, int], object] | None) -> list[Run]:
    if any(isinstance(one.get("policy"), Policy) for one in plan):
        raise OptionError("policy: one in Python runs in this process only: leave out results,"
                          " scheduler and slurm", USAGE)
    program = identify_simulator(simulator_path())
    named = (extract_policy_option(one)[0] for one in plan)
    points = [make_study_point(program, make_command_line(one)[2:-1]) for one in named]

    def report_progress(ended: int, missing: int) -> None:
        if progress:
            progress(len(plan) - missing + ended, len(plan))

    require_point_results(points, store, engine, tell=report_progress)
    return [Run(["approxftl", "sim", *point.arguments, *OWN], one, store.read_result_text(point))
            for point, one in zip(points, plan, strict=True)]


def sweep(*, seeds: int | Iterable[int] = 8, jobs: int | None = None,
          progress: Callable[[int, int], object] | None = None,
          results: str | os.PathLike[str] | None = None, scheduler: str | None = None,
          slurm: Sequence[str] | None = None, slurm_time: str = "1:00:00",
          **options: Any) -> Runs:
    """Run all combinations of the values of those arguments that are lists, with each seed.

    Further arguments are those of simulate(). `seeds` is a number of seeds, from 1, or the seeds.
    `jobs` runs are performed at a time, one for each processor by default. progress= is called with
    the number of finished runs and the number of all runs.

    The runs are threads of this process. With `results`, a directory, they are processes, as with
    "approxftl study": a run whose result is in the directory is not repeated. `scheduler` is the
    address of a Dask scheduler, whose workers perform the runs. `slurm` has options of sbatch,
    which submits the runs as a job array; `results` is then visible to all nodes.
    """
    if "seed" in options:
        raise OptionError("seed: a sweep has seeds", USAGE)
    numbers = range(1, seeds + 1) if isinstance(seeds, int) else seeds
    axes: dict[str, list[object]] = {
        name: list(value) for name, value in options.items()
        if name != "requests" and isinstance(value, (list, tuple, range))}
    axes["seed"] = list(numbers)
    for name, values in axes.items():
        if not values:
            raise OptionError(f"{name}: the list of its values is empty", USAGE)
    plan = [{**options, **dict(zip(axes, values, strict=True))}
            for values in itertools.product(*axes.values())]
    for name, values in axes.items():
        axes[name] = [one.name if isinstance(one, Policy) else one for one in values]
        if len({*map(str, axes[name])}) < len(values):
            raise OptionError(f"{name}: a value is there twice", USAGE)
    if not TIME_LIMIT.fullmatch(slurm_time):
        raise OptionError(f'slurm_time: "{slurm_time}" is not a time such as 1:00:00', USAGE)
    if slurm is not None and (results is None or scheduler):
        raise OptionError("slurm: name the directory of the results, and no scheduler", USAGE)
    jobs = jobs or os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="approxftl-") as folder:
        store = Store(Path(folder if results is None else results).absolute())
        try:
            store.create_result_directory()
            # One file for all runs: requests= may be a generator.
            traced = _convert_requests_option_to_trace(options, store.root)
            traces = {"requests": None, "trace": traced["trace"]} if traced is not options else {}
            with_trace = [one | traces for one in plan]
            if results is None and scheduler is None:
                runs = _run_sweep_in_threads(with_trace, jobs, progress)
            else:
                engine: Engine = Processes(simulator_path(), jobs)
                if scheduler:
                    engine = Cluster(simulator_path(), scheduler)
                if slurm is not None:
                    queue = Queue("sweep", store.root / "sweep.sh", 1, slurm_time)
                    engine = JobArray(queue, store, slurm)
                runs = _run_sweep_in_study_engine(with_trace, engine, store, progress)
        except Refusal as refusal:
            raise error_of_exit_code(str(refusal), refusal.status) from None
    warned = [found for run in runs if (found := _list_warnings_of_run(run))]
    if warned:
        warnings.warn(f"{len(warned)} of {len(runs)} runs have warnings, which `messages` of each"
                      f" run lists; the first: {warned[0][0]}", SimulationWarning, 2)
    for run, one in zip(runs, plan, strict=True):
        run.options = {name: value.name if isinstance(value, Policy) else value
                       for name, value in one.items()}
    return Runs(axes, runs)
