#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Retired terms, and comments that begin with a noun clause, must not be in the tree."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

# Retired words and their replacements in docs/glossary.md; whole words and their plurals
RETIRED = {
    "sheet": "translation page",
    "refuge": "fallback block",
    "imprint": "OOB metadata",
    "lineage": "write generation",
    "baked": "inherited errors",
    "unkind": "torture",
    "wish": "request",
    "chore": "idle-time task",
    "twin": "loaded copy",
    "cramped": "below the GC reserve",
    "laggard": "coldest block",
    "hopeless": "no progress possible",
    "supply": "block manager",
    "keeper": "parity block",
}
EXCEPT = {
    "CHANGELOG.md": "says what has been renamed",
    "selftests/style/words.tap.py": "has the list",
    "selftests/rename": "its examples are old names",
    "selftests/cli/test_verbs.py": "tests the alias unkind",
    "userspace/approxftl/main.c": "has the alias unkind",
    "userspace/approxftl/volume-dump.c": "sheet is a key of JSON that programs read",
    "userspace/approxftl/verbs-output.fields": "the same key",
    "selftests/volume/test_volume_cli.py": "the same key",
    "userspace/playground/*": "baked is a key of the page's JSON",
    "selftests/playground/test_cells.py": "the same key",
    "dm-approxftl/core/base/counter-table.h": "baked_bits is a counter that programs read",
    "docs/reference.md": "the same counter",
    "trace-tools/approxftl_tools/figure_file.py": "style sheets",
}
OPENING = re.compile(r"(?:^|(?<=[.:;] ))(Who|Whose|Whom|That of|Of what|Of whom|What is|What has|"
                     r"What was|What cannot|What does|What nobody) ")
# Comments of C, and docstrings of Python
COMMENTS = {".c": re.compile(r"/\*.*?\*/", re.DOTALL), ".h": re.compile(r"/\*.*?\*/", re.DOTALL),
            ".py": re.compile(r'""".*?"""', re.DOTALL)}


def list_text_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    names = listed.stdout.split() if listed.returncode == 0 else \
        [str(path) for path in Path().rglob("*") if path.is_file() and path.parts[0] != "build"]
    return [name for name in names if Path(name).suffix in
            {".c", ".h", ".py", ".sh", ".md", ".rst", ".toml"} and Path(name).is_file()]


def find_retired_words(name: str, text: str) -> list[str]:
    if any(fnmatch(name, pattern) for pattern in EXCEPT):
        return []
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in re.finditer(rf"\b({'|'.join(RETIRED)})s?\b", line, re.IGNORECASE):
            if not re.search(r"(data|style)[- ]?sheet", line):
                found.append(f"{name}:{number}: say {RETIRED[match[1].lower()]}, not {match[0]}")
    return found


def find_noun_clause_comments(name: str, text: str) -> list[str]:
    """Return a message for each comment that begins with a noun clause."""
    if Path(name).suffix not in COMMENTS:
        return []
    found = []
    for comment in COMMENTS[Path(name).suffix].findall(text):
        plain = re.sub(r"\s*\n\s*\*?\s*", " ", comment.strip('"/* \n'))
        found += [f'{name}: begin "{plain[match.start():match.start() + 40]}" with its subject'
                  for match in OPENING.finditer(plain)]
    return found


def main() -> int:
    """Check the whole tree for retired terms and noun clauses."""
    texts = {name: Path(name).read_text(errors="replace") for name in list_text_files()}
    status = 0
    for number, (what, look) in enumerate((("no retired word", find_retired_words),
                                           ("comments begin with their subject",
                                            find_noun_clause_comments)), 1):
        found = [problem for name, text in texts.items() for problem in look(name, text)]
        print("\n".join(f"# {problem}" for problem in found), end="\n" if found else "")
        print(f"{'not ok' if found else 'ok'} {number} - {what}")
        status |= bool(found)
    print("1..2")
    return status


if __name__ == "__main__":
    sys.exit(main())
