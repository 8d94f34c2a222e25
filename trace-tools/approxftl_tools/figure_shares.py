# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the composition of a run: blocks, modes, energy, causes of writes, errors."""

from collections.abc import Callable, Sequence

from approxftl_tools.colours import CAUSES
from approxftl_tools.figure import Bars, Figure
from approxftl_tools.figure_runs import (
    Lacking,
    make_panel_plot,
    mean_of_measure,
    require_runs,
    source_files_of_runs,
)
from approxftl_tools.inputs import Inputs, Run


def make_stacked_bar_figures(inputs: Inputs, parts: Callable[[Run], dict[str, float]], name: str,
                             title: str, description: str, unit: str, *, lacking: str,
                             shares: bool = False) -> list[Figure]:
    every = [parts(run) for run in require_runs(inputs)]
    keys = list(dict.fromkeys(key for table in every for key in table))
    keys = [key for key in keys if any(table.get(key) for table in every)]
    if not keys:
        raise Lacking(lacking)

    def make_stacked_bar_plot(runs: Sequence[Run], names: Sequence[str]) -> Bars:
        tables = [parts(run) for run in runs]
        series = []
        for key in keys:
            values = []
            for table in tables:
                total = sum(table.values()) if shares else 1
                values.append((100 if shares else 1) * table.get(key, 0) / total if total else None)
            series.append((key.replace("_", " "), values))
        return Bars(names, series, unit, stacked=True)

    return [Figure(name, title, description, make_panel_plot(inputs, make_stacked_bar_plot),
                   source_files_of_runs(inputs.runs))]


def make_block_kind_figures(inputs: Inputs) -> list[Figure]:
    return make_stacked_bar_figures(
        inputs,
        lambda run: {name: count["pages"] for name, count in run.data["block_kinds"].items()},
        "block-kinds", "Kinds of blocks",
        "What the filled blocks of each run were, as shares of their pages.", "% of pages",
        shares=True, lacking="no block has been filled; more --requests fill some")


def make_program_mode_figures(inputs: Inputs) -> list[Figure]:
    return make_stacked_bar_figures(
        inputs, lambda run: run.data["mode_pages"], "modes", "Program modes",
        "How pages were programmed, as shares of all programmed pages.", "% of pages",
        shares=True, lacking="no page has been programmed; more writes do it")


def make_energy_figures(inputs: Inputs) -> list[Figure]:
    """Return a figure of energy by operation, relative to the first run."""
    runs = require_runs(inputs)
    base = mean_of_measure(runs[0], "total_energy_pj")
    if not base:
        raise Lacking("the first run has used no energy")
    return make_stacked_bar_figures(
        inputs,
        lambda run: {what: run.data["energy"][f"{what}_pj"] / base
                     for what in ("program", "erase", "read")},
        "energy", "Energy",
        f"Energy of the flash by operation, relative to all of {runs[0].label}. "
        "Less is better.", f"times that of {runs[0].label}", lacking="no run has used energy")


def amplification_by_cause(inputs: Inputs) -> list[Figure]:
    return make_stacked_bar_figures(
        inputs,
        lambda run: {cause: run.data["write_amplification"].get(cause, 0) for cause in CAUSES},
        "write-amplification", "Write amplification",
        "Units programmed for each unit that the host wrote, by cause. Less is better.",
        "units programmed per unit written", lacking="nothing was written")


def bit_error_rates(inputs: Inputs) -> list[Figure]:
    """Return a figure of the bit error rate of approximate data."""
    runs = require_runs(inputs)
    rates = {run.label: mean_of_measure(run, "bit_error_rate") for run in runs}
    if all(rate is None for rate in rates.values()):
        raise Lacking("no approximate data was read; --approx-share above 0 with reads does it")
    return [Figure("quality", "Bit error rate of approximate data",
                   "Bits that came back wrong, of all bits of approximate data that were read.",
                   make_panel_plot(inputs, lambda some, names: Bars(
                       names, [("bit error rate", [rates[run.label] for run in some])],
                       "bits per bit")), source_files_of_runs(runs))]
