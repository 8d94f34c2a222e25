# SPDX-License-Identifier: GPL-2.0-only
"""approxftl worn: its tables, its workloads on a healthy directory, and a page from records."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, TOP, run_program

from approxftl_tools import command, worn, worn_work
from approxftl_tools.children import Children
from approxftl_tools.worn_judge import Ledger, Outcome, make_value, worst_outcome
from approxftl_tools.worn_table import LIVES, MIDDLE, STACKS, TRANSACTIONS

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
LOCAL = ("files", "sqlite-rollback", "sqlite-wal", "git")


def test_names_are_unique_and_each_workload_exists() -> None:
    for table in (STACKS, LIVES):
        names = [one.name for one in table]
        assert len(set(names)) == len(names)
    assert {one.work for one in STACKS} <= set(worn_work.KINDS)


@pytest.mark.parametrize("kind", ["files", "files-approximate", "sqlite-wal"])
def test_all_objects_exist_when_the_fault_comes(kind: str, tmp_path: Path) -> None:
    work = worn_work.KINDS[kind](tmp_path)
    planned = list(islice(work.transactions(random.Random(1)), TRANSACTIONS))
    first = {key for keys in planned[:MIDDLE] for key in keys}
    assert {key for keys in planned for key in keys} == first
    if "approximate" in kind:
        assert first >= worn_work.APPROXIMATE


@pytest.mark.parametrize("kind", LOCAL)
def test_a_workload_reads_what_it_wrote(kind: str, tmp_path: Path) -> None:
    work = worn_work.KINDS[kind](tmp_path)
    ledger = Ledger(work.sectors, work.atomic)
    for number, keys in enumerate(islice(work.transactions(random.Random(2)), 20), 1):
        ledger.begin_transaction(number, dict.fromkeys(keys, number))
        work.write({key: make_value(key, number, work.sectors) for key in keys})
        ledger.acknowledge_transaction(number)
    work.close()
    again = worn_work.KINDS[kind](tmp_path)
    found = ledger.judge_answers({key: again.read(key) for key in ledger.object_names()})
    assert again.read("k999" if work.atomic else "r999") is None
    again.close()
    assert worst_outcome(one.outcome for one in found) == Outcome.CORRECT


def test_the_writer_reports_each_transaction(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "approxftl_tools.worn_work", "write", "files", str(tmp_path),
         "1", "9"], input="\n" * 5, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(TOP / "trace-tools")})
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        [word, str(number)] for number in range(1, 6) for word in ("begin", "done")]


def make_record(cell: str, outcome: Outcome) -> dict[str, object]:
    """Return the record of a cell."""
    return {"cell": cell, "seed": 1, "outcome": outcome.value, "events": [
        {"when": 3, "what": "message fault die 1"}], "passes": [
            {"name": "mounted", "counts": {outcome.value: 2}, "findings": [
                {"key": "<k1>", "outcome": outcome.value, "detail": "stale: version 1"}]}],
            "notes": [], "noticed": ["I/O error"], "noticed_count": 1, "defects": [],
            "refused_writes": [], "refused_count": 0, "log": [], "counters": {}, "commands": {},
            "kernel": "6.12.1-uml", "seconds": 1.5, "durable": 4, "objects": 2, "transactions": 5,
            "error": "", "again": f"approxftl worn --cell {cell} --seed 1"}


def test_kept_records_become_a_matrix_a_page_and_json(tmp_path: Path) -> None:
    for life, outcome in (("healthy", Outcome.CORRECT), ("die-death", Outcome.LOST)):
        (tmp_path / f"uml-ext4-{life}-1.json").write_text(
            json.dumps(make_record(f"ext4/{life}", outcome)))
    words = ("worn", "--stacks", "ext4", "--lives", "healthy,die-death", "--results", tmp_path)
    done = run_program(BUILD / "approxftl", *words, "--html", tmp_path / "page.html")
    assert done.code == 0, done
    assert done.out.splitlines()[1].split() == ["ext4", "correct", "LOST"]
    assert "ext4/die-death: mounted: <k1>: stale: version 1" in done.out
    page = (tmp_path / "page.html").read_text()
    assert '<a href="#ext4-die-death">LOST</a>' in page
    assert "&lt;k1&gt;" in page
    answer = run_program(BUILD / "approxftl", *words, "--json")
    parse_document(SCHEMA, answer.out)


@pytest.mark.parametrize(("words", "sentence"), [
    (("--cell", "ext4"), 'there is no life ""'), (("--cell", "vfat/healthy"), 'no stack "vfat"'),
    (("--lives", "long"), 'there is no life "long"; there are healthy'), (("--seed", "-1"), "seed"),
    (("--jobs", "0"), "jobs")])
def test_wrong_words_are_refused(words: tuple[str, ...], sentence: str) -> None:
    done = run_program(BUILD / "approxftl", "worn", *words)
    assert done.code == 2
    assert sentence in done.err


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(worn, "has_package", lambda package: package != "python3-lmdb")
    arguments = worn.worn_parser().parse_args(["--stacks", "lmdb"])
    assert list(worn.plan_cells(arguments)) == []
    assert "without lmdb: apt install python3-lmdb" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "outcome"), [
    (worn.CRASHED, Outcome.CRASHED.value), (worn.TIMED_OUT, worn.FAILED_CELL)])
def test_a_guest_that_does_not_end_is_no_verdict_about_the_stack(
        status: int, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "simulator_path", lambda: BUILD / "approxftl-sim")
    children = Children()
    monkeypatch.setattr(children, "run_program", lambda words: (status, "", "panic"))
    plan = worn.Plan(STACKS[0], LIVES[0], 1, "uml")
    record = worn.run_cell(plan, children)
    assert record["outcome"] == outcome
    assert bool(record["error"]) == (outcome == worn.FAILED_CELL)


def test_a_cell_that_was_not_run_runs_again(tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    plan = worn.Plan(STACKS[0], LIVES[0], 1, "uml")
    failed = {**make_record(plan.name, Outcome.HUNG), "error": "too busy"}
    (tmp_path / plan.file).write_text(json.dumps(failed))
    monkeypatch.setattr(worn, "run_cell",
                        lambda plan, children: make_record(plan.name, Outcome.CORRECT))
    arguments = worn.worn_parser().parse_args(["--results", str(tmp_path)])
    assert [one["error"] for one in worn.run_cells([plan], arguments)] == [""]


def test_a_workload_that_cannot_be_opened_is_refused_and_does_not_crash(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
        ) -> None:
    def fail(place: Path) -> worn_work.Work:
        raise OSError(5, "Input/output error", str(place))

    monkeypatch.setitem(worn_work.KINDS, "git", fail)
    monkeypatch.setattr(sys, "argv", ["worn_work", "read", "git", str(tmp_path), "k1"])
    worn_work.main()
    assert capsys.readouterr().out.startswith("closed ")


def has_kernel() -> bool:
    """Tell whether User Mode Linux is built; a test does not build it."""
    listed = run_program(BUILD / "approxftl", "lab", "--list").out
    return any(line.startswith("uml ") and "-uml" in line for line in listed.splitlines())


@pytest.mark.skipif(not has_kernel(), reason="no User Mode Linux in the cache: approxftl lab "
                    "--kernel uml --real-time --cmd true builds it")
def test_cells_in_a_guest_have_the_outcomes_of_their_faults() -> None:
    done = run_program(BUILD / "approxftl", "worn", "--cell", "ext4/healthy", "--cell",
                       "ext4/bad-copies", "--cell", "sqlite-wal/power-loss", "--json")
    assert done.code == 0, done
    document = parse_document(SCHEMA, done.out)
    assert {cell["cell"]: cell["outcome"] for cell in document["cells"]} == {
        "ext4/healthy": "correct", "ext4/bad-copies": "detected and refused",
        "sqlite-wal/power-loss": "correct"}
