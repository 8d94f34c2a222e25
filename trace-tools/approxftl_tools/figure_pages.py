# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the pages of a block."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from approxftl_tools.figure import Cell, Figure, Grid
from approxftl_tools.figure_runs import require_nonempty_figures
from approxftl_tools.inputs import Inputs, Message, seed_label_suffix

Json = dict[str, Any]


def flash_page_state(class_: str | None, mode: str | None, valid: int) -> str:
    if class_ is None:
        return "erased"
    return f"{class_}, {mode}" if valid else f"stale {class_}"


def list_page_states_of_block(page_map: Json) -> list[str]:
    return [flash_page_state(*triple) for triple in zip(page_map["class"], page_map["mode"],
                                                        page_map["valid_units"], strict=True)]


def sort_page_states_valid_first(page_maps: Iterable[Json]) -> list[str]:
    """Return the page states that occur in the blocks, in fixed order: valid, stale, erased."""
    words = {word for page_map in page_maps for word in list_page_states_of_block(page_map)}
    return sorted(words, key=lambda w: (w == "erased", w.startswith("stale"), w))


def split_page_values_into_layers(values: Sequence[Cell], row: int) -> list[list[Cell]]:
    """Return a block's page values in rows, one for each layer; the last layer is the first row."""
    return [list(values[i:i + row]) for i in range(0, len(values), row)][::-1]


def page_map_by_layer(values: Sequence[Cell], row: int, value_label: str,
                      words: Sequence[str] = ()) -> Grid:
    layers = -(-len(values) // row)
    padded = [*values, *[None] * (layers * row - len(values))]
    return Grid("layer", "page of the layer", [str(i) for i in range(layers)][::-1],
                [str(i) for i in range(row)], split_page_values_into_layers(padded, row),
                value_label, words)


def describe_age_of_pages(ages: set[int]) -> str:
    """Return a sentence about the age of the pages if all have one age, else an empty string."""
    return f" All were programmed {ages.pop()} hours ago." if len(ages) == 1 else ""


def make_figures_of_page_map(name: str, page_map: Json, row: int, order: Sequence[str],
                             source: str) -> list[Figure]:
    """Return figures of each page's class and mode, and of page ages if ages differ."""
    ages = page_map.get("age_hours") or []
    different = {age for age in ages if age is not None}
    what = f"block {page_map['block']}".strip()
    what += f" ({page_map['kind']})" if page_map["kind"] else ""
    title = f"{what[0].upper()}{what[1:]}, {name}"
    result = [Figure(
        "page-map", f"{title}: pages",
        "Class and program mode of each page, a row for each layer, the last layer on top. "
        f"Stale pages have been overwritten elsewhere.{describe_age_of_pages(set(different))}",
        page_map_by_layer(list_page_states_of_block(page_map), row, "page", order), (source,))]
    if len(different) > 1:
        result.append(Figure(
            "page-age", f"{title}: age",
            "Hours since each page was programmed, a row for each layer, the last layer on top.",
            page_map_by_layer(ages, row, "hours"), (source,)))
    return result


def flash_pages_per_layer(geometry: Json) -> int:
    return int(geometry["word_lines_per_layer"] * geometry["pages_per_word_line"])


MODES = ("normal", "reduced", "between", "after", "coarse", "fine", "follower", "mlc", "slc",
         "tlc", "foggy", "lending", "switched", "rough")
CLASSES = ("precise", "approximate")


def convert_block_message_reply_to_json(message: Message, pages: int) -> Json:
    """Convert a device's answer to the message "block" into the simulator's format."""
    number = re.search(r"\d+", message.label)
    result: Json = {"block": number[0] if number else "", "kind": "", "class": [None] * pages,
                    "mode": [None] * pages, "valid_units": [0] * pages}
    for row in message.rows:
        if row[0] == "kind":
            result["kind"] = row[1]
        elif row[0] == "page":
            page = int(row[1])
            result["class"][page] = CLASSES[int(row[3])]
            result["mode"][page] = MODES[int(row[5])]
            result["valid_units"][page] = int(row[7])
    return result


def make_page_map_figures_of_devices(inputs: Inputs) -> list[Figure]:
    """Return page maps of devices' blocks, with the pages per layer of a simulated run, if any."""
    result = []
    for message in inputs.messages:
        numbers = [int(row[1]) for row in message.rows if row[0] == "page"]
        if message.kind == "block" and numbers:
            shape = inputs.runs[0].geometry if inputs.runs else None
            row = flash_pages_per_layer(shape) if shape else 16
            pages = max(numbers[-1] + 1, shape["pages_per_block"] if shape else 0)
            pages_ = convert_block_message_reply_to_json(message, pages)
            result += make_figures_of_page_map(message.path.name, pages_, row,
                                               sort_page_states_valid_first([pages_]),
                                               str(message.path))
    return result


def make_page_map_figures(inputs: Inputs) -> list[Figure]:
    found: list[Figure] = []
    order = sort_page_states_valid_first(one for run in inputs.runs
                                         for one in run.data.get("page_maps", ()))
    for run in inputs.runs:
        for one in run.data.get("page_maps", ()):
            figures = make_figures_of_page_map(run.label + seed_label_suffix(run.data), one,
                                               flash_pages_per_layer(run.geometry), order,
                                               str(run.path))
            found += [replace(figure, of=run.label) for figure in figures]
    found += make_page_map_figures_of_devices(inputs)
    return require_nonempty_figures(found,
                                    "approxftl sim --json=FILE --page-map auto records it; a "
                                    'device answers approxftl message NAME "block 0"')
