# SPDX-License-Identifier: GPL-2.0-only
"""approxftl torture finds each kind of wrong block, and none on a good disk. Disks are files."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.processes import catches_signal, has_taken, wait_until
from selftests.lib.programs import BUILD, Done, run_program

TORTURE = BUILD / "approxftl-torture"
UNIT = 512
UNITS = 8192
ENTRY = struct.Struct("<5I")  # low, durable, high, zero, any
HEADER = 64
FROZEN = 36


@dataclass
class Disk:
    """A file under test, and its state file."""

    folder: Path
    image: Path
    state: Path

    def run(self, *options: str) -> Done:
        return run_program(TORTURE, "--state", self.state, *options, self.image)

    def fresh(self, *options: str) -> Done:
        return self.run("--overwrite", "--seed", "7", "--most", "32KiB", *options)

    def verify(self, *options: str) -> Done:
        return self.run("--verify", *options)

    def block(self, unit: int) -> bytes:
        with self.image.open("rb") as file:
            file.seek(unit * UNIT)
            return file.read(UNIT)

    def put(self, unit: int, data: bytes) -> None:
        with self.image.open("r+b") as file:
            file.seek(unit * UNIT)
            file.write(data)

    def freeze(self) -> None:
        with self.state.open("r+b") as file:
            file.seek(FROZEN)
            file.write(b"\1")

    def allowed(self) -> Iterator[tuple[int, ...]]:
        return ENTRY.iter_unpack(self.state.read_bytes()[HEADER:])

    def durable(self) -> list[int]:
        return [entry[1] for entry in self.allowed()]

    def written(self) -> int:
        """Return how often units were written, including writes in flight."""
        return sum(entry[2] for entry in self.allowed()) if self.state.exists() else 0

    def power_fails(self, child: subprocess.Popen[Any]) -> None:
        """Signal a power failure after the first durable write; wait until the state is stable."""
        before = self.durable()
        wait_until(lambda: catches_signal(child.pid, signal.SIGUSR1) and self.durable() != before)
        child.send_signal(signal.SIGUSR1)
        wait_until(lambda: has_taken(child.pid, signal.SIGUSR1))
        noted: list[int] = []
        while noted != (noted := self.durable()):
            time.sleep(0.2)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(UNITS * UNIT)
    return Disk(tmp_path, image, tmp_path / "state")


def generation_in(block: bytes) -> int:
    """Return the generation in a block; 0 if it is zeroes."""
    return int.from_bytes(block[24:28], "little")


def blocks_of_units(units: Iterator[int]) -> int:
    return next(units)


def test_a_good_disk_passes(disk: Disk) -> None:
    done = disk.fresh("--requests", "3000")
    assert done.code == 0, done.err
    assert re.fullmatch(r"seed 7, \d+ reads, .* 0 failed, 0 unreadable, 0 wrong\n", done.out)
    assert disk.verify().code == 0
    done = disk.run("--resume", "--requests", "1000")
    assert (done.code, done.err) == (0, "")
    assert disk.verify("--power-failed").code == 0
    assert disk.run("--resume", "--requests", "1000", "--power-failed").code == 0


def test_a_seed_gives_the_same_requests(disk: Disk, tmp_path: Path) -> None:
    first = disk.fresh("--requests", "2000", "--depth", "1")
    generations = [generation_in(disk.block(unit)) for unit in range(UNITS)]
    disk.state.unlink()
    assert disk.fresh("--requests", "2000", "--depth", "1") == first
    assert [generation_in(disk.block(unit)) for unit in range(UNITS)] == generations


def swap_blocks(disk: Disk) -> str:
    here, there = (u for u in (5, UNITS - 1))
    disk.put(here, disk.block(there) if any(disk.block(there)) else disk.block(there - 1))
    return r"unit 5 \(byte 2560\) holds generation \d+ of unit 8\d\d\d; allowed: "


def zero_block(disk: Disk) -> str:
    unit = blocks_of_units(i for i, entry in enumerate(disk.allowed()) if entry[3] < entry[0])
    disk.put(unit, bytes(UNIT))
    return rf"unit {unit} \(byte {unit * UNIT}\) holds zeroes; allowed: generations \d+ to \d+;"


def tear_block(disk: Disk) -> str:
    units = [i for i in range(UNITS) if any(disk.block(i))]
    one, other = disk.block(units[0]), disk.block(units[1])
    disk.put(units[0], one[:256] + other[256:])
    return (rf"unit {units[0]} .* holds its generation {generation_in(one)}, and from byte 256 on "
            rf"generation {generation_in(other)} of unit {units[1]} \(\d+ bits differ\)")


def put_foreign_block(disk: Disk) -> str:
    disk.put(9, b"what is this" + bytes(UNIT - 12))
    return r"unit 9 .* holds what nobody here has written \(43 bits are ones\); "


def of_another_run(disk: Disk) -> str:
    other = Disk(disk.folder, disk.folder / "other", disk.folder / "other-state")
    shutil.copy(disk.image, other.image)
    assert other.fresh("--requests", "1").code == 0
    disk.put(9, other.block(9))
    return r"unit 9 .* holds generation \d+ of unit 9 of another run \(seed 7\); "


def put_stale_block(disk: Disk) -> str:
    old = {unit: disk.block(unit) for unit in range(UNITS)}
    assert disk.run("--resume", "--requests", "500").code == 0
    unit = blocks_of_units(u for u in range(UNITS) if any(old[u]) and any(disk.block(u)) and
                           generation_in(disk.block(u)) != generation_in(old[u]))
    disk.put(unit, old[unit])
    return rf"unit {unit} .* holds its generation {generation_in(old[unit])}; allowed: generations"


@pytest.mark.parametrize("damage",
                         [swap_blocks, zero_block, tear_block, put_foreign_block, of_another_run,
                          put_stale_block])
def test_a_wrong_block_is_named(disk: Disk, damage: Callable[[Disk], str]) -> None:
    assert disk.fresh("--requests", "300").code == 0
    sentence = damage(disk)
    done = disk.verify()
    assert done.code == 4
    assert re.search(sentence, done.err), done.err
    assert ", seed 7\n" in done.err
    assert done.out.endswith(" 1 wrong\n")


@pytest.mark.parametrize("damage", [swap_blocks, put_stale_block])
def test_a_run_ends_at_a_wrong_block(disk: Disk, damage: Callable[[Disk], str]) -> None:
    assert disk.fresh("--requests", "300").code == 0
    damage(disk)
    assert disk.run("--resume", "--time", "3600s").code == 4


def test_flushed_data_survive_a_power_failure(disk: Disk) -> None:
    """The contents may be older than the last completed write, but not than the last flush."""
    assert disk.fresh("--requests", "200", "--depth", "4").code == 0
    old = [disk.block(unit) for unit in range(UNITS)]
    assert disk.run("--resume", "--requests", "40", "--depth", "4").code == 0
    entries = list(disk.allowed())
    changed = [u for u in range(UNITS) if any(old[u]) and generation_in(old[u]) < entries[u][0]]
    loose = [u for u in changed if entries[u][1] <= generation_in(old[u])]
    fast = [u for u in changed if entries[u][1] > generation_in(old[u])]
    assert loose and fast
    shutil.copy(disk.state, disk.folder / "kept")
    disk.put(loose[0], old[loose[0]])
    assert disk.verify().code == 4
    disk.freeze()
    assert disk.verify().code == 0
    shutil.copy(disk.folder / "kept", disk.state)
    assert disk.verify("--power-failed").code == 0
    # The contents found after the power failure have become permanent.
    disk.put(loose[0], bytes(UNIT))
    assert disk.verify("--power-failed").code == 4
    shutil.copy(disk.folder / "kept", disk.state)
    disk.put(loose[0], old[loose[0]])
    disk.put(fast[0], old[fast[0]])
    done = disk.verify("--power-failed")
    assert (done.code, done.out[-9:]) == (4, " 1 wrong\n")


def test_flushes_on_a_frozen_disk_prove_nothing(disk: Disk) -> None:
    assert disk.fresh("--requests", "100", "--depth", "4").code == 0
    before = disk.durable()
    child = subprocess.Popen([TORTURE, "--state", disk.state, "--resume", "--time", "3600s",
                              disk.image], stdout=subprocess.PIPE)
    disk.power_fails(child)
    frozen = disk.durable()
    time.sleep(0.5)
    child.terminate()
    assert child.wait() == 130
    assert disk.durable() == frozen != before
    assert disk.verify("--power-failed").code == 0


def test_reads_after_a_power_failure_are_not_checked(disk: Disk) -> None:
    """Some contents are older than completed writes, and some are missing."""
    assert disk.fresh("--requests", "100").code == 0
    child = subprocess.Popen([TORTURE, "--state", disk.state, "--resume", "--time", "3600s",
                              disk.image])
    disk.power_fails(child)
    for length in UNITS * UNIT, 0:
        with disk.image.open("r+b") as file:
            file.write(bytes(length))
            file.truncate(length)
        time.sleep(0.5)
    child.terminate()
    assert child.wait() == 130


def spoil_all_units(path: Path) -> int:
    """Corrupt the middle of all written units by direct I/O; return how many."""
    spoilt = 0
    disk = os.open(path, os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, UNIT) as data:
        for at in range(0, UNITS * UNIT, UNIT):
            os.preadv(disk, [data], at)
            if any(data[:]):  # of a mapping itself the items are bytes, true even of zeroes
                data[300:308] = b"another!"
                os.pwritev(disk, [data], at)
                spoilt += 1
    os.close(disk)
    return spoilt


def spoil_under(child: subprocess.Popen[str], path: Path) -> None:
    """Retry until there is something to corrupt: a phase may have cleared everything."""
    while child.poll() is None:
        time.sleep(0.3)
        child.send_signal(signal.SIGSTOP)  # requests in flight complete, and no new ones begin
        time.sleep(0.3)
        spoilt = spoil_all_units(path)
        child.send_signal(signal.SIGCONT)
        if spoilt > UNITS // 16:
            break


def test_mixed_contents_of_a_block_are_reported(disk: Disk) -> None:
    """Report mixed contents of a block that is not written during the read, even in a file."""
    assert disk.fresh("--requests", "100").code == 0
    try:
        os.close(os.open(disk.image, os.O_RDWR | os.O_DIRECT))
    except OSError:
        pytest.skip("the file system here has no direct I/O")
    with subprocess.Popen([TORTURE, "--state", disk.state, "--resume", "--time", "3600s",
                           disk.image], stderr=subprocess.PIPE, text=True) as child:
        spoil_under(child, disk.image)
        told = child.communicate()[1]
    assert child.returncode == 4
    assert re.search(r", and from byte 296 on [^;]*; allowed: [^;]*; request \d+, seed 7", told)


@pytest.mark.slow
def test_tmpfs_reads_may_be_torn_during_a_write(tmp_path: Path) -> None:
    """On tmpfs, a read during a write may see half of it; at rest, all blocks are whole."""
    if os.statvfs("/dev/shm").f_bavail * os.statvfs("/dev/shm").f_bsize < 80 << 20:
        pytest.skip("/dev/shm has no 80 MiB")
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as image:
        image.truncate(64 << 20)
        disk = Disk(tmp_path, Path(image.name), tmp_path / "state")
        assert disk.run("--overwrite", "--time", "5s").code == 0
        assert disk.verify().code == 0


def test_bits_may_flip_only_where_allowed(disk: Disk) -> None:
    assert disk.fresh("--requests", "100").code == 0
    unit = blocks_of_units(u for u in range(UNITS) if any(disk.block(u)))
    block = bytearray(disk.block(unit))
    for at in range(1, UNIT, 40):
        block[at] ^= 4
    disk.put(unit, bytes(block))
    assert disk.verify("--flips", "13").code == 0
    assert disk.verify("--flips", "12").code == 4


def test_another_disk_is_refused(disk: Disk) -> None:
    assert disk.fresh("--requests", "100").code == 0
    shorter = disk.state.read_bytes()
    with disk.image.open("r+b") as file:
        file.truncate((UNITS - 3) * UNIT)
    assert "is not the device of this state" in disk.verify().err
    assert disk.state.read_bytes() == shorter


@pytest.mark.parametrize("option", [[], ["--sync"]])
def test_a_killed_run_is_resumed(disk: Disk, option: list[str]) -> None:
    for again in ["--overwrite"], ["--resume"], ["--resume"]:
        child = subprocess.Popen([TORTURE, "--state", disk.state, *again, "--time", "3600s",
                                  *option, disk.image])
        wait_until(disk.written)
        time.sleep(0.6)
        child.kill()
        child.wait()
    assert disk.verify("--power-failed").code == 0


def test_existing_content_is_not_overwritten(disk: Disk) -> None:
    disk.put(3, b"x" * UNIT)
    done = disk.run("--requests", "1")
    assert done.code == 1
    assert "--overwrite does it all the same" in done.err
    assert not disk.state.exists()


@pytest.mark.parametrize("words", [["--unit", "768"], ["--discard", "never-ever"],
                                   ["--power-failed"], ["another"], ["--depth", "0"]])
def test_invalid_options_are_refused(disk: Disk, words: list[str]) -> None:
    done = disk.fresh(*words)
    assert done.code == 2
    assert done.err.startswith("approxftl torture: ")


def test_sizes_that_do_not_fit_are_refused(disk: Disk) -> None:
    assert "--size and --unit must fit" in disk.fresh("--size", "8MiB").err
    assert disk.fresh("--requests", "100", "--size", "1MiB", "--unit", "4KiB").code == 0
    assert not any(disk.block(UNITS - 1))


def test_with_zeroed_the_device_is_not_filled_first(disk: Disk) -> None:
    done = disk.fresh("--requests", "20", "--zeroed")
    assert done.code == 0, done.err
    zero = blocks_of_units(u for u, entry in enumerate(disk.allowed()) if entry[3] and not entry[2])
    assert disk.verify().code == 0
    disk.put(zero, b"x" * UNIT)
    assert disk.verify().code == 4
