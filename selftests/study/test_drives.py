# SPDX-License-Identifier: GPL-2.0-only
"""Test the tables of real drives, and that sampled points are within their tolerance bands."""

import csv
import hashlib
import io
import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import BUILD, Done, run_program

from approxftl_tools.bench import Bench
from approxftl_tools.drive_list import DRIVES, Drive
from approxftl_tools.drive_points import OWN_TABLES, Shape, list_measured_points_of_drive
from approxftl_tools.drive_runs import map_load_names_to_loads, run_drive_study
from approxftl_tools.drive_table_file import LAYOUTS, read_drive_capacity, read_measured_table
from approxftl_tools.refusal import Refusal
from approxftl_tools.study_store import Store

SCHEMA = "trace-tools/approxftl_tools/tools-output.fields"
SHAPE = Shape(400000, 4096, 1 << 26)


def run_drives_verb(*arguments: str | Path, status: int = 0) -> Done:
    done = run_program(BUILD / "approxftl-drives", *arguments, "--jobs", "1")
    assert done.code == status, done.err
    return done



def write_table_with_changed_row(folder: Path, name: str, keep: int, **changed: str) -> None:
    """Write a measurement table with one row of the built-in table, some fields of it changed."""
    with (OWN_TABLES / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerow({**rows[keep], **changed})


#: Columns of results. All others describe the load; done_* are the mix that a drive achieved.
RESULTS = {"host_mbps", "wa_measured", "write_p50_us", "read_mean_us", "read_p50_us", "read_p99_us",
           "read_p999_us", "iops", "mbps", "mean_us", "p50_us", "p99_us", "kiops"}


@pytest.mark.parametrize("drive", DRIVES, ids=lambda drive: drive.name)
def test_measured_results_of_a_drive_do_not_influence_its_runs(drive: Drive,
                                                               tmp_path: Path) -> None:
    for path in OWN_TABLES.glob(f"{drive.name}-*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with (tmp_path / path.name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({key: str(2 * float(value)) if value and key in RESULTS else value
                              for key, value in row.items()} for row in rows)
    own, other = (list_measured_points_of_drive(drive, SHAPE, folder)
                  for folder in (OWN_TABLES, tmp_path))
    # Twice the rate means twice the saturation rate, so more points may be below 85 % of it.
    assert own and {point.load for point in own} <= {point.load for point in other}
    assert {point.measured for point in own}.isdisjoint({0.0})
    assert any(mine.measured != theirs.measured
               for mine, theirs in zip(own, other, strict=False))


def test_sampled_points_of_drives_are_within_their_tolerance_bands(tmp_path: Path) -> None:
    """Test one measured point for each kind of drive and load; `make drives` checks all points."""
    out = tmp_path / "points.json"
    run_drives_verb("wd-zn540", "--only", "16 KiB, 4 x 1", f"--json={out}", "--at-least", "100")
    document = parse_document(SCHEMA, out.read_text())
    assert {point["measure"] for point in document["points"]} == {
        "reads/s", "read mean", "read p99", "rate, MB/s"}
    run_drives_verb("samsung-pm9a3", "--only", "9950 writes/s offered read", "--at-least", "100")


@pytest.mark.parametrize(("name", "only", "wrong", "share"), [
    ("micron-7450-max", "write-zones", "op=20%", 100),
    ("wd-dc-960", "write-zones", "victim=greedy", 60),
    ("wd-dc-960", "198050 writes/s offered writes/s", "superblock=16", 100),
    ("kioxia-cm7r", "zones 1 x 2.581 GiB", "superblock=0\nrain=off", 50)])
def test_a_wrong_parameter_of_a_profile_misses_measured_points(name: str, only: str, wrong: str,
                                                               share: int, tmp_path: Path) -> None:
    """Negative controls: points that the profile reaches are missed with one wrong parameter."""
    points = (name, "--only", only, "--at-least", str(share))
    run_drives_verb(*points)
    (tmp_path / f"{name}.profile").write_text(f"{wrong}\n")
    run_drives_verb(*points, "--profiles", tmp_path, status=1)


def test_p99_and_p99_9_of_write_responses_are_judged(tmp_path: Path) -> None:
    out = tmp_path / "points.json"
    run_drives_verb("samsung-pm9a3", "--only", "9950 writes/s offered write p99", f"--json={out}")
    assert {point["measure"]: point["measured"] for point in json.loads(out.read_text())["points"]
            } == {"write p99": 13.67, "write p99.9": 16.67}


def test_saved_results_are_not_run_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    said = [run_drives_verb("kioxia-xg6", "--only", "sequential-read", "--at-least", "100",
                            "--results", kept).out]
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*/result.json")}
    said.append(run_drives_verb("kioxia-xg6", "--only", "sequential-read", "--results", kept).out)
    assert before and said[0] == said[1]
    assert {path: path.stat().st_mtime_ns for path in kept.glob("*/result.json")} == before


def test_the_runs_of_a_drive_are_written_as_a_study(tmp_path: Path) -> None:
    """A drive's study runs all loads except those whose results `approxftl drives` has stored."""
    out = tmp_path / "points.json"
    run_drives_verb("kioxia-xg6", "--only", "sequential-read", "--results", tmp_path)
    before = set(tmp_path.glob("*/result.json"))
    done = subprocess.run([BUILD / "approxftl-study", "run", tmp_path / "kioxia-xg6.toml",
                           "--results", tmp_path, "--jobs=1", "--json"],
                          capture_output=True, text=True, check=True)
    assert {row["row"] for row in json.loads(done.stdout)["rows"]} == {"fio 0", "fio 3", "fio 6"}
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/result.json")}
    assert len(made) == len(before) + 2
    run_drives_verb("kioxia-xg6", f"--json={out}", "--results", tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/result.json")} == made
    assert len(json.loads(out.read_text())["points"]) == 9


@pytest.mark.parametrize("drive", DRIVES, ids=lambda drive: drive.name)
def test_a_study_of_a_drive_equals_runs_of_its_single_loads(drive: Drive, tmp_path: Path) -> None:
    points = list_measured_points_of_drive(drive, SHAPE, OWN_TABLES)
    bench = Bench(BUILD / "approxftl", 1, Store(tmp_path))
    runs = run_drive_study(drive, map_load_names_to_loads(points), bench)
    assert {load for _, load in runs} == {load for point in points
                                          for load in (point.load, point.base) if load}
    for (_, load), run in runs.items():
        assert run.arguments == (*drive.make_drive_arguments(), *load.arguments)


def test_measurement_tables_of_users_are_compared(tmp_path: Path) -> None:
    """A user's measurement table may have loads and results that the built-in table lacks."""
    write_table_with_changed_row(tmp_path, "samsung-pm9a3-latency-load.csv", 0,
                                 offered_write_iops="5000",
                                 offered_read_iops="5000", read_mean_us="1", saturated="no")
    out = tmp_path / "points.json"
    run_drives_verb("--tables", tmp_path, "--only", "read mean", f"--json={out}")
    (point,) = json.loads(out.read_text())["points"]
    assert point["load"] == "5000 writes/s offered"
    assert point["measured"] == 1
    assert not point["within"]
    assert not point["fitted"]
    assert "--rate=10000" in point["arguments"]
    said = run_drives_verb("--tables", tmp_path, "--only", "read mean", "--at-least", "1", status=1)
    assert "0.0 % of the points are within their bands, not 1 %" in said.err


@pytest.mark.parametrize(("column", "value"), [
    ("offered_write_iops", "many"), ("offered_write_iops", ""), ("saturated", "perhaps")])
def test_measurement_tables_with_unreadable_fields_are_refused(tmp_path: Path, column: str,
                                                               value: str) -> None:
    write_table_with_changed_row(tmp_path, "samsung-pm9a3-latency-load.csv", 0, **{column: value})
    said = run_drives_verb("--tables", tmp_path, status=1).err
    assert f"samsung-pm9a3-latency-load.csv, line 2, column {column}: a field cannot be read: " \
        f'"{value}" is not ' in said
    assert said.count("\n") == 1


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "kioxia-xg6-fio.csv").write_text("workload,kiops\nrandom-read 4 KiB,1\n")
    said = run_drives_verb("--tables", tmp_path, status=1).err
    assert "kioxia-xg6-fio.csv: there is no column 'queue_depth'" in said


@pytest.mark.parametrize(("pattern", "parameter", "named", "options"), [
    ("zipf", "1.1", "zipf, 1.1", {"--workload=zipf", "--zipf-skew=1.1"}),
    ("zipf-shuffle", "0.8", "zipf, 0.8", {"--workload=zipf", "--zipf-skew=0.8"}),
    ("zipf-noshuffle", "0.8", "zipf, 0.8 in order", {"--zipf-skew=0.8", "--zipf-order=sorted"}),
    ("fiozipf", "0.8", "fiozipf, 0.8", {"--zipf-skew=0.8", "--zipf-order=hashed"}),
    ("zones-shuffle", "s0.8 f0.2 s0.2 f0.8", "two-zones, s0.8 f0.2 s0.2 f0.8",
     {"--scatter", "--hot-range=80.00%", "--hot-share=20.00%"}),
    ("zones-noshuffle", "s0.8 f0.2 s0.2 f0.8", "two-zones, s0.8 f0.2 s0.2 f0.8 in order",
     {"--hot-range=80.00%"}),
    ("sequential-shuffle", "", "each-once, 894.25 GiB", {"--workload=sequential", "--scatter"}),
    ("each-once", "", "each-once, 894.25 GiB", {"--workload=sequential", "--scatter"}),
])
def test_patterns_of_the_benchmark_are_emulated(pattern: str, parameter: str, named: str,
                                                options: set[str], tmp_path: Path) -> None:
    write_table_with_changed_row(tmp_path, "samsung-pm9a3-write-steady.csv", 0, pattern=pattern,
                                 parameter=parameter)
    drive = next(one for one in DRIVES if one.name == "samsung-pm9a3")
    (point,) = list_measured_points_of_drive(drive, SHAPE, tmp_path)
    assert point.what == named
    assert options <= set(point.load.arguments)
    assert ("--scatter" in options) == ("--scatter" in point.load.arguments)


def test_a_drive_filled_in_random_order_is_emulated(tmp_path: Path) -> None:
    write_table_with_changed_row(tmp_path, "samsung-pm9a3-write-steady.csv", 0,
                                 precondition="seqshuffle")
    drive = next(one for one in DRIVES if one.name == "samsung-pm9a3")
    (point,) = list_measured_points_of_drive(drive, SHAPE, tmp_path)
    assert {"--fill=random", "--fill_valid=100%"} <= set(point.load.arguments)


def test_unknown_loads_and_drives_are_left_out(tmp_path: Path) -> None:
    """Neither an unknown pattern nor an unknown drive prevents the comparison of the other rows."""
    name = "samsung-pm9a3-write-steady.csv"
    write_table_with_changed_row(tmp_path, name, 0, pattern="zipf", parameter="1.1",
                                 written_capacities="0.01")
    rows = (tmp_path / name).read_text().splitlines()
    strange = [rows[1].replace("zipf,1.1", word)
               for word in ("beta,0.5", "beta,0.6", "zones,s0.5 f1 s0.3 f2 s0.2 f3")]
    (tmp_path / name).write_text("\n".join([*rows, *strange]) + "\n")
    (tmp_path / "acme-9000-fio.csv").write_text("workload\n")
    out = tmp_path / "points.json"
    said = run_drives_verb("--tables", tmp_path, f"--json={out}").err
    (point,) = json.loads(out.read_text())["points"]
    assert point["load"] == "zipf, 1.1"
    assert f'{name}: 2 rows of pattern "beta" left out; the simulator has uniform,' in said
    assert f'{name}: 1 row of pattern "two-zones" left out' in said
    assert "the tables of acme-9000 left out; there is no profile of this drive" in said
    assert said.count("\n") == 3
    said = run_drives_verb("acme-9000", "--tables", tmp_path, status=3).err
    assert "there is no profile of this drive, --refit makes one" in said
    assert 'there is no drive "acme"' in run_drives_verb("acme", "--tables", tmp_path, status=2).err


NUMBERS = ("not", "nan", "inf", "-1", "1e999", "1_0", "0x10", "1,5")


def test_a_drive_that_nobody_here_knows_is_compared_in_all_patterns(tmp_path: Path) -> None:
    """Each pattern of a foreign drive gives a point with its error, an unknown one a sentence."""
    patterns = {("uniform", ""): "uniform, 447.13 GiB, 512 in flight",
                ("zones", "s0.8 f0.2 s0.2 f0.8"): "two-zones, s0.8 f0.2 s0.2 f0.8",
                ("two-zones", "s0.6 f0.4 s0.4 f0.6"): "two-zones, s0.6 f0.4 s0.4 f0.6",
                ("read-only-part", "s0.2 f0 s0.8 f1"): "read-only-part, s0.2 f0 s0.8 f1",
                ("zipf-shuffle", "0.8"): "zipf, 0.8", ("zipf-noshuffle", "0.8"):
                "zipf, 0.8 in order", ("fiozipf", "0.8"): "fiozipf, 0.8",
                ("each-page-once", ""): "each-once, 447.13 GiB", ("beta", "2 5"): ""}
    table = "acme-9000-write-steady.csv"
    for (pattern, parameter) in patterns:
        write_table_with_changed_row(tmp_path, "samsung-pm9a3-write-steady.csv", 0,
                                     pattern=pattern, parameter=parameter, filled_gib="447.13",
                                     written_capacities="0.01")
        head, row = (tmp_path / "samsung-pm9a3-write-steady.csv").read_text().splitlines()
        with (tmp_path / table).open("a") as file:
            file.write(f"{row}\n" if file.tell() else f"{head}\n{row}\n")
    (tmp_path / "samsung-pm9a3-write-steady.csv").unlink()
    (tmp_path / "acme-9000-datasheet.csv").write_text("key,value,unit\ncapacity,480,GB\n")
    (tmp_path / "acme-9000.profile").write_text("op=20%\n")
    out = tmp_path / "points.json"
    said = run_drives_verb("acme-9000", "--tables", tmp_path, "--profiles", tmp_path,
                           f"--json={out}").err
    points = json.loads(out.read_text())["points"]
    assert [point["load"] for point in points] == [load for load in patterns.values() if load]
    assert all(point["ours"] > 0 and isinstance(point["error"], float) for point in points)
    assert {"--profile=generic-drive", "--op=20%"} <= set(points[0]["arguments"])
    assert f'{table}: 1 row of pattern "beta" left out; the simulator has uniform,' in said
    assert said.count("\n") == 1


#: A table of each layout, to spoil.
EXAMPLES = {name: next(iter(sorted(OWN_TABLES.glob(f"*-{name}.csv")))) for name in LAYOUTS}


def spoil_text_of_table(name: str, draw: Callable[[st.SearchStrategy[Any]], Any]
                        ) -> tuple[str, str]:
    """Return a table with one fault, and words of the sentence that has to name the fault."""
    rows = list(csv.DictReader(EXAMPLES[name].read_text("utf-8").splitlines()))
    header, layout = list(rows[0]), LAYOUTS[name]
    known = {column: words for column, words in layout.words.items() if words}
    results = [column for column in layout.results if column in header]
    fault = draw(st.sampled_from(["number", "column", "results", "row", "field", "twice",
                                  *["word"] * bool(known)]))
    at = draw(st.integers(0, len(rows) - 1))
    said = f", line {at + 2}, column "
    if fault == "word":
        column = draw(st.sampled_from(sorted(known)))
        rows[at][column] = word = draw(st.text("abcxyz", min_size=1).filter(
            lambda word: not re.fullmatch(known[column], word)))
        said += f'{column}: a field cannot be read: "{word}" ' + (
            "does not name a load" if "\\" in known[column] else
            f"is not one of {known[column].replace('|', ', ')}")
    elif fault == "number":
        column = draw(st.sampled_from([*layout.numbers, *results]))
        rows[at][column] = value = draw(st.sampled_from(NUMBERS))
        said += f'{column}: a field cannot be read: "{value}" is not a'
    elif fault == "column":
        column = draw(st.sampled_from([*layout.numbers, *layout.words]))
        header.remove(column)
        said = f": there is no column '{column}'"
    elif fault == "results":
        header = [column for column in header if column not in results]
        said = f": there is no column of results, such as {layout.results[0]}"
    elif fault == "row":
        rows.append(rows[at])
        said = f": line {len(rows) + 1} has the load of line {at + 2}"
    lines = [header, *([row[column] for column in header] for row in rows)]
    if fault == "field":
        lines[at + 1].append("1")
        said = f", line {at + 2}: there are not as many fields as columns"
    elif fault == "twice":
        for line in lines:
            line.append(line[0])
        said = f': there are two columns "{header[0]}"'
    out = io.StringIO()
    csv.writer(out).writerows(lines)
    return out.getvalue(), said


@pytest.mark.parametrize("name", LAYOUTS)
@given(data=st.data())
def test_a_faulty_table_is_refused_by_name(name: str, data: st.DataObject,
                                           tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("tables") / EXAMPLES[name].name
    text, said = spoil_text_of_table(name, data.draw)
    path.write_text(text, "utf-8")
    with pytest.raises(Refusal) as raised:
        read_measured_table(path, name)
    assert str(raised.value).startswith(f"{path}{said}"), raised.value


@pytest.mark.parametrize(("pattern", "parameter", "said"), [
    ("zipf", "abc", 'parameter "abc" of pattern "zipf" is no exponent from 0.01 to 8'),
    ("zipf", "", 'parameter "" of pattern "zipf" is no exponent'),
    ("zipf-shuffle", "-1", 'parameter "-1" of pattern "zipf" is no exponent'),
    ("fiozipf", "1e9", 'parameter "1e9" of pattern "fiozipf" is no exponent'),
    ("zipf", "0.8 0.9", 'parameter "0.8 0.9" of pattern "zipf" is no exponent'),
    ("two-zones", "s0.6 f0.4 s0.6 f0.6", 'parameter "s0.6 f0.4 s0.6 f0.6" does not name two parts'),
    ("zones", "s0.6 f4 s0.4 f6", "does not name two parts whose sizes"),
    ("two-zones", "s0 f0.4 s1 f0.6", "does not name two parts whose sizes"),
    ("read-only-part", "s0.2 f0 s0.8 f0", "each add up to 1"),
])
def test_a_pattern_whose_parameter_says_nothing_is_refused(pattern: str, parameter: str, said: str,
                                                           tmp_path: Path) -> None:
    """A comparison with another load than the measured one would look like an error of ours."""
    write_table_with_changed_row(tmp_path, "samsung-pm9a3-write-steady.csv", 0, pattern=pattern,
                                 parameter=parameter)
    drive = next(one for one in DRIVES if one.name == "samsung-pm9a3")
    with pytest.raises(Refusal) as raised:
        list_measured_points_of_drive(drive, SHAPE, tmp_path)
    assert "samsung-pm9a3-write-steady.csv, line 2: a field cannot be read" in str(raised.value)
    assert said in str(raised.value)


@pytest.mark.parametrize("path", sorted(OWN_TABLES.glob("*.csv")), ids=lambda path: path.stem)
def test_no_table_of_the_package_is_refused(path: Path) -> None:
    """The negative control of the refusals: each table as it is, is read."""
    names = [name for name in LAYOUTS if path.stem.endswith(f"-{name}")]
    for name in names:
        assert read_measured_table(path, name)
    assert names or path.stem.endswith(("-datasheet", "-write-transient"))


@pytest.mark.parametrize(("specification", "capacity"), [
    ("capacity_exact,960197124096,byte\n", 960197124096), ("capacity,960,GB\n", 960 * 10**9),
    ("capacity,1.92,TB\n", 1920 * 10**9), ("model,x,\n", 894.25 * 2**30)])
def test_the_capacity_of_an_unknown_drive_is_found(specification: str, capacity: float,
                                                   tmp_path: Path) -> None:
    (tmp_path / "acme-datasheet.csv").write_text(f"key,value,unit\n{specification}")
    (tmp_path / "acme-write-steady.csv").write_text("filled_gib\n372.61\n894.25\n")
    assert read_drive_capacity("acme", tmp_path) == capacity


@pytest.mark.parametrize(("specification", "said"), [
    ("capacity,many,GB\n", 'capacity "many GB" is no capacity'),
    ("capacity,960,parsec\n", 'capacity "960 parsec" is no capacity'),
    ("model,x,\n", "the capacity of acme is not known")])
def test_a_drive_of_unknown_capacity_is_refused(specification: str, said: str,
                                                tmp_path: Path) -> None:
    (tmp_path / "acme-datasheet.csv").write_text(f"key,value,unit\n{specification}")
    with pytest.raises(Refusal, match=said):
        read_drive_capacity("acme", tmp_path)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    assert "no table has a point" in run_drives_verb("--tables", tmp_path, status=3).err
    assert "no such directory" in run_drives_verb("--tables", tmp_path / "x", status=3).err


def test_the_page_of_drives_shows_all_measured_points(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run_drives_verb("kioxia-xg6", "wd-zn540", "--only", "16 KiB, 1", "--html", page)
    text = page.read_text()
    assert "WD Ultrastar" in text and "<svg" in text and "http" not in text.split("</style>")[1] \
        .replace("http://www.w3.org", "")


def test_a_certificate_says_what_was_compared_and_is_reproducible(tmp_path: Path) -> None:
    write_table_with_changed_row(tmp_path, "kioxia-xg6-fio.csv", 0)
    options = ("kioxia-xg6", "--tables", tmp_path, "--certificate", tmp_path / "own")
    texts = []
    for _ in range(2):
        run_drives_verb(*options)
        texts.append([(tmp_path / f"own.{kind}").read_text() for kind in ("html", "json")])
    assert texts[0] == texts[1]
    document = json.loads(texts[0][1])
    found = document["certificate"]
    table = tmp_path / "kioxia-xg6-fio.csv"
    assert found["tables_sha256"] == {table.name: hashlib.sha256(table.read_bytes()).hexdigest()}
    assert found["summary"] == [{"use": "unseen", "points": len(document["points"]),
                                 "within": sum(p["within"] for p in document["points"])}]
    assert shlex.split(found["repeat"])[2:-2] == list(map(str, options))
    assert found["simulator_sha256"] in texts[0][0] and found["repeat"] in texts[0][0]
