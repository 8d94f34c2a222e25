# SPDX-License-Identifier: GPL-2.0-only
"""approxftl compare: print the results of runs side by side, as ratios to the first run."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from approxftl_tools import aft, command, row_list
from approxftl_tools import measured as outside
from approxftl_tools.figure import Cell
from approxftl_tools.figure_runs import do_inputs_compare_policies
from approxftl_tools.inputs import WHAT_FILES_ARE, Device, Inputs, Run, read_inputs
from approxftl_tools.measured import (
    flatten_document,
    split_key_into_title_and_unit,
    value_with_unit,
)
from approxftl_tools.measures import (
    HEADLINE,
    MEASURES,
    Measure,
    compute_ratio_to_base_value,
    compute_result_measures,
    value_as_text,
)
from approxftl_tools.row_list import Column

Json = dict[str, Any]


QUANTILE = re.compile(r"_p\d+(_\d+)?_ns$")


def group_runs_for_comparison(inputs: Inputs) -> list[list[Run]]:
    """Return lists of runs to compare: one list for each input file with several policies."""
    if do_inputs_compare_policies(inputs):
        return [inputs.list_runs_in_group(name) for name in inputs.list_run_groups()]
    return [inputs.runs] if inputs.runs else []


def compute_measures_of_run(run: Run) -> dict[str, float | None]:
    return compute_result_measures(run.data, run.geometry.get("unit_bytes"))


def drop_empty_measures(tables: Sequence[dict[str, float | None]], every: bool) -> list[Measure]:
    """Return the measures that have a value for at least one run."""
    return [measure for measure in MEASURES
            if (every or measure.key in HEADLINE)
            and any(table[measure.key] is not None for table in tables)
            and (every or measure.key in ("read_flipped_bits", "policy_bugs")
                 or any(table[measure.key] for table in tables))]


def format_value_with_ratio(measure: Measure, value: float | None, base: float | None,
                            first: bool) -> str:
    """Return a table cell: the value and its ratio to the first run."""
    relative = None if first else compute_ratio_to_base_value(value, base)
    said = value_as_text(measure, value)
    # A histogram bin is up to 3 % wide, so a third decimal of a quantile would mean nothing.
    decimals = 2 if QUANTILE.search(measure.key) else 3
    return said if relative is None else f"{said} {relative:.{decimals}f}x"


def comparison_rows(runs: Sequence[Run], every: bool) -> list[list[str]]:
    """Return the rows of the comparison's table, its header first."""
    tables = [compute_measures_of_run(run) for run in runs]
    lines = [["", *(run.label for run in runs)]]
    for measure in drop_empty_measures(tables, every):
        base = tables[0][measure.key]
        lines.append([measure.title,
                      *(format_value_with_ratio(measure, table[measure.key], base, i == 0)
                                       for i, table in enumerate(tables))])
    return lines


def list_failed_policies(inputs: Inputs) -> list[str]:
    """Return a message for each policy that has no result."""
    return [f"{failure.policy}: no result in {failure.path}: {failure.why}"
            for failure in inputs.failures]


def compute_measures_of_device(device: Device) -> dict[str, float | None]:
    """Return the measures that a device snapshot contains."""
    return {key: value for key, value in compute_result_measures(device.data).items()
            if value is not None}


def list_device_snapshot_values(device: Device) -> list[tuple[str, Cell]]:
    """Return names and values of a device snapshot that the simulator does not report."""
    data = device.data
    facts: list[tuple[str, Cell]] = [(key, data[key]) for key in (
        "store", "profile", "policy", "size_bytes", "verdict") if key in data]
    for group in ("blocks", "errors", "late", "block_layer"):
        found = data.get(group)
        if isinstance(found, dict):
            facts += [(f"{group}.{key}", value) for key, value in found.items()]
    facts += [("reason", reason) for reason in data.get("reasons", ())]
    if "samples" in data:
        facts.append(("samples", len(data["samples"])))
    return facts


def make_key_value_row(key: str, value: Cell) -> list[str]:
    """Return a table row with the name of a value and the value in a readable unit."""
    name, unit = split_key_into_title_and_unit(key)
    return [name, value_with_unit(unit, value)]


def make_key_value_rows(label: str, facts: Sequence[tuple[str, Cell]]) -> list[list[str]]:
    return [["", label], *(make_key_value_row(key, value) for key, value in facts)]


def device_table_rows(device: Device) -> list[list[str]]:
    """Return table rows with a device's label and its named values."""
    by_key = {measure.key: measure for measure in MEASURES}
    lines = make_key_value_rows(device.label, list_device_snapshot_values(device))
    lines += [[by_key[key].title, value_as_text(by_key[key], value)]
              for key, value in compute_measures_of_device(device).items()]
    return lines


def list_record_file_values(file: aft.RecordFile) -> list[tuple[str, Cell]]:
    """Return names and values that describe the contents of a record file."""
    facts: list[tuple[str, Cell]] = [
        ("written by", file.tool), ("from", file.source_format), ("records", len(file.records)),
        ("device_bytes", file.device_bytes)]
    if not len(file.records):
        return facts
    operations, classes = file.get_operation_codes_of_records(), file.get_record_column("class")
    t_ns, sectors = file.get_record_column("t_ns"), file.get_record_column("nsect").astype("u8")
    facts.append(("span_ns", int(t_ns.max()) - int(t_ns.min())))
    for i, name in enumerate(aft.OPERATIONS):
        chosen = operations == i
        if chosen.any():
            facts += [(f"{name}_requests", int(chosen.sum())),
                      (f"{name}_bytes", int(sectors[chosen].sum()) * aft.SECTOR)]
    for i, name in enumerate(file.classes):
        facts.append((f"writes of class {name}", int(((operations == 1) & (classes == i)).sum())))
    return facts


def list_replay_log_values(log: aft.ReplayLog) -> list[tuple[str, Cell]]:
    """Return the counters and the mean latencies of a replay's log."""
    facts: list[tuple[str, Cell]] = [("written by", log.tool), ("engine", log.engine),
                                     ("planned_requests", log.planned),
                                     ("done_requests", len(log.entries))]
    if not len(log.entries):
        return facts
    facts += [("failed_requests", int((log.get_log_column("error") != 0).sum())),
              ("lag_mean_ns", float(log.compute_submission_lags_ns().mean())),
              ("lag_max_ns", int(log.compute_submission_lags_ns().max()))]
    for i, name in enumerate(aft.OPERATIONS):
        chosen = log.compute_request_latencies_ns()[log.get_operation_codes_of_records() == i]
        if len(chosen):
            facts += [(f"{name}_requests", len(chosen)), (f"{name}_mean_ns", float(chosen.mean()))]
    for kind in ("precise", "approx"):
        facts += [(f"{kind}_{what}", int(log.get_log_column(f"{kind}_{what}").sum()))
                  for what in ("units", "flips")]
    return facts


def list_replay_report_values(replay: Run) -> list[tuple[str, Cell]]:
    """Return the values of a replay's report that a comparison shows."""
    return [(key, value) for key, value in flatten_document(replay.data)
            if not key.startswith("tool.")]


#: The facts of a replay that its short table shows.
REPLAY_HEADLINE = ("trace", "target", "engine", "interrupted", "planned_requests", "done_requests",
                   "failed_requests", "elapsed_ns", "fidelity.mode", "fidelity.lag.p50_ns",
                   "fidelity.lag.p99_ns", "fidelity.lag.max_ns", "fidelity.late_share",
                   "data.precise.flipped_bits", "data.approximate.flipped_bits", "data.lost_units",
                   "data.misplaced_units", "data.stale_units")


def make_short_replay_report_rows(replay: Run) -> list[list[str]]:
    """Return table rows with the most important values of a replay's report."""
    known = dict(list_replay_report_values(replay))
    rows = [make_key_value_row(key, known[key]) for key in REPLAY_HEADLINE if key in known]
    return [["", replay.label],
            *([name.removeprefix("fidelity, ").removeprefix("data, "), said]
              for name, said in rows)]


LATENCIES = ("requests", "mean_ns", "p50_ns", "p99_ns", "max_ns")


def make_replay_latency_rows(replay: Run) -> list[list[str]]:
    """Return the rows of a latency table by operation and class; empty without requests."""
    rows = [row for row in replay.data.get("latency", ()) if row.get("requests")]
    if not rows:
        return []
    return [["", *(key.removesuffix("_ns") for key in LATENCIES)],
            *([f"{row['op']} {row.get('class', '')}".strip(),
               *(make_key_value_row(key, row.get(key))[1] for key in LATENCIES)]
              for row in rows)]


# ---------------------------------------------------------------- text


def align_text_table(lines: Sequence[Sequence[str]]) -> str:
    """Return an aligned table: names to the left, values to the right."""
    return row_list.align_columns(lines, [False, *[True] * (len(lines[0]) - 1)])


def comparison_as_text(inputs: Inputs, every: bool) -> str:
    parts = []
    groups = group_runs_for_comparison(inputs)
    for runs in groups:
        head = f"{runs[0].group}\n" if len(groups) > 1 else ""
        parts.append(head + align_text_table(comparison_rows(runs, every)))
    if inputs.failures:
        parts.append("".join(f"{line}\n" for line in list_failed_policies(inputs)))
    parts += [align_text_table(table.format_values_and_ratios())
              for table in outside.make_measurement_tables(inputs)]
    parts += [align_text_table(device_table_rows(device)) for device in inputs.devices
              if every or not outside.is_device_in_policy_comparison(inputs, device)]
    parts += [align_text_table(make_key_value_rows(one.label, list_replay_report_values(one)))
              for one in inputs.replays]
    tables = [make_key_value_rows(one.file_label, list_record_file_values(one))
              for one in inputs.records]
    tables += [make_key_value_rows(one.file_label, list_replay_log_values(one))
               for one in inputs.logs]
    parts += map(align_text_table, tables)
    return "\n".join(parts)


# ---------------------------------------------------------------- JSON


def convert_run_to_json(run: Run, base: Run) -> Json:
    """Return a run's measures, with their ratios to the first run, as a JSON object."""
    values, bases = compute_measures_of_run(run), compute_measures_of_run(base)
    known = {key: value for key, value in values.items() if value is not None}
    return {
        "label": run.label,
        "policy": run.policy,
        "profile": run.document.get("profile"),
        "seed": run.document.get("seed"),
        "file": str(run.path),
        "argv": run.document.get("tool", {}).get("argv"),
        "base": base.label,
        "interrupted": bool(run.data.get("interrupted")),
        "measures": known,
        "relative": {key: relative for key, value in known.items()
                     if (relative := compute_ratio_to_base_value(value, bases[key])) is not None},
    }


def convert_key_values_to_json(name: str, path: Path, facts: Sequence[tuple[str, Cell]]) -> Json:
    return {"label": name, "file": str(path),
            "facts": {key.replace(" ", "_"): value for key, value in facts}}


def comparison_document(inputs: Inputs, argv: Sequence[str]) -> Json:
    """Return the whole comparison as a JSON object."""
    return {
        **command.make_common_keys_of_json_documents("compare", argv),
        "runs": [convert_run_to_json(run, runs[0]) for runs in group_runs_for_comparison(inputs)
                 for run in runs],
        "failed": [{"file": str(failure.path), "policy": failure.policy, "why": failure.why}
                   for failure in inputs.failures],
        "tables": [{"title": table.title, "columns": list(table.labels),
                    "rows": [{"name": line.title, "values": list(line.values)}
                             for line in table.lines]}
                   for table in outside.make_measurement_tables(inputs)],
        "devices": [convert_key_values_to_json(d.label, d.path,
                                               [*list_device_snapshot_values(d),
                                                *compute_measures_of_device(d).items()])
                    for d in inputs.devices],
        "replays": [convert_key_values_to_json(r.label, r.path, list_replay_report_values(r))
                    for r in inputs.replays],
        "logs": [convert_key_values_to_json(g.file_label, g.path, list_replay_log_values(g))
                 for g in inputs.logs],
        "records": [convert_key_values_to_json(f.file_label, f.path,
                                               list_record_file_values(f))
                    for f in inputs.records],
    }


# ---------------------------------------------------------------- a list of runs

def make_column_of_measure(measure: Measure) -> Column:
    """Return a list column for a measure; it is shown by default if HEADLINE has the measure."""
    return Column(measure.key, measure.title, f"{measure.group}: {measure.title}",
                  more=measure.key not in HEADLINE,
                  said=lambda row: value_as_text(measure, row[measure.key]))


COLUMNS = (Column("label", "run", "as the table calls it", False),
           Column("policy", "policy", "flash translation policy", False),
           Column("profile", "profile", "the device it started from", False, True),
           Column("seed", "seed", "of all that is random", more=True),
           Column("file", "file", "where the run is from", False, True),
           *map(make_column_of_measure, MEASURES))


def print_comparison(args: argparse.Namespace, given: Sequence[str], inputs: Inputs,
                     choice: row_list.Choice) -> None:
    """Print the comparison in the form that the options ask for."""
    if choice.chosen:
        if not inputs.runs:
            raise command.Refusal(
                f"--show and --sort are for runs; found {inputs.describe_input_counts()}")
        choice.print_list_rows(args, "compare", given, [
            {"label": run.label, "policy": run.policy, "profile": run.document.get("profile"),
             "seed": run.document.get("seed"), "file": str(run.path),
             **compute_measures_of_run(run)} for run in inputs.runs])
    elif args.json:
        command.write_json_document(args.json, comparison_document(inputs, given))
    else:
        sys.stdout.write(comparison_as_text(inputs, args.all))


# ---------------------------------------------------------------- command


def make_compare_parser() -> command.Parser:
    parser = command.make_verb_parser(
        "compare", "Puts runs side by side, relative to the first, and says what devices, replays "
        "and record\nfiles hold.",
        WHAT_FILES_ARE)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="what to compare")
    parser.add_argument("-a", "--all", action="store_true",
                        help="every measure, not only the headline")
    row_list.add_list_options(parser)
    command.add_json_option(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)

    def run_compare() -> int:
        args = make_compare_parser().parse_args(given)
        choice = row_list.choose_list_columns(args, COLUMNS)
        if args.json:
            command.CLAIMS.claim_output(args.json, "--json")
        inputs = read_inputs(args.files)
        if not (inputs.runs or inputs.devices or inputs.replays or inputs.logs
                or inputs.records or inputs.programs or inputs.fio):
            raise command.Refusal(
                f"found {inputs.describe_input_counts()}, which has no numbers to compare; "
                "approxftl report draws it")
        with command.refuse_malformed_documents(args.files):
            print_comparison(args, given, inputs, choice)
        return command.DONE

    return command.run_command("compare", run_compare)


if __name__ == "__main__":
    sys.exit(main())
