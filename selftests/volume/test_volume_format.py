# SPDX-License-Identifier: GPL-2.0-only
"""The volume format in its document, compared with real volumes."""

import json
import re
from pathlib import Path
from typing import Any

from selftests.lib.programs import TOP
from selftests.sim.support import run_approxftl

DOCUMENT = TOP / "docs/volume-format.md"
FRAME = 4096

Field = tuple[int, int, str]


def read_documented_tables() -> list[str]:
    return re.findall(r"^```text\n(.*?)^```", DOCUMENT.read_text(), re.S | re.M)


def parse_documented_table(index: int) -> list[Field]:
    found = re.findall(r"^ *(\d+) +(\d+)  (.*)$", read_documented_tables()[index], re.M)
    return [(int(offset), int(size), what) for offset, size, what in found]


def read_table_field(data: bytes, table: list[Field], start: str) -> int:
    offset, size = next((o, s) for o, s, what in table if what.startswith(start))
    return int.from_bytes(data[offset : offset + size], "little")


def dump_volume(path: Path, *options: str) -> dict[str, Any]:
    done = run_approxftl("dump", path, *options, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def make_small_volume(path: Path) -> bytes:
    done = run_approxftl("format", path, "--policy=vth_b", "blocks=40", "layers=2", "op=40",
                         "cycles=7")
    assert done.code == 0, done.err
    return path.read_bytes()


def test_fields_of_volume_structures_do_not_overlap() -> None:
    for index in (0, 2, 3, 4, 5, 6, 7, 8):
        end = 0
        for offset, size, what in parse_documented_table(index):
            assert offset >= end, what
            end = offset + size


def test_the_documented_volume_header_is_read(tmp_path: Path) -> None:
    data = make_small_volume(tmp_path / "volume")
    told = dump_volume(tmp_path / "volume")["superblock"]
    table = parse_documented_table(2)
    assert read_table_field(data, table, "format version, major") == 1
    assert read_table_field(data, table, "bytes of a frame") == FRAME
    assert read_table_field(data, table, "generation") == told["generation"]
    assert read_table_field(data, table, "bytes of the volume") == told["bytes"] == len(data)
    for area, frame in told["first_frames"].items():
        what = area.replace("_", " ")
        assert read_table_field(data, table, f"first frame of the {what}") == frame
    assert read_table_field(data, table, "number of parameters") == len(told["parameters"])


def test_the_documented_volume_state_is_read(tmp_path: Path) -> None:
    data = make_small_volume(tmp_path / "volume")
    table = parse_documented_table(3)
    for state in dump_volume(tmp_path / "volume", "--state")["states"]:
        payload = data[state["frame"] * FRAME :][:504]
        assert state["sound"]
        assert read_table_field(payload, table, "number of the commit") == state["commit"]
        assert read_table_field(payload, table, "sequence number: changes") == state["sequence"]
        offset, size = next((o, s) for o, s, what in table if what.startswith("policy, padded"))
        assert payload[offset : offset + size].rstrip(b"\0").decode() == state["policy"] == "vth_b"


def test_the_documented_erase_table_is_read(tmp_path: Path) -> None:
    data = make_small_volume(tmp_path / "volume")
    first = dump_volume(tmp_path / "volume")["superblock"]["first_frames"]["erase_table"] * FRAME
    for block in (0, 30, 31, 159):
        entry = data[first + block // 31 * 512 + block % 31 * 16 :][:16]
        assert read_table_field(entry, parse_documented_table(4), "erases") == 7
        assert read_table_field(entry, parse_documented_table(4), "wear") == 70000
    assert dump_volume(tmp_path / "volume", "--blocks")["blocks"][31]["erases"] == 7
