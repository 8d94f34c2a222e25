#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each function and table that a header declares is used; compilers check only static ones."""

import re
import sys
from collections import Counter
from pathlib import Path

FOLDERS = ("dm-approxftl", "userspace", "trace-tools", "selftests")
ENDINGS = {".c", ".h", ".hpp", ".cpp", ".map"}
# Strings, too, because they may contain the start of a comment
PROSE = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
# A function starts in the first column. Macros and pointers to functions do not match, nor do
# functions with an __asm__ name, as callers use that name.
FUNCTION = re.compile(r"^(?!typedef|#|.*__asm__)\w[\w \t*]*?[ *](\w+)\(", re.MULTILINE)
TABLE = re.compile(r"^(?:extern )?const [\w ]+ \**(\w+)\[", re.MULTILINE)


def count_declarations_and_definitions(text: str) -> Counter[str]:
    """Count how often a file declares or defines each function and table."""
    return Counter(FUNCTION.findall(text) + TABLE.findall(text))


def main() -> int:
    """Report functions and tables of headers whose names no other source line uses."""
    texts = {
        path: PROSE.sub("", path.read_text())
        for folder in (*FOLDERS, "docs")
        for path in sorted(Path(folder).rglob("*"))
        if path.suffix in ENDINGS
    }
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    defined = Counter(
        name for path, text in texts.items() if path.suffix == ".c"
        for name in count_declarations_and_definitions(text)
)
    headers = [path for path in texts if path.suffix == ".h"]
    status = 0
    for number, folder in enumerate(FOLDERS, 1):
        told = Counter[str]()
        for path in headers:
            if path.parts[0] == folder:
                told += count_declarations_and_definitions(texts[path])
        dead = [name for name, times in told.items() if words[name] <= times + defined[name]]
        verdict = "not ok" if dead or not told else "ok"
        status |= verdict != "ok"
        print(f"{verdict} {number} - {folder}: each of {len(told)} names of headers is used")
        for name in sorted(dead):
            print(f"# {name} is not")
    print(f"1..{len(FOLDERS)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
