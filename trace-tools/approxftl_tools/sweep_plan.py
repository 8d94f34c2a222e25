# SPDX-License-Identifier: GPL-2.0-only
"""What a sweep consists of: one file, its points, and an address for each of them.

The address of a point is a digest of everything that its result depends on: the simulator, the
arguments, the contents of the files among them. So a result is looked up, not trusted to be of the
same sweep, and sweeps that share points share results.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from approxftl_tools.command import NOT_FOUND, USAGE, Refusal

Value = str | int | float | bool

#: Options of the simulator whose values are files.
FILES = ("trace", "load")
#: Options that are the sweep's to give.
RESERVED = ("json", "dump", "record", "progress", "quiet", "cpu", "help")
SECTIONS = ("sweep", "base", "vary", "exclude")
MOST_POINTS = 100_000


@dataclass(frozen=True)
class Point:
    """One run: what distinguishes it, and the arguments of approxftl sim."""

    varied: tuple[tuple[str, Value], ...]
    arguments: tuple[str, ...]
    address: str

    def name(self) -> str:
        """Return it for a person."""
        return " ".join(f"{key}={value}" for key, value in self.varied) or "the only point"

    def command(self, program: Path | str = "approxftl") -> str:
        """Return the line for a shell."""
        return shlex.join([str(program), "sim", *self.arguments])


@dataclass(frozen=True)
class Plan:
    """A sweep."""

    path: Path
    name: str
    points: tuple[Point, ...]
    keys: tuple[str, ...]


@cache
def digest_of(path: Path) -> str:
    """Return a digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load(path: Path) -> dict[str, Any]:
    """Read the file."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Refusal(f"{path}: cannot read: {error.strerror}", NOT_FOUND) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: no TOML: {error}", USAGE) from error


def check_keys(path: Path, document: dict[str, Any]) -> None:
    """Refuse what is not understood."""
    wrong = [key for key in document if key not in SECTIONS]
    if wrong:
        raise Refusal(f'{path}: unknown section "{wrong[0]}"; there are {", ".join(SECTIONS)}',
                      USAGE)
    for section in ("sweep", "base", "vary"):
        if not isinstance(document.get(section, {}), dict):
            raise Refusal(f"{path}: [{section}] is a table of keys and values", USAGE)
    for key in {**document.get("base", {}), **document.get("vary", {})}:
        if key in RESERVED:
            raise Refusal(f'{path}: "{key}" is not for a sweep, which does that itself', USAGE)


def axes(path: Path, document: dict[str, Any]) -> dict[str, list[Value]]:
    """Return what varies, repetitions included."""
    result: dict[str, list[Value]] = {}
    for key, values in document.get("vary", {}).items():
        if not isinstance(values, list) or not values:
            raise Refusal(f'{path}: [vary] "{key}" is a list of values, such as '
                          f'{key} = [{json.dumps(values)}]', USAGE)
        result[key] = values
    repeat = document.get("sweep", {}).get("repeat", 1)
    if not isinstance(repeat, int) or repeat < 1:
        raise Refusal(f"{path}: [sweep] repeat is a number from 1 on", USAGE)
    if repeat > 1:
        if "seed" in result:
            raise Refusal(f"{path}: seeds are varied and derived; leave out repeat or seed", USAGE)
        result["seed"] = derived_seeds(int(document["sweep"].get("seed", 1)), repeat)
    return result


def derived_seeds(master: int, count: int) -> list[Value]:
    """Return as many seeds, always the same ones of a master seed."""
    return [int.from_bytes(hashlib.sha256(f"{master} {number}".encode()).digest()[:4], "little")
            for number in range(count)]


def excluded(varied: dict[str, Value], rules: list[dict[str, Any]]) -> bool:
    """Tell whether a rule takes the point out: one that has all of its values."""
    return any(all(varied.get(key) in (value if isinstance(value, list) else [value])
                   for key, value in rule.items()) for rule in rules)


def arguments_of(options: dict[str, Value], folder: Path) -> Iterator[str]:
    """Return options as the command line has them; files are relative to the sweep's file."""
    for key, value in options.items():
        if value is True:
            yield f"--{key}"
        elif key in FILES:
            yield f"--{key}={(folder / str(value)).absolute()}"
        elif value is not False:
            yield f"--{key}={value}"


def address_of(arguments: tuple[str, ...], build: str) -> str:
    """Return the address of a point."""
    digest = hashlib.sha256(build.encode())
    for argument in sorted(arguments):
        key, _, value = argument.removeprefix("--").partition("=")
        if key in FILES:
            if not Path(value).is_file():
                raise Refusal(f"{value}: no such file, but a sweep needs it", NOT_FOUND)
            value = digest_of(Path(value))
        digest.update(f"\0{key}={value}".encode())
    return digest.hexdigest()[:24]


def combinations(document: dict[str, Any], varying: dict[str, list[Value]]
                 ) -> Iterator[dict[str, Value]]:
    """Return the points, the last axis running fastest."""
    rules = document.get("exclude", [])
    for values in itertools.product(*varying.values()):
        varied = dict(zip(varying, values, strict=True))
        if not excluded(varied, rules):
            yield varied


def read(path: Path, program: Path) -> Plan:
    """Read a sweep, for this simulator."""
    document = load(path)
    check_keys(path, document)
    varying = axes(path, document)
    size = 1
    for values in varying.values():
        size *= len(values)
    if size > MOST_POINTS:
        raise Refusal(f"{path}: {size} points; {MOST_POINTS} are the most", USAGE)
    try:
        build = digest_of(program)
    except OSError as error:
        raise Refusal(f"{program}: cannot read: {error.strerror}; build it by \"make all\", or set "
                      "APPROXFTL", NOT_FOUND) from error
    points = []
    for varied in combinations(document, varying):
        options = {**document.get("base", {}), **varied}
        arguments = tuple(arguments_of(options, path.parent))
        points.append(Point(tuple(varied.items()), arguments, address_of(arguments, build)))
    if not points:
        raise Refusal(f"{path}: every point is excluded", USAGE)
    name = str(document.get("sweep", {}).get("name", path.stem))
    return Plan(path, name, tuple(points), tuple(varying))
