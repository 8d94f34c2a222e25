# SPDX-License-Identifier: GPL-2.0-only
"""The runs that figures are of, and what they lack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import measured


class Lacking(Exception):  # noqa: N818
    """There is nothing to draw; the text says what would record it."""


def sources(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return the files that runs are from."""
    return tuple(dict.fromkeys(str(run.path) for run in runs))


def runs_of(inputs: Inputs) -> list[Run]:
    """Return the runs, of which there must be one."""
    if not inputs.runs:
        raise Lacking("a result of approxftl sim --json FILE has it")
    return inputs.runs


def value_of(run: Run, key: str) -> float | None:
    """Return a measure of a run."""
    return measured(run.data, run.geometry.get("unit_bytes"))[key]


def policies(runs: Sequence[Run]) -> list[str]:
    """Return the policies in the order of their first appearance."""
    return list(dict.fromkeys(run.policy for run in runs))


def of_policy(runs: Iterable[Run], policy: str) -> Run | None:
    """Return the first run of a policy."""
    return next((run for run in runs if run.policy == policy), None)


def groups_of(runs: Sequence[Run]) -> list[str]:
    """Return the inputs of runs."""
    return list(dict.fromkeys(run.group for run in runs))


def several_policies(inputs: Inputs) -> bool:
    """Tell whether inputs are workloads that several policies ran."""
    groups = [inputs.group(name) for name in inputs.groups()]
    return len(groups) > 1 and any(len(group) > 1 for group in groups)
