# SPDX-License-Identifier: GPL-2.0-only
"""Lists whose columns are chosen (-o) and whose rows are sorted (-S), for a person or as JSON.

The programs in C have the same from userspace/lib/text-list.c.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approxftl_tools import command

#: Values as JSON has them, by the keys of the columns.
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """What a list can show."""

    #: In JSON, with the unit; -o and -S take it, or the title.
    key: str
    title: str
    about: str
    #: Whether it stands to the right.
    right: bool = True
    #: Shown only if it is asked for.
    more: bool = False
    #: What a person reads of a row in place of its value.
    said: Callable[[Row], str] | None = None

    def text(self, row: Row) -> str:
        """Return a cell."""
        value = row[self.key]
        return self.said(row) if self.said else "" if value is None else str(value)


@dataclass(frozen=True)
class Choice:
    """What a command line says of a list."""

    shown: tuple[Column, ...]
    #: With each whether the largest come first.
    by: tuple[tuple[Column, bool], ...]
    head: bool
    #: Anything was said.
    chosen: bool

    def ordered(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows in their order; equal ones stay as they were."""
        found = list(rows)
        for column, falls in reversed(self.by):
            key = column.key
            # Of different kinds are values only where some are missing.
            found.sort(key=lambda row, key=key: (  # type: ignore[misc]
                row[key] is not None, "" if row[key] is None else row[key]), reverse=falls)
        return found

    def cells(self, rows: Sequence[Row]) -> list[list[str]]:
        """Return the lines for a person, the titles first."""
        head = [[column.title for column in self.shown]] if self.head else []
        return head + [[column.text(row) for column in self.shown] for row in self.ordered(rows)]

    def text(self, rows: Sequence[Row]) -> str:
        """Return aligned lines."""
        return aligned(self.cells(rows), [column.right for column in self.shown])

    def json(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return what is shown, for a program."""
        return [{column.key: row[column.key] for column in self.shown}
                for row in self.ordered(rows)]

    def answer(self, arguments: argparse.Namespace, verb: str, argv: Sequence[str],
               rows: Sequence[Row]) -> None:
        """Print the list, or write it as JSON."""
        if arguments.json:
            command.answer(arguments.json, {**command.envelope(verb, argv),
                                            "rows": self.json(rows)})
        else:
            sys.stdout.write(self.text(rows))


def aligned(cells: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Return lines of cells as columns."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(text.rjust(width) if to_right else text.ljust(width)
                       for text, width, to_right in zip(line, widths, right, strict=True)).rstrip()
             for line in cells)
    return "".join(f"{line}\n" for line in lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what every list has."""
    parser.add_argument("-o", "--show", metavar="COLUMN,...",
                        help="only these columns, or +A,... more of them; help lists them")
    parser.add_argument("-S", "--sort", metavar="COLUMN,...",
                        help="rows by these columns; with - before it, the largest first")
    parser.add_argument("--no-head", action="store_true", help="a list without its titles")


def find(columns: Sequence[Column], name: str, before: Sequence[Column]) -> Column:
    """Return the column of this name."""
    for column in columns:
        if name.lower() in (column.key.lower(), column.title.lower()):
            if column in before:
                raise command.Refusal(f'column "{name}" is there twice', command.USAGE)
            return column
    known = [word for column in columns for word in (column.key, column.title)]
    nearest = command.meant(name, known, '; "-o help" lists them')
    raise command.Refusal(f'no column "{name}"{nearest}', command.USAGE)


def shown_of(columns: Sequence[Column], names: str | None) -> tuple[Column, ...]:
    """Return the columns that -o asks for."""
    usual = [column for column in columns if not column.more]
    if names is None:
        return tuple(usual)
    found = usual if names.startswith("+") else []
    for name in listed(names.removeprefix("+")):
        found.append(find(columns, name, found))
    return tuple(found)


def listed(names: str) -> list[str]:
    """Return the words of a list; a comma at its end says nothing."""
    return names.removesuffix(",").split(",")


def sorted_of(columns: Sequence[Column], names: str | None) -> tuple[tuple[Column, bool], ...]:
    """Return the columns that -S asks for."""
    found: list[tuple[Column, bool]] = []
    for name in listed(names) if names is not None else ():
        column = find(columns, name[1:] if name[:1] in ("+", "-") else name,
                      [one for one, _ in found])
        found.append((column, name.startswith("-")))
    return tuple(found)


def needs(arguments: argparse.Namespace, option: str) -> None:
    """Refuse the options without what makes a list."""
    for name in ("show", "sort"):
        if getattr(arguments, name) is not None:
            raise command.Refusal(f"--{name} needs {option}", command.USAGE)


def choose(arguments: argparse.Namespace, columns: Sequence[Column]) -> Choice:
    """Understand the options; "-o help" ends the command."""
    if arguments.show == "help":
        notes = ("; not shown by default" if column.more else "" for column in columns)
        sys.stdout.write(aligned([[column.key, column.title, column.about + note] for column, note
                                  in zip(columns, notes, strict=True)], [False] * 3))
        raise SystemExit(command.DONE)
    return Choice(shown_of(columns, arguments.show), sorted_of(columns, arguments.sort),
                  not arguments.no_head,
                  arguments.show is not None or arguments.sort is not None)
