# SPDX-License-Identifier: GPL-2.0-only
"""The simulator beside published forms of write amplification and of waiting.

Every number is computed or simulated when asked for. A row names the load, the form, its source
and the commands; `forms.py` has the formulas.

    theory.py                 all rows
    theory.py fifo priority   rows whose names begin with these words
    theory.py --controls      wrong rules and wrong over-provisioning, which must miss the bars
    theory.py --document FILE write the table into a document, between its two markers, and the
                              figure beside it
"""

import argparse
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / "trace-tools")]

from selftests.theory import forms  # noqa: E402

from approxftl_tools.figure import Figure, Mark, Means  # noqa: E402
from approxftl_tools.figure_file import USUAL, save_figure  # noqa: E402
from approxftl_tools.statistics import t_interval_half_widths  # noqa: E402

Json = dict[str, Any]
Options = dict[str, str | int | float]
#: Given the JSON of each of a row's runs.
Form = Callable[[Sequence[Json]], float]

BINARY = Path(os.environ.get("APPROXFTL", TOP / "build/approxftl")).absolute()
BEGIN, END = "<!-- make theory: begin -->\n", "<!-- make theory: end -->\n"

DESNOYERS = "Desnoyers (ACM Transactions on Storage 10(2), 2014)"
#: Each form with the source of its formula.
SOURCES = {
    "FIFO": f"by Xiang and Kurkoski (ICNC 2012) and {DESNOYERS}, with the Lambert W function",
    "greedy": f"a mean field, by {DESNOYERS} and Van Houdt (SIGMETRICS 2013)",
    "d-choices": "a mean field, by Van Houdt (SIGMETRICS 2013) and by Li, Lee and Lui (SIGMETRICS "
                 "2013)",
    "windowed": "our own (forms.py), in the limit of many blocks, for the rule of Hu and others "
                "(SYSTOR 2009)",
    "FIFO, mixed": f"by {DESNOYERS}",
    "d-choices, mixed": "a mean field, by Van Houdt (Performance Evaluation 70(10), 2013)",
    "optimum": f"by {DESNOYERS}, for two devices, one for each class, with the best division of "
               "the spare space between them",
    "greedy, streams": "derived in docs/theory.md from the mean field of greedy collection",
    "M/D/1": "by Pollaczek and Khinchine, as in Kleinrock (Queueing Systems 1, 1975)",
    "M/G/1": "by Cobham (Operations Research 2(1), 1954), for non-preemptive priorities",
    "closed": "for equal service times, by Bhandarkar (IEEE Transactions on Computers C-24(9), "
              "1975); the column *published* has exponential service times, by the mean value "
              "analysis of Reiser and Lavenberg (JACM 27(2), 1980)",
    "dynamic wear": "the share of the blocks that take writes, an upper bound, as static data wear "
                    "no block (Chang, Hsieh and Kuo, DAC 2007)",
    "static wear": "the additional erases by static wear levelling that moves static data of C of "
                   "H + C blocks once in T erases of each block, C / (T (H + C) - C), in %, by "
                   "Chang, Hsieh and Kuo (DAC 2007); the device moves data that are T = 57 erases "
                   "behind",
    "lifetime": "a pair of bounds: at most 1, by Ben-Aroya and Toledo (ACM Transactions on "
                "Algorithms 7(2), 2011), and at least 1 - wear_gap / E if erase counts differ by "
                "wear_gap at most; the column *published* has the lower bound, and the error is "
                "the distance from the nearer bound",
}
#: One die, no idle work, no reserve but that of relocation, as in the models.
DIE: Options = {"channels": 1, "chips": 1, "layers": 1, "page": "4KiB", "size": "4KiB",
                "gc": "0%", "gc_idle_valid": "0%", "errors": "off", "read_limit": 0}
PAGES = 65536
#: Blocks that are free or open when a victim is chosen: the reserve, and the one opened last.
KEPT = 2


@dataclass(frozen=True)
class Row:
    """A load, its closed form, and the simulator's runs that are compared with the form."""

    name: str
    load: str
    form: str
    runs: tuple[Options, ...]
    theory: Form
    measure: Form
    #: Largest relative error, or None for a row without a form that it should meet.
    bar: float | None
    #: The published form without the device's corrections; None if it is the same.
    published: float | None = None
    #: Options that falsify a run; with them the row must miss its bar.
    controls: tuple[Options, ...] = ()
    #: The lower bound of a row whose form is an upper bound.
    floor: Form | None = None

    def compute_error(self, ours: float, runs: Sequence[Json]) -> float:
        """Return the relative error of a measured mean; between two bounds there is none."""
        theory = self.theory(runs)
        if self.floor and self.floor(runs) <= ours <= theory:
            return 0.0
        nearest = self.floor(runs) if self.floor and ours < theory else theory
        return ours / nearest - 1


@dataclass(frozen=True)
class Found:
    """Numbers of a table row: simulated mean over seeds, half its 95 % interval, theory's value."""

    name: str
    load: str
    form: str
    source: str
    commands: list[str]
    published: float | None
    theory: float
    ours: float
    half: float
    error: float
    bar: float | None
    holds: bool | None


def make_simulator_arguments(options: Options) -> list[str]:
    return ["sim", *(str(word) for key, value in options.items() for word in (f"--{key}", value))]


def run_simulator(options: Options, seeds: str) -> list[Json]:
    """Run the simulator and return the JSON of each seed, with the geometry in it."""
    done = subprocess.run([BINARY, *make_simulator_arguments(options), "--seed", seeds, "--json",
                           "--quiet"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"theory: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    return [run | {"geometry": result["geometry"]} for run in result["runs"]]


def compute_unrounded_amplification(run: Json) -> float:
    counts = run["write_amplification"]
    return float(counts["programmed_units"] / counts["host_write_units"])


def compute_valid_page_share(run: Json, kept: float = KEPT) -> float:
    """Return the share of valid pages in blocks that are neither free nor open."""
    geometry = run["geometry"]
    return float(geometry["units"] / (geometry["pages_per_block"] * (geometry["blocks"] - kept)))


def measure_first_run(measure: Callable[[Json], float], runs: Sequence[Json]) -> float:
    return measure(runs[0])


# ---------------------------------------------------------------- write amplification


def make_valid_share_formula(form: Callable[[float], float], kept: float = KEPT) -> Form:
    """Return a Form that applies `form` to the share of valid pages in a row's first run."""
    return lambda runs: form(compute_valid_page_share(runs[0], kept))


def random_write_options(pages: int, op: float, rounds: tuple[int, int] = (4, 6),
                         **more: str | int) -> Options:
    """Return options of random writes: rounds[0] device sizes of warm-up, rounds[1] measured."""
    return DIE | {"word_lines": pages, "blocks": PAGES // pages, "op": f"{op:g}%",
                  "fill": "random", "write-share": 1.0, "warmup": rounds[0] * PAGES,
                  "requests": rounds[1] * PAGES} | more


def make_rows_for_uniform_writes() -> Iterator[Row]:
    for pages in (16, 64):
        for op in (5, 10, 20, 35, 50):
            load = 1 - op / 100
            wrong: Options = {"op": f"{1.15 * op:g}%"}
            where = f"uniform, {pages} pages a block, op {op} %"

            def make_row_for_selector(rule: str, form: str, published: float,
                                      corrected: Callable[[float], float],
                                      bar: float, control: Options, options: Options,
                                      *, pages: int = pages, op: int = op, wrong: Options = wrong,
                                      where: str = where) -> Row:
                return Row(f"{rule}-{pages}-{op}", where, form,
                           (random_write_options(pages, op) | options,),
                           make_valid_share_formula(corrected),
                           partial(measure_first_run, compute_unrounded_amplification),
                           bar, published, (control, wrong))

            yield make_row_for_selector("fifo", "FIFO", forms.fifo_amplification(load),
                                        partial(forms.windowed_greedy_amplification, pages=pages,
                                                share=0), 0.01,
                                        {"victim": "d_choices", "victim_choices": 2},
                                        {"victim": "fifo"})
            yield make_row_for_selector("greedy", "greedy",
                                        forms.windowed_greedy_amplification(load, pages, 1),
                                        partial(forms.windowed_greedy_amplification, pages=pages,
                                                share=1), 0.02,
                                        {"victim": "d_choices", "victim_choices": 4},
                                        {"victim": "greedy"})
            for drawn in (2, 5, 10):
                yield make_row_for_selector(f"d{drawn}", "d-choices",
                                            forms.sampled_greedy_amplification(load, pages, drawn,
                                                                               full=True),
                                            partial(forms.sampled_greedy_amplification, pages=pages,
                                                    drawn=drawn), 0.01,
                                            {"victim_choices": drawn * 2 // 3},
                                            {"victim": "d_choices", "victim_choices": drawn},
                                            where=f"{where}, {drawn} choices")


def make_rows_for_windowed_gc() -> Iterator[Row]:
    """Yield table rows of small devices that select victims among their 64 oldest blocks."""
    for pages, blocks in ((16, 256), (64, 512)):
        for op in (10, 20):
            yield Row(f"window-{pages}-{op}", f"uniform, {pages} pages, 64 oldest of {blocks}, "
                      f"op {op} %", "windowed",
                      (random_write_options(pages, op, blocks=blocks, victim="windowed")
                       | {"victim_window": 64},),
                      make_valid_share_formula(partial(forms.windowed_greedy_amplification,
                                                       pages=pages, share=64 / (blocks - KEPT))),
                      partial(measure_first_run, compute_unrounded_amplification), 0.02,
                      controls=({"victim": "fifo"}, {"op": f"{op * 1.15:g}%"}))


def skewed_write_options(data: float, share: float) -> Options:
    """Return options of writes of which some go to a hot range of the data."""
    return {"hot-range": f"{data:.0%}", "hot-share": f"{share:.0%}"}


def make_options_of_one_device_per_data_class(
    pages: int, op: int, classes: tuple[forms.Class, forms.Class]
) -> tuple[tuple[Options, Options], float]:
    """Return the options of two devices that split the space best, and the amplification."""
    one = partial(forms.windowed_greedy_amplification, pages=pages, share=1)
    best, space = forms.find_best_space_split_between_classes(1 - op / 100, classes, one)
    made = []
    for share, (data, _) in ((space, classes[0]), (1 - space, classes[1])):
        blocks = round(2 * PAGES / pages * share)
        load = (1 - op / 100) * data * 2 * PAGES / pages / blocks
        made.append(random_write_options(pages, op, blocks=blocks + KEPT) | {
            "op": f"{100 * (1 - load * blocks / (blocks + KEPT)):.2f}%"})
    return (made[0], made[1]), best


def return_constant_theory_value(value: float, _: Sequence[Json]) -> float:
    """Return a closed form whose value is the same for every device."""
    return value


def compute_amplification_of_data_classes(classes: Sequence[forms.Class],
                                          runs: Sequence[Json]) -> float:
    """Return the write amplification of data classes on devices of their own."""
    pairs = zip(classes, runs, strict=True)
    return sum(writes * compute_unrounded_amplification(run) for (_, writes), run in pairs)


def make_rows_for_data_classes() -> Iterator[Row]:
    """Yield rows of hot and cold data, and of data that is never written."""
    pages = 64
    for data, share in ((0.2, 0.8), (0.05, 0.5), (0.1, 0.9)):
        classes = ((data, share), (1 - data, 1 - share))
        text = f"{share:.0%} of writes to {data:.0%} of data, "
        name = f"{share * 100:.0f}-{data * 100:.0f}"
        for op in (10, 20):
            mixed = random_write_options(pages, op, (10, 10)) | skewed_write_options(data, share)
            wrong: Options = {"op": f"{op * 1.15:g}%"}
            yield Row(f"mixed-fifo-{name}-{op}", f"{text}op {op} %", "FIFO, mixed",
                      (mixed | {"victim": "fifo"},),
                      make_valid_share_formula(partial(forms.fifo_amplification_of_mixed_data,
                                                       classes=classes)),
                      partial(measure_first_run, compute_unrounded_amplification), 0.02,
                      forms.fifo_amplification_of_mixed_data(1 - op / 100, classes),
                      ({"hot-share": f"{share * 0.8:.0%}"}, wrong))
        op, few = 10, 16
        if data > 0.05:
            yield Row(f"mixed-d10-{name}-{op}", f"{text}op {op} %, {few} pages",
                      "d-choices, mixed",
                      (random_write_options(few, op, (10, 10),
                                            victim="d_choices") | {"victim_choices": 10}
                       | skewed_write_options(data, share),),
                      make_valid_share_formula(partial(
                          forms.d_choices_amplification_of_mixed_data, pages=few, drawn=10,
                          classes=classes)),
                      partial(measure_first_run, compute_unrounded_amplification), 0.02,
                      controls=({"victim": "fifo"}, {"op": f"{op * 1.15:g}%"}))
        two, best = make_options_of_one_device_per_data_class(pages, op, classes)
        yield Row(f"optimum-{name}-{op}", f"{text}op {op} %, each alone", "optimum", two,
                  partial(return_constant_theory_value, best),
                  partial(compute_amplification_of_data_classes, classes), 0.02,
                  controls=({"victim": "d_choices", "victim_choices": 4},))
        # The form is that of many blocks of each class. The smaller class has 205 of these.
        streams = random_write_options(pages, op, (16, 12), policy="streams", blocks=4096)
        yield Row(f"streams-{name}-{op}", f"{text}op {op} %, two streams", "greedy, streams",
                  (streams | skewed_write_options(data, share) | {"hot-stream": 1},),
                  make_valid_share_formula(partial(forms.windowed_greedy_amplification, pages=pages,
                                                   share=1), KEPT + 0.5),
                  partial(measure_first_run, compute_unrounded_amplification), 0.02,
                  controls=({"policy": "baseline"},))
    yield from make_rows_for_read_only_data(pages)


def make_rows_for_read_only_data(pages: int) -> Iterator[Row]:
    """Yield rows where a part of the data is never written."""
    for active in (0.5, 0.75):
        op = 10
        text = f"{1 - active:.0%} of data never written, op {op} %"
        some = random_write_options(pages, op, (6, 6)) | {"footprint": f"{active:.0%}"}
        classes = ((active, 1.0), (1 - active, 0.0))
        yield Row(f"read-only-fifo-{active:g}", f"{text}, mixed", "FIFO, mixed",
                  (some | {"victim": "fifo"},),
                  make_valid_share_formula(partial(forms.fifo_amplification_of_mixed_data,
                                                   classes=classes)),
                  partial(measure_first_run, compute_unrounded_amplification), 0.02,
                  forms.fifo_amplification_of_mixed_data(1 - op / 100, classes),
                  ({"fill": "sequential"}, {"op": f"{op * 1.15:g}%"}))

        def amplification_of_overwritten_data(load: float, active: float = active) -> float:
            return forms.windowed_greedy_amplification(load * active / (1 - load * (1 - active)),
                                                       pages, 1)

        yield Row(f"read-only-greedy-{active:g}", f"{text}, apart", "greedy",
                  (some | {"fill": "sequential"},),
                  make_valid_share_formula(amplification_of_overwritten_data),
                  partial(measure_first_run, compute_unrounded_amplification), 0.02,
                  amplification_of_overwritten_data(1 - op / 100),
                  ({"victim": "fifo"}, {"op": f"{op * 1.15:g}%"}))


# ---------------------------------------------------------------- waiting


def get_mean_request_wait_us(kind: str, run: Json) -> float:
    return float(run["timing"][f"{kind}_waiting"]["mean_ns"]) / 1000


def get_mean_service_us(kind: str, run: Json) -> float:
    return float(run["timing"][f"{kind}_service"]["mean_ns"]) / 1000


def mean_busy_dies(run: Json) -> float:
    """Return the mean number of busy dies, by Little's law."""
    return float(run["requests"] * get_mean_service_us("read", run) / (run["simulated_ns"] / 1000))


def compute_mean_wait_of_request_class(rate: int, shares: dict[str, float], number: int,
                                       runs: Sequence[Json]) -> float:
    """Return a formula: the mean wait of a class of requests, which arrive at a rate per second."""
    return forms.compute_mean_wait_of_each_priority([(share * rate / 1e6,
                                                      get_mean_service_us(kind, runs[0]))
                                                     for kind, share in shares.items()])[number]


def make_rows_for_waiting_times() -> Iterator[Row]:
    """Yield rows of waiting times and of closed queues."""
    reads: Options = DIE | {"word_lines": 64, "blocks": 512, "fill": "sequential",
                            "write-share": 0, "arrival": "open", "requests": 1500000}
    for rate in (5000, 10000, 14000):
        yield Row(f"md1-{rate}", f"reads, {rate} a second, one die", "M/D/1",
                  (reads | {"rate": rate},),
                  partial(compute_mean_wait_of_request_class, rate, {"read": 1.0}, 0),
                  partial(measure_first_run, partial(get_mean_request_wait_us, "read")), 0.01,
                  controls=({"rate": rate * 1.05}, {"arrival-shape": "fixed"}))
    for rate in (3000, 6000, 8000):
        for number, kind in enumerate(("read", "write")):
            yield Row(f"priority-{kind}s-{rate}", f"{kind}s, {rate} requests a second, 20 % writes",
                      "M/G/1",
                      (reads | {"rate": rate, "write-share": "20%", "program": "200us",
                                "blocks": 16384, "op": "90%", "requests": 900000},),
                      partial(compute_mean_wait_of_request_class, rate, {"read": 0.8, "write": 0.2},
                              number),
                      partial(measure_first_run, partial(get_mean_request_wait_us, kind)), 0.01,
                      controls=({"order": "fcfs"}, {"rate": rate * 1.05}))
    for dies, requests in ((4, 4), (4, 16), (8, 4), (8, 8), (8, 16)):
        yield Row(f"closed-{dies}-{requests}", f"busy dies of {dies}, {requests} reads at a time",
                  "closed", (reads | {"channels": dies, "arrival": "closed", "depth": requests,
                                      "requests": 500000},),
                  partial(return_constant_theory_value,
                          forms.compute_busy_dies_with_constant_service(requests, dies)),
                  partial(measure_first_run, mean_busy_dies), 0.01,
                  forms.compute_busy_dies_with_exponential_service(requests, dies),
                  controls=({"depth": requests * 5 // 4},))


# ---------------------------------------------------------------- lifetime


def compute_share_of_possible_lifetime(run: Json) -> float:
    """Return the erases so far by those of a device that wears evenly, as its most worn block."""
    erases = run["blocks"]["erase_count"]
    return float(erases["mean"] / erases["max"])


def compute_least_share_of_lifetime(gap: int, runs: Sequence[Json]) -> float:
    """Return the bound for a device on which no block has `gap` erases less than another."""
    return 1 - gap / float(runs[0]["blocks"]["erase_count"]["max"])


def compute_share_of_blocks_with_writes(written: float, runs: Sequence[Json]) -> float:
    """Return the share of the blocks that hold no static data, if these are apart."""
    geometry = runs[0]["geometry"]
    static = geometry["units"] * (1 - written) / geometry["pages_per_block"]
    return float(1 - static / geometry["blocks"])


#: wear_gap, and the number of erases that a block is behind when its data are moved.
GAP, BEHIND = 64, 57


def compute_percent_of_additional_erases(runs: Sequence[Json]) -> float:
    """Return by how much wear levelling in the second run raises the erases of the first one."""
    without, levelled = (float(run["counters"]["array_erases"]) for run in runs)
    return 100 * (levelled / without - 1)


def compute_bound_of_additional_erases(written: float, runs: Sequence[Json]) -> float:
    static = 1 - compute_share_of_blocks_with_writes(written, runs)
    return 100 * static / (BEHIND - static)


def make_rows_for_static_wear() -> Iterator[Row]:
    """Yield rows of data of which a part is overwritten in order, and the rest never."""
    for written in (25, 50, 75):
        load = DIE | {"word_lines": 64, "blocks": 256, "op": "10%", "policy": "separated",
                      "fill": "sequential", "workload": "sequential", "footprint": f"{written}%",
                      "write-share": 1.0, "warmup": 2000000, "requests": 4000000}
        yield Row(f"static-wear-{written}", f"{written}% of data overwritten, op 10 %, "
                  f"wear_gap {GAP}", "static wear", (load, load | {"wear_gap": GAP}),
                  partial(compute_bound_of_additional_erases, written / 100),
                  compute_percent_of_additional_erases, 0.3, controls=({"wear_gap": 0},))


def make_rows_for_lifetime() -> Iterator[Row]:
    """Yield rows of the writes until the first block has E erases, by E erases of all blocks."""
    measure = partial(measure_first_run, compute_share_of_possible_lifetime)
    for name, text, load in (("uniform", "uniform", {}),
                             ("static-50", "50% of data never written", {"footprint": "50%"}),
                             ("static-25", "25% of data never written", {"footprint": "75%"}),
                             ("90-10", "90% of writes to 10% of data",
                              skewed_write_options(0.1, 0.9))):
        writes = random_write_options(64, 20, blocks=256) | {
            "fill": "sequential", "warmup": 0, "requests": 1200000, **load}
        for gap in (16, 32):
            # Without static data greedy collection wears nearly evenly without levelling.
            uneven = "footprint" in load or (load and gap < 32)
            controls: tuple[Options, ...] = ({"wear_gap": 0},) if uneven else ()
            yield Row(f"lifetime-{name}-{gap}", f"{text}, op 20 %, wear_gap {gap}", "lifetime",
                      (writes | {"wear_gap": gap},), partial(return_constant_theory_value, 1.0),
                      measure, 0.01, controls=controls,
                      floor=partial(compute_least_share_of_lifetime, gap))
        if "footprint" in load:
            written = float(str(load["footprint"]).rstrip("%")) / 100
            yield Row(f"dynamic-wear-{name}", f"{text}, op 20 %", "dynamic wear", (writes,),
                      partial(compute_share_of_blocks_with_writes, written), measure, 0.05,
                      controls=({"wear_gap": 16}, {"fill": "random"}))


# ---------------------------------------------------------------- the table


@cache
def make_all_theory_table_rows() -> dict[str, Row]:
    return {row.name: row for several in (make_rows_for_uniform_writes, make_rows_for_windowed_gc,
                                          make_rows_for_data_classes, make_rows_for_waiting_times,
                                          make_rows_for_lifetime, make_rows_for_static_wear)
            for row in several()}


def simulate_theory_row(row: Row, seeds: str) -> Found:
    runs = [run_simulator(options, seeds) for options in row.runs]
    ours = np.array([row.measure(several) for several in zip(*runs, strict=True)])
    theory = row.theory([one[0] for one in runs])
    mean = float(ours.mean())
    error = row.compute_error(mean, [one[0] for one in runs])
    published = row.floor([one[0] for one in runs]) if row.floor else row.published
    return Found(row.name, row.load, row.form, SOURCES[row.form],
                 [" ".join(["approxftl", *make_simulator_arguments(options), "--seed", seeds])
                  for options in row.runs], published, theory, mean,
                 float(t_interval_half_widths(ours)) if len(ours) > 1 else 0.0, error, row.bar,
                 None if row.bar is None else abs(error) <= row.bar)


def compute_negative_control_errors(row: Row) -> list[tuple[str, float]]:
    """Return the theory's error against runs with each wrong rule or over-provisioning."""
    short: Options = {} if row.floor else {"warmup": 0, "requests": 20000}
    right = [run_simulator(options | short, "1")[0] for options in row.runs]
    return [(" ".join(make_simulator_arguments(control)[1:]),
             row.compute_error(row.measure([run_simulator(options | control, "1")[0]
                                            for options in row.runs]), right))
            for control in row.controls]


def format_cells_of_row(one: Found) -> list[str]:
    digits = 3 if one.theory < 100 else 2
    return [one.name, one.load, "" if one.published is None else f"{one.published:.{digits}f}",
            f"{one.theory:.{digits}f}", f"{one.ours:.{digits}f} ± {one.half:.{digits}f}",
            f"{100 * one.error:+.2f}", "" if one.bar is None else f"{100 * one.bar:g}",
            {None: "", True: "yes", False: "NO"}[one.holds]]


HEAD = ["row", "load", "published", "theory", "ours", "error %", "bar", "met"]


def format_markdown_row(one: Found) -> str:
    """Return a row of the table in docs/theory.md."""
    return f"| {' | '.join(format_cells_of_row(one)[1:])} |\n"


def format_theory_table(found: Sequence[Found]) -> str:
    parts = []
    for form in dict.fromkeys(one.form for one in found):
        parts += ["\n", textwrap.fill(f"The formula **{form}** is {SOURCES[form]}.", 100), "\n\n",
                  f"| {' | '.join(HEAD[1:])} |\n| ---{' | ---:' * (len(HEAD) - 2)} |\n"]
        parts += [format_markdown_row(one) for one in found if one.form == form]
    return "".join(parts) + "\n"


def make_figure_of_uniform_writes(found: Sequence[Found]) -> Figure:
    """Return the drawing of uniform writes: lines for simulated means, hollow marks for theory."""
    series = {"fifo": "FIFO", "d2": "2 choices", "d5": "5 choices", "d10": "10 choices",
              "greedy": "greedy"}
    marks = []
    for one in found:
        rule, _, size = one.name.partition("-")
        if rule not in series:
            continue
        pages, op = size.split("-")
        ours, half, theory = (round(value, 3) for value in (one.ours, one.half, one.theory))
        place = (f"{pages} pages a block", series[rule], int(op))
        marks += [Mark(*place, ours, ours - half, ours + half, 4, "simulator"),
                  Mark(*place, theory, None, None, None, "theory")]
    return Figure("theory", "Write amplification of uniform random writes",
                  "Lines and filled marks: simulator. Hollow marks: theory with the corrections. "
                  "Each colour is a victim selector.",
                  Means("lines", "over-provisioning, %", "write amplification",
                        list(dict.fromkeys(mark.facet for mark in marks)), [*series.values()],
                        sorted({int(mark.x) for mark in marks}), marks, log_y=True))


def check_negative_controls(several: Sequence[Row]) -> int:
    """Print the error for each deliberately wrong setting; return 1 if it meets its tolerance."""
    held = 0
    for row in several:
        for what, error in compute_negative_control_errors(row):
            met = row.bar is not None and abs(error) <= row.bar
            held += met
            print(f"{row.name:24} {what:40} {100 * error:+8.2f} %  "
                  f"{'MEETS THE BAR' if met else 'misses'}", flush=True)
    return 1 if held else 0


def main() -> int:
    """Compare simulator and theory in the table rows that the command line names."""
    parser = argparse.ArgumentParser(description="The simulator beside published forms.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seeds", default="1..4", metavar="M..N", help="seeds of each run")
    parser.add_argument("--controls", action="store_true", help="falsified runs, which must miss")
    parser.add_argument("--document", type=Path, metavar="FILE", help="write the table into it")
    parser.add_argument("names", nargs="*", metavar="ROW", help="rows, or how they begin: fifo d2")
    args = parser.parse_args()
    if not BINARY.is_file():
        sys.exit(f"theory: {BINARY} does not exist: make all")
    # The rows whose names begin with one of these; all without names.
    names = args.names
    for name in names:
        if not any(one.startswith(name) for one in make_all_theory_table_rows()):
            sys.exit(f'theory: no row "{name}"; there are {" ".join(make_all_theory_table_rows())}')
    several = [row for row in make_all_theory_table_rows().values() if not names
               or row.name.startswith(tuple(names))]
    if args.controls:
        return check_negative_controls(several)
    found = [simulate_theory_row(row, args.seeds) for row in several]
    if args.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    else:
        lines = [format_cells_of_row(one) for one in found]
        shown = [i for i in range(len(HEAD)) if i != 1]
        widths = {i: max(len(line[i]) for line in [HEAD, *lines]) for i in shown}
        for form in dict.fromkeys(one.form for one in found):
            print("\n" + textwrap.fill(f"{form}: {SOURCES[form]}", 100) + "\n")
            for line in [HEAD, *(line for line, one in zip(lines, found, strict=True)
                                 if one.form == form)]:
                print("  ".join(line[i].rjust(widths[i]) if i else line[i].ljust(widths[i])
                                for i in shown).rstrip())
    if args.document:
        path = args.document
        before, _, rest = path.read_text().partition(BEGIN)
        path.write_text(f"{before}{BEGIN}{format_theory_table(found)}{END}{rest.partition(END)[2]}")
        save_figure(make_figure_of_uniform_writes(found), "svg", path.with_suffix(".svg"), USUAL)
    return 1 if any(one.holds is False for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
