# SPDX-License-Identifier: GPL-2.0-only
"""approxftl drives: compare published measurements of real drives with their emulation."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median_high
from typing import Any

from approxftl_tools import certificate, command, drive_fit_report, row_list
from approxftl_tools.bench import Bench
from approxftl_tools.drive_fit import Fit
from approxftl_tools.drive_list import DRIVES, Drive, make_generic_drive
from approxftl_tools.drive_points import (
    FITTED,
    HELD,
    OWN_TABLES,
    Point,
    describe_unemulated_patterns,
    list_drives_without_profile,
    list_measured_points_of_drive,
)
from approxftl_tools.drive_runs import (
    Runs,
    emulated_drive_size,
    enlarge_drive,
    map_load_names_to_loads,
    run_drive_study,
)
from approxftl_tools.drive_table_file import read_drive_capacity
from approxftl_tools.figure import Curves, Figure
from approxftl_tools.page import figure_template_data, render_html_page
from approxftl_tools.refusal import FAILED, Refusal
from approxftl_tools.row_list import Column
from approxftl_tools.study import parse_job_count
from approxftl_tools.study_store import Store

Json = dict[str, Any]

HEAD = ("table", "unit", "load", "measure", "measured", "ours", "error", "band", "verdict", "use")
#: The use of a point from --tables: the fit has not seen it.
UNSEEN = "unseen"
EPILOG = """\
Each drive is a profile of the simulator, small in capacity, and a policy. The published loads run
on it with the same preparation and the same written volume, in capacities. A simulated value hits
or misses the tolerance band of the published value; docs/drives.md explains the misses. In the last
column, "fitted" marks the half of the points that --refit has fitted the profile to, "held" the
other half, and "unseen" the points of --tables: files DRIVE-TABLE.csv, with the package's columns.

The runs of a table are assigned to the two halves in turn; every fit includes the runs that others
are relative to (uniform writes, saturation). --refit varies the parameters that a profile declares
as fitted, within their bounds, until the misfit is least; then it reads the other half.

Exit status: 0 done, 1 a simulation failed or --at-least was not reached, 2 usage, 3 no such file,
130 interrupted.
"""


@dataclass(frozen=True)
class Verdict:
    """A measured point with its simulated value and its error."""

    point: Point
    ours: float
    error: float
    use: str

    @property
    def is_error_within_tolerance_band(self) -> bool:
        """Tell whether the simulated value's error is inside the point's tolerance band."""
        return abs(self.error) <= self.point.band

    def make_table_cells_of_point(self) -> list[str]:
        point = self.point
        scale, unit = (1.0, " us") if point.absolute else (100.0, " %")
        return [point.table, point.unit, point.what, point.measure,
                f"{point.compute_measured_value():.4g}",
                f"{self.ours:.4g}", f"{self.error * scale:+.1f}{unit}",
                f"{point.band * scale:g}{unit}",
                "within" if self.is_error_within_tolerance_band else "missed",
                self.use]


    def make_json_of_point(self) -> Json:
        """Return the table row of the point with unformatted values."""
        cells = dict(zip(HEAD, self.make_table_cells_of_point(), strict=True))
        return {**cells, "drive": self.point.drive.name,
                "measured": self.point.compute_measured_value(),
                "ours": self.ours, "said_error": cells["error"], "said_band": cells["band"],
                "error": None, "band": None, "error_us": None, "band_us": None,
                "error_us" if self.point.absolute else "error": self.error,
                "band_us" if self.point.absolute else "band": self.point.band}


def parse_percentage(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f'"{text}" is not a percentage')
    return value


def make_drives_parser() -> command.Parser:
    parser = command.make_verb_parser("drives",
                                      "Holds the emulation of real drives against published "
                                      "measurements of them.", EPILOG)
    parser.add_argument("drives", nargs="*", metavar="DRIVE",
                        help=f"which: {', '.join(drive.name for drive in DRIVES)}, or a drive that "
                             "has tables in --tables (default: all)")
    parser.add_argument("--tables", type=Path, metavar="DIR", default=OWN_TABLES,
                        help="other measurements (default: those of the package)")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="points whose table, load or measure has this in its name")
    parser.add_argument("--larger", type=parse_job_count, metavar="N", default=1,
                        help="devices with N times the blocks, to see that size does not matter")
    parser.add_argument("--jobs", metavar="N", type=parse_job_count, default=os.cpu_count() or 1,
                        help="processes at a time (default: as many as processors)")
    parser.add_argument("--results", metavar="DIR", type=Path, dest="out",
                        help="keep studies and results there, and run nothing that is done "
                             "(default: nowhere)")
    parser.accept_old_option_name("--out", "--results")
    parser.add_argument("--at-least", metavar="PERCENT", type=parse_percentage, default=0.0,
                        help="fail if fewer points are within their bands (default 0)")
    parser.add_argument("--progress", action="store_true", help="even if stderr is no terminal")
    parser.add_argument("--profiles", type=Path, metavar="DIR",
                        help="DRIVE.profile of there is set on top of the drive's own profile")
    parser.add_argument("--refit", action="store_true",
                        help="fit profiles to one half of the points, and judge them by the other")
    parser.add_argument("--evaluations", metavar="N", type=parse_job_count, default=40,
                        help="with --refit: sets of values that are tried for a drive (default 40)")
    parser.add_argument("--swap", action="store_true",
                        help="with --refit: fit to the other half")
    parser.add_argument("--save", type=Path, metavar="DIR",
                        help="with --refit: write DRIVE.profile there; none may be there")
    row_list.add_list_options(parser)
    command.add_json_option(parser)
    parser.add_argument("--html", type=command.output_path, metavar="FILE",
                        help="write a page with the table and the curves over each other")
    parser.add_argument("--certificate", type=command.output_path, metavar="NAME",
                        help="write NAME.html and NAME.json: also the build, the tables, and how "
                             "to repeat the comparison")
    return parser


def find_drives(arguments: argparse.Namespace) -> list[Drive]:
    """Return the drives that the arguments name, or all; refuse a name that is not known.

    A drive that has tables but no profile is emulated if it is fitted, or has a fitted profile.
    """
    known = {drive.name: drive for drive in DRIVES}
    others = list_drives_without_profile(arguments.tables)
    for name in arguments.drives or others:
        if name in known:
            continue
        if name not in others:
            raise Refusal(f'there is no drive "{name}"; there are {", ".join((*known, *others))}',
                          command.USAGE)
        path = arguments.profiles and arguments.profiles / f"{name}.profile"
        if arguments.refit or (path and path.exists()):
            known[name] = make_generic_drive(name, read_drive_capacity(name, arguments.tables))
            continue
        sentence = (f"{arguments.tables}: the tables of {name} left out; there is no profile of "
                    "this drive, --refit makes one")
        if name in arguments.drives:
            raise Refusal(sentence, command.NOT_FOUND)
        sys.stderr.write(f"approxftl drives: warning: {sentence}\n")
    return [known[name] for name in arguments.drives or known]


def requested_drives(arguments: argparse.Namespace, bench: Bench) -> Iterator[Drive]:
    """Yield the requested drives, with the profiles of --profiles applied."""
    for drive in find_drives(arguments):
        enlarged = enlarge_drive(drive, arguments.larger, bench)
        path = arguments.profiles and arguments.profiles / f"{drive.name}.profile"
        yield drive_fit_report.apply_profile(enlarged, path) if path and path.exists() else enlarged


def requested_points(arguments: argparse.Namespace, drives: Iterable[Drive],
                     bench: Bench) -> tuple[list[Point], Runs]:
    """Return the requested measured points, and the simulated runs of their drives."""
    points: list[Point] = []
    runs: Runs = {}
    warnings: list[str] = []
    for drive in drives:
        warnings += describe_unemulated_patterns(drive, arguments.tables)
        found = list_measured_points_of_drive(drive, emulated_drive_size(drive, bench),
                                              arguments.tables)
        runs |= run_drive_study(drive, map_load_names_to_loads(found), bench) if found else {}
        points += [point for point in found if arguments.only in point.title_of_measured_point()]
    for sentence in warnings:
        sys.stderr.write(f"approxftl drives: warning: {sentence}\n")
    if not points:
        raise Refusal(f"{arguments.tables}: no table has a point of what is asked for",
                      command.NOT_FOUND)
    return points, runs


def role_of_point_in_fit(point: Point, fits: Sequence[Fit], arguments: argparse.Namespace) -> str:
    """Return the point's role in the fit of its drive: fitted, held (out) or unseen."""
    if not fits and arguments.tables.resolve() != OWN_TABLES.resolve():
        return UNSEEN
    held = FITTED if arguments.swap else HELD
    return HELD if point.half == held or not point.drive.free else FITTED


def simulate_and_judge_points(points: Sequence[Point], runs: Runs, bench: Bench,
                              role: Callable[[Point], str]) -> list[Verdict]:
    """Run the loads of the measured points and return the simulated value and error of each."""
    needed = {(point.drive, load) for point in points for load in (point.load, point.base) if load}
    # Start the longest runs first, so that none remains alone at the end.
    ordered = sorted(needed, key=lambda pair: -pair[1].request_count())
    results = dict(zip(ordered,
                       bench.run_points_or_read_stored_results([runs[pair] for pair in ordered]),
                       strict=True))
    verdicts = []
    for point in points:
        ours = point.compute_simulated_value({load: results[point.drive, load]
                           for load in (point.load, point.base) if load})
        verdicts.append(Verdict(point, ours, point.compute_simulation_error(ours),
                                role(point)))
    return verdicts


def summary_rows(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """Return rows for fitted, held-out and unseen points: number within bands, and median error."""
    rows = []
    for what in (FITTED, HELD, UNSEEN):
        found = [verdict for verdict in verdicts if verdict.use == what]
        if not found:
            continue
        shares = [abs(v.error) for v in found if not v.point.absolute]
        middle = f"{median_high(shares) * 100:.1f} %" if shares else "\u2013"
        rows.append([what,
                     f"{sum(v.is_error_within_tolerance_band for v in found)} of {len(found)}",
                     middle])
    return rows


def compared_points_as_text(verdicts: Sequence[Verdict]) -> str:
    lines = []
    for name, group in groupby(verdicts, key=lambda verdict: verdict.point.drive.name):
        rows = list(group)
        lines.append(f"{name}: {rows[0].point.drive.about}")
        lines.append(row_list.align_columns([HEAD,
                                             *(verdict.make_table_cells_of_point()
                                               for verdict in rows)],
                                            [index >= 4
                                             for index in range(len(HEAD))]).rstrip("\n"))
        lines += [f"{half}: {count} within their bands, median error {middle}"
                  for half, count, middle in summary_rows(rows)]
        lines.append("")
    within = sum(verdict.is_error_within_tolerance_band for verdict in verdicts)
    lines.append(f"{within} of {len(verdicts)} points are within their bands")
    return "\n".join(lines) + "\n"


def points_as_json(verdicts: Sequence[Verdict]) -> list[Json]:
    return [{"drive": v.point.drive.name, "table": v.point.table, "unit": v.point.unit,
             "row": v.point.row, "load": v.point.what, "measure": v.point.measure,
             "measured": v.point.compute_measured_value(), "ours": v.ours,
             "error_us" if v.point.absolute else "error": v.error, "band": v.point.band,
             "within": v.is_error_within_tolerance_band, "fitted": v.use == FITTED,
             "arguments": ["sim", *v.point.drive.make_drive_arguments(), *v.point.load.arguments]}
            for v in verdicts]


def make_measured_and_simulated_curves(verdicts: Sequence[Verdict]) -> list[Figure]:
    """Return figures of measured and simulated curves, where a load parameter varies."""
    drawn: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        point = verdict.point
        drawn.setdefault((point.drive.name, point.measure, point.table), []).append(verdict)
    found = []
    for (name, measure, kind), group in drawn.items():
        curves: list[tuple[str, list[float], list[float]]] = []
        for curve in dict.fromkeys((v.point.curve, v.point.unit) for v in group):
            mine = sorted((v for v in group if (v.point.curve, v.point.unit) == curve),
                          key=lambda v: v.point.x)
            xs = [v.point.x for v in mine]
            label = " ".join(part for part in curve if part)
            curves.append((f"{label}, measured", xs,
                           [v.point.compute_measured_value() for v in mine]))
            curves.append((f"{label}, ours", xs, [v.ours for v in mine]))
        if any(len(xs) > 1 for _, xs, _ in curves):
            axis = AXES.get(kind, "")
            slug = "".join(c if c.isalnum() else "-" for c in f"{name}-{kind}-{measure}")
            found.append(Figure(slug, f"{name}: {measure}", f"{kind}: {measure}, as measured and "
                                "as emulated.", Curves(axis, measure, curves)))
    return found


AXES = {"latency-load": "thousand writes a second", "write-steady": "GiB filled, or share",
        "write-zones": "GiB in a zone", "read-grid": "reads in flight",
        "read-under-write": "reads in flight", "write-grid": "writes in flight"}


def describe_comparison_inputs(arguments: argparse.Namespace, argv: Sequence[str],
                               verdicts: Sequence[Verdict]) -> Json:
    """Return digests of simulator, tables and profiles, a summary, and the command of the run."""
    names = {f"{verdict.point.drive.name}-{verdict.point.table}.csv" for verdict in verdicts}
    return {
        **certificate.identify_certified_run("drives", argv),
        "tables_sha256": certificate.compute_sha256_of_files(
            [arguments.tables / name for name in sorted(names)]),
        "profiles_sha256": certificate.compute_sha256_of_files(
            sorted(arguments.profiles.glob("*.profile")) if arguments.profiles else []),
        "summary": [{"use": use, "within": sum(v.is_error_within_tolerance_band for v in found),
                     "points": len(found)}
                    for use in (FITTED, HELD, UNSEEN)
                    if (found := [v for v in verdicts if v.use == use])],
    }


def make_rows_for_certificate_option(identity: Json) -> list[tuple[str, str]]:
    """Return the table rows of a certificate (--certificate): hits, command, program, digests."""
    files = {**identity["tables_sha256"], **identity["profiles_sha256"]}
    return [*((f"{part['use']} points within their bands", f"{part['within']} of {part['points']}")
              for part in identity["summary"]),
            *certificate.make_certificate_rows(identity, files)]


def compared_points_as_html(verdicts: Sequence[Verdict], argv: Sequence[str],
                            identity: Json | None = None) -> str:
    """Return the comparison as an HTML page; with @identity the page is a certificate."""
    drives = []
    for name, group in groupby(verdicts, key=lambda verdict: verdict.point.drive.name):
        rows = list(group)
        drives.append((rows[0].point.drive.about, name, summary_rows(rows),
                       [*map(figure_template_data, make_measured_and_simulated_curves(rows))],
                       [verdict.make_table_cells_of_point() for verdict in rows]))
    return render_html_page("drives.html", "Real drives and their emulation", drives=drives,
                            head=HEAD,
                            certificate=make_rows_for_certificate_option(identity) if identity
                            else [],
                            own=f"{command.simulator_version()}: approxftl drives {' '.join(argv)}")


COLUMNS = (
    Column("drive", "drive", "its profile", False),
    *(Column(key, key, about, right) for key, about, right in (
        ("table", "of the measurements", False), ("unit", "one drive of several", False),
        ("load", "what was run", False), ("measure", "what was measured", False),
        ("measured", "by whoever published it", True), ("ours", "the emulation", True))),
    Column("error", "error", "of ours, as a share; of latencies there is error_us",
           said=lambda row: row["said_error"]),
    Column("band", "band", "in which it has to be, in the same unit",
           said=lambda row: row["said_band"]),
    Column("error_us", "error, us", "of latencies", more=True),
    Column("band_us", "band, us", "in which it has to be", more=True),
    Column("verdict", "verdict", "within its band, or missed", False),
    Column("use", "use", "fitted, held or unseen", False))


def write_comparison(arguments: argparse.Namespace, argv: Sequence[str],
                     verdicts: Sequence[Verdict], choice: row_list.Choice,
                     fits: Sequence[Fit]) -> None:
    """Write the comparison in the forms that the options ask for."""
    common = command.make_common_keys_of_json_documents("drives", argv)
    if fits:
        common["fits"] = list(map(drive_fit_report.convert_fit_to_json, fits))
    if choice.chosen:
        choice.print_list_rows(arguments, "drives", argv,
                               [verdict.make_json_of_point() for verdict in verdicts])
    elif arguments.json:
        command.write_json_document(arguments.json, {**common, "points": points_as_json(verdicts)})
    if arguments.html:
        command.write_file(arguments.html, compared_points_as_html(verdicts, argv))
    if arguments.certificate:
        identity = describe_comparison_inputs(arguments, argv, verdicts)
        certificate.write_certificate(
            arguments.certificate,
            {**common, "certificate": identity, "points": points_as_json(verdicts)},
            compared_points_as_html(verdicts, argv, identity))
    if command.STANDARD not in (arguments.json, arguments.html) and not choice.chosen:
        sys.stdout.write(compared_points_as_text(verdicts))


def compare_drives_with_measured_points(arguments: argparse.Namespace, argv: Sequence[str],
                                        choice: row_list.Choice, bench: Bench) -> int:
    """Compare the drives, fitted if so requested, with all measured points; write the results."""
    drives = [*requested_drives(arguments, bench)]
    fits: list[Fit] = []
    if arguments.refit:
        fits = drive_fit_report.fit_drives(arguments, drives, bench)
        if fits[-1].interrupted:
            if arguments.json:
                command.write_json_document(
                    arguments.json, {**command.make_common_keys_of_json_documents("drives", argv),
                                     "fits": list(map(drive_fit_report.convert_fit_to_json, fits))})
            raise KeyboardInterrupt
        drives = [fit.drive_with_fitted_values() for fit in fits]
    verdicts = simulate_and_judge_points(*requested_points(arguments, drives, bench), bench,
                                         lambda point: role_of_point_in_fit(point, fits, arguments))
    write_comparison(arguments, argv, verdicts, choice, fits)
    share = 100.0 * sum(verdict.is_error_within_tolerance_band
                        for verdict in verdicts) / len(verdicts)
    if share < arguments.at_least:
        sys.stderr.write(f"approxftl drives: {share:.1f} % of the points are within their bands, "
                         f"not {arguments.at_least:g} %\n")
        return FAILED
    return command.DONE


def run_drives(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Check the options and run the comparison or the fit."""
    choice = row_list.choose_list_columns(arguments, COLUMNS)
    drive_fit_report.check_options_that_depend_on_refit(arguments)
    for option in ("json", "html"):
        if getattr(arguments, option):
            command.CLAIMS.claim_output(getattr(arguments, option), f"--{option}")
    certificate.claim_certificate_files(arguments.certificate)
    for folder in filter(None, (arguments.tables, arguments.profiles, arguments.save)):
        if not folder.is_dir():
            raise Refusal(f"{folder}: no such directory", command.NOT_FOUND)
    with tempfile.TemporaryDirectory(prefix="approxftl-drives-") as name:
        bench = Bench(command.simulator_path(), arguments.jobs, Store(arguments.out or Path(name)),
                      arguments.progress or sys.stderr.isatty())
        return compare_drives_with_measured_points(arguments, argv, choice, bench)


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return command.run_command("drives",
                               lambda: run_drives(make_drives_parser().parse_args(words), words))


if __name__ == "__main__":
    sys.exit(main())
