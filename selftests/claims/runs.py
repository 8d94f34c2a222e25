# SPDX-License-Identifier: GPL-2.0-only
"""The simulator that the claims run, and the falsified settings of negative controls.

A build with mutants lies in AFTL_BUILD/cache/claims, named by a hash of program and mutants.
"""

import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selftests.lib.programs import TOP
from selftests.mutants import table

from approxftl_tools.study_plan import cached_file_digest

Json = dict[str, Any]

#: Arguments appended to each run, mutants in the program, and options of the synthetic streams.
#: Negative controls set them.
false_arguments: tuple[str, ...] = ()
false_mutants: tuple[str, ...] = ()
false_streams: Json = {}


def get_build_directory() -> Path:
    return Path(os.environ.get("AFTL_BUILD", TOP / "build")).absolute()


def program_under_test() -> Path:
    return Path(os.environ.get("APPROXFTL", get_build_directory() / "approxftl")).absolute()


def get_seed_of_runs() -> str:
    return os.environ.get("CLAIMS_SEED", "1")


@functools.cache
def copied_source_tree() -> Path:
    """Return a copy of the source tree, which is removed at exit."""
    folder = tempfile.TemporaryDirectory(prefix="claims-tree-")
    table.copy_source_tree(Path(folder.name))
    copied_source_tree.__dict__["folder"] = folder
    return Path(folder.name)


def build_with_mutants(mutants: tuple[str, ...]) -> None:
    """Build the simulator in the copied tree with some mutants.

    Compiling everything once without link-time optimisation is faster than two links with it.
    """
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MFLAGS")}
    with table.write_texts_temporarily(table.apply_mutant_edits(list_edits_of_mutants(mutants),
                                                                copied_source_tree()),
                                       copied_source_tree()):
        subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "OPT=-O1", "WERROR=",
                        "build/approxftl"],
                       cwd=copied_source_tree(), env=environment, stdout=subprocess.DEVNULL,
                       check=True)


def list_edits_of_mutants(mutants: tuple[str, ...]) -> list[table.Edit]:
    edits = {mutant.name: mutant.edits for mutant in table.load_all_mutants()}
    return [edit for name in mutants for edit in edits[name]]


@functools.cache
def program_with_mutants(mutants: tuple[str, ...]) -> Path:
    """Return the simulator's path, rebuilt with mutants if there are any."""
    if not mutants:
        return program_under_test()
    changed = repr((cached_file_digest(program_under_test()), list_edits_of_mutants(mutants)))
    built = get_build_directory() / "cache/claims" / hashlib.sha256(changed.encode()).hexdigest()
    built.parent.mkdir(parents=True, exist_ok=True)
    if not built.exists():
        build_with_mutants(mutants)
        shutil.copy2(copied_source_tree() / "build/approxftl", built.with_suffix(".new"))
        built.with_suffix(".new").replace(built)
    return built


def run_two_streams_on_one_device(first: tuple[str, ...], then: tuple[str, ...]) -> Json:
    """Run requests on a new device, save it, run other requests on it; return the last result."""
    with tempfile.TemporaryDirectory(prefix="claims-device-") as folder:
        device, command = f"{folder}/device", (program_with_mutants(false_mutants), "sim")
        subprocess.run([*command, *first, f"--seed={get_seed_of_runs()}", *false_arguments,
                        f"--dump={device}", "-q"], stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run([*command, f"--load={device}", *then, "--json", "-q"],
                              stdout=subprocess.PIPE, check=True)
    run: Json = json.loads(done.stdout)["runs"][0]
    return run


def simulate_with_timeline(*arguments: str) -> tuple[Json, list[Json]]:
    """Return what a run reports, and its operations on the flash in the order of their times."""
    with tempfile.TemporaryDirectory(prefix="claims-timeline-") as folder:
        timeline = Path(folder) / "timeline.json"
        done = subprocess.run(
            [program_with_mutants(false_mutants), "sim", "--json", "-q", *arguments,
             f"--seed={get_seed_of_runs()}", f"--timeline={timeline}", *false_arguments],
            stdout=subprocess.PIPE, check=True)
        events = json.loads(timeline.read_text())["traceEvents"]
    return json.loads(done.stdout), sorted((event for event in events if event["ph"] == "X"),
                                           key=lambda event: float(event["ts"]))


@contextmanager
def falsified_settings(arguments: tuple[str, ...] = (), mutants: tuple[str, ...] = (),
                       made_by: Json | None = None) -> Iterator[None]:
    """Context manager: run all claims with these falsified settings; nested calls add up."""
    global false_arguments, false_mutants, false_streams
    before = false_arguments, false_mutants, false_streams
    false_arguments = (*false_arguments, *arguments)
    false_mutants = tuple(sorted({*false_mutants, *mutants}))
    false_streams = false_streams | (made_by or {})
    try:
        yield
    finally:
        false_arguments, false_mutants, false_streams = before
