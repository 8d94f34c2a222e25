# SPDX-License-Identifier: GPL-2.0-only
"""Read fio's JSON output: each load with its parameters and the measured values."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from approxftl_tools.command import CLAIMS, Refusal, refuse_malformed_documents
from approxftl_tools.refusal import convert_read_errors_to_refusal

Json = dict[str, Any]

#: I/O engines that ignore iodepth and have one request in flight.
ONE_BY_ONE = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
#: The access order of each of fio's rw modes.
ORDERS = {"read": "sequential", "write": "sequential", "rw": "sequential",
          "readwrite": "sequential", "randread": "random", "randwrite": "random",
          "randrw": "random"}
SUFFIXES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
#: Percentiles that are used, with fio's keys; the output may lack some.
PERCENTILES = {"p50": "50.000000", "p90": "90.000000",
               "p99": "99.000000"}
#: Limits in bytes: granularity of requests (the simulator's unit), size of a request and of a
#: stride, which must fit a small device. The last is the largest queue depth.
GRAIN, LONGEST, FARTHEST, DEEPEST = 4096, 16 << 20, 256 << 20, 4096
#: A drive counts as empty if less than this share was written.
HARDLY = 0.01
#: Share of the capacity that may be written after the fill without changing what strides show. The
#: fit repeats the fill before a load, but not the bursts and single writes after the fill.
MOVED = 0.02
#: Upper limit of plausible measured values.
MOST = 1e18
#: Least number of requests for a percentile.
RESTS_ON = {"p50": 50, "p90": 200, "p99": 2000}


@dataclass(frozen=True)
class State:
    """A drive's preconditioning: shares of its capacity written sequentially and at random."""

    filled: float = 1.0
    overwritten: float = 0.0
    #: Share of the capacity that jobs other than the fill have written in order.
    bursts: float = 0.0
    #: Queue depth and request size of the job that filled the drive; 0 if it is not known.
    fill_depth: int = 0
    fill_size: int = 0


@dataclass(frozen=True)
class Figure:
    """A measured value in microseconds, or in requests per second."""

    kind: str
    what: str
    value: float

    def fio_figure_name(self) -> str:
        return f"{self.kind} {self.what}"


@dataclass(frozen=True)
class Measured:
    """The load of one fio job, or of jobs that ran together, and the measured values."""

    name: str
    path: Path
    order: str
    #: Share of writes among the requests.
    writes: float
    size: int
    #: Queue depth, or the arrival rate (1/s), at fixed or Poisson distances.
    depth: int
    rate: float = 0.0
    poisson: bool = False
    #: Bytes from one sequential request to the next; 0 if they are adjacent.
    stride: int = 0
    #: Rate (1/s) and request size of a writer beside it.
    beside_rate: float = 0.0
    beside_size: int = 0
    bytes: int = 0
    before: State = State()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Unused:
    """A fio job that cannot be used, and the reason."""

    name: str
    path: Path
    why: str


@dataclass
class Output:
    """All loads that fio's output files describe."""

    loads: list[Measured] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    #: Capacity of the drive in bytes; 0 if unknown.
    capacity: int = 0


# ---------------------------------------------------------------- options of a job


def parse_fio_size(text: str) -> int:
    """Parse a size as fio does: "k" is 1024."""
    found = re.fullmatch(r"(\d+)([kmgtp]?)(i?b?)", text.strip().lower())
    if not found:
        raise ValueError(f'"{text}" is no size')
    return int(found[1]) * (1 << 10 * SUFFIXES[found[2]])


def parse_plausible_measurement(found: Any) -> float:
    """Return a value from fio's output as a number; raise ValueError if it is implausible."""
    value = float(found)
    if not 0 <= value <= MOST:
        raise ValueError(f"{found} is nothing that was measured")
    return value


class Options:
    """Return the options of a fio job, which override those of its [global] section."""

    def __init__(self, document: Json, job: Json) -> None:
        self.all: dict[str, str] = {**document.get("global options", {}),
                                    **job.get("job options", {})}

    def find_fio_option_value(self, *names: str, usual: str = "") -> str:
        """Return the value of the first named option that the fio job has, or the default."""
        for name in names:
            if name in self.all:
                # An option without a value is switched on.
                return self.all[name] or "1"
        return usual

    def get_read_value_of_fio_option(self, *names: str, usual: str) -> str:
        """Return the first value, for reads, of an option with values for reads and writes."""
        return self.find_fio_option_value(*names, usual=usual).split(",")[0]

    def option_as_integer(self, name: str, usual: int = 1) -> int:
        return int(self.find_fio_option_value(name, usual=str(usual)))

    def parse_access_pattern_of_job(self) -> tuple[str, int]:
        """Return the rw mode of a job, and the bytes that the job skips after each request."""
        word, _, hole = self.find_fio_option_value("rw", "readwrite",
                                                   usual="read").partition(":")
        return word, parse_fio_size(hole) if hole and not word.startswith("rand") else 0

    def request_size_bytes(self) -> int:
        return parse_fio_size(self.get_read_value_of_fio_option("bs", "blocksize", usual="4k"))

    def compute_fio_queue_depth(self) -> int:
        return 1 if self.find_fio_option_value("ioengine", usual="psync") in ONE_BY_ONE \
            else self.option_as_integer("iodepth")

    def compute_fio_arrival_rate(self) -> float:
        """Return the arrival rate (1/s) of one process; 0 if it is unlimited."""
        asked = self.get_read_value_of_fio_option("rate_iops", usual="0")
        if asked and asked != "0":
            return float(parse_fio_size(asked))
        volume = self.get_read_value_of_fio_option("rate", usual="0")
        return parse_fio_size(volume) / self.request_size_bytes() if volume not in ("",
                                                                                    "0") else 0.0


# ---------------------------------------------------------------- jobs


@dataclass(frozen=True)
class Job:
    """One job's entry in fio's JSON output."""

    path: Path
    group: int
    name: str
    options: Options
    data: Json

    def completed_fio_requests(self, kind: str) -> int:
        return int(parse_plausible_measurement(self.data[kind]["total_ios"]))

    def completed_fio_bytes(self, kind: str) -> int:
        return int(parse_plausible_measurement(self.data[kind]["io_bytes"]))

    def does_job_fill_drive(self) -> bool:
        """Tell whether the job writes the whole drive once sequentially."""
        bounds = ("io_size", "io_limit", "number_ios", "runtime", "rate", "rate_iops")
        return self.options.parse_access_pattern_of_job() == ("write", 0) and \
            not any(self.options.find_fio_option_value(name) for name in bounds)

    def reason_job_is_unusable(self) -> str:
        """Return the reason why the job cannot be used; empty if the job can be used."""
        word, _ = self.options.parse_access_pattern_of_job()
        if self.data.get("error"):
            return f"ended with error {self.data['error']}"
        if word not in ORDERS:
            return f"rw={word} is not looked at"
        if self.options.find_fio_option_value("direct", usual="0") != "1":
            return "direct=1 is missing, so that most was done in the host's memory"
        if not self.completed_fio_requests("read") + self.completed_fio_requests("write"):
            return "has done nothing"
        if not any(parse_plausible_measurement(self.data[kind]["clat_ns"]["N"])
                   for kind in ("read", "write")):
            return "fio was told to measure no latencies"
        return self.reason_request_sizes_are_unusable() or self.reason_pattern_is_unusable()

    def reason_request_sizes_are_unusable(self) -> str:
        """Return the reason why a job's request sizes or rates are unusable; empty if usable."""
        options, size = self.options, self.options.request_size_bytes()
        if any(options.find_fio_option_value(name)
               for name in ("bssplit", "bsrange", "blocksize_range")) or \
                len(set(options.find_fio_option_value("bs", "blocksize").split(","))) > 1:
            return "has requests of several lengths"
        if size % GRAIN or not GRAIN <= size <= LONGEST:
            return f"requests of {size} bytes are not looked at, but whole 4 KiB up to 16 MiB"
        if not 1 <= options.compute_fio_queue_depth() <= DEEPEST or \
                not 0 <= options.compute_fio_arrival_rate() < 1e9 or \
                not 1 <= options.option_as_integer("numjobs") <= DEEPEST:
            return "that many requests are not looked at"
        pause = options.find_fio_option_value("thinktime", usual="0")
        return "pauses between requests" if pause != "0" else ""

    def reason_pattern_is_unusable(self) -> str:
        """Return the reason why a job's access pattern is unusable; empty if it is usable."""
        word, hole = self.options.parse_access_pattern_of_job()
        stride = self.options.request_size_bytes() + hole
        if ORDERS[word] == "random" or (word, hole) == ("write", 0):
            return ""
        if word != "read":
            return "reads between writes in order, or holes between them, are not looked at"
        if not hole:
            return "reads in order meet read-ahead, which is not calibrated"
        return "" if stride % self.options.request_size_bytes() == 0 and stride <= FARTHEST else \
            "its stride is not whole requests up to 256 MiB"


def list_measured_figures_of_fio_jobs(jobs: Sequence[Job]) -> Iterator[Figure]:
    """Yield the values that fio measured for processes of the same job."""
    for kind in ("read", "write"):
        parts = [job.data[kind] for job in jobs if job.completed_fio_requests(kind)]
        counts = [int(parse_plausible_measurement(part["clat_ns"]["N"])) for part in parts]
        if not sum(counts):
            continue
        yield Figure(kind, "rate", sum(parse_plausible_measurement(part["iops"]) for part in parts))

        def average_latency_over_processes(values: Sequence[float],
                                           weights: Sequence[int] = tuple(counts)) -> float:
            total = sum(weights)
            return sum(v * w for v, w in zip(values, weights, strict=True)) / total / 1e3

        means = [parse_plausible_measurement(part["clat_ns"]["mean"]) for part in parts]
        yield Figure(kind, "mean", average_latency_over_processes(means))
        for what, name in PERCENTILES.items():
            found = [part["clat_ns"].get("percentile", {}).get(name) for part in parts]
            if sum(counts) >= RESTS_ON[what] and None not in found:
                yield Figure(kind, what,
                             average_latency_over_processes([parse_plausible_measurement(value)
                                                             for value in found]))


def get_load_of_fio_process(jobs: Sequence[Job]) -> Measured:
    """Return the load of processes that ran the same job."""
    job, options = jobs[0], jobs[0].options
    # With group_reporting fio reports all processes as one entry.
    processes = max(len(jobs), options.option_as_integer("numjobs"))
    word, hole = options.parse_access_pattern_of_job()
    size, rate = options.request_size_bytes(), options.compute_fio_arrival_rate()
    writes, reads = (sum(each.completed_fio_requests(kind) for each in jobs)
                     for kind in ("write", "read"))
    return Measured(job.name, job.path, ORDERS[word], writes / (reads + writes), size,
                    processes * options.compute_fio_queue_depth(), rate * processes,
                    options.find_fio_option_value("rate_process") == "poisson",
                    size + hole if hole else 0,
                    bytes=sum(each.completed_fio_bytes(kind) for each in jobs
                              for kind in ("read", "write")),
                    figures=tuple(figure for figure in list_measured_figures_of_fio_jobs(jobs)
                                  if figure.value > 0))


def get_load_of_reads_during_sequential_write(loads: Sequence[Measured]) -> Measured | None:
    """Return the load of reads beside a sequential writer; None for any other pair of loads."""
    readers = [load for load in loads if load.writes == 0]
    writers = [load for load in loads if load.writes == 1]
    if len(loads) != 2 or not readers or not writers or writers[0].order != "sequential":
        return None
    # Use the achieved rate of the writer: the drive may not reach the requested one.
    (done,) = (figure.value for figure in writers[0].figures if figure.what == "rate")
    return replace(readers[0], beside_rate=done, beside_size=writers[0].size)


def get_load_of_fio_job_group(jobs: Sequence[Job]) -> Measured | Unused:
    """Return jobs that ran together as one load, or the reason why they cannot be used."""
    by_name = {name: list(same) for name, same in
               groupby(sorted(jobs, key=lambda job: job.name), key=lambda job: job.name)}
    for job in jobs:
        if job.reason_job_is_unusable():
            return Unused(job.name, job.path, job.reason_job_is_unusable())
    loads = [get_load_of_fio_process(same) for same in by_name.values()]
    silent = [load for load in loads if not load.figures]
    if silent:
        return Unused(silent[0].name, silent[0].path, "fio has measured nothing of it")
    both = loads[0] if len(loads) == 1 else get_load_of_reads_during_sequential_write(loads)
    return both or Unused(" and ".join(by_name), jobs[0].path,
                          "ran at once, and are not reads beside writes in order")


# ---------------------------------------------------------------- files


def parse_fio_document(path: Path) -> Json:
    """Return a file's JSON document; skip warnings that fio may have written before it."""
    with convert_read_errors_to_refusal(path):
        text = path.read_text("utf-8", errors="replace")
    begin = re.search(r"^\{", text, re.MULTILINE)
    if not begin:
        raise Refusal(f"{path}: no JSON; fio writes it with --output-format=json")
    try:
        document: Json = json.JSONDecoder().raw_decode(text[begin.start():])[0]
    except ValueError as error:
        raise Refusal(f"{path}: no whole JSON: {error}; was fio interrupted?") from error
    if "fio version" not in document or not isinstance(document.get("jobs"), list):
        raise Refusal(f"{path}: JSON, but not fio's")
    return document


class History:
    """The state of the drive, derived from the jobs that ran so far."""

    def __init__(self, capacity: int, jobs: Sequence[Job]) -> None:
        volumes = [job.completed_fio_bytes("write") for job in jobs if job.does_job_fill_drive()]
        self.capacity = capacity or max(volumes, default=0)
        # A drive that is read before any write is assumed to be full.
        self.filled, self.overwritten = self.capacity, 0
        self.bursts = 0
        self.fill_depth, self.fill_size = 0, 0

    def get_drive_state_before_job(self, jobs: Sequence[Job]) -> State:
        """Return the drive's state before the given jobs, the first of which may fill the drive."""
        if any(job.does_job_fill_drive() for job in jobs):
            return State(0.0)
        if not self.capacity:
            return State()
        return State(min(1.0, self.filled / self.capacity), self.overwritten / self.capacity,
                     self.bursts / self.capacity, self.fill_depth, self.fill_size)

    def update_drive_state_with_jobs(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if ORDERS.get(job.options.parse_access_pattern_of_job()[0]) == "random":
                self.overwritten += job.completed_fio_bytes("write")
            elif job.does_job_fill_drive():
                self.filled, self.overwritten = job.completed_fio_bytes("write"), 0
                self.bursts = 0
                self.fill_depth = job.options.compute_fio_queue_depth()
                self.fill_size = job.options.request_size_bytes()
            else:
                self.bursts += job.completed_fio_bytes("write")


def add_load_if_drive_state_is_known(output: Output, history: History, load: Measured,
                                     jobs: Sequence[Job]) -> None:
    """Add a load; it is unusable if the state of the drive before the load is unknown."""
    before = history.get_drive_state_before_job(jobs)
    if load.writes and load.order == "random" and not history.capacity:
        output.unused.append(Unused(load.name, load.path, "how full the drive was is not known: "
                                    "give the output of the job that filled it, or --capacity"))
    elif load.writes < 1 and before.filled < HARDLY:
        output.unused.append(Unused(load.name, load.path, "hardly anything was there to be read"))
    elif load.stride and before.overwritten + before.bursts > MOVED:
        output.unused.append(Unused(load.name, load.path, "writes after the fill have moved data "
                                    "that its strides show: run it before them"))
    else:
        output.loads.append(replace(load, before=before))


def read_fio_files(paths: Sequence[Path], capacity: int = 0) -> Output:
    """Read fio's output files in the order in which their jobs ran."""
    output = Output()
    documents = {}
    for path in paths:
        CLAIMS.claim_input(path)
        documents[path] = parse_fio_document(path)
    with refuse_malformed_documents(paths):
        ordered = sorted(documents, key=lambda path: int(documents[path]["timestamp"]))
        jobs = {path: [Job(path, int(job["groupid"]), str(job["jobname"]),
                           Options(documents[path], job), job) for job in documents[path]["jobs"]]
                for path in ordered}
        history = History(capacity, [job for path in ordered for job in jobs[path]])
        output.capacity = history.capacity
        for path in ordered:
            for _, group in groupby(jobs[path], key=lambda job: job.group):
                at_once = list(group)
                found = get_load_of_fio_job_group(at_once)
                if isinstance(found, Unused):
                    output.unused.append(found)
                else:
                    add_load_if_drive_state_is_known(output, history, found, at_once)
                history.update_drive_state_with_jobs(at_once)
    return output
