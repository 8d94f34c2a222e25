#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`approxftl fault` makes chosen bytes of a file fail on any storage stack, and no other bytes."""

import errno
import json
import mmap
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ktap import (
    APPROXFTL,
    EXT4,
    SHAPE,
    SMALL,
    UNIT,
    XFS,
    Mount,
    finish_test,
    format_volume,
    has_kernel_module,
    make_ram_disks,
    opened_file,
    require,
    run_check,
    run_command,
    run_dmsetup,
    run_selected_check,
    send_dm_message,
    skip_test_point,
    temporary_device,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from selftests.lib.json_schema import make_schema_checker

NAME = "aftl-verb"
BLOCKS = 48


def run_fault_verb(*words: str | Path) -> list[dict[str, Any]]:
    """Run `approxftl fault --json`; return the faults that its valid document lists."""
    document = json.loads(run_command(APPROXFTL, "fault", *words, "--json"))
    errors = make_schema_checker("userspace/approxftl/verbs-output.fields").find_errors(document)
    require(not errors, f"{words}: {errors}")
    require(document["name"] == NAME, f"{document}")
    faults: list[dict[str, Any]] = document["faults"]
    return faults


def check_faults_refused(sentence: str, *words: str | Path, code: int = 1) -> None:
    """Check that `approxftl fault` refuses a command with one line, and arms no fault."""
    lost = send_dm_message(NAME, "lost", "0") if "--file" in words else ""
    done = subprocess.run([APPROXFTL, "fault", *words], capture_output=True, text=True,
                          check=False)
    require(done.returncode == code and not done.stdout and done.stderr.count("\n") == 1
            and re.search(sentence, done.stderr), f"{words}: {done}")
    require("--file" not in words or lost == send_dm_message(NAME, "lost", "0"), f"{words}: lost")


def does_block_read_fail(fd: int, block: int, content: bytes) -> bool:
    """Read a block into a page-aligned buffer, as O_DIRECT needs; return whether it has EIO."""
    buffer = mmap.mmap(-1, UNIT)
    try:
        os.preadv(fd, [buffer], block * UNIT)
    except OSError as why:
        # The block layer's medium error, which the page cache turns into EIO on some systems.
        require(why.errno in (errno.EIO, errno.ENODATA), f"block {block}: {why}")
        return True
    require(buffer[:] == content[block * UNIT:][:UNIT], f"block {block} has other data")
    return False


def check_failing_blocks(path: Path, content: bytes, failing: set[int]) -> None:
    """Require that the given blocks of a file fail; in the page cache whole folios may fail."""
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_DIRECT):
        with opened_file(path, flags) as fd:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            seen = {block for block in range(BLOCKS) if does_block_read_fail(fd, block, content)}
        same = seen == failing if flags & os.O_DIRECT else \
            failing <= seen and bool(failing) == bool(seen)
        require(same, f"{path.name}: {seen} fail, not {failing}")


def make_scattered_files(folder: Path) -> dict[Path, bytes]:
    """Write two files with interleaved blocks."""
    files = {folder / name: os.urandom(BLOCKS * UNIT) for name in ("one", "two")}
    for at in range(0, BLOCKS * UNIT, 3 * UNIT):
        for path, content in files.items():
            with opened_file(path, os.O_RDWR | os.O_CREAT) as fd:
                os.pwrite(fd, content[at:at + 3 * UNIT], at)
                os.fsync(fd)
    return files


def check_file_faults(folder: Path) -> None:
    """Blocks of a file fail until they are overwritten, or from the moment that a trigger fires."""
    files = make_scattered_files(folder)
    (one, first), (two, second) = files.items()
    check_failing_blocks(one, first, set())
    faults = run_fault_verb("--file", one, "--offset", str(5 * UNIT + 100), "--length", "8KiB",
                            "uncorrectable")
    require([fault["state"] for fault in faults] == 3 * ["happened"], f"{faults}")
    check_failing_blocks(one, first, {5, 6, 7})
    check_failing_blocks(two, second, set())
    run_fault_verb("--file", two, "--offset", str(BLOCKS * UNIT - 1), "uncorrectable")
    check_failing_blocks(two, second, {BLOCKS - 1})
    with opened_file(one) as fd:
        os.pwrite(fd, first[5 * UNIT:7 * UNIT], 5 * UNIT)
        os.fsync(fd)
    check_failing_blocks(one, first, {7})
    run_fault_verb("--file", one, "uncorrectable", "after", "write", "1")
    check_failing_blocks(one, first, {7})
    with opened_file(one) as fd:
        os.pwrite(fd, first[7 * UNIT:8 * UNIT], 7 * UNIT)
        os.fsync(fd)
    check_failing_blocks(one, first, {0})
    require(run_fault_verb(NAME, "--list")[0]["state"] == "happened", "the fault has not happened")
    require(run_fault_verb(NAME, "--clear") == [] == run_fault_verb(NAME, "--list"), "not cleared")


def check_faults_on_file_system(make: str, keys: str = SMALL) -> None:
    """Check the faults of files on a file system of the whole device."""
    with temporary_device(NAME, keys) as path, Mount(path, make) as folder:
        check_file_faults(folder)


@contextmanager
def make_partition_on_loop_device(path: Path) -> Iterator[Path]:
    """Context manager: a partition of a loop device over a part of the device."""
    loop = run_command("losetup", "--find", "--show", "--partscan", "--offset", "1MiB",
                       "--sector-size", "4096", "--direct-io=on", path).strip()
    try:
        with opened_file(loop) as fd:  # a partition of type 83
            os.pwrite(fd, struct.pack("<446x4xB3xII48xH", 0x83, 512, 16384, 0xAA55), 0)
        run_command("blockdev", "--rereadpt", loop)
        yield Path(f"{loop}p1")
    finally:
        run_command("losetup", "--detach", loop)


def check_file_faults_below_partition() -> None:
    """Check file faults on a partition of a loop device over a part of the device."""
    with temporary_device(NAME) as path, make_partition_on_loop_device(path) as part, \
            Mount(part, f"{EXT4} -b {UNIT}") as folder:
        check_file_faults(folder)


def check_file_faults_below_dm_linear() -> None:
    """Check file faults on a dm-linear device that maps small pieces in reverse order."""
    piece = 40 * UNIT // 512
    with temporary_device(NAME) as path:
        pieces = int(run_command("blockdev", "--getsz", path)) // piece - 1
        run_dmsetup("create", "aftl-linear", text="".join(
            f"{i * piece} {piece} linear {path} {8 + (pieces - 1 - i) * piece}\n"
            for i in range(pieces)))
        try:
            with Mount("/dev/mapper/aftl-linear") as folder:
                check_file_faults(folder)
        finally:
            run_dmsetup("remove", "--retry", "aftl-linear")


def check_unplaceable_faults_are_refused() -> None:
    """Refuse faults of bytes without a block of their own, such as inline data and holes."""
    with temporary_device(NAME) as path, Mount(path, f"{EXT4} -O inline_data") as folder:
        data = folder / "data"
        data.write_bytes(bytes(2 * UNIT))
        large = folder / "large"
        large.write_bytes(bytes(65 * UNIT))
        (folder / "small").write_bytes(b"small")
        with opened_file(folder / "none", os.O_RDWR | os.O_CREAT) as fd:
            os.posix_fallocate(fd, 0, UNIT)
            os.ftruncate(fd, 9 * UNIT)
        os.sync()
        for option in ("--offset=8KiB", "--length=12KiB", "--offset=1TiB"):
            check_faults_refused("the range goes beyond the end of the file at byte 8192",
                                 "--file", data, option, "uncorrectable")
        check_faults_refused("more than 64 logical pages, the most for armed faults", "--file",
                             large, f"--length={65 * UNIT}", "uncorrectable", "after", "write",
                             "1")
        require(run_fault_verb(NAME, "--list") == [], "a part of the file's faults is armed")
        check_faults_refused("byte 0 is inline in the file system's metadata", "--file",
                             folder / "small", "uncorrectable")
        check_faults_refused("byte 0 is allocated and never written", "--file", folder / "none",
                             "uncorrectable")
        check_faults_refused("byte 8192 is in a hole", "--file", folder / "none", "--offset",
                             "8KiB", "uncorrectable")
        check_faults_refused("not a regular file", "--file", folder, "uncorrectable")
        check_faults_refused("No such file", "--file", folder / "no", "uncorrectable")
        memory = Path("/dev/shm/aftl-verb")
        memory.write_bytes(bytes(UNIT))
        check_faults_refused("not directly on a block device", "--file", memory, "uncorrectable")
        memory.unlink()


def check_foreign_device_is_refused() -> None:
    """Refuse faults in a file whose file system is on another device."""
    image = Path("/dev/shm/aftl-image")
    with temporary_device(NAME), opened_file(image, os.O_RDWR | os.O_CREAT) as fd:
        os.ftruncate(fd, 32 << 20)
        loop = run_command("losetup", "--find", "--show", image).strip()
        try:
            with Mount(loop) as folder:
                (folder / "data").write_bytes(bytes(UNIT))
                check_faults_refused(r"block device \d+:\d+ below is no emulated SSD", "--file",
                                     folder / "data", "uncorrectable")
        finally:
            run_command("losetup", "--detach", loop)
            image.unlink()


def check_fault_script() -> None:
    """A fault script arms all of its faults, or none of them if one is invalid."""
    script = Path("/dev/shm/aftl-script.toml")
    with temporary_device(NAME) as path:
        run_command("dd", "if=/dev/urandom", f"of={path}", "bs=4k", "count=8", "oflag=direct")
        script.write_text('[[fault]]\nunit = 5\nafter_write = 1\n'
                          '[[fault]]\nage = "1h"\nafter_time = "900d"\n')
        armed = run_fault_verb(NAME, "--script", script)
        require(armed == run_fault_verb(NAME, "--list") and [
            (one["action"], one["number"], one["trigger"], one["after"], one["state"])
            for one in armed] == [("unit", 5, "write", 1, "pending"),
                                  ("age", 3600 * 10**9, "time", 900 * 86400 * 10**9, "pending")],
                f"{armed}")
        check_faults_refused(f"2 faults of {NAME} wait; clear them first", NAME, "--script", script)
        run_command("dd", "if=/dev/zero", f"of={path}", "bs=4k", "count=1", "oflag=direct")
        require([one["state"] for one in run_fault_verb(NAME, "--list")] == ["happened", "pending"],
                "the write is no trigger")
        require(send_dm_message(NAME, "lost", "0") == "5 1\n", send_dm_message(NAME, "lost", "0"))
        run_fault_verb(NAME, "--clear")
        script.write_text("[[fault]]\nunit = 5\nafter_write = 9\n"
                          "[[fault]]\ndie = 99\nafter_write = 9\n")
        check_faults_refused('fault 2 of 2: "99" is not a die', NAME, "--script", script)
        require(run_fault_verb(NAME, "--list") == [], "a part of a script is armed")
        script.unlink()
        check_faults_refused("No such file", NAME, "--script", script, code=2)
        run_fault_verb(NAME, "unit", "6")
        require(send_dm_message(NAME, "lost", "0") == "5 2\n", "unit 6 is not lost")


def write_blocks(path: Path, content: bytes, block: int, *, sync: bool) -> None:
    """Write blocks by direct I/O."""
    buffer = mmap.mmap(-1, len(content))
    buffer[:] = content
    with opened_file(path, os.O_RDWR | os.O_DIRECT) as fd:
        os.pwritev(fd, [buffer], block * UNIT)
        if sync:
            os.fsync(fd)


def read_first_blocks(path: Path, count: int) -> bytes:
    """Read by direct I/O, because read-ahead would also read the failing blocks."""
    buffer = mmap.mmap(-1, count * UNIT)
    with opened_file(path, os.O_RDONLY | os.O_DIRECT) as fd:
        os.preadv(fd, [buffer], 0)
    return buffer[:]


def do_file_writes_fail(path: Path) -> bool:
    try:
        write_blocks(path, bytes(UNIT), 9, sync=True)
    except OSError:
        return True
    return False


def check_power_cut() -> None:
    """Cut the power after two unflushed writes: these are lost, and synced data are not."""
    first, second, third = (os.urandom(UNIT) for _ in range(3))
    make_ram_disks(1, 160 << 10)
    format_volume("/dev/ram0", f"{SHAPE} buffer 1MiB buffer_safe off")
    with temporary_device(NAME, SMALL, "/dev/ram0") as path:
        write_blocks(path, first + second, 0, sync=True)
        run_fault_verb(NAME, "power", "cut", "after", "write", "2")
        write_blocks(path, third, 1, sync=False)
        write_blocks(path, third, 2, sync=False)
        require(do_file_writes_fail(path), "a synced write succeeds without power")
        require(read_first_blocks(path, 1) == first, "reads fail")
        # The flush that failed programmed block 1, and its page has not reached the store.
        with suppress(OSError):
            require(read_first_blocks(path, 2) == first + third, "a lost write returns other data")
    with temporary_device(NAME, SMALL, "/dev/ram0") as path:
        require(read_first_blocks(path, 3) == first + second + bytes(UNIT),
                "the device has other data after the power cut")
        require(not do_file_writes_fail(path), "writes fail")


def check_end_of_life() -> None:
    """After the faults "wear" and "life" the device keeps its data and refuses writes."""
    content = os.urandom(64 * UNIT)
    with temporary_device(NAME) as path:
        write_blocks(path, content, 0, sync=True)
        require(run_fault_verb(NAME, "wear", "3000")[0]["number"] == 3000, "no wear")
        require(" 30000000 " in send_dm_message(NAME, "block", "5").replace("\n", " "), "no wear")
        run_fault_verb(NAME, "life", "end")
        write_blocks(path, content, 0, sync=True)
        send_dm_message(NAME, "gc")
        for _ in range(100):
            if " ro " in run_dmsetup("status", NAME):
                break
            time.sleep(0.1)
        require(do_file_writes_fail(path), run_dmsetup("status", NAME))
        require(run_fault_verb(NAME, "--list")[0]["state"] == "happened", "life has not ended")
        require(path.read_bytes()[:64 * UNIT] == content, "data are lost")


def check_faults_in_shards() -> None:
    """A fault's trigger counts requests to one shard; its unit or block number is the device's."""
    with temporary_device(NAME, f"{SMALL} shards 2") as path:
        check_faults_refused("shards of a device lose power at different times", NAME, "power",
                             "cut")
        content = os.urandom(256 * UNIT)
        write_blocks(path, content, 0, sync=True)
        for words in ("unit 3 after read 2", "unit 200 after program 200", "age 1h after write 1",
                      "block 200 after write 1"):
            run_fault_verb(NAME, *words.split())
        check_faults_refused("in different shards", NAME, "unit", "0", "after", "program",
                             str(int(run_command("blockdev", "--getsz", path)) * 512 // UNIT - 1))
        write_blocks(path, content[200 * UNIT:201 * UNIT], 200, sync=True)
        states = [(one["action"], one["number"], one["state"])
                  for one in run_fault_verb(NAME, "--list")]
        require(("unit", 200, "happened") in states and ("unit", 3, "pending") in states
                and sorted(state for action, _, state in states if action == "age")
                == ["happened", "pending"], f"{states}")
        with opened_file(path, os.O_RDONLY | os.O_DIRECT) as fd:
            failing = {block for _ in range(2) for block in range(256)
                       if does_block_read_fail(fd, block, content)}
        require(failing == {3, 200}, f"{failing}")


def main() -> None:
    """Run all test points."""
    subprocess.run(["modprobe", "-q", "loop"], check=False)  # or it is built in
    run_check("bytes of a file on ext4 fail", check_faults_on_file_system, EXT4)
    if has_kernel_module("xfs"):
        run_check("bytes of a file on xfs fail", check_faults_on_file_system, XFS)
    else:
        skip_test_point("bytes of a file on xfs fail", "this kernel has no xfs")
    run_check("bytes of a file on ext4 over shards fail", check_faults_on_file_system, EXT4,
              f"{SMALL} shards 2")
    run_check("bytes of a file above a partition of a loop device fail",
              check_file_faults_below_partition)
    run_check("bytes of a file above dm-linear fail", check_file_faults_below_dm_linear)
    run_selected_check("faults of inline data and holes are refused",
                       check_unplaceable_faults_are_refused)
    run_selected_check("faults of a file on another device are refused",
                       check_foreign_device_is_refused)
    run_check("a script arms all of its faults or none", check_fault_script)
    run_check("a power cut loses only unflushed data", check_power_cut)
    run_selected_check("a worn-out device keeps its data and refuses writes", check_end_of_life)
    run_check("triggers of faults count in each shard", check_faults_in_shards)
    finish_test()


if __name__ == "__main__":
    main()
