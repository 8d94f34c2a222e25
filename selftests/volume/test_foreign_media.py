# SPDX-License-Identifier: GPL-2.0-only
"""approxftl format recognises foreign data, names and refuses them, and changes no byte."""

import os
from pathlib import Path

import pytest
from selftests.sim.support import run_approxftl
from selftests.volume.foreign_media import (
    END,
    MEDIA,
    NAME,
    PLACES,
    SIZE,
    digest_nonzero_pages,
    get_offset_probed_by_format,
    make_sparse_file,
    write_bytes_at_file_offset,
)

SMALL = ("blocks=40", "layers=2", "word_lines=4", "op=60")
LARGE = 256 << 20


def check_format_refused(path: Path, *parts: str) -> None:
    before = digest_nonzero_pages(path)
    for arguments in ((), SMALL, ("--dry-run",)):
        done = run_approxftl("format", path, *arguments)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert "approxftl format --force overwrites it" in done.err
        assert not [part for part in parts if part not in done.err], done.err
    assert digest_nonzero_pages(path) == before


@pytest.mark.parametrize("name", MEDIA)
def test_format_names_and_keeps_other_content_of_a_device(tmp_path: Path, name: str) -> None:
    kind, make = MEDIA[name]
    make(tmp_path / "disk")
    check_format_refused(tmp_path / "disk", f" {kind}" if kind else "")


@pytest.mark.parametrize("name", ["ext4", "f2fs", "swap", "btrfs", "xfs"])
def test_label_and_uuid_of_a_file_system_are_reported(tmp_path: Path, name: str) -> None:
    MEDIA[name][1](tmp_path / "disk")
    check_format_refused(tmp_path / "disk", 'label "pictures"', "UUID ")


@pytest.mark.parametrize("name", ["md 1.0", "md 1.2"])
def test_a_member_of_a_raid_has_its_array_named(tmp_path: Path, name: str) -> None:
    MEDIA[name][1](tmp_path / "disk")
    check_format_refused(tmp_path / "disk", 'label "array"', str(NAME))


def test_format_keeps_a_device_whose_signature_has_a_wrong_checksum(tmp_path: Path) -> None:
    MEDIA["LVM"][1](tmp_path / "disk")
    write_bytes_at_file_offset(tmp_path / "disk", 512 + 100, b"\x55")
    check_format_refused(tmp_path / "disk", "LVM2_member")


ENDS = (0, 4095, END - 1, SIZE + 512 - END, SIZE - 4096, SIZE + 511)
SAMPLES = tuple(get_offset_probed_by_format(SIZE + 512, i) + 4095
                for i in (0, 1, 2, 499, 500, 998, 999))


@pytest.mark.parametrize("at", ENDS + SAMPLES)
def test_a_single_nonzero_byte_is_found(tmp_path: Path, at: int) -> None:
    """A non-zero byte is found near both ends of a device, and at each probed place between."""
    make_sparse_file(tmp_path / "disk", SIZE + 512)
    write_bytes_at_file_offset(tmp_path / "disk", at, b"\1")
    check_format_refused(tmp_path / "disk", "is not empty" if at else "")


def test_the_content_check_probes_a_large_device_at_a_thousand_places(tmp_path: Path) -> None:
    make_sparse_file(tmp_path / "disk", LARGE)
    places = sorted(get_offset_probed_by_format(LARGE, index) for index in range(PLACES))
    assert END <= places[0] < 2 * END and LARGE - 2 * END < places[-1] <= LARGE - END - 4096
    assert len(set(places)) > 980


def test_a_device_with_random_data_is_not_formatted(tmp_path: Path) -> None:
    (tmp_path / "disk").write_bytes(os.urandom(SIZE))
    check_format_refused(tmp_path / "disk", "is not empty")


def test_only_force_formats_a_device_with_content(tmp_path: Path) -> None:
    make_sparse_file(tmp_path / "disk", SIZE)
    assert run_approxftl("format", tmp_path / "disk", *SMALL).code == 0
    check_format_refused(tmp_path / "disk", "is a volume already")
    MEDIA["ext4"][1](tmp_path / "disk")
    assert run_approxftl("format", tmp_path / "disk", *SMALL, "--force").code == 0
    assert run_approxftl("check", tmp_path / "disk").code == 0


@pytest.mark.parametrize("at", [300, 8, 40])
def test_a_damaged_or_newer_volume_is_recognised(tmp_path: Path, at: int) -> None:
    make_sparse_file(tmp_path / "disk", SIZE)
    assert run_approxftl("format", tmp_path / "disk", *SMALL).code == 0
    for copy in (0, 4096):
        write_bytes_at_file_offset(tmp_path / "disk", copy + at, b"\x77\x77")
    check_format_refused(tmp_path / "disk", "is a volume (")
