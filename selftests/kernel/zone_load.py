#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Load a zoned device as `approxftl torture` loads other ones: write, reset, finish, flush, verify.

zone_load.py --state FILE [--resume|--verify] [--power-failed] [--errors] DEVICE

Takes the options that torture.py passes to approxftl torture. FILE begins like its state file, then
has a record for each zone. A block holds its zone, its offset in the zone, and the number of resets
before it was written: its generation. A few threads write different zones, each one zone at a time.
"""

import argparse
import fcntl
import mmap
import os
import random
import signal
import struct
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

REPORT_ZONES, RESET_ZONE, FINISH_ZONE = 0xC0101282, 0x40101283, 0x40101288
ZONE = struct.Struct("=3Q4B4xQ24x")  # struct blk_zone
FULL = 14
NAME = struct.Struct("<QIIII8x")
MAGIC = 0x5A4F4E4553
FROZEN, FILLED, HEADER = 9, 10, 16  # words of the state file; HEADER words precede the zones
# Words of a zone: the generation and the newest that there was; blocks that writes have begun and
# completed; generation and blocks that survive a power failure; whether it is being reset; whether
# it is finished
GENERATION, NEWEST, BEGUN, DONE, SAFE_GENERATION, SAFE, RESETTING, FINISHING = range(8)
STRIDE = 8
THREADS = 3


class WrongError(Exception):
    """Raised when the device returns other data than were written."""


@dataclass
class Zone:
    """A zone: its number, its first sector, and the offset of its record in the state file."""

    number: int
    sector: int
    at: int


class Disk:
    """A zoned device and its state file."""

    def __init__(self, path: str, state: str, *, create: bool, tolerant: bool) -> None:
        self.tolerant = tolerant  # requests may fail
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.forced = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_DSYNC)
        self.unit = struct.unpack("i", fcntl.ioctl(self.fd, 0x1268, bytes(4)))[0]  # BLKSSZGET
        length = self.report_zones(0, 1)[0][1]
        sectors = os.lseek(self.fd, 0, os.SEEK_END) // 512
        self.zone_bytes = length * 512
        self.zones = [Zone(n, n * length, HEADER + n * STRIDE) for n in range(sectors // length)]
        with Path(state).open("w+b" if create else "r+b") as file:
            if create:
                file.truncate(4 * (HEADER + len(self.zones) * STRIDE))
            self.words = memoryview(mmap.mmap(file.fileno(), 0)).cast("I")
        self.lock = threading.Lock()
        self.end = threading.Event()

    def report_zones(self, sector: int, count: int) -> list[tuple[int, ...]]:
        """Return the zones that the device reports: start, length, write pointer, type..."""
        data = bytearray(struct.pack("=QI4x", sector, count).ljust(16 + count * ZONE.size, b"\0"))
        fcntl.ioctl(self.fd, REPORT_ZONES, data)
        return [ZONE.unpack_from(data, 16 + n * ZONE.size) for n in range(count)]

    def make_zone_content(self, zone: Zone, generation: int, first: int, count: int) -> bytes:
        """Return the data that a zone must contain in a generation (its number of resets)."""
        names = (NAME.pack(MAGIC, zone.number, generation, first + n, 1) for n in range(count))
        return b"".join(name * (self.unit // NAME.size) for name in names)

    def write_zone(self, zone: Zone, count: int, buffer: mmap.mmap, *, forced: bool) -> None:
        """Write blocks at the write pointer of a zone."""
        words, at = self.words, zone.at
        first, generation = words[at + DONE], words[at + GENERATION]
        size = count * self.unit
        buffer[:size] = self.make_zone_content(zone, generation, first, count)
        words[at + BEGUN] = first + count
        place = zone.sector * 512 + first * self.unit
        fd = self.forced if forced else self.fd
        if os.pwritev(fd, [memoryview(buffer)[:size]], place) != size:
            raise OSError("a short write")
        words[at + DONE] = first + count
        if forced:
            self.record_durable_blocks([(at, generation, first + count)])

    def reset_or_finish_zone(self, zone: Zone, request: int) -> None:
        """Reset or finish a zone of the device."""
        fcntl.ioctl(self.fd, request, struct.pack("=2Q", zone.sector, self.zone_bytes // 512))

    def reset_zone(self, zone: Zone) -> None:
        """Reset a zone, which begins a new generation of its data."""
        words, at = self.words, zone.at
        words[at + RESETTING] = 1
        words[at + NEWEST] += 1
        self.reset_or_finish_zone(zone, RESET_ZONE)
        words[at + DONE] = words[at + BEGUN] = words[at + FINISHING] = 0
        words[at + GENERATION] = words[at + NEWEST]
        words[at + RESETTING] = 0

    def flush_zones(self) -> None:
        """Flush all zones; writes that were complete before the flush are durable after it."""
        words = self.words
        covered = []
        for zone in self.zones:
            generation, done = words[zone.at + GENERATION], words[zone.at + DONE]
            if words[zone.at + GENERATION] == generation:
                covered.append((zone.at, generation, done))
        os.fsync(self.fd)
        self.record_durable_blocks(covered)

    def record_durable_blocks(self, covered: list[tuple[int, int, int]]) -> None:
        """Record in the state file which blocks are durable, unless the power has failed."""
        words = self.words
        with self.lock:
            for at, generation, done in covered:
                if words[FROZEN] or (generation, done) < (words[at + SAFE_GENERATION],
                                                          words[at + SAFE]):
                    continue
                words[at + SAFE] = 0
                words[at + SAFE_GENERATION] = generation
                words[at + SAFE] = done

    def read_zone(self, zone: Zone, count: int) -> bytes:
        """Read the first blocks of a zone."""
        buffer = mmap.mmap(-1, self.zone_bytes)
        size = os.preadv(self.fd, [memoryview(buffer)[: count * self.unit]], zone.sector * 512)
        return buffer[:size]

    def verify_idle_zone(self, zone: Zone) -> None:
        """Verify the complete blocks of a zone that no thread is writing."""
        done, generation = self.words[zone.at + DONE], self.words[zone.at + GENERATION]
        if (done and self.read_zone(zone, done) != self.make_zone_content(zone, generation, 0, done)
                and not self.words[FROZEN]):
            raise WrongError(f"zone {zone.number}: its {done} blocks of generation {generation} "
                             "are others")

    # Again

    def parse_zone_data(self, zone: Zone, data: bytes) -> tuple[int, int]:
        """Return generation and number of written blocks of a zone, whose other blocks are zero."""
        generation = NAME.unpack_from(data)[2]
        blocks = [data[at : at + self.unit] for at in range(0, len(data), self.unit)]
        count = next((n for n, block in enumerate(blocks) if not any(block)), len(blocks))
        if data[: count * self.unit] != self.make_zone_content(zone, generation, 0, count):
            raise WrongError(f"zone {zone.number}: blocks of generation {generation} are torn, of "
                             "another place or of another generation")
        if any(data[count * self.unit :]):
            raise WrongError(f"zone {zone.number}: there are data behind zeroes at block {count}")
        return generation, count

    def verify_zone_after_restart(self, zone: Zone, *, power_failed: bool) -> None:
        """Verify a zone after a restart, and record which blocks it contains."""
        words = self.words[zone.at : zone.at + STRIDE]
        _, _, pointer, _, condition, *_ = self.report_zones(zone.sector, 1)[0]
        generation, count = self.parse_zone_data(zone,
                                                 self.read_zone(zone, self.zone_bytes // self.unit))
        pointer = (pointer - zone.sector) * 512 // self.unit
        full = condition == FULL
        state = (f"zone {zone.number}: {count} blocks of generation {generation}, pointer "
                 f"{pointer}, condition {condition}; recorded: {list(words)}")
        if not full and pointer != count:
            raise WrongError(f"{state}: the write pointer is wrong")
        if not count:
            was_reset = (words[NEWEST] > words[SAFE_GENERATION] if power_failed
                         else words[RESETTING])
            generation = words[NEWEST]
            least = 0 if was_reset else words[SAFE if power_failed else DONE]
        elif power_failed:
            least = words[SAFE] if generation == words[SAFE_GENERATION] else 0
        else:
            least = words[DONE]
        most = words[BEGUN] if generation == words[GENERATION] else self.zone_bytes // self.unit
        oldest = words[SAFE_GENERATION] if power_failed else words[GENERATION]
        if not least <= count <= most or not oldest <= generation <= words[NEWEST]:
            raise WrongError(f"{state}: wrong")
        words[GENERATION] = generation
        words[BEGUN] = words[DONE] = count
        words[SAFE_GENERATION], words[SAFE] = (generation, count) if power_failed else (
            words[SAFE_GENERATION], words[SAFE])
        words[FINISHING], words[RESETTING] = full, 0

    def verify_or_reset_zone(self, zone: Zone, *, power_failed: bool) -> None:
        """Verify a zone after a restart; reset it if its data are lost."""
        try:
            self.verify_zone_after_restart(zone, power_failed=power_failed)
        except OSError:
            if not self.tolerant:
                raise
            self.reset_zone(zone)

    # The load

    def keep_one_partly_written_zone(self, thread: int) -> list[Zone]:
        """Reset a thread's partly written zones except the first; return the first, if any."""
        size, words = self.zone_bytes // self.unit, self.words
        zones = [zone for zone in self.zones[thread::THREADS]
                 if 0 < words[zone.at + DONE] < size and not words[zone.at + FINISHING]]
        for zone in zones[1:]:
            self.reset_zone(zone)
        return zones[:1]

    def write_zones_of_thread(self, thread: int, begun: list[Zone], draw: random.Random) -> None:
        """Write a thread's zones, one at a time, until the end is requested."""
        buffer = mmap.mmap(-1, self.zone_bytes)
        mine = self.zones[thread::THREADS]
        while not self.end.is_set():
            zone = begun.pop() if begun else draw.choice(mine)
            try:
                self.fill_zone(zone, buffer, mine, draw)
            except OSError:
                if not self.tolerant:
                    raise
                time.sleep(0.01)

    def fill_zone(self, zone: Zone, buffer: mmap.mmap, mine: list[Zone],
                  draw: random.Random) -> None:
        """Write a zone to its end, or write a part of it and finish the zone."""
        state = self.words[zone.at : zone.at + STRIDE]
        size = self.zone_bytes // self.unit
        # After a failed write nobody knows the write pointer.
        if state[DONE] == size or state[FINISHING] or state[BEGUN] != state[DONE]:
            self.reset_zone(zone)
        last = draw.choice((size, size, draw.randrange(size)))
        while (left := last - state[DONE]) > 0 and not self.end.is_set():
            self.write_zone(zone, draw.randint(1, left), buffer, forced=draw.random() < 0.05)
            self.verify_idle_zone(zone if draw.random() < 0.3 else draw.choice(mine))
            if draw.random() < 0.1:
                self.flush_zones()
        self.words[zone.at + FINISHING] = 1
        self.reset_or_finish_zone(zone, FINISH_ZONE)

    def note_power_failure(self, *_: object) -> None:
        """Record that the power has failed: from now on no write becomes durable."""
        self.words[FROZEN] = 1

    def write_zones_until_signal(self, seed: int) -> None:
        wrong: list[BaseException] = []

        begun = [self.keep_one_partly_written_zone(thread) for thread in range(THREADS)]

        def run_writer_thread(thread: int) -> None:
            try:
                draw = random.Random(f"{seed} {thread} {time.monotonic()}")
                self.write_zones_of_thread(thread, begun[thread], draw)
            except (WrongError, OSError) as why:
                wrong.append(why)
                self.end.set()

        self.words[FROZEN] = 0
        signal.signal(signal.SIGTERM, lambda *_: self.end.set())
        signal.signal(signal.SIGUSR1, self.note_power_failure)
        threads = [threading.Thread(target=run_writer_thread, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        self.words[FILLED] = 1
        for thread in threads:
            thread.join()
        if wrong and not self.words[FROZEN]:
            raise wrong[0]


def main() -> None:
    """Run the load that the command line describes."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("resume", "verify", "power-failed", "overwrite", "errors"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("state", "seed", "time", "depth", "most", "discard", "patience", "flips"):
        parser.add_argument(f"--{name}")
    parser.add_argument("device")
    options = parser.parse_args()
    disk = Disk(options.device, options.state, create=options.overwrite, tolerant=options.errors)
    try:
        for zone in disk.zones:
            if options.overwrite:
                disk.reset_zone(zone)
            else:
                disk.verify_or_reset_zone(zone, power_failed=options.power_failed)
        if not options.verify:
            disk.write_zones_until_signal(int(options.seed))
    except (WrongError, OSError) as why:
        sys.exit(str(why))


if __name__ == "__main__":
    main()
