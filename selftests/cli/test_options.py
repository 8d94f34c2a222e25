# SPDX-License-Identifier: GPL-2.0-only
"""All verbs use the same names for options, their letters and usage errors.

The verbs and their options are read from the programs' own help, so that a new verb is tested
without a change here.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from selftests.lib.json_schema import make_schema_checker
from selftests.lib.programs import TOP, run_program
from selftests.lib.verbs import Words, list_verbs_and_programs, make_verb_command, run_help_of_verb

PAGES = {page.name.split(".")[0]: page.read_text() for folder in ("userspace", "trace-tools")
         for page in (TOP / folder).rglob("*.[18].rst")}
#: The manual page of a verb that has none of its own; a program's page has the program's name.
PAGE_OF = {"demo": "approxftl-lab", "approxftl-model": "approxftl-tag",
           "approxftl-embeddings": "approxftl-weights", "approxftl-parquet": "approxftl-trace"}
for page_name, page_verbs in (
        ("approxftl", ("params", "profiles", "policies", "help", "version")),
        ("approxftl-volume", ("format", "check", "dump")),
        ("approxftl-device", ("create", "list", "status", "stat", "top", "health", "message",
                              "fault", "remove", "doctor"))):
    PAGE_OF |= dict.fromkeys(page_verbs, page_name)
#: approxrun is a separate program, with option letters of its own.
FOREIGN = ("approxrun",)
#: These verbs pass their arguments on or have no options.
BARE = {("help",), ("version",)}
HELP = make_schema_checker("userspace/lib/help-output.fields")
#: Options with two meanings that users do not confuse; every other name has one meaning.
OF_TWO_KINDS = {
    # --state prints the state of a volume; for torture it is the file of allowed block contents.
    "--state",
    # For replay, --fold uses the size of the target; for a trace, the given size.
    "--fold",
}


@dataclass(frozen=True)
class Option:
    """One option line of a help text."""

    letter: str
    name: str
    value: str


def parse_options_of_help_text(words: Words) -> tuple[Option, ...]:
    found = re.findall(r"^ {2,8}(?:(-\w), )?(--[a-z0-9][a-z0-9-]*)((?:\[=| )[^ ]+)?",
                       run_help_of_verb(words), re.M)
    return tuple(Option(letter, name, value.strip()) for letter, name, value in dict.fromkeys(found)
                 if not value.startswith("  "))


@cache
def read_options_of_help_json(words: Words) -> tuple[Option, ...]:
    """Return the options listed by --help=json, which prints the option table of the parser."""
    if words in BARE:
        return parse_options_of_help_text(words)
    done = run_program(*make_verb_command(words), "--help=json")
    assert (done.code, done.err) == (0, ""), done
    told = json.loads(done.out)
    assert HELP.find_errors(told) == []
    assert told["command"].split()[-1] == words[-1].removeprefix("approxftl-"), told["command"]
    return tuple(Option(one["letter"] and f"-{one['letter']}", f"--{one['name']}",
                        f"[={one['value']}]" if one["value_may_lack"] else one["value"])
                 for one in told["options"])


VERBS = list_verbs_and_programs()
OURS = [words for words in VERBS if words != FOREIGN]


def test_every_verb_lists_its_options() -> None:
    assert len(VERBS) > 50
    assert sum(len(read_options_of_help_json(words)) for words in VERBS) > 300
    assert Option("-j", "--json", "[=FILE]") in read_options_of_help_json(("sim",))
    assert Option("-o", "--show", "COLUMN,...") in read_options_of_help_json(("compare",))


def test_short_options_have_one_meaning() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for words in OURS:
        for one in read_options_of_help_json(words):
            found[one.letter].add(one.name)
    found.pop("")
    assert {letter: names for letter, names in found.items() if len(names) > 1} == {}


def test_an_option_has_the_same_letter_in_all_verbs() -> None:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for words in OURS:
        for one in read_options_of_help_json(words):
            found[one.name][one.letter].append(" ".join(words))
    assert {name: dict(letters) for name, letters in found.items() if len(letters) > 1} == {}


def test_an_option_takes_a_value_in_every_verb_or_in_no_verb() -> None:
    found: dict[str, dict[bool, list[str]]] = defaultdict(lambda: defaultdict(list))
    for words in VERBS:
        for one in read_options_of_help_json(words):
            found[one.name][bool(one.value)].append(" ".join(words))
    assert {name: dict(kinds) for name, kinds in found.items()
            if len(kinds) > 1 and name not in OF_TWO_KINDS} == {}


def find_manual_page_name(words: Words) -> str:
    """Return the name of a verb's manual page."""
    verb = words[0]
    if words == ("trace", "record"):
        return "approxftl-trace-record"
    return PAGE_OF.get(verb, verb if verb.startswith("approx") else f"approxftl-{verb}")


def test_manual_pages_have_no_unknown_option() -> None:
    known: dict[str, set[str]] = defaultdict(set)
    for words in VERBS:
        known[find_manual_page_name(words)] |= {one.name
                                                for one in read_options_of_help_json(words)}
    found = {name: set(re.findall(r"^(?:\*\*)?(?:-\w, )?(--[a-z][a-z0-9-]*)", page, re.M))
             for name, page in PAGES.items() if name in known}
    assert sum(map(len, found.values())) > 250
    assert {name: more for name, there in found.items() if (more := there - known[name])} == {}


def make_error_prefix_pattern(words: Words) -> str:
    """Return a pattern for the prefix of a verb's error messages, which subcommands may share."""
    if words == FOREIGN:
        return "approxrun: "
    own = words[0].removeprefix("approxftl-")
    return rf"approxftl ((app|tag) )?{own}( {words[-1]})?: "


@pytest.mark.parametrize("line", [
    "sim", "sim -q", "list", "health ssd", "app fft .", "replay a.aft target",
    "compare a.json", "study status study.toml"])
def test_a_file_name_separated_from_option_json_is_refused(line: str, tmp_path: Path) -> None:
    for option, name in (("--json", "x.json"), ("-j", "-")):
        done = run_program(*make_verb_command(tuple(line.split())), option, name,
                           directory=tmp_path)
        assert done.code == 2, done
        assert f'"{name}" is one word too many; did you mean --json={name}?' in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
class TestVerb:
    def test_help_text_lists_the_options_of_help_json(self, words: Words) -> None:
        """--help lists each option that --help=json lists; its examples may repeat options."""
        assert set(read_options_of_help_json(words)) <= set(parse_options_of_help_text(words))
        assert {one.name for one in read_options_of_help_json(words)} == {
            one.name for one in parse_options_of_help_text(words)}


    def test_the_manual_page_has_every_option(self, words: Words) -> None:
        name = find_manual_page_name(words)
        page = PAGES[name]
        for one in read_options_of_help_json(words):
            letter = rf"{one.letter}\b.*" if one.letter else ""
            known = re.search(rf"^(?! )[*]*{letter}.*{one.name}\b|\*\*{letter}{one.name}\b", page,
                              re.M)
            assert known or one.name == "--help", f"{name}: {one}"

    @pytest.mark.in_turn
    def test_an_unknown_option_is_a_usage_error(self, words: Words, tmp_path: Path) -> None:
        """An abbreviated option name is refused like an unknown one."""
        if words in BARE:
            return
        names = {one.name for one in read_options_of_help_json(words)}
        cut = next(name[:-1] for name in sorted(names) if name[:-1] not in names)
        for wrong in (cut, "-Z"):
            done = run_program(*make_verb_command(words), wrong, directory=tmp_path)
            assert (done.code, done.out) == (2, ""), done
            assert done.err.count("\n") == 1 and wrong in done.err, done.err
            assert re.match(make_error_prefix_pattern(words), done.err), done.err
        assert list(tmp_path.iterdir()) == []
