# SPDX-License-Identifier: GPL-2.0-only
"""Captures are parsed as by blkparse and btt, and begin and end of each request are paired."""

import random
import re
import subprocess
from pathlib import Path

import pytest
from selftests.traces.support import (
    COMPLETE,
    DEVICE,
    DISCARD,
    FLUSH,
    IS_FLUSH,
    IS_FUA,
    IS_NOTE,
    IS_WRITE_ZEROES,
    ISSUE,
    NOTE_MESSAGE,
    NOTE_PROCESS,
    PLUG,
    QUEUE,
    READ,
    SPLIT,
    WRITE,
    Event,
    make_request_event,
    make_trace_note,
    make_write_class_note,
    pack_events,
    parse_blktrace_events_of_version_7,
    read_trace_rows,
    run_trace_tool,
    run_trace_tool_json,
    run_trace_tool_ok,
    sort_events,
    write_test_file,
)

US = 1000


def make_random_capture(seed: int, requests: int = 400, processors: int = 3) -> list[list[Event]]:
    """Return each processor's events: requests that overlap, and complete on any processor."""
    draw = random.Random(seed)
    files: list[list[Event]] = [[] for _ in range(processors)]
    now = 1_000_000
    for cpu in range(processors):
        files[cpu].append(make_trace_note(now, NOTE_PROCESS,
                                          f"writer{cpu}".encode().ljust(16, b"\0"),
                                          pid=100 + cpu, cpu=cpu, group=seed % 2 == 1))
    for number in range(requests):
        now += draw.randrange(1, 50 * US)
        op = draw.choice([READ, WRITE, WRITE, DISCARD])
        sector, size = number * 4096, 512 * draw.randrange(1, 256)
        first, last = draw.randrange(processors), draw.randrange(processors)
        files[first].append(make_request_event(now, QUEUE, op, sector, size, pid=100 + first,
                                               cpu=first))
        end = now + draw.randrange(1, 900 * US)
        files[last].append(make_request_event(end, COMPLETE, op, sector, size, cpu=last))
    for cpu, events in enumerate(files):
        count = 0
        for place, event in enumerate(ordered := sort_events(events)):
            if not event.action >> 16 & IS_NOTE:
                count += 1
                ordered[place] = Event(**{**event.__dict__, "sequence": count})
        files[cpu] = ordered
    return files


def write_capture(directory: Path, files: list[list[Event]], version: int = 7,
                  order: str = "<") -> Path:
    """Write a blktrace capture, and return its base name."""
    for cpu, events in enumerate(files):
        write_test_file(directory / f"cap.blktrace.{cpu}", pack_events(events, version, order))
    return directory / "cap"


def pair_events_in_python(data: list[bytes]) -> list[tuple[int, int, int, int]]:
    """Pair begin and end of requests by a simple algorithm; return time, sector, size, latency."""
    events = sorted((seen for one in data for seen in parse_blktrace_events_of_version_7(one)),
                    key=lambda seen: seen.t_ns)
    ends = {(e.sector, e.size): e.t_ns for e in events if e.action & 0xFF == COMPLETE
            and not e.action >> 16 & 1024}
    return [(e.t_ns, e.sector, e.size, ends[e.sector, e.size] - e.t_ns) for e in events
            if e.action & 0xFF == QUEUE and not e.action >> 16 & 1024]


@pytest.mark.parametrize(("seed", "requests", "processors"), [
    (1, 400, 3), (2, 400, 3), (5, 9000, 1), (7, 9000, 2), (8, 9000, 7),
])
def test_paired_requests_equal_those_of_a_simple_implementation(
    tmp_path: Path, seed: int, requests: int, processors: int
) -> None:
    name = write_capture(tmp_path, make_random_capture(seed, requests, processors))
    expected = pair_events_in_python([f.read_bytes()
                                      for f in sorted(tmp_path.glob("cap.blktrace.*"))])
    found = [(r.t_ns, r.offset // 512, r.size, r.latency_ns) for r in read_trace_rows(name)]
    assert len(found) == requests
    assert found == expected


def test_requests_are_found_among_many_other_events(tmp_path: Path) -> None:
    # Events of 64 bytes end exactly at the end of any buffer of a power of two.
    plugs = [Event(t, PLUG, sequence=t) for t in range(1, 40_000)]
    ends = [make_request_event(50_000, QUEUE, READ, 8, 512),
            make_request_event(60_000, COMPLETE, READ, 8, 512)]
    (row,) = read_trace_rows(write_test_file(tmp_path / "t", pack_events([*plugs, *ends],
                                                                         version=8)))
    assert row.latency_ns == 10_000


def test_requests_of_a_deep_queue_are_paired_when_they_complete_in_any_order(
        tmp_path: Path) -> None:
    draw = random.Random(9)
    sectors = draw.sample(range(1 << 30), 20_000)
    begins = [make_request_event(1000 + i, QUEUE, WRITE, sector, 512) for i,
              sector in enumerate(sectors)]
    ends = [make_request_event(200_000 + i, COMPLETE, WRITE, sector, 512)
            for i, sector in enumerate(draw.sample(sectors, len(sectors)))]
    file = write_test_file(tmp_path / "t", pack_events(begins + ends))
    found = [(r.t_ns, r.offset // 512, r.size, r.latency_ns) for r in read_trace_rows(file)]
    assert found == pair_events_in_python([file.read_bytes()])


def test_events_of_equal_time_are_read_in_the_order_of_the_files(tmp_path: Path) -> None:
    draw = random.Random(3)
    files: list[list[Event]] = [[] for _ in range(4)]
    for number in range(3000):
        cpu = draw.randrange(4)
        files[cpu].append(make_request_event(1000 + number // 8, QUEUE, READ, 8 * number, 512,
                                             cpu=cpu))
    expected = sorted((e for events in files for e in events), key=lambda e: (e.t_ns, e.cpu))
    found = read_trace_rows(write_capture(tmp_path, files))
    assert [r.offset // 512 for r in found] == [e.sector for e in expected]


@pytest.mark.parametrize(("version", "order"), [(7, ">"), (8, "<"), (8, ">")])
def test_blktrace_versions_and_byte_orders_give_the_same_requests(tmp_path: Path, version: int,
                                                                  order: str) -> None:
    # Packed by the declarations of Linux 6.19: neither the kernels that the tests run (6.1 and
    # 6.12) nor blktrace 1.2.0 can make a capture of version 8.
    plain, other = tmp_path / "a", tmp_path / "b"
    plain.mkdir()
    other.mkdir()
    files = make_random_capture(3)
    expected = read_trace_rows(write_capture(plain, files))
    assert read_trace_rows(write_capture(other, files, version, order)) == expected
    assert expected[0].process in {"writer0", "writer1", "writer2"}


@pytest.mark.parametrize("seed", [4, 6])
def test_mean_latency_equals_that_of_btt(tmp_path: Path, seed: int) -> None:
    name = write_capture(tmp_path, make_random_capture(seed))
    merged = tmp_path / "merged.bin"
    subprocess.run(["blkparse", "-i", name, "-d", merged, "-O"], check=True, capture_output=True)
    said = subprocess.run(
        ["btt", "-i", merged], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    q2c = re.search(r"^Q2C\S*\s+(\S+)\s+(\S+)\s+(\S+)\s+(\d+)", said, re.MULTILINE)
    assert q2c, said
    latency = run_trace_tool_json("pair", name)["requests"]["all"]["latency"]
    assert latency["known"] == int(q2c[4]) == 400
    for ours, theirs in zip(("min_ns", "mean_ns", "max_ns"), q2c.groups(), strict=False):
        assert latency[ours] == pytest.approx(float(theirs) * 1e9, abs=1)


def test_events_equal_those_of_blkparse(tmp_path: Path) -> None:
    name = write_capture(tmp_path, make_random_capture(8))
    spec = r"%T.%t %c %p %a %d %S %N\n"
    said = subprocess.run(["blkparse", "-i", name, "-q", "-f", spec], check=True,
                          capture_output=True, text=True).stdout
    queued = [line.split() for line in said.splitlines() if " Q " in line]
    ours = read_trace_rows(name)
    first = ours[0].t_ns
    assert len(queued) == 400
    assert [(int(c[0].replace(".", "")), int(c[2]), int(c[5]), int(c[6])) for c in queued] == [
        (r.t_ns - first, r.pid, r.offset // 512, r.size) for r in ours]
    text = write_test_file(tmp_path / "text", said)
    again = read_trace_rows("--from", "blkparse", "--columns", spec, text)
    assert [(r.t_ns - again[0].t_ns, r.op, r.offset, r.size, r.latency_ns) for r in again] == [
        (r.t_ns - first, r.op, r.offset, r.size, r.latency_ns) for r in ours]


def test_default_text_of_blkparse_gives_the_same_requests(tmp_path: Path) -> None:
    name = write_capture(tmp_path, make_random_capture(10))
    said = subprocess.run(["blkparse", "-i", name], check=True, capture_output=True).stdout
    text = write_test_file(tmp_path / "text", said)
    ours, again = read_trace_rows(name), read_trace_rows(text)
    assert run_trace_tool_json("info", text)["losses"]["dropped_lines"] == 0
    assert [(r.t_ns - again[0].t_ns, r.op, r.offset, r.size, r.latency_ns, r.process)
            for r in again] == [
        (r.t_ns - ours[0].t_ns, r.op, r.offset, r.size, r.latency_ns, r.process) for r in ours]


def test_the_completion_of_merged_requests_completes_each_of_them(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, WRITE, 8, 4096),
        make_request_event(20, QUEUE, WRITE, 0, 4096),
        make_request_event(30, QUEUE, WRITE, 16, 4096),
        make_request_event(90, COMPLETE, WRITE, 0, 12288)]))
    assert [(r.t_ns, r.latency_ns) for r in read_trace_rows(file)] == [(10, 80), (20, 70), (30, 60)]


def test_a_split_request_completes_with_its_last_part(tmp_path: Path) -> None:
    front = (255).to_bytes(8, "big")
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, READ, 0, 131072),
                                                    make_request_event(11, SPLIT, READ, 0, 255
                                                                       * 512, extra=front),
        make_request_event(50, COMPLETE, READ, 255, 512),
                                                    make_request_event(90, COMPLETE, READ, 0,
                                                                       255 * 512)]))
    assert [(r.t_ns, r.size, r.latency_ns) for r in read_trace_rows(file)] == [(10, 131072, 80)]
    partly = write_test_file(tmp_path / "u", pack_events([
        make_request_event(10, QUEUE, READ, 0, 8192),
        make_request_event(30, COMPLETE, READ, 0, 4096),
        make_request_event(60, COMPLETE, READ, 8, 4096)]))
    assert [(r.size, r.latency_ns) for r in read_trace_rows(partly)] == [(8192, 50)]


def test_a_bio_that_was_split_completes_once(tmp_path: Path) -> None:
    """A bio-based device resubmits the rest of a split bio, and completes the bio once."""
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, WRITE, 0, 65536),
        make_request_event(12, SPLIT, WRITE, 32, 49152, extra=(32).to_bytes(8, "big")),
        make_request_event(14, SPLIT, WRITE, 64, 32768, extra=(64).to_bytes(8, "big")),
        make_request_event(70, COMPLETE, WRITE, 64, 32768)]))
    counts = run_trace_tool_json("pair", file)["losses"]
    assert [(r.t_ns, r.size, r.latency_ns) for r in read_trace_rows(file)] == [(10, 65536, 60)]
    assert counts["unbegun_completions"] == counts["unfinished_requests"] == 0


def test_latency_is_measured_from_issue_to_completion(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, READ, 0, 4096), make_request_event(25, ISSUE, READ, 0, 4096),
        make_request_event(60, COMPLETE, READ, 0, 4096)]))
    assert read_trace_rows(file)[0].latency_ns == 50
    assert read_trace_rows("--from-issue", file)[0].latency_ns == 35


def test_requests_to_one_address_are_paired_by_size(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, READ, 0, 4096), make_request_event(20, QUEUE, READ, 0, 8192),
        make_request_event(30, COMPLETE, READ, 0, 8192),
        make_request_event(40, COMPLETE, READ, 0, 4096)]))
    assert [(r.size, r.latency_ns) for r in read_trace_rows(file)] == [(4096, 30), (8192, 10)]


def test_flushes_fua_and_zeroes_are_recognised(tmp_path: Path) -> None:
    zeroes = make_request_event(40, QUEUE, WRITE, 64, 4096, flags=IS_WRITE_ZEROES)
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, FLUSH, 0, 0),
                                                    make_request_event(20, QUEUE, WRITE, 8, 4096,
                                                                       flags=IS_FUA),
        make_request_event(30, QUEUE, WRITE, 16, 4096, flags=IS_FLUSH), zeroes,
        make_request_event(50, COMPLETE, FLUSH, 0, 0)], version=8))
    found = read_trace_rows(file)
    assert [(r.op, r.fua, r.preflush) for r in found] == [
        ("flush", False, False), ("write", True, False), ("write", False, True),
        ("write_zeroes", False, False)]
    assert found[0].latency_ns == 40
    out = tmp_path / "out.aft"
    run_trace_tool_ok("convert", "-q", file, out)
    assert run_trace_tool_json("info", out)["requests"]["operations"]["flush"]["requests"] == 2


def test_tag_notes_are_assigned_to_their_writes(tmp_path: Path) -> None:
    events = [
        make_request_event(10, QUEUE, WRITE, 0, 4096, cpu=0),
              make_request_event(11, QUEUE, WRITE, 8, 4096, cpu=1),
        make_write_class_note(12, 0, 4096, "approximate", "buffer", cpu=0, group=True),
        make_write_class_note(13, 8, 4096, "precise", "tag", cpu=1),
        make_request_event(14, QUEUE, WRITE, 16, 4096, cpu=0),
              make_request_event(15, COMPLETE, WRITE, 0, 4096),
        make_write_class_note(16, 999, 4096, "approximate", cpu=0)]
    found = read_trace_rows(write_test_file(tmp_path / "t", pack_events(events)))
    assert [(r.name, r.by) for r in found] == [
        ("approximate", "buffer"), ("precise", "tag"), ("precise", "nobody")]
    assert run_trace_tool_json("pair", tmp_path / "t")["losses"]["untagged_notes"] == 1


def test_write_zeroes_are_distinguished_from_writes(tmp_path: Path) -> None:
    """Version 7 records write-zeroes as writes with a note; version 8 needs no note."""
    for version, flags in ((7, 0), (8, IS_WRITE_ZEROES)):
        events = [
            make_request_event(10, QUEUE, WRITE, 0, 1 << 20, flags=flags),
            make_trace_note(11, NOTE_MESSAGE, b"approxftl zeroes 0 2048", group=True),
            make_request_event(12, QUEUE, WRITE, 4096, 4096),
                  make_request_event(30, COMPLETE, WRITE, 0, 1 << 20, flags=flags),
            make_request_event(40, COMPLETE, WRITE, 4096, 4096)]
        file = write_test_file(tmp_path / "t", pack_events(events, version=version))
        assert [(r.op, r.size, r.latency_ns) for r in read_trace_rows(file)] == [
            ("write_zeroes", 1 << 20, 20), ("write", 4096, 28)]
        assert run_trace_tool_json("pair", file)["losses"]["untagged_notes"] == 0


def test_a_write_of_two_data_classes_becomes_two_requests(tmp_path: Path) -> None:
    events = [
        make_request_event(10, QUEUE, WRITE, 0, 32768),
        make_write_class_note(11, 0, 8192, "precise", "tag"),
  make_request_event(12, SPLIT, WRITE, 16, 24576, extra=(16).to_bytes(8, "big")),
  make_write_class_note(13, 16, 8192, "approximate"),
  make_request_event(14, SPLIT, WRITE, 32, 16384, extra=(32).to_bytes(8, "big")),
  make_write_class_note(15, 32, 8192, "approximate"),
  make_request_event(16, SPLIT, WRITE, 48, 8192, extra=(48).to_bytes(8, "big")),
  make_request_event(90, COMPLETE, WRITE, 48, 8192)]
    found = read_trace_rows(write_test_file(tmp_path / "t", pack_events(events)))
    assert [(r.offset, r.size, r.name, r.latency_ns) for r in found] == [
        (0, 8192, "precise", 80), (8192, 16384, "approximate", 80), (24576, 8192, "precise", 80)]


def test_untagged_parts_of_a_write_stay_separate(tmp_path: Path) -> None:
    events = [make_request_event(10, QUEUE, WRITE, 0, 24576),
              make_write_class_note(11, 0, 8192, "approximate"),
              make_write_class_note(12, 32, 8192, "approximate"),
              make_request_event(90, COMPLETE, WRITE, 0, 24576)]
    found = read_trace_rows(write_test_file(tmp_path / "t", pack_events(events)))
    assert [(r.offset, r.size, r.name) for r in found] == [
        (0, 8192, "approximate"), (8192, 8192, "precise"), (16384, 8192, "approximate")]


def test_regions_and_labels_are_reported(tmp_path: Path) -> None:
    texts = ["approxftl region 7 thread approximate frames", "approxftl label 7 half way",
             "cfq 7 something else"]
    file = write_test_file(tmp_path / "t", pack_events(
        [make_trace_note(5 + i, NOTE_MESSAGE, text.encode(), group=i == 0) for i,
         text in enumerate(texts)]
        + [make_request_event(20, QUEUE, READ, 0, 512)]))
    remarks = run_trace_tool_json("pair", file)["remarks"]
    assert [(r["t_ns"], r["text"]) for r in remarks] == [
        (5, "region 7 thread approximate frames"), (6, "label 7 half way")]


def test_missing_events_are_counted(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, READ, 0, 512, sequence=1),
                                                    make_request_event(20, COMPLETE, READ, 64, 512,
                                                                       sequence=2),
        make_request_event(30, QUEUE, READ, 8, 512, sequence=9),
                                                    make_request_event(40, COMPLETE, READ, 8, 512,
                                                                       error=5)]))
    done = run_trace_tool("pair", file, "--json")
    losses = run_trace_tool_json("pair", file)["losses"]
    assert losses["unfinished_requests"] == losses["unbegun_completions"] == 1
    assert losses["failed_requests"] == 1
    assert losses["missing_events"] == 6
    assert f"{file}: byte 96: 6 events of processor 0 before this one are missing" in done.err
    assert run_trace_tool("pair", "--strict", file).code == 1


def test_damaged_data_are_skipped_and_reported(tmp_path: Path) -> None:
    good = [make_request_event(10 * i, QUEUE, READ, i, 512) for i in range(1, 5)]
    data = pack_events(good[:2]) + b"\x07teA" * 5 + b"xyz" + pack_events(good[2:])
    data += pack_events(good[:1])[:30]
    file = write_test_file(tmp_path / "t", data)
    done = run_trace_tool_ok("info", file, "--json")
    assert len(read_trace_rows(file)) == 4
    assert f"{file}: byte 96: no event begins here; skipped 23 bytes" in done.err
    assert f"{file}: byte 215: the file ends inside an event" in done.err
    assert run_trace_tool_json("info", file)["losses"]["skipped_bytes"] == 53
    strict = run_trace_tool("info", "--strict", file)
    assert (strict.code, strict.out) == (1, "")
    assert "byte 96" in strict.err


def test_truncation_of_a_capture_at_any_byte_is_noticed(tmp_path: Path) -> None:
    data = pack_events([make_request_event(10, QUEUE, READ, 0, 512),
                        make_write_class_note(20, 0, 512, "precise")])
    for size in range(1, len(data)):
        done = run_trace_tool("info", "--strict", write_test_file(tmp_path / "t", data[:size]))
        assert done.code == (0 if size == 48 else 1), size
        assert size == 48 or "byte" in done.err or "format" in done.err


def test_events_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    events = make_random_capture(12, processors=1)[0]
    expected = read_trace_rows(write_test_file(tmp_path / "t", pack_events(events)))
    shuffled = [Event(**{**event.__dict__, "sequence": 0}) for event in events]
    random.Random(1).shuffle(shuffled)
    assert read_trace_rows(write_test_file(tmp_path / "u", pack_events(shuffled))) == expected


def test_events_far_out_of_order_are_reported(tmp_path: Path) -> None:
    events = [make_request_event(t, QUEUE, READ, t, 512) for t in range(1000, 14000)]
    file = write_test_file(tmp_path / "t",
                           pack_events([*events, make_request_event(5, QUEUE, READ, 0, 512)]))
    assert run_trace_tool_json("info", file)["losses"]["late_items"] == 1
    out = tmp_path / "out.aft"
    run_trace_tool_ok("convert", "-q", file, out)
    assert run_trace_tool("convert", "--strict", "--force", file, out).code == 1


def test_processors_without_events_are_accepted(tmp_path: Path) -> None:
    name = write_capture(tmp_path, [[], *make_random_capture(14), []])
    assert len(read_trace_rows(name)) == 400
    write_test_file(tmp_path / "cap.blktrace.0", b"")
    alone = run_trace_tool("info", tmp_path / "cap.blktrace.0")
    assert alone.code == 1
    assert "empty" in alone.err


def test_a_partial_capture_is_reported(tmp_path: Path) -> None:
    write_capture(tmp_path, make_random_capture(16))
    done = run_trace_tool_ok("info", tmp_path / "cap.blktrace.1")
    assert "1 of 3 files of this capture" in done.err
    assert "files of this capture" not in run_trace_tool_ok("info", tmp_path / "cap").err


def test_one_of_several_traced_devices_must_be_chosen(tmp_path: Path) -> None:
    other = DEVICE + 1
    file = write_test_file(tmp_path / "t", pack_events([
        make_request_event(10, QUEUE, READ, 0, 512),
                                                    make_request_event(20, QUEUE, READ, 0, 512,
                                                                       device=other),
        make_request_event(30, COMPLETE, READ, 0, 512, device=other),
                                                    make_request_event(40, COMPLETE, READ, 0,
                                                                       512)]))
    refused = run_trace_tool("info", file)
    assert refused.code == 1
    assert "253:0 and 253:1" in refused.err
    assert "--device" in refused.err
    assert [r.latency_ns for r in read_trace_rows("--device", "253:1", file)] == [10]
    assert [(r.stream, r.latency_ns) for r in read_trace_rows("--device", "all", file)] == [(0, 30),
                                                                                            (1, 10)]


@pytest.mark.slow
def test_a_request_that_never_completes_does_not_delay_later_ones(tmp_path: Path) -> None:
    """A request without a completion does not prevent the pairing of later requests."""
    events = [make_request_event(1, QUEUE, READ, 1 << 40, 512)]
    for i in range(300_000):
        events.append(make_request_event(10 + 2 * i, QUEUE, READ, i, 512))
        events.append(make_request_event(11 + 2 * i, COMPLETE, READ, i, 512))
    file = write_test_file(tmp_path / "t", pack_events(events))
    result = run_trace_tool_json("info", file)
    assert result["requests"]["all"]["requests"] == 300_001
    assert result["requests"]["all"]["latency"]["known"] == 300_000
    assert result["losses"]["unfinished_requests"] == 1
