# SPDX-License-Identifier: GPL-2.0-only
"""What fio has measured, as JSON: each load with what describes it and what came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from approxftl_tools.command import CLAIMS, Refusal, understanding
from approxftl_tools.refusal import reading

Json = dict[str, Any]

#: Engines that have one request under way, whatever iodepth says.
ONE_BY_ONE = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
#: fio's names of what a job does, with what it is in order.
ORDERS = {"read": "sequential", "write": "sequential", "rw": "sequential",
          "readwrite": "sequential", "randread": "random", "randwrite": "random",
          "randrw": "random"}
SUFFIXES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
#: Percentiles that are looked at, as fio spells them; what it was told to print may lack some.
PERCENTILES = {"p50": "50.000000", "p90": "90.000000",
               "p99": "99.000000"}
#: Of requests and strides: what the simulator's units are, and what fits into a small device.
GRAIN, LONGEST, FARTHEST, DEEPEST = 4096, 16 << 20, 256 << 20, 4096
#: A drive of which a smaller share was written is empty.
HARDLY = 0.01
#: Beyond this nothing of a drive is.
MOST = 1e18
#: Requests that a percentile rests on at least.
RESTS_ON = {"p50": 50, "p90": 200, "p99": 2000}


@dataclass(frozen=True)
class State:
    """What was written before: shares of the capacity, in order and at random."""

    filled: float = 1.0
    overwritten: float = 0.0


@dataclass(frozen=True)
class Figure:
    """A number that was measured: microseconds, or requests in a second."""

    kind: str
    what: str
    value: float

    def name(self) -> str:
        """Return it for a person."""
        return f"{self.kind} {self.what}"


@dataclass(frozen=True)
class Measured:
    """A load, that of one job or of jobs that ran at once, and what came of it."""

    name: str
    path: Path
    order: str
    #: Writes among reads and writes.
    writes: float
    size: int
    #: Requests under way, or so many begun in a second, at fixed or random distances.
    depth: int
    rate: float = 0.0
    poisson: bool = False
    #: From one request in order to the next; 0: none lie between.
    stride: int = 0
    #: Of a writer beside it: requests in a second, and their length.
    beside_rate: float = 0.0
    beside_size: int = 0
    bytes: int = 0
    before: State = State()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Unused:
    """A job that says nothing here, and why."""

    name: str
    path: Path
    why: str


@dataclass
class Output:
    """Everything in some files."""

    loads: list[Measured] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    #: Of the drive, in bytes; 0: not known.
    capacity: int = 0


# ---------------------------------------------------------------- options of a job


def number(text: str) -> int:
    """Return bytes as fio reads them: "k" is 1024."""
    found = re.fullmatch(r"(\d+)([kmgtp]?)(i?b?)", text.strip().lower())
    if not found:
        raise ValueError(f'"{text}" is no size')
    return int(found[1]) * (1 << 10 * SUFFIXES[found[2]])


def amount(found: Any) -> float:
    """Return what fio has measured, if a drive can have done that."""
    value = float(found)
    if not 0 <= value <= MOST:
        raise ValueError(f"{found} is nothing that was measured")
    return value


class Options:
    """Options of a job, those of [global] behind its own."""

    def __init__(self, document: Json, job: Json) -> None:
        self.all: dict[str, str] = {**document.get("global options", {}),
                                    **job.get("job options", {})}

    def get(self, *names: str, usual: str = "") -> str:
        """Return the first of these that is given."""
        for name in names:
            if name in self.all:
                # An option without a value is one that is switched on.
                return self.all[name] or "1"
        return usual

    def first(self, *names: str, usual: str) -> str:
        """Return the part for reads of an option that tells these from writes."""
        return self.get(*names, usual=usual).split(",")[0]

    def count(self, name: str, usual: int = 1) -> int:
        """Return a plain number."""
        return int(self.get(name, usual=str(usual)))

    def pattern(self) -> tuple[str, int]:
        """Return what the job does, and the bytes that it leaves out each time."""
        word, _, hole = self.get("rw", "readwrite", usual="read").partition(":")
        return word, number(hole) if hole and not word.startswith("rand") else 0

    def size(self) -> int:
        """Return the length of a request."""
        return number(self.first("bs", "blocksize", usual="4k"))

    def depth(self) -> int:
        """Return the requests that one process has under way."""
        return 1 if self.get("ioengine", usual="psync") in ONE_BY_ONE else self.count("iodepth")

    def rate(self) -> float:
        """Return the requests that one process begins in a second; 0: as many as it can."""
        asked = self.first("rate_iops", usual="0")
        if asked and asked != "0":
            return float(number(asked))
        volume = self.first("rate", usual="0")
        return number(volume) / self.size() if volume not in ("", "0") else 0.0


# ---------------------------------------------------------------- jobs


@dataclass(frozen=True)
class Job:
    """One entry of the output."""

    path: Path
    group: int
    name: str
    options: Options
    data: Json

    def done(self, kind: str) -> int:
        """Return the requests of a kind."""
        return int(amount(self.data[kind]["total_ios"]))

    def volume(self, kind: str) -> int:
        """Return the bytes of a kind."""
        return int(amount(self.data[kind]["io_bytes"]))

    def fills(self) -> bool:
        """Tell whether the job writes everything once, in order."""
        bounds = ("io_size", "io_limit", "number_ios", "runtime", "rate", "rate_iops")
        return self.options.pattern() == ("write", 0) and \
            not any(self.options.get(name) for name in bounds)

    def wrong(self) -> str:
        """Return why nothing can be told from it; empty if it can."""
        word, _ = self.options.pattern()
        if self.data.get("error"):
            return f"ended with error {self.data['error']}"
        if word not in ORDERS:
            return f"rw={word} is not looked at"
        if self.options.get("direct", usual="0") != "1":
            return "direct=1 is missing, so that most was done in the host's memory"
        if not self.done("read") + self.done("write"):
            return "has done nothing"
        if not any(amount(self.data[kind]["clat_ns"]["N"]) for kind in ("read", "write")):
            return "fio was told to measure no latencies"
        return self.wrong_shape() or self.wrong_order()

    def wrong_shape(self) -> str:
        """Return what is wrong with its requests."""
        options, size = self.options, self.options.size()
        if any(options.get(name) for name in ("bssplit", "bsrange", "blocksize_range")) or \
                len(set(options.get("bs", "blocksize").split(","))) > 1:
            return "has requests of several lengths"
        if size % GRAIN or not GRAIN <= size <= LONGEST:
            return f"requests of {size} bytes are not looked at, but whole 4 KiB up to 16 MiB"
        if not 1 <= options.depth() <= DEEPEST or not 0 <= options.rate() < 1e9 or \
                not 1 <= options.count("numjobs") <= DEEPEST:
            return "that many requests are not looked at"
        return "pauses between requests" if options.get("thinktime", usual="0") != "0" else ""

    def wrong_order(self) -> str:
        """Return what is wrong with the places of its requests."""
        word, hole = self.options.pattern()
        stride = self.options.size() + hole
        if ORDERS[word] == "random" or (word, hole) == ("write", 0):
            return ""
        if word != "read":
            return "reads between writes in order, or holes between them, are not looked at"
        if not hole:
            return "reads in order meet read-ahead, which is not calibrated"
        return "" if stride % self.options.size() == 0 and stride <= FARTHEST else \
            "its stride is not whole requests up to 256 MiB"


def figures_of(jobs: Sequence[Job]) -> Iterator[Figure]:
    """Return what was measured of processes that did the same."""
    for kind in ("read", "write"):
        parts = [job.data[kind] for job in jobs if job.done(kind)]
        counts = [int(amount(part["clat_ns"]["N"])) for part in parts]
        if not sum(counts):
            continue
        yield Figure(kind, "rate", sum(amount(part["iops"]) for part in parts))

        def mean(values: Sequence[float], weights: Sequence[int] = tuple(counts)) -> float:
            total = sum(weights)
            return sum(v * w for v, w in zip(values, weights, strict=True)) / total / 1e3

        yield Figure(kind, "mean", mean([amount(part["clat_ns"]["mean"]) for part in parts]))
        for what, name in PERCENTILES.items():
            found = [part["clat_ns"].get("percentile", {}).get(name) for part in parts]
            if sum(counts) >= RESTS_ON[what] and None not in found:
                yield Figure(kind, what, mean([amount(value) for value in found]))


def load_of(jobs: Sequence[Job]) -> Measured:
    """Return the load of processes that did the same."""
    job, options = jobs[0], jobs[0].options
    # Processes that are reported together are one entry.
    processes = max(len(jobs), options.count("numjobs"))
    word, hole = options.pattern()
    size, rate = options.size(), options.rate()
    writes, reads = (sum(each.done(kind) for each in jobs) for kind in ("write", "read"))
    return Measured(job.name, job.path, ORDERS[word], writes / (reads + writes), size,
                    processes * options.depth(), rate * processes,
                    options.get("rate_process") == "poisson", size + hole if hole else 0,
                    bytes=sum(each.volume(kind) for each in jobs for kind in ("read", "write")),
                    figures=tuple(figure for figure in figures_of(jobs) if figure.value > 0))


def beside(loads: Sequence[Measured]) -> Measured | None:
    """Return a load with a writer beside it, if that is what ran at once."""
    readers = [load for load in loads if load.writes == 0]
    writers = [load for load in loads if load.writes == 1]
    if len(loads) != 2 or not readers or not writers or writers[0].order != "sequential":
        return None
    # What the writer has reached, which is what it was told to if the drive could.
    (done,) = (figure.value for figure in writers[0].figures if figure.what == "rate")
    return replace(readers[0], beside_rate=done, beside_size=writers[0].size)


def group_load(jobs: Sequence[Job]) -> Measured | Unused:
    """Return what ran at once as one load."""
    by_name = {name: list(same) for name, same in
               groupby(sorted(jobs, key=lambda job: job.name), key=lambda job: job.name)}
    for job in jobs:
        if job.wrong():
            return Unused(job.name, job.path, job.wrong())
    loads = [load_of(same) for same in by_name.values()]
    silent = [load for load in loads if not load.figures]
    if silent:
        return Unused(silent[0].name, silent[0].path, "fio has measured nothing of it")
    both = loads[0] if len(loads) == 1 else beside(loads)
    return both or Unused(" and ".join(by_name), jobs[0].path,
                          "ran at once, and are not reads beside writes in order")


# ---------------------------------------------------------------- files


def document_of(path: Path) -> Json:
    """Read a file; fio may have written warnings into it before the JSON."""
    CLAIMS.reads(path)
    with reading(path):
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


def jobs_of(path: Path, document: Json) -> list[Job]:
    """Return the jobs of a file."""
    return [Job(path, int(job["groupid"]), str(job["jobname"]), Options(document, job), job)
            for job in document["jobs"]]


class History:
    """What was written before, as it follows from the jobs so far."""

    def __init__(self, capacity: int, jobs: Sequence[Job]) -> None:
        volumes = [job.volume("write") for job in jobs if job.fills()]
        self.capacity = capacity or max(volumes, default=0)
        # Whoever reads first reads a drive that is full.
        self.filled, self.overwritten = self.capacity, 0

    def state(self, jobs: Sequence[Job]) -> State:
        """Return what was there before some jobs; what fills a drive begins with an empty one."""
        if any(job.fills() for job in jobs):
            return State(0.0)
        if not self.capacity:
            return State()
        return State(min(1.0, self.filled / self.capacity), self.overwritten / self.capacity)

    def pass_by(self, jobs: Sequence[Job]) -> None:
        """Go on."""
        for job in jobs:
            if ORDERS.get(job.options.pattern()[0]) == "random":
                self.overwritten += job.volume("write")
            elif job.fills():
                self.filled, self.overwritten = job.volume("write"), 0


def check_known(output: Output, history: History, load: Measured, jobs: Sequence[Job]) -> None:
    """Keep a load, if it is known what was on the drive."""
    before = history.state(jobs)
    if load.writes and load.order == "random" and not history.capacity:
        output.unused.append(Unused(load.name, load.path, "how full the drive was is not known: "
                                    "give the output of the job that filled it, or --capacity"))
    elif load.writes < 1 and before.filled < HARDLY:
        output.unused.append(Unused(load.name, load.path, "hardly anything was there to be read"))
    else:
        output.loads.append(replace(load, before=before))


def read(paths: Sequence[Path], capacity: int = 0) -> Output:
    """Read files, in the order in which their jobs ran."""
    output = Output()
    documents = {path: document_of(path) for path in paths}
    with understanding(paths):
        ordered = sorted(documents, key=lambda path: int(documents[path]["timestamp"]))
        jobs = {path: jobs_of(path, documents[path]) for path in ordered}
        history = History(capacity, [job for path in ordered for job in jobs[path]])
        output.capacity = history.capacity
        for path in ordered:
            for _, group in groupby(jobs[path], key=lambda job: job.group):
                at_once = list(group)
                found = group_load(at_once)
                if isinstance(found, Unused):
                    output.unused.append(found)
                else:
                    check_known(output, history, found, at_once)
                history.pass_by(at_once)
    return output
