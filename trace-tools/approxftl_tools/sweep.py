# SPDX-License-Identifier: GPL-2.0-only
"""approxftl sweep: policies, workloads and parameters against each other, from one file."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from approxftl_tools import command, sweep_plan, sweep_table
from approxftl_tools.sweep_engine import Cluster, Engine, Processes
from approxftl_tools.sweep_plan import Plan, Point
from approxftl_tools.sweep_store import DONE, FAILED, MISSING, Store

#: Processes at a time.
MOST_JOBS = 1024
EPILOG = """\
The file is TOML. Keys are options of "approxftl sim"; each combination of what varies is a point.

  [sweep]
  name = "spare space"
  repeat = 3                # so many seeds each, derived from seed
  [base]
  profile = "demo"
  requests = 200000
  fill = "random"
  [vary]
  policy = ["baseline", "approxftl"]
  op = ["7%", "15%", "28%"]
  trace = ["mail.aft", "web.aft"]   # relative to this file
  [[exclude]]
  policy = "approxftl"
  op = "7%"

A point that is done is not run again, by whichever sweep: its directory is named by a digest of
simulator, arguments and files. So a sweep that was stopped, or killed, goes on where it was. Points
that fail do not stop the others; "run --retry" tries them again.

--scheduler gives the points to a Dask cluster, whose workers need the same approxftl in their PATH
and the files at the same places. Who can connect to a Dask scheduler can run any code there: bind
it to an address that only you can reach, or use TLS.

Exit status: 0 done, 1 a point failed, 2 usage, 3 no such file, 130 interrupted.
"""


def jobs(text: str) -> int:
    """Read a number of processes."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f'"{text}" is not from 1 to {MOST_JOBS}')
    return int(text)


def options() -> command.Parser:
    """Return the command line."""
    parser = command.parser("sweep", "Run a simulation for each combination of what varies.",
                            EPILOG)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB",
                                  parser_class=command.Parser)
    add = {name: verbs.add_parser(name, help=text, description=text,
                                  formatter_class=command.wide_help) for name, text in (
        ("run", "run what is missing, and print the table"),
        ("status", "print what is done, failed and missing"),
        ("table", "print the table of what is done"),
        ("export", "print what is missing as commands, for GNU parallel or a batch system"))}
    for one in add.values():
        one.add_argument("file", type=Path, help="the sweep, a TOML file")
        one.add_argument("--out", metavar="DIR", type=Path,
                         help="where results lie (default: beside the file, NAME.results)")
    run = add["run"]
    run.add_argument("--jobs", metavar="N", type=jobs, default=os.cpu_count() or 1,
                     help="processes at a time, up to 1024 (default: as many as processors)")
    run.add_argument("--scheduler", metavar="ADDRESS",
                     help="a Dask scheduler, such as tcp://host:8786")
    run.add_argument("--retry", action="store_true", help="try what failed again, too")
    run.add_argument("--progress", action="store_true", help="even if stderr is no terminal")
    for name in ("run", "table"):
        add[name].add_argument("--measures", metavar="A,B,...", help="columns of the table")
        add[name].add_argument("--csv", action="store_true", help="print the table as CSV")
    for name in ("run", "table", "status"):
        add[name].add_argument("--json", action="store_true", help="print as JSON")
    return parser


class Progress:
    """A line on a terminal that says how far it is."""

    def __init__(self, total: int, shown: bool) -> None:
        """Begin."""
        self.total, self.shown, self.ended, self.failed = total, shown, 0, 0
        self.begun = time.monotonic()

    def tell(self, failed: bool) -> None:
        """Count a point."""
        self.ended += 1
        self.failed += failed
        if self.shown:
            left = (time.monotonic() - self.begun) / self.ended * (self.total - self.ended)
            sys.stderr.write(f"\r{self.ended} of {self.total} points, {self.failed} failed, "
                             f"about {left:.0f} s left \033[K")
            sys.stderr.flush()

    def close(self) -> None:
        """Leave the line."""
        if self.shown and self.ended:
            sys.stderr.write("\n")


def engine_of(arguments: argparse.Namespace) -> Engine:
    """Return what was asked for."""
    if arguments.scheduler:
        return Cluster(command.program(), arguments.scheduler)
    return Processes(command.program(), arguments.jobs)


def execute(points: Sequence[Point], store: Store, engine: Engine, progress: Progress) -> bool:
    """Run points and keep what comes of them; false if interrupted."""
    try:
        for outcome in engine.outcomes(points):
            if outcome.result is None:
                store.fail(outcome.point, outcome.why)
            else:
                store.succeed(outcome.point, outcome.result)
            progress.tell(outcome.result is None)
    except KeyboardInterrupt:
        return False
    finally:
        engine.stop()
        progress.close()
    return True


def unique(points: Sequence[Point]) -> list[Point]:
    """Return points of different addresses: what differs in name only is run once."""
    return list({point.address: point for point in points}.values())


def complain(plan: Plan, store: Store) -> int:
    """List what failed, and return the exit status."""
    failed = [point for point in plan.points if store.state(point) == FAILED]
    for point in failed:
        sys.stderr.write(f"approxftl-sweep: {point.name()}: {store.why(point)}\n")
    return command.FAILED if failed else command.DONE


def run(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan, store: Store) -> int:
    """Run what is missing."""
    keys = sweep_table.chosen(arguments.measures)
    store.prepare()
    wanted = {MISSING, FAILED} if arguments.retry else {MISSING}
    points = unique([point for point in plan.points if store.state(point) in wanted])
    progress = Progress(len(points), arguments.progress or sys.stderr.isatty())
    whole = execute(points, store, engine_of(arguments), progress)
    print_table(arguments, argv, plan, store, keys)
    status = complain(plan, store)
    if not whole:
        done = sum(store.state(point) == DONE for point in plan.points)
        sys.stderr.write(f"approxftl-sweep: interrupted, {done} of {len(plan.points)} points are "
                         "done; the same command goes on\n")
    return status if whole else command.INTERRUPTED


def print_table(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan, store: Store,
                keys: Sequence[str]) -> None:
    """Print what is done."""
    rows = sweep_table.table(plan, store, keys)
    if arguments.json:
        print(json.dumps({**command.envelope("sweep", argv), "sweep": plan.name, "rows": rows,
                          **absent(plan, store)}, indent=1))
    else:
        sys.stdout.write(sweep_table.as_csv(rows) if arguments.csv else sweep_table.as_text(rows))


def absent(plan: Plan, store: Store) -> dict[str, object]:
    """Return the points that are not in the table."""
    return {"failed": [{"point": dict(point.varied), "why": store.why(point)}
                       for point in plan.points if store.state(point) == FAILED],
            "missing": [dict(point.varied) for point in plan.points
                        if store.state(point) == MISSING]}


def status(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan, store: Store) -> int:
    """Print how far it is."""
    states = Counter(store.state(point) for point in plan.points)
    counts = {state: states[state] for state in (DONE, FAILED, MISSING)}
    if arguments.json:
        print(json.dumps({**command.envelope("sweep", argv), "sweep": plan.name, **counts},
                         indent=1))
    else:
        print(f"{plan.name}: {len(plan.points)} points, "
              + ", ".join(f"{count} {state}" for state, count in counts.items()))
    return complain(plan, store)


def show_table(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan, store: Store) -> int:
    """Print the table."""
    print_table(arguments, argv, plan, store, sweep_table.chosen(arguments.measures))
    states = Counter(store.state(point) for point in plan.points)
    if states[DONE] < len(plan.points):
        sys.stderr.write(f"approxftl-sweep: {states[DONE]} of {len(plan.points)} points are in the "
                         f"table; {states[FAILED]} failed, {states[MISSING]} missing\n")
    return command.DONE


def same_files(point: Point) -> str:
    """Return the part of a command that ends it where files are others than here."""
    program, *others = point.files
    names = [('"$(command -v approxftl)"', program[1]),
             *((shlex.quote(name), digest) for name, digest in others)]
    return "".join(
        f'{{ [ "$(sha256sum <{name} | cut -c1-64)" = {digest} ] || '
        f'{{ echo {name} is another one >&2; false; }}; }} && ' for name, digest in names)


def export(_arguments: argparse.Namespace, _argv: Sequence[str], plan: Plan, store: Store) -> int:
    """Print commands, each of which leaves a result where a sweep looks for it."""
    for point in unique([point for point in plan.points if store.state(point) == MISSING]):
        place = shlex.quote(str(store.place(point).absolute()))
        print(f"{same_files(point)}mkdir -p {place} && "
              f"{point.command()} --quiet --json={place}/result.part && "
              f"mv {place}/result.part {place}/result.json")
    return command.DONE


VERBS = {"run": run, "status": status, "table": show_table, "export": export}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    words = list(sys.argv[1:] if argv is None else argv)

    def body() -> int:
        arguments = options().parse_args(words)
        plan = sweep_plan.read(arguments.file, command.program())
        out = arguments.out or arguments.file.with_suffix(".results")
        return VERBS[arguments.verb](arguments, words, plan, Store(out))

    return command.run("sweep", body)


if __name__ == "__main__":
    sys.exit(main())
