# SPDX-License-Identifier: GPL-2.0-only
"""Record files: errors are reported with their position, unaligned requests are counted."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftests.sim.support import (
    DISCARD,
    FLUSH,
    FUA,
    HEADER_BYTES,
    LIFE,
    READ,
    RECORD_BYTES,
    WRITE,
    WRITE_ZEROES,
    Header,
    Record,
    get_only_run,
    read_trace,
    run_approxftl,
    run_sim,
    write_trace,
)

GOOD = [Record(0, 0, 8, WRITE), Record(1000, 8, 8, READ), Record(2000, 0, 0, FLUSH)]

HEADERS = [
    (Header(magic=b"notatrac"), "the format is not known"),
    (Header(magic=b"\x89AFT\n\x1a\n\n"), "the format is not known"),
    (Header(major=2), "format version 2, only version 1 is understood"),
    (Header(break_checksum=True), "the header is damaged: its checksum is"),
    (Header(header_bytes=512), "the header gives 512 as its own size, it must be 4096"),
    (Header(record_bytes=40), "the header gives 40 as size of a record, it must be 32"),
    (Header(tick=1000), "the header gives 1000 as nanoseconds of a clock tick, it must be 1"),
    (Header(sector=4096), "the header gives 4096 as size of a sector, it must be 512"),
    (Header(fields=9), "the header gives 9 as number of fields, it must be 8"),
    (Header(spoil={64: 0x54}), "the header's field table is not of version 1"),
    (Header(spoil={60: 1}), "byte 60 of the header must be zero"),
    (Header(classes=()), "there are 0 tag classes, it must be 1 to 16"),
    (Header(class_count=17), "there are 17 tag classes"),
    (Header(class_count=3), "tag class 2 has no name"),
    (Header(class_count=1), "tag class 1 has a name, but the header counts 1"),
    (Header(spoil={576: 7}), "the name of a tag class is not readable text"),
    (Header(source=b"x" * 64), "the source format has no zero byte at its end"),
    (Header(tool=b"a\0b"), "the tool version has text after its zero byte"),
    (Header(provenance=b"[]"), "the provenance is not a JSON object"),
]


@pytest.mark.parametrize(("header", "sentence"), HEADERS, ids=lambda value: str(value)[:50])
def test_a_wrong_header_is_refused(header: Header, sentence: str, tmp_path: Path) -> None:
    done = run_approxftl("sim", "--trace", write_trace(tmp_path / "x.aft", GOOD, header))
    assert done.code == 1
    assert sentence in done.err
    assert "x.aft" in done.err


def test_a_record_file_of_a_later_minor_version_is_read(tmp_path: Path) -> None:
    header = Header(minor=4, spoil={60: 1})
    assert get_only_run(run_sim("--trace",
                                write_trace(tmp_path / "x.aft", GOOD, header)))["requests"] == 3


RECORDS = [
    (Record(0, 0, 8, 9), "operation 9 is unknown, the largest is 4"),
    (Record(0, 0, 8, FUA | READ), "operation 0 is marked FUA, which is for writes"),
    (Record(0, 0, 8, FUA | 9), "operation 9 is unknown, the largest is 4"),
    (Record(0, 0, 8, 2 << LIFE | READ), "operation 0 has a write hint, which is for writes"),
    (Record(0, 0, 8, 6 << LIFE | WRITE), "write hint 6 is unknown, the largest is 5"),
    (Record(0, 0, 8, WRITE, klass=2), "tag class 2 is unknown, the largest is 1"),
    (Record(0, 0, 8, FLUSH), "a flush has a length of 8 sectors, it must be 0"),
    (Record(0, 0, 0, READ), "a request has a length of 0 sectors"),
    (Record(0, 1 << 60, 8, READ), "sector 1152921504606846976 is beyond 64-bit byte offsets"),
]


@pytest.mark.parametrize(("record", "sentence"), RECORDS, ids=lambda value: str(value)[:50])
def test_a_wrong_record_is_refused(record: Record, sentence: str, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", [Record(0, 0, 8, WRITE), record])
    done = run_approxftl("sim", "--trace", path)
    assert done.code == 1
    assert f"x.aft: byte {HEADER_BYTES + RECORD_BYTES}: {sentence}" in done.err


@pytest.mark.parametrize("fua", [0, FUA])
def test_fua_waits_for_the_flash(fua: int, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", [Record(0, 0, 8, WRITE | fua)], Header(minor=1))
    copy = tmp_path / "y.aft"
    options: list[str | Path] = ["--trace", path, "--set", "buffer=64KiB", "--record", copy]
    response = get_only_run(run_sim(*options))["timing"]["write_response"]
    assert (response["min_ns"] > 700000) == bool(fua)
    assert [r.op for r in read_trace(copy)] == [WRITE | fua]


def test_recording_a_trace_run_keeps_lifetime_hints_and_placement_ids(tmp_path: Path) -> None:
    records = [Record(n, 8 * n, 8, n << LIFE | WRITE, stream=7 * (n == 5)) for n in range(6)]
    path = write_trace(tmp_path / "x.aft", records, Header(minor=2))
    copy = tmp_path / "y.aft"
    streams = get_only_run(run_sim("--trace", path, "--policy", "streams", "--record",
                                   copy))["streams"]
    assert [(r.op, r.stream) for r in read_trace(copy)] == [(r.op, r.stream) for r in records]
    hinted = {name for name, of in streams.items() if of["host_units"]}
    assert hinted == {"unhinted", "id_1", "id_2", "id_3", "id_4", "id_7"}


LEVELS = ("--policy", "levels", "--cell_model", "voltage", "--approx-share", "0.8",
          "--level-2-share", "0.3", "--level-3-share", "0.5", "--write-share", "0.7",
          "--requests", "6000", "--footprint", "5%")


def read_quality_level_counters(counters: dict[str, int], name: str) -> list[int]:
    return [counters[name.format(level)] for level in (1, 2, 3)]


def test_quality_levels_of_generated_writes_are_counted_and_recorded(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.aft", tmp_path / "y.aft"
    drawn = get_only_run(run_sim(*LEVELS, "--record", path))
    units = read_quality_level_counters(drawn["counters"], "host_write_level_{}_units")
    assert sum(units) == drawn["counters"]["host_write_approx_units"]
    shares = [unit / sum(units) for unit in units]
    assert shares == pytest.approx([0.2, 0.3, 0.5], abs=0.03)
    flips = read_quality_level_counters(drawn["counters"], "read_level_{}_flipped_bits")
    assert sum(flips) == drawn["counters"]["read_flipped_bits"]
    assert flips[0] < flips[1] < flips[2]
    played = get_only_run(run_sim("--policy", "levels", "--cell_model", "voltage", "--trace", path,
                                  "--record", copy))
    assert read_quality_level_counters(played["counters"], "host_write_level_{}_units") == units
    assert {record.klass for record in read_trace(copy)} == {0, 1, 2, 3}
    assert path.read_bytes()[576:704] == b"".join(
        name.ljust(32, b"\0") for name in (b"precise", b"approximate", b"approximate_2",
                                           b"approximate_3"))


UNITS = 24
CLASSES = ("precise", "approximate", "approximate_2", "approximate_3")
#: First unit, number of units, quality level.
WRITES = st.lists(st.tuples(st.integers(0, UNITS - 1), st.integers(1, 6), st.integers(0, 3)),
                  min_size=1, max_size=25)


def write_requests_to_record_file(folder: Path, name: str, op: int,
                                  what: Iterable[tuple[int, int, int]]) -> Path:
    """Write requests to a record file, one second apart, with a unit of 4 KiB."""
    return write_trace(folder / name, [
        Record(number * 10**9, 8 * unit, 8 * count, op, klass=level)
        for number, (unit, count, level) in enumerate(what)], Header(classes=CLASSES))


@pytest.mark.parametrize("policy", ["levels", "vth_b", "lending"])
@settings(max_examples=8, database=None)
@given(WRITES)
def test_a_saved_unit_has_the_quality_level_of_its_last_write(
        policy: str, tmp_path_factory: pytest.TempPathFactory,
                                                      written: list[tuple[int, int, int]]) -> None:
    folder = tmp_path_factory.mktemp("levels")
    last = {unit: level for first, count, level in written
            for unit in range(first, first + count)}
    saved = folder / "saved"
    # The error rate is so high that each approximate unit has flipped bits.
    run_sim("--policy", policy, "--rber_approx", "0.01", "--channels", "1", "--trace",
            write_requests_to_record_file(folder, "written.aft", WRITE, written), "--dump", saved)
    for level in range(4):
        units = [(unit, 1, 0) for unit, of in last.items() if of == level]
        if not units:
            continue
        read = get_only_run(run_sim("--load", saved, "--verify", "--trace",
                                    write_requests_to_record_file(folder, "read.aft", READ,
                                                                  units)))["counters"]
        flipped = read_quality_level_counters(read, "read_level_{}_flipped_bits")
        assert read["read_approx_units"] == (len(units) if level else 0)
        assert [bool(bits) for bits in flipped] == [of == level for of in (1, 2, 3)], flipped


def test_a_record_file_without_quality_levels_has_two_data_classes(tmp_path: Path) -> None:
    path = tmp_path / "x.aft"
    drawn = get_only_run(run_sim("--approx-share", "0.5", "--requests", "100", "--record", path))
    assert read_quality_level_counters(drawn["counters"], "host_write_level_{}_units")[1:] == [0, 0]
    assert path.read_bytes()[48] == 2


def test_shares_of_quality_levels_with_a_sum_above_1_are_refused() -> None:
    said = run_approxftl("sim", "--approx-share", "100%", "--level-2-share", "0.6",
                         "--level-3-share", "0.6")
    assert said.err.endswith("--level-2-share and --level-3-share are more than all together\n")
    assert "--level-2-share" in run_approxftl("sim", "--level-2-share", "0.6").err


def test_option_arrival_device_keeps_the_recorded_device_times(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", [Record(5000000, 0, 8, WRITE)])
    moved = get_only_run(run_sim("--trace", path))
    kept = get_only_run(run_sim("--trace", path, "--arrival", "device"))
    assert kept["device_time_ns"] == moved["device_time_ns"] + 5000000
    assert run_approxftl("sim", "--arrival",
                         "device").err.endswith("--arrival device needs --trace\n")


def test_option_until_keeps_the_device_working_after_the_end_of_a_trace(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", [Record(0, 0, 8, WRITE)])
    options: list[str | Path] = ["--trace", path, "--fill=random", "--buffer=64KiB"]
    at_once = get_only_run(run_sim(*options))
    later = get_only_run(run_sim(*options, "--until", "20ms"))
    assert at_once["counters"]["array_programs"] == 0
    assert later["counters"]["array_programs"] == 1
    assert later["device_time_ns"] == 20000000


def test_a_record_earlier_than_its_predecessor_is_refused(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", [Record(5, 0, 8, READ), Record(4, 0, 8, READ)])
    done = run_approxftl("sim", "--trace", path)
    assert done.code == 1
    assert "byte 4128: the time is before that of the previous record" in done.err


@pytest.mark.parametrize("length", [8, 100, HEADER_BYTES - 1])
def test_a_truncated_header_is_refused(length: int, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", GOOD)
    os.truncate(path, length)
    done = run_approxftl("sim", "--trace", path)
    assert done.code == 1
    assert f"byte {length}: the file ends inside its header of 4096 bytes" in done.err


def test_a_truncated_record_is_refused(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", GOOD)
    os.truncate(path, HEADER_BYTES + 2 * RECORD_BYTES + 5)
    done = run_approxftl("sim", "--trace", path)
    assert done.code == 1
    assert "byte 4160: the file ends inside a record of 32 bytes" in done.err


def test_missing_records_are_reported(tmp_path: Path) -> None:
    done = run_approxftl("sim", "--trace", write_trace(tmp_path / "x.aft", GOOD, Header(records=7)))
    assert done.code == 1
    assert "byte 4192: the file ends after 3 of 7 records" in done.err


def test_the_record_count_of_the_header_ends_the_stream(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", GOOD, Header(records=2))
    path.write_bytes(path.read_bytes() + b"trailer")
    assert get_only_run(run_sim("--trace", path))["requests"] == 2


def test_an_empty_stream_runs_no_request(tmp_path: Path) -> None:
    assert get_only_run(run_sim("--trace", write_trace(tmp_path / "x.aft", [])))["requests"] == 0


def test_a_directory_as_trace_is_refused(tmp_path: Path) -> None:
    done = run_approxftl("sim", "--trace", tmp_path)
    assert done.code == 3
    assert "cannot read" in done.err


def test_a_record_on_standard_input_equals_the_file(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", GOOD)
    named = get_only_run(run_sim("--trace", path))
    assert get_only_run(run_sim("--trace", "-", stdin=path.read_bytes())) == named


def test_each_operation_of_a_record_is_executed(tmp_path: Path) -> None:
    records = [
        Record(0, 0, 64, WRITE, klass=1),
        Record(10_000_000, 0, 64, READ),
        Record(20_000_000, 0, 16, DISCARD),
        Record(20_000_000, 16, 8, WRITE_ZEROES),
        Record(30_000_000, 0, 64, READ),
        Record(40_000_000, 0, 0, FLUSH),
    ]
    counters = get_only_run(run_sim("--trace",
                                    write_trace(tmp_path / "x.aft", records)))["counters"]
    assert counters["host_write_approx_units"] == 8
    assert counters["host_discard_units"] == 3
    assert counters["host_discard_requests"] == 2
    assert counters["unmapped_read_units"] == 3
    assert counters["host_flush_requests"] == 1


def test_a_trace_of_a_larger_device_is_refused(tmp_path: Path) -> None:
    """A trace larger than the device is refused before the run; the advised size is sufficient."""
    sectors = run_sim("--requests", "0", "--blocks", "50")["geometry"]["capacity_bytes"] // 512
    fits = [Record(n, 8 * n, 8, WRITE) for n in range(9)]
    path = write_trace(tmp_path / "x.aft", [*fits, Record(9, 3 * sectors, 8, WRITE)])
    small = ("--blocks", "50", "--trace")
    done = run_approxftl("sim", *small, path, "--json")
    assert (done.code, done.out) == (1, "")
    said = re.search(r"it reaches to byte (\d+), the device has (\d+); --blocks (\d+) makes",
                     done.err)
    assert said, done.err
    assert [int(number) for number in said.groups()[:2]] == [512 * (3 * sectors + 8), 512 * sectors]

    def simulate_and_count_wrapped_requests(*arguments: str | Path) -> int:
        return int(run_sim(*arguments)["stream"]["wrapped_requests"])

    assert simulate_and_count_wrapped_requests("--blocks", said[3], "--trace", path) == 0
    assert simulate_and_count_wrapped_requests(*small, path, "--fold") == 1
    # Records beyond --requests are not checked; a pipe is checked while it is read.
    assert simulate_and_count_wrapped_requests(*small, path, "--requests", "9") == 0
    done = run_approxftl("sim", *small, "-", stdin=path.read_bytes())
    assert done.code == 1 and said[0] in done.err


def test_unaligned_and_distant_requests_are_counted(tmp_path: Path) -> None:
    capacity = run_sim("--requests", "0")["geometry"]["capacity_bytes"] // 512
    header = Header(classes=("precise", "approximate", "sloppy"))
    records = [
        Record(0, 1, 8, WRITE),
        Record(1, 7, 1, WRITE),
        Record(2, capacity, 8, WRITE),
        Record(3, capacity - 8, 16, WRITE),
        Record(4, 0, capacity + 8, READ),
        Record(5, 0, 8, WRITE, klass=2),
        Record(6, 0, 8, READ, klass=2),
    ]
    done = run_approxftl("sim", "--trace", write_trace(tmp_path / "x.aft", records, header),
                         "--fold")
    assert done.code == 0
    assert "widened" not in done.err
    assert "warning: 2 requests were beyond the capacity and were taken modulo it" in done.err
    assert "warning: 1 requests were larger than the device and were cut" in done.err
    assert "note: 1 writes of an unknown tag class were taken as precise" in done.err
    result = run_sim("--trace", tmp_path / "x.aft", "--fold")
    stream, counters = result["stream"], get_only_run(result)["counters"]
    assert stream["widened_requests"] == 0
    assert counters["host_write_bytes"] == 512 * sum(
        record.nsect for record in records if record.op == WRITE)
    # The first request covers a part of two units, the second a part of one.
    assert counters["host_partial_write_units"] == 3
    assert stream["wrapped_requests"] == 2
    assert stream["clipped_requests"] == 1
    assert stream["unknown_class_requests"] == 1
    array = run_approxftl("sim", "--raid", "5", "--trace", tmp_path / "x.aft", "--fold")
    assert "note: 2 requests were widened to whole mapping units" in array.err


def test_a_discard_of_partial_units_frees_whole_units_only(tmp_path: Path) -> None:
    """A discard frees whole units only; zeroing a part of a unit counts as a write."""
    records = [Record(0, 0, 32, WRITE), Record(10**9, 4, 20, DISCARD),
               Record(2 * 10**9, 28, 4, WRITE_ZEROES)]
    path = write_trace(tmp_path / "x.aft", records)
    counters = get_only_run(run_sim("--trace", path))["counters"]
    assert (counters["host_discard_requests"], counters["host_discard_units"]) == (1, 2)
    assert (counters["host_write_requests"], counters["host_write_bytes"]) == (2, 36 * 512)


def test_a_trace_is_repeated_and_its_times_are_scaled(tmp_path: Path) -> None:
    path = write_trace(
        tmp_path / "x.aft", [Record(7_000_000 + 1_000_000 * i, 8 * i, 8, WRITE) for i in range(4)]
    )
    out = tmp_path / "y.aft"
    run_sim("--trace", path, "--repeat", "3", "--time-scale", "0.5", "--record", out)
    records = read_trace(out)
    assert [record.t_ns for record in records] == [500_000 * i for i in range(12)]
    assert [record.off_sect for record in records] == [0, 8, 16, 24] * 3
    run_sim("--trace", path, "--time-scale", "2", "--record", out)
    assert [record.t_ns for record in read_trace(out)] == [2_000_000 * i for i in range(4)]


def test_option_requests_limits_the_requests_of_a_trace(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "x.aft", GOOD)
    assert get_only_run(run_sim("--trace", path, "--requests", "2"))["requests"] == 2
    assert get_only_run(run_sim("--trace", path, "--warmup", "1"))["requests"] == 2


RECORD = st.builds(
    Record,
    t_ns=st.integers(0, 10**12),
    off_sect=st.integers(0, 1 << 40),
    nsect=st.integers(1, 2048),
    op=st.sampled_from([READ, WRITE, DISCARD, WRITE_ZEROES]),
    klass=st.integers(0, 1),
)


@settings(max_examples=25)
@given(records=st.lists(RECORD, max_size=30), depth=st.integers(1, 8))
def test_any_valid_record_file_is_run(
    records: list[Record], depth: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "x.aft"
    write_trace(path, sorted(records, key=lambda record: record.t_ns))
    for arrival in (["--arrival", "trace"], ["--depth", str(depth)]):
        result = get_only_run(run_sim("--trace", path, "--fold", "--verify", *arrival))
        assert result["requests"] == len(records)
        assert result["counters"]["host_failed_requests"] == 0


@settings(max_examples=40)
@given(place=st.integers(0, HEADER_BYTES + 95), bit=st.integers(0, 7))
def test_no_flipped_bit_of_a_record_file_crashes(
    place: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write_trace(tmp_path_factory.mktemp("bit") / "x.aft", GOOD)
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)
    done = run_approxftl("sim", "--trace", path, "--arrival", "closed")
    assert done.code in (0, 1)
    if place < HEADER_BYTES:
        assert done.code == 1
