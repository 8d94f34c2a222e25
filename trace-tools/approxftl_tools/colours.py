# SPDX-License-Identifier: GPL-2.0-only
"""Assign colours to names, the same in every figure.

Policies have one palette; parts of a run, such as causes, classes and modes, have another, so that
a colour never has two meanings.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle

from approxftl_tools.figure import Figure, Hue, Panels, Plot, list_names_in_plot_legend
from approxftl_tools.figure_runs import (
    do_inputs_compare_policies,
    list_group_names_of_runs,
    list_policies_in_run_order,
)
from approxftl_tools.inputs import Inputs

#: Number of colours of policies and of parts, and of shades of each colour.
COLOURS, PARTS, SHADES = 8, 10, 3
#: Colour of each cause of a write.
CAUSES = {"host": 1, "gc": 6, "wear": 7, "refresh": 3, "promotion": 8, "rewrite": 4, "retire": 19,
          "fold": 2, "map": 0, "padding": 9, "rebuild": 17, "parity": 18}
OPERATIONS = ("program", "read", "erase")
STATISTICS = {"mean": 0, "p50": 1, "p99": 2, "max": 3, "min": 4}
CLASSES = {"precise": 0, "approximate": 5}
#: Shade of a class for each program mode; the default mode has no shade.
MODES = {"between": 1, "after": 2, "coarse": 1, "fine": 2, "follower": 1, "mlc": 1, "slc": 2,
         "foggy": 1, "lending": 2, "switched": 1, "rough": 2}


def make_palette_colour(index: int, shade: int = 0) -> Hue:
    return Hue("m", index % PARTS, (shade + index // PARTS) % SHADES)


def find_reserved_colour_of_name(name: str) -> Hue | None:
    """Return the colour of a cause, operation, statistic or class; None for other names."""
    operation, _, cause = name.removesuffix(")").partition(" (")
    if operation in OPERATIONS and cause in ("", *CAUSES):
        return make_palette_colour(CAUSES[cause or "host"], OPERATIONS.index(operation))
    for table in (CAUSES, STATISTICS):
        if name in table:
            return make_palette_colour(table[name])
    class_, _, mode = name.partition(", ")
    if class_ in CLASSES:
        return make_palette_colour(CLASSES[class_], MODES.get(mode, 0))
    return None


def colours_of_runs(inputs: Inputs) -> dict[str, Hue]:
    """Return a colour for each run; workloads with one policy get shades of its colour."""
    order = {name: i for i, name in enumerate(list_policies_in_run_order(inputs.runs))}
    shades = {name: i for i, name in enumerate(list_group_names_of_runs(inputs.runs))}
    if do_inputs_compare_policies(inputs):
        known = {name: Hue("s", i % COLOURS, i // COLOURS % SHADES) for name, i in order.items()}
        return known | {run.label: replace(known[run.policy], shade=(
            known[run.policy].shade + shades[run.group]) % SHADES) for run in inputs.runs}
    names = dict.fromkeys([*(run.label for run in inputs.runs),
                           *(file.path.stem for file in inputs.records),
                           *(log.path.stem for log in inputs.logs)])
    return {name: Hue("s", i % COLOURS, i // COLOURS % SHADES) for i, name in enumerate(names)}


def assign_figure_colours(figure: Figure, known: Mapping[str, Hue]) -> Figure:
    """Return a figure with colours assigned to the names in it."""
    own = {name: known.get(name) or find_reserved_colour_of_name(name)
           for name in list_names_in_plot_legend(figure.plot)}
    # Other names get the remaining colours, each its own as long as there are any.
    taken = {hue.index for hue in own.values() if hue and hue.palette == "m"}
    free = cycle([i for i in range(PARTS) if i not in taken] or range(PARTS))
    hues = {name: hue or make_palette_colour(next(free)) for name, hue in own.items()}

    def assign_plot_colours(plot: Plot) -> Plot:
        if isinstance(plot, Panels):
            return Panels([(name,
                            replace(one, hues=[hues[it]
                                               for it in list_names_in_plot_legend(one)]))
                           for name, one in plot.panels])
        return replace(plot, hues=[hues[name] for name in list_names_in_plot_legend(plot)])

    return replace(figure, plot=assign_plot_colours(figure.plot))
