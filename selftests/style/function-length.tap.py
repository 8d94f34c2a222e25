#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No C function has more than 80 lines between its braces."""

import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 80
FOLDERS = ("dm-approxftl", "userspace", "trace-tools", "selftests")
#: FILE:FUNCTION that may be longer: the reason
EXCEPTIONS: dict[str, str] = {}


def find_long_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield file:name and length of long functions, whose braces are alone in the first column."""
    begin, name, head = 0, "", ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line == "{" and not head.rstrip().endswith(("=", "=\\")):
            begin, name = number, head.partition("(")[0].split()[-1].lstrip("*")
        elif line == "}" and begin:
            if number - begin - 1 > LONGEST:
                yield f"{path}:{name}", number - begin - 1
            begin = 0
        if line[:1].strip() and line != "{":
            head = line


def main() -> int:
    """Check the C files of each directory."""
    failed = False
    for number, folder in enumerate(FOLDERS, 1):
        found = [(place, length) for path in sorted(Path(folder).rglob("*.c"))
                 for place, length in find_long_functions(path) if place not in EXCEPTIONS]
        failed |= bool(found)
        print(f"{'not ok' if found else 'ok'} {number} - {folder}: functions of {LONGEST} lines")
        for place, length in found:
            print(f"# {place}() has {length} lines, at most {LONGEST} are allowed: divide it")
    print(f"1..{len(FOLDERS)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
