# SPDX-License-Identifier: GPL-2.0-only
"""Pack a study with its results into an archive, and verify an archive by running it again."""

import gzip
import hashlib
import io
import json
import platform
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from approxftl_tools import command, study_plan
from approxftl_tools.command import DONE, FAILED, NOT_VERIFIED, Refusal
from approxftl_tools.study_engine import Engine
from approxftl_tools.study_plan import Plan, Point
from approxftl_tools.study_store import DONE as IS_DONE
from approxftl_tools.study_store import Store
from approxftl_tools.study_streams import Setting

STUDY, PROVENANCE = "study.toml", "provenance.json"
#: Version of the archive format.
FORMAT = 1
#: Largest member, so that a foreign archive cannot exhaust the memory.
MOST_BYTES = 1 << 32


def remove_varying_result_fields(text: str) -> str:
    """Return a result without the fields that depend on the command line or on file paths."""
    document: dict[str, Any] = json.loads(text)
    document.pop("tool", None)
    document.get("stream", {}).pop("trace", None)
    return json.dumps(document, indent=1)


def results_provenance(plan: Plan, seeds: int, results: Sequence[str], argv: Sequence[str]) -> str:
    program, build = plan.points[0].files[0]
    return json.dumps({
        **command.make_common_keys_of_json_documents("study", argv), "study_archive": FORMAT,
                       "study": plan.name,
        "seeds": seeds, "full": plan.setting.full,
        "simulator": {"name": Path(program).name, "sha256": build},
        "machine": {"system": platform.system(), "release": platform.release(),
                    "processor": platform.machine(), "python": platform.python_version()},
        "files": {name: f"files/{i}" for i, name in enumerate(plan.files)},
        "points": [{"varied": dict(point.varied), "command": point.shell_command(),
                    "sha256": hashlib.sha256(kept.encode()).hexdigest()}
                   for point, kept in zip(plan.points, map(remove_varying_result_fields, results),
                                          strict=True)],
    }, indent=1) + "\n"


def add_tar_member(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a member to the archive, without time and owner."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    archive.addfile(member, io.BytesIO(content))


def pack_study(plan: Plan, seeds: int, store: Store, path: Path, argv: Sequence[str]) -> None:
    """Write a study and its results; equal input gives an equal archive."""
    missing = sum(store.state_of_point(point) != IS_DONE for point in plan.points)
    if missing:
        raise Refusal(f"{plan.path}: {missing} of {len(plan.points)} points are not done; "
                      '"approxftl study run" does them')
    results = [(store.point_directory(point) / "result.json").read_text("utf-8")
               for point in plan.points]
    with command.temporary_output(path) as file, file.open("wb") as sink, gzip.GzipFile(
            fileobj=sink, mode="wb", filename="", mtime=0) as packed, tarfile.open(
            fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add_tar_member(archive, STUDY, plan.path.read_bytes())
        add_tar_member(archive, PROVENANCE, results_provenance(plan, seeds, results, argv).encode())
        for i, name in enumerate(plan.files):
            add_tar_member(archive, f"files/{i}", plan.files[name].read_bytes())
        for i, result in enumerate(results):
            add_tar_member(archive, f"results/{i}.json", result.encode())


# ---------------------------------------------------------------- verify


def read_tar_member(archive: tarfile.TarFile, name: str) -> bytes:
    """Return the contents of an archive's member; refuse a member that is no regular file."""
    member = archive.getmember(name)
    file = archive.extractfile(member) if member.isreg() and member.size <= MOST_BYTES else None
    if file is None:
        raise KeyError(name)
    return file.read()


def unpack_study(archive: tarfile.TarFile, folder: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """Extract the study and its files into a folder, under names that differ from the archive's."""
    (folder / STUDY).write_bytes(read_tar_member(archive, STUDY))
    found: dict[str, Any] = json.loads(read_tar_member(archive, PROVENANCE))
    if found["study_archive"] != FORMAT:
        raise ValueError(f"archive of version {found['study_archive']}")
    files = {}
    for i, name in enumerate(found["files"]):
        files[str(name)] = folder / f"file-{i}"
        files[str(name)].write_bytes(read_tar_member(archive, f"files/{i}"))
    return found, files


def rerun_and_compare_points(plan: Plan, archive: tarfile.TarFile, engine: Engine) -> list[str]:
    """Run every point of a study again; return the points whose result differs from the archive."""
    places: dict[str, list[int]] = {}
    for i, point in enumerate(plan.points):
        places.setdefault(point.address, []).append(i)
    unique: list[Point] = [plan.points[numbers[0]] for numbers in places.values()]
    found = []
    try:
        for outcome in engine.run_all_points(unique):
            for i in places[outcome.point.address]:
                packed = remove_varying_result_fields(
                    read_tar_member(archive, f"results/{i}.json").decode())
                if outcome.result is None:
                    found.append(f"{outcome.point.point_name()}: {outcome.why}")
                elif remove_varying_result_fields(outcome.result) != packed:
                    found.append(f"{outcome.point.point_name()}: comes out otherwise")
    finally:
        engine.stop_all_points()
    return sorted(found)


def verify_archive(path: Path, program: Path, engine: Engine) -> int:
    """Run an archive's study again, and compare the results."""
    with tempfile.TemporaryDirectory(prefix="approxftl-verify-") as name:
        folder = Path(name)
        try:
            with tarfile.open(path, "r:gz") as archive:
                known, files = unpack_study(archive, folder)
                plan = study_plan.read_study(folder / STUDY, program, int(known["seeds"]), files,
                                             Setting(full=bool(known.get("full", False))))
                if len(plan.points) != len(known["points"]):
                    raise ValueError("it has results of other points")
                wrong = rerun_and_compare_points(plan, archive, engine)
        except OSError as error:
            raise Refusal(f"{path}: cannot read: {error.strerror or error}",
                          FAILED if path.is_file() else command.NOT_FOUND) from error
        except (tarfile.TarError, KeyError, ValueError, TypeError, AttributeError, EOFError
                ) as error:
            raise Refusal(f"{path}: no archive of a study: {error}") from error
    packer = str(known.get("tool", {}).get("version", "unknown"))
    same = "the same build" if known["simulator"]["sha256"] == plan.points[0].files[0][1] else (
        "another build")
    print(f"{known.get('study', plan.name)}: {len(plan.points)} points of approxftl {packer} run "
          f"again by {same}, {len(wrong)} differ")
    for sentence in wrong:
        print(f"  {sentence}")
    return NOT_VERIFIED if wrong else DONE
