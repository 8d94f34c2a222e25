# SPDX-License-Identifier: GPL-2.0-only
"""approxftl report: write an HTML page with tables and figures of all inputs."""

import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from shlex import join
from statistics import geometric_mean
from typing import Any

from approxftl_tools import command, compare, live, measured
from approxftl_tools.figure import Figure, number_as_text
from approxftl_tools.figure_kinds import KINDS, Kind, draw_figures_of_named_kind
from approxftl_tools.figure_runs import (
    Lacking,
    count_workloads_beyond_panel_limit,
    first_run_of_policy,
    list_policies_in_run_order,
)
from approxftl_tools.inputs import (
    WHAT_FILES_ARE,
    Inputs,
    Run,
    add_interruption_to_run_label,
    read_inputs,
)
from approxftl_tools.measures import compute_ratio_to_base_value
from approxftl_tools.page import DIGITS, figure_template_data, render_html_page
from approxftl_tools.report_words import (
    confidence_interval_rows,
    describe_policy_comparison,
    describe_simulation,
    make_first_sentence_of_report,
)
from approxftl_tools.seeds import average_runs_over_seeds
from approxftl_tools.study_report import make_result_tables_of_folder

Json = dict[str, Any]

#: If a kind has more figures than the first number, only so many are shown.
ALIKE, FIRST = 24, 4
def measures_as_csv(runs: Sequence[Run]) -> str:
    values = [compare.compute_measures_of_run(run) for run in runs]
    shown = compare.drop_empty_measures(values, every=True)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["input", "policy", *(measure.key for measure in shown)])
    writer.writerows([run.group, run.policy, *("" if (value := known[measure.key]) is None else
                                               f"{value:.{DIGITS}g}" for measure in shown)]
                     for run, known in zip(runs, values, strict=True))
    return out.getvalue()


def make_table_of_mean_policy_ratios(inputs: Inputs) -> list[list[str]]:
    """Return a table of the policies' measures as mean ratios to the first policy, header first."""
    others = list_policies_in_run_order(inputs.runs)[1:]
    groups = [inputs.list_runs_in_group(name) for name in inputs.list_run_groups()]
    pairs = {policy: [(compare.compute_measures_of_run(run),
                       compare.compute_measures_of_run(group[0]))
                      for group in groups if (run := first_run_of_policy(group, policy))]
             for policy in others}
    lines = [["", *others]]
    values = [ours for found in pairs.values() for ours, _ in found]
    for measure in compare.drop_empty_measures(values, every=False):
        cells = []
        for found in pairs.values():
            ratios = [one for ours, base in found
                      if (one := compute_ratio_to_base_value(ours[measure.key], base[measure.key]))]
            cells.append(f"{geometric_mean(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
                         if ratios else number_as_text(None))
        lines.append([measure.title, *cells])
    return lines


def make_tables_of_report(inputs: Inputs) -> Json:
    """Return a report's tables: comparisons of runs, all measures, and inputs other than runs."""
    many = count_workloads_beyond_panel_limit(inputs)
    over = {"lines": make_table_of_mean_policy_ratios(inputs),
            "measures": measures_as_csv(inputs.runs),
            "caption": f"{many} inputs: how many times that of the first policy a measure is; "
                       "geometric mean, least and most"} if many else None
    blocks = []
    for runs in compare.group_runs_for_comparison(inputs) if not many else ():
        rows, beside = (confidence_interval_rows, ", and intervals of 95 %") if runs[0].seeds else \
            (compare.comparison_rows, "")
        caption = (f"{runs[0].group}; beside a value how many times that of {runs[0].label} it is"
                   f"{beside}")
        blocks.append((rows(runs, every=False), rows(runs, every=True), caption))
    alone = [one for one in inputs.devices
             if not measured.is_device_in_policy_comparison(inputs, one)]
    return {"over": over, "blocks": blocks, "failures": compare.list_failed_policies(inputs),
            "replays": [(compare.make_short_replay_report_rows(one),
                         compare.make_replay_latency_rows(one),
                         compare.make_key_value_rows(
                             one.label, compare.list_replay_report_values(one)))
                        for one in inputs.replays],
            "measured": [([["", *table.labels], *table.format_values_and_ratios()[1:]], table.title)
                         for table in measured.make_measurement_tables(inputs)],
            "facts": [("Device", compare.device_table_rows(one)) for one in inputs.devices
                      if one not in alone],
            "others": [*(("Device", compare.device_table_rows(one)) for one in alone),
                       *(("Record file", compare.make_key_value_rows(
                           one.file_label, compare.list_record_file_values(one)))
                         for one in inputs.records),
                       *(("Log of a replay", compare.make_key_value_rows(
                           one.file_label, compare.list_replay_log_values(one)))
                         for one in inputs.logs)]}


def describe_origin_of_document(path: Path, document: Json, what: str) -> list[str]:
    tool = document.get("tool", {})
    kernel = document.get("kernel", {}).get("release", "")
    version = f"{tool.get('version', 'unknown')} {kernel}".strip()
    return [str(path), what, version, str(document.get("profile") or "\u2013"),
            str(document.get("seed", "\u2013")), join(tool.get("argv", []))]


def input_provenance(inputs: Inputs) -> list[list[str]]:
    rows: dict[str, list[str]] = {}
    for run in inputs.runs:
        rows[str(run.path)] = describe_origin_of_document(run.path, run.document, "simulator")
    for device in inputs.devices:
        rows[str(device.path)] = describe_origin_of_document(device.path, device.document, "device")
    for timeline in inputs.timelines:
        rows[str(timeline.path)] = describe_origin_of_document(
            timeline.path, timeline.document, add_interruption_to_run_label("timeline",
                                                                            timeline.document))
    for replay in inputs.replays:
        rows[str(replay.path)] = describe_origin_of_document(replay.path, replay.document, "replay")
    for output in inputs.fio:
        rows[str(output.path)] = [str(output.path), "fio", str(output.data["fio version"]), "", "",
                                  ""]
    for program in inputs.programs:
        rows[str(program.path)] = describe_origin_of_document(program.path, program.document,
                                                              "program")
    for message in inputs.messages:
        rows[str(message.path)] = [str(message.path), f"answer to {message.kind}", "", "", "", ""]
    for file in inputs.records:
        rows[str(file.path)] = [str(file.path), f"records from {file.source_format}", file.tool,
                                "", "", file.provenance]
    for log in inputs.logs:
        rows[str(log.path)] = [str(log.path), f"replay by {log.engine}", log.tool, "", "",
                               log.about]
    return list(rows.values())


def draw_figures(inputs: Inputs) -> tuple[list[tuple[Kind, list[Figure]]], list[tuple[Kind, str]]]:
    """Return the figures by kind, and the reasons why figures are missing."""
    found, lacking = [], []
    for kind in KINDS:
        try:
            figures = draw_figures_of_named_kind(kind, inputs)
        except Lacking as reason:
            lacking.append((kind, str(reason)))
        else:
            found.append((kind, figures if len(figures) <= ALIKE else figures[:FIRST]))
            if len(figures) > ALIKE:
                lacking.append((kind, f"{len(figures) - FIRST} more than the first {FIRST}; a "
                                "report of fewer files has them"))
    return found, lacking


def count_inputs_and_studies(inputs: Inputs, studies: Sequence[Path]) -> str:
    """Return the numbers of input files and studies as text."""
    named = [f"results of a study in {path}" for path in studies]
    return ", ".join([*named,
                      *([inputs.describe_input_counts()] if inputs.runs or not studies else [])])


def render_report_as_html(given: Inputs, studies: Sequence[Path], heading: str,
                          argv: Sequence[str]) -> str:
    inputs = average_runs_over_seeds(given)
    found, lacking = draw_figures(inputs)
    code = live.build_script_bundle() if found else None
    # Names are unique within a kind, but two kinds may share one.
    taken: set[str] = set()
    figures: list[Json] = []
    for figure in (one for _, some in found for one in some):
        unique = figure
        while unique.name in taken:
            unique = replace(unique, name=unique.name + "-more")
        taken.add(unique.name)
        figures.append({**figure_template_data(unique, live.specification_as_json(unique) if code
                                               else ""),
                        "first": not figures and unique.name.startswith("ratios")})
    return render_html_page("report.html", heading,
                            bundle=live.make_scripts_of_figure_page(code) if code else None,
                            answer=make_first_sentence_of_report(inputs),
                            simulated=describe_simulation(inputs) if inputs.runs else "",
                            verdicts=describe_policy_comparison(inputs) if inputs.runs else [],
                            summary=count_inputs_and_studies(given, studies), figures=figures,
                            provenance=input_provenance(inputs),
                            studies=[(str(path), make_result_tables_of_folder(path))
                                     for path in studies],
                            lacking=[(kind.title, reason) for kind, reason in lacking],
                            own=f"{command.simulator_version()}: "
                                f"{join(['approxftl', 'report', *argv])}",
                            **make_tables_of_report(inputs))


def make_report_parser() -> command.Parser:
    parser = command.make_verb_parser(
        "report", "Writes one HTML page with tables and figures of everything that it is given.",
        f"{WHAT_FILES_ARE}\n\n"
        "The page needs no network. Figures that cannot be drawn are listed with the option that\n"
        "records what they need; approxftl sim --json=X.json --histogram --block-table "
        "--page-map auto\n--timeline X.timeline.json records everything.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="what to show")
    parser.add_argument("-O", "--output", type=command.output_path, default=Path("report.html"),
                        metavar="FILE",
                        help="the page, - for standard output (default report.html)")
    parser.add_argument("--title", default="approxftl report", metavar="TEXT",
                        help="its title")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)

    def run_report() -> int:
        args = make_report_parser().parse_args(given)
        command.CLAIMS.claim_output(args.output, "--output")
        studies = [path for path in args.files
                   if path.is_dir() and any(path.glob("*/point.json"))]
        inputs = read_inputs([path for path in args.files if path not in studies])
        with command.refuse_malformed_documents(args.files):
            page_ = render_report_as_html(inputs, studies, args.title, given)
        command.write_file(args.output, page_)
        if args.output != command.STANDARD:
            print(f"{args.output}: {count_inputs_and_studies(inputs, studies)}")
        return command.DONE

    return command.run_command("report", run_report)


if __name__ == "__main__":
    sys.exit(main())
