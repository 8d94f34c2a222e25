# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the wear of blocks."""

from collections.abc import Sequence
from itertools import pairwise

from approxftl_tools.figure import Bars, Figure, Grid
from approxftl_tools.figure_runs import Lacking, make_panel_plot, require_runs, source_files_of_runs
from approxftl_tools.inputs import Inputs

#: Largest number of columns and cells of a map; more blocks share a cell.
MAP_COLUMNS, MAP_CELLS = 128, 4096


def wear_distribution(inputs: Inputs) -> list[Figure]:
    runs = require_runs(inputs)
    if not any(run.data["blocks"]["wear"]["max"] for run in runs):
        raise Lacking("no block has been erased; --fill random, or more writes, does it")
    return [Figure("wear", "Wear of blocks",
                   "Least, mean and most wear of a block, in full erases. Less, and less spread, "
                   "is better.",
                   make_panel_plot(inputs, lambda some, names: Bars(names, [
                       (what, [run.data["blocks"]["wear"][what] for run in some])
                       for what in ("min", "mean", "max")], "full erases")),
                   source_files_of_runs(runs))]


def average_wear_over_block_ranges(values: Sequence[float], columns: int) -> list[float]:
    ends = [len(values) * i // columns for i in range(columns + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]


def wear_map_by_lun(values: Sequence[float], per_lun: int, value_label: str) -> Grid:
    columns = min(per_lun, MAP_COLUMNS, max(1, MAP_CELLS * per_lun // max(1, len(values))))
    firsts = [per_lun * i // columns for i in range(columns)]
    rows = [average_wear_over_block_ranges(values[i:i + per_lun], columns)
            for i in range(0, len(values), per_lun)]
    label = "block of the LUN" if columns == per_lun else "first of the blocks of the LUN"
    return Grid("LUN", label, [str(i) for i in range(len(rows))], [str(i) for i in firsts], rows,
                value_label)


def wear_maps_of_devices(inputs: Inputs) -> list[Figure]:
    """Return wear maps of devices; a row is a LUN if an input is the answer to message "luns"."""
    result = []
    luns = next((message for message in inputs.messages if message.kind == "luns"), None)
    for message in inputs.messages:
        if message.kind == "blocks":
            wear = [int(row[4]) / 10000 for row in message.rows if row[0] != "next"]
            even = luns is not None and len(wear) % len(luns.rows) == 0
            per_lun = len(wear) // len(luns.rows) if luns and even else len(wear)
            result.append(Figure(
                "wear-map", f"Wear of each block, {message.label}",
                "Wear in full erases, a row for each LUN, blocks from left to right. Even "
                "colour is even wear." + ("" if even else
                                          " Without the answer to luns there is one row."),
                wear_map_by_lun(wear, per_lun, "full erases"), (str(message.path),)))
    return result


def wear_maps(inputs: Inputs) -> list[Figure]:
    result = []
    for run in inputs.runs:
        table = run.data.get("block_table")
        if table:
            grid = wear_map_by_lun(table["wear"], run.geometry["blocks_per_lun"], "full erases")
            result.append(Figure(
                "wear-map", f"Wear of each block, {run.label}",
                "Wear in full erases, a row for each LUN, blocks from left to right. Even "
                "colour is even wear.", grid, (str(run.path),), run.label))
    found = result + wear_maps_of_devices(inputs)
    if not found:
        raise Lacking("approxftl sim --json=FILE --block-table records it; a device answers "
                      'approxftl message NAME "blocks FIRST COUNT"')
    # Leave out a map of a single colour, which shows nothing.
    uneven = [one for one in found if len({row[-1] for row in one.plot.csv_rows()}) > 1]
    if not uneven:
        raise Lacking("all blocks are equally worn")
    return uneven
