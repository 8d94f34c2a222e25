# SPDX-License-Identifier: GPL-2.0-only
"""Devices of device-mapper and md that are stacked on approxftl devices."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ktap import SMALL, require, run_command, run_dmsetup, temporary_device

ONE, TWO, SLOW, TOP = (Path(f"/dev/mapper/aftl-{name}") for name in ("one", "two", "slow", "top"))
KEYS = f"{SMALL} errors off"


def make_slow_disk_table(sectors: int, ms: int) -> str:
    """Return the table of a disk whose writes are slow, so that writeback takes long."""
    return f"0 {sectors} delay /dev/ram0 0 0 /dev/ram0 0 {ms}"


def read_size_sectors(path: str | Path) -> int:
    return int(run_command("blockdev", "--getsz", path))


#: Tables of one mapped device on approxftl (`ours` sectors) and on the slow disk (`slow` sectors).
TABLES = {
    "linear": f"0 {{ours_less}} linear {ONE} 1024",
    "delay": f"0 {{ours}} delay {ONE} 0 0 {ONE} 0 30",
    "stripes": f"0 {{twice}} striped 2 128 {ONE} 0 {TWO} 0",
    "mirror": f"0 {{slow}} mirror core 2 1024 nosync 2 {ONE} 0 {SLOW} 0",
    # As LVM does
    "raid": f"0 {{slow}} raid raid1 3 0 region_size 1024 2 - {ONE} - {SLOW}",
    "crypt": f"0 {{ours}} crypt aes-xts-plain64 {7:0128d} 0 {ONE} 0",
    "cache": f"0 {{ours}} cache {SLOW} {TWO} {ONE} 128 1 writeback default 0",
    "writecache": f"0 {{ours}} writecache s {ONE} {TWO} 4096 0",
}
#: Options and members of an array. With skip_copy, RAID-5 writes directly from the file system's
#: pages.
ARRAYS = {
    "md0": (0, "--chunk=64", (ONE, TWO)),
    "md1": (1, "--bitmap=none", (ONE, SLOW)),
    "md10": (10, "--bitmap=none --chunk=64", (ONE, SLOW)),
    "md5": (5, "--bitmap=none --chunk=64", (ONE, TWO, SLOW)),
}
#: The stacks that stacked_device() makes.
STACKS = (*TABLES, "thin", *ARRAYS)
#: A file system of which tagged files are accepted, with the option NOCOW of mount.
BTRFS = "mkfs.btrfs -q -f --mixed"
NOCOW = "-o nodatacow,discard=sync"


@contextmanager
def md_array(name: str) -> Iterator[Path]:
    """Context manager: an md RAID array."""
    level, options, members = ARRAYS[name]
    run_command("mdadm", "--create", "/dev/md8", f"--level={level}", "--metadata=1.0", "--run",
                "--assume-clean", *options.split(), f"--raid-devices={len(members)}", *members)
    if name == "md5":
        Path("/sys/block/md8/md/skip_copy").write_text("1")
    try:
        yield Path("/dev/md8")
    finally:
        run_command("mdadm", "--stop", "/dev/md8")


@contextmanager
def stacked_dm_device(name: str) -> Iterator[Path]:
    """Context manager: the dm device NAME of TABLES, or a thin volume with its pool."""
    ours = read_size_sectors(ONE)
    if name == "thin":
        run_dmsetup("create", "aftl-pool", "--table",
                    f"0 {ours - 8192} thin-pool {SLOW} {ONE} 128 0")
        run_dmsetup("message", "/dev/mapper/aftl-pool", "0", "create_thin 0")
        table = f"0 {ours - 16384} thin /dev/mapper/aftl-pool 0"
    else:
        table = TABLES[name].format(ours=ours, ours_less=ours - 2048,
                                    slow=read_size_sectors(SLOW), twice=(ours - ours % 128) * 2)
    run_dmsetup("create", TOP.name, "--table", table)
    try:
        yield TOP
    finally:
        run_dmsetup("remove", TOP.name)
        if name == "thin":
            run_dmsetup("remove", "aftl-pool")


@contextmanager
def stacked_device(name: str) -> Iterator[Path]:
    """Context manager: the array or dm device NAME on the test devices."""
    with (md_array if name in ARRAYS else stacked_dm_device)(name) as path:
        yield path


@contextmanager
def two_test_devices(keys: str) -> Iterator[None]:
    """Context manager: two approxftl devices, and a disk with slow writes."""
    run_command("dd", "if=/dev/zero", "of=/dev/ram0", "bs=1M", "count=8")
    with temporary_device(ONE.name, keys), temporary_device(TWO.name, keys):
        slow = read_size_sectors("/dev/ram0")
        require(slow <= read_size_sectors(ONE), "the slow disk is too large")
        run_dmsetup("create", SLOW.name, "--table", make_slow_disk_table(slow, 30))
        try:
            yield
        finally:
            run_dmsetup("remove", SLOW.name)


