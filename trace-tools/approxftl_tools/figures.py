# SPDX-License-Identifier: GPL-2.0-only
"""approxftl figures: draw single figures for papers, with their numbers as CSV."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from approxftl_tools import command, figure_file, papers, row_list
from approxftl_tools.figure_file import Style
from approxftl_tools.figure_kinds import KINDS, Kind, draw_figures_of_named_kind
from approxftl_tools.figure_runs import Lacking
from approxftl_tools.inputs import WHAT_FILES_ARE, Inputs, read_inputs
from approxftl_tools.row_list import Column
from approxftl_tools.seeds import average_runs_over_seeds
from approxftl_tools.study_streams import Setting


def make_figures_parser() -> command.Parser:
    parser = command.make_verb_parser(
        "figures", "Draws single figures, as SVG, PDF or PNG, with their numbers as CSV.",
        f"{WHAT_FILES_ARE}\n\nWithout --kind all kinds are drawn for which the files have what "
        "they need.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="what to draw")
    parser.add_argument("--list", action="store_true", help="list the kinds of figure")
    parser.add_argument("--kind", default="", metavar="KIND,...", help="only these kinds")
    parser.add_argument("-O", "--output", type=Path, default=Path("figures"), metavar="DIR",
                        help="where they go (default figures)")
    parser.add_argument("--format", default="svg", choices=figure_file.FORMATS,
                        help="svg (default), pdf or png")
    parser.add_argument("--width", default="", choices=tuple(figure_file.WIDTHS),
                        help="of one column, 3.5 inches, or of two, 7.16 (default: 6.4)")
    parser.add_argument("--style", metavar="STYLE", type=Path,
                        help="width, font, font_size and palette, a TOML file")
    parser.add_argument("--papers", action="store_true",
                        help="the papers' figures, simulated from scratch (minutes); FILE are "
                             "then names of figures, or how they begin")
    parser.add_argument("--full", action="store_true",
                        help="with --papers: longer runs (half an hour)")
    parser.add_argument("--traces", type=Path, metavar="DIR",
                        help="with --papers: real record files of volumes, NAME.aft, in place of "
                             "synthetic ones")
    parser.add_argument("--seed", type=int, metavar="N", help="with --papers: seed (default 1)")
    parser.add_argument("--seeds", type=int, metavar="N",
                        help="with --papers: as many runs of each point, for intervals")
    parser.add_argument("--mounted", type=Path, metavar="DIR",
                        help="with --papers: labelled reports of approxftl app weights, whose "
                             "networks are drawn beside the simulated ones")
    parser.add_argument("--data", action="store_true",
                        help="the numbers of each figure, as CSV beside it")
    row_list.add_list_options(parser)
    command.add_json_option(parser)
    return parser


def find_figure_kinds_by_name(names: str) -> list[Kind]:
    """Return the kinds of figure with the given names; without names all kinds."""
    by_name = {kind.name: kind for kind in KINDS}
    wanted = [name for name in names.split(",") if name]
    for name in wanted:
        if name not in by_name:
            raise command.Refusal(f'there is no kind "{name}"; there are {", ".join(by_name)}',
                                  command.USAGE)
    return [by_name[name] for name in wanted] or list(KINDS)


def write_figures(inputs: Inputs, kinds: Sequence[Kind], args: argparse.Namespace,
                  style: Style) -> int:
    count = 0
    for one in kinds:
        try:
            with command.refuse_malformed_documents(run.path for run in inputs.runs):
                figures = draw_figures_of_named_kind(one, inputs)
        except Lacking as reason:
            if args.kind:
                raise command.Refusal(
                    f"{one.name}: not in {inputs.describe_input_counts()}: {reason}") from None
            continue
        for figure in figures:
            path = args.output / f"{figure.name}.{args.format}"
            figure_file.save_figure(figure, args.format, path, style)
            print(path)
            if args.data:
                command.write_file(path.with_suffix(".csv"), figure.figure_as_csv())
            count += 1
    return count


NAMES = (Column("name", "name", "of the figure, as --kind or --papers takes it", False),
         Column("about", "about", "what it shows", False))


def print_figure_list(args: argparse.Namespace, names: Iterable[tuple[str, str]]) -> int:
    """Print the kinds of figure as a list without a header."""
    args.no_head = True
    row_list.choose_list_columns(args, NAMES).print_list_rows(args, "figures", args.words, [
        {"name": name, "about": title} for name, title in names])
    return command.DONE


def make_paper_figures(args: argparse.Namespace) -> int:
    names = [str(name) for name in args.files]
    if args.list:
        return print_figure_list(args, papers.figure_titles(names))
    seed = 1 if args.seed is None else args.seed
    more = {"base": {"seed": seed}} if args.seeds is None else {"seeds": args.seeds, "seed": seed}
    setting = Setting(args.full, args.traces, args.output / "traces", more)
    style = figure_file.read_figure_style(args.style,
                                          args.width or ("" if args.style else "double"))
    print(papers.make_figures(names, setting, args.output, args.format, style,
                              len(os.sched_getaffinity(0)),
                              lambda line: print(line, flush=True),
                              papers.read_reports_of_stored_networks(args.mounted) if args.mounted
                              else ()))
    return command.DONE


def main(argv: Sequence[str] | None = None) -> int:
    def run_figures() -> int:
        args = make_figures_parser().parse_args(argv)
        args.words = list(sys.argv[1:] if argv is None else argv)
        if not args.list:
            row_list.refuse_list_options_without_list(args, "--list")
            if args.json:
                raise command.Refusal("--json needs --list", command.USAGE)
        for name in ("full", "traces", "seed", "seeds", "mounted"):
            if getattr(args, name) not in (None, False) and not args.papers:
                raise command.Refusal(f"--{name} needs --papers", command.USAGE)
        for name in ("kind", "data"):
            if getattr(args, name) and args.papers:
                raise command.Refusal(f"--{name} and --papers contradict each other", command.USAGE)
        if args.papers:
            return make_paper_figures(args)
        if args.list:
            return print_figure_list(args, [(kind.name, kind.title) for kind in KINDS])
        if not args.files:
            raise command.Refusal('nothing to draw; name files, or "--list" the kinds',
                                  command.USAGE)
        kinds = find_figure_kinds_by_name(args.kind)
        style = figure_file.read_figure_style(args.style, args.width, figure_file.USUAL)
        inputs = average_runs_over_seeds(read_inputs(args.files))
        try:
            args.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise command.Refusal(f"{args.output}: cannot create: {error.strerror}") from error
        if not write_figures(inputs, kinds, args, style):
            raise command.Refusal(
                f"found {inputs.describe_input_counts()}, of which nothing can be drawn")
        return command.DONE

    return command.run_command("figures", run_figures)


if __name__ == "__main__":
    sys.exit(main())
