# SPDX-License-Identifier: GPL-2.0-only
"""The commands of approxftl-trace: options, rules, exit codes; failures leave no partial output."""

import json
import subprocess
from pathlib import Path

import pytest
from selftests.lib.programs import BUILD, run_program
from selftests.traces.support import (
    BINARY,
    CGROUP,
    COMPLETE,
    NOTE_MESSAGE,
    NOTE_PROCESS,
    QUEUE,
    WRITE,
    make_request_event,
    make_trace_note,
    pack_events,
    parse_blktrace_events_of_version_7,
    read_aft_records,
    read_trace_rows,
    run_trace_tool,
    run_trace_tool_json,
    run_trace_tool_ok,
    write_test_file,
)

MIB = 1 << 20


def write_spc_trace(path: Path, requests: int = 2000) -> Path:
    """Write a trace of writes, one in each mebibyte."""
    return write_test_file(path, "".join(
        f"0,{i * MIB // 512},{512 * (1 + i % 128)},W,{i / 1000:.3f}\n" for i in range(requests)))


@pytest.mark.parametrize("arguments", [
    [], ["nonsense"], ["info"], ["convert", "x"], ["info", "--frmo", "x"], ["pair", "--json="],
    ["fix", "a"], ["formats", "x"], ["tag", "a", "b.aft"],
])
def test_wrong_options_are_refused(arguments: list[str], tmp_path: Path) -> None:
    done = run_program(BINARY, *arguments, directory=tmp_path)
    assert done.code in ({2, 3} if arguments[:1] == ["tag"] else {2}), done.err
    assert done.err
    assert not done.out


def test_misspelt_options_are_corrected_in_messages() -> None:
    assert "did you mean convert" in run_trace_tool("convret").err
    assert "did you mean --from" in run_trace_tool("info", "--frmo", "x").err


def test_json_of_every_verb_matches_its_schema(tmp_path: Path) -> None:
    source, rule = write_spc_trace(tmp_path / "s"), ("--rule", "approximate:size=4KiB..")
    assert run_trace_tool_json("convert", source, tmp_path / "a.aft")["written"]["requests"] == 2000
    assert run_trace_tool_json("tag", *rule, source,
                               tmp_path / "b.aft")["written"]["format"] == "aft"
    left = run_trace_tool_json("convert", "--sample", "1:0.1", source,
                               tmp_path / "c.csv")["written"]
    assert left["requests"] + left["not_in_sample"] == 2000
    assert len(run_trace_tool_json("formats")["formats"]) > 10
    blktrace = write_test_file(tmp_path / "t",
                               pack_events([make_request_event(1, QUEUE, WRITE, 0, 512)]))
    assert run_trace_tool_json("pair", blktrace)["files"][0]["actions"] == {"Q": 1}


def test_the_verb_trace_prints_the_same_as_the_program() -> None:
    done = subprocess.run([BUILD / "approxftl", "trace", "formats"], capture_output=True,
                          text=True, check=True)
    assert done.stdout == run_trace_tool_ok("formats").out


def test_trace_formats_are_listed() -> None:
    document = json.loads(run_trace_tool_ok("formats", "--json").out)
    listed = {f["name"]: f for f in document["formats"]}
    assert len(listed) == 14
    assert {n for n, f in listed.items() if f["written"]} == {
        "aft", "blktrace", "csv", "iolog", "mqsim", "msr", "parquet"}
    assert [n for n, f in listed.items() if not f["read"]] == ["parquet"]


def test_conversion_first_prints_the_detected_format(tmp_path: Path) -> None:
    done = run_trace_tool_ok("convert", write_spc_trace(tmp_path / "t"), tmp_path / "out.aft")
    lines = done.err.splitlines()
    assert "spc" in lines[0]
    assert "times in s" in lines[0]
    assert lines[1].startswith("the first 1024 requests: span 1.02")
    assert lines[-1].startswith("2000 requests written")
    assert run_trace_tool_ok("convert", "-q", write_spc_trace(tmp_path / "t"),
                             tmp_path / "out2.aft").err == ""


def test_existing_files_are_kept_without_force(tmp_path: Path) -> None:
    source = write_spc_trace(tmp_path / "t")
    out = write_test_file(tmp_path / "out.aft", "precious")
    assert run_trace_tool("convert", source, out).code == 1
    assert out.read_text() == "precious"
    run_trace_tool_ok("convert", "--force", source, out)
    assert len(read_aft_records(out)) == 2000


def test_an_output_name_without_a_format_is_refused(tmp_path: Path) -> None:
    done = run_trace_tool("convert", write_spc_trace(tmp_path / "t"), tmp_path / "out.xyz")
    assert done.code == 2
    assert "--to" in done.err
    read_only = run_trace_tool("convert", "--to", "spc", tmp_path / "t", tmp_path / "out")
    assert (read_only.code, "only read" in read_only.err) == (2, True)


def test_times_of_a_converted_trace_begin_at_0_unless_kept(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "t", "0,0,512,r,5.0\n0,0,512,r,6.5\n")
    run_trace_tool_ok("convert", source, tmp_path / "a.aft")
    run_trace_tool_ok("convert", "--keep-time", source, tmp_path / "b.aft")
    assert [r[0] for r in read_aft_records(tmp_path / "a.aft")] == [0, 1_500_000_000]
    assert [r[0] for r in read_aft_records(tmp_path / "b.aft")] == [5 * 10**9, 6_500_000_000]
    assert run_trace_tool("convert", "--keep-time", "--rebase", source,
                          tmp_path / "c.aft").code == 2


def test_option_fold_splits_requests_at_the_end_of_the_device(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "t", "0,0,1024,w,1\n0,2047,1024,w,2\n0,2050,512,w,3\n")
    run_trace_tool_ok("convert", "--fold", "1MiB", source, tmp_path / "a.aft")
    assert [r[1:3] for r in read_aft_records(tmp_path / "a.aft")] == [
        (0, 2), (2047, 1), (0, 1), (2, 1)]
    assert run_trace_tool("convert", "--fold", "512", source, tmp_path / "b.aft").code == 1
    assert not (tmp_path / "b.aft").exists()


def test_scaled_addresses_keep_their_offset_in_a_block(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "t", "0,16,1024,w,1\n0,25,1024,w,2\n")
    run_trace_tool_ok("convert", "--scale-lba", "0.5", source, tmp_path / "a.aft")
    assert [r[1] for r in read_aft_records(tmp_path / "a.aft")] == [8, 9]
    assert run_trace_tool("convert", "--scale-lba", "0", source, tmp_path / "b.aft").code == 2


def test_requests_beyond_the_device_are_refused(tmp_path: Path) -> None:
    source = write_test_file(tmp_path / "t", "0,2048,512,w,1\n")
    done = run_trace_tool("convert", "--device-bytes", "1MiB", source, tmp_path / "a.aft")
    assert done.code == 1
    assert "--fold" in done.err
    run_trace_tool_ok("convert", "--device-bytes", "2MiB", source, tmp_path / "b.aft")
    assert (tmp_path / "b.aft").read_bytes()[40:48] == (2 * MIB).to_bytes(8, "little")


def test_option_sample_selects_addresses_by_its_seed(tmp_path: Path) -> None:
    source = write_spc_trace(tmp_path / "t", 4000)
    found = []
    for name, sample in (("a", "1:0.25"), ("b", "1:0.25"), ("c", "2:0.25"), ("d", "1:1")):
        run_trace_tool_ok("convert", "--sample", sample, source, tmp_path / f"{name}.aft")
        found.append({r[1] for r in read_aft_records(tmp_path / f"{name}.aft")})
    assert found[0] == found[1] != found[2]
    assert len(found[3]) == 4000
    assert 850 < len(found[0]) < 1150
    assert run_trace_tool("convert", "--sample", "0.25", source, tmp_path / "e.aft").code == 2


def test_provenance_names_command_and_source(tmp_path: Path) -> None:
    run_trace_tool_ok("convert", write_spc_trace(tmp_path / "t"), tmp_path / "a.aft")
    data = (tmp_path / "a.aft").read_bytes()
    assert data[1088:1152].rstrip(b"\0") == b"spc"
    assert data[1152:1216].startswith(b"approxftl-trace ")
    about = json.loads(data[1216:4092].rstrip(b"\0"))
    assert about["source_format"] == "spc"
    assert about["arguments"][0] == "convert"


def test_options_origin_and_about_are_stored_in_the_header(tmp_path: Path) -> None:
    run_trace_tool_ok("convert", "--origin", "MSR Cambridge, hm_0", "--about", "synthetic=no",
                      "--about", 'url="a=b"', write_spc_trace(tmp_path / "t"), tmp_path / "a.aft")
    data = (tmp_path / "a.aft").read_bytes()
    assert data[1088:1152].rstrip(b"\0") == b"MSR Cambridge, hm_0"
    said = json.loads(data[1216:4092].rstrip(b"\0"))
    assert said["about"] == {"synthetic": "no", "url": '"a=b"'}
    assert said["source_format"] == "spc"


@pytest.mark.parametrize(("arguments", "out", "sentence"), [
    (["--about", "synthetic"], "a.aft", "is not KEY=VALUE"),
    (["--about", "=x"], "a.aft", "is not KEY=VALUE"),
    (["--about", f"x={'y' * 2900}"], "a.aft", "keeps 2875 bytes of facts"),
    (["--origin", "x" * 64], "a.aft", "use --about"),
    (["--origin", "x"], "a.csv", "record files (.aft) only"),
])
def test_information_that_a_format_cannot_store_is_refused(
        arguments: list[str], out: str, sentence: str, tmp_path: Path) -> None:
    done = run_trace_tool("convert", *arguments, write_spc_trace(tmp_path / "t", 3), tmp_path / out)
    assert done.code == 2
    assert sentence in done.err
    assert not (tmp_path / out).exists()


def test_long_command_lines_are_shortened(tmp_path: Path) -> None:
    parts = [write_spc_trace(tmp_path / ("x" * 200 + str(i)), 3) for i in range(30)]
    run_trace_tool_ok("convert", *parts, tmp_path / "a.aft")
    json.loads((tmp_path / "a.aft").read_bytes()[1216:4092].rstrip(b"\0"))


# ---- rules


def tag_trace_by_rules(tmp_path: Path, source: Path, *rules: str, seed: int = 1) -> list[int]:
    out = tmp_path / "tagged.aft"
    arguments = [word for rule in rules for word in ("--rule", rule)]
    run_trace_tool_ok("tag", "-q", "--force", "--seed", str(seed), *arguments, source, out)
    return [r[4] for r in read_aft_records(out)]


def test_tagging_rules_match_address_ranges_and_sizes(tmp_path: Path) -> None:
    source = write_spc_trace(tmp_path / "t", 512)
    assert sum(tag_trace_by_rules(tmp_path, source, "approximate")) == 512
    assert sum(tag_trace_by_rules(tmp_path, source, "precise")) == 0
    in_range = tag_trace_by_rules(tmp_path, source, "approximate:range=100MiB+10MiB")
    assert [i for i, c in enumerate(in_range) if c] == list(range(100, 110))
    large = tag_trace_by_rules(tmp_path, source, "approximate:size=32KiB..")
    assert [bool(c) for c in large] == [512 * (1 + i % 128) >= 32768 for i in range(512)]
    small = tag_trace_by_rules(tmp_path, source, "approximate:size=..1KiB")
    assert sum(small) == 8
    first = tag_trace_by_rules(tmp_path, source, "precise:size=32KiB..",
                               "approximate:range=100MiB+10MiB")
    assert [i for i, c in enumerate(first) if c] == [
        i for i in range(100, 110) if 1 + i % 128 < 64]


def test_rule_share_selects_addresses_by_seed(tmp_path: Path) -> None:
    lines = [f"0,{i % 1000 * MIB // 512 + j},512,W,{i / 1000:.3f}\n"
             for i in range(2000) for j in (0, 8)]
    source = write_test_file(tmp_path / "t", "".join(lines))
    one = tag_trace_by_rules(tmp_path, source, "approximate:share=0.3")
    assert one == tag_trace_by_rules(tmp_path, source, "approximate:share=0.3")
    assert one != tag_trace_by_rules(tmp_path, source, "approximate:share=0.3", seed=2)
    assert 0.25 < sum(one) / len(one) < 0.35
    # All writes in a mebibyte have the same class.
    places: dict[int, set[int]] = {}
    for i, c in enumerate(one):
        places.setdefault(i // 2 % 1000, set()).add(c)
    assert all(len(found) == 1 for found in places.values())
    assert set(tag_trace_by_rules(tmp_path, source, "approximate:share=1")) == {1}
    assert set(tag_trace_by_rules(tmp_path, source, "approximate:share=0")) == {0}


def test_tagging_rules_match_processes(tmp_path: Path) -> None:
    events = [make_trace_note(1, NOTE_PROCESS, b"ffmpeg\0".ljust(16, b"\0"), pid=5),
              make_trace_note(2, NOTE_PROCESS, b"ffprobe\0".ljust(16, b"\0"), pid=6)]
    for i, pid in enumerate((5, 6, 7)):
        events += [make_request_event(10 + i, QUEUE, WRITE, 8 * i, 4096, pid=pid),
                   make_request_event(20 + i, COMPLETE, WRITE, 8 * i, 4096)]
    source = write_test_file(tmp_path / "t", pack_events(events))
    assert tag_trace_by_rules(tmp_path, source, "approximate:process=ffmpeg") == [1, 0, 0]
    assert tag_trace_by_rules(tmp_path, source, "approximate:process=ff*") == [1, 1, 0]
    assert tag_trace_by_rules(tmp_path, source, "approximate:process=*") == [1, 1, 0]
    refused = run_trace_tool("tag", "--rule", "approximate:process=x",
                             write_spc_trace(tmp_path / "s"),
                             tmp_path / "o.aft")
    assert refused.code == 2
    assert "names of processes" in refused.err


@pytest.mark.parametrize("rule", [
    "", "perhaps", "approximate:", "approximate:colour=1", "approximate:size=5", "precise:share=2",
    "approximate:range=4KiB", "approximate:size=8KiB..4KiB", "approximate:process=",
    "approximate:stream=x", "approximate:share=0.5x",
])
def test_wrong_tagging_rules_are_refused(tmp_path: Path, rule: str) -> None:
    done = run_trace_tool("tag", "--rule", rule, write_spc_trace(tmp_path / "t"),
                          tmp_path / "o.aft")
    assert done.code == 2
    assert "--rule" in done.err


# ---- fix

def test_verb_fix_removes_control_groups_from_notes_of_a_blktrace_capture(tmp_path: Path) -> None:
    events = [make_trace_note(1, NOTE_PROCESS, b"fio".ljust(16, b"\0"), pid=5, group=True),
              make_request_event(2, QUEUE, WRITE, 0, 4096, pid=5, sequence=1),
              make_trace_note(3, NOTE_MESSAGE, b"approxftl write 0 8 approximate file", pid=5,
                              group=True),
              make_request_event(9, COMPLETE, WRITE, 0, 4096, sequence=2)]
    source = write_test_file(tmp_path / "a.blktrace.0", pack_events(events))
    write_test_file(tmp_path / "a.blktrace.1", b"")
    result = run_trace_tool_json("fix", tmp_path / "a", tmp_path / "b")
    assert (result["events"], result["changed_notes"]) == (4, 2)
    seen = list(parse_blktrace_events_of_version_7((tmp_path / "b.blktrace.0").read_bytes()))
    assert not any(event.action & CGROUP for event in seen)
    assert [event.extra for event in seen] == [
        b"fio".ljust(16, b"\0"), b"", b"approxftl write 0 8 approximate file", b""]
    assert read_trace_rows(tmp_path / "b") == read_trace_rows(source)
    said = subprocess.run(["blkparse", "-i", tmp_path / "b"], check=True, capture_output=True,
                          text=True).stdout
    assert "[fio]" in said
    assert "approxftl write 0 8 approximate file" in said


def test_fix_refuses_captures_of_unknown_versions(tmp_path: Path) -> None:
    other = write_test_file(tmp_path / "a",
                            pack_events([make_request_event(2, QUEUE, WRITE, 0, 4096)], version=8))
    assert "version 8" in run_trace_tool("fix", other, tmp_path / "b").err
    cut = write_test_file(tmp_path / "c",
                          pack_events([make_request_event(2, QUEUE, WRITE, 0, 4096)])[:40])
    assert "byte 0" in run_trace_tool("fix", cut, tmp_path / "b").err
    padded = write_test_file(tmp_path / "d",
                             pack_events([make_request_event(2, QUEUE, WRITE, 0, 4096)])
                             + bytes(4096))
    assert "byte 48: zeroes where an event should begin" in run_trace_tool("fix", padded,
                                                                           tmp_path / "b").err
    assert not (tmp_path / "b").exists()


# ---- exit

def test_a_dash_writes_to_standard_output(tmp_path: Path) -> None:
    source = write_spc_trace(tmp_path / "t", 100)
    out = tmp_path / "a.csv"
    run_trace_tool_ok("convert", "-q", source, out)
    assert run_trace_tool_ok("convert", "-q", "--to", "csv", source, "-").out == out.read_text()


def test_the_summary_of_a_trace_counts_each_request_once(tmp_path: Path) -> None:
    result = run_trace_tool_json("pair", write_spc_trace(tmp_path / "t"))["requests"]
    assert result["all"]["requests"] == 2000
    assert result["operations"]["write"]["requests"] == 2000
    assert result["write_classes"]["precise"]["bytes"] == result["all"]["bytes"]
    assert result["span_ns"] == 1_999_000_000
    assert result["end_bytes"] == 1999 * MIB + 512 * (1 + 1999 % 128)


def test_the_summary_of_a_trace_has_latencies_and_queue_depth(tmp_path: Path) -> None:
    lines = [f"{10 * i},a,0,Read,{4096 * i},4096,{i % 100 + 1}\n" for i in range(10_000)]
    result = run_trace_tool_json("pair",
                                 write_test_file(tmp_path / "t", "".join(lines)))["requests"]
    latency = result["all"]["latency"]
    assert (latency["min_ns"], latency["max_ns"]) == (100, 10_000)
    assert latency["mean_ns"] == 5050
    for key, exact in (("p50_ns", 5000), ("p90_ns", 9000), ("p99_ns", 9900)):
        assert exact <= latency[key] <= exact * (1 + 1 / 64)
    depths = []
    ends: list[int] = []
    for i in range(10_000):
        ends = [end for end in ends if end > 10 * i] + [10 * i + i % 100 + 1]
        depths.append(len(ends))
    assert result["depth"]["max"] == max(depths)
    assert result["depth"]["met_mean"] == pytest.approx(sum(depths) / 10_000, abs=1e-3)
