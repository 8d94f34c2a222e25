# SPDX-License-Identifier: GPL-2.0-only
"""What a report says before it shows anything: what was simulated, and which policy is better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from approxftl_tools.compare import shown_measures, values_of
from approxftl_tools.figure_runs import group_of
from approxftl_tools.inputs import Inputs, Run
from approxftl_tools.measures import scaled
from approxftl_tools.seeds import groups_of
from approxftl_tools.study_report import sentences
from approxftl_tools.study_table import cell, ends

Json = dict[str, Any]
#: What a verdict is about: a tail beside each mean.
JUDGED = (("write_response_mean_ns", "write_response_p99_ns"),
          ("read_response_mean_ns", "read_response_p99_ns"))


def device_words(document: Json) -> str:
    """Return what device was simulated."""
    shape = document["geometry"]
    sizes = [scaled("bytes", shape[key]) for key in ("capacity_bytes", "physical_bytes")
             if key in shape]
    return ", ".join([str(document.get("profile") or "a device of its own"),
                      *([" of ".join(map(str, sizes))] if sizes else []),
                      *([f"{shape['luns']} LUNs"] if "luns" in shape else [])])


def stream_words(document: Json) -> str:
    """Return what requests it got."""
    stream = document.get("stream") or {}
    if stream.get("source") == "trace":
        return f"requests of {PurePath(stream['trace']).name}"
    if "workload" not in stream:
        return "requests"
    sizes = " and ".join(str(scaled("bytes", one["bytes"])) for one in stream["sizes"])
    busy = stream.get("utilisation_percent")
    load = f", dies {busy:g} % busy" if busy else ""
    writes = f"{stream['write_share_percent']:g} % writes"
    return (f"{stream['workload']} requests of {sizes}, {writes}, "
            f"{stream['approx_share_percent']:g} % of them approximate{load}")


def one_or_several(found: Sequence[str], what: str) -> str:
    """Return what all have in common, or how many there are."""
    different = list(dict.fromkeys(found))
    return different[0] if len(different) == 1 else f"{len(different)} {what}"


def simulated(inputs: Inputs) -> str:
    """Return device, requests and policies of all runs."""
    documents = [run.document for run in inputs.runs]
    policies = ", ".join(dict.fromkeys(run.policy for run in inputs.runs))
    seeds = [f"{len(run.seeds)} seeds" for run in inputs.runs if len(run.seeds) > 1]
    return ("Simulated: " + one_or_several([device_words(one) for one in documents], "devices")
            + "; " + one_or_several([stream_words(one) for one in documents], "streams of requests")
            + f"; {policies}" + (f"; {one_or_several(seeds, 'numbers of seeds')} each" if seeds
                                 else "") + ".")


def verdicts(inputs: Inputs) -> list[str]:
    """Return how each policy does beside the first, with intervals."""
    groups = groups_of(inputs)
    yardstick = str(groups[0].varied["policy"])
    for keys in JUDGED:
        found = [one for key in keys for one in sentences(groups, yardstick, key)]
        if found:
            return found
    return []


def interval_rows(runs: Sequence[Run], every: bool) -> list[list[str]]:
    """Return the lines of a table of means over seeds, with intervals, its head first."""
    groups = [group_of(run) for run in runs]
    lines = [["", *(run.label for run in runs)]]
    for measure in shown_measures([values_of(run) for run in runs], every):
        row = [measure.title]
        for group in groups:
            ratio = None if group is groups[0] else group.ratio(groups[0], measure.key)
            found = (ends(measure.key, group.estimate(measure.key))
                     | ends(f"{measure.key}_ratio", ratio))
            row.append(cell(found, measure.key)
                       + (f" {cell(found, measure.key + '_ratio')}" if ratio else ""))
        lines.append(row)
    return lines
