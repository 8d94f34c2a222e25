# SPDX-License-Identifier: GPL-2.0-only
"""approxftl drives --refit: report fitted values and the errors on the held-out points."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from approxftl_tools import command
from approxftl_tools.bench import Bench
from approxftl_tools.drive_fit import (
    Fit,
    Judge,
    fit_drive,
    summarise_errors_of_held_out_points,
)
from approxftl_tools.drive_list import Drive
from approxftl_tools.drive_points import FITTED, HELD
from approxftl_tools.refusal import Refusal
from approxftl_tools.row_list import align_columns

Json = dict[str, Any]

PARAMETERS = ("parameter", "before", "fitted", "bounds", "step", "a step less", "a step more")
SHARES = ("half", "values", "points", "within", "median", "worst", "misfit")
#: Options that only a fit has.
MINE = ("save", "swap")


def check_options_that_depend_on_refit(arguments: argparse.Namespace) -> None:
    for name in MINE:
        if not arguments.refit and getattr(arguments, name):
            raise Refusal(f"--{name} does not go without --refit", command.USAGE)


def new_profile_paths(drives: Sequence[Drive], folder: Path) -> dict[str, Path]:
    """Return the paths of the fitted profiles to write; refuse existing files."""
    found = {drive.name: folder / f"{drive.name}.profile" for drive in drives}
    for path in found.values():
        if path.exists():
            raise Refusal(f"{path}: is there already; remove it, or give --save another name")
        command.CLAIMS.claim_output(path, "--save")
    return found


def apply_profile(drive: Drive, path: Path) -> Drive:
    """Return the drive with the values of a profile, and the policy that its first lines name."""
    text = path.read_text("utf-8")
    policy = re.search(r"^# approxftl sim .*--policy (\S+)", text, re.M)
    lines = (line.strip() for line in text.splitlines())
    options = (f"--{line}" for line in lines if line and not line.startswith("#"))
    return replace(drive.copy_drive_with_options(*options),
                   policy=policy[1] if policy else drive.policy)


# ---------------------------------------------------------------- text


def fitted_parameter_rows(found: Fit) -> Iterator[list[str]]:
    for which, (one, before, after) in enumerate(
            zip(found.drive.free, found.start, found.values, strict=True)):
        felt = ["?", "?"]
        if found.felt:
            felt = ["\u2013" if way is None else f"{way:+.2f}" for way in found.felt[which]]
        yield [one.name, one.format_parameter_value(before), one.format_parameter_value(after),
               f"{one.format_parameter_value(one.low)} to {one.format_parameter_value(one.high)}",
               one.format_parameter_value(one.step), *felt]


def make_remarks_about_fit(found: Fit) -> Iterator[str]:
    if found.drive.generic:
        yield f"emulated with {' '.join(found.drive.make_drive_arguments())}"
    ended = "interrupted after" if found.interrupted else "after"
    yield f"{ended} {found.evaluations} evaluations"
    for which, (one, value) in enumerate(zip(found.drive.free, found.values, strict=True)):
        if found.is_parameter_undetermined(which):
            yield f"{one.name} is not determined: no fitted point notices a step"
        elif value in (one.low, one.high):
            yield f"{one.name} is at its bound"
    if HELD in found.shares:
        seen, unseen = (found.shares[half][1] for half in (FITTED, HELD))
        yield f"median error of the half not seen less that of the other: " \
              f"{unseen.median - seen.median:+.2f} bands"


def format_fit_as_text(found: Fit) -> str:
    """Return the report on the fit of a drive as text."""
    errors = [[half, when, str(share.points), str(share.within), f"{share.median:.2f}",
               f"{share.worst:.1f}", f"{share.misfit:.1f}"]
              for half, pair in found.shares.items()
              for when, share in zip(("before", "fitted"), pair, strict=True)]
    tables = (((PARAMETERS, *fitted_parameter_rows(found)), [False] + [True] * 6),
              ((SHARES, *errors), [False, False] + [True] * 5))
    return f"{found.drive.name}: {found.drive.about}\n" + \
        "".join(align_columns(rows, right) for rows, right in tables) + \
        "".join(f"{note}\n" for note in make_remarks_about_fit(found)) + "\n"


# ---------------------------------------------------------------- the command


def convert_fit_to_json(found: Fit) -> Json:
    felt = found.felt or [(None, None)] * len(found.values)
    return {"drive": found.drive.name, "evaluations": found.evaluations,
            "interrupted": found.interrupted,
            "parameters": [{"name": one.name, "unit": one.unit, "before": before, "fitted": after,
                            "low": one.low, "high": one.high, "step": one.step,
                            "step_less": less, "step_more": more,
                            "determined": not found.is_parameter_undetermined(which)}
                           for which, (one, before, after, (less, more)) in enumerate(zip(
                               found.drive.free, found.start, found.values, felt, strict=True))],
            "halves": {half: dict(zip(("before", "fitted"), map(asdict, pair), strict=True))
                       for half, pair in found.shares.items()}}


def fit_one_drive(judge: Judge, arguments: argparse.Namespace, path: Path | None,
                  shown: bool) -> Fit:
    """Fit a drive, write its profile, then evaluate the held-out points."""
    def print_fit_progress(done: int, best: float) -> None:
        if shown:
            sys.stderr.write(f"\r{judge.drive.name}: evaluation {done} of about "
                             f"{arguments.evaluations}, misfit {best:.1f} \033[K")
            sys.stderr.flush()
    found = fit_drive(judge, arguments.evaluations, print_fit_progress)
    if shown:
        sys.stderr.write("\n")
    if path and found.evaluations:
        command.write_file(path, found.format_fitted_profile())
    try:
        if not found.interrupted:
            summarise_errors_of_held_out_points(judge, found)
    except KeyboardInterrupt:
        found.interrupted = True
    return found


def fit_drives(arguments: argparse.Namespace, drives: Sequence[Drive],
               bench: Bench) -> list[Fit]:
    """Fit the drives in turn, until all are done or a signal arrives; return the fits."""
    free = [drive for drive in drives if drive.free]
    if not free:
        raise Refusal(f"{drives[0].name}: its profile is that of another drive; nothing of it is "
                      "fitted", command.USAGE)
    paths = new_profile_paths(free, arguments.save) if arguments.save else {}
    half = HELD if arguments.swap else FITTED

    fits: list[Fit] = []
    for drive in free:
        judge = Judge(drive, replace(bench, progress=False), arguments.tables,
                      lambda point: arguments.only in point.title_of_measured_point(), half)
        fits.append(fit_one_drive(judge, arguments, paths.get(drive.name), bench.progress))
        if command.STANDARD not in (arguments.json, arguments.html):
            sys.stdout.write(format_fit_as_text(fits[-1]))
            sys.stdout.flush()
        if fits[-1].interrupted:
            break
    return fits
