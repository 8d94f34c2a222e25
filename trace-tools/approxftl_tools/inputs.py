# SPDX-License-Identifier: GPL-2.0-only
"""Recognise and read input files.

The kind of a file (simulator result, timeline, device snapshot, replay report, record file and so
on) is recognised by its contents, not by its name.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from approxftl_tools import aft
from approxftl_tools.command import (
    CLAIMS,
    NOT_FOUND,
    Refusal,
    refuse_malformed_documents,
    wrap_help_text,
)
from approxftl_tools.refusal import convert_read_errors_to_refusal

Json = dict[str, Any]

#: Patterns of the files that are read from a directory.
PATTERNS = ("*.json", "*.aft", "*.txt", "*.log")
KNOWN = ("results of approxftl sim --json, timelines of approxftl sim --timeline, reports of "
         "approxftl replay and approxftl app, JSON of fio, output of approxftl stat -j, "
         "health -j and status -j, answers to the messages stats, luns, blocks and block, record "
         "files (.aft), logs of replays")
#: Help text of the commands that take such files.
WHAT_FILES_ARE = wrap_help_text(
    f"FILE may be a directory. The kind of a file follows from its content: {KNOWN}.")


@dataclass
class Run:
    """One policy's run in the simulator, or one replay."""

    label: str
    group: str
    data: Json
    document: Json
    path: Path
    #: If the run is a mean over seeds: the result of each seed.
    seeds: dict[Any, Json] = field(default_factory=dict)

    @property
    def policy(self) -> str:
        return str(self.data.get("policy", self.label))

    @property
    def geometry(self) -> Json:
        """Return the device's geometry; empty if unknown."""
        geometry: Json = self.document.get("geometry", {})
        return geometry


@dataclass
class Device:
    """A snapshot, or a series of snapshots, of a device."""

    label: str
    data: Json
    document: Json
    path: Path


@dataclass
class Timeline:
    """A timeline: the operations of LUNs over time."""

    label: str
    document: Json
    path: Path


@dataclass
class Message:
    """A device's answer to a message, as lines of words."""

    label: str
    kind: str
    rows: list[list[str]]
    path: Path


@dataclass
class Failure:
    """A policy of a simulation that has no result, because its run failed."""

    group: str
    policy: str
    why: str
    path: Path


@dataclass
class Inputs:
    runs: list[Run] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    records: list[aft.RecordFile] = field(default_factory=list)
    replays: list[Run] = field(default_factory=list)
    logs: list[aft.ReplayLog] = field(default_factory=list)
    programs: list[Run] = field(default_factory=list)
    fio: list[Run] = field(default_factory=list)

    def list_run_groups(self) -> list[str]:
        """Return the names of the groups of runs; the runs of an input file form a group."""
        return list(dict.fromkeys(run.group for run in self.runs))

    def list_runs_in_group(self, name: str) -> list[Run]:
        """Return the runs of a group; other runs are compared with the first."""
        return [run for run in self.runs if run.group == name]

    def describe_input_counts(self) -> str:
        """Return how many inputs of each kind were read, as text."""
        counts = [(len(self.runs), "run"), (len(self.failures), "policy without a result"),
                  (len(self.devices), "device"),
                  (len(self.timelines), "timeline"), (len(self.messages), "answer"),
                  (len(self.records), "record file"), (len(self.replays), "replay"),
                  (len(self.logs), "log"),
                  (len(self.programs), "program"), (len(self.fio), "fio result")]
        words = [f"{n} {plural_of_word(what) if n > 1 else what}" for n, what in counts if n]
        return ", ".join(words) or "nothing"


def plural_of_word(what: str) -> str:
    return what.replace("policy", "policies") if "policy" in what else f"{what}s"


def format_names_with_limit(names: Iterable[str], most: int = 8) -> str:
    """Return a list as text, which is shortened to a number of items."""
    listed = list(names)
    rest = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + rest if listed else "nothing"


def expand_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the named files, and for each named directory the files in it."""
    result: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted({file for pattern in PATTERNS for file in path.glob(pattern)})
            if not found:
                there = format_names_with_limit(sorted(file.name for file in path.iterdir()))
                raise Refusal(f"{path}: no input; looked for {', '.join(PATTERNS)}, found {there}",
                              NOT_FOUND)
            result += found
        elif path.exists():
            result.append(path)
        else:
            near = sorted(file.name for pattern in PATTERNS for file in path.parent.glob(pattern)
                          ) if path.parent.is_dir() else []
            raise Refusal(f"{path}: no such file; {path.parent}/ has "
                          f"{format_names_with_limit(near)}",
                          NOT_FOUND)
    return result


# ---------------------------------------------------------------- JSON

#: Keys that each run of a result has.
RUN_KEYS = ("policy", "timing", "counters", "energy", "write_amplification", "blocks",
            "block_kinds", "mode_pages", "luns")
#: Keys that each operation of a timeline has.
EVENT_KEYS = ("pid", "tid", "ts", "dur", "name", "cat", "args")


def missing_json_keys(node: Any, keys: Sequence[str]) -> str:
    """Return the required keys that a JSON object lacks; all of them if the value is no object."""
    return ", ".join(key for key in keys if not isinstance(node, dict) or key not in node)


def json_keys_as_text(node: Any) -> str:
    """Return the keys of a JSON object as text; return any other value itself."""
    return format_names_with_limit(node) if isinstance(node, dict) else repr(node)[:60]


def add_interruption_to_run_label(label: str, data: Json) -> str:
    if not data.get("interrupted"):
        return label
    done = data.get("done_requests", data.get("requests"))
    return f"{label} (interrupted" + (f" after {done} requests)" if done is not None else ")")


def seed_label_suffix(run: Json) -> str:
    """Return a suffix for a run's label that names the run's seed; empty without a seed."""
    return f", seed {run['seed']}" if "seed" in run else ""


def add_simulation(inputs: Inputs, path: Path, document: Json) -> None:
    """Add the runs that a file with simulator results contains to the inputs."""
    if not isinstance(document.get("geometry"), dict):
        raise Refusal(f"{path}: runs without a geometry; found {format_names_with_limit(document)}")
    for run in document["runs"]:
        lost = missing_json_keys(run, RUN_KEYS)
        if lost:
            raise Refusal(f"{path}: a run without {lost}; found {json_keys_as_text(run)}")
        label = add_interruption_to_run_label(str(run.get("policy", "?")), run)
        inputs.runs.append(Run(label, path.stem + seed_label_suffix(run), run, document, path))
    for failed in document.get("failed", ()):
        if missing_json_keys(failed, ("policy", "why")):
            raise Refusal(f"{path}: a failure without policy or why; found "
                          f"{json_keys_as_text(failed)}")
        inputs.failures.append(Failure(path.stem + seed_label_suffix(failed), str(failed["policy"]),
                                       str(failed["why"]), path))


def add_timeline(inputs: Inputs, path: Path, document: Json) -> None:
    """Add a timeline to the inputs; refuse trace events without block and page numbers."""
    for event in document["traceEvents"]:
        if not isinstance(event, dict) or event.get("ph") == "X":
            lost = (missing_json_keys(event, EVENT_KEYS)
                    or missing_json_keys(event["args"], ("block", "page")))
            if lost:
                raise Refusal(f"{path}: trace events, but one without {lost}: they are not of "
                              "approxftl sim --timeline")
    inputs.timelines.append(Timeline(add_interruption_to_run_label(path.stem, document), document,
                                     path))


def add_fio_result(inputs: Inputs, path: Path, document: Json) -> None:
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise Refusal(f"{path}: JSON of fio without jobs; fio --output-format=json writes them")
    for job in jobs:
        if missing_json_keys(job, ("jobname",)):
            raise Refusal(f"{path}: a job of fio without a name; found {json_keys_as_text(job)}")
    label = path.name.removesuffix(".json").removesuffix(".fio")
    inputs.fio.append(Run(label, path.stem, document, document, path))


def has_list_under_key(document: Json, key: str) -> bool:
    return isinstance(document.get(key), list)


def add_json_document(inputs: Inputs, path: Path, document: Any) -> None:
    if not isinstance(document, dict):
        raise Refusal(f"{path}: JSON, but a {type(document).__name__} and no object; "
                      f"looked for {KNOWN}")
    version = document.get("approxftl_json_format", [1, 0])
    if not isinstance(version, list) or version[:1] != [1]:
        raise Refusal(f"{path}: JSON of format {version}; format 1 is understood: "
                      "use the tools of the version that wrote it")
    if has_list_under_key(document, "traceEvents"):
        add_timeline(inputs, path, document)
    elif has_list_under_key(document, "runs"):
        add_simulation(inputs, path, document)
    elif has_list_under_key(document, "devices"):
        for device in document["devices"]:
            if missing_json_keys(device, ("name",)):
                raise Refusal(f"{path}: a device without a name; found {json_keys_as_text(device)}")
            inputs.devices.append(Device(str(device["name"]), device, document, path))
        if not document["devices"]:
            raise Refusal(f"{path}: a list of devices, with none in it")
    elif "fidelity" in document or "replay" in document:
        inputs.replays.append(Run(add_interruption_to_run_label(path.stem, document), path.stem,
                                  document, document, path))
    elif "app" in document:
        label = path.name.removesuffix(".json").removesuffix(".app")
        inputs.programs.append(Run(label, str(document["app"]), document, document, path))
    elif "fio version" in document:
        add_fio_result(inputs, path, document)
    else:
        raise Refusal(f"{path}: JSON with {format_names_with_limit(document)}; looked for {KNOWN}")


# ---------------------------------------------------------------- answers to messages

LINES = {
    "blocks": re.compile(r"\d+ (?:free|open|closed|bad) \S+ \d+ \d+ \d+ \d+|next \d+"),
    "luns": re.compile(r"\d+ good_blocks \d+ free_blocks \d+ valid_units \d+ .*"),
    "block": re.compile(r"(?:state|kind) \S+|(?:valid_units|approx_units|programmed_pages|erases"
                        r"|wear|reads) \d+|page \d{1,7} class [01] mode [0-7] valid \d+"),
    "stats": re.compile(r"[a-z0-9_]+ \d+(?: \d+)?"),
}


def add_device_reply_file_to_inputs(inputs: Inputs, path: Path, text: str) -> None:
    """Add a file with a device's answer to a message to the inputs; refuse any other text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise Refusal(f"{path}: empty; looked for {KNOWN}")
    for kind, pattern in LINES.items():
        if all(pattern.fullmatch(line) for line in lines):
            rows = [line.split() for line in lines]
            inputs.messages.append(Message(path.stem, kind, rows, path))
            return
    wrong = lines[0] if len(lines[0]) <= 60 else lines[0][:57] + "..."
    raise Refusal(f'{path}: begins with "{wrong}", which is none of what is understood: {KNOWN}')


# ---------------------------------------------------------------- all files


#: The largest document that is read; a character device, for instance, may never end.
MOST_BYTES = 1 << 30


def read_bytes_of_input_file(path: Path) -> bytes:
    """Return the contents of a file that is not a record file."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Refusal(f"{path}: more than {MOST_BYTES >> 20} MiB, and no record file; looked for "
                      f"{KNOWN}")
    return data


def add_input_file(inputs: Inputs, path: Path) -> None:
    with convert_read_errors_to_refusal(path):
        with path.open("rb") as file:
            head = file.read(len(aft.MAGIC))
        if head == aft.MAGIC:
            inputs.records.append(aft.open_record_file(path))
            return
        if head == aft.LOG_MAGIC:
            inputs.logs.append(aft.open_replay_log(path))
            return
        data = read_bytes_of_input_file(path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: neither text nor a record file: it begins with "
                      f"{data[:8].hex(' ')}; looked for {KNOWN}") from error
    if text.lstrip()[:1] not in ("{", "["):
        add_device_reply_file_to_inputs(inputs, path, text)
        return
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise Refusal(f"{path}: no whole JSON: {error.msg} in line {error.lineno}; "
                      "was its writer interrupted?") from error
    add_json_document(inputs, path, document)


def make_labels_unique(runs: list[Run]) -> None:
    """Make labels of runs unique: prepend the group's name to equal labels, then append numbers."""
    counts = Counter(run.label for run in runs)
    seen: Counter[str] = Counter()
    for run in runs:
        if counts[run.label] > 1:
            run.label = f"{run.group} {run.label}"
    counts = Counter(run.label for run in runs)
    for run in runs:
        if counts[run.label] > 1:
            seen[run.label] += 1
            run.label = f"{run.label} {seen[run.label]}"


def make_run_group_names_unique(runs: list[Run]) -> None:
    """Rename groups of runs to the paths of their files if files in two places share a name."""
    paths: dict[str, list[Path]] = {}
    for run in runs:
        known = paths.setdefault(run.group, [])
        if run.path not in known:
            known.append(run.path)
    for run in runs:
        if len(paths[run.group]) > 1:
            run.group = str(run.path.with_suffix(""))


def read_inputs(paths: Sequence[Path]) -> Inputs:
    inputs = Inputs()
    files = expand_folders(paths)
    for path in files:
        CLAIMS.claim_input(path)
    for path in files:
        with refuse_malformed_documents([path]):
            add_input_file(inputs, path)
    make_run_group_names_unique(inputs.runs)
    make_labels_unique(inputs.runs)
    make_labels_unique(inputs.fio)
    return inputs
