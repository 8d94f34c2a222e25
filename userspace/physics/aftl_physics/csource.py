# SPDX-License-Identifier: GPL-2.0-only
"""Generate C in kernel style: constants, enums and arrays with their comments."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

WIDTH = 100
TAB = 8
#: A blank where no line may break.
GLUE = "\N{NO-BREAK SPACE}"

Values = Sequence["Values"] | Sequence[int] | Sequence[str]


@dataclass(frozen=True)
class Macro:
    """A C #define with an optional comment above it."""

    name: str
    value: int
    doc: str = ""

    def header_declaration(self) -> str:
        """Return the text of the #define with its comment."""
        comment = comment_above_constant(self.doc) if self.doc else ""
        return f"{comment}#define {self.name} {self.value}\n"

    def source_definition(self) -> str:
        return ""


@dataclass(frozen=True)
class Enum:
    """A C enum that counts from zero; its last member is the number of the other members."""

    name: str
    doc: str
    members: Sequence[tuple[str, str]]
    count: str

    def header_declaration(self) -> str:
        """Return the text of the enum with its kernel-doc comment."""
        members = [*self.members, (self.count, "number of the above")]
        lines = [f"\t{name},\n" for name, _ in members[:-1]] + [f"\t{self.count}\n"]
        comment = kernel_doc_text(f"enum {self.name} - {self.doc}", members, "")
        return f"{comment}enum {self.name} {{\n{''.join(lines)}}};\n"

    def source_definition(self) -> str:
        return ""


@dataclass(frozen=True)
class Table:
    """A constant C array; `doc` is its one-line summary, `detail` explains axes and origin."""

    name: str
    ctype: str
    dims: Sequence[str]
    values: Values = field(repr=False)
    doc: str
    detail: str = ""

    def _array_declaration(self) -> str:
        text = f"const {self.ctype} {self.name}"
        column = len("extern ") + len(text)
        dims = [f"[{d}]" for d in self.dims]
        for dim in dims:
            text += dim
        if column + sum(map(len, dims)) + 4 > WIDTH:
            text = text.replace("][", "]\n\t[", 1)
        return text

    def header_declaration(self) -> str:
        """Return the text of the array's declaration with its comment."""
        comment = kernel_doc_text(f"{self.name} - {self.doc}", (), self.detail)
        return f"{comment}extern {self._array_declaration()};\n"

    def source_definition(self) -> str:
        """Return the text of the array's definition."""
        return f"{self._array_declaration()} = {{\n{lines_of_initialiser(self.values)}}};\n"


Item = Macro | Enum | Table


@dataclass(frozen=True)
class Section:
    """The definitions under one heading of a generated C file."""

    title: str
    items: Sequence[Item]


def _comment_lines(text: str, first: str = " * ") -> list[str]:
    wrapped = textwrap.wrap(text, 90, break_on_hyphens=False, break_long_words=False)
    return [first + line if line else first.rstrip() for line in wrapped]


def comment_above_constant(text: str) -> str:
    """Return the text of a C comment above a constant."""
    if len(text) <= 88:
        return f"/* {text} */\n"
    return "/*\n" + "\n".join(_comment_lines(text)) + "\n */\n"


def kernel_doc_text(summary: str, members: Sequence[tuple[str, str]], detail: str) -> str:
    """Return the text of a kernel-doc comment."""
    lines = _comment_lines(summary)
    for name, doc in members:
        lines += _comment_lines(f"@{name}: {doc}")
    for number, paragraph in enumerate(filter(None, detail.split("\n"))):
        lines += ([" *"] if number == 0 else []) + _comment_lines(paragraph)
    return "/**\n" + "\n".join(lines) + "\n */\n"


def lines_of_initialiser(values: Values) -> str:
    """Return the inside of a C initialiser in braces as filled lines."""
    lines = textwrap.wrap(_array_elements_text(values) + ",", WIDTH - TAB, break_long_words=False,
                          break_on_hyphens=False)
    return "".join(f"\t{line}\n" for line in lines).replace(GLUE, " ")


def _array_elements_text(values: Values) -> str:
    """Return values separated by commas; equal rows and long runs of a value become a range."""
    flat = isinstance(values[0], (int, str))
    texts = [str(v) if flat else
             f"{{{GLUE}{_array_elements_text(v)}{GLUE}}}"  # type: ignore[arg-type]
             for v in values]
    elements: list[str] = []
    at = 0
    for text, equal in groupby(texts):
        run = list(equal)
        end = at + len(run)
        if len(run) > (4 if flat else 1):
            run = [GLUE.join((f"[{at}", "...", f"{end - 1}]", "=", text))]
        elements += run
        at = end
    return ", ".join(elements)
