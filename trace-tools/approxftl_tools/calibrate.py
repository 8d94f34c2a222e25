# SPDX-License-Identifier: GPL-2.0-only
"""approxftl calibrate: derive a drive profile from fio's measurements of the drive."""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median_high
from typing import Any

from approxftl_tools import certificate, command
from approxftl_tools.bench import Bench
from approxftl_tools.calibrate_device import (
    DEVICE_OPTIONS,
    Device,
    find_device,
    find_job_files,
    measure_device,
)
from approxftl_tools.calibrate_fit import EXACT
from approxftl_tools.calibrate_model import UNITS, Compared, Trial
from approxftl_tools.calibrate_search import (
    Found,
    Known,
    find_drive_model,
    pair_measured_and_simulated_figures,
)
from approxftl_tools.fio_output import Output, Unused, parse_fio_size, read_fio_files
from approxftl_tools.page import render_html_page
from approxftl_tools.refusal import FAILED, Refusal
from approxftl_tools.row_list import align_columns
from approxftl_tools.statistics import CONFIDENCE
from approxftl_tools.study import parse_job_count
from approxftl_tools.study_plan import cached_file_digest
from approxftl_tools.study_store import Store

Json = dict[str, Any]

EPILOG = """\
FILE is what fio has written with --output-format=json. The jobs to run are in fio-profiles/:
calibrate-fill.fio, which destroys the data on the drive, calibrate-reads.fio, which only reads,
calibrate-writes.fio and calibrate-rewrites.fio. With --device the command runs these jobs itself.
Other jobs are suitable if they read or write requests of one length with direct=1. The parameters
are found by black-box inference: the simulator's model is fitted to the measurements, and a
parameter that would not change any measured value is not determined.

Exit status: 0 done, 1 the drive was refused, fio or a simulation failed, or no parameter was
determined, 2 usage, 3 no such file or program, 130 interrupted.
"""
HEAD = ("parameter", "value", f"{CONFIDENCE * 100:.0f} % interval", "rests on")
COMPARED = ("load", "measure", "measured", "ours", "error")
#: For each unit: the divisor of a value and its printed unit.
SHOWN = {"ns": (1e3, " us"), "%": (1.0, " %")}
OWN_UNITS = {"link": (1.0, " MB/s"), "bus": (1.0, " MB/s"), "buffer": (1 << 20, " MiB"),
             "stripe": (1 << 10, " KiB"), "dies": (1.0, "")}


def parse_drive_size(text: str) -> int:
    """Parse the capacity of a drive; vendors count in powers of ten."""
    for suffix, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if text.upper().endswith(suffix) and text[:-2].replace(".", "", 1).isdigit():
            return int(float(text[:-2]) * factor)
    try:
        value = parse_fio_size(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f'"{text}" is no capacity; write 960GB or 894GiB')
    return value


def make_calibrate_parser() -> command.Parser:
    parser = command.make_verb_parser("calibrate",
                                      "Finds the parameters of a drive in what fio has measured "
                                      "of it.", EPILOG)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="output of fio")
    parser.add_argument("--device", type=Path, metavar="DEV",
                        help="run the fio jobs on this drive, which OVERWRITES all its data, "
                        "instead of reading FILEs")
    parser.add_argument("--results", type=Path, metavar="DIR",
                        help="with --device: keep fio's outputs there, and run no job file whose "
                        "output is there (default: calibrate-DEV)")
    parser.add_argument("--yes", action="store_true",
                        help="with --device: do not ask before the data are overwritten")
    parser.add_argument("--overwrite", action="store_true",
                        help="with --device: also a drive with data, if no program uses it and "
                        "they have no signature")
    parser.add_argument("--skip-rewrites", action="store_true",
                        help="with --device: without the hours of rewrites, which determine op")
    parser.add_argument("--job-files", type=Path, metavar="DIR",
                        help="with --device: fio's job files (default: those of approxftl)")
    parser.add_argument("--measure-only", action="store_true",
                        help="with --device: only run the jobs, and fit nothing")
    parser.add_argument("--capacity", type=parse_drive_size, metavar="SIZE", default=0,
                        help="of the drive (default: what the job wrote that filled it)")
    parser.add_argument("--against", action="append", type=Path, metavar="FILE", default=[],
                        help="output of fio that is only compared with what was found; may be "
                        "repeated")
    parser.add_argument("-O", "--output", type=command.output_path, metavar="FILE", dest="out",
                        help="write the profile, which approxftl sim and create take; - for "
                        "standard output")
    parser.accept_old_option_name("--out", "--output")
    command.add_json_option(parser)
    parser.add_argument("--certificate", type=command.output_path, metavar="NAME",
                        help="write NAME.html and NAME.json: parameters, points and errors, the "
                        "build, and how to repeat the calibration")
    parser.add_argument("--jobs", metavar="N", type=parse_job_count, default=os.cpu_count() or 1,
                        help="simulations at a time (default: as many as processors)")
    parser.add_argument("--progress", action="store_true", help="even if stderr is no terminal")
    return parser


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = make_calibrate_parser()
    arguments = parser.parse_args(words)
    if not arguments.files and not arguments.device:
        parser.error("neither FILE nor --device was given")
    return arguments


# ---------------------------------------------------------------- text


def format_parameter(name: str, value: float) -> str:
    """Return a parameter's value as text with its unit."""
    if name == "one_shot":
        return "on" if value else "off"
    factor, unit = OWN_UNITS.get(name) or SHOWN[UNITS[name][0]]
    return f"{value / factor:.4g}{unit}"


def format_parameter_row(known: Known) -> list[str]:
    between = "not determined"
    if known.is_parameter_determined:
        between = " to ".join(dict.fromkeys(format_parameter(known.name, end)
                                            for end in (known.low, known.high)))
    return [known.name, format_parameter(known.name, known.value), between,
            known.measurements_that_determine_parameter]


def make_fio_comparison_row(row: Compared) -> list[str]:
    load, figure, ours = row
    return [load.name, f"{figure.fio_figure_name()}, {'1/s' if figure.what == 'rate' else 'us'}",
            f"{figure.value:.4g}", f"{ours:.4g}", f"{(ours / figure.value - 1) * 100:+.1f} %"]


def median_relative_error(rows: Sequence[Compared]) -> str:
    """Return the median of relative errors, as text."""
    middle = median_high(abs(ours / figure.value - 1) for _, figure, ours in rows)
    return f"{middle * 100:.1f} %"


def list_unused_fio_jobs(unused: Sequence[Unused]) -> list[str]:
    """Return a text line for each fio job that could not be used."""
    return list(dict.fromkeys(f"{one.path}: {one.name} was not used: {one.why}" for one in unused))


def format_calibrated_profile(found: Found) -> str:
    """Return the profile as text, one parameter in a line."""
    told = {known.name for known in found.known if known.is_parameter_determined}
    settings = [(key in told or key not in found.model.values, f"{key}={value}") for key, value in
                found.model.make_device_parameters(found.model.min_device_bytes_for_gc()).items()]
    return "\n".join([
        "# A drive, as approxftl calibrate has found it. Policy: baseline.",
        *(line for known, line in settings if known),
        *["# Not determined:"] * (len(told) < len(found.known)),
        *(line for known, line in settings if not known)]) + "\n"


# ---------------------------------------------------------------- JSON


def comparison_as_json(rows: Sequence[Compared]) -> list[Json]:
    """Return measured and simulated values as JSON objects."""
    return [{"file": str(load.path), "load": load.name, "kind": figure.kind,
             "measure": figure.what, "measured": figure.value, "ours": ours,
             "error": ours / figure.value - 1} for load, figure, ours in rows]


def calibration_as_json(found: Found, output: Output, against: Sequence[Compared],
                        argv: Sequence[str]) -> Json:
    """Return the calibrated parameters and the compared values as a JSON object."""
    return {**command.make_common_keys_of_json_documents("calibrate", argv),
            "parameters": [{"name": known.name, "value": known.value,
                            "low": known.low if known.is_parameter_determined else None,
                            "high": known.high if known.is_parameter_determined else None,
                            "determined": known.is_parameter_determined,
                            "rests_on": known.measurements_that_determine_parameter}
                           for known in found.known],
            "profile": found.model.make_device_parameters(found.model.min_device_bytes_for_gc()),
            "fitted": comparison_as_json(found.comparison),
            "against": comparison_as_json(against),
            "unused": [{"file": str(one.path), "load": one.name, "why": one.why}
                       for one in output.unused]}


# ---------------------------------------------------------------- the certificate


def summarise_comparison(rows: Sequence[Compared]) -> Json:
    """Return the number of points and the median of their relative errors, for a certificate."""
    return {"points": len(rows), "median_error": median_high(abs(ours / figure.value - 1)
                                                             for _, figure, ours in rows)}


def write_calibration_certificate(arguments: argparse.Namespace, argv: Sequence[str],
                                  device: Device | None, document: Json,
                                  parts: tuple[Found, Output, Sequence[Compared]]) -> None:
    """Write the page and the document of --certificate."""
    found, output, against = parts
    digests = {str(path): cached_file_digest(path)
               for path in (*arguments.files, *arguments.against)}
    halves = {"fitted": found.comparison, "against": against}
    identity = {**certificate.identify_certified_run("calibrate", argv), "files_sha256": digests,
                **({"drive": {"model": device.model, "bytes": device.bytes}} if device else {}),
                "summary": [{"use": use, **summarise_comparison(rows)}
                            for use, rows in halves.items() if rows]}
    rows = [*([("drive", device.describe_device())] if device else []),
            *((f"{part['use']}: points, median error",
               f"{part['points']}, {part['median_error'] * 100:.1f} %")
              for part in identity["summary"]),
            *certificate.make_certificate_rows(identity, digests)]
    page = render_html_page(
        "calibrate.html", "A drive and its calibrated emulation", certificate=rows,
        parameters=(HEAD, [format_parameter_row(known) for known in found.known]),
        comparisons=[(use, COMPARED, [make_fio_comparison_row(row) for row in compared])
                     for use, compared in halves.items() if compared],
        profile=format_calibrated_profile(found), unused=list_unused_fio_jobs(output.unused))
    certificate.write_certificate(arguments.certificate, {**document, "certificate": identity},
                                  page)


# ---------------------------------------------------------------- the command


def make_calibration_reporter(shown_anyway: bool) -> Any:
    """Return a function that prints which step of the calibration begins."""
    def print_calibration_step(step: str) -> None:
        if shown_anyway or sys.stderr.isatty():
            sys.stderr.write(f"approxftl calibrate: {step}\n")
    return print_calibration_step


def check_options_of_device(arguments: argparse.Namespace) -> None:
    """Refuse options and files that contradict --device, or its absence."""
    if not arguments.device:
        for name in DEVICE_OPTIONS:
            if getattr(arguments, name):
                raise Refusal(f"--{name.replace('_', '-')} does not go without --device",
                              command.USAGE)
    elif arguments.files or arguments.capacity:
        raise Refusal("--device goes neither with FILE nor with --capacity", command.USAGE)


def measure_requested_device(arguments: argparse.Namespace) -> Device:
    """Run the jobs on the drive of --device; make their outputs the files to read."""
    device = find_device(arguments.device)
    jobs = find_job_files(arguments.job_files, ["rewrites"] * arguments.skip_rewrites)
    arguments.files = measure_device(
        device, jobs, arguments.results or Path(f"calibrate-{device.path.name}"),
        yes=arguments.yes, overwrite=arguments.overwrite,
        shown=arguments.progress or sys.stderr.isatty())
    arguments.capacity = device.bytes
    return device


def run_calibration(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    check_options_of_device(arguments)
    for option in ("out", "json"):
        if getattr(arguments, option):
            command.CLAIMS.claim_output(getattr(arguments, option), f"--{option}")
    certificate.claim_certificate_files(arguments.certificate)
    device = measure_requested_device(arguments) if arguments.device else None
    if arguments.measure_only:
        return command.DONE
    output = read_fio_files(arguments.files, arguments.capacity)
    files = arguments.files
    if not any(figure.what in EXACT for load in output.loads for figure in load.figures):
        why = "; ".join(list_unused_fio_jobs(output.unused)) or "they have no jobs"
        raise Refusal(f"{', '.join(map(str, files))}: nothing to calibrate with: {why}", FAILED)
    # The first files tell the capacity if those of --against contain no fill.
    others = read_fio_files(arguments.against, arguments.capacity or output.capacity)
    with tempfile.TemporaryDirectory(prefix="approxftl-calibrate-") as folder:
        bench = Bench(command.simulator_path(), arguments.jobs, Store(Path(folder)))
        trial = Trial(bench, output.capacity, tuple(output.loads))
        found = find_drive_model(trial, make_calibration_reporter(arguments.progress))
        rows = pair_measured_and_simulated_figures(trial.restrict_trial_to_loads(others.loads),
                                         found.model) if others.loads else []
    output.unused += others.unused
    document = calibration_as_json(found, output, rows, argv)
    if arguments.json:
        command.write_json_document(arguments.json, document)
    if arguments.certificate:
        write_calibration_certificate(arguments, argv, device, document, (found, output, rows))
    if arguments.out:
        command.write_file(arguments.out, format_calibrated_profile(found))
    if command.STANDARD not in (arguments.json, arguments.out):
        against = rows
        text = align_columns([HEAD, *(format_parameter_row(known) for known in found.known)])
        text += "\n" + align_columns([COMPARED,
                                      *(make_fio_comparison_row(row)
                                        for row in found.comparison)])
        text += f"median error of what was fitted: {median_relative_error(found.comparison)}\n"
        if against:
            text += "\n" + align_columns([COMPARED,
                                          *(make_fio_comparison_row(row) for row in against)])
            text += f"median error of what was not: {median_relative_error(against)}\n"
        sys.stdout.write(text + "".join(f"{line}\n"
                                        for line in list_unused_fio_jobs(output.unused)))
    return command.DONE


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return command.run_command("calibrate", lambda: run_calibration(parse_arguments(words), words))


if __name__ == "__main__":
    sys.exit(main())
