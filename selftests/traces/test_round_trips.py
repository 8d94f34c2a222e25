# SPDX-License-Identifier: GPL-2.0-only
"""A trace that is written in a format and read back has the requests that the format can hold."""

import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.sim.support import LIFE, READ, WRITE, Record, read_trace, write_trace
from selftests.traces.support import (
    read_aft_records,
    read_trace_rows,
    run_trace_tool,
    run_trace_tool_ok,
    write_test_file,
)

CLASSES = ("precise", "approximate", "approximate_2", "approximate_3")
OPS = ("read", "write", "flush", "discard", "write_zeroes")
HEADER = "t_ns,op,offset_bytes,bytes,latency_ns,pid,stream,class\n"

Request = tuple[int, str, int, int, int, int, int, str]


@st.composite
def make_random_stream(draw: st.DrawFn) -> list[Request]:
    """Return requests in the order of time, aligned to sectors."""
    now = 0
    result: list[Request] = []
    for _ in range(draw(st.integers(1, 40))):
        now += draw(st.sampled_from([0, 1, 700, 1000, 123_456, 10**9]))
        op = draw(st.sampled_from(OPS))
        flush = op == "flush"
        offset = 0 if flush else 512 * draw(st.integers(0, 2**40))
        size = 0 if flush else 512 * draw(st.integers(1, 2**16))
        latency = draw(st.sampled_from([0, 100, 77_700, 10**8]))
        name = draw(st.sampled_from(CLASSES)) if op == "write" else "precise"
        result.append((now, op, offset, size, latency, draw(st.integers(0, 2**32 - 1)),
                       draw(st.integers(0, 2**16 - 1)), name))
    return result


def write_stream_as_csv(stream: list[Request]) -> str:
    return HEADER + "".join(",".join(map(str, request)) + "\n" for request in stream)


def convert_stream_and_read_back(stream: list[Request], form: str, *options: str) -> list[Request]:
    """Write a stream of requests in a format, and read the stream back."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        source = write_test_file(directory / "source", write_stream_as_csv(stream))
        out = directory / "out"
        run_trace_tool_ok("convert", "-q", "--keep-time", "--to", form, source, out)
        if not out.stat().st_size:
            return []
        return [(r.t_ns, r.op, r.offset, r.size, r.latency_ns, r.pid, r.stream, r.name)
                for r in read_trace_rows("--from", form, *options, out)]


@settings(max_examples=20)
@given(make_random_stream())
def test_csv_and_record_files_keep_all_fields_of_requests(stream: list[Request]) -> None:
    assert convert_stream_and_read_back(stream, "csv") == stream
    assert convert_stream_and_read_back(stream, "aft") == stream


@settings(max_examples=20)
@given(make_random_stream())
def test_a_record_file_has_the_layout_that_its_manual_describes(stream: list[Request]) -> None:
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out.aft"
        run_trace_tool_ok("convert", "-q", "--keep-time",
                          write_test_file(Path(name) / "source", write_stream_as_csv(stream)), out)
        assert read_aft_records(out) == [
            (t, offset // 512, size // 512, OPS.index(op), CLASSES.index(kind), stream_,
             latency // 100, pid)
            for t, op, offset, size, latency, pid, stream_, kind in stream]


@settings(max_examples=15)
@given(make_random_stream())
def test_msr_and_mqsim_keep_reads_and_writes(stream: list[Request]) -> None:
    held = [r for r in stream if r[1] in {"read", "write"}]
    assert convert_stream_and_read_back(stream, "msr") == [
        (t // 100 * 100, op, offset, size, latency, 0, disk, "precise")
        for t, op, offset, size, latency, _, disk, _ in held]
    assert convert_stream_and_read_back(stream, "mqsim") == [
        (t, op, offset, size, 0, 0, device, "precise")
        for t, op, offset, size, _, _, device, _ in held]


@settings(max_examples=15)
@given(make_random_stream())
def test_iolog_keeps_times_in_microseconds(stream: list[Request]) -> None:
    held = [r for r in stream if r[1] != "write_zeroes"]
    names = list(dict.fromkeys(r[6] for r in held))
    assert convert_stream_and_read_back(stream, "iolog") == [
        (t // 1000 * 1000, op, offset, size, 0, 0, names.index(device), "precise")
        for t, op, offset, size, _, _, device, _ in held]


@settings(max_examples=15)
@given(make_random_stream())
def test_blktrace_keeps_classes_and_latencies(stream: list[Request]) -> None:
    # Use separate addresses: requests of one address could only be told apart by their order.
    one = [(t, op, (i << 40) + 512, size, latency or 100, pid, 0, kind)
           for i, (t, op, _, size, latency, pid, _, kind) in enumerate(stream)
           if op not in {"write_zeroes", "flush"}]
    if one:
        assert convert_stream_and_read_back(one, "blktrace") == one


def test_blkparse_reads_written_blktrace_files(tmp_path: Path) -> None:
    stream = [(1000 * i, OPS[i % 2], 4096 * i, 4096, 500, 7, 0, "precise") for i in range(1, 50)]
    out = tmp_path / "x.blktrace.0"
    source = write_test_file(tmp_path / "source", write_stream_as_csv(stream))
    run_trace_tool_ok("convert", source, out)
    said = subprocess.run(["blkparse", "-i", tmp_path / "x", "-q", "-f", r"%t %a %d %S %N\n"],
                          check=True, capture_output=True, text=True).stdout.splitlines()
    queued = [line.split() for line in said if " Q " in line]
    assert [(int(c[0]), c[2], int(c[3]), int(c[4])) for c in queued] == [
        (t - 1000, "RW"[op == "write"], offset // 512, size)
        for t, op, offset, size, *_ in stream]
    assert sum(" C " in line for line in said) == len(stream)


def test_fio_replays_written_iologs(tmp_path: Path) -> None:
    stream = [(1000 * i, OPS[i % 2], 4096 * i, 4096, 0, 0, 0, "precise") for i in range(100)]
    log = tmp_path / "log"
    run_trace_tool_ok("convert", "--to", "iolog",
                      write_test_file(tmp_path / "source", write_stream_as_csv(stream)), log)
    done = subprocess.run(
        ["fio", "--name=x", "--ioengine=null", f"--read_iolog={log}", "--size=1g",
         f"--replay_redirect={tmp_path / 'target'}", "--output-format=terse"],
        cwd=tmp_path, check=True, capture_output=True, text=True)
    fields = done.stdout.strip().split(";")
    # Terse version 3: KiB read and KiB written.
    assert (int(fields[5]), int(fields[46])) == (200, 200), done.stdout


def test_requests_that_a_format_cannot_store_are_reported(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "source",
                             HEADER + "1,flush,0,0,0,0,0,\n2,read,0,512,0,0,0,\n")
    done = run_trace_tool_ok("convert", "--to", "msr", source, tmp_path / "out")
    assert "1 requests left out, which msr cannot hold: flush" in done.err
    assert "1 requests written" in done.err
    strict = run_trace_tool("convert", "--strict", "--to", "msr", source, tmp_path / "other")
    assert strict.code == 1
    assert not (tmp_path / "other").exists()


def test_request_ranges_are_rounded_outward_to_sectors(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "source", HEADER + "1,read,700,400,0,0,0,\n")
    out = tmp_path / "out.aft"
    run_trace_tool_ok("convert", source, out)
    assert read_aft_records(out)[0][1:3] == (1, 2)


def test_conversion_keeps_lifetime_hints(tmp_path: Path) -> None:
    records = [Record(0, 8, 8, WRITE | 3 << LIFE), Record(1, 8, 8, READ)]
    out = tmp_path / "out.aft"
    run_trace_tool_ok("convert", write_trace(tmp_path / "source.aft", records), out)
    assert [record.op for record in read_trace(out)] == [WRITE | 3 << LIFE, READ]
