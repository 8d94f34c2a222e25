# SPDX-License-Identifier: GPL-2.0-only
"""Test that leagues are reproducible, rank policies, and accept users' policies and traces."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from selftests.league import league
from selftests.lib.programs import PROGRAM, TOP, run_program
from selftests.sim.support import compile_policy

SOURCE = TOP / "docs/examples/survivors.c"
SMALL = ("--seeds", "2", "--requests", "60000", "--output", "out", "--jobs", "2")
OUTPUTS = ("league.txt", "league.json", "league.html")


def run_small_league(folder: Path, *arguments: str | Path, status: int = 0) -> str:
    """Run a small league in a folder; return its output."""
    folder.mkdir(exist_ok=True)
    done = run_program(sys.executable, TOP / "selftests/league/league.py", *SMALL, *arguments,
                       directory=folder, environment={"APPROXFTL": str(PROGRAM)})
    assert done.code == status, done.out + done.err
    return done.out + done.err


def read_league_document(folder: Path) -> Any:
    """Return the JSON of a league."""
    return json.loads((folder / "out/league.json").read_text())


def read_amplification_ratios_on_load(folder: Path, load: str) -> dict[str, float]:
    """Return each entry's mean ratio of write amplification to the offline optimum, on a load."""
    return {cell["entry"]: cell["factor"]["mean"] for cell in read_league_document(folder)["cells"]
            if cell["load"] == load and cell["factor"]}


@pytest.fixture(scope="module")
def league_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a league of two loads."""
    folder = tmp_path_factory.mktemp("league")
    run_small_league(folder, "uniform", "zipf 1.2")
    return folder


@pytest.mark.in_turn
def test_outputs_of_a_repeated_league_are_identical(league_folder: Path, tmp_path: Path) -> None:
    run_small_league(tmp_path / "again", "uniform", "zipf 1.2")
    for name in OUTPUTS:
        assert (league_folder / "out" / name).read_bytes() == \
            (tmp_path / "again/out" / name).read_bytes(), name


def test_league_entries_are_ranked_by_their_mean_ratio_to_the_optimum(league_folder: Path) -> None:
    rows = read_league_document(league_folder)["standing"]
    assert [row["entry"] for row in rows] == sorted(
        league.ENTRIES, key=lambda entry: (read_amplification_ratios_on_load(league_folder,
                                                                             "uniform")[entry]
                                           * read_amplification_ratios_on_load(league_folder,
                                                                               "zipf 1.2")[entry],
                                           entry))
    assert sum(row["best_on"] for row in rows) >= 2
    first = rows[0]["factor"] ** 2
    assert first == pytest.approx(read_amplification_ratios_on_load(league_folder,
                                                                    "uniform")[rows[0]["entry"]]
                                  * read_amplification_ratios_on_load(league_folder,
                                                                      "zipf 1.2")[rows[0]["entry"]])


def test_printed_command_of_a_league_entry_reproduces_its_ratio_to_the_optimum(
        league_folder: Path) -> None:
    """A league entry's command in the JSON, run with --yardstick, gives the entry's ratio."""
    cell = next(one for one in read_league_document(league_folder)["cells"] if one["entry"]
                == "sepbit")
    words = cell["command"].split()
    done = subprocess.run([PROGRAM, *words[1:], "--yardstick", "optimum", "--json", "--quiet"],
                          capture_output=True, check=True)
    run = json.loads(done.stdout)["runs"][0]
    found = cell["factor"]
    assert abs(run["yardstick"]["factor"] - found["mean"]) <= found["half"]
    assert found["count"] == 2


def test_fifo_ranks_below_greedy_collection(league_folder: Path) -> None:
    found = read_amplification_ratios_on_load(league_folder, "uniform")
    assert 1 < found["baseline, greedy"] < found["baseline, fifo"]
    assert found["streams, greedy"] == found["baseline, greedy"]


def test_a_new_league_entry_simulates_only_its_own_runs(
        league_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(league_folder, tmp_path / "more")
    before = set((tmp_path / "more/out/results").iterdir())
    mine = compile_policy(tmp_path, SOURCE.read_text())
    run_small_league(tmp_path / "more", "uniform", "zipf 1.2", "--policy", mine)
    found = read_amplification_ratios_on_load(tmp_path / "more", "zipf 1.2")
    assert found["mine.so"] == found["separated, greedy"]
    assert len(set((tmp_path / "more/out/results").iterdir()) - before) == 4
    # The digest of the file is part of the address: another policy of this name has runs again.
    compile_policy(tmp_path, SOURCE.read_text() + "int aftl_another_policy;\n")
    run_small_league(tmp_path / "more", "uniform", "zipf 1.2", "--policy", mine)
    assert len(set((tmp_path / "more/out/results").iterdir()) - before) == 8


APART = """import approxftl as aftl

policy = aftl.Policy("apart", stream=lambda page: page.relocated, streams=["fresh", "moved"],
                     moved=1)
"""


def test_an_entry_is_one_file_in_c_or_python(league_folder: Path, tmp_path: Path) -> None:
    """Both files put relocated data into blocks of their own, as the policy separated does."""
    (tmp_path / "apart.py").write_text(APART)
    files = ("--policy", SOURCE, "--policy", tmp_path / "apart.py")
    texts = []
    for name in ("once", "again"):
        shutil.copytree(league_folder, tmp_path / name)
        run_small_league(tmp_path / name, "uniform", "zipf 1.2", *files)
        texts.append([(tmp_path / name / "out" / output).read_bytes() for output in OUTPUTS])
        found = read_amplification_ratios_on_load(tmp_path / name, "zipf 1.2")
        assert found["apart.py"] == found["survivors.c"] == found["separated, greedy"]
        assert found["apart.py"] != found["baseline, greedy"]
    assert texts[0] == [text.replace(b"/again/", b"/once/") for text in texts[1]]
    # Another rule in the file of this name has runs again.
    (tmp_path / "apart.py").write_text(APART.replace("page.relocated", "False"))
    run_small_league(tmp_path / "again", "uniform", "zipf 1.2", *files)
    found = read_amplification_ratios_on_load(tmp_path / "again", "zipf 1.2")
    assert found["apart.py"] == found["baseline, greedy"]


@pytest.mark.parametrize(("text", "why"), [
    ("rule = 1\n", "TypeError: {}: has no variable policy that is an approxftl.Policy"),
    ("import approxftl\npolicy = approxftl.Policy('x', select_victim=lambda blocks: 1 / 0)\n",
     "division by zero"),
])
def test_a_faulty_python_file_has_no_result_and_a_reason(tmp_path: Path, text: str,
                                                         why: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    said = run_small_league(tmp_path / "league", "uniform", "--policy", tmp_path / "bad.py",
                            status=1)
    assert "bad.py on uniform: no result: " in said
    assert why.format(tmp_path / "bad.py") in said


def test_a_failed_entry_is_ranked_last_and_named(league_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(league_folder, tmp_path / "more")
    broken = tmp_path / "broken.so"
    broken.write_text("no object\n")
    said = run_small_league(tmp_path / "more", "uniform", "zipf 1.2", "--policy", broken, status=1)
    assert "broken.so on uniform: no result: " in said
    assert "compile it with cc" in said
    assert read_league_document(tmp_path / "more")["standing"][-1] == {
        "entry": "broken.so", "factor": None, "best_on": 0}


def test_each_trace_file_of_a_folder_becomes_a_league_workload(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    subprocess.run([PROGRAM, "sim", "--requests", "3000", "--record", traces / "mine.csv",
                    "--quiet"], check=True)
    run_small_league(tmp_path / "league", "mine", "--traces", traces)
    assert set(read_amplification_ratios_on_load(tmp_path / "league",
                                                 "mine.csv")) == set(league.ENTRIES)


@pytest.mark.parametrize(("arguments", "says"), [
    (("--policy", "absent.so"), "absent.so: no such file"),
    (("--traces", "."), "no traces in it"),
    (("absent",), "no such load; there are uniform, 80-20"),
])
def test_wrong_arguments_are_refused_by_name(tmp_path: Path, arguments: tuple[str, ...],
                                             says: str) -> None:
    status = 2 if len(arguments) == 1 else 3
    assert says in run_small_league(tmp_path / "none", *arguments, status=status)


def test_a_policy_that_is_no_program_is_refused(tmp_path: Path) -> None:
    for name, status, says in (("bad.c", 1, "does not compile: "),
                               ("bad.txt", 2, "a policy is a file .c, .py or .so")):
        (tmp_path / name).write_text("#error none\n")
        assert f"{name}: {says}" in run_small_league(tmp_path, "--policy", name, status=status)


def test_the_league_json_has_all_entries_and_workloads() -> None:
    text = (TOP / "docs/league.md").read_text()
    for name in [*league.ENTRIES, *league.LOADS]:
        assert f"\n{name}  " in text or f"  {name}  " in text, name


def test_the_league_page_has_the_results_of_this_build(tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat one cell of the table, with the page's seeds and numbers of requests."""
    entry, load = "baseline, greedy", "sequential"
    monkeypatch.setattr(league, "ENTRIES", {entry: league.ENTRIES[entry]})
    monkeypatch.setenv("APPROXFTL", str(PROGRAM))
    assert league.main([load, "--output", str(tmp_path), "--jobs", "2"]) == 0
    (cell,) = json.loads((tmp_path / "league.json").read_text())["cells"]
    found = cell["factor"]
    text = (TOP / "docs/league.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith(f"{load}  ")]
    assert f"  {found['mean']:.3f} \u00b1{found['half']:.3f}  " in " ".join(rows)
