#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No C function has more than 80 lines between its braces, and no header of the core over 150."""

import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 80
FOLDERS = ("dm-approxftl", "userspace", "trace-tools", "selftests")
#: FILE:FUNCTION that may be longer: the reason
EXCEPTIONS: dict[str, str] = {}
LONGEST_HEADER = 150
#: headers of the core that may be longer: the reason
LONG_HEADERS = {
    "base/param-table.h": "a table with a row for each parameter",
    "nand/physics-tables.h": "generated",
    "policy/policy-type.h": "one structure, whose methods are documented beside their types",
}


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


def find_long_headers() -> Iterator[str]:
    """Yield a message for each header of the core that is too long, or no longer an exception."""
    for path in sorted(Path("dm-approxftl/core").rglob("*.h")):
        lines = path.read_text().count("\n")
        if (lines > LONGEST_HEADER) != (f"{path.parent.name}/{path.name}" in LONG_HEADERS):
            yield f"{path}: {lines} lines, {LONGEST_HEADER} are allowed: divide it by its includers"


def main() -> int:
    """Check the C files of each directory, and the headers of the core."""
    failed = False
    for number, folder in enumerate(FOLDERS, 1):
        found = [(place, length) for path in sorted(Path(folder).rglob("*.c"))
                 for place, length in find_long_functions(path) if place not in EXCEPTIONS]
        failed |= bool(found)
        print(f"{'not ok' if found else 'ok'} {number} - {folder}: functions of {LONGEST} lines")
        for place, length in found:
            print(f"# {place}() has {length} lines, at most {LONGEST} are allowed: divide it")
    long_headers = list(find_long_headers())
    print(f"{'not ok' if long_headers else 'ok'} {len(FOLDERS) + 1} - the core's headers are short")
    print("".join(f"# {message}\n" for message in long_headers), end="")
    print(f"1..{len(FOLDERS) + 1}")
    return failed or bool(long_headers)


if __name__ == "__main__":
    sys.exit(main())
