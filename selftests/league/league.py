# SPDX-License-Identifier: GPL-2.0-only
"""A league of policies, by write amplification relative to the offline optimum, with tail latency.

Each entry runs each load with the same seeds. The optimum is the upper end of the simulator's
--yardstick for the same stream: what an offline collector reaches that knows the future.

    league.py                        all built-in entries on all built-in loads
    league.py --policy mine.c        with a policy of your own, in C (.c, .so) or in Python (.py)
    league.py --traces DIR           with every file of DIR as a load
    league.py uniform zipf           loads whose names begin so

Results are kept in the folder of --output, so that a run that was stopped goes on where it was, and
a new entry costs only its own runs.
"""

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / "trace-tools")]

from approxftl_tools import command  # noqa: E402
from approxftl_tools.figure import Dots, Figure  # noqa: E402
from approxftl_tools.measures import BY_KEY, value_as_text  # noqa: E402
from approxftl_tools.page import figure_template_data, render_html_page  # noqa: E402
from approxftl_tools.refusal import Refusal  # noqa: E402
from approxftl_tools.row_list import align_columns  # noqa: E402
from approxftl_tools.statistics import Estimate, estimate_mean  # noqa: E402
from approxftl_tools.study import parse_job_count  # noqa: E402
from approxftl_tools.study_engine import Processes  # noqa: E402
from approxftl_tools.study_plan import (  # noqa: E402
    Point,
    derive_seeds,
    identify_simulator,
    make_study_point,
)
from approxftl_tools.study_run import Progress, run_study_points  # noqa: E402
from approxftl_tools.study_store import DONE, Store  # noqa: E402

Json = dict[str, Any]
Options = tuple[str, ...]
PYTHON_POLICY = Path(__file__).with_name("python_policy.py")

#: 2,048 blocks of 64 pages on 4 dies. GC waits until it must, and a small buffer absorbs little.
DEVICE = ("--channels=2", "--layers=16", "--word_lines=4", "--blocks=512", "--page=4KiB",
          "--op=12%", "--gc=0%", "--gc_idle_valid=0%", "--buffer=256KiB", "--depth=8",
          "--arrival=closed")
#: Victim selectors on one log, then policies that separate data.
ENTRIES: dict[str, Options] = {
    **{f"baseline, {victim}": ("--policy=baseline", f"--victim={victim}")
       for victim in ("greedy", "cost_benefit", "fifo", "d_choices", "windowed")},
    **{f"{policy}, {victim}": (f"--policy={policy}", f"--victim={victim}")
       for policy in ("separated", "streams") for victim in ("greedy", "cost_benefit")},
    "sepbit": ("--policy=sepbit",),
    "midas": ("--policy=midas",),
}
WRITES = "--write-share=70%"
LOADS: dict[str, Options] = {
    "uniform": (WRITES,),
    "80-20": (WRITES, "--hot-share=80%", "--hot-range=20%"),
    "90-10": (WRITES, "--hot-share=90%", "--hot-range=10%", "--scatter"),
    "80-20 with hints": (WRITES, "--hot-share=80%", "--hot-range=20%", "--hot-stream=1"),
    "zipf 0.9": (WRITES, "--workload=zipf"),
    "zipf 1.2": (WRITES, "--workload=zipf", "--zipf-skew=1.2"),
    "sequential": (WRITES, "--workload=sequential"),
    "zones": (WRITES, "--workload=zones", "--zone-size=8MiB", "--open-zones=8"),
    "drift": (WRITES, "--workload=drift", "--drift-requests=50000"),
    "read-only part": (WRITES, "--footprint=50%"),
    "discards": (WRITES, "--discard-share=10%"),
    "mixed sizes": (WRITES, "--size=4KiB:70,64KiB:30", "--hot-share=50%", "--hot-range=10%"),
}
MEASURES = ("write_amplification", "write_response_p99_ns", "write_response_p99_9_ns",
            "read_response_p99_ns", "read_response_p99_9_ns")


@dataclass(frozen=True)
class Cell:
    """The results of an entry on a load: its ratio to the offline optimum, and its measures."""

    entry: str
    load: str
    factor: Estimate | None
    measures: Mapping[str, Estimate]
    why: str = ""


@dataclass(frozen=True)
class Games:
    """The simulations of a league by entry, load and seed, and those that find the optimum."""

    entries: dict[str, Options]
    loads: dict[str, Options]
    seeds: Sequence[int]
    points: dict[tuple[str, str, int], Point]
    yardsticks: dict[tuple[str, int], Point]

    def list_league_simulations(self) -> list[Point]:
        """Return all simulations of the league, first those that find the optimum."""
        return [*self.yardsticks.values(), *self.points.values()]


def make_league_workload_of_each_trace(folder: Path | None,
                                       requests: int) -> Iterator[tuple[str, Options]]:
    """Yield a load for each trace file of a folder; a short trace is repeated."""
    if not folder:
        return
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if not files:
        raise Refusal(f"{folder}: no traces in it", command.NOT_FOUND)
    for path in files:
        yield path.name, (f"--trace={path.absolute()}", "--fold", "--repeat=1000",
                          f"--requests={requests}")


def compile_policy_of_user(source: Path, folder: Path) -> Path:
    """Compile a policy in C into a shared object, as docs/policy-in-an-hour.md does."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{source.stem}.so"
    done = subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-I",
                           TOP / "dm-approxftl", "-I", TOP / "userspace/host", "-o", made, source],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refusal(f"{source}: does not compile: {(done.stderr.splitlines() or [''])[-1]}",
                      command.FAILED)
    return made


def make_league_entry_of_each_policy_file(files: Sequence[Path],
                                          folder: Path) -> Iterator[tuple[str, Options]]:
    """Yield an entry of the league for each policy: a C or Python file, or a shared object."""
    for path in files:
        if not path.is_file():
            raise Refusal(f"{path}: no such file", command.NOT_FOUND)
        if path.suffix not in (".c", ".py", ".so"):
            raise Refusal(f"{path}: a policy is a file .c, .py or .so", command.USAGE)
        made = compile_policy_of_user(path, folder) if path.suffix == ".c" else path
        yield path.name, (f"--policy={made.absolute()}",)


class Players(Processes):
    """The engine of the league: policies in Python run in a process of the simulator's library."""

    def run_point_once(self, point: Point) -> tuple[int, str, str]:
        """Run a point once; return exit status, stdout and stderr."""
        if not is_entry_in_python(point.arguments):
            return super().run_point_once(point)
        return self.children.run_program([sys.executable, PYTHON_POLICY, *point.arguments],
                                         memory=self.memory)


def is_entry_in_python(arguments: Sequence[str]) -> bool:
    return any(word.startswith("--policy=") and word.endswith(".py") for word in arguments)


def make_all_league_simulations(arguments: argparse.Namespace, program: Path) -> Games:
    """Return the simulations of each entry on each load with each seed, and of the optimum."""
    own = identify_simulator(program)
    length = (f"--warmup={3 * arguments.requests // 2}", f"--requests={arguments.requests}")
    loads = {name: (*options, *length) for name, options in LOADS.items()} | {
        name: (*options, length[0]) for name, options in
        make_league_workload_of_each_trace(arguments.traces, arguments.requests)}
    loads = {name: options for name, options in loads.items()
             if not arguments.loads or name.startswith(tuple(arguments.loads))}
    if not loads:
        raise Refusal(f"no such load; there are {', '.join(LOADS)}", command.USAGE)
    entries = ENTRIES | dict(make_league_entry_of_each_policy_file(
        arguments.policy, arguments.output / "policies"))
    seeds = [int(seed) for seed in derive_seeds(1, arguments.seeds)]

    def make_league_simulation(options: Options, load: str, entry: str, seed: int) -> Point:
        return make_study_point(own, (*DEVICE, *options, *loads[load], f"--seed={seed}"),
                                (("entry", entry), ("load", load), ("seed", seed)))
    return Games(entries, loads, seeds, {
        (entry, load, seed): make_league_simulation(options, load, entry, seed)
        for load in loads for entry, options in entries.items() for seed in seeds}, {
        (load, seed): make_league_simulation(("--yardstick=optimum",), load, "optimum", seed)
        for load in loads for seed in seeds})


def read_simulation_result(store: Store, point: Point) -> Json | None:
    """Return the result of a simulation; None if it failed or has not run."""
    if store.state_of_point(point) != DONE:
        return None
    run: Json = store.read_point_result(point)["runs"][0]
    return run


def estimate_measures_of_all_runs(runs: Sequence[Json]) -> dict[str, Estimate]:
    found = {}
    for key in MEASURES:
        values = [BY_KEY[key].value(run) for run in runs]
        if None not in values:
            found[key] = estimate_mean(values, key.endswith("_ns"))
    return found


def collect_results_of_league_entry(games: Games, store: Store, entry: str, load: str) -> Cell:
    """Return the results of a league entry (a policy or selector) on a workload."""
    points = [games.points[entry, load, seed] for seed in games.seeds]
    runs = [run for point in points if (run := read_simulation_result(store, point))]
    bounds = [run["yardstick"] for seed in games.seeds
              if (run := read_simulation_result(store, games.yardsticks[load, seed]))]
    if len(runs) < len(points):
        return Cell(entry, load, None, {}, next(
            store.read_point_failure(point) for point in points
            if store.state_of_point(point) != DONE))
    factor = None
    if len(bounds) == len(runs) and all(bound.get("reached") for bound in bounds):
        factor = estimate_mean([run["write_amplification"]["total"] / bound["reached"]
                                for run, bound in zip(runs, bounds, strict=True)])
    return Cell(entry, load, factor, estimate_measures_of_all_runs(runs))


def rank_league_entries(games: Games,
                        cells: Mapping[tuple[str, str], Cell]) -> list[tuple[str, float, int]]:
    """Return each entry, its mean ratio to the optimum, and on how many loads it is the best."""
    rows = []
    best = {load: min((one.factor.mean for entry in games.entries
                       if (one := cells[entry, load]).factor), default=math.nan)
            for load in games.loads}
    for entry in games.entries:
        factors = {load: found.mean for load in games.loads
                   if (found := cells[entry, load].factor)}
        mean = math.exp(sum(map(math.log, factors.values())) / len(factors)) \
            if len(factors) == len(games.loads) else math.nan
        rows.append((entry, mean, sum(value == best[load] for load, value in factors.items())))
    return sorted(rows, key=lambda row: (math.isnan(row[1]), row[1], row[0]))


def make_rows_of_optimum_bounds(games: Games, store: Store) -> list[list[str]]:
    """Return table rows with the lower and upper bound of the optimum of each load."""
    rows = []
    for load in games.loads:
        bounds = [run["yardstick"] for seed in games.seeds
                  if (run := read_simulation_result(store, games.yardsticks[load, seed]))]
        rows.append([load, *(format_estimate(estimate_mean([bound[key] for bound in bounds]))
                             if bounds and all(key in bound for bound in bounds) else "\u2013"
                             for key in ("lower", "reached"))])
    return rows


def format_estimate(found: Estimate | None, key: str = "") -> str:
    """Return an estimate as text with the half width of its confidence interval."""
    if not found:
        return "\u2013"
    if key.endswith("_ns"):
        half = f" \u00b1{100 * found.half / found.mean:.2g} %" if found.half and found.mean else ""
        return value_as_text(BY_KEY[key], found.mean) + half
    return f"{found.mean:.3f}" + ("" if found.half is None else f" \u00b1{found.half:.3f}")


def make_table_of_measure(games: Games, order: Sequence[str], cells: Mapping[tuple[str, str], Cell],
                          key: str) -> list[list[str]]:
    """Return a table of a measure, or of ratios to the optimum, with loads as rows."""
    return [[load, *(format_estimate(cells[entry, load].measures.get(key) if key else
                                     cells[entry, load].factor, key) for entry in order)]
            for load in games.loads]


def make_ranking_rows(rows: Sequence[tuple[str, float, int]], loads: int) -> list[list[str]]:
    """Return the ranking of the entries as text."""
    return [[str(place), entry, "failed" if math.isnan(mean) else f"{mean:.3f}",
             f"{best} of {loads}"] for place, (entry, mean, best) in enumerate(rows, 1)]


STANDING = ("place", "entry", "factor", "best on")
OPTIMUM = ("load", "no less is possible", "with knowledge of the future")


def format_league_text(games: Games, store: Store, cells: Mapping[tuple[str, str], Cell]) -> str:
    """Return the tables as text, with the entries in the order of the ranking."""
    rows = rank_league_entries(games, cells)
    order = [entry for entry, _, _ in rows]
    parts = ["Write amplification as a factor of the optimum, geometric mean over the loads\n",
             align_columns([STANDING, *make_ranking_rows(rows, len(games.loads))],
                           [True, False, True, True]), "\nThe optimum: write amplification\n",
             align_columns([OPTIMUM, *make_rows_of_optimum_bounds(games, store)],
                           [False, True, True]),
             "\nFactors, with intervals of 95 % over the seeds\n"]
    for begin in range(0, len(order), 4):
        shown = order[begin:begin + 4]
        parts.append(align_columns([("load", *shown),
                                    *make_table_of_measure(games, shown, cells, "")],
                                   [False, *[True] * len(shown)]) + "\n")
    return "".join([*parts, *list_failed_policies(cells)])


def list_failed_policies(cells: Mapping[tuple[str, str], Cell]) -> list[str]:
    """Return a line for each league entry and workload without a result."""
    return [f"{one.entry} on {one.load}: no result: {one.why}\n" for one in cells.values()
            if one.why]


def make_league_json(games: Games, store: Store, cells: Mapping[tuple[str, str], Cell],
                     argv: Sequence[str]) -> Json:
    return {**command.make_common_keys_of_json_documents("league", argv),
            "standing": [{"entry": entry, "factor": None if math.isnan(mean) else mean,
                          "best_on": best}
                         for entry, mean, best in rank_league_entries(games, cells)],
            "optimum": [dict(zip(("load", "lower", "reached"), row, strict=True))
                        for row in make_rows_of_optimum_bounds(games, store)],
            "cells": [{"entry": one.entry, "load": one.load,
                       "factor": asdict(one.factor) if one.factor else None,
                       **{key: asdict(value) for key, value in one.measures.items()},
                       **({"why": one.why} if one.why else {}),
                       "command": games.points[one.entry, one.load, games.seeds[0]].shell_command()}
                      for one in cells.values()]}


def make_league_page(games: Games, store: Store, cells: Mapping[tuple[str, str], Cell]) -> str:
    rows = rank_league_entries(games, cells)
    order = [entry for entry, _, _ in rows]
    figure = Figure("factors", "Write amplification as a factor of the optimum",
                    "Means over the seeds with their intervals of 95 %.",
                    Dots([*games.loads], [(entry, [cells[entry, load].factor
                                                   for load in games.loads]) for entry in order],
                         "factor", 1.0))
    first = games.points[order[0], next(iter(games.loads)), games.seeds[0]]
    tables = [{"caption": "Standing", "head": STANDING, "first": True,
               "rows": make_ranking_rows(rows, len(games.loads))},
              {"caption": "The optimum: write amplification", "head": OPTIMUM, "first": True,
               "rows": make_rows_of_optimum_bounds(games, store)}]
    tables += [{"caption": BY_KEY[key].title if key else "factor of the optimum",
                "first": not key, "head": ["load", *order],
                "rows": make_table_of_measure(games, order, cells, key)}
               for key in ("", *MEASURES)]
    return render_html_page(
        "study.html", "A league of policies", text=__doc__.partition("\n\n    league.py")[0],
        answer=f"{order[0]} is first, with {rows[0][1]:.3f} times the write amplification of the "
               "optimum in the geometric mean.",
        said=[line.strip() for line in list_failed_policies(cells)],
        figures=[figure_template_data(figure)], tables=tables,
        points=len(games.list_league_simulations()), runs=len(games.list_league_simulations()),
        count=len(cells), first=" ".join(first.arguments))


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="A league of policies.")
    parser.add_argument("loads", nargs="*", metavar="LOAD", help="loads, or how they begin")
    parser.add_argument("--policy", action="append", type=Path, default=[], metavar="FILE",
                        help="an entry of your own, FILE.c, FILE.py or FILE.so; may be repeated")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="its files are loads, too")
    parser.add_argument("--seeds", type=parse_job_count, default=3, metavar="N", help="default 3")
    parser.add_argument("--requests", type=int, default=300000, metavar="N",
                        help="of each run, after half as many again of warm-up")
    parser.add_argument("--jobs", type=parse_job_count, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--output", type=Path, default=TOP / "build/league", metavar="DIR",
                        help="results, league.txt, league.json and league.html go there")
    parser.add_argument("--progress", action="store_true", help="even if stderr is no terminal")
    return parser.parse_args(argv)


def run_league(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Run the league's simulations that have no result yet, and write the outputs."""
    program = command.simulator_path()
    store = Store(arguments.output / "results")
    games = make_all_league_simulations(arguments, program)
    store.create_result_directory()
    missing = [point for point in games.list_league_simulations()
               if store.state_of_point(point) != DONE]
    progress = Progress(len(missing), arguments.progress or sys.stderr.isatty())
    if not run_study_points(missing, store, Players(program, arguments.jobs), progress):
        raise KeyboardInterrupt
    cells = {(entry, load): collect_results_of_league_entry(games, store, entry, load)
             for entry in games.entries for load in games.loads}
    text = format_league_text(games, store, cells)
    command.write_file(arguments.output / "league.txt", text)
    command.write_json_document(arguments.output / "league.json",
                                make_league_json(games, store, cells, argv))
    command.write_file(arguments.output / "league.html", make_league_page(games, store, cells))
    sys.stdout.write(f"{text}\n{arguments.output / 'league.html'}\n")
    return command.FAILED if list_failed_policies(cells) else command.DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the league that the command line describes."""
    words = list(sys.argv[1:] if argv is None else argv)
    return command.run_command("league", lambda: run_league(parse_arguments(words), words))


if __name__ == "__main__":
    sys.exit(main())
