# SPDX-License-Identifier: GPL-2.0-only
"""approxftl torture finds each kind of wrong block, and no wrong block on a correct file."""

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
from selftests.lib.processes import (
    await_true,
    has_signal_handler,
    has_taken_signal,
    read_user_time_s,
)
from selftests.lib.programs import BUILD, Done, run_program

TORTURE = BUILD / "approxftl-torture"
UNIT = 512
UNITS = 8192
ENTRY = struct.Struct("<5I")  # low, durable, high, zero, any
HEADER = 64
FROZEN = 36


@dataclass
class Disk:
    """A file that approxftl torture tests, and its state file."""

    folder: Path
    image: Path
    state: Path

    def run_torture(self, *options: str) -> Done:
        return run_program(TORTURE, "--state", self.state, *options, self.image)

    def torture_fresh_file(self, *options: str) -> Done:
        return self.run_torture("--overwrite", "--seed", "7", "--most", "32KiB", *options)

    def verify_file(self, *options: str) -> Done:
        return self.run_torture("--verify", *options)

    def read_block(self, unit: int) -> bytes:
        with self.image.open("rb") as file:
            file.seek(unit * UNIT)
            return file.read(UNIT)

    def write_block(self, unit: int, data: bytes) -> None:
        with self.image.open("r+b") as file:
            file.seek(unit * UNIT)
            file.write(data)

    def set_power_failed_in_state_file(self) -> None:
        with self.state.open("r+b") as file:
            file.seek(FROZEN)
            file.write(b"\1")

    def read_allowed_generations(self) -> Iterator[tuple[int, ...]]:
        return ENTRY.iter_unpack(self.state.read_bytes()[HEADER:])

    def read_durable_generations(self) -> list[int]:
        return [entry[1] for entry in self.read_allowed_generations()]

    def count_written_units(self) -> int:
        """Return how often each unit was written, including writes in flight."""
        return sum(entry[2]
                   for entry in self.read_allowed_generations()) if self.state.exists() else 0

    def fail_power(self, child: subprocess.Popen[Any]) -> None:
        """Signal a power failure after the first durable write; wait for a stable state file.

        The signal may interrupt an update of the state file, which takes less than two clock ticks.
        """
        before = self.read_durable_generations()
        await_true(lambda: has_signal_handler(child.pid, signal.SIGUSR1)
                   and self.read_durable_generations() != before)
        child.send_signal(signal.SIGUSR1)
        await_true(lambda: has_taken_signal(child.pid, signal.SIGUSR1))
        end_s = read_user_time_s(child.pid) + 2 / os.sysconf("SC_CLK_TCK")
        await_true(lambda: read_user_time_s(child.pid) >= end_s, child)


@pytest.fixture
def torture_file(tmp_path: Path) -> Disk:
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(UNITS * UNIT)
    return Disk(tmp_path, image, tmp_path / "state")


def read_generation_of_block(block: bytes) -> int:
    """Return the generation in a block; 0 if it is zeroes."""
    return int.from_bytes(block[24:28], "little")


def test_a_disk_without_faults_passes(torture_file: Disk) -> None:
    done = torture_file.torture_fresh_file("--requests", "3000")
    assert done.code == 0, done.err
    assert re.fullmatch(r"seed 7, \d+ reads, .* 0 failed, 0 unreadable, 0 wrong\n", done.out)
    assert torture_file.verify_file().code == 0
    done = torture_file.run_torture("--resume", "--requests", "1000")
    assert (done.code, done.err) == (0, "")
    assert torture_file.verify_file("--power-failed").code == 0
    assert torture_file.run_torture("--resume", "--requests", "1000", "--power-failed").code == 0


def test_a_seed_gives_the_same_requests(torture_file: Disk, tmp_path: Path) -> None:
    first = torture_file.torture_fresh_file("--requests", "2000", "--depth", "1")
    generations = [read_generation_of_block(torture_file.read_block(unit)) for unit in range(UNITS)]
    torture_file.state.unlink()
    assert torture_file.torture_fresh_file("--requests", "2000", "--depth", "1") == first
    assert [read_generation_of_block(torture_file.read_block(unit))
            for unit in range(UNITS)] == generations


def swap_blocks(disk: Disk) -> str:
    here, there = (u for u in (5, UNITS - 1))
    disk.write_block(here, disk.read_block(there) if any(disk.read_block(there))
                     else disk.read_block(there - 1))
    return r"unit 5 \(byte 2560\) holds generation \d+ of unit 8\d\d\d; allowed: "


def zero_block(disk: Disk) -> str:
    unit = next(i for i, entry in enumerate(disk.read_allowed_generations()) if entry[3] < entry[0])
    disk.write_block(unit, bytes(UNIT))
    return rf"unit {unit} \(byte {unit * UNIT}\) holds zeroes; allowed: generations \d+ to \d+;"


def tear_block(disk: Disk) -> str:
    units = [i for i in range(UNITS) if any(disk.read_block(i))]
    one, other = disk.read_block(units[0]), disk.read_block(units[1])
    disk.write_block(units[0], one[:256] + other[256:])
    return (
        rf"unit {units[0]} .* holds its generation {read_generation_of_block(one)}, and from byte "
        rf"256 on "
        rf"generation {read_generation_of_block(other)} of unit {units[1]} \(\d+ bits differ\)")


def write_foreign_block_to_disk(disk: Disk) -> str:
    disk.write_block(9, b"what is this" + bytes(UNIT - 12))
    return r"unit 9 .* holds what nobody here has written \(43 bits are ones\); "


def write_block_from_second_run_to_disk(disk: Disk) -> str:
    other = Disk(disk.folder, disk.folder / "other", disk.folder / "other-state")
    shutil.copy(disk.image, other.image)
    assert other.torture_fresh_file("--requests", "1").code == 0
    disk.write_block(9, other.read_block(9))
    return r"unit 9 .* holds generation \d+ of unit 9 of another run \(seed 7\); "


def write_stale_block_to_disk(disk: Disk) -> str:
    old = {unit: disk.read_block(unit) for unit in range(UNITS)}
    assert disk.run_torture("--resume", "--requests", "500").code == 0
    unit = next(u for u in range(UNITS) if any(old[u]) and any(disk.read_block(u))
                and read_generation_of_block(disk.read_block(u))
                != read_generation_of_block(old[u]))
    disk.write_block(unit, old[unit])
    return (rf"unit {unit} .* holds its generation {read_generation_of_block(old[unit])}; "
            "allowed: generations")


@pytest.mark.parametrize("damage",
                         [swap_blocks, zero_block, tear_block, write_foreign_block_to_disk,
                          write_block_from_second_run_to_disk, write_stale_block_to_disk])
def test_a_wrong_block_is_named(torture_file: Disk, damage: Callable[[Disk], str]) -> None:
    assert torture_file.torture_fresh_file("--requests", "300").code == 0
    sentence = damage(torture_file)
    done = torture_file.verify_file()
    assert done.code == 4
    assert re.search(sentence, done.err), done.err
    assert ", seed 7\n" in done.err
    assert done.out.endswith(" 1 wrong\n")


@pytest.mark.parametrize("damage", [swap_blocks, write_stale_block_to_disk])
def test_a_run_ends_at_a_wrong_block(torture_file: Disk, damage: Callable[[Disk], str]) -> None:
    assert torture_file.torture_fresh_file("--requests", "300").code == 0
    damage(torture_file)
    assert torture_file.run_torture("--resume", "--time", "3600s").code == 4


def test_flushed_data_survive_a_power_failure(torture_file: Disk) -> None:
    """Blocks may be older than the last completed write, but not older than the last flush."""
    assert torture_file.torture_fresh_file("--requests", "200", "--depth", "4").code == 0
    old = [torture_file.read_block(unit) for unit in range(UNITS)]
    assert torture_file.run_torture("--resume", "--requests", "40", "--depth", "4").code == 0
    entries = list(torture_file.read_allowed_generations())
    changed = [u for u in range(UNITS) if any(old[u])
               and read_generation_of_block(old[u]) < entries[u][0]]
    loose = [u for u in changed if entries[u][1] <= read_generation_of_block(old[u])]
    fast = [u for u in changed if entries[u][1] > read_generation_of_block(old[u])]
    assert loose and fast
    shutil.copy(torture_file.state, torture_file.folder / "kept")
    torture_file.write_block(loose[0], old[loose[0]])
    assert torture_file.verify_file().code == 4
    torture_file.set_power_failed_in_state_file()
    assert torture_file.verify_file().code == 0
    shutil.copy(torture_file.folder / "kept", torture_file.state)
    assert torture_file.verify_file("--power-failed").code == 0
    # The contents found after the power failure have become permanent.
    torture_file.write_block(loose[0], bytes(UNIT))
    assert torture_file.verify_file("--power-failed").code == 4
    shutil.copy(torture_file.folder / "kept", torture_file.state)
    torture_file.write_block(loose[0], old[loose[0]])
    torture_file.write_block(fast[0], old[fast[0]])
    done = torture_file.verify_file("--power-failed")
    assert (done.code, done.out[-9:]) == (4, " 1 wrong\n")


def test_flushes_after_a_power_failure_do_not_make_data_durable(torture_file: Disk) -> None:
    assert torture_file.torture_fresh_file("--requests", "100", "--depth", "4").code == 0
    before = torture_file.read_durable_generations()
    child = subprocess.Popen([TORTURE, "--state", torture_file.state, "--resume", "--time", "3600s",
                              torture_file.image], stdout=subprocess.PIPE)
    torture_file.fail_power(child)
    frozen = torture_file.read_durable_generations()
    time.sleep(0.5)
    child.terminate()
    assert child.wait() == 130
    assert torture_file.read_durable_generations() == frozen != before
    assert torture_file.verify_file("--power-failed").code == 0


def test_reads_after_a_power_failure_are_not_checked(torture_file: Disk) -> None:
    """After a power failure, approxftl torture does not report zero or missing blocks."""
    assert torture_file.torture_fresh_file("--requests", "100").code == 0
    child = subprocess.Popen([TORTURE, "--state", torture_file.state, "--resume", "--time", "3600s",
                              torture_file.image])
    torture_file.fail_power(child)
    for length in UNITS * UNIT, 0:
        with torture_file.image.open("r+b") as file:
            file.write(bytes(length))
            file.truncate(length)
        time.sleep(0.5)
    child.terminate()
    assert child.wait() == 130


def test_a_block_of_two_written_versions_is_reported(torture_file: Disk) -> None:
    """A block that mixes two versions is reported, unless a write to it is in progress."""
    assert torture_file.torture_fresh_file("--requests", "100").code == 0
    try:
        os.close(os.open(torture_file.image, os.O_RDWR | os.O_DIRECT))
    except OSError:
        pytest.skip("the file system here has no direct I/O")
    with subprocess.Popen([TORTURE, "--state", torture_file.state, "--resume", "--time", "3600s",
                           torture_file.image], stderr=subprocess.PIPE, text=True) as child:
        while child.poll() is None:
            time.sleep(0.3)
            child.send_signal(signal.SIGSTOP)  # requests in flight complete, and no new ones begin
            time.sleep(0.3)
            spoilt = 0
            disk = os.open(torture_file.image, os.O_RDWR | os.O_DIRECT)
            with mmap.mmap(-1, UNIT) as data:
                for at in range(0, UNITS * UNIT, UNIT):
                    os.preadv(disk, [data], at)
                    if any(data[:]):  # of a mapping itself the items are bytes, true even of zeroes
                        data[300:308] = b"another!"
                        os.pwritev(disk, [data], at)
                        spoilt += 1
            os.close(disk)
            child.send_signal(signal.SIGCONT)
            if spoilt > UNITS // 16:
                break
        told = child.communicate()[1]
    assert child.returncode == 4
    assert re.search(r", and from byte 296 on [^;]*; allowed: [^;]*; request \d+, seed 7", told)


@pytest.mark.slow
@pytest.mark.in_turn
def test_tmpfs_reads_may_be_torn_during_a_write(tmp_path: Path) -> None:
    """On tmpfs a read during a write may see half of it; after the write all blocks are whole."""
    if os.statvfs("/dev/shm").f_bavail * os.statvfs("/dev/shm").f_bsize < 80 << 20:
        pytest.skip("/dev/shm has no 80 MiB")
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as image:
        image.truncate(64 << 20)
        disk = Disk(tmp_path, Path(image.name), tmp_path / "state")
        assert disk.run_torture("--overwrite", "--time", "5s").code == 0
        assert disk.verify_file().code == 0


def test_option_flips_limits_the_accepted_bit_flips_of_a_block(torture_file: Disk) -> None:
    assert torture_file.torture_fresh_file("--requests", "100").code == 0
    unit = next(u for u in range(UNITS) if any(torture_file.read_block(u)))
    block = bytearray(torture_file.read_block(unit))
    for at in range(1, UNIT, 40):
        block[at] ^= 4
    torture_file.write_block(unit, bytes(block))
    assert torture_file.verify_file("--flips", "13").code == 0
    assert torture_file.verify_file("--flips", "12").code == 4


def test_a_device_of_another_size_than_the_state_is_refused(torture_file: Disk) -> None:
    assert torture_file.torture_fresh_file("--requests", "100").code == 0
    shorter = torture_file.state.read_bytes()
    with torture_file.image.open("r+b") as file:
        file.truncate((UNITS - 3) * UNIT)
    assert "than the device of the state file" in torture_file.verify_file().err
    assert torture_file.state.read_bytes() == shorter


@pytest.mark.parametrize("option", [[], ["--sync"]])
@pytest.mark.in_turn
def test_a_killed_run_is_resumed(torture_file: Disk, option: list[str]) -> None:
    for again in ["--overwrite"], ["--resume"], ["--resume"]:
        child = subprocess.Popen([TORTURE, "--state", torture_file.state, *again, "--time", "3600s",
                                  *option, torture_file.image])
        await_true(torture_file.count_written_units)
        time.sleep(0.6)
        child.kill()
        child.wait()
    assert torture_file.verify_file("--power-failed").code == 0


def test_existing_content_is_not_overwritten(torture_file: Disk) -> None:
    torture_file.write_block(3, b"x" * UNIT)
    done = torture_file.run_torture("--requests", "1")
    assert done.code == 1
    assert "--overwrite does it all the same" in done.err
    assert not torture_file.state.exists()


@pytest.mark.parametrize("words", [["--unit", "768"], ["--discard", "never-ever"],
                                   ["--power-failed"], ["another"], ["--depth", "0"]])
def test_invalid_options_of_torture_are_refused(torture_file: Disk, words: list[str]) -> None:
    done = torture_file.torture_fresh_file(*words)
    assert done.code == 2
    assert done.err.startswith("approxftl torture: ")


def test_sizes_larger_than_the_device_are_refused(torture_file: Disk) -> None:
    assert "--size and --unit must fit" in torture_file.torture_fresh_file("--size", "8MiB").err
    assert torture_file.torture_fresh_file("--requests", "100", "--size", "1MiB", "--unit",
                                           "4KiB").code == 0
    assert not any(torture_file.read_block(UNITS - 1))


def test_option_zeroed_skips_filling_the_device(torture_file: Disk) -> None:
    done = torture_file.torture_fresh_file("--requests", "20", "--zeroed")
    assert done.code == 0, done.err
    zero = next(u for u, entry in enumerate(torture_file.read_allowed_generations())
                if entry[3] and not entry[2])
    assert torture_file.verify_file().code == 0
    torture_file.write_block(zero, b"x" * UNIT)
    assert torture_file.verify_file().code == 4
