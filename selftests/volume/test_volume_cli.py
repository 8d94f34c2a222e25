# SPDX-License-Identifier: GPL-2.0-only
"""`approxftl format`, `check` and `dump` on files: what they change, find, print and refuse."""

import hashlib
import lzma
import os
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.json_schema import parse_document
from selftests.lib.programs import PROGRAM, TOP, run_program
from selftests.sim.support import crc32c, run_approxftl

UUID = "8e41f2c6-0b3a-4d5e-9f70-123456789abc"
SMALL = ("blocks=40", "layers=2", "word_lines=4", "op=60")
FRAME = 4096
GOLDEN = "03b4db186d9d0e9ac340a3309399008dce64177ef21dda12e33cec7af7105915"
SECTOR = 512

Json = dict[str, Any]


def make_volume(path: Path, *arguments: str) -> None:
    done = run_approxftl("format", path, "--uuid", UUID, *SMALL, *arguments)
    assert (done.code, done.err) == (0, "")


@pytest.fixture
def volume_image(tmp_path: Path) -> Path:
    path = tmp_path / "volume"
    make_volume(path, "--policy", "approxftl")
    return path


def run_volume_verb_for_json(*arguments: str | Path, code: int = 0) -> Json:
    done = run_approxftl(*arguments, "--json")
    assert done.code == code, done.err
    return parse_document("userspace/approxftl/verbs-output.fields", done.out)


def flip_byte_bits(path: Path, offset: int, flip: int = 0x40) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ flip]))


def read_first_frame_offsets(path: Path) -> dict[str, int]:
    frames: dict[str, int] = run_volume_verb_for_json("dump", path)["superblock"]["first_frames"]
    return frames


def test_format_creates_a_valid_volume(volume_image: Path) -> None:
    found = run_volume_verb_for_json("check", volume_image)
    assert found["sound"] and not found["closed"]
    assert (found["mapped_units"], found["programmed_pages"], found["findings"]) == (0, 0, 0)
    assert found["superblock"]["uuid"] == UUID
    assert found["superblock"]["bytes"] == volume_image.stat().st_size


def test_format_prints_a_summary(tmp_path: Path) -> None:
    done = run_approxftl("format", tmp_path / "v", "--profile", "demo", "--policy", "vth_b", *SMALL)
    assert done.code == 0
    assert "policy vth_b" in done.out and "blocks=40" in done.out
    done = run_approxftl("check", tmp_path / "v")
    assert (done.code, "is sound" in done.out) == (0, True)


def test_the_volume_format_has_not_changed(volume_image: Path) -> None:
    """A new volume has exactly the bytes in this test, unless the format version has changed."""
    data = volume_image.read_bytes()
    frames = read_first_frame_offsets(volume_image)
    assert data[:48].hex() == (
        "894146560d0a1a0a0100000000100000" + UUID.replace("-", "") +
        "0100000000000000" + struct.pack("<Q", len(data)).hex()
    )  # fmt: skip
    assert list(frames.values()) == [4, 5, 23, 26, 256]
    tables = data[2 * FRAME : frames["snapshot"] * FRAME]
    assert hashlib.sha256(tables).hexdigest() == GOLDEN
    assert not any(data[frames["snapshot"] * FRAME :])


def test_parameters_are_stored_by_name(volume_image: Path) -> None:
    data = volume_image.read_bytes()
    assert b"\x06blocks" + struct.pack("<Q", 40) in data[:FRAME]
    assert data[: FRAME - 4] == data[FRAME : 2 * FRAME - 4]


def test_a_volume_uses_the_whole_size_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "volume"
    path.write_bytes(b"")
    with path.open("r+b") as file:
        file.truncate(64 << 20)
    assert run_approxftl("format", path, "--set", "layers=2", "--policy=baseline").code == 0
    size = run_volume_verb_for_json("check", path)["superblock"]["bytes"]
    assert 0.9 * (64 << 20) < size <= 64 << 20


def test_a_file_that_is_too_small_is_refused(tmp_path: Path) -> None:
    """A wrong file size is refused before the file is scanned, however much data it has."""
    path = tmp_path / "volume"
    for content in (bytes(1 << 20), b"somebody's" * 100_000):
        path.write_bytes(content)
        done = run_approxftl("format", path)
        assert done.code == 1 and "too few" in done.err
        done = run_approxftl("format", path, *SMALL)
        assert done.code == 1 and "needs" in done.err
        assert path.read_bytes() == content


@pytest.mark.parametrize("offset", [1080, 65535])
def test_a_device_with_data_is_not_formatted(tmp_path: Path, offset: int) -> None:
    path = tmp_path / "disk"
    content = bytearray(64 << 20)
    content[offset] = 0x53
    path.write_bytes(content)
    done = run_approxftl("format", path, *SMALL)
    assert done.code == 1 and "--force" in done.err
    assert path.read_bytes() == content
    assert run_approxftl("format", path, *SMALL, "--force").code == 0
    assert run_approxftl("check", path).code == 0


def test_an_existing_volume_is_not_formatted(volume_image: Path) -> None:
    done = run_approxftl("format", volume_image)
    assert done.code == 1 and UUID in done.err and "--force" in done.err


def test_a_dry_run_of_format_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "volume"
    found = run_volume_verb_for_json("format", path, *SMALL, "--dry-run", "--uuid", UUID)
    assert not found["made"] and found["superblock"]["uuid"] == UUID
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--uuid", "12"), "UUID"),
        (("--policy", "nosuch"), "policies"),
        (("--profile", "nosuch"), "profile"),
        (("blocks=0",), "blocks"),
        (("nosuch=1",), "nosuch"),
        (("--nosuch",), "nosuch"),
        (("blocks=5",), "blocks"),
        (("blocks=40", "fill=random"), "fill"),
        (("zoned=64KiB", "buffer=8MiB", "buffer_safe=on", "zrwa=1"), "zrwa"),
    ],
)
def test_wrong_arguments_of_volume_verbs_are_refused(tmp_path: Path, arguments: tuple[str, ...],
                                                     part: str) -> None:
    path = tmp_path / "volume"
    done = run_approxftl("format", path, "op=60", *arguments)
    assert done.code == 2 and part in done.err and done.err.count("\n") == 1
    assert not path.exists()


def test_files_without_a_volume_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, part in ((bytes(1 << 20), "zero"), (b"x" * (1 << 20), "not a volume")):
        path.write_bytes(content)
        for verb in ("check", "dump"):
            done = run_approxftl(verb, path)
            assert done.code == 1 and part in done.err and not done.out
    path.write_bytes(b"")
    assert run_approxftl("check", path).code == 1
    assert run_approxftl("check", tmp_path / "nosuch").code == 3
    assert run_approxftl("dump", tmp_path).code == 3


def test_a_newer_volume_is_refused(volume_image: Path) -> None:
    data = bytearray(volume_image.read_bytes())
    data[8] = 9
    data[FRAME - 4 : FRAME] = struct.pack("<I", crc32c(data[: FRAME - 4]))
    volume_image.write_bytes(data)
    done = run_approxftl("check", volume_image)
    assert done.code == 1 and "format 9" in done.err


@pytest.mark.parametrize("table", ["erase_table", "spare_table", "discard_table"])
def test_damaged_tables_are_reported(volume_image: Path, table: str) -> None:
    offset = read_first_frame_offsets(volume_image)[table] * FRAME + SECTOR + 17
    flip_byte_bits(volume_image, offset)
    found = run_volume_verb_for_json("check", volume_image, code=4)
    assert not found["sound"]
    assert f"sector {offset // SECTOR} has a wrong checksum" in found["listed_findings"]


SHARDS = ("channels=2", "shards=2")


def find_second_shard_offset(path: Path) -> int:
    length: int = run_volume_verb_for_json("dump", path)["superblock"]["bytes"]
    return -(-length // 2**20) * 2**20


@pytest.fixture
def sharded_image(tmp_path: Path) -> Path:
    path = tmp_path / "shards"
    make_volume(path, *SHARDS)
    return path


def test_each_shard_has_a_volume(sharded_image: Path) -> None:
    length = run_volume_verb_for_json("dump", sharded_image)["superblock"]["bytes"]
    assert sharded_image.stat().st_size == find_second_shard_offset(sharded_image) + length
    found = run_volume_verb_for_json("check", sharded_image)
    assert found["sound"] and found["superblock"]["uuid"] == UUID
    own = run_volume_verb_for_json("dump", sharded_image, "--shard", "1")["superblock"]
    assert (own["shard"], own["uuid"][8:]) == (1, UUID[8:]) and own["uuid"] != UUID
    assert own["parameters"] == found["superblock"]["parameters"]
    assert own["parameters"]["shards"] == 2
    assert "--shard 2: the largest number is 1" in run_approxftl("dump", sharded_image, "--shard",
                                                           "2").err


def test_shards_share_the_available_space(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.touch()
    os.truncate(path, 256 * 2**20 + 5)
    done = run_approxftl("format", path, "--uuid", UUID, *SHARDS, "word_lines=2")
    assert (done.code, done.err) == (0, "")
    found = run_volume_verb_for_json("check", path)["superblock"]
    used = find_second_shard_offset(path) + found["bytes"]
    blocks = found["parameters"]["blocks"]
    assert 0 <= 256 * 2**20 - used < 2 * used / blocks


def test_damage_of_a_shard_is_reported(sharded_image: Path) -> None:
    begin = find_second_shard_offset(sharded_image)
    offset = read_first_frame_offsets(sharded_image)["spare_table"] * FRAME + SECTOR + 17
    flip_byte_bits(sharded_image, begin + offset)
    flip_byte_bits(sharded_image, read_first_frame_offsets(sharded_image)["erase_table"] * FRAME
                   + 9)
    found = run_volume_verb_for_json("check", sharded_image, code=4)
    assert f"shard 1: sector {offset // SECTOR} has a wrong checksum" in found["listed_findings"]
    assert any(one.startswith("shard 0: ") for one in found["listed_findings"])
    found = run_volume_verb_for_json("check", sharded_image, "--repair", "--give-up")
    assert found["repaired"] and run_volume_verb_for_json("check", sharded_image)["sound"]


def test_a_long_finding_of_check_is_printed_completely(sharded_image: Path) -> None:
    """A long finding of `approxftl check` is printed up to its end, which names the remedy."""
    flip_byte_bits(sharded_image, find_second_shard_offset(sharded_image)
                   + read_first_frame_offsets(sharded_image)["spare_table"] * FRAME + SECTOR + 17)
    findings = run_volume_verb_for_json("check", sharded_image, code=4)["listed_findings"]
    assert findings[1].startswith("shard 1: the volume is damaged")
    assert findings[1].endswith("see approxftl check --repair")


def test_repairing_one_shard_does_not_change_the_others(sharded_image: Path) -> None:
    flip_byte_bits(sharded_image,
                   read_first_frame_offsets(sharded_image)["spare_table"] * FRAME + SECTOR + 17)
    flip_byte_bits(sharded_image, find_second_shard_offset(sharded_image) + FRAME + 300)
    assert not run_volume_verb_for_json("check", sharded_image, "--repair", code=4)["repaired"]


@pytest.mark.parametrize(("what", "sentence"), [
    ("nothing", "shard 1: there is no volume"),
    ("first", "shard 1: the volume is of another device than shard 0"),
    ("other", "shard 1: the volume is of another device than shard 0"),
])
def test_a_shard_of_another_device_is_refused(tmp_path: Path, sharded_image: Path, what: str,
                                              sentence: str) -> None:
    begin = find_second_shard_offset(sharded_image)
    other = tmp_path / "other"
    done = run_approxftl("format", other, *SMALL, *SHARDS)
    assert done.code == 0
    data = sharded_image.read_bytes()
    put = {"nothing": bytes(begin), "first": data[:begin], "other": other.read_bytes()[begin:]}
    sharded_image.write_bytes(data[:begin] + put[what])
    done = run_approxftl("check", sharded_image)
    assert done.code == 4 and sentence in done.err
    sharded_image.write_bytes(data[begin:])
    done = run_approxftl("check", sharded_image)
    assert done.code == 4 and "this is shard 1 of a device" in done.err


def test_format_removes_the_previous_shards(sharded_image: Path) -> None:
    """Format over a volume with the same UUID, while writes to the second and later shards fail."""
    limited = run_program("prlimit", f"--fsize={find_second_shard_offset(sharded_image)}", PROGRAM,
                          "format", sharded_image, "--uuid", UUID, *SMALL, *SHARDS, "--force")
    assert limited.code != 0 and "File too large" in limited.err
    assert ": there is no volume" in run_approxftl("check", sharded_image).err


def test_a_write_error_of_a_later_shard_is_reported(sharded_image: Path) -> None:
    limited = run_program("prlimit",
                          f"--fsize={find_second_shard_offset(sharded_image) + 4 * FRAME}", PROGRAM,
                          "format", sharded_image, "--uuid", UUID, *SMALL, *SHARDS, "--force")
    assert limited.code != 0 and "File too large" in limited.err


def test_a_damaged_saved_state_is_reported(volume_image: Path) -> None:
    flip_byte_bits(volume_image, 2 * FRAME + 20)
    done = run_approxftl("check", volume_image)
    assert done.code == 4 and "state" in done.out
    states = run_volume_verb_for_json("dump", volume_image, "--state")["states"]
    assert [state["sound"] for state in states] == [False, True]


def test_a_damaged_copy_of_the_volume_header_is_reported(volume_image: Path) -> None:
    flip_byte_bits(volume_image, FRAME + 300)
    found = run_volume_verb_for_json("check", volume_image, code=4)
    assert found["findings"] == 1 and "copy" in found["listed_findings"][0]
    assert run_volume_verb_for_json("dump", volume_image)["superblock"]["uuid"] == UUID


@pytest.mark.parametrize(("frame", "more", "sound"),
                         [(0, 1, True), (0, 2, False), (1, 1, True), (1, 2, False), (0, 0, False)])
def test_volume_headers_may_differ_by_one_generation(volume_image: Path, frame: int, more: int,
                                                     sound: bool) -> None:
    """A power failure may leave one header copy older; any other difference is damage."""
    data = bytearray(volume_image.read_bytes())
    super_block = data[frame * FRAME:(frame + 1) * FRAME]
    generation = int.from_bytes(super_block[32:40], "little") + more
    super_block[32:40] = generation.to_bytes(8, "little")
    if not more:
        super_block[4000] ^= 1  # behind the parameters
    super_block[4092:] = crc32c(super_block[:4092]).to_bytes(4, "little")
    data[frame * FRAME:(frame + 1) * FRAME] = super_block
    volume_image.write_bytes(data)
    found = run_volume_verb_for_json("check", volume_image, code=0 if sound else 4)
    assert found["listed_findings"] == ([] if sound else ["the volume header and its copy differ"])


def test_a_shrunk_backing_device_is_refused(volume_image: Path) -> None:
    with volume_image.open("r+b") as file:
        file.truncate(volume_image.stat().st_size - FRAME)
    done = run_approxftl("check", volume_image)
    assert done.code == 4 and "bytes" in done.err


def test_dump_prints_header_and_tables(volume_image: Path) -> None:
    assert len(run_volume_verb_for_json("dump", volume_image, "--blocks")["blocks"]) == 160
    assert run_volume_verb_for_json("dump", volume_image, "--pages")["pages"] == []
    assert run_volume_verb_for_json("dump", volume_image, "--block", "3")["pages"] == []
    found = run_volume_verb_for_json("dump", volume_image, "--unit", "0")
    assert (found["discard_sequence"], found["pages"]) == (0, [])
    assert run_approxftl("dump", volume_image, "--block", "160").code == 2
    assert run_approxftl("dump", volume_image, "--unit", "x").code == 2
    assert "commit 2" in run_approxftl("dump", volume_image, "--state").out


CONTENT_OF_0_2_0 = "6466245761adb9601686159326c731d2fd7f030e9704ee97bcb70b39a7f45381"


def compute_checksums_of_units(path: Path) -> str:
    """Return a checksum of the unit numbers that are the first word of each unit's data."""
    pages = run_volume_verb_for_json("dump", path, "--pages")["pages"]
    newest: dict[int, tuple[int, int]] = {}
    for page in pages:
        for slot in page["slots"]:
            if slot["mapped"]:
                found = (page["sequence"], slot["slot"])
                newest[slot["unit"]] = max(newest.get(slot["unit"], (0, 0)), found)
    data = path.read_bytes()
    start, discards = (read_first_frame_offsets(path)[area] * FRAME
                       for area in ("data", "discard_table"))
    total = hashlib.sha256()
    for unit, (sequence, slot) in sorted(newest.items()):
        discard = discards + unit // 63 * SECTOR + unit % 63 * 8
        if struct.unpack_from("<Q", data, discard)[0] > sequence:
            continue
        word = struct.unpack_from("<Q", data, start + slot * FRAME)[0]
        assert word & 0xFFFFFFFF == unit
        total.update(struct.pack("<IQ", unit, word))
    return total.hexdigest()


@pytest.mark.parametrize("end", ["closed", "crashed"])
def test_a_volume_of_version_0_2_0_is_read(tmp_path: Path, end: str) -> None:
    """A volume that version 0.2.0 wrote is read, whether 0.2.0 closed it or crashed."""
    path = unpack_volume_image(tmp_path, end)
    found = run_volume_verb_for_json("check", path)
    assert (found["sound"], found["closed"]) == (True, end == "closed")
    assert (found["mapped_units"], found["bad_blocks"]) == (210, 0)
    assert found["programmed_pages"] == (253 if end == "closed" else 257)
    assert compute_checksums_of_units(path) == CONTENT_OF_0_2_0
    # Version 0.2.0 had no such parameter; its idle GC had a fixed limit.
    assert found["superblock"]["parameters"]["gc_idle_limit"] == "fixed"


def test_a_stored_parameter_outlives_a_change_of_its_default(tmp_path: Path) -> None:
    make_volume(tmp_path / "volume", "--set", "gc_idle_limit=fixed")
    found = run_volume_verb_for_json("check", tmp_path / "volume")
    assert found["superblock"]["parameters"]["gc_idle_limit"] == "fixed"


def set_sector_checksum(sector: bytes, number: int) -> bytes:
    """Return a metadata sector with a valid checksum of its payload and nonce."""
    sealed = crc32c(sector[:508] + struct.pack("<Q", number))
    return sector[:508] + struct.pack("<I", sealed)


def test_translation_pages_do_not_count_as_units(tmp_path: Path) -> None:
    """`dump` shows a slot with a translation page as such, and not as a data unit."""
    path = tmp_path / "volume"
    assert run_approxftl("format", path, "op=60", "blocks=40", "map_cache=64KiB").code == 0
    old = unpack_volume_image(tmp_path, "closed")
    units = 4 * 40 * 128 * 2 * 40 // 100  # dies, blocks, pages, units per page, and 1 - op
    frame = read_first_frame_offsets(old)["spare_table"] * FRAME
    entry = bytearray(old.read_bytes()[frame : frame + 56])
    struct.pack_into("<I", entry, 40, units)
    struct.pack_into("<I", entry, 48, units + 1)
    data = bytearray(path.read_bytes())
    sector = read_first_frame_offsets(path)["spare_table"] * 8
    data[sector * SECTOR : sector * SECTOR + 56] = entry
    data[sector * SECTOR : (sector + 1) * SECTOR] = set_sector_checksum(
        bytes(data[sector * SECTOR : (sector + 1) * SECTOR]), sector
    )
    path.write_bytes(data)
    slots = run_volume_verb_for_json("dump", path, "--block", "0")["pages"][0]["slots"]
    assert [(slot["unit"], slot["sheet"]) for slot in slots] == [(None, 0), (None, 1)]
    assert " translation-page-0 translation-page-1\n" in run_approxftl("dump", path, "--block",
                                                                       "0").out


def test_lost_units_are_counted_and_listed(tmp_path: Path) -> None:
    path = unpack_volume_image(tmp_path, "crashed")
    page = max(run_volume_verb_for_json("dump", path, "--pages")["pages"],
               key=lambda page: int(page["sequence"]))
    lost = [slot["unit"] for slot in page["slots"] if slot["mapped"]]
    assert lost and run_volume_verb_for_json("check", path)["lost_units"] == 0
    slots = (1 << len(page["slots"])) - 1
    size = 40 + 8 * len(page["slots"])
    number = page["slots"][0]["slot"] // len(page["slots"])
    sector = read_first_frame_offsets(path)["spare_table"] * 8 + number // (504 // size)
    data = bytearray(path.read_bytes())
    old = data[sector * SECTOR : (sector + 1) * SECTOR]
    assert set_sector_checksum(bytes(old), sector) == old
    struct.pack_into("<H", old, number % (504 // size) * size + 38, slots)
    data[sector * SECTOR : (sector + 1) * SECTOR] = set_sector_checksum(bytes(old), sector)
    path.write_bytes(data)
    found = run_volume_verb_for_json("check", path)
    assert (found["sound"], found["lost_units"], found["mapped_units"]) == (True, len(lost), 210)
    listed = [run_["unit"] + i for run_ in found["lost"] for i in range(run_["units"])]
    assert listed == sorted(lost)
    said = run_approxftl("check", path).out
    assert f"{len(lost)} units are lost: reads of them fail until they are written\n" in said
    assert f"lost: {found['lost'][0]['units']} units from unit {lost[0]} on\n" in said
    assert "!" in run_approxftl("dump", path, "--pages").out


def unpack_volume_image(tmp_path: Path, end: str) -> Path:
    path = tmp_path / f"volume-{end}"
    packed = TOP / f"selftests/volume/data/made-by-0.2.0-{end}.xz"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


@pytest.mark.parametrize("end", ["closed", "crashed"])
@pytest.mark.parametrize(
    "area", ["superblock", "copy", "even", "odd", "erase_table", "spare_table", "discard_table"]
)
def test_damaged_metadata_are_repaired(tmp_path: Path, end: str, area: str) -> None:
    path = unpack_volume_image(tmp_path, end)
    fixed = {"superblock": 0, "copy": 1, "even": 2, "odd": 3}
    frame = fixed[area] if area in fixed else read_first_frame_offsets(path)[area]
    flip_byte_bits(path, frame * FRAME + 200)
    damaged = path.read_bytes()
    found = run_volume_verb_for_json("check", path, code=4)
    assert not found["sound"] and "repaired" not in found and path.read_bytes() == damaged
    known = end == "closed" or area not in ("spare_table", "discard_table")
    found = run_volume_verb_for_json("check", path, "--repair", code=0 if known else 4)
    assert found["repaired"] == known
    if not known:
        assert path.read_bytes() == damaged
        said = run_approxftl("check", path, "--repair")
        assert said.code == 4 and re.search(r"not repaired: .*sector \d+, of a table", said.out)
        assert run_volume_verb_for_json("check", path, "--repair", "--give-up")["repaired"]
    found = run_volume_verb_for_json("check", path)
    assert (found["sound"], found["lost_units"]) == (True, 0)
    if known:
        assert (found["mapped_units"], compute_checksums_of_units(path)) == (210, CONTENT_OF_0_2_0)


def test_format_does_not_write_large_tables(tmp_path: Path) -> None:
    path = tmp_path / "large"
    done = run_approxftl("format", path, "blocks=600", "layers=128", "page=4096", "errors=off")
    assert done.code == 0, done.err
    assert path.stat().st_size > 19 << 30
    assert path.stat().st_blocks * SECTOR < 1 << 20
    assert "is sound" in run_approxftl("check", path).out
    for block in run_volume_verb_for_json("dump", path, "--blocks")["blocks"]:
        assert block["sound"]
        assert block["programmed_pages"] == 0
    # The table of lazily initialised extents, and its copy
    for frame in (4, (4 + read_first_frame_offsets(path)["erase_table"]) // 2):
        with path.open("r+b") as file:
            file.seek(frame * FRAME + 7)
            file.write(b"x")
        said = run_approxftl("check", path, "--repair")
        assert said.code == 0
        assert f"sector {frame * 8} has a wrong checksum" in said.out
        assert "repaired: 1 sectors of tables" in said.out
        assert "is sound" in run_approxftl("check", path).out
