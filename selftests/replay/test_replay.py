# SPDX-License-Identifier: GPL-2.0-only
"""Test replays on plain files: their schedule, data, disturbances and refusals."""

import hashlib
import json
import random
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.lib.programs import TOP
from selftests.replay.support import (
    ENTRY,
    HEADER_BYTES,
    MIB,
    UNIT,
    UNIT_SECTORS,
    Entry,
    make_request_of_whole_units,
    read_log,
    run_replay,
    run_replay_for_json,
    start_replay,
    sum_logged_field,
    wait_for_log_entries,
)
from selftests.sim.support import (
    DISCARD,
    FLUSH,
    FUA,
    READ,
    WRITE,
    WRITE_ZEROES,
    Header,
    Record,
    crc32c,
    run_sim,
    write_trace,
)

APPROX = 1


def make_mixed_requests(count: int, seed: int = 1, units: int = 200,
                        gap_us: int = 200) -> list[Record]:
    """Return requests of all operations, 4 KiB to 64 KiB."""
    draw = random.Random(seed)
    records = []
    for i in range(count):
        op = draw.choices((READ, WRITE, WRITE | FUA, FLUSH, DISCARD), (8, 9, 1, 1, 1))[0]
        length = 0 if op == FLUSH else draw.randint(1, 16)
        first = 0 if op == FLUSH else draw.randrange(units - length)
        klass = draw.randint(0, 1) if op == WRITE else 0
        records.append(make_request_of_whole_units(i * gap_us / 1000, first, op, klass, length))
    return records



def test_requests_issued_by_a_replay_equal_those_of_the_record_file(tmp_path: Path) -> None:
    records = make_mixed_requests(500)
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    document = run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log)
    entries = read_log(log).sorted_log_entries
    assert [e.sequence for e in entries] == list(range(1, 501))
    wanted = [(r.off_sect, r.nsect, r.op, r.klass, 0) for r in records]
    assert [e.entry_fields_without_times for e in entries] == wanted
    assert [e.due_ns for e in entries] == [r.t_ns for r in records]
    assert document["done_requests"] == document["planned_requests"] == 500
    assert document["failed_requests"] == 0


def test_no_request_is_early_and_the_replay_lasts_as_long_as_the_trace(tmp_path: Path) -> None:
    records = make_mixed_requests(1000)
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log)
    entries = read_log(log).sorted_log_entries
    assert all(e.due_ns <= e.submit_ns <= e.complete_ns for e in entries)
    assert [e.due_ns for e in entries] == [r.t_ns for r in records]


@pytest.mark.parametrize(("speed", "factor"), [("2", 0.5), ("0.5", 2), ("1000", 0.001)])
def test_option_speed_divides_arrival_times(tmp_path: Path, speed: str, factor: float) -> None:
    records = make_mixed_requests(50)
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log, "--speed",
                        speed)
    assert [e.due_ns for e in read_log(log).sorted_log_entries] == [int(r.t_ns * factor)
                                                                    for r in records]


def find_max_requests_in_flight(entries: list[Entry]) -> int:
    """Return the largest number of requests in flight, from their times."""
    moments = [(e.submit_ns, 1) for e in entries] + [(e.complete_ns, -1) for e in entries]
    now = most = 0
    for _, change in sorted(moments):
        now += change
        most = max(most, now)
    return most


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("how", [("--closed-loop", "4"), ("--no-stall", "--limit", "4")])
def test_closed_loop_replays_ignore_arrival_times(tmp_path: Path, engine: str,
                                                  how: tuple[str, ...]) -> None:
    records = [make_request_of_whole_units(i * 1000, i % 100, WRITE) for i in range(2000)]
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    done = run_replay_for_json(
        trace, tmp_path / "disk", "--size", "1MiB", "--record", log, "--engine", engine, *how
    )
    assert done["fidelity"]["mode"] == "closed_loop"
    assert done["elapsed_ns"] < records[-1].t_ns
    assert 1 <= find_max_requests_in_flight(read_log(log).entries) <= 4


def test_the_depth_limit_holds_in_an_open_loop(tmp_path: Path) -> None:
    records = [make_request_of_whole_units(0, i % 100, WRITE, units=16) for i in range(300)]
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    done = run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log,
                               "--limit", "3")
    assert done["fidelity"]["mode"] == "open_loop"
    assert find_max_requests_in_flight(read_log(log).entries) <= 3
    assert done["fidelity"]["lag"]["max_ns"] > 0


def test_io_uring_and_threads_issue_the_same_requests(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(400, gap_us=0))
    found = {}
    for engine in ("io_uring", "threads"):
        disk, log = tmp_path / f"disk-{engine}", tmp_path / f"log-{engine}"
        # Depth one, so that overlapping writes complete in stream order.
        run_replay_for_json(
            trace, disk, "--size", "1MiB", "--record", log, "--engine", engine, "--closed-loop", "1"
        )
        requests = [e.entry_fields_without_times for e in read_log(log).sorted_log_entries]
        found[engine] = (hashlib.sha256(disk.read_bytes()).hexdigest(), requests)
    assert found["io_uring"] == found["threads"]


def test_the_seed_determines_the_data(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", [make_request_of_whole_units(0, 3, WRITE, APPROX, 4)])
    contents = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        run_replay_for_json(trace, tmp_path / name, "--size", "64KiB", "--seed", seed)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1] != contents[2]
    assert contents[0][: 3 * UNIT] == bytes(3 * UNIT)


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
@pytest.mark.parametrize("grain", [1, 8])
def test_option_read_back_verifies_all_written_data(tmp_path: Path, engine: str,
                                                    grain: int) -> None:
    draw = random.Random(grain)
    records = []
    for i in range(600):
        length = draw.randint(1, 16) * grain
        op = draw.choice((READ, WRITE, WRITE, DISCARD if i < 100 else READ))
        first = draw.randrange(2048 // grain - 16) * grain
        records.append(Record(i * 20_000, first, length, op, draw.randint(0, 1)))
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    done = run_replay_for_json(
        trace, tmp_path / "disk", "--size", "1MiB", "--record", log, "--read-back", "--engine",
        engine
    )
    entries = read_log(log).entries
    assert read_log(log).about["unit_bytes"] == (UNIT if grain == 8 else 512)
    # On a busy machine, a late discard may remove data written after it was issued.
    assert sum_logged_field(entries, "precise_units") > 20
    assert sum_logged_field(entries, "approx_units") > 20
    assert done["data"]["precise"]["units"] == sum_logged_field(entries, "precise_units")
    wrong = ("precise_flips", "approx_flips", "lost", "misplaced", "stale")
    assert {name: sum_logged_field(entries, name) for name in wrong} == dict.fromkeys(wrong, 0)


Spoil = Callable[[bytearray, bytes], None]


def flip_precise_bits(now: bytearray, _before: bytes) -> None:
    now[0 * UNIT + 2000] ^= 0x11


def flip_approximate_bits(now: bytearray, _before: bytes) -> None:
    now[1 * UNIT + 3000] ^= 0x07


def zero_first_unit(now: bytearray, _before: bytes) -> None:
    now[:UNIT] = bytes(UNIT)


def overwrite_first_unit_with_third(now: bytearray, _before: bytes) -> None:
    now[:UNIT] = now[2 * UNIT : 3 * UNIT]


def restore_first_unit(now: bytearray, before: bytes) -> None:
    now[:UNIT] = before[:UNIT]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "wrong", "code"),
    [
        (flip_precise_bits, {"precise_flips": 2}, 4),
        (flip_approximate_bits, {"approx_flips": 3}, 0),
        (zero_first_unit, {"lost": 1}, 4),
        (overwrite_first_unit_with_third, {"misplaced": 1}, 4),
        (restore_first_unit, {"stale": 1}, 4),
        (None, {}, 0),
    ],
)
@pytest.mark.in_turn
def test_replay_counts_wrong_data_as_flipped_lost_misplaced_or_stale(
        tmp_path: Path, spoil: Spoil | None, wrong: dict[str, int], code: int) -> None:
    writes = [make_request_of_whole_units(0, 0, WRITE),
              make_request_of_whole_units(0, 1, WRITE, APPROX),
              make_request_of_whole_units(0, 2, WRITE)]
    # The steps between must not take four seconds.
    again = [make_request_of_whole_units(4000, 0, WRITE)]
    reads = [make_request_of_whole_units(8000, number, READ) for number in range(4)]
    trace = write_trace(tmp_path / "t.aft", writes + again + reads)
    disk, log = tmp_path / "disk", tmp_path / "log"
    running = start_replay(trace, disk, "--size", "64KiB", "--verify", "--buffered", "--record",
                           log)
    wait_for_log_entries(log, 3)
    before = disk.read_bytes()
    wait_for_log_entries(log, 4)
    content = bytearray(disk.read_bytes())
    assert content[:UNIT] != before[:UNIT]
    if spoil:
        spoil(content, before)
        with disk.open("r+b") as file:
            file.write(content)
    _, err = running.communicate()
    assert running.returncode == code, err
    entries = read_log(log).entries
    kinds = ("precise_flips", "approx_flips", "lost", "misplaced", "stale")
    assert {name: sum_logged_field(entries, name) for name in kinds
            if sum_logged_field(entries, name)} == wrong
    lost = sum(wrong.get(name, 0) for name in ("lost", "misplaced", "stale"))
    assert sum_logged_field(entries, "precise_units") == 2 - lost
    assert sum_logged_field(entries, "approx_units") == 1
    assert ("data came back wrong" in err) == (code == 4)


def write_slow_trace(tmp_path: Path) -> Path:
    records = [make_request_of_whole_units(i * 20, i % 50, WRITE, i % 2) for i in range(4000)]
    return write_trace(tmp_path / "t.aft", records)


def test_a_killed_replay_leaves_a_usable_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    running = start_replay(write_slow_trace(tmp_path), tmp_path / "disk", "--size", "1MiB",
                           "--record", log)
    wait_for_log_entries(log, 50)
    running.kill()
    running.communicate()
    entries = read_log(log)
    assert entries.count == 0
    assert 50 <= len(entries.entries) < 4000
    # Requests in flight are missing, at most as many as the default depth.
    numbers = [e.sequence for e in entries.sorted_log_entries]
    assert len({*numbers}) == len(numbers) > numbers[-1] - 1024 and numbers[0] >= 1
    done = run_replay("--summarise", log, "--json")
    document = json.loads(done.out)
    assert done.code == 0
    assert document["interrupted"]
    assert document["done_requests"] == len(entries.entries)
    assert document["planned_requests"] == 4000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_replay_reports_completed_requests(
        tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "log"
    running = start_replay(write_slow_trace(tmp_path), tmp_path / "disk", "--size", "1MiB",
                           "--record", log)
    wait_for_log_entries(log, 20)
    running.send_signal(number)
    out, err = running.communicate()
    assert (running.returncode, err) == (130, "")
    found = re.match(r"(\d+) of 4000 requests", out)
    assert found
    assert 4000 > int(found[1]) == read_log(log).count == len(read_log(log).entries)


def test_a_log_cut_inside_an_entry_is_still_read(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(20))
    log = tmp_path / "log"
    run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log)
    data = bytearray(log.read_bytes())
    cut = tmp_path / "cut"
    cut.write_bytes(data[: HEADER_BYTES + 7 * ENTRY.size + 5])
    done = run_replay("--summarise", cut)
    assert done.code == 1
    assert "ends after 7 of 20 entries" in done.err
    # A killed replay leaves a header without a count.
    data[32:40] = bytes(8)
    data[4092:4096] = crc32c(bytes(data[:4092])).to_bytes(4, "little")
    cut.write_bytes(data[: HEADER_BYTES + 7 * ENTRY.size + 5])
    done = run_replay("--summarise", cut)
    assert done.code == 0
    assert "7 of 20 requests" in done.out
    assert "ends inside an entry" in done.err


def remove_keys_from_document(document: dict[str, object], *keys: str) -> dict[str, object]:
    return {key: value for key, value in document.items() if key not in keys}


def test_summary_made_from_a_replay_log_equals_that_of_the_replay(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(300))
    log = tmp_path / "log"
    live = run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log,
                               "--read-back")
    later = run_replay_for_json("--summarise", log)
    changing = ("tool", "trace", "target", "log")
    assert (remove_keys_from_document(live, *changing)
            == remove_keys_from_document(later, *changing))


@pytest.mark.parametrize("spoiled", range(6))
def test_damaged_logs_are_refused(tmp_path: Path, spoiled: int) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(5))
    log = tmp_path / "log"
    run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--record", log)
    data = bytearray(log.read_bytes())
    place = (0, 8, 40, 600, 4093, HEADER_BYTES + 36)[spoiled]
    data[place] ^= 0x41
    log.write_bytes(data)
    done = run_replay("--summarise", log)
    assert (done.code, done.out.count("behind schedule") < 2) == (1, True)
    assert done.err.startswith(f"approxftl replay: {log}: ")


def pack_replay_log(records: list[Record], header: Header | None = None) -> bytes:
    return (header or Header()).pack_header() + b"".join(r.pack_record() for r in records)


WRITES = [make_request_of_whole_units(i, i, WRITE) for i in range(10)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"time,offset\n" * 1000, "the format is not known"),
        (b"\x89AFT\r\n\x1a\n", "ends inside its header"),
        (pack_replay_log(WRITES)[:-5], "ends inside a record"),
        (pack_replay_log(WRITES, Header(records=11)), "ends after 10 of 11 records"),
        (pack_replay_log([*WRITES, make_request_of_whole_units(3, 1, WRITE)]),
         "before that of the previous"),
        (pack_replay_log([*WRITES, make_request_of_whole_units(30, 1, 9)]),
         "operation 9 is unknown"),
        (pack_replay_log([*WRITES, make_request_of_whole_units(30, 1, WRITE, 2)]),
         "tag class 2 is unknown"),
        (pack_replay_log([*WRITES, make_request_of_whole_units(30, 1, WRITE, 0, 0)]),
         "a length of 0 sectors"),
        (pack_replay_log(WRITES, Header(break_checksum=True)), "header is damaged"),
        (pack_replay_log([]), "has no requests"),
        (pack_replay_log([Record(0, 0, 1 << 31, WRITE)]), "a request has"),
    ],
)
def test_a_damaged_trace_leaves_the_device_unchanged(tmp_path: Path, content: bytes,
                                                     said: str) -> None:
    trace, disk = tmp_path / "t.aft", tmp_path / "disk"
    trace.write_bytes(content)
    disk.write_bytes(b"precious" * 8192)
    done = run_replay(trace, disk, "--overwrite")
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert disk.read_bytes() == b"precious" * 8192


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["t.aft", "old"], 1, "--overwrite"),
        (["t.aft", "new"], 3, "--size SIZE makes a file"),
        (["none.aft", "old"], 3, "none.aft: cannot open"),
        (["t.aft", "old", "--overwrite"], 1, "--fold"),
        (["t.aft", "/dev/null", "--overwrite"], 1, "neither a block device nor a file"),
        (["t.aft", "new", "--size", "1MiB", "--max-lag", "1ns", "--spin", "0"], 4, "--max-lag"),
        (["t.aft"], 2, "TARGET missing"),
        ([], 2, "TRACE missing"),
        (["-", "new", "--size", "1MiB"], 1, "read twice"),
        (["t.aft", "new", "more"], 2, "one word too many"),
        (["t.aft", "new", "--sped", "2"], 2, "did you mean --speed?"),
        (["t.aft", "new", "--wonder"], 2, "unknown option"),
        (["t.aft", "new", "--speed"], 2, "needs a value"),
        (["t.aft", "new", "--speed", "0"], 2, "out of range"),
        (["t.aft", "new", "--limit", "many"], 2, "--limit: "),
        (["t.aft", "new", "--engine", "steam"], 2, "neither io_uring nor threads"),
        (["t.aft", "new", "--align", "3072"], 2, "power of two"),
        (["t.aft", "new", "--size", "1000"], 2, "multiple of 512"),
        (["t.aft", "new", "--size", "1MiB", "--tags", "require"], 1, "/dev/approxftl"),
        (["t.aft", "new", "--size", "1MiB", "--record", "/none/log"], 1,
         "/none/log: cannot create"),
        (["t.aft", "new", "--size", "1MiB", "--json=/none/x"], 1, "/none/x: cannot create"),
        (["t.aft", "new", "--simulate"], 2, "takes no target"),
        (["t.aft", "--simulate", "--record", "log"], 2, "--record logs requests to a target"),
        (["--summarise", "none.log"], 3, "none.log: cannot open"),
        (["--summarise", "t.aft"], 1, "not the log of a replay"),
    ],
)
def test_invalid_options_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    if "require" in arguments and Path("/dev/approxftl").exists():
        pytest.skip("there is a /dev/approxftl")
    monkeypatch.chdir(tmp_path)
    write_trace(tmp_path / "t.aft", WRITES)
    (tmp_path / "old").write_bytes(b"precious")
    done = run_replay(*arguments)
    assert (done.code, said in done.err) == (code, True), done.err
    assert done.err.count("\n") == 1
    assert (tmp_path / "old").read_bytes() == b"precious"


@pytest.mark.slow
def test_a_failed_request_fails_the_replay(tmp_path: Path) -> None:
    # The file is truncated during the replay, so that reads are short.
    records = [make_request_of_whole_units(0, 0, WRITE), make_request_of_whole_units(5000, 8, READ)]
    trace = write_trace(tmp_path / "t.aft", records)
    disk, log = tmp_path / "disk", tmp_path / "log"
    running = start_replay(trace, disk, "--size", "64KiB", "--record", log)
    wait_for_log_entries(log, 1)
    with disk.open("r+b") as file:
        file.truncate(UNIT)
    out, _ = running.communicate()
    assert running.returncode == 1
    assert "failed: 1, the first with: Input/output error" in out
    assert [e.error for e in read_log(log).sorted_log_entries] == [0, 5]


def test_dry_run_changes_nothing(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(50))
    done = run_replay(trace, tmp_path / "disk", "--size", "1MiB", "--dry-run", "--record",
                      tmp_path / "log")
    assert done.code == 0
    assert "50 requests" in done.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.aft"]
    old = tmp_path / "old"
    old.write_bytes(b"precious" * 131072)
    assert run_replay(trace, old, "--dry-run").code == 0
    assert old.read_bytes() == b"precious" * 131072


@settings(max_examples=20)
@given(
    requests=st.lists(
        st.tuples(st.integers(0, 1 << 30), st.integers(1, 64)), min_size=1, max_size=20
    ),
    size_units=st.integers(64, 300),
)
def test_option_fold_of_replay_keeps_requests_inside_the_device(
    tmp_path_factory: pytest.TempPathFactory, requests: list[tuple[int, int]], size_units: int
) -> None:
    place = tmp_path_factory.mktemp("fold")
    records = [make_request_of_whole_units(0, first, READ, 0, units) for first, units in requests]
    trace = write_trace(place / "t.aft", records)
    log = place / "log"
    size = size_units * UNIT
    run_replay_for_json(trace, place / "disk", "--size", str(size), "--fold", "--record", log)
    for (first, units), entry in zip(requests, read_log(log).sorted_log_entries, strict=True):
        assert entry.nsect == units * UNIT_SECTORS
        assert entry.off_sect + entry.nsect <= size // 512
        inside = first + units <= size_units
        folded = min(first % size_units, size_units - units)
        assert entry.off_sect == (first if inside else folded) * UNIT_SECTORS


def test_option_align_rounds_ranges_outward(tmp_path: Path) -> None:
    records = [Record(0, 3, 2, READ), Record(0, 8, 8, READ), Record(0, 15, 2, READ)]
    trace = write_trace(tmp_path / "t.aft", records)
    log = tmp_path / "log"
    run_replay_for_json(trace, tmp_path / "disk", "--size", "64KiB", "--align", "4KiB", "--record",
                        log)
    entries = read_log(log).sorted_log_entries
    assert [(e.off_sect, e.nsect) for e in entries] == [(0, 8), (8, 8), (8, 16)]


def test_option_count_limits_the_requests(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(100))
    done = run_replay_for_json(trace, tmp_path / "disk", "--size", "1MiB", "--requests", "7")
    assert done["done_requests"] == done["planned_requests"] == 7


def test_replayed_write_zeroes_and_discards_zero_the_target_file(tmp_path: Path) -> None:
    records = [make_request_of_whole_units(0, 0, WRITE, 0, 4),
               make_request_of_whole_units(50, 1, DISCARD),
               make_request_of_whole_units(50, 2, WRITE_ZEROES)]
    trace = write_trace(tmp_path / "t.aft", records)
    disk = tmp_path / "disk"
    done = run_replay_for_json(trace, disk, "--size", "16KiB", "--closed-loop", "1")
    assert done["failed_requests"] == 0
    content = disk.read_bytes()
    empty = [content[i * UNIT : (i + 1) * UNIT] == bytes(UNIT) for i in range(4)]
    assert empty == [False, True, True, False]


def read_sim_counters(document: dict[str, object]) -> dict[str, int]:
    runs = document["runs"]
    assert isinstance(runs, list)
    found: dict[str, int] = runs[0]["counters"]
    return found


def test_a_machine_too_slow_for_the_schedule_is_reported(tmp_path: Path) -> None:
    """With --late 1ns every replay is reported as late, with --late 1h none."""
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(100))
    for late, said in (("1ns", True), ("1h", False)):
        done = run_replay(trace, tmp_path / late, "--size", str(MIB), "--late", late)
        assert done.code == 0, done.err
        assert ("this machine was too slow for the schedule: " in done.out) == said, done.out


def test_option_simulate_runs_the_same_requests(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(400))
    direct = run_sim("--trace", trace, "--arrival", "trace")
    done = run_replay("--simulate", trace, "--json", "--", "--policy", "baseline")
    assert done.code == 0, done.err
    assert read_sim_counters(json.loads(done.out)) == read_sim_counters(direct)
    path = tmp_path / "a file.json"
    done = run_replay("--simulate", trace, f"--json={path}", "--", "--policy", "baseline")
    assert done.code == 0, done.err
    assert read_sim_counters(json.loads(path.read_text())) == read_sim_counters(direct)


def test_options_speed_and_requests_of_replay_apply_to_option_simulate(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(400))
    direct = run_sim("--trace", trace, "--arrival", "trace", "--time-scale", "0.5", "--requests",
                     "99")
    done = run_replay(
        *("--simulate", trace, "--speed", "2", "--requests", "99", "--json"),
        *("--", "--seed", "5", "--policy", "baseline,approxftl"),
    )
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert len(document["runs"]) == 2
    assert document["seed"] == 5
    counter = "host_write_units"
    assert read_sim_counters(document)[counter] == read_sim_counters(direct)[counter]


@pytest.mark.parametrize(
    ("own", "sim_words", "said"),
    [
        ((), (), True),
        (("--quiet",), (), False),
        ((), ("--fill", "none"), False),
        ((), ("--set", "fill=none"), False),
    ],
)
def test_simulate_prints_the_starting_state(
    tmp_path: Path, own: tuple[str, ...], sim_words: tuple[str, ...], said: bool
) -> None:
    """A replay prints a hint about a device's initial state unless an option sets the state."""
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(10))
    done = run_replay("--simulate", *own, trace, "--", *sim_words)
    assert done.code == 0, done.err
    assert ('or create that device with "fill random"' in done.err) == said, done.err


def test_simulate_passes_the_exit_status_on(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.aft", make_mixed_requests(10))
    done = run_replay("--simulate", trace, "--", "--policy", "nobody")
    assert done.code == 2
    assert "unknown policy" in done.err


def test_option_fold_of_replay_simulate_wraps_trace_addresses_at_the_device_size(
    tmp_path: Path,
) -> None:
    """--fold wraps addresses at --size or the device's size; without --fold they are refused."""
    trace = write_trace(tmp_path / "t.aft", [make_request_of_whole_units(0, 1 << 20, WRITE)])
    refused = run_replay("--simulate", trace)
    assert (refused.code, "--fold takes addresses modulo" in refused.err) == (1, True), refused.err
    for size, wrapped in (((), 1), (("--size", str(MIB)), 0)):
        done = run_replay("--simulate", trace, "--fold", *size, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["stream"]["wrapped_requests"] == wrapped


PAGE = TOP / "trace-tools/replay/approxftl-replay.1.rst"


def test_the_manual_page_lists_the_fields_of_the_replay_log() -> None:
    header = (TOP / "trace-tools/replay/replay-log.h").read_text()
    page = PAGE.read_text()
    fields = re.findall(r"^ \*\s+(\d+)\s+([1248])  (\w+)\s", header.split("Entry:")[1], re.M)
    assert len(fields) == 16
    for offset, size, name in fields:
        assert re.search(rf"^{offset} +{size} +{name}\b", page, re.M), name
