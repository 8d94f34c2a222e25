# SPDX-License-Identifier: GPL-2.0-only
"""Operator mutants: small random changes of C code.

A change deletes a statement, negates a condition, or replaces an operator, a constant or an
enumerator. Comments, strings and preprocessor lines stay as they are.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from selftests.mutants.table import Mutant

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
         "*": "/", "/": "*", "&&": "||", "||": "&&", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
         "+=": "-=", "-=": "+=", "|=": "&=", "true": "false", "false": "true"}
HIDDEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                    r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S | re.M)
OPERATOR = re.compile(r"(?<= )(?:[<>=!+|-]=|&&|\|\||<<|>>|[-<>+*/&|])(?= )|\b(?:true|false)\b")
NUMBER = re.compile(r"(?<![\w.\[])(?:0|[1-9]\d*)(?![\w.])")
NAME = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(?!\()")
STATEMENT = re.compile(r"(?<=\t)\*?\w+(?:\(|->|\.|\[|\+\+|--| [-+|&]?= )[^;{}]*;(?=\n)")
CONDITION = re.compile(r"(?<=\tif )\(.*\)(?=\n| \{\n)")


@dataclass(frozen=True)
class Change:
    """A replacement of the text between two offsets of a file."""

    begin: int
    end: int
    new: str

    def apply_change_to_text(self, text: str) -> str:
        return text[:self.begin] + self.new + text[self.end:]

    def describe_change(self, file: str, text: str) -> str:
        """Describe a change and its place in the source in one line."""
        old = " ".join(text[self.begin:self.end].split())
        return f"{file}:{text.count(chr(10), 0, self.begin) + 1}: {old} becomes {self.new}"


def find_enum_prefix(name: str) -> str:
    """Return the common prefix of an enumeration's names."""
    return name.rpartition("_")[0]


def list_possible_changes(text: str) -> Iterator[Change]:
    """Yield every change that the operators can make in a C file."""
    code = HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in OPERATOR.finditer(code):
        if not (found[0] == "*" and code[found.end() + 1:found.end() + 2] in ("(", "*", "")):
            yield Change(*found.span(), OTHER[found[0]])
    for found in NUMBER.finditer(code):
        yield Change(*found.span(), str(int(found[0]) + 1) if found[0] != "1" else "0")
    names = sorted(set(NAME.findall(code)))
    for found in NAME.finditer(code):
        others = [name for name in names
                  if name != found[0] and find_enum_prefix(name) == find_enum_prefix(found[0])]
        if others:
            yield Change(*found.span(), others[0])
    for found in STATEMENT.finditer(code):
        yield Change(*found.span(), ";")
    for found in CONDITION.finditer(code):
        yield Change(*found.span(), f"(!{found[0]})")


def draw_random_changes(texts: dict[str, str], seed: int) -> Iterator[tuple[str, Change]]:
    """Yield random changes without end; each file is equally likely."""
    generator = random.Random(seed)
    known = {file: found for file, text in texts.items()
             if (found := list(list_possible_changes(text)))}
    while known:
        file = generator.choice(sorted(known))
        yield file, generator.choice(known[file])


def list_tests_of_file(file: str, mutants: list[Mutant]) -> list[str]:
    """Return the tests without a virtual machine that catch mutants of FILE, most frequent first.

    Arguments of tests are dropped, since they select test points for another mutant.
    """
    found = Counter(test for mutant in mutants for edit in mutant.edits if edit.file == file
                    if "/" in (test := mutant.caught_by.split()[0]))
    return [test for test, _ in found.most_common()]
