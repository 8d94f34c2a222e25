# SPDX-License-Identifier: GPL-2.0-only
"""What a sweep consists of: one file, its points, and an address for each of them.

The address of a point is a digest of everything that its result depends on: the simulator, the
arguments, the contents of the files among them. So a result is looked up, not trusted to be of the
same sweep, and sweeps that share points share results.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import shlex
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from approxftl_tools.command import NOT_FOUND, USAGE, Refusal

Value = str | int | float | bool

#: Options of the simulator whose values are files.
FILES = ("trace", "load")
#: Options that are the sweep's to give.
RESERVED = ("json", "dump", "record", "timeline", "progress", "quiet", "cpu", "help", "dry-run",
            "die-with-parent")
SECTIONS = ("sweep", "base", "vary", "exclude")
SWEEP_KEYS = ("name", "repeat", "seed")
MOST_POINTS = 100_000


@dataclass(frozen=True)
class Point:
    """One run: what distinguishes it, and the arguments of approxftl sim."""

    varied: tuple[tuple[str, Value], ...]
    arguments: tuple[str, ...]
    address: str
    #: What it reads, the simulator first, with the digest that the address is made of.
    files: tuple[tuple[str, str], ...] = ()

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


Signature = tuple[int, ...]


def signature_of(path: Path) -> Signature:
    """Return what changes when a file's content does."""
    state = path.stat()
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@cache
def digest_of_version(path: Path, _signature: Signature) -> str:
    """Return a digest of the content that a file has now."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: Path) -> str:
    """Return a digest of a file's content."""
    return digest_of_version(path, signature_of(path))


def load(path: Path) -> dict[str, Any]:
    """Read the file."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Refusal(f"{path}: cannot read: {error.strerror}", NOT_FOUND) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: no TOML: {error}", USAGE) from error


def meant(wrong: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about a word that is unknown."""
    words = list(known)
    near = difflib.get_close_matches(wrong, words, 1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(words) or 'none'}"


def check_known(path: Path, what: str, words: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a word that is not known, and say which is nearest."""
    for word in words:
        if word not in known:
            raise Refusal(f'{path}: unknown {what} "{word}"{meant(word, known)}', USAGE)


def is_plain(value: object) -> bool:
    """Tell whether it can be the value of an option."""
    return isinstance(value, str | int | float) and "\0" not in str(value)


def dashed(key: str) -> str:
    """Return an option as the simulator lists it."""
    return key.replace("_", "-")


def check_options(path: Path, document: dict[str, Any]) -> None:
    """Refuse options that are not for a sweep, or given twice."""
    base, vary = document.get("base", {}), document.get("vary", {})
    for key in (*base, *vary):
        if dashed(key) in RESERVED:
            raise Refusal(f'{path}: "{key}" is not for a sweep, which does that itself', USAGE)
    for key in vary:
        if dashed(key) in map(dashed, base):
            raise Refusal(f'{path}: "{key}" is in [base], and in [vary]', USAGE)
    for key, value in base.items():
        if not is_plain(value):
            raise Refusal(f'{path}: [base] "{key}" is one value; [vary] takes lists', USAGE)


def check_keys(path: Path, document: dict[str, Any]) -> None:
    """Refuse what is not understood."""
    check_known(path, "section", document, SECTIONS)
    for section in ("sweep", "base", "vary"):
        if not isinstance(document.get(section, {}), dict):
            raise Refusal(f"{path}: [{section}] is a table of keys and values", USAGE)
    check_known(path, "key of [sweep]", document.get("sweep", {}), SWEEP_KEYS)
    check_options(path, document)


def spelled(values: Any) -> list[str]:
    """Return one value, or several, as the command line has them: "7" there is 7."""
    return [str(value) for value in (values if isinstance(values, list) else [values])]


def check_exclude(path: Path, document: dict[str, Any], varying: dict[str, list[Value]]) -> None:
    """Refuse rules that take nothing out, or everything."""
    rules = document.get("exclude", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) and rule for rule in rules):
        raise Refusal(f"{path}: each [[exclude]] is a table of keys and values", USAGE)
    for rule in rules:
        check_known(path, "key of [[exclude]]", rule, list(varying))
        for key, value in rule.items():
            known = [str(one) for one in varying[key]]
            if value == []:
                raise Refusal(f'{path}: [[exclude]] with {key} = [] takes no point out', USAGE)
            check_known(path, f"value of {key} in [[exclude]]", spelled(value), known)


def axes(path: Path, document: dict[str, Any]) -> dict[str, list[Value]]:
    """Return what varies, repetitions included."""
    result: dict[str, list[Value]] = {}
    for key, values in document.get("vary", {}).items():
        if not isinstance(values, list) or not values or not all(map(is_plain, values)):
            raise Refusal(f'{path}: [vary] "{key}" is a list of values, such as '
                          f'{key} = [{json.dumps(values, default=str)[:40]}]', USAGE)
        result[key] = values
    repeat = whole_number(path, document, "repeat", 1, MOST_POINTS)
    master = whole_number(path, document, "seed", 0, 2**63)
    if repeat == 1 and "seed" in document.get("sweep", {}):
        raise Refusal(f"{path}: [sweep] seed is what the seeds of repeat come from, and there is "
                      "no repeat above 1; [base] takes the seed of every run", USAGE)
    if repeat > 1:
        if "seed" in result or "seed" in document.get("base", {}):
            raise Refusal(f"{path}: seeds are given and derived; leave out repeat or seed", USAGE)
        result["seed"] = derived_seeds(master, repeat)
    return result


def whole_number(path: Path, document: dict[str, Any], key: str, least: int, most: int) -> int:
    """Return a number of [sweep]; 1 if it is not there."""
    value = document.get("sweep", {}).get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Refusal(f"{path}: [sweep] {key} is a number from {least} to {most}", USAGE)
    return value


def derived_seeds(master: int, count: int) -> list[Value]:
    """Return as many seeds, always the same ones of a master seed."""
    return [int.from_bytes(hashlib.sha256(f"{master} {number}".encode()).digest()[:4], "little")
            for number in range(count)]


def excluded(varied: dict[str, Value], rules: list[dict[str, Any]]) -> bool:
    """Tell whether a rule takes the point out: one that has all of its values."""
    return any(all(str(varied[key]) in spelled(value) for key, value in rule.items())
               for rule in rules)


def arguments_of(options: dict[str, Value], folder: Path) -> Iterator[str]:
    """Return options as the command line has them; files are relative to the sweep's file."""
    for key, value in options.items():
        if value is True:
            yield f"--{key}"
        elif key in FILES:
            yield f"--{key}={(folder / str(value)).absolute()}"
        elif value is not False:
            yield f"--{key}={value}"


def files_of(arguments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Return the files that a point reads, and the digest of each."""
    for argument in arguments:
        key, _, value = argument.removeprefix("--").partition("=")
        if key in FILES:
            if not Path(value).is_file():
                raise Refusal(f"{value}: no such file, but a sweep needs it", NOT_FOUND)
            yield value, digest_of(Path(value))


def address_of(arguments: tuple[str, ...], build: str, files: dict[str, str]) -> str:
    """Return the address of a point."""
    digest = hashlib.sha256(build.encode())
    for argument in sorted(arguments):
        key, _, value = argument.removeprefix("--").partition("=")
        value = files[value] if key in FILES else value
        digest.update(f"\0{key}={value}".encode(errors="surrogateescape"))
    return digest.hexdigest()[:24]


def combinations(document: dict[str, Any], varying: dict[str, list[Value]]
                 ) -> Iterator[dict[str, Value]]:
    """Return the points, the last axis running fastest."""
    rules = document.get("exclude", [])
    for values in itertools.product(*varying.values()):
        varied = dict(zip(varying, values, strict=True))
        if not excluded(varied, rules):
            yield varied


def check_point(path: Path, program: Path, point: Point) -> None:
    """Let the simulator look at the options of a point."""
    try:
        done = subprocess.run([program, "sim", *point.arguments, "--quiet", "--dry-run"],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="surrogateescape", check=False)
    except OSError as error:
        raise Refusal(f"{program}: cannot run: {error.strerror}") from error
    if done.returncode:
        sentence = done.stderr.strip().removeprefix("approxftl: ")
        raise Refusal(f"{path}: {sentence or 'the simulator refuses its options'}", USAGE)


def check_values(path: Path, program: Path, points: Sequence[Point]) -> None:
    """Let the simulator look at every value once, so that a wrong one is one error."""
    seen: set[tuple[str, Value]] = set()
    for point in points:
        values = {pair for pair in point.varied if pair[0] != "seed"}
        if not seen or not values <= seen:
            check_point(path, program, point)
        seen |= values | {("", "")}


def read(path: Path, program: Path) -> Plan:
    """Read a sweep, for this simulator."""
    document = load(path)
    check_keys(path, document)
    varying = axes(path, document)
    check_exclude(path, document, varying)
    size = 1
    for values in varying.values():
        size *= len(values)
    if size > MOST_POINTS:
        raise Refusal(f"{path}: {size} points; {MOST_POINTS} are the most", USAGE)
    try:
        build = digest_of(program)
    except OSError as error:
        raise Refusal(f"{program}: cannot read: {error.strerror}; build it by \"make all\", put it "
                      "into PATH, or name it in APPROXFTL", NOT_FOUND) from error
    points = []
    for varied in combinations(document, varying):
        options = {**document.get("base", {}), **varied}
        arguments = tuple(arguments_of(options, path.parent))
        files = dict(files_of(arguments))
        points.append(Point(tuple(varied.items()), arguments, address_of(arguments, build, files),
                            ((str(program), build), *files.items())))
    if not points:
        raise Refusal(f"{path}: every point is excluded", USAGE)
    check_values(path, program, points)
    name = str(document.get("sweep", {}).get("name", path.stem))
    return Plan(path, name, tuple(points), tuple(varying))
