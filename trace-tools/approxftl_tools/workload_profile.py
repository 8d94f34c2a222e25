# SPDX-License-Identifier: GPL-2.0-only
"""Workload profiles: those of published volumes, or measured from a trace.

A synthetic stream is made from a profile, which keeps no other data of the trace.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from approxftl_tools import aft
from approxftl_tools.arrays import np
from approxftl_tools.refusal import NOT_FOUND, Refusal, convert_read_errors_to_refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = [1, 0]
#: Sectors of the unit of request lengths.
UNIT_SECTORS = 8
KIB_PER_UNIT = UNIT_SECTORS * aft.SECTOR // 1024
#: Upper ends of the zones of update ages.
ZONE_ENDS_NS = tuple(minutes * 60 * 10**9 for minutes in (30, 60, 120))
#: Number of quantiles of the time between requests.
QUANTILES = 257

Array: TypeAlias = "NDArray[Any]"


@dataclass(frozen=True)
class Sizes:
    """A distribution of request lengths: lengths in units, with their weights."""

    units: tuple[int, ...]
    weights: tuple[float, ...]

    def mean_request_kib(self) -> float:
        """Return the mean request length (KiB)."""
        return float(np.average(self.units, weights=self.weights)) * KIB_PER_UNIT


@dataclass(frozen=True)
class Profile:
    """Characteristics of a workload; `assumed` lists those that are not from `source`.

    `update_share` is the share of writes whose first unit was written before. `zone_shares` divide
    the updates by the age of the data that an update replaces; the last share has no oldest age.
    """

    name: str
    source: str
    write_share: float
    update_share: float
    zone_shares: tuple[float, ...]
    write_sizes: Sizes
    read_sizes: Sizes
    arrival_ns: tuple[float, ...]
    read_written_share: float
    reads_of_a_place: float
    approx_share: float = 0.0
    assumed: tuple[str, ...] = field(default=())
    #: Share of the written places that reads of written data go to.
    read_places_share: float = 1.0

    def collect_characteristics_for_comparison(self) -> dict[str, float]:
        """Return the characteristics by which a generated stream is compared with its profile."""
        zones = {f"update_zone_{number}_share": share
                 for number, share in enumerate(self.zone_shares, 1)}
        middle = np.convolve(self.arrival_ns, (0.5, 0.5), "valid")
        return {"write_share": self.write_share, "update_share": self.update_share, **zones,
                "write_mean_kib": self.write_sizes.mean_request_kib(),
                "read_mean_kib": self.read_sizes.mean_request_kib(),
                "arrival_mean_ms": (float(np.mean(middle)) / 1e6),
                "read_written_share": self.read_written_share,
                "approx_share": self.approx_share}


# ---------------------------------------------------------------- published volumes

#: MSR Cambridge volumes: name, writes (%), updates among them (%), mean write and read (KB),
#: updates (%) by the age of the data they replace (up to 30, 60, 120 minutes, older): tables 5 and
#: 6 of the ReSSD paper. Last, the mean time between requests (ms), 0 if not published.
PUBLISHED = (
    ("HM_0", 75.1, 91.7, 11.2, 11.7, (29.0, 18.4, 12.4, 40.2), 195.2),
    ("HM_1", 3.1, 74.3, 22.9, 18.1, (21.7, 35.0, 13.7, 29.6), 528.0),
    ("PRN_0", 89.3, 81.0, 14.0, 26.6, (51.7, 26.0, 7.1, 15.2), 119.0),
    ("PRN_1", 31.1, 61.1, 13.8, 17.7, (39.6, 21.7, 13.6, 25.1), 22.1),
    ("PROJ_1", 9.4, 25.3, 22.2, 43.2, (16.9, 67.9, 7.6, 7.6), 13.6),
    ("PROJ_3", 9.8, 36.6, 30.1, 15.1, (32.0, 31.1, 13.9, 23.0), 120.1),
    ("PROJ_4", 3.7, 61.7, 14.8, 10.3, (28.4, 23.7, 13.5, 34.4), 367.9),
    ("RSRCH", 90.9, 97.7, 12.7, 15.7, (22.5, 16.5, 13.3, 47.6), 441.1),
    ("SRC1_2", 84.5, 98.3, 44.9, 16.9, (39.0, 24.2, 12.8, 24.0), 170.7),
    ("SRC2_0", 86.4, 95.2, 11.0, 12.6, (28.0, 22.4, 15.2, 34.4), 481.0),
    ("SRC2_2", 71.8, 51.6, 57.8, 88.5, (22.3, 21.7, 20.6, 35.4), 260.8),
    ("STG_0", 76.7, 97.3, 12.7, 33.6, (21.6, 15.2, 25.2, 38.0), 336.0),
    ("WDEV_0", 80.4, 96.6, 12.1, 16.5, (29.7, 24.8, 13.0, 32.5), 0.0),
    ("PRXY_0", 97.0, 97.9, 6.3, 9.7, (57.5, 13.6, 12.9, 16.0), 48.1),
    ("USR_0", 63.1, 95.0, 13.6, 47.1, (26.6, 21.4, 14.7, 37.3), 0.0),
)
#: Values for what is not published.
ASSUMED_ARRIVAL_MS = 200.0
ASSUMED_READS_OF_A_PLACE = 20.0
#: AGCR's talk: more than 85 % of the reads go to read-only data.
ASSUMED_READ_WRITTEN = 0.12
#: Half of the requests arrive this many times as fast as the mean.
ASSUMED_BURST = 100.0


def geometric_request_sizes(mean_request_kib: float) -> Sizes:
    """Return geometrically distributed request lengths with a given mean."""
    stop = min(1.0, KIB_PER_UNIT / mean_request_kib)
    longest = max(1, int(np.ceil(np.log(1e-4) / np.log1p(-stop)))) if stop < 1 else 1
    units = np.arange(1, longest + 1)
    weights = stop * (1 - stop) ** (units - 1)
    return Sizes(tuple(map(int, units)), tuple(map(float, weights / weights.sum())))


def bursty_arrival_gaps(mean_ms: float) -> tuple[float, ...]:
    """Return quantiles of the time between requests; half of the requests are in bursts."""
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    gaps = -np.log1p(-np.concatenate((shares[::2], shares[1::2])))
    gaps[: len(shares[::2])] /= ASSUMED_BURST
    gaps.sort()
    middle = np.convolve(gaps, (0.5, 0.5), "valid").mean()
    return tuple(map(float, gaps / middle * mean_ms * 1e6))


def strip_name_separators(name: str) -> str:
    """Return a volume's name in lower case without "_" and "-"."""
    return name.lower().replace("_", "").replace("-", "")


def published_profile(name: str) -> Profile:
    """Return the published profile of a volume of MSR Cambridge."""
    found = [row for row in PUBLISHED
             if strip_name_separators(row[0]) == strip_name_separators(name)]
    if not found:
        raise Refusal(f'no volume "{name}" is published; there are '
                      + ", ".join(row[0] for row in PUBLISHED), NOT_FOUND)
    name, writes, updates, write_kb, read_kb, zones, arrival = found[0]
    assumed = ["order within zones", "where reads go", "bursts", "lengths about their mean"]
    if not arrival:
        assumed.append(f"{ASSUMED_ARRIVAL_MS:g} ms between requests")
    return Profile(name, "published characteristics of MSR Cambridge", writes / 100, updates / 100,
                   tuple(zone / sum(zones) for zone in zones), geometric_request_sizes(write_kb),
                   geometric_request_sizes(read_kb),
                   bursty_arrival_gaps(arrival or ASSUMED_ARRIVAL_MS),
                   ASSUMED_READ_WRITTEN, ASSUMED_READS_OF_A_PLACE, assumed=tuple(assumed))


# ---------------------------------------------------------------- fitted to a trace


def request_length_distribution(units: Array) -> Sizes:
    if not len(units):
        return Sizes((1,), (1.0,))
    lengths, counts = np.unique(units, return_counts=True)
    return Sizes(tuple(map(int, lengths)), tuple(map(float, counts / counts.sum())))


def compute_ages_of_replaced_data(first: Array, t_ns: Array) -> Array:
    """Return the age of the data that each write replaces; -1 for a first write."""
    order = np.lexsort((np.arange(len(first)), first))
    ages = np.full(len(first), -1, np.int64)
    same = first[order][1:] == first[order][:-1]
    times = t_ns[order].astype(np.int64)
    ages[order[1:][same]] = (times[1:] - times[:-1])[same]
    return ages


def compute_fraction_of_updates_per_age(ages: Array) -> tuple[float, ...]:
    updates = ages[ages >= 0]
    if not len(updates):
        return (*[0.0] * len(ZONE_ENDS_NS), 1.0)
    counts = np.bincount(np.searchsorted(ZONE_ENDS_NS, updates), minlength=len(ZONE_ENDS_NS) + 1)
    return tuple(map(float, counts / counts.sum()))


def compute_fraction_of_true_values(part: Array) -> float:
    """Return the share of true values in an array of booleans; 0 for an empty array."""
    return float(np.mean(part)) if len(part) else 0.0


def profile_of_record_file(path: Path) -> Profile:
    file = aft.open_record_file(path)
    ops = file.get_operation_codes_of_records()
    kept = ops <= aft.OPERATIONS.index("write")
    if not kept.any():
        raise Refusal(f"{path}: no read and no write in {len(ops)} records; nothing to fit to")
    write = ops[kept] == aft.OPERATIONS.index("write")
    first = file.get_record_column("off_sect")[kept] // UNIT_SECTORS
    units = np.maximum(1,
                       -(-file.get_record_column("nsect")[kept].astype(np.int64) // UNIT_SECTORS))
    t_ns = file.get_record_column("t_ns")[kept]
    ages = compute_ages_of_replaced_data(first[write], t_ns[write])
    written = np.isin(first[~write], first[write])
    alone = first[~write][~written]
    gaps = np.diff(t_ns.astype(np.int64)) if len(t_ns) > 1 else np.zeros(1)
    classes = np.array([name == "approximate" for name in file.classes], bool)
    return Profile(
        path.stem, f"fitted to {path.name}", compute_fraction_of_true_values(write),
        compute_fraction_of_true_values(ages >= 0),
        compute_fraction_of_updates_per_age(ages),
        request_length_distribution(units[write]), request_length_distribution(units[~write]),
        tuple(map(float, np.quantile(gaps, np.linspace(0, 1, QUANTILES)))),
        compute_fraction_of_true_values(written), len(alone) / max(1, len(np.unique(alone))),
        compute_fraction_of_true_values(classes[file.get_record_column("class")[kept][write]]),
        ("order within zones", "independent times between requests"))


# ---------------------------------------------------------------- as a file


def profile_to_json(profile: Profile) -> str:
    return json.dumps({"approxftl_workload_format": FORMAT, **asdict(profile)}, indent=1) + "\n"


def profile_from_json(path: Path) -> Profile:
    """Read a profile that profile_to_json() wrote and that a user may have edited."""
    try:
        with convert_read_errors_to_refusal(path):
            document = json.loads(path.read_text("utf-8"))
        if document.pop("approxftl_workload_format")[0] != FORMAT[0]:
            raise Refusal(f"{path}: a profile of another format; {FORMAT[0]} is understood")
        sizes = {key: Sizes(*map(tuple, (document[key]["units"], document[key]["weights"])))
                 for key in ("write_sizes", "read_sizes")}
        lists = {key: tuple(document[key]) for key in ("zone_shares", "arrival_ns", "assumed")}
        return check_workload_profile(path, Profile(**{**document, **sizes, **lists}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refusal(f"{path}: no workload profile ({error}); "
                      '"approxftl synth --fit TRACE --profile-out FILE" writes one') from error


def check_workload_profile(path: Path, profile: Profile) -> Profile:
    """Return the profile; refuse a profile that no stream can be generated from."""
    shares = (profile.write_share, profile.update_share, profile.read_written_share,
              profile.approx_share, profile.read_places_share, *profile.zone_shares)
    if not all(0 <= one <= 1 for one in shares):
        raise Refusal(f"{path}: shares are fractions from 0 to 1")
    if abs(sum(profile.zone_shares) - 1) > 1e-3 or len(profile.zone_shares) != 4:
        raise Refusal(f"{path}: zone_shares are four fractions whose sum is 1")
    for sizes in (profile.write_sizes, profile.read_sizes):
        if (len(sizes.units) != len(sizes.weights) or not sizes.units or min(sizes.units) < 1
                or min(sizes.weights) < 0 or sum(sizes.weights) <= 0):
            raise Refusal(f"{path}: lengths are units from 1 on, each with a weight")
    if len(profile.arrival_ns) < 2 or list(profile.arrival_ns) != sorted(profile.arrival_ns):
        raise Refusal(f"{path}: arrival_ns are quantiles in ascending order")
    if min(profile.arrival_ns) < 0 or profile.reads_of_a_place < 1:
        raise Refusal(f"{path}: times are not negative, and a place that is read is read once")
    return replace(profile)
