# SPDX-License-Identifier: GPL-2.0-only
"""Lists with selectable columns (-o) and sorted rows (-S), as text or as JSON.

userspace/lib/text-list.c does the same for the programs in C.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from approxftl_tools import command

#: Values by column key, as in JSON.
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    #: Key in JSON, including the unit; -o and -S accept it and the title.
    key: str
    title: str
    about: str
    #: True if cells are right-aligned.
    right: bool = True
    #: True if the column is hidden by default.
    more: bool = False
    #: Function that returns the text of a cell; None to print the cell's value.
    said: Callable[[Row], str] | None = None


@dataclass(frozen=True)
class Choice:
    """The columns and the order of a list, as the options -o and -S chose them."""

    shown: tuple[Column, ...]
    #: Sort columns; true means descending.
    by: tuple[tuple[Column, bool], ...]
    head: bool
    #: True if any list option was given.
    chosen: bool

    def sort_rows_of_list(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows sorted by the chosen columns; the sort is stable."""
        found = list(rows)
        for column, falls in reversed(self.by):
            key = column.key
            # Missing values are None, which cannot be compared: they count as the smallest.
            found.sort(key=lambda row, key=key: (  # type: ignore[misc]
                row[key] is not None, "" if row[key] is None else row[key]), reverse=falls)
        return found

    def print_list_rows(self, arguments: argparse.Namespace, verb: str, argv: Sequence[str],
                        rows: Sequence[Row]) -> None:
        """Print the list, or write it as JSON."""
        rows = self.sort_rows_of_list(rows)
        if arguments.json:
            command.write_json_document(
                arguments.json,
                {**command.make_common_keys_of_json_documents(verb, argv),
                 "rows": [{column.key: row[column.key] for column in self.shown} for row in rows]})
            return
        cells = [[column.said(row) if column.said else
                  "" if row[column.key] is None else str(row[column.key])
                  for column in self.shown] for row in rows]
        head = [[column.title for column in self.shown]] if self.head else []
        sys.stdout.write(align_columns(head + cells, [column.right for column in self.shown]))


def align_columns(cells: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """Return cells as aligned text columns; columns marked in `right` are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(text.rjust(width) if to_right else text.ljust(width)
                       for text, width, to_right in zip_longest(line, widths, right)).rstrip()
             for line in cells)
    return "".join(f"{line}\n" for line in lines)


def add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--show", metavar="COLUMN,...",
                        help="only these columns, or +A,... more of them; help lists them")
    parser.add_argument("-S", "--sort", metavar="COLUMN,...",
                        help="rows by these columns; with - before it, the largest first")
    parser.add_argument("--no-head", action="store_true", help="a list without its titles")


def find_column_of_list(columns: Sequence[Column], name: str, before: Sequence[Column]) -> Column:
    """Return the column with a given name; refuse an unknown or repeated column."""
    for column in columns:
        if name.lower() in (column.key.lower(), column.title.lower()):
            if column in before:
                raise command.Refusal(f'column "{name}" is there twice', command.USAGE)
            return column
    known = [word for column in columns for word in (column.key, column.title)]
    nearest = command.suggest_known_word(name, known, '; "-o help" lists them')
    raise command.Refusal(f'no column "{name}"{nearest}', command.USAGE)


def choose_shown_columns(columns: Sequence[Column], names: str | None) -> tuple[Column, ...]:
    """Return the list columns that the option -o selects."""
    usual = [column for column in columns if not column.more]
    if names is None:
        return tuple(usual)
    found = usual if names.startswith("+") else []
    for name in split_column_names(names.removeprefix("+")):
        found.append(find_column_of_list(columns, name, found))
    return tuple(found)


def split_column_names(names: str) -> list[str]:
    """Return the column names of a comma-separated list; a trailing comma is ignored."""
    return names.removesuffix(",").split(",")


def choose_sort_keys(columns: Sequence[Column], names: str | None) -> tuple[tuple[Column, bool],
                                                                           ...]:
    """Return the list columns by which the option -S sorts."""
    found: list[tuple[Column, bool]] = []
    for name in split_column_names(names) if names is not None else ():
        column = find_column_of_list(columns, name[1:] if name[:1] in ("+", "-") else name,
                                     [one for one, _ in found])
        found.append((column, name.startswith("-")))
    return tuple(found)


def refuse_list_options_without_list(arguments: argparse.Namespace, option: str) -> None:
    for name in ("show", "sort"):
        if getattr(arguments, name) is not None:
            raise command.Refusal(f"--{name} needs {option}", command.USAGE)


def choose_list_columns(arguments: argparse.Namespace, columns: Sequence[Column]) -> Choice:
    """Return the options of a list; "-o help" prints the columns and exits."""
    if arguments.show == "help":
        notes = ("; not shown by default" if column.more else "" for column in columns)
        sys.stdout.write(align_columns([[column.key, column.title, column.about + note] for column,
                                        note in zip(columns, notes, strict=True)]))
        raise SystemExit(command.DONE)
    return Choice(choose_shown_columns(columns, arguments.show),
                  choose_sort_keys(columns, arguments.sort), not arguments.no_head,
                  arguments.show is not None or arguments.sort is not None)
