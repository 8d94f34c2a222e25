# SPDX-License-Identifier: GPL-2.0-only
"""Run each simulation once and look up its result by the simulation's options."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approxftl_tools.study_engine import Processes
from approxftl_tools.study_plan import Point, identify_simulator, make_study_point
from approxftl_tools.study_run import require_point_results
from approxftl_tools.study_store import Store

Json = dict[str, Any]
#: Options of approxftl sim.
Options = tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """Runs simulations with one simulator program, and keeps their results in one store."""

    program: Path
    jobs: int
    store: Store
    progress: bool = False

    def run_or_look_up_simulations(self, runs: Iterable[Options]) -> dict[Options, Json]:
        points = {options: make_study_point(identify_simulator(self.program),
                                            options) for options in runs}
        return dict(zip(points, self.run_points_or_read_stored_results(list(points.values())),
                        strict=True))

    def run_points_or_read_stored_results(self, points: Sequence[Point]) -> list[Json]:
        """Run the simulations that have no stored result, in order; return all results."""
        require_point_results(points, self.store, Processes(self.program, self.jobs), self.progress)
        return [self.add_geometry_to_result(self.store.read_point_result(point))
                for point in points]

    @staticmethod
    def add_geometry_to_result(whole: Json) -> Json:
        """Return the result of a run together with its geometry and parameters."""
        result: Json = whole["runs"][0]
        return {**result, "unit_bytes": whole["geometry"]["unit_bytes"],
                "geometry": whole["geometry"], "parameters": whole["parameters"]}
