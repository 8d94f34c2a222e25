# SPDX-License-Identifier: GPL-2.0-only
"""Store the results of studies: one directory for each simulation, named by a digest of its inputs.

A result is written atomically. A directory without a result belongs to an interrupted point, or has
a file with the reason of the point's failure.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approxftl_tools.command import Refusal, write_file
from approxftl_tools.inputs import Inputs, add_simulation
from approxftl_tools.study_plan import Point

DONE, FAILED, MISSING = "done", "failed", "missing"


def read_result_file(path: Path) -> dict[str, Any]:
    """Return a stored result of a point; refuse a damaged or interrupted one."""
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        add_simulation(Inputs(), path, document)
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise Refusal(f"{path}: damaged ({error}); remove it and run again") from error
    if document.get("interrupted"):
        raise Refusal(f"{path}: of a run that was interrupted; remove it and run again")
    return document


@dataclass(frozen=True)
class Store:
    """The stored results of a study's points, below one directory."""

    root: Path

    def point_directory(self, point: Point) -> Path:
        return self.root / point.address

    def state_of_point(self, point: Point) -> str:
        """Return the state of a point: done, failed or missing."""
        place = self.point_directory(point)
        if (place / "result.json").exists():
            return DONE
        return FAILED if (place / "failure.json").exists() else MISSING

    def create_result_directory(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refusal(f"{self.root}: cannot make it: {error.strerror}") from error

    def write_file_of_point(self, point: Point, name: str, document: Any) -> None:
        place = self.point_directory(point)
        place.mkdir(parents=True, exist_ok=True)
        write_file(place / name, document if isinstance(document, str)
                   else json.dumps(document, indent=1) + "\n")

    def store_result(self, point: Point, result: str) -> None:
        """Store a result, and remove the reason of an earlier failure."""
        self.write_file_of_point(point, "point.json", {"varied": dict(point.varied),
                                                       "command": point.shell_command()})
        self.write_file_of_point(point, "result.json", result)
        (self.point_directory(point) / "failure.json").unlink(missing_ok=True)

    def store_failure(self, point: Point, why: str) -> None:
        self.write_file_of_point(point, "failure.json", {"varied": dict(point.varied),
                                                         "command": point.shell_command(),
                                                         "why": why})

    def read_point_result(self, point: Point) -> dict[str, Any]:
        return read_result_file(self.point_directory(point) / "result.json")

    def read_result_text(self, point: Point) -> str:
        """Return the stored text of a point's result."""
        return (self.point_directory(point) / "result.json").read_text("utf-8")

    def read_point_failure(self, point: Point) -> str:
        """Return the reason of a point's failure."""
        try:
            path = self.point_directory(point) / "failure.json"
            return str(json.loads(path.read_text("utf-8"))["why"])
        except (OSError, ValueError, KeyError):
            return "nobody wrote down why"
