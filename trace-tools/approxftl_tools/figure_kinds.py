# SPDX-License-Identifier: GPL-2.0-only
"""The kinds of figure.

Each kind turns the input files into figures. If the files lack the data for a kind, it raises the
exception Lacking, whose text names the option that records the data.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from approxftl_tools import (
    figure_activity,
    figure_pages,
    figure_ratios,
    figure_records,
    figure_shares,
    figure_times,
    figure_wear,
)
from approxftl_tools.colours import assign_figure_colours, colours_of_runs
from approxftl_tools.figure import Figure
from approxftl_tools.inputs import Inputs


@dataclass(frozen=True)
class Kind:
    name: str
    title: str
    draw: Callable[[Inputs], list[Figure]]


KINDS: tuple[Kind, ...] = (
    Kind("ratios", "ratios to the first policy, with intervals",
         figure_ratios.make_figures_of_policy_ratios),
    Kind("response", "response times relative to the first run",
         figure_times.make_response_figures_of_all_requests),
    Kind("class-response", "the same of writes by the class of their data",
         figure_times.response_times_by_class),
    Kind("cdf", "distributions of response times", figure_times.make_response_distribution_figures),
    Kind("block-kinds", "what blocks were used for", figure_shares.make_block_kind_figures),
    Kind("modes", "how pages were programmed", figure_shares.make_program_mode_figures),
    Kind("energy", "energy by operation", figure_shares.make_energy_figures),
    Kind("write-amplification", "write amplification by cause",
         figure_shares.amplification_by_cause),
    Kind("wear", "wear of blocks", figure_wear.wear_distribution),
    Kind("quality", "bit errors of approximate data", figure_shares.bit_error_rates),
    Kind("wear-map", "wear of each block", figure_wear.wear_maps),
    Kind("page-map", "class, mode and age of the pages of a block",
         figure_pages.make_page_map_figures),
    Kind("luns", "how busy each LUN was", figure_activity.lun_figures),
    Kind("timeline", "what each LUN did when", figure_activity.timeline_of_luns),
    Kind("device", "a device from interval to interval",
         figure_activity.make_device_rate_figures_by_interval),
    Kind("replay", "latencies that a replay has measured",
         figure_times.make_replay_latency_figures),
    Kind("replay-lag", "how late a replay was", figure_times.make_figures_of_replay_lateness),
    Kind("records", "what record files are made of", figure_records.make_figures_of_record_file),
)


def draw_figures_of_named_kind(kind: Kind, inputs: Inputs) -> list[Figure]:
    known = colours_of_runs(inputs)
    figures = [assign_figure_colours(figure, known) for figure in kind.draw(inputs)]
    counts: Counter[str] = Counter(figure.name for figure in figures)
    seen: Counter[str] = Counter()
    result = []
    for figure in figures:
        name = figure.name
        if counts[name] > 1:
            seen[name] += 1
            name = f"{name}-{seen[name]}"
        result.append(replace(figure, name=name))
    return result
