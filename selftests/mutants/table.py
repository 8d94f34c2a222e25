# SPDX-License-Identifier: GPL-2.0-only
"""Mutants as text: AREA.toml beside this file has one table for each.

    [test-of-the-area.name-of-the-mutant]
    breaks = "the rule that is no longer true"
    function = "reset_zone"              # or macro, or initialised object
    old = "close_blocks(ftl, zone);"
    new = ""

A mutant that a test of another area catches, or a test with arguments or in a virtual machine, has
its name alone in the brackets, and

    caught_by = "AREA/TEST [ARGUMENT...]", or "kernel TEST...", or "kernel TEST: POINT"

A `file` is named for text that is in no function, in a function whose name is not unique, and in
Python and shell.

A mutant that changes several places has [[name.replace]] tables, each with `old` and `new`;
`file` and `function` default to the mutant's. `old` must occur once in the function; white space
is ignored.
"""

import ast
import functools
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
KEYS = {"breaks", "caught_by", "file", "function", "old", "new", "replace"}
EDIT_KEYS = {"file", "function", "old", "new"}
CAUGHT_BY = re.compile(r"[a-z-]+/[\w-]+( .+)?|kernel(-[a-z]+)? [\w-]+( [\w-]+)*(: .+)?")


class MutantError(Exception):
    """Raised for an invalid mutant; the message is one sentence."""


@dataclass(frozen=True)
class Edit:
    """A replacement of text in a function."""

    file: str
    function: str
    old: str
    new: str

    @property
    def edit_location(self) -> str:
        """Return file and function of the replaced text, for messages."""
        return f"{self.function} of {self.file}" if self.function else self.file


@dataclass(frozen=True)
class Mutant:
    """A change of the sources, and the test that must fail because of it."""

    name: str
    breaks: str
    caught_by: str
    edits: tuple[Edit, ...]


def find_python_definitions(text: str, name: str) -> list[tuple[int, int]]:
    """Return the offsets of each function, class or method (CLASS.METHOD) of the given name."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[tuple[int, int]] = []

    def find_definitions(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if name in (child.name, prefix + child.name):
                    found.append((starts[child.lineno - 1], starts[child.end_lineno or 0]))
                find_definitions(child, f"{prefix}{child.name}.")
            else:
                find_definitions(child, prefix)

    find_definitions(ast.parse(text), "")
    return found


@functools.lru_cache(maxsize=64)
def find_c_or_shell_definitions(text: str) -> list[tuple[str, int, int]]:
    """Return name, begin and end of each definition in C or shell, as offsets.

    A definition has its name in a line that begins in the first column, and ends with the first
    line that begins with a closing brace; a macro ends with the first line that is not continued.
    """
    found: list[tuple[str, int, int]] = []
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    i = 0
    while i < len(lines):
        begin, head = i, lines[i]
        i += 1
        macro = re.match(r"# *define (\w+)", head)
        if macro:
            while lines[i - 1].endswith("\\\n") and i < len(lines):
                i += 1
            found.append((macro[1], starts[begin], starts[i]))
            continue
        if not re.match(r"[A-Za-z_]", head):
            continue
        while not re.search(r"[{;]", head) and i < len(lines) and re.match(r"[\s{]", lines[i]):
            head += lines[i]
            i += 1
        named = re.match(r"[^({=;]*?\b(\w+)(?:\[[^\]]*\])*\s*[({=]", head)
        if not named or ";" in head.partition("{")[0] or "{" not in head:
            continue
        if not re.search(r"}[;\s]*$", lines[i - 1]):
            while i < len(lines) and not lines[i].startswith("}"):
                i += 1
            i += 1
        found.append((named[1], starts[begin], starts[min(i, len(lines))]))
    return found


def find_function_spans(file: str, text: str, function: str) -> list[tuple[int, int]]:
    """Return the offsets of FUNCTION's definitions in TEXT; without a function, of all of TEXT."""
    if not function:
        return [(0, len(text))]
    if file.endswith(".py") or text.startswith("#!/usr/bin/env python"):
        return find_python_definitions(text, function)
    return [(begin, end) for name, begin, end in find_c_or_shell_definitions(text) if name
            == function]


def is_word_character(char: str) -> bool:
    """Return whether CHAR may be part of a name."""
    return char.isalnum() or char == "_"


def find_text_ignoring_space(text: str, begin: int, end: int, old: str) -> list[tuple[int, int]]:
    """Return where OLD occurs, ignoring white space; OLD must not begin or end within a name."""
    places = [i for i in range(begin, end) if not text[i].isspace()]
    packed = "".join(text[i] for i in places)
    wanted = "".join(old.split())
    found = []
    at = packed.find(wanted)
    while at >= 0:
        first, last = places[at], places[at + len(wanted) - 1] + 1
        cuts = is_word_character(wanted[0]) and first > 0 and is_word_character(text[first - 1])
        cuts |= is_word_character(wanted[-1]) and last < len(text) and is_word_character(text[last])
        if not cuts:
            found.append((first, last))
        at = packed.find(wanted, at + 1)
    return found


def apply_edit(text: str, edit: Edit) -> str:
    """Return TEXT after the edit; new lines get the indentation of the first line replaced."""
    where = find_function_spans(edit.file, text, edit.function)
    if not where:
        raise MutantError(f"{edit.file} has no function, macro or object {edit.function}")
    found = [match for begin, end in where
             for match in find_text_ignoring_space(text, begin, end, edit.old)]
    if len(found) != 1:
        raise MutantError(
            f"`old` is {len(found)} times in {edit.edit_location}, it has to be there once")
    first, last = found[0]
    margin = text[text.rfind("\n", 0, first) + 1:first]
    indent = margin if margin.isspace() else ""
    new = "\n".join(indent + line if i and line else line
                    for i, line in enumerate(edit.new.strip("\n").split("\n")))
    return text[:first] + new + text[last:]


def apply_mutant_edits(edits: Iterable[Edit], top: Path) -> dict[str, str]:
    """Return the changed texts of the files in TOP that the edits change."""
    texts: dict[str, str] = {}
    for edit in edits:
        if edit.file not in texts and not (top / edit.file).is_file():
            raise MutantError(f"there is no file {edit.file}")
        text = texts.get(edit.file) or read_cached_file(top / edit.file)
        texts[edit.file] = apply_edit(text, edit)
        if texts[edit.file] == text:
            raise MutantError(f"`new` is what {edit.edit_location} has")
    return texts


@contextmanager
def write_texts_temporarily(texts: dict[str, str], tree: Path) -> Iterator[None]:
    """Context manager: write the texts to files in TREE, and restore the files at the end."""
    before = {file: (tree / file).read_text() for file in texts}
    try:
        for file, text in texts.items():
            (tree / file).write_text(text)
        yield
    finally:
        for file, text in before.items():
            (tree / file).write_text(text)


def copy_source_tree(to: Path) -> None:
    """Copy the sources: files that git tracks or would add; without git, all but build/."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=TOP, capture_output=True, check=False)
    if listed.returncode:
        shutil.copytree(TOP, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build"))
        return
    for name in listed.stdout.decode().split("\0"):
        if name and (TOP / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, to / name)


@functools.lru_cache(maxsize=256)
def read_cached_file(path: Path) -> str:
    return path.read_text()


@functools.lru_cache(maxsize=1)
def map_definitions_to_files() -> dict[str, set[str]]:
    """Return the C files that define each function, macro or object."""
    found: dict[str, set[str]] = {}
    for folder in ("dm-approxftl", "userspace", "trace-tools"):
        for path in (TOP / folder).rglob("*.[ch]"):
            for name, _, _ in find_c_or_shell_definitions(read_cached_file(path)):
                found.setdefault(name, set()).add(str(path.relative_to(TOP)))
    return found


def find_defining_file(function: str) -> str:
    files = sorted(map_definitions_to_files().get(function, ()))
    if len(files) != 1:
        raise MutantError(f"it needs a `file`: {', '.join(files) or 'no C file'} "
                          f"has {function or 'a text without function'}")
    return files[0]


def parse_edit(words: dict[str, Any], inherited: dict[str, Any]) -> Edit:
    """Parse the keys `file`, `function`, `old` and `new` of a mutant."""
    if unknown := set(words) - EDIT_KEYS:
        raise MutantError(f"a replacement has no key {min(unknown)}")
    all_ = {"function": "", **inherited, **words}
    for key in ("old", "new"):
        if key not in all_:
            raise MutantError(f"it has no `{key}`")
    if not all_["old"].strip():
        raise MutantError("`old` is empty")
    return Edit(all_.get("file") or find_defining_file(all_["function"]), all_["function"],
                all_["old"], all_["new"])


def parse_mutant(name: str, words: dict[str, Any]) -> Mutant:
    if not isinstance(words, dict):
        raise MutantError("it is no table")
    if unknown := set(words) - KEYS:
        raise MutantError(f"a mutant has no key {min(unknown)}; it has {', '.join(sorted(KEYS))}")
    for key in ("breaks", "caught_by"):
        if not words.get(key):
            raise MutantError(f"it has no `{key}`")
    if not CAUGHT_BY.fullmatch(words["caught_by"]):
        raise MutantError(f"caught_by is neither AREA/TEST nor kernel TEST: {words['caught_by']}")
    base = {key: text for key, text in words.items() if key in ("file", "function")}
    own = {key: text for key, text in words.items() if key in ("old", "new")}
    if own and isinstance(words.get("replace"), list):
        raise MutantError("it has `replace` and also `old` or `new`")
    more = words.get("replace", [own])
    if not isinstance(more, list):
        raise MutantError("`replace` is no list of tables: write [[NAME.replace]]")
    edits = [parse_edit(each, base) for each in more]
    return Mutant(name, words["breaks"], words["caught_by"], tuple(edits))


def load_mutants(area: Path) -> tuple[list[Mutant], list[str]]:
    """Return the mutants of AREA.toml, and an error message for each invalid one."""
    mutants, problems = [], []
    tables: dict[str, Any] = {}
    for key, words in tomllib.loads(area.read_text()).items():
        of_test = words if re.match("test[-_]", key) else {}
        problems += [f"{area.stem}/{name}: it is there twice" for name in tables.keys() & of_test]
        tables |= {name: {"caught_by": f"{area.stem}/{key}", **own}
                   for name, own in of_test.items()} if of_test else {key: words}
    for key, words in tables.items():
        try:
            mutants.append(parse_mutant(f"{area.stem}/{key}", words))
        except MutantError as wrong:
            problems.append(f"{area.stem}/{key}: {wrong}")
    return mutants, problems


def find_paths_of_mutant_tests(mutant: Mutant) -> list[str]:
    """Return each test's candidate paths, separated by blanks; one of the paths must exist."""
    first, *more = mutant.caught_by.partition(": ")[0].split()
    if "/" in first:
        return [f"selftests/{first}.c selftests/{first}.py"]
    return [f"selftests/kernel/{test}.sh selftests/kernel/{test}.py" for test in more]


def check_mutant(mutant: Mutant, top: Path) -> str:
    """Return an error message if a mutant does not match the sources of TOP, else ""."""
    for test in find_paths_of_mutant_tests(mutant):
        if not any((top / file).is_file() for file in test.split()):
            return f"{mutant.name}: caught_by names a test that is not there: {test.split()[0]}"
        *_, source = test.split()
        for word in re.findall(r" -k (\w+)", mutant.caught_by):
            if not re.search(rf"def test_\w*{word}", (top / source).read_text()):
                return f"{mutant.name}: {source} has no test with {word} in its name"
    point = mutant.caught_by.partition(": ")[2]
    if not any(point in (top / file).read_text() for test in find_paths_of_mutant_tests(mutant)
               for file in test.split() if (top / file).is_file()):
        return f"{mutant.name}: its test has no point with {point!r} in its name"
    try:
        apply_mutant_edits(mutant.edits, top)
    except MutantError as wrong:
        return f"{mutant.name}: {wrong}"
    return ""


def load_all_mutants() -> list[Mutant]:
    """Return every mutant, in the order of the tables."""
    found: list[Mutant] = []
    for area in sorted(HERE.glob("*.toml")):
        mutants, problems = load_mutants(area)
        if problems:
            raise SystemExit("\n".join(problems))
        found += mutants
    return found
