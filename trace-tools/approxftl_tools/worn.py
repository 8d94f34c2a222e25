# SPDX-License-Identifier: GPL-2.0-only
"""approxftl worn: test file systems and databases on drives that fail as flash does."""

import argparse
import ctypes.util
import json
import re
import shlex
import shutil
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from approxftl_tools import command, row_list
from approxftl_tools.children import Children
from approxftl_tools.page import render_html_page
from approxftl_tools.refusal import FAILED, Refusal
from approxftl_tools.study import parse_job_count
from approxftl_tools.study_plan import load_toml_file, refuse_unknown_words
from approxftl_tools.worn_judge import Outcome
from approxftl_tools.worn_table import (
    LEFT_OUT,
    LIVES,
    STACKS,
    TRANSACTIONS,
    Event,
    Life,
    Stack,
    format_number_ranges,
    parse_number_ranges,
)

Json = dict[str, Any]
Item = TypeVar("Item")

#: Seconds after which a guest is stopped. This is no verdict: the guest itself decides by progress
#: whether a process hangs, and a busy machine may be slow.
GUEST_SECONDS = 1800
#: Exit statuses of approxftl lab: complaints of the kernel, a crash, the end of the time
COMPLAINED, CRASHED, TIMED_OUT = 97, 98, 124
#: Mean seconds of a cell with a User Mode Linux on an idle machine
CELL_SECONDS = 10
#: All transactions of a workload
ALL = f"1-{TRANSACTIONS}"
GUEST_PYTHON = "/usr/bin/python3"
#: Cells that a reduction runs at most
ATTEMPTS = 150
#: Options that a study file may have
STUDY_KEYS = ("cell", "stacks", "lives", "seed", "kernel", "plain")
#: An event of a life, in words
EVENT = re.compile(r"(\d+|loaded|unmounted) (cut|message [a-z0-9 ]+|fault-blocks (all|[0-9 ]+)|"
                   r"spoil (data|copies|newest|names)( [a-z0-9.]+)?)")
#: Modules of Debian's Python that a package of a stack brings
MODULES = {"python3-lmdb": "lmdb", "python3-plyvel": "plyvel"}
SERVERS = {"postgresql": "/usr/lib/postgresql"}
#: Shared libraries that a workload loads
LIBRARIES = {"librocksdb7.8": "rocksdb"}
EPILOG = """\
A cell is a stack (a file system or database on one or two emulated drives) and a life (the faults
of the first drive). Each cell runs alone in a virtual machine. The workload writes self-identifying
values in transactions; a judge outside the drive records which writes were acknowledged, and
decides which values a read may return. The outcome of a cell is the worst outcome of its objects:

  correct                             everything is there, and no error was reported
  detected and recovered              errors were reported, and everything is there
  detected and refused                errors were returned instead of data, or writes failed
  data lost after a successful fsync  absent, older, or zeroes, without an error
  wrong data returned                 other bytes than any version of the object
  hung, crashed                       no progress; a kernel or a process died

Exit status: 0 done, 1 a cell could not be run, 2 usage, 130 interrupted.
"""
SHORT = {Outcome.CORRECT: "correct", Outcome.RECOVERED: "recovered", Outcome.REFUSED: "refused",
         Outcome.LOST: "LOST", Outcome.WRONG: "WRONG", Outcome.HUNG: "HUNG",
         Outcome.CRASHED: "CRASHED"}
FAILED_CELL = "not run"


@dataclass(frozen=True)
class Plan:
    """A cell of the matrix: a storage stack, a fault scenario of a drive, a kernel, a seed."""

    stack: Stack
    life: Life
    seed: int
    kernel: str
    is_plain: bool = False
    numbers: str = ALL
    events: tuple[Event, ...] | None = None

    @property
    def matrix_cell_name(self) -> str:
        """Return the name of the cell: STACK/LIFE, the life being the drive's fault scenario."""
        return f"{self.stack.name}/{self.life.name}"

    @property
    def describe_kernel_and_seed(self) -> str:
        """Return the kernel and the seed of the cell (a stack with a life) as text."""
        return f"{self.kernel}, seed {self.seed}"

    @property
    def record_file_name(self) -> str:
        """Return the name of the file with the record of the cell (a stack with a life)."""
        kernel = self.kernel.strip("/").replace("/", "-")
        plain = "plain-" if self.is_plain else ""
        only = f"-{self.numbers}" if self.numbers != ALL else ""
        if self.events is not None:
            only += f"-{zlib.crc32(repr(self.events).encode()):08x}"
        return f"{kernel}-{plain}{self.stack.name}-{self.life.name}-{self.seed}{only}.json"

    def make_command_to_run_matrix_cell(self) -> str:
        """Return the command that runs only this cell (a stack with a life)."""
        only = f" --only {self.numbers}" if self.numbers != ALL else ""
        only += "".join(f" --event '{one.when} {one.what}'" for one in self.events or ())
        return (f"approxftl worn --cell {self.matrix_cell_name} --seed {self.seed} "
                f"--kernel {self.kernel}{' --plain' if self.is_plain else ''}{only}")


def make_name_list_parser(table: Sequence[Any], kind: str) -> Callable[[str], list[Any]]:
    """Return a parser of comma-separated lists of names, all of which must be in `table`."""
    def parse_list_of_known_names(text: str) -> list[Any]:
        found = []
        for name in text.split(","):
            entry = next((one for one in table if one.name == name), None)
            if entry is None:
                known = ", ".join(one.name for one in table)
                raise argparse.ArgumentTypeError(f'there is no {kind} "{name}"; there are {known}')
            found.append(entry)
        return found
    return parse_list_of_known_names


def parse_matrix_cell_list(text: str) -> list[tuple[Stack, Life]]:
    """Parse a list of cells, STACK/LIFE,...: a storage stack and the failures of its drive."""
    return [(make_name_list_parser(STACKS, "stack")(stack)[0],
             make_name_list_parser(LIVES, "life")(life)[0])
            for stack, _, life in (name.partition("/") for name in text.split(","))]


def parse_seed_numbers(text: str) -> list[int]:
    """Parse seeds, separated by commas."""
    if not re.fullmatch("[0-9]{1,9}(,[0-9]{1,9})*", text):
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a seed, or several: numbers below 1000000000')
    return [int(seed) for seed in text.split(",")]


def parse_fault_event(text: str) -> Event:
    """Parse an event of a drive's fault scenario."""
    found = EVENT.fullmatch(text)
    if not found or (found[1].isdecimal() and not 0 < int(found[1]) <= TRANSACTIONS):
        raise argparse.ArgumentTypeError(
            f'"{text}" is no event, such as "55 message fault die 1" or "loaded spoil data k012"')
    return Event(int(found[1]) if found[1].isdecimal() else found[1], found[2])


def parse_transaction_numbers(text: str) -> str:
    """Parse the numbers of the transactions to write, such as 1-90."""
    if not re.fullmatch("[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*", text) or not (
            numbers := parse_number_ranges(text)) or numbers[0] < 1 or numbers[-1] > TRANSACTIONS:
        raise argparse.ArgumentTypeError(
            f'"{text}" are no numbers of transactions: some of {ALL}, such as 1-3,70')
    return format_number_ranges(numbers)


def make_worn_parser() -> command.Parser:
    """Return the parser of the command line."""
    parser = command.make_verb_parser(
        "worn", "Shows what file systems and databases do on a drive that fails as flash does.",
        EPILOG)
    parser.add_argument("--cell", metavar="CELLS", type=parse_matrix_cell_list, action="extend",
                        help="only these cells, STACK/LIFE, separated by commas")
    parser.add_argument("--stacks", metavar="NAMES", type=make_name_list_parser(STACKS, "stack"),
                        help="only these rows, separated by commas (default: all)")
    parser.add_argument("--lives", metavar="NAMES", type=make_name_list_parser(LIVES, "life"),
                        help="only these columns, separated by commas (default: all)")
    parser.add_argument("--list", action="store_true", help="print the stacks and the lives")
    parser.add_argument("--seed", metavar="NUMBERS", type=parse_seed_numbers, default=[1],
                        help="seeds of the workload, separated by commas (default 1)")
    parser.add_argument("-k", "--kernel", metavar="KERNELS", default=["uml"],
                        type=lambda text: text.split(","),
                        help="kernels of approxftl lab, separated by commas (default uml, which "
                             "is much faster)")
    parser.add_argument("--study", metavar="FILE", type=Path,
                        help="run the cells of each [[run]] of a TOML file, with the keys "
                             f"{', '.join(STUDY_KEYS)}")
    parser.add_argument("--plain", action="store_true",
                        help="dm-dust on a RAM disk instead of the emulated drives: unreadable "
                             "pages and power failures")
    parser.add_argument("--only", metavar="NUMBERS", type=parse_transaction_numbers, default=ALL,
                        help=f"only these transactions of the workload (default {ALL})")
    parser.add_argument("--event", metavar="EVENT", type=parse_fault_event, action="append",
                        help='in place of the life\'s events, such as "55 message fault die 1"; '
                             "may be repeated")
    parser.add_argument("--reduce", action="store_true",
                        help="look for the fewest events and transactions with which the cell has "
                             "the same outcome, and print a script that repeats it")
    parser.add_argument("--jobs", metavar="N", type=parse_job_count, default=1,
                        help="virtual machines at a time (default 1)")
    parser.add_argument("--results", metavar="DIR", type=Path,
                        help="keep the records there, and run no cell whose record is there")
    parser.add_argument("--progress", action="store_true", help="even if stderr is no terminal")
    parser.add_argument("--html", type=command.output_path, metavar="FILE",
                        help="write a page with the matrix and the evidence of each cell")
    command.add_json_option(parser)
    return parser


def is_package_installed(package: str) -> bool:
    """Tell whether a package that a stack needs is installed."""
    if package in MODULES:
        return bool(list(Path("/usr/lib/python3/dist-packages").glob(f"{MODULES[package]}*")))
    if package in LIBRARIES:
        return ctypes.util.find_library(LIBRARIES[package]) is not None
    return package not in SERVERS or Path(SERVERS[package]).is_dir()


def missing_packages(stack: Stack) -> list[str]:
    """Return the packages that a stack needs and this machine lacks."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    missing = [package for package in stack.packages if not is_package_installed(package)]
    if any(not shutil.which(program, path=path) for program in stack.programs):
        missing += [package for package in stack.packages if package not in missing]
    return missing


def plan_matrix_cells(arguments: argparse.Namespace) -> Iterator[Plan]:
    """Yield the requested cells (STACK/LIFE); leave out stacks whose packages are missing."""
    cells = arguments.cell or [
        (stack, life) for stack in arguments.stacks or STACKS for life in arguments.lives or LIVES]
    lacking: dict[str, list[str]] = {}
    for stack, life in cells:
        missing = missing_packages(stack)
        if missing:
            lacking[stack.name] = missing
        elif life.can_fault_scenario_run_on_stack(stack) and (
                life.can_dm_dust_emulate_fault_scenario or not arguments.plain):
            events = tuple(arguments.event) if arguments.event else None
            yield from (Plan(stack, life, seed, kernel, arguments.plain, arguments.only, events)
                        for kernel in arguments.kernel for seed in arguments.seed)
    if lacking:
        packages = " ".join(sorted({one for names in lacking.values() for one in names}))
        sys.stderr.write(f"approxftl worn: without {', '.join(lacking)}: apt install {packages}\n")


def read_study(path: Path) -> list[argparse.Namespace]:
    """Return the parsed arguments of each run in a study file, whose keys are options of worn."""
    runs = load_toml_file(path)
    refuse_unknown_words(path, "key", runs, ["run"])
    found = []
    with command.refuse_malformed_documents([path]):
        for run in runs["run"]:
            refuse_unknown_words(path, "key of a run", run, STUDY_KEYS)
            found.append(make_worn_parser().parse_args(
                ["--plain"] * run.pop("plain", False)
                + [f"--{key}={','.join(map(str, value))}" for key, value in run.items()]))
    return found


def make_record_of_unfinished_matrix_cell(plan: Plan, error: str, note: str, said: str) -> Json:
    """Return the record of a cell (STACK/LIFE) whose guest died or, with `error`, was not run."""
    outcome = FAILED_CELL if error else Outcome.CRASHED.value
    return {"cell": plan.matrix_cell_name, "seed": plan.seed, "outcome": outcome, "passes": [],
            "events": [], "error": error, "notes": [note],
            "requests": [], "requests_count": 0,
            "noticed": said.splitlines()[-60:], "noticed_count": 0, "defects": [],
            "refused_writes": [], "refused_count": 0, "log": said.splitlines(), "counters": {},
            "commands": {}, "kernel": plan.kernel, "seconds": 0, "durable": 0, "objects": 0,
            "transactions": 0, "again": plan.make_command_to_run_matrix_cell()}


def run_matrix_cell_in_virtual_machine(plan: Plan, children: Children) -> Json:
    """Run one cell (a stack with a life) in a virtual machine and return its record."""
    program = command.simulator_path()
    lab = program.with_name("approxftl-lab")
    package = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory(prefix="approxftl-worn-") as folder:
        status, out, err = children.run_program(
            [lab, "--real-time", "--kernel", plan.kernel, "--results", folder, "--timeout",
             str(GUEST_SECONDS), "--cmd",
             f"PYTHONPATH='{package}' {GUEST_PYTHON} -P -m approxftl_tools.worn_guest "
             f"{plan.matrix_cell_name} {plan.seed} {'plain' if plan.is_plain else 'emulated'} "
             f"{plan.numbers} $RESULTS/record.json " + shlex.join(f"{one.when} {one.what}"
                                                                  for one in (
                 plan.life.events if plan.events is None else plan.events))])
        record = Path(folder, "record.json")
        if status in (CRASHED, TIMED_OUT):
            late = (f"the virtual machine did not end in {GUEST_SECONDS} s: it hangs, or this "
                    "machine is too busy; run the cell again")
            return make_record_of_unfinished_matrix_cell(plan, late if status == TIMED_OUT else "",
                                                         f"the guest ended with status {status}",
                                                         err)
        if status not in (0, COMPLAINED) or not record.exists():
            last = (err + out).strip().splitlines()[-1:] or ["no message"]
            raise Refusal(f"{plan.matrix_cell_name}: the lab ended with {status}: {last[0]}",
                          FAILED)
        found: Json = json.loads(record.read_text())
    if found["error"]:
        found["outcome"] = FAILED_CELL
    found["again"] = plan.make_command_to_run_matrix_cell()
    told = Children().run_program(["dpkg-query", "-W", "-f", "${Package} ${Version}\n",
                                   *plan.stack.packages])[1]
    found["versions"] = dict(line.split(" ", 1) for line in told.splitlines())
    return found


def run_all_matrix_cells(plans: Sequence[Plan], arguments: argparse.Namespace) -> list[Json]:
    """Run the cells (STACK/LIFE) that --results has no record of; return all records in order."""
    kept: dict[Plan, Json] = {}
    folder = arguments.results
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for plan in plans:
            if (folder / plan.record_file_name).exists():
                with command.refuse_malformed_documents([folder / plan.record_file_name]):
                    record = json.loads((folder / plan.record_file_name).read_text())
                    if not record["error"]:
                        kept[plan] = {**record, "variant": plan.describe_kernel_and_seed}
    children, show = Children(), arguments.progress or sys.stderr.isatty()
    if show and (left := len(plans) - len(kept)):
        minutes = -(-left * CELL_SECONDS // arguments.jobs // 60)
        sys.stderr.write(f"approxftl worn: {left} cells, about {minutes} min with User Mode Linux "
                         "on an idle machine; the same command continues\n")
    pool = ThreadPoolExecutor(arguments.jobs)
    try:
        running = {pool.submit(run_matrix_cell_in_virtual_machine, plan, children): plan
                   for plan in plans if plan not in kept}
        for future in as_completed(running):
            plan = running[future]
            try:
                record = future.result()
            except Refusal as error:
                # If the first cell cannot be run, no other can: the lab itself does not work.
                if plan == next(iter(running.values())):
                    raise
                record = make_record_of_unfinished_matrix_cell(plan, str(error),
                                                               "the cell could not be run", "")
            kept[plan] = record = {**record, "variant": plan.describe_kernel_and_seed}
            if folder:
                command.write_file(folder / plan.record_file_name,
                                   json.dumps(record, indent=1) + "\n")
            if show:
                sys.stderr.write(f"{len(kept)} of {len(plans)}: {plan.matrix_cell_name}: "
                                 f"{record['outcome']}\n")
    finally:
        children.stop_child_programs()
        pool.shutdown(cancel_futures=True)
    return [kept[plan] for plan in plans]


def find_minimal_failing_sublist(items: list[Item],
                                 fails: Callable[[list[Item]], bool]) -> list[Item]:
    """Return a part of `items` for which fails() is true, but false if any single item is removed.

    The algorithm is delta debugging (Zeller and Hildebrandt, 2002) with complements.
    """
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        rests = [items[:at] + items[at + size:] for at in range(0, len(items), size)]
        found = next((rest for rest in rests if rest and fails(rest)), None)
        if found:
            items, parts = found, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(items))
    return items


def print_minimal_script_of_matrix_cell(plans: Sequence[Plan]) -> int:
    """Print a script that repeats the outcome of a test with the fewest events and transactions."""
    if len(plans) != 1:
        raise Refusal("--reduce takes one cell, kernel and seed: --cell STACK/LIFE", command.USAGE)
    children, attempts = Children(), 1

    def run_matrix_cell_with_fewer_events(items: Sequence[Event | int]) -> Json:
        return run_matrix_cell_in_virtual_machine(replace(
            plans[0], events=tuple(one for one in items if isinstance(one, Event)),
            numbers=format_number_ranges([one for one in items if isinstance(one, int)])), children)

    def is_outcome_kept_with_fewer_events(items: Sequence[Event | int]) -> bool:
        nonlocal attempts
        numbers = sum(isinstance(one, int) for one in items)
        if not 0 < numbers < len(items) or attempts == ATTEMPTS:
            return False
        attempts += 1
        try:
            kept = run_matrix_cell_with_fewer_events(items)["outcome"] == whole["outcome"]
        except Refusal:
            kept = False
        sys.stderr.write(f"{len(items) - numbers} events, {numbers} transactions: "
                         f"{'same' if kept else 'another'} outcome\n")
        return bool(kept)

    whole = run_matrix_cell_in_virtual_machine(plans[0], children)
    items: list[Event | int] = [Event(one["when"], part) for one in whole["events"]
                                for part in one.get("parts", [one["what"]])]
    if not items:
        raise Refusal("a life without an event has nothing to reduce", FAILED)
    items = find_minimal_failing_sublist([*items, *parse_number_ranges(plans[0].numbers)],
                                         is_outcome_kept_with_fewer_events)
    begun = time.monotonic()
    record = run_matrix_cell_with_fewer_events(items)
    versions = (f"{name} {version}" for name, version in record.get("versions", {}).items())
    events = (f"after {one['when']}: {one['what']}" for one in record["events"])
    last = f"{attempts} cells were run for it, the last one in {time.monotonic() - begun:.0f} s"
    print("\n# ".join(["#!/bin/sh", f"{record['cell']}: {record['outcome']}",
                       ", ".join([f"Linux {record['kernel']}", *versions]), *events,
                       *explain_matrix_cell_outcome(record)[:5], last]))
    print(f"exec {record['again']}")
    return command.DONE


def get_short_word_of_outcome(record: Json) -> str:
    """Return the short word of an outcome for the matrix."""
    found = record["outcome"]
    return found if found == FAILED_CELL else SHORT[Outcome(found)]


def make_matrix_from_cell_records(records: Iterable[Json]) -> tuple[list[str], list[str],
                                                                    dict[str, list[str]],
                                                                    dict[str, dict[str, Json]]]:
    """Return variants (kernel and seed), columns (lives), rows (stacks) and records of cells."""
    cells: dict[str, dict[str, Json]] = {}
    rows: dict[str, list[str]] = {}
    for record in records:
        cells.setdefault(record["cell"], {})[record["variant"]] = record
    for cell in cells:
        stack, _, life = cell.partition("/")
        rows.setdefault(stack, []).append(life)
    variants = list(dict.fromkeys(name for found in cells.values() for name in found))
    return variants, [one.name for one in LIVES if any(one.name in row for row in rows.values())], \
        rows, cells


def describe_matrix_axes(records: Sequence[Json]) -> list[str]:
    """Return a sentence for each kernel and seed: the number of tests and the kernel release."""
    return [f"{name}: {len(found)} cells on Linux "
            f"{', '.join(sorted({one['kernel'] for one in found}))}"
            for name in dict.fromkeys(one["variant"] for one in records)
            for found in [[one for one in records if one["variant"] == name]]]


def matrix_as_text(records: Sequence[Json]) -> str:
    """Return the matrix of stacks and lives as a table, and sentences about bad outcomes."""
    variants, lives, rows, cells = make_matrix_from_cell_records(records)

    def matrix_cell_outcomes(cell: str) -> str:
        words = [get_short_word_of_outcome(cells[cell][one]) if one in cells[cell] else "-"
                 for one in variants]
        return "/".join(words if len({*words} - {"-"}) > 1 else {*words} - {"-"})

    text = row_list.align_columns([["", *lives], *(
        [stack, *(matrix_cell_outcomes(f"{stack}/{life}") if life in row else "" for life in lives)]
        for stack, row in rows.items())])
    if len(variants) > 1:
        text += "\n".join(["In this order, where they differ:", *describe_matrix_axes(records), ""])
    for record in records:
        about = record["cell"] + (f" ({record['variant']})" if len(variants) > 1 else "")
        is_bad = get_short_word_of_outcome(record).isupper()
        for detail in explain_matrix_cell_outcome(record)[:3] if is_bad else []:
            text += f"{about}: {detail}\n"
        if record["error"]:
            text += f"{about}: {record['error']}\n"
    counts = Counter(record["outcome"] for record in records)
    return text + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + "\n"


def explain_matrix_cell_outcome(record: Json) -> list[str]:
    """Return sentences about the objects with the worst outcome of a test."""
    notes: list[str] = record["notes"]
    return [f"{one['name']}: {found['key']}: {found['detail']}" for one in record["passes"]
            for found in one["findings"] if found["outcome"] == record["outcome"]] + notes


def matrix_as_html(records: Sequence[Json], argv: Sequence[str]) -> str:
    """Return the HTML page of the results."""
    variants, lives, rows, cells = make_matrix_from_cell_records(
        {**record, "word": get_short_word_of_outcome(record),
         "explained": explain_matrix_cell_outcome(record),
         "id": re.sub("[^a-z0-9.]+", "-", f"{record['cell']} {record['variant']}"),
         "rank": (7 if record["outcome"] == FAILED_CELL
                  else Outcome(record["outcome"]).rank_of_outcome)}
        for record in records)
    return render_html_page("worn.html", "File systems and databases on worn flash", lives=lives,
                            variants=variants, stacks=list(rows), cells=cells, left_out=LEFT_OUT,
                            about={one.name: one.about for one in (*STACKS, *LIVES)},
                            ran=describe_matrix_axes(records),
                            own=f"{command.simulator_version()}: approxftl worn {' '.join(argv)}")


def print_storage_stacks_and_fault_scenarios() -> None:
    """Print the names of the storage stacks and fault scenarios of the matrix."""
    for title, table in (("Stacks", STACKS), ("Lives", LIVES)):
        print(f"{title}:")
        print(row_list.align_columns([["  " + one.name, one.about] for one in table]), end="")
    for name, why in LEFT_OUT.items():
        print(f"No row has {name}: {why}")


def run_worn(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Run the cells of the matrix and write the outputs that the options ask for."""
    if arguments.list:
        print_storage_stacks_and_fault_scenarios()
        return command.DONE
    for option in ("json", "html"):
        if getattr(arguments, option):
            command.CLAIMS.claim_output(getattr(arguments, option), f"--{option}")
    runs = read_study(arguments.study) if arguments.study else [arguments]
    plans = list(dict.fromkeys(plan for run in runs for plan in plan_matrix_cells(run)))
    if not plans:
        raise Refusal("no cell is left to run", FAILED)
    if arguments.reduce:
        return print_minimal_script_of_matrix_cell(plans)
    records = run_all_matrix_cells(plans, arguments)
    if arguments.json:
        command.write_json_document(arguments.json, {
            **command.make_common_keys_of_json_documents("worn", argv), "cells": records})
    if arguments.html:
        command.write_file(arguments.html, matrix_as_html(records, argv))
    if command.STANDARD not in (arguments.json, arguments.html):
        sys.stdout.write(matrix_as_text(records))
    return FAILED if any(record["outcome"] == FAILED_CELL for record in records) else command.DONE


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return command.run_command("worn",
                               lambda: run_worn(make_worn_parser().parse_args(words), words))


if __name__ == "__main__":
    sys.exit(main())
