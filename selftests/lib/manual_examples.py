#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Commands and files in the section EXAMPLES of a manual page.

    manual_examples.py PAGE        prints them as a script for sh

In a literal block, "$ " precedes a command, "# " a command for root that needs a device; a line
that ends with a backslash is continued. A block below a paragraph that ends with *NAME*:: is the
content of that file. Literal blocks contain nothing else.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECTION = re.compile(r"^EXAMPLES\n=+\n(.*?)(?=^[A-Z][A-Z ]+\n=+$|\Z)", re.M | re.S)
BLOCK = re.compile(r"^([^\n]*)::\n\n((?: +[^\n]*\n|\n)+)", re.M)
FILE = re.compile(r"\*([\w.-]+)\*$")
INDENT = "    "


@dataclass(frozen=True)
class Example:
    """An example of a manual page: a command, or the content of a file."""

    text: str
    root: bool = False
    file: str = ""

    def format_as_shell_command(self) -> str:
        if not self.file:
            return self.text
        return f"printf %s {shlex.quote(self.text)} >{shlex.quote(self.file)}"


def parse_commands_of_block(block: str) -> Iterator[Example]:
    text = re.sub(r"\\\n\s*", "", re.sub(f"^{INDENT}", "", block, flags=re.M)).strip("\n")
    for line in filter(None, text.splitlines()):
        if line[:2] not in ("$ ", "# "):
            raise ValueError(f"neither a command nor of a file with a name: {line}")
        yield Example(line[2:], line.startswith("# "))


def parse_examples_of_page(page: Path) -> list[Example]:
    found = SECTION.search(page.read_text())
    result: list[Example] = []
    for before, block in BLOCK.findall(found[1]) if found else []:
        named = FILE.search(before)
        if named:
            content = re.sub(f"^{INDENT}", "", block, flags=re.M).strip("\n") + "\n"
            result.append(Example(content, file=named[1]))
        else:
            result += parse_commands_of_block(block)
    return result


if __name__ == "__main__":
    print("\n".join(example.format_as_shell_command()
                    for example in parse_examples_of_page(Path(sys.argv[1]))))
