# SPDX-License-Identifier: GPL-2.0-only
"""Test that traces of other formats are replayed and simulated like converted traces."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from selftests.replay.support import (
    UNIT,
    UNIT_SECTORS,
    Entry,
    read_log,
    run_replay,
    run_replay_for_json,
)
from selftests.sim.support import (
    FLUSH,
    READ,
    WRITE,
    Header,
    Record,
    run_approxftl,
    run_sim,
    write_trace,
)
from selftests.traces import support as traces

#: Time in ticks, unit, and write flag of each request.
REQUESTS = [(i * 300_000, i * 7 % 50, i % 3 > 0) for i in range(300)]


def write_requests_as_msr(path: Path) -> Path:
    lines = (f"{128166372000000000 + t // 100},usr,0,{'Write' if write else 'Read'},"
             f"{unit * UNIT},{UNIT},10" for t, unit, write in REQUESTS)
    path.write_text("\n".join(lines) + "\n")
    return path


def write_requests_as_capture(path: Path) -> Path:
    """Write a capture in which each request begins on one processor and ends on another."""
    path.mkdir()
    files: list[list[traces.Event]] = [[], []]
    for i, (t, unit, write) in enumerate(REQUESTS):
        op = traces.WRITE if write else traces.READ
        for cpu, what, when in ((i % 2, traces.QUEUE, t), (1 - i % 2, traces.COMPLETE, t + 90000)):
            files[cpu].append(traces.make_request_event(when, what, op, unit * UNIT_SECTORS, UNIT,
                                                        cpu=cpu))
    for cpu, events in enumerate(files):
        (path / f"cap.blktrace.{cpu}").write_bytes(traces.pack_events(traces.sort_events(events)))
    return path


FORMATS = [(write_requests_as_msr, "MSR Cambridge CSV"),
           (write_requests_as_capture, "blktrace's binary trace")]
WANTED = [(t, unit * UNIT_SECTORS, UNIT_SECTORS, WRITE if write else READ)
          for t, unit, write in REQUESTS]


def extract_logged_request(entry: Entry) -> tuple[int, int, int, int]:
    return entry.due_ns, entry.off_sect, entry.nsect, entry.op


@pytest.mark.parametrize(("make", "title"), FORMATS)
def test_replayed_requests_equal_the_trace(tmp_path: Path, make: Callable[[Path], Path],
                                           title: str) -> None:
    log = tmp_path / "log"
    done = run_replay(make(tmp_path / "trace"), tmp_path / "disk", "--size", "1MiB", "--read-back",
                      "--record", log)
    assert done.code == 0, done.err
    assert [extract_logged_request(e) for e in read_log(log).sorted_log_entries
            if e.sequence] == WANTED
    assert title in done.err
    assert "300 requests: span 89.70 ms, 66.6 % writes" in done.err


@pytest.mark.parametrize(("make", "title"), FORMATS)
def test_simulation_equals_that_of_a_converted_trace(tmp_path: Path, make: Callable[[Path], Path],
                                                     title: str) -> None:
    trace, converted = make(tmp_path / "trace"), tmp_path / "converted.aft"
    traces.run_trace_tool_ok("convert", "-q", trace, converted)
    own = tmp_path / "own.json"
    done = run_replay("--simulate", f"--json={own}", trace, "--", "--policy", "baseline,approxftl")
    assert done.code == 0, done.err
    assert title in done.err
    wanted = run_sim("--trace", converted, "--arrival", "trace", "--policy", "baseline,approxftl")
    assert json.loads(own.read_text())["runs"] == wanted["runs"]


def test_tag_notes_of_a_blktrace_capture_become_data_classes(tmp_path: Path) -> None:
    events = [traces.make_request_event(1000, traces.QUEUE, traces.WRITE, 0, UNIT),
              traces.make_write_class_note(1001, 0, UNIT, "approximate"),
              traces.make_request_event(2000, traces.COMPLETE, traces.WRITE, 0, UNIT)]
    (tmp_path / "cap.blktrace.0").write_bytes(traces.pack_events(events))
    found = run_replay_for_json(tmp_path / "cap", tmp_path / "disk", "--size", "1MiB")
    assert [(row["op"], row["class"]) for row in found["latency"]] == [("write", "approximate")]


def test_a_write_event_with_a_preflush_is_replayed_as_flush_and_write(tmp_path: Path) -> None:
    """A write event with a preceding flush is replayed as a flush and a write."""
    events = [traces.make_request_event(1000, traces.QUEUE, traces.WRITE, 8, UNIT,
                                        flags=traces.IS_FLUSH),
              traces.make_request_event(2000, traces.COMPLETE, traces.WRITE, 8, UNIT,
                                        flags=traces.IS_FLUSH)]
    (tmp_path / "cap.blktrace.0").write_bytes(traces.pack_events(events))
    log = tmp_path / "log"
    run_replay_for_json(tmp_path / "cap", tmp_path / "disk", "--size", "1MiB", "--record", log)
    assert [extract_logged_request(e) for e in read_log(log).sorted_log_entries] == [
        (0, 0, 0, FLUSH), (0, 8, 8, WRITE)]


def test_dropped_lines_of_a_trace_are_reported_once(tmp_path: Path) -> None:
    trace = write_requests_as_msr(tmp_path / "t.csv")
    trace.write_text(trace.read_text() + "torn li")
    # With --fold the trace is read three times.
    done = run_replay(trace, tmp_path / "disk", "--size", "64KiB", "--fold")
    assert done.code == 0
    assert done.err.count("line 301") == done.err.count("1 lines were dropped") == 1


def test_columns_of_a_csv_trace_are_set_by_an_option(tmp_path: Path) -> None:
    trace, log = tmp_path / "own.csv", tmp_path / "log"
    trace.write_text("when,where,what,long\n5,8,W,8\n9,16,R,8\n")
    done = run_replay(trace, tmp_path / "disk", "--size", "1MiB", "--record", log, "--from", "csv",
                      "--columns", "time=1,offset=2,op=3,bytes=4", "--time-unit", "us",
                      "--offset-unit", "sectors")
    assert done.code == 0, done.err
    assert [extract_logged_request(e) for e in read_log(log).sorted_log_entries] == [
        (0, 8, 8, WRITE), (4000, 16, 8, READ)]


def test_compressed_record_files_are_read(tmp_path: Path) -> None:
    plain = write_trace(tmp_path / "t.aft", [Record(0, 8, 8, WRITE, 1), Record(5, 16, 8, READ)],
                        Header(classes=("precise", "sketchy")))
    packed = tmp_path / "t.aft.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    found = run_replay_for_json(packed, tmp_path / "disk", "--size", "1MiB")
    assert [row["class"] for row in found["latency"]] == ["precise", "sketchy"]


def test_options_for_reading_a_trace_equal_those_of_verb_trace(tmp_path: Path) -> None:
    done = run_approxftl("replay", "--dry-run", write_requests_as_msr(tmp_path / "t.csv"),
                         tmp_path / "disk",
                         "--size", "1MiB")
    assert (done.code, "300 requests" in done.out) == (0, True)
