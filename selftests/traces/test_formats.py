# SPDX-License-Identifier: GPL-2.0-only
"""Test that text formats of traces are detected and parsed, and errors reported."""

import bz2
import gzip
import lzma
import struct
import subprocess
from pathlib import Path

import pytest
from selftests.traces.support import (
    Row,
    make_request_event,
    pack_events,
    read_trace_rows,
    run_trace_tool,
    run_trace_tool_json,
    run_trace_tool_ok,
    write_test_file,
)


def convert_row_to_tuple(row: Row) -> tuple[int, str, int, int, int, int]:
    return row.t_ns, row.op, row.offset, row.size, row.latency_ns, row.stream


# Format, text, and requests: time, operation, offset, size, latency, stream.
CASES = {
    "msr": (
        "128166372003061629,hm,0,Read,383496192,32768,113736\n"
        "128166372016382155,hm,1,Write,2822144,4096,\n",
        [],
    ),
    "spc": (
        "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214,extra\n",
        [(0, "write", 303567 * 512, 3584, 0, 0), (26_214_000, "read", 55590 * 512, 3072, 0, 1)],
    ),
    "systor": (
        "Timestamp,Response,IOType,LUN,Offset,Size\n"
        "1455591804.310701000,0.006475000,R,0,203468398592,32768\n"
        "1455591804.310801000,,W,3,4096,512\n",
        [(1455591804310701000, "read", 203468398592, 32768, 6_475_000, 0),
         (1455591804310801000, "write", 4096, 512, 0, 3)],
    ),
    "alibaba": (
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
        [(1577808144360767000, "write", 8792731648, 16384, 0, 419),
         (1577808144360813000, "read", 59110326272, 360448, 0, 725)],
    ),
    "tencent": (
        "1538323200,4247200,128,1,1058\n1538323201,12920544,8,0,1063\n",
        [(1538323200000000000, "write", 4247200 * 512, 65536, 0, 1058),
         (1538323201000000000, "read", 12920544 * 512, 4096, 0, 1063)],
    ),
    "mqsim": (
        "938513000 4 264719034 16 0\n938828000 3 197570570  8 1\r\n",
        [(938513000, "write", 264719034 * 512, 8192, 0, 4),
         (938828000, "read", 197570570 * 512, 4096, 0, 3)],
    ),
    "iolog": (
        "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x wait 100\n/dev/x write 4096 512\n"
        "/dev/y read 0 1024\n/dev/x wait 50\n/dev/x sync\n/dev/x trim 8192 4096\n/dev/x close\n",
        [(100_000, "write", 4096, 512, 0, 0), (100_000, "read", 0, 1024, 0, 1),
         (150_000, "flush", 0, 0, 0, 0), (150_000, "discard", 8192, 4096, 0, 0)],
    ),
    "blkparse": (
        "  8,16   1        1     0.000000100  4711  Q   R 1000 + 8 [a b]\n"
        "  8,16   1        2     0.000000200  4711  G   R 1000 + 8 [a b]\n"
        "  8,16   0        1     0.000001100     0  C   R 1000 + 8 [0]\n"
        "  8,16   0        2     0.000002000  4712  Q FWS [kjournald]\n"
        "  8,16   0        3     0.000003000     0  C FWS 0 [0]\n"
        "  8,16   0        4     0.000004000  4712  Q WFS 8 + 8 [kjournald]\n"
        "  8,16   0        0     0.000004100  4712  m   N approxftl write 8 8 approximate file\n"
        "  8,16   0        5     0.000005000  4712  X   R 8 / 12 [kjournald]\n"
        "CPU0 (x):\n Reads Queued:           1,        4KiB\n\n"
        "Throughput (R/W): 0KiB/s / 0KiB/s\n",
        [(100, "read", 512000, 4096, 1000, 0), (2000, "flush", 0, 0, 1000, 0),
         (4000, "write", 4096, 4096, 0, 0)],
    ),
}
CASES["msr"] = (CASES["msr"][0], [
    (12816637200306162900, "read", 383496192, 32768, 11_373_600, 0),
    (12816637201638215500, "write", 2822144, 4096, 0, 1)])


@pytest.mark.parametrize("name", CASES)
def test_text_formats_are_detected_and_read(tmp_path: Path, name: str) -> None:
    text, expected = CASES[name]
    file = write_test_file(tmp_path / "trace", text.replace("4096,\n", "4096\n") if name == "msr"
                           else text)
    info = run_trace_tool_json("info", file)
    assert info["files"][0]["format"] == name
    assert info["losses"]["dropped_lines"] == 0
    assert [convert_row_to_tuple(row) for row in read_trace_rows(file)] == expected


def test_blkparse_names_and_tags_are_read(tmp_path: Path) -> None:
    found = read_trace_rows(write_test_file(tmp_path / "t", CASES["blkparse"][0]))
    assert [r.process for r in found] == ["a b", "kjournald", "kjournald"]
    assert (found[2].name, found[2].by, found[2].fua) == ("approximate", "file", True)


@pytest.mark.parametrize("name", sorted(CASES))
def test_each_invalid_line_of_a_trace_is_reported(tmp_path: Path, name: str) -> None:
    good = CASES[name][0].replace("4096,\n", "4096\n")
    lines = good.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if "CPU" in line) if name == "blkparse" else -1
    lines = lines[:at] if at > 0 else lines
    many = lines[:1] + lines[1:] * 40
    bad = {len(many) + 1: "this is not a line\n", len(many) + 2: "1,2,3,4,5,6,7,8,9\n"}
    text = "".join(many) + "".join(bad.values()) + lines[-1]
    file = write_test_file(tmp_path / "t", text)
    done = run_trace_tool_ok("info", file)
    for line in bad:
        assert f"{file}: line {line}: dropped:" in done.err
    assert "2 lines were dropped" in done.out
    dropped = tmp_path / "dropped"
    run_trace_tool_ok("info", "--dropped", dropped, file)
    assert len(dropped.read_text().splitlines()) == 2
    strict = run_trace_tool("info", "--strict", file)
    assert (strict.code, strict.out) == (1, "")
    assert f"line {len(many) + 1}" in strict.err
    out = tmp_path / "out.aft"
    assert run_trace_tool("convert", "--strict", file, out).code == 1
    assert not out.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dropped", "t"]


def test_only_ten_invalid_lines_of_a_trace_are_printed_and_the_rest_counted(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", CASES["spc"][0] * 300 + "junk\n" * 25)
    done = run_trace_tool_ok("info", file)
    assert done.err.count("dropped") == 10
    assert "15 complaints were not printed" in done.out


@pytest.mark.parametrize(("line", "why"), [
    ("0,0,0,w,1.0", "0 bytes"),
    ("0,99999999999999999999,512,w,1.0", "not a line"),
    ("0,36028797018963968,512,w,1.0", "not a line"),
    ("0,36028797018963967,512,w,1.0", "beyond the last byte"),
    ("0,0,2199023255552,w,1.0", "more than 1 TiB"),
    ("70000,0,512,w,1.0", "not a line"),
])
def test_impossible_requests_are_refused(tmp_path: Path, line: str, why: str) -> None:
    done = run_trace_tool_ok("info",
                             write_test_file(tmp_path / "t", CASES["spc"][0] * 20 + line + "\n"))
    assert "line 41: dropped: " in done.err
    assert why in done.err


def test_lines_without_an_operation_are_dropped(tmp_path: Path) -> None:
    text = CASES["systor"][0] * 8 + "1455591805.0,0.001,,0,0,512\n"
    assert "neither read nor write" in run_trace_tool_ok("info",
                                                         write_test_file(tmp_path / "t", text)).err


def test_times_with_decimals_need_a_unit(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", "0.005859 0 6160424 16 0\n0.017578 0 2035160 16 1\n")
    refused = run_trace_tool("info", file)
    assert refused.code == 1
    assert "--time-unit" in refused.err
    assert [r.t_ns for r in read_trace_rows("--time-unit", "s", file)] == [5_859_000, 17_578_000]
    assert [r.t_ns for r in read_trace_rows("--time-unit", "ms", file)] == [5_859, 17_578]


def test_the_unit_of_times_is_set_by_an_option(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", CASES["alibaba"][0])
    assert read_trace_rows("--time-unit", "ns", file)[0].t_ns == 1577808144360767


CSV = "when;who;what;where;how much\n1.5;7;W;2;3\n2.25;8;R;10;1\n"
MAP = "time=1,pid=2,op=3,offset=4,bytes=5,sep=;"


def test_csv_columns_may_be_in_any_order(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", CSV)
    found = read_trace_rows("--from", "csv", "--columns", MAP, "--time-unit", "ms", "--offset-unit",
                            "sectors", file)
    assert [convert_row_to_tuple(r) for r in found] == [
        (1_500_000, "write", 1024, 1536, 0, 0), (2_250_000, "read", 5120, 512, 0, 0)]
    assert [r.pid for r in found] == [7, 8]


@pytest.mark.parametrize(("options", "why"), [
    ([], "format is not known"),
    (["--from", "csv"], "--columns"),
    (["--from", "csv", "--columns", MAP], "--time-unit"),
    (["--from", "csv", "--columns", MAP, "--time-unit", "s"], "--offset-unit"),
    (["--from", "csv", "--columns", "time=1,op=2", "--time-unit", "s"], "must name columns"),
    (["--from", "csv", "--columns", "time=1,time=2"], "not understood"),
    (["--from", "csv", "--columns", "time=0"], "not understood"),
    (["--from", "csv", "--columns", "colour=3"], "not understood"),
    (["--from", "nonsense"], "no format"),
    (["--time-unit", "weeks"], "weeks"),
    (["--offset-unit", "furlongs"], "furlongs"),
    (["--device", "8"], "MAJOR:MINOR"),
])
def test_missing_format_details_are_requested(tmp_path: Path, options: list[str], why: str) -> None:
    done = run_trace_tool("info", *options, write_test_file(tmp_path / "t", CSV))
    assert done.code in {1, 2}
    assert why in done.err
    assert done.out == ""


def test_operations_in_a_csv_trace_may_be_numbers(tmp_path: Path) -> None:
    file = write_test_file(tmp_path / "t", "1,0,0,512\n2,1,0,512\n3,2,0,512\n")
    columns = "time=1,op=2,offset=3,bytes=4,op-read=1"
    found = read_trace_rows("--from", "csv", "--columns", columns, "--time-unit", "s",
                            "--offset-unit", "bytes", file)
    assert [r.op for r in found] == ["write", "read"]


def test_traces_in_oracle_general_format_are_read(tmp_path: Path) -> None:
    data = b"".join(struct.pack("<IQIq", t, 4096 * t, 4096, -1) for t in range(1, 4))
    file = write_test_file(tmp_path / "t", data + b"tail")
    done = run_trace_tool_ok("info", "--from", "oracle", file)
    assert "byte 72: dropped: the file ends inside a record" in done.err
    assert [convert_row_to_tuple(r) for r in read_trace_rows("--from", "oracle", file)] == [
        (t * 10**9, "read", 4096 * t, 4096, 0, 0) for t in range(1, 4)]


#: Command, bytes, block, time in us, latency in us. Commands without data are skipped.
COMMANDS = [(0x2A, 4096, 8, 1000, 70), (0x28, 512, 1 << 40, 1500, 80), (0x12, 36, 0, 1600, 1),
            (0x35, 0, 0, 1700, 5), (0x88, 1024, 3, 2000, 9)]
FOUND = [(1_000_000, "write", 4096, 4096, 70_000), (1_500_000, "read", 1 << 49, 512, 80_000),
         (1_700_000, "flush", 0, 0, 5_000), (2_000_000, "read", 1536, 1024, 9_000)]


@pytest.mark.parametrize("version", [1, 2])
def test_vscsi_traces_are_read(tmp_path: Path, version: int) -> None:
    data = b"".join(
        struct.pack("<IIIHHQQ", i, size, 1, command, 0x100, block, t_us) if version == 1 else
        struct.pack("<HHIIIQQQ", command, 0x205, i, size, 1, block, t_us, took)
        for i, (command, size, block, t_us, took) in enumerate(COMMANDS))
    file = write_test_file(tmp_path / "t", data + b"tail")
    info = run_trace_tool_ok("info", file)
    assert "vscsi" in info.out
    assert f"byte {len(data)}: dropped: the file ends inside a record" in info.err
    found = read_trace_rows(file)
    assert [convert_row_to_tuple(row)[:4] for row in found] == [one[:4] for one in FOUND]
    assert [row.latency_ns for row in found] == [
        one[4] if version == 2 else 0 for one in FOUND]
    high = bytearray(data)
    high[-16:] = 16 * b"\xff"
    done = run_trace_tool_ok("info", write_test_file(tmp_path / "t", bytes(high)))
    assert "dropped: a block, or a time, is beyond 64 bits" in done.err


def test_unknown_vscsi_versions_are_refused(tmp_path: Path) -> None:
    for data in (b"\0" * 80, b"\1" * 80, b"x"):
        done = run_trace_tool("info", "--from", "vscsi", write_test_file(tmp_path / "t", data))
        assert done.code == 1
        assert "neither version 1 nor version 2 of vscsi" in done.err


@pytest.mark.parametrize(("base", "codes"), [
    (16, ["2a", "0x28", "AA", "88", "42", "0x35", "41", "8e"]),
    (10, ["42", "40", "170", "136", "66", "53", "65", "142"])])
def test_scsi_operations_are_recognised(tmp_path: Path, base: int, codes: list[str]) -> None:
    wrong = ["12", "0", "", "-28", "zz", "0x00000028"]
    text = "".join(f"{i},{code},{4096 * i},512\n" for i, code in enumerate([*codes, *wrong]))
    words = ("--from", "csv", "--columns", f"time=1,op=2,offset=3,bytes=4,op-scsi={base}",
             "--time-unit", "us", "--offset-unit", "bytes", write_test_file(tmp_path / "t", text))
    assert [row.op for row in read_trace_rows(*words)] == [
        "write", "read", "write", "read", "discard", "flush", "write_zeroes", "write"]
    assert run_trace_tool_ok("info", *words).err.count(": dropped") == len(wrong)
    other = [word.replace(f"scsi={base}", "scsi=8") if isinstance(word, str) else word
             for word in words]
    assert "is not understood" in run_trace_tool("info", *other).err


def compress_data(data: bytes, how: str) -> bytes:
    if how != "zstd":
        packed: bytes = {"gzip": gzip, "xz": lzma, "bzip2": bz2}[how].compress(data)
        return packed
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


@pytest.mark.parametrize("how", ["gzip", "zstd", "xz", "bzip2"])
def test_compressed_files_are_read(tmp_path: Path, how: str) -> None:
    text = (CASES["spc"][0] * 30_000).encode()
    expected = run_trace_tool_json("info", write_test_file(tmp_path / "plain", text))["requests"]
    packed = compress_data(text, how)
    assert run_trace_tool_json("info", write_test_file(tmp_path / "p",
                                                       packed))["requests"] == expected
    assert run_trace_tool_json("info", "-", stdin=packed)["requests"] == expected
    twice = run_trace_tool_json("info", write_test_file(tmp_path / "q", packed + packed))
    assert twice["requests"]["all"]["requests"] == 2 * expected["all"]["requests"]
    short = run_trace_tool("info", write_test_file(tmp_path / "r", packed[:-9]))
    assert short.code == 1
    assert "end too early" in short.err
    wrong = bytearray(packed)
    wrong[len(wrong) // 2] ^= 0xFF
    assert run_trace_tool("info", write_test_file(tmp_path / "s", bytes(wrong))).code == 1


def test_xz_that_takes_much_memory_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    packed = lzma.compress(CASES["spc"][0].encode() * 20, filters=filters)
    done = run_trace_tool("info", write_test_file(tmp_path / "t", packed))
    assert done.code == 1
    assert "take more than 256 MiB of memory; expand them first: xz -dc" in done.err


def test_files_of_no_format_are_refused(tmp_path: Path) -> None:
    assert run_trace_tool("info", tmp_path / "no").code == 3
    assert run_trace_tool("info", write_test_file(tmp_path / "e", b"")).code == 1
    assert run_trace_tool("info", write_test_file(tmp_path / "z", bytes(5000))).code == 1
    assert run_trace_tool("info", tmp_path).code == 3


def test_blktrace_event_files_and_request_files_cannot_be_mixed(tmp_path: Path) -> None:
    events = write_test_file(tmp_path / "a",
                             pack_events([make_request_event(1, 1, "read", 0, 512)]))
    requests = write_test_file(tmp_path / "b", CASES["spc"][0])
    done = run_trace_tool("info", events, requests)
    assert done.code == 1
    assert "cannot be mixed" in done.err


def test_files_are_merged_by_time(tmp_path: Path) -> None:
    lines = [f"{i % 3},{8 * i},4096,{'rw'[i % 2]},{i / 1000:.6f}\n" for i in range(9000)]
    whole = write_test_file(tmp_path / "whole", "".join(lines))
    parts = [write_test_file(tmp_path / f"part{k}", "".join(lines[k::3])) for k in range(3)]
    assert read_trace_rows(*parts) == read_trace_rows(whole)


def test_lines_that_are_not_in_order_of_time_are_sorted(tmp_path: Path) -> None:
    times = [5, 3, 9, 1, 7]
    file = write_test_file(tmp_path / "t", "".join(f"0,0,512,r,{t}.0\n" for t in times))
    assert [r.t_ns for r in read_trace_rows(file)] == [t * 10**9 for t in sorted(times)]
    assert run_trace_tool_json("info", file)["losses"]["late_items"] == 0


def test_a_very_long_line_is_refused(tmp_path: Path) -> None:
    text = CASES["spc"][0] * 20 + "x" * 3_000_000 + "\n" + CASES["spc"][0]
    result = run_trace_tool_json("info", write_test_file(tmp_path / "t", text))
    assert result["requests"]["all"]["requests"] == 42
    assert result["losses"]["dropped_lines"] >= 1
