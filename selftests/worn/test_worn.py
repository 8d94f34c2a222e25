# SPDX-License-Identifier: GPL-2.0-only
"""approxftl worn: its tables, its workloads on a drive without faults, and its result page."""

import json
import os
import random
import re
import shlex
import subprocess
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, TOP, run_program

from approxftl_tools import command, worn, worn_guest, worn_work
from approxftl_tools.children import Children
from approxftl_tools.refusal import Refusal
from approxftl_tools.worn_judge import Ledger, Outcome, make_object_value, worst_outcome
from approxftl_tools.worn_table import (
    LIVES,
    MIDDLE,
    STACKS,
    TRANSACTIONS,
    format_number_ranges,
    parse_number_ranges,
)

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
LOCAL = ("files", "sqlite-rollback", "sqlite-wal", "git")


def test_stacks_have_unique_names_and_defined_workloads() -> None:
    for table in (STACKS, LIVES):
        names = [one.name for one in table]
        assert len(set(names)) == len(names)
    assert {one.work for one in STACKS} <= set(worn_work.KINDS)


@pytest.mark.parametrize("kind", ["files", "files-approximate", "sqlite-wal"])
def test_all_objects_are_written_before_the_fault(kind: str, tmp_path: Path) -> None:
    work = worn_work.KINDS[kind](tmp_path)
    planned = list(islice(work.plan_transactions(random.Random(1)), TRANSACTIONS))
    first = {key for keys in planned[:MIDDLE] for key in keys}
    assert {key for keys in planned for key in keys} == first
    if "approximate" in kind:
        assert first >= worn_work.APPROXIMATE


@pytest.mark.parametrize("kind", LOCAL)
def test_a_workload_reads_what_it_wrote(kind: str, tmp_path: Path) -> None:
    work = worn_work.KINDS[kind](tmp_path)
    ledger = Ledger(work.sectors, work.atomic)
    for number, keys in enumerate(islice(work.plan_transactions(random.Random(2)), 20), 1):
        ledger.begin_transaction(number, dict.fromkeys(keys, number))
        work.write_transaction({key: make_object_value(key, number, work.sectors) for key in keys})
        ledger.acknowledge_transaction(number)
    work.close_workload_storage()
    again = worn_work.KINDS[kind](tmp_path)
    found = ledger.judge_all_reads({key: again.read_object(key) for key in ledger.object_names()})
    assert again.read_object("k999" if work.atomic else "r999") is None
    again.close_workload_storage()
    assert worst_outcome(one.outcome for one in found) == Outcome.CORRECT


def test_the_writer_reports_each_transaction(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "approxftl_tools.worn_work", "write", "files", str(tmp_path),
         "1", "1-2,4,7-9"], input="\n" * 5, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(TOP / "trace-tools")})
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        [word, str(number)] for number in (1, 2, 4, 7, 8) for word in ("begin", "done")]


def make_fake_worn_record(cell: str, outcome: Outcome) -> dict[str, object]:
    """Return a fake record of a cell, a test of one stack with one failure."""
    return {"cell": cell, "seed": 1, "outcome": outcome.value, "events": [
        {"when": 3, "what": "message fault die 1"}], "passes": [
            {"name": "mounted", "counts": {outcome.value: 2}, "findings": [
                {"key": "<k1>", "outcome": outcome.value, "detail": "stale: version 1"}]}],
            "notes": [], "noticed": ["I/O error"], "noticed_count": 1, "defects": [],
            "requests": ["drive 0: read of pages 7: EIO"], "requests_count": 1,
            "refused_writes": [], "refused_count": 0, "log": [], "counters": {}, "commands": {},
            "kernel": "6.12.1-uml", "seconds": 1.5, "durable": 4, "objects": 2, "transactions": 5,
            "error": "", "again": f"approxftl worn --cell {cell} --seed 1"}


def test_stored_results_are_printed_as_table_page_and_json(tmp_path: Path) -> None:
    for kernel, life, outcome in (("uml", "healthy", Outcome.CORRECT),
                                  ("uml", "die-death", Outcome.LOST),
                                  ("6.1", "healthy", Outcome.CORRECT),
                                  ("6.1", "die-death", Outcome.CRASHED)):
        (tmp_path / f"{kernel}-ext4-{life}-1.json").write_text(json.dumps(
            {**make_fake_worn_record(f"ext4/{life}", outcome), "kernel": f"{kernel}.7"}))
    study = tmp_path / "study.toml"
    study.write_text('[[run]]\nstacks = ["ext4"]\nlives = ["healthy", "die-death"]\n'
                     'kernel = ["uml"]\n[[run]]\ncell = ["ext4/die-death", "ext4/healthy"]\n'
                     'kernel = ["uml", "6.1"]\nseed = [1]\n')
    words = ("worn", "--study", study, "--results", tmp_path)
    done = run_program(BUILD / "approxftl", *words, "--html", tmp_path / "page.html")
    assert done.code == 0, done
    assert done.out.splitlines()[1].split() == ["ext4", "correct", "LOST/CRASHED"]
    assert "6.1, seed 1: 2 cells on Linux 6.1.7\n" in done.out
    assert "ext4/die-death (uml, seed 1): mounted: <k1>: stale: version 1" in done.out
    page = (tmp_path / "page.html").read_text()
    assert page.index('#ext4-die-death-uml-seed-1" title="uml, seed 1">LOST</a>') < page.index(
        '#ext4-die-death-6.1-seed-1" title="6.1, seed 1">CRASHED</a>')
    assert "No row has bcachefs: " in page
    assert "Requests that failed on the drives (1):</p>\n<pre>drive 0: read of pages 7: EIO" in page
    assert "&lt;k1&gt;" in page
    answer = run_program(BUILD / "approxftl", *words, "--json")
    parse_document(SCHEMA, answer.out)


@pytest.mark.parametrize(("words", "sentence"), [
    (("--cell", "ext4"), 'there is no life ""'), (("--cell", "vfat/healthy"), 'no stack "vfat"'),
    (("--lives", "long"), 'there is no life "long"; there are healthy'), (("--seed", "-1"), "seed"),
    (("--event", "91 cut"), "no event"), (("--event", "3 message 'x"), "no event"),
    (("--event", "loaded read-often x"), "no event"),
    (("--reduce", "--cell", "ext4/bad-page", "--seed", "1,2"), "--reduce takes one cell"),
    (("--jobs", "0"), "jobs"), (("--only", "0-3"), "1-90"), (("--only", "3-91"), "1-90"),
    (("--only", "4-2"), "1-90"), (("--only", "1,,2"), "1-90"),
    (("--reduce", "--stacks", "ext4"), "--reduce takes one cell")])
def test_wrong_option_values_of_worn_are_refused(words: tuple[str, ...], sentence: str) -> None:
    done = run_program(BUILD / "approxftl", "worn", *words)
    assert done.code == 2
    assert sentence in done.err


@pytest.mark.parametrize(("text", "sentence"), [
    ("[[run]]\nstack = []", 'unknown key of a run "stack"'), ("[[run]]\nseed = [-1]", "seed"),
    ("[[runs]]", 'unknown key "runs"'), ("run = 3", "value"), ("seed", "no TOML"),
    ("", "value"), ("[[run]]\nstacks = ['ext5']", 'there is no stack "ext5"')])
def test_a_wrong_study_file_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(text)
    done = run_program(BUILD / "approxftl", "worn", "--study", tmp_path / "study.toml")
    assert done.code in (1, 2)
    assert sentence in done.err


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(worn, "is_package_installed", lambda package: package != "python3-lmdb")
    arguments = worn.make_worn_parser().parse_args(["--stacks", "lmdb"])
    assert list(worn.plan_matrix_cells(arguments)) == []
    assert "without lmdb: apt install python3-lmdb" in capsys.readouterr().err


def test_a_package_whose_library_is_absent_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    assert not worn.is_package_installed("librocksdb7.8")


@pytest.mark.parametrize(("status", "outcome"), [
    (worn.CRASHED, Outcome.CRASHED.value), (worn.TIMED_OUT, worn.FAILED_CELL)])
def test_a_crashed_guest_is_an_outcome_of_the_stack_and_a_timeout_is_not(
        status: int, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "simulator_path", lambda: BUILD / "approxftl-sim")
    children = Children()
    monkeypatch.setattr(children, "run_program", lambda words: (status, "", "panic"))
    plan = worn.Plan(STACKS[0], LIVES[0], 1, "uml")
    record = worn.run_matrix_cell_in_virtual_machine(plan, children)
    assert record["outcome"] == outcome
    assert bool(record["error"]) == (outcome == worn.FAILED_CELL)


def test_a_matrix_cell_without_result_is_run_again(tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    plan = worn.Plan(STACKS[0], LIVES[0], 1, "uml")
    failed = {**make_fake_worn_record(plan.matrix_cell_name, Outcome.HUNG), "error": "too busy"}
    (tmp_path / plan.record_file_name).write_text(json.dumps(failed))
    monkeypatch.setattr(worn, "run_matrix_cell_in_virtual_machine", lambda plan,
                        children: make_fake_worn_record(plan.matrix_cell_name, Outcome.CORRECT))
    arguments = worn.make_worn_parser().parse_args(["--results", str(tmp_path)])
    assert [one["error"] for one in worn.run_all_matrix_cells([plan], arguments)] == [""]


def test_a_workload_that_cannot_be_opened_is_refused_and_does_not_crash(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
        ) -> None:
    def raise_error_on_opening_workload(place: Path) -> worn_work.Work:
        raise OSError(5, "Input/output error", str(place))

    monkeypatch.setitem(worn_work.KINDS, "git", raise_error_on_opening_workload)
    monkeypatch.setattr(sys, "argv", ["worn_work", "read", "git", str(tmp_path), "k1"])
    worn_work.main()
    assert capsys.readouterr().out.startswith("closed ")


def test_a_workload_that_cannot_start_is_no_outcome_of_the_stack(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worn_guest, "PLACE", tmp_path / "absent")
    monkeypatch.setenv("PYTHONPATH", str(TOP / "trace-tools"))
    stack = next(one for one in STACKS if one.name == "sqlite-wal")
    cell = worn_guest.Cell(stack, LIVES[0], 1, False, [1], [])
    with pytest.raises(RuntimeError, match=r"cannot be started: .*unable to open"):
        cell.write_transactions()


@given(st.sets(st.integers(1, 300), min_size=1))
def test_numbers_of_transactions_are_printed_as_they_are_parsed(numbers: set[int]) -> None:
    text = format_number_ranges(sorted(numbers))
    assert parse_number_ranges(text) == sorted(numbers)
    assert not any(f"{one}," in text and f",{one + 1}," in text for one in numbers)


@given(st.sets(st.integers(1, 90), min_size=1, max_size=5))
def test_reduce_keeps_only_the_items_that_cause_the_failure(needed: set[int]) -> None:
    tried: list[list[int]] = []

    def contains_all_needed_items(items: list[int]) -> bool:
        tried.append(items)
        return needed <= set(items)

    found = worn.find_minimal_failing_sublist(list(range(1, 91)), contains_all_needed_items)
    assert found == sorted(needed)
    assert len(tried) < 250


def test_a_minimised_failure_is_printed_as_a_script(monkeypatch: pytest.MonkeyPatch,
                                                    capsys: pytest.CaptureFixture[str]) -> None:
    def make_fake_worn_cell_record(plan: worn.Plan, children: Children) -> dict[str, object]:
        events: list[dict[str, Any]] = [
            {"when": one.when, "what": one.what, "parts": [one.what]}
            for one in plan.events or ()] or [
            {"when": 55, "what": "fault-blocks all", "parts": [f"fault-blocks {block}"
                                                               for block in range(40)]},
            {"when": 70, "what": "cut", "parts": ["cut"]}]
        parts = {part for one in events for part in one["parts"]}
        is_lost = {3, 70} <= set(parse_number_ranges(plan.numbers)) and {
            "fault-blocks 7", "fault-blocks 31"} <= parts
        record = make_fake_worn_record(plan.matrix_cell_name, Outcome.LOST
                                       if is_lost else Outcome.CORRECT)
        return {**record, "events": events, "again": plan.make_command_to_run_matrix_cell(),
                "versions": {"e2fsprogs": "1.47"}}

    monkeypatch.setattr(worn, "run_matrix_cell_in_virtual_machine", make_fake_worn_cell_record)
    words = ["--cell", "ext4/no-spare", "--reduce"]
    assert worn.main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("#!/bin/sh\n# ext4/no-spare: data lost")
    last = ("exec approxftl worn --cell ext4/no-spare --seed 1 --kernel uml --only 3,70 "
            "--event '55 fault-blocks 7' --event '55 fault-blocks 31'\n")
    assert said.endswith(last)
    plan, = worn.plan_matrix_cells(worn.make_worn_parser().parse_args(shlex.split(last)[3:]))
    assert f"exec {plan.make_command_to_run_matrix_cell()}\n" == last
    assert plan.record_file_name not in {one.record_file_name for one in worn.plan_matrix_cells(
        worn.make_worn_parser().parse_args(["--cell", plan.matrix_cell_name, "--only", "3,70"]))}
    monkeypatch.setattr(worn, "ATTEMPTS", 5)
    assert worn.main(words) == 0
    assert "5 cells were run" in capsys.readouterr().out


def test_reading_a_drive_continues_behind_an_unreadable_page(
        monkeypatch: pytest.MonkeyPatch) -> None:
    page, bad = worn_guest.PAGE, 3

    def pread(fd: int, length: int, start: int) -> bytes:
        """Read up to the bad page; like a block device, fail if a read begins in that page."""
        first, end = start // page, (start + length) // page
        if first == bad:
            raise OSError(5, "Input/output error")
        last = bad if first < bad < end else end
        return b"".join(bytes([number]) * page for number in range(first, last))

    monkeypatch.setattr("approxftl_tools.worn_guest.os.pread", pread)
    found = worn_guest.read_drive_range_despite_errors(0, page, 4 * page)
    assert [found[at] for at in range(0, len(found), page)] == [1, 2, 0, 4]


@pytest.mark.parametrize("failing", ["ext4", "xfs"])
def test_other_matrix_cells_run_if_the_lab_of_a_later_cell_fails(
        failing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """If a virtual machine fails to start, approxftl worn goes on, unless it is the first one."""
    def make_fake_worn_cell_record(plan: worn.Plan, children: Children) -> dict[str, Any]:
        assert children
        if plan.stack.name == failing:
            raise Refusal("the lab ended with 1: no memory")
        return {**worn.make_record_of_unfinished_matrix_cell(plan, "", "", ""),
                "outcome": Outcome.CORRECT.value}

    monkeypatch.setattr(worn, "run_matrix_cell_in_virtual_machine", make_fake_worn_cell_record)
    code = worn.main(["--stacks", "ext4,xfs,btrfs", "--lives", "healthy"])
    out, err = capsys.readouterr()
    assert code == 1
    if failing == "ext4":
        assert "no memory" in err and not out
    else:
        assert "xfs/healthy: the lab ended with 1: no memory" in out
        assert "2 correct, 1 not run" in out


def test_option_plain_runs_only_faults_that_dm_dust_can_inject() -> None:
    arguments = worn.make_worn_parser().parse_args(["--stacks", "ext4", "--plain"])
    assert {plan.life.name for plan in worn.plan_matrix_cells(arguments)} == {
        "healthy", "power-loss", "bad-page", "bad-copies", "bad-name", "power-loss-bad-log"}


def choose_guest_kernel() -> str:
    """Return the kernel of guests: User Mode Linux if it is built, because QEMU is slower."""
    listed = run_program(BUILD / "approxftl", "lab", "--list").out
    built = any(line.startswith("uml ") and "-uml" in line for line in listed.splitlines())
    return "uml" if built else "6.12"


def run_worn_cells_for_records(*words: str) -> dict[str, dict[str, Any]]:
    """Run cells (stack and failure) in virtual machines; return each cell's JSON record."""
    done = run_program(BUILD / "approxftl", "worn", *words, "--kernel", choose_guest_kernel(),
                       "--json")
    assert done.code == 0, done
    document = parse_document(SCHEMA, done.out)
    return {cell["cell"]: cell for cell in document["cells"]}


def run_worn_cells_for_outcomes(*words: str) -> dict[str, str]:
    """Run cells (stack and failure) in virtual machines; return each cell's outcome."""
    return {name: cell["outcome"] for name, cell in run_worn_cells_for_records(*words).items()}


@pytest.mark.in_turn
def test_storage_stacks_in_a_guest_have_the_outcome_of_their_fault() -> None:
    found = run_worn_cells_for_records("--cell", "xfs/die-death-rain", "--cell", "ext4/bad-copies",
                                       "--cell", "sqlite-wal/power-loss", "--cell",
                                       "ext4/read-disturb", "--cell", "btrfs-raid1/read-disturb")
    mirror = found.pop("btrfs-raid1/read-disturb")
    assert mirror["outcome"] in ("correct", "detected and recovered")
    assert {name: cell["outcome"] for name, cell in found.items()} == {
        "xfs/die-death-rain": "correct", "ext4/bad-copies": "detected and refused",
        "sqlite-wal/power-loss": "correct", "ext4/read-disturb": "detected and refused"}
    assert not found["sqlite-wal/power-loss"]["requests"]
    spoiled = set(re.findall(r"page (\d+):", found["ext4/bad-copies"]["events"][0]["what"]))
    requests = "".join(found["ext4/bad-copies"]["requests"])
    assert spoiled == set(re.findall(r"EIO, made uncorrectable: (\d+)", requests))
    assert len(spoiled) == 3
    assert "read of page" in found["ext4/read-disturb"]["requests"][0]


#: Lies of a layer between the workload and the kernel, and a cell whose fault shows them
LIES = {
    "fsync": ("ext4/power-loss", "os.fsync = lambda fd: None"),
    "stale block": ("ext4/healthy", """
write, calls = os.pwrite, itertools.count(1)
os.pwrite = lambda fd, data, at: write(fd, data, at) if next(calls) % 7 else len(data)
"""),
    "swallowed EIO": ("ext4/bad-copies", """
read = os.pread
def pread(fd, size, at):
    try:
        return read(fd, size, at)
    except OSError:
        return bytes(size)
os.pread = pread
"""),
    "commits of a database": ("sqlite-wal/power-loss", """
import sqlite3
class Liar(sqlite3.Connection):
    def execute(self, sql, *values):
        return super().execute("PRAGMA synchronous=OFF" if "synchronous" in sql else sql, *values)
connect = sqlite3.connect
sqlite3.connect = lambda *words, **named: connect(*words, factory=Liar, **named)
"""),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_answer_below_the_workload_is_found(lie: str, tmp_path: Path) -> None:
    cell, patch = LIES[lie]
    events = next(life.events for life in LIVES if life.name == cell.partition("/")[2])
    with TemporaryDirectory(dir=BUILD) as folder:
        Path(folder, "sitecustomize.py").write_text(f"import itertools, os\n{patch}")
        done = run_program(
            BUILD / "approxftl", "lab", "--real-time", "--kernel", choose_guest_kernel(),
            "--results", tmp_path,
            "--cmd", f"PYTHONPATH={folder}:{TOP}/trace-tools {worn.GUEST_PYTHON} -P -m "
            f"approxftl_tools.worn_guest {cell} 1 emulated {worn.ALL} $RESULTS/record.json "
            + shlex.join(f"{event.when} {event.what}" for event in events))
    assert done.code in (0, worn.COMPLAINED), done
    record = json.loads((tmp_path / "record.json").read_text())
    assert not record["error"], record
    assert record["outcome"] == Outcome.LOST


@pytest.mark.long
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_sampled_stacks_and_failures_have_the_documented_outcome(seed: str) -> None:
    found = run_worn_cells_for_outcomes("--stacks", "ext4,xfs,md-raid1", "--seed", seed,
                                        "--lives", "healthy,die-death,power-loss")
    assert len(found) == 9
    for cell, outcome in found.items():
        if not cell.endswith("/die-death"):
            assert outcome == "correct", cell
    for stack in ("ext4", "xfs"):
        assert found[f"{stack}/die-death"] == "detected and refused"
    assert found["md-raid1/die-death"] in ("correct", "detected and recovered")


@pytest.mark.long
def test_the_script_of_a_minimised_cell_repeats_its_outcome(tmp_path: Path) -> None:
    """The script that `worn --reduce` prints needs no other file, and runs in any directory."""
    done = run_program(BUILD / "approxftl", "worn", "--cell", "ext4/bad-copies", "--only", "1-3",
                       "--kernel", choose_guest_kernel(), "--reduce")
    assert done.code == 0, done
    script = tmp_path / "again.sh"
    script.write_text(done.out)
    again = run_program("sh", script, directory=tmp_path,
                        environment={"PATH": f"{BUILD}:{os.environ['PATH']}"})
    assert again.code == 0, again
    assert "ext4/bad-copies: detected and refused" in done.out
    assert "1 detected and refused" in again.out
