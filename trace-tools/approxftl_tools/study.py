# SPDX-License-Identifier: GPL-2.0-only
"""approxftl study: simulate all combinations of policies, workloads and parameters of a file."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from approxftl_tools import (
    command,
    figure_file,
    row_list,
    study_optimise,
    study_pack,
    study_plan,
    study_report,
    study_schema,
    study_table,
)
from approxftl_tools.fio_output import parse_fio_size
from approxftl_tools.statistics import estimate_sample_size
from approxftl_tools.study_cluster import Cluster
from approxftl_tools.study_engine import Engine, Processes
from approxftl_tools.study_figure import draw_figure_of_study, figure_specs
from approxftl_tools.study_plan import Plan
from approxftl_tools.study_queue import (
    TIME_LIMIT,
    Queue,
    make_commands_that_store_results,
    write_job_array,
)
from approxftl_tools.study_run import Progress, distinct_points, run_study_points
from approxftl_tools.study_store import DONE, FAILED, MISSING, Store
from approxftl_tools.study_streams import Setting
from approxftl_tools.study_table import Group

#: Upper limit of --jobs and --chunk.
MOST_JOBS = 1024
EPILOG = """\
The file is TOML. Keys of [base] and [vary] are options of "approxftl sim"; each combination of the
values in [vary] is a point, which is run with each of the seeds.

  study = 1
  seeds = 8                   # or until = "2%": as many as it takes
  relative_to = "baseline"    # ratios of runs that have the same seed
  [base]
  requests = 200000
  fill = "random"
  [vary]
  policy = ["baseline", "approxftl"]
  op = ["7%", "15%", "28%"]
  [[figure]]
  x = "op"
  y = "write_response_mean_ns"
  relative_to = "baseline"

A finished point is not run again by any study: its directory is named by a digest of simulator,
arguments and files. So a study that was stopped, or killed, continues. A failed point does not stop
the other points; "run --retry" runs failed points again.

With [optimise], "study optimise" looks for the values of options with which a measure is best, by
trials that Optuna proposes. A trial's value is the mean over all combinations and seeds. The runs
of trials are stored like points, so that the same command continues an interrupted search.

  [optimise]
  minimise = "write_response_p99_ns"     # or maximise
  trials = 40
  together = 4                # trials proposed before their results are known
  [optimise.range]
  op = { from = 7, to = 28, unit = "%" } # and step, or log = true; 7.0: numbers between, too
  victim = ["greedy", "cost_benefit"]

--scheduler gives the points to a Dask cluster, whose workers get the files that they need, and need
the same approxftl in their PATH. Everyone who can connect to a Dask scheduler can run any code
there: bind it to an address that only you can reach, or use TLS: --tls names a folder of ca.pem,
cert.pem, key.pem. With --memory a point that needs more memory fails; if workers were started with
--resources memory=BYTES, each runs only as many points at a time as its memory permits.

Exit status: 0 done, 1 a point failed, 2 usage, 3 no such file, 4 not verified, 130 interrupted.
"""


def parse_job_count(text: str) -> int:
    """Parse the number of processes of --jobs."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f'"{text}" is not from 1 to {MOST_JOBS}')
    return int(text)


def parse_memory(text: str) -> int:
    try:
        size = parse_fio_size(text)
    except ValueError:
        size = 0
    if not 0 < size < 2**62:
        raise argparse.ArgumentTypeError(f'"{text}" is no size such as 2GiB')
    return size


VERB_HELP = (
    ("run", "run what is missing, and print the table"),
    ("status", "print what is done, failed and missing"),
    ("table", "print means, intervals and ratios of what is done"),
    ("figure", "draw the figures of the study, with their numbers beside them"),
    ("report", "make one page of the table and the figures"),
    ("pack", "put the study, its files and its results into one archive"),
    ("verify", "run an archive's study again, and compare to the last byte"),
    ("export", "print what is missing as commands, or as a job array of Slurm"),
    ("optimise", "look for the values with which a measure is best, as [optimise] says"),
    ("schema", "print the JSON Schema of study files, for editors"))


def make_study_parser() -> command.Parser:
    parser = command.make_verb_parser("study",
                                      "Run a simulation for each combination of what varies.",
                                      EPILOG)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB",
                                  parser_class=command.Parser)
    add = {name: verbs.add_parser(name, help=text, description=text, allow_abbrev=False,
                                  formatter_class=command.make_fixed_width_help_formatter)
           for name, text in VERB_HELP}
    for name, one in add.items():
        archive = name == "verify"
        if name == "schema":
            continue
        one.add_argument("file", type=Path, help="what study pack has written" if archive else
                         "the study, a TOML file")
        if not archive:
            one.add_argument("--results", metavar="DIR", type=Path, dest="out",
                             help="where results lie (default: beside the file, NAME.results)")
            one.accept_old_option_name("--out", "--results")
            one.add_argument("--full", action="store_true",
                             help='of values such as "1000|10000" the second')
            one.add_argument("--traces", metavar="DIR", type=Path,
                             help="record files NAME.aft, in place of those of [synth]")
    for name in ("run", "optimise", "verify"):
        add[name].add_argument("--jobs", metavar="N", type=parse_job_count,
                               default=os.cpu_count() or 1,
                               help="processes at a time, up to 1024 (default: as many as "
                                    "processors)")
    for name in ("run", "optimise"):
        add_run_options(add[name])
    for name in ("run", "table", "report"):
        add[name].add_argument("--measures", metavar="A,B,...",
                               help='columns of the table; "help" lists them')
    for name in ("run", "table"):
        add[name].add_argument("--csv", action="store_true", help="print the table as CSV")
    for name in ("run", "table", "optimise"):
        row_list.add_list_options(add[name])
    for name in ("run", "table", "status", "optimise"):
        command.add_json_option(add[name])
    add_figure_options(add)
    return parser


def add_run_options(run: command.Parser) -> None:
    """Add the options of the verbs, such as run, that run points of a study."""
    run.add_argument("--scheduler", metavar="ADDRESS",
                     help="a Dask scheduler, such as tcp://host:8786")
    run.add_argument("--tls", metavar="DIR", type=Path,
                     help="with --scheduler: ca.pem, cert.pem and key.pem are there")
    run.add_argument("--memory", metavar="SIZE", type=parse_memory, default=0,
                     help="of each point, such as 2GiB; one that needs more fails")
    run.add_argument("--retry", action="store_true", help="try what failed again, too")
    run.add_argument("--progress", action="store_true", help="even if stderr is no terminal")


def add_figure_options(add: Mapping[str, command.Parser]) -> None:
    """Add the options of the verbs, such as figure, that write files."""
    figure = add["figure"]
    figure.add_argument("-O", "--output", metavar="DIR", type=Path, dest="figures",
                        help="where figures go (default: beside the file)")
    figure.accept_old_option_name("--figures", "--output")
    figure.add_argument("--format", default="svg", metavar="A,...",
                        help="of svg (default), pdf and png")
    figure.add_argument("--width", default="", choices=tuple(figure_file.WIDTHS),
                        help="of one column, 3.5 inches (default), or of two, 7.16")
    figure.add_argument("--style", metavar="STYLE", type=Path,
                        help="width, font, font_size and palette, a TOML file")
    for name, what in (("report", "the page (default: beside the file, NAME.html)"),
                       ("pack", "the archive (default: beside the file, NAME.study.tar.gz)")):
        add[name].add_argument("-O", "--output", metavar="FILE", type=command.output_path,
                               help=what)
    export = add["export"]
    export.add_argument("--slurm", metavar="FILE", type=command.output_path,
                        help="write a job array, and FILE.manifest with its commands")
    export.add_argument("--chunk", metavar="N", type=parse_job_count, default=10,
                        help="with --slurm: points of a task, up to 1024 (default 10)")
    export.add_argument("--time", metavar="H:M:S", default="1:00:00", type=parse_time_limit,
                        help="with --slurm: limit of a task (default 1:00:00)")


def parse_time_limit(text: str) -> str:
    """Parse the time limit of --time."""
    if not TIME_LIMIT.fullmatch(text):
        raise argparse.ArgumentTypeError(f'"{text}" is not a time such as 1:00:00')
    return text


def select_study_engine(arguments: argparse.Namespace) -> Engine:
    if arguments.scheduler:
        return Cluster(command.simulator_path(), arguments.scheduler, arguments.memory,
                       arguments.tls)
    if arguments.tls:
        raise command.Refusal("--tls says nothing without --scheduler", command.USAGE)
    return Processes(command.simulator_path(), arguments.jobs, arguments.memory)


def print_failed_points(plan: Plan, store: Store) -> int:
    """Print the failed points of a study, and return the exit status."""
    failed = [point for point in plan.points if store.state_of_point(point) == FAILED]
    for point in failed:
        sys.stderr.write(
            f"approxftl study: {point.point_name()}: {store.read_point_failure(point)}\n")
    return command.FAILED if failed else command.DONE


def estimate_seeds_for_narrow_intervals(plan: Plan, groups: Sequence[Group]) -> int:
    """Return how many seeds the first measure needs for intervals as narrow as "until" asks."""
    measure, rules = plan.rules.measures[0], plan.rules
    wanted = 0
    for group in groups:
        base = study_table.find_group_with_reference_value(group, groups, rules.yardstick)
        found = group.estimate_ratio_to_group(base, measure) if base else \
            group.estimate_mean_over_seeds(measure)
        if found:
            wanted = max(wanted, estimate_sample_size(found, plan.rules.until))
    return wanted


def add_seeds_to_narrow_intervals(plan: Plan, store: Store, seeds: int) -> tuple[Plan, int]:
    """Return the plan with as many seeds as its results show to be needed, at most 2 x `seeds`."""
    if not plan.rules.until or any(store.state_of_point(point) != DONE for point in plan.points):
        return plan, seeds
    groups = study_table.group_points_ignoring_seed(plan, store)
    wanted = min(estimate_seeds_for_narrow_intervals(plan, groups), 2 * seeds, plan.rules.most)
    if wanted <= seeds:
        return plan, seeds
    return study_plan.read_study(plan.path, command.simulator_path(), wanted, None,
                                 plan.setting), wanted


def enlarge_study_plan_by_needed_seeds(plan: Plan, store: Store) -> tuple[Plan, int]:
    """Return the plan with all seeds that its results and "until" require, and their number."""
    seeds = plan.rules.seeds
    larger, more = add_seeds_to_narrow_intervals(plan, store, seeds)
    while more > seeds:
        plan, seeds = larger, more
        larger, more = add_seeds_to_narrow_intervals(plan, store, seeds)
    return plan, seeds


def run_missing_points(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                       store: Store) -> int:
    """Run a study's missing points; with "until", add seeds until intervals are narrow enough."""
    keys = study_table.choose_measures(arguments.measures, plan)
    row_list.choose_list_columns(arguments, study_table.table_columns(plan, keys))
    store.create_result_directory()
    whole, seeds = True, 0
    plan, now = enlarge_study_plan_by_needed_seeds(plan, store)
    while whole and (now > seeds or not seeds):
        seeds = now or 1
        wanted = {MISSING, FAILED} if arguments.retry else {MISSING}
        points = distinct_points([point for point in plan.points
                                  if store.state_of_point(point) in wanted])
        progress = Progress(len(points), arguments.progress or sys.stderr.isatty())
        whole = run_study_points(points, store, select_study_engine(arguments), progress)
        plan, now = add_seeds_to_narrow_intervals(plan, store, now)
    status = max(print_table_of_finished_points(arguments, argv, plan, store, keys),
                 print_failed_points(plan, store))
    if not whole:
        done = sum(store.state_of_point(point) == DONE for point in plan.points)
        sys.stderr.write(f"approxftl study: interrupted, {done} of {len(plan.points)} points are "
                         "done; the same command goes on\n")
    return status if whole else command.INTERRUPTED


def warn_about_drifting_runs(plan: Plan, groups: Sequence[Group]) -> int:
    """Warn about runs that drift and about wide intervals, and return the exit status."""
    drifting = sum(group.count_drifting_runs() for group in groups)
    runs = sum(len(group.runs) for group in groups)
    if drifting:
        sys.stderr.write(f"approxftl study: {drifting} of {runs} runs were still drifting: longer "
                         "ones, or a longer warmup, have other means\n")
    if plan.rules.until and estimate_seeds_for_narrow_intervals(plan, groups) > plan.rules.most:
        sys.stderr.write(f"approxftl study: {plan.rules.most} seeds are not enough for "
                         f"intervals of {100 * plan.rules.until:g} %\n")
    return command.FAILED if drifting and plan.rules.warmup == "refuse" else command.DONE


def print_table_of_finished_points(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                                   store: Store, keys: Sequence[str]) -> int:
    groups = study_table.group_points_ignoring_seed(plan, store)
    rows = study_table.make_rows_of_means_and_ratios(groups, plan.rules.yardstick, keys)
    choice = row_list.choose_list_columns(arguments, study_table.table_columns(plan, keys))
    if choice.chosen:
        choice.print_list_rows(arguments, "study", argv, rows)
    elif arguments.json:
        command.write_json_document(arguments.json,
                                    {**command.make_common_keys_of_json_documents("study", argv),
                                     "study": plan.name, "rows": rows,
                                     **unfinished_points(plan, store)})
    elif arguments.csv:
        sys.stdout.write(study_table.table_rows_as_csv(rows))
    else:
        shown = keys if arguments.measures else study_table.list_measures_shown_in_figures(plan)
        all_keys = tuple(dict.fromkeys([*shown, *keys]))
        rows = study_table.make_rows_of_means_and_ratios(groups, plan.rules.yardstick, all_keys)
        sys.stdout.write(study_table.format_tables_of_measures(rows, shown))
    return warn_about_drifting_runs(plan, groups)


def unfinished_points(plan: Plan, store: Store) -> dict[str, object]:
    """Return the failed and the missing points of a study."""
    return {"failed": [{"point": dict(point.varied), "why": store.read_point_failure(point)}
                       for point in plan.points if store.state_of_point(point) == FAILED],
            "missing": [dict(point.varied) for point in plan.points
                        if store.state_of_point(point) == MISSING]}


def print_point_states(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                       store: Store) -> int:
    plan, _ = enlarge_study_plan_by_needed_seeds(plan, store)
    states = Counter(store.state_of_point(point) for point in plan.points)
    counts = {state: states[state] for state in (DONE, FAILED, MISSING)}
    if arguments.json:
        command.write_json_document(arguments.json,
                                    {**command.make_common_keys_of_json_documents("study", argv),
                                     "study": plan.name, **counts})
    else:
        print(f"{plan.name}: {len(plan.points)} points, "
              + ", ".join(f"{count} {state}" for state, count in counts.items()))
    return print_failed_points(plan, store)


def describe_outdated_results(plan: Plan, store: Store) -> str:
    """Return a note if stored results came from another build or other options; else empty."""
    own = {store.point_directory(point) for point in plan.points}
    others = sum(path.parent not in own for path in store.root.glob("*/result.json"))
    return (f"; {others} results in {store.root} are of another build or of other options: "
            "study run runs the points again") if others else ""


def print_count_of_absent_points(plan: Plan, store: Store, where: str) -> None:
    """Print how many points of the study have no results and so are missing in the output."""
    states = Counter(store.state_of_point(point) for point in plan.points)
    others = "" if states[DONE] else describe_outdated_results(plan, store)
    if states[DONE] < len(plan.points):
        sys.stderr.write(f"approxftl study: {states[DONE]} of {len(plan.points)} points are in the "
                         f"{where}; {states[FAILED]} failed, {states[MISSING]} missing{others}\n")


def print_table_of_points(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                          store: Store) -> int:
    keys = study_table.choose_measures(arguments.measures, plan)
    plan, _ = enlarge_study_plan_by_needed_seeds(plan, store)
    result = print_table_of_finished_points(arguments, argv, plan, store, keys)
    print_count_of_absent_points(plan, store, "table")
    return result


def parse_figure_formats(text: str) -> list[str]:
    kinds = text.split(",")
    for kind in kinds:
        if kind not in figure_file.FORMATS:
            raise command.Refusal(f'no format "{kind}"; there are {", ".join(figure_file.FORMATS)}',
                                  command.USAGE)
    return kinds


def draw_study_figures(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                       store: Store) -> int:
    kinds = parse_figure_formats(arguments.format)
    style = figure_file.read_figure_style(arguments.style, arguments.width)
    specs = figure_specs(plan)
    if not specs:
        raise command.Refusal(f"{plan.path}: it has no [[figure]]", command.USAGE)
    plan, _ = enlarge_study_plan_by_needed_seeds(plan, store)
    if all(store.state_of_point(point) != DONE for point in plan.points):
        raise command.Refusal(f"{plan.path}: no point is done"
                              f"{describe_outdated_results(plan, store)}")
    groups = study_table.group_points_ignoring_seed(plan, store)
    folder = arguments.figures or plan.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    for spec in specs:
        chart = draw_figure_of_study(plan, spec, groups)
        for kind in kinds:
            command.write_file(folder / f"{spec.name}.{kind}",
                               figure_file.render_figure(chart, kind, style))
            print(folder / f"{spec.name}.{kind}")
        command.write_file(folder / f"{spec.name}.csv", chart.figure_as_csv())
        command.write_file(folder / f"{spec.name}.json", json.dumps(
            {**command.make_common_keys_of_json_documents("study", argv), "figure": {
                "name": chart.name, "title": chart.title, **asdict(chart.plot)}}, indent=1) + "\n")
    print_count_of_absent_points(plan, store, "figures")
    return warn_about_drifting_runs(plan, groups)


def print_written_output(output: Path, what: str) -> None:
    """Print which files were written, unless they went to standard output."""
    if output != command.STANDARD:
        print(f"{output}: {what}")


def write_report_page(arguments: argparse.Namespace, _argv: Sequence[str], plan: Plan,
                      store: Store) -> int:
    keys = study_table.choose_measures(arguments.measures, plan)
    specs = figure_specs(plan)
    plan, _ = enlarge_study_plan_by_needed_seeds(plan, store)
    groups = study_table.group_points_ignoring_seed(plan, store)
    output = arguments.output or plan.path.with_suffix(".html")
    drawn = study_report.draw_figures_of_page(plan, specs, groups, keys)
    command.write_file(output, study_report.make_page_of_study(plan, specs, drawn, groups, keys))
    print_written_output(output, f"{len(groups)} means, {len(drawn)} "
                         f"figure{'s' if len(drawn) != 1 else ''}")
    print_count_of_absent_points(plan, store, "page")
    return warn_about_drifting_runs(plan, groups)


def write_study_archive(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                        store: Store) -> int:
    plan, seeds = enlarge_study_plan_by_needed_seeds(plan, store)
    output = arguments.output or plan.path.with_suffix(".study.tar.gz")
    study_pack.pack_study(plan, seeds, store, output, argv)
    print_written_output(output, f"{len(plan.points)} points")
    return command.DONE


def export_point_commands(arguments: argparse.Namespace, _argv: Sequence[str], plan: Plan,
                          store: Store) -> int:
    """Print the commands of missing points, or write them as a Slurm job array."""
    plan, _ = enlarge_study_plan_by_needed_seeds(plan, store)
    missing = distinct_points([point for point in plan.points
                               if store.state_of_point(point) == MISSING])
    if arguments.slurm is None:
        for line in make_commands_that_store_results(missing, store):
            print(line)
    else:
        write_job_array(Queue(plan.name, arguments.slurm, arguments.chunk, arguments.time), missing,
                        store)
    return command.DONE


def search_best_option_values(arguments: argparse.Namespace, argv: Sequence[str], plan: Plan,
                              store: Store) -> int:
    """Search the option values that optimise a measure, and print the trials."""
    columns = study_optimise.trial_columns(study_optimise.parse_optimise_section_of_study(plan))
    choice = row_list.choose_list_columns(arguments, columns)
    store.create_result_directory()
    search = study_optimise.Search(
        plan, study_optimise.parse_optimise_section_of_study(plan), store, command.simulator_path(),
                                   lambda: select_study_engine(arguments),
        arguments.retry, arguments.progress or sys.stderr.isatty())
    whole = search.run_all_trials()
    if search.shown and search.trials:
        sys.stderr.write("\n")
    if choice.chosen:
        choice.print_list_rows(arguments, "study", argv, study_optimise.trial_rows(search))
    elif arguments.json:
        command.write_json_document(arguments.json,
                                    {**command.make_common_keys_of_json_documents("study", argv),
                                     "study": plan.name, **study_optimise.trials_as_json(search)})
    else:
        sys.stdout.write(study_optimise.trials_as_text(search))
    for trial in search.trials:
        if trial.why:
            sys.stderr.write(f"approxftl study: {trial.values}: {trial.why}\n")
    if not whole:
        sys.stderr.write(f"approxftl study: interrupted, {len(search.trials)} of "
                         f"{search.goal.trials} trials are done; the same command goes on\n")
        return command.INTERRUPTED
    return command.DONE if search.best_trial() else command.FAILED


VERBS = {"run": run_missing_points, "status": print_point_states, "table": print_table_of_points,
         "figure": draw_study_figures, "report": write_report_page, "pack": write_study_archive,
         "export": export_point_commands, "optimise": search_best_option_values}


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)

    def run_study() -> int:
        arguments = make_study_parser().parse_args(words)
        if arguments.verb == "schema":
            command.write_json_document(command.STANDARD, study_schema.study_schema())
            return command.DONE
        command.CLAIMS.claim_input(arguments.file)
        if arguments.verb == "verify":
            return study_pack.verify_archive(arguments.file, command.simulator_path(),
                                             Processes(command.simulator_path(), arguments.jobs))
        out = arguments.out or arguments.file.with_suffix(".results")
        setting = Setting(arguments.full, arguments.traces, out / "traces")
        plan = study_plan.read_study(arguments.file, command.simulator_path(), setting=setting)
        figure_specs(plan)
        if plan.optimise is not None:
            study_optimise.parse_optimise_section_of_study(plan)
        for file in plan.files.values():
            command.CLAIMS.claim_input(file)
        return VERBS[arguments.verb](arguments, words, plan, Store(out))

    return command.run_command("study", run_study)


if __name__ == "__main__":
    sys.exit(main())
