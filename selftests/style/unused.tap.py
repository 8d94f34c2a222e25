#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every function of a header is called by somebody; compilers look at static ones only."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

FOLDERS = ("dm-approxftl", "userspace", "trace-tools", "selftests")
ENDINGS = {".c", ".h", ".hpp", ".cpp", ".map"}
# Texts, too: what begins a comment in one begins none.
PROSE = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
# At the margin, whatever it returns; a macro or a pointer to a function is none, and what has an
# assembler's name is called by that.
FUNCTION = re.compile(r"^(?!typedef|#|.*__asm__)\w[\w \t*]*?[ *](\w+)\(", re.MULTILINE)


def functions(text: str) -> Counter[str]:
    """Return the functions that a header declares or defines, and how often."""
    return Counter(FUNCTION.findall(text))


def main() -> int:
    """Count the words of all sources, and look for those of headers that nobody says again."""
    texts = {
        path: PROSE.sub("", path.read_text())
        for folder in (*FOLDERS, "docs")
        for path in sorted(Path(folder).rglob("*"))
        if path.suffix in ENDINGS
    }
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    defined = Counter(
        name for path, text in texts.items() if path.suffix == ".c" for name in functions(text)
    )
    headers = [path for path in texts if path.suffix == ".h"]
    status = 0
    for number, folder in enumerate(FOLDERS, 1):
        told = Counter[str]()
        for path in headers:
            if path.parts[0] == folder:
                told += functions(texts[path])
        dead = [name for name, times in told.items() if words[name] <= times + defined[name]]
        verdict = "not ok" if dead or not told else "ok"
        status |= verdict != "ok"
        print(f"{verdict} {number} - {folder}: each of {len(told)} functions of headers is used")
        for name in sorted(dead):
            print(f"# {name}() is not")
    print(f"1..{len(FOLDERS)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
