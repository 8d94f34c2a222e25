# SPDX-License-Identifier: GPL-2.0-only
"""Write certificates: a page and a JSON document of points, errors, build, and how to repeat it."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from approxftl_tools import command
from approxftl_tools.page import template_environment
from approxftl_tools.study_plan import cached_file_digest

Json = dict[str, Any]


def make_certificate_paths(name: Path) -> tuple[Path, Path]:
    """Return the paths of the HTML page and the JSON document that --certificate NAME writes."""
    return name.with_name(f"{name.name}.html"), name.with_name(f"{name.name}.json")


def claim_certificate_files(name: Path | None) -> None:
    """Claim the output files of --certificate, if it was given; refuse if pages cannot be made."""
    if name:
        template_environment()
    for path in make_certificate_paths(name) if name else ():
        command.CLAIMS.claim_output(path, "--certificate")


def compute_sha256_of_files(paths: Sequence[Path]) -> dict[str, str]:
    return {path.name: cached_file_digest(path) for path in paths}


def identify_certified_run(verb: str, argv: Sequence[str]) -> Json:
    """Return the command that repeats a run, and the digest of the simulator."""
    return {"repeat": shlex.join(("approxftl", verb, *argv)),
            "simulator_sha256": cached_file_digest(command.simulator_path())}


def make_certificate_rows(identity: Json, digests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the table rows that all certificates have: command, program, digests of inputs."""
    return [("repeat", identity["repeat"]),
            ("simulator, version", command.simulator_version()),
            ("simulator, SHA-256", identity["simulator_sha256"]),
            *((f"{name}, SHA-256", digest) for name, digest in digests.items())]


def write_certificate(name: Path, document: Json, page: str) -> None:
    """Write both files of a certificate."""
    html, json = make_certificate_paths(name)
    command.write_json_document(json, document)
    command.write_file(html, page)
