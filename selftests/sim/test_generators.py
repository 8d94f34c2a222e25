# SPDX-License-Identifier: GPL-2.0-only
"""Generated request streams have the distributions that the options ask for.

The seeds are fixed, so that nothing here can fail by chance; the bounds are about four standard
deviations.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import pytest
from selftests.sim.support import (
    DISCARD,
    FLUSH,
    READ,
    WRITE,
    Record,
    get_only_run,
    read_trace,
    run_sim,
)

N = 40000
UNIT_SECTORS = 8


@pytest.fixture
def run_generator(tmp_path: Path) -> Generate:
    return Generate(tmp_path)


class Generate:
    """Run a generator and read its requests back."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "stream.aft"
        self.units = 0

    def __call__(self, *arguments: str, requests: int = N) -> list[Record]:
        result = run_sim(*arguments, "--requests", str(requests), "--record", self.path)
        self.units = result["geometry"]["units"]
        return read_trace(self.path)


def is_share_near_mean(share: float, expected: float, count: int) -> bool:
    """Return whether a share is within four standard deviations of a binomial mean."""
    return abs(share - expected) <= 4 * math.sqrt(expected * (1 - expected) / count) + 1e-12


@pytest.mark.parametrize("share", [0, 0.125, 0.5, 0.97, 1.0])
def test_option_write_share_sets_the_share_of_writes(share: float, run_generator: Generate) -> None:
    records = run_generator("--write-share", str(share))
    assert is_share_near_mean(sum(r.op == WRITE for r in records) / N, share, N)
    assert {r.op for r in records} <= {READ, WRITE}


@pytest.mark.parametrize("share", [0, 0.3, 1.0])
def test_only_the_given_share_of_writes_is_approximate(share: float,
                                                       run_generator: Generate) -> None:
    records = run_generator("--approx-share", str(share), "--write-share", "0.6")
    writes = [r for r in records if r.op == WRITE]
    assert is_share_near_mean(sum(r.klass for r in writes) / len(writes), share, len(writes))
    assert not any(r.klass for r in records if r.op != WRITE)


def list_lengths_of_approximate_sequences(bits: list[int]) -> list[int]:
    text = "".join(map(str, bits))
    return [len(run) for run in text.strip("1").split("0") if run]


@pytest.mark.parametrize(("share", "mean"), [(0.3, 8), (0.5, 20), (0.75, 4)])
def test_runs_of_approximate_writes_have_the_mean_length(share: float, mean: int,
                                                         run_generator: Generate) -> None:
    records = run_generator("--approx-share", str(share), "--approx-run", str(mean),
                            "--write-share", "100%")  # fmt: skip
    lengths = list_lengths_of_approximate_sequences([r.klass for r in records])
    deviation = math.sqrt(mean * (mean - 1) / len(lengths))
    assert sum(lengths) / len(lengths) == pytest.approx(mean, abs=4 * deviation)
    found = sum(r.klass for r in records) / N
    # Neighbouring tags are correlated, so that there are fewer independent samples.
    assert abs(found - share) < 4 * math.sqrt(2 * mean * 0.25 / N)


def test_runs_of_independently_drawn_approximate_writes_have_mean_length_2(
        run_generator: Generate) -> None:
    records = run_generator("--approx-share", "0.5", "--write-share", "100%")
    lengths = list_lengths_of_approximate_sequences([r.klass for r in records])
    assert sum(lengths) / len(lengths) == pytest.approx(2, abs=0.08)


def test_uniform_addresses_are_equally_likely(run_generator: Generate) -> None:
    records = run_generator("--workload", "uniform")
    bins = Counter(r.off_sect // UNIT_SECTORS * 50 // run_generator.units for r in records)
    chi = sum((bins[i] - N / 50) ** 2 / (N / 50) for i in range(50))
    assert chi < 49 + 4 * math.sqrt(2 * 49)


def test_requests_stay_within_the_footprint(run_generator: Generate) -> None:
    records = run_generator("--footprint", "0.25")
    last = max(r.off_sect + r.nsect for r in records) // UNIT_SECTORS
    assert last <= run_generator.units * 0.25
    assert last > run_generator.units * 0.249


def test_the_hot_range_gets_its_share_of_requests(run_generator: Generate) -> None:
    records = run_generator("--hot-share", "0.8", "--hot-range", "0.2")
    hot = sum(r.off_sect // UNIT_SECTORS < run_generator.units * 0.2 for r in records) / N
    assert is_share_near_mean(hot, 0.8, N)


@pytest.mark.parametrize("skew", [0.5, 0.9, 1.0, 1.3, 4.0])
def test_zipf_addresses_have_the_expected_frequencies(skew: float, run_generator: Generate) -> None:
    records = run_generator("--workload", "zipf", "--zipf-skew", str(skew), "--footprint", "0.1")
    places = int(run_generator.units * 0.1)
    weights = [(rank + 1) ** -skew for rank in range(places)]
    total = sum(weights)
    found = [count for _, count in Counter(r.off_sect for r in records).most_common()]
    for top in (1, 10, 100):
        assert is_share_near_mean(sum(found[:top]) / N, sum(weights[:top]) / total, N) or skew < 0.9
    # With low skew, ranks by count are only roughly the true ranks: compare the entropy instead.
    surprise = -sum(weight / total * math.log(weight / total) for weight in weights)
    spread = math.sqrt(sum(w / total * (math.log(w / total) + surprise) ** 2 for w in weights) / N)
    step = (places * 0x9E3779B9 >> 32) | 1
    while math.gcd(step, places) > 1:
        step += 1
    rank_of = {rank * step % places: rank for rank in range(places)}
    assert len(rank_of) == places
    mean = -sum(math.log(weights[rank_of[r.off_sect // UNIT_SECTORS]] / total) for r in records) / N
    assert abs(mean - surprise) < 4 * spread


def test_sorted_zipf_addresses_are_their_ranks(run_generator: Generate) -> None:
    records = run_generator("--workload", "zipf", "--zipf-order", "sorted", "--zipf-skew", "1.2")
    count = Counter(r.off_sect // UNIT_SECTORS for r in records)
    assert [place for place, _ in count.most_common(5)] == [0, 1, 2, 3, 4]


def test_hashed_zipf_addresses_collide_as_those_of_fio(run_generator: Generate) -> None:
    """fio multiplies the rank by its hash constant and takes the remainder of the range."""
    options = ("--workload", "zipf", "--zipf-skew", "0.5", "--footprint", "0.01")
    found = {r.off_sect // UNIT_SECTORS
             for r in run_generator(*options, "--zipf-order", "hashed")}
    places = int(run_generator.units * 0.01)
    hashed = {rank * 0x61C8864680B583EB % 2**64 % places for rank in range(places)}
    assert 0.55 < len(hashed) / places < 0.75
    assert found <= hashed and len(found) > 0.95 * len(hashed)
    scattered = {r.off_sect // UNIT_SECTORS for r in run_generator(*options)}
    assert len(scattered) > 0.95 * places


def test_a_scattered_sequence_has_each_address_once(run_generator: Generate) -> None:
    records = run_generator("--workload", "sequential", "--scatter", "--footprint", "0.04")
    places = int(run_generator.units * 0.04)
    found = [r.off_sect // UNIT_SECTORS for r in records]
    assert len(found) > places
    assert sorted(found[:places]) == list(range(places))
    assert found[places] == found[0]
    assert sum(abs(b - a) == 1 for a, b in itertools.pairwise(found[:places])) < 0.01 * places


def test_the_hottest_zipf_addresses_are_not_adjacent(run_generator: Generate) -> None:
    records = run_generator("--workload", "zipf")
    hottest = [place for place, _ in Counter(r.off_sect for r in records).most_common(10)]
    assert min(b - a for a, b in zip(sorted(hottest), sorted(hottest)[1:], strict=False)) > 1000


@pytest.mark.parametrize(("options", "step_kib"), [
    (("--size", "12KiB"), 12), *((("--stride", f"{kib}KiB"), kib) for kib in (4, 12, 64, 4096))])
def test_a_stride_skips_the_data_between_requests(options: tuple[str, str], step_kib: int,
                                                  run_generator: Generate) -> None:
    """The host skips the data between two strided requests; a stride of 4 KiB skips nothing."""
    records = run_generator("--workload", "sequential", "--footprint", "0.04", *options)
    expected, end = 0, int(run_generator.units * 0.04) * UNIT_SECTORS
    for record in records:
        assert record.off_sect == expected
        expected += step_kib * 2
        if expected + record.nsect > end:
            expected = 0


def test_a_stride_of_the_request_length_skips_nothing(run_generator: Generate) -> None:
    records = run_generator("--workload", "sequential", "--stride", "16KiB", "--size", "16KiB")
    longer = run_generator("--workload", "sequential", "--size", "16KiB")
    assert [r.off_sect for r in records] == [r.off_sect for r in longer]


def test_the_working_set_drifts_at_the_given_speed(run_generator: Generate) -> None:
    records = run_generator("--workload", "drift", "--drift-set", "0.05", "--drift-requests",
                            "10000")
    width = int(run_generator.units * 0.05)
    for number, record in enumerate(records):
        begin = number * width // 10000
        assert 0 <= record.off_sect // UNIT_SECTORS - begin < width
    assert max(r.off_sect for r in records) // UNIT_SECTORS > 4 * width


def test_an_active_address_gets_the_configured_mean_number_of_requests(
    run_generator: Generate,
) -> None:
    records = run_generator("--workload", "active", "--active-set", "0.01", "--active-requests",
                            "50", "--active-others", "0.1")
    uses = Counter(r.off_sect // UNIT_SECTORS for r in records)
    # A place stays active for 50 requests on average, unless the stream ends first.
    often = [count for count in uses.values() if count > 2]
    assert 20 < sum(often) / len(often) < 60
    assert is_share_near_mean(sum(often) / N, 0.9, N) or 0.86 < sum(often) / N < 0.92
    # Some of the first active places have been replaced by the end.
    early, late = ({r.off_sect for r in part} for part in (records[:N // 10], records[-N // 10:]))
    assert len(early & late) < len(early) / 2


def test_scattering_the_hot_range_keeps_the_requests_per_address(run_generator: Generate) -> None:
    hot = ("--hot-share", "100%", "--hot-range", "0.25")
    dense = Counter(r.off_sect for r in run_generator(*hot))
    uses = Counter(r.off_sect for r in run_generator(*hot, "--scatter"))
    # --scatter only moves the places: the counts are the same, spread over the whole footprint.
    assert sorted(uses.values()) == sorted(dense.values())
    tenth = run_generator.units * UNIT_SECTORS // 10
    parts = Counter(place // tenth for place in uses)
    assert all(is_share_near_mean(parts[i] / len(uses), 0.1, len(uses)) for i in range(10))


@pytest.mark.parametrize("count", [1, 3])
def test_each_zone_is_written_in_order(count: int, run_generator: Generate) -> None:
    zone, size = 64, 16
    records = run_generator("--workload", "zones", "--zone-size", f"{zone * 4}KiB", "--size",
                            f"{size * 4}KiB", "--open-zones", str(count), "--write-share", "100%")
    written: dict[int, int] = {}
    passed: Counter[int] = Counter()
    for record in records:
        number, place = divmod(record.off_sect // UNIT_SECTORS, zone)
        # A zone is written in order, and at most `count` zones are open.
        assert place == written.get(number, 0)
        written[number] = place + size
        if written[number] == zone:
            del written[number]
            passed[number] += 1
        assert len(written) <= count
    # The next zone is chosen at random.
    assert len(passed) > run_generator.units // zone * 0.9
    assert max(passed.values()) < 6 * N * size / zone / (run_generator.units // zone)


def test_option_beside_rate_sets_the_request_rate_of_the_background_writer(tmp_path: Path) -> None:
    path = tmp_path / "beside.aft"
    options = ("--fill", "random", "--write-share", "0", "--depth", "4", "--requests", "20000")
    alone = get_only_run(run_sim(*options))
    run = get_only_run(run_sim(*options, "--beside-rate", "100", "--beside-size", "16KiB",
                               "--record", path))
    writes = [r for r in read_trace(path) if r.op == WRITE]
    counters = run["counters"]
    assert counters["host_read_requests"] == 20000
    assert counters["host_write_requests"] == len(writes)
    seconds = run["simulated_ns"] / 1e9
    assert abs(len(writes) - 100 * seconds) <= 2
    assert [r.off_sect for r in writes] == [32 * i for i in range(len(writes))]
    assert run["timing"]["read_response"]["mean_ns"] > alone["timing"]["read_response"]["mean_ns"]


def test_the_background_writer_of_option_beside_rate_is_no_faster_than_the_device() -> None:
    """The writer of --beside-rate has one request in flight, so the device limits its rate."""
    run = get_only_run(run_sim("--fill", "random", "--write-share", "0", "--depth", "1",
                               "--requests", "20000", "--beside-rate", "1000000", "--beside-size",
                               "4KiB"))
    timing = run["timing"]["write_response"]
    assert abs(timing["sum_ns"] / run["simulated_ns"] - 1) < 0.01


def test_request_sizes_follow_their_weights(run_generator: Generate) -> None:
    records = run_generator("--size", "4KiB:70,6000:10,64KiB:20")
    found = Counter(r.nsect for r in records)
    assert set(found) == {8, 12, 128}
    for sectors, share in ((8, 0.7), (12, 0.1), (128, 0.2)):
        assert is_share_near_mean(found[sectors] / N, share, N)


HOT = ("--hot-share", "0.6", "--hot-range", "0.1")


def count_hot_and_cold_request_lengths(records: list[Record], units: int) -> tuple[Counter[int],
                                                                                   Counter[int]]:
    """Count requests by length in sectors, in the hot tenth of the device and outside of it."""
    hot = [record.off_sect // UNIT_SECTORS < units // 10 for record in records]
    return (
        Counter(r.nsect for r, is_hot in zip(records, hot, strict=True) if is_hot),
        Counter(r.nsect for r, is_hot in zip(records, hot, strict=True) if not is_hot),
    )


def test_hot_and_cold_sizes_follow_their_weights(run_generator: Generate) -> None:
    records = run_generator(*HOT, "--size", "16KiB:25,64KiB:75", "--hot-size", "4KiB:90,8KiB:10")
    hot, cold = count_hot_and_cold_request_lengths(records, run_generator.units)
    assert is_share_near_mean(hot.total() / N, 0.6, N)
    assert (set(hot), set(cold)) == ({8, 16}, {32, 128})
    assert is_share_near_mean(hot[8] / hot.total(), 0.9, hot.total())
    assert is_share_near_mean(cold[32] / cold.total(), 0.25, cold.total())


def test_hot_requests_may_be_larger_than_cold_ones(run_generator: Generate) -> None:
    hot, cold = count_hot_and_cold_request_lengths(run_generator(*HOT, "--hot-size", "32KiB"),
                                                   run_generator.units)
    assert (set(hot), set(cold)) == ({64}, {8})
    assert is_share_near_mean(hot.total() / N, 0.6, N)


def test_without_option_hot_size_hot_and_cold_requests_have_equal_lengths(
    run_generator: Generate,
) -> None:
    records = run_generator(*HOT, "--size", "4KiB:70,16KiB:30")
    for lengths in count_hot_and_cold_request_lengths(records, run_generator.units):
        assert is_share_near_mean(lengths[8] / lengths.total(), 0.7, lengths.total())


def test_option_hot_stream_sets_the_stream_of_hot_writes(run_generator: Generate) -> None:
    records = run_generator(*HOT, "--hot-stream", "9")
    for record in records:
        hot = record.off_sect // UNIT_SECTORS < run_generator.units // 10
        assert record.stream == (9 if hot and record.op == WRITE else 0)
    # The policy maps stream 9 to the second of its seven streams.
    result = run_sim("--policy", "streams", "--fill", "none", "--trace", run_generator.path)
    streams = get_only_run(result)["streams"]
    hinted = sum(record.nsect // UNIT_SECTORS for record in records if record.stream)
    assert hinted > N / 4
    assert streams["id_2"] == {"host_units": hinted, "moved_units": 0}
    assert list(streams) == ["unhinted", *(f"id_{i}" for i in range(1, 8))]
    assert sum(stream["host_units"] for stream in streams.values()) == (
        get_only_run(result)["counters"]["programmed_host_units"])


def test_hot_size_leaves_cold_requests_as_they_are(run_generator: Generate) -> None:
    sizes = ("--size", "4KiB:70,16KiB:30", "--depth", "1")
    before = run_generator(*HOT, *sizes)
    after = run_generator(*HOT, *sizes, "--hot-size", "8KiB:1,4KiB:1")
    cold = [r.off_sect // UNIT_SECTORS >= run_generator.units // 10 for r in before]
    assert 0.3 * N < sum(cold) < 0.5 * N
    for was, now, is_cold in zip(before, after, cold, strict=True):
        assert (was.off_sect, was.op) == (now.off_sect, now.op)
        assert was.nsect == now.nsect or not is_cold


def test_a_hot_range_of_the_whole_footprint_sets_all_request_sizes(run_generator: Generate) -> None:
    records = run_generator("--hot-share", "0.1", "--hot-range", "100%", "--hot-size", "8KiB")
    assert {r.nsect for r in records} == {16}


def test_generator_obeys_the_discard_share_and_the_flush_interval(run_generator: Generate) -> None:
    records = run_generator("--discard-share", "0.2", "--flush-every", "9")
    assert [number for number, r in enumerate(records) if r.op == FLUSH] == list(range(9, N, 10))
    others = [r for r in records if r.op != FLUSH]
    assert is_share_near_mean(sum(r.op == DISCARD for r in others) / len(others), 0.2, len(others))


def test_poisson_intervals_are_exponential(run_generator: Generate) -> None:
    records = run_generator("--rate", "2000")
    gaps = [b.t_ns - a.t_ns for a, b in itertools.pairwise(records)]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(500_000, rel=4 / math.sqrt(N))
    for times in (0.05, 0.3, 0.7, 1, 2, 5):
        above = sum(gap > times * 500_000 for gap in gaps) / len(gaps)
        assert is_share_near_mean(above, math.exp(-times), len(gaps))
    square = sum(gap * gap for gap in gaps) / len(gaps)
    assert square / mean**2 == pytest.approx(2, rel=0.06)


def test_fixed_arrivals_have_equal_intervals(run_generator: Generate) -> None:
    records = run_generator("--rate", "3000", "--arrival-shape", "fixed", requests=3001)
    assert records[-1].t_ns == pytest.approx(10**9, abs=100)
    gaps = {b.t_ns - a.t_ns for a, b in itertools.pairwise(records)}
    assert gaps <= {333_333, 333_334}


@pytest.mark.parametrize("arrival", [["--rate", "10000"], ["--depth", "4"]])
def test_requests_arrive_only_within_bursts(arrival: list[str], run_generator: Generate) -> None:
    records = run_generator("--workload", "bursts", "--burst-on", "10ms", "--burst-off", "30ms",
                            "--write-share", "100%", *arrival)  # fmt: skip
    assert max(r.t_ns % 40_000_000 for r in records) < 10_000_000
    assert records[-1].t_ns > 200_000_000


@pytest.mark.parametrize("workload", ["zipf", "sequential"])
def test_any_workload_can_arrive_in_bursts(workload: str, run_generator: Generate) -> None:
    records = run_generator("--workload", workload, "--burst-on", "2ms", "--rate", "10000")
    assert max(r.t_ns % 902_000_000 for r in records) < 2_000_000


@pytest.mark.parametrize("shape", ["fixed", "poisson"])
def test_requests_between_bursts_have_their_own_rate(shape: str, run_generator: Generate) -> None:
    """100 requests arrive in each burst and 30 between bursts, spread over the whole pause."""
    records = run_generator("--burst-on", "10ms", "--burst-off", "30ms", "--rate", "10000",
                            "--rate-between", "1000", "--arrival-shape", shape, requests=39000)
    times = [r.t_ns % 40_000_000 for r in records]
    slow = [at - 10_000_000 for at in times if at >= 10_000_000]
    assert is_share_near_mean(len(slow) / 39000, 30 / 130, 39000)
    assert records[-1].t_ns == pytest.approx(300 * 40_000_000, rel=0.02)
    for part in range(3):
        assert is_share_near_mean(sum(at // 10_000_000 == part for at in slow) / len(slow), 1 / 3,
                                  len(slow))
    if shape == "fixed":
        assert Counter(r.t_ns // 40_000_000 for r in records if r.t_ns % 40_000_000 <
                       10_000_000) == dict.fromkeys(range(300), 100)


def test_a_closed_loop_keeps_its_queue_full(run_generator: Generate) -> None:
    records = run_generator("--depth", "7", "--write-share", "100%", requests=100)
    assert [r.t_ns for r in records[:7]] == [0] * 7
    assert records[7].t_ns > 0


@pytest.mark.parametrize("utilisation", [0.3, 0.6])
@pytest.mark.parametrize("share", [0, 0.37, 1.0])
def test_option_utilisation_sets_the_lun_utilisation_if_there_is_no_gc(
        utilisation: float, share: float) -> None:
    """The rate that is computed from page times must give the requested utilisation."""
    result = run_sim("--utilisation", str(utilisation), "--write-share", str(share), "--size",
                     "8KiB", "--workload", "sequential", "--fill", "sequential", "--fill-valid",
                     "20",
                     "--footprint", "0.15", "--requests", "8000")  # fmt: skip
    found = get_only_run(result)
    assert found["counters"]["gc_blocks"] == 0
    assert found["luns"]["mean_utilisation"] == pytest.approx(utilisation, rel=0.05)


@pytest.mark.parametrize("share", [0, 1.0])
def test_option_utilisation_accounts_for_the_sizes_of_hot_requests(share: int) -> None:
    """The request rate must be computed from the mean length over the hot and the cold range."""
    sizes = ("--size", "64KiB", "--hot-size", "8KiB", "--hot-share", "0.75", "--hot-range", "0.2")
    result = run_sim("--utilisation", "0.3", "--write-share", str(share), *sizes,
                     "--fill", "sequential", "--fill-valid", "20", "--footprint", "0.15",
                     "--requests", "5000")  # fmt: skip
    found = get_only_run(result)
    assert found["counters"]["gc_blocks"] == 0
    assert found["luns"]["mean_utilisation"] == pytest.approx(0.3, rel=0.05)


def test_an_option_changes_only_its_property_of_a_stream(run_generator: Generate) -> None:
    """Common random numbers: an option leaves the random values of other properties as they are."""
    before = run_generator("--approx-share", "0.1", "--depth", "1")
    after = run_generator("--approx-share", "0.6", "--depth", "8")
    assert [(r.off_sect, r.nsect, r.op) for r in before] == [
        (r.off_sect, r.nsect, r.op) for r in after
    ]
