# SPDX-License-Identifier: GPL-2.0-only
"""Generate a stream of requests like a profile, from a seed.

A place is a run of units that is written as a whole. A write creates a place or updates an old one,
which is chosen so that the ages of updated data are distributed as in the profile. A read goes to a
place, or to read-only data, which lie before all places.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from approxftl_tools.arrays import np
from approxftl_tools.workload_profile import (
    UNIT_SECTORS,
    ZONE_ENDS_NS,
    Array,
    Profile,
    Sizes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZONES = range(len(ZONE_ENDS_NS) + 1)
#: Zipf skew of read-only data; an assumption.
SKEW = 0.8

Draw: TypeAlias = "np.random.Generator"


@dataclass
class Stream:
    """The requests of a stream, with an array for each column of a record file."""

    t_ns: Array
    off_sect: Array
    nsect: Array
    op: Array
    tag: Array
    device_bytes: int

    def convert_stream_to_record_columns(self) -> dict[str, Array]:
        return {"t_ns": self.t_ns, "off_sect": self.off_sect, "nsect": self.nsect, "op": self.op,
                "class": self.tag}


@dataclass
class Places:
    """The written places (runs of units) of a stream, in zones by the age of their last write."""

    first: list[int] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    #: Unordered places of each zone; where[place] is its zone and its index there.
    zones: list[list[int]] = field(default_factory=lambda: [[] for _ in ZONES])
    where: list[tuple[int, int]] = field(default_factory=list)
    #: Queue of writes for each zone, oldest first: time, place, number of the place's write.
    leaving: list[deque[tuple[int, int, int]]] = field(
        default_factory=lambda: [deque() for _ in ZONE_ENDS_NS])
    writes: list[int] = field(default_factory=list)

    def add_unwritten_extent(self, first: int, units: int) -> int:
        """Add an unwritten place (a run of units) and return its number."""
        self.first.append(first)
        self.units.append(units)
        self.writes.append(0)
        self.where.append((-1, -1))
        return len(self.first) - 1

    def move_extent_to_age_zone(self, place: int, zone: int) -> None:
        old, at = self.where[place]
        if old >= 0:
            last = self.zones[old].pop()
            if last != place:
                self.zones[old][at] = last
                self.where[last] = old, at
        self.where[place] = zone, len(self.zones[zone])
        self.zones[zone].append(place)

    def record_extent_write(self, place: int, t_ns: int) -> None:
        self.writes[place] += 1
        self.move_extent_to_age_zone(place, 0)
        self.leaving[0].append((t_ns, place, self.writes[place]))

    def move_extents_to_older_zones(self, t_ns: int) -> None:
        """Move written places into the age zones that fit the time since their last write."""
        for zone, (end, leaving) in enumerate(zip(ZONE_ENDS_NS, self.leaving, strict=True), 1):
            while leaving and leaving[0][0] + end < t_ns:
                entry = leaving.popleft()
                if self.writes[entry[1]] == entry[2]:
                    self.move_extent_to_age_zone(entry[1], zone)
                    if zone < len(self.leaving):
                        self.leaving[zone].append(entry)

    def pick_extent_of_zone(self, zone: int, share: float) -> int:
        """Return a place (run of units) of an age zone or, if it has none, of the nearest zone."""
        for other in sorted(ZONES, key=lambda other: (abs(other - zone), other)):
            if self.zones[other]:
                return self.zones[other][int(share * len(self.zones[other]))]
        raise ValueError("nothing was written")


def draw_request_lengths(draw: Draw, sizes: Sizes, count: int) -> NDArray[np.int64]:
    weights = np.array(sizes.weights)
    return draw.choice(np.array(sizes.units, np.int64), count, p=weights / weights.sum())


def generate_reads_of_read_only_data(draw: Draw, profile: Profile, count: int
                                     ) -> tuple[Array, Array, int]:
    """Return starts and lengths (units) of reads of read-only data, and the size of these data."""
    places = max(1, round(count / profile.reads_of_a_place))
    units = draw_request_lengths(draw, profile.read_sizes, places)
    starts = np.concatenate(([0], np.cumsum(units)))
    popularity = np.arange(1, places + 1) ** -SKEW
    chosen = draw.permutation(places)[draw.choice(places, count, p=popularity / popularity.sum())]
    return starts[:-1][chosen], units[chosen], int(starts[-1]) if count else 0


class Writer:
    """Chooses the place (run of units) of each write in turn.

    A trace begins in the middle of a device's life: the first update of older data looks like a
    first write. So an update of data of an age that no place has yet creates a place, unless
    the share of updates would then miss the profile; other writes that create places are random.
    """

    def __init__(self, profile: Profile, draw: Draw, count: int, begin: int) -> None:
        """Draw in advance the random numbers that do not depend on earlier writes."""
        self.places = Places()
        self.end = begin
        self.units = draw_request_lengths(draw, profile.write_sizes, count)
        self.left = count
        self.new = round(count * (1 - profile.update_share))
        zones = np.array(profile.zone_shares)
        self.zones = draw.choice(len(zones), count, p=zones / zones.sum())
        self.draw = draw

    def choose_extent_of_write(self, number: int, t_ns: int) -> int:
        self.places.move_extents_to_older_zones(t_ns)
        zone = int(self.zones[number])
        new = not self.places.first or (self.new > 0 and (
            not self.places.zones[zone] or self.draw.random() < self.new / self.left))
        self.left -= 1
        if not new:
            return self.places.pick_extent_of_zone(zone, self.draw.random())
        self.new -= 1
        self.end += int(self.units[number])
        return self.places.add_unwritten_extent(self.end - int(self.units[number]),
                                                int(self.units[number]))


def generate_stream(profile: Profile, requests: int, seed: int) -> Stream:
    """Return a stream of requests with the profile's characteristics, drawn from a seed."""
    draw = np.random.default_rng(seed)
    ranks = np.linspace(0, 1, len(profile.arrival_ns))
    gaps = np.interp(draw.random(requests), ranks, profile.arrival_ns)
    gaps[:1] = 0
    t_ns = np.cumsum(gaps).astype(np.int64)
    write = draw.random(requests) < profile.write_share
    of_written = draw.random(requests) < profile.read_written_share
    alone = ~write & ~of_written
    first, units = np.zeros(requests, np.int64), np.zeros(requests, np.int64)
    first[alone], units[alone], begin = generate_reads_of_read_only_data(draw, profile,
                                                                         int(alone.sum()))
    writer = Writer(profile, draw, int(write.sum()), begin)
    places = writer.places
    approximate: list[bool] = []
    read: list[int] = []
    tag = np.zeros(requests, np.uint8)
    written = 0
    for i in np.flatnonzero(~alone):
        now = int(t_ns[i])
        if write[i]:
            place = writer.choose_extent_of_write(written, now)
            if place == len(approximate):
                approximate.append(bool(draw.random() < profile.approx_share))
                # No random number is needed if all places are read.
                if profile.read_places_share == 1 or draw.random() < profile.read_places_share:
                    read.append(place)
            places.record_extent_write(place, now)
            written += 1
        elif read:
            place = read[int(draw.integers(len(read)))]
        else:
            units[i] = 1
            continue
        first[i], units[i], tag[i] = places.first[place], places.units[place], approximate[place]
    sectors = max(writer.end, begin, 1) * UNIT_SECTORS
    return Stream(t_ns, first * UNIT_SECTORS, units * UNIT_SECTORS, write.astype(np.uint8), tag,
                  sectors * 512)
