# SPDX-License-Identifier: GPL-2.0-only
"""Read a study's file: its points, and an address for each of them.

A point's address is a digest of everything that its result depends on: the simulator, the
arguments, the contents of the files. So results are looked up by address, and studies that share
points share results.
"""

import hashlib
import itertools
import json
import math
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from approxftl_tools import command
from approxftl_tools.command import FAILED, INTERRUPTED, NOT_FOUND, USAGE, Refusal
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.refusal import convert_read_errors_to_refusal
from approxftl_tools.study_streams import Setting, Streams, resolve_quick_or_full_values

Value = str | int | float | bool

#: Options of the simulator that take a file.
FILES = ("trace", "load", "config", "fault-script")
#: Options that only the study itself may set.
RESERVED = ("json", "dump", "record", "timeline", "progress", "quiet", "cpu", "help", "dry-run",
            "die-with-parent", "series")
#: Version of the study language.
LANGUAGE = 1
KEYS = ("study", "name", "seeds", "seed", "until", "most", "measures", "relative_to", "warmup",
        "base", "vary", "exclude", "figure", "synth", "text", "optimise")
#: Sections in which "1000|10000" stands for a short and a long run.
LENGTHS = ("base", "vary", "exclude", "synth", "optimise")
TEXTS = ("name", "text", "relative_to", "warmup")
WARMUP = ("warn", "refuse", "ignore")
#: Measures of a table by default: means and tails.
DEFAULT = ("write_response_mean_ns", "write_response_p99_ns", "read_response_mean_ns",
           "write_amplification", "total_energy_pj", "array_erases")
MOST_POINTS = 100_000
#: How often a simulator is started that is killed each time.
ATTEMPTS = 3
#: Integer keys of a study, with their least and largest values.
COUNTS = {"seeds": (1, MOST_POINTS), "seed": (0, 2**63), "most": (2, MOST_POINTS)}
#: Pattern of a percentage.
SHARE = r"^[0-9]{1,3}(\.[0-9]{1,4})?%$"
#: Initial number of seeds of a study with "until".
FIRST_SEEDS = 5


@dataclass(frozen=True)
class Point:
    """One run of a study: its values of the varied keys, and the arguments of approxftl sim."""

    varied: tuple[tuple[str, Value], ...]
    arguments: tuple[str, ...]
    address: str
    #: Files that it reads, the simulator first, with the digests that the address contains.
    files: tuple[tuple[str, str], ...] = ()

    def point_name(self) -> str:
        """Return the point's name for messages."""
        return " ".join(f"{key}={value}" for key, value in self.varied) or "the only point"

    def shell_command(self, program: Path | str = "approxftl") -> str:
        return shlex.join([str(program), "sim", *self.arguments])


@dataclass(frozen=True)
class Yardstick:
    """The value of an axis, such as a policy, with which the others are compared; "" for none."""

    value: str
    axis: str = "policy"


@dataclass(frozen=True)
class Rules:
    """The number of runs for each point of a study, and the rules to evaluate results."""

    #: Runs of each point with different seeds; 0 if the file sets seeds itself.
    seeds: int
    #: Half width of an interval, relative to its mean, that ends the study; 0 for a fixed number of
    #: runs.
    until: float
    #: Largest number of seeds, whatever the interval.
    most: int
    measures: tuple[str, ...]
    yardstick: Yardstick
    #: Treatment of runs that were still drifting: warn, refuse or ignore.
    warmup: str


@dataclass(frozen=True)
class Plan:
    """A study: its points, and the rules to evaluate them."""

    path: Path
    name: str
    #: Description of the study for its page.
    text: str
    points: tuple[Point, ...]
    keys: tuple[str, ...]
    rules: Rules
    #: The unchecked tables of [[figure]].
    figures: tuple[dict[str, Any], ...]
    #: Paths of the files that the study names, by those names.
    files: dict[str, Path]
    setting: Setting
    #: The unchecked table [optimise]; None if there is none.
    optimise: dict[str, Any] | None


Signature = tuple[int, ...]


def file_signature(path: Path) -> Signature:
    """Return the attributes of a file that change when the file's content changes."""
    state = path.stat()
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@cache
def compute_file_digest_per_signature(path: Path, _signature: Signature) -> str:
    """Return a digest of a file's content, cached until the file's size or times change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cached_file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file's content."""
    return compute_file_digest_per_signature(path, file_signature(path))


def load_toml_file(path: Path) -> dict[str, Any]:
    """Return the contents of a TOML file."""
    try:
        with convert_read_errors_to_refusal(path):
            return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: no TOML: {error}") from error


def suggest_or_list_known_words(wrong: str, known: Iterable[str]) -> str:
    """Return a suffix for an error message with the nearest known word, or with all known words."""
    words = list(known)
    return command.suggest_known_word(wrong, words, f"; there are {', '.join(words) or 'none'}")


def refuse_unknown_words(path: Path, what: str, words: Iterable[str], known: Sequence[str]) -> None:
    """Refuse unknown words and suggest the nearest known one."""
    for word in words:
        if word not in known:
            raise Refusal(f'{path}: unknown {what} "{word}"'
                          f'{suggest_or_list_known_words(word, known)}', USAGE)


def is_valid_option_value(value: object) -> bool:
    return isinstance(value, str | int | float) and "\0" not in str(value)


def option_name(key: str) -> str:
    """Return an option's name with dashes, as the simulator lists it."""
    return key.replace("_", "-")


def list_options_set_by_axis(key: str, values: Any) -> list[str]:
    """Return the options that an axis of [vary] sets: one, or those of its named sets of values."""
    if isinstance(values, dict):
        return list(dict.fromkeys(option for one in values.values() for option in one))
    return [key]


def check_named_sets_of_study_options(path: Path, key: str, sets: dict[str, Any]) -> None:
    """Refuse malformed named sets of options in [vary]."""
    for name, options in sets.items():
        if not isinstance(options, dict) or not all(map(is_valid_option_value, options.values())):
            raise Refusal(f'{path}: [vary.{key}] "{name}" is a set of options, such as '
                          '{ approx-share = "10%" }', USAGE)


def check_options(path: Path, document: dict[str, Any]) -> None:
    """Refuse a study with reserved or duplicate options."""
    seen: dict[str, str] = {}
    given = [("[base]", key) for key in document.get("base", {})]
    for axis, values in document.get("vary", {}).items():
        if isinstance(values, dict):
            check_named_sets_of_study_options(path, axis, values)
        given += [("[vary]", key) for key in list_options_set_by_axis(axis, values)]
    for section, key in given:
        if option_name(key) in RESERVED:
            raise Refusal(f'{path}: "{key}" is not for a study, which does that itself', USAGE)
        if option_name(key) in seen:
            raise Refusal(f'{path}: "{key}" is in {seen[option_name(key)]}, and in {section}',
                          USAGE)
        seen[option_name(key)] = section
    for key, value in document.get("base", {}).items():
        if not is_valid_option_value(value):
            raise Refusal(f'{path}: [base] "{key}" is one value; [vary] takes lists', USAGE)


def option_values_as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def values_as_strings(values: Any) -> list[str]:
    """Return one value or a list of values as strings, as they are on a command line."""
    return [str(value) for value in option_values_as_list(values)]


def check_exclude_rules(path: Path, document: dict[str, Any],
                        varying: dict[str, list[Value]]) -> None:
    """Refuse [[exclude]] rules that are malformed or match nothing."""
    rules = document.get("exclude", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) and rule for rule in rules):
        raise Refusal(f"{path}: each [[exclude]] is a table of keys and values", USAGE)
    for rule in rules:
        refuse_unknown_words(path, "key of [[exclude]]", rule, list(varying))
        for key, value in rule.items():
            known = [str(one) for one in varying[key]]
            if value == []:
                raise Refusal(f'{path}: [[exclude]] with {key} = [] takes no point out', USAGE)
            refuse_unknown_words(path, f"value of {key} in [[exclude]]", values_as_strings(value),
                                 known)


def list_values_of_all_axes(path: Path, document: dict[str, Any], seeds: int
                            ) -> dict[str, list[Value]]:
    """Return the values of each axis of a study; the seeds are an axis, too."""
    result: dict[str, list[Value]] = {}
    for key, values in document.get("vary", {}).items():
        known = isinstance(values, dict) or (
            isinstance(values, list) and all(map(is_valid_option_value, values)))
        if not known or not values:
            raise Refusal(f'{path}: [vary] "{key}" is a list of values, such as '
                          f'{key} = [{json.dumps(values, default=str)[:40]}], or a table of sets',
                          USAGE)
        result[key] = list(values)
    if seeds:
        if "seed" in result or "seed" in document.get("base", {}):
            raise Refusal(f"{path}: seeds are given and derived; leave out seeds or seed", USAGE)
        result["seed"] = derive_seeds(get_integer_of_study_key(path, document, "seed", 1,
                                                               *COUNTS["seed"]),
                                      seeds)
    return result


def get_integer_of_study_key(path: Path, document: dict[str, Any], key: str, usual: int, least: int,
                             most: int) -> int:
    """Return the value of an integer key of the study, or the key's default."""
    value = document.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Refusal(f"{path}: {key} is a number from {least} to {most}", USAGE)
    return value


def get_percentage_of_study_key(path: Path, document: dict[str, Any], key: str) -> float:
    """Return the value of a study's key, such as "2%", as a number; 0 if the key is missing."""
    text = document.get(key, "0%")
    if not isinstance(text, str) or not re.search(SHARE, text) or text.endswith("\n"):
        raise Refusal(f'{path}: {key} is a share such as "2%"', USAGE)
    return float(text.removesuffix("%")) / 100


def get_word_list_of_study_key(path: Path, document: dict[str, Any], key: str,
                               usual: Sequence[str]) -> tuple[str, ...]:
    """Return the non-empty list of words under a key, or the key's default."""
    value = document.get(key, list(usual))
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise Refusal(f"{path}: {key} is a list of words", USAGE)
    return tuple(value)


def check_string_values(path: Path, table: dict[str, Any], keys: Iterable[str],
                        where: str = "") -> None:
    """Refuse a study in which one of the given keys has a value that is not a string."""
    for key in keys:
        if not isinstance(table.get(key, ""), str):
            raise Refusal(f"{path}: {key}{where} is a text in quotes", USAGE)


def parse_seed_and_measure_settings(path: Path, document: dict[str, Any]) -> Rules:
    until = get_percentage_of_study_key(path, document, "until")
    seeds = get_integer_of_study_key(path, document, "seeds", FIRST_SEEDS if until else 1,
                                     *COUNTS["seeds"]) \
        if until or "seeds" in document else 0
    most = get_integer_of_study_key(path, document, "most", 40, *COUNTS["most"])
    if until and seeds > most:
        raise Refusal(f"{path}: seeds begin with {seeds}, but most is {most}", USAGE)
    measures = get_word_list_of_study_key(path, document, "measures", DEFAULT)
    refuse_unknown_words(path, "measure", measures, list(VALUES))
    check_string_values(path, document, TEXTS)
    yardstick = Yardstick(document.get("relative_to", ""))
    warmup = document.get("warmup", WARMUP[0])
    refuse_unknown_words(path, "rule of warmup", [warmup], WARMUP)
    for key, needed in (("most", "until"), ("seed", "seeds")):
        if key in document and needed not in document and not (key == "seed" and until):
            raise Refusal(f"{path}: {key} says nothing without {needed}", USAGE)
    return Rules(seeds, until, most, measures, yardstick, warmup)


def derive_seeds(master: int, count: int) -> list[Value]:
    """Return seeds derived from a master seed; equal master seeds give equal seeds."""
    return [int.from_bytes(hashlib.sha256(f"{master} {number}".encode()).digest()[:4], "little")
            for number in range(count)]


def command_arguments(options: dict[str, Value], streams: Streams) -> Iterator[str]:
    """Yield options as command line arguments; file names are relative to the study's file."""
    for key, value in options.items():
        if value is True:
            yield f"--{key}"
        elif option_name(key) in FILES:
            path = streams.path_named_by_option(key, str(value), options.get("seed", 1))
            yield f"--{key}={path}"
        elif value is not False:
            yield f"--{key}={value}"


def does_option_name_file(key: str, value: str) -> bool:
    return option_name(key) in FILES or (key == "policy" and value.endswith((".so", ".py")))


def input_files(arguments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the files that a point reads, with their digests."""
    for argument in arguments:
        key, _, value = argument.removeprefix("--").partition("=")
        if key == "set" and value.startswith("@"):
            raise Refusal(f"set={value}: the results would not depend on what is in that file; give"
                          " the parameters themselves", USAGE)
        if does_option_name_file(key, value):
            if not Path(value).is_file():
                raise Refusal(f"{value}: no such file, but a study needs it", NOT_FOUND)
            yield value, cached_file_digest(Path(value))


def was_process_killed(status: int) -> bool:
    return status < 0 or status == INTERRUPTED


def dry_run_point(program: Path, point: Point) -> subprocess.CompletedProcess[str]:
    """Let the simulator check a point's options with --dry-run."""
    try:
        return subprocess.run([program, "sim", *point.arguments, "--quiet", "--dry-run",
                               "--json=-"],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="surrogateescape", check=False)
    except OSError as error:
        raise Refusal(f"{program}: cannot run: {error.strerror}") from error


def check_point_options(path: Path, program: Path, point: Point) -> None:
    """Let the simulator check the options of a point."""
    attempts = 1
    while was_process_killed((done := dry_run_point(program, point)).returncode):
        if attempts == ATTEMPTS:
            raise Refusal(f"{path}: the simulator was killed {attempts} times as it looked at "
                          "the options", FAILED)
        attempts += 1
    said = [line.removeprefix("approxftl sim: ") for line in done.stderr.strip().splitlines()]
    if done.returncode:
        sentence = "\n".join(said)
        raise Refusal(f"{path}: {sentence or 'the simulator refuses its options'}", USAGE)


def check_axis_values(path: Path, program: Path, points: Sequence[Point]) -> None:
    """Let the simulator check each axis value once, so that a wrong value gives one error."""
    seen: set[tuple[str, Value]] = set()
    for point in points:
        values = {pair for pair in point.varied if pair[0] != "seed"}
        if not seen or not values <= seen:
            check_point_options(path, program, point)
        seen |= values | {("", "")}


def make_study_point(program: tuple[str, str], arguments: Iterable[str],
                     varied: tuple[tuple[str, Value], ...] = ()) -> Point:
    """Return a point of a study; refuse unknown and repeated options."""
    given = tuple(arguments)
    files = dict(input_files(given))
    digest = hashlib.sha256(program[1].encode())
    for argument in sorted(given):
        key, _, value = argument.removeprefix("--").partition("=")
        value = files[value] if does_option_name_file(key, value) else value
        digest.update(f"\0{key}={value}".encode(errors="surrogateescape"))
    return Point(varied, given, digest.hexdigest()[:24], (program, *files.items()))


def make_point_of_axis_values(document: dict[str, Any], varied: dict[str, Value],
                              program: tuple[str, str], streams: Streams) -> Point:
    options: dict[str, Value] = dict(document.get("base", {}))
    for key, value in varied.items():
        sets = document.get("vary", {}).get(key)
        options |= sets[str(value)] if isinstance(sets, dict) else {key: value}
    if document.get("warmup") != "ignore":
        options["series"] = True
    return make_study_point(program, command_arguments(options, streams), tuple(varied.items()))


def identify_simulator(program: Path) -> tuple[str, str]:
    try:
        return str(program), cached_file_digest(program)
    except OSError as error:
        raise Refusal(f"{program}: cannot read: {error.strerror}; build it by \"make all\", put it "
                      "into PATH, or name it in APPROXFTL", NOT_FOUND) from error


def list_policies_of_point(point: Point) -> list[str]:
    """Return the policies that a point simulates; "all" becomes the words "all", "the others"."""
    given = dict(word.removeprefix("--").split("=", 1) for word in point.arguments if "=" in word)
    policies = given.get("policy", "baseline").split(",")
    return ["all", "the others"] if policies == ["all"] else policies


def values_of_study_axes(points: Iterable[Point]) -> dict[str, dict[str, None]]:
    """Return the values of each axis of a study, policies first, without the axis of seeds."""
    found: dict[str, dict[str, None]] = {"policy": {}}
    for point in points:
        found["policy"] |= dict.fromkeys(list_policies_of_point(point))
        for axis, value in point.varied:
            if axis not in ("policy", "seed"):
                found.setdefault(axis, {})[str(value)] = None
    return found


def find_reference_value(path: Path, points: Iterable[Point], value: str) -> Yardstick:
    """Return the reference value and its axis; refuse a reference value that no run has."""
    found = values_of_study_axes(points)
    axes_of_it = [axis for axis, values in found.items() if value in values]
    if axes_of_it or not value or "all" in found["policy"]:
        return Yardstick(value, [*axes_of_it, "policy"][0])
    known = [one for values in found.values() for one in values]
    raise Refusal(f'{path}: relative_to: no run has "{value}"'
                  f'{suggest_or_list_known_words(value, known)}',
                  USAGE)


def join_text_to_one_line(text: object) -> str:
    return " ".join(str(text).split())


def read_study_document(path: Path, setting: Setting) -> dict[str, Any]:
    """Return the content of a study file, changed by the settings from the command line."""
    document = load_toml_file(path)
    refuse_unknown_words(path, "key", document, KEYS)
    if document.get("study") is not LANGUAGE:
        raise Refusal(f'{path}: a study begins with "study = {LANGUAGE}", the version of its '
                      "language")
    for section in ("base", "vary", "synth", "optimise"):
        if not isinstance(document.get(section, {}), dict):
            raise Refusal(f"{path}: [{section}] is a table of keys and values", USAGE)
    figures = document.get("figure", [])
    if not isinstance(figures, list) or not all(isinstance(one, dict) for one in figures):
        raise Refusal(f"{path}: each [[figure]] is a table of keys and values", USAGE)
    check_options(path, document)
    base = document.get("base", {}) | setting.more.get("base", {})
    return {key: resolve_quick_or_full_values(value, setting.full) if key in LENGTHS else value
            for key, value in (document | setting.more | {"base": base}).items()}


def read_study(path: Path, program: Path, seeds: int = 0, files: dict[str, Path] | None = None,
               setting: Setting | None = None, sure: bool = False) -> Plan:
    """Read a study file for a simulator; `seeds`, unless 0, is the number of runs of each point.

    `files` maps file names in the study to paths, if the files are not beside the study's file.
    With `sure` the values are not checked by dry runs of the simulator.
    """
    setting = setting or Setting()
    document = read_study_document(path, setting)
    rules = parse_seed_and_measure_settings(path, document)
    varying = list_values_of_all_axes(path, document, min(max(seeds, rules.seeds), MOST_POINTS))
    check_exclude_rules(path, document, varying)
    size = math.prod(map(len, varying.values()))
    if size > MOST_POINTS:
        raise Refusal(f"{path}: {size} points; {MOST_POINTS} are the most", USAGE)
    own = identify_simulator(program)
    streams = Streams(path, program, setting, document.get("synth"), files)
    streams.check_synth_options()
    excluded = document.get("exclude", [])
    # The last axis varies fastest.
    combinations = (dict(zip(varying, values, strict=True))
                    for values in itertools.product(*varying.values()))
    points = [make_point_of_axis_values(document, varied, own, streams)
              for varied in combinations
              if not any(all(str(varied[key]) in values_as_strings(value)
                             for key, value in rule.items()) for rule in excluded)]
    if not points:
        raise Refusal(f"{path}: every point is excluded", USAGE)
    rules = replace(rules, yardstick=find_reference_value(path, points, rules.yardstick.value))
    if not seeds and not sure:
        check_axis_values(path, program, points)
    return Plan(path, document.get("name", path.stem),
                join_text_to_one_line(document.get("text", "")),
                tuple(points), tuple(varying), rules, tuple(document.get("figure", [])),
                streams.named, setting, document.get("optimise"))
